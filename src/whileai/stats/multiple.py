"""Corrections of p-values for asking several questions at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whileai.stats.arrays import floats


def holm(p: ArrayLike) -> NDArray[np.float64]:
    """Holm's adjusted p-values, in the order of `p`: the chance of any false alarm stays below the level.

    Parameters
    ----------
    p : float array, shape (tests,)
        P-values in [0, 1]; the tests may depend on one another in any way.

    Notes
    -----
    Holm 1979: the i-th smallest of m times ``m - i + 1``, then the running maximum, at most 1.
    """
    raw = floats(p)
    order = np.argsort(raw, kind="stable")
    stepped = np.maximum.accumulate(raw[order] * np.arange(raw.size, 0, -1))
    return _in_order(stepped, order)


def benjamini_hochberg(p: ArrayLike) -> NDArray[np.float64]:
    """Benjamini and Hochberg's adjusted p-values, in the order of `p`: the expected share of false finds is bounded.

    Parameters
    ----------
    p : float array, shape (tests,)
        P-values in [0, 1].

    Notes
    -----
    Benjamini & Hochberg 1995: the i-th smallest of m times ``m / i``, then the running minimum from the largest.
    """
    raw = floats(p)
    order = np.argsort(raw, kind="stable")
    scaled = raw[order] * raw.size / np.arange(1, raw.size + 1)
    return _in_order(np.minimum.accumulate(scaled[::-1])[::-1], order)


def _in_order(adjusted: NDArray[np.float64], order: NDArray[np.intp]) -> NDArray[np.float64]:
    out = np.empty_like(adjusted)
    out[order] = np.minimum(adjusted, 1.0)
    return out
