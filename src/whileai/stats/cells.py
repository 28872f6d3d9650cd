"""Distinct tuples and how often each occurs: tasks with few distinct counts cost their cells, not their number."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: Up to this many possible keys they are counted in a table instead of sorted.
_TABLE = 1 << 22


def cells(*columns: ArrayLike) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The distinct rows of the columns, sorted, and the count of each.

    Parameters
    ----------
    *columns : array, shape (tasks,)
        Integers, bools or floats, one or more columns of one length. NaN equals NaN here, and 0.0 equals -0.0.

    Returns
    -------
    rows : array, shape (cells, columns)
        int64 if every column is whole by type, else float64; sorted by the first column, then the second, and so on.
    counts : int64 array, shape (cells,)
        How many tasks have each row. ``cells(d)[0][:, 0]`` and ``counts`` are `x` and `weights` of the intervals.
    """
    arrays = [_column(column) for column in columns]
    if not arrays or any(array.shape != arrays[0].shape for array in arrays):
        raise ValueError("cells: columns must be one or more arrays of one length")
    dtype = np.int64 if all(array.dtype == np.int64 for array in arrays) else np.float64
    if arrays[0].size == 0:
        return np.empty((0, len(arrays)), dtype=dtype), np.empty(0, dtype=np.int64)
    keys: NDArray[np.int64] = np.zeros(arrays[0].shape, dtype=np.int64)
    size = 1
    for array in arrays:
        codes, n_codes = _codes(array)
        if size * n_codes >= 1 << 62:
            distinct, keys = np.unique(keys, return_inverse=True)
            size = int(distinct.size)
        keys = keys * n_codes + codes
        size *= n_codes
    first, counts = _first_and_counts(keys, size)
    return np.column_stack([array[first] for array in arrays]).astype(dtype), counts


def _column(column: ArrayLike) -> NDArray[Any]:
    array = np.asarray(column).ravel()
    if array.dtype.kind in "iub":
        return array.astype(np.int64)
    return array.astype(np.float64) + 0.0  # -0.0 becomes 0.0


def _codes(array: NDArray[Any]) -> tuple[NDArray[np.int64], int]:
    """Codes from 0 in the order of the values, and how many codes there may be."""
    if array.dtype == np.int64:
        low, high = int(array.min()), int(array.max())
        if high - low < 1 << 31:
            return array - low, high - low + 1
    distinct, inverse = np.unique(array, return_inverse=True)
    return inverse.astype(np.int64), int(distinct.size)


def _first_and_counts(keys: NDArray[np.int64], size: int) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """For each distinct key, in order, a place that has it and its count."""
    if size <= min(_TABLE, 16 * keys.size + 1024):
        table = np.bincount(keys, minlength=size)
        place = np.zeros(size, dtype=np.intp)
        place[keys] = np.arange(keys.size)
        present = np.flatnonzero(table)
        return place[present], table[present].astype(np.int64)
    _, first, counts = np.unique(keys, return_index=True, return_counts=True)
    return first, counts.astype(np.int64)
