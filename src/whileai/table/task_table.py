"""`TaskTable`: what every measurement is a function of, one line per task."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from whileai import keys

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from whileai.stats.exact import Sums

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class TaskTable:
    """Counts and exact sums per task.

    Attributes
    ----------
    task : list of str
        The tasks, in the order they were first seen. No number depends on that order.
    n, passes : ndarray of int, shape (T,)
        Rows with a binary reward, and how many of them are 1.
    n_partial, n_unjudged : ndarray of int, shape (T,)
        Rows whose reward lies strictly between 0 and 1, and rows without one.
    reward : Column
        All rewards, partial ones included.
    markers : dict of str to Column
        Every marker by name.
    n_rows : int
        All rows.
    n_id_conflicts : int
        Rows whose ``task_id`` and ``scenario_id`` differ.
    n_prompt_conflicts : int
        Tasks under whose id stand different prompts.
    prompts : list of str or None
        The first prompt of each task, ``None`` where its rows have none.
    """

    task: list[str]
    n: Ints
    passes: Ints
    n_partial: Ints
    n_unjudged: Ints
    reward: Column
    markers: dict[str, Column]
    n_rows: int
    n_id_conflicts: int = 0
    n_prompt_conflicts: int = 0
    prompts: list[str | None] = field(default_factory=list, repr=False)

    def __len__(self) -> int:
        return len(self.task)

    @cached_property
    def place(self) -> dict[str, int]:
        """Task to its line."""
        return {task: line for line, task in enumerate(self.task)}

    @cached_property
    def metrics(self) -> list[str]:
        """The metrics that can be read from this table, markers in the order of their names."""
        return ["pass_at_1", "reward", *(f"marker:{name}" for name in sorted(self.markers))]

    @property
    def rates(self) -> Floats:
        """Pass rate per task, shape (T,); NaN where a task has no binary reward."""
        import numpy as np

        with np.errstate(invalid="ignore"):
            return self.passes / np.where(self.n > 0, self.n, np.nan)

    def column(self, metric: str) -> tuple[Floats, Ints]:
        """Task means of a metric and the rows behind each, both of shape (T,)."""
        if metric == "pass_at_1":
            return self.rates, self.n
        column = self.reward if metric == "reward" else self.markers[metric.removeprefix("marker:")]
        return column.mean, column.n

    @cached_property
    def prompt_digests(self) -> list[str | None]:
        """A digest of each task's first prompt, equal on every machine."""
        return [None if prompt is None else keys.digest(prompt) for prompt in self.prompts]


def aligned(tables: Iterable[TaskTable], use: Callable[[TaskTable], Any]) -> tuple[list[str], list[Ints]]:
    """The tasks that `use` (a mask per table) keeps in every table, and their lines in each.

    Returns
    -------
    tasks : list of str
    lines : list of ndarray of int, shape (T,)
        One per table.
    """
    import numpy as np

    tables = list(tables)
    kept = [{table.task[line] for line in np.flatnonzero(use(table))} for table in tables]
    tasks = [task for task in tables[0].task if all(task in names for names in kept)]
    return tasks, [np.array([table.place[task] for task in tasks], dtype=np.int64) for table in tables]
