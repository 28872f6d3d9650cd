"""What a completion did, in numbers: its length, its tool calls, its turns. Read off any row that has them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from whileai import keys

#: The name of each measure, and how it is told to a reader.
WORDS = {
    "length": "reply length",
    "tool_calls": "tool calls",
    "turns": "turns",
    "faults": "faults met",
    "cut_off": "cut off",
    "mean_logprob": "mean log-probability",
}


def behaviour_of(row: Mapping[str, Any]) -> dict[str, float]:
    """The measures of a row.

    Parameters
    ----------
    row : mapping

    Returns
    -------
    dict of str to float
        ``length`` (characters of the reply), ``tool_calls``, ``turns`` (of the assistant), ``faults`` (in the ledger),
        ``cut_off`` (0 or 1), ``tool:<name>`` (calls of each tool), ``mean_logprob`` (per generated token, in nats).
        What a row does not tell is left out: a row without steps and messages says nothing of tools.
    """
    measures: dict[str, float] = {"cut_off": float(keys.is_cut_off(row))}
    reply = keys.candidate_of(row)
    if reply is not None:
        measures["length"] = float(len(reply))
    tools, turns = _tools_and_turns(row)
    if turns is not None:
        measures["turns"] = float(turns)
        measures["tool_calls"] = float(len(tools))
        for name in tools:
            measures[f"tool:{name}"] = measures.get(f"tool:{name}", 0.0) + 1
    ledger = row.get("ledger")
    if isinstance(ledger, (list, tuple)):
        measures["faults"] = float(len(ledger))
    logprob, n_tokens = finite(row.get("logprob")), finite(row.get("n_tokens"))
    if logprob is not None and n_tokens is not None and n_tokens > 0:
        measures["mean_logprob"] = logprob / n_tokens
    return measures


def finite(value: Any) -> float | None:
    """A finite number, numpy's too, as a float; ``None`` for anything else."""
    if hasattr(value, "dtype") and getattr(value, "shape", None) == ():
        value = value.item()
    real = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if real and math.isfinite(value) else None


def _tools_and_turns(row: Mapping[str, Any]) -> tuple[list[str], int | None]:
    """The tools called, in order, and the turns of the assistant; ``None`` where the row tells neither."""
    messages, steps = row.get("messages"), row.get("steps")
    if keys.is_messages(steps):
        called = [str(step["tool"]) for step in steps if step.get("tool")]
        numbers = {step.get("turn") for step in steps if step.get("tool") or step.get("text") is not None}
        if None not in numbers and numbers:
            return called, len(numbers)
        return called, sum(step.get("text") is not None for step in steps) + len(called)
    if keys.is_messages(messages):
        spoken = [turn for turn in messages if turn.get("role") == "assistant"]
        calls = [call for turn in spoken for call in (turn.get("tool_calls") or ())]
        return [_called(call) for call in calls], len(spoken)
    return [], None


def _called(call: Any) -> str:
    function = call.get("function", call) if isinstance(call, Mapping) else {}
    return str(function.get("name", "")) if isinstance(function, Mapping) else ""
