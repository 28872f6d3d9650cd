"""The six objects of a data set of rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, get_args

from whileai import params
from whileai.errors import ParamError
from whileai.simulations._parts import FaultEvent, Lineage, Message, PolicyRef, Privileged, ScorerRef, Step, World
from whileai.simulations._wire import ALWAYS, is_reward, plain_number

Status = Literal["ok", "missing_reward", "invalid_result", "error", "timeout"]
STATUSES: tuple[str, ...] = get_args(Status)


@dataclass(frozen=True, slots=True)
class Task:
    """The situation. It bears identity, so nothing computed is in it: `Dataset` has splits, `Calibration` difficulty.

    Attributes
    ----------
    task_id : str
        What the completions of one prompt group under.
    spec_id : str
        The specification it was made from.
    prompt : str
        The text the policy is asked, the last user turn of a message list.
    prefix : tuple of Message
        The turns before it.
    world : World
        The world it is played in: ``seed``, ``world_state`` and ``faults`` on the row.
    privileged : Privileged
        What only a judge may see; not shown by ``repr``.
    axes : dict
        Which value it has on each axis of the plan.
    behaviors : tuple of str
        The behaviours it is meant to bring out.
    lineage : Lineage
        Where it comes from.
    """

    task_id: str
    spec_id: str = ""
    prompt: str = ""
    prefix: tuple[Message, ...] = ()
    world: World = field(default_factory=World)
    privileged: Privileged = field(default_factory=Privileged, repr=False)
    axes: dict[str, Any] = field(default_factory=dict)
    behaviors: tuple[str, ...] = ()
    lineage: Lineage = field(default_factory=Lineage)


@dataclass
class Rollout:
    """One episode. Mutable, so that grading can write to it in place; its verdicts are `Judgment` objects.

    Attributes
    ----------
    rollout_id, task_id : str
        Its own id, and its task's.
    policy : PolicyRef
        Who acted.
    index : int
        Its place among the rollouts of its task, from 0.
    steps : list of Step
        What happened, in order.
    final_text : str
        The completion a verifier reads.
    ledger : list of FaultEvent
        The failures of tools. Where a row has a fault plan and no ledger, the plan's, marked ``planned``.
    usable : bool
        Whether the episode says anything about the policy; `unusable_reason` says why not.
    unusable_reason : str, optional
    extra : dict
        The keys of the row that no other field holds, and the values that none can hold (``None``, other types). A
        conversation that is more than the prompt and the steps stands here under ``messages``.
    """

    #: The keys `to_row` writes even where the value is the default, in order. `from_row` sets it on the object, so that
    #: a stamped row comes back with the keys it had.
    _keys: ClassVar[tuple[str, ...]] = ALWAYS

    rollout_id: str
    task_id: str
    policy: PolicyRef = field(default_factory=PolicyRef)
    index: int = 0
    steps: list[Step] = field(default_factory=list)
    final_text: str = ""
    ledger: list[FaultEvent] = field(default_factory=list)
    usable: bool = True
    unusable_reason: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judgment:
    """One scorer's verdict on one rollout.

    Attributes
    ----------
    rollout_id : str
        The rollout it is on.
    scorer : ScorerRef
        Who gave it.
    reward : float or None
        A number in [0, 1]; ``None`` wherever `status` is not ``ok``.
    status : str
        ``ok``, ``missing_reward``, ``invalid_result``, ``error`` or ``timeout``.
    reason : str
        Why, in words.
    failure_class : str, optional
        The scorer's own class of failure.
    evidence : dict
        What else the scorer said, ``judge_meta`` on the row.

    Raises
    ------
    ParamError
        If the reward is no number in [0, 1], the status is unknown, or there is a reward where the status is not ok.
    """

    rollout_id: str
    scorer: ScorerRef
    reward: float | None
    status: Literal["ok", "missing_reward", "invalid_result", "error", "timeout"] = "ok"
    reason: str = ""
    failure_class: str | None = None
    evidence: dict = field(default_factory=dict)  # type: ignore[type-arg]  # the documented annotation

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            params.one_of("Judgment", "status", self.status, STATUSES)
        if self.reward is None:
            return
        if not is_reward(self.reward):
            raise ParamError.of("Judgment", "reward", "a number in [0, 1], or None", self.reward)
        if self.status != "ok":
            raise ParamError.of("Judgment", "reward", f"None where the status is {self.status!r}", self.reward)


@dataclass(frozen=True, slots=True)
class Marker:
    """One named measurement of one rollout.

    Attributes
    ----------
    rollout_id : str
        The rollout it is of.
    name : str
        Its key under ``markers`` on the row.
    value : float
        A finite number on any scale.
    evidence : dict
        What it rests on; under its name in ``marker_evidence`` on the row.

    Raises
    ------
    ParamError
        If the value is no finite number.
    """

    rollout_id: str
    name: str
    value: float
    evidence: dict = field(default_factory=dict)  # type: ignore[type-arg]  # the documented annotation

    def __post_init__(self) -> None:
        if not is_marker_value(self.value):
            raise ParamError.of("Marker", f"the value of {self.name!r}", "a finite number", self.value)


@dataclass(frozen=True, slots=True)
class Calibration:
    """Measured difficulty of one task for one student. Optional: only ``calibrate`` and ``select`` produce it.

    Attributes
    ----------
    task_id : str
        The task.
    student : PolicyRef
        The policy it was measured on.
    n : int
        From how many rollouts, at least 1.
    pass_rate : float
        The share that passed, in [0, 1].
    mean_kl : float, optional
        The sampled KL divergence to a reference policy per generated token, in nats. A sample of it can be below 0.
    pass_rate_ci95 : tuple of float, optional
        The Wilson 95% interval on the pass rate (Wilson 1927, Journal of the American Statistical Association 22),
        about 0.3 either way at n = 8.

    Raises
    ------
    ParamError
        If a number is outside its range.
    """

    task_id: str
    student: PolicyRef
    n: int
    pass_rate: float
    mean_kl: float | None = None
    pass_rate_ci95: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        params.whole("Calibration", "n", self.n)
        params.real("Calibration", "pass_rate", self.pass_rate, "a number in [0, 1]", 0, 1)
        if self.mean_kl is not None:
            params.real("Calibration", "mean_kl", self.mean_kl, "a finite number, or None", -math.inf, math.inf)
        if self.pass_rate_ci95 is not None:
            bound = "two numbers in [0, 1], the lower first, or None"
            ends = self.pass_rate_ci95
            if not isinstance(ends, tuple) or len(ends) != 2:
                raise ParamError.of("Calibration", "pass_rate_ci95", bound, ends)
            low = params.real("Calibration", "pass_rate_ci95[0]", ends[0], bound, 0, 1)
            params.real("Calibration", "pass_rate_ci95[1]", ends[1], bound, low, 1)


@dataclass(frozen=True, slots=True)
class Dataset:
    """Which task is in which split: one task can be held out in one data set and trained on in another.

    Attributes
    ----------
    dataset_id : str
        Its name.
    spec_id : str
        The specification its tasks were made from.
    splits : dict of str to tuple of str
        Split -> task ids.
    """

    dataset_id: str
    spec_id: str = ""
    splits: dict[str, tuple[str, ...]] = field(default_factory=dict)


def is_marker_value(value: Any) -> bool:
    """Whether a value can be a marker's: a finite real number."""
    number = plain_number(value)
    try:
        return number is not None and math.isfinite(number)
    except OverflowError:  # a whole number past the floats
        return False
