"""The exact sign-flip test of paired differences, without random flips.

Under the null that no task changed, each difference is as likely to be ``+d`` as ``-d``. The p-value is the share of
the ``2**n`` sign patterns whose sum is at least as far from 0 as the one seen. Three exact ways and a limit, in this
order:

1. few differences on a lattice (rates of k completions, counts): the distribution of the signed sum is convolved task
   by task (Pagano & Tritchler 1983). All terms are positive, so that small p keep their digits.
2. many on a lattice: the same distribution from its characteristic function by one FFT. An FFT alone loses all p below
   1e-16, so the signs are first tilted until the sum seen is the expected one, and untilted afterwards (exponential
   tilting, as in importance sampling and saddlepoint methods): right in relative terms down to 1e-300.
3. on no lattice, up to 40 differences that are not 0: all patterns, in two halves of 20 that meet in the middle.
4. else the normal limit ``2 * Phi(-|sum d| / sqrt(sum d**2))``.
"""

from __future__ import annotations

import math
import sys
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whileai.stats import exact
from whileai.stats.arrays import counted
from whileai.stats.quantiles import normal_tail

#: Largest integer a difference may become on a lattice; a finer one is treated as none.
_LATTICE = 1 << 20
#: Direct convolution: at most this many differences (2**-1000 is still a normal float) and this many additions.
_DIRECT_TASKS, _DIRECT_COST = 1000, 20_000_000
#: FFT: at most this many points, and half its width in standard deviations (the rest holds under 1e-22).
_FFT_POINTS, _FFT_REACH = 1 << 18, 10.0
#: Characteristic function below which a frequency is dropped.
_NEGLIGIBLE = 1e-30
_ENUMERATED = 40


def signflip_p(d: ArrayLike, scale: int | None = None, weights: ArrayLike | None = None, *, tie: float = 0.0) -> float:
    """The two-sided sign-flip p-value: how often random signs give a sum at least as far from 0.

    Parameters
    ----------
    d : float array, shape (tasks,)
        After minus before per task, on any scale.
    scale : int, optional
        A number that makes every ``d * scale`` whole, such as the least common multiple of the rows per task. Without
        it, or where it does not fit, a lattice is looked for.
    weights : int array, shape (tasks,), optional
        How often each difference counts.
    tie : float
        Differences up to this size count as 0: pass `whileai.stats.intervals.TIE` for scores in [0, 1].

    Returns
    -------
    float
        In (0, 1], and 1.0 without a difference; what is below the smallest normal float, 2.2e-308, is given as that. It
        depends on the sizes of the differences and of their sum alone: any order, all signs turned and any positive
        factor give the same p. With one completion per task it is the exact McNemar test.

    Notes
    -----
    It tests that no task changed; it is not a test of the mean alone. Exact but for the normal limit (see the module),
    which stands in where differences share no lattice of 2**20 steps and more than 40 are not 0, or where the sum has a
    standard deviation above 100,000 lattice steps.
    """
    values, counts, _ = counted(d, weights)
    values = np.where(np.abs(values) <= tie, 0.0, values)
    top = float(np.abs(values).max()) if values.size else 0.0
    if top == 0.0:
        return 1.0
    steps = _given_steps(values, scale) if scale else None
    if steps is None:
        steps = _found_steps(values / top)
    p = None if steps is None else _lattice_p(*_on_lattice(steps, counts))
    if p is None:
        p = _off_lattice_p(values / top, counts)
    return min(1.0, max(p, sys.float_info.min))


def min_nonzero_for(level: float = 0.95) -> int:
    """The fewest tasks that must differ before the exact test can give ``p < 1 - level``: 6 at 0.95.

    With m differences of one sign, the smallest p there is, it is ``2 * 2**-m``.
    """
    m = 1
    while math.ldexp(2.0, -m) >= 1.0 - level:
        m += 1
    return m


def _given_steps(values: NDArray[np.float64], scale: int) -> NDArray[np.int64] | None:
    """``values * scale`` where they are whole to rounding."""
    if not 0 < scale < 1 << 40 or scale * float(np.abs(values).max()) >= 2.0**40:
        return None
    scaled = values * float(scale)
    steps = np.rint(scaled)
    near = np.abs(scaled - steps) <= 1e-9 * np.maximum(1.0, np.abs(steps))
    return steps.astype(np.int64) if near.all() else None


def _found_steps(ratios: NDArray[np.float64]) -> NDArray[np.int64] | None:
    """Integers proportional to `ratios` (largest size 1), or ``None`` if the largest would pass the limit.

    The common denominator is built up from the first ratio that does not fit yet; each such step at least doubles it.
    """
    sizes = np.unique(np.abs(ratios))
    denominator = 1
    while True:
        slack = max(1e-9, 1e-13 * denominator)
        scaled = sizes * denominator
        misfit = np.flatnonzero(np.abs(scaled - np.rint(scaled)) > slack)
        if misfit.size == 0:
            return np.rint(ratios * denominator).astype(np.int64)
        if 2 * denominator > _LATTICE:
            return None
        rest = float(scaled[misfit[0]])
        near = Fraction(rest).limit_denominator(_LATTICE // denominator)
        if near.denominator == 1 or abs(rest - near) * near.denominator > max(
            1e-9, 1e-13 * denominator * near.denominator
        ):
            return None
        denominator *= near.denominator


def _on_lattice(
    steps: NDArray[np.int64], counts: NDArray[np.int64] | None
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Distinct sizes above 0 in lowest terms, how often each occurs, and the size of the sum seen."""
    times = np.ones(steps.shape, dtype=np.int64) if counts is None else counts
    seen = abs(_dot(steps, times))
    sizes, place = np.unique(np.abs(steps), return_inverse=True)
    times = np.bincount(place, weights=times.astype(np.float64)).astype(np.int64)
    if sizes.size and sizes[0] == 0:
        sizes, times = sizes[1:], times[1:]
    divisor = int(np.gcd.reduce(sizes)) if sizes.size else 1
    return sizes // divisor, times, seen // divisor


def _dot(a: NDArray[np.int64], b: NDArray[np.int64]) -> int:
    """The exact dot product of sizes below 2**40 and counts."""
    high, low = a >> 20, a & 0xFFFFF
    return (int(np.dot(high, b)) << 20) + int(np.dot(low, b))


def _lattice_p(sizes: NDArray[np.int64], times: NDArray[np.int64], seen: int) -> float | None:
    """The exact p of integer differences, or ``None`` where the lattice is too fine for their number."""
    n, reach = int(times.sum()), _dot(sizes, times)
    if seen == 0:
        return 1.0
    if seen == reach:
        return math.ldexp(2.0, -n)
    if n <= _DIRECT_TASKS and n * reach <= _DIRECT_COST:
        return _convolved_p(sizes, times, seen, reach)
    std = math.sqrt(float(np.dot(sizes.astype(np.float64) ** 2, times)))
    points = 1 << math.ceil(math.log2(_FFT_REACH * std + 16))
    return _tilted_p(sizes, times, seen, reach, points) if points <= _FFT_POINTS else None


def _convolved_p(sizes: NDArray[np.int64], times: NDArray[np.int64], seen: int, reach: int) -> float:
    """Convolution task by task of the sum K of the positive sizes; the signed sum is ``2 K - reach``."""
    chance = np.zeros(reach + 1)
    chance[0] = 1.0
    end = 1
    for size, count in zip(sizes.tolist(), times.tolist(), strict=True):
        for _ in range(count):
            half = chance[:end] * 0.5
            chance[:end] = half
            chance[size : size + end] += half
            end += size
    return 2.0 * math.fsum(chance[(reach + seen) // 2 :].tolist())


def _tilted_p(sizes: NDArray[np.int64], times: NDArray[np.int64], seen: int, reach: int, points: int) -> float:
    """The upper tail from the characteristic function of tilted signs, in a window around the sum seen."""
    a, c = sizes.astype(np.float64), times.astype(np.float64)
    tilt = _tilt(a, c, float(seen))
    positive = 1.0 / (1.0 + np.exp(-2.0 * tilt * a))
    goal = (reach + seen) // 2  # of K, the sum of the sizes with a positive sign
    offset = points // 2 - goal  # moves the goal to the middle of the window
    roots = np.exp(-2j * math.pi / points * np.arange(points))
    steps = sizes % points
    index = _audible(steps, times, positive, roots.real)
    spectrum = roots[(offset % points) * index % points]
    for step, chance, count in zip(steps.tolist(), positive.tolist(), times.tolist(), strict=True):
        spectrum *= (1.0 - chance + chance * roots[step * index % points]) ** count
    full = np.zeros(points // 2 + 1, dtype=np.complex128)
    full[index] = spectrum
    above = np.maximum(np.fft.irfft(full, points)[points // 2 :], 0.0)
    tail = float((above * np.exp(-2.0 * tilt * np.arange(above.size))).sum())
    x = tilt * a
    log_scale = exact.total((x + np.log1p(np.exp(-2.0 * x)) - math.log(2.0)) * c) - tilt * seen
    return 2.0 * math.exp(log_scale) * tail


def _audible(
    steps: NDArray[np.int64], times: NDArray[np.int64], positive: NDArray[np.float64], cosines: NDArray[np.float64]
) -> NDArray[np.int64]:
    """The frequencies whose amplitude is not negligible: of many tasks a handful around 0.

    The amplitude is found before the phase, for a real logarithm costs a fraction of a complex power.
    """
    points = cosines.size
    index = np.arange(points // 2 + 1)
    loudness = np.zeros(index.size)
    floor = math.log(_NEGLIGIBLE)
    spread = times * positive * (1.0 - positive)
    for place in np.argsort(-spread * steps.astype(np.float64) ** 2, kind="stable").tolist():
        both = 2.0 * positive[place] * (1.0 - positive[place])
        amplitude = 1.0 - both * (1.0 - cosines[steps[place] * index % points])
        with np.errstate(divide="ignore"):
            loudness += 0.5 * int(times[place]) * np.log(np.maximum(amplitude, 0.0))
        alive = loudness > floor
        if alive.sum() < 0.9 * alive.size:
            loudness, index = loudness[alive], index[alive]
    return index


def _tilt(a: NDArray[np.float64], c: NDArray[np.float64], seen: float) -> float:
    """The tilt at which signs of sizes `a` sum to `seen` on average; by bisection, for any value near it will do."""
    low, high = 0.0, 1.0 / float(a.max())
    while float(np.dot(c, a * np.tanh(high * a))) < seen and high * float(a.min()) < 20.0:
        high *= 2.0
    for _ in range(60):
        middle = (low + high) / 2
        if float(np.dot(c, a * np.tanh(middle * a))) < seen:
            low = middle
        else:
            high = middle
    return low


def _off_lattice_p(ratios: NDArray[np.float64], counts: NDArray[np.int64] | None) -> float:
    """All sign patterns of up to 40 differences, else the normal limit."""
    changed = ratios != 0.0
    values = ratios[changed]
    times = None if counts is None else counts[changed]
    n = values.size if times is None else int(times.sum())
    seen = abs(exact.total(values, times))
    if n > _ENUMERATED:
        return 2.0 * normal_tail(seen / math.sqrt(exact.total(values * values, times)))
    sizes = np.sort(np.abs(values if times is None else np.repeat(values, times)))
    seen -= 1e-12 * float(sizes.sum())  # sums of one pattern in two orders differ by rounding
    if seen <= 0.0:
        return 1.0
    first, second = _signed_sums(sizes[::2]), np.sort(_signed_sums(sizes[1::2]))
    reached = second.size * first.size - int(np.searchsorted(second, seen - first).sum())
    return math.ldexp(reached, 1 - n)


def _signed_sums(sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    sums = np.zeros(1)
    for size in sizes.tolist():
        sums = np.concatenate([sums + size, sums - size])
    return np.sort(sums)
