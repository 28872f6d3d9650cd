"""What a file of rows holds, told by its content; its name decides only where that leaves it open."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from whileai.errors import RowError

#: Longest name first, so that rows.jsonl.gz is JSON lines.
LINES = (".jsonl", ".ndjson", ".jsonlines")
KINDS = {**dict.fromkeys(LINES, "lines"), ".json": "json", ".csv": "csv", ".tsv": "csv", ".parquet": "parquet"}
PACKED = (".gz", ".zst")
#: What ``format=`` calls the kinds of files of rows.
FORMATS = {"jsonl": "lines", "json": "json", "csv": "csv", "parquet": "parquet"}
#: Why a line that was cut off while it was written gives no row.
TORN = "torn last line"
#: A column that says that a line of plain text is the header of a table of rows.
HEADERS = frozenset({"task_id", "scenario_id", "prompt", "final_text", "reward"})


@contextmanager
def opened(path: Path, call: str) -> Iterator[Any]:
    """A file's bytes, unpacked where it begins like gzip or zstd, whatever its name.

    Raises
    ------
    RowError
        Packed bytes end early or are damaged.
    """
    from whileai.readers.logs import packed

    try:
        with packed.opened(path) as file:
            yield file
    except packed.broken() as error:
        reason = str(error).rstrip(".")
        text = f"{call}: {path} must be a whole compressed file; got {reason}."
        raise RowError(text, 0, "", None) from error


def kind_of_name(path: Path) -> str | None:
    """The kind of a file by its name: ``lines``, ``json``, ``csv``, ``parquet``, or ``None``."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in PACKED:
        suffixes.pop()
    return KINDS.get(suffixes[-1]) if suffixes else None


def kind_of(path: Path, call: str) -> str:
    """The kind of a file by its content: ``lines``, ``json``, ``csv`` or ``parquet``.

    Raises
    ------
    RowError
        The content is of another kind, which the message names.
    """
    from whileai.readers.logs.head import head_of
    from whileai.readers.logs.looks import looks_like

    head, named = head_of(path), kind_of_name(path)
    if head.kind in ("lines", "json", "parquet"):
        return head.kind
    if head.kind == "csv" and (named not in ("lines", "json") or HEADERS.intersection(head.columns)):
        return "csv"
    if head.kind == "empty" and named != "parquet":
        return named or "lines"
    if head.kind in ("csv", "text") and named not in ("parquet", None):
        if named != "csv" and _is_header(head.text.partition("\n")[0]):
            return "csv"
        return named
    if head.kind == "text" and named is None and _is_header(head.text.partition("\n")[0]):
        return "csv"
    fix = "JSON lines, JSON, CSV and Parquet are, and the logs that docs/formats.md names"
    raise RowError(f"{call}: {path} must be a file of rows ({fix}); it looks like {looks_like(head)}.", 0, "", None)


def _is_header(line: str) -> bool:
    """Whether a line is the header of a table of rows."""
    return bool(HEADERS & {cell.strip().strip('"') for cell in re.split("[,;\t]", line.strip())})


def delimiter_of(path: Path, header: str) -> str:
    """What separates the cells under a header: a tab in ``.tsv``, else whichever of comma, tab, semicolon it has."""
    if ".tsv" in path.suffixes:
        return "\t"
    outside = re.sub(r'"[^"]*"', "", header)
    return next((mark for mark in ",\t;" if mark in outside), ",")
