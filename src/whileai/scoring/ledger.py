"""The file a resumed run reads its verdicts from: one verdict a line, written as it lands."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Self, get_args

from whileai.errors import ParamError, ScorerError, sentence
from whileai.scoring.children import kept_from_children
from whileai.scoring.fingerprint import keys_of
from whileai.verify.adapt import Judge
from whileai.verify.verdict import Status, Verdict, as_reward

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]

CALL = "grade"
#: Verdicts that say nothing of the completion are asked for again.
RETRIED = ("error", "timeout")
FIELDS = ("reward", "status", "reason", "markers", "failure_class", "meta")
#: Every line begins so, and so does one that was torn.
START = b'{"key": "'
#: Seconds of work that a power cut may cost; a killed process costs none.
SYNC_EVERY = 1.0
#: What a file system says that has no locks, or nothing to sync.
NOT_HERE = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL)


def check_path(path: Any) -> Path:
    """`path` as that of a ledger: a regular file, or none yet, in a folder that exists."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(sentence(CALL, "resume", "a path", path))
    found = Path(os.fsdecode(path))
    shown = str(path)
    if not shown or found.is_dir() or (found.exists() and not found.is_file()):
        raise ParamError.of(CALL, "resume", "a file of verdicts, or a new one", shown)
    if not found.resolve().parent.is_dir():
        text = sentence(CALL, "resume", "a file in a folder that exists", shown, "Make the folder first.")
        raise FileNotFoundError(text)
    return found


class Ledger:
    """Verdicts on disk, found by what was judged.

    A line's key is a hash of what the judge reads of a row and of the judge with its version and settings, and counts
    equal rows: two equal completions of one task are two verdicts. Lines of other rows and other judges may stand
    beside them. While it is open no other run writes to the file.
    """

    def __init__(self, path: str | os.PathLike[str], rows: Sequence[Mapping[str, Any]], judge: Judge) -> None:
        self.path = check_path(path)
        self.judge = judge
        self.keys = keys_of(rows, judge)
        self.saved: dict[str, Verdict] = {}
        self._file: IO[bytes] | None = None
        self._synced = time.monotonic()
        self._open = contextlib.ExitStack()

    def __enter__(self) -> Self:
        with self._open as opened:
            try:
                file = opened.enter_context(self.path.open("a+b"))
            except OSError as error:
                bound = "a file that can be read and written"
                raise ParamError.of(CALL, "resume", bound, str(self.path), f"{error.strerror}.") from error
            opened.enter_context(kept_from_children(file.fileno()))
            self._lock(file)
            self.saved = self._load(file)
            self._file = file
            self._open = opened.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        file = self._file
        if file is not None:
            with self._open:
                _sync(file)
                self._unlock(file)

    def known(self) -> Iterator[tuple[int, Verdict]]:
        """The saved verdicts with the places of their rows."""
        for place, key in enumerate(self.keys):
            if key in self.saved:
                yield place, self.saved[key]

    def open_places(self) -> list[int]:
        """The places of the rows that have no saved verdict."""
        return [place for place, key in enumerate(self.keys) if key not in self.saved]

    def append(self, place: int, verdict: Verdict) -> None:
        """Write one verdict: with the operating system at once, and on the disk within about a second."""
        file = self._file
        assert file is not None
        line = {"key": self.keys[place], "judge": self.judge.name}
        line |= {name: getattr(verdict, name) for name in FIELDS}
        _write(file, json.dumps(line, ensure_ascii=True, default=str).encode() + b"\n")
        now = time.monotonic()
        if now - self._synced >= SYNC_EVERY:
            _sync(file)
            self._synced = now

    def _lock(self, file: IO[bytes]) -> None:
        """Be the only run that writes here; a file system without locks leaves that to the caller."""
        if fcntl is None:
            return
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in NOT_HERE:
                return
            if not isinstance(error, BlockingIOError):
                raise
            fix = "Wait until it has ended, or give resume= another file."
            raise ScorerError(f"{CALL}: another run writes to {str(self.path)!r}. {fix}") from error

    def _unlock(self, file: IO[bytes]) -> None:
        """Free the file even where a process that somebody forked meanwhile still holds it open."""
        if fcntl is not None:
            with contextlib.suppress(OSError):  # where there was no lock
                fcntl.flock(file, fcntl.LOCK_UN)

    def _load(self, file: IO[bytes]) -> dict[str, Verdict]:
        """The verdicts on these rows; a line that is no verdict is a torn one and is skipped.

        Raises
        ------
        ParamError
            The file holds something else altogether, such as the rows: verdicts must not be mixed in.
        """
        asked = set(self.keys)
        saved: dict[str, Verdict] = {}
        ours, foreign, line = False, False, b""
        file.seek(0)
        for line in file:
            entry = _read(line)
            if entry is None:
                foreign = foreign or bool(line.strip() and not line.startswith(START[: len(line)]))
                continue
            ours = True
            if entry[0] in asked and entry[1].status not in RETRIED:
                saved[entry[0]] = entry[1]
        if foreign and not ours:
            fix = "It holds something else, and is left as it is."
            raise ParamError.of(CALL, "resume", "a file of verdicts, or a new one", str(self.path), fix)
        if line and not line.endswith(b"\n"):  # the next verdict must not be glued to half a line
            _write(file, b"\n")
        return saved


def _write(file: IO[bytes], line: bytes) -> None:
    """A line to the end of the file in one piece, unless the disk takes it in several."""
    while line:
        line = line[os.write(file.fileno(), line) :]


def _sync(file: IO[bytes]) -> None:
    """What was written, onto the disk."""
    try:
        os.fsync(file.fileno())
    except OSError as error:
        if error.errno not in NOT_HERE:
            raise


def _read(line: bytes) -> tuple[str, Verdict] | None:
    """The key and the verdict of a line, ``None`` where it holds none."""
    try:
        entry = json.loads(line)
        key, verdict = entry["key"], Verdict(*(entry[name] for name in FIELDS))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    scored = verdict.status == "ok"
    sound = (
        isinstance(key, str)
        and verdict.status in get_args(Status)
        and (as_reward(verdict.reward) is not None if scored else verdict.reward is None)
        and all(isinstance(text, (str, type(None))) for text in (verdict.reason, verdict.failure_class))
        and isinstance(verdict.markers, dict)
        and isinstance(verdict.meta, dict)
    )
    return (key, verdict) if sound else None
