"""The file a resumed run reads its verdicts from: one verdict a line, written as it lands."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Self, get_args

from whileai.errors import ParamError
from whileai.scoring.appending import Appending, checked_path, write
from whileai.scoring.fingerprint import keys_of
from whileai.verify.adapt import Judge
from whileai.verify.verdict import Status, Verdict, as_reward

CALL = "grade"
#: Verdicts that say nothing of the completion are asked for again.
RETRIED = ("error", "timeout")
FIELDS = ("reward", "status", "reason", "markers", "failure_class", "meta")
#: Every line begins so, and so does one that was torn.
START = b'{"key": "'


def check_path(path: Any) -> Path:
    """`path` as that of a ledger: a regular file, or none yet, in a folder that exists."""
    return checked_path(path, CALL, "resume", "a file of verdicts, or a new one")


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
        self._file = Appending(self.path, CALL, "resume")
        self._open = contextlib.ExitStack()

    def __enter__(self) -> Self:
        with self._open as opened:
            opened.enter_context(self._file)
            self.saved = self._load(self._file.file)
            self._open = opened.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

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
        line = {"key": self.keys[place], "judge": self.judge.name}
        line |= {name: getattr(verdict, name) for name in FIELDS}
        self._file.append(json.dumps(line, ensure_ascii=True, default=str).encode() + b"\n")

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
            write(file, b"\n")
        return saved


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
