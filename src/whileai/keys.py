"""The keys of a row: the one place that says where a row keeps its task, prompt, candidate, gold and stamps."""

from __future__ import annotations

import hashlib
import json
import math
import numbers
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, TypeGuard

GOLD_NAMES = ("reference", "answer", "target", "solution", "label", "expected")
SIDE_BLOCKS = ("info", "metadata")
#: What one verdict writes on a row, in that order.
VERDICT_KEYS = ("reward", "label_source", "judge_name", "judge_status", "reason", "judge_meta", "failure_class")
#: The true verdict of a row; who gave it (``human``, ``program``, ``model``); what each said; how the row was picked.
GOLD_REWARD, GOLD_KIND, GOLD_LABELS, LABEL_SAMPLING = "gold_reward", "gold_kind", "gold_labels", "label_sampling"
CUT_OFF_REASONS = frozenset({"length", "max_tokens", "max_output_tokens", "token_limit", "model_length", "truncated"})


def is_missing(value: Any) -> bool:
    """Whether a cell holds nothing: ``None``, or the NaN, NA or NaT that a frame puts where a value is absent."""
    if value is None or isinstance(value, (str, int, Mapping, list, tuple)):
        return value is None
    if isinstance(value, (float, Decimal)):
        return math.isnan(value)
    if getattr(value, "dtype", None) is not None and getattr(value, "shape", None) == ():
        item = value.item()  # a scalar of another float width
        return isinstance(item, float) and math.isnan(item)
    return type(value).__name__ in ("NAType", "NaTType")


def is_blank(reference: Any) -> bool:
    """Whether a gold holds nothing to check against: blank text, or a list of nothing but that."""
    if isinstance(reference, str):
        return not reference.strip()
    if isinstance(reference, (list, tuple)):
        return all(item is None or is_blank(item) for item in reference)
    return False


def digest(text: str) -> str:
    """The first 12 hex digits of the SHA-256 of `text` as UTF-8; a lone surrogate is hashed as its own bytes."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def prompt_code(text: str) -> int:
    """The first 60 bits of the SHA-256 of `text` as UTF-8: a prompt in eight bytes, the same in every engine."""
    return int(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:15], 16)


def default_task_id(prompt: str | Sequence[Mapping[str, Any]]) -> str:
    """``task_`` and the digest of the prompt; of a message list, of its canonical JSON, all turns included."""
    if not isinstance(prompt, str):
        prompt = json.dumps(list(prompt), sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return f"task_{digest(prompt)}"


def task_name(value: Any) -> str:
    """The text of an id, equal for ``1``, ``1.0`` and ``Decimal("1.0")``: every container names a task alike."""
    if isinstance(value, str):
        return value
    if isinstance(value, Decimal) and value.is_finite():
        return str(int(value)) if value == int(value) else str(value.normalize())
    if isinstance(value, numbers.Real) and not isinstance(value, int) and float(value).is_integer():
        return str(int(float(value)))
    return str(value)


def task_of(row: Mapping[str, Any]) -> str | None:
    """The task a row belongs to: ``task_id``, else ``scenario_id``, else a digest of its prompt, else ``None``."""
    for key in ("task_id", "scenario_id"):
        value = row.get(key)
        if not is_missing(value):
            return task_name(value)
    prompt = row.get("prompt")
    if isinstance(prompt, str):
        return default_task_id(prompt)
    if is_messages(prompt):
        return default_task_id(prompt)
    messages = row.get("messages")
    if is_messages(messages):
        turns = prompt_turns(messages)
        alone = turns[0] if len(turns) == 1 and turns[0].get("role") == "user" else {}
        return default_task_id(text_of(alone.get("content")) or turns)
    return None


def prompt_turns(messages: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """A conversation without the reply it ends in: all turns up to the last user turn, or all where there is none."""
    last = max((place for place, turn in enumerate(messages) if turn.get("role") == "user"), default=len(messages) - 1)
    return messages[: last + 1]


def is_messages(value: Any) -> TypeGuard[Sequence[Mapping[str, Any]]]:
    """Whether a value is a non-empty list of message mappings."""
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(turn, Mapping) for turn in value)


def text_of(content: Any) -> str | None:
    """The text of a message's content: a string, or the text parts of content blocks joined; else ``None``."""
    if isinstance(content, str):
        return content
    if isinstance(content, (list, tuple)):
        parts = [block if isinstance(block, str) else _block_text(block) for block in content]
        return "".join(part for part in parts if part is not None)
    return None


def _block_text(block: Any) -> str | None:
    """The text of one content block, ``None`` for an image or any other kind."""
    text = block.get("text") if isinstance(block, Mapping) else None
    return text if isinstance(text, str) else None


def last_text(messages: Sequence[Mapping[str, Any]], role: str) -> str | None:
    """The text of the last message of a role, ``None`` where there is none."""
    for turn in reversed(messages):
        if turn.get("role") == role:
            text = text_of(turn.get("content"))
            if text is not None:
                return text
    return None


def last_user_text(messages: Sequence[Mapping[str, Any]]) -> str:
    """The last user turn of a conversation, empty where there is none."""
    return last_text(messages, "user") or ""


def candidate_of(row: Mapping[str, Any]) -> str | None:
    """What a verifier reads: ``final_text``, else the last assistant message, else ``None``."""
    text = row.get("final_text")
    if isinstance(text, str):
        return text
    messages = row.get("messages")
    return last_text(messages, "assistant") if is_messages(messages) else None


def at_path(row: Any, path: str) -> Any:
    """The value at a dotted path, ``None`` where it leads nowhere; a literal key with a dot wins over a path."""
    if isinstance(row, Mapping) and path in row:
        return row[path]
    for name in path.split("."):
        if isinstance(row, Mapping):
            row = row.get(name)
        elif isinstance(row, (list, tuple)) and name.isdecimal() and int(name) < len(row):
            row = row[int(name)]
        else:
            return None
    return row


def has_path(row: Any, path: str) -> bool:
    """Whether something stands at a dotted path, be it ``None``."""
    head, _, name = path.rpartition(".")
    inside = at_path(row, head) if head else row
    return (isinstance(row, Mapping) and path in row) or (isinstance(inside, Mapping) and name in inside)


def reference_of(row: Mapping[str, Any], field: str | None = None) -> Any:
    """The gold of a row, ``None`` where it has none.

    A named `field` (a dotted path) is the only place then. Else ``privileged.reference``, else the first of
    `GOLD_NAMES` on the row, in ``info``, in ``metadata``.
    """
    if field is not None:
        value = at_path(row, field)
        return None if is_missing(value) else value
    privileged = row.get("privileged")
    if isinstance(privileged, Mapping) and not is_missing(privileged.get("reference")):
        return privileged["reference"]
    for place in (row, *(row.get(block) for block in SIDE_BLOCKS)):
        if isinstance(place, Mapping):
            for name in GOLD_NAMES:
                value = place.get(name)
                if not is_missing(value):
                    return value
    return None


def _is_true(stamp: Any) -> bool:
    """Whether a stamp says yes, in whatever type of truth value its container has."""
    return type(stamp).__name__ in ("bool", "bool_", "int", "int64") and bool(stamp)


def is_cut_off(row: Mapping[str, Any]) -> bool:
    """Whether a stamp says that the reply was cut off: a finish reason, or a truncation mark on row or last step."""
    places: list[Any] = [row]
    steps = row.get("steps")
    if isinstance(steps, (list, tuple)) and steps:
        places.append(steps[-1])
    for place in places:
        if isinstance(place, Mapping):
            if _is_true(place.get("truncated")) or _is_true(place.get("is_truncated")):
                return True
            for name in ("finish_reason", "stop_reason"):
                reason = place.get(name)
                if isinstance(reason, str) and reason.lower() in CUT_OFF_REASONS:
                    return True
    return False


def is_fill(row: Mapping[str, Any]) -> bool:
    """Whether a row was added because of how its task's first rows came out, so that it tells no rate.

    Filling the tasks that disagree, and not those that agree, leaves rates of the rows that are no longer those of the
    tasks.
    """
    block = row.get("allocation")
    return isinstance(block, Mapping) and block.get("phase") == "fill"
