"""Files named on the command line -> a table or rows, with what the envelope says of each file."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whileai import keys
from whileai.cli.failures import InputError, flag
from whileai.errors import RowError, WaiError
from whileai.progress import progress
from whileai.readers.containers import sources
from whileai.readers.files import files_of

if TYPE_CHECKING:
    from whileai.readers.logs.tally import Counts
    from whileai.table.task_table import TaskTable

BATCH = 2048


@dataclass
class Part:
    """One file and what was read of it."""

    path: Path
    rows: int = 0
    tasks: int = 0


@dataclass
class Reading:
    """The files of one argument.

    Attributes
    ----------
    call, argument : str
        As the Python call names them.
    parts : list of Part
        In the order given, the files of a pattern by name.
    counting : bool
        Whether the tasks of each file are counted, which only the envelope shows.
    """

    call: str
    argument: str
    parts: list[Part]
    counting: bool = field(default=False)

    def table(self, *, markers: bool = True) -> TaskTable:
        """All files as one TaskTable; errors name the file and the row in it."""
        import numpy as np

        from whileai.table.from_rows import TableBuilder

        builder = TableBuilder(self.call, markers=markers)
        for part in self.parts:
            builder.add_all(self._rows_of(part, builder.counts), str(part.path))
            part.rows = builder.n_rows - builder.offset
        if self.counting:
            start, codes = 0, builder.columns()[1]
            for part in self.parts:
                part.tasks = len(np.unique(codes[start : start + part.rows]))
                start += part.rows
        return builder.build()

    def rows(self) -> list[dict[str, Any]]:
        """All files as one list of rows."""
        return [row for part in self.parts for _, row in self.stream(part)]

    def stream(self, part: Part) -> Iterator[tuple[int, dict[str, Any]]]:
        """Every row of one file with its place there, one after the other."""
        tasks = set()
        for index, row in enumerate(self._rows_of(part)):
            part.rows = index + 1
            if self.counting:
                tasks.add(keys.task_of(row))
            yield index, row
        part.tasks = len(tasks - {None})

    def _rows_of(self, part: Part, counts: Counts | None = None) -> Iterator[dict[str, Any]]:
        """The rows of one file, with a line on a terminal while they are read; `counts` takes what is passed over."""
        for _, rows in sources(part.path, self.call, self.argument, counts=counts):
            batches = _batches(_readable(rows, part.path))
            shown = progress(batches, total=None, what=f"read {part.path.name}", sized=True)
            yield from chain.from_iterable(shown)

    def blame(self, error: RowError) -> RowError:
        """An error about a row of the list, said of the file it came from."""
        found = re.match(rf"{self.call}: (?:{self.argument} )?row {error.index}: ", str(error))
        if found is None:
            return error
        index = error.index
        for part in self.parts:
            if index < part.rows:
                text = f"{self.call}: {part.path} row {index}: {str(error)[found.end() :]}"
                return RowError(text, index, error.key, error.value)
            index -= part.rows
        return error

    def described(self) -> list[dict[str, Any]]:
        """One entry a file for the envelope."""
        return [
            {
                "name": self.argument,
                "path": str(part.path),
                "rows": part.rows,
                "tasks": part.tasks,
                "sha256": _sha256(part.path),
            }
            for part in self.parts
        ]


def reading(command: str, call: str, argument: str, patterns: Sequence[str], *, counting: bool = False) -> Reading:
    """The files that `patterns` name, each once.

    Raises
    ------
    FileNotFoundError
        A pattern that names no file.
    InputError
        A file named twice: its rows would count twice.
    """
    files = [file for pattern in patterns for file in files_of(pattern, call)]
    seen: set[Path] = set()
    for file in files:
        if file.resolve() in seen:
            name = flag(argument, command)
            raise InputError(f"{name} must be different files; got '{file}' twice. Its rows would count twice.")
        seen.add(file.resolve())
    return Reading(call, argument, [Part(file) for file in files], counting)


def _batches(rows: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """`rows` a batch at a time, up to the very row that cannot be read; counting them one by one would cost a third."""
    while True:
        batch: list[dict[str, Any]] = []
        try:
            batch.extend(islice(rows, BATCH))
        except WaiError:
            yield batch
            raise
        if not batch:
            return
        yield batch


def _readable(rows: Iterable[dict[str, Any]], path: Path) -> Iterator[dict[str, Any]]:
    """`rows`, with whatever a decoder raises (gzip, zstd, csv, duckdb, ...) as one sentence about the file."""
    try:
        yield from rows
    except WaiError:
        raise
    except Exception as error:  # the decoders of six formats share no base class
        reason = " ".join((getattr(error, "strerror", None) or str(error) or type(error).__name__).split())
        raise InputError(f"{path} cannot be read: {reason.rstrip('.')}.") from error


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
