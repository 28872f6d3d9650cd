"""The columns of each kind of line: one type each, whatever the rows, so that data sets of several files agree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

TEXT, FLAG, WHOLE, NUMBER, FLAGS = "VARCHAR", "BOOLEAN", "BIGINT", "DOUBLE", "INTEGER[]"
CALLS = "STRUCT(id VARCHAR, type VARCHAR, function STRUCT(name VARCHAR, arguments VARCHAR))[]"
#: Key of a turn -> its type; the first two every turn has, the others a whole file has or has not.
TURN = {
    "role": TEXT,
    "content": TEXT,
    "reasoning_content": TEXT,
    "tool_calls": CALLS,
    "tool_call_id": TEXT,
    "name": TEXT,
}


#: `datasets` takes the types of JSON lines from the first 10 MB.
FIRST_BYTES = 8_000_000


def turn_keys(lines: Iterable[Mapping[str, Any]], column: str) -> list[str]:
    """The keys that some turn in a column has, in order, ``role`` and ``content`` first."""
    found = {key for line in lines for turn in line[column] for key in turn}
    return [key for key in TURN if key in found or key in ("role", "content")]


def even_line(line: Mapping[str, Any], columns: Iterable[str], names: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """A line with all columns, whose turns have all keys of their column: ``None`` where one has nothing to say."""
    even = {key: line.get(key) for key in columns}
    for column, held in names.items():
        even[column] = [{name: turn.get(name) for name in held} for turn in line[column]]
    return even


def types_first(
    lines: list[dict[str, Any]], columns: Iterable[str], names: Mapping[str, Sequence[str]]
) -> list[dict[str, Any]]:
    """The lines in their order, but those in front without which a reader of the first bytes would miss a type.

    A column, or a key of its turns, that is ``None`` as far as that reader looks would be of no type to it.
    """
    seen: set[tuple[str, str]] = set()
    late: list[int] = []
    size = 0
    for place, line in enumerate(lines):
        found = {(column, "") for column in columns if line.get(column) is not None}
        found |= {(column, key) for column in names for turn in line[column] for key in turn if turn[key] is not None}
        if found <= seen:
            continue
        if size < FIRST_BYTES:
            size = sum(len(str(even_line(earlier, columns, names))) for earlier in lines[: place + 1]) if place else 0
        if size >= FIRST_BYTES:
            late.append(place)
        seen |= found
    if not late:
        return lines
    moved = set(late)
    return [lines[place] for place in late] + [line for place, line in enumerate(lines) if place not in moved]


def turns_type(names: Sequence[str]) -> str:
    """The column type of a list of turns with these keys."""
    return f"STRUCT({', '.join(f'{name} {TURN[name]}' for name in names)})[]"


def flat_types(rows: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Key -> column type of flat rows: ``BOOLEAN, BIGINT, DOUBLE, VARCHAR``, or ``JSON`` for what is none of them."""
    kinds: dict[str, set[type]] = {}
    wide: set[str] = set()
    for row in rows:
        for key, value in row.items():
            found = kinds.setdefault(key, set())
            if value is not None:
                found.add(type(value))
                if type(value) is int and abs(value) >= 2**63:
                    wide.add(key)
    types = {}
    for key, found in kinds.items():
        if found <= {str}:
            types[key] = TEXT
        elif found == {bool}:
            types[key] = FLAG
        elif found == {int} and key not in wide:
            types[key] = WHOLE
        elif found <= {int, float} or (key in ("reward", "gold_reward") and found <= {int, float, bool}):
            types[key] = NUMBER
        else:
            types[key] = "JSON"
    return types
