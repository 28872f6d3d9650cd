"""One setting of `self_check`, what is counted in it, and when a count falls short."""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from whileai.stats.quantiles import normal_tail

#: How far an end may miss the truth by rounding.
_ROUNDING = 1e-12
#: Monte Carlo standard errors that a share may lie on the wrong side of its target.
TOLERANCE = 3.0
#: The check that no interval is a point.
ZERO_WIDTH = "intervals of zero width"

Ends = tuple[float, float]


class Cell(NamedTuple):
    """One setting and how often to try it.

    Attributes
    ----------
    kind : str
        ``rates``, ``reward``, ``change``, ``reward change``, ``power``, ``band``, ``clustered rates``, ``clustered
        change``, ``corrected``, ``corrected change`` or ``corrected sample``.
    agent : str
        Of `scripted.AGENTS`; for ``power`` the base and the effect; for the corrected kinds one of `scripted.JUDGES`.
    n, k : int
        Tasks, and rows a task; of the clustered kinds, clusters; of the corrected ones, labels.
    trials : int
    runs : int
        Re-runs behind the noise band.
    power : float
        The asked one.
    """

    kind: str
    agent: str
    n: int
    k: int
    trials: int
    runs: int = 0
    power: float = 0.0

    def rng(self, seed: int) -> np.random.Generator:
        """The cell's own stream: it depends on the seed and the setting, not on what else runs or where."""
        return np.random.default_rng([seed, zlib.crc32(repr(tuple(self)).encode())])


@dataclass(frozen=True)
class Count:
    """How often something happened in the trials of one setting.

    Attributes
    ----------
    check : str
        What was counted.
    agent : str
    n_tasks, k, trials : int
    hits : float
        Of a mean over the trials, the sum.
    target : float
        The share promised; 0, 1 or more are exact, with no allowance for chance.
    at_least : bool
        Whether the promise is a lower bound.
    """

    check: str
    agent: str
    n_tasks: int
    k: int
    trials: int
    hits: float
    target: float
    at_least: bool


def counted(cell: Cell, check: str, hits: float, target: float, *, at_least: bool = True) -> Count:
    """What was counted in a cell."""
    return Count(check, cell.agent, cell.n, cell.k, cell.trials, hits, target, at_least)


def share_left(level: float) -> float:
    """One less the level, without the rounding of the subtraction where it can be told."""
    return round(1.0 - level, 15) or 1.0 - level


def holds(ends: Ends | None, truth: float) -> bool:
    """Whether an interval holds the truth."""
    return ends is not None and ends[0] - _ROUNDING <= truth <= ends[1] + _ROUNDING


def is_point(ends: Ends | None) -> bool:
    """Whether an interval is none, or a single number."""
    return ends is None or not ends[0] < ends[1]


def margin(measured: float, target: float, std: float, *, at_least: bool) -> float:
    """How far a share lies on the good side of its target, in standard errors; as it is where the target is exact."""
    distance = measured - target if at_least else target - measured
    return distance / std if std else distance


def is_miss(count: Count) -> bool:
    """Whether a count is worse than its target by more than three Monte Carlo standard errors.

    Where less than five failures are expected a standard error says little, and the chance of as many as were counted,
    or more, must be that of three standard errors too. An exact target is missed by anything worse.
    """
    std = mc_std(count)
    side = margin(count.hits / count.trials, count.target, std, at_least=count.at_least)
    if not std:
        return side < 0
    if side >= -TOLERANCE:
        return False
    chance = 1.0 - count.target if count.at_least else count.target
    if chance * count.trials >= 5:
        return True
    from scipy.special import bdtrc

    failures = count.trials - count.hits if count.at_least else count.hits
    return bool(bdtrc(failures - 1, count.trials, chance) < normal_tail(TOLERANCE))


def mc_std(count: Count) -> float:
    """The standard error of the counted share, were the true one at its target; 0 where the target is exact."""
    return math.sqrt(count.target * (1.0 - count.target) / count.trials) if 0 < count.target < 1 else 0.0
