"""The conversation of an Inspect sample -> messages as chat APIs write them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

ATTACHMENT = "attachment://"


def resolved(value: Any, attachments: Mapping[str, Any]) -> Any:
    """A value with the texts that were moved out of it put back; one that is nowhere stays a reference."""
    if isinstance(value, str):
        return attachments.get(value[len(ATTACHMENT) :], value) if value.startswith(ATTACHMENT) else value
    if not attachments:
        return value
    if isinstance(value, list):
        return [resolved(item, attachments) for item in value]
    if isinstance(value, Mapping):
        return {key: resolved(item, attachments) for key, item in value.items()}
    return value


def turns_of(sample: Mapping[str, Any], attachments: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The messages of a whole sample, of one kept in pieces from its pool."""
    messages = sample.get("messages")
    refs, pool = sample.get("message_refs"), sample.get("pool")
    if not isinstance(messages, list) and isinstance(refs, list) and isinstance(pool, list):
        messages = [message for ref in refs for message in _span(pool, ref)]
    if not isinstance(messages, list):
        return []
    return [_turn(resolved(message, attachments)) for message in messages if isinstance(message, Mapping)]


def _span(pool: list[Any], ref: Any) -> list[Any]:
    """The messages from one place of the pool up to another."""
    start, end = ref if isinstance(ref, list) and len(ref) == 2 else (ref, ref + 1 if isinstance(ref, int) else None)
    return pool[start:end] if isinstance(start, int) and isinstance(end, int) else []


def _turn(message: Mapping[str, Any]) -> dict[str, Any]:
    """One message: role, content, tool calls and which call a tool's answer is to."""
    turn: dict[str, Any] = {"role": message.get("role"), "content": _content(message.get("content"))}
    calls = message.get("tool_calls")
    if isinstance(calls, list) and calls:
        turn["tool_calls"] = [_call(call) for call in calls if isinstance(call, Mapping)]
    if message.get("tool_call_id"):
        turn["tool_call_id"] = message["tool_call_id"]
    if message.get("role") == "tool" and message.get("function"):
        turn["name"] = message["function"]
    return turn


def _content(content: Any) -> Any:
    """Content that is text alone as one text, anything else as it is."""
    if isinstance(content, list) and content and all(_is_text(block) for block in content):
        return "".join(block["text"] for block in content)
    return content


def _is_text(block: Any) -> bool:
    return isinstance(block, Mapping) and block.get("type") == "text" and isinstance(block.get("text"), str)


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    """A tool call; its arguments as JSON text."""
    function, arguments = call.get("function"), call.get("arguments")
    if isinstance(function, Mapping):
        return dict(call)
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)
    return {"id": call.get("id"), "type": "function", "function": {"name": function, "arguments": text}}
