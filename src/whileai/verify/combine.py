"""`All`, `Any` and `Weighted`: several judges as one."""

from __future__ import annotations

import math
import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any as Anything

from whileai.errors import ParamError
from whileai.verify.adapt import Judge, as_judge
from whileai.verify.base import Verifier, copied
from whileai.verify.verdict import Verdict, as_reward


class _Combined(Verifier, ABC):
    """Judges of the same row, and one verdict of theirs."""

    needs_reference = False

    def __init__(self, parts: Sequence[Judge], name: str | None) -> None:
        super().__init__(name=name or f"{type(self).__name__}({', '.join(part.name for part in parts)})")
        self.parts = list(parts)

    @property
    def bounded(self) -> bool:  # type: ignore[override]  # here it follows from the parts, one instance from the next
        """Whether every part is known to end soon on any input."""
        return all(part.bounded for part in self.parts)

    def score(self, row: Mapping[str, Anything]) -> Verdict:
        """The verdict on a row, of the verdicts of the parts."""
        verdicts: list[Verdict] = []
        for part in self.parts:
            verdicts.append(part.score(row if part.bounded else copied(row)))
            if self._settled(verdicts[-1]):
                break
        markers = {name: value for verdict in verdicts for name, value in verdict.markers.items()}
        meta = {"parts": [_entry(part, verdict) for part, verdict in zip(self.parts, verdicts, strict=False)]}
        unscored = next((place for place, verdict in enumerate(verdicts) if verdict.reward is None), None)
        if unscored is not None and not self._settled(verdicts[-1]):
            verdict = verdicts[unscored]
            return Verdict(None, verdict.status, self._told(unscored, verdict), markers, verdict.failure_class, meta)
        reward = self._reward(verdicts)
        least = min(range(len(verdicts)), key=lambda place: _known(verdicts[place]))
        verdict = verdicts[least]
        failed = reward != 1
        reason = self._told(least, verdict) if failed else None
        return Verdict(reward, "ok", reason, markers, verdict.failure_class if failed else None, meta)

    def check(self, candidate: str, reference: Anything, row: Mapping[str, Anything]) -> Verdict:
        """The verdict on the row; the parts find completion and gold themselves."""
        return self.score(row)

    def _settled(self, verdict: Verdict) -> bool:
        """Whether the verdict of a part settles the whole."""
        return False

    @abstractmethod
    def _reward(self, verdicts: Sequence[Verdict]) -> int | float | None:
        """The reward of the whole from the verdicts of its parts."""

    def _told(self, place: int, verdict: Verdict) -> str:
        """The reason of a part with its name."""
        return f"{self.parts[place].name}: {verdict.reason or f'reward {verdict.reward}'}"


class All(_Combined):
    """The least reward of several judges: 1 only where every one passes.

    Parameters
    ----------
    parts : list
        Verifiers, and functions of ``(row)``, ``(prompt, completion)`` or ``(prompt, completion, reference)``.
    name : str, optional
        The judge name, by default of the parts: ``All(ExactMatch, Numeric)``.

    Raises
    ------
    ParamError
        If there are no parts.
    TypeError
        If a part is no judge.

    Notes
    -----
    Every part is asked. A part that cannot score (no gold, an error, a bad result) leaves the whole without a reward,
    with that part's status. ``judge_meta["parts"]`` has each part's name, reward and status; of two markers of one name
    the later part's is kept.

    Examples
    --------
    >>> import whileai as wai
    >>> judge = wai.verify.All([wai.verify.Numeric(), lambda prompt, completion: len(completion) < 20])
    >>> judge.score({"final_text": "The answer is 5.", "answer": "5"}).reward
    1
    """

    def __init__(self, parts: Iterable[Anything], name: str | None = None) -> None:
        super().__init__(_judges("All", parts), name)

    def _reward(self, verdicts: Sequence[Verdict]) -> int | float | None:
        return min(map(_known, verdicts))


class Any(_Combined):
    """The greatest reward of several judges: 1 where one passes.

    Parameters
    ----------
    parts, name
        As in `All`.

    Raises
    ------
    ParamError, TypeError
        As in `All`.

    Notes
    -----
    Parts are asked in their order until one gives 1; the rest is not asked. Where none gives 1, a part that could not
    score leaves the whole without a reward, because it might have passed.

    Examples
    --------
    >>> import whileai as wai
    >>> judge = wai.verify.Any([wai.verify.ExactMatch(), wai.verify.Numeric()])
    >>> judge.score({"final_text": "5.0", "answer": "5"}).reward
    1
    """

    def __init__(self, parts: Iterable[Anything], name: str | None = None) -> None:
        super().__init__(_judges("Any", parts), name)

    def _settled(self, verdict: Verdict) -> bool:
        return verdict.reward == 1

    def _reward(self, verdicts: Sequence[Verdict]) -> int | float | None:
        return max(map(_known, verdicts))


class Weighted(_Combined):
    """The weighted mean of the rewards of several judges.

    Parameters
    ----------
    parts : list of (judge, weight)
        As the parts of `All`, each with a finite weight of at least 0; not all weights 0.
    name : str, optional
        As in `All`.

    Raises
    ------
    ParamError
        If there are no parts, a part is no pair, or a weight is negative or no finite number.
    TypeError
        If a part is no judge.

    Notes
    -----
    The mean is exact and not rounded. A part that cannot score leaves the whole without a reward, as in `All`.

    Examples
    --------
    >>> import whileai as wai
    >>> judge = wai.verify.Weighted([(wai.verify.ExactMatch(), 1), (wai.verify.Numeric(), 3)])
    >>> judge.score({"final_text": "It is 5.", "answer": "5"}).reward
    0.75
    """

    def __init__(self, parts: Iterable[tuple[Anything, float]], name: str | None = None) -> None:
        pairs = _listed("Weighted", parts, "a non-empty list of (judge, weight) pairs")
        for place, pair in enumerate(pairs):
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise ParamError.of("Weighted", f"parts[{place}]", "a pair of a judge and its weight", pair)
        weights = [_weight(place, weight) for place, (_, weight) in enumerate(pairs)]
        super().__init__(
            [as_judge(part, "Weighted", f"parts[{place}][0]") for place, (part, _) in enumerate(pairs)], name
        )
        if not sum(weights):
            raise ParamError.of("Weighted", "weights", "not all 0", [weight for _, weight in pairs])
        self.weights = [float(weight) for weight in weights]
        self._exact = weights

    def _reward(self, verdicts: Sequence[Verdict]) -> int | float | None:
        total = sum(weight * Fraction(_known(verdict)) for weight, verdict in zip(self._exact, verdicts, strict=True))
        return as_reward(float(total / sum(self._exact)))


def _known(verdict: Verdict) -> int | float:
    """The reward of a part; the least of all where a settled whole leaves it unknown."""
    return -1 if verdict.reward is None else verdict.reward


def _judges(call: str, parts: Iterable[Anything]) -> list[Judge]:
    listed = _listed(call, parts, "a non-empty list of verifiers or functions")
    return [as_judge(part, call, f"parts[{place}]") for place, part in enumerate(listed)]


def _listed(call: str, parts: Iterable[Anything], bound: str) -> list[Anything]:
    if isinstance(parts, (str, bytes, Mapping, Verifier, type)) or not isinstance(parts, Iterable):
        raise ParamError.of(call, "parts", bound, parts)
    listed = list(parts)
    if not listed:
        raise ParamError.of(call, "parts", bound, parts)
    return listed


def _weight(place: int, weight: Anything) -> Fraction:
    if isinstance(weight, numbers.Real) and not isinstance(weight, bool) and math.isfinite(weight):
        exact = Fraction(weight) if isinstance(weight, numbers.Rational) else Fraction(float(weight))
        if exact >= 0:
            return exact
    raise ParamError.of("Weighted", f"parts[{place}][1], a weight,", "a finite number of at least 0", weight)


def _entry(part: Judge, verdict: Verdict) -> dict[str, Anything]:
    """What a combined verdict keeps of a part's."""
    entry: dict[str, Anything] = {"name": part.name, "reward": verdict.reward, "status": verdict.status}
    return {**entry, "meta": verdict.meta} if verdict.meta else entry
