"""A score as some tool wrote it -> reward, status, marker."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

#: Words for right, wrong, out of time and not scored, in lower case.
RIGHT = frozenset({"true", "yes", "pass", "passed", "correct", "resolved", "success"})
WRONG = frozenset({"false", "no", "fail", "failed", "incorrect", "unresolved", "failure"})
LATE = frozenset({"timeout", "timed out", "time out"})
NONE = frozenset({"", "n/a", "na", "nan", "none", "null"})


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one score says.

    Attributes
    ----------
    reward : int, float or None
        In [0, 1]; ``None`` where there is none.
    status : str
        ``ok``, ``missing_reward``, ``invalid_result`` or ``timeout``, as a row's ``judge_status``.
    marker : float or None
        The number, on whatever scale, ``None`` where it is none.
    """

    reward: float | None
    status: str
    marker: float | None = None


UNSCORED = Verdict(None, "missing_reward")
INVALID = Verdict(None, "invalid_result")


def verdict_of(value: Any, letters: Mapping[str, float] | None = None) -> Verdict:
    """The verdict in a score: a truth value, a number, a letter, a word, or nothing of the kind.

    Parameters
    ----------
    letters : mapping of str to float, optional
        What a tool's own signs stand for, spelled as it spells them.

    Examples
    --------
    >>> verdict_of(True).reward, verdict_of(float("nan")).status, verdict_of(7.5)
    (1, 'missing_reward', Verdict(reward=None, status='invalid_result', marker=7.5))
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)) and len(value) == 1:
        value = value[0]
    if value is None:
        return UNSCORED
    if isinstance(value, numbers.Real):
        return _of_number(value)
    if isinstance(value, str):
        return _of_text(value.strip(), letters or {})
    return INVALID


def _of_number(value: Any) -> Verdict:
    try:
        number = float(value)
    except OverflowError:
        return INVALID
    if math.isnan(number):
        return UNSCORED
    if math.isinf(number):
        return INVALID
    plain = int(number) if number in (0.0, 1.0) else number
    return Verdict(plain, "ok", number) if 0.0 <= number <= 1.0 else replace(INVALID, marker=number)


def _of_text(text: str, letters: Mapping[str, float]) -> Verdict:
    if text in letters:
        return Verdict(letters[text], "ok", float(letters[text]))
    word = text.lower()
    if word in RIGHT or word in WRONG:
        return Verdict(int(word in RIGHT), "ok", float(word in RIGHT))
    if word in LATE:
        return Verdict(None, "timeout")
    if word in NONE:
        return UNSCORED
    try:
        return _of_number(float(text))
    except ValueError:
        return INVALID


def flat_scores(name: str, value: Any) -> dict[str, Any]:
    """One score as single ones: the parts of a mapping as ``name.key``, of a list as ``name.0``, else itself."""
    if isinstance(value, Mapping):
        return {f"{name}.{key}": part for key, part in value.items()}
    if isinstance(value, (list, tuple)) and len(value) != 1:
        return {f"{name}.{place}": part for place, part in enumerate(value)}
    return {name: value}


@dataclass(slots=True)
class Seen:
    """What the values of one score are, over a whole log.

    Attributes
    ----------
    whole : bool
        Whether it is a score of its own and no part of one.
    n_rewards : int
        Values in [0, 1].
    outside : float or None
        The first number outside.
    """

    whole: bool = True
    n_rewards: int = 0
    outside: float | None = None


class Survey:
    """All values of each score of a log, looked through before the first row is made.

    A score that counts steps is 0 or 1 here and there too. Where one of its numbers lies outside [0, 1], none of them
    is a reward, or the few that happen to lie inside would be taken for failed and passed.
    """

    def __init__(self) -> None:
        self.seen: dict[str, Seen] = {}

    def add(self, name: str, value: Any, letters: Mapping[str, float] | None = None, *, whole: bool = True) -> None:
        """Take in one value."""
        seen = self.seen.setdefault(name, Seen())
        seen.whole = seen.whole and whole
        verdict = verdict_of(value, letters)
        if verdict.reward is not None:
            seen.n_rewards += 1
        elif verdict.marker is not None and seen.outside is None:
            seen.outside = verdict.marker

    def is_reward(self, name: str) -> bool:
        """Whether a score lies in [0, 1] wherever it is a number."""
        return name in self.seen and self.seen[name].outside is None

    def first(self) -> str | None:
        """The score to take as the reward where nobody chose: the first that is one, else the first whole one."""
        whole = [name for name, seen in self.seen.items() if seen.whole]
        rewards = (name for name in whole if self.is_reward(name) and self.seen[name].n_rewards)
        return next(rewards, whole[0] if whole else None)

    def verdict(self, name: str, value: Any, letters: Mapping[str, float] | None = None) -> Verdict:
        """The verdict in a value of a score, which has no reward where the score as a whole is none."""
        verdict = verdict_of(value, letters)
        if verdict.reward is None or self.is_reward(name):
            return verdict
        return replace(verdict, reward=None, status=INVALID.status)
