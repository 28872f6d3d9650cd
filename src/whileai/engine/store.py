"""The file of a run: one line a finished rollout, one writer at a time, resumed by the same call."""

from __future__ import annotations

import contextlib
import errno
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Self

from whileai import __version__
from whileai.engine.options import CALL
from whileai.errors import ParamError, RowError, sentence
from whileai.result.digits import count
from whileai.scoring.appending import Appending, checked_path, sync, write

Key = tuple[str, int]


def check_output(path: Any) -> Path:
    """`path` as that of a run: a ``.jsonl`` file, or none yet, in a folder that exists."""
    return checked_path(path, CALL, "output", "a file ending in .jsonl, or a new one", ".jsonl")


class Store:
    """The file of a run and what stands beside it.

    ``<output>`` has the rows in the order they landed; of two of one task and rollout the later counts.
    ``<output>.run.json`` says which run it is, ``<output>.plan.jsonl`` has the prompts a model wrote, ``<output>.torn``
    what was cut off the end after a crash.

    Parameters
    ----------
    path : path
    parts : dict
        What makes the run: a file that holds the rows of another one is refused.

    Attributes
    ----------
    rows : dict of (task, rollout index) to row
        What was there when it was opened.
    n_torn : int
        Lines cut off.
    """

    def __init__(self, path: str | os.PathLike[str], parts: Mapping[str, Any]) -> None:
        self.path = check_output(path)
        self.parts: dict[str, Any] = json.loads(json.dumps(dict(parts), default=repr))
        self.rows: dict[Key, dict[str, Any]] = {}
        self.accepted: dict[int, dict[str, Any]] = {}
        self.n_torn = 0
        self._safe: set[Key] = set()
        self._file = Appending(self.path, CALL, "output")
        self._plan: IO[bytes] | None = None
        self._open = contextlib.ExitStack()

    def _beside(self, name: str) -> Path:
        return self.path.with_name(f"{self.path.name}.{name}")

    # opening

    def __enter__(self) -> Self:
        with self._open as opened:
            file = opened.enter_context(self._file).file
            file.seek(0)
            data = file.read()
            plan_path = self._beside("plan.jsonl")
            entries = list(_plan_entries(plan_path))
            self._check_run(has_work=bool(data.strip() or entries))  # before anything of it is touched
            lines = self._whole_lines(file, data)
            for number, line in enumerate(lines):
                self._take(number, line)
            self._safe = set(self.rows)
            self.accepted = {entry["situation"]: entry for entry in entries}
            self._open = opened.pop_all()
        return self

    def _whole_lines(self, file: IO[bytes], data: bytes) -> list[bytes]:
        """The lines that were written whole; what a crash left of the last one is cut off and kept beside."""
        *lines, rest = data.split(b"\n")
        torn = rest
        if rest and _row(rest) is not None:  # whole but for the end of its line, as an editor may leave it
            write(file, b"\n")
            return [*lines, rest]
        if not rest and lines and _row(lines[-1]) is None and lines[-1].strip():
            torn = lines.pop() + b"\n"
        if torn:
            with self._beside("torn").open("ab") as kept:
                kept.write(torn.rstrip(b"\n") + b"\n")
            file.truncate(len(data) - len(torn))
            file.seek(0, os.SEEK_END)
            self.n_torn += 1
        return lines

    def _check_run(self, *, has_work: bool) -> None:
        """Raise where the file holds the rows of another run; note down which run this is."""
        told = self._beside("run.json")
        if not has_work:
            self._beside("plan.jsonl").unlink(missing_ok=True)
            return self._note_run(told)
        if not told.exists():
            fix = "It holds something else, and is left as it is."
            raise ParamError.of(CALL, "output", "a new file, or that of an earlier run", str(self.path), fix)
        try:
            before = json.loads(told.read_text(encoding="utf-8"))["parts"]
        except (ValueError, KeyError, TypeError) as error:
            raise ParamError.of(
                CALL, "output", "the file of a run", str(self.path), f"{told} cannot be read."
            ) from error
        for name in dict.fromkeys((*self.parts, *before)):
            ours, theirs = self.parts.get(name), before.get(name)
            if ours != theirs:
                fix = f"{str(self.path)!r} was made with {_short(theirs, ours)}."
                fix += f" Give another output=, or the same {name}."
                raise ParamError.of(CALL, name, "that of the run it resumes", _Shown(_short(ours, theirs)), fix)
        return None

    def _note_run(self, told: Path) -> None:
        """Write the file that says which run it is, whole or not at all."""
        text = json.dumps({"version": __version__, "parts": self.parts}, indent=1, ensure_ascii=False)
        draft = self._beside("run.json.tmp")
        with draft.open("w", encoding="utf-8", errors="surrogatepass") as file:
            file.write(text + "\n")
            file.flush()
            sync(file)
        draft.replace(told)

    def _take(self, number: int, line: bytes) -> None:
        if not line.strip():
            return
        row = _row(line)
        if row is None:
            fix = "Nothing was run. Mend the line or take it out."
            text = sentence(CALL, f"{self.path} line {number + 1}", "a row", line[:60].decode("utf-8", "replace"), fix)
            raise RowError(text, number, "line", line[:200])
        self.rows[row["task_id"], row["rollout_index"]] = row

    # writing

    def append(self, row: Mapping[str, Any]) -> None:
        """Write one row: with the operating system at once, on the disk within about a second.

        Raises
        ------
        OSError
            If it cannot be written, with the number of rows that are safe.
        """
        number = self._file.file.fileno()
        size = os.fstat(number).st_size
        try:
            self._file.append(encoded(row) + b"\n")
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(number, size)
            self._raise(error)
        self._safe.add((row["task_id"], row["rollout_index"]))

    def _raise(self, error: OSError) -> None:
        safe = f"{count(len(self._safe), 'row')} {'is' if len(self._safe) == 1 else 'are'} safe in {str(self.path)!r}"
        text = (
            f"{CALL}: the output could not be written: {error.strerror or error}. {safe}; the same call goes on there."
        )
        raise OSError(error.errno or errno.EIO, text) from error

    def accept(self, entry: Mapping[str, Any]) -> None:
        """Keep a prompt that a model wrote, before it is used."""
        if self._plan is None:
            self._plan = self._open.enter_context(self._beside("plan.jsonl").open("ab"))
        try:
            write(self._plan, encoded(entry) + b"\n")
        except OSError as error:
            self._raise(error)

    def __exit__(self, *_: object) -> None:
        with self._open:
            if self._plan is not None:
                sync(self._plan)


class _Shown(str):
    """A text that stands in an error as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _short(value: Any, other: Any) -> str:
    """A part of a run in a message, from where two values begin to differ."""
    if isinstance(value, dict) and isinstance(other, dict):
        value = {name: item for name, item in value.items() if item != other.get(name)}
    text = repr(value)
    if len(text) <= 100:
        return text
    same = next((i for i, (a, b) in enumerate(zip(text, repr(other), strict=False)) if a != b), 0)
    start = max(0, min(same - 20, len(text) - 100))
    return f"{'...' if start else ''}{text[start : start + 100]}..."


def encoded(row: Mapping[str, Any]) -> bytes:
    """A line of JSON in UTF-8; half a surrogate pair, which UTF-8 has no place for, as its escape."""
    try:
        return json.dumps(row, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(row).encode()


def _row(line: bytes) -> dict[str, Any] | None:
    """The row in a line, ``None`` where it holds none."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    named = isinstance(row, dict) and isinstance(row.get("task_id"), str) and isinstance(row.get("rollout_index"), int)
    return row if named else None


def _plan_entries(path: Path) -> Iterator[dict[str, Any]]:
    """The prompts a model wrote; a torn line ends them, as they are written in order."""
    if not path.exists():
        return
    good = 0
    with path.open("rb") as file:
        for line in file:
            try:
                entry = json.loads(line)
                sound = isinstance(entry["situation"], int) and isinstance(entry["prompt"], str) and entry["writer"]
            except (ValueError, KeyError, TypeError):
                break
            if not sound or not line.endswith(b"\n"):
                break
            good += len(line)
            yield entry
    if good < path.stat().st_size:
        os.truncate(path, good)
