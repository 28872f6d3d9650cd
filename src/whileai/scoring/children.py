"""Judges in forked children, with a clock over each verdict that really stops a stuck one.

A child inherits the judge as it is (closures, bound methods, clients) and the rows, so only places go out and only
verdicts come back. Whatever a judge does, the parent can kill its child: a loop, a C call that holds the interpreter,
code that swallows every exception.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
import threading
import time
import warnings
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from whileai.verify.adapt import Judge
from whileai.verify.base import copied, needs_fork, time_limit
from whileai.verify.verdict import Verdict, not_scored, raised

#: Children for a judge of the caller's, which most often waits for a model: more than cores, few enough to fork.
DEFAULT_CHILDREN = 8
#: A batch that ends sooner than this is doubled, so that fast judges do not wait for the pipe.
SHORT_BATCH = 0.05
MAX_BATCH = 256

_fork_lock = threading.Lock()
#: Files of this process that a child must not hold: pipes of other children, and the ledger with its lock.
_open_ends: set[int] = set()


@contextlib.contextmanager
def kept_from_children(end: int) -> Iterator[None]:
    """While this holds, children close the file `end` before anything else, so that its lock ends with this process."""
    with _fork_lock:
        _open_ends.add(end)
    try:
        yield
    finally:
        with _fork_lock:
            _open_ends.discard(end)


def verdicts_of(
    judge: Judge, rows: Sequence[Mapping[str, Any]], *, timeout: float, workers: int | None
) -> Iterator[tuple[int, Verdict]]:
    """The verdicts on `rows` with their places, as they land.

    Parameters
    ----------
    judge : Judge
        Runs in the children on copies of the rows; what it changes in memory stays there.
    timeout : float
        Seconds one verdict may take, counted from the moment its child is free for it.
    workers : int or None
        Children at the most, by default 8.

    Raises
    ------
    ScorerError
        The system cannot fork processes.
    """
    needs_fork(f"the judge {judge.name}")
    crew = _Crew(judge, rows, timeout, min(workers or DEFAULT_CHILDREN, len(rows)))
    try:
        while crew.waiting or crew.children:
            crew.fill()
            yield from crew.collect()
    finally:
        crew.stop()


@dataclass
class _Child:
    """One forked process and the batch it works on."""

    pid: int
    orders: int
    results: int
    batch: deque[int] = field(default_factory=deque)
    since: float = 0.0
    batch_started: float = 0.0
    unread: bytes = b""


class _Crew:
    """The children of one call."""

    def __init__(self, judge: Judge, rows: Sequence[Mapping[str, Any]], timeout: float, size: int) -> None:
        self.judge = judge
        self.rows = rows
        self.timeout = timeout
        self.size = size
        self.waiting: deque[int] = deque(range(len(rows)))
        self.children: dict[int, _Child] = {}
        self.batch_size = 1

    def fill(self) -> None:
        """Give every idle child a batch, and fork children while there is work for them."""
        for child in list(self.children.values()):
            if not child.batch:
                self._order(child) if self.waiting else self._dismiss(child)
        while self.waiting and len(self.children) < self.size:
            self._order(self._fork())

    def collect(self) -> Iterator[tuple[int, Verdict]]:
        """Wait for news from any child, up to the next deadline, and pass on what it brings."""
        if not self.children:
            return
        soonest = min(child.since for child in self.children.values()) + self.timeout
        wait = max(0.0, soonest - time.monotonic())
        poller = select.poll()
        for end in self.children:
            poller.register(end, select.POLLIN | select.POLLHUP)
        for end, _ in poller.poll(min(wait, 60.0) * 1000 + 1):
            yield from self._read(self.children[end])
        now = time.monotonic()
        for child in list(self.children.values()):
            if child.batch and now - child.since >= self.timeout and not _has_news(child):
                self._kill(child)
                reason = f"no verdict within {self.timeout:g} s; the judge was stopped"
                yield child.batch.popleft(), not_scored("timeout", reason)
                self.waiting.extendleft(reversed(child.batch))

    def stop(self) -> None:
        """Kill whatever still runs."""
        for child in list(self.children.values()):
            self._kill(child)

    def _order(self, child: _Child) -> None:
        """Send a child its next batch of places."""
        fair = max(1, len(self.waiting) // (2 * self.size))
        child.batch.extend(self.waiting.popleft() for _ in range(min(self.batch_size, fair, len(self.waiting))))
        child.since = child.batch_started = time.monotonic()
        # a child that died while idle is noticed by the end of its results, so a broken pipe needs no handling here
        with contextlib.suppress(BrokenPipeError):
            os.write(child.orders, _orders(list(child.batch)))

    def _read(self, child: _Child) -> Iterator[tuple[int, Verdict]]:
        """Pass on the verdicts that arrived; at the end of the pipe the child is dead and its place is an error."""
        data = os.read(child.results, 1 << 16)
        if not data:
            status = self._kill(child)
            if child.batch:
                yield child.batch.popleft(), not_scored("error", f"the judge's process ended ({_how(status)})")
                self.waiting.extendleft(reversed(child.batch))
            return
        *lines, child.unread = (child.unread + data).split(b"\n")
        for line in lines:
            place, *fields = json.loads(line)
            if not child.batch or child.batch[0] != place:
                continue  # a judge that forks may answer twice
            child.batch.popleft()
            child.since = time.monotonic()
            yield place, Verdict(*fields)
        if not child.batch and child.since - child.batch_started < SHORT_BATCH:
            self.batch_size = min(2 * self.batch_size, MAX_BATCH)

    def _fork(self) -> _Child:
        """Fork one child; it never returns from here."""
        with contextlib.suppress(OSError, ValueError):  # else the child would print the caller's buffer again
            sys.stdout.flush()
            sys.stderr.flush()
        with _fork_lock:
            orders_in, orders_out = os.pipe()
            results_in, results_out = os.pipe()
            _open_ends.update((orders_out, results_in))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # threads beside a fork: the child runs one only
                pid = os.fork()
            if pid == 0:
                _child_main(self.judge, self.rows, self.timeout, orders_in, results_out)
            os.close(orders_in)
            os.close(results_out)
        child = _Child(pid, orders_out, results_in)
        self.children[results_in] = child
        return child

    def _dismiss(self, child: _Child) -> None:
        """Let an idle child end. It is told to, for the end of its pipe may be held open by another process."""
        with contextlib.suppress(BrokenPipeError):
            os.write(child.orders, _orders([]))
        self._forget(child)
        os.waitpid(child.pid, 0)

    def _kill(self, child: _Child) -> int:
        """Kill a child with every process of its session, and return its wait status."""
        for kill in (os.killpg, os.kill):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                kill(child.pid, signal.SIGKILL)
        self._forget(child)
        return os.waitpid(child.pid, 0)[1]

    def _forget(self, child: _Child) -> None:
        del self.children[child.results]
        with _fork_lock:
            for end in (child.orders, child.results):
                _open_ends.discard(end)
                os.close(end)


def _orders(places: list[int]) -> bytes:
    """A batch as one line; an empty one sends the child home."""
    return (json.dumps(places) + "\n").encode()


def _has_news(child: _Child) -> bool:
    """Whether a verdict has arrived that nobody has read yet."""
    poller = select.poll()
    poller.register(child.results, select.POLLIN)
    return bool(poller.poll(0))


def _how(status: int) -> str:
    """A wait status in words."""
    code = os.waitstatus_to_exitcode(status)
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def _child_main(judge: Judge, rows: Sequence[Mapping[str, Any]], timeout: float, orders: int, results: int) -> NoReturn:
    """The whole life of a child: read places, judge, write verdicts, until the orders end."""
    code, me = 1, os.getpid()
    try:
        for end in _open_ends:  # the other children's pipes, or their ends would never be seen
            os.close(end)
        _open_ends.clear()
        _fork_lock.release()  # taken by the fork itself; a judge may grade in turn
        _leave_the_parent()
        with os.fdopen(orders, "rb") as lines:
            while places := json.loads(lines.readline() or b"[]"):
                for place in places:
                    verdict = _judged(judge, rows[place], timeout)
                    if os.getpid() != me:  # a process that the judge forked came back in its place
                        os._exit(0)
                    os.write(results, _line(place, verdict))
        code = 0
    except BrokenPipeError:
        pass  # the parent has gone or has stopped listening
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _leave_the_parent() -> None:
    """A session of its own, so that one kill reaches all it starts; deaf to Ctrl-C, dead when the parent is."""
    os.setsid()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _judged(judge: Judge, row: Mapping[str, Any], timeout: float) -> Verdict:
    """One verdict; a judge may even raise what is no `Exception`."""
    try:
        with time_limit(timeout):
            return judge.score(copied(row))
    except BaseException as error:  # noqa: BLE001 - in a child every exception of the judge is its verdict
        return raised(error)


def _line(place: int, verdict: Verdict) -> bytes:
    """A verdict as one line."""
    fields = (verdict.reward, verdict.status, verdict.reason, verdict.markers, verdict.failure_class, verdict.meta)
    return (json.dumps((place, *fields), default=str) + "\n").encode()
