"""One event loop a process on which all requests to endpoints run.

Connections belong to the loop they were opened on, while an endpoint is asked from many: the engine's, a notebook's,
and the short-lived one of each verdict. A loop of their own keeps connections open between all of these, and gives a
forked child its own, made when it first asks.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Home:
    """The loop of this process and its thread."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self._run, name="whileai-endpoints", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()


_guard = threading.Lock()
_homes: list[_Home] = []


def _forget_the_parents() -> None:
    """In a forked child: its parent's thread is not here, and its lock may be held by one that is not either."""
    global _guard  # noqa: PLW0603 - the lock of this process, made anew in a child
    _guard = threading.Lock()
    _homes.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_the_parents)


def home_loop() -> asyncio.AbstractEventLoop:
    """The loop of this process, started if need be."""
    with _guard:
        if not _homes:
            _homes.append(_Home())
        return _homes[0].loop


async def at_home(work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, run on the process's own loop; to cancel the wait cancels the work."""
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, home_loop()))


def close_soon(work: Coroutine[Any, Any, Any]) -> None:
    """Run `work` on the process's loop if there is one, without waiting for it."""
    with _guard:
        loop = _homes[0].loop if _homes else None
    if loop is None or loop.is_closed():
        work.close()
    else:
        asyncio.run_coroutine_threadsafe(work, loop)
