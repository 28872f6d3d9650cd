"""Preference pairs that were given as such: a prompt, what was chosen and what was rejected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from whileai import keys
from whileai.errors import RowError
from whileai.export.episodes import Episode, plain_turns, tool_schemas
from whileai.export.pairs import Pair


def is_pair(row: Mapping[str, Any]) -> bool:
    """Whether a row is a preference pair."""
    return "chosen" in row and "rejected" in row


def pair_of(call: str, index: int, row: Mapping[str, Any], system_prompt: str | None, tools: Any) -> Pair:
    """A pair as two episodes. Where no prompt stands apart, it is what both conversations begin with.

    Raises
    ------
    RowError
        A side that is neither a text nor messages of texts, or says nothing.
    """
    prompt = _side(call, index, row, "prompt", "user") if not keys.is_missing(row.get("prompt")) else []
    chosen, rejected = (_side(call, index, row, name, "assistant") for name in ("chosen", "rejected"))
    if prompt and chosen[: len(prompt)] == prompt and rejected[: len(prompt)] == prompt:
        chosen, rejected = chosen[len(prompt) :], rejected[len(prompt) :]
    elif not prompt:
        both = zip(chosen, rejected, strict=False)
        shared = next((at for at, (one, other) in enumerate(both) if one != other), min(len(chosen), len(rejected)))
        prompt, chosen, rejected = chosen[:shared], chosen[shared:], rejected[shared:]
    if system_prompt and not (prompt and prompt[0]["role"] == "system"):
        prompt = [{"role": "system", "content": system_prompt}, *prompt]
    task = keys.task_of(row) or keys.default_task_id(prompt)
    known = tool_schemas(row.get("tools") or tools)

    def episode(turns: list[dict[str, Any]], reward: Any) -> Episode:
        number = float(reward) if isinstance(reward, (int, float)) else None
        return Episode(row, task, prompt, turns, [0] * len(prompt) + [1] * len(turns), number, known)

    return Pair(episode(chosen, row.get("chosen_reward")), episode(rejected, row.get("rejected_reward")))


def _side(call: str, index: int, row: Mapping[str, Any], name: str, role: str) -> list[dict[str, Any]]:
    value = row.get(name)
    if isinstance(value, str) and value:
        return [{"role": role, "content": value}]
    turns: Sequence[dict[str, Any]] | None = plain_turns(value) if keys.is_messages(value) else None
    if not turns:
        raise RowError.of(call, "rows", index, name, "a text or a list of messages of texts", value)
    return list(turns)
