"""Verdicts on rollouts as they land, by the one path that all judging takes."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Generator
from typing import Any

from whileai.scoring.judging import land_verdicts, put
from whileai.verify.adapt import Judge

#: Seconds one verdict may take, as in `wai.grade`.
TIMEOUT = 30.0
#: Batches at a time: one stuck verdict holds up its own batch alone.
BATCHES = 4
#: Rows of a batch, so that what lands meanwhile is not left to one batch.
MOST = 256
#: Rows that may wait for their verdicts before rollouts wait for them.
ROOM = 512
#: Seconds in which rows that land may join a batch, as a batch starts processes.
LINGER = 0.02


class Judging:
    """Judges rows in the background while rollouts go on.

    Parameters
    ----------
    judge : Judge
    landed : callable
        Called on the loop with each row once its verdict is on it.
    failed : callable
        Called on the loop with the error of a judge that cannot run at all.
    """

    def __init__(
        self, judge: Judge, landed: Callable[[dict[str, Any]], None], failed: Callable[[BaseException], None]
    ) -> None:
        self.judge = judge
        self._landed = landed
        self._failed = failed
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[dict[str, Any]] = deque()
        self._judged: dict[int, dict[str, Any]] = {}
        self._room = asyncio.Semaphore(ROOM)
        self._idle = asyncio.Event()
        self._idle.set()
        self._batches = 0
        self._most_batches = 1 if getattr(judge, "bounded", False) else BATCHES
        self._ended = False

    async def take(self, row: dict[str, Any]) -> None:
        """Have a row judged; waits where too many wait already."""
        await self._room.acquire()
        self._judged[id(row)] = row
        self._waiting.append(row)
        self._idle.clear()
        if len(self._waiting) == 1:
            self._loop.call_later(LINGER, self._start)

    async def idle(self) -> None:
        """Until every row has its verdict."""
        await self._idle.wait()

    def leftover(self) -> list[dict[str, Any]]:
        """The rows without a verdict, when the run is stopped; what their judges still say is not heard."""
        self._ended = True
        left, self._judged = list(self._judged.values()), {}
        self._waiting.clear()
        self._idle.set()
        return left

    def _start(self) -> None:
        while self._waiting and self._batches < self._most_batches and not self._ended:
            batch = [self._waiting.popleft() for _ in range(min(MOST, len(self._waiting)))]
            self._batches += 1
            threading.Thread(target=self._judge, args=(batch,), name="whileai-judge", daemon=True).start()

    def _judge(self, batch: list[dict[str, Any]]) -> None:
        """One batch, on a thread of its own."""
        error: BaseException | None = None
        landing = land_verdicts(self.judge, batch, timeout=TIMEOUT, workers=None)
        try:
            for place, verdict in landing:
                if self._ended:
                    break
                self._soon(self._give, batch[place], verdict)
        except BaseException as raised:  # noqa: BLE001 - handed to whoever runs the simulation
            error = raised
        finally:
            if isinstance(landing, Generator):
                landing.close()
            self._soon(self._batch_ended, error)

    def _soon(self, call: Callable[..., None], *arguments: Any) -> None:
        if not self._loop.is_closed():
            try:
                self._loop.call_soon_threadsafe(call, *arguments)
            except RuntimeError:  # closed in between: the run is over
                if not self._loop.is_closed():
                    raise

    def _give(self, row: dict[str, Any], verdict: Any) -> None:
        if self._judged.pop(id(row), None) is None:
            return
        put(row, verdict, self.judge.name)
        self._room.release()
        self._landed(row)

    def _batch_ended(self, error: BaseException | None) -> None:
        self._batches -= 1
        if self._ended:
            return
        if error is not None:
            self._failed(error)
            return
        self._start()
        if not self._judged:
            self._idle.set()
