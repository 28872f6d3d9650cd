"""`wai.judge_trust`: how far to believe a judge, and the pass rate once its errors are counted."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from whileai import keys, params
from whileai.errors import ParamError, RowError
from whileai.measure.trust import JudgeTrust, Sensitivity
from whileai.readers.containers import as_list
from whileai.result import Note
from whileai.result.digits import count
from whileai.scoring.judging import land_verdicts
from whileai.stats import agreement, exact, intervals, multiple
from whileai.stats.quantiles import t_quantile
from whileai.table.from_rows import REWARD_BOUND, TableBuilder, as_number
from whileai.verify.adapt import as_judge

if TYPE_CHECKING:
    from numpy.typing import NDArray

CALL = "judge_trust"
DEFAULT_GOLD = "gold_reward"
#: Seconds one verdict of a judge may take, as in `wai.rows`.
VERDICT_SECONDS = 30.0
Ends = tuple[float, float]


def judge_trust(
    rows: Any,
    judge: Any = None,
    *,
    gold: str = DEFAULT_GOLD,
    min_agreement: float = 0.8,
    min_kappa: float = 0.6,
    level: float = 0.95,
) -> JudgeTrust:
    """How far a judge agrees with gold, what its error moves with, and the pass rate corrected for it.

    Parameters
    ----------
    rows : rows
        Anything that counts as data. ``reward`` is the judge's verdict, `gold` the true one on some or all rows; binary
        ones are compared.
    judge : verifier or callable, optional
        Asked anew about every row, in place of the rewards on the rows.
    gold : str
        Key of the gold on a row (a dotted path).
    min_agreement, min_kappa : float
        The bars that the intervals of agreement and of kappa must clear.
    level : float
        Of the intervals.

    Returns
    -------
    JudgeTrust
        ``pass``: both intervals lie above their bars; ``fail``: one lies below; ``inconclusive``: neither;
        ``not_measured``: no gold, or gold of one class.

    Raises
    ------
    ParamError
        A number outside its bound; a gold key that no row has.
    RowError
        A reward or a gold that is no number in [0, 1].

    Notes
    -----
    Agreement is a mean over tasks with the interval of `pass_at`; kappa is Cohen's, its standard error linearised over
    tasks; AC1 (Gwet 2008) stands beside it because kappa collapses where nearly everything passes. The corrected pass
    rate is prediction-powered (PPI++, arXiv:2311.01453): it needs the labelled tasks to be a random sample.

    Examples
    --------
    >>> import whileai as wai
    >>> verdicts = [(1, 1)] * 45 + [(0, 0)] * 45 + [(1, 0)] * 2 + [(0, 1)] * 2
    >>> rows = [{"task_id": i, "reward": judge, "gold_reward": gold} for i, (judge, gold) in enumerate(verdicts)]
    >>> wai.judge_trust(rows).verdict
    'pass'
    """
    params.real(CALL, "min_agreement", min_agreement, "a number in [0, 1]", 0, 1)
    params.real(CALL, "min_kappa", min_kappa, "a number in [-1, 1]", -1, 1)
    params.level(CALL, level)
    listed = as_list(rows, CALL, "rows")
    read = _read(listed, judge, gold)
    bars = (float(min_agreement), float(min_kappa))
    result = _measured(read, bars, level)
    return replace(result, notes=tuple(_notes(result, read)))


@dataclass(frozen=True)
class _Read:
    """The rows as arrays: judge and gold (NaN where missing), the task of each row, and what may move the error."""

    judge: NDArray[Any]
    gold: NDArray[Any]
    codes: NDArray[Any]
    measures: Mapping[str, NDArray[Any]]
    gold_key: str

    @property
    def labelled(self) -> NDArray[Any]:
        """Rows with a binary verdict and a binary gold."""
        both: NDArray[Any] = _binary(self.judge) & _binary(self.gold)
        return both


def _binary(values: NDArray[Any]) -> NDArray[Any]:
    mask: NDArray[Any] = (values == 0) | (values == 1)
    return mask


def _read(rows: Sequence[Mapping[str, Any]], judge: Any, gold: str) -> _Read:
    import numpy as np

    scorer = None if judge is None else as_judge(judge, CALL, "judge")
    builder = TableBuilder(CALL, markers=True)
    builder.add_all(rows, "")
    names, codes, rewards = builder.columns()
    rank = np.argsort(np.argsort(np.array(names, dtype=object), kind="stable"), kind="stable")
    codes = rank[codes] if names else codes  # tasks in the order of their names, so that no sum knows that of the rows
    labels = _gold_of(rows, gold)
    markers = {name: mark.filled(len(rows)) for name, mark in sorted(builder.marks.items())}
    lengths = np.array([len(keys.candidate_of(row) or "") for row in rows], dtype=np.float64)
    if scorer is not None:
        rewards = np.full(len(rows), math.nan)
        for place, verdict in land_verdicts(scorer, rows, timeout=VERDICT_SECONDS, workers=None):
            rewards[place] = math.nan if verdict.reward is None else verdict.reward
    measures = {"length": lengths} | {f"marker:{name}": values for name, values in markers.items()}
    return _Read(rewards, labels, codes, measures, gold)


def _gold_of(rows: Sequence[Mapping[str, Any]], gold: str) -> NDArray[Any]:
    """The gold of every row, NaN where it has none."""
    import numpy as np

    labels = np.full(len(rows), math.nan)
    for index, row in enumerate(rows):
        value = keys.at_path(row, gold)
        if keys.is_missing(value):
            continue
        number = as_number(value)
        if number is None or not 0.0 <= number <= 1.0:
            fix = "Use float()." if isinstance(value, str) else "Leave it out where there is no gold."
            raise RowError.of(CALL, "", index, gold, REWARD_BOUND, value, fix)
        labels[index] = number
    if rows and gold != DEFAULT_GOLD and not any(keys.has_path(row, gold) for row in rows):
        names = sorted({str(name) for row in rows[:50] for name in row})
        raise ParamError.of(CALL, "gold", "a key of the rows", gold, params.near_miss(gold, names))
    return labels


def _measured(read: _Read, bars: tuple[float, float], level: float) -> JudgeTrust:
    import numpy as np

    use = read.labelled
    judge, gold = read.judge[use], read.gold[use]
    _, codes = np.unique(read.codes[use], return_inverse=True)
    table = {
        "tp": int(((judge == 1) & (gold == 1)).sum()),
        "fp": int(((judge == 1) & (gold == 0)).sum()),
        "fn": int(((judge == 0) & (gold == 1)).sum()),
        "tn": int(((judge == 0) & (gold == 0)).sum()),
    }
    judged = _binary(read.judge)
    empty = JudgeTrust(
        verdict="not_measured",
        ok=False,
        agreement=None,
        kappa=None,
        ac1=None,
        confusion=table,
        corrected_pass_rate=None,
        intervals={"agreement": None, "kappa": None, "corrected_pass_rate": None},
        n_labeled=int(use.sum()),
        n_tasks_labeled=len(set(codes.tolist())),
        n_rows=len(read.judge),
        judge_pass_rate=exact.mean(_means(read.judge[judged], read.codes[judged])) if judged.any() else None,
        min_agreement=bars[0],
        min_kappa=bars[1],
        level=level,
    )
    if not (0 < gold.sum() < gold.size):
        return empty
    same = _means((judge == gold).astype(np.float64), codes)
    agreed = exact.mean(same)
    agreed_ends = _around(agreed, intervals.mean_interval(same, level))
    kappa = agreement.cohen_kappa(**table)
    kappa_ends = _kappa_interval(table, kappa, agreement.kappa_std(judge, gold, codes), len(same), agreed_ends, level)
    corrected = _corrected(read, level)
    says_one_thing = bool((judge == judge[0]).all())
    verdict = "fail" if says_one_thing else _verdict(agreed_ends, kappa_ends, bars)
    return replace(
        empty,
        verdict=verdict,
        ok=verdict == "pass",
        agreement=agreed,
        kappa=kappa,
        ac1=agreement.gwet_ac1(**table),
        corrected_pass_rate=None if corrected is None else corrected.rate,
        intervals={
            "agreement": agreed_ends,
            "kappa": kappa_ends,
            "corrected_pass_rate": None if corrected is None else corrected.interval,
        },
        leak=_share(judge == 1, gold == 0, codes, level),
        miss=_share(judge == 0, gold == 1, codes, level),
        sensitivity=_sensitivity(read),
    )


def _means(values: NDArray[Any], codes: NDArray[Any]) -> NDArray[Any]:
    """The mean of each task that has rows."""
    import numpy as np

    _, place, sizes = np.unique(codes, return_inverse=True, return_counts=True)
    return exact.means(exact.exact_sums(place, values, len(sizes)), sizes)


def _around(value: float, ends: Ends) -> Ends:
    return min(ends[0], value), max(ends[1], value)


def _kappa_interval(
    table: Mapping[str, int], kappa: float | None, std: float | None, n_tasks: int, agreed: Ends, level: float
) -> Ends | None:
    """Student's interval; where kappa shows no spread (no error at all), that of the agreement carried over."""
    if kappa is None:
        return None
    if std is not None and std > 0:
        half = t_quantile((1 + level) / 2, n_tasks - 1) * std
        return max(-1.0, kappa - half), min(1.0, kappa + half)
    n = sum(table.values())
    judge, gold = (table["tp"] + table["fp"]) / n, (table["tp"] + table["fn"]) / n
    chance = judge * gold + (1 - judge) * (1 - gold)
    low, high = ((end - chance) / (1 - chance) for end in agreed)
    return _around(kappa, (max(-1.0, low), min(1.0, high)))


def _verdict(agreed: Ends, kappa: Ends | None, bars: tuple[float, float]) -> str:
    if kappa is None or agreed[1] < bars[0] or kappa[1] < bars[1]:
        return "fail"
    return "pass" if agreed[0] >= bars[0] and kappa[0] >= bars[1] else "inconclusive"


def _share(hit: NDArray[Any], among: NDArray[Any], codes: NDArray[Any], level: float) -> tuple[float, Ends]:
    """How often the judge errs among golds of one class, over tasks."""
    import numpy as np

    shares = _means(hit[among].astype(np.float64), codes[among])
    share = exact.mean(shares)
    return share, _around(share, intervals.mean_interval(shares, level))


def _corrected(read: _Read, level: float) -> agreement.Corrected | None:
    """From the labelled rows of labelled tasks, and the verdicts on tasks without gold."""
    import numpy as np

    use = read.labelled
    others = _binary(read.judge) & ~np.isin(read.codes, read.codes[use])
    gold, judge = _means(read.gold[use], read.codes[use]), _means(read.judge[use], read.codes[use])
    rest = _means(read.judge[others], read.codes[others]) if others.any() else np.zeros(0)
    return agreement.corrected_rate(gold, judge, rest, level)


def _sensitivity(read: _Read) -> tuple[Sensitivity, ...]:
    """What the judge's error (verdict less gold) moves with, over tasks, Holm-adjusted."""
    import numpy as np

    found = []
    for name, values in read.measures.items():
        use = read.labelled & np.isfinite(values)
        error = (read.judge - read.gold)[use]
        tied = agreement.correlation(_means(values[use], read.codes[use]), _means(error, read.codes[use]))
        found.append((name, tied))
    tested = [tied[1] for _, tied in found if tied is not None]
    adjusted = iter(multiple.holm(tested).tolist() if tested else [])
    return tuple(
        Sensitivity(name, None, None) if tied is None else Sensitivity(name, tied[0], next(adjusted))
        for name, tied in found
    )


def _notes(result: JudgeTrust, read: _Read) -> list[Note]:
    """What a reader should know, weightiest first."""
    notes: list[Note] = []
    if result.verdict == "not_measured":
        notes.append(_why_not_measured(result, read))
    elif result.verdict == "inconclusive":
        text = "an interval crosses its bar, so more labels are needed to say."
        notes.append(Note("more_labels", text, "Label more rows, picked at random."))
    table = result.confusion
    if result.verdict == "fail" and 0 in (table["tp"] + table["fp"], table["fn"] + table["tn"]):
        said = "passes" if table["tp"] + table["fp"] else "fails"
        text = f"the judge {said} every labelled row, whatever it says: that is no judgement."
        notes.append(Note("constant_judge", text))
    moved = [s.name for s in result.sensitivity if s.p_adjusted is not None and s.p_adjusted < 1 - result.level]
    if moved:
        text = f"the judge's error moves with {', '.join(moved)}."
        notes.append(Note("biased", text, "Look at rows where it is high and at rows where it is low."))
    n_partial = int((((read.judge > 0) & (read.judge < 1)) | ((read.gold > 0) & (read.gold < 1))).sum())
    if n_partial:
        notes.append(Note("partial", f"{count(n_partial, 'row')} with a partial verdict or gold were left out."))
    n_missing = int((read.judge != read.judge).sum())
    if n_missing:
        notes.append(Note("unjudged", f"{count(n_missing, 'row')} have no verdict of the judge and were left out."))
    return notes


def _why_not_measured(result: JudgeTrust, read: _Read) -> Note:
    if not result.n_rows:
        return Note("no_rows", "there are no rows, so nothing was measured.")
    if not result.n_labeled:
        has_gold = bool(_binary(read.gold).any())
        text = (
            "no row with gold has a verdict of the judge." if has_gold else f"no row has a gold under {read.gold_key}."
        )
        return Note("no_gold", text, "Label some rows, picked at random." if not has_gold else "Judge them again.")
    only = "passes" if result.confusion["tp"] + result.confusion["fn"] else "fails"
    text = f"every gold {only}, so agreement beyond chance cannot be told."
    return Note("one_class", text, "Label rows of the other kind too, picked at random.")
