"""What the page shows of a row: its texts, its verdict, whether the verdict is in doubt."""

from __future__ import annotations

import json
import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from whileai import keys
from whileai.export.public import WITHHELD, Secrets, secrets_of
from whileai.simulations.schema import conversation, from_row

if TYPE_CHECKING:
    from whileai.simulations.schema import Message

#: Characters of a text that are kept at its start and at its end, and steps of a row.
FIRST, LAST, MOST_STEPS = 4000, 1000, 60
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
    """What the policy was asked: the prompt, or the turns that lead to its part."""
    prompt = row.get("prompt")
    if isinstance(prompt, str) and not row.get("messages") and not row.get("steps"):
        return prompt
    asked = _halves(row)[0]
    return _said(asked[0].content) if len(asked) == 1 else "\n\n".join(f"{k}: {t}" for k, t in _told(asked))


def steps_of(row: Mapping[str, Any]) -> list[list[str]]:
    """What happened between prompt and reply, as (kind, text): a ``call``, its ``result``, or the role that spoke."""
    if not row.get("messages") and not row.get("steps"):
        return []
    turns = _halves(row)[1]
    last = turns[-1] if turns else None
    if last is not None and not last.tool_calls and _said(last.content) == (keys.candidate_of(row) or ""):
        turns = turns[:-1]
    found = [[kind, cut(text)] for kind, text in _told(turns)]
    left = len(found) - MOST_STEPS
    return found if left <= 0 else [*found[:-10][: MOST_STEPS - 10], ["cut", f"{left:,} steps cut"], *found[-10:]]


def _halves(row: Mapping[str, Any]) -> tuple[list[Message], list[Message]]:
    """The turns of a row up to the prompt, and those after it."""
    task, rollout, *_ = from_row(dict(row))
    turns = conversation(task, rollout)
    asked = len(task.prefix) + 1
    if len(turns) < asked or turns[asked - 1].role != "user":
        asked = len(keys.prompt_turns([{"role": turn.role} for turn in turns]))
    return turns[:asked], turns[asked:]


def _told(turns: Sequence[Message]) -> list[tuple[str, str]]:
    """Turns as what was said, called and returned, one after the other."""
    found = []
    for turn in turns:
        if text := _said(turn.content):
            found.append(("result" if turn.role == "tool" else turn.role, text))
        for call in turn.tool_calls or ():
            function = call.get("function") if isinstance(call, Mapping) else None
            asked = function if isinstance(function, Mapping) else {"name": call}
            found.append(("call", " ".join(_said(asked.get(key)) for key in ("name", "arguments")).strip()))
    return found


def _said(content: Any) -> str:
    """The text of a turn; anything else as JSON."""
    if content is None:
        return ""
    text = keys.text_of(content)
    return text or (json.dumps(content, ensure_ascii=False, default=str) if content else "")


def row_record(row: Mapping[str, Any], secrets: Secrets | None) -> list[Any]:
    """A row as the page carries it: reply, reward, status, judge, reason, markers, and steps where there are any."""
    reason = row.get("reason")
    if isinstance(reason, str) and secrets is not None and secrets.in_text(reason, 1):
        reason = WITHHELD
    markers = row.get("markers")
    shown = {}
    if isinstance(markers, Mapping):
        shown = {str(name): number for name, value in markers.items() if (number := number_of(value)) is not None}
    found = [
        cut(keys.candidate_of(row) or ""),
        number_of(row.get("reward")),
        _text(row.get("judge_status")),
        _text(row.get("judge_name")),
        cut(_text(reason)),
        shown,
    ]
    steps = steps_of(row)
    return [*found, steps] if steps else found


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


def has_gold(rows: Iterable[Mapping[str, Any]], key: str) -> bool:
    """Whether any row says under this key what the true verdict is."""
    return any(not keys.is_missing(gold) and gold != "" for row in rows for gold in (keys.at_path(row, key),))


def number_of(value: Any) -> float | None:
    """A reward or marker as a number, ``None`` where it is missing or none."""
    if isinstance(value, numbers.Real) and not keys.is_missing(value):
        number = float(value)
        return number if abs(number) != float("inf") else None
    return None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
