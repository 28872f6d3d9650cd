"""The one JSON document a judge reads: what of a row it may see, cut to size, and what a verdict may quote of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whileai import keys

#: A text is not cut below this many characters; then whole turns go.
_SHORTEST = 80


@dataclass(frozen=True)
class Document:
    """What is judged.

    Attributes
    ----------
    text : str
        The document as JSON: escaping keeps what is judged from closing its frame.
    public : dict
        Its parts as sent, without the privileged one.
    n_cut : int
        Characters left out, turns included; 0 where it is whole.
    fits : bool
        Whether it could be cut to the size asked for.
    """

    text: str
    public: Mapping[str, Any]
    n_cut: int
    fits: bool


def document_of(row: Mapping[str, Any], max_chars: int, *, privileged: bool) -> Document:
    """The document of a row, at most `max_chars` long; its middles are cut, and it says so."""
    parts = public_parts(row)
    if privileged:
        parts["privileged"] = privileged_part(row)
    text = _json(parts)
    n_cut, whole = 0, len(text)
    if whole > max_chars:
        parts, text = _fitted(parts, max_chars)
        n_cut = max(1, whole - len(text))
    public = {name: part for name, part in parts.items() if name != "privileged"}
    return Document(text, public, n_cut, len(text) <= max_chars)


def public_parts(row: Mapping[str, Any]) -> dict[str, Any]:
    """System prompt, tools, conversation and final text: all else on a row (axes, faults, gold, verdicts) stays out."""
    turns = [turn for turn in _turns(row) if turn]
    system = [turn["content"] for turn in turns if turn.get("role") == "system"]
    own = row.get("system_prompt")
    reply = keys.candidate_of(row) or ""
    turns = [turn for turn in turns if turn.get("role") != "system"]
    if turns and turns[-1] == {"role": "assistant", "content": reply}:
        turns.pop()  # it is the final text, which need not be read twice
    parts: dict[str, Any] = {}
    if system or isinstance(own, str):
        parts["system_prompt"] = "\n\n".join(map(str, system)) if system else own
    if row.get("tools"):
        parts["tools"] = row["tools"]
    return {**parts, "conversation": turns, "final_text": reply}


def privileged_part(row: Mapping[str, Any]) -> Any:
    """What is privileged on a row; where there is no such block, its gold."""
    block = row.get("privileged")
    if isinstance(block, Mapping) and block:
        return dict(block)
    gold = keys.reference_of(row)
    return {} if gold is None else {"reference": gold}


def _turns(row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    messages, steps = row.get("messages"), row.get("steps")
    listed = list(messages) if keys.is_messages(messages) else []
    told = any(turn.get("role") == "tool" or turn.get("tool_calls") for turn in listed)
    if keys.is_messages(steps) and not told and any(step.get("tool") for step in steps):
        yield from map(_of_step, steps)
    elif listed:
        yield from map(_of_message, listed)
    elif keys.is_messages(row.get("prompt")):
        yield from map(_of_message, row["prompt"])
    else:
        yield {"role": "user", "content": str(row.get("prompt") or "")}


def _of_message(turn: Mapping[str, Any]) -> dict[str, Any]:
    """A turn without the keys a judge need not see."""
    text = keys.text_of(turn.get("content"))
    kept: dict[str, Any] = {"role": str(turn.get("role", "")), "content": "" if text is None else text}
    blocks = turn.get("content")
    if isinstance(blocks, (list, tuple)):
        others = [str(block.get("type")) for block in blocks if isinstance(block, Mapping) and "text" not in block]
        if others:
            kept["not_shown"] = others
    calls = turn.get("tool_calls")
    if isinstance(calls, (list, tuple)) and calls:
        kept["tool_calls"] = [_of_call(call) for call in calls]
    for name in ("name", "tool_call_id"):
        if isinstance(turn.get(name), str):
            kept[name] = turn[name]
    return kept


def _of_call(call: Any) -> Any:
    function = call.get("function", call) if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        return str(call)
    found = {"name": function.get("name"), "arguments": function.get("arguments")}
    return {"id": call["id"], **found} if isinstance(call.get("id"), str) else found


def _of_step(step: Mapping[str, Any]) -> dict[str, Any]:
    if step.get("tool"):
        return {name: step[name] for name in ("tool", "arguments", "result") if name in step}
    for name, role in (("user", "user"), ("text", "assistant")):
        if isinstance(step.get(name), str):
            return {"role": role, "content": step[name]}
    return {}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _fitted(parts: Mapping[str, Any], max_chars: int) -> tuple[dict[str, Any], str]:
    """The document with the middles of its longest texts cut, then of its conversation, until it fits."""

    def attempt(cap: int, turns: int | None) -> tuple[dict[str, Any], str]:
        cut = dict(parts)
        listed = cut["conversation"]
        if turns is not None and turns < len(listed):
            head, tail = (turns + 1) // 2, turns // 2
            gap = {"cut": f"{len(listed) - turns:,} turns left out here"}
            cut["conversation"] = [*listed[:head], gap, *listed[len(listed) - tail :]]
        cut = {name: _capped(part, cap) for name, part in cut.items()}
        cut = {"cut": "This document was too long: parts of it are cut, each where it says so.", **cut}
        return cut, _json(cut)

    cap = _largest(_SHORTEST, max_chars, lambda size: len(attempt(size, None)[1]) <= max_chars)
    if cap is not None:
        return attempt(cap, None)
    listed = len(parts["conversation"])
    turns = _largest(0, listed, lambda size: len(attempt(_SHORTEST, size)[1]) <= max_chars)
    return attempt(_SHORTEST, turns or 0)


def _largest(low: int, high: int, fits: Any) -> int | None:
    """The largest whole number from `low` to `high` that fits, where every smaller one does too."""
    if not fits(low):
        return None
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def _capped(value: Any, cap: int) -> Any:
    """`value` with every text in it at most `cap` characters long, beside the words that say what is cut."""
    if isinstance(value, str):
        if len(value) <= cap + 40:
            return value
        tail = cap // 2
        head = cap - tail
        return f"{value[:head]} [{len(value) - cap:,} characters cut here] {value[len(value) - tail :]}"
    if isinstance(value, Mapping):
        return {str(key): _capped(item, cap) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_capped(item, cap) for item in value]
    return value


def texts_in(value: Any) -> Iterator[str]:
    """Every text and number in a nested value, as text; keys are none."""
    if isinstance(value, Mapping):
        for item in value.values():
            yield from texts_in(item)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for item in value:
            yield from texts_in(item)
    elif value is not None and not isinstance(value, bool):
        text = str(value).strip()
        if text:
            yield text


def stands_in(quote: str, public: Mapping[str, Any]) -> bool:
    """Whether a quote stands in what is judged, but for white space and its escapes; an empty one stands nowhere."""
    asked = _plain(quote)
    if not asked:
        return False
    return any(asked in _plain(text) for text in texts_in(public)) or asked in _plain(_json(public))


def _plain(text: str) -> str:
    return " ".join(text.split())


def planted_objects(public: Mapping[str, Any], fields: Sequence[str]) -> list[dict[str, Any]]:
    """The JSON objects with all of `fields` that stand in the texts of what is judged, as a verdict would."""
    decoder = json.JSONDecoder()
    found = []
    for text in texts_in(public):
        if not all(f'"{name}"' in text for name in fields):
            continue
        for match in list(re.finditer(r"\{", text))[:200]:
            try:
                value, _ = decoder.raw_decode(text, match.start())
            except (ValueError, RecursionError):
                continue
            if isinstance(value, dict) and all(name in value for name in fields):
                found.append(value)
    return found


def quotes_gold(text: str, row: Mapping[str, Any], public: Mapping[str, Any], *, right: bool) -> bool:
    """Whether a text gives away what is privileged on a row.

    Of the gold: any mention as whole words, unless the reply says it and is judged right. Of the rest of the privileged
    block: what does not stand in what is judged.
    """
    block = row.get("privileged")
    rest = {name: part for name, part in block.items() if name != "reference"} if isinstance(block, Mapping) else {}
    reply = keys.candidate_of(row) or ""
    for gold in texts_in(keys.reference_of(row)):
        if _mentions(text, gold) and not (right and _mentions(reply, gold)):
            return True
    shown = "\n".join(texts_in(public))
    return any(_mentions(text, part) and not _mentions(shown, part) for part in texts_in(rest))


def _mentions(text: str, part: str) -> bool:
    """Whether `part` stands in `text` as whole words, whatever the case and the white space."""
    part, text = _plain(part).casefold(), _plain(text).casefold()
    if part not in text:
        return False
    return re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text) is not None
