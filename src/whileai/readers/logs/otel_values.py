"""The values of OTLP JSON -> plain ones."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def spread(batch: Mapping[str, Any], *levels: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    """The objects in lists inside lists, each under any of the names of its level."""
    names, *rest = levels
    for name in names:
        items = batch.get(name)
        for item in items if isinstance(items, list) else ():
            if isinstance(item, Mapping):
                if rest:
                    yield from spread(item, *rest)
                else:
                    yield item


def attributes_of(of: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a span, an event or a record."""
    found = of.get("attributes")
    if isinstance(found, Mapping):
        return dict(found)
    pairs = [pair for pair in found if isinstance(pair, Mapping)] if isinstance(found, list) else []
    return {str(pair.get("key")): value_of(pair.get("value")) for pair in pairs}


def value_of(value: Any) -> Any:
    """A value out of the object that names its type; whole numbers stand there as texts."""
    if not isinstance(value, Mapping):
        return value
    for name, inner in value.items():
        kind = name.replace("_", "").lower()
        if kind == "intvalue":
            return int(inner) if isinstance(inner, (int, str)) and str(inner).lstrip("-").isdecimal() else inner
        if kind == "doublevalue" and isinstance(inner, str):  # NaN and the infinities
            try:
                return float(inner)
            except ValueError:
                return inner
        if kind == "arrayvalue":
            items = inner.get("values") if isinstance(inner, Mapping) else None
            return [value_of(item) for item in (items if isinstance(items, list) else ())]
        if kind == "kvlistvalue":
            return attributes_of({"attributes": inner.get("values") if isinstance(inner, Mapping) else None})
        if kind in ("stringvalue", "boolvalue", "doublevalue", "bytesvalue"):
            return inner
    return None


def parsed(value: Any) -> Any:
    """What a text holds as JSON, anything else as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def nested(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes with dots in their names as mappings inside mappings, so that a dotted path finds them."""
    tree: dict[str, Any] = {}
    for name, value in attributes.items():
        place, *rest = name.split(".")
        inside = tree
        for part in rest:
            held = inside.setdefault(place, {})
            if not isinstance(held, dict):
                break
            inside, place = held, part
        else:
            inside.setdefault(place, value)
            continue
        tree.setdefault(name, value)
    return tree
