"""One path from a judge to the verdicts on rows, for `wai.rows`, `wai.grade` and all that judges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from whileai import params
from whileai.progress import progress
from whileai.scoring.children import verdicts_of
from whileai.verify.adapt import Judge
from whileai.verify.base import Verifier
from whileai.verify.verdict import Verdict

#: What an earlier verdict may have left on a row.
VERDICT_KEYS = ("reward", "label_source", "judge_name", "judge_status", "reason", "judge_meta", "failure_class")


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
        return
    if isinstance(judge, Verifier) and judge.bounded:
        landing = judge.score_all(rows, timeout=timeout, workers=workers)
    else:
        landing = verdicts_of(judge, rows, timeout=timeout, workers=workers)
    yield from progress(landing, total=len(rows), what="grade")


def judge_rows(rows: Sequence[dict[str, Any]], judge: Judge, *, timeout: float, workers: int | None) -> None:
    """Put a judge's verdicts on rows of our own, in place."""
    for place, verdict in land_verdicts(judge, rows, timeout=timeout, workers=workers):
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
