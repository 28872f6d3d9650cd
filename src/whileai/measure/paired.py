"""One metric on the paired tasks of two tables: the change, its interval, the exact test, the direction."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from whileai.measure.common import RATES
from whileai.measure.comparison import Delta
from whileai.stats import exact, intervals, multiple, signflip
from whileai.stats.cells import cells
from whileai.table.task_table import TaskTable, aligned

#: Relative difference of two means that rounding alone may leave.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Pairs:
    """The paired tasks of two tables, equal ones counted.

    Attributes
    ----------
    before, after, changes : ndarray of float, shape (U,)
        Task means and after minus before, one entry per distinct pair of results where they repeat.
    weights : ndarray of int, shape (U,)
        Tasks with those results.
    scale : int or None
        All ``changes * scale`` are whole numbers; ``None`` where no such number is known.
    """

    before: Any
    after: Any
    changes: Any
    weights: Any
    scale: int | None

    @property
    def n(self) -> int:
        """Paired tasks."""
        return int(self.weights.sum())

    @property
    def std(self) -> float:
        """Standard deviation of the changes over tasks (divisor n - 1)."""
        centre = exact.mean(self.changes, self.weights)
        return math.sqrt(exact.total((self.changes - centre) ** 2, self.weights) / (self.n - 1))


class Arms:
    """Two tables with their common tasks side by side."""

    def __init__(self, before: TaskTable, after: TaskTable) -> None:
        self.before = before
        self.after = after
        self.lines = aligned((before, after))
        self._pairs: dict[str, Pairs | None] = {}

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
        if metric == "pass_at_1":
            found, weights = cells(a.n[at], a.passes[at], b.n[bt], b.passes[bt])
            na, ca, nb, cb = found.T
            scale = math.lcm(*np.unique(found[:, [0, 2]]).tolist())
            return Pairs(ca / na, cb / nb, cb / nb - ca / na, weights, scale)
        before, after = old[at], new[bt]
        changes = after - before
        # means of equal values in another split, such as .1 + .2 against .15 + .15, differ by rounding alone
        changes[np.abs(changes) <= ROUNDING * np.maximum(np.abs(before), np.abs(after))] = 0.0
        return Pairs(before, after, changes, np.ones(len(at), dtype=np.int64), None)

    def moved(self, metric: str, lower: bool) -> tuple[int, int, int]:
        """Tasks that got better, got worse, stayed."""
        pairs = self.pairs(metric)
        if pairs is None:
            return 0, 0, 0
        up = int(pairs.weights[pairs.changes > 0].sum())
        down = int(pairs.weights[pairs.changes < 0].sum())
        same = pairs.n - up - down
        return (down, up, same) if lower else (up, down, same)


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
    changes, weights = pairs.changes, pairs.weights
    delta = exact.mean(changes, weights)
    find = intervals.paired_interval if metric in RATES else intervals.paired_interval_unbounded
    ends = find(changes, level, weights=weights)
    p = signflip.signflip_p(changes, scale=pairs.scale, weights=weights)
    return Delta(
        verdict=direction(delta, ends, p, level, lower),
        before=exact.mean(pairs.before, weights),
        after=exact.mean(pairs.after, weights),
        delta=delta,
        interval=None if ends is None else (min(ends[0], delta), max(ends[1], delta)),
        p_value=p,
        n_paired=pairs.n,
        lower_is_better=lower,
    )
