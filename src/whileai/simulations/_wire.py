"""How typed parts stand in a flat row: copies, and parts that know some of their keys and keep the rest."""

from __future__ import annotations

import dataclasses
import numbers
from collections.abc import Mapping
from typing import Any, TypeVar

from whileai import keys

SCHEMA_VERSION = "1"

#: The keys every row has unless it was read from a stamped row that lacks them, in the order they are written.
ALWAYS = ("schema_version", "task_id", "scenario_id", "prompt", "messages", "steps", "final_text", "rollout_index")

_ATOMS = frozenset({str, int, float, bool, type(None)})
_NUMBERS = frozenset({int, float, bool})
_DEEP = 40

Part = TypeVar("Part")
Fields = dict[str, tuple[Any, Any]]

_fields: dict[Any, Fields] = {}
#: What the value of a field may be, by its annotation; a float may be written as a whole number.
_KINDS = {"str": str, "int": int, "bool": bool, "list[Any]": list, "float": (int, float), "Any": object}
#: Fields of parts that are no keys of their dicts.
_BESIDE = ("extra", "planned", "raw")


def copied(value: Any) -> Any:
    """`value` with its dicts, lists, tuples and sets made anew, however deep, and all else as it is.

    Subclasses of dict and list come out plain: their contents are read past whatever methods they override. What is
    held twice, or holds itself, is copied once.
    """
    return value if type(value) in _ATOMS else _copy(value, {}, 0)


def _copy(value: Any, done: dict[int, Any], depth: int) -> Any:
    kind = type(value)
    if kind in _ATOMS:
        return value
    made = done.get(id(value))
    if made is not None:
        return made
    if depth > _DEEP and issubclass(kind, (dict, list)):
        return _copy_deep(value, done)
    depth += 1
    if issubclass(kind, dict):
        made = done[id(value)] = {}
        for key, item in dict.items(value):
            made[key] = item if type(item) in _ATOMS else _copy(item, done, depth)
    elif issubclass(kind, list):
        made = done[id(value)] = []
        made.extend([item if type(item) in _ATOMS else _copy(item, done, depth) for item in list.__iter__(value)])
    elif kind is tuple:
        made = tuple([_copy(item, done, depth) for item in value]) if depth <= _DEEP else value
    else:
        made = set(value) if kind is set else value
    return made


def _copy_deep(root: Any, done: dict[int, Any]) -> Any:
    """The same without recursion, for what is nested deeper than the interpreter's stack allows."""

    def shell(value: Any) -> Any:
        if not issubclass(type(value), (dict, list)):
            return _copy(value, done, _DEEP)
        made = done.get(id(value))
        if made is None:
            made = done[id(value)] = {} if issubclass(type(value), dict) else []
            waiting.append((value, made))
        return made

    waiting: list[tuple[Any, Any]] = []
    top = shell(root)
    while waiting:
        value, made = waiting.pop()
        if type(made) is dict:
            made.update({key: shell(item) for key, item in dict.items(value)})
        else:
            made.extend([shell(item) for item in list.__iter__(value)])
    return top


def all_dicts(value: Any) -> bool:
    """Whether a value is a list of nothing but dicts."""
    return type(value) is list and all(isinstance(item, dict) for item in value)


def plain_number(value: Any) -> Any:
    """A real number as it is, a numpy one as Python's own; ``None`` for anything else. Bools are numbers."""
    if type(value) in _NUMBERS:
        return value
    if getattr(value, "shape", None) == () and hasattr(value, "dtype"):
        value = value.item()
    return value if isinstance(value, numbers.Real) else None


def is_reward(value: Any) -> bool:
    """Whether a value is a real number in [0, 1]."""
    number = plain_number(value)
    return number is not None and bool(0 <= number <= 1)


def same(left: Any, right: Any) -> bool:
    """Whether two values are equal; those that cannot be compared (nested too deep, arrays) are not."""
    try:
        return bool(left == right)
    except (RecursionError, TypeError, ValueError):
        return False


def task_id_of(row: Mapping[str, Any]) -> str:
    """The task a row belongs to; a row that names none and has no prompt is of the task with the empty prompt."""
    try:
        found = keys.task_of(row)
    except (RecursionError, TypeError, ValueError):  # messages with no canonical JSON: too deep, recursive, odd keys
        found = None
    return keys.default_task_id("") if found is None else found


def rollout_id_of(task_id: str, index: int, policy_version: str, conversation_id: Any = None) -> str:
    """The id of an episode that brings none: its conversation's, else ``ro_`` and a digest of what tells it apart."""
    if isinstance(conversation_id, str) and conversation_id:
        return conversation_id
    return "ro_" + keys.digest(f"{task_id}\n{index}\n{policy_version}")


def fields_of(part: Any) -> Fields:
    """The wire fields of a part class: name -> (accepted types, default)."""
    fields = _fields.get(part)
    if fields is None:
        own = [field for field in dataclasses.fields(part) if field.name not in _BESIDE]
        fields = {field.name: (_KINDS[str(field.type).removesuffix(" | None")], field.default) for field in own}
        _fields[part] = fields
    return fields


def read_part(part: type[Part], raw: dict[str, Any]) -> Part:
    """A part from its dict, whose values it takes over: known keys of the right type are fields, the rest ``extra``."""
    known = fields_of(part)
    fields = {}
    extra = {}
    for key, value in dict.items(raw):
        if key in known:
            kind, default = known[key]
            if value is not None and isinstance(value, kind) and (default is None or value != default):
                fields[key] = value
                continue
        extra[key] = value
    return part(**fields, extra=extra)  # type: ignore[call-arg]  # every part class has an extra


def write_part(part: Any) -> dict[str, Any]:
    """The dict of a part: the fields that are not at their default, then what its ``extra`` holds beside them."""
    if isinstance(part, dict):
        return copied(part)  # type: ignore[no-any-return]  # a copy of a dict is one
    row = {}
    for name, (_, default) in fields_of(type(part)).items():
        value = getattr(part, name)
        if value is not None and (default is None or value != default):
            row[name] = copied(value)
    for key, value in part.extra.items():
        if key not in row:
            row[key] = copied(value)
    return row
