"""The power of a paired comparison with one completion per task, counted out instead of approximated.

With one completion a task is won, lost or tied, and the exact sign-flip test is McNemar's. It steps from one whole
count to the next and spends less than its level, so it finds a gain up to five points less often than the interval does
below about 200 tasks. With two completions and more the steps are too fine to matter.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import NDArray

from whileai.stats.quantiles import normal_quantile, t_quantile

#: Discordant tasks outside this many standard deviations have a probability under 1e-16.
_REACH = 9.0


def proving_power(sd: float, effect: float, n: int, level: float = 0.95) -> float:
    """The chance that `n` tasks put the paired interval above 0 and the exact p under ``1 - level``.

    Parameters
    ----------
    sd : float
        Standard deviation of the difference of one task; each difference is -1, 0 or 1.
    effect : float
        Mean difference in [0, 1]. With `sd` it fixes the shares of tasks won and lost; where no such shares exist the
        nearest are taken (none lost, or none tied).
    n : int
        Tasks, at least 1.
    level : float
        In (0, 1).

    Notes
    -----
    Sums over the number of discordant tasks (binomial) the chance that enough of them are won (binomial given it).
    """
    from scipy.special import xlog1py, xlogy

    changed = min(1.0, max(effect, sd * sd + effect * effect))
    spread = _REACH * math.sqrt(n * changed * (1.0 - changed)) + 20
    m = np.arange(max(0, int(n * changed - spread)), min(n, int(n * changed + spread)) + 1, dtype=np.float64)
    chance = np.exp(_log_choose(n, m) + xlogy(m, changed) + xlog1py(n - m, -changed))
    needed = np.maximum(_test_needs(int(m[-1]), level)[m.astype(np.int64)], _interval_needs(n, m, level))
    return float(np.dot(chance, _at_least(needed, m, (1.0 + effect / changed) / 2)))


def _interval_needs(n: int, m: NDArray[np.float64], level: float) -> NDArray[np.float64]:
    """Wins among `m` discordant tasks from which the lower end of the paired interval is above 0."""
    size = n + 2
    t2 = t_quantile((1.0 + level) / 2, size - 1) ** 2
    student = np.sqrt(t2 * (m + 2) * size / (size - 1 + t2))
    floor = n * math.expm1(-math.log1p(-level) / n)
    wins: NDArray[np.float64] = np.floor((m + np.maximum(student, floor)) / 2) + 1
    return wins


def _test_needs(most: int, level: float) -> NDArray[np.float64]:
    """Wins among 0, 1, .., `most` discordant tasks from which the exact test is below ``1 - level``."""
    return _test_table(max(64, 1 << most.bit_length()), level)[: most + 1]


@functools.lru_cache(maxsize=32)
def _test_table(size: int, level: float) -> NDArray[np.float64]:
    m = np.arange(size, dtype=np.float64)
    z = normal_quantile((1.0 + level) / 2)
    wins: NDArray[np.float64] = np.clip(np.floor((m + z * np.sqrt(m)) / 2) - 2, 1, m + 1)
    for _ in range(size):
        short = (wins <= m) & (2.0 * _at_least(wins, m, 0.5) >= 1.0 - level)
        if not short.any():
            break
        wins[short] += 1
    return wins


def _at_least(wins: NDArray[np.float64], m: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    """The chance of `wins` >= 1 or more out of `m`, each won with chance `share`."""
    from scipy.special import betainc

    possible = wins <= m
    some = np.where(possible, wins, 1.0)
    out: NDArray[np.float64] = np.where(possible, betainc(some, np.where(possible, m - some, 0.0) + 1.0, share), 0.0)
    return out


def _log_choose(n: int, m: NDArray[np.float64]) -> NDArray[np.float64]:
    from scipy.special import betaln

    out: NDArray[np.float64] = -betaln(n - m + 1, m + 1) - math.log(n + 1)
    return out
