"""A TaskTable as JSON lines: what a repository keeps of an arm, readable in a review, without any text of its rows.

The first line counts, each other is a task, in the order of their names. Of a task only what it has is written::

    {"wai_baseline": 1, "tasks": 2, "rows": 4}
    {"task": "q0", "n": 2, "passes": 1, "code": 401, "markers": {"chars": [2, 103]}}

``markers`` has for each marker the rows that carry it and their sum. Where no float holds a sum exactly, the nearest is
followed by the three limbs of `whileai.stats.exact`, as in ``[2, 100.1, [100, 109951162777, 661424963584]]``: the table
that is read back is the one that was written, to the last bit.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

from whileai.errors import RowError
from whileai.stats.exact import LIMB
from whileai.table.flat import COUNTS, FILL, LIMBS, from_flat, to_flat
from whileai.table.task_table import TaskTable

VERSION = 1
_MARK = "wai_baseline"
#: Flat columns of one number that are left out where it is 0.
_PLAIN = ("n", "passes", "n_partial", "n_unjudged", "several", "code", "id_conflicts", *FILL)


def save_baseline(table: TaskTable, path: str | os.PathLike[str]) -> None:
    """Write a table; the file appears whole or not at all, whoever else writes it at the same time."""
    target = Path(path)
    columns = to_flat(table)
    head = {_MARK: VERSION, "tasks": len(table), "rows": table.n_rows}
    lines = [json.dumps(head), *(json.dumps(_line(columns, place), ensure_ascii=False) for place in range(len(table)))]
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            # half a surrogate pair has no place in UTF-8; as its escape JSON reads it again
            file.write("".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace"))
        Path(name).chmod(0o644)
        Path(name).replace(target)
    except BaseException:
        with suppress(FileNotFoundError):
            Path(name).unlink()
        raise


def _line(columns: Mapping[str, Any], place: int) -> dict[str, Any]:
    """One task."""
    found: dict[str, Any] = {"task": columns["task"][place]}
    for name in _PLAIN:
        value = int(columns[name][place]) if name in columns else 0
        if value or name in ("n", "passes"):
            found[name] = bool(value) if name == "several" else value
    if found.get("n_partial"):
        found["reward"] = _sum(columns, "reward", place)
    markers = {}
    for column in columns:
        if column.startswith("marker:") and column.endswith("_n") and columns[column][place]:
            name = column.removesuffix("_n")
            markers[name.removeprefix("marker:")] = [int(columns[column][place]), *_sum(columns, name, place)]
    return {**found, "markers": markers} if markers else found


def _sum(columns: Mapping[str, Any], name: str, place: int) -> list[Any]:
    """A sum as a number, with its limbs where that is not all of it."""
    limbs = [int(columns[f"{name}_{limb}"][place]) for limb in LIMBS]
    if not limbs[1] and not limbs[2]:
        return [limbs[0]]
    exact = _total(limbs)
    number = float(exact)
    return [number] if Fraction(number) == exact else [number, limbs]


def _total(limbs: Sequence[int]) -> Fraction:
    return limbs[0] + Fraction(limbs[1], 1 << LIMB) + Fraction(limbs[2], 1 << 2 * LIMB)


def load_baseline(path: str | os.PathLike[str]) -> TaskTable:
    """The table in a file that `save_baseline` wrote.

    Raises
    ------
    FileNotFoundError
        No file has that name.
    RowError
        The file is none, or was cut or changed by hand; it names file and line.
    """
    text = Path(path).read_text(encoding="utf-8")
    lines = [_decoded(line, place, path) for place, line in enumerate(text.split("\n"), 1) if line.strip()]
    head, tasks = (lines[0], lines[1:]) if lines else ({}, [])
    if head.get(_MARK) != VERSION:
        raise _bad(path, 1, f'a baseline that starts with {{"{_MARK}": {VERSION}}}', head)
    if head.get("tasks") != len(tasks):
        raise _bad(path, 1, f"followed by {head.get('tasks')} tasks", len(tasks))
    flat = [_flat(task, place, path) for place, task in enumerate(tasks, 2)]
    seen: set[str] = set()
    for place, task in enumerate(flat, 2):
        if task["task"] in seen:
            raise _bad(path, place, "of a task of its own", task["task"])
        seen.add(task["task"])
    return from_flat(_columns(flat), str(path))


def _bad(path: str | os.PathLike[str], line: int, bound: str, value: Any) -> RowError:
    shown = repr(value)
    shown = shown if len(shown) <= 80 else f"{shown[:77]}..."
    fix = "Write the baseline anew."
    return RowError(f"baseline: {path} line {line} must be {bound}; got {shown}. {fix}", line - 1, "", value)


def _decoded(line: str, place: int, path: str | os.PathLike[str]) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        found = line
    if not isinstance(found, dict):
        raise _bad(path, place, "a JSON object", found)
    return found


def _flat(task: dict[str, Any], place: int, path: str | os.PathLike[str]) -> dict[str, Any]:
    """The flat columns of one task."""
    try:
        found: dict[str, Any] = {"task": task["task"]}
        if not isinstance(found["task"], str):
            raise TypeError("a task is named by text")
        found |= {name: _whole(task.get(name, 0)) for name in _PLAIN}
        found |= _limbs("reward", *task.get("reward", [found["passes"]]))
        for name, (n, *total) in task.get("markers", {}).items():
            found |= {f"marker:{name}_n": _whole(n), **_limbs(f"marker:{name}", *total)}
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise _bad(path, place, "a task with its counts and sums", task) from error
    return found


def _whole(value: Any) -> int:
    if not isinstance(value, int):
        raise TypeError("a count is a whole number")
    return int(value)


def _limbs(name: str, number: Any, limbs: Any = None) -> dict[str, int]:
    """The limbs of a sum, as they stand there or as its number says."""
    if limbs is not None:
        whole = [_whole(limb) for limb in limbs]
        if float(_total(whole)) != number:
            raise ValueError("a sum and its limbs say the same")
    else:
        scaled = Fraction(number) * (1 << 2 * LIMB)
        if scaled.denominator != 1:
            raise ValueError("a sum lies on the grid of 2^-80")
        high, low = divmod(scaled.numerator, 1 << LIMB)
        whole = [high >> LIMB, high & ((1 << LIMB) - 1), low]
    return {f"{name}_{limb}": value for limb, value in zip(LIMBS, whole, strict=True)}


def _columns(flat: list[dict[str, Any]]) -> dict[str, Any]:
    """Arrays of the tasks, 0 where a task has no such column."""
    import numpy as np

    from whileai.stats.exact import narrow

    names = dict.fromkeys(["task", *COUNTS, *(f"reward_{limb}" for limb in LIMBS), *_PLAIN])
    names |= dict.fromkeys(name for task in flat for name in task)
    columns: dict[str, Any] = {}
    for name in names:
        values = np.array([task.get(name, 0) for task in flat], dtype=object)
        columns[name] = values if name == "task" else narrow(values)
    return columns
