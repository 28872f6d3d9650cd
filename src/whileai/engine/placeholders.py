"""Arguments that stand for a value rather than being one, as models write them who have not asked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from whileai.engine.catalog import properties
from whileai.engine.nouns import parts_of
from whileai.engine.tools import Tool
from whileai.engine.values import is_stock, resolved

#: Marked as to be filled in: ``<id>``, ``{{id}}``, ``[your name]``, ``$ID``, ``YOUR_KEY``, ``insert id here``, ``XX``.
_MARKED = re.compile(
    r"<[^<>]+>|\{\{?[^{}]+\}?\}|\[[a-z][a-z _-]*\]|\$\{?[a-z_]+\}?|(your|my|insert|enter|add)[-_ ][\w -]*here"
    r"|(your|example|placeholder|sample|dummy)[-_ ]\w+|x{3,}|_+|\.{3,}|\?+",
    re.IGNORECASE,
)
_DUMMIES = frozenset(
    (
        *("str", "text", "value", "null", "none", "nil", "undefined", "unknown", "placeholder", "tbd", "na", "baz"),
        *("jane.doe@example.com", "john.doe@example.com", "john@example.com", "jane@example.com"),
        *("email@example.com", "name@example.com", "example@example.com", "test@example.com", "test@test.com"),
        *("123 main st", "123 main street", "555-555-5555", "000-000-0000", "lorem ipsum"),
        *("yyyy-mm-dd", "dd/mm/yyyy", "mm/dd/yyyy"),
    )
)


def placeholder_in(tool: Tool, arguments: Mapping[str, Any], known: Callable[[str], bool]) -> tuple[str, str] | None:
    """The first argument that is a placeholder, as its path and its text; ``None`` where none is.

    Parameters
    ----------
    known : callable
        Whether a text in lower case was said or stands in the records: then it is a value, however it looks.
    """
    for name, schema in properties(tool).items():
        if name in arguments:
            inner = resolved(schema, tool.parameters)
            for path, text in _texts(arguments[name], name):
                if _stands_for_one(text, name, inner) and not known(text.strip().lower()):
                    return path, text
    return None


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _texts(item, f"{path}.{key}")
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from _texts(item, f"{path}[{place}]")


def _stands_for_one(text: str, name: str, schema: Mapping[str, Any]) -> bool:
    """Whether a text names its parameter, repeats what the schema says of it, or is a stock dummy."""
    said = text.strip()
    choices = any(word in schema for word in ("enum", "const", "anyOf", "oneOf"))
    if not said or choices or text == schema.get("default"):
        return False
    if len(said) > 1 and parts_of(said) == parts_of(name):
        return True
    examples = schema.get("examples")
    told = [schema.get("description"), schema.get("example"), *(examples if isinstance(examples, list) else ())]
    lower = said.lower()
    if any(isinstance(one, str) and one.strip().lower() == lower for one in told):
        return True
    return is_stock(said) or lower in _DUMMIES or _MARKED.fullmatch(said) is not None
