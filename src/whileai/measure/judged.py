"""Rows with a judge's verdict and perhaps gold, as arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from whileai import keys
from whileai.measure.gold import Gold, Picked, how_picked, read_gold
from whileai.scoring.judging import land_verdicts, shown
from whileai.stats.corrected import Labelled
from whileai.table.from_rows import TableBuilder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from whileai.verify.adapt import Judge
    from whileai.verify.verdict import Verdict

#: Seconds one verdict of a judge may take, as in `wai.rows`.
VERDICT_SECONDS = 30.0


def is_binary(values: NDArray[Any]) -> NDArray[Any]:
    """Where a number is 0 or 1."""
    mask: NDArray[Any] = (values == 0) | (values == 1)
    return mask


@dataclass(frozen=True)
class Judged:
    """The rows as arrays.

    Attributes
    ----------
    judge : float array, shape (rows,)
        Verdicts; NaN where a row has none.
    gold : Gold
    tasks : list of str
        In the order of their names, so that no sum knows that of the rows.
    codes : int array, shape (rows,)
        The task of each row.
    measures : dict of str to array
        What may move the judge's error: ``length`` and ``marker:<name>``, NaN where not measured.
    gold_key : str
    picked : Picked
        How the labelled rows were picked.
    verdicts : list of Verdict
        Of a judge that was asked; empty where the verdicts stood on the rows.
    """

    judge: NDArray[Any]
    gold: Gold
    tasks: list[str]
    codes: NDArray[Any]
    measures: Mapping[str, NDArray[Any]]
    gold_key: str
    picked: Picked
    verdicts: list[Verdict] = field(default_factory=list)

    @property
    def labelled(self) -> NDArray[Any]:
        """Rows with a binary verdict and a binary gold."""
        both: NDArray[Any] = is_binary(self.judge) & is_binary(self.gold.values)
        return both

    @property
    def weights(self) -> NDArray[Any] | None:
        """What each labelled row counts in a mean over tasks; ``None`` where all count alike."""
        import numpy as np

        if self.picked.weights is None:
            return None
        use = self.labelled
        per_task = np.bincount(self.codes[is_binary(self.judge)], minlength=len(self.tasks))
        weights: NDArray[Any] = self.picked.weights[use] / per_task[self.codes[use]]
        return weights

    def arm(self, units: NDArray[Any] | None = None) -> Labelled:
        """The rows with a binary verdict, for `whileai.stats.corrected`; `units` are the clusters of the tasks."""
        import numpy as np

        use = is_binary(self.judge)
        codes = self.codes[use].astype(np.int64)
        gold = np.where(is_binary(self.gold.values), self.gold.values, math.nan)[use]
        weights = np.ones(len(gold)) if self.picked.weights is None else self.picked.weights[use]
        return Labelled(self.judge[use], gold, codes if units is None else units[codes], codes, weights)


def read_judged(
    rows: Sequence[Mapping[str, Any]], call: str, gold: str, scorer: Judge | None = None, source: str = ""
) -> Judged:
    """The rows as arrays; with a `scorer` its verdicts take the place of those on the rows.

    Raises
    ------
    ParamError
        A gold key that no row has.
    RowError
        A reward or a gold that is no number in [0, 1].
    """
    import numpy as np

    builder = TableBuilder(call, markers=True)
    builder.add_all(rows, source)
    names, codes, rewards = builder.columns()
    order = sorted(range(len(names)), key=names.__getitem__)
    rank = np.empty(len(names), dtype=np.int64)
    rank[order] = np.arange(len(names))
    found = read_gold(rows, call, gold, source)
    markers = {name: mark.filled(len(rows)) for name, mark in builder.marks.items()}
    verdicts: list[Verdict] = []
    if scorer is not None:
        verdicts = ask(scorer, rows)
        rewards = np.array([math.nan if v.reward is None else v.reward for v in verdicts], dtype=np.float64)
        for place, verdict in enumerate(verdicts):
            for name, value in verdict.markers.items():
                markers.setdefault(name, np.full(len(rows), math.nan))[place] = value
    lengths = np.array([len(keys.candidate_of(row) or "") for row in rows], dtype=np.float64)
    measures = {"length": lengths} | {f"marker:{name}": markers[name] for name in sorted(markers)}
    labelled = is_binary(rewards) & is_binary(found.values)
    return Judged(
        judge=rewards,
        gold=found,
        tasks=[names[place] for place in order],
        codes=rank[codes] if names else codes,
        measures=measures,
        gold_key=gold,
        picked=how_picked(rows, labelled),
        verdicts=verdicts,
    )


def ask(scorer: Judge, rows: Sequence[Mapping[str, Any]]) -> list[Verdict]:
    """The verdicts of a judge on rows, in their order."""
    landed: dict[int, Verdict] = {}
    with shown(land_verdicts(scorer, rows, timeout=VERDICT_SECONDS, workers=None), len(rows)) as landing:
        landed.update(landing)
    return [landed[place] for place in range(len(rows))]
