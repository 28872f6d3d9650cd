"""Work given to the workers of Ray: rows out in batches of bytes, what was made of them back as it lands."""

from __future__ import annotations

import importlib
import math
import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from whileai.errors import MissingExtra

#: Batches a worker gets at least, so that none sits idle while another has a long one.
SHARES = 4
_SAID = 300


class Worker(ABC):
    """What one worker of Ray holds, and what it makes of a batch."""

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        """What is made of one batch, as bytes: columns would give all values of a key one type."""
        start, rows = int(batch["start"][0]), pickle.loads(batch["rows"][0])  # noqa: S301 - of the calling process
        return {"made": [pickle.dumps(self.work(start, rows))]}

    @abstractmethod
    def work(self, start: int, rows: Sequence[Any]) -> Any:
        """What is made of some rows; `start` is the place of the first in the whole."""


def load_ray(call: str) -> Any:
    """Ray, with its data library loaded."""
    try:
        importlib.import_module("ray.data")
        return importlib.import_module("ray")
    except ImportError as error:
        raise MissingExtra(f"{call}: engine='ray' needs Ray: pip install 'whileai[ray]' ({error})") from error


def packed(ray: Any, thing: Any, refused: Callable[[str], Exception]) -> bytes:
    """A thing as bytes that a worker can read; `refused` makes the error, from what was said, where it has none."""
    try:
        return bytes(ray.cloudpickle.dumps(thing))
    except Exception as error:  # what it holds may refuse in any way
        raise refused(" ".join(f"{type(error).__name__}: {error}".split())[:_SAID]) from error


def made(
    ray: Any,
    worker: tuple[type[Worker], tuple[Any, ...]],
    rows: Sequence[Any],
    *,
    most: int,
    workers: int | None,
    lost: Callable[[str], Exception],
) -> Iterator[Any]:
    """What Ray's workers make of the rows, a batch at a time as it lands.

    Parameters
    ----------
    worker : (type, tuple)
        A `Worker` and the arguments it is made with, once in each process.
    most : int
        Rows of a batch.
    workers : int, optional
        Processes, by default one a processor of the cluster.
    lost : callable
        Makes the error, from what Ray said, where the workers cannot go on.
    """
    if not ray.is_initialized():
        ray.init(include_dashboard=False)
    workers = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
    size = max(1, min(most, math.ceil(len(rows) / (SHARES * workers))))
    batches = [
        {"start": start, "rows": pickle.dumps(list(rows[start : start + size]))} for start in range(0, len(rows), size)
    ]
    dataset = ray.data.from_items(batches, override_num_blocks=len(batches)).map_batches(
        worker[0],
        fn_constructor_args=worker[1],
        batch_size=1,
        batch_format="numpy",
        compute=ray.data.ActorPoolStrategy(min_size=1, max_size=min(workers, len(batches))),
        num_cpus=1,
    )
    dataset.context.enable_progress_bars = False
    dataset.context.print_on_execution_start = False
    try:
        for batch in dataset.iter_rows():
            yield pickle.loads(batch["made"])  # noqa: S301 - bytes of our own workers
    except ray.exceptions.RayError as error:
        raise lost(str(error).strip().rpartition("\n")[2][:_SAID]) from error
