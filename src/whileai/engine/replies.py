"""What an agent's code returned, read as what it said and did; anything that is neither is named, never guessed."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from whileai import keys
from whileai.engine.reply import FINISHES, Usage, read_arguments
from whileai.engine.tools import as_json

#: What a reply may say beside its text.
KNOWN = (
    *("final_text", "messages", "steps", "usage", "model", "finish_reason"),
    *("logprob", "n_tokens", "token_logprobs", "sampling", "seeded"),
)


_NOT_OF_A_CALL = ("turn", "user", "text", "logprob", "n_tokens")


class BadReply(Exception):
    """The agent's code returned something that is no reply."""


class EmptyReply(Exception):
    """The agent said nothing."""


@dataclass(slots=True)
class Spoken:
    """One turn of an agent.

    Attributes
    ----------
    text : str
        What it said to the person.
    calls : list of dict
        Tool calls its own code answered: ``tool, arguments, result`` and, where it says so, ``id``.
    usage : Usage or None
    model, finish_reason : str
        Empty where it does not say.
    logprob : float or None
        Sum over the turn's generated tokens.
    n_tokens : int or None
    token_logprobs : list of float or None
    sampling : dict or None
    extra : dict
        What else it returned.
    """

    text: str
    calls: list[dict[str, Any]] = field(default_factory=list)
    usage: Usage | None = None
    model: str = ""
    finish_reason: str = ""
    logprob: float | None = None
    n_tokens: int | None = None
    token_logprobs: list[float] | None = None
    sampling: dict[str, Any] | None = None
    extra: dict[str, Any] = field(default_factory=dict)


def read_spoken(value: Any, conversation: Sequence[Mapping[str, Any]]) -> Spoken:
    """What an agent's code returned in one turn.

    Parameters
    ----------
    value : object
        Text, a list of messages, or a dict with ``final_text`` or ``messages``.
    conversation : sequence of dict
        The messages up to the person's last one: an agent may return them again before its own.

    Raises
    ------
    BadReply
        For anything else.
    EmptyReply
        For a reply without a word.
    """
    if isinstance(value, str):
        return _with_words(Spoken(value))
    if isinstance(value, list):
        return _with_words(_of_messages(value, conversation))
    if isinstance(value, Mapping) and ("final_text" in value or "messages" in value):
        return _of_dict(value, conversation)
    if isinstance(value, Mapping):
        held = ", ".join(map(str, value)) or "nothing"
        raise BadReply(f"the agent must return text, messages or a dict with final_text; got a dict with {held}")
    kind = "None" if value is None else f"a value of type {type(value).__name__}"
    raise BadReply(f"the agent must return text, messages or a dict with final_text; got {kind}")


def _with_words(spoken: Spoken) -> Spoken:
    if not spoken.text.strip():
        raise EmptyReply("the agent said nothing")
    return spoken


def _of_dict(value: Mapping[str, Any], conversation: Sequence[Mapping[str, Any]]) -> Spoken:
    messages, final = value.get("messages"), value.get("final_text")
    if messages is not None and not isinstance(messages, list):
        raise BadReply(f"messages must be a list; got a value of type {type(messages).__name__}")
    if final is None and messages is None:
        raise BadReply("final_text must be text; got None")
    if final is not None and not isinstance(final, str):
        raise BadReply(f"final_text must be text; got a value of type {type(final).__name__}")
    spoken = _of_messages(messages, conversation) if messages else Spoken("")
    if final is not None:
        spoken.text = final
    if value.get("steps") is not None:
        spoken.calls = _of_steps(value["steps"])
    spoken.usage = _usage(value.get("usage"))
    spoken.model = _text(value, "model")
    reason = _text(value, "finish_reason")
    spoken.finish_reason = FINISHES.get(reason, reason)
    _put_logprobs(spoken, value)
    if isinstance(value.get("sampling"), Mapping):
        spoken.sampling = as_plain(dict(value["sampling"]), "sampling")
    rest = {str(name): item for name, item in value.items() if name not in KNOWN or name == "seeded"}
    spoken.extra = as_plain(rest, "the reply")
    return _with_words(spoken)


def as_plain(value: Any, what: str) -> Any:
    """A value as JSON, or a `BadReply` that says what has none."""
    try:
        return as_json(value)
    except TypeError as error:
        raise BadReply(f"{what} must be JSON: {error}") from None


def _text(value: Mapping[str, Any], name: str) -> str:
    found = value.get(name)
    if found is not None and not isinstance(found, str):
        raise BadReply(f"{name} must be text; got a value of type {type(found).__name__}")
    return found or ""


def _put_logprobs(spoken: Spoken, value: Mapping[str, Any]) -> None:
    """The log-probabilities, with the sum and the count from the list where there is one."""
    tokens = value.get("token_logprobs")
    if tokens is not None:
        if not isinstance(tokens, (list, tuple)):
            raise BadReply(f"token_logprobs must be a list of numbers; got a value of type {type(tokens).__name__}")
        spoken.token_logprobs = [_number(one, "token_logprobs") for one in tokens]
    if value.get("logprob") is not None:
        spoken.logprob = _number(value["logprob"], "logprob")
    elif spoken.token_logprobs:
        spoken.logprob = math.fsum(spoken.token_logprobs)
    else:
        spoken.logprob = _summed(value.get("steps"), "logprob")
    count = value.get("n_tokens")
    if count is not None:
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise BadReply(f"n_tokens must be a whole number; got {count!r}")
        spoken.n_tokens = count
    elif spoken.token_logprobs is not None:
        spoken.n_tokens = len(spoken.token_logprobs)
    else:
        total = _summed(value.get("steps"), "n_tokens")
        spoken.n_tokens = None if total is None else int(total)


def _summed(steps: Any, name: str) -> float | None:
    """The sum of a number over the steps that have it, ``None`` where none has."""
    found = [step[name] for step in steps or () if isinstance(step, Mapping) and step.get(name) is not None]
    return math.fsum(_number(one, f"{name} of a step") for one in found) if found else None


def _number(value: Any, what: str) -> float:
    value = value.item() if getattr(value, "shape", None) == () and hasattr(value, "item") else value
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise BadReply(f"{what} must be finite numbers; got {value!r:.60}")
    return float(value)


def _usage(block: Any) -> Usage | None:
    """What an agent says it used, in the words of either kind of server; ``None`` where it does not say."""
    if block is None:
        return None
    if not isinstance(block, Mapping):
        raise BadReply(f"usage must be a dict; got a value of type {type(block).__name__}")

    def count(*names: str) -> int | None:
        found = next((block[name] for name in names if block.get(name) is not None), None)
        if found is None:
            return None
        return int(_number(found, names[0]))

    cost = block.get("cost")
    return Usage(
        count("input_tokens", "prompt_tokens"),
        count("output_tokens", "completion_tokens"),
        count("cached_tokens"),
        count("requests") or 0,
        count("retries") or 0,
        None if cost is None else _number(cost, "cost"),
    )


def _of_messages(messages: Sequence[Any], conversation: Sequence[Mapping[str, Any]]) -> Spoken:
    """The agent's own part of a list of messages: its calls with their results, and the last thing it said."""
    if not messages or not all(isinstance(turn, Mapping) and isinstance(turn.get("role"), str) for turn in messages):
        raise BadReply("messages must be a list of dicts with a role")
    own = _own_part(messages, conversation)
    results = {turn.get("tool_call_id"): turn.get("content") for turn in own if turn["role"] == "tool"}
    listed = [turn["tool_calls"] for turn in own if turn["role"] == "assistant" and turn.get("tool_calls")]
    calls = [_call_of(entry, results) for entries in listed if isinstance(entries, list) for entry in entries]
    return Spoken(keys.last_text(own, "assistant") or "", calls)


def _own_part(messages: Sequence[Any], conversation: Sequence[Mapping[str, Any]]) -> list[Any]:
    """The messages after those of the conversation, where they are repeated; else after the last user turn."""
    told = [turn for turn in messages if turn["role"] not in ("system", "developer")]
    said = [turn for turn in conversation if turn.get("role") != "system"]
    same = len(told) > len(said) and all(
        one["role"] == other.get("role") and keys.text_of(one.get("content")) == keys.text_of(other.get("content"))
        for one, other in zip(told, said, strict=False)
    )
    if same:
        return told[len(said) :]
    last = max((place for place, turn in enumerate(told) if turn["role"] == "user"), default=-1)
    return told[last + 1 :]


def _call_of(entry: Any, results: Mapping[Any, Any]) -> dict[str, Any]:
    function = entry.get("function") if isinstance(entry, Mapping) else None
    found = function if isinstance(function, Mapping) else entry if isinstance(entry, Mapping) else {}
    name = found.get("name")
    if not isinstance(name, str) or not name:
        raise BadReply("each of tool_calls must have a name")
    arguments, raw = read_arguments(found.get("arguments"))
    call: dict[str, Any] = {"tool": name, "arguments": as_plain(arguments, f"the arguments of {name}")}
    if raw is not None:
        call["arguments_raw"] = raw
    own = entry.get("id")
    if own in results:
        call["result"] = _result_of(as_plain(results[own], f"the result of {name}"))
    if isinstance(own, str) and own:
        call["id"] = own
    return call


def _result_of(content: Any) -> Any:
    """A tool message's content, parsed where it is a JSON object or list."""
    text = keys.text_of(content)
    if text is None or text[:1] not in ("{", "["):
        return content if text is None else text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _of_steps(steps: Any) -> list[dict[str, Any]]:
    """The tool calls among steps an agent lists; what it said on the way is no call."""
    if not isinstance(steps, (list, tuple)) or not all(isinstance(step, Mapping) for step in steps):
        raise BadReply("steps must be a list of dicts")
    calls = []
    for step in steps:
        name = step.get("tool")
        if name is None:
            continue
        if not isinstance(name, str) or not name:
            raise BadReply(f"the tool of a step must be a name; got {name!r:.60}")
        kept = {str(key): item for key, item in step.items() if key not in _NOT_OF_A_CALL}
        calls.append({"arguments": {}, **as_plain(kept, f"the step of {name}")})
    return calls
