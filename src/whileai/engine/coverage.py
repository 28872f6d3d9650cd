"""What a run covered of its plan, and why the rest is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whileai.engine.axes import NAMES, OK, Pair
from whileai.engine.cover import PAIRS_HELD, pairs_of
from whileai.engine.plan import Plan
from whileai.engine.situations import Situation
from whileai.result.base import Result
from whileai.result.blocks import Block, Headline, Line, Note, Table
from whileai.result.digits import count

NEEDS_MORE = "needs_more_situations"
NEVER_REACHED = "fault_never_reached"
UNUSABLE = "unusable_rollouts"
SWITCHED_OFF = "switched_off"
NOT_RUN = "not_run"
#: Why a possible pair is missing, in the order of the report.
REASONS = (NEEDS_MORE, NOT_RUN, UNUSABLE, NEVER_REACHED, SWITCHED_OFF)


@dataclass(frozen=True)
class Missing:
    """A possible pair that was not covered.

    Attributes
    ----------
    pair : Pair
    reason : str
        ``needs_more_situations``, ``switched_off`` (the fault rate rules it out), ``not_run`` (planned, but no rollout
        of it ran), ``unusable_rollouts`` or ``fault_never_reached`` (the agent did not call the tool that would have
        failed).
    """

    pair: Pair
    reason: str


@dataclass(frozen=True)
class Infeasible:
    """A pair that cannot be, with the rule that forbids it; it is in no count."""

    pair: Pair
    reason: str


@dataclass(frozen=True, repr=False)
class Coverage(Result):
    """What a run covered: pairs of values of two axes.

    Attributes
    ----------
    pairs_possible : int
        Pairs that some possible combination of values holds.
    pairs_planned : int
        Those in a situation of this run.
    pairs_covered : int
        Those planned of which a usable rollout ran and, where the pair holds a fault, the fault happened in it.
    infeasible : tuple of Infeasible
    missing : tuple of Missing
        Every possible pair that is not covered, with its reason.
    n_points : int
        Possible combinations of one value an axis.
    n_prompts_possible : int
        Different prompts that the templates can write.
    n_situations : int
    n_to_cover : int or None
        In how many situations every pair is planned that the fault rate allows; ``None`` if in more than 100,000.
    faults : dict of str to dict
        Kind -> ``planned`` and ``fired``, situations each.
    axes : dict of str to dict
        Axis -> value -> situations.
    effects : dict of str to str
        Tool -> what it was taken to do: ``read``, ``write`` or ``delete``, with ``(guessed)`` where its name said so.
    notes : tuple of Note
    """

    pairs_possible: int
    pairs_planned: int
    pairs_covered: int
    infeasible: tuple[Infeasible, ...]
    missing: tuple[Missing, ...]
    n_points: int
    n_prompts_possible: int
    n_situations: int
    n_to_cover: int | None
    faults: dict[str, dict[str, int]]
    axes: dict[str, dict[str, int]]
    effects: dict[str, str]
    notes: tuple[Note, ...] = ()

    @property
    def ceiling(self) -> int:
        """The most pairs that so many situations can cover: one for every two axes each."""
        return min(self.pairs_possible, PAIRS_HELD * self.n_situations)

    def _blocks(self) -> list[Block]:
        blocks: list[Block] = [
            Headline(
                f"{self.pairs_covered:,} of {self.pairs_possible:,} pairs covered by "
                f"{count(self.n_situations, 'situation')}, which can cover {self.ceiling:,} at most."
            )
        ]
        if self.pairs_covered < self.pairs_possible:
            blocks.append(Line(self._why()))
        places = count(self.n_points, "point")
        blocks.append(Line(f"{places} on {len(NAMES)} axes, {self.n_prompts_possible:,} possible prompts."))
        if self.faults:
            rows = tuple((kind, f"{n['planned']:,}", f"{n['fired']:,}") for kind, n in self.faults.items())
            blocks.append(Table(("fault", "planned", "fired"), rows, "lrr"))
        blocks += [Line(f"{axis}: {_spread(self.axes[axis])}") for axis in NAMES]
        if self.effects:
            said = " | ".join(f"{tool} {effect}" for tool, effect in self.effects.items())
            blocks.append(Line(f"tools taken to: {said}"))
        return [*blocks, *self.notes]

    def _why(self) -> str:
        by_reason = Counter(one.reason for one in self.missing)
        words = dict(_WORDS)
        if self.n_to_cover is not None:
            words[NEEDS_MORE] += f" ({self.n_to_cover:,} plan every pair)"
        said = [f"{by_reason[reason]:,} {words[reason]}" for reason in REASONS if by_reason[reason]]
        return f"Missing: {', '.join(said)}."


_WORDS = {
    NEEDS_MORE: "need more situations",
    NOT_RUN: "were planned but not run",
    UNUSABLE: "had no usable rollout",
    NEVER_REACHED: "hold a fault that no call reached",
    SWITCHED_OFF: "are switched off by the fault rate",
}


def _spread(values: Mapping[str, int], most: int = 8) -> str:
    """Values with their counts on one line, long ones cut."""
    shown = [f"{value if len(value) <= 32 else value[:29] + '...'} {n:,}" for value, n in list(values.items())[:most]]
    rest = len(values) - most
    return " | ".join([*shown, *([f"and {rest} more"] if rest > 0 else [])])


def coverage_of(
    plan: Plan, n: int, rows: Iterable[Mapping[str, Any]], situations: Sequence[Situation] | None = None
) -> Coverage:
    """The coverage of a run.

    Parameters
    ----------
    plan : Plan
    n : int
        Situations of the run.
    rows : iterable of dict
        Its rows; read of them are ``task_id``, ``usable`` and ``ledger``.
    situations : sequence of Situation, optional
        Its situations as they were met, by default the plan's: a model that writes prompts changes their ids.
    """
    axes = plan.axes
    planned: dict[Pair, list[str]] = {}
    by_value = {axis: dict.fromkeys(axes.values[axis], 0) for axis in NAMES}
    kinds = {kind: {"planned": 0, "fired": 0} for kind in axes.values["condition"] if kind != OK}
    ran, usable, fired = _outcomes(rows)
    for situation in plan.take(n) if situations is None else situations:
        for axis, value in situation.axes.items():
            if axis in by_value:
                by_value[axis][value] = by_value[axis].get(value, 0) + 1
        for pair in pairs_of(situation.axes):
            planned.setdefault(pair, []).append(situation.task_id)
        if situation.fault is not None:
            tally = kinds.setdefault(situation.fault.mode, {"planned": 0, "fired": 0})
            tally["planned"] += 1
            tally["fired"] += (situation.task_id, situation.fault.mode) in fired
    missing = []
    for pair in sorted(axes.feasible, key=_order(plan)):
        reason = _reason(pair, planned.get(pair), plan, ran, usable, fired)
        if reason:
            missing.append(Missing(pair, reason))
    n_planned = sum(pair in planned for pair in axes.feasible)
    return Coverage(
        pairs_possible=len(axes.feasible),
        pairs_planned=n_planned,
        pairs_covered=len(axes.feasible) - len(missing),
        infeasible=tuple(Infeasible(pair, reason) for pair, reason in axes.infeasible()),
        missing=tuple(missing),
        n_points=plan.n_points,
        n_prompts_possible=plan.n_prompts_possible,
        n_situations=n,
        n_to_cover=plan.n_to_cover(),
        faults=kinds,
        axes={
            axis: {value: tally for value, tally in by_value[axis].items() if tally or value in axes.values[axis]}
            for axis in NAMES
        },
        effects={
            tool.name: tool.effect + (" (guessed)" if getattr(tool, "guessed", False) else "")
            for tool in plan.catalog.tools
        },
        notes=plan.notes,
    )


def _outcomes(rows: Iterable[Mapping[str, Any]]) -> tuple[set[str], set[str], set[tuple[str, str]]]:
    """Tasks that ran, tasks with a usable rollout, and (task, kind) of the planned faults that happened in one."""
    ran, usable, fired = set(), set(), set()
    for row in rows:
        task = row.get("task_id")
        if not isinstance(task, str):
            continue
        ran.add(task)
        if row.get("usable", True) is False:
            continue
        usable.add(task)
        ledger = row.get("ledger")
        for event in ledger if isinstance(ledger, (list, tuple)) else ():
            if isinstance(event, Mapping) and event.get("injected") is not False and isinstance(event.get("mode"), str):
                fired.add((task, event["mode"]))
    return ran, usable, fired


def _reason(
    pair: Pair, tasks: list[str] | None, plan: Plan, ran: set[str], usable: set[str], fired: set[tuple[str, str]]
) -> str:
    """Why a pair is not covered, empty where it is."""
    condition = pair.value if pair.axis == "condition" else pair.other_value if pair.other_axis == "condition" else None
    if tasks is None:
        return SWITCHED_OFF if not plan.can_plan(pair) else NEEDS_MORE
    if not ran.intersection(tasks):
        return NOT_RUN
    met = usable.intersection(tasks)
    if not met:
        return UNUSABLE
    if condition in (None, OK) or any((task, condition) in fired for task in met):
        return ""
    return NEVER_REACHED


def _order(plan: Plan) -> Any:
    """Pairs in the order of the axes and their values."""
    places = {(axis, value): (i, j) for i, axis in enumerate(NAMES) for j, value in enumerate(plan.axes.values[axis])}
    return lambda pair: (places[pair.axis, pair.value], places[pair.other_axis, pair.other_value])
