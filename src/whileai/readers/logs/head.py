"""The beginning of a file: what recognition may look at, whatever the file's size."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from whileai.readers.logs import packed
from whileai.readers.logs.decoding import decode_json
from whileai.readers.logs.json_stream import partial

#: How an object begins, and a list of objects or lists.
_list = re.compile(r"\[\s*(?:[\[{\]]|\Z)")
_object = re.compile(r'\{\s*(?:["}]|\Z)')
#: How much of a file is looked at, in bytes unpacked, and how many of its first records.
SIZE, RECORDS = 1 << 17, 20
#: Keys that a row of this library has and hardly a log of anyone else.
OURS = ("final_text", "judge_status", "judge_name")


@dataclass(frozen=True)
class Head:
    """The beginning of a file, or the names in a folder.

    Attributes
    ----------
    path : Path
    kind : str
        By content, through gzip and zstd: ``lines`` (JSON objects, one a line), ``json`` (one document over the whole
        file), ``csv``, ``parquet``, ``zip``, ``folder``, ``empty``, ``text`` or ``binary``.
    text : str
        The first `SIZE` bytes; empty for what is no text.
    whole : bool
        Whether `text` is the whole file.
    magic : bytes
        The first bytes, unpacked.
    """

    path: Path
    kind: str
    text: str = ""
    whole: bool = False
    magic: bytes = b""

    @cached_property
    def value(self) -> Any:
        """What the beginning of the one document says, its brackets closed; of JSON lines the first object."""
        if self.kind == "json":
            return _partial(self.text)
        return self.records[0] if self.records else None

    @property
    def is_list(self) -> bool:
        """Whether the file is one JSON list."""
        return self.kind == "json" and isinstance(self.value, list)

    @cached_property
    def records(self) -> tuple[dict[str, Any], ...]:
        """The first objects of JSON lines or of a JSON list; the object of a file that holds one."""
        if self.kind == "lines":
            lines = [line for line in self.text.split("\n") if line.strip()]
            found = [_line(line) for line in lines[:RECORDS]]
            if len(lines) == 1 and not self.whole:
                found = [_partial(self.text)]
        elif self.kind == "json":
            found = self.value[:RECORDS] if isinstance(self.value, list) else [self.value]
        else:
            found = []
        return tuple(record for record in found if isinstance(record, dict))

    @property
    def is_document(self) -> bool:
        """Whether the file may be one JSON document: it is, or holds one line as far as the beginning shows."""
        return self.kind == "json" or (self.kind == "lines" and self.text.strip().count("\n") == 0)

    @property
    def first(self) -> Mapping[str, Any]:
        """The first record, or the document that is an object; empty where there is none."""
        return self.records[0] if self.records else {}

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the document that is an object, as far as the beginning shows them, or of the first record."""
        return tuple(self.first)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of CSV and Parquet."""
        if self.kind == "csv":
            header = next(iter(self.text.splitlines()), "")
            return tuple(next(csv.reader([header], delimiter=_delimiter(header)), ()))
        if self.kind == "parquet":
            import glob

            import duckdb

            with duckdb.connect() as connection:
                name = glob.escape(str(self.path))
                try:
                    return tuple(connection.read_parquet(name, hive_partitioning=False).columns)
                except duckdb.Error:  # damaged; the reader of rows says how
                    return ()
        return ()

    @cached_property
    def members(self) -> frozenset[str]:
        """The names in a zip archive or a folder; none where the archive is damaged."""
        if self.kind == "folder":
            return frozenset(file.name for file in self.path.iterdir())
        if self.kind == "zip":
            try:
                with packed.Archive(self.path) as archive:
                    return frozenset(archive.names)
            except packed.broken():
                return frozenset()
        return frozenset()

    @property
    def is_ours(self) -> bool:
        """Whether the first record is a row of this library, so that no format need be asked."""
        return self.kind in ("lines", "json") and any(key in self.first for key in OURS)


def head_of(path: Path) -> Head:
    """The beginning of a file or the names in a folder; a file that is not there raises `FileNotFoundError`."""
    if path.is_dir():
        return Head(path, "folder")
    try:
        with packed.opened(path) as file:
            data = file.read(SIZE + 1)
    except packed.broken():
        data = _what_unpacks(path)
    magic, whole, data = data[:512], len(data) <= SIZE, data[:SIZE]
    with path.open("rb") as file:
        plain = file.read(4) == data[:4]
    if not data.strip(b"\xef\xbb\xbf \t\r\n"):
        return Head(path, "empty", whole=whole)
    for kind, start in (("zip", packed.ZIP), ("parquet", packed.PARQUET)):
        if data.startswith(start):
            return Head(path, kind if plain else "binary", magic=magic)
    text = _text(data)
    if text is None:
        return Head(path, "binary", magic=magic)
    return Head(path, _kind(text, whole, path), text, whole, magic)


def _what_unpacks(path: Path) -> bytes:
    """The bytes of a damaged compressed file up to the damage."""
    found = b""
    with packed.opened(path) as file:
        try:
            while len(found) <= SIZE and (more := file.read1(1 << 12)):
                found += more
        except packed.broken():
            return found
    return found


def _text(data: bytes) -> str | None:
    """Bytes as text, ``None`` for what is none."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return None  # UTF-16, which no reader here takes
    if b"\x00" in data:
        return None
    text = data.decode("utf-8-sig", "replace")
    return text if text.count("\ufffd") <= 1 + len(text) // 50 else None


def _kind(text: str, whole: bool, path: Path) -> str:
    """The kind of a text: ``lines``, ``json``, ``csv`` or ``text``."""
    body = text.lstrip()
    if _object.match(body):
        first, newline, rest = body.partition("\n")
        if newline and isinstance(_line(first), dict):
            return "lines" if rest.strip() or _named_lines(path) else "json"
        if newline or (whole and not _named_lines(path)):
            return "json" if _partial(body) is not None else "text"
        return "lines" if _named_lines(path) else "json"
    if _list.match(body) or (body.startswith("[") and _partial(body, strict=True) is not None):
        return "json"
    header, newline, rest = body.partition("\n")
    sign = _delimiter(header)
    second = rest.partition("\n")[0]
    named = {suffix.lower() for suffix in path.suffixes} & {".csv", ".tsv"}
    if named or (newline and sign in header and second.count(sign) >= header.count(sign)):
        return "csv"
    return "text"


def _delimiter(header: str) -> str:
    return "\t" if header.count("\t") > header.count(",") else ","


def _named_lines(path: Path) -> bool:
    """Whether the name says JSON lines."""
    return bool({suffix.lower() for suffix in path.suffixes} & {".jsonl", ".ndjson", ".jsonlines"})


def _line(line: str) -> Any:
    """A line as JSON, ``None`` for what is none."""
    try:
        return decode_json(line.encode("utf-8", "surrogatepass"))
    except ValueError:
        return None


def _partial(text: str, *, strict: bool = False) -> Any:
    """What the beginning of a document says, ``None`` where it begins like none."""
    try:
        return partial(text, strict=strict)
    except (ValueError, RecursionError):
        return None
