"""`wai.compare`: is AFTER better than BEFORE, paired by task."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from whileai import params
from whileai.errors import ParamError
from whileai.measure.common import RATES, check_metric
from whileai.measure.compare_notes import comparison_notes
from whileai.measure.comparison import Comparison, Delta
from whileai.measure.corrected_change import CorrectedChange, corrected_of
from whileai.measure.grouping import shared_grouping
from whileai.measure.paired import Arms, adjusted, paired_delta
from whileai.measure.slices import sliced
from whileai.readers.containers import listed
from whileai.result import Note
from whileai.stats import clustered, power
from whileai.stats.noise import noise_band
from whileai.table.clusters import Labels, check_found, check_key, labelled_table
from whileai.table.intake import as_table
from whileai.table.task_table import TaskTable

POWER = 0.8


def compare(
    before: Any,
    after: Any,
    *,
    target: str = "pass_at_1",
    must_not_regress: Sequence[str] = (),
    lower_is_better: Sequence[str] = (),
    proxy: str | None = None,
    run_std: float | None = None,
    run_std_runs: int | None = None,
    by: str | None = None,
    cluster: str | None = None,
    gold: str | None = None,
    level: float = 0.95,
) -> Comparison:
    """Whether `after` is better than `before`: the change on common tasks, its interval, an exact test, a verdict.

    Parameters
    ----------
    before, after : rows
        Anything that counts as data. Tasks pair by id; a task of one arm only is counted and left out.
    target : str
        The metric the verdict is about: ``pass_at_1``, ``reward`` (mean of all rewards, partial ones included) or
        ``marker:<name>``.
    must_not_regress : sequence of str
        Guards: metrics whose regression makes the comparison not ok.
    lower_is_better : sequence of str
        Metrics that improve when they fall.
    proxy : str, optional
        A metric that stands in for the target. If it improves and the target does not, that is over-optimisation.
    run_std : float, optional
        Standard deviation of the target between runs of one model, from `wai.eval_variance`. 0 is "not measured".
    run_std_runs : int, optional
        The runs behind `run_std`; the band is then Student's at one less.
    by : str, optional
        A key of the rows (a dotted path); each of its values becomes a slice. A slice with fewer tasks than the exact
        test needs is named in a note.
    cluster : str, optional
        A key of the rows that several tasks share, as the passage they ask about or the repository they mend. Tasks of
        one cluster may resemble one another: intervals are then over clusters, and the test turns whole clusters. The
        change stays the mean over tasks. Tasks without the key are clusters of their own; a value on one arm is enough.
    gold : str, optional
        A key of the rows (a dotted path) that holds the true verdict on some rows of both arms, where ``reward`` is a
        judge's: the change is then also told with the judge's errors counted, a verdict needs that interval too, and
        a comparison without it is not ok. Guards, slices and other metrics stay the judge's own.
    level : float
        Of intervals and tests.

    Returns
    -------
    Comparison

    Raises
    ------
    ParamError
        A metric, marker or key that the data does not have, with the near miss; a number outside its bound.
    RowError
        A row that cannot be read.
    TypeError
        What is no data; a TaskTable, which has no keys, where `by`, `cluster` or `gold` is given.

    Notes
    -----
    ``improved`` needs both the interval above 0 and the exact sign-flip p below ``1 - level``; where only one holds,
    the verdict is ``no_difference`` and a note says which. The interval is Bonett and Price's (2012) carried to several
    rows a task, with a rule-of-three floor; the test is the exact permutation of signs (Pagano and Tritchler 1983),
    McNemar's where every task has one row. Metrics other than the target are judged by their Holm-adjusted p-value,
    slices by one over the slices that have enough tasks. With `gold` the change is estimated by prediction-powered
    inference too (PPI++, arXiv:2311.01453; `whileai.stats.corrected`): labels must be a random sample of the rows, or
    come from `wai.sample_for_labels`; where the judge sees a change and that interval holds 0, or lies on the other
    side, the verdict is ``no_difference``. With `cluster`, clusters stand for tasks in all of it, with
    the clustered variance of Miller 2024 (arXiv:2411.00640, section 2.2; `whileai.stats.clustered`).

    Examples
    --------
    >>> import whileai as wai
    >>> before = [{"task_id": i, "reward": 0} for i in range(12)]
    >>> after = [{"task_id": i, "reward": int(i > 1)} for i in range(12)]
    >>> wai.compare(before, after).verdict
    'improved'
    """
    _check_numbers(target, run_std, run_std_runs, level)
    paths = {name: path for name, path in (("by", by), ("cluster", cluster)) if path is not None}
    for name, path in paths.items():
        check_key("compare", name, path, {"before": before, "after": after})
    if gold is not None:
        check_key("compare", "gold", gold, {"before": before, "after": after})
    said: list[list[Note]] = [[], []]
    if by is not None or gold is not None:
        before, said[0] = listed(before, "compare", "before")
        after, said[1] = listed(after, "compare", "after")
    read = [_read(data, arm, list(paths.values())) for data, arm in ((before, "before"), (after, "after"))]
    for name, path in paths.items():
        check_found("compare", name, path, [labels[path] for _, labels in read], [before, after])
    tables = [replace(table, reading=tuple(told) or table.reading) for (table, _), told in zip(read, said, strict=True)]
    arms = Arms(tables[0], tables[1])
    notes: list[Note] = []
    if cluster is not None:
        grouping = shared_grouping(read[0][1][cluster], read[1][1][cluster], arms.lines)
        arms.clusters = grouping.codes
        notes += grouping.notes
    asked = Asked(
        target=target,
        guards=_names(must_not_regress, "must_not_regress"),
        lower=_names(lower_is_better, "lower_is_better"),
        proxy=proxy,
        level=level,
        run_std=run_std,
        run_std_runs=run_std_runs,
    )
    asked.check(arms)
    corrected = None
    if gold is not None:
        corrected, about = corrected_of(arms, (before, after), gold, target, level)
        notes += [*about, *_by_judge_alone(asked, by)]
    if by is None:
        return _compared(arms, asked, {}, notes, corrected)
    labels = read[0][1][by], read[1][1][by]
    lower = target in asked.lower
    found = sliced(arms, labels, (before, after), target=target, lower=lower, level=level)
    return _compared(arms, asked, found.deltas, [*found.notes, *notes], corrected)


def _read(data: Any, arm: str, paths: Sequence[str]) -> tuple[TaskTable, dict[str, Labels]]:
    """The table of an arm, and what stands on its rows at some paths."""
    if paths:
        return labelled_table(data, "compare", arm, paths)
    return as_table(data, "compare", arm), {}


def _check_numbers(target: Any, run_std: Any, runs: Any, level: Any) -> None:
    params.level("compare", level)
    if run_std is not None:
        rate = target in RATES
        wanted = "a number in [0, 1], as the target is a rate" if rate else "a number of at least 0"
        params.real("compare", "run_std", run_std, wanted, 0, 1 if rate else math.inf, ends="[]" if rate else "[)")
    if runs is not None:
        params.whole("compare", "run_std_runs", runs, 2)


@dataclass(frozen=True)
class Asked:
    """What the caller asked for."""

    target: str
    level: float
    guards: Sequence[str] = ()
    lower: Sequence[str] = ()
    proxy: str | None = None
    run_std: float | None = None
    run_std_runs: int | None = None

    def check(self, arms: Arms) -> None:
        """Raise on a metric that neither arm has."""
        known = [*RATES, *sorted({*arms.before.metrics[2:], *arms.after.metrics[2:]})]
        named = {"target": [self.target], "must_not_regress": self.guards, "lower_is_better": self.lower}
        named["proxy"] = [] if self.proxy is None else [self.proxy]
        for where, names in named.items():
            for name in names:
                check_metric("compare", where, name, known)

    def band(self) -> float | None:
        """How far re-running alone moves the difference, ``None`` where that was not measured."""
        if not self.run_std:
            return None
        df = None if self.run_std_runs is None else self.run_std_runs - 1
        return noise_band(self.run_std, df=df, level=self.level)


def _names(value: Any, where: str) -> list[str]:
    """Metric names; one string is one name."""
    if isinstance(value, str):
        return [value]
    if not isinstance(value, Iterable):
        raise ParamError.of("compare", where, "a list of metric names", value)
    return list(value)


def _all_metrics(arms: Arms, asked: Asked) -> dict[str, Delta]:
    """Every metric that both arms have, target first, each judged at its Holm-adjusted p-value."""
    partial = bool(arms.before.n_partial.sum() or arms.after.n_partial.sum())
    wanted = partial or "reward" in (*asked.guards, asked.proxy)  # of binary rewards it is pass_at_1 once more
    others = [name for name in arms.metrics if name != asked.target and (name != "reward" or wanted)]
    names = [asked.target, *others] if asked.target in arms.metrics else others
    found = {name: paired_delta(arms, name, name in asked.lower, asked.level) for name in names}
    return adjusted(found, asked.target, asked.level)


@dataclass(frozen=True)
class Decision:
    """The verdict and what it rests on."""

    verdict: str
    main: Delta
    band: float | None
    metrics: dict[str, Delta]


def decide(arms: Arms, asked: Asked) -> Decision:
    """The verdict of `compare`, without its plan and its notes, which cost more than it does."""
    metrics = _all_metrics(arms, asked)
    main = metrics.get(asked.target) or Delta("insufficient_data")
    band = asked.band()
    verdict = main.verdict
    if not arms.n_shared and (len(arms.before) or len(arms.after)):
        verdict = "not_comparable"
    elif verdict in ("improved", "regressed") and band is not None and abs(main.delta or 0.0) < band:
        verdict = "within_noise"
    return Decision(verdict, main, band, metrics)


def _counted(verdict: str, corrected: CorrectedChange | None, lower: bool) -> tuple[str, bool]:
    """The verdict once the judge's errors are counted, and whether they were counted and show no loss."""
    if corrected is None:
        return verdict, True
    if corrected.interval is None:
        return verdict, False
    low, high = (-corrected.interval[1], -corrected.interval[0]) if lower else corrected.interval
    borne_out = {"improved": low > 0, "regressed": high < 0}.get(verdict, True)
    return verdict if borne_out else "no_difference", high >= 0


def _by_judge_alone(asked: Asked, by: str | None) -> list[Note]:
    """What is still the judge's own where gold corrects the target."""
    rates = [name for name in dict.fromkeys([*asked.guards, asked.proxy]) if name in RATES and name != asked.target]
    names = [*(["slices"] if by is not None else []), *map(str, rates)]
    if not names:
        return []
    verb = "is" if names == rates and len(names) == 1 else "are"
    text = f"{' and '.join(names)} {verb} by the judge alone: gold corrects {asked.target} over all tasks."
    return [Note("judge_alone", text)]


def _compared(
    arms: Arms,
    asked: Asked,
    slices: dict[str, Delta],
    notes: Sequence[Note],
    corrected: CorrectedChange | None = None,
) -> Comparison:
    """The comparison put together."""
    decision = decide(arms, asked)
    main, metrics = decision.main, decision.metrics
    verdict, borne_out = _counted(decision.verdict, corrected, main.lower_is_better)
    regressions = tuple(name for name in asked.guards if name in metrics and metrics[name].verdict == "regressed")
    unmeasured = [name for name in asked.guards if name not in metrics or metrics[name].delta is None]
    over = asked.proxy in metrics and metrics[str(asked.proxy)].verdict == "improved" and verdict != "improved"
    made = verdict in ("improved", "no_difference", "within_noise")
    detectable, needed = _plan(arms, main, verdict, asked)
    result = Comparison(
        verdict=verdict,
        ok=made and not regressions and not unmeasured and not over and borne_out,
        target=asked.target,
        before=main.before,
        after=main.after,
        delta=main.delta,
        interval=main.interval,
        p_value=main.p_value,
        n_paired=main.n_paired,
        n_only_before=len(arms.before) - arms.n_shared,
        n_only_after=len(arms.after) - arms.n_shared,
        level=asked.level,
        noise_band=decision.band,
        run_std=asked.run_std,
        metrics=metrics,
        regressions=regressions,
        proxy=asked.proxy,
        over_optimized=over,
        detectable_effect=detectable,
        tasks_needed=needed,
        slices=slices,
        n_clusters=main.n_clusters,
        corrected=corrected,
        _moved=arms.moved(asked.target, main.lower_is_better) if main.delta is not None else (0, 0, 0),
        _guards=tuple(name for name in dict.fromkeys(asked.guards) if name != asked.target),
        _run_std_runs=asked.run_std_runs,
        _by_judge=decision.verdict,
    )
    return replace(result, notes=tuple(comparison_notes(result, arms, asked.run_std_runs, notes)))


def _plan(arms: Arms, main: Delta, verdict: str, asked: Asked) -> tuple[float | None, int | None]:
    """The smallest change these tasks would prove, and the tasks that would prove the change seen; rates only."""
    import numpy as np

    pairs = arms.pairs(asked.target) if asked.target in RATES else None
    if pairs is None or pairs.n < 2:
        return None, None
    k = 2  # a partial reward moves in small steps, like the mean of several completions
    if asked.target == "pass_at_1":
        sizes = np.concatenate([arms.before.n[arms.lines[0]], arms.after.n[arms.lines[1]]])
        k = int(np.median(sizes[sizes > 0]))
    n, std, tasks_each = pairs.n, pairs.std, 1.0
    if pairs.clusters is not None and pairs.n_units < pairs.n:
        spread = clustered.spread_of(pairs.changes, pairs.clusters)
        n, k = round(spread.size), 2  # and so does the mean of several tasks
        std, tasks_each = math.sqrt(spread.variance * spread.size), pairs.n / spread.size
        if n < 2:
            return None, None
    detectable = power.detectable_effect(std, n, k, asked.level, POWER)
    if verdict != "no_difference" or not main.delta:
        return detectable, None
    return detectable, round(power.n_for_interval(std, abs(main.delta), k, asked.level, POWER) * tasks_each)
