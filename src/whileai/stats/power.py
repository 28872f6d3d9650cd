"""How many paired tasks prove a gain, and what gain a number of tasks can prove."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whileai.stats import exact
from whileai.stats.arrays import floats
from whileai.stats.mcnemar import proving_power
from whileai.stats.quantiles import normal_quantile
from whileai.stats.signflip import min_nonzero_for

#: Sizes checked one by one before the search doubles: at small sizes the criterion need not be monotone.
_SCANNED = 512
#: With one completion per task the exact power may miss the asked one by this much before the size is moved.
_TOLERANCE = 0.025
#: Tasks that change above which it never does: there a step of the exact test is too small.
_COUNTED = 2000
_STEPPED = 128


def task_std(base: float, effect: float, k: int, tau: float = 0.0, omega: float = 0.0) -> float:
    """The standard deviation of the paired difference of one task, for pass rates of `k` completions in each arm.

    Parameters
    ----------
    base : float
        Pass rate before, in [0, 1].
    effect : float
        Gain; the pass rate after is ``min(1, base + effect)``.
    k : int
        Completions per task and arm.
    tau : float
        Standard deviation over tasks of the pass probability; 0 when unknown, which is the cautious end.
    omega : float
        Standard deviation over tasks of the true gain; 0 when every task gains alike.

    Notes
    -----
    Miller 2024 (arXiv:2411.00640), equation 9, with binary rewards.
    """
    after = min(1.0, base + effect)
    before_variance = max(base * (1.0 - base) - tau * tau, 0.0)
    after_variance = max(after * (1.0 - after) - tau * tau, 0.0)
    return math.sqrt(omega * omega + (before_variance + after_variance) / k)


def pass_rate_variance(n: ArrayLike, c: ArrayLike) -> float | None:
    """The variance over tasks of the true pass rate (tau squared), from counts.

    Parameters
    ----------
    n, c : int array, shape (tasks,)
        Graded completions and passes per task. Tasks with fewer than two completions say nothing about their own spread
        and are left out.

    Returns
    -------
    float or None
        At least 0; ``None`` with fewer than two usable tasks.

    Notes
    -----
    Miller 2024 (arXiv:2411.00640), section 3: the variance of the tasks' rates less the mean of ``within / n``, with
    the unbiased variance ``c (n - c) / (n (n - 1))`` inside a task. A difference below 0 is chance and is given as 0.
    """
    rows, passes = floats(n), floats(c)
    use = rows >= 2
    rows, passes = rows[use], passes[use]
    if rows.size < 2:
        return None
    rates, within = passes / rows, passes * (rows - passes) / (rows * (rows - 1))
    of_rates = exact.total((rates - exact.mean(rates)) ** 2) / (rates.size - 1)
    return max(of_rates - exact.mean(within / rows), 0.0)


def concentrated_std(base: float, effect: float, k: int, tau: float = 0.0) -> float:
    """The standard deviation of the paired difference when few tasks carry the whole gain.

    A share ``effect / (1 - base)`` of the tasks, picked at random, passes always from now on and the others stay as
    they are: the least even way to gain `effect` without losing anywhere. Arguments as in `task_std`.
    """
    room = 1.0 - base
    share = min(1.0, effect / room) if room > 0 else 1.0
    noise = max(base * room - tau * tau, 0.0) / k
    gain_square = share * (room * room + tau * tau)
    return math.sqrt(share * noise + (1.0 - share) * 2.0 * noise + gain_square - (share * room) ** 2)


def n_normal(sd: float, effect: float, level: float = 0.95, power: float = 0.8) -> int:
    """The paired tasks that prove `effect` by the usual normal formula, at least 1.

    ``ceil(((z_{1 - alpha/2} + z_power) * sd / effect)**2)``, Miller 2024 (arXiv:2411.00640), equation 9.
    """
    needed = ((normal_quantile((1.0 + level) / 2) + normal_quantile(power)) * sd / effect) ** 2
    return max(1, math.ceil(needed * (1.0 - 1e-12)))


def n_for_interval(sd: float, effect: float, k: int, level: float = 0.95, power: float = 0.8) -> int:
    """The fewest tasks at which a comparison proves `effect` with the asked power.

    Parameters
    ----------
    sd : float
        Standard deviation of the paired difference of one task, at least 0.
    effect : float
        True mean difference, in (0, 1].
    k : int
        Completions per task and arm; with one a change has size 1.
    level, power : float
        In (0, 1).

    Returns
    -------
    int
        Never under `min_nonzero_for` of `level`: fewer tasks cannot pass the exact test whatever they show.

    Notes
    -----
    A normal approximation to the mean difference put into `whileai.stats.intervals.paired_interval`, floor included.
    A comparison also asks for a small exact p, which costs nothing to speak of from two completions per task up. With
    one it may cost five points of power, so there the size is moved until the power of both together, counted out by
    `whileai.stats.mcnemar.proving_power`, is within 2.5 points of the asked one; most sizes stay.
    """
    n = _n_by_interval(sd, effect, k, level, power)
    if k > 1 or n * max(effect, sd * sd + effect * effect) > _COUNTED:
        return n

    def too_strong(size: int) -> bool:
        return proving_power(sd, effect, size, level) > power + _TOLERANCE

    def strong_enough(size: int) -> bool:
        return proving_power(sd, effect, size, level) >= power - _TOLERANCE

    least = min_nonzero_for(level)
    # Without ties the power moves up and down with the parity of n: small sizes are gone through one by one.
    if n < _STEPPED:
        n = max(least, next((size - 1 for size in range(least, n + 1) if too_strong(size)), n))
        return next(size for size in itertools.count(n) if strong_enough(size))
    if too_strong(n):
        return _first(too_strong, least) - 1
    return _first(strong_enough, n)


def detectable_effect(sd: float, n: int, k: int, level: float = 0.95, power: float = 0.8) -> float | None:
    """The smallest effect that `n` tasks prove with the asked power, the inverse of `n_for_interval`.

    Returns
    -------
    float or None
        In (0, 1]; ``None`` where no effect can be proven: too few tasks for the exact test, or it would have to be
        above 1. Arguments as in `n_for_interval`.
    """
    if n < min_nonzero_for(level):
        return None
    effect = float(_smallest_proven(sd, np.array([float(n)]), k, level, power)[0])
    if k == 1 and effect <= 1.0 and n * max(effect, sd * sd + effect * effect) <= _COUNTED:
        found = proving_power(sd, effect, n, level)
        if found < power - _TOLERANCE:
            effect = _smallest_effect(sd, n, level, power - _TOLERANCE)
        elif found > power + _TOLERANCE:
            effect = min(effect, _smallest_effect(sd, n + 1, level, power + _TOLERANCE))
    return effect if effect <= 1.0 else None


def half_width(sd: float, n: int, k: int, level: float = 0.95) -> float:
    """Half the width of the paired interval expected around a small difference, from `n` tasks.

    At most 1, the range of a difference of rates. Arguments as in `n_for_interval`.
    """
    size = np.array([float(n)])
    student = float(_t(level, size)[0]) * float(_standard_error(sd, size, k)[0])
    unseen = -math.expm1(math.log1p(-level) / n)
    return min(1.0, max(student, unseen))


def sd_interval_bonett(d: ArrayLike, level: float = 0.95) -> tuple[float, float] | None:
    """The interval of a standard deviation that does not lean on normal data.

    Parameters
    ----------
    d : float array, shape (tasks,)
        Paired differences of a pilot, or any sample.
    level : float
        Confidence level in (0, 1).

    Returns
    -------
    (float, float) or None
        ``None`` with fewer than five values, without spread, or at a level too high for so few values.

    Notes
    -----
    Bonett 2006 (Computational Statistics & Data Analysis 50:775): the log variance with a kurtosis about the trimmed
    mean, ``1 / (2 sqrt(n - 4))`` cut from either end.
    """
    values = np.sort(floats(d))
    n = values.size
    z = normal_quantile((1.0 + level) / 2)
    if n < 5 or n <= z or values[0] == values[-1]:
        return None
    cut = int(n / (2.0 * math.sqrt(n - 4)))
    middle = exact.mean(values[cut : n - cut])
    squares = exact.total((values - exact.mean(values)) ** 2)
    kurtosis = n * exact.total((values - middle) ** 4) / squares**2
    small_sample = n / (n - z)
    error = small_sample * math.sqrt((kurtosis - (n - 3) / n) / (n - 1))
    centre = small_sample * squares / (n - 1)
    return math.sqrt(centre * math.exp(-z * error)), math.sqrt(centre * math.exp(z * error))


def _n_by_interval(sd: float, effect: float, k: int, level: float, power: float) -> int:
    """The fewest tasks at which the paired interval alone lies above 0 with the asked power."""
    least = min_nonzero_for(level)
    sizes = np.arange(least, least + _SCANNED, dtype=np.float64)
    enough = np.flatnonzero(_smallest_proven(sd, sizes, k, level, power) <= effect)
    if enough.size:
        return int(sizes[enough[0]])

    def proves(n: int) -> bool:
        return float(_smallest_proven(sd, np.array([float(n)]), k, level, power)[0]) <= effect

    return _first(proves, least + _SCANNED)


def _first(holds: Callable[[int], bool], start: int) -> int:
    """The first whole number from `start` up at which `holds`, which then goes on to hold."""
    if holds(start):
        return start
    low, high = start, 2 * start
    while not holds(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _smallest_effect(sd: float, n: int, level: float, power: float) -> float:
    """The effect at which the counted power of `n` tasks reaches `power`; infinite if none up to 1 does."""
    if proving_power(sd, 1.0, n, level) < power:
        return math.inf
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if proving_power(sd, middle, n, level) >= power else (middle, high)
    return high


def _smallest_proven(sd: float, n: NDArray[np.float64], k: int, level: float, power: float) -> NDArray[np.float64]:
    """The effect at which the lower end, Student part and floor, is above 0 with the asked power, per size `n`."""
    below = normal_quantile(power) * sd / np.sqrt(n)  # how far under the effect the mean may come out
    student = _t(level, n) * _standard_error(sd, n, k) * (n + 2) / n
    floor = np.expm1(-math.log1p(-level) / n)
    return np.maximum(student, floor) + below


def _standard_error(sd: float, n: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """Of the mean with the two imaginary tasks; a change has size 1 with k = 1, else that of a normal difference."""
    typical = 1.0 if k == 1 else min(1.0, 3.0 * sd * sd)
    error: NDArray[np.float64] = np.sqrt((n * sd * sd + 2.0 * typical) / ((n + 1) * (n + 2)))
    return error


def _t(level: float, n: NDArray[np.float64]) -> NDArray[np.float64]:
    from scipy.special import stdtrit

    quantile: NDArray[np.float64] = stdtrit(n + 1, (1.0 + level) / 2)
    return quantile
