"""What all processes that use one endpoint agree on: the next slot of its rate limit, and the form of answers.

A judge runs in forked children, each with its own event loop, so a limiter that lives in one of them would let every
child send the whole rate. Both facts stand in a page of memory that forked children share with their parent.
"""

from __future__ import annotations

import mmap
import struct
import tempfile
import time
from typing import Any

try:
    import fcntl
except ImportError:  # no such locks here, and no forked children either
    fcntl = None  # type: ignore[assignment]

_SLOT = struct.Struct("d")
_FORM = _SLOT.size


class SharedState:
    """A rate limit of evenly spaced slots, and one remembered byte.

    Parameters
    ----------
    rpm : float or None
        Requests a minute; ``None`` for as many as come.
    """

    def __init__(self, rpm: float | None) -> None:
        self._gap = None if rpm is None else 60.0 / rpm
        self._memory = mmap.mmap(-1, _SLOT.size + 1)
        # the kernel drops a record lock with the process that holds it, so a killed child blocks nobody
        self._lock: Any = None
        if rpm is not None and fcntl is not None:
            self._lock = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as this is

    def reserve(self) -> float:
        """Take the next slot; seconds until it comes. Called from one thread a process."""
        if self._gap is None:
            return 0.0
        if self._lock is not None:
            fcntl.lockf(self._lock, fcntl.LOCK_EX)
        try:
            now = time.monotonic()  # one clock for all processes of a machine
            slot: float = max(now, *_SLOT.unpack_from(self._memory, 0))
            _SLOT.pack_into(self._memory, 0, slot + self._gap)
        finally:
            if self._lock is not None:
                fcntl.lockf(self._lock, fcntl.LOCK_UN)
        return slot - now

    @property
    def form(self) -> int:
        """The remembered byte, 0 at first."""
        return self._memory[_FORM]

    @form.setter
    def form(self, value: int) -> None:
        self._memory[_FORM] = value

    def close(self) -> None:
        """Give memory and lock back."""
        self._memory.close()
        if self._lock is not None:
            self._lock.close()
