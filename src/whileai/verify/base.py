"""`Verifier`, the base of every rule that scores a completion, and `verifier`, which makes one of a function."""

from __future__ import annotations

import functools
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ClassVar

from whileai import keys
from whileai.errors import ScorerError
from whileai.verify.verdict import Verdict, not_scored, raised, read_verdict

_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Give the verdicts made inside `seconds` of wall time; the verifiers that can run long ask `time_left`."""
    token = _deadline.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


def time_left(default: float = 30.0) -> float:
    """Seconds the verdict now being made may still take."""
    deadline = _deadline.get()
    return default if deadline is None else max(0.0, deadline - time.monotonic())


def needs_fork(what: str) -> None:
    """Raise where the system cannot fork processes, which `what` runs in."""
    if not hasattr(os, "fork"):
        raise ScorerError(f"{what} runs in forked processes, on Linux and macOS only; this system is {sys.platform!r}.")


class Verifier:
    """A rule that scores one completion.

    Parameters
    ----------
    field : str, optional
        Dotted path of the gold on the row, such as ``"info.key"``. By default ``privileged.reference``, else the first
        of ``reference, answer, target, solution, label, expected`` on the row, in ``info`` or in ``metadata``.
    name : str, optional
        The judge name its verdicts carry, by default the class's name.

    Notes
    -----
    A subclass overrides `check`. The candidate is the row's ``final_text``, else its last assistant message. A row
    without gold gets the status ``missing_reward`` unless the class sets ``needs_reference = False``.
    """

    needs_reference: ClassVar[bool] = True
    #: Whether `check` is known to end soon on any input. If not, it runs in a process that a clock can kill.
    bounded: ClassVar[bool] = False
    #: Changed whenever the same candidate and gold may get another verdict; part of the key of a resumed run.
    version: ClassVar[str] = "1"

    def __init__(self, field: str | None = None, name: str | None = None) -> None:
        self.field = field
        self.name = name or type(self).__name__

    def check(self, candidate: str, reference: Any, row: Mapping[str, Any]) -> Any:
        """The verdict on `candidate`: a bool, a number in [0, 1] or a dict with ``reward``.

        Parameters
        ----------
        candidate : str
            The completion.
        reference : object
            The gold, ``None`` where the row has none and the class does not need one.
        row : mapping
            The whole row.
        """
        raise TypeError(f"{type(self).__name__} must define check(candidate, reference, row)")

    def score(self, row: Mapping[str, Any]) -> Verdict:
        """The verdict on a row, never an exception: what `check` raises is a verdict with status ``error``."""
        candidate = keys.candidate_of(row)
        reference = keys.reference_of(row, self.field)
        if candidate is None:
            return not_scored("error", "the row has no completion: neither final_text nor an assistant message")
        if self.needs_reference and (reference is None or keys.is_blank(reference)):
            where = f"in its field {self.field!r}" if self.field else "to check against"
            return not_scored("missing_reward", f"the row has no gold {where}")
        try:
            return read_verdict(self.check(candidate, reference, row))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a check raises is its verdict
            return raised(error)

    def score_all(
        self, rows: Sequence[Mapping[str, Any]], *, timeout: float, workers: int | None
    ) -> Iterator[tuple[int, Verdict]]:
        """The verdicts on many rows with their places, in any order; only called where `bounded` is true."""
        for place, row in enumerate(rows):
            with time_limit(timeout):
                verdict = self.score(row)
            yield place, verdict

    def __call__(self, row: Mapping[str, Any]) -> Verdict:
        """A verifier is a judge: the same as `score`."""
        return self.score(row)

    def config(self) -> dict[str, Any]:
        """What distinguishes this verifier from another of its class; part of the key of a resumed run."""
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{name}={value!r}" for name, value in self.config().items() if value is not None and name != "name"
        )
        return f"{type(self).__name__}({shown})"


class FunctionVerifier(Verifier):
    """A function of candidate, reference and row as a verifier; made by `verifier`."""

    needs_reference = False

    def __init__(self, function: Callable[[str, Any, Mapping[str, Any]], Any], name: str | None = None) -> None:
        super().__init__(name=name or getattr(function, "__name__", type(function).__name__))
        self.function = function
        functools.update_wrapper(self, function, updated=())

    def check(self, candidate: str, reference: Any, row: Mapping[str, Any]) -> Any:
        """What the function says."""
        return self.function(candidate, reference, row)


def verifier(function: Callable[[str, Any, Mapping[str, Any]], Any]) -> FunctionVerifier:
    """Make a verifier of a function ``(candidate, reference, row)`` that returns a bool, a number or a dict.

    Examples
    --------
    >>> import whileai as wai
    >>> @wai.verifier
    ... def same_length(candidate, reference, row):
    ...     return len(candidate) == len(reference)
    >>> wai.rows(["q"], ["abc"], same_length, references=["xyz"])[0]["reward"]
    1
    """
    return FunctionVerifier(function)


def golds(reference: Any) -> list[Any]:
    """The accepted golds: the items of a list or tuple, else the one value."""
    if isinstance(reference, (list, tuple)):
        return list(reference)
    return [reference]


def copied(value: Any) -> Any:
    """A copy of a row's dicts and lists, so that what one judge changes is not another's row; all else is shared."""
    if isinstance(value, Mapping):
        return {key: copied(item) for key, item in value.items()}
    return [copied(item) for item in value] if isinstance(value, list) else value
