"""One metric on the paired tasks of two tables: the change, its interval, the exact test, the direction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from whileai.measure.common import RATES
from whileai.measure.comparison import Delta
from whileai.stats import clustered, exact, intervals, multiple, signflip
from whileai.stats.cells import cells
from whileai.table.task_table import TaskTable, aligned

#: Relative difference of two means that rounding alone may leave.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Pairs:
    """The paired tasks of two tables, equal ones counted unless they lie in clusters.

    Attributes
    ----------
    before, after, changes : ndarray of float, shape (U,)
        Task means and after minus before, one entry per distinct pair of results where they repeat.
    weights : ndarray of int, shape (U,)
        Tasks with those results.
    scale : int or None
        All ``changes * scale`` are whole numbers; ``None`` where no such number is known.
    clusters : ndarray of int, shape (U,), or None
        The cluster of each task, which then has an entry of its own.
    """

    before: Any
    after: Any
    changes: Any
    weights: Any
    scale: int | None
    clusters: Any = None

    @property
    def n(self) -> int:
        """Paired tasks."""
        return int(self.weights.sum())

    @property
    def std(self) -> float:
        """Standard deviation of the changes over tasks (divisor n - 1)."""
        centre = exact.mean(self.changes, self.weights)
        return math.sqrt(exact.total((self.changes - centre) ** 2, self.weights) / (self.n - 1))

    @property
    def n_units(self) -> int:
        """What the sign-flip test turns: clusters where there are any, else tasks."""
        import numpy as np

        return self.n if self.clusters is None else len(np.unique(self.clusters))

    @property
    def n_changed(self) -> int:
        """Clusters, or tasks, whose difference is not 0."""
        if self.clusters is None:
            return int(self.weights[self.changes != 0].sum())
        return int((clustered.cluster_sums(self.changes, self.clusters, self.scale) != 0).sum())

    def interval(self, level: float, *, bounded: bool) -> tuple[float, float] | None:
        """The interval of the mean difference."""
        if self.clusters is not None:
            over = clustered.paired_interval if bounded else clustered.paired_interval_unbounded
            return over(self.changes, self.clusters, level)
        find = intervals.paired_interval if bounded else intervals.paired_interval_unbounded
        return find(self.changes, level, weights=self.weights)

    def p_value(self) -> float:
        """The exact sign-flip test; the differences of a cluster turn together."""
        if self.clusters is not None:
            return clustered.signflip_p(self.changes, self.clusters, self.scale)
        return signflip.signflip_p(self.changes, scale=self.scale, weights=self.weights)


class Arms:
    """Two tables with their common tasks side by side.

    Parameters
    ----------
    before, after : TaskTable
    lines : two arrays of int, shape (T,), optional
        The places of the common tasks in each, by default of all there are.
    clusters : array of int, shape (T,), optional
        The cluster of each common task.
    """

    def __init__(
        self, before: TaskTable, after: TaskTable, lines: Sequence[Any] | None = None, clusters: Any = None
    ) -> None:
        self.before = before
        self.after = after
        self.lines = aligned((before, after)) if lines is None else list(lines)
        self.clusters = clusters
        self._pairs: dict[str, Pairs | None] = {}

    def part(self, places: Any) -> Arms:
        """The arms with some of the common tasks, named by their places."""
        clusters = None if self.clusters is None else self.clusters[places]
        return Arms(self.before, self.after, [at[places] for at in self.lines], clusters)

    @property
    def n_shared(self) -> int:
        """Tasks that stand in both tables."""
        return len(self.lines[0])

    @property
    def metrics(self) -> list[str]:
        """The metrics that both tables have."""
        return [name for name in self.before.metrics if name in self.after.metrics]

    def pairs(self, metric: str) -> Pairs | None:
        """The common tasks that have a metric in both arms, ``None`` where there is none."""
        if metric not in self._pairs:
            self._pairs[metric] = self._pair(metric)
        return self._pairs[metric]

    def _pair(self, metric: str) -> Pairs | None:
        import numpy as np

        a, b = self.before, self.after
        (old, n_old), (new, n_new) = a.column(metric), b.column(metric)
        at, bt = self.lines
        measured = (n_old[at] > 0) & (n_new[bt] > 0)
        if not measured.any():
            return None
        at, bt = at[measured], bt[measured]
        if self.clusters is not None:
            return self._clustered_pair(metric, at, bt, self.clusters[measured])
        if metric == "pass_at_1":
            found, weights = cells(a.n[at], a.passes[at], b.n[bt], b.passes[bt])
            na, ca, nb, cb = found.T
            scale = math.lcm(*np.unique(found[:, [0, 2]]).tolist())
            return Pairs(ca / na, cb / nb, cb / nb - ca / na, weights, scale)
        before, after = old[at], new[bt]
        return Pairs(before, after, _changes(before, after), np.ones(len(at), dtype=np.int64), None)

    def _clustered_pair(self, metric: str, at: Any, bt: Any, clusters: Any) -> Pairs:
        """Tasks one by one with their clusters."""
        import numpy as np

        (old, n_old), (new, n_new) = self.before.column(metric), self.after.column(metric)
        before, after = old[at], new[bt]
        scale, changes = None, _changes(before, after)
        if metric == "pass_at_1":
            scale = math.lcm(*np.unique(np.concatenate([n_old[at], n_new[bt]])).tolist())
            changes = after - before
        return Pairs(before, after, changes, np.ones(len(at), dtype=np.int64), scale, clusters)

    def moved(self, metric: str, lower: bool) -> tuple[int, int, int]:
        """Tasks that got better, got worse, stayed."""
        pairs = self.pairs(metric)
        if pairs is None:
            return 0, 0, 0
        up = int(pairs.weights[pairs.changes > 0].sum())
        down = int(pairs.weights[pairs.changes < 0].sum())
        same = pairs.n - up - down
        return (down, up, same) if lower else (up, down, same)


def _changes(before: Any, after: Any) -> Any:
    """After minus before, exactly 0 where they differ by rounding alone, as .1 + .2 and .15 + .15 do."""
    import numpy as np

    changes = after - before
    changes[np.abs(changes) <= ROUNDING * np.maximum(np.abs(before), np.abs(after))] = 0.0
    return changes


def adjusted(found: dict[str, Delta], target: str | None, level: float) -> dict[str, Delta]:
    """The same deltas with Holm's p over them; all but the target take their verdict from it."""
    raw = {name: delta.p_value for name, delta in found.items() if delta.p_value is not None}
    by_name = dict(zip(raw, multiple.holm(list(raw.values())).tolist(), strict=True))
    out = {}
    for name, delta in found.items():
        p = by_name.get(name)
        verdict = (
            delta.verdict if name == target else direction(delta.delta, delta.interval, p, level, delta.lower_is_better)
        )
        out[name] = replace(delta, p_adjusted=p, verdict=verdict)
    return out


def direction(delta: float | None, ends: tuple[float, float] | None, p: float | None, level: float, lower: bool) -> str:
    """The verdict on one metric: both the interval and the test must tell it from 0.

    Where every task changed by the same amount there is no interval, and the test alone decides.
    """
    if delta is None or p is None:
        return "insufficient_data"
    away = ends is None or ends[0] > 0 or ends[1] < 0
    if not away or not p < 1 - level or delta == 0:
        return "no_difference"
    return "improved" if (delta > 0) != lower else "regressed"


def paired_delta(arms: Arms, metric: str, lower: bool, level: float) -> Delta:
    """One metric on the tasks that have it in both arms."""
    pairs = arms.pairs(metric) if metric in arms.metrics else None
    if pairs is None:
        return Delta("insufficient_data", lower_is_better=lower)
    weights = pairs.weights
    delta = exact.mean(pairs.changes, weights)
    ends = pairs.interval(level, bounded=metric in RATES)
    p = pairs.p_value()
    return Delta(
        verdict=direction(delta, ends, p, level, lower),
        before=exact.mean(pairs.before, weights),
        after=exact.mean(pairs.after, weights),
        delta=delta,
        interval=None if ends is None else (min(ends[0], delta), max(ends[1], delta)),
        p_value=p,
        n_paired=pairs.n,
        lower_is_better=lower,
        n_clusters=None if pairs.clusters is None else pairs.n_units,
    )
