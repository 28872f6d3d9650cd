"""Our rows as flat ones, for Parquet."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from whileai.errors import ParamError
from whileai.export.columns import TEXT, flat_types
from whileai.export.files import plain


def flattened(rows: Sequence[dict[str, Any]]) -> tuple[Iterator[dict[str, Any]], dict[str, str]]:
    """Rows as flat ones: scalars in columns, markers in a struct of numbers, the rest as JSON in ``*_json`` columns.

    That is a shape of its own (`load_traces` reads it), so the rows are not stamped as if they were whole.
    """
    rows = [{str(key): plain(value) for key, value in row.items() if key != "schema_version"} for row in rows]
    types = flat_types([{key: value for key, value in row.items() if key != "markers"} for row in rows])
    markers = sorted({name for row in rows if isinstance(row.get("markers"), dict) for name in row["markers"]})
    if any("markers" in row for row in rows):
        types["markers"] = _markers_type(rows, markers)
    columns: dict[str, str] = {}
    for key, kind in types.items():
        columns[f"{key}_json" if kind == "JSON" else key] = TEXT if kind == "JSON" else kind
    folded = Counter(name.casefold() for name in columns)
    if len(columns) < len(types) or max(folded.values(), default=0) > 1:
        name = next((name for name in columns if folded[name.casefold()] > 1), "")
        raise ParamError.of(
            "write", "the keys of the rows", "different without their case in Parquet", name, "Write .jsonl."
        )
    packed = [key for key, kind in types.items() if kind == "JSON"]
    return _flat(rows, packed), columns


def _flat(rows: Sequence[dict[str, Any]], packed: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Each row with the values under `packed` as JSON, made when it is written."""
    for row in rows:
        cells = {key: value for key, value in row.items() if key not in packed}
        for key in packed:
            value = row.get(key)
            cells[f"{key}_json"] = None if value is None else json.dumps(value, ensure_ascii=False)
        yield cells


def _markers_type(rows: Sequence[dict[str, Any]], names: Sequence[str]) -> str:
    """A struct of numbers where every marker is one and no two names differ by case alone, else JSON."""
    values = [row["markers"] for row in rows if row.get("markers") is not None]
    fits = all(
        isinstance(value, dict) and all(item is None or isinstance(item, (int, float)) for item in value.values())
        for value in values
    )
    if not fits or not 0 < len(names) <= 500 or len({name.casefold() for name in names}) < len(names):
        return "JSON"
    return "STRUCT(" + ", ".join('"' + name.replace('"', '""') + '" DOUBLE' for name in names) + ")"
