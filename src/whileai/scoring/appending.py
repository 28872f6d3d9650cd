"""A file that a run adds lines to, which the same call goes on with: one writer at a time, no line in parts."""

from __future__ import annotations

import contextlib
import errno
import os
import time
from pathlib import Path
from typing import IO, Any, Self

from whileai.errors import ParamError, ScorerError, sentence
from whileai.scoring.children import kept_from_children

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]

#: Seconds of work that a power cut may cost; a killed process costs none.
SYNC_EVERY = 1.0
#: What a file system says that has no locks, or nothing to sync.
_NOT_HERE = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL)


def checked_path(path: Any, call: str, argument: str, bound: str, suffix: str = "") -> Path:
    """`path` as that of such a file: a regular one with the suffix, or none yet, in a folder that exists."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(sentence(call, argument, "a path", path))
    found = Path(os.fsdecode(path))
    shown = str(path)
    odd = found.is_dir() or (found.exists() and not found.is_file()) or (suffix and found.suffix != suffix)
    if not shown or odd:
        raise ParamError.of(call, argument, bound, shown)
    if not found.resolve().parent.is_dir():
        bound = "a file in a folder that exists"
        raise FileNotFoundError(sentence(call, argument, bound, shown, "Make the folder first."))
    return found


class Appending:
    """The file while it is open; no other run writes to it meanwhile.

    Parameters
    ----------
    path : Path
    call, argument : str
        What an error names.

    Attributes
    ----------
    file : binary file
        Open for reading, and for writing at its end; forked children do not hold it.

    Raises
    ------
    ParamError
        It cannot be opened.
    ScorerError
        Another run writes to it.
    """

    file: IO[bytes]

    def __init__(self, path: Path, call: str, argument: str) -> None:
        self.path, self._call, self._argument = path, call, argument
        self._synced = time.monotonic()
        self._open = contextlib.ExitStack()

    def __enter__(self) -> Self:
        with self._open as opened:
            try:
                self.file = opened.enter_context(self.path.open("a+b"))
            except OSError as error:
                bound = "a file that can be read and written"
                raise ParamError.of(self._call, self._argument, bound, str(self.path), f"{error.strerror}.") from error
            opened.enter_context(kept_from_children(self.file.fileno()))
            self._lock()
            self._open = opened.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        with self._open:
            sync(self.file)
            if fcntl is not None:  # free it even where a process that somebody forked meanwhile still holds it open
                with contextlib.suppress(OSError):  # where there was no lock
                    fcntl.flock(self.file, fcntl.LOCK_UN)

    def append(self, line: bytes) -> None:
        """Write one line: with the operating system at once, on the disk within about a second."""
        write(self.file, line)
        now = time.monotonic()
        if now - self._synced >= SYNC_EVERY:
            sync(self.file)
            self._synced = now

    def _lock(self) -> None:
        """Be the only run that writes here; a file system without locks leaves that to the caller."""
        if fcntl is None:
            return
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in _NOT_HERE:
                return
            if not isinstance(error, BlockingIOError):
                raise
            fix = f"Wait until it has ended, or give {self._argument}= another file."
            raise ScorerError(f"{self._call}: another run writes to {str(self.path)!r}. {fix}") from error


def write(file: IO[Any], line: bytes) -> None:
    """A line to the end of a file in one piece, unless the disk takes it in several."""
    while line:
        line = line[os.write(file.fileno(), line) :]


def sync(file: IO[Any]) -> None:
    """What was written, onto the disk."""
    try:
        os.fsync(file.fileno())
    except OSError as error:
        if error.errno not in _NOT_HERE:
            raise
