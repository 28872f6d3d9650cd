"""Rates and paired changes from a judge's verdict on every row and gold on some: prediction-powered inference.

Let ``F`` be the judge's verdict and ``Y`` gold. A row counts ``share``, so that the shares sum to 1 and a sum over rows
is a mean over tasks; a labelled row counts ``g``, its share times its weight (one over its chance to be labelled),
scaled to sum to 1. Then ::

    rate = lambda * sum share * F  +  sum over labelled g * (Y - lambda * F)

holds the true rate whatever the judge is like, and `lambda` is the one that leaves the least variance (PPI++,
Angelopoulos et al. 2023, arXiv:2311.01453). Rows of one unit (a task, a cluster of tasks) may depend on one another in
any way: variances are sums of squares over units, each unit's part of the estimate summed first. The number of labels
that Student's t and the imaginary labelled rows need is the effective one, ``1 / sum G_u**2`` with `G_u` the sum of g
in a unit (Kish 1965): the number of labelled tasks where they weigh alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from whileai.stats import exact, intervals
from whileai.stats.quantiles import t_quantile

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Ends = tuple[float, float]
#: Numbers of labelled units are compared up to this much rounding.
_NEAR = 1e-9


class Corrected(NamedTuple):
    """A rate, or a change of rates, with the judge's errors counted.

    Attributes
    ----------
    value : float
    interval : (float, float)
        Holds `value`.
    weight : float
        How much the judge is listened to, from 0 (the labels alone) to 1.
    gold_alone : (float, (float, float))
        What the labels say without the judge.
    """

    value: float
    interval: Ends
    weight: float
    gold_alone: tuple[float, Ends]


@dataclass(frozen=True)
class Labelled:
    """The rows of one arm.

    Attributes
    ----------
    judge : float array, shape (rows,)
        Verdicts in [0, 1].
    gold : float array, shape (rows,)
        NaN where a row has none.
    units : int array, shape (rows,)
        What a row is not independent of: its task, or the cluster of its task. From 0.
    tasks : int array, shape (rows,)
        The task of each row.
    weights : float array, shape (rows,)
        One over the chance that the row was labelled, up to a common factor; 1 for a random sample.
    """

    judge: Floats
    gold: Floats
    units: Ints
    tasks: Ints
    weights: Floats


class _Pulls(NamedTuple):
    """How far each unit pulls the estimates from where they are: of gold, of the judge on labelled and on all rows."""

    gold: Floats
    judge: Floats
    all: Floats
    gold_mean: float
    judge_mean: float
    all_mean: float
    shares: Floats

    @property
    def size(self) -> float:
        """Effective number of labelled units."""
        return 1.0 / exact.total(self.shares**2)


def corrected_mean(arm: Labelled, level: float = 0.95) -> Corrected | None:
    """The mean over tasks of gold; ``None`` with fewer than two labelled units.

    Notes
    -----
    Student's t, and two imaginary labelled units of residual +1 and -1, which keep the interval honest with few labels.
    Where the labels alone give a narrower interval theirs is taken, as in `whileai.stats.agreement.corrected_rate`,
    which this is where tasks are labelled whole and weigh alike.
    """
    pulls = _pulls(arm, int(arm.units.max()) + 1 if len(arm.units) else 0)
    if pulls is None:
        return None
    weight = _weight(pulls.gold, pulls.judge - pulls.all)
    rest = pulls.gold_mean - weight * pulls.judge_mean
    value = weight * pulls.all_mean + rest
    around = _Around(pulls.gold - weight * pulls.judge, weight * pulls.all)
    half = around.half(_imaginary(pulls.size, rest), pulls.size, level)
    alone = intervals.moments_interval(pulls.gold_mean, exact.total(pulls.gold**2) * pulls.size, pulls.size, level)
    low, high = max(0.0, value - half), min(1.0, value + half)
    value = min(1.0, max(0.0, value))
    if alone[1] - alone[0] < high - low:
        low, high = alone
    return Corrected(value, (min(low, value), max(high, value)), weight, (pulls.gold_mean, alone))


def corrected_change(before: Labelled, after: Labelled, level: float = 0.95) -> Corrected | None:
    """The mean over tasks of gold after less gold before; ``None`` where an arm has fewer than two labelled units.

    Parameters
    ----------
    before, after : Labelled
        Rows of the same tasks, their units and tasks numbered alike. Labels may stand on the same tasks of both arms,
        which says most, or on different ones.
    level : float

    Notes
    -----
    One `lambda` for both arms, the one that leaves the least variance of the change over units: the change of the
    judge's verdicts is paired over all tasks, and residuals of a task that is labelled in both arms are as well. Two
    imaginary labelled pairs, as in Bonett and Price 2012, where the same tasks are labelled; where different ones are,
    two for each arm. Swapped arms give the mirrored interval.
    """
    n_units = int(max(before.units.max(initial=-1), after.units.max(initial=-1))) + 1
    old, new = _pulls(before, n_units), _pulls(after, n_units)
    if old is None or new is None:
        return None
    gold, judge, everywhere = new.gold - old.gold, new.judge - old.judge, new.all - old.all
    weight = _weight(gold, judge - everywhere)
    rests = [arm.gold_mean - weight * arm.judge_mean for arm in (old, new)]
    value = weight * (new.all_mean - old.all_mean) + (rests[1] - rests[0])
    size = min(old.size, new.size)
    shared = exact.total(old.shares * new.shares) * math.sqrt(old.size * new.size)
    # the weight is fitted to the residuals it is judged by, and is uncertain itself: 1/size of variance for each
    fitted = math.sqrt(1 + 2 / size) if weight else 1.0
    half = _Around(fitted * (gold - weight * judge), weight * everywhere).half(
        _paired_imaginary((old.size, new.size), rests, shared), size, level
    )
    alone_value = new.gold_mean - old.gold_mean
    rest_half = _Around(gold, np.zeros_like(gold)).half(
        _paired_imaginary((old.size, new.size), [old.gold_mean, new.gold_mean], shared), size, level
    )
    alone = max(-1.0, alone_value - rest_half), min(1.0, alone_value + rest_half)
    if _same_units(old.shares, new.shares):
        there = old.shares > 0
        alone = intervals.paired_interval(gold[there] / old.shares[there] + alone_value, level)
    low, high = max(-1.0, value - half), min(1.0, value + half)
    value = min(1.0, max(-1.0, value))
    if alone[1] - alone[0] < high - low:
        low, high = alone
    return Corrected(value, (min(low, value), max(high, value)), weight, (alone_value, alone))


def label_shift(arm: Labelled) -> tuple[float, float, float] | None:
    """How far the judge's rate on the labelled rows lies from that on all, which a random sample leaves to chance.

    Returns
    -------
    (float, float, float) or None
        The rate on labelled rows (weighted), on all rows, and their difference in standard errors; ``None`` with fewer
        than two labelled units, or where every row is labelled.
    """
    pulls = _pulls(arm, int(arm.units.max()) + 1 if len(arm.units) else 0)
    if pulls is None:
        return None
    error = math.sqrt(exact.total((pulls.judge - pulls.all) ** 2))
    if error <= intervals.TIE:
        return None
    return pulls.judge_mean, pulls.all_mean, (pulls.judge_mean - pulls.all_mean) / error


def rogan_gladen(arm: Labelled, level: float = 0.95) -> tuple[float, Ends] | None:
    """The pass rate that a judge of known sensitivity and specificity must have seen (Rogan and Gladen 1978).

    The simple cross-check of `corrected_mean`: wider, and right also where the labels are of other rows than the ones
    judged, as long as the judge errs there alike. Binary verdicts and gold; the delta method, with an imaginary hit and
    an imaginary miss in each class as in Lang and Reiczigel 2014, since no error among a few labels proves little.

    Returns
    -------
    (float, (float, float)) or None
        ``None`` without gold of both classes, or where the judge is no better than chance.
    """
    pulls = _pulls(arm, int(arm.units.max()) + 1 if len(arm.units) else 0)
    there = ~np.isnan(arm.gold)
    shares = _row_shares(arm.tasks)
    g = (shares * arm.weights)[there]
    g = g / exact.total(g) if g.size else g
    gold, said, units = arm.gold[there], arm.judge[there], arm.units[there]
    passes = exact.total(g[gold == 1]) if g.size else 0.0
    fails = exact.total(g[gold == 0]) if g.size else 0.0
    if pulls is None or not passes or not fails:
        return None
    found = exact.total((g * said)[gold == 1]) / passes
    cleared = 1.0 - exact.total((g * said)[gold == 0]) / fails
    better = found + cleared - 1.0
    if better <= _NEAR:
        return None
    rate = (pulls.all_mean + cleared - 1.0) / better
    # each unit's pull on sensitivity and on specificity, carried to the rate
    n_passes, n_fails = pulls.size * passes, pulls.size * fails
    hit = g * (said - found) / passes * -rate * n_passes / (n_passes + 2)
    miss = g * (1.0 - said - cleared) / fails * (1.0 - rate) * n_fails / (n_fails + 2)
    variance = exact.total(_sums(units, np.where(gold == 1, hit, miss), len(pulls.all)) ** 2)
    variance += exact.total(pulls.all**2)
    variance += rate**2 * _imaginary_tries(n_passes, found) + (1.0 - rate) ** 2 * _imaginary_tries(n_fails, cleared)
    half = t_quantile((1 + level) / 2, max(pulls.size - 1.0, 1.0)) * math.sqrt(variance)
    rate, low, high = (min(1.0, max(0.0, end)) for end in (rate, rate - half / better, rate + half / better))
    return rate, (low, high)


def weighted_rate(values: Floats, units: Ints, weights: Floats, level: float = 0.95) -> tuple[float, Ends, float]:
    """The weighted mean of a number in [0, 1], its interval over units, and the effective number of those.

    With equal weights and one row a unit it is `whileai.stats.intervals.mean_interval`.
    """
    mean = exact.total(weights * values) / exact.total(weights)
    square, size = spread_of(values, units, weights)
    return mean, intervals.moments_interval(mean, square, size, level), size


def spread_of(values: Floats, units: Ints, weights: Floats) -> tuple[float, float]:
    """The mean square deviation of units that weigh alike and leave the same variance, and their effective number."""
    g = weights / exact.total(weights)
    _, codes = np.unique(units, return_inverse=True)
    codes = codes.ravel()
    n_units = int(codes.max()) + 1
    size = 1.0 / exact.total(_sums(codes, g, n_units) ** 2)
    pulls = _sums(codes, g * (values - exact.total(g * values)), n_units)
    return exact.total(pulls**2) * size, size


class _Around(NamedTuple):
    """The pulls of the labelled rows' residuals and of all rows' verdicts on an estimate."""

    labels: Floats
    everywhere: Floats

    def half(self, imaginary: float, size: float, level: float) -> float:
        """Half the width of the interval; `imaginary` is what the imaginary units add to the variance."""
        variance = exact.total(self.labels**2) * (size / (size + 2)) ** 2 + imaginary
        variance += exact.total(self.everywhere**2)
        # a weight that was clipped leaves the two parts correlated; where that helps, it is not counted on
        variance += 2 * max(0.0, exact.total(self.labels * self.everywhere))
        return t_quantile((1 + level) / 2, size + 1) * math.sqrt(variance)


def _pulls(arm: Labelled, n_units: int) -> _Pulls | None:
    there = ~np.isnan(arm.gold)
    if len(np.unique(arm.units[there])) < 2:
        return None
    shares = _row_shares(arm.tasks)
    g = (shares * arm.weights)[there]
    g = g / exact.total(g)
    gold, said, units = arm.gold[there], arm.judge[there], arm.units[there]
    gold_mean, judge_mean = exact.total(g * gold), exact.total(g * said)
    all_mean = exact.total(shares * arm.judge)
    return _Pulls(
        gold=_sums(units, g * (gold - gold_mean), n_units),
        judge=_sums(units, g * (said - judge_mean), n_units),
        all=_sums(arm.units, shares * (arm.judge - all_mean), n_units),
        gold_mean=gold_mean,
        judge_mean=judge_mean,
        all_mean=all_mean,
        shares=_sums(units, g, n_units),
    )


def _row_shares(tasks: Ints) -> Floats:
    """What each row counts in a mean over tasks of task means."""
    _, place, sizes = np.unique(tasks, return_inverse=True, return_counts=True)
    shares: Floats = 1.0 / (sizes[place.ravel()] * len(sizes))
    return shares


def _sums(units: Ints, values: Floats, n_units: int) -> Floats:
    """The sum of each unit, the same bits in any order of the rows."""
    return exact.means(exact.exact_sums(units, values, n_units), np.ones(n_units, dtype=np.int64))


def _weight(gold: Floats, judge: Floats) -> float:
    """The weight of the judge that leaves the least variance, within 0 and 1."""
    spread = exact.total(judge * judge)
    return min(1.0, max(0.0, exact.total(gold * judge) / spread)) if spread > 0 else 0.0


def _imaginary(size: float, rest: float) -> float:
    """What two imaginary labelled units, of residual +1 and -1, add to the variance of a mean residual `rest`."""
    n = size + 2
    return (2 + 2 * size * rest * rest / n) / (n * n)


def _imaginary_tries(size: float, rate: float) -> float:
    """What an imaginary hit and an imaginary miss add to the variance of a rate of `size` tries."""
    n = size + 2
    return (0.5 + 2 * size * (rate - 0.5) ** 2 / n) / (n * n)


def _paired_imaginary(sizes: tuple[float, float], rests: list[float], shared: float) -> float:
    """Two imaginary pairs for the part of the labels that both arms share, two units an arm for the rest."""
    together = _imaginary(min(sizes), rests[1] - rests[0])
    apart = _imaginary(sizes[0], rests[0]) + _imaginary(sizes[1], rests[1])
    shared = min(1.0, shared)
    return shared * together + (1.0 - shared) * apart


def _same_units(old: Floats, new: Floats) -> bool:
    """Whether both arms have labels on the same units, and all of those weigh alike."""
    top = float(old.max())
    return bool(np.allclose(old, new, rtol=_NEAR, atol=0.0) and np.allclose(old[old > 0], top, rtol=_NEAR))
