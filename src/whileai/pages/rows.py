"""What the page shows of a row: its texts, its verdict, whether the verdict is in doubt."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from whileai import keys
from whileai.export.public import WITHHELD, Secrets, secrets_of

#: Characters of a text that are kept at its start and at its end.
FIRST, LAST = 4000, 1000
#: Rewards from here to there are no clear verdict.
DOUBTFUL = (0.25, 0.75)


def is_uncertain(row: Mapping[str, Any]) -> bool:
    """Whether the verdict on a row is in doubt.

    Its status is not ``ok``, its reward lies in the middle or on the other side of 0.5 from gold, or two judgments
    differ.
    """
    status = row.get("judge_status")
    if isinstance(status, str) and status != "ok":
        return True
    reward = number_of(row.get("reward"))
    if reward is None:
        return False
    if DOUBTFUL[0] <= reward <= DOUBTFUL[1]:
        return True
    others = [number_of(row.get("gold_reward"))]
    judgments = row.get("judgments")
    if isinstance(judgments, (list, tuple)):
        others += [number_of(item.get("reward")) for item in judgments if isinstance(item, Mapping)]
    return any(other is not None and (other >= 0.5) != (reward >= 0.5) for other in others)


def prompt_text(row: Mapping[str, Any]) -> str:
    """What the policy was asked: the prompt, or the turns that lead to the reply."""
    prompt = row.get("prompt")
    messages = prompt if keys.is_messages(prompt) else row.get("messages")
    if keys.is_messages(messages):
        turns = keys.prompt_turns(messages)
        if len(turns) > 1 or not isinstance(prompt, str):
            return "\n\n".join(
                f"{turn.get('role')}: {keys.text_of(turn.get('content')) or ''}".strip() for turn in turns
            )
    return prompt if isinstance(prompt, str) else ""


def row_record(row: Mapping[str, Any], secrets: Secrets | None) -> list[Any]:
    """A row as the page carries it: reply, reward, status, judge, reason, markers."""
    reason = row.get("reason")
    if isinstance(reason, str) and secrets is not None and secrets.in_text(reason, 1):
        reason = WITHHELD
    markers = row.get("markers")
    shown = {}
    if isinstance(markers, Mapping):
        shown = {str(name): number for name, value in markers.items() if (number := number_of(value)) is not None}
    return [
        cut(keys.candidate_of(row) or ""),
        number_of(row.get("reward")),
        _text(row.get("judge_status")),
        _text(row.get("judge_name")),
        cut(_text(reason)),
        shown,
    ]


def task_secrets(rows: Iterable[tuple[str, Mapping[str, Any]]], *, include_reference: bool) -> dict[str, Secrets]:
    """What the reasons on the rows of each task may not quote: its privileged block, and its gold."""
    rows = list(rows)
    found = secrets_of(rows, include_reference=include_reference)
    for task, row in rows:
        gold = None if include_reference else keys.reference_of(row)
        if gold is not None:
            found.setdefault(task, Secrets()).learn({"privileged": {"reference": gold}})
    return found


def gold_text(rows: Iterable[Mapping[str, Any]]) -> str | None:
    """The gold of a task, of the first row that has one."""
    for row in rows:
        gold = keys.reference_of(row)
        if gold is not None:
            return cut(gold if isinstance(gold, str) else str(gold))
    return None


def cut(text: str) -> str:
    """A text without its middle where it is long, with the number of characters that were left out."""
    left = len(text) - FIRST - LAST
    return text if left <= 0 else f"{text[:FIRST]}\n[{left:,} characters cut]\n{text[-LAST:]}"


def pass_first(rows: Sequence[Mapping[str, Any]], most: int, *, fails: bool) -> list[Mapping[str, Any]]:
    """At most so many rows of a task, the passes first, or the fails: a pair is then read one against the other."""
    ranked = sorted(rows, key=lambda row: (number_of(row.get("reward")) or 0.0) * (1 if fails else -1))
    return ranked[:most]


def has_gold_reward(rows: Iterable[Mapping[str, Any]]) -> bool:
    """Whether any row says what the true verdict is."""
    return any(number_of(row.get("gold_reward")) is not None for row in rows)


def number_of(value: Any) -> float | None:
    """A reward or marker as a number, ``None`` where it is missing or none."""
    if isinstance(value, numbers.Real) and not keys.is_missing(value):
        number = float(value)
        return number if abs(number) != float("inf") else None
    return None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
