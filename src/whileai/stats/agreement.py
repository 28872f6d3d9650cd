"""Agreement of a judge with gold, and the pass rate that its errors leave standing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from whileai.stats import exact, intervals
from whileai.stats.quantiles import t_quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

Ends = tuple[float, float]


def cohen_kappa(tp: int, fp: int, fn: int, tn: int) -> float | None:
    """Agreement beyond chance, (po - pe)/(1 - pe); ``None`` where chance alone would agree on everything.

    Cohen 1960. `tp`: judge and gold pass; `fp`: only the judge passes; `fn`: only gold; `tn`: neither.
    """
    n = tp + fp + fn + tn
    if n == 0:
        return None
    judge, gold = (tp + fp) / n, (tp + fn) / n
    chance = judge * gold + (1 - judge) * (1 - gold)
    return ((tp + tn) / n - chance) / (1 - chance) if chance < 1 else None


def gwet_ac1(tp: int, fp: int, fn: int, tn: int) -> float | None:
    """Gwet's AC1 (2008), which does not collapse where nearly everything passes; ``None`` without rows."""
    n = tp + fp + fn + tn
    if n == 0:
        return None
    share = ((tp + fp) + (tp + fn)) / (2 * n)
    chance = 2 * share * (1 - share)
    return ((tp + tn) / n - chance) / (1 - chance)


def kappa_std(judge: NDArray[Any], gold: NDArray[Any], codes: NDArray[Any]) -> float | None:
    """Standard error of kappa over tasks.

    Parameters
    ----------
    judge, gold : array of 0 and 1, shape (rows,)
    codes : int array, shape (rows,)
        The task of each row.

    Returns
    -------
    float or None
        ``None`` with fewer than two tasks, or where kappa is undefined.

    Notes
    -----
    The linearised kappa summed within tasks. With one row a task it is Fleiss, Cohen and Everitt's (1969) but for the
    factor n/(n - 1).
    """
    import numpy as np

    n = len(judge)
    same = judge == gold
    po, j, g = float(same.mean()), float(judge.mean()), float(gold.mean())
    pe = j * g + (1 - j) * (1 - g)
    n_tasks = len(np.unique(codes))
    if n_tasks < 2 or pe == 1:
        return None
    pull = ((2 * g - 1) * (judge - j) + (2 * j - 1) * (gold - g)) * (1 - po)
    rows = ((same - po) * (1 - pe) - pull) / (1 - pe) ** 2
    tasks = exact.means(exact.exact_sums(codes, rows, int(codes.max()) + 1), np.ones(int(codes.max()) + 1, dtype=int))
    return math.sqrt(n_tasks / (n_tasks - 1) * exact.total(tasks**2)) / n


class Corrected(NamedTuple):
    """A pass rate corrected for the judge's errors, and its interval."""

    rate: float
    interval: Ends


def corrected_rate(
    gold: NDArray[Any], judge: NDArray[Any], unlabelled: NDArray[Any], level: float = 0.95
) -> Corrected | None:
    """The pass rate from a judge on every task and gold on a random part of them.

    Parameters
    ----------
    gold, judge : array, shape (m,)
        Task means of gold and of the judge on the labelled rows.
    unlabelled : array, shape (n,)
        Task means of the judge on tasks without gold.
    level : float

    Returns
    -------
    Corrected or None
        ``None`` with fewer than two labelled tasks. Without unlabelled tasks it is the mean of the gold.

    Notes
    -----
    Prediction-powered inference with a tuned weight (Angelopoulos et al. 2023, arXiv:2301.09633; PPI++,
    arXiv:2311.01453), Student's t, and two imaginary labelled tasks of residual +1 and -1, which keep the interval
    honest with few labels. The labelled tasks must be a random sample.
    """
    import numpy as np

    m, n = len(gold), len(unlabelled)
    if m < 2:
        return None
    if n == 0:
        rate = exact.mean(gold)
        low, high = intervals.mean_interval(gold, level)
        return Corrected(rate, (min(low, rate), max(high, rate)))
    covariance = float(np.cov(gold, judge)[0, 1])
    spread, apart = float(np.var(judge, ddof=1)), float(np.var(unlabelled))
    pooled = (spread * (m - 1) + apart * (n - 1)) / (m + n - 2)
    weight = min(1.0, max(0.0, covariance / pooled / (1 + m / n))) if pooled > 0 else 0.0
    rest = gold - weight * judge
    rate = weight * exact.mean(unlabelled) + exact.mean(rest)
    total, size = exact.total(rest), m + 2
    variance = max((exact.total(rest**2) + 2) / size - (total / size) ** 2, 0.0)
    half = t_quantile((1 + level) / 2, m + 1) * math.sqrt(weight**2 * apart / n + variance / size)
    return Corrected(min(1.0, max(0.0, rate)), (max(0.0, rate - half), min(1.0, rate + half)))


def correlation(x: NDArray[Any], y: NDArray[Any]) -> tuple[float, float] | None:
    """Pearson's correlation with its two-sided p-value; ``None`` with fewer than four pairs or without spread."""
    import numpy as np
    from scipy.special import stdtr

    n = len(x)
    if n < 4 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    r = float(np.clip(np.corrcoef(x, y)[0, 1], -1.0, 1.0))
    if abs(r) == 1:
        return r, 0.0
    return r, float(2 * stdtr(n - 2, -abs(r) * math.sqrt((n - 2) / (1 - r * r))))
