"""Files of rows: JSON lines, JSON, CSV and Parquet, plain or compressed, one or many."""

from __future__ import annotations

import csv
import glob
import gzip
import io
import json
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypedDict

from whileai.errors import RowError, sentence, shown

#: Longest name first, so that rows.jsonl.gz is JSON lines.
LINES = (".jsonl", ".ndjson", ".jsonlines")
KINDS = {**dict.fromkeys(LINES, "lines"), ".json": "json", ".csv": "csv", ".tsv": "csv", ".parquet": "parquet"}
PACKED = (".gz", ".zst")
#: CSV columns whose cells are numbers or truth values, and those that hold JSON; every other cell stays text.
NUMBER_COLUMNS = frozenset({"reward", "gold_reward", "rollout_index", "truncated", "is_truncated"})
JSON_COLUMNS = frozenset({"markers", "messages", "steps", "privileged", "judge_meta", "lineage", "calibration"})
TRUTH = {"true": True, "false": False}


def read(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """The rows of a file, or of every file a pattern names.

    Parameters
    ----------
    path : path
        ``.jsonl``, ``.json``, ``.csv`` or ``.parquet``, the first three also with ``.gz`` or ``.zst``; a glob reads its
        files in the order of their names.

    Returns
    -------
    list of dict
        Rows as they stand in the file. An empty CSV cell is ``None``.

    Raises
    ------
    FileNotFoundError
        No file has that name.
    RowError
        A line is not a JSON object; the message names the file and the line.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> import whileai as wai
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "rows.jsonl"
    >>> _ = path.write_text(json.dumps({"task_id": "a", "prompt": "p", "final_text": "x", "reward": 1}))
    >>> wai.read(path)[0]["reward"]
    1
    """
    return [row for file in files_of(path, "read") for row in file_rows(file, "read")]


def files_of(path: str | os.PathLike[str], call: str) -> list[Path]:
    """The files a path or a pattern names, in the order of their names; at least one."""
    text = os.fspath(path)
    direct = Path(text)
    if text and _exists(direct.is_file):
        return [direct]
    if text and _exists(direct.is_dir):
        found = sorted(file for file in direct.iterdir() if file.is_file() and kind_of(file) is not None)
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


def _exists(ask: Callable[[], bool]) -> bool:
    """The answer of a path, no where its text is too long or too odd to be one."""
    try:
        return ask()
    except (OSError, ValueError):
        return False


def kind_of(path: Path) -> str | None:
    """The kind of a file by its name: ``lines``, ``json``, ``csv``, ``parquet``, or ``None``."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in PACKED:
        suffixes.pop()
    return KINDS.get(suffixes[-1]) if suffixes else None


def file_rows(path: Path, call: str, wanted: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
    """The rows of one file, one after the other.

    Parameters
    ----------
    wanted : sequence of str, optional
        The only keys that are needed. JSON lines leave the others unread, which is most of the work.
    """
    kind = kind_of(path)
    if kind == "parquet":
        yield from parquet_rows(path)
        return
    read = {"csv": _csv_rows, "json": _json_rows}.get(str(kind))
    try:
        yield from _line_rows(path, call, wanted) if read is None else read(path, call)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise RowError(f"{call}: {path} must be a whole compressed file; got {error}.", 0, "", None) from error


def _opened(path: Path) -> Any:
    """A file's bytes, unpacked."""
    suffix = path.suffix.lower()
    if suffix == ".gz":
        return gzip.open(path, "rb")
    if suffix == ".zst":
        try:
            from compression import zstd
        except ImportError:
            from backports import zstd
        return zstd.open(path, "rb")
    return path.open("rb")


def _line_rows(path: Path, call: str, wanted: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
    """JSON lines; blank lines are skipped, a byte order mark too."""
    import msgspec

    make: Any = TypedDict  # made at run time, which a type checker does not follow
    kind = Any if wanted is None else make("Wanted", dict.fromkeys(wanted, Any), total=False)
    decode = msgspec.json.Decoder(kind).decode
    with _opened(path) as lines:
        for number, line in enumerate(lines):
            try:
                row = decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError):
                row = _tolerant(line)
                if row is None:
                    continue
            if not isinstance(row, dict):
                text = line.decode("utf-8", "replace").strip()
                place = f"{path} line {number + 1}"
                raise RowError(
                    sentence(call, place, "a JSON object", text, "Mend or remove the line."), number, "", text
                )
            yield row


def _tolerant(line: bytes) -> Any:
    """A line that strict JSON refuses (NaN, a lone surrogate); ``None`` if blank, its bytes if broken."""
    text = line.decode("utf-8-sig", "replace").strip()
    if not text:
        return None
    try:
        return json.loads(text)
    except ValueError:
        return line


def _json_rows(path: Path, call: str) -> Iterator[dict[str, Any]]:
    """A JSON list of rows, or an object that keeps one under ``rows``."""
    with _opened(path) as file:
        content = file.read()
    try:
        data = json.loads(content.decode("utf-8-sig"))
    except ValueError as error:
        if getattr(error, "msg", "") == "Extra data":  # one object a line under a .json name
            yield from _line_rows(path, call)
            return
        text = content[:120].decode("utf-8", "replace")
        raise RowError(f"{call}: {path} must be valid JSON; got {text!r}. {error}.", 0, "", text) from error
    if isinstance(data, dict):
        data = data["rows"] if isinstance(data.get("rows"), list) else [data]
    for index, row in enumerate(data if isinstance(data, list) else [data]):
        if not isinstance(row, dict):
            raise RowError.of(call, str(path), index, "the row", "a JSON object", row)
        yield row


def _csv_rows(path: Path, call: str) -> Iterator[dict[str, Any]]:
    """CSV with a header; cells become numbers, truth values and JSON in the columns that hold them."""
    delimiter = "\t" if ".tsv" in path.suffixes else ","
    limit = csv.field_size_limit(1 << 30)  # a completion may be longer than the module's default cell
    try:
        with _opened(path) as file, io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as text:
            for index, cells in enumerate(csv.DictReader(text, delimiter=delimiter)):
                if None in cells:  # the module keeps surplus cells under None; often a comma in a reply without quotes
                    bound = "as many cells as the header has"
                    fix = "Quote cells that hold a comma."
                    raise RowError.of(call, str(path), index, "the row", bound, list(cells.values()), fix)
                yield {name: _cell(name, cell) for name, cell in cells.items()}
    finally:
        csv.field_size_limit(limit)


def _cell(name: str, cell: Any) -> Any:
    """One CSV cell as a value."""
    if cell is None or cell == "":
        return "" if name == "final_text" and cell == "" else None
    if name in NUMBER_COLUMNS or name.startswith("marker:"):
        return _number(cell)
    if name in JSON_COLUMNS:
        try:
            return json.loads(cell)
        except ValueError:
            return cell
    return cell


def _number(cell: str) -> Any:
    """A cell as a number or truth value, as it stands where it is neither."""
    text = cell.strip()
    if text.lower() in TRUTH:
        return TRUTH[text.lower()]
    try:
        number = float(text)
    except ValueError:
        return cell
    return int(text) if text.lstrip("+-").isdecimal() else number


def parquet_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Parquet through DuckDB, a batch at a time."""
    import duckdb

    with duckdb.connect() as connection:
        name = glob.escape(str(path))  # the path is one file, whatever brackets or key=value folders are in it
        yield from relation_rows(connection.read_parquet(name, hive_partitioning=False))


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
