"""Intervals over tasks: one arm, two arms paired or not, bounded or not, and a plain proportion."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whileai.stats import exact
from whileai.stats.arrays import counted
from whileai.stats.quantiles import beta_quantile, normal_quantile, t_quantile

Interval = tuple[float, float]

#: A score this near to 0 or 1 is 0 or 1, and a difference of two scores this small is a tie: both are rounding.
TIE = 1e-12


def mean_interval(x: ArrayLike, level: float = 0.95, weights: ArrayLike | None = None) -> Interval:
    """The interval of the mean over tasks of a number in [0, 1]: pass@1, pass^k, pass@k, a reward, a bounded marker.

    The lower end is what would be said if one more task had scored 0, the upper end if one more had scored 1.

    Parameters
    ----------
    x : float array, shape (tasks,)
        One number in [0, 1] per task.
    level : float
        Confidence level in (0, 1).
    weights : int array, shape (tasks,), optional
        How often each number counts, so that a million tasks with few distinct scores cost their cells only.

    Returns
    -------
    (float, float)
        Ends in [0, 1], never equal, around the mean; the same bits for any order of `x`.

    Raises
    ------
    ValueError
        Without a task.

    Notes
    -----
    Gaffke's bound (Gaffke 2005; Learned-Miller & Thomas 2019, arXiv:1905.06208) with its Dirichlet-weighted mean
    matched by a beta of the same two moments. On scores of 0 and 1 it is the interval of Clopper & Pearson 1934, exact;
    on fractional scores it was conservative in every simulation, which is no proof.
    """
    scores, counts, n = counted(x, weights)
    if n == 0:
        raise ValueError("mean_interval: x must hold at least one task")
    scores = np.where(scores < TIE, 0.0, np.where(scores > 1.0 - TIE, 1.0, scores))
    tail = (1.0 - level) / 2
    low = _lower_end(scores, counts, n, tail)
    high = 1.0 - _lower_end(1.0 - scores, counts, n, tail)
    mean = exact.mean(scores, counts)
    return min(low, mean), max(high, mean)


def moments_interval(mean: float, square: float, size: float, level: float = 0.95) -> Interval:
    """`mean_interval` from a mean in [0, 1], the mean square around it and an effective number of units.

    Also what it would be at another number of units, were mean and spread to stay.
    """

    def lower(mean: float) -> float:
        """What would be said if one more unit had scored 0, by a beta of the same two moments."""
        centre = size * mean / (size + 1)
        if centre <= TIE:
            return 0.0
        variance = (size * (square + mean * mean) / (size + 1) - centre * centre) / (size + 2)
        pieces = centre * (1.0 - centre) / variance - 1.0
        # an estimated spread may be larger than a mean in [0, 1] can have: then nothing is known of the end
        return beta_quantile((1.0 - level) / 2, centre * pieces, (1.0 - centre) * pieces) if pieces > 1e-9 else 0.0

    return max(0.0, min(lower(mean), mean)), min(1.0, max(1.0 - lower(1.0 - mean), mean))


def paired_interval(d: ArrayLike, level: float = 0.95, weights: ArrayLike | None = None) -> Interval:
    """The interval of the mean difference between two arms over their shared tasks, for scores in [0, 1].

    Parameters
    ----------
    d : float array, shape (tasks,)
        After minus before per task, in [-1, 1].
    level, weights
        As in `mean_interval`.

    Returns
    -------
    (float, float)
        Ends in [-1, 1], never equal, around the mean difference. ``-d`` gives the mirrored interval.

    Raises
    ------
    ValueError
        Without a task.

    Notes
    -----
    Bonett & Price 2012 carried to fractional differences: two imaginary tasks, one up and one down by the size of a
    typical change, and Student's t. Up to 3/n of the tasks not sampled may have done the opposite (the rule of three,
    Hanley & Lippman-Hand 1983), which sets a floor under the width.
    """
    differences, counts, n = counted(d, weights)
    if n == 0:
        raise ValueError("paired_interval: d must hold at least one task")
    differences = np.where(np.abs(differences) <= TIE, 0.0, differences)
    centre, half = _pseudo_tasks(differences, counts, n, level)
    mean = exact.mean(differences, counts)
    unseen = -math.expm1(math.log1p(-level) / n)
    low = min(centre - half, mean - (1.0 + mean) * unseen)
    high = max(centre + half, mean + (1.0 - mean) * unseen)
    return max(-1.0, low), min(1.0, high)


def paired_interval_unbounded(d: ArrayLike, level: float = 0.95, weights: ArrayLike | None = None) -> Interval | None:
    """The interval of the mean difference over shared tasks for a marker on any scale.

    Parameters
    ----------
    d : float array, shape (tasks,)
        After minus before per task.
    level, weights
        As in `mean_interval`.

    Returns
    -------
    (float, float) or None
        ``None`` without a task, or where all differences are equal: their spread is then unknown.

    Notes
    -----
    `paired_interval` without the floor and the clip, which need a bounded score.
    """
    differences, counts, n = counted(d, weights)
    if n == 0 or differences.min() == differences.max():
        return None
    exponent = math.frexp(float(np.abs(differences).max()))[1]
    scaled = np.ldexp(differences, -exponent)  # fourth powers of the raw differences may overflow
    centre, half = _pseudo_tasks(scaled, counts, n, level)
    mean = exact.mean(scaled, counts)
    return math.ldexp(min(centre - half, mean), exponent), math.ldexp(max(centre + half, mean), exponent)


def wilson_interval(c: float, n: float, level: float = 0.95) -> Interval:
    """Wilson's score interval of a proportion: `c` passes of `n`; (0, 1) when `n` is 0.

    Wilson 1927; the two-sided form without continuity correction, method 3 of Newcombe 1998.
    """
    if n == 0:
        return 0.0, 1.0
    z = normal_quantile((1.0 + level) / 2)
    centre = c + z * z / 2
    half = z * math.sqrt(c * (n - c) / n + z * z / 4)
    low = 0.0 if c == 0 else (centre - half) / (n + z * z)
    high = 1.0 if c == n else (centre + half) / (n + z * z)
    return max(0.0, low), min(1.0, high)


def mover_interval(before: float, before_interval: Interval, after: float, after_interval: Interval) -> Interval:
    """The interval of ``after - before`` for arms on different tasks, from each arm's mean and own interval.

    Zou & Donner 2008 (MOVER); with Wilson intervals of two proportions it is method 10 of Newcombe 1998 (Statistics in
    Medicine 17:873). The level is that of the two intervals.
    """
    delta = after - before
    low = delta - math.hypot(after - after_interval[0], before_interval[1] - before)
    high = delta + math.hypot(after_interval[1] - after, before - before_interval[0])
    return low, high


def _lower_end(scores: NDArray[np.float64], counts: NDArray[np.int64] | None, n: int, tail: float) -> float:
    """The `tail` quantile of the beta that has the moments of the Dirichlet-weighted mean with one more task at 0."""
    mean = exact.total(scores, counts) / (n + 1)
    if mean == 0.0:
        return 0.0
    variance = (exact.total(scores * scores, counts) / (n + 1) - mean * mean) / (n + 2)
    size = mean * (1.0 - mean) / variance - 1.0
    return beta_quantile(tail, mean * size, (1.0 - mean) * size)


def _pseudo_tasks(
    d: NDArray[np.float64], counts: NDArray[np.int64] | None, n: int, level: float
) -> tuple[float, float]:
    """Centre and half width of Student's t interval with two imaginary tasks at plus and minus a typical change."""
    squares = d * d
    d2 = exact.total(squares, counts)
    typical = exact.total(squares * squares, counts) / d2 if d2 > 0 else 1.0
    centre = exact.total(d, counts) / (n + 2)
    variance = max((d2 + 2 * typical - (n + 2) * centre * centre) / (n + 1), 0.0)
    return centre, t_quantile((1.0 + level) / 2, n + 1) * math.sqrt(variance / (n + 2))
