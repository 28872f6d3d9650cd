"""What many formats share: which of a log's scores is the reward, repeats that are not numbered, runs that failed."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from whileai.keys import digest
from whileai.readers.logs.base import Log
from whileai.readers.logs.scores import INVALID, UNSCORED, Survey, Verdict
from whileai.result.digits import count

#: How the message, or the name, of an error of lack of time begins.
_late = re.compile(
    r"\W*(?:(?:[A-Za-z_]+\.)*\w*Time(?:d)?_?[Oo]ut|(?:request |evaluation )?tim(?:ed |e[- ]?)out)",
    re.ASCII | re.IGNORECASE,
)


class Scored:
    """The scores of one log: one is the reward, the numbers of the others are markers.

    Parameters
    ----------
    survey : Survey
        All scores of the log.
    first : sequence of str
        Scores that may be the reward, the likeliest first; the first of them that lies in [0, 1] is.
    others : bool
        Whether any other score may be the reward where none of `first` is.
    what : str
        What the scores are called, for messages.
    choose : bool
        Whether the caller's ``filter=`` names a score; in some logs it names something else.

    Raises
    ------
    ParamError
        The caller chose a score that the log does not have.
    """

    def __init__(
        self,
        log: Log,
        survey: Survey,
        first: Sequence[str] = (),
        *,
        others: bool = True,
        what: str = "score",
        choose: bool = True,
    ) -> None:
        self.log, self.survey, self.what = log, survey, what
        self.n_odd = 0
        self.usual = first[0] if first else None
        self.chosen = choose and log.choice is not None
        names = list(survey.seen)
        if self.chosen and names:
            self.name: str | None = log.pick(names, what)
            return
        rewards = (name for name in first if survey.is_reward(name) and survey.seen[name].n_rewards)
        self.name = next(rewards, survey.first() if others else None)
        if self.name is None:
            self.name = next((name for name in first if name in survey.seen), None)

    def keys(self, scores: Mapping[str, Any]) -> dict[str, Any]:
        """Reward, status, judge and markers of a row with these scores."""
        chosen, markers = UNSCORED, {}
        for name, value in scores.items():
            if name not in self.survey.seen:
                continue
            verdict = self.survey.verdict(name, value)
            if name == self.name:
                chosen = verdict
            if verdict.marker is not None and (name != self.name or verdict.reward is None):
                markers[name] = verdict.marker
        self.n_odd += chosen.status == INVALID.status
        row = judged(chosen, self.name)
        return {**row, "markers": markers} if markers else row

    def finish(self, *, always: bool = False) -> None:
        """Say what was chosen, unless it is what the format calls the reward, and where that is no reward in [0, 1]."""
        others = [name for name in self.survey.seen if name != self.name]
        log, named = self.log, ", ".join(others[:6]) + (", ..." if len(others) > 6 else "")
        what = self.what.replace("_", " ")
        if self.name is None and others:
            text = f"no {what} of this log is known to be the reward; {named} were read as markers."
            log.note(f"{self.what}_no_reward", text, "Choose one with filter=.")
        elif others and not self.chosen and not self.n_odd and (always or self.name != self.usual):
            kept = "is kept as a marker" if len(others) == 1 else "are kept as markers"
            log.note(
                f"{self.what}_chosen", f"the {what} {self.name} is the reward; {named} {kept}.", "Choose with filter=."
            )
        if self.n_odd:
            seen = self.survey.seen[self.name] if self.name is not None else None
            such = f", such as {seen.outside!r}" if seen is not None and seen.outside is not None else ""
            text = f"{self.name} is no reward in [0, 1] on {count(self.n_odd, 'row')}{such}."
            fix = "Choose another with filter=." if others else "Numbers are markers of that name."
            log.note("score_no_reward", text, f"The rows are unscored. {fix}")


def judged(verdict: Verdict, name: str | None = None) -> dict[str, Any]:
    """The keys of a row for a verdict, and whose it is."""
    row: dict[str, Any] = {"reward": verdict.reward, "judge_status": verdict.status}
    return row if name is None else {**row, "judge_name": name}


def failed(error: Any, kind: Any = None) -> dict[str, Any]:
    """The keys of a row whose run failed: never a reward, and a time-out where the message or the kind says so."""
    text = error if isinstance(error, str) and error else "error"
    if isinstance(error, Mapping):
        text = next((str(error[key]) for key in ("message", "error", "type") if error.get(key)), "error")
        kind = kind or error.get("type")
    late = _late.match(text) or (isinstance(kind, str) and _late.search(kind))
    return {"reward": None, "judge_status": "timeout" if late else "error", "error": text}


def snapped(reward: Any) -> Any:
    """A reward with what is 0 or 1 up to a millionth as just that, as products of floats come out."""
    if isinstance(reward, float):
        return next((whole for whole in (0.0, 1.0) if abs(reward - whole) <= 1e-6), reward)
    return reward


def canonical(value: Any) -> str:
    """A value as one text, the same for equal values whatever the order of their keys."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)


def id_of(value: Any) -> str:
    """A task's id where all that tells tasks apart is what was asked."""
    return f"task_{digest(value if isinstance(value, str) else canonical(value))}"


def numbers_of(values: Any, without: Sequence[str] = ()) -> dict[str, Any]:
    """The numbers and truth values among the values of a mapping."""
    if not isinstance(values, Mapping):
        return {}
    return {
        str(name): value
        for name, value in values.items()
        if name not in without and (isinstance(value, (int, float)) or hasattr(value, "dtype"))
    }


def listed(value: Any) -> list[Any]:
    """A list that should stand there, empty where something else does."""
    return value if isinstance(value, list) else []


class Repeats:
    """Counts the completions of each task, for logs that do not number them."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def next(self, task: str) -> int:
        """The place of the next completion of a task, from 0."""
        self._seen[task] += 1
        return self._seen[task] - 1
