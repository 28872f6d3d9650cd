"""Files of rows: JSON lines, JSON, CSV and Parquet, plain or compressed, one or many."""

from __future__ import annotations

import glob
import importlib.util
import os
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whileai.errors import RowError, shown
from whileai.readers.content import FORMATS, kind_of, kind_of_name

if TYPE_CHECKING:
    from whileai.readers.logs.tally import Counts

__all__ = ["file_rows", "files_below", "files_of", "kind_of", "kind_of_name", "parquet_rows", "relation_rows"]

#: Suffixes of logs that are no names of files of rows; a folder is searched for these too.
LOG_SUFFIXES = (".eval",)


def files_of(path: str | os.PathLike[str], call: str) -> list[Path]:
    """The files a path or a pattern names, in the order of their names; at least one.

    Of a folder these are the files of rows and logs in it; where it has none, those in the folders below.
    """
    text = os.fspath(path)
    direct = Path(text)
    if text and _exists(direct.is_file):
        return [direct]
    if text and _exists(direct.is_dir):
        found = _listed(direct.iterdir()) or files_below(direct)
        if found:
            return found
        raise FileNotFoundError(f"{call}: no file of rows lies in the folder {text!r}.")
    names = glob.glob(text, recursive=True) if text and glob.has_magic(text) else []  # noqa: PTH207 - may be absolute
    found = sorted(Path(name) for name in names if Path(name).is_file())
    if found:
        return found
    what = "file matches" if glob.has_magic(text) else "file is named"
    folder = "its" if direct.is_absolute() else "the current"
    raise FileNotFoundError(f"{call}: no {what} {shown(text)} in {folder} folder.")


def files_below(folder: Path) -> list[Path]:
    """The files of rows and logs in a folder and in those below it, in the order of their paths."""
    return _listed(folder.rglob("*"))


def _listed(entries: Iterator[Path]) -> list[Path]:
    """The files of rows and logs among the entries of a folder, hidden ones left out."""
    return sorted(
        entry
        for entry in entries
        if not entry.name.startswith(".")
        and (kind_of_name(entry) is not None or entry.suffix.lower() in LOG_SUFFIXES)
        and entry.is_file()
    )


def _exists(ask: Callable[[], bool]) -> bool:
    """The answer of a path, no where its text is too long or too odd to be one."""
    try:
        return ask()
    except (OSError, ValueError):
        return False


def file_rows(
    path: Path,
    call: str,
    wanted: Sequence[str] | None = None,
    *,
    format: str | None = None,
    counts: Counts | None = None,
    numbers: Collection[str] = (),
    structured: Collection[str] = (),
) -> Iterator[dict[str, Any]]:
    """The rows of one file, one after the other.

    Parameters
    ----------
    wanted : sequence of str, optional
        The only keys that are needed. JSON lines leave the others unread, which is most of the work.
    format : {"jsonl", "json", "csv", "parquet"}, optional
        The kind of the file, where its content should not say.
    counts : Counts, optional
        Counts what is passed over.
    numbers, structured : collection of str
        Columns of a CSV that hold numbers, and JSON, beside those whose names say so.
    """
    kind = kind_of(path, call) if format is None else FORMATS[format]
    if kind == "parquet":
        return parquet_rows(path, call, wanted)
    if kind == "csv":
        from whileai.readers.csv_rows import csv_rows

        return csv_rows(path, call, wanted, counts, (numbers, structured))
    from whileai.readers import json_rows

    return (json_rows.json_rows if kind == "json" else json_rows.line_rows)(path, call, wanted, counts)


def connected() -> Any:
    """A DuckDB of its own in memory, which draws no progress bar of its own."""
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET enable_progress_bar = false")
    return connection


def parquet_rows(path: Path, call: str, wanted: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
    """Parquet through DuckDB, a batch at a time."""
    import duckdb

    with connected() as connection:
        name = glob.escape(str(path))  # the path is one file, whatever brackets or key=value folders are in it
        try:
            relation = connection.read_parquet(name, hive_partitioning=False)
            if renames(relation.columns, relation.types) and importlib.util.find_spec("pyarrow"):
                yield from _arrow_parquet_rows(path, wanted)
                return
            yield from relation_rows(relation if wanted is None else chosen(relation, wanted))
        except duckdb.Error as error:
            raise broken_parquet(path, call, error) from error


def renames(columns: Sequence[str], types: Sequence[Any] = ()) -> bool:
    """Whether DuckDB, which tells no case apart, gave a column another name: ``task_id_1`` beside ``Task_ID``.

    With `types` the fields of columns that are structs are looked at too.
    """
    names = {name.lower() for name in columns}
    inside = [[name for name, _ in kind.children] for kind in types if kind.id == "struct"]
    return any(name[-2:] == "_1" and name[:-2].lower() in names for name in columns) or any(map(renames, inside))


def _arrow_parquet_rows(path: Path, wanted: Sequence[str] | None) -> Iterator[dict[str, Any]]:
    """Parquet through pyarrow, a batch at a time."""
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        names = [name for name in file.schema_arrow.names if wanted is None or name in wanted]
        for batch in file.iter_batches(columns=names or None):
            yield from batch.to_pylist(maps_as_pydicts="strict")


def broken_parquet(path: Path, call: str, error: BaseException) -> RowError:
    """The error of a Parquet file that DuckDB cannot read."""
    reason = re.sub(r"^[A-Z][\w ]* Error: ", "", str(error).partition("\n")[0]).strip().rstrip(".")
    return RowError(f"{call}: {path} must be a whole Parquet file; got {reason}.", 0, "", None)


def chosen(relation: Any, wanted: Sequence[str]) -> Any:
    """A relation with those of the wanted columns that it has, all of its columns where it has none."""
    names = [name for name in relation.columns if name in wanted]
    return relation.project(", ".join(quoted(name) for name in names)) if names else relation


def quoted(name: str) -> str:
    """A name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def relation_rows(relation: Any) -> Iterator[dict[str, Any]]:
    """The rows of a DuckDB relation, a batch at a time."""
    names = list(relation.columns)
    if hasattr(relation, "iter_rows"):  # DuckDB 2; a relation of DuckDB 1 has fetchmany instead
        for values in relation.iter_rows(20_000):
            yield dict(zip(names, values, strict=True))
        return
    while batch := relation.fetchmany(20_000):
        for values in batch:
            yield dict(zip(names, values, strict=True))
