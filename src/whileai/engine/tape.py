"""What is written down of a rollout while it is played: its messages, and the same as steps."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from whileai.engine.reply import Reply
from whileai.simulations._wire import copied


class Tape:
    """The conversation of one rollout, in messages and in steps.

    Steps of one completion share ``turn``. A function's own calls are each a turn: what it does next, it does knowing
    the answer. Writing ends with `close`: what code that was left to itself still does is no part of the rollout.

    Attributes
    ----------
    messages : list of dict
    steps : list of dict
    turn : int
        The completion that comes next, from 0.
    """

    def __init__(self, messages: Sequence[Mapping[str, Any]]) -> None:
        self.messages: list[dict[str, Any]] = [dict(turn) for turn in messages]
        self.steps: list[dict[str, Any]] = []
        self.turn = 0
        self._ids: set[str] = set()
        self._closed = False
        self._lock = threading.Lock()

    def user(self, text: str) -> None:
        """The person spoke, after what is on the tape already."""
        self.messages.append({"role": "user", "content": text})
        self.heard(text)

    def heard(self, text: str) -> None:
        """A step for what the person said, whose message is on the tape."""
        self.steps.append({"user": text, "turn": self.turn})

    def call(
        self, tool: str, arguments: Any, result: Any, *, own: str | None = None, more: Mapping[str, Any] | None = None
    ) -> None:
        """One call of a function, and its answer."""
        with self._lock:
            if self._closed:
                return
            name = self.new_id(own)
            given = arguments if isinstance(arguments, Mapping) else {}
            self.messages.append(_asking("", [_call_message(name, tool, _json(given))]))
            self.messages.append(_answer(name, tool, result))
            extra = {**(more or {})}
            if given is not arguments:
                extra["arguments_raw"] = arguments if isinstance(arguments, str) else _json(arguments)
            step = {"tool": tool, "arguments": copied(given), "result": copied(result), "id": name, "turn": self.turn}
            self.steps.append({**step, **extra})
            self.turn += 1

    def completion(self, reply: Reply, answers: Sequence[Any]) -> None:
        """One completion that calls tools, with the answers to its first calls; the others were never made."""
        calls = reply.tool_calls[: len(answers)]
        names = [self.new_id(call.id) for call in calls]
        told = [_call_message(name, call.name, _json(call.arguments)) for name, call in zip(names, calls, strict=True)]
        if told:
            self.messages.append(_asking(reply.text, told))
        elif reply.text:
            self.messages.append({"role": "assistant", "content": reply.text})
        if reply.text:
            self.steps.append({"text": reply.text, "turn": self.turn})
        for name, call, answer in zip(names, calls, answers, strict=True):
            self.messages.append(_answer(name, call.name, answer))
            raw = {} if call.arguments_raw is None else {"arguments_raw": call.arguments_raw}
            step = {"tool": call.name, "arguments": copied(call.arguments), **raw}
            self.steps.append({**step, "result": copied(answer), "id": name, "turn": self.turn})
        self.turn += 1

    def say(self, text: str) -> None:
        """The agent spoke to the person."""
        self.messages.append({"role": "assistant", "content": text})
        self.steps.append({"text": text, "turn": self.turn})
        self.turn += 1

    def new_id(self, own: str | None) -> str:
        """An id no other call of the rollout has: the given one where it is new."""
        name = own or f"c{len(self._ids) + 1}"
        while name in self._ids:
            name += "_"
        self._ids.add(name)
        return name

    def close(self) -> None:
        """Write nothing down any more."""
        with self._lock:
            self._closed = True

    @property
    def last_said(self) -> str:
        """The last text of the agent, empty where it has said nothing."""
        return next((str(step["text"]) for step in reversed(self.steps) if "text" in step), "")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _call_message(name: str, tool: str, arguments: str) -> dict[str, Any]:
    return {"id": name, "type": "function", "function": {"name": tool, "arguments": arguments}}


def _asking(text: str, calls: list[dict[str, Any]]) -> dict[str, Any]:
    return {"role": "assistant", "content": text, "tool_calls": calls}


def _answer(name: str, tool: str, result: Any) -> dict[str, Any]:
    content = result if isinstance(result, str) else _json(result)
    return {"role": "tool", "tool_call_id": name, "name": tool, "content": content}
