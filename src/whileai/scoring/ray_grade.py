"""Verdicts by the workers of Ray: rows out in batches, verdicts back, the clocks beside the judge."""

from __future__ import annotations

import importlib
import math
import pickle
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from whileai.errors import MissingExtra, ScorerError
from whileai.scoring.judging import land_verdicts
from whileai.verify.adapt import Judge
from whileai.verify.verdict import Verdict

CALL = "grade"
#: Rows of a batch at the most: of a fast judge, and of one whose verdicts may cost money, for a kill loses a batch.
BOUNDED_BATCH, BATCH = 1024, 64
#: Batches a worker gets at least, so that none sits idle while another has a long one.
SHARES = 4


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
    ray = _ray()
    try:
        sent = ray.cloudpickle.dumps(judge)
    except Exception as error:  # what a judge holds may refuse in any way
        said = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        raise ScorerError(f"{CALL}: the judge {judge.name} cannot be sent to Ray's workers ({said}).") from error
    return _landing(ray, sent, judge, rows, timeout, workers) if rows else iter(())


def rows_of(data: Any) -> Any:
    """The rows of a Ray Dataset as plain dicts in their order; any other data as it is."""
    ray = _ray()
    if not isinstance(data, ray.data.Dataset):
        return data
    return [{key: _plain(value) for key, value in row.items()} for row in data.iter_rows()]


def _ray() -> Any:
    """Ray, with its data library loaded."""
    try:
        importlib.import_module("ray.data")
        return importlib.import_module("ray")
    except ImportError as error:
        text = f"{CALL}: engine='ray' needs Ray: pip install 'whileai[ray]' ({error})"
        raise MissingExtra(text) from error


def _landing(
    ray: Any, sent: bytes, judge: Judge, rows: Sequence[Mapping[str, Any]], timeout: float, workers: int | None
) -> Iterator[tuple[int, Verdict]]:
    if not ray.is_initialized():
        ray.init(include_dashboard=False)
    most = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
    size = max(1, min(BOUNDED_BATCH if judge.bounded else BATCH, math.ceil(len(rows) / (SHARES * most))))
    starts = range(0, len(rows), size)
    # rows travel as bytes: columns would give every row every key, and one type to all values of a key
    batches = [{"start": start, "rows": pickle.dumps(list(rows[start : start + size]))} for start in starts]
    dataset = ray.data.from_items(batches, override_num_blocks=len(batches))
    graded = dataset.map_batches(
        RayGrader,
        fn_constructor_args=(sent, timeout),
        batch_size=1,
        batch_format="numpy",
        compute=ray.data.ActorPoolStrategy(min_size=1, max_size=min(most, len(batches))),
        num_cpus=1,
    )
    graded.context.enable_progress_bars = False
    graded.context.print_on_execution_start = False
    try:
        for batch in graded.iter_rows():
            yield from pickle.loads(batch["landed"])  # noqa: S301 - bytes of our own workers
    except ray.exceptions.RayError as error:
        said = str(error).strip().rpartition("\n")[2][:300]
        raise ScorerError(f"{CALL}: Ray's workers cannot run the judge {judge.name} ({said}).") from error


class RayGrader:
    """What one worker of Ray holds: the judge, and the clock over each of its verdicts."""

    def __init__(self, sent: bytes, timeout: float) -> None:
        self.judge: Judge = pickle.loads(sent)  # noqa: S301 - bytes of the calling process
        self.timeout = timeout

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        """The verdicts on one batch, with the places of its rows in the whole."""
        start, rows = int(batch["start"][0]), pickle.loads(batch["rows"][0])  # noqa: S301 - as above
        landing = land_verdicts(self.judge, rows, timeout=self.timeout, workers=None)
        landed = [(start + place, verdict) for place, verdict in landing]
        return {"landed": [pickle.dumps(landed)]}


def _plain(value: Any) -> Any:
    """A cell with lists in place of arrays and Python's own numbers in place of numpy's, inside mappings too."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value
