"""Dict rows -> TaskTable, a column of each batch at a time."""

from __future__ import annotations

import math
import numbers
from array import array
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import islice, repeat
from operator import contains, itemgetter
from typing import Any

from whileai import keys
from whileai.errors import RowError
from whileai.readers.containers import not_a_row
from whileai.readers.logs.tally import Counts, reader_notes
from whileai.table.row_tasks import NamelessRow, NotARow, TaskReader
from whileai.table.task_table import Column, Fill, TaskTable

#: Rows of a batch: few enough that the second pass over them still finds them in the processor's cache.
BATCH = 2048
REWARD_BOUND = "a number in [0, 1]"
#: The keys that a table is made of; only a call that wants markers reads the last.
WANTED = ("task_id", "scenario_id", "prompt", "reward", "allocation", "markers")

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
    counts : Counts, optional
        Who counts what the readers pass over, where that is begun before.
    """

    def __init__(self, call: str, *, markers: bool, counts: Counts | None = None) -> None:
        self.call = call
        self.source = ""
        self.wants_markers = markers
        self.offset = 0
        self.n_rows = 0
        self.tasks = TaskReader()
        self.rewards = array("d")
        self.marks: dict[str, _Mark] = {}
        self.fill: list[int] = []
        self.counts = Counts() if counts is None else counts

    def add_all(self, rows: Iterable[Any], source: str) -> None:
        """Read all rows of one part of the data; `source` is the name errors call it by."""
        self.source = source
        self.offset = self.n_rows
        if isinstance(rows, (list, tuple)):
            for start in range(0, len(rows), BATCH):
                self.add(rows[start : start + BATCH])
            return
        self.tasks.streamed = True
        stream = iter(rows)
        while batch := list(islice(stream, BATCH)):
            self.add(batch)

    def add(self, batch: Sequence[Any]) -> None:
        """Read one batch."""
        self._add_tasks(batch)
        self._add_rewards(batch)
        if self.wants_markers:
            self._add_markers(batch)
        if any(map(contains, batch, repeat("allocation"))):
            self.fill += [self.n_rows + place for place, row in enumerate(batch) if keys.is_fill(row)]
        self.n_rows += len(batch)

    def _index(self, place: int) -> int:
        """The index in its part of the row at a place of the batch being read."""
        return self.n_rows - self.offset + place

    def _error(self, place: int, key: str, bound: str, value: Any, fix: str = "") -> RowError:
        return RowError.of(self.call, self.source, self._index(place), key, bound, value, fix)

    def _add_tasks(self, batch: Sequence[Any]) -> None:
        try:
            self.tasks.add(batch)
        except NotARow as item:
            raise not_a_row(self.call, self.source, self._index(item.place), batch[item.place]) from None
        except NamelessRow as row:
            raise self._error(row.place, "task_id", row.bound, row.value, row.fix) from None

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

        tasks = self.tasks.tasks()
        all_codes, all_rewards, size = tasks.codes, self._rewards_read(), len(tasks.names)
        kept = self._kept()
        codes, rewards = (all_codes, all_rewards) if kept is None else (all_codes[kept], all_rewards[kept])
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
        markers = {}
        for name, mark in self.marks.items():
            everywhere = len(mark.values) == self.n_rows
            values = np.frombuffer(mark.values)
            of = all_codes if everywhere else all_codes[mark.rows()]
            if kept is not None:
                counted = kept if everywhere else kept[mark.rows()]
                of, values = of[counted], values[counted]
            n_marked = per_task if everywhere else np.bincount(of, minlength=size)
            if n_marked.any():
                markers[name] = Column(n_marked, exact_sums(of, values, size))
        return TaskTable(
            task=tasks.names,
            n=n,
            passes=passes,
            n_partial=n_partial,
            n_unjudged=n_unjudged,
            reward=Column(n + n_partial, Sums(sums.p0 + passes, sums.p1, sums.p2)),
            markers=markers,
            n_rows=self.n_rows - len(self.fill),
            n_id_conflicts=tasks.n_id_conflicts,
            prompts=tasks.prompts,
            reading=tuple(reader_notes(self.counts.tally())),
            fill=None if kept is None else _fill(all_codes[~kept], all_rewards[~kept], size),
        )

    def _kept(self) -> Any:
        """Which rows tell a rate, ``None`` where all do."""
        import numpy as np

        if not self.fill:
            return None
        kept = np.ones(self.n_rows, dtype=bool)
        kept[self.fill] = False
        return kept

    def columns(self) -> tuple[list[str], Any, Any]:
        """The tasks, and per row the place of its task among them and its reward (NaN where unjudged)."""
        tasks = self.tasks.tasks()
        return tasks.names, tasks.codes, self._rewards_read()

    def _rewards_read(self) -> Any:
        import numpy as np

        return np.frombuffer(self.rewards, dtype=np.float64) if self.rewards else np.zeros(0)


def _fill(codes: Any, rewards: Any, size: int) -> Fill:
    """The counts of rows that tell no rate."""
    import numpy as np

    binary = codes[(rewards == 0.0) | (rewards == 1.0)]
    counted = (np.bincount(of, minlength=size) for of in (codes, binary, codes[rewards == 1.0]))
    return Fill(*counted)


class _Mark:
    """One marker: its values, and the runs of rows they stand on as (first row, how many)."""

    def __init__(self) -> None:
        self.spans: list[tuple[int, int]] = []
        self.values = array("d")

    def filled(self, n: int) -> Any:
        """The marker of each of `n` rows, NaN where it was not measured."""
        import numpy as np

        column = np.full(n, math.nan)
        if self.spans:
            column[self.rows()] = np.frombuffer(self.values)
        return column

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
