"""What trust in a judge rests on, each with a verdict and a reason, and how many more labels would say."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from whileai.measure.trust import Check, Half, Sensitivity
from whileai.result import digits as d
from whileai.result.digits import count
from whileai.stats import agreement, corrected, intervals
from whileai.stats.quantiles import t_quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from whileai.measure.judged import Judged
    from whileai.measure.probes import Asked
    from whileai.stats.agreement import Agreed

Ends = tuple[float, float]
#: Labelled tasks from which halves are told apart.
LEAST_TASKS = 20
#: Labelled tasks under which a bias that matters would not be seen: 0.5 is found in 30 nine times in ten.
SEEN_TASKS = 30
#: More labels than this are no advice.
MOST_LABELS = 100_000


def halves_of(read: Judged, bars: tuple[float, float], level: float) -> tuple[Half, ...]:
    """Agreement on two halves of the labelled tasks.

    A task's half follows from its name, so that who tunes a judge on one half can measure it on the other, whatever is
    labelled later.
    """
    import numpy as np

    use = read.labelled
    codes = read.codes[use]
    tasks = np.unique(codes)
    if len(tasks) < LEAST_TASKS:
        return ()
    first = np.array([in_first_half(read.tasks[task]) for task in tasks.tolist()])
    weights = read.weights
    found = []
    for mine in (first, ~first):
        rows = np.isin(codes, tasks[mine])
        if rows.sum() < 2:
            return ()
        judge, gold = read.judge[use][rows], read.gold.values[use][rows]
        part = None if weights is None else weights[rows]
        rate, ends, _ = agreement.rate_of((judge == gold).astype(np.float64), codes[rows], level, part)
        kappa = agreement.agreed(judge, gold, codes[rows], bars, level, part).kappa
        found.append(Half((rate, ends), kappa, int(mine.sum())))
    return tuple(found)


def in_first_half(task: str) -> bool:
    """Which half a task lies in."""
    return hashlib.sha256(f"half {task}".encode("utf-8", "surrogatepass")).digest()[0] < 128


def checks_of(
    found: Agreed,
    bars: tuple[float, float],
    halves: tuple[Half, ...],
    moved: tuple[Sensitivity, ...],
    asked: Asked | None,
    *,
    n_tasks: int,
    level: float,
) -> tuple[Check, ...]:
    """Every check, in the order in which they matter."""
    return (
        _bar("agreement", found.agreement, found.agreement_interval, bars[0]),
        _bar("kappa", found.kappa, found.kappa_interval, bars[1]),
        _halves(halves),
        _bias(moved, n_tasks, level),
        *asked_checks(asked, bars[0]),
    )


def asked_checks(asked: Asked | None, bar: float) -> tuple[Check, Check]:
    """Consistency and the probes, which need the judge itself."""
    if asked is None:
        reason = "the judge itself is needed to ask it again: pass judge="
        return Check("consistency", "not_measured", reason), Check("probes", "not_measured", reason)
    again = asked.consistency
    if again is None:
        same = Check("consistency", "not_measured", "it was not asked again about any reply")
    else:
        same = _bar("consistency", *again.agreement, bar)
    return same, _probes(asked)


def _bar(name: str, value: float | None, ends: Ends | None, bar: float) -> Check:
    if value is None or ends is None:
        return Check(name, "not_measured" if name != "kappa" else "fail", f"{name} is not defined here")
    places = d.honest_decimals(d.decimals(ends[1] - ends[0]), ends, (bar,))
    said = f"{name} {d.number(value, places)} {d.interval(ends, places)}"
    if ends[0] >= bar:
        return Check(name, "pass", f"{said} lies above its bar {d.given(bar)}")
    if ends[1] < bar:
        return Check(name, "fail", f"{said} lies below its bar {d.given(bar)}")
    return Check(name, "inconclusive", f"{said} crosses its bar {d.given(bar)}")


def _halves(halves: tuple[Half, ...]) -> Check:
    if not halves:
        return Check("halves", "not_measured", f"fewer than {LEAST_TASKS} labelled tasks")
    (one, one_ends), (other, other_ends) = (half.agreement for half in halves)
    low, high = intervals.mover_interval(one, one_ends, other, other_ends)
    places = d.honest_decimals(d.decimals(high - low), (low, high), (0.0,))
    said = f"agreement differs by {d.signed(other - one, places)} {d.interval((low, high), places, sign=True)}"
    if low > 0 or high < 0:
        return Check("halves", "fail", f"{said} between two random halves of the labelled tasks")
    return Check("halves", "pass", f"{said} between two random halves, which chance explains")


def _bias(moved: tuple[Sensitivity, ...], n_tasks: int, level: float) -> Check:
    tested = [item for item in moved if item.p_adjusted is not None]
    if not tested:
        return Check("bias", "not_measured", "neither the error nor what it could move with varies enough")
    worst = min(tested, key=lambda item: (item.p_adjusted, item.name))
    said = f"{worst.name} (r {d.signed(worst.correlation, 2)}, p{d.p_text(worst.p_adjusted, 1 - level)})"
    if worst.p_adjusted is not None and worst.p_adjusted < 1 - level:
        return Check("bias", "fail", f"the error moves with {said}")
    if n_tasks < SEEN_TASKS:
        return Check("bias", "inconclusive", f"{count(n_tasks, 'labelled task')} would not show it; most with {said}")
    return Check("bias", "pass", f"of {count(len(tested), 'thing')} the error moves with none, most with {said}")


def _probes(asked: Asked) -> Check:
    by: dict[str, list[str]] = {}
    for probe in asked.probes:
        by.setdefault(probe.verdict, []).append(probe.name)
    if by.get("fail"):
        return Check("probes", "fail", f"replies pass for {', '.join(by['fail'])}")
    if by.get("inconclusive"):
        names = ", ".join(by["inconclusive"])
        return Check("probes", "inconclusive", f"too few replies were asked about to rule out {names}")
    if by.get("pass"):
        return Check("probes", "pass", f"no reply passes for {', '.join(by['pass'])} more often than the bar")
    return Check("probes", "not_measured", "no reply was changed, or no verdict on one could be used")


def labels_for_width(mean: float, square: float, width: float, level: float) -> int | None:
    """Labelled tasks in all until the interval of a rate is `width` wide, were its mean and its spread to stay."""

    def narrow(n: int) -> bool:
        low, high = intervals.moments_interval(mean, square, n, level)
        return high - low <= width

    return _fewest(narrow)


def labels_to_settle(found: Agreed, square: float, size: float, bars: tuple[float, float], level: float) -> int | None:
    """Labelled tasks in all until neither agreement nor kappa crosses its bar; ``None`` where one lies on it."""
    share, kappa, kappa_ends = found.agreement, found.kappa, found.kappa_interval
    if share is None or kappa is None or kappa_ends is None:
        return None
    half = max(kappa_ends[1] - kappa, kappa - kappa_ends[0])
    scale = half * math.sqrt(size) / t_quantile((1 + level) / 2, max(size - 1, 1))

    def settled(n: int) -> bool:
        low, high = intervals.moments_interval(share, square, n, level)
        around = t_quantile((1 + level) / 2, max(n - 1, 1)) * scale / math.sqrt(n)
        below = high < bars[0] or kappa + around < bars[1]
        return below or (low >= bars[0] and kappa - around >= bars[1])

    return _fewest(settled, start=max(2, math.floor(size)))


def labels_for_corrected(half: float, fixed: float, size: float, width: float, level: float) -> int | None:
    """Labelled tasks in all until the corrected rate's interval is `width` wide; `fixed` is the variance that stays."""
    quantile = t_quantile((1 + level) / 2, size + 1)
    labels = max((half / quantile) ** 2 - fixed, 0.0) * (size + 2)

    def narrow(n: int) -> bool:
        return 2 * t_quantile((1 + level) / 2, n + 1) * math.sqrt(labels / (n + 2) + fixed) <= width

    return _fewest(narrow)


def _fewest(enough: Callable[[int], bool], start: int = 2) -> int | None:
    """The smallest number from `start` at which something holds, which then holds for all larger ones."""
    high = start
    while not enough(high):
        high *= 2
        if high > MOST_LABELS:
            return None
    low = max(start, high // 2)
    while low < high:
        middle = (low + high) // 2
        if enough(middle):
            high = middle
        else:
            low = middle + 1
    return low


def mean_square(values: NDArray[Any], codes: NDArray[Any], weights: NDArray[Any] | None) -> tuple[float, float]:
    """The mean square deviation of task means, and the number of tasks, for `labels_for_width`."""
    import numpy as np

    if weights is None:
        means = agreement.task_means(values, codes)
        return float(np.var(means)), float(len(means))
    return corrected.spread_of(values, codes, weights)
