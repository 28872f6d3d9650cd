"""Files named on the command line -> a table or rows, with what the envelope says of each file."""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from whileai import keys
from whileai.cli.failures import InputError, flag
from whileai.errors import RowError, WaiError
from whileai.progress import progress
from whileai.readers.containers import files_read, sources
from whileai.readers.files import files_of
from whileai.result import Note, Result, noted

if TYPE_CHECKING:
    import argparse

    from whileai.readers.fields import Fields
    from whileai.readers.logs.tally import Counts
    from whileai.table.task_table import TaskTable

BATCH = 2048
Report = TypeVar("Report", bound=Result)


@dataclass
class Part:
    """One file and what was read of it."""

    path: Path
    pattern: str
    rows: int = 0
    tasks: int = 0


@dataclass(frozen=True)
class How:
    """How files are to be read, as `wai.read` takes it: ``--format``, ``--fields``, ``--filter``."""

    format: str | None = None
    fields: dict[str, str] | None = None
    filter: str | None = None

    def mapped(self, call: str) -> Fields | None:
        """The field map, checked."""
        if self.fields is None:
            return None
        from whileai.readers.fields import Fields

        return Fields(call, self.fields)


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
    how : How
    told : list of Note
        What was passed over in files that were read as rows; a table says it itself.
    """

    call: str
    argument: str
    parts: list[Part]
    counting: bool = False
    how: How = field(default_factory=How)
    told: list[Note] = field(default_factory=list)

    def table(self, *, markers: bool = True) -> TaskTable:
        """All files as one TaskTable; errors name the file and the row in it."""
        from whileai.cli.terminal import busy
        from whileai.table.intake import as_table
        from whileai.table.merge import merged

        tables = []
        for pattern, parts in self._by_pattern():
            with busy(f"read {Path(pattern).name}"), readable(pattern):
                table = as_table(
                    pattern, self.call, self.argument, markers=markers,
                    fields=self.how.fields, format=self.how.format, filter=self.how.filter,
                )  # fmt: skip
            tables.append(table)
            if len(parts) == 1:
                parts[0].rows, parts[0].tasks = table.n_rows, len(table)
            elif self.counting:
                for _ in chain.from_iterable(rows for _, rows in self._parts_of(pattern, None)):
                    pass
        return merged(tables)

    def rows(self) -> list[dict[str, Any]]:
        """All files as one list of rows; what was passed over is then in `told`."""
        from whileai.readers.logs.tally import Counts, reader_notes

        counts = Counts()
        found = self._listed(counts)
        self.told = list(reader_notes(counts.tally()))
        return found

    def arm(self, *, as_rows: bool = False) -> tuple[TaskTable, list[dict[str, Any]] | None]:
        """All files as one TaskTable and the rows behind it, read once; no rows where a file is a table already.

        What was passed over is part of the table, and in `told` where the rows are measured instead.
        """
        from whileai.readers.logs.tally import Counts, reader_notes
        from whileai.table.flat import is_flat
        from whileai.table.intake import as_table

        counts = Counts()
        rows = self._listed(counts)
        if rows and is_flat(list(rows[0])):
            return self.table(), None
        notes = list(reader_notes(counts.tally()))
        if as_rows:
            self.told = notes
        try:
            table = as_table(rows, self.call, self.argument)
        except RowError as error:
            raise self.blame(error) from error
        return replace(table, reading=tuple(notes)), rows

    def _listed(self, counts: Counts) -> list[dict[str, Any]]:
        return [row for pattern, _ in self._by_pattern() for _, rows in self._parts_of(pattern, counts) for row in rows]

    def stream(self, part: Part, counts: Counts) -> Iterator[tuple[int, dict[str, Any]]]:
        """Every row of one file with its place there, one after the other; `counts` takes what is passed over."""
        for _, rows in self._parts_of(str(part.path), counts):
            yield from enumerate(rows)

    def _by_pattern(self) -> list[tuple[str, list[Part]]]:
        """Every pattern with its files: the files of one are read together, for two logs may use the same ids."""
        found: dict[str, list[Part]] = {}
        for part in self.parts:
            found.setdefault(part.pattern, []).append(part)
        return list(found.items())

    def _parts_of(self, pattern: str, counts: Counts | None) -> Iterator[tuple[Part, Iterator[dict[str, Any]]]]:
        """Each file of a pattern with its rows, counted as they go by; `counts` takes what is passed over."""
        fields = self.how.mapped(self.call)
        with readable(pattern):
            for name, rows in sources(
                pattern, self.call, self.argument,
                format=self.how.format, fields=fields, filter=self.how.filter, counts=counts,
            ):  # fmt: skip
                part = self._part(name, pattern)
                yield part, self._counted(part, rows)
        if fields is not None:
            fields.check()

    def _part(self, name: str, pattern: str) -> Part:
        """The part of a file, or of a folder that is one log and stands in the place of its files."""
        for part in self.parts:
            if str(part.path) == name:
                return part
        found = Part(Path(name), pattern)
        if found.path.is_dir():
            self.parts[:] = [part for part in self.parts if part.pattern != pattern]
        self.parts.append(found)
        return found

    def _counted(self, part: Part, rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """The rows of one file, with a line on a terminal while they are read."""
        tasks = set()
        part.rows = 0
        batches = _batches(_readable(rows, part.path))
        shown = progress(batches, total=None, what=f"read {part.path.name}", sized=True)
        for row in chain.from_iterable(shown):
            part.rows += 1
            if self.counting:
                tasks.add(keys.task_of(row))
            yield row
        part.tasks = len(tasks - {None})

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
                "sha256": None if part.path.is_dir() else _sha256(part.path),
            }
            for part in self.parts
        ]


def reading(
    args: argparse.Namespace, call: str, argument: str, patterns: Sequence[str], counts: Counts | None = None
) -> Reading:
    """The files that `patterns` name, each once, to be read as the options of the command say.

    Parameters
    ----------
    counts : Counts, optional
        Takes the files that are passed over, where they are to be read one by one.

    Raises
    ------
    FileNotFoundError
        A pattern that names no file.
    InputError
        A file named twice: its rows would count twice.
    """
    pairs = getattr(args, "fields_map", None)
    how = How(getattr(args, "read_format", None), dict(pairs) if pairs else None, getattr(args, "filter", None))
    files = [(file, pattern) for pattern in patterns for file in _files(pattern, call, how, counts)]
    seen: set[Path] = set()
    for file, _ in files:
        if file.resolve() in seen:
            name = flag(argument, args.command)
            raise InputError(f"{name} must be different files; got '{file}' twice. Its rows would count twice.")
        seen.add(file.resolve())
    return Reading(call, argument, [Part(file, pattern) for file, pattern in files], args.json, how)


def _files(pattern: str, call: str, how: How, counts: Counts | None) -> list[Path]:
    """The files of a path or pattern; of a folder those that hold something, which their content says."""
    if not Path(pattern).is_dir():
        return files_of(pattern, call)
    with readable(pattern):
        return files_read(pattern, call, how.format, how.mapped(call), counts)


def told(result: Report, *inputs: Reading) -> Report:
    """A result that also says what was passed over in the files that were read as rows."""
    from whileai.readers.logs.tally import told_of

    return noted(result, told_of({data.argument: data.told for data in inputs}))


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
    """`rows`, with whatever a decoder raises as one sentence about the file."""
    with readable(path):
        yield from rows


@contextlib.contextmanager
def readable(path: Path | str) -> Iterator[None]:
    """Whatever a decoder raises in here (gzip, zstd, csv, duckdb, ...) as one sentence about the file."""
    try:
        yield
    except (WaiError, InputError, FileNotFoundError):
        raise
    except Exception as error:  # the decoders of six formats share no base class
        reason = " ".join((getattr(error, "strerror", None) or str(error) or type(error).__name__).split())
        raise InputError(f"{path} cannot be read: {reason.rstrip('.')}.") from error


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
