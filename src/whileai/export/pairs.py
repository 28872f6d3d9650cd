"""Preference pairs: a better and a worse completion of one prompt, as near in length as can be had.

The pure picking stands here, under the room of `wai.preference_pairs`, for the trainer formats of pairs need it too.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from whileai.export.episodes import Episode
from whileai.keys import is_missing

#: Rewards are sums of small fractions: a margin is met exactly, up to rounding.
SLACK = 1e-9


class Pair(NamedTuple):
    """A better and a worse episode of one task."""

    chosen: Episode
    rejected: Episode


class _Entry(NamedTuple):
    """What orders the episodes of a task whatever order they came in."""

    size: int
    rank: float
    text: str
    place: int


def pick_pairs(
    episodes: Sequence[Episode], *, per_task: int, min_margin: float
) -> tuple[list[Pair], dict[str, str], Counter[str]]:
    """The pairs of every task, the reason for each task that has none, and rows left out by reason.

    A task without a pair is ``unjudged`` (fewer than two judged replies that can be trained on), ``prompts_differ`` (no
    two of one prompt), ``same_reward``, ``within_margin`` or ``same_text``.
    """
    groups: dict[str, list[Episode]] = {}
    left_out: Counter[str] = Counter()
    for episode in episodes:
        group = groups.setdefault(episode.task_id, [])
        if episode.problem or episode.reward is None:
            left_out[episode.problem or "unjudged"] += 1
        else:
            group.append(episode)
    pairs: list[Pair] = []
    without: dict[str, str] = {}
    for task, group in groups.items():
        found = _of_task(group, per_task, min_margin)
        if isinstance(found, str):
            without[task] = found
        else:
            pairs += found
    return pairs, without, left_out


def _of_task(group: Sequence[Episode], per_task: int, min_margin: float) -> list[Pair] | str:
    """The pairs of one task, or why there is none."""
    if len(group) < 2:
        return "unjudged"
    by_prompt: dict[str, list[Episode]] = {}
    for episode in group:
        by_prompt.setdefault(_text(episode.prompt), []).append(episode)
    reasons: list[str] = []
    for same in (by_prompt[prompt] for prompt in sorted(by_prompt)):
        rewards = [episode.reward or 0.0 for episode in same]
        if len(same) < 2:
            reasons.append("prompts_differ")
        elif max(rewards) == min(rewards):
            reasons.append("same_reward")
        elif max(rewards) - min(rewards) < min_margin - SLACK:
            reasons.append("within_margin")
        else:
            found = _nearest(same, per_task, min_margin)
            if found:
                return found
            reasons.append("same_text")
    return max(reasons, key=("prompts_differ", "same_reward", "within_margin", "same_text").index)


def _nearest(group: Sequence[Episode], per_task: int, min_margin: float) -> list[Pair]:
    """Up to so many pairs, each episode in one at most, the nearest in length first."""
    texts = [_text(episode.completion) for episode in group]
    entries = [
        _Entry(episode.size, _rank(episode), text, place)
        for place, (episode, text) in enumerate(zip(group, texts, strict=True))
    ]
    pairs: list[Pair] = []
    left = entries
    while len(pairs) < per_task:
        best = _best(left, [episode.reward or 0.0 for episode in group], min_margin)
        if best is None:
            break
        chosen, rejected = best
        pairs.append(Pair(group[chosen.place], group[rejected.place]))
        left = [entry for entry in left if entry not in best]
    return pairs


def _best(entries: Sequence[_Entry], rewards: Sequence[float], min_margin: float) -> tuple[_Entry, _Entry] | None:
    """The pair nearest in length whose rewards lie far enough apart, in k log k steps.

    Going up by reward, the lengths of all that lie far enough below are kept sorted, so that the nearest stands beside
    the place of the one at hand.
    """
    ascending = sorted(entries, key=lambda entry: (rewards[entry.place], entry))
    below: list[_Entry] = []
    waiting = 0
    best: tuple[int, _Entry, _Entry] | None = None
    for upper in ascending:
        while rewards[ascending[waiting].place] <= rewards[upper.place] - min_margin + SLACK:
            insort(below, ascending[waiting])
            waiting += 1
        for lower in _neighbours(below, upper):
            found = (abs(upper.size - lower.size), upper, lower)
            best = found if best is None else min(best, found)
    return None if best is None else (best[1], best[2])


def _neighbours(below: Sequence[_Entry], upper: _Entry) -> list[_Entry]:
    """The nearest in length on either side that says something else."""
    place = bisect_left(below, upper)
    right = next((below[at] for at in range(place, len(below)) if below[at].text != upper.text), None)
    left = next((below[at] for at in range(place - 1, -1, -1) if below[at].text != upper.text), None)
    return [entry for entry in (left, right) if entry is not None]


def _rank(episode: Episode) -> float:
    index = episode.row.get("rollout_index")
    return float(index) if isinstance(index, (int, float)) and not is_missing(index) else float("inf")


def _text(turns: Sequence[dict[str, Any]]) -> str:
    return json.dumps(turns, sort_keys=True, ensure_ascii=False)


def sign_p(more: int, fewer: int) -> float | None:
    """The exact two-sided p of a sign test; ``None`` where nothing differs.

    The chance that at least as many of ``more + fewer`` fair coins fall on one side (Dixon and Mood 1946, Journal of
    the American Statistical Association 41).
    """
    n = more + fewer
    if not n:
        return None
    tail = sum(math.comb(n, k) for k in range(max(more, fewer), n + 1))
    return min(1.0, float(Fraction(2 * tail, 2**n)))
