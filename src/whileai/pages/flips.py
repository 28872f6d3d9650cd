"""The tasks of a page: their rates in each arm, which flipped, how many flips chance alone would give."""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from whileai.pages.rows import is_uncertain

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from whileai.table.task_table import TaskTable

#: Relative difference of two means that rounding alone may leave.
ROUNDING = 1e-12
#: Most distinct counts of tasks for which chance is worked out.
MOST_CELLS = 20_000


@dataclass(frozen=True)
class Arm:
    """One side of a page.

    Attributes
    ----------
    name : str
        ``before``, ``after``, or ``rows`` where there is only one.
    table : TaskTable
    rows : sequence of mappings or None
        ``None`` where only the table is known: then there are no texts.
    """

    name: str
    table: TaskTable
    rows: Sequence[Mapping[str, Any]] | None = None

    @cached_property
    def by_task(self) -> dict[str, list[Mapping[str, Any]]]:
        """The rows of each task."""
        from whileai.keys import task_of

        found: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
        for row in self.rows or ():
            found[task_of(row) or ""].append(row)
        return found


@dataclass(frozen=True)
class Side:
    """The tasks of a page in one arm: rows and passes with a binary reward, and the mean of the target."""

    n: NDArray[np.int64]
    passes: NDArray[np.int64]
    mean: NDArray[np.float64]


@dataclass(frozen=True)
class Tasks:
    """The tasks that a page lists, those that are measured in every arm, in the order of their ids.

    Attributes
    ----------
    ids : list of str
    target : str
        The metric that rises or falls.
    lower : bool
        Whether it is better when it falls.
    before : Side or None
        ``None`` on a page of one arm.
    after : Side
    uncertain : ndarray of bool, shape (T,)
        Tasks with a verdict in doubt.
    marker_changes : dict of str to ndarray of float, shape (T,)
        After minus before, or the mean on a page of one arm.
    """

    ids: list[str]
    target: str
    lower: bool
    before: Side | None
    after: Side
    uncertain: NDArray[np.bool_]
    marker_changes: dict[str, NDArray[np.float64]]

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def gain(self) -> NDArray[np.float64]:
        """How much better each task is after; on a page of one arm how far it is from failing every row."""
        import numpy as np

        if self.before is None:
            return -self.after.mean if self.lower else self.after.mean
        old, new = self.before.mean, self.after.mean
        change = new - old
        change[np.abs(change) <= ROUNDING * np.maximum(np.abs(old), np.abs(new))] = 0.0
        return -change if self.lower else change

    @cached_property
    def unstable(self) -> NDArray[np.bool_]:
        """Tasks that pass some of the rows of an arm."""
        found = (self.after.passes > 0) & (self.after.passes < self.after.n)
        if self.before is not None:
            found = found | ((self.before.passes > 0) & (self.before.passes < self.before.n))
        return found

    def flags(self) -> dict[str, NDArray[np.bool_]]:
        """The filters of the page, in order; a task may be in several."""
        import numpy as np

        if self.before is None:
            lowest = self.after.passes == 0
            found = {"failing": lowest & (self.after.n > 0), "unstable": self.unstable, "uncertain": self.uncertain}
            found["passing"] = (self.after.passes == self.after.n) & (self.after.n > 0)
        else:
            found = {
                "lost": self.gain < 0,
                "won": self.gain > 0,
                "unstable": self.unstable,
                "uncertain": self.uncertain,
            }
            found["same"] = self.gain == 0
        return {**found, "all": np.ones(len(self), dtype=bool)}

    def order(self) -> list[int]:
        """Places in the order in which texts are worth most; ties in that of a digest, so that none is favoured."""
        import numpy as np

        flags = self.flags()
        kind = np.full(len(self), 4)
        ranked = (
            ("same", "unstable", "won", "uncertain")
            if self.before is not None
            else ("passing", "unstable", "uncertain")
        )
        for place, name in enumerate(ranked):
            kind[flags[name]] = 4 - place
        kind[flags["lost" if self.before is not None else "failing"]] = 0
        loss = np.where(kind == 0, self.gain, -np.abs(self.gain))
        ties = [hashlib.sha256(task.encode("utf-8", "surrogatepass")).digest() for task in self.ids]
        return sorted(range(len(self)), key=lambda i: (int(kind[i]), float(loss[i]), ties[i]))

    def expected_flips(self) -> tuple[float, float] | None:
        """Tasks lost and won if the arms were the same: each task's rows dealt anew to the two arms.

        Exact, from the hypergeometric distribution of the passes; ``None`` where the target is no pass rate and the
        tasks have several rows, and where the counts are too many to go through.
        """
        from whileai.stats.cells import cells

        if self.before is None or not len(self):
            return None
        if self.target != "pass_at_1":
            single = int(max(self.before.n.max(), self.after.n.max())) == 1
            half = float((self.gain != 0).sum()) / 2
            return (half, half) if single else None
        counts, weights = cells(self.before.n, self.before.passes, self.after.n, self.after.passes)
        if len(counts) > MOST_CELLS:
            return None
        lost = won = Fraction(0)
        known: dict[tuple[int, int, int], tuple[Fraction, Fraction]] = {}
        for (na, ca, nb, cb), weight in zip(counts.tolist(), weights.tolist(), strict=True):
            key = (na, nb, ca + cb)
            if key not in known:
                known[key] = _dealt(*key)
            lost += weight * known[key][0]
            won += weight * known[key][1]
        return float(lost), float(won)


def _dealt(na: int, nb: int, passes: int) -> tuple[Fraction, Fraction]:
    """How likely a task is lost, and won, if its passes are dealt at random to `na` rows before and `nb` after."""
    lost = won = 0
    for old in range(max(0, passes - nb), min(na, passes) + 1):
        ways = math.comb(na, old) * math.comb(nb, passes - old)
        difference = (passes - old) * na - old * nb
        lost += ways * (difference < 0)
        won += ways * (difference > 0)
    all_ways = math.comb(na + nb, passes)
    return Fraction(lost, all_ways), Fraction(won, all_ways)


def tasks_of(arms: Sequence[Arm], target: str, *, lower: bool) -> Tasks:
    """The tasks of one arm or of two."""
    import numpy as np

    from whileai.table.task_table import aligned

    lines = aligned([arm.table for arm in arms])
    columns = [arm.table.column(target) for arm in arms]
    measured = np.logical_and.reduce([n[at] > 0 for (_, n), at in zip(columns, lines, strict=True)])
    lines = [at[measured] for at in lines]
    names = [arms[0].table.task[line] for line in lines[0].tolist()]
    order = np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.int64)
    lines = [at[order] for at in lines]
    sides = [
        Side(arm.table.n[at], arm.table.passes[at], mean[at])
        for arm, (mean, _), at in zip(arms, columns, lines, strict=True)
    ]
    ids = [names[place] for place in order.tolist()]
    return Tasks(
        ids,
        target,
        lower,
        sides[0] if len(sides) > 1 else None,
        sides[-1],
        _uncertain(arms, ids),
        _marker_changes(arms, lines),
    )


def _uncertain(arms: Sequence[Arm], ids: Sequence[str]) -> NDArray[np.bool_]:
    import numpy as np

    from whileai.keys import task_of

    found = {task_of(row) for arm in arms for row in arm.rows or () if is_uncertain(row)}
    return np.fromiter((task in found for task in ids), dtype=bool, count=len(ids))


def _marker_changes(arms: Sequence[Arm], lines: Sequence[NDArray[np.int64]]) -> dict[str, NDArray[np.float64]]:
    shared = [name for name in arms[-1].table.metrics[2:] if all(name in arm.table.metrics for arm in arms)]
    found = {}
    for name in shared:
        means = [arm.table.column(name)[0][at] for arm, at in zip(arms, lines, strict=True)]
        found[name] = means[-1] - means[0] if len(means) > 1 else means[0]
    return found
