"""What measurements of judges need of a row: prompt, turn, what its judge said; and the row with another reply."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whileai import keys

#: What an earlier verdict leaves on a row beside its reward.
_SAID = ("reason", "judge_meta", "failure_class")


def prompt_text(row: Mapping[str, Any]) -> str:
    """The last thing the policy was asked, empty where the row does not hold it."""
    prompt = row.get("prompt")
    if isinstance(prompt, str):
        return prompt
    for turns in (prompt, row.get("messages")):
        if keys.is_messages(turns):
            return keys.last_user_text(turns)
    return ""


def turn_of(row: Mapping[str, Any]) -> Any:
    """Which completion of its task a row is, ``None`` where it does not say."""
    turn = row.get("rollout_index")
    return None if keys.is_missing(turn) else turn


def meta_of(row: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What a judge wrote beside its verdict."""
    meta = row.get("judge_meta")
    return meta if isinstance(meta, Mapping) else None


def named_task(record: Mapping[str, Any]) -> str | None:
    """The task that a record names by id, whatever else it holds."""
    ids = {key: record[key] for key in ("task_id", "scenario_id") if key in record}
    return keys.task_of(ids)


def with_reply(row: Mapping[str, Any], text: str) -> dict[str, Any]:
    """A copy of a row with another reply, in every place that holds it; what a judge said does not go along."""
    old = keys.candidate_of(row)
    changed = {key: value for key, value in row.items() if key not in _SAID}
    changed["final_text"] = text
    for place in ("messages", "steps"):
        turns = row.get(place)
        if isinstance(turns, (list, tuple)) and turns and isinstance(turns[-1], Mapping):
            last = {key: text if value == old else value for key, value in turns[-1].items()}
            if place == "messages" and last.get("role") == "assistant":
                last["content"] = text
            changed[place] = [*turns[:-1], last]
    return changed
