"""Arrays as every formula here takes them: flat, float64, counts beside them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def floats(values: ArrayLike) -> NDArray[np.float64]:
    """`values` as a flat float64 array."""
    return np.asarray(values, dtype=np.float64).ravel()


def counted(values: ArrayLike, weights: ArrayLike | None) -> tuple[NDArray[np.float64], NDArray[np.int64] | None, int]:
    """`values`, how often each counts, and how many there are in all; values that count 0 times are left out.

    Raises
    ------
    ValueError
        If `weights` is not one whole number of at least 0 for each value.
    """
    array = floats(values)
    if weights is None:
        return array, None, int(array.size)
    given = np.asarray(weights).ravel()
    counts = given.astype(np.int64)
    if counts.shape != array.shape or (counts < 0).any() or (counts != given).any():
        raise ValueError("weights must be one whole number of at least 0 for each value")
    if (counts == 0).any():
        array, counts = array[counts > 0], counts[counts > 0]
    return array, counts, int(counts.sum())
