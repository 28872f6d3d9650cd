"""`TaskTable`: what every measurement is a function of, one line per task."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import TYPE_CHECKING

from whileai.errors import sentence

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from whileai.result import Note
    from whileai.stats.exact import Sums
    from whileai.table.prompts import Prompts

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Column:
    """A measured quantity per task.

    Attributes
    ----------
    n : ndarray of int, shape (T,)
        Rows that carry it.
    sums : Sums
        Its exact sum per task, in integers (`whileai.stats.exact`).
    """

    n: Ints
    sums: Sums

    @cached_property
    def mean(self) -> Floats:
        """Mean per task, shape (T,); NaN where no row carries it."""
        from whileai.stats.exact import means

        return means(self.sums, self.n)


@dataclass(frozen=True, eq=False)
class Fill:
    """Rows per task that were added because of earlier outcomes.

    Attributes
    ----------
    rows, n, passes : ndarray of int, shape (T,)
        All of them, those with a binary reward, and how many of these are 1.
    """

    rows: Ints
    n: Ints
    passes: Ints


@dataclass(frozen=True, eq=False)
class TaskTable:
    """Counts and exact sums per task.

    Attributes
    ----------
    task : list of str
        The tasks. No number depends on their order.
    n, passes : ndarray of int, shape (T,)
        Rows with a binary reward, and how many of them are 1.
    n_partial, n_unjudged : ndarray of int, shape (T,)
        Rows whose reward lies strictly between 0 and 1, and rows without one.
    reward : Column
        All rewards, partial ones included.
    markers : dict of str to Column
        Every marker by name.
    n_rows : int
        All rows but those of `n_fill`.
    n_id_conflicts : int
        Rows whose ``task_id`` and ``scenario_id`` differ.
    prompts : Prompts
        What tells the prompts of the tasks apart.
    reading : tuple of Note
        What the reader of the rows passed over or chose.
    fill : Fill or None
        Rows that were added because of how a task's first ones came out (``allocation.phase`` is ``"fill"``). They tell
        no rate, so no other field counts them. ``None`` where there are none.
    """

    task: list[str]
    n: Ints
    passes: Ints
    n_partial: Ints
    n_unjudged: Ints
    reward: Column
    markers: dict[str, Column]
    n_rows: int
    n_id_conflicts: int
    prompts: Prompts
    reading: tuple[Note, ...] = ()
    fill: Fill | None = None

    def __len__(self) -> int:
        return len(self.task)

    @property
    def n_prompt_conflicts(self) -> int:
        """Tasks under whose id stand different prompts."""
        return self.prompts.n_several

    @property
    def n_fill(self) -> int:
        """Rows left out of all counts, as they were added because of earlier outcomes."""
        return 0 if self.fill is None else int(self.fill.rows.sum())

    @property
    def n_all(self) -> Ints:
        """Rows with a binary reward, those left out of `n` included, shape (T,)."""
        return self.n if self.fill is None else self.n + self.fill.n

    @property
    def passes_all(self) -> Ints:
        """How many of `n_all` are 1, shape (T,)."""
        return self.passes if self.fill is None else self.passes + self.fill.passes

    @cached_property
    def place(self) -> dict[str, int]:
        """Task to its line."""
        return {task: line for line, task in enumerate(self.task)}

    @cached_property
    def metrics(self) -> list[str]:
        """The metrics that can be read from this table, markers in the order of their names."""
        return ["pass_at_1", "reward", *(f"marker:{name}" for name in sorted(self.markers))]

    @cached_property
    def rates(self) -> Floats:
        """Pass rate per task, shape (T,); NaN where a task has no binary reward."""
        import numpy as np

        with np.errstate(invalid="ignore"):
            return self.passes / np.where(self.n > 0, self.n, np.nan)

    def merge(self, *others: TaskTable) -> TaskTable:
        """The table of the rows behind this table and `others`, as one pass over all of them would give it.

        Rows of one task may stand in several shards; nothing depends on the order of the shards, to the last bit.

        Examples
        --------
        >>> import whileai as wai
        >>> one = wai.task_table([{"task_id": "a", "reward": 1}, {"task_id": "b", "reward": 0}])
        >>> two = wai.task_table([{"task_id": "a", "reward": 0}])
        >>> whole = one.merge(two)
        >>> dict(zip(whole.task, whole.n.tolist(), strict=True))
        {'a': 2, 'b': 1}
        """
        from whileai.table.merge import merged

        for place, other in enumerate(others):
            if not isinstance(other, TaskTable):
                fix = "wai.task_table(data) makes one."
                raise TypeError(sentence("merge", f"others[{place}]", "a TaskTable", other, fix))
        return merged((self, *others))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table to a Parquet file: one line a task, the columns that `whileai.table.flat` names.

        The file appears whole or not at all. Every call that takes rows takes it in their place; `load` reads it back.
        """
        from whileai.table.saved import save

        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> TaskTable:
        """The table in the file that `save` wrote; a glob or a folder reads and merges all its files.

        Raises
        ------
        FileNotFoundError
            No file has that name.
        RowError
            The file holds no table grouped by task.
        """
        from whileai.table.saved import load

        return load(path)

    def column(self, metric: str) -> tuple[Floats, Ints]:
        """Task means of a metric and the rows behind each, both of shape (T,)."""
        if metric == "pass_at_1":
            return self.rates, self.n
        column = self.reward if metric == "reward" else self.markers[metric.removeprefix("marker:")]
        return column.mean, column.n


def aligned(tables: Sequence[TaskTable]) -> list[Ints]:
    """The lines of the tasks that every table has, task by task, one array of shape (T,) per table."""
    import numpy as np

    first, *others = tables
    lines = [np.arange(len(first), dtype=np.int64)]
    for table in others:
        if table.task == first.task:
            lines.append(np.arange(len(first), dtype=np.int64))
        else:
            found = map(table.place.get, first.task, repeat(-1))
            lines.append(np.fromiter(found, dtype=np.int64, count=len(first)))
    everywhere = np.logical_and.reduce([at >= 0 for at in lines])
    return [at[everywhere] for at in lines]
