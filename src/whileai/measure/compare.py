"""`wai.compare`: is AFTER better than BEFORE, paired by task."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from whileai import keys, params
from whileai.errors import ParamError
from whileai.measure.common import RATES, check_metric
from whileai.measure.compare_notes import comparison_notes
from whileai.measure.comparison import Comparison, Delta
from whileai.measure.paired import adjusted, moved, paired_delta, pairs_of
from whileai.readers.containers import as_list
from whileai.stats import power
from whileai.stats.noise import noise_band
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
        A key of the rows (a dotted path); each of its values becomes a slice.
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

    Notes
    -----
    ``improved`` needs both the interval above 0 and the exact sign-flip p below ``1 - level``; where only one holds,
    the verdict is ``no_difference`` and a note says which. The interval is Bonett and Price's (2012) carried to several
    rows a task, with a rule-of-three floor; the test is the exact permutation of signs (Pagano and Tritchler 1983),
    McNemar's where every task has one row. Metrics other than the target are judged by their Holm-adjusted p-value.

    Examples
    --------
    >>> import whileai as wai
    >>> before = [{"task_id": i, "reward": 0} for i in range(12)]
    >>> after = [{"task_id": i, "reward": int(i > 1)} for i in range(12)]
    >>> wai.compare(before, after).verdict
    'improved'
    """
    _check_numbers(run_std, run_std_runs, level)
    slices_of = None
    if by is not None:
        before, after = as_list(before, "compare", "before"), as_list(after, "compare", "after")
        slices_of = (before, after)
    a, b = as_table(before, "compare", "before"), as_table(after, "compare", "after")
    guards, lower = _names(must_not_regress, "must_not_regress"), _names(lower_is_better, "lower_is_better")
    known = _known(a, b)
    for where, names in (("target", [target]), ("must_not_regress", guards), ("lower_is_better", lower)):
        for name in names:
            check_metric("compare", where, name, known)
    if proxy is not None:
        check_metric("compare", "proxy", proxy, known)

    metrics = _all_metrics(a, b, target, set(lower), level)
    slices = {} if slices_of is None else _slices(slices_of, str(by), target, target in lower, level)
    return _verdict(a, b, metrics, slices, target, guards, proxy, _Floor(run_std, run_std_runs, level))


def _check_numbers(run_std: Any, runs: Any, level: Any) -> None:
    params.level("compare", level)
    if run_std is not None:
        params.real("compare", "run_std", run_std, "a number of at least 0", 0, math.inf, ends="[)")
    if runs is not None:
        params.whole("compare", "run_std_runs", runs, 2)


class _Floor:
    """The noise floor that was handed in."""

    def __init__(self, run_std: float | None, runs: int | None, level: float) -> None:
        self.run_std = run_std
        self.runs = runs
        self.level = level
        df = None if runs is None else runs - 1
        self.band = noise_band(run_std, df=df, level=level) if run_std else None


def _names(value: Any, where: str) -> list[str]:
    """Metric names; one string is one name."""
    if isinstance(value, str):
        return [value]
    if not isinstance(value, Iterable):
        raise ParamError.of("compare", where, "a list of metric names", value)
    return list(value)


def _known(a: TaskTable, b: TaskTable) -> list[str]:
    """Every metric of either arm."""
    return [*RATES, *sorted({*a.metrics[2:], *b.metrics[2:]})]


def _all_metrics(a: TaskTable, b: TaskTable, target: str, lower: set[str], level: float) -> dict[str, Delta]:
    """Every metric that both arms have, target first, each judged at its Holm-adjusted p-value."""
    both = [name for name in a.metrics if name in b.metrics]
    has_partial = bool(a.n_partial.sum() or b.n_partial.sum())
    names = [target, *(name for name in both if name != target and (name != "reward" or has_partial))]
    found = {name: paired_delta(a, b, name, name in lower, level) for name in names if name in both}
    return adjusted(found, target, level)


def _slices(arms: tuple[list[Any], list[Any]], by: str, target: str, lower: bool, level: float) -> dict[str, Delta]:
    """The target on each value of a key of the rows, Holm-adjusted over the values."""
    groups: list[dict[str, list[Any]]] = []
    for rows in arms:
        of: defaultdict[str, list[Any]] = defaultdict(list)
        for row in rows:
            value = keys.at_path(row, by)
            if not keys.is_missing(value):
                of[keys.task_name(value)].append(row)
        groups.append(of)
    if not groups[0] and not groups[1]:
        names = sorted({str(name) for rows in arms for row in rows[:50] for name in row})
        raise ParamError.of("compare", "by", "a key of the rows", by, params.near_miss(by, names))
    found = {}
    for value in sorted({*groups[0], *groups[1]}):
        a, b = (
            as_table(of.get(value, []), "compare", arm) for of, arm in zip(groups, ("before", "after"), strict=True)
        )
        has = target in a.metrics and target in b.metrics
        found[value] = (
            paired_delta(a, b, target, lower, level) if has else Delta("insufficient_data", lower_is_better=lower)
        )
    return adjusted(found, None, level)


def _verdict(
    a: TaskTable,
    b: TaskTable,
    metrics: dict[str, Delta],
    slices: dict[str, Delta],
    target: str,
    guards: list[str],
    proxy: str | None,
    floor: _Floor,
) -> Comparison:
    """The comparison put together."""
    main = metrics.get(target) or Delta("insufficient_data")
    shared = sum(task in b.place for task in a.task)
    verdict = main.verdict
    if not shared and (len(a) or len(b)):
        verdict = "not_comparable"
    elif verdict in ("improved", "regressed") and floor.band is not None and abs(main.delta or 0.0) < floor.band:
        verdict = "within_noise"
    regressions = tuple(name for name in guards if name in metrics and metrics[name].verdict == "regressed")
    unmeasured = [name for name in guards if name not in metrics or metrics[name].delta is None]
    over = proxy is not None and proxy in metrics and metrics[proxy].verdict == "improved" and verdict != "improved"
    made = verdict in ("improved", "no_difference", "within_noise")
    detectable, needed = _plan(a, b, main, target, verdict, floor.level)
    result = Comparison(
        verdict=verdict,
        ok=made and not regressions and not unmeasured and not over,
        target=target,
        before=main.before,
        after=main.after,
        delta=main.delta,
        interval=main.interval,
        p_value=main.p_value,
        n_paired=main.n_paired,
        n_only_before=len(a) - shared,
        n_only_after=len(b) - shared,
        level=floor.level,
        noise_band=floor.band,
        run_std=floor.run_std,
        metrics=metrics,
        regressions=regressions,
        proxy=proxy,
        over_optimized=over,
        detectable_effect=detectable,
        tasks_needed=needed,
        slices=slices,
        _moved=moved(a, b, target, main.lower_is_better) if main.delta is not None else (0, 0, 0),
        _guards=tuple(name for name in dict.fromkeys(guards) if name != target),
        _run_std_runs=floor.runs,
    )
    return replace(result, notes=tuple(comparison_notes(result, a, b, floor.runs)))


def _plan(
    a: TaskTable, b: TaskTable, main: Delta, target: str, verdict: str, level: float
) -> tuple[float | None, int | None]:
    """The smallest change these tasks would prove, and the tasks that would prove the change seen; rates only."""
    import numpy as np

    pairs = pairs_of(a, b, target)
    if pairs is None or target not in RATES or pairs.n < 2:
        return None, None
    k = 2  # a partial reward moves in small steps, like the mean of several completions
    if target == "pass_at_1":
        sizes = np.concatenate([a.n, b.n])
        k = int(np.median(sizes[sizes > 0]))
    detectable = power.detectable_effect(pairs.std, pairs.n, k, level, POWER)
    if verdict != "no_difference" or not main.delta:
        return detectable, None
    return detectable, power.n_for_interval(pairs.std, abs(main.delta), k, level, POWER)
