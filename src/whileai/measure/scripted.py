"""Agents whose truth is known: how often they pass each kind of task is written down, and their rewards are drawn.

An agent is a mixture of few pass rates, so that its pass@1, pass^k and pass@k are finite sums. Draws compare uniform
numbers with those rates and with nothing else, so that they are the same on every machine.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from whileai.stats.exact import LIMB, Sums
from whileai.table.prompts import Prompts
from whileai.table.task_table import Column, TaskTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

#: A partial reward is graded in so many equal steps.
STEPS = 4


@dataclass(frozen=True)
class Agent:
    """Two arms on one kind of eval: shares of its tasks with a pass rate before and one after.

    Attributes
    ----------
    parts : tuple of (float, float, float)
        Share of the tasks, pass rate before, pass rate after. The shares sum to 1.
    lattice : bool
        Whether every task either stays or breaks outright, which leaves few outcomes to choose an interval's ends from.
    """

    parts: tuple[tuple[float, float, float], ...]
    lattice: bool = False

    @property
    def change(self) -> float:
        """The true mean change; exactly 0 where it is rounding."""
        change = math.fsum(share * (after - before) for share, before, after in self.parts)
        return 0.0 if abs(change) < 1e-12 else change

    def all_of(self, k: int) -> float:
        """The true pass^k of the first arm; its pass rate with k=1."""
        return math.fsum(share * before**k for share, before, _ in self.parts)

    def any_of(self, k: int) -> float:
        """The true pass@k of the first arm."""
        return 1.0 - math.fsum(share * (1.0 - before) ** k for share, before, _ in self.parts)

    def rates(self, rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[Floats, Floats]:
        """Pass rates before and after of tasks drawn at random."""
        shares, before, after = (np.array(column) for column in zip(*self.parts, strict=True))
        ends = np.cumsum(shares)
        ends[-1] = 1.0
        part = np.searchsorted(ends, rng.random(shape), side="right")
        return before[part], after[part]


def same(*parts: tuple[float, float]) -> Agent:
    """One model in both arms, from pairs of (share, pass rate)."""
    return Agent(tuple((share, rate, rate) for share, rate in parts))


def _breaks(share: float) -> Agent:
    """It always passes, until a share of the tasks breaks."""
    return Agent(((1.0 - share, 1.0, 1.0), (share, 1.0, 0.0)), lattice=True)


EVEN = tuple((2 * i + 1) / 20 for i in range(10))
CEILING = ((0.85, 0.99), (0.1, 0.9), (0.05, 0.3))

#: How hard tasks are for one model.
SHAPES: dict[str, Agent] = {
    "even": same(*((0.1, rate) for rate in EVEN)),
    "bimodal": same((0.45, 0.02), (0.1, 0.5), (0.45, 0.98)),
    "near-ceiling": same(*CEILING),
    "floor": same(*((share, 1.0 - rate) for share, rate in CEILING)),
    "homogeneous": same((1.0, 0.5)),
    "all easy": same((1.0, 0.95)),
    "95% always": same((0.95, 1.0), (0.05, 0.0)),
    "5% always": same((0.05, 1.0), (0.95, 0.0)),
    "70% always": same((0.7, 1.0), (0.3, 0.0)),
    "20% dead": same((0.2, 0.0), (0.8, 0.97)),
    "10% dead": same((0.1, 0.0), (0.9, 0.98)),
    "5% dead": same((0.05, 0.0), (0.95, 0.6)),
    "10% free": same((0.1, 1.0), (0.9, 0.03)),
}
#: Two models that differ on tasks but not on average, and pairs that differ.
CHANGES: dict[str, Agent] = {
    "reshuffled": Agent(tuple((0.01, before, after) for before in EVEN for after in EVEN)),
    "jiggled": Agent(((0.5, 0.5, 0.3), (0.5, 0.5, 0.7))),
    "most gain, 10% break": Agent(((0.9, 0.5, 0.5 + 0.5 / 9), (0.1, 0.5, 0.0))),
    "most lose, 10% mend": Agent(((0.9, 0.5, 0.5 - 0.5 / 9), (0.1, 0.5, 1.0))),
    "all +0.1": Agent(((1.0, 0.5, 0.6),)),
    "all -0.2": Agent(((0.5, 0.9, 0.7), (0.5, 0.6, 0.4))),
    "few gain": Agent(((0.8, 0.5, 0.5), (0.2, 0.5, 1.0))),
    "gain near the ceiling": Agent(tuple((share, rate, rate + 0.5 * (1.0 - rate)) for share, rate in CEILING)),
    "none to all": Agent(((1.0, 0.05, 0.95),)),
    "20% of a good one breaks": Agent(
        tuple(part for share, rate in CEILING for part in ((0.8 * share, rate, rate), (0.2 * share, rate, 0.0)))
    ),
    "2% break": _breaks(0.02),
    "5% break": _breaks(0.05),
    "10% break": _breaks(0.1),
    "20% break": _breaks(0.2),
}
AGENTS = {**SHAPES, **CHANGES}


@dataclass(frozen=True)
class Judge:
    """A judge of tasks whose gold is known: how often tasks pass, and how often it errs on those that do not, and do.

    Attributes
    ----------
    rate : float
        True pass rate.
    leaks, misses : float
        Share of failures that the judge passes, and of passes that it fails.
    """

    rate: float
    leaks: float
    misses: float

    @property
    def useless(self) -> bool:
        """Whether a verdict of its says nothing of the task."""
        return self.leaks + self.misses == 1.0


ERRORS = ((0.1, 0.1), (0.3, 0.05), (0.3, 0.3))
#: Judges by the true pass rate and their errors, on failures and on passes.
JUDGES: dict[str, Judge] = {
    **{f"{rate:g}, errs {a:g}/{b:g}": Judge(rate, a, b) for rate in (0.5, 0.8, 0.95) for a, b in ERRORS},
    **{f"{rate:g}, useless": Judge(rate, 0.5, 0.5) for rate in (0.5, 0.8, 0.95)},
}
#: Tasks that a judge has judged, labelled or not.
JUDGED = 400
#: Tasks of clusters, over and over.
CLUSTER_SIZES = (1, 2, 3, 5, 9)


def clusters(n: int) -> Ints:
    """The cluster of each task, for `n` clusters of one to nine tasks."""
    sizes = [CLUSTER_SIZES[place % len(CLUSTER_SIZES)] for place in range(n)]
    return np.repeat(np.arange(n), sizes)


def passes(rates: Floats, k: int, rng: np.random.Generator) -> Ints:
    """How many of k tries pass, for each rate."""
    tries = rng.random((*rates.shape, k)) < rates[..., None]
    return np.asarray(tries.sum(axis=-1, dtype=np.int64))


def steps(rates: Floats, k: int, rng: np.random.Generator) -> Ints:
    """Partial rewards of k rows in steps of a quarter, for each rate; their mean is the rate."""
    reached = rng.random((*rates.shape, k, STEPS)) < rates[..., None, None]
    return np.asarray(reached.sum(axis=-1, dtype=np.int64))


@functools.cache
def _names(n: int) -> list[str]:
    return [str(task) for task in range(n)]


def table(k: int, passed: Ints) -> TaskTable:
    """The table of tasks with k binary rows, of which so many passed."""
    return graded_table(k, passed, np.zeros_like(passed), passed * STEPS)


def graded_table(k: int, passed: Ints, partial: Ints, reached: Ints) -> TaskTable:
    """The table of tasks with k rows, some graded in part: full passes, rows in between, steps reached in all."""
    n = len(passed)
    none = np.zeros(n, dtype=np.int64)
    sums = Sums(reached // STEPS, (reached % STEPS) << (LIMB - 2), none)  # a step is a quarter, 2**-2
    rows = np.full(n, k, dtype=np.int64)
    prompts = Prompts(np.zeros(n, dtype=bool))
    return TaskTable(_names(n), rows - partial, passed, partial, none, Column(rows, sums), {}, n * k, 0, prompts)
