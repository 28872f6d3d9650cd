"""The world of one rollout: it answers tool calls, refuses them, remembers them, and sometimes breaks."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

from whileai import params
from whileai.engine import faults, statuses
from whileai.engine.background import Job, LoopReplaced, Outcome, background
from whileai.engine.catalog import Catalog
from whileai.engine.desk import Desk
from whileai.engine.ids import rng
from whileai.engine.options import WorldOptions
from whileai.engine.placeholders import placeholder_in
from whileai.engine.records import Records
from whileai.engine.situations import Situation
from whileai.engine.statuses import refusal
from whileai.engine.tools import Tool, as_json, is_async
from whileai.simulations._wire import copied


class RolloutOver(BaseException):
    """The rollout has ended; the agent's code must too. No `Exception`, so that ``except Exception`` lets it pass."""


class WorldFailed(Exception):
    """The simulation itself failed, such as a fault kind of the caller's own that raised."""


@dataclass(frozen=True, slots=True)
class ExecuteContext:
    """What an ``execute=`` function of three arguments is told beside the call.

    Attributes
    ----------
    task_id : str
    rollout_index : int
    prompt : str
        What the person said first.
    tools : mapping of str to Tool
        The tools of the run by name.
    """

    task_id: str
    rollout_index: int
    prompt: str
    tools: Mapping[str, Tool] = field(repr=False)


@dataclass(slots=True)
class _Call:
    """One call on its way."""

    index: int
    tool: Tool
    raw: Any
    arguments: dict[str, Any] = field(default_factory=dict)
    fault: faults.Fault | None = None
    answer: Any = None
    waits: bool = False


class World:
    """The world of one rollout.

    Parameters
    ----------
    situation : Situation
        What is the case and what is planned to break.
    tools : sequence of Tool or Catalog
        A catalog made once serves all rollouts of a run.
    options : WorldOptions
    rollout_index : int
        For ``execute=`` functions.
    records : Records, optional
        Those of the situation, where they have been made before.

    Attributes
    ----------
    ledger : list of dict
        The failures that happened, in order: ``tool, mode, rate, injected, call``. ``injected`` is ``False`` for those
        nobody planned, such as an ``execute=`` that raised.
    n_calls : int
        Calls so far.
    """

    def __init__(
        self,
        situation: Situation,
        tools: Catalog | Iterable[Tool],
        options: WorldOptions | None = None,
        *,
        rollout_index: int = 0,
        records: Records | None = None,
    ) -> None:
        self.situation = situation
        self.options = options if options is not None else WorldOptions()
        self._catalog = tools if isinstance(tools, Catalog) else Catalog(tools)
        self.tools: dict[str, Any] = {tool.name: tool for tool in self._catalog.tools}
        self.rollout_index = rollout_index
        self.ledger: list[dict[str, Any]] = []
        self.n_calls = 0
        self._given = records
        self._struck = 0
        self._unseen: list[dict[str, Any]] = []
        self._jobs: set[Job] = set()
        self._over = False
        self._lock = threading.RLock()

    async def call(self, tool: Any, arguments: Any) -> Any:
        """The answer to a call, for a coroutine.

        Parameters
        ----------
        tool : str or Tool
        arguments : dict
            As the agent gave them; anything else is refused as ``invalid_arguments``.

        Returns
        -------
        object
            JSON: a dict with a ``status``, or what an ``execute=`` function returned.
        """
        call = self._begin(tool, arguments)
        if not call.waits:
            return copied(call.answer)
        try:
            outcome = await self._started(self._way(), lambda: self._execute(call)).wait()
        except LoopReplaced:  # by a blocking agent, no fault of this call
            outcome = await self._started(background().alone, lambda: self._execute(call)).wait()
        if inspect.isawaitable(outcome.value):
            made = outcome.value
            outcome = await self._started(background().loop_job, lambda: made).wait()
        return self._finish(call, outcome)

    def call_now(self, tool: Any, arguments: Any) -> Any:
        """The answer to a call, for a plain function on a thread of its own."""
        call = self._begin(tool, arguments)
        if not call.waits:
            return copied(call.answer)
        if is_async(self.options.execute):
            try:
                outcome = self._started(background().loop_job, lambda: self._execute(call)).future.result()
            except LoopReplaced:
                outcome = self._started(background().alone, lambda: self._execute(call)).future.result()
            return self._finish(call, outcome)
        try:  # here and now: if it hangs, it is the rollout's own thread that does
            outcome = Outcome(self._execute(call))
        except BaseException as error:  # noqa: BLE001 - what execute raises is an answer
            outcome = Outcome(error=error)
        if inspect.isawaitable(outcome.value):
            made = outcome.value
            outcome = self._started(background().loop_job, lambda: made).future.result()
        return self._finish(call, outcome)

    def _way(self) -> Callable[[Callable[[], Any]], Job]:
        """Where the ``execute=`` function runs."""
        return background().loop_job if is_async(self.options.execute) else background().thread_job

    def _started(self, start: Callable[[Callable[[], Any]], Job], make: Callable[[], Any]) -> Job:
        """A job that ends with the rollout."""
        job = start(make)
        self._jobs.add(job)
        job.future.add_done_callback(lambda _: self._jobs.discard(job))
        return job

    def close(self) -> list[Job]:
        """End it: whoever calls a tool from now on, or waits for one, is told that the rollout is over.

        Returns
        -------
        list of Job
            The calls of ``execute=`` that had not answered.
        """
        self._over = True
        left = list(self._jobs)
        for job in left:
            job.give_up()
            job.tell(Outcome(error=RolloutOver("the rollout is over")))
        return left

    def _begin(self, tool: Any, arguments: Any) -> _Call:
        """All of a call that needs no waiting."""
        with self._lock:
            if self._over:
                raise RolloutOver("the rollout is over")
            name = tool.name if isinstance(tool, Tool) else tool
            index, self.n_calls = self.n_calls, self.n_calls + 1
            known = self.tools.get(name) if isinstance(name, str) else None
            if known is None:
                told = f"there is no tool {name}"
                answer = refusal(statuses.UNKNOWN_TOOL, told, params.near_miss(name, self.tools))
                return _Call(index, Tool(str(name) or "?"), arguments, answer=answer)
            call = _Call(index, known, arguments, fault=self._strike(known, index))
            if call.fault is not None and call.fault.mode in faults.CUT:
                self._cut(call)
            else:
                self._answer(call)
            return call

    def _strike(self, tool: Tool, index: int) -> faults.Fault | None:
        """The fault that strikes this call, written down."""
        fault = self.situation.fault
        if fault is None or fault.tool not in (tool.name, faults.ANY_TOOL):
            return None
        place, self._struck = self._struck, self._struck + 1
        if not fault.strikes(tool.name, place, self.options.fault_span):
            return None
        if fault.rate < 1 and rng(self.situation.world_seed, "fault", index).random() >= fault.rate:
            return None
        self._note(tool.name, fault.mode, index, injected=True, rate=fault.rate)
        return fault

    def _note(self, tool: str, mode: str, index: int, *, injected: bool, rate: float | None = None) -> None:
        event = {"tool": tool, "mode": mode, "rate": rate, "injected": injected, "call": index}
        self.ledger.append({name: value for name, value in event.items() if value is not None})

    def _cut(self, call: _Call) -> None:
        """A call that gets no payload; behind a timeout, a write may have happened all the same."""
        assert call.fault is not None
        if call.fault.mode == faults.TIMEOUT and call.tool.effect != "read":
            written = rng(self.situation.world_seed, "timeout", call.index).random() < 0.5
            self._unseen.append({"call": call.index, "tool": call.tool.name, "written": written})
            if written:
                self._answer(call)
        if not call.waits:
            call.answer = _CUT_ANSWERS[call.fault.mode](call.tool.name)

    def _answer(self, call: _Call) -> None:
        """The true answer, before any fault bends it; an ``execute=`` function is still to be asked for its own."""
        call.arguments, problem = call.tool.check(call.raw)
        if problem:
            hint = "Read the tool's parameters."
            call.answer = refusal(statuses.INVALID_ARGUMENTS, problem, hint)
        elif self.options.execute is not None:
            call.waits = True
            return
        else:
            call.answer = self._from_records(call)
        if call.fault is not None and call.fault.mode not in faults.CUT:
            call.answer = self._bent(call, call.answer)

    def _from_records(self, call: _Call) -> dict[str, Any]:
        found = placeholder_in(call.tool, call.arguments, self._is_known)
        if found is None:
            return self._desk.answer(call.tool.name, call.arguments)
        path, text = found
        told = f"{path} must be a value and not a placeholder; got {text!r}"
        return refusal(statuses.PLACEHOLDER, told, "Ask the person, or look it up.")

    def _execute(self, call: _Call) -> Any:
        execute: Any = self.options.execute
        arguments = copied(call.arguments)
        if not self._takes_context:
            return execute(call.tool.name, arguments)
        context = ExecuteContext(
            self.situation.task_id,
            self.rollout_index,
            self.situation.public.prompt,
            MappingProxyType(self.tools),
        )
        return execute(call.tool.name, arguments, context)

    @cached_property
    def _takes_context(self) -> bool:
        return takes(self.options.execute, 3)

    def _finish(self, call: _Call, outcome: Outcome) -> Any:
        """The answer of an ``execute=`` function as the agent gets it."""
        if isinstance(outcome.error, RolloutOver) or self._over:
            raise RolloutOver("the rollout is over")
        answer: Any
        error = outcome.error
        try:
            answer = as_json(outcome.value)
        except TypeError as raised:
            error = raised
        with self._lock:
            if error is not None:
                answer = statuses.Failure(statuses.ERROR, f"{type(error).__name__}: {error}")
            if isinstance(outcome.value, statuses.Failure) or error is not None:
                self._note(call.tool.name, statuses.ERROR, call.index, injected=False)
                answer = dict(answer)
            if call.fault is None:
                return answer
            if call.fault.mode in faults.CUT:
                return _CUT_ANSWERS[call.fault.mode](call.tool.name)
            return self._bent(call, answer)

    def _bent(self, call: _Call, payload: Any) -> Any:
        """A payload as the fault leaves it."""
        assert call.fault is not None
        mode = call.fault.mode
        draws = rng(self.situation.world_seed, "fault", mode, call.index)
        if mode == faults.MALFORMED:
            return faults.malformed(payload, draws)
        if mode == faults.STALE:
            return self._stale(call, payload)
        bend = self.options.bends.get(mode)
        if bend is None:
            raise WorldFailed(f"no function for the fault kind {mode!r}")
        try:
            return as_json(bend(copied(payload), draws))
        except Exception as error:
            raise WorldFailed(f"the fault kind {mode!r} raised {type(error).__name__}: {error}") from error

    def _stale(self, call: _Call, payload: Any) -> Any:
        """The payload with each record as it was before its last change; of code of the caller's, marked as old."""
        if self.options.execute is not None:
            return {**(payload if isinstance(payload, dict) else {"result": payload}), "as_of": _OLD}
        if not isinstance(payload, dict) or payload.get("status") != statuses.OK:
            return {**payload, "as_of": _OLD} if isinstance(payload, dict) else payload
        kind = self._catalog.use(call.tool.name).entity
        id_field = self._catalog.entity(kind).id_field

        def old(record: Any) -> Any:
            if not isinstance(record, Mapping) or id_field not in record:
                return record
            return self._desk.before(kind, record[id_field]) or record

        aged = {
            name: [old(item) for item in value] if isinstance(value, list) else old(value)
            for name, value in payload.items()
        }
        return {**aged, "as_of": _OLD}

    @cached_property
    def _records(self) -> Records:
        given = self._given
        return given if given is not None else self.situation.records(self._catalog, self.options.records)

    @cached_property
    def _desk(self) -> Desk:
        return Desk(self._records, self._was_said)

    @cached_property
    def _said(self) -> str:
        return "\n".join(str(turn.get("content")) for turn in self.situation.public.messages).lower()

    def _was_said(self, text: str) -> bool:
        """Whether the person said a text, in lower case, as words of its own."""
        place = self._said.find(text)
        while place >= 0:
            around = self._said[max(0, place - 1) : place], self._said[place + len(text) : place + len(text) + 1]
            if not any(char.isalnum() or char == "_" for char in around if char):
                return True
            place = self._said.find(text, place + 1)
        return False

    def _is_known(self, text: str) -> bool:
        """Whether a text was said, or is a value of the records or one that the person would give."""
        return self._was_said(text) or text in self._held

    @cached_property
    def _held(self) -> frozenset[str]:
        tables = self._records.tables.values()
        held = [value for table in tables for record in table.values() for value in record.values()]
        return frozenset(str(value).lower() for value in (*held, *self._records.facts.values()))

    @property
    def hidden_state(self) -> dict[str, Any]:
        """What is true and the agent cannot see: the condition, the records, and what the rollout changed in them.

        ``changed`` has kind -> id -> record as it is now (``None``: deleted); ``unseen`` says of each write behind a
        timeout whether it happened. Where an ``execute=`` function answers, there are no records. The records are those
        of all rollouts of the task: whoever writes to them writes to a copy.
        """
        fault = self.situation.fault
        state: dict[str, Any] = {"condition": fault.mode if fault is not None else statuses.OK}
        if self.options.execute is None:
            state["records"] = self._records.tables
            changed = self._desk.changed
            if changed:
                state["changed"] = copied(changed)
        if self._unseen:
            state["unseen"] = copied(self._unseen)
        return state


#: The day of an answer that is out of date.
_OLD = "2023-11-01T08:00:00Z"


def _timed_out(tool: str) -> dict[str, Any]:
    return refusal(statuses.TIMEOUT, f"{tool} did not answer in time", "Whether it did anything is not known.")


def _denied(tool: str) -> dict[str, Any]:
    return refusal(statuses.PERMISSION_DENIED, f"no permission to use {tool}", "Nothing was done.")


_CUT_ANSWERS: dict[str, Callable[[str], dict[str, Any]]] = {
    faults.TIMEOUT: _timed_out,
    faults.PERMISSION_DENIED: _denied,
}


def takes(fn: Any, count: int) -> bool:
    """Whether a function takes `count` positional arguments; one whose signature cannot be read takes one fewer."""
    try:
        inspect.signature(fn).bind(*range(count))
    except (TypeError, ValueError):
        return False
    return True


class Worlds:
    """The worlds of a run: tools read once, and records made once for the rollouts of a situation.

    Parameters
    ----------
    tools : sequence of Tool or Catalog
    options : WorldOptions
    kept : int
        Situations whose records are kept.
    """

    def __init__(self, tools: Catalog | Iterable[Tool], options: WorldOptions | None = None, kept: int = 64) -> None:
        self.catalog = tools if isinstance(tools, Catalog) else Catalog(tools)
        self.options = options if options is not None else WorldOptions()
        self._kept = kept
        self._records: dict[str, Records] = {}

    def of(self, situation: Situation, rollout_index: int = 0) -> World:
        """A new world for one rollout of a situation."""
        records = self._records.get(situation.task_id)
        if records is None:
            records = situation.records(self.catalog, self.options.records)
            while len(self._records) >= self._kept:
                del self._records[next(iter(self._records))]
            self._records[situation.task_id] = records
        return World(situation, self.catalog, self.options, rollout_index=rollout_index, records=records)
