"""One rollout: the person and the agent take turns, the world answers in between, and the clock holds."""

from __future__ import annotations

import asyncio
import datetime as dt
import math
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from whileai import keys
from whileai.engine import hearing, statuses
from whileai.engine.agents import Agent, AgentContext
from whileai.engine.background import Job, LoopReplaced
from whileai.engine.endpoint_error import EndpointError
from whileai.engine.ids import agent_seed, canonical
from whileai.engine.options import Options
from whileai.engine.person import Person, UserFailed
from whileai.engine.played import Played, Totals, all_or_none, told
from whileai.engine.replies import BadReply, EmptyReply, Spoken, read_spoken
from whileai.engine.reply import Reply, Usage
from whileai.engine.situations import Situation
from whileai.engine.tape import Tape
from whileai.engine.tools import as_json
from whileai.engine.world import RolloutOver, World, WorldFailed

#: Seconds a coroutine gets to end once it is cancelled, before it counts as left to itself.
_GRACE = 0.2
#: Seconds before the end of a rollout at which a request is given up, so that its own failure is what is told and what
#: it cost is counted: at least, as a share of the rollout's clock, at most.
_MARGIN = (0.05, 0.1, 0.5)


class _Stop(Exception):
    """The rollout ends here."""

    def __init__(self, reason: str, error: BaseException | None = None, message: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.error = error
        self.message = message


async def play(
    situation: Situation,
    agent: Agent,
    world: World,
    person: Person,
    options: Options,
    rollout_index: int = 0,
    *,
    alone: bool = False,
) -> Played:
    """One rollout.

    Parameters
    ----------
    world, person
        Of this rollout alone.
    alone : bool
        Give a coroutine of the agent's a loop to itself.

    Raises
    ------
    LoopReplaced
        If another agent's coroutine blocked the loop: play again, with a new world and person. `replayed` does.
    """
    return await _Game(situation, agent, world, person, options, rollout_index, alone=alone).play()


async def replayed(
    situation: Situation,
    agent: Agent,
    make_world: Callable[[], World],
    make_person: Callable[[], Person],
    options: Options,
    rollout_index: int = 0,
) -> Played:
    """One rollout, begun again on a loop of its own where another agent blocked the shared one."""
    try:
        return await play(situation, agent, make_world(), make_person(), options, rollout_index)
    except LoopReplaced:
        return await play(situation, agent, make_world(), make_person(), options, rollout_index, alone=True)


class _Game:
    """A rollout while it is played."""

    def __init__(
        self,
        situation: Situation,
        agent: Agent,
        world: World,
        person: Person,
        options: Options,
        index: int,
        *,
        alone: bool,
    ) -> None:
        self.situation = situation
        self.agent = agent
        self.world = world
        self.person = person
        self.options = options
        self.index = index
        self.alone = alone
        public = situation.public
        self.tape = Tape(public.conversation())
        self.tape.heard(public.prompt)
        self.totals = Totals()
        self.n_turns = 0
        self.n_calls = 0
        self.notes: dict[str, None] = {}
        self.too_many = False
        self.failed: WorldFailed | None = None
        self.whose = statuses.AGENT_TIMEOUT
        self.waiting_for_world = 0
        self.job: Job | None = None
        self.deadline = math.inf
        self._lock = threading.Lock()

    async def play(self) -> Played:
        started = dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        begun = time.monotonic()
        limit = self.options.run.timeout
        self.deadline = begun + limit
        stop: _Stop
        try:
            async with asyncio.timeout(limit):
                stop = await self._until_stop()
        except TimeoutError:
            stop = self._late()
        finally:
            left = self.world.close()
            self.tape.close()
        await self._abandon(left if self.job is None else [*left, self.job])
        return self._played(stop, started, round(time.monotonic() - begun, 6))

    async def _until_stop(self) -> _Stop:
        try:
            await self._turns()
        except _Stop as stop:
            return stop
        raise AssertionError("a rollout ends by a stop")  # pragma: no cover

    def _late(self) -> _Stop:
        """The stop of a rollout whose time is up: whose turn it was tells whose failure it is."""
        whose = statuses.WORLD_FAILED if self.waiting_for_world else self.whose
        waited = {
            statuses.AGENT_TIMEOUT: "the agent",
            statuses.WORLD_FAILED: "execute=",
            statuses.USER_FAILED: "the person's model",
        }[whose]
        return _Stop(whose, TimeoutError(f"no answer from {waited} within {self.options.run.timeout:g} s"))

    async def _abandon(self, jobs: list[Job]) -> None:
        """Give code whose time is up a moment to end; what does not is counted."""
        end = time.monotonic() + _GRACE
        while not all(job.ended for job in jobs) and time.monotonic() < end:
            await asyncio.sleep(0.01)
        for job in jobs:
            if not job.ended:
                self.agent.leave(job)

    async def _turns(self) -> None:
        """Agent and person in turn; ends by a `_Stop`."""
        most = self.options.users.max_turns or self.agent.default_turns
        self._note_what_is_unseen()
        while True:
            text = await (self._endpoint_turn() if self.agent.is_endpoint else self._function_turn())
            self.n_turns += 1
            if self.n_turns >= most:
                asks = hearing.hear(text, ()).is_question
                raise _Stop(statuses.MAX_TURNS if asks else statuses.AGENT_DONE)
            said = await self._person_turn()
            self.tape.user(said)

    def _note_what_is_unseen(self) -> None:
        if self.agent.takes_context:
            return
        if self.situation.fault is not None and self.agent.tools:
            self.notes["faults_unreachable"] = None
        if len(self.situation.public.messages) > 1:
            self.notes["history_unseen"] = None

    async def _person_turn(self) -> str:
        """What the person says next."""
        self.whose = statuses.USER_FAILED
        try:
            said = await self.person.reply(tuple(self.tape.messages))
        except UserFailed as error:
            raise _Stop(statuses.USER_FAILED, error) from None
        except EndpointError as error:
            raise _Stop(error.reason, error) from None
        self.whose = statuses.AGENT_TIMEOUT
        if said.done or said.message is None:
            raise _Stop(self.person.stop_reason or statuses.USER_DONE)
        return said.message

    async def _function_turn(self) -> str:
        """One turn of an agent that is a function."""
        message = keys.last_user_text(self.tape.messages)
        before = len(self.tape.steps)
        calls = len([step for step in self.tape.steps if "tool" in step])
        conversation = tuple(self.tape.messages)
        self.job = self.agent.start(message, self._context(conversation), alone=self.alone)
        outcome = await self.job.wait()
        self.job = None
        if self.failed is not None:
            raise _Stop(statuses.WORLD_FAILED, self.failed)
        if self.too_many:
            raise _Stop(statuses.MAX_TOOL_CALLS)
        if isinstance(outcome.error, LoopReplaced):
            raise outcome.error
        if outcome.error is not None:
            raise _Stop(statuses.AGENT_RAISED, outcome.error)
        try:
            spoken = read_spoken(outcome.value, conversation)
        except BadReply as error:
            raise _Stop(statuses.AGENT_BAD_REPLY, error) from None
        except EmptyReply as error:
            raise _Stop(statuses.AGENT_EMPTY, error) from None
        self._write_own_calls(spoken, calls)
        self.tape.say(spoken.text)
        self._count_spoken(spoken, before)
        return spoken.text

    def _context(self, conversation: Sequence[dict[str, Any]]) -> AgentContext:
        seed = agent_seed(self.options.seed, self.situation.task_id, self.index)
        call = self._call_later if self.agent.is_async else self._call_now
        return AgentContext(self.agent.system_prompt, self.index, seed, conversation, self.agent.tools, call)

    def _admit(self) -> None:
        """Let one more tool call through, or end the agent's code."""
        with self._lock:  # an agent may call from threads of its own
            if self.n_calls >= self.options.run.max_tool_calls:
                self.too_many = True
                raise RolloutOver("too many tool calls")
            self.n_calls += 1

    def _call_now(self, tool: str, arguments: dict[str, Any]) -> Any:
        self._admit()
        self.waiting_for_world += 1
        try:
            answer = self.world.call_now(tool, arguments)
        except WorldFailed as error:
            self.failed = error
            raise RolloutOver("the world failed") from error
        return self._answered(tool, arguments, answer)

    async def _call_later(self, tool: str, arguments: dict[str, Any]) -> Any:
        self._admit()
        self.waiting_for_world += 1
        try:
            answer = await self.world.call(tool, arguments)
        except WorldFailed as error:
            self.failed = error
            raise RolloutOver("the world failed") from error
        except asyncio.CancelledError:
            if time.monotonic() < self.deadline:  # by the agent itself; at the end it still tells who was waited for
                self.waiting_for_world -= 1
            raise
        return self._answered(tool, arguments, answer)

    def _answered(self, tool: str, arguments: dict[str, Any], answer: Any) -> Any:
        self.waiting_for_world -= 1
        self.tape.call(str(tool), _as_written(arguments), answer)
        return answer

    def _write_own_calls(self, spoken: Spoken, n_before: int) -> None:
        """Write down the calls a function answered itself, without those that went through the world."""
        made = [_mark(step) for step in [step for step in self.tape.steps if "tool" in step][n_before:]]
        for call in spoken.calls:
            if _mark(call) in made:
                made.remove(_mark(call))
                continue
            self.notes["faults_unreachable"] = None
            known = ("tool", "arguments", "result", "id")
            more = {name: value for name, value in call.items() if name not in known}
            own = call.get("id")
            self.tape.call(
                call["tool"],
                call["arguments"],
                call.get("result"),
                own=own if isinstance(own, str) else None,
                more=more,
            )

    def _count_spoken(self, spoken: Spoken, before: int) -> None:
        totals = self.totals
        totals.spend(spoken.usage)
        totals.model = spoken.model or totals.model
        totals.finish_reason = spoken.finish_reason
        totals.sampling = spoken.sampling or totals.sampling
        for name, value in spoken.extra.items():
            held = totals.extra.get(name)
            if isinstance(held, list) and isinstance(value, list):  # such as the labels of a seeded agent
                value = [*held, *(one for one in value if one not in held)]  # noqa: PLW2901 - the same thing, added to
            totals.extra[name] = value
        if self.options.logprobs and spoken.logprob is None and spoken.token_logprobs is None:
            self.notes["no_logprobs_returned"] = None
        self._count(before, spoken.logprob, spoken.n_tokens, spoken.token_logprobs)

    def _count(self, before: int, logprob: float | None, count: int | None, tokens: list[float] | None) -> None:
        """Put a turn's log-probability on its first step, and keep it for the sums."""
        totals = self.totals
        totals.logprobs.append(logprob)
        totals.counts.append(count)
        totals.tokens.append(tokens)
        if before < len(self.tape.steps):
            step = self.tape.steps[before]
            if logprob is not None:
                step["logprob"] = logprob
            if count is not None:
                step["n_tokens"] = count

    async def _endpoint_turn(self) -> str:
        """Completions of a model until one calls no tool."""
        while True:
            before = len(self.tape.steps)
            reply = await self._completion()
            if not reply.tool_calls:
                if not reply.text.strip():
                    self.totals.finish_reason = reply.finish_reason
                    self.totals.spend(reply.usage)
                    raise _Stop(statuses.AGENT_EMPTY, EmptyReply("the completion has neither text nor tool calls"))
                self.tape.say(reply.text)
                self._count_reply(reply, before)
                return reply.text
            answers: list[Any] = []
            try:
                for call in reply.tool_calls:
                    answers.append(await self._answer(call.name, call.arguments_raw, call.arguments))  # noqa: PERF401 - the answers so far are kept if a later call fails
            finally:
                self.tape.completion(reply, answers)
                self._count_reply(reply, before)

    async def _answer(self, tool: str, raw: str | None, arguments: dict[str, Any]) -> Any:
        try:
            self._admit()
        except RolloutOver:
            raise _Stop(statuses.MAX_TOOL_CALLS) from None
        self.waiting_for_world += 1
        try:
            answer = await self.world.call(tool, arguments if raw is None else raw)
        except WorldFailed as error:
            raise _Stop(statuses.WORLD_FAILED, error) from None
        self.waiting_for_world -= 1
        return answer

    async def _completion(self) -> Reply:
        """One completion; its failures end the rollout by their own names."""
        options = self.options
        system = [{"role": "system", "content": self.agent.system_prompt}] if self.agent.system_prompt else []
        least, share, most = _MARGIN
        margin = min(max(least, share * options.run.timeout), most)
        left = max(self.deadline - time.monotonic() - margin, 0.01)
        try:
            reply: Reply = await self.agent.agent.chat(
                [*system, *self.tape.messages],
                tools=self.agent.schemas() or None,
                sampling=options.sampling.of_rollout(self.index),
                logprobs=bool(options.logprobs),
                timeout=left,
                retries=options.run.retries,
            )
        except EndpointError as error:
            self.totals.spend(error.usage)
            raise _Stop(error.reason, error) from None
        except TimeoutError as error:
            self.totals.spend(getattr(error, "usage", None))
            raise self._late() from None
        return reply

    def _count_reply(self, reply: Reply, before: int) -> None:
        totals = self.totals
        totals.spend(reply.usage)
        totals.model = reply.model or totals.model
        totals.finish_reason = reply.finish_reason
        if not self.options.logprobs:
            return
        if reply.logprobs is None:
            self.notes["no_logprobs"] = None
            self._count(before, None, None, None)
        else:
            self._count(before, math.fsum(reply.logprobs), len(reply.logprobs), list(reply.logprobs))

    def _played(self, stop: _Stop, started: str, seconds: float) -> Played:
        usable = stop.reason in statuses.USABLE
        totals = self.totals
        sampling = self.options.sampling.sent(self.index) if self.agent.is_endpoint else totals.sampling
        usage = totals.usage if totals.usage is not None or not self.agent.is_endpoint else Usage()
        tokens = all_or_none(totals.tokens) if self.options.logprobs == "tokens" or not self.agent.is_endpoint else None
        logprobs, counts = all_or_none(totals.logprobs), all_or_none(totals.counts)
        return Played(
            index=self.index,
            messages=self.tape.messages,
            steps=self.tape.steps,
            final_text=self.tape.last_said,
            stop_reason=stop.reason,
            usable=usable,
            unusable_reason=None if usable else stop.reason,
            error=None if usable else told(stop.error),
            fatal=bool(getattr(stop.error, "fatal", False)),
            finish_reason=totals.finish_reason,
            ledger=self.world.ledger,
            hidden_state=self.world.hidden_state,
            n_turns=self.n_turns,
            n_tool_calls=self.n_calls,
            usage=usage,
            person_usage=self.person.usage,
            user_model=self.person.name,
            logprob=None if logprobs is None else math.fsum(logprobs),
            n_tokens=None if counts is None else sum(counts),
            token_logprobs=None if tokens is None else [one for turn in tokens for one in turn],
            model=totals.model or self.agent.model,
            sampling=sampling,
            extra=totals.extra,
            notes=tuple(self.notes),
            started=started,
            seconds=seconds,
        )


def _mark(call: dict[str, Any]) -> str:
    """What tells one call from another: its tool and arguments."""
    return canonical([call["tool"], call.get("arguments")])


def _as_written(arguments: dict[str, Any]) -> Any:
    """Arguments of Python code as JSON; what has no JSON form by its repr."""
    try:
        return as_json(arguments)
    except TypeError:
        return {name: _one_written(value) for name, value in arguments.items()}


def _one_written(value: Any) -> Any:
    try:
        return as_json(value)
    except TypeError:
        return repr(value)
