"""JSON lines and JSON -> rows."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from whileai.errors import RowError, sentence
from whileai.readers.content import TORN, opened
from whileai.readers.json_list import JsonList

if TYPE_CHECKING:
    from whileai.readers.logs.tally import Counts

#: Bytes decoded at once: few enough that the rows of a batch are still in the processor's cache when they are counted.
CHUNK = 1 << 18
LINE_FEED = 10
#: How completions in a list begin in a line.
COMPLETIONS = re.compile(rb'"final_text"\s*:\s*\[')

Decode = Callable[[bytes], Any]


def line_rows(
    path: Path, call: str, wanted: Sequence[str] | None = None, counts: Counts | None = None
) -> Iterator[dict[str, Any]]:
    """JSON lines; blank lines are skipped, a byte order mark too.

    A chunk of lines is decoded at once; where that fails, each of its lines on its own, which reads what strict JSON
    refuses (NaN, a lone surrogate) and names what is broken. A last line that was cut off while it was written (no end
    of line, no whole object, rows before it) is counted in `counts` and passed over.

    Raises
    ------
    RowError
        What is broken; also completions in a list that were not `wanted`, so that the file is read again, whole.
    """
    import msgspec
    import numpy as np

    make: Any = TypedDict  # made at run time, which a type checker does not follow
    kind = Any if wanted is None else make("Wanted", dict.fromkeys(wanted, Any), total=False)
    decoder = msgspec.json.Decoder(kind)
    number = 0
    for chunk in _chunks(path, call):
        if wanted is not None and "final_text" not in wanted and COMPLETIONS.search(chunk):
            text = f"{call}: {path} holds completions in lists, so all of its keys must be read."
            raise RowError(text, number, "final_text", None)
        n_lines = int(np.count_nonzero(np.frombuffer(chunk, np.uint8) == LINE_FEED))
        try:
            rows = decoder.decode_lines(chunk)
            whole = len(rows) == n_lines and {dict}.issuperset(map(type, rows))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            whole = False
        yield from rows if whole else _careful(chunk, decoder.decode, _Place(path, call, number, counts))
        number += n_lines


def _chunks(path: Path, call: str) -> Iterator[bytes]:
    """The bytes of a file in pieces that end with a line; only the last may lack the end of its line."""
    rest: list[bytes] = []
    with opened(path, call) as file:
        while piece := file.read(CHUNK):
            end = piece.rfind(b"\n") + 1
            if end:
                yield b"".join((*rest, piece[:end]))
                rest = []
            rest.append(piece[end:])
    if last := b"".join(rest):
        yield last


class _Place:
    """Where in which file a chunk begins, and who counts what is passed over."""

    def __init__(self, path: Path, call: str, first: int, counts: Counts | None) -> None:
        self.path, self.call, self.first, self.counts = path, call, first, counts


def _careful(chunk: bytes, decode: Decode, place: _Place) -> Iterator[dict[str, Any]]:
    """The rows of a chunk line by line."""
    import msgspec

    for number, line in enumerate(_lines(chunk)):
        try:
            row = decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            row = _tolerant(line)
            if row is None:
                continue
        if isinstance(row, dict):
            yield row
        elif row is line and number + place.first and line.lstrip().startswith(b"{") and not line.endswith(b"\n"):
            if place.counts is not None:
                place.counts.skip(TORN)
        else:
            text = line.decode("utf-8", "replace").strip()
            where = f"{place.path} line {place.first + number + 1}"
            fix = "Mend or remove the line."
            raise RowError(
                sentence(place.call, where, "a JSON object", text, fix), place.first + number, "", text
            ) from None


def _lines(chunk: bytes) -> Iterator[bytes]:
    """The lines of a chunk; only a line feed ends one."""
    *lines, last = chunk.split(b"\n")
    for line in lines:
        yield line + b"\n"
    if last:
        yield last


def _tolerant(line: bytes) -> Any:
    """A line that strict JSON refuses (NaN, a lone surrogate); ``None`` if blank, its bytes if broken."""
    text = line.decode("utf-8-sig", "replace").strip()
    if not text:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return line


def json_rows(
    path: Path, call: str, wanted: Sequence[str] | None = None, counts: Counts | None = None
) -> Iterator[dict[str, Any]]:
    """A JSON list of rows, read a piece at a time, or an object that keeps one under ``rows``."""
    try:
        with opened(path, call) as file, io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as text:
            items = JsonList(text)
            if not _one_a_line(items.head):
                yield from _objects(items if items.is_list else _listed(json.loads(items.rest())), path, call)
                return
    except RowError:
        raise
    except (ValueError, RecursionError) as error:
        if getattr(error, "msg", "") != "Extra data":
            with opened(path, call) as file:
                begins = file.read(120).decode("utf-8", "replace")
            message = f"{call}: {path} must be valid JSON; got {begins!r}. {error}."
            raise RowError(message, 0, "", begins) from error
    yield from line_rows(path, call, wanted, counts)  # one value a line under a .json name


def _one_a_line(head: str) -> bool:
    """Whether the first line of a file is a whole value, with more lines to follow."""
    first, _, rest = head.partition("\n")
    if not rest.strip():
        return False
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return False
    return True


def _listed(data: Any) -> list[Any]:
    """The rows of a document that is no list: those under ``rows``, else the one that it is."""
    return data["rows"] if isinstance(data, dict) and isinstance(data.get("rows"), list) else [data]


def _objects(items: Iterable[Any], path: Path, call: str) -> Iterator[dict[str, Any]]:
    for index, row in enumerate(items):
        if not isinstance(row, dict):
            raise RowError.of(call, str(path), index, "the row", "a JSON object", row)
        yield row
