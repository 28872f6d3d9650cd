"""How the scripted agent reads a request: which tool it asks for, and which of its arguments the person has given."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from whileai.engine import nouns, values
from whileai.engine.catalog import Catalog, Use
from whileai.engine.records import ids_in

_EMAIL = re.compile(r"[\w.+-]+@[\w-]+\.[\w.]+\w")
_DATE = re.compile(r"\b\d{4}-\d\d-\d\d(?:T[\d:]+Z?)?\b")
_NUMBER = re.compile(r"(?<![\w-])\d+(?:\.\d+)?(?![\w-])")
_END = r"(?=\.(?:\s|$)|[,;!?\n]|\s+(?:and|but|instead)\b|$)"


@dataclass(frozen=True, slots=True)
class Request:
    """What the scripted agent makes of a conversation.

    Attributes
    ----------
    tool : str or None
        The tool whose words were said most, ``None`` where none's were.
    arguments : dict
    missing : tuple of str
        Required parameters nobody has given a value for.
    """

    tool: str | None
    arguments: dict[str, Any] = field(default_factory=dict)
    missing: tuple[str, ...] = ()


def read_request(catalog: Catalog, said: Sequence[str]) -> Request:
    """The request in what a person has said so far, the last word on each argument winning."""
    tool = _tool_for(catalog, said)
    if tool is None:
        return Request(None)
    use = catalog.use(tool)
    arguments = {}
    for name in (*use.ids, *use.fields, *use.searches, *use.bounds, *use.controls):
        found = _value_of(use, name, said)
        if found is not None:
            arguments[name] = found
    return Request(tool, arguments, tuple(name for name in sorted(use.required) if name not in arguments))


def _tool_for(catalog: Catalog, said: Sequence[str]) -> str | None:
    """The tool that shares most words with what was said; its verb counts twice, the first of equals wins."""
    heard = {nouns.singular(part) for text in said for part in nouns.parts_of(text)}
    best, most = None, 0
    for name, words in catalog.vocabulary.items():
        use = catalog.use(name)
        score = 2 * len(words & heard) + 2 * (use.verb in heard)
        if words & heard and score > most:
            best, most = name, score
    return best


def _value_of(use: Use, name: str, said: Sequence[str]) -> Any:
    """The last value given for a parameter, ``None`` where there is none of its type."""
    schema = use.schema(name)
    for text in reversed(said):
        found = _in_text(use, name, schema, text)
        if found is not None:
            return found
    return None


def _in_text(use: Use, name: str, schema: Mapping[str, Any], text: str) -> Any:
    kind = values.kind_of(schema)
    options = schema.get("enum")
    if isinstance(options, list):
        spoken = [one for one in options if re.search(rf"\b{re.escape(str(one))}\b", text, re.IGNORECASE)]
        return spoken[-1] if spoken else None
    if kind == "array":
        inner = {"type": "string", **schema.get("items", {})} if isinstance(schema.get("items"), Mapping) else {}
        found = _in_text(use, name, inner, text)
        return None if found is None else [found]
    if name in use.ids:
        return _id_in(use, name, kind, text)
    label = re.escape(nouns.words(name))
    told = re.search(rf"\b{label} (?:is|to|as|of|:)\s*(.+?){_END}", text, re.IGNORECASE)
    if kind in ("integer", "number"):
        number = _NUMBER.search(told[1] if told else text)
        return (
            None
            if number is None
            else int(number[0])
            if kind == "integer" and "." not in number[0]
            else _real(number[0], kind)
        )
    if kind == "boolean":
        return True if re.search(rf"\b{label}\b", text, re.IGNORECASE) else None
    if kind not in ("string", ""):
        return None
    for words, pattern in (("email mail", _EMAIL), ("date day time", _DATE)):
        if set(nouns.parts_of(name)) & set(words.split()):
            spotted = pattern.search(text)
            return spotted[0] if spotted else None
    if told:
        return told[1].strip(" \"'")
    return text if name in use.searches else None


def _real(text: str, kind: str) -> float | None:
    return float(text) if kind == "number" else None


def _id_in(use: Use, name: str, kind: str, text: str) -> Any:
    """An id in a text: the one that starts like the ids of its kind where several are there."""
    found = ids_in(text)
    if not found:
        return None
    start = use.ids[name][:2].upper()
    alike = [one for one in found if one.upper().startswith(start)]
    several = len(use.ids) > 1
    own = alike[-1] if alike else None if several and name != use.own_id else found[-1]
    if own is None or kind not in ("integer", "number"):
        return own
    digits = own.lstrip("#")
    return int(digits) if digits.isdigit() else None
