"""How much of the spread of task means lies between the tasks, and how much is left inside them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from whileai.stats import exact
from whileai.stats.arrays import floats


@dataclass(frozen=True)
class VarianceSplit:
    """The variance of task means, split.

    Attributes
    ----------
    between : float
        Variance of the true task means, at least 0. More completions per task do not lower it.
    within : float
        Mean variance of single completions inside a task.
    icc : float or None
        ``between / (between + within)``, in [0, 1]; ``None`` where both are 0.
    std_floor : float
        ``sqrt(between / tasks)``, the standard error that no number of completions per task gets below.
    """

    between: float
    within: float
    icc: float | None
    std_floor: float


def variance_split(means: ArrayLike, within: ArrayLike, k: ArrayLike) -> VarianceSplit | None:
    """The variance of task means split into between and within tasks.

    Parameters
    ----------
    means : float array, shape (tasks,)
        Mean per task.
    within : float array, shape (tasks,)
        Unbiased variance of the completions of each task (divisor k - 1).
    k : int or int array, shape (tasks,)
        Completions per task.

    Returns
    -------
    VarianceSplit or None
        ``None`` with fewer than two tasks.

    Notes
    -----
    Miller 2024 (arXiv:2411.00640), section 3: the variance of the means less the mean of ``within / k``. A difference
    below 0 is chance and is given as 0.
    """
    centres, spreads = floats(means), floats(within)
    if centres.size < 2:
        return None
    centre = exact.mean(centres)
    of_means = exact.total((centres - centre) ** 2) / (centres.size - 1)
    between = max(of_means - exact.mean(spreads / np.asarray(k, dtype=np.float64)), 0.0)
    inside = exact.mean(spreads)
    whole = between + inside
    return VarianceSplit(between, inside, between / whole if whole > 0 else None, math.sqrt(between / centres.size))


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
    `variance_split` with the unbiased variance ``c (n - c) / (n (n - 1))`` inside a task.
    """
    rows, passes = floats(n), floats(c)
    use = rows >= 2
    rows, passes = rows[use], passes[use]
    split = variance_split(passes / rows, passes * (rows - passes) / (rows * (rows - 1)), rows)
    return None if split is None else split.between
