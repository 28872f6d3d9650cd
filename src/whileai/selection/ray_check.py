"""`decontaminate(engine="ray")`: the eval to each worker of Ray once, texts out in batches, what was found back."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

from whileai.errors import ParamError, WaiError
from whileai.scoring.ray_workers import Worker, load_ray, made, packed
from whileai.selection.checker import Checked, Checker, joined
from whileai.selection.texts import CALL

#: Rows of a batch at the most.
BATCH = 20_000


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
    ray = load_ray(CALL)
    if not rows:
        return Checked()
    checker.prepare()

    def unsent(said: str) -> ParamError:
        bound = "a function that can be sent to Ray's workers"
        return ParamError.of(CALL, "embed", bound, checker.options.embed, f"({said})")

    def lost(said: str) -> WaiError:
        return WaiError(f"{CALL}: Ray's workers cannot check the rows ({said}).")

    landed: dict[int, Checked] = {}
    worker = RayChecker, (packed(ray, checker, unsent),)
    for start, found in made(ray, worker, rows, most=BATCH, workers=None, lost=lost):
        if isinstance(found, Exception):
            raise found
        landed[start] = found
    return joined(landed[start] for start in sorted(landed))


class RayChecker(Worker):
    """The eval and the rules."""

    def __init__(self, sent: bytes) -> None:
        self.checker: Checker = pickle.loads(sent)  # noqa: S301 - bytes of the calling process

    def work(self, start: int, rows: Sequence[Any]) -> Any:
        """What is found on some rows, with the place of the first; or the error that the embedding raised."""
        try:
            return start, self.checker.check(rows).for_the_road()
        except Exception as error:  # noqa: BLE001 - it is raised where the call was made
            return start, _sendable(error)


def _sendable(error: Exception) -> Exception:
    """An error that survives the trip: itself, or its words."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - bytes made in the same line
    except Exception:  # noqa: BLE001 - an exception may refuse in any way
        return WaiError(f"{CALL}: embed raised {type(error).__name__}: {error}")
    return error
