"""Where a run's loop lives: on a thread of its own, so that it works in a notebook and Ctrl-C reaches the caller."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any

from whileai.engine.run import Run
from whileai.engine.tally import Meter

#: Seconds between two looks at whether a run has ended.
LOOK = 0.05


class Driver:
    """A run on a thread of its own."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.error: BaseException | None = None
        self._loop = asyncio.new_event_loop()
        # an event and not the thread is waited for: a Ctrl-C within join() may mark a living thread as ended
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._drive, name="whileai-run", daemon=True)
        options = run.options.run
        self.meter = Meter(run.tally, options.progress, options.on_progress)

    def _drive(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self.run.go())
        except BaseException as error:  # noqa: BLE001 - raised again where the caller waits
            self.error = error
        finally:
            try:
                _end_tasks(self._loop)
                self._loop.close()
            finally:
                self._over.set()

    def stop(self) -> None:
        """Ask the run to end; from any thread."""
        with contextlib.suppress(RuntimeError):  # it has ended meanwhile
            self._loop.call_soon_threadsafe(self.run.stop, "interrupted")

    @property
    def ended(self) -> bool:
        """Whether the run is over."""
        return self._over.is_set()

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def wait(self) -> None:
        """Until the run is over, for a plain call; a Ctrl-C or SIGTERM ends it early, a second one leaves at once."""
        self.start()
        with _on_sigterm(self.stop):
            asked = False
            while not self.ended:
                try:
                    self._over.wait(LOOK)
                    self.meter.tick()
                except KeyboardInterrupt:
                    if asked:
                        raise
                    asked = True
                    self.stop()
                except BaseException:
                    self.stop()
                    self._over.wait()
                    raise
        self._finish()

    async def wait_async(self) -> None:
        """Until the run is over, for a coroutine; to cancel it ends the run."""
        self.start()
        try:
            while not self.ended:
                await asyncio.sleep(LOOK)
                self.meter.tick()
        except BaseException:
            self.stop()
            while not self.ended:  # what is finished must be written before the caller goes on
                self._over.wait(LOOK)
            raise
        self._finish()

    def _finish(self) -> None:
        self.meter.tick(last=True)
        error = self.error or self.run.error
        if error is not None:
            raise error


def _end_tasks(loop: asyncio.AbstractEventLoop) -> None:
    """End what is left on a loop before it is closed."""
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
    loop.run_until_complete(loop.shutdown_asyncgens())


@contextlib.contextmanager
def _on_sigterm(stop: Any) -> Iterator[None]:
    """SIGTERM ends the run as Ctrl-C does, where it is at its default; a second one ends the process."""
    here = threading.current_thread() is threading.main_thread()
    if not here or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return

    def asked(*_: Any) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        stop()

    signal.signal(signal.SIGTERM, asked)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
