"""The change of a comparison with the judge's errors counted, from gold on some rows of each arm."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from whileai import keys
from whileai.errors import ParamError
from whileai.measure.common import RATES
from whileai.measure.gold import gold_notes, how_picked, shift_note
from whileai.measure.judged import Judged, is_binary, read_judged
from whileai.result import Block, Headline, Note, Result
from whileai.result import digits as d
from whileai.result.digits import count
from whileai.stats.corrected import Labelled, corrected_change, corrected_mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from whileai.measure.paired import Arms

CALL = "compare"
Ends = tuple[float, float]
Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, repr=False)
class CorrectedChange(Result):
    """The target of a comparison with the judge's errors counted.

    Attributes
    ----------
    delta : float or None
        True rate after less before, over the paired tasks; ``None`` where an arm has fewer than two labelled tasks.
    interval : (float, float) or None
        Of `delta`, over tasks (clusters, where the comparison has them).
    before, after : (float, (float, float)) or None
        Corrected rate of each arm by itself. Their difference need not be `delta`, which counts the arms as pairs.
    gold_alone : (float, (float, float)) or None
        The change by the labels without the judge.
    weight : float or None
        How much the judge is listened to, from 0 to 1.
    n_labeled_before, n_labeled_after : int
        Labelled rows of the paired tasks.
    """

    delta: float | None
    interval: Ends | None
    before: tuple[float, Ends] | None
    after: tuple[float, Ends] | None
    gold_alone: tuple[float, Ends] | None
    weight: float | None
    n_labeled_before: int
    n_labeled_after: int

    def _blocks(self) -> list[Block]:
        return [Headline(self.text)]

    @property
    def text(self) -> str:
        """The line under the judge's own change."""
        labels = f"{self.n_labeled_before:,} and {self.n_labeled_after:,} labels"
        if self.delta is None or self.interval is None:
            return f"with the judge's errors counted: not measured ({labels})"
        said = _signed(self.delta, self.interval)
        return f"with the judge's errors counted: change {said} ({labels}; {_alone(self.gold_alone)} by those alone)"


def _signed(value: float, ends: Ends) -> str:
    places = d.honest_decimals(d.decimals(ends[1] - ends[0]), (*ends, value), (0.0,))
    return f"{d.signed(value, places)} {d.interval(ends, places, sign=True)}"


def _alone(found: tuple[float, Ends] | None) -> str:
    return d.ABSENT if found is None else _signed(*found)


def corrected_of(
    arms: Arms, rows: tuple[Rows, Rows], gold: str, target: str, level: float
) -> tuple[CorrectedChange, list[Note]]:
    """The corrected change of the target, and what is said of the labels.

    Raises
    ------
    ParamError
        A target that is no rate; a gold key that no row of either arm has.
    RowError
        A gold that is a number outside [0, 1].
    """
    if target not in RATES:
        fix = f"Gold corrects {' and '.join(RATES)}."
        raise ParamError.of(CALL, "gold", f"left out where the target is {target}", gold, fix)
    both = [[row for row in arm if not keys.is_fill(row)] for arm in rows]
    key = gold if any(keys.has_path(row, gold) for arm in both for row in arm) else None
    if key is None and gold != keys.GOLD_REWARD and any(both):
        read_judged([row for arm in both for row in arm], CALL, gold)  # raises, with the near miss
    read = [
        read_judged(arm, CALL, gold if any(keys.has_path(row, gold) for row in arm) else keys.GOLD_REWARD, source=name)
        for arm, name in zip(both, ("before", "after"), strict=True)
    ]
    tasks = _paired_tasks(arms, target)
    sides = [
        _labelled(one, mine, tasks, arms, partial=target == "reward") for one, mine in zip(read, both, strict=True)
    ]
    counts = [int((~_missing(side.gold)).sum()) for side in sides]
    found = corrected_change(sides[0], sides[1], level)
    notes = _notes(read, counts, found is None)
    shifts = [shift_note(side, f" of {arm}") for side, arm in zip(sides, ("before", "after"), strict=True)]
    notes += [note for note in shifts if note is not None]
    alone = [corrected_mean(side, level) for side in sides]
    rates = [None if one is None else (one.value, one.interval) for one in alone]
    result = CorrectedChange(None, None, rates[0], rates[1], None, None, counts[0], counts[1])
    if found is not None:
        told = {"delta": found.value, "interval": found.interval, "gold_alone": found.gold_alone}
        result = replace(result, **told, weight=found.weight)  # type: ignore[arg-type]  # fields by their own names
    return result, notes


def _paired_tasks(arms: Arms, target: str) -> dict[str, int]:
    """The tasks that have the target in both arms, each with its number among the shared ones."""
    names = [arms.before.task[line] for line in arms.lines[0].tolist()]
    old, new = (
        table.column(target)[1][at] > 0 for table, at in zip((arms.before, arms.after), arms.lines, strict=True)
    )
    return {name: place for place, name in enumerate(names) if old[place] and new[place]}


def _labelled(read: Judged, rows: Rows, tasks: Mapping[str, int], arms: Arms, *, partial: bool) -> Labelled:
    """One arm on the paired tasks."""
    import numpy as np

    number = np.array([tasks.get(name, -1) for name in read.tasks], dtype=np.int64)
    place = number[read.codes] if len(read.tasks) else np.zeros(0, dtype=np.int64)
    judged = ~_missing(read.judge) if partial else is_binary(read.judge)
    use = judged & (place >= 0)
    readable = ~_missing(read.gold.values) if partial else is_binary(read.gold.values)
    gold = np.where(readable, read.gold.values, math.nan)
    weights = read.picked.weights
    if partial:  # rows with a partial verdict count here too
        weights = how_picked(rows, judged & readable).weights
    codes = place[use]
    units = codes if arms.clusters is None else _dense(arms.clusters)[codes]
    return Labelled(
        read.judge[use], gold[use], units, codes, np.ones(int(use.sum())) if weights is None else weights[use]
    )


def _dense(clusters: NDArray[Any]) -> NDArray[Any]:
    import numpy as np

    found: NDArray[Any] = np.unique(clusters, return_inverse=True)[1].ravel()
    return found


def _missing(values: NDArray[Any]) -> NDArray[Any]:
    import numpy as np

    mask: NDArray[Any] = np.isnan(values)
    return mask


def _notes(read: Sequence[Judged], counts: Sequence[int], nothing: bool) -> list[Note]:
    notes = []
    if nothing:
        arms = [name for name, n in zip(("before", "after"), counts, strict=True) if n < 2]
        where = " and ".join(arms) or "an arm"
        have = "have" if len(arms) == 2 else "has"
        text = f"{where} {have} fewer than two labelled tasks, so the change could not be corrected."
        notes.append(Note("no_gold", text, "Label rows of both arms, best of the same tasks, picked at random."))
    for one, arm in zip(read, ("before", "after"), strict=True):
        if one.picked.rest_missing:
            text = f"rows that the labels of {arm} were drawn from are not all here."
            notes.append(Note("rest_missing", text, "Pass all rows that were judged."))
        if one.picked.n_unrecorded:
            rows = count(one.picked.n_unrecorded, "labelled row")
            text = f"{rows} of {arm} not drawn by sample_for_labels are taken as drawn at random within their verdict."
            notes.append(Note("unrecorded_labels", text))
        notes += gold_notes(one.gold)
    return list(dict.fromkeys(notes))
