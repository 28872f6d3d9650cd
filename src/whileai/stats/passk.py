"""pass@k and pass^k per task, unbiased, from counts alone."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray


def pass_at_k(n: ArrayLike, c: ArrayLike, k: int) -> NDArray[np.float64]:
    """The chance that at least one of `k` completions passes, per task: ``1 - C(n-c, k) / C(n, k)``.

    Parameters
    ----------
    n, c : int array, shape (tasks,)
        Graded completions and passes per task, ``0 <= c <= n``.
    k : int
        Tries, at least 1.

    Returns
    -------
    float64 array, shape (tasks,)
        Numbers in [0, 1], within a few units in the last place per factor of the exact ratio; NaN where ``n < k``.

    Notes
    -----
    Chen et al. 2021 (arXiv:2107.03374), equation 1. The complement of a product is built up as ``q += (1 - q) * x``,
    all of it positive, because ``1 - product`` would cancel for rare passes. The ratio is symmetric in `c` and `k`, so
    the shorter of the two products is taken.
    """
    cells, rows, passes, inverse = _cells(n, c)
    short, long = np.minimum(passes, k), np.maximum(passes, k)
    hit = np.zeros(rows.shape)
    step = 0
    active = (short > 0) & (rows >= k)
    certain = active & (rows - passes < k)
    hit[certain] = 1.0
    active &= ~certain
    while active.any():
        hit[active] += (1.0 - hit[active]) * (long[active] / (rows[active] - step))
        step += 1
        active &= (step < short) & (hit < 1.0)
    return _spread(np.where(rows >= k, np.minimum(hit, 1.0), np.nan), inverse, cells)


def pass_hat_k(n: ArrayLike, c: ArrayLike, k: int) -> NDArray[np.float64]:
    """The chance that `k` completions all pass (pass^k), per task: ``C(c, k) / C(n, k)``.

    Parameters
    ----------
    n, c : int array, shape (tasks,)
        Graded completions and passes per task, ``0 <= c <= n``.
    k : int
        Tries, at least 1.

    Returns
    -------
    float64 array, shape (tasks,)
        Numbers in [0, 1], right in relative terms down to 1e-300; NaN where ``n < k``.

    Notes
    -----
    Yao et al. 2024 (arXiv:2406.12045), section 3. ``C(c, k) / C(n, k)`` is a product over the `k` tries or over the
    ``n - c`` failures, whichever is shorter.
    """
    cells, rows, passes, inverse = _cells(n, c)
    failures = rows - passes
    short, long = np.minimum(failures, k), np.maximum(failures, k)
    chance = np.where(passes >= k, 1.0, 0.0)
    step = 0
    active = (passes >= k) & (short > 0)
    while active.any():
        left = rows[active] - step
        chance[active] *= (left - long[active]) / left
        step += 1
        active &= (step < short) & (chance > 0.0)
    return _spread(np.where(rows >= k, chance, np.nan), inverse, cells)


def default_k(n: ArrayLike, share: float = 0.9) -> int:
    """The largest k that at least `share` of the tasks have rows for; 1 without tasks.

    Parameters
    ----------
    n : int array, shape (tasks,)
        Graded completions per task, each at least 1.
    share : float
        Share of the tasks, in (0, 1]. It is read as the decimal it is written as, so that 0.9 of ten tasks is nine.
    """
    rows = np.sort(np.asarray(n, dtype=np.int64).ravel())[::-1]
    if rows.size == 0:
        return 1
    needed = max(1, math.ceil(Fraction(repr(float(share))) * int(rows.size)))
    return max(1, int(rows[min(needed, rows.size) - 1]))


def _cells(
    n: ArrayLike, c: ArrayLike
) -> tuple[tuple[int, ...], NDArray[np.int64], NDArray[np.int64], NDArray[np.intp]]:
    """The distinct (n, c), which are few, and for each task the place of its own."""
    rows, passes = np.broadcast_arrays(np.asarray(n, dtype=np.int64), np.asarray(c, dtype=np.int64))
    base = int(rows.max(initial=0)) + 1
    keys, inverse = np.unique(rows.ravel() * base + passes.ravel(), return_inverse=True)
    return rows.shape, keys // base, keys % base, inverse


def _spread(per_cell: NDArray[np.float64], inverse: NDArray[np.intp], shape: tuple[int, ...]) -> NDArray[np.float64]:
    return per_cell[inverse].reshape(shape)
