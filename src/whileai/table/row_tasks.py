"""Which task each row belongs to, and what that says of its ids and prompts."""

from __future__ import annotations

import math
import numbers
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, islice, repeat
from operator import contains, itemgetter
from typing import TYPE_CHECKING, Any
from uuid import UUID

from whileai import keys
from whileai.table.prompts import Prompts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: What a row is told apart by; rows with equal values here are of one task and one prompt.
IDENTITY = ("task_id", "scenario_id", "prompt")


class NamelessRow(Exception):
    """A row whose task cannot be named.

    Attributes
    ----------
    place : int
        Its place in the batch.
    bound, value, fix
        What its ``task_id`` must be, what stands there, and what to do.
    """

    def __init__(self, place: int, bound: str, value: Any, fix: str = "") -> None:
        super().__init__(bound)
        self.place = place
        self.bound = bound
        self.value = value
        self.fix = fix


class NotARow(Exception):
    """An item that is no mapping.

    Attributes
    ----------
    place : int
        Its place in the batch.
    """

    def __init__(self, place: int) -> None:
        super().__init__(place)
        self.place = place


@dataclass(frozen=True)
class Tasks:
    """The tasks of all rows read.

    Attributes
    ----------
    names : list of str
    codes : ndarray of int, shape (N,)
        The place of each row's task among them.
    prompts : Prompts
        The prompt of each task.
    n_id_conflicts : int
        Rows whose two ids differ.
    """

    names: list[str]
    codes: NDArray[np.int64]
    prompts: Prompts
    n_id_conflicts: int


class TaskReader:
    """Numbers the distinct identities of rows; what they mean is worked out once for each, not once a row."""

    def __init__(self) -> None:
        self._number: Callable[[], int] = count().__next__
        self._known: dict[tuple[str, ...], defaultdict[Any, int]] = {}
        self._codes: list[NDArray[np.int64]] = []

    def add(self, batch: Sequence[Any]) -> None:
        """Read one batch of rows.

        Raises
        ------
        NamelessRow
            The first row that has neither id nor prompt, or an id that is no text or number.
        NotARow
            The first item that is no mapping.
        """
        import numpy as np

        try:
            present = tuple(key for key in IDENTITY if key in batch[0])
            absent = (key for key in IDENTITY if key not in batch[0])
            if not present or any(any(map(contains, batch, repeat(key))) for key in absent):
                raise KeyError
            self._look_up(batch, present, map(itemgetter(*present), batch))
        except (KeyError, TypeError, ValueError):
            found = self._codes_of(IDENTITY, len(batch), [_careful(place, row) for place, row in enumerate(batch)])
            self._codes.append(np.asarray(found))

    def _look_up(self, batch: Sequence[Any], present: tuple[str, ...], values: Iterable[Any]) -> None:
        """The quick way: every row has the same of the identity's keys, with values that can be looked up."""
        before = len(self._known.get(present, ()))
        codes = self._codes_of(present, len(batch), values)
        fresh = islice(reversed(self._known[present]), len(self._known[present]) - before)
        if not all(_is_named(_full(present, value)) for value in fresh):
            raise KeyError
        self._codes.append(codes)

    def _codes_of(self, present: tuple[str, ...], n: int, values: Iterable[Any]) -> NDArray[np.int64]:
        import numpy as np

        known = self._known.setdefault(present, defaultdict(self._number))
        return np.fromiter(map(known.__getitem__, values), dtype=np.int64, count=n)

    def tasks(self) -> Tasks:
        """What was read."""
        import numpy as np

        codes = np.concatenate(self._codes) if self._codes else np.zeros(0, dtype=np.int64)
        identities = self._identities()
        rows = np.bincount(codes, minlength=len(identities))
        pairs = ((code, task, scenario) for code, (task, scenario, _) in enumerate(identities) if task != scenario)
        conflicts = [code for code, task, scenario in pairs if _conflict(task, scenario)]
        n_id_conflicts = int(rows[conflicts].sum())
        names = [task for task, _, _ in identities]
        if {str}.issuperset(map(type, names)) and len(set(names)) == len(names) and rows.all():
            prompts = [prompt if isinstance(prompt, str) else None for _, _, prompt in identities]
            return Tasks(names, codes, Prompts(np.zeros(len(names), dtype=bool), prompts), n_id_conflicts)
        lines, names, merged = _merged(identities, rows.tolist())
        return Tasks(names, lines[codes], merged, n_id_conflicts)

    def _identities(self) -> list[tuple[Any, Any, Any]]:
        """Every identity that was numbered, in the order of the numbers."""
        if set(self._known) == {IDENTITY}:
            return list(self._known[IDENTITY])
        found: dict[int, tuple[Any, Any, Any]] = {}
        for present, known in self._known.items():
            found |= {code: _full(present, value) for value, code in known.items()}
        return [found.get(code, (None, None, None)) for code in range(max(found, default=-1) + 1)]


def _merged(
    identities: Sequence[tuple[Any, Any, Any]], rows: Sequence[int]
) -> tuple[NDArray[np.int64], list[str], Prompts]:
    """The task of each identity that has rows, and the tasks with their prompts."""
    import numpy as np

    line_of: dict[str, int] = {}
    prompts: list[str | None] = []
    several: set[int] = set()
    lines = np.zeros(len(identities), dtype=np.int64)
    for code, (task, scenario, prompt) in enumerate(identities):
        if not rows[code]:  # numbered in a batch that was then read the careful way
            continue
        name = task if type(task) is str else _name(task, scenario, prompt)
        line = line_of.setdefault(name, len(line_of))
        lines[code] = line
        text = prompt if isinstance(prompt, str) else None
        if line == len(prompts):
            prompts.append(text)
        elif text is not None and text != prompts[line]:
            if prompts[line] is None:
                prompts[line] = text
            else:
                several.add(line)
    differ = np.zeros(len(prompts), dtype=bool)
    differ[list(several)] = True
    return lines, list(line_of), Prompts(differ, prompts)


def _full(present: tuple[str, ...], value: Any) -> tuple[Any, Any, Any]:
    """An identity with ``None`` for the keys that the rows lack."""
    if len(present) == len(IDENTITY):
        return value  # type: ignore[no-any-return]
    values = dict(zip(present, value if len(present) > 1 else (value,), strict=True))
    return values.get("task_id"), values.get("scenario_id"), values.get("prompt")


def _name(task: Any, scenario: Any, prompt: Any) -> str:
    """The name of a task from its identity."""
    for value in (task, scenario):
        if not keys.is_missing(value):
            return keys.task_name(value)
    return keys.default_task_id(prompt)


def _is_named(identity: tuple[Any, Any, Any]) -> bool:
    """Whether an identity names a task without a look at the rest of its row."""
    task, scenario, prompt = identity
    if type(task) is str:
        return True
    for value in (task, scenario):
        if not keys.is_missing(value):
            return _is_id(value)
    return isinstance(prompt, str)


def _careful(place: int, row: Any) -> tuple[Any, Any, str | None]:
    """The identity of one row, whatever its values are."""
    if not isinstance(row, Mapping):
        raise NotARow(place)
    task, scenario, prompt = (row.get(key) for key in IDENTITY)
    for value in (task, scenario):
        if not keys.is_missing(value):
            if not _is_id(value):
                raise NamelessRow(place, "text or a number", value)
            break
    else:
        task = keys.task_of(row)
        if task is None:
            raise NamelessRow(place, "given, or scenario_id or prompt", row.get("task_id"), "Name the task.")
    named = [None if keys.is_missing(value) or not _is_id(value) else value for value in (task, scenario)]
    return named[0], named[1], prompt if isinstance(prompt, str) else None


def _is_id(value: Any) -> bool:
    """Whether a value can name a task."""
    if isinstance(value, (str, UUID)):
        return True
    return isinstance(value, numbers.Real) and not math.isnan(value)


def _conflict(task: Any, scenario: Any) -> bool:
    """Whether two ids of one row differ."""
    if task == scenario or keys.is_missing(task) or keys.is_missing(scenario):
        return False
    return keys.task_name(task) != keys.task_name(scenario)
