"""What a file looks like, in words, for those that no reader takes."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from whileai.keys import GOLD_NAMES
from whileai.readers.logs.head import Head

#: Keys of which an object has one if it can be a row.
ROW_KEYS = frozenset(
    ("task_id", "scenario_id", "prompt", "messages", "final_text", "reward", "markers", "rows", "gold_reward", "steps")
)
#: Names that promise rows; what is wrong with such a file is said by its own reader, line by line.
ROW_SUFFIXES = frozenset({".jsonl", ".ndjson", ".jsonlines", ".json", ".csv", ".tsv"})
#: Where a signature stands in a file, the signature, and what has it.
MAGIC = (
    (0, b"%PDF", "a PDF document"),
    (0, b"\x89PNG", "a PNG image"),
    (0, b"\xff\xd8\xff", "a JPEG image"),
    (0, b"GIF8", "a GIF image"),
    (0, b"SQLite format 3", "an SQLite database"),
    (0, b"\x93NUMPY", "a NumPy array"),
    (0, b"\x7fELF", "a program"),
    (0, b"PK\x03\x04", "a zip archive inside another packing; unpack it once"),
    (0, b"PAR1", "Parquet inside another packing; unpack it"),
    (0, b"BZh", "a bzip2 file, which is not read here; unpack it"),
    (0, b"\xfd7zXZ", "an xz file, which is not read here; unpack it"),
    (0, b"ARROW1", "an Arrow IPC file, which is not read here; open it with pyarrow and pass the table"),
    (0, b"\xff\xff\xff\xff", "an Arrow stream, which is not read here; open it with pyarrow and pass the table"),
    (0, b"Obj\x01", "an Avro file"),
    (0, b"ORC", "an ORC file"),
    (0, b"\x80\x04", "a Python pickle, which is not opened here: it can run code"),
    (0, b"\x80\x05", "a Python pickle, which is not opened here: it can run code"),
    (0, b"\xff\xfe", "UTF-16 text; save it as UTF-8"),
    (0, b"\xfe\xff", "UTF-16 text; save it as UTF-8"),
    (257, b"ustar", "a tar archive, which is not read here; unpack it"),
)


def has_rows(head: Head, fields: Collection[str] = ()) -> bool:
    """Whether a file that is no log can be one of plain rows, or is named so and its own reader says what is wrong."""
    if head.kind in ("lines", "csv", "parquet", "empty") or head.is_list:
        return True
    if head.kind == "json":
        return head.value is None or not ROW_KEYS.union(GOLD_NAMES, fields).isdisjoint(head.keys)
    named = {suffix.lower() for suffix in Path(head.path).suffixes}
    return head.kind == "text" and not named.isdisjoint(ROW_SUFFIXES)


def looks_like(head: Head) -> str:
    """What a file looks like, in a few words."""
    if head.kind in ("lines", "json"):
        what = {"lines": "JSON lines of objects", "json": "a JSON list of objects" if head.is_list else "a JSON object"}
        return f"{what[head.kind]} with the keys {_some(head.keys)}" if head.keys else what[head.kind]
    if head.kind in ("csv", "parquet"):
        return f"{head.kind.upper() if head.kind == 'csv' else 'Parquet'} with the columns {_some(head.columns)}"
    if head.kind == "zip":
        names = sorted(head.members)
        return f"a zip archive with {_some(names)}" if names else "a zip archive that is cut short or damaged"
    if head.kind == "folder":
        return f"a folder with {_some(sorted(head.members))}" if head.members else "an empty folder"
    if head.kind == "empty":
        return "an empty file"
    for place, sign, what_it_is in MAGIC:
        if head.magic[place:].startswith(sign):
            return what_it_is
    if head.kind == "binary":
        return "a binary file of a kind that is not known here"
    start = head.text.lstrip()[:40].splitlines()[0]
    return f"an HTML page ({start!r})" if start[:1] == "<" and "html" in head.text[:400].lower() else f"text: {start!r}"


def _some(names: Collection[str]) -> str:
    """The first few of several names."""
    listed = list(names)
    return ", ".join(listed[:6]) + (", ..." if len(listed) > 6 else "")
