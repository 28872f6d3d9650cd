"""Logs of other tools as rows with ``messages``: ShareGPT, response items, requests beside their responses.

Only what has the dialect's own marks is touched, so that a row with a text under ``input`` stays what it is.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, TypeGuard

from whileai import keys
from whileai.simulations._chat import as_json_text, calls_of, chat_turns
from whileai.simulations._wire import all_dicts, same

#: Who speaks in ShareGPT -> role.
_SPEAKERS = {
    **dict.fromkeys(("human", "user", "prompter"), "user"),
    **dict.fromkeys(("gpt", "assistant", "bot", "chatgpt", "bing", "bard", "model", "function_call"), "assistant"),
    **dict.fromkeys(("tool", "observation", "function", "function_response", "ipython"), "tool"),
    "system": "system",
}
_CONVERSATIONS = ("conversations", "conversation")
_INSTRUCTIONS = ("instructions", "system", "system_prompt")


def to_messages(row: dict[str, Any], seen: Counter[str]) -> None:
    """Bring a row of another dialect to ``messages``, in place; any other row stays as it is.

    Parameters
    ----------
    seen : Counter
        Counts the dialect of the row: ``sharegpt``, ``responses``, ``blocks`` (content blocks), ``exchange`` (a request
        beside its response, a prompt beside the turns of its completion).
    """
    _join_exchange(row, seen)
    if keys.is_missing(row.get("messages")):
        _from_sharegpt(row, seen)
    if keys.is_missing(row.get("messages")):
        _from_responses(row, seen)
    if keys.is_missing(row.get("messages")):
        _from_completion(row, seen)
    messages = row.get("messages")
    found: Counter[str] = Counter()
    if all_dicts(messages) and messages:
        turns = chat_turns(messages, found)
        if turns is not None:
            row["messages"] = turns
            _open_with_instructions(row, ("system",))
    prompt = row.get("prompt")
    if all_dicts(prompt) and prompt:
        row["prompt"] = chat_turns(prompt, found) or prompt
    seen.update({"item_without_turn": found.pop("item_without_turn", 0)})
    seen.update({name: 1 for name in found if not seen["responses"]})


def _join_exchange(row: dict[str, Any], seen: Counter[str]) -> None:
    """A request and its response as one row: their keys side by side, and the reply as the last turn."""
    request, response = row.get("request"), row.get("response")
    if isinstance(request, dict) and isinstance(response, dict) and _is_reply(response):
        for name in ("request", "response"):
            for key, value in row.pop(name).items():
                if key not in row:
                    row[key] = value
                elif not same(row[key], value):  # what the row says itself stays, and so does this, where it stood
                    row[f"{name}.{key}"] = value
        seen["exchange"] += 1
    messages = row.get("messages")
    if not (all_dicts(messages) and messages):
        return
    choices = row.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    if len(choices or ()) == 1 and isinstance(first, dict) and isinstance(first.get("message"), dict):
        row["messages"] = [*messages, first["message"]]
        rest = {key: value for key, value in first.items() if key not in ("message", "index")}
        if "finish_reason" not in row and isinstance(rest.get("finish_reason"), str):
            row["finish_reason"] = rest.pop("finish_reason")
        del row["choices"]
        if any(value is not None for value in rest.values()):
            row["choice"] = rest
    elif all_dicts(row.get("content")) and row["content"] and messages[-1].get("role") == "user":
        row["messages"] = [*messages, {"role": row.pop("role", "assistant"), "content": row.pop("content")}]


def _is_reply(response: dict[str, Any]) -> bool:
    return any(isinstance(response.get(key), list) for key in ("choices", "content", "output"))


def _from_sharegpt(row: dict[str, Any], seen: Counter[str]) -> None:
    for key in _CONVERSATIONS:
        entries = row.get(key)
        if all_dicts(entries) and entries and all("from" in entry or "role" in entry for entry in entries):
            seen["sharegpt"] += 1
            row["messages"] = [_spoken(entry) for entry in entries]
            del row[key]
            _open_with_instructions(row, ("system",))
            return


def _spoken(entry: dict[str, Any]) -> dict[str, Any]:
    """One entry as a turn; a ``function_call`` is a turn that makes the calls in its JSON."""
    if "from" not in entry:
        return entry
    speaker = entry["from"]
    role = _SPEAKERS.get(str(speaker).strip().lower(), str(speaker))
    value = next((entry[key] for key in ("value", "content", "text") if key in entry), "")
    rest = {key: item for key, item in entry.items() if key not in ("from", "value")}
    turn = {"role": role, "content": "" if value is None else value}
    if str(speaker).strip().lower() == "function_call":
        calls = _calls_in(value)
        if calls:
            turn = {"role": role, "content": "", "tool_calls": calls}
    return turn | {key: item for key, item in rest.items() if key not in turn}


def _calls_in(value: Any) -> list[dict[str, Any]]:
    """The calls that a JSON text holds, one or a list; none where it cannot be read as such."""
    try:
        found = json.loads(value) if isinstance(value, str) else value
    except (RecursionError, ValueError):
        return []
    entries = found if isinstance(found, list) else [found]
    calls = calls_of({"tool_calls": entries})
    if not calls or len(calls) != len(entries):
        return []
    functions = [{"name": call["name"], "arguments": as_json_text(call["arguments"])} for call in calls]
    return [
        {"id": call["id"], "type": "function", "function": function}
        for call, function in zip(calls, functions, strict=True)
    ]


def _from_responses(row: dict[str, Any], seen: Counter[str]) -> None:
    """Items under ``input`` and ``output``; one of the two must be items, and the other may be a text."""
    asked, answered = row.get("input"), row.get("output")
    if not (_are_items(asked) or _are_items(answered)):
        return
    sides: list[dict[str, Any]] = []
    for side, role in ((asked, "user"), (answered, "assistant")):
        if isinstance(side, str):
            sides += [{"role": role, "content": side}]
        elif isinstance(side, list) and (not side or _are_items(side)):
            sides += side
        elif side is not None:
            return
    seen["responses"] += 1
    turns = chat_turns(sides, seen)
    seen["responses"] = 1
    row["messages"] = sides if turns is None else turns
    for key in ("input", "output"):
        row.pop(key, None)
    _open_with_instructions(row, _INSTRUCTIONS)


def _from_completion(row: dict[str, Any], seen: Counter[str]) -> None:
    """A prompt, a text or turns, and the turns of its completion beside it, as trainers have them."""
    prompt, completion = row.get("prompt"), row.get("completion")
    opening = [{"role": "user", "content": prompt}] if isinstance(prompt, str) and prompt else prompt
    if keys.is_missing(row.get("final_text")) and _are_turns(opening) and _are_turns(completion):
        seen["exchange"] += 1
        row["messages"] = [*opening, *completion]
        del row["prompt"], row["completion"]


def _are_turns(value: Any) -> TypeGuard[list[dict[str, Any]]]:
    return all_dicts(value) and bool(value) and all(isinstance(turn.get("role"), str) for turn in value)


def _are_items(value: Any) -> bool:
    return (
        all_dicts(value)
        and bool(value)
        and all(isinstance(item.get("role"), str) or isinstance(item.get("type"), str) for item in value)
    )


def _open_with_instructions(row: dict[str, Any], names: tuple[str, ...]) -> None:
    """Put instructions that stand beside the turns before them, where no system turn does."""
    messages = row["messages"]
    if messages and messages[0].get("role") in ("system", "developer"):
        return
    for name in names:
        text = keys.text_of(row.get(name))
        if text:
            row["messages"] = [{"role": "system", "content": row.pop(name)}, *messages]
            return
