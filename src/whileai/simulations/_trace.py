"""The steps of an episode read off its messages, where a log keeps only those."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from whileai import keys
from whileai.simulations._chat import calls_of


def steps_of(turns: list[dict[str, Any]], seen: Counter[str]) -> list[dict[str, Any]]:
    """What happened in a conversation that uses tools, in its order; empty where it uses none.

    Every call is a step with its arguments and, where a later turn answers it, its result. Arguments and results that
    are JSON objects or lists are read, all others kept as text.

    Parameters
    ----------
    seen : Counter
        Counts ``arguments_kept_as_text``, ``call_without_result``, ``result_without_call`` and ``call_unread``.
    """

    def tell(code: str) -> None:
        seen[code] += 1

    made = [calls_of(turn, tell) if turn.get("role") == "assistant" else [] for turn in turns]
    if not any(made):
        return []
    steps: list[dict[str, Any]] = []
    waiting: list[dict[str, Any]] = []
    policy_turn = 0
    for turn, calls in zip(turns, made, strict=True):
        role, text = turn.get("role"), keys.text_of(turn.get("content"))
        if role == "user" and text is not None:
            steps.append({"user": text, "turn": policy_turn})
        elif role == "assistant":
            opened = [_call_step(call, policy_turn, seen) for call in calls]
            if text and opened:
                opened[0] = {"text": text, **opened[0]}
            elif text:
                opened = [{"text": text, "turn": policy_turn}]
            steps += opened
            waiting += opened[: len(calls)]
            policy_turn += 1
        elif role in ("tool", "function"):
            step = _answered(turn, waiting)
            if step is None:
                seen["result_without_call"] += 1
                name = turn.get("name")
                step = {"tool": name if isinstance(name, str) else "", "turn": max(policy_turn - 1, 0)}
                steps.append(step)
            step["result"] = _read(turn.get("content") if text is None else text)
    seen["call_without_result"] += len(waiting)
    return steps


def _call_step(call: dict[str, Any], policy_turn: int, seen: Counter[str]) -> dict[str, Any]:
    arguments = _read(call["arguments"])
    if isinstance(arguments, str):
        seen["arguments_kept_as_text"] += bool(arguments)
    step = {"tool": call["name"], "arguments": arguments, "turn": policy_turn}
    return {**step, "id": call["id"]} if call["id"] else step


def _answered(turn: dict[str, Any], waiting: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The open call a tool turn answers: by its id, else the first of its name, else the first; no longer open then."""
    call_id, name = turn.get("tool_call_id"), turn.get("name")
    if isinstance(call_id, str) and call_id:
        places = [place for place, step in enumerate(waiting) if step.get("id") == call_id]
        places = places or [place for place, step in enumerate(waiting) if "id" not in step]
    else:
        places = [place for place, step in enumerate(waiting) if step["tool"] == name] or list(range(len(waiting)))
    return waiting.pop(places[0]) if places else None


def _read(value: Any) -> Any:
    """A text that is a JSON object or list as what it says; every other value as it is."""
    if not isinstance(value, str):
        return value
    try:
        found = json.loads(value)
    except (RecursionError, ValueError):
        return value
    return found if isinstance(found, (dict, list)) else value
