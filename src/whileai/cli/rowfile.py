"""Rows into a file, JSON lines or a JSON list by its name."""

from __future__ import annotations

import datetime as dt
import decimal
import json
import math
import uuid
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from whileai.cli.failures import InputError
from whileai.cli.output import check_file, encoded, write_file

LINES = (".jsonl", ".ndjson", ".jsonlines")


def check_row_file(file: str | None) -> None:
    """Raise unless rows can go into a file of this name."""
    check_file(file)
    if file is None or _suffix(file) in (*LINES, ".json") or _is_device(file):
        return
    later = " Parquet is not written yet." if _suffix(file) == ".parquet" else ""
    raise InputError(f"--output must be a file ending in .jsonl or .json; got {file!r}.{later}")


def write_rows(file: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write the rows whole or not at all."""
    write_file(file, _list(rows) if _suffix(file) == ".json" else (b"%b\n" % _row(*pair) for pair in enumerate(rows)))


def _suffix(file: str) -> str:
    return Path(file).suffix.lower()


def _is_device(file: str) -> bool:
    path = Path(file)
    return path.exists() and not path.is_file()


def _list(rows: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    yield b"["
    for index, row in enumerate(rows):
        yield (b",\n" if index else b"\n") + _row(index, row)
    yield b"\n]\n"


def _row(index: int, row: Mapping[str, Any]) -> bytes:
    """One row as strict JSON."""
    try:
        return encoded(json.dumps(row, ensure_ascii=False, allow_nan=False, default=_plain))
    except ValueError:
        found = json.dumps(_finite(row, index), ensure_ascii=False, allow_nan=False, default=_plain)
        return encoded(found)


def _plain(value: Any) -> Any:
    """What columns of a table may hold beside JSON's own types."""
    if isinstance(value, (dt.date, dt.time)):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, (uuid.UUID, dt.timedelta)):
        return str(value)
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode("utf-8", "backslashreplace")
    raise InputError(f"a kept row holds a {type(value).__name__}, which JSON cannot write.")


def _finite(value: Any, index: int) -> Any:
    """NaN as null, which is how rows say missing; infinity has no such word."""
    if isinstance(value, float):
        if math.isinf(value):
            raise InputError(f"kept row {index} must be finite to be written as JSON; got {value!r}.")
        return None if math.isnan(value) else value
    if isinstance(value, Mapping):
        return {key: _finite(item, index) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item, index) for item in value]
    return value
