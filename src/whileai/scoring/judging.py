"""One path from a judge to the verdicts on rows, for `wai.rows`, `wai.grade` and all that judges."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any, Protocol

from whileai import params
from whileai.progress import tallied
from whileai.scoring.children import verdicts_of
from whileai.verify.adapt import Judge
from whileai.verify.base import Verifier
from whileai.verify.verdict import Verdict


class Land(Protocol):
    """A way to the verdicts on rows: in this process and its children, or on an engine."""

    def __call__(
        self, judge: Judge, rows: Sequence[Mapping[str, Any]], *, timeout: float, workers: int | None
    ) -> Iterator[tuple[int, Verdict]]:
        """The verdicts with the places of their rows, as they land."""


def check_clock(call: str, timeout: Any, workers: Any) -> None:
    """Raise unless `timeout` is a positive number of seconds and `workers` a whole number or ``None``."""
    params.real(call, "timeout", timeout, "a number of seconds above 0", 0, float("inf"), ends="()")
    if workers is not None:
        params.whole(call, "workers", workers)


def land_verdicts(
    judge: Judge, rows: Sequence[Mapping[str, Any]], *, timeout: float, workers: int | None
) -> Iterator[tuple[int, Verdict]]:
    """The verdicts on `rows` with their places, as they land.

    A verifier that is known to end on any input scores here; anything else in children that a clock can kill.
    """
    if not rows:
        return iter(())
    if isinstance(judge, Verifier) and judge.bounded:
        return judge.score_all(rows, timeout=timeout, workers=workers)
    return verdicts_of(judge, rows, timeout=timeout, workers=workers)


@contextlib.contextmanager
def shown(landing: Iterator[tuple[int, Verdict]], total: int) -> Iterator[Iterator[tuple[int, Verdict]]]:
    """Verdicts to go through as they land, with a line on stderr that counts them.

    Whatever makes them (children, workers) has ended when this has: an exception between two verdicts leaves none.
    """
    told = tallied(landing, total=total, what="grade", kind=_status)
    try:
        yield told
    finally:
        for made in (told, landing):
            if isinstance(made, Generator):
                made.close()


def _status(landed: tuple[int, Verdict]) -> str:
    return landed[1].status


def judge_rows(rows: Sequence[dict[str, Any]], judge: Judge, *, timeout: float, workers: int | None) -> None:
    """Put a judge's verdicts on rows of our own, in place."""
    with shown(land_verdicts(judge, rows, timeout=timeout, workers=workers), len(rows)) as landing:
        for place, verdict in landing:
            put(rows[place], verdict, judge.name)


def put(row: dict[str, Any], verdict: Verdict, name: str) -> None:
    """Write one verdict on a row: only what the verdict says, markers beside those already there."""
    row["reward"] = verdict.reward
    row["judge_name"] = name
    row["judge_status"] = verdict.status
    if verdict.reason is not None:
        row["reason"] = verdict.reason
    if verdict.failure_class is not None:
        row["failure_class"] = verdict.failure_class
    if verdict.meta:
        row["judge_meta"] = verdict.meta
    if verdict.markers:
        before = row.get("markers")
        row["markers"] = {**(before if isinstance(before, Mapping) else {}), **verdict.markers}
