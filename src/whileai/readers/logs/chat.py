"""Conversations as agents and trainers write them -> messages as chat APIs do."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeGuard

from whileai.keys import is_messages, last_text, last_user_text, text_of


def turns_of(messages: Any) -> list[dict[str, Any]]:
    """The turns of a conversation; what is no message is left out."""
    return [turn_of(message) for message in messages if isinstance(message, Mapping)] if _is_list(messages) else []


def turn_of(message: Mapping[str, Any]) -> dict[str, Any]:
    """One message: role, content, tool calls with arguments as JSON text, and which call a tool's answer is to."""
    parts = message.get("parts")
    if _is_list(parts) and "content" not in message:
        return _of_parts(message, parts)
    turn: dict[str, Any] = {"role": message.get("role"), "content": message.get("content")}
    calls = message.get("tool_calls")
    if _is_list(calls):
        made = [_call(call) for call in calls if isinstance(call, Mapping)]
        if made:
            turn["tool_calls"] = made
    answered = message.get("tool_call_id")
    if answered is None and turn["role"] == "tool":
        answered = message.get("id")
    if _is_list(answered):
        answered = answered[0] if len(answered) else None
    more = {"tool_call_id": answered, "name": message.get("name")}
    return turn | {key: value for key, value in more.items() if value is not None}


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    """A tool call, whether its name stands in it or in a function inside."""
    inner = call.get("function")
    of = inner if isinstance(inner, Mapping) else call
    arguments = of.get("arguments")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False, default=str)
    return {"id": call.get("id"), "type": "function", "function": {"name": of.get("name"), "arguments": text}}


def _of_parts(message: Mapping[str, Any], parts: Iterable[Any]) -> dict[str, Any]:
    """A message whose content stands in typed parts."""
    texts: list[str] = []
    calls: list[dict[str, Any]] = []
    turn: dict[str, Any] = {"role": message.get("role"), "content": None}
    for part in parts:
        if not isinstance(part, Mapping):
            continue
        if part.get("type") == "tool_call":
            calls.append(_call(part))
        elif part.get("type") == "tool_call_response":
            turn["tool_call_id"] = part.get("id")
            texts.append(as_text(next((part[key] for key in ("response", "result") if key in part), "")))
        elif part.get("type") in ("text", None):
            said = part.get("content", part.get("text"))
            if isinstance(said, str):
                texts.append(said)
    if texts or not calls:
        turn["content"] = "".join(texts)
    return {**turn, "tool_calls": calls} if calls else turn


def _is_list(value: Any) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, (list, tuple))


def as_text(value: Any) -> str:
    """A reply as text: itself, the text of messages or content blocks, else its JSON; nothing is the empty text."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if is_messages(value):
        if any("role" in turn for turn in value):
            return last_text(turns_of(value), "assistant") or ""
        return text_of(value) or json.dumps(value, ensure_ascii=False, default=str)
    return json.dumps(value, ensure_ascii=False, default=str)


def said(messages: Any, prompt: Any = None) -> dict[str, Any]:
    """Prompt, messages and final text of a whole conversation.

    The prompt is what is given, else the first user turn: the later ones of a conversation depend on the replies.
    """
    turns = turns_of(messages)
    first = next((text_of(turn["content"]) for turn in turns if turn["role"] == "user"), None)
    given = prompt if isinstance(prompt, str) and prompt else first or ""
    row: dict[str, Any] = {"prompt": given, "final_text": last_text(turns, "assistant") or ""}
    return {**row, "messages": turns} if turns else row


def asked(prompt: Any, completion: Any = None) -> dict[str, Any]:
    """Prompt, messages and final text where the prompt and its completion stand apart, each a text or messages.

    Of messages the prompt is the last user turn, as everywhere, and the completion what was said last.
    """
    row: dict[str, Any] = {"prompt": prompt if isinstance(prompt, str) else "", "final_text": as_text(completion)}
    before = turns_of(prompt) if is_messages(prompt) else []
    after = turns_of(completion) if is_messages(completion) else []
    if before:
        row["prompt"] = last_user_text(before)
    elif prompt is not None and not isinstance(prompt, str):
        row["prompt"] = as_text(prompt)
    if before or after:
        start = before or [{"role": "user", "content": row["prompt"]}]
        row["messages"] = [*start, *(after or [{"role": "assistant", "content": row["final_text"]}])]
    return row


def unpacked(value: Any) -> Any:
    """A conversation that stands in a text as JSON, anything else as it is."""
    if isinstance(value, str) and value.lstrip()[:1] == "[":
        try:
            found = json.loads(value)
        except (ValueError, RecursionError):
            return value
        return found if is_messages(found) and all("role" in turn for turn in found) else value
    return value
