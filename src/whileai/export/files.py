"""Lines into a file, whole or not at all: under another name first, then renamed."""

from __future__ import annotations

import contextlib
import gzip
import json
import math
import os
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from whileai.errors import ParamError, RowError
from whileai.keys import is_missing

LINES = (".jsonl", ".ndjson", ".jsonlines")
PACKED = (".gz", ".zst")
_encoded = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def kind_of(path: Path) -> str:
    """``lines``, ``packed`` lines, ``parquet`` or nothing, by the name."""
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    if suffixes[-1:] == [".parquet"]:
        return "parquet"
    if suffixes and suffixes[-1] in LINES:
        return "lines"
    return "packed" if len(suffixes) == 2 and suffixes[0] in LINES and suffixes[1] in PACKED else ""


def checked_path(call: str, path: Any) -> Path:
    """A path whose folder exists."""
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
        raise ParamError.of(call, "path", "a file name", path)
    file = Path(os.fspath(path)).expanduser()
    if file.is_dir() or not file.resolve().parent.is_dir():
        raise ParamError.of(call, "path", "a file in a folder that exists", str(path))
    return file


def write_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    """JSON lines, packed if the name says so."""
    with whole_file(path) as temporary, packed(temporary, path.suffix.lower()) as file:
        file.writelines(map(json_line, lines))


def write_parquet(path: Path, lines: Iterable[Mapping[str, Any]], columns: Mapping[str, str]) -> None:
    """Parquet of these columns, through DuckDB, which reads the lines from a file beside the target.

    Parameters
    ----------
    columns : mapping
        Key of the lines -> type of its column; all other keys are left out.
    """
    import duckdb

    with whole_file(path) as temporary, whole_file(path, suffix=".jsonl", keep=False) as text:
        longest = 0
        with text.open("wb") as file:
            for line in lines:
                data = json_line({f"c{place}": line.get(name) for place, name in enumerate(columns)})
                longest = max(longest, len(data))
                file.write(data)
        found = ", ".join(f"'c{place}': '{kind}'" for place, kind in enumerate(columns.values()))
        named = ", ".join(f"c{place} AS {_quoted(name)}" for place, name in enumerate(columns))
        source = f"read_json({_literal(text)}, columns = {{{found}}}, format = 'newline_delimited', "
        source += f"auto_detect = false, maximum_object_size = {max(longest + 1, 1 << 20)}, compression = 'none')"
        query = f"COPY (SELECT {named} FROM {source}) TO {_literal(temporary)} (FORMAT parquet, ROW_GROUP_SIZE 20480)"  # noqa: S608 - all quoted
        with duckdb.connect() as connection:
            connection.execute("SET enable_progress_bar = false")
            # one thread: several cut row groups as it happens, hold one each, and are no faster
            connection.execute("SET threads = 1")
            connection.execute(query)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


@contextlib.contextmanager
def whole_file(path: Path, suffix: str = ".tmp", *, keep: bool = True) -> Iterator[Path]:
    """A file of another name in the folder of `path`, which takes its place once all is well.

    A symbolic link keeps pointing where it points, and a file that stands there keeps its permissions.

    Parameters
    ----------
    keep : bool
        Whether it takes the place of `path`; otherwise it is gone in the end.
    """
    target = path.resolve()
    handle, name = tempfile.mkstemp(prefix=f".{target.name[:100]}.", suffix=suffix, dir=target.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        if keep:
            temporary.chmod(_mode(target))
            temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _mode(path: Path) -> int:
    """The permissions of the file that stands there, else those a new file gets."""
    if path.exists():
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


@contextlib.contextmanager
def packed(path: Path, suffix: str) -> Iterator[IO[bytes]]:
    """A file to write bytes to, which packs them; the bytes depend on nothing but what is written."""
    with contextlib.ExitStack() as stack:
        file: Any = stack.enter_context(path.open("wb"))
        if suffix == ".gz":
            file = stack.enter_context(gzip.GzipFile("", "wb", fileobj=file, mtime=0))
        elif suffix == ".zst":
            try:
                from compression import zstd
            except ImportError:
                from backports import zstd
            file = stack.enter_context(zstd.open(file, "wb"))
        yield file


def json_line(line: Mapping[str, Any]) -> bytes:
    """One line of strict JSON in UTF-8; half a surrogate pair becomes the replacement character."""
    try:
        text = _encoded(line)
    except (TypeError, ValueError):
        text = _encoded(plain(line))
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode() + b"\n"


def plain(value: Any) -> Any:
    """`value` as JSON has it: text keys, lists, ``None`` for NaN and what is missing, text for dates and the like."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        if math.isinf(value):
            raise RowError(f"write: a number in a row must be finite; got {value!r}.", 0, "", value)
        return None if math.isnan(value) else value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain(item) for item in value), key=str)
    if is_missing(value):
        return None
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode("utf-8", "replace")
    return str(value)
