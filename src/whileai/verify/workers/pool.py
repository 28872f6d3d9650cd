"""Worker processes over pipes: work sent ahead, a clock per piece of work, and no piece lost when a worker dies.

The workers are ``python -m module`` processes, never forks, so the caller may have threads, a running event loop or a
script without a main guard. One thread drives its own workers and waits on their pipes; a piece's time starts when its
worker starts on it, and who runs over it is killed from outside.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, NamedTuple, Self

from whileai.errors import ScorerError

#: Pieces of work a worker has at hand beside the one it is at.
AHEAD = 8
#: Pieces that wait before one more worker is worth its start.
WORTH_A_WORKER = 24
#: Seconds after which a piece counts as slow: others need not wait behind it.
SLOW = 0.25
#: Seconds a worker may take to start: imports on a cold disk.
START_SECONDS = 120.0
#: Deaths of a worker at the same piece after which the piece is at fault.
DEATHS = 2


class Outcome(NamedTuple):
    """What became of a piece of work.

    Attributes
    ----------
    status : {"done", "timeout", "died"}
        Whether it was answered, ran over its time, or brought down its worker more than once.
    body : dict or None
        The answer.
    """

    status: Literal["done", "timeout", "died"]
    body: dict[str, Any] | None = None


class _Piece:
    """A piece of work on its way."""

    __slots__ = ("body", "deaths", "done", "key", "number")

    def __init__(self, number: int, key: Any, body: Mapping[str, Any]) -> None:
        self.number = number
        self.key = key
        self.body = body
        self.deaths = 0
        self.done = False


class _Worker:
    """One worker process and the pieces sent to it, the first of which it is at."""

    def __init__(self, module: str, memory_mb: int | None) -> None:
        self.owner = os.getpid()
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the worker
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env=_environment(),
            start_new_session=True,
            bufsize=0,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.input = self.process.stdin.fileno()
        self.output = self.process.stdout.fileno()
        os.set_blocking(self.input, False)
        os.set_blocking(self.output, False)
        self.ready = False
        self.since = time.monotonic()
        self.pieces: deque[_Piece] = deque()
        self.unsent = json.dumps({"memory_mb": memory_mb, "parent": os.getpid()}).encode() + b"\n"
        self.unread = b""
        self.ended = False

    def give(self, piece: _Piece, limit: float) -> None:
        """Send a piece behind those it has."""
        if not self.pieces:
            self.since = time.monotonic()
        self.pieces.append(piece)
        message = {"id": piece.number, "limit": min(limit, 10**6), "body": piece.body}
        self.unsent += json.dumps(message).encode() + b"\n"

    def write(self) -> None:
        """Send what the pipe takes."""
        try:
            while self.unsent:
                self.unsent = self.unsent[os.write(self.input, self.unsent) :]
        except BlockingIOError:
            return
        except OSError:  # the worker is gone; its end of the other pipe says so
            self.unsent = b""

    def read(self) -> list[dict[str, Any]]:
        """The messages that have come."""
        try:
            while part := os.read(self.output, 1 << 16):
                self.unread += part
            self.ended = True
        except BlockingIOError:
            pass
        except OSError:
            self.ended = True
        *lines, self.unread = self.unread.split(b"\n")
        return [json.loads(line) for line in lines]

    def failure(self) -> str:
        """The last words of a worker that did not start."""
        self.errors.seek(0, os.SEEK_END)
        self.errors.seek(max(0, self.errors.tell() - 2000))
        return self.errors.read().decode(errors="replace").strip()

    def close(self) -> None:
        """Kill the process with all that it started, and wait for it; of another process's worker, only let go."""
        for pipe in (self.process.stdin, self.process.stdout, self.errors):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        if self.owner != os.getpid():
            self.process.returncode = 0
            return
        if self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.kill()
            self.process.wait()


def _environment() -> dict[str, str]:
    """The caller's environment, with what it can import importable, and nothing that depends on a hash seed.

    The folder of the caller's script stays out unless this package is in it: a file there may bear the name of a module
    of the standard library.
    """
    package = str(Path(__file__).resolve().parents[2])
    main = getattr(sys.modules.get("__main__"), "__file__", None)
    kept = [*os.environ.get("PYTHONPATH", "").split(os.pathsep), package]
    aside = {str(Path(main).resolve().parent) if main else "", str(Path.cwd()), ""}
    standard = {os.path.dirname(os.__file__), os.path.join(os.path.dirname(os.__file__), "lib-dynload")}  # noqa: PTH118, PTH120
    kept += [entry for entry in sys.path if entry not in aside | standard and not entry.endswith(".zip")]
    path = os.pathsep.join(dict.fromkeys(entry for entry in kept if entry))
    return {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "0", "PYTHONWARNINGS": "ignore"}


class _Idle:
    """The workers of this process that wait for work, and all that live."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.waiting: dict[tuple[str, int | None], list[_Worker]] = {}
        self.living: set[_Worker] = set()

    def take(self, module: str, memory_mb: int | None) -> _Worker | None:
        """A worker that waits, if one does."""
        with self.lock:
            waiting = self.waiting.get((module, memory_mb), [])
            while waiting:
                worker = waiting.pop()
                if worker.process.poll() is None:
                    return worker
                self.living.discard(worker)
                worker.close()
        return None

    def start(self, module: str, memory_mb: int | None) -> _Worker:
        """A new worker."""
        worker = _Worker(module, memory_mb)
        with self.lock:
            self.living.add(worker)
        return worker

    def put(self, module: str, memory_mb: int | None, worker: _Worker) -> None:
        """Keep a worker for later, or end it where enough are kept."""
        with self.lock:
            waiting = self.waiting.setdefault((module, memory_mb), [])
            if len(waiting) < processors():
                waiting.append(worker)
                return
        self.drop(worker)

    def drop(self, worker: _Worker) -> None:
        """End a worker."""
        with self.lock:
            self.living.discard(worker)
        worker.close()

    def close(self) -> None:
        """End all workers of this process; in a forked child, let go of the parent's."""
        with self.lock:
            workers, self.living, self.waiting = list(self.living), set(), {}
        for worker in workers:
            worker.close()


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_idle = _Idle()


def _forget() -> None:
    """Leave the parent's workers to the parent."""
    _idle.lock = threading.Lock()
    _idle.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
atexit.register(_idle.close)


class Session:
    """Work given to the workers of one module; used as a context manager, by one thread.

    Parameters
    ----------
    module : str
        The module the workers run; it calls `whileai.verify.workers.serve.serve`.
    timeout : float
        Seconds of wall time for each piece of work, counted while its worker is at it.
    workers : int, optional
        The most worker processes, by default one per processor. Fewer are started while little waits.
    memory_mb : int, optional
        Address space of a worker in MiB.

    Notes
    -----
    A piece whose worker dies is given to another; if that one dies at it as well, the outcome is ``died``. Pieces that
    wait behind one that ran over its time, or is only slow, are given to another worker.

    Raises
    ------
    ScorerError
        A worker does not start.
    """

    def __init__(
        self, module: str, *, timeout: float, workers: int | None = None, memory_mb: int | None = 2048
    ) -> None:
        self.module = module
        self.timeout = timeout
        self.most = workers or processors()
        self.memory_mb = memory_mb
        self.selector = selectors.DefaultSelector()
        self.workers: list[_Worker] = []
        self.queue: deque[_Piece] = deque()
        self.open: dict[int, _Piece] = {}
        self.landed: deque[tuple[Any, Outcome]] = deque()
        self.count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self.workers:
            if worker.owner == os.getpid() and worker.ready and not worker.pieces and not worker.unsent:
                _idle.put(self.module, self.memory_mb, worker)
            else:
                _idle.drop(worker)
        self.workers = []
        self.selector.close()

    def submit(self, key: Any, body: Mapping[str, Any]) -> None:
        """Give a piece of work; its outcome comes under `key`."""
        piece = _Piece(self.count, key, body)
        self.count += 1
        self.open[piece.number] = piece
        self.queue.append(piece)

    @property
    def waiting(self) -> int:
        """How many pieces have no outcome yet."""
        return len(self.open)

    def ready(self) -> Iterator[tuple[Any, Outcome]]:
        """The outcomes that have come, without waiting for any."""
        if self.open:
            self._turn(0.0)
        while self.landed:
            yield self.landed.popleft()

    def drain(self, most_waiting: int = 0) -> Iterator[tuple[Any, Outcome]]:
        """The outcomes as they come, until no more than `most_waiting` pieces are without."""
        while self.landed or len(self.open) > most_waiting:
            if not self.landed:
                self._turn(None)
            while self.landed:
                yield self.landed.popleft()

    # -- one turn of the wheel

    def _turn(self, wait: float | None) -> None:
        """Send, wait for news (`wait` seconds, by default until the next deadline), read, and look at the clocks."""
        self._staff()
        self._hand_out()
        for worker in self.workers:
            events = selectors.EVENT_READ
            self._watch(worker.output, worker, events)
            if worker.unsent:
                worker.write()
            self._watch(worker.input, worker, selectors.EVENT_WRITE if worker.unsent else 0)
        due = self._next_deadline() if wait is None else wait
        for key, _ in self.selector.select(due):
            worker = key.data
            if key.fd == worker.output:
                self._hear(worker)
            else:
                worker.write()
        now = time.monotonic()
        for worker in list(self.workers):
            if worker.ended:
                self._bury(worker)
            elif not worker.ready and now - worker.since > START_SECONDS:
                raise ScorerError(f"a worker of {self.module} did not start within {START_SECONDS:g} s")
            elif worker.pieces and now - worker.since > self.timeout:
                self._hear(worker)
                if worker.pieces and time.monotonic() - worker.since > self.timeout:
                    self._stop(worker)

    def _watch(self, descriptor: int, worker: _Worker, events: int) -> None:
        known = self.selector.get_map().get(descriptor)
        if known is None and events:
            self.selector.register(descriptor, events, worker)
        elif known is not None and not events:
            self.selector.unregister(descriptor)

    def _next_deadline(self) -> float:
        now = time.monotonic()
        due = 60.0
        for worker in self.workers:
            if not worker.ready:
                due = min(due, worker.since + START_SECONDS - now)
            elif worker.pieces:
                due = min(due, worker.since + self.timeout - now)
        if self._could_help():
            due = min(due, SLOW)
        return max(due, 0.0) + 0.001

    def _could_help(self) -> bool:
        """Whether another worker, idle or new, could take what waits behind a slow piece."""
        behind = any(len(worker.pieces) > 1 for worker in self.workers) or bool(self.queue)
        return behind and (len(self.workers) < self.most or any(w.ready and not w.pieces for w in self.workers))

    def _staff(self) -> None:
        """Have as many workers as the waiting work is worth."""
        starting = sum(not worker.ready for worker in self.workers)
        wanted = 1 + len(self.queue) // WORTH_A_WORKER
        now = time.monotonic()
        stuck = sum(worker.ready and len(worker.pieces) > 0 and now - worker.since > SLOW for worker in self.workers)
        if stuck and stuck == sum(worker.ready for worker in self.workers) and self._could_help():
            wanted = stuck + 1
        while self.open and len(self.workers) < min(self.most, max(wanted, 1)):
            worker = _idle.take(self.module, self.memory_mb)
            if worker is None:
                if starting and starting >= wanted:
                    return
                worker = _idle.start(self.module, self.memory_mb)
                starting += 1
            self.workers.append(worker)

    def _hand_out(self) -> None:
        """Give every worker work in hand, evenly; then what waits behind slow pieces to those with none."""
        ready = [worker for worker in self.workers if worker.ready and not worker.ended]
        for depth in range(1, AHEAD + 1):
            for worker in ready:
                if self.queue and len(worker.pieces) < depth:
                    worker.give(self.queue.popleft(), self.timeout)
        now = time.monotonic()
        for helper in ready:
            if helper.pieces or self.queue:
                continue
            for worker in ready:
                if len(worker.pieces) > 1 and now - worker.since > SLOW:
                    moved = [piece for piece in list(worker.pieces)[1:] if not piece.done]
                    for piece in moved:
                        helper.give(piece, self.timeout)
                    if moved:
                        break

    def _hear(self, worker: _Worker) -> None:
        """Take what a worker says."""
        for message in worker.read():
            worker.since = time.monotonic()
            if "ready" in message:
                worker.ready = True
                continue
            piece = worker.pieces.popleft()
            assert piece.number == message["id"]
            self._land(piece, Outcome("done", message["body"]))

    def _land(self, piece: _Piece, outcome: Outcome) -> None:
        if not piece.done:
            piece.done = True
            del self.open[piece.number]
            self.landed.append((piece.key, outcome))

    def _remove(self, worker: _Worker) -> deque[_Piece]:
        self._watch(worker.output, worker, 0)
        self._watch(worker.input, worker, 0)
        self.workers.remove(worker)
        _idle.drop(worker)
        return worker.pieces

    def _stop(self, worker: _Worker) -> None:
        """Kill a worker whose piece ran over its time; the pieces behind it go back to the front of the queue."""
        pieces = self._remove(worker)
        self._land(pieces.popleft(), Outcome("timeout"))
        self._again(pieces)

    def _bury(self, worker: _Worker) -> None:
        """A worker died: its piece gets another chance, those behind it lose nothing."""
        if not worker.ready:
            words = worker.failure()
            self._remove(worker)
            raise ScorerError(f"a worker of {self.module} did not start" + (f": {words}" if words else ""))
        pieces = self._remove(worker)
        if pieces:
            pieces[0].deaths += 1
            if pieces[0].deaths >= DEATHS:
                self._land(pieces.popleft(), Outcome("died"))
        self._again(pieces)

    def _again(self, pieces: deque[_Piece]) -> None:
        elsewhere = {piece.number for worker in self.workers for piece in worker.pieces}
        self.queue.extendleft(piece for piece in reversed(pieces) if not piece.done and piece.number not in elsewhere)
