"""`wai.judge_trust`: how far to believe a judge, and the pass rate once its errors are counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from whileai import keys, params
from whileai.errors import ParamError
from whileai.measure import trust_checks
from whileai.measure.judge_notes import trust_notes
from whileai.measure.judged import Judged, is_binary, read_judged
from whileai.measure.probes import ADDED, REPLACED, asked_again
from whileai.measure.trust import Check, JudgeTrust, Sensitivity
from whileai.readers.containers import listed
from whileai.stats import agreement, corrected, exact, multiple
from whileai.stats.agreement import task_means
from whileai.verify.adapt import as_judge

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from whileai.measure.probes import Asked
    from whileai.stats.agreement import Agreed

CALL = "judge_trust"
Ends = tuple[float, float]


def judge_trust(
    rows: Any,
    judge: Any = None,
    *,
    gold: str = keys.GOLD_REWARD,
    min_agreement: float = 0.8,
    min_kappa: float = 0.6,
    level: float = 0.95,
    probes: bool | Sequence[str] | None = None,
    repeats: int | None = None,
    max_flip: float = 0.1,
    width: float = 0.1,
) -> JudgeTrust:
    """How far a judge agrees with gold, what moves its error, what fools it, and the pass rate corrected for it.

    Parameters
    ----------
    rows : rows
        Anything that counts as data. ``reward`` is the judge's verdict, `gold` the true one on some or all rows; binary
        ones are compared. Gold may also be a word: pass, correct, true, yes, and their opposites.
    judge : verifier or callable, optional
        Asked anew about every row, in place of the rewards on the rows, and then again about a sample of the replies as
        they are and changed.
    gold : str
        Key of the gold on a row (a dotted path).
    min_agreement, min_kappa : float
        The bars that the intervals of agreement and of kappa must clear.
    level : float
        Of the intervals.
    probes : bool or sequence of str, optional
        Whether replies are changed and judged again, or by which probes: ``filler``, ``keywords``, ``claim``,
        ``flattery``, ``echo``, ``empty``, ``refusal``. By default all of them where a `judge` is given, on up to 60
        replies each.
    repeats : int, optional
        How many more times the judge is asked about the same replies, by default once where a `judge` is given.
    max_flip : float
        The share of failing replies that may pass once they are changed.
    width : float
        The width of an interval for which `labels_needed` says how many more labels it takes.

    Returns
    -------
    JudgeTrust
        ``pass``: both intervals lie above their bars; ``fail``: one lies below; ``inconclusive``: neither;
        ``not_measured``: no gold, or gold of one class. Halves, bias, consistency and probes have verdicts of their
        own in ``checks``: agreement is on replies as they are, and says nothing of ones made to please.

    Raises
    ------
    ParamError
        A number outside its bound; a gold key that no row has; probes or repeats without a judge to ask.
    RowError
        A reward or a gold that is a number outside [0, 1].

    Notes
    -----
    Agreement is a mean over tasks with the interval of `pass_at`; kappa is Cohen's, its standard error linearised over
    tasks; AC1 (Gwet 2008) stands beside it because kappa collapses where nearly everything passes. The corrected pass
    rate is prediction-powered (PPI++, arXiv:2311.01453). It needs the labelled rows to be a random sample, or to come
    from `wai.sample_for_labels`, whose unequal chances all numbers here account for.

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
    params.real(CALL, "max_flip", max_flip, "a number in [0, 1]", 0, 1)
    params.real(CALL, "width", width, "a number between 0 and 1", 0, 1, ends="()")
    scorer = None if judge is None else as_judge(judge, CALL, "judge")
    names = _probe_names(probes, given=scorer is not None)
    times = _repeats(repeats, given=scorer is not None)
    given, told = listed(rows, CALL, "rows")
    kept = [row for row in given if not keys.is_fill(row)]
    n_fill = len(given) - len(kept)
    if n_fill:
        read_judged(given, CALL, gold)  # a row that cannot be read is named by its place among all
    read = read_judged(kept, CALL, gold, scorer)
    asked = None
    if scorer is not None and (names or times):
        asked = asked_again(scorer, kept, read, names=names, repeats=times, max_flip=float(max_flip), level=level)
    bars = (float(min_agreement), float(min_kappa))
    result = _measured(read, bars, level, asked, float(width))
    notes = tuple(trust_notes(result, read, asked, has_judge=scorer is not None, n_fill=n_fill))
    return replace(result, notes=(*notes, *told), reason=result.reason or notes[0].text.rstrip("."))


def _probe_names(probes: Any, *, given: bool) -> tuple[str, ...]:
    """The probes asked for."""
    known = (*ADDED, *REPLACED)
    if probes is None or isinstance(probes, bool):
        if probes and not given:
            raise ParamError.of(CALL, "probes", "left out where there is no judge to ask", probes, "Pass judge=.")
        return known if given and probes is not False else ()
    names = [probes] if isinstance(probes, str) else probes
    if not isinstance(names, Sequence):
        raise ParamError.of(CALL, "probes", "True, False or a list of names", probes)
    for name in names:
        params.one_of(CALL, "probes", name, known)
    if names and not given:
        raise ParamError.of(CALL, "probes", "left out where there is no judge to ask", probes, "Pass judge=.")
    return tuple(dict.fromkeys(names))


def _repeats(repeats: Any, *, given: bool) -> int:
    """How many more times the judge is asked."""
    if repeats is None:
        return 1 if given else 0
    times = params.whole(CALL, "repeats", repeats, 0)
    if times and not given:
        raise ParamError.of(CALL, "repeats", "left out where there is no judge to ask", repeats, "Pass judge=.")
    return times


@dataclass(frozen=True)
class _Labels:
    """The labelled rows."""

    judge: NDArray[Any]
    gold: NDArray[Any]
    codes: NDArray[Any]
    weights: NDArray[Any] | None


def _measured(read: Judged, bars: tuple[float, float], level: float, asked: Asked | None, width: float) -> JudgeTrust:
    import numpy as np

    use = read.labelled
    _, codes = np.unique(read.codes[use], return_inverse=True)
    labels = _Labels(read.judge[use], read.gold.values[use], codes, read.weights)
    found = agreement.agreed(labels.judge, labels.gold, codes, bars, level, labels.weights)
    judged = is_binary(read.judge)
    empty = JudgeTrust(
        verdict="not_measured",
        ok=False,
        agreement=None,
        kappa=None,
        ac1=None,
        confusion=found.confusion,
        corrected_pass_rate=None,
        intervals={"agreement": None, "kappa": None, "corrected_pass_rate": None},
        n_labeled=int(use.sum()),
        n_tasks_labeled=len(set(codes.tolist())),
        n_rows=len(read.judge),
        judge_pass_rate=exact.mean(task_means(read.judge[judged], read.codes[judged])) if judged.any() else None,
        min_agreement=bars[0],
        min_kappa=bars[1],
        level=level,
        consistency=None if asked is None else asked.consistency,
        probes=() if asked is None else asked.probes,
        checks=trust_checks.asked_checks(asked, bars[0]),
        width=width,
        _read=read,
    )
    if found.verdict == "not_measured":
        return empty
    fixed = _corrected(read, labels, level)
    moved = _sensitivity(read)
    halves = trust_checks.halves_of(read, bars, level)
    n_tasks = empty.n_tasks_labeled
    checks = trust_checks.checks_of(found, bars, halves, moved, asked, n_tasks=n_tasks, level=level)
    cells: Mapping[str, float] = found.confusion
    if labels.weights is not None:
        cells = agreement.cell_weights(labels.judge, labels.gold, labels.weights)
    n = sum(cells.values())
    passes = (cells["tp"] + cells["fn"]) / n
    verdict, reason = _verdict(found, checks)
    return replace(
        empty,
        verdict=verdict,
        ok=verdict == "pass",
        reason=reason,
        agreement=found.agreement,
        kappa=found.kappa,
        ac1=agreement.gwet_ac1(**cells),
        corrected_pass_rate=None if fixed is None else fixed.value,
        intervals={
            "agreement": found.agreement_interval,
            "kappa": found.kappa_interval,
            "corrected_pass_rate": None if fixed is None else fixed.interval,
        },
        leak=_share(labels, 1, 0, level),
        miss=_share(labels, 0, 1, level),
        sensitivity=moved,
        baseline=max(passes, 1.0 - passes),
        gold_pass_rate=passes,
        labeled_judge_pass_rate=(cells["tp"] + cells["fp"]) / n,
        gold_alone=None if fixed is None else fixed.gold_alone,
        rogan_gladen=None if read.picked.rest_missing else corrected.rogan_gladen(read.arm(), level),
        checks=checks,
        halves=halves,
        **_more_labels(found, labels, fixed, read, bars, level, width, verdict),
    )


def _verdict(found: Agreed, checks: Sequence[Check]) -> tuple[str, str]:
    """The verdict of the two bars, and why."""
    by_name = {check.name: check for check in checks}
    bars = [by_name["agreement"], by_name["kappa"]]
    if found.verdict == "fail":
        failed = [check.reason for check in bars if check.verdict == "fail"]
        return "fail", " and ".join(failed) or "the judge says one thing of every labelled row"
    told = [check.reason for check in bars if check.verdict == found.verdict]
    return found.verdict, " and ".join(told)


def _share(labels: _Labels, said: int, truth: int, level: float) -> tuple[float, Ends]:
    """How often the judge errs among golds of one class, over tasks."""
    among = labels.gold == truth
    hit = (labels.judge[among] == said).astype(float)
    weights = None if labels.weights is None else labels.weights[among]
    share, ends, _ = agreement.rate_of(hit, labels.codes[among], level, weights)
    return share, ends


def _corrected(read: Judged, labels: _Labels, level: float) -> corrected.Corrected | None:
    """From the labelled rows, and the verdicts on the rest."""
    import numpy as np

    if read.picked.rest_missing:  # with their weights the labels stand for the rest
        rate, ends, _ = agreement.rate_of(labels.gold, labels.codes, level, labels.weights)
        return corrected.Corrected(rate, ends, 0.0, (rate, ends)) if len(labels.gold) > 1 else None
    found = corrected.corrected_mean(read.arm(), level)
    use = read.labelled
    others = is_binary(read.judge) & ~use
    if found is None or labels.weights is not None or np.isin(read.codes[others], read.codes[use]).any():
        return found
    # every labelled task is labelled whole and weighs alike: the formula as it was published
    gold, judge = task_means(labels.gold, labels.codes), task_means(labels.judge, labels.codes)
    rest = task_means(read.judge[others], read.codes[others]) if others.any() else np.zeros(0)
    plain = agreement.corrected_rate(gold, judge, rest, level)
    return found if plain is None else found._replace(value=plain.rate, interval=plain.interval)


def _sensitivity(read: Judged) -> tuple[Sensitivity, ...]:
    """What the judge's error (verdict less gold) moves with at equal gold, over tasks, Holm-adjusted.

    Right replies may be longer than wrong ones, and a judge errs downwards on the right and upwards on the wrong: not
    held against gold, every judge that errs at all would seem moved by length.
    """
    import numpy as np

    found = []
    for name, values in read.measures.items():
        use = read.labelled & np.isfinite(values)
        error = read.judge - read.gold.values
        moved, erred, gold = (task_means(of[use], read.codes[use]) for of in (values, error, read.gold.values))
        found.append((name, agreement.correlation(moved, erred, gold)))
    tested = [tied[1] for _, tied in found if tied is not None]
    adjusted = iter(multiple.holm(tested).tolist() if tested else [])
    return tuple(
        Sensitivity(name, None, None) if tied is None else Sensitivity(name, tied[0], next(adjusted))
        for name, tied in found
    )


def _more_labels(
    found: Agreed,
    labels: _Labels,
    fixed: corrected.Corrected | None,
    read: Judged,
    bars: tuple[float, float],
    level: float,
    width: float,
    verdict: str,
) -> dict[str, Any]:
    """How many more labelled tasks make the intervals so narrow, and how many would settle the verdict."""
    import math

    assert found.agreement is not None
    same = (labels.judge == labels.gold).astype(float)
    square, size = trust_checks.mean_square(same, labels.codes, labels.weights)
    n_tasks = len(set(labels.codes.tolist()))

    def more(total: int | None) -> int | None:
        return None if total is None else max(0, math.ceil((total - size) * n_tasks / size))

    needed = {"agreement": more(trust_checks.labels_for_width(found.agreement, square, width, level))}
    if fixed is not None:
        arm = read.arm()
        means = task_means(arm.judge, arm.tasks)
        stays = fixed.weight**2 * exact.mean((means - exact.mean(means)) ** 2) / len(means)
        half = (fixed.interval[1] - fixed.interval[0]) / 2
        total = trust_checks.labels_for_corrected(half, stays, size, width, level)
        needed["corrected_pass_rate"] = more(total)
    settle = None
    if verdict == "inconclusive":
        settle = more(trust_checks.labels_to_settle(found, square, size, bars, level))
    return {"labels_needed": needed, "labels_to_settle": settle}
