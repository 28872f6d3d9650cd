"""Dict rows -> TaskTable, a column of each batch at a time."""

from __future__ import annotations

import math
import numbers
from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import chain, compress, count, islice, repeat
from operator import itemgetter, ne, sub
from typing import Any
from uuid import UUID

from whileai import keys
from whileai.errors import RowError
from whileai.readers.containers import not_a_row
from whileai.table.task_table import Column, TaskTable

#: Rows of a batch: few enough that the second pass over them still finds them in the processor's cache.
BATCH = 2048
REWARD_BOUND = "a number in [0, 1]"
#: The keys that a table is made of; only a call that wants markers reads the last.
WANTED = ("task_id", "scenario_id", "prompt", "reward", "markers")

_task_id, _scenario_id, _prompt = itemgetter("task_id"), itemgetter("scenario_id"), itemgetter("prompt")
_reward, _markers = itemgetter("reward"), itemgetter("markers")


class TableBuilder:
    """Takes rows batch by batch and ends in a TaskTable.

    Every column is first read by the quick way (``map`` over ``itemgetter``, which needs the key on every row of the
    batch and the right type in it), and where that does not work by the careful one, which also says what is wrong.

    Parameters
    ----------
    call : str
        The call that reads, for its errors.
    markers : bool
        Whether markers are read.
    """

    def __init__(self, call: str, *, markers: bool) -> None:
        self.call = call
        self.source = ""
        self.wants_markers = markers
        self.offset = 0
        self.n_rows = 0
        self.n_id_conflicts = 0
        self.task_codes: defaultdict[Any, int] = defaultdict(count().__next__)
        self.prompt_codes: defaultdict[Any, int] = defaultdict(count().__next__)
        self.codes = array("q")
        self.prompts = array("q")
        self.rewards = array("d")
        self.marks: dict[str, _Mark] = {}

    def add_all(self, rows: Iterable[Any], source: str) -> None:
        """Read all rows of one part of the data; `source` is the name errors call it by."""
        self.source = source
        self.offset = self.n_rows
        if isinstance(rows, (list, tuple)):
            for start in range(0, len(rows), BATCH):
                self.add(rows[start : start + BATCH])
            return
        stream = iter(rows)
        while batch := list(islice(stream, BATCH)):
            self.add(batch)

    def add(self, batch: Sequence[Any]) -> None:
        """Read one batch."""
        self._add_tasks(batch)
        self._add_rewards(batch)
        if self.wants_markers:
            self._add_markers(batch)
        self.n_rows += len(batch)

    def _index(self, place: int) -> int:
        """The index in its part of the row at a place of the batch being read."""
        return self.n_rows - self.offset + place

    def _error(self, place: int, key: str, bound: str, value: Any, fix: str = "") -> RowError:
        return RowError.of(self.call, self.source, self._index(place), key, bound, value, fix)

    def _add_tasks(self, batch: Sequence[Any]) -> None:
        """The task of each row, and what its prompt is."""
        before, known = len(self.codes), len(self.task_codes)
        try:
            ids = list(map(_task_id, batch))
            self.codes.extend(_coded(ids, self.task_codes))
            fresh = _last(self.task_codes, len(self.task_codes) - known)
            if not {str}.issuperset(map(type, fresh)) and not all(map(_is_id, fresh)):
                raise TypeError
            if "scenario_id" in batch[0]:
                scenarios = list(map(_scenario_id, batch))
                if scenarios != ids:
                    self.n_id_conflicts += sum(map(_conflict, ids, scenarios))
            elif any(map(_has_scenario, batch)):
                self.n_id_conflicts += sum(_conflict(row["task_id"], row.get("scenario_id")) for row in batch)
        except (KeyError, TypeError, ValueError):
            del self.codes[before:]
            _forget(self.task_codes, known)
            for place, row in enumerate(batch):
                self._add_task(place, row)
        self._add_prompts(batch)

    def _add_task(self, place: int, row: Mapping[str, Any]) -> None:
        """The careful way for one row."""
        if not isinstance(row, Mapping):
            raise not_a_row(self.call, self.source, self._index(place), row)
        task, scenario = row.get("task_id"), row.get("scenario_id")
        name = task if not keys.is_missing(task) else scenario
        if keys.is_missing(name):
            name = keys.task_of(row)
            if name is None:
                raise self._error(place, "task_id", "given, or scenario_id or prompt", task, "Name the task.")
        elif not _is_id(name):
            raise self._error(place, "task_id", "text or a number", name)
        self.n_id_conflicts += _conflict(task, scenario)
        self.codes.append(self.task_codes[name])

    def _add_prompts(self, batch: Sequence[Any]) -> None:
        before, known = len(self.prompts), len(self.prompt_codes)
        try:
            self.prompts.extend(_coded(list(map(_prompt, batch)), self.prompt_codes))
        except (KeyError, TypeError, ValueError):
            del self.prompts[before:]
            _forget(self.prompt_codes, known)
            prompts = (row.get("prompt") for row in batch)
            self.prompts.extend(self.prompt_codes[p] if isinstance(p, str) else -1 for p in prompts)

    def _add_rewards(self, batch: Sequence[Any]) -> None:
        import numpy as np

        try:
            values = array("d", map(_reward, batch))
        except (KeyError, TypeError, ValueError, OverflowError):
            values = array("d", (self._reward(place, row.get("reward")) for place, row in enumerate(batch)))
        numbers_ = np.frombuffer(values)
        if not (numbers_.min() >= 0.0 and numbers_.max() <= 1.0):  # NaN fails this too; the careful way knows it
            for place, row in enumerate(batch):
                self._reward(place, row.get("reward"))
        self.rewards.extend(values)

    def _reward(self, place: int, value: Any) -> float:
        """A reward as a float, NaN where the row is unjudged."""
        if keys.is_missing(value):
            return math.nan
        number = as_number(value)
        if number is None or math.isnan(number):
            if number is not None:
                return math.nan
            fix = "Use float()." if isinstance(value, str) else "Use None for an unjudged row."
            raise self._error(place, "reward", REWARD_BOUND, value, fix)
        if not 0.0 <= number <= 1.0:
            raise self._error(place, "reward", REWARD_BOUND, value, "Scale it, or use None for an unjudged row.")
        return number

    def _add_markers(self, batch: Sequence[Any]) -> None:
        import numpy as np

        try:
            maps = list(map(_markers, batch))
            names = tuple(maps[0])
            if sum(map(len, maps)) != len(names) * len(maps):
                raise KeyError
            columns = {name: array("d", map(itemgetter(name), maps)) for name in names}
            if not all(isinstance(name, str) and np.isfinite(values).all() for name, values in columns.items()):
                raise ValueError
        except (KeyError, TypeError, ValueError, OverflowError):
            for place, row in enumerate(batch):
                self._add_row_markers(place, row.get("markers"))
            return
        for name, values in columns.items():
            mark = self.marks.setdefault(name, _Mark())
            mark.spans.append((self.n_rows, len(batch)))
            mark.values.extend(values)

    def _add_row_markers(self, place: int, markers: Any) -> None:
        """The careful way for one row; a marker that is ``None`` or NaN was not measured."""
        if keys.is_missing(markers):
            return
        if not isinstance(markers, Mapping):
            raise self._error(place, "markers", "a mapping of names to numbers", markers)
        for name, value in markers.items():
            if keys.is_missing(value):
                continue
            number = as_number(value)
            if number is None or math.isinf(number):
                raise self._error(place, f"markers[{name!r}]", "a finite number", value)
            if not math.isnan(number):
                mark = self.marks.setdefault(str(name), _Mark())
                mark.spans.append((self.n_rows + place, 1))
                mark.values.append(number)

    def build(self) -> TaskTable:
        """The table of all rows read."""
        import numpy as np

        from whileai.stats.exact import Sums, exact_sums

        names, codes, rewards = self.columns()
        size = len(names)
        unjudged = np.isnan(rewards)
        ones = rewards == 1.0
        binary = ones | (rewards == 0.0)
        per_task = np.bincount(codes, minlength=size)
        n = per_task if binary.all() else np.bincount(codes[binary], minlength=size)
        passes = np.bincount(codes[ones], minlength=size)
        n_unjudged = np.bincount(codes[unjudged], minlength=size) if unjudged.any() else np.zeros(size, dtype=np.int64)
        partial = ~(binary | unjudged)
        sums = exact_sums(codes[partial], rewards[partial], size)
        n_partial = np.bincount(codes[partial], minlength=size)
        prompts, n_conflicts = self._prompts_of(codes, size)
        markers = {}
        for name, mark in self.marks.items():
            everywhere = len(mark.values) == self.n_rows
            of = codes if everywhere else codes[mark.rows()]
            n_marked = per_task if everywhere else np.bincount(of, minlength=size)
            markers[name] = Column(n_marked, exact_sums(of, np.frombuffer(mark.values), size))
        return TaskTable(
            task=names,
            n=n,
            passes=passes,
            n_partial=n_partial,
            n_unjudged=n_unjudged,
            reward=Column(n + n_partial, Sums(sums.p0 + passes, sums.p1, sums.p2)),
            markers=markers,
            n_rows=self.n_rows,
            n_id_conflicts=self.n_id_conflicts,
            n_prompt_conflicts=n_conflicts,
            prompts=prompts,
        )

    def columns(self) -> tuple[list[str], Any, Any]:
        """The tasks, and per row the place of its task among them and its reward (NaN where unjudged)."""
        import numpy as np

        names = list(self.task_codes)
        if not {str}.issuperset(map(type, names)):
            names = [keys.task_name(name) for name in names]
        codes = np.frombuffer(self.codes, dtype=np.int64) if self.codes else np.zeros(0, dtype=np.int64)
        if len(set(names)) < len(names):  # 1 and "1" are one task
            merged = {name: line for line, name in enumerate(dict.fromkeys(names))}
            codes = np.array([merged[name] for name in names], dtype=np.int64)[codes]
            names = list(merged)
        rewards = np.frombuffer(self.rewards, dtype=np.float64) if self.rewards else np.zeros(0)
        return names, codes, rewards

    def _prompts_of(self, codes: Any, size: int) -> tuple[list[str | None], int]:
        """The prompt of each task, and how many tasks have more than one: of those the first in the alphabet."""
        import numpy as np

        if not self.prompts:
            return [None] * size, 0
        prompts = np.frombuffer(self.prompts, dtype=np.int64)
        known = [isinstance(prompt, str) for prompt in self.prompt_codes]
        if not all(known):  # a prompt of None is no other prompt
            prompts = np.where(np.array([*known, False])[prompts], prompts, -1)
        if prompts.min() < 0:  # the first prompt of a task is the first that is there
            codes, prompts = codes[prompts >= 0], prompts[prompts >= 0]
        first = np.full(size, -1, dtype=np.int64)
        first[codes[::-1]] = prompts[::-1]
        differs = (prompts != first[codes]) & (prompts >= 0) & (first[codes] >= 0)
        texts: list[Any] = [*self.prompt_codes, None]  # -1 finds the None
        found = [text if isinstance(text, str) else None for text in map(texts.__getitem__, first.tolist())]
        conflicts = set(codes[differs].tolist()) if differs.any() else set()
        for code in conflicts:
            found[code] = min(texts[place] for place in set(prompts[codes == code].tolist()))
        return found, len(conflicts)


class _Mark:
    """One marker: its values, and the runs of rows they stand on as (first row, how many)."""

    def __init__(self) -> None:
        self.spans: list[tuple[int, int]] = []
        self.values = array("d")

    def rows(self) -> Any:
        """The row of each value."""
        import numpy as np

        first, size = np.array(self.spans, dtype=np.int64).T
        ends = np.cumsum(size)
        return np.arange(ends[-1]) + np.repeat(first - (ends - size), size)


def as_number(value: Any) -> float | None:
    """A real number as a float, ``None`` for anything else; a zero-dimensional array counts as its item."""
    if hasattr(value, "dtype") and getattr(value, "shape", None) == ():
        value = value.item()
    if not isinstance(value, (numbers.Real, Decimal)):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _coded(values: list[Any], codes: defaultdict[Any, int]) -> Iterable[int]:
    """The code of each value; where equal values stand in runs, as the rows of a task mostly do, one look-up a run.

    A look-up finds its string somewhere in memory, a comparison with the value before it in the cache.
    """
    starts = [0, *compress(range(1, len(values)), map(ne, islice(values, 1, None), values))]
    if 2 * len(starts) > len(values):
        return map(codes.__getitem__, values)
    found = map(codes.__getitem__, map(values.__getitem__, starts))
    sizes = map(sub, chain(islice(starts, 1, None), (len(values),)), starts)
    return chain.from_iterable(map(repeat, found, sizes))


def _last(codes: dict[Any, int], n: int) -> list[Any]:
    """The `n` keys that were added last."""
    return list(islice(reversed(codes), n)) if n else []


def _forget(codes: defaultdict[Any, int], known: int) -> None:
    """Take back the keys added since there were `known`."""
    for key in _last(codes, len(codes) - known):
        del codes[key]
    codes.default_factory = count(known).__next__


def _is_id(value: Any) -> bool:
    """Whether a value can name a task."""
    if isinstance(value, str):
        return True
    return isinstance(value, UUID) or (isinstance(value, numbers.Real) and not math.isnan(value))


def _conflict(task: Any, scenario: Any) -> bool:
    """Whether a row bears two different ids."""
    if keys.is_missing(task) or keys.is_missing(scenario):
        return False
    return keys.task_name(task) != keys.task_name(scenario)


def _has_scenario(row: Mapping[str, Any]) -> bool:
    return "scenario_id" in row
