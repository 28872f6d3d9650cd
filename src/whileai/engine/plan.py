"""The plan: an endless, prefix-stable stream of situations, each a function of its place, the seed and the options."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any

from whileai import params
from whileai.engine import faults, ids
from whileai.engine.axes import NAMES, NO_TOOL, OK, UNSPECIFIED, Axes, Pair, Point, axes_of
from whileai.engine.briefs import brief_of, focus_of
from whileai.engine.catalog import Catalog
from whileai.engine.cover import Stream
from whileai.engine.faults import Fault
from whileai.engine.matching import axes_of_text
from whileai.engine.records import Records, ids_in
from whileai.engine.references import reference_of
from whileai.engine.seeds import Seed, seeds_of
from whileai.engine.situations import Public, Situation
from whileai.engine.templates import Draft, Templates
from whileai.engine.tools import Tool
from whileai.engine.traces import Traces
from whileai.errors import ParamError
from whileai.result.blocks import Note
from whileai.result.digits import count

CALL = "simulate"
#: How often a prompt that comes too close to a trace is written anew before it is left as it is.
_REWRITES = 40
#: What a person wants whose own words speak of no tool.
_OWN_GOAL = "get an answer to what I wrote"
#: How far the stream is read to find out where every pair is planned.
_FAR = 100_000


class Plan:
    """Situations of a run, made when they are asked for and kept.

    Situation i depends on the tools, the system prompt, the axes, the seed and the options here, never on how many
    are asked for: a longer plan begins with the shorter one. Openings that the caller gives come first, one situation
    each.

    Parameters
    ----------
    tools : iterable of Tool, or Catalog
    system_prompt : str
    seed : int
        The run's seed.
    axes : mapping, optional
        Axes to pin, as `axes_of` takes them.
    fault_rate : float, default 0.5
        Share of situations in which a tool fails.
    fault_kinds : sequence of str
    records : int, default 8
        Records of each kind in a world.
    world_seed : int, optional
        What worlds are drawn from, the run's seed by default.
    seeds : optional
        Prompts, conversations, or rows (or their path) of an earlier run.
    traces : iterable of rows, optional
        Rows that show where an agent fails; they aim the grid and are never copied.
    spoken : bool, default False
        Whether a model writes the prompts.

    Attributes
    ----------
    catalog : Catalog
    axes : Axes
    seeds : list of Seed
    n_replayed : int
        How many of the openings are situations of an earlier run.
    """

    def __init__(
        self,
        tools: Iterable[Tool] | Catalog,
        system_prompt: str = "",
        *,
        seed: int = 0,
        axes: Mapping[str, Any] | None = None,
        fault_rate: float = 0.5,
        fault_kinds: Sequence[str] = faults.KINDS,
        records: int = 8,
        world_seed: int | None = None,
        seeds: Any = None,
        traces: Iterable[Any] | None = None,
        spoken: bool = False,
    ) -> None:
        self.catalog = tools if isinstance(tools, Catalog) else Catalog(tools)
        self.seed = seed
        self.asked_rate = fault_rate
        self.axes: Axes = axes_of(self.catalog, system_prompt, fault_kinds=fault_kinds, pinned=axes, spoken=spoken)
        self.seeds, self._n_bare, self.seed_notes = seeds_of(seeds)
        self.n_replayed = sum(opening.row is not None for opening in self.seeds)
        self._traces = Traces(traces, self.catalog, self.axes) if traces is not None else None
        self._stream = Stream(self.axes, seed, fault_rate, self._traces.marks if self._traces else None)
        self._templates = Templates(self.catalog, self.axes, system_prompt, seed)
        self._n_records = records
        self._world_seed = seed if world_seed is None else world_seed
        self._planned: list[tuple[dict[str, str], Point | None]] = []
        self._complete_at: int | None = None if self._stream.open else 0
        self._made: list[Situation] = []
        self._used: Counter[tuple[str, ...]] = Counter()
        self._prompts: set[str] = set()
        self.n_rewritten = self.n_left_close = 0

    # what is planned, before any text

    @property
    def rate(self) -> float:
        """The share of situations with a fault that the axes leave of the one asked for."""
        return float(self._stream.rate)

    @property
    def n_points(self) -> int:
        """How many combinations of axis values are possible."""
        return self.axes.n_points

    def axes_at(self, index: int) -> dict[str, str]:
        """The axis values of a situation; without its text, so that a long plan is quick to count."""
        self._extend(index + 1)
        return self._planned[index][0]

    def _extend(self, n: int) -> None:
        stream = self._stream
        while len(self._planned) < n:
            index = len(self._planned)
            if index < len(self.seeds):
                named = self._seed_axes(self.seeds[index])
                point = self.axes.point(named)
                stream.pass_over(named)
                self._planned.append((named, point))
            else:
                point = stream.next_point()
                self._planned.append((self.axes.named(point), point))
            if self._complete_at is None and not stream.open:
                self._complete_at = len(self._planned)

    def _seed_axes(self, opening: Seed) -> dict[str, str]:
        """The axis values of an opening: those of its row, else what its words say and what the stream deals out."""
        if opening.row is not None:
            return {str(name): str(value) for name, value in opening.row["axes"].items()}
        found = axes_of_text(opening.prompt, self.catalog, self.axes)
        condition = self.axes.values["condition"][self._stream.next_condition()]
        found["state"] = "present"
        found["condition"] = condition if found["tool"] != NO_TOOL else OK
        return {name: found[name] for name in NAMES}

    def n_to_cover(self, far: int = _FAR) -> int | None:
        """The number of situations in which every possible pair is planned, ``None`` where that is more than `far`.

        Pairs that the fault rate rules out (0: all faults, 1: all without) are not counted.
        """
        while self._complete_at is None and len(self._planned) < far:
            self._extend(min(far, len(self._planned) + 64))
        return self._complete_at if self._complete_at is not None and self._complete_at <= far else None

    def can_plan(self, pair: Pair) -> bool:
        """Whether a pair is ever met at this fault rate."""
        return self._stream.can_meet(pair)

    # how much there is

    @cached_property
    def n_prompts_possible(self) -> int:
        """How many different prompts the templates make, ids and other values of records not counted."""
        total = 0
        condition = NAMES.index("condition")
        for per_axis in self.axes.allowed:
            if not all(per_axis):
                continue
            named = {name: [self.axes.values[name][v] for v in vs] for name, vs in zip(NAMES, per_axis, strict=True)}
            base = {name: values[0] for name, values in named.items()}
            one = self._templates.count(base)
            sums = Fraction(one)
            for place, (name, values) in enumerate(named.items()):
                if place != condition and name != "tool":
                    sums *= sum(Fraction(self._templates.count({**base, name: value}), one) for value in values)
            total += int(sums)
        return total

    @cached_property
    def most(self) -> int:
        """How many situations there can be at least, with no prompt written twice."""
        share: dict[int, Fraction] = {}
        for place in self._stream.live:
            ok = self.axes.values["condition"][place] == OK
            rate = self._stream.rate
            share[place] = 1 - rate if ok else rate / max(1, len(self._stream.kinds))
        load = sum(part / n for place, part in share.items() if (n := self._n_families(place)))
        fewest = min(self._templates.count(self.axes.named(point)) for point in self._corners())
        return len(self.seeds) + max(1, int(fewest / load) - len(share))

    def _n_families(self, condition: int) -> int:
        place = NAMES.index("condition")
        return sum(
            prod(len(values) for axis, values in enumerate(per_axis) if axis != place)
            for per_axis in self.axes.allowed
            if condition in per_axis[place]
        )

    def _corners(self) -> Iterator[Point]:
        """Points that hold every value of every axis once at least."""
        for per_axis in self.axes.allowed:
            for k in range(max(map(len, per_axis), default=0) if all(per_axis) else 0):
                yield tuple(values[k % len(values)] for values in per_axis)

    def check(self, n: int, where: str = "situations") -> int:
        """`n` if the plan has that many situations and room for every opening.

        Raises
        ------
        ParamError
        """
        n = params.whole(CALL, where, n)
        if n < len(self.seeds):
            fix = f"There are {len(self.seeds)} seeds, and each is a situation."
            raise ParamError.of(CALL, where, f"at least {len(self.seeds)}", n, fix)
        if n > self.most:
            fix = "More tools, rules or axis values make more."
            raise ParamError.of(CALL, where, f"at most {self.most:,}, as there are no more prompts than that", n, fix)
        return n

    # the situations

    def situation(self, index: int) -> Situation:
        """The situation at a place."""
        if index < 0:
            raise ParamError.of(CALL, "situation", "a place from 0", index)
        while len(self._made) <= index:
            self._extend(len(self._made) + 1)
            self._made.append(self._make(len(self._made)))
        return self._made[index]

    def take(self, n: int) -> list[Situation]:
        """The first `n` situations."""
        if n > 0:
            self.situation(n - 1)
        return self._made[:n]

    def __iter__(self) -> Iterator[Situation]:
        index = 0
        while True:
            yield self.situation(index)
            index += 1

    def _make(self, index: int) -> Situation:
        axes = self._planned[index][0]
        if index < len(self.seeds):
            opening = self.seeds[index]
            return self._replayed(index, opening) if opening.row is not None else self._seeded(index, opening, axes)
        family = self._templates.family(axes)
        for rewrites in range(_REWRITES + 1):
            phrasing = self._used[family]
            self._used[family] += 1
            world_seed = ids.world_seed(self._world_seed, index, phrasing)
            records = self._records(world_seed, axes)
            draft = self._templates.write(axes, phrasing, records)
            close = self.is_close_to_trace(draft.prompt)
            if (not close and draft.prompt not in self._prompts) or rewrites == _REWRITES:
                self.n_rewritten += bool(rewrites) and not close
                self.n_left_close += close
                break
        self._prompts.add(draft.prompt)
        return self._finished(index, axes, Public(draft.prompt), records, draft, phrasing=phrasing)

    def is_close_to_trace(self, prompt: str) -> bool:
        """Whether a prompt is almost that of a trace."""
        return self._traces is not None and self._traces.is_close(prompt)

    def _records(self, world_seed: int, axes: Mapping[str, str], named: Sequence[str] = ()) -> Records:
        return Records(
            world_seed,
            self.catalog,
            axes["state"],
            n=self._n_records,
            focus=focus_of(self.catalog, axes, world_seed),
            named=named,
        )

    def _seeded(self, index: int, opening: Seed, axes: dict[str, str]) -> Situation:
        world_seed = ids.world_seed(self._world_seed, index)
        said = " ".join(str(turn.get("content")) for turn in opening.messages)
        records = self._records(world_seed, axes, ids_in(said))
        self._prompts.add(opening.prompt)
        public = Public(opening.prompt, opening.messages)
        return self._finished(index, axes, public, records, self._opened(opening, axes, records, "seed"), writer="seed")

    def _opened(self, opening: Seed, axes: Mapping[str, str], records: Records, writer: str) -> Draft:
        """An opening as a draft; what the caller's own words ask for is known by the tools they speak of alone."""
        own = writer == "seed" and not records.focus
        return Draft(opening.prompt, _OWN_GOAL if own else self._templates.goal(axes, records))

    def _replayed(self, index: int, opening: Seed) -> Situation:
        """A situation of an earlier run as it was: its id, prompt, axes, fault and world."""
        row = opening.row or {}
        axes = {str(name): str(value) for name, value in row["axes"].items()}
        state = row.get("world_state")
        state = state if isinstance(state, str) and state else axes.get("state", "present")
        known = {"stance": "plain", "history": "first_contact", "rule": UNSPECIFIED, "tool": UNSPECIFIED, **axes}
        known["state"] = state
        records = self._records(row["seed"], known, ids_in(opening.prompt))
        self._prompts.add(opening.prompt)
        fault = faults.fault_of(row.get("faults") or {})
        public = Public(opening.prompt, opening.messages)
        writer = str(row.get("writer_model") or "replay")
        draft = self._opened(opening, known, records, writer)
        made = self._finished(index, known, public, records, draft, writer="replay", fault=fault)
        privileged = row.get("privileged")
        reference = privileged.get("reference") if isinstance(privileged, Mapping) else None
        return dataclasses.replace(
            made,
            task_id=row["task_id"],
            axes=axes,
            lineage=dict(row.get("lineage") or {}),
            reference=reference if isinstance(reference, str) else made.reference,
            writer=writer,
            seed_row=row,
        )

    def _finished(
        self,
        index: int,
        axes: Mapping[str, str],
        public: Public,
        records: Records,
        draft: Draft,
        *,
        writer: str = "template",
        phrasing: int = 0,
        fault: Fault | None = None,
    ) -> Situation:
        fault = fault if writer == "replay" else self._fault(axes, records)
        rule = axes["rule"] if axes["rule"] != UNSPECIFIED else None
        lineage: dict[str, Any] = {"transform": "simulate", "seed": self.seed, "situation": index}
        if len(public.messages) > 1:
            lineage["opening"] = len(public.messages)
        plan = faults.plan_of(fault)
        return Situation(
            index=index,
            task_id=ids.task_id(axes, _plain(public.asked()), plan, records.world_seed),
            public=public,
            axes=dict(axes),
            fault=fault,
            world_seed=records.world_seed,
            state=axes["state"],
            brief=brief_of(axes, records, draft),
            reference=reference_of(axes, records, fault, draft.goal, rule),
            writer=writer,
            phrasing=phrasing,
            lineage=lineage,
            focus=records.focus,
            named=records.named,
            rule=rule,
        )

    def _fault(self, axes: Mapping[str, str], records: Records) -> Fault | None:
        if axes["condition"] == OK:
            return None
        # where two tools are needed, whichever is called first fails: an agent that gets no further has met it too
        return Fault(records.focus[0] if len(records.focus) == 1 else faults.ANY_TOOL, axes["condition"])

    def rewritten(self, situation: Situation, prompt: str, writer: str) -> Situation:
        """A situation with another prompt, as a model wrote it; all else as it was, its id made anew."""
        public = Public(prompt)
        records = situation.records(self.catalog, self._n_records)
        draft = Draft(prompt, situation.brief.goal, wrong=situation.brief.wrong)
        return dataclasses.replace(
            situation,
            public=public,
            task_id=ids.task_id(situation.axes, prompt, situation.faults, situation.world_seed),
            brief=brief_of(situation.axes, records, draft),
            writer=writer,
        )

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a reader of the plan should know; the counts are of the situations made so far."""
        found = []
        if self.rate != self.asked_rate:
            why = "no tool can fail in it" if self.rate == 0 else "nothing else is on the axis condition"
            found.append(Note("fault_rate_not_kept", f"The share of faults is {self.rate:g}, as {why}."))
        if self._n_bare:
            rows = count(self._n_bare, "seed")
            text = f"Of {rows} given as rows without the world of an earlier run, only the prompts are used."
            found.append(Note("seeds_without_world", text))
        if self._traces is not None and (self.n_rewritten or self.n_left_close):
            left = f"{self.n_left_close:,} left as they are"
            text = f"Prompts close to a trace: {self.n_rewritten:,} written anew, {left}."
            found.append(Note("close_to_traces", text))
        made = [point for _, point in self._planned[len(self.seeds) : len(self._made)]]
        again = len(made) - len(set(made))
        if again:
            text = (
                f"{again:,} situations are further phrasings of points used before; there are {self.n_points:,} points."
            )
            found.append(Note("points_used_again", text))
        return tuple(found)


def _plain(asked: Any) -> Any:
    """A prompt or a conversation as JSON holds it."""
    return asked if isinstance(asked, str) else json.loads(json.dumps(asked, default=str))
