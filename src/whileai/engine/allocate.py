"""Which rollouts are run, in which order: a fixed number of each situation, or more of those that disagree."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from whileai import keys
from whileai.engine.options import CALL, Options
from whileai.engine.plan import Plan
from whileai.errors import ParamError
from whileai.result.digits import count

PROBE, FILL = "probe", "fill"
FIXED, ADAPTIVE = "fixed", "adaptive"
#: How many situations there are where nobody says: as many as cover every pair, at least so many,
LEAST = 16
#: and no more than give so many rollouts.
MOST_ROLLOUTS = 1_000

Status = Literal["full", "stopped_unanimous", "cut"]


@dataclass(frozen=True, slots=True)
class Slot:
    """One rollout to run: the place of its situation in the plan, its own among those of the situation, its phase."""

    situation: int
    index: int
    phase: str = PROBE


@dataclass(frozen=True, slots=True)
class Allocation:
    """The rollouts of a run.

    Neither order depends on which rollout ended first, so the rows do not either.

    Attributes
    ----------
    n_situations, repeats, budget : int
        Situations, rollouts of each, and the most in all.
    policy : {"fixed", "adaptive"}
    probe : int
        Rollouts of each situation before the adaptive policy looks at their rewards.
    """

    n_situations: int
    repeats: int
    budget: int
    policy: str = FIXED
    probe: int = 2

    @property
    def n_planned(self) -> int:
        """How many rollouts there will be."""
        return min(self.budget, self.n_situations * self.repeats)

    @property
    def n_first(self) -> int:
        """Rollouts of a situation that wait for no verdict."""
        return self.repeats if self.policy == FIXED else min(self.probe, self.repeats)

    def first(self) -> Iterator[Slot]:
        """The rollouts that wait for no verdict, situation by situation."""
        left = self.budget
        for situation in range(self.n_situations):
            for index in range(min(self.n_first, left)):
                yield Slot(situation, index)
            left -= min(self.n_first, left)
            if not left:
                return

    def later(self, is_mixed: Callable[[int], bool]) -> Iterator[Slot]:
        """The rollouts after all verdicts on the first ones: situations that disagree, then, if any are left, the rest.

        Parameters
        ----------
        is_mixed : callable
            Whether the first rollouts of the situation at a place hold both a 0 and a 1.
        """
        left = self.budget - self.n_situations * self.n_first
        more = self.repeats - self.n_first
        if left <= 0 or not more:
            return
        mixed = [is_mixed(situation) for situation in range(self.n_situations)]
        order = [place for wanted in (True, False) for place, found in enumerate(mixed) if found is wanted]
        for situation in order[: math.ceil(left / more)]:
            for index in range(self.n_first, self.n_first + min(more, left)):
                yield Slot(situation, index, FILL)
            left -= min(more, left)

    def stamp(self, slot: Slot) -> dict[str, Any]:
        """``allocation`` of a row: nothing in it is known only later."""
        return {"policy": self.policy, "phase": slot.phase, "k": self.repeats}


def allocated(plan: Plan, options: Options) -> Allocation:
    """The allocation of a run, with the number of situations filled in.

    Raises
    ------
    ParamError
        If the plan has not so many situations, or the budget cannot pay for every seed.
    """
    policy = options.run.repeat_policy or FIXED
    repeats, budget, n = options.repeats, options.budget, options.situations
    if n is None:
        n = _filled_in(plan, repeats, budget)
    n = plan.check(n)
    made = Allocation(n, repeats, n * repeats if budget is None else budget, policy, options.run.probe)
    needed = len(plan.seeds) * made.n_first
    if made.budget < needed:
        there = "is" if len(plan.seeds) == 1 else "are"
        seeds, each = count(len(plan.seeds), "seed"), count(made.n_first, "rollout")
        fix = f"There {there} {seeds} with {each} each, and none may be dropped."
        raise ParamError.of(CALL, "budget", f"at least {needed}", made.budget, fix)
    paid = math.ceil(made.budget / made.n_first)
    return made if paid >= n else Allocation(paid, repeats, made.budget, policy, options.run.probe)


def _filled_in(plan: Plan, repeats: int, budget: int | None) -> int:
    """The number of situations where nobody says."""
    if plan.seeds and plan.n_replayed == len(plan.seeds):
        return plan.n_replayed  # the same tasks again, no others
    most = max(1, (MOST_ROLLOUTS if budget is None else budget) // repeats)
    enough = plan.n_to_cover(most)
    wanted = min(max(LEAST, most if enough is None else enough), most, plan.most)
    return max(wanted, len(plan.seeds))


def is_mixed(rewards: Iterable[Any]) -> bool:
    """Whether both a 0 and a 1 are among the rewards; only those two count."""
    found = {reward for reward in rewards if not keys.is_missing(reward) and reward in (0, 1)}
    return len(found) == 2


def groups_of(rows: Iterable[Mapping[str, Any]], probe: int = 2) -> dict[str, Status]:
    """Task -> whether its group is ``full``, was ``stopped_unanimous`` by the adaptive policy, or was ``cut``.

    Parameters
    ----------
    rows : iterable of dict
        Rows with their ``allocation``.
    probe : int
        Rollouts of each task before the adaptive policy looked.
    """
    by_task: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_task.setdefault(str(row["task_id"]), []).append(row)
    return {task: _status(group, probe) for task, group in by_task.items()}


def _awaits_verdict(row: Mapping[str, Any]) -> bool:
    """Whether a run ended before a rollout was judged; what a judge could not say is a verdict too."""
    return bool(row.get("usable", True)) and keys.is_missing(row.get("reward")) and row.get("judge_status") is None


def _status(group: list[Mapping[str, Any]], probe: int) -> Status:
    stamps = [row.get("allocation") or {} for row in group]
    planned = max((stamp.get("k", 1) for stamp in stamps), default=1)
    if len(group) >= planned:
        return "full"
    probed = sum(stamp.get("phase") != FILL for stamp in stamps)
    adaptive = all(stamp.get("policy") == ADAPTIVE for stamp in stamps)
    looked = adaptive and probed == len(group) >= probe and not any(map(_awaits_verdict, group))
    if looked and not is_mixed(row.get("reward") for row in group):
        return "stopped_unanimous"
    return "cut"
