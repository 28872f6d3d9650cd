"""The formats: what one line of each holds, which files they fit, and which rows cannot become a line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from whileai.export.columns import FLAG, FLAGS, NUMBER, TEXT, WHOLE
from whileai.export.episodes import Episode
from whileai.export.pairs import Pair

Line = dict[str, Any]


@dataclass(frozen=True)
class Format:
    """One format.

    Attributes
    ----------
    name : str
    kinds : tuple of str
        Kinds of files it fits: ``lines``, ``packed``, ``parquet``.
    unit : str
        What a line is made of: ``row``, ``task``, ``pair``, or ``whole`` for rows as they are.
    line : callable
        The line of an episode or a pair, or the reason, a text, why there is none.
    turns : tuple of str
        The columns that hold turns.
    columns : dict of str to str
        The other columns and their types.
    takes_reference : bool
        Whether the gold has a place in it.
    even : bool
        Whether all turns have the same keys, or only those that say something.
    """

    name: str
    kinds: tuple[str, ...]
    unit: str
    line: Callable[..., Line | str]
    turns: tuple[str, ...] = ()
    columns: dict[str, str] | None = None
    takes_reference: bool = False
    even: bool = True


ANY = ("lines", "packed", "parquet")
_MIXED = "nothing_to_learn"


def _whole(_: Episode) -> Line:
    raise TypeError("rows are written as they are")


def _prompt_only(episode: Episode, gold: str | None) -> Line:
    line: Line = {"prompt": episode.prompt, "task_id": episode.task_id}
    return line if gold is None else {**line, "reference": gold}


def _verl(episode: Episode, gold: str | None, index: int) -> Line:
    row = episode.row
    source = row.get("data_source") or row.get("spec_id")
    ability = row.get("ability")
    return {
        "data_source": source if isinstance(source, str) else "whileai",
        "prompt": episode.prompt,
        "ability": ability if isinstance(ability, str) else "",
        "reward_model": {"style": "rule", "ground_truth": gold or ""},
        "extra_info": {"split": "train", "index": index, "task_id": episode.task_id},
    }


def _messages(episode: Episode) -> Line | str:
    if not any(episode.mask):
        return _MIXED
    return {"messages": episode.turns, "loss_mask": episode.mask, "task_id": episode.task_id}


def _prompt_completion(episode: Episode) -> Line:
    return {"prompt": episode.prompt, "completion": episode.completion, "task_id": episode.task_id}


def _kto(episode: Episode) -> Line | str:
    if episode.reward is None:
        return "unjudged"
    if episode.reward not in (0, 1):
        return "partial"
    return {**_prompt_completion(episode), "label": episode.reward == 1}


def _preference(pair: Pair) -> Line:
    chosen, rejected = pair
    return {
        "prompt": chosen.prompt,
        "chosen": chosen.completion,
        "rejected": rejected.completion,
        "chosen_reward": chosen.reward,
        "rejected_reward": rejected.reward,
        "task_id": chosen.task_id,
    }


def _openai_sft(episode: Episode) -> Line | str:
    if not episode.linked:
        return "unlinked_calls"
    learnt = [bit for turn, bit in zip(episode.turns, episode.mask, strict=True) if turn["role"] == "assistant"]
    if not any(learnt):
        return _MIXED
    messages = _openai_turns(episode.turns)
    for message, bit in zip(messages, episode.mask, strict=True):
        if message["role"] == "assistant":
            message["weight"] = bit
    return {"messages": messages, **_openai_tools(episode)}


def _openai_dpo(pair: Pair) -> Line | str:
    chosen, rejected = pair
    if chosen.turns[:-1] != rejected.turns[:-1] or not chosen.completion:
        return "several_turns"  # the format compares one last message
    if not (chosen.linked and rejected.linked):
        return "unlinked_calls"
    return {
        "input": {"messages": _openai_turns(chosen.turns[:-1]), **_openai_tools(chosen)},
        "preferred_output": _openai_turns(chosen.turns[-1:]),
        "non_preferred_output": _openai_turns(rejected.turns[-1:]),
    }


def _openai_turns(turns: Sequence[Line]) -> list[Line]:
    """Turns with the keys that OpenAI's files may have."""
    found = []
    for turn in turns:
        message = {key: value for key, value in turn.items() if key != "reasoning_content"}
        if turn["role"] == "tool":
            message.pop("name", None)
        if turn.get("tool_calls") and not turn["content"]:
            del message["content"]
        found.append(message)
    return found


def _openai_tools(episode: Episode) -> Line:
    return {"tools": episode.tools} if episode.tools else {}


def _every_eval_ever(episode: Episode, gold: Any) -> Line | str:
    from whileai.export.registry_line import registry_line

    return registry_line(episode, gold)


_EXTRA = {"task_id": TEXT}
_PAIRS = {"chosen_reward": NUMBER, "rejected_reward": NUMBER, **_EXTRA}
_VERL = {
    "data_source": TEXT,
    "ability": TEXT,
    "reward_model": "STRUCT(style VARCHAR, ground_truth VARCHAR)",
    "extra_info": f"STRUCT(split VARCHAR, index {WHOLE}, task_id VARCHAR)",
}

FORMATS = {
    made.name: made
    for made in (
        Format("rows", ANY, "whole", _whole, takes_reference=True),
        Format("trl-prompt", ANY, "task", _prompt_only, ("prompt",), _EXTRA, takes_reference=True),
        Format("trl-messages", ANY, "row", _messages, ("messages",), {"loss_mask": FLAGS, **_EXTRA}),
        Format("trl-prompt-completion", ANY, "row", _prompt_completion, ("prompt", "completion"), _EXTRA),
        Format("trl-preference", ANY, "pair", _preference, ("prompt", "chosen", "rejected"), _PAIRS),
        Format("trl-kto", ANY, "row", _kto, ("prompt", "completion"), {"label": FLAG, **_EXTRA}),
        Format("verl", ("parquet",), "task", _verl, ("prompt",), _VERL, takes_reference=True),
        Format("openai-sft", ("lines",), "row", _openai_sft, even=False),
        Format("openai-dpo", ("lines",), "pair", _openai_dpo, even=False),
        Format("every-eval-ever", ("lines",), "row", _every_eval_ever, takes_reference=True, even=False),
    )
}
SUFFIXES = {"lines": ".jsonl", "packed": ".jsonl.gz or .jsonl.zst", "parquet": ".parquet"}
