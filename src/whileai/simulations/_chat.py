"""Turns of other dialects as chat turns: content blocks with tool use in them, and response items.

The order of what happened is kept. An assistant turn is a text, then the calls it makes; a text after a call opens the
next turn. A key that no chat turn knows stays on the turn, or on the call, that is made of what had it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

#: Parts that are nothing but a text, and the key the text is under.
_TEXT_PARTS = {
    "text": "text",
    "input_text": "text",
    "output_text": "text",
    "summary_text": "text",
    "refusal": "refusal",
}
_THINKING = ("thinking", "redacted_thinking", "reasoning")
#: What says that an item is a message, which a chat turn need not say.
MARK = ("type", "message")
#: Keys a call or an output of a tool stands under in one dialect or another, the surest first.
_CALL_IDS = ("call_id", "tool_use_id", "tool_call_id", "id")
_INPUTS = ("arguments", "input", "action", "code", "queries", "operation")
_OUTPUTS = ("output", "outputs", "results", "result", "error")


def chat_turns(items: Sequence[dict[str, Any]], seen: Counter[str]) -> list[dict[str, Any]] | None:
    """`items` as chat turns, ``None`` where they are chat turns as they stand.

    Parameters
    ----------
    seen : Counter
        Counts the dialects met, ``responses`` and ``blocks``, and ``item_without_turn``: an item that is no turn and
        no part of one, kept as a turn of its own type.
    """
    kinds = [_kind(item) for item in items]
    if all(kind == "turn" for kind in kinds):
        return None
    chat = _Chat()
    for item, kind in zip(items, kinds, strict=True):
        if kind != "turn":
            seen["blocks" if kind == "blocks" else "responses"] += 1
        if kind == "turn":
            chat.add(item)
        elif kind == "blocks":
            chat.add_blocks(item)
        elif kind == "message":
            chat.add(_plain_message(item))
        elif kind == "thinking":
            chat.thinking.append(item)
        elif kind == "call":
            chat.add_call(item)
        elif kind == "output":
            chat.add_output(item)
        else:
            seen["item_without_turn"] += 1
            chat.add({"role": str(item.get("type", "")), "content": "", "item": item})
    chat.close()
    return chat.turns


def _kind(item: dict[str, Any]) -> str:
    """What an item is: ``turn``, ``blocks`` (a turn with tool use in its content), or a kind of response item."""
    name, role = item.get("type"), item.get("role")
    if isinstance(role, str):
        content = item.get("content")
        if isinstance(content, list) and any(_block_kind(block) != "other" for block in content):
            return "blocks"
        has_parts = isinstance(content, list) and any(
            isinstance(part, dict) and part.get("type") in ("input_text", "output_text", "refusal") for part in content
        )
        return "message" if name == "message" or has_parts else "turn"
    if not isinstance(name, str):
        return "turn"
    if name in _THINKING:
        return "thinking"
    if name.endswith(("_call_output", "_call_result")):
        return "output"
    return "call" if name.endswith("_call") else "other"


def _block_kind(block: Any) -> str:
    """What a content block is beside text and images: ``call``, ``output`` or ``thinking``, else ``other``."""
    name = block.get("type") if isinstance(block, dict) else None
    if not isinstance(name, str):
        return "other"
    if name in _THINKING:
        return "thinking"
    return "call" if name.endswith("tool_use") else "output" if name.endswith("tool_result") else "other"


class _Chat:
    """Turns as they are put together."""

    def __init__(self) -> None:
        self.turns: list[dict[str, Any]] = []
        self.thinking: list[dict[str, Any]] = []

    def add(self, turn: dict[str, Any]) -> None:
        if self.thinking and turn.get("role") == "assistant":
            turn = _with_thinking(turn, self.thinking)
            self.thinking = []
        elif self.thinking:
            self.close()
        self.turns.append(turn)

    def close(self) -> None:
        """A turn for thoughts that no turn of the assistant follows."""
        if self.thinking:
            thoughts, self.thinking = self.thinking, []
            self.turns.append(_with_thinking({"role": "assistant", "content": ""}, thoughts))

    def call(self, entry: dict[str, Any]) -> None:
        """Add a call to the assistant turn that has just been made, else to a new one."""
        last = self.turns[-1] if self.turns else {}
        if last.get("role") != "assistant" or self.thinking:
            self.add({"role": "assistant", "content": ""})
            last = self.turns[-1]
        if not isinstance(last.get("tool_calls"), list):
            last = self.turns[-1] = {**last, "tool_calls": []}
        last["tool_calls"].append(entry)

    def add_call(self, item: dict[str, Any]) -> None:
        """A response item that calls a tool; what a built-in tool answered stands in the same item."""
        kind = item["type"].removesuffix("_call")
        rest = {key: value for key, value in item.items() if key != "type"}
        call_id = _take_id(rest)
        name = rest.pop("name", None) if isinstance(rest.get("name"), str) else None
        entry: dict[str, Any] = {"id": call_id, "type": "function"}
        arguments = _take(rest, _INPUTS)
        answer = _take(rest, _OUTPUTS)
        entry["function"] = {"name": name or kind, "arguments": as_json_text({} if arguments is None else arguments)}
        if "id" in rest:
            entry["item_id"] = rest.pop("id")
        self.call(entry | {key: value for key, value in rest.items() if key not in entry})
        if answer is not None:
            self.turns.append({"role": "tool", "tool_call_id": call_id, "name": name or kind, "content": _said(answer)})

    def add_output(self, item: dict[str, Any]) -> None:
        """A response item that answers a call."""
        rest = {key: value for key, value in item.items() if key != "type"}
        self.close()
        turn = {"role": "tool", "tool_call_id": _take_id(rest), "content": _said(_take(rest, ("output", "result")))}
        if "id" in rest:
            turn["item_id"] = rest.pop("id")
        self.turns.append(turn | {key: value for key, value in rest.items() if key not in turn})

    def add_blocks(self, message: dict[str, Any]) -> None:
        """A turn whose content is blocks, some of them calls, answers or thoughts."""
        shell = {key: value for key, value in message.items() if key != "content" and (key, value) != MARK}
        held: list[Any] = []
        fresh = False  # whether the last turn is of this message and may take a call

        def flush() -> None:
            nonlocal held, shell, fresh
            if held:
                self.add({**shell, "content": _said(held)})
                held, shell, fresh = [], {"role": shell["role"]}, True

        for block in message["content"]:
            kind = _block_kind(block)
            if kind == "other":
                held.append(block)
                continue
            flush()
            if kind == "thinking":
                self.thinking.append(block)
            elif kind == "call":
                if not fresh or self.thinking:
                    self.add({**shell, "content": ""})
                    shell, fresh = {"role": shell["role"]}, True
                self.call(_block_call(block))
            else:
                fresh = False
                self.turns.append(_block_output(block))
        flush()
        extra = {key: value for key, value in shell.items() if key != "role"}
        if extra and self.turns:  # a message of answers alone: what else it says goes with the last of them
            last = self.turns[-1]
            both = {key: value for key, value in extra.items() if key in last}
            self.turns[-1] = {**extra, **last, **({"message": both} if both else {})}
        if message["role"] == "assistant":
            self.close()


def _with_thinking(turn: dict[str, Any], thoughts: list[dict[str, Any]]) -> dict[str, Any]:
    """A turn with what was thought before it: the text under ``reasoning_content``, the blocks as they came."""
    text = "\n".join(filter(None, map(_thought, thoughts)))
    found = {**turn, "thinking_blocks": thoughts}
    return found if "reasoning_content" in turn or not text else {**found, "reasoning_content": text}


def _thought(block: dict[str, Any]) -> str:
    for key in ("thinking", "summary", "content", "text"):
        value = block.get(key)
        text = value if isinstance(value, str) else _parts_text(value) if isinstance(value, list) else None
        if text:
            return text
    return ""


def _block_call(block: dict[str, Any]) -> dict[str, Any]:
    rest = {key: value for key, value in block.items() if key not in ("type", "id", "name", "input")}
    function = {"name": str(block.get("name", "")), "arguments": as_json_text(block.get("input", {}))}
    return {"id": block.get("id", ""), "type": "function", "function": function} | {
        key: value for key, value in rest.items() if key != "function"
    }


def _block_output(block: dict[str, Any]) -> dict[str, Any]:
    rest = {key: value for key, value in block.items() if key not in ("type", "content")}
    turn = {"role": "tool", "tool_call_id": _take_id(rest), "content": _said(block.get("content"))}
    return turn | {key: value for key, value in rest.items() if key not in turn}


def _plain_message(item: dict[str, Any]) -> dict[str, Any]:
    """A message item without its type, its content a text where it is nothing but texts."""
    rest = {key: value for key, value in item.items() if (key, value) != MARK}
    return {**rest, "content": _said(item.get("content"))}


def _take_id(rest: dict[str, Any]) -> Any:
    """The id of a call, taken out of `rest`; an item's own ``id`` only where it has no other."""
    for key in _CALL_IDS:
        if isinstance(rest.get(key), str):
            return rest.pop(key)
    return ""


def _take(rest: dict[str, Any], names: Sequence[str]) -> Any:
    """The first value under one of `names`, taken out of `rest`."""
    for name in names:
        if rest.get(name) is not None:
            return rest.pop(name)
    return None


def _said(content: Any) -> Any:
    """A content as a chat turn has it: a text where it is only texts, other parts in a list, JSON for the rest."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list) and content and all(isinstance(part, (str, dict)) for part in content):
        text = _parts_text(content)
        if text is not None:
            return text
        if any(isinstance(part, dict) and isinstance(part.get("type"), str) for part in content):
            return content
    return as_json_text(content)


def _parts_text(parts: Sequence[Any]) -> str | None:
    """The joined text of parts that are nothing but texts; ``None`` where one says more."""
    texts = []
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
            continue
        if not isinstance(part, dict):
            return None
        key = _TEXT_PARTS.get(part["type"]) if isinstance(part.get("type"), str) else None
        more = any(value for name, value in part.items() if name not in ("type", key))
        if key is None or more or not isinstance(part.get(key), str):
            return None
        texts.append(part[key])
    return "".join(texts)


def as_json_text(value: Any) -> str:
    """A value as a message holds it: text as it is, else JSON, else what has no JSON form as Python names it."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (RecursionError, TypeError, ValueError):  # too deep, odd keys, recursive
        return object.__repr__(value)


def calls_of(turn: dict[str, Any], tell: Callable[[str], None] | None = None) -> list[dict[str, Any]]:
    """The calls of an assistant turn as ``{"id", "name", "arguments"}``, arguments as they stand.

    Parameters
    ----------
    tell : callable, optional
        Is told ``call_unread`` of an entry that is no call.
    """
    entries = turn.get("tool_calls")
    found = list(entries) if isinstance(entries, (list, tuple)) else []
    if isinstance(turn.get("function_call"), dict) and not found:
        found = [turn["function_call"]]
    calls = []
    for entry in found:
        function = entry.get("function", entry) if isinstance(entry, dict) else None
        name = function.get("name") if isinstance(function, dict) else None
        if function is None or not isinstance(name, str):
            if tell is not None:
                tell("call_unread")
            continue
        arguments: Any = next((function[key] for key in ("arguments", "args", "input") if key in function), {})
        call_id = entry.get("id")
        calls.append({"id": call_id if isinstance(call_id, str) else "", "name": name, "arguments": arguments})
    return calls
