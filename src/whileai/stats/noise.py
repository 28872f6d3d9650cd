"""How far a number moves when the same eval is run again."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whileai import params
from whileai.stats import exact
from whileai.stats.quantiles import chi_square_quantile, normal_quantile, t_quantile

_CALL = "noise_band"


def noise_band(run_std: float, n_a: int = 1, n_b: int = 1, df: float | None = None, level: float = 0.95) -> float:
    """The band that the difference of two means stays inside when nothing but re-running the eval moves it.

    Parameters
    ----------
    run_std : float
        Standard deviation of one run's mean over re-runs, at least 0, in the unit of the metric.
    n_a, n_b : int
        Runs averaged in each arm, at least 1.
    df : float, optional
        Degrees of freedom behind `run_std`: re-runs less one, or the sum of that over pooled arms. Without it `run_std`
        is taken as known and the normal quantile is used, which is too narrow for a floor measured on a few runs.
    level : float
        Share of such differences inside the band, in (0, 1).

    Returns
    -------
    float
        ``q * run_std * sqrt(1 / n_a + 1 / n_b)``, at least 0, with `q` the quantile of Student's t at `df` or of the
        normal. A difference inside the band is what re-running alone does.

    Raises
    ------
    ParamError
        If an argument is outside its bound.

    Notes
    -----
    Student's t for an estimated standard deviation; with three re-runs the normal quantile gives 19% false alarms, t
    gives 5%.

    Examples
    --------
    >>> import whileai as wai
    >>> round(wai.noise_band(0.02), 4)
    0.0554
    >>> round(wai.noise_band(0.02, df=2), 4)
    0.1217
    """
    std = params.real(_CALL, "run_std", run_std, "a number of at least 0", 0.0, math.inf)
    a, b = params.whole(_CALL, "n_a", n_a), params.whole(_CALL, "n_b", n_b)
    p = (1.0 + params.level(_CALL, level)) / 2
    if df is None:
        quantile = normal_quantile(p)
    else:
        bound = "a number of at least 1, or None"
        quantile = t_quantile(p, params.real(_CALL, "df", df, bound, 1.0, math.inf, fix="Re-runs less one is usual."))
    return quantile * std * math.sqrt(1.0 / a + 1.0 / b)


@dataclass(frozen=True)
class RunSpread:
    """How the means of several runs over the same tasks scatter.

    Attributes
    ----------
    means : float array, shape (runs,)
        Mean over tasks of each run.
    mean : float
        Mean of the means.
    run_std : float or None
        Standard deviation of the means (divisor runs - 1); ``None`` with fewer than two runs.
    run_std_interval : (float, float) or None
        Chi-square interval of `run_std`; ``None`` with fewer than two runs, or where all means are equal and nothing
        bounds the spread from above.
    sampling_std : float or None
        What drawing completions anew predicts for `run_std`, from the task x run residual; ``None`` with fewer than two
        runs or tasks.
    f_p_value : float or None
        Chance of a ratio ``run_std / sampling_std`` this large if drawing anew is all that moves the runs; ``None``
        where that is undefined.
    """

    means: NDArray[np.float64]
    mean: float
    run_std: float | None
    run_std_interval: tuple[float, float] | None
    sampling_std: float | None
    f_p_value: float | None


def run_spread(y: ArrayLike, level: float = 0.95) -> RunSpread:
    """The scatter of run means, its interval, and what sampling alone predicts for it.

    Parameters
    ----------
    y : float array, shape (tasks, runs)
        Mean of each task in each run, without gaps: at least one task and one run.
    level : float
        Confidence level of `run_std_interval`, in (0, 1).

    Returns
    -------
    RunSpread
        The same digits for any order of the tasks; the spreads also for any order of the runs.

    Notes
    -----
    Two-way table without replication: ``e = y - task mean - run mean + grand mean``, its mean square `MS` over
    ``(tasks - 1) (runs - 1)`` degrees of freedom, ``sampling_std = sqrt(MS / tasks)`` and the F test of the runs.
    """
    table = np.asarray(y, dtype=np.float64)
    n_tasks, n_runs = table.shape
    means = np.array([exact.mean(table[:, run]) for run in range(n_runs)])
    run_std, centre = _std(means)
    sampling_std = _sampling_std(table, means, centre) if n_tasks > 1 and n_runs > 1 else None
    return RunSpread(
        means=means,
        mean=centre,
        run_std=run_std,
        run_std_interval=_std_interval(run_std, n_runs - 1, level),
        sampling_std=sampling_std,
        f_p_value=_f_p_value(run_std, sampling_std, n_runs - 1, (n_tasks - 1) * (n_runs - 1)),
    )


def _std(means: NDArray[np.float64]) -> tuple[float | None, float]:
    """Standard deviation and mean in exact fractions: equal means have a spread of exactly 0."""
    exactly = [Fraction(value) for value in means.tolist()]
    centre = sum(exactly, Fraction(0)) / len(exactly)
    if len(exactly) < 2:
        return None, float(centre)
    squares = sum(((value - centre) ** 2 for value in exactly), Fraction(0))
    return math.sqrt(squares / (len(exactly) - 1)), float(centre)


def _std_interval(std: float | None, df: int, level: float) -> tuple[float, float] | None:
    if not std:
        return None
    tail = (1.0 - level) / 2
    ends = [std * math.sqrt(df / chi_square_quantile(p, df)) for p in (1.0 - tail, tail)]
    return ends[0], ends[1]


def _sampling_std(table: NDArray[np.float64], means: NDArray[np.float64], centre: float) -> float:
    n_tasks, n_runs = table.shape
    rows = np.sort(table, axis=1).mean(axis=1)  # sorted, so that the order of the runs changes no digit
    residual = (table - rows[:, None]) - (means - centre)[None, :]
    residual[np.abs(residual) <= 1e-14 * float(np.abs(table).max())] = 0.0
    square: Any = residual * residual
    return math.sqrt(exact.total(square) / ((n_tasks - 1) * (n_runs - 1)) / n_tasks)


def _f_p_value(run_std: float | None, sampling_std: float | None, df_runs: int, df_residual: int) -> float | None:
    from scipy.special import fdtrc

    if run_std is None or not sampling_std:
        return None
    return float(fdtrc(df_runs, df_residual, (run_std / sampling_std) ** 2))
