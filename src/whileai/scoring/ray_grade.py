"""Verdicts by the workers of Ray: rows out in batches, verdicts back, the clocks beside the judge."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from whileai.errors import ScorerError
from whileai.scoring.judging import land_verdicts
from whileai.scoring.ray_workers import Worker, load_ray, made, packed
from whileai.verify.adapt import Judge
from whileai.verify.verdict import Verdict

CALL = "grade"
#: Rows of a batch at the most: of a fast judge, and of one whose verdicts may cost money, for a kill loses a batch.
BOUNDED_BATCH, BATCH = 1024, 64


def land_on_ray(
    judge: Judge, rows: Sequence[Mapping[str, Any]], *, timeout: float, workers: int | None
) -> Iterator[tuple[int, Verdict]]:
    """The verdicts on `rows` with their places, a batch at a time as Ray's workers send them.

    Inside each worker everything is as in a local call: the same children and pools, the same clock over each verdict.
    The judge goes to each worker once.

    Raises
    ------
    MissingExtra
        Ray is not installed.
    ScorerError
        The judge cannot be sent to a worker, or no worker can run it.
    """
    ray = load_ray(CALL)

    def unsent(said: str) -> ScorerError:
        return ScorerError(f"{CALL}: the judge {judge.name} cannot be sent to Ray's workers ({said}).")

    def lost(said: str) -> ScorerError:
        return ScorerError(f"{CALL}: Ray's workers cannot run the judge {judge.name} ({said}).")

    sent = packed(ray, judge, unsent)
    if not rows:
        return iter(())
    most = BOUNDED_BATCH if judge.bounded else BATCH
    landed = made(ray, (RayGrader, (sent, timeout)), rows, most=most, workers=workers, lost=lost)
    return itertools.chain.from_iterable(landed)


def rows_of(data: Any) -> Any:
    """The rows of a Ray Dataset as plain dicts in their order; any other data as it is."""
    ray = load_ray(CALL)
    if not isinstance(data, ray.data.Dataset):
        return data
    return [{key: _plain(value) for key, value in row.items()} for row in data.iter_rows()]


class RayGrader(Worker):
    """The judge, and the clock over each of its verdicts."""

    def __init__(self, sent: bytes, timeout: float) -> None:
        self.judge: Judge = pickle.loads(sent)  # noqa: S301 - bytes of the calling process
        self.timeout = timeout

    def work(self, start: int, rows: Sequence[Any]) -> Any:
        """The verdicts on some rows, with their places in the whole."""
        landing = land_verdicts(self.judge, rows, timeout=self.timeout, workers=None)
        return [(start + place, verdict) for place, verdict in landing]


def _plain(value: Any) -> Any:
    """A cell with lists in place of arrays and Python's own numbers in place of numpy's, inside mappings too."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value
