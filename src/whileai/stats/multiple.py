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
    adjusted = np.empty_like(raw)
    adjusted[order] = np.minimum(np.maximum.accumulate(raw[order] * np.arange(raw.size, 0, -1)), 1.0)
    return adjusted
