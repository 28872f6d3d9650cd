"""`decontaminate(engine="ray")`: the eval to each worker of Ray once, texts out in batches, what was found back."""

from __future__ import annotations

import importlib
import math
import pickle
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from whileai.errors import MissingExtra, ParamError, WaiError
from whileai.selection.checker import Checked, Checker, joined
from whileai.selection.texts import CALL

#: Rows of a batch at the most, and batches a worker gets at least so that none sits idle while another has a long one.
BATCH, SHARES = 20_000, 4


def check_on_ray(checker: Checker, rows: Sequence[Sequence[str]]) -> Checked:
    """What `Checker.check` finds on the rows, found by Ray's workers.

    Raises
    ------
    MissingExtra
        Ray is not installed.
    ParamError
        The embedding cannot be sent to a worker; and whatever it raises there is raised here.
    WaiError
        The workers were lost.
    """
    ray = _ray()
    if not rows:
        return Checked()
    checker.prepare()
    try:
        sent = ray.cloudpickle.dumps(checker)
    except Exception as error:  # what an embedding holds may refuse in any way
        said = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        bound = "a function that can be sent to Ray's workers"
        raise ParamError.of(CALL, "embed", bound, checker.options.embed, f"({said})") from error
    return joined(_parts(ray, sent, rows))


def _ray() -> Any:
    """Ray, with its data library loaded."""
    try:
        importlib.import_module("ray.data")
        return importlib.import_module("ray")
    except ImportError as error:
        raise MissingExtra(f"{CALL}: engine='ray' needs Ray: pip install 'whileai[ray]' ({error})") from error


def _parts(ray: Any, sent: bytes, rows: Sequence[Sequence[str]]) -> Iterator[Checked]:
    """What was found on each batch, in the order of the rows."""
    if not ray.is_initialized():
        ray.init(include_dashboard=False)
    workers = max(1, int(ray.cluster_resources().get("CPU", 1)))
    size = max(1, min(BATCH, math.ceil(len(rows) / (SHARES * workers))))
    starts = range(0, len(rows), size)
    batches = [{"start": start, "texts": pickle.dumps(list(rows[start : start + size]))} for start in starts]
    checked = ray.data.from_items(batches, override_num_blocks=len(batches)).map_batches(
        RayChecker,
        fn_constructor_args=(sent,),
        batch_size=1,
        batch_format="numpy",
        compute=ray.data.ActorPoolStrategy(min_size=1, max_size=min(workers, len(batches))),
        num_cpus=1,
    )
    checked.context.enable_progress_bars = False
    checked.context.print_on_execution_start = False
    landed: dict[int, Checked] = {}
    try:
        for batch in checked.iter_rows():
            start, found = pickle.loads(batch["found"])  # noqa: S301 - bytes of our own workers
            if isinstance(found, Exception):
                raise found
            landed[start] = found
    except ray.exceptions.RayError as error:
        said = str(error).strip().rpartition("\n")[2][:300]
        raise WaiError(f"{CALL}: Ray's workers cannot check the rows ({said}).") from error
    for start in starts:
        yield landed.pop(start)


class RayChecker:
    """What one worker of Ray holds: the eval and the rules."""

    def __init__(self, sent: bytes) -> None:
        self.checker: Checker = pickle.loads(sent)  # noqa: S301 - bytes of the calling process

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        """What is found on one batch, with the place of its first row; or the error that the embedding raised."""
        start, rows = int(batch["start"][0]), pickle.loads(batch["texts"][0])  # noqa: S301 - as above
        found: Checked | Exception
        try:
            found = self.checker.check(rows).for_the_road()
        except Exception as error:  # noqa: BLE001 - it is raised where the call was made
            found = _sendable(error)
        return {"found": [pickle.dumps((start, found))]}


def _sendable(error: Exception) -> Exception:
    """An error that survives the trip: itself, or its words."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - bytes made in the same line
    except Exception:  # noqa: BLE001 - an exception may refuse in any way
        return WaiError(f"{CALL}: embed raised {type(error).__name__}: {error}")
    return error
