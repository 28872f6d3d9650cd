"""What a model answered: text, tool calls, log-probabilities and what it cost, read off the body of a completion."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from whileai import keys

#: How servers name the ways a completion ends, and how a row does.
FINISHES = {
    "stop": "stop",
    "stop_sequence": "stop",
    "end_turn": "stop",
    "eos": "stop",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "tool_calls": "tool",
    "function_call": "tool",
    "tool_use": "tool",
    "content_filter": "error",
}


@dataclass(frozen=True, slots=True)
class Usage:
    """What requests cost; adds up with ``+``.

    Attributes
    ----------
    input_tokens, output_tokens, cached_tokens : int or None
        As the server counts them; `cached_tokens` is the part of the input it had cached. ``None`` where a server did
        not say: a sum with an unknown part is unknown.
    requests, retries : int
        Requests sent, and how many of them repeated one that failed.
    cost : float or None
        In the currency of ``price``; ``None`` without a price.
    """

    input_tokens: int | None = 0
    output_tokens: int | None = 0
    cached_tokens: int | None = 0
    requests: int = 0
    retries: int = 0
    cost: float | None = None

    def __add__(self, other: Usage) -> Usage:
        # what sent no request cost nothing, whatever the price
        cost = other.cost if not self.requests else self.cost if not other.requests else _sum(self.cost, other.cost)
        return Usage(
            _sum(self.input_tokens, other.input_tokens),
            _sum(self.output_tokens, other.output_tokens),
            _sum(self.cached_tokens, other.cached_tokens),
            self.requests + other.requests,
            self.retries + other.retries,
            cost,
        )

    def to_dict(self) -> dict[str, Any]:
        """As it stands on a row."""
        return {name: getattr(self, name) for name in self.__slots__}


def _sum(left: Any, right: Any) -> Any:
    return None if left is None or right is None else left + right


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call of a reply.

    Attributes
    ----------
    id : str
        The server's id, made unique within the reply.
    name : str
    arguments : dict
        Empty where they are no JSON object.
    arguments_raw : str or None
        What was sent where it is no JSON object, else ``None``.
    """

    id: str
    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    arguments_raw: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """One completion.

    Attributes
    ----------
    text : str
        What was said, empty where nothing was; a refusal is said too.
    tool_calls : tuple of ToolCall
        In order.
    finish_reason : str
        ``stop``, ``length``, ``tool``, ``error`` (cut by a filter), or the server's own word.
    usage : Usage
    logprobs : tuple of float or None
        The log-probability of every generated token, in nats; ``None`` where not asked for, or where the server gave
        none, or one that is no finite number.
    model : str
        As the server names it.
    refusal : str or None
        The text of a refusal, where the server marks it as one.
    raw : dict
        The message as it came.
    """

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str = "stop"
    usage: Usage = field(default_factory=Usage)
    logprobs: tuple[float, ...] | None = None
    model: str = ""
    refusal: str | None = None
    raw: dict[str, Any] = field(default_factory=dict, repr=False)

    def message(self) -> dict[str, Any]:
        """The reply as a turn of a conversation; arguments that are no JSON object are sent back as ``{}``."""
        turn: dict[str, Any] = {"role": "assistant", "content": self.text}
        if self.tool_calls:
            turn["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)},
                }
                for call in self.tool_calls
            ]
        return turn


def read_reply(body: Any, price: tuple[float, float] | None) -> Reply | None:
    """The reply in a completion's body, ``None`` where it holds none: no object, no choices, no message."""
    choices = body.get("choices") if isinstance(body, Mapping) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(choice, Mapping) or not isinstance(message, Mapping):
        return None
    refusal = message.get("refusal")
    refusal = refusal if isinstance(refusal, str) and refusal else None
    calls = _read_calls(message)
    ended = choice.get("finish_reason")
    finish = FINISHES.get(ended, ended) if isinstance(ended, str) else ("tool" if calls else "stop")
    model = body.get("model")
    return Reply(
        text=keys.text_of(message.get("content")) or refusal or "",
        tool_calls=calls,
        finish_reason=finish,
        usage=_read_usage(body.get("usage"), price),
        logprobs=_read_logprobs(choice.get("logprobs")),
        model=model if isinstance(model, str) else "",
        refusal=refusal,
        raw=dict(message),
    )


def _read_calls(message: Mapping[str, Any]) -> tuple[ToolCall, ...]:
    """The tool calls, ids unique and never empty."""
    listed = message.get("tool_calls")
    entries: list[Any] = listed if isinstance(listed, list) else []
    if not entries and isinstance(message.get("function_call"), Mapping):  # the form before tool_calls
        entries = [{"function": message["function_call"]}]
    calls: list[ToolCall] = []
    taken: set[str] = set()
    for place, entry in enumerate(entries):
        function = entry.get("function") if isinstance(entry, Mapping) else None
        if not isinstance(function, Mapping):
            continue
        name = function.get("name")
        given = entry.get("id")
        own = given if isinstance(given, str) and given and given not in taken else f"call_{place}"
        while own in taken:
            own += "_"
        taken.add(own)
        arguments, raw = read_arguments(function.get("arguments"))
        calls.append(ToolCall(own, name if isinstance(name, str) else "", arguments, raw))
    return tuple(calls)


def read_arguments(given: Any) -> tuple[dict[str, Any], str | None]:
    """The arguments of a tool call, and what was sent where that is no JSON object."""
    if isinstance(given, Mapping):  # some servers send them parsed
        return dict(given), None
    text = given if isinstance(given, str) else "" if given is None else json.dumps(given, default=str)
    if not text.strip():  # a tool without parameters
        return {}, None
    read = strict_json(text)
    return (read, None) if isinstance(read, dict) else ({}, text)


def strict_json(text: str) -> Any:
    """The value of a JSON text, ``None`` where it is none; NaN and Infinity are no JSON."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


def _read_usage(block: Any, price: tuple[float, float] | None) -> Usage:
    """What one answered request cost."""
    block = block if isinstance(block, Mapping) else {}
    details = block.get("prompt_tokens_details")
    details = details if isinstance(details, Mapping) else {}
    spent, made = _count(block.get("prompt_tokens")), _count(block.get("completion_tokens"))
    cached = _count(details.get("cached_tokens"))
    cost = None
    if price is not None and spent is not None and made is not None:
        cost = (spent * price[0] + made * price[1]) / 1e6
    return Usage(spent, made, 0 if cached is None and spent is not None else cached, 1, 0, cost)


def _count(value: Any) -> int | None:
    whole = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value >= 0
    return int(value) if whole else None


def _read_logprobs(block: Any) -> tuple[float, ...] | None:
    """One number a generated token, in either form servers use."""
    if not isinstance(block, Mapping):
        return None
    values: Any = block.get("token_logprobs")
    entries = block.get("content") or block.get("refusal")
    if isinstance(entries, Sequence) and not isinstance(entries, str):
        values = [entry.get("logprob") if isinstance(entry, Mapping) else None for entry in entries]
    if not isinstance(values, list) or not values:
        return None
    numbers = [float(value) for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)]
    if len(numbers) != len(values) or not all(map(math.isfinite, numbers)):
        return None
    return tuple(numbers)
