"""Values for the fields of records: from a field's JSON Schema where that says enough, else from its name."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from whileai.engine import patterns
from whileai.engine.ids import Draw
from whileai.engine.made_up import FORMATS, by_name
from whileai.engine.nouns import parts_of, singular

__all__ = ["STOCK", "Draw", "id_of", "id_shape", "is_stock", "kind_of", "plain_text", "quoted", "resolved", "value_of"]

Schema = Mapping[str, Any]
_DEEP, _DEEPEST = 2, 8
_SHAPE = re.compile(r"\b[A-Z]{1,6}[-_]?\d{2,10}\b")
#: Strings that stand for a value rather than being one; none of them is ever drawn.
STOCK = frozenset(("string", "example", "test", "foo", "bar", "user@example.com", "john doe", "jane doe", "todo"))


def resolved(schema: Any, root: Schema) -> Schema:
    """The schema behind references and alternatives: the first alternative that is not null."""
    for _ in range(8):
        if not isinstance(schema, Mapping):
            return {}
        if isinstance(schema.get("$ref"), str):
            schema = _at(root, schema["$ref"])
        elif any(schema.get(word) for word in ("anyOf", "oneOf")):
            options = schema.get("anyOf") or schema.get("oneOf") or []
            real = [option for option in options if isinstance(option, Mapping) and option.get("type") != "null"]
            schema = {**{k: v for k, v in schema.items() if k not in ("anyOf", "oneOf")}, **(real[0] if real else {})}
        elif isinstance(schema.get("allOf"), list) and schema["allOf"]:
            merged: dict[str, Any] = {k: v for k, v in schema.items() if k != "allOf"}
            for part in schema["allOf"]:
                merged.update(resolved(part, root))
            schema = merged
        else:
            return schema
    return {}


def _at(root: Schema, pointer: str) -> Any:
    found: Any = root
    for part in pointer.removeprefix("#/").split("/"):
        found = found.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(found, Mapping) else None
    return found


def kind_of(schema: Schema) -> str:
    """The JSON type a schema asks for, ``string`` where it asks for none."""
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((name for name in kind if name != "null"), "string")
    if isinstance(kind, str):
        return kind
    return "object" if isinstance(schema.get("properties"), Mapping) else "string"


def value_of(name: str, schema: Any, draw: Draw, root: Schema | None = None, depth: int = 0) -> Any:
    """A value of the field `name` that its schema allows, the same for the same draw.

    Parameters
    ----------
    schema : mapping
        The field's JSON Schema, ``{}`` where none is known.
    root : mapping, optional
        The schema that ``$ref`` points into.
    """
    root = root if root is not None else {}
    schema = resolved(schema, root)
    options = schema.get("enum")
    if isinstance(options, list) and options:
        return draw.pick([option for option in options if option is not None] or options)
    if "const" in schema:
        return schema["const"]
    kind = kind_of(schema)
    if kind == "boolean":
        return bool(draw.below(2))
    if kind in ("integer", "number"):
        return number_of(name, schema, draw, whole=kind == "integer")
    if kind == "array":
        return _array(name, schema, draw, root, depth)
    if kind == "object":
        parts = schema.get("properties")
        fields = parts.items() if isinstance(parts, Mapping) and depth < _DEEPEST else ()
        needed = schema.get("required", ())  # deep down, where a schema may speak of itself, only what must be there
        return {
            key: value_of(key, part, draw, root, depth + 1) for key, part in fields if depth < _DEEP or key in needed
        }
    return None if kind == "null" else text_of(name, schema, draw)


def _array(name: str, schema: Schema, draw: Draw, root: Schema, depth: int) -> list[Any]:
    items = schema.get("items")
    prefix = schema.get("prefixItems")
    one = singular(name)
    if isinstance(prefix, list) and prefix:
        return [value_of(one, part, draw, root, depth + 1) for part in prefix]
    low = schema.get("minItems")
    low = low if isinstance(low, int) else int(depth < _DEEP)
    if not low and depth >= _DEEP:
        return []
    high = schema.get("maxItems")
    count = min(max(low, draw.between(1, 2)), high if isinstance(high, int) else 1 << 10)
    values: list[Any] = []
    for _ in range(4 * count):
        value = value_of(one, items, draw, root, depth + 1)
        if value not in values or not schema.get("uniqueItems"):
            values.append(value)
        if len(values) == count:
            break
    return values


def number_of(name: str, schema: Schema, draw: Draw, *, whole: bool) -> float:
    """A number within the schema's bounds, on the scale that the field's name suggests where the bounds leave that."""
    low, high = _scale(parts_of(name))
    bounds = [schema.get(word) for word in ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum")]
    least, above, most, under = (_number(bound) for bound in bounds)
    floor = max([bound for bound in (least, above) if bound is not None], default=None)
    ceiling = min([bound for bound in (most, under) if bound is not None], default=None)
    if floor is not None and low < floor:
        low, high = floor, high if high > floor else ceiling if ceiling is not None else floor + 10
    if ceiling is not None and high > ceiling:
        low, high = low if low < ceiling else floor if floor is not None else ceiling - 10, ceiling
    given = _number(schema.get("multipleOf"))
    step = given if given is not None and given > 0 else (1.0 if whole else 0.01)
    step = max(step, 1.0) if whole and step < 1 else step
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    first += above is not None and first * step <= above
    last -= under is not None and last * step >= under
    if first > last:  # bounds closer than a step, as an open unit interval of shares
        middle = (low + high) / 2
        return round(middle) if whole else middle
    count = draw.between(first, last)
    return round(count * step) if whole else round(count * step, 10)


def _number(value: Any) -> float | None:
    known = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if known else None


def _scale(parts: Sequence[str]) -> tuple[float, float]:
    """The usual range of a number of that name."""
    for words, ends in (
        ({"amount", "price", "total", "cost", "balance", "fee", "budget", "salary", "sum"}, (12, 480)),
        ({"year"}, (2021, 2026)),
        ({"rating", "stars", "score"}, (1, 5)),
        ({"percent", "percentage", "discount"}, (5, 60)),
        ({"rate", "share", "probability", "ratio"}, (0, 1)),
        ({"latitude", "lat"}, (-60, 65)),
        ({"longitude", "lon", "lng"}, (-120, 140)),
        ({"age"}, (19, 78)),
        ({"id", "number", "code"}, (10_000, 99_999)),
        ({"minutes", "duration"}, (15, 90)),
        ({"day"}, (1, 28)),
        ({"month"}, (1, 12)),
        ({"hour"}, (8, 19)),
    ):
        if words.intersection(parts):
            return ends
    return 2, 9


def text_of(name: str, schema: Schema, draw: Draw) -> str:
    """A text: by its format, its pattern, an example's shape, else by what the field's name says."""
    formatted = FORMATS.get(str(schema.get("format") or ""))
    if formatted is not None:
        return formatted(draw)
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and (text := patterns.sample(pattern, draw)) is not None:
        return text
    text = by_name(parts_of(name), name, draw)
    low, high = schema.get("minLength"), schema.get("maxLength")
    if isinstance(high, int) and 0 < high < len(text):
        text = text[:high].rstrip() or text[:high]
    while isinstance(low, int) and len(text) < low:
        more = by_name(("item",), "item", draw)
        text = f"{text} {more}" if not isinstance(high, int) else text.ljust(low, "x")
    return text


def example_shape(schema: Schema) -> str | None:
    """An id that a schema's description, examples or default shows, such as ``ORD-1234``; ``None`` for none."""
    shown: list[Any] = [schema.get("description"), schema.get("default")]
    examples = schema.get("examples")
    shown[:0] = examples if isinstance(examples, list) else [schema.get("example")]
    for text in shown:
        found = _SHAPE.search(text) if isinstance(text, str) else None
        if found:
            return found.group()
    return None


def id_shape(entity: str, schema: Schema) -> tuple[str, ...] | None:
    """The runs of an id's shape, digits and other characters in turn; ``None`` where the schema draws it otherwise."""
    options = schema.get("enum")
    shaped = kind_of(schema) == "string" and not (isinstance(options, list) and options)
    if not shaped or schema.get("format") or isinstance(schema.get("pattern"), str):
        return None
    shape = example_shape(schema)
    if shape is None:
        prefix = "".join(part[: 3 if " " not in entity else 2] for part in entity.split())[:4].upper() or "ID"
        shape = f"{prefix}-0000"
    return tuple(re.findall(r"\d+|\D+", shape))


def id_of(schema: Schema, shape: Sequence[str] | None, draw: Draw) -> Any:
    """An id: in the shape that `id_shape` gave, else a number, a UUID, or what else the schema says."""
    if shape is not None:
        for _ in range(8):
            runs = [f"{draw.below(10 ** len(run)):0{len(run)}d}" if run[0].isdigit() else run for run in shape]
            if any(run != own for run, own in zip(runs, shape, strict=True)):
                break
        return "".join(runs)
    options = schema.get("enum")
    if isinstance(options, list) and options:
        return draw.pick(options)
    if kind_of(schema) in ("integer", "number"):
        unbounded = not any(word in schema for word in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"))
        return draw.between(1_000, 9_999) if unbounded else int(number_of("id", schema, draw, whole=True))
    return text_of("id", schema, draw)


def is_stock(value: Any) -> bool:
    """Whether a text is one that stands for a value rather than being one."""
    return isinstance(value, str) and value.strip().lower() in STOCK


def plain_text(value: Any) -> str:
    """A value as a person writes it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(item, (str, int, float)) or _is_flat(item) for item in value):
        return " and ".join(map(plain_text, value)) if value else "none"
    if _is_flat(value):
        return ", ".join(f"{' '.join(parts_of(key))} {plain_text(item)}" for key, item in value.items())
    return json.dumps(value, ensure_ascii=False)


def _is_flat(value: Any) -> bool:
    """Whether a value is an object that holds no others."""
    return (
        isinstance(value, Mapping) and bool(value) and not any(isinstance(v, (Mapping, list)) for v in value.values())
    )


def quoted(text: str) -> str:
    """A value in a sentence: one that is a sentence of its own in quotation marks."""
    return f'"{text}"' if text.endswith((".", "!", "?")) else text
