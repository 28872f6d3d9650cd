"""Where the code of others runs, so that none of it can stop the engine's clock.

Plain functions run on daemon threads that are used again; a thread cannot be killed, so one that overruns is left to
itself and another takes its place. Coroutines run on the loop of one further thread. A coroutine that blocks holds up
its neighbours there: a loop that does not answer for a second is left to the one that blocks it, the others are told
to start again elsewhere.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
import os
import queue
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

_TICK = 0.1
#: Ticks without an answer after which a loop counts as blocked. Ticks and not a time: where the whole process stands
#: still (a C loop that keeps the interpreter's lock), none pass.
_PATIENCE = 10


class LoopReplaced(Exception):
    """The loop of a coroutine was blocked by another one; begin again."""


@dataclass(slots=True)
class Outcome:
    """What a call came to: a value, or whatever it raised, ``SystemExit`` included."""

    value: Any = None
    error: BaseException | None = None


class Job:
    """One call in the background, as those who wait for it see it."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make
        self.future: concurrent.futures.Future[Outcome] = concurrent.futures.Future()
        self.future.set_running_or_notify_cancel()
        self.ended = False
        self._told = threading.Lock()

    def tell(self, outcome: Outcome | None, error: BaseException | None = None) -> None:
        """Hand the outcome to whoever waits, once; later ones are of no interest."""
        with self._told:
            if self.future.done():
                return
            if error is not None:
                self.future.set_exception(error)
            else:
                self.future.set_result(outcome or Outcome())

    async def wait(self) -> Outcome:
        """The outcome, for a coroutine; to cancel the wait gives the job up."""
        try:
            return await asyncio.wrap_future(self.future)
        except asyncio.CancelledError:
            self.give_up()
            raise

    def give_up(self) -> None:
        """Nobody waits any more."""


class _Worker(threading.Thread):
    """A daemon thread that does one job after another."""

    def __init__(self, idle: list[_Worker]) -> None:
        super().__init__(name="whileai-agent", daemon=True)
        self.jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self.idle = idle
        self.start()

    def run(self) -> None:
        while True:
            job = self.jobs.get()
            try:
                outcome = Outcome(job.make())
            except BaseException as error:  # noqa: BLE001 - SystemExit too: it is the caller's to read
                outcome = Outcome(error=error)
            job.ended = True
            self.idle.append(self)
            job.tell(outcome)
            del job, outcome  # a thread that waits must keep nothing alive


class _LoopJob(Job):
    """A coroutine on a loop of ours."""

    task: asyncio.Task[None] | None = None
    host: _Host | None = None

    def start(self, host: _Host) -> None:
        """Begin, on the host's own thread."""
        if self.future.done():
            host.left(self)
            return
        self.host = host
        self.task = host.loop.create_task(self._body(host))

    async def _body(self, host: _Host) -> None:
        try:
            made = self.make()
            outcome = Outcome(await made if inspect.isawaitable(made) else made)
        except BaseException as error:  # noqa: BLE001 - SystemExit would end the loop of all the others
            outcome = Outcome(error=error)
        self.tell(outcome)
        host.left(self)

    def give_up(self) -> None:
        host, task = self.host, self.task
        self.tell(Outcome(error=asyncio.CancelledError()))
        if host is not None and task is not None:
            host.soon(task.cancel)


class _Host:
    """One loop and its thread."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.jobs: set[_LoopJob] = set()
        self.retired = False
        self.unanswered = 0
        self.thread = threading.Thread(target=self._run, name="whileai-agents", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.set_exception_handler(_quiet)
        try:
            self.loop.run_forever()
        finally:
            self.loop.close()

    def soon(self, call: Callable[[], Any]) -> None:
        """Have something called on the host's thread; a loop that is closed has nothing left to call it for."""
        try:
            self.loop.call_soon_threadsafe(call)
        except RuntimeError:
            if not self.loop.is_closed():
                raise

    def left(self, job: _LoopJob) -> None:
        """A job has ended; a loop that was replaced ends with its last one."""
        job.ended = True
        self.jobs.discard(job)
        if self.retired and not self.jobs:
            self.loop.call_later(1.0, self.loop.stop)  # what was cancelled gets its turn

    def answer(self) -> None:
        """The answer to a ping, on the host's thread."""
        self.unanswered = 0

    def blocker(self) -> asyncio.Task[Any] | None:
        """The task that runs at this moment."""
        return asyncio.current_task(self.loop)


def _quiet(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Leave out what the tasks of cancelled rollouts say as they are collected; hand on everything else."""
    if "was destroyed but it is pending" not in str(context.get("message")):
        loop.default_exception_handler(context)


class Background:
    """The threads and loops of this process for the code of others."""

    def __init__(self) -> None:
        self._idle: list[_Worker] = []
        self._guard = threading.Lock()
        self._host: _Host | None = None
        self._watching = threading.Event()
        self._watch: threading.Thread | None = None

    def thread_job(self, make: Callable[[], Any]) -> Job:
        """Call `make` on a thread of ours."""
        job = Job(make)
        try:
            worker = self._idle.pop()
        except IndexError:
            worker = _Worker(self._idle)
        worker.jobs.put(job)
        return job

    def loop_job(self, make: Callable[[], Awaitable[Any] | Any]) -> Job:
        """Call `make` on the loop for coroutines, and await there what it returns."""
        job = _LoopJob(make)
        with self._guard:
            if self._host is None:
                self._host = _Host()
            host = self._host
            host.jobs.add(job)
            if self._watch is None:
                self._watch = threading.Thread(target=self._look, name="whileai-watch", daemon=True)
                self._watch.start()
        self._watching.set()
        host.soon(lambda: job.start(host))
        return job

    def alone(self, make: Callable[[], Awaitable[Any] | Any]) -> Job:
        """Call `make` on a thread of ours, with a loop to itself: what blocks there blocks nothing else."""

        async def body() -> Any:
            made = make()
            return await made if inspect.isawaitable(made) else made

        return self.thread_job(lambda: asyncio.run(body()))

    def _look(self) -> None:
        """Ping the loop while it has work, and replace it when it is silent for too long."""
        while True:
            self._watching.wait()
            time.sleep(_TICK)
            host = self._host
            if host is None or not host.jobs:
                self._watching.clear()
                if host is not None and host.jobs:  # work came between the look and the rest
                    self._watching.set()
                continue
            host.unanswered += 1
            if host.unanswered > _PATIENCE:
                self._replace(host)
            else:
                host.soon(host.answer)

    def _replace(self, host: _Host) -> None:
        """Leave a blocked loop to the task that blocks it; all others begin again on another."""
        blocker = host.blocker()
        with self._guard:
            self._host = None
            host.retired = True
            others = [job for job in host.jobs if job.task is None or job.task is not blocker]
        for job in others:
            job.tell(None, LoopReplaced("another agent blocked the loop"))
            if job.task is not None:
                host.soon(job.task.cancel)


_here: list[Background] = []


def background() -> Background:
    """The background of this process."""
    if not _here:
        _here.append(Background())
    return _here[0]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_here.clear)  # the parent's threads are not in the child


async def run_apart(make: Callable[[], Any]) -> Any:
    """The value of a plain function, called on a thread of its own; what it raises is raised here.

    ``SystemExit`` and its like come as `RuntimeError`, which end a call and not the loop it is awaited on.
    """
    outcome = await background().thread_job(make).wait()
    return value_of(outcome)


def value_of(outcome: Outcome) -> Any:
    """The value of an outcome, or its error raised."""
    error = outcome.error
    if error is None:
        return outcome.value
    if isinstance(error, Exception):
        raise error
    raise RuntimeError(f"{type(error).__name__}: {error}") from error
