"""Who plays: a function of the caller's, or an `Endpoint`; and what such a function is told."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from whileai.engine.background import Job, Outcome, background
from whileai.engine.tools import Tool, is_async
from whileai.errors import ParamError
from whileai.simulations._wire import copied

CALL = "simulate"
#: Rollouts left to themselves because their code did not end, after which a run should stop.
MAX_STUCK = 64
_CONTEXT_NAMES = ("ctx", "context", "_ctx", "_context")


@dataclass(frozen=True)
class AgentContext:
    """What an agent's function is told beside the person's message.

    Attributes
    ----------
    messages : list of dict
        The conversation so far, the message included; a copy.
    tools : list of dict
        The tools' schemas, in the form chat completions take.
    system_prompt : str
    rollout_index : int
        Which of a task's rollouts this is.
    seed : int
        To draw from: another in every rollout, the same when a run is repeated.
    """

    system_prompt: str
    rollout_index: int
    seed: int
    _messages: Sequence[dict[str, Any]] = field(repr=False)
    _tools: Sequence[Tool] = field(repr=False)
    _call: Callable[[str, dict[str, Any]], Any] = field(repr=False)

    @functools.cached_property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation so far, the message included; the agent's own to write to."""
        made: list[dict[str, Any]] = copied(list(self._messages))
        return made

    @functools.cached_property
    def tools(self) -> list[dict[str, Any]]:
        """The tools' schemas, in the form chat completions take; the agent's own to write to."""
        made: list[dict[str, Any]] = copied([tool.openai() for tool in self._tools])
        return made

    def call(self, tool: Any, /, **arguments: Any) -> Any:
        """The answer of the world to a tool call; in an async agent, awaitable.

        Parameters
        ----------
        tool : str or Tool
        **arguments
            As its schema says. Whatever else they are, the answer says so and nothing is raised.
        """
        return self._call(tool.name if isinstance(tool, Tool) else tool, arguments)


class Agent:
    """Who plays, wrapped.

    Parameters
    ----------
    agent : callable or Endpoint
        A function of ``(message)`` or ``(message, ctx)``, plain or async, or an endpoint, which the engine plays.
    system_prompt : str
    tools : sequence of Tool

    Attributes
    ----------
    is_endpoint : bool
    takes_context : bool
        Whether it gets a context, and so can reach the world and the earlier turns.
    default_turns : int
        1 for a function of the message alone, which keeps no history, else 8.
    name, model : str
        For the row: the function's name; the endpoint's model.
    abandoned : int
        Rollouts whose code did not end when their time was up.

    Raises
    ------
    ParamError
        If it is neither.
    """

    def __init__(self, agent: Any, system_prompt: str = "", tools: Sequence[Tool] = ()) -> None:
        self.agent = agent
        self.system_prompt = system_prompt
        self.tools = tuple(tools)
        self.is_endpoint = inspect.iscoroutinefunction(getattr(agent, "chat", None))
        self.is_async = False
        self._by_name: str | None = None
        self.takes_context = self.is_endpoint
        if not self.is_endpoint:
            self._read_contract()
        self.default_turns = 8 if self.takes_context else 1
        self.model: str = agent.model if self.is_endpoint else ""
        self.name: str = self.model or _name_of(agent)
        self.abandoned = 0
        self._left: list[Job] = []
        self._guard = threading.Lock()

    def _read_contract(self) -> None:
        """How the function is called."""
        agent = self.agent
        if not callable(agent):
            fix = "Write wai.Endpoint(...) for a model." if isinstance(agent, str) else ""
            raise ParamError.of(CALL, "agent", "a function of (message) or (message, ctx), or an Endpoint", agent, fix)
        self.is_async = is_async(agent)
        try:
            found = list(inspect.signature(agent).parameters.values())
        except (TypeError, ValueError):  # a builtin says nothing of its arguments
            return
        by_place = [one for one in found if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
        needed = [one for one in by_place if one.default is one.empty]
        by_name = [one for one in found if one.kind is one.KEYWORD_ONLY and one.default is one.empty]
        any_more = any(one.kind is one.VAR_POSITIONAL for one in found)
        named = [one.name for one in found if one.kind is one.KEYWORD_ONLY and one.name in _CONTEXT_NAMES]
        unmet = [one.name for one in by_name if one.name not in named]
        if len(needed) > 2 or unmet or (not by_place and not any_more):
            bound = "a function of (message) or (message, ctx)"
            raise ParamError.of(CALL, "agent", bound, agent, f"It takes {inspect.signature(agent)}.")
        second = by_place[1] if len(by_place) > 1 else None
        if second is not None:
            self.takes_context = second.default is second.empty or second.name in _CONTEXT_NAMES
        elif named:
            self.takes_context, self._by_name = True, named[0]
        else:
            self.takes_context = any_more and not by_place

    def schemas(self) -> list[dict[str, Any]]:
        """The tools' schemas, as they are sent."""
        return [tool.openai() for tool in self.tools]

    def start(self, message: str, context: AgentContext, *, alone: bool = False) -> Job:
        """Call the function in the background.

        Parameters
        ----------
        alone : bool
            With a loop to itself, for a coroutine that was held up by a neighbour that blocks.
        """
        call = self._call(message, context)
        if not self.is_async:
            return background().thread_job(lambda: _awaited_here(call(), alone=alone))
        return background().alone(call) if alone else background().loop_job(call)

    def _call(self, message: str, context: AgentContext) -> Callable[[], Any]:
        if not self.takes_context:
            return functools.partial(self.agent, message)
        if self._by_name is not None:
            return functools.partial(self.agent, message, **{self._by_name: context})
        return functools.partial(self.agent, message, context)

    def leave(self, job: Job) -> None:
        """A rollout's time is up and its code has not ended: count it, and keep it in sight until it does."""
        with self._guard:
            self.abandoned += 1
            self._left.append(job)

    @property
    def stuck(self) -> int:
        """Rollouts left to themselves whose code still runs."""
        with self._guard:
            self._left = [job for job in self._left if not job.ended]
            return len(self._left)


def _awaited_here(value: Any, *, alone: bool) -> Any:
    """What a plain function returned; an awaitable is awaited on the loop for coroutines, or on one of its own."""
    if not inspect.isawaitable(value):
        return value
    start = background().alone if alone else background().loop_job
    outcome: Outcome = start(lambda: value).future.result()
    if outcome.error is not None:
        raise outcome.error
    return outcome.value


def _name_of(agent: Any) -> str:
    while isinstance(agent, functools.partial):
        agent = agent.func
    name = getattr(agent, "__name__", None)
    return name if isinstance(name, str) else type(agent).__name__
