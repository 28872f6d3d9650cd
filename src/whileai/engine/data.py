"""`SimulationData`: the rows of a run, and what is known of how they were made."""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from whileai import keys, params
from whileai.engine import statuses
from whileai.engine.allocate import Status, groups_of
from whileai.engine.coverage import Coverage
from whileai.engine.reply import Usage
from whileai.engine.tools import Tool
from whileai.errors import ParamError
from whileai.export.files import write_lines
from whileai.measure.pass_at import PassAt
from whileai.result import html, text
from whileai.result.base import Result
from whileai.result.blocks import Block, Headline, Line, Note
from whileai.result.digits import count
from whileai.selection.pairs import Pairs
from whileai.selection.select import Selection

CALL = "SimulationData"
#: Rewards below this count as failures.
_HALF = 0.5
_STOPS = {
    "done": "done",
    "budget": "the budget is used up",
    "interrupted": "interrupted",
    "agent_failed": "stopped, as the agent could not be run",
}


@dataclass(frozen=True, repr=False)
class Saved(Result):
    """What `SimulationData.save` wrote.

    Attributes
    ----------
    path : str
    n_rows : int
    privileged : bool
        Whether the ``privileged`` block of each row was written too.
    notes : tuple of Note
    """

    path: str
    n_rows: int
    privileged: bool
    notes: tuple[Note, ...] = ()

    def _blocks(self) -> list[Block]:
        return [Headline(f"wrote {count(self.n_rows, 'row')} to {self.path}"), *self.notes]


@dataclass(frozen=True)
class Made:
    """How the rows of a run were made.

    Attributes
    ----------
    mode, policy : str
    seed, probe, repeats, n_situations, n_planned : int
    agent : str
    system_prompt : str
    tools : tuple of Tool
    stopped_because : str
    output : str or None
    cover : callable
        Makes the coverage, as that takes a moment for a long plan.
    usage : dict of str to Usage
    warnings : tuple of Note
    """

    mode: str
    policy: str
    seed: int
    probe: int
    repeats: int
    n_situations: int
    n_planned: int
    agent: str
    system_prompt: str
    tools: tuple[Tool, ...]
    stopped_because: str
    output: str | None
    cover: Callable[[], Coverage] = field(repr=False)
    usage: Mapping[str, Usage] = field(default_factory=dict)
    warnings: tuple[Note, ...] = ()


class SimulationData(list[dict[str, Any]]):
    """The rows of a simulation: a list that goes into every other call.

    In the order of the plan, then of the rollouts of a situation. Unusable rows are among them, without a reward.

    Attributes
    ----------
    rows : list of dict
        The rows alone.
    coverage : Coverage
        What of the plan was met.
    warnings : tuple of Note
        What a reader should know: code, text, fix.
    stopped_because : str
        ``done``, ``budget``, ``interrupted`` or ``agent_failed``.
    usage : dict of str to Usage
        What ``agent``, ``person``, ``writer`` and ``judge`` cost.
    groups : dict of str to str
        Task -> ``full``, ``stopped_unanimous`` (the adaptive policy left it at its first rollouts, which agree) or
        ``cut`` (the budget or an interrupt came first).
    pass_at : PassAt
        How often the agent passes; another k by ``wai.pass_at(data, k=)``.
    system_prompt : str
    tools : tuple of Tool
    mode, agent : str
    """

    def __init__(self, rows: Iterable[dict[str, Any]], made: Made) -> None:
        super().__init__(rows)
        self.made = made

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows as a plain list."""
        return list(self)

    @property
    def mode(self) -> str:
        """``explore``, ``sft`` or ``rl``."""
        return self.made.mode

    @property
    def agent(self) -> str:
        """The agent's name."""
        return self.made.agent

    @property
    def system_prompt(self) -> str:
        """What the agent was told; it is on no row."""
        return self.made.system_prompt

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools it had."""
        return self.made.tools

    @property
    def stopped_because(self) -> str:
        """Why the run ended."""
        return self.made.stopped_because

    @property
    def usage(self) -> dict[str, Usage]:
        """What each role cost."""
        return dict(self.made.usage)

    @property
    def warnings(self) -> tuple[Note, ...]:
        """What a reader should know of how the rows were made."""
        return self.made.warnings

    @cached_property
    def coverage(self) -> Coverage:
        """What of the plan was met."""
        return self.made.cover()

    @property
    def groups(self) -> dict[str, Status]:
        """Task -> how far its group of rollouts came."""
        return groups_of(self, self.made.probe)

    @property
    def pass_at(self) -> PassAt:
        """How often the agent passes."""
        from whileai.measure.pass_at import pass_at

        return pass_at(self)

    def unusable(self) -> list[dict[str, Any]]:
        """The rows that say nothing of how well the agent does; ``unusable_reason`` and ``error`` say why."""
        return [row for row in self if row.get("usable") is False]

    def failures(self) -> list[dict[str, Any]]:
        """The rows with a reward below one half."""
        return [row for row in self if not keys.is_missing(row.get("reward")) and row["reward"] < _HALF]

    def grade(
        self,
        judge: Any,
        *,
        unusable: str = "skip",
        timeout: float = 30.0,
        workers: int | None = None,
        resume: str | os.PathLike[str] | None = None,
    ) -> SimulationData:
        """The same run with a judge's verdict on each usable row, as `wai.grade` gives it.

        Parameters
        ----------
        judge, timeout, workers, resume
            As of `wai.grade`.
        unusable : {"skip", "fail"}
            ``"fail"`` gives the rows that the agent itself spoilt (it raised, hung, said nothing or what is no reply)
            the reward 0, with ``label_source="engine"``. What a service spoilt is never a 0.

        Returns
        -------
        SimulationData
            New; this one stays as it is.
        """
        from whileai.scoring.grade import grade

        params.one_of(CALL, "unusable", unusable, ("skip", "fail"))
        usable = [row for row in self if row.get("usable", True)]
        graded = iter(grade(usable, judge, timeout=timeout, workers=workers, resume=resume))
        rows = [next(graded) if row.get("usable", True) else _unusable(row, unusable) for row in self]
        made = SimulationData(rows, self.made)
        if "coverage" in self.__dict__:
            made.__dict__["coverage"] = self.coverage
        return made

    def select(self, mode: str | None = None, **options: Any) -> Selection:
        """The rows worth training on, as `wai.select`; `mode` by default that of the run.

        Raises
        ------
        ParamError
            Without a mode where the run was made to explore.
        """
        from whileai.selection.select import select

        if mode is None and self.mode not in ("rl", "sft"):
            raise ParamError.of("select", "mode", "one of 'rl', 'sft'", mode, "This run was made to explore.")
        return select(self, mode=mode or self.mode, **options)

    def pairs(self, **options: Any) -> Pairs:
        """A better and a worse completion of one prompt, as `wai.preference_pairs`."""
        from whileai.selection.pairs import preference_pairs

        return preference_pairs(self, **options)

    def save(self, path: str | os.PathLike[str], privileged: bool = False) -> Saved:
        """Write the rows to a file of JSON lines, whole or not at all.

        Parameters
        ----------
        path : path
            Ending in ``.jsonl``, ``.jsonl.gz`` or ``.jsonl.zst``.
        privileged : bool
            Whether the ``privileged`` block of each row is written: reference, hidden state. Nothing else is touched,
            whatever it is called.

        Returns
        -------
        Saved
        """
        from whileai.export.files import checked_path, kind_of

        if not isinstance(privileged, bool):
            raise ParamError.of("save", "privileged", "True or False", privileged)
        file = checked_path("save", path)
        if kind_of(file) not in ("lines", "packed"):
            raise ParamError.of("save", "path", "a file ending in .jsonl, .jsonl.gz or .jsonl.zst", str(path))
        kept = list(self) if privileged else [{k: v for k, v in row.items() if k != "privileged"} for row in self]
        write_lines(file, kept)
        held = sum("privileged" in row for row in self)
        notes = []
        if held and not privileged:
            text = f"the privileged block of {count(held, 'row')} was left out."
            notes.append(Note("privileged_dropped", text, "privileged=True writes it, for judges to read."))
        return Saved(str(path), len(self), privileged, tuple(notes))

    def __reduce__(self) -> tuple[Any, ...]:
        """In another process it has its rows, its coverage, and of the tools what they take, not their bodies."""
        tools = tuple(dataclasses.replace(tool, fn=None, _signature=None) for tool in self.tools)
        made = dataclasses.replace(self.made, cover=_Kept(self.coverage), tools=tools)
        return SimulationData, (list(self), made)

    # printed

    @property
    def summary(self) -> str:
        """The first printed line, complete alone."""
        groups = len({row["task_id"] for row in self})
        rows = count(len(self), "row")
        return (
            f"{rows} in {count(groups, 'situation')} ({self.mode}, agent {self.agent}): {_STOPS[self.stopped_because]}"
        )

    def _blocks(self) -> list[Block]:
        blocks: list[Block] = [Headline(self.summary)]
        blocks += [Line(line) for line in self._lines()]
        return [*blocks, *self.warnings]

    def _lines(self) -> list[str]:
        lines = []
        bad = Counter(str(row.get("unusable_reason")) for row in self.unusable())
        ends = Counter(str(row.get("stop_reason")) for row in self if row.get("usable", True))
        if ends:
            lines.append("ended as: " + " | ".join(f"{name} {n:,}" for name, n in ends.most_common()))
        if bad:
            lines.append("unusable: " + " | ".join(f"{name} {n:,}" for name, n in bad.most_common()))
        fired = Counter(
            str(event.get("mode")) for row in self for event in row.get("ledger", ()) if event.get("injected")
        )
        if fired:
            lines.append("faults met: " + " | ".join(f"{name} {n:,}" for name, n in sorted(fired.items())))
        judged = [row["reward"] for row in self if not keys.is_missing(row.get("reward"))]
        if judged:
            mean = f"{sum(reward == 1 for reward in judged):,} pass, {len(self.failures()):,} fail"
            lines.append(f"judged: {len(judged):,} of {len(self):,} | {mean}")
        groups = Counter(self.groups.values())
        if set(groups) - {"full"}:
            lines.append("groups: " + " | ".join(f"{name} {n:,}" for name, n in groups.items()))
        lines.append(self.coverage.summary)
        lines += [f"{role}: {_spent(used)}" for role, used in self.made.usage.items() if used.requests]
        return lines

    def __str__(self) -> str:
        """The readable block."""
        return text.render(self._blocks())

    def __repr__(self) -> str:
        return f"<SimulationData {text.ascii_of(self.summary)}>"

    def _repr_html_(self) -> str:
        return html.render(self._blocks())


@dataclass(frozen=True)
class _Kept:
    """A coverage that has been made."""

    coverage: Coverage

    def __call__(self) -> Coverage:
        return self.coverage


def _unusable(row: Mapping[str, Any], how: str) -> dict[str, Any]:
    """An unusable row as grading leaves it."""
    if how == "fail" and row.get("unusable_reason") in statuses.AGENTS:
        return {**row, "reward": 0, "label_source": "engine"}
    return dict(row)


def _spent(usage: Usage) -> str:
    parts = [count(usage.requests, "request")]
    if usage.retries:
        parts.append(count(usage.retries, "retry", "retries"))
    if usage.input_tokens is not None and usage.output_tokens is not None:
        parts.append(f"{usage.input_tokens:,} tokens in, {usage.output_tokens:,} out")
    parts.append("cost not measured" if usage.cost is None else f"cost {usage.cost:,.4f}")
    return ", ".join(parts)
