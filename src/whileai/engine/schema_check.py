"""The first thing wrong with a value under a JSON Schema, for tools that are known by their schema alone.

The keywords that tool schemas use, in the core of draft 2020-12: what others say beside them is not looked at. The full
validator is an extra, and whether a call is refused must not depend on what is installed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

_DEEP = 40


def first_problem(value: Any, schema: Any, root: Any = None, path: str = "", depth: int = 0) -> str:
    """``path: message``, or empty where the value is as the schema says.

    Examples
    --------
    >>> first_problem({"n": "3"}, {"properties": {"n": {"type": "integer"}}})
    'n: must be of type integer'
    """
    root = schema if root is None else root
    schema = _resolved(schema, root)
    if not isinstance(schema, Mapping) or depth > _DEEP:
        return "" if schema is not False else _told(path, "is not allowed")
    for plain in (_of_type, _of_choice, _of_number, _of_text):
        told = plain(value, schema, path)
        if told:
            return told
    for nested in (_of_list, _of_object, _of_parts):
        told = nested(value, schema, root, path, depth)
        if told:
            return told
    return ""


def _told(path: str, message: str) -> str:
    return f"{path or 'arguments'}: {message}"


def _resolved(schema: Any, root: Any) -> Any:
    """What a local ``$ref`` points at."""
    for _ in range(_DEEP):
        ref = schema.get("$ref") if isinstance(schema, Mapping) else None
        if not isinstance(ref, str) or not ref.startswith("#"):
            return schema
        found: Any = root
        for part in ref.lstrip("#/").split("/"):
            name = part.replace("~1", "/").replace("~0", "~")
            found = found.get(name) if isinstance(found, Mapping) and name else found
        schema = found
    return schema


def _whole(value: Any) -> bool:
    return isinstance(value, int) or (isinstance(value, float) and value.is_integer())


_TYPES: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: not isinstance(value, bool) and _whole(value),
    "number": lambda value: not isinstance(value, bool) and isinstance(value, (int, float)),
    "boolean": lambda value: isinstance(value, bool),
    "object": lambda value: isinstance(value, Mapping),
    "array": lambda value: isinstance(value, (list, tuple)),
    "null": lambda value: value is None,
}


def _of_type(value: Any, schema: Mapping[str, Any], path: str) -> str:
    kinds = schema.get("type")
    names = [kinds] if isinstance(kinds, str) else kinds if isinstance(kinds, list) else []
    known = [name for name in names if name in _TYPES]
    if not known or (value is None and schema.get("nullable") is True) or any(_TYPES[name](value) for name in known):
        return ""
    return _told(path, f"must be of type {' or '.join(known)}")


def _same(left: Any, right: Any) -> bool:
    """JSON equality: ``1`` is ``1.0`` and not ``true``."""
    return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)


def _of_choice(value: Any, schema: Mapping[str, Any], path: str) -> str:
    choices = schema.get("enum")
    if value is None and schema.get("nullable") is True:
        return ""
    if isinstance(choices, list) and not any(_same(value, choice) for choice in choices):
        return _told(path, "must be one of " + ", ".join(map(repr, choices[:12])))
    if "const" in schema and not _same(value, schema["const"]):
        return _told(path, f"must be {schema['const']!r}")
    return ""


def _bound(schema: Mapping[str, Any], name: str) -> float | None:
    value = schema.get(name)
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if number else None


_LIMITS: tuple[tuple[str, str, Callable[[float, float], bool]], ...] = (
    ("minimum", "at least", lambda value, end: value >= end),
    ("maximum", "at most", lambda value, end: value <= end),
    ("exclusiveMinimum", "above", lambda value, end: value > end),
    ("exclusiveMaximum", "below", lambda value, end: value < end),
)


def _of_number(value: Any, schema: Mapping[str, Any], path: str) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return ""
    for name, words, within in _LIMITS:
        end = _bound(schema, name)
        if end is not None and not within(value, end):
            return _told(path, f"must be {words} {end:g}")
    step = _bound(schema, "multipleOf")
    if step and math.isfinite(value) and not math.isclose(value / step, round(value / step), abs_tol=1e-9):
        return _told(path, f"must be a multiple of {step:g}")
    return ""


def _counted(count: int, schema: Mapping[str, Any], kind: str, what: str, path: str) -> str:
    low, high = _bound(schema, f"min{kind}"), _bound(schema, f"max{kind}")
    if low is not None and count < low:
        return _told(path, f"must have at least {low:g} {what}")
    if high is not None and count > high:
        return _told(path, f"must have at most {high:g} {what}")
    return ""


def _of_text(value: Any, schema: Mapping[str, Any], path: str) -> str:
    if not isinstance(value, str):
        return ""
    told = _counted(len(value), schema, "Length", "characters", path)
    pattern = schema.get("pattern")
    if told or not isinstance(pattern, str):
        return told
    try:
        return "" if re.search(pattern, value) else _told(path, f"must match {pattern}")
    except re.error:  # another dialect of regular expressions
        return ""


def _of_list(value: Any, schema: Mapping[str, Any], root: Any, path: str, depth: int) -> str:
    if not isinstance(value, (list, tuple)):
        return ""
    told = _counted(len(value), schema, "Items", "items", path)
    if told:
        return told
    if schema.get("uniqueItems") is True and any(
        _same(one, other) for place, one in enumerate(value) for other in value[:place]
    ):
        return _told(path, "must have no item twice")
    places = schema.get("prefixItems")
    first: Sequence[Any] = places if isinstance(places, list) else ()
    for place, item in enumerate(value):
        inner = first[place] if place < len(first) else schema.get("items", True)
        told = first_problem(item, inner, root, f"{path}[{place}]", depth + 1)
        if told:
            return told
    return ""


def _of_object(value: Any, schema: Mapping[str, Any], root: Any, path: str, depth: int) -> str:
    if not isinstance(value, Mapping):
        return ""
    known = schema.get("properties")
    known = known if isinstance(known, Mapping) else {}
    required = schema.get("required")
    for name in required if isinstance(required, list) else []:
        if name not in value:
            return _told(_inner(path, name), "is required")
    others = schema.get("additionalProperties", True)
    for name, item in value.items():
        if name not in known and others is False:
            told = f"is not known; known are {', '.join(map(str, known))}" if known else "is not known"
            return _told(_inner(path, name), told)
        told = first_problem(item, known.get(name, others), root, _inner(path, name), depth + 1)
        if told:
            return told
    return _counted(len(value), schema, "Properties", "properties", path)


def _inner(path: str, name: Any) -> str:
    return f"{path}.{name}" if path else str(name)


def _of_parts(value: Any, schema: Mapping[str, Any], root: Any, path: str, depth: int) -> str:
    """``allOf``, ``anyOf``, ``oneOf`` and ``not``."""
    for part in _listed(schema, "allOf"):
        told = first_problem(value, part, root, path, depth + 1)
        if told:
            return told
    for name in ("anyOf", "oneOf"):
        told_by = [first_problem(value, part, root, path, depth + 1) for part in _listed(schema, name)]
        if told_by and all(told_by):
            return told_by[0]
        if name == "oneOf" and told_by.count("") > 1:
            return _told(path, "fits more than one of its forms")
    if "not" in schema and not first_problem(value, schema["not"], root, path, depth + 1):
        return _told(path, "is of a form that is not allowed")
    return ""


def _listed(schema: Mapping[str, Any], name: str) -> list[Any]:
    parts = schema.get(name)
    return parts if isinstance(parts, list) else []
