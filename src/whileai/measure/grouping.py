"""The clusters of the tasks of a measurement, and what is said of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from whileai.result import Note
from whileai.result.digits import count

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from whileai.table.clusters import Labels


@dataclass(frozen=True)
class Grouping:
    """Tasks in clusters.

    Attributes
    ----------
    codes : ndarray of int, shape (tasks,)
        The cluster of each task; one without a value is a cluster of its own.
    notes : tuple of Note
        Tasks without a value, and tasks with several.
    """

    codes: NDArray[np.int64]
    notes: tuple[Note, ...]


def grouping_of(labels: Labels) -> Grouping:
    """The clusters of one table's tasks."""
    return _grouping(labels.first, labels.path, int(labels.several.sum()))


def shared_grouping(before: Labels, after: Labels, lines: Sequence[NDArray[np.int64]]) -> Grouping:
    """The clusters of the tasks that two tables share; `lines` are the places of those tasks in each.

    A value on either arm names the cluster; where the arms differ the first in order counts.
    """
    import numpy as np

    _, (one, other) = ranked((before, after), lines)
    both = (one >= 0) & (other >= 0)
    several = before.several[lines[0]] | after.several[lines[1]] | (both & (one != other))
    return _grouping(np.where(both, np.minimum(one, other), np.maximum(one, other)), before.path, int(several.sum()))


def ranked(
    labels: tuple[Labels, Labels], lines: Sequence[NDArray[np.int64]]
) -> tuple[list[str], list[NDArray[np.int64]]]:
    """All values in order, and on either arm the place among them of every common task's value, -1 without one."""
    import numpy as np

    values = sorted({*labels[0].values, *labels[1].values})
    rank = {value: place for place, value in enumerate(values)}
    ranks = []
    for label, at in zip(labels, lines, strict=True):
        places = np.array([*(rank[value] for value in label.values), -1], dtype=np.int64)
        ranks.append(places[label.first[at]])
    return values, ranks


def _grouping(first: NDArray[np.int64], path: str, n_several: int) -> Grouping:
    import numpy as np

    alone = first < 0
    codes = first.copy()
    codes[alone] = int(first.max(initial=-1)) + 1 + np.arange(int(alone.sum()))
    notes = []
    if n_several:
        have = "stands" if n_several == 1 else "stand"
        text = f"{count(n_several, 'task')} {have} in more than one {path!r}; the first in order was taken."
        notes.append(Note("several_clusters", text, "Clusters must not overlap: name a key that holds whole tasks."))
    if alone.any():
        n = int(alone.sum())
        text = (
            f"{count(n, 'task')} without {path!r} {'is a cluster of its' if n == 1 else 'are clusters of their'} own."
        )
        notes.append(Note("no_cluster", text))
    return Grouping(codes, tuple(notes))


def in_clusters(n_tasks: int, n_clusters: int | None) -> str:
    """``1,319 tasks in 120 clusters``, or the tasks alone."""
    tasks = count(n_tasks, "task")
    return tasks if n_clusters is None else f"{tasks} in {count(n_clusters, 'cluster')}"
