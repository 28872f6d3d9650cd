"""The intervals and p-values beside those of scipy and statsmodels, on the same numbers, with the time each takes.

The numbers are made up: two arms of the same tasks, each task with its own pass rate. scipy resamples task means
(`bootstrap`, `permutation_test`), statsmodels gives the paired t, the binomial intervals and McNemar's test; ours are
closed forms and exact distributions, so they need no seed and do not change from run to run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import DescrStatsW

import whileai as wai
from timing import best, save

RESAMPLES = 9_999
Numbers = np.ndarray[Any, Any]


def arms(tasks: int, k: int, gain: float) -> tuple[Numbers, Numbers]:
    """Passes of two arms, shape (tasks, k): skewed rates, the second a little higher."""
    draw = np.random.default_rng(7)
    rate = draw.beta(0.7, 0.7, tasks)[:, None]
    better = rate + gain * (1 - rate)
    return draw.random((tasks, k)) < rate, draw.random((tasks, k)) < better


def table(passes: Numbers) -> Any:
    """The same as a table, so that no reading is timed."""
    rows = [
        {"task_id": f"t{task}", "reward": int(passed)} for task, runs in enumerate(passes.tolist()) for passed in runs
    ]
    return wai.task_table(rows)


def shown(low: float, high: float) -> str:
    return f"{low:.4f}..{high:.4f}"


def line(what: str, tasks: int, k: int, tool: str, answer: str, work: Callable[[], Any], rounds: int) -> dict[str, Any]:
    milliseconds = round(1000 * best(work, rounds), 3)
    return {"what": what, "tasks": tasks, "k": k, "by": tool, "answer": answer, "milliseconds": milliseconds}


def rate_entries(passes: Numbers) -> list[dict[str, Any]]:
    """The interval of one pass rate."""
    tasks, k = passes.shape
    ours, means = table(passes), passes.mean(1)
    shape = ("interval of pass@1", tasks, k)
    entries = [line(*shape, "wai.pass_at", shown(*wai.pass_at(ours).ci95), lambda: wai.pass_at(ours), 3)]
    for method in ("percentile", "BCa"):
        if method == "BCa" and tasks > 2_000:
            continue  # its jackknife holds tasks x tasks numbers

        def resampled(method: str = method) -> Any:
            found = stats.bootstrap((means,), np.mean, n_resamples=RESAMPLES, method=method, batch=100, rng=1)
            return found.confidence_interval

        entries.append(line(*shape, f"scipy bootstrap, {method}", shown(*resampled()), resampled, 1))
    t = DescrStatsW(means)
    entries.append(line(*shape, "statsmodels t over tasks", shown(*t.tconfint_mean()), t.tconfint_mean, 3))
    if k == 1:
        for method in ("beta", "wilson"):

            def binomial(method: str = method) -> Any:
                return proportion_confint(int(passes.sum()), tasks, method=method)

            entries.append(line(*shape, f"statsmodels binomial, {method}", shown(*binomial()), binomial, 3))
    return entries


def change_entries(before: Numbers, after: Numbers) -> list[dict[str, Any]]:
    """Whether the second arm is better."""
    tasks, k = before.shape
    a, b = table(before), table(after)
    difference = after.mean(1) - before.mean(1)
    shape = ("change of pass@1", tasks, k)

    def answer(p: float, low: float | None = None, high: float | None = None) -> str:
        return f"p={p:.5f}" + ("" if low is None or high is None else f" {shown(low, high)}")

    ours = wai.compare(a, b)
    assert ours.interval is not None
    assert ours.p_value is not None
    entries = [line(*shape, "wai.compare", answer(ours.p_value, *ours.interval), lambda: wai.compare(a, b), 3)]

    def permuted() -> Any:
        return stats.permutation_test(
            (difference,), np.mean, permutation_type="samples", n_resamples=RESAMPLES, vectorized=True, batch=100, rng=1
        )

    name = f"scipy permutation_test, {RESAMPLES} draws"
    entries.append(line(*shape, name, answer(permuted().pvalue), permuted, 1))
    t = DescrStatsW(difference)
    entries.append(line(*shape, "statsmodels paired t", answer(t.ttest_mean()[1], *t.tconfint_mean()), t.ttest_mean, 3))
    if k == 1:
        one, two = before[:, 0], after[:, 0]
        square = [[(one & two).sum(), (one & ~two).sum()], [(~one & two).sum(), (~one & ~two).sum()]]

        def exact() -> Any:
            return mcnemar(square, exact=True)

        entries.append(line(*shape, "statsmodels McNemar, exact", answer(exact().pvalue), exact, 3))
    return entries


def main() -> None:
    """Few and many tasks, one and several runs of each."""
    entries = []
    for tasks, k, gain in ((200, 1, 0.15), (200, 4, 0.08), (2_000, 4, 0.03)):
        before, after = arms(tasks, k, gain)
        entries += rate_entries(before) + change_entries(before, after)
    save("statistics", entries)


if __name__ == "__main__":
    main()
