"""A line of the every_eval_ever registry: one completion of one sample, with its score."""

from __future__ import annotations

import json
from typing import Any

from whileai import keys
from whileai.export.episodes import Episode, Turn

SCHEMA = "instance_level_eval_0.2.1"


def registry_line(episode: Episode, gold: Any) -> dict[str, Any] | str:
    """The line of an episode, or the reason why there is none.

    The schema asks for a score, so an unjudged row has no line. The hash of a sample is over what is written of it: a
    hash over a gold that is not written could be undone by trying golds.
    """
    if episode.reward is None:
        return "unjudged"
    row, turns = episode.row, episode.turns
    n_calls = sum(len(turn.get("tool_calls", ())) for turn in turns)
    several = sum(turn["role"] == "user" for turn in turns) > 1
    kind = "agentic" if n_calls else "multi_turn" if several else "single_turn"
    asked = next((turn["content"] for turn in reversed(episode.prompt) if turn["role"] == "user"), "")
    reply = episode.completion[-1]["content"]
    name = _first_text(row, "spec_id", "data_source", "benchmark") or "unknown"
    model = _first_text(row, "model_version", "policy_version", "policy_name", "model") or "unknown"
    references = [] if gold is None else [as_text(item) for item in (gold if isinstance(gold, list) else [gold])]
    place = len(turns) - 1 if kind != "single_turn" else 0
    line: dict[str, Any] = {
        "schema_version": SCHEMA,
        "evaluation_id": _first_text(row, "evaluation_id", "run_id") or f"{name}/{model}",
        "model_id": model,
        "evaluation_name": name,
        "sample_id": episode.task_id,
        "sample_hash": keys.digest(json.dumps([asked, references], ensure_ascii=False)),
        "interaction_type": kind,
        "input": {"raw": asked, "reference": references},
        "output": {"raw": [reply]} if kind == "single_turn" else None,
        "messages": None if kind == "single_turn" else [_message(*pair) for pair in enumerate(turns)],
        "answer_attribution": [
            {
                "turn_idx": place,
                "source": "output.raw" if kind == "single_turn" else "messages[turn_idx].content",
                "extracted_value": reply,
                "extraction_method": _first_text(row, "judge_name", "label_source") or "unknown",
                "is_terminal": True,
            }
        ],
        "evaluation": {
            "score": float(episode.reward),
            "is_correct": episode.reward == 1,
            "num_turns": max(1, sum(turn["role"] == "assistant" for turn in turns)),
            "tool_calls_count": n_calls,
        },
        "metadata": {"rollout_index": str(row.get("rollout_index", 0))},
    }
    usage = _usage(row.get("usage"))
    return line if usage is None else {**line, "token_usage": usage}


def _first_text(row: Any, *names: str) -> str:
    return next((row[name] for name in names if isinstance(row.get(name), str) and row[name]), "")


def _message(place: int, turn: Turn) -> dict[str, Any]:
    message: dict[str, Any] = {"turn_idx": place, "role": turn["role"], "content": turn["content"]}
    if turn.get("reasoning_content"):
        message["reasoning_trace"] = turn["reasoning_content"]
    if turn.get("tool_calls"):
        message["tool_calls"] = [
            {"id": call["id"], "name": call["function"]["name"], "arguments": _arguments(call["function"]["arguments"])}
            for call in turn["tool_calls"]
        ]
    if turn["role"] == "tool":
        message["tool_call_id"] = [turn["tool_call_id"]]
    return message


def _arguments(text: str) -> dict[str, str]:
    """Arguments as the schema has them: an object of texts; what is no object stands under ``text``."""
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    return {key: as_text(item) for key, item in found.items()} if isinstance(found, dict) else {"text": text}


def as_text(value: Any) -> str:
    """A gold or an argument as a text: itself, else its JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _usage(usage: Any) -> dict[str, int] | None:
    """Token counts, where both are there."""
    if not isinstance(usage, dict):
        return None
    counts = [usage.get(name) for name in ("input_tokens", "output_tokens")]
    if not all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in counts):
        return None
    tokens_in, tokens_out = (int(n or 0) for n in counts)
    return {"input_tokens": tokens_in, "output_tokens": tokens_out, "total_tokens": tokens_in + tokens_out}
