"""Sums that are the same bits in any order: values on a fixed grid of 2^-80, added as integers.

A float is cut into limbs of 40 bits, ``value = p0 + p1 * 2**-40 + p2 * 2**-80``::

    p0 = trunc(value);  r = (value - p0) * 2**40;  p1 = trunc(r);  p2 = trunc((r - p1) * 2**40)

Every step is exact in double arithmetic, for what truncation toward zero leaves fits into the bits that were there;
`floor` would round a small negative value (``-1e-20 - floor(-1e-20)`` is 1 in doubles). Bits below 2^-80 are dropped.
Integer sums are associative, so rows, chunks and shards may come in any order.
"""

from __future__ import annotations

import math
import operator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whileai.stats.arrays import floats

LIMB = 40
_BASE = float(1 << LIMB)
_MASK = (1 << LIMB) - 1
_EXACT_FLOAT = float(1 << 53)
#: Rows added before the carry is taken: 2**22 limbs of 40 bits stay below 2**62.
_CHUNK = 1 << 22
#: Largest group a vectorised mean divides: a remainder below 2**22 shifted by 40 bits stays below 2**62.
_VECTOR_ROWS = 1 << 22
#: Up to this many values are added one by one in Python ints, which then costs less than the calls of numpy do.
_FEW = 24


class Sums(NamedTuple):
    """Exact sums per group: ``p0 + p1 * 2**-40 + p2 * 2**-80``, with 0 <= p1, p2 < 2**40.

    The three arrays are int64, one entry per group, and unique for a sum: equal sums are equal bits. Where the sum of a
    group reaches 2**62 in magnitude, `p0` is an object array of Python ints; nothing else changes.
    """

    p0: NDArray[Any]
    p1: NDArray[np.int64]
    p2: NDArray[np.int64]


def exact_sums(codes: ArrayLike, values: ArrayLike, n_groups: int) -> Sums:
    """The sum of `values` per group, exact on the grid of 2^-80.

    Parameters
    ----------
    codes : int array, shape (rows,)
        Group of each row, from 0 to ``n_groups - 1``.
    values : float array, shape (rows,)
        Finite numbers of any size. They are read as float64, so that an integer column and a float column of the same
        numbers have the same sums.
    n_groups : int
        Number of groups; a group without rows sums to 0.

    Returns
    -------
    Sums
        Three arrays of length `n_groups`, the same bits for any order of the rows.

    Raises
    ------
    OverflowError
        If a value is infinite or NaN, which has no place on the grid.
    """
    group = np.asarray(codes, dtype=np.int64).ravel()
    value = floats(values)
    if value.size and not np.isfinite(value).all():
        raise OverflowError("exact_sums: values must be finite")
    zeros = np.zeros(n_groups, dtype=np.int64)
    sums = Sums(zeros, zeros.copy(), zeros.copy())
    for start in range(0, value.size, _CHUNK):
        chunk = _chunk_sums(group[start : start + _CHUNK], value[start : start + _CHUNK], n_groups)
        sums = add(sums, chunk) if start else chunk
    return sums


def add(left: Sums, right: Sums) -> Sums:
    """The sums of two shards over the same groups, the bits that one pass over all their rows would give."""
    return normalised(Sums(_plus(left.p0, right.p0), left.p1 + right.p1, left.p2 + right.p2))


def normalised(sums: Sums) -> Sums:
    """The same sums with the carries taken, so that 0 <= p1, p2 < 2**40.

    Limbs of up to 2**22 sums may be added before this is called.
    """
    p1 = sums.p1 + (sums.p2 >> LIMB)
    p0 = _plus(sums.p0, p1 >> LIMB)
    return Sums(p0, p1 & _MASK, sums.p2 & _MASK)


def means(sums: Sums, n: ArrayLike) -> NDArray[np.float64]:
    """The mean per group, ``sum / n`` rounded once to the nearest float.

    Parameters
    ----------
    sums : Sums
        From `exact_sums` or `add`.
    n : int array, shape (n_groups,)
        Rows per group.

    Returns
    -------
    float64 array, shape (n_groups,)
        Within one unit in the last place of the exact mean (two where its size is below 2^-27, for the grid ends at
        2^-80); NaN where `n` is 0.
    """
    count = np.asarray(n, dtype=np.int64)
    if sums.p0.dtype == object:
        return _long_means(sums, count)
    safe = np.where(count > 0, count, 1)
    if not sums.p1.any() and not sums.p2.any() and (np.abs(sums.p0) < _EXACT_FLOAT).all():
        return np.where(count > 0, sums.p0 / safe, np.nan)
    small = count < _VECTOR_ROWS
    out = np.where(count > 0, _short_means(sums, np.where(small, safe, 1)), np.nan)
    if not small.all():
        out[~small] = _long_means(Sums(*(limb[~small] for limb in sums)), count[~small])
    return out


def total(values: ArrayLike, weights: ArrayLike | None = None) -> float:
    """The sum of `values`, each counted `weights` times, rounded once: the same float for any order.

    Bits below 2^-80 of the largest value are dropped. ``total(x, w)`` is the bits of ``total(numpy.repeat(x, w))``.
    """
    number, exponent = _grid_total(floats(values), weights)
    return math.ldexp(number / (1 << 80), exponent)


def mean(values: ArrayLike, weights: ArrayLike | None = None) -> float:
    """The mean of `values`, each counted `weights` times, rounded once; NaN of nothing."""
    array = floats(values)
    count = array.size if weights is None else int(np.asarray(weights).sum())
    if count == 0:
        return math.nan
    number, exponent = _grid_total(array, weights)
    return math.ldexp(number / (count << 80), exponent)


def _grid_total(values: NDArray[np.float64], weights: ArrayLike | None) -> tuple[int, int]:
    """Integer `s` and exponent `e` with ``s * 2**(e - 80)`` the sum."""
    top = float(np.abs(values).max()) if values.size else 0.0
    if top == 0.0:
        return 0, 0
    exponent = math.frexp(top)[1]
    count = None if weights is None else np.asarray(weights, dtype=np.int64)
    if values.size <= _FEW:
        few = [int(math.ldexp(value, 80 - exponent)) for value in values.tolist()]  # int drops what the limbs drop
        return sum(few if count is None else map(operator.mul, few, count.tolist())), exponent
    sums = [0, 0, 0, 0]
    for start in range(0, values.size, 1 << 20):
        rest = np.ldexp(values[start : start + (1 << 20)], -exponent)
        w = None if count is None else count[start : start + (1 << 20)]
        for place in range(4):
            rest = rest * 1048576.0  # 2**20
            limb = np.trunc(rest)
            rest = rest - limb
            sums[place] += _integer_sum(limb, w)
    return sum(limb << (60 - 20 * place) for place, limb in enumerate(sums)), exponent


def _integer_sum(limb: NDArray[np.float64], weights: NDArray[np.int64] | None) -> int:
    """The exact sum of whole floats below 2**20, each counted `weights` times."""
    if weights is None:
        return int(limb.sum())
    if int(weights.sum()) < 1 << 33:  # every partial sum is a whole number below 2**53
        return int(np.dot(limb, weights.astype(np.float64)))
    return sum(int(x) * int(w) for x, w in zip(limb.tolist(), weights.tolist(), strict=True))


def _chunk_sums(group: NDArray[np.int64], value: NDArray[np.float64], n_groups: int) -> Sums:
    rows = int(np.bincount(group, minlength=1).max()) if group.size else 0
    p0 = np.trunc(value)
    rest = value - p0
    whole = _whole_sums(group, p0, n_groups, rows)
    if not rest.any():
        return Sums(whole, np.zeros(n_groups, dtype=np.int64), np.zeros(n_groups, dtype=np.int64))
    rest *= _BASE
    p1 = np.trunc(rest)
    p2 = np.trunc((rest - p1) * _BASE)
    return normalised(Sums(whole, _limb_sums(group, p1, n_groups, rows), _limb_sums(group, p2, n_groups, rows)))


def _limb_sums(group: NDArray[np.int64], limb: NDArray[np.float64], n_groups: int, rows: int) -> NDArray[np.int64]:
    """Sums of whole floats below 2**40 in groups of at most `rows` <= 2**22 rows."""
    top = float(np.abs(limb).max()) if limb.size else 0.0
    if top * rows < _EXACT_FLOAT:  # then every partial sum of floats is exact
        return np.bincount(group, weights=limb, minlength=n_groups).astype(np.int64)
    sums = np.zeros(n_groups, dtype=np.int64)
    np.add.at(sums, group, limb.astype(np.int64))
    return sums


def _whole_sums(group: NDArray[np.int64], p0: NDArray[np.float64], n_groups: int, rows: int) -> NDArray[Any]:
    """Sums of whole floats of any size: int64 where they fit, Python ints where they may not."""
    limbs: list[NDArray[np.int64]] = []
    while p0.any():
        above = np.trunc(p0 / _BASE)
        if float(np.abs(p0).max()) * rows < 2.0**62:
            limbs.append(_limb_sums(group, p0, n_groups, rows))
            break
        limbs.append(_limb_sums(group, p0 - above * _BASE, n_groups, rows))
        p0 = above
    sums: NDArray[Any] = limbs.pop() if limbs else np.zeros(n_groups, dtype=np.int64)
    while limbs:
        sums = narrow(sums.astype(object) * (1 << LIMB) + limbs.pop().astype(object))
    return sums


def _plus(left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """The sum of two arrays of whole numbers, in Python ints only where int64 would not hold it."""
    if object not in (left.dtype, right.dtype):
        both: NDArray[Any] = left + right
        if both.size == 0 or (both.max() < 1 << 62 and both.min() > -(1 << 62)):
            return both
    return narrow(left.astype(object) + right.astype(object))


def narrow(whole: NDArray[Any]) -> NDArray[Any]:
    """An object array of ints as int64 where all of them are below 2**62 in magnitude."""
    if all(-(1 << 62) < number < 1 << 62 for number in whole.tolist()):
        return whole.astype(np.int64)
    return whole


def _short_means(sums: Sums, n: NDArray[np.int64]) -> NDArray[np.float64]:
    """Long division limb by limb on magnitudes (a negative sum in limbs would cancel), then one rounding."""
    negative = sums.p0 < 0
    sign = np.where(negative, -1, 1)
    magnitude = normalised(Sums(sums.p0 * sign, sums.p1 * sign, sums.p2 * sign))
    q0, r0 = np.divmod(magnitude.p0, n)
    q1, r1 = np.divmod((r0 << LIMB) + magnitude.p1, n)
    q2 = ((r1 << LIMB) + magnitude.p2) // n
    high, low = q0.astype(np.float64), q1 * 2.0**-LIMB
    near = high + low
    back = near - high
    lost = (high - (near - back)) + (low - back)
    mean: NDArray[np.float64] = sign * (near + (lost + q2 * 2.0 ** (-2 * LIMB)))
    return mean


def _long_means(sums: Sums, n: NDArray[np.int64]) -> NDArray[np.float64]:
    """Means in Python ints, whose true division rounds once."""
    out = np.full(n.shape, np.nan)
    for place, (p0, p1, p2, count) in enumerate(zip(*(limb.tolist() for limb in sums), n.tolist(), strict=True)):
        if count:
            out[place] = ((p0 << (2 * LIMB)) + (p1 << LIMB) + p2) / (count << (2 * LIMB))
    return out
