"""Our rows as flat ones, for Parquet."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from whileai.errors import ParamError
from whileai.export.columns import TEXT, flat_types
from whileai.export.files import plain

_APART = ("schema_version", "markers")


def flattened(rows: Sequence[dict[str, Any]]) -> tuple[Iterator[dict[str, Any]], dict[str, str]]:
    """Rows as flat ones: scalars in columns, markers in a struct of numbers, the rest as JSON in ``*_json`` columns.

    That is a shape of its own (`load_traces` reads it), so the rows are not stamped as if they were whole.
    """
    types = flat_types({str(key): _outside(value) for key, value in row.items() if key not in _APART} for row in rows)
    if any("markers" in row for row in rows):
        types["markers"] = _markers_type(plain(row.get("markers")) for row in rows)
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


def _outside(value: Any) -> Any:
    """A value as JSON has it, of a list or dict no more than that it is one."""
    return type(value)() if type(value) in (dict, list) else plain(value)


def _flat(rows: Sequence[dict[str, Any]], packed: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Each row with the values under `packed` as JSON, made when it is written."""
    for row in rows:
        cells = {str(key): plain(value) for key, value in row.items()}
        for key in packed:
            value = cells.pop(key, None)
            cells[f"{key}_json"] = None if value is None else json.dumps(value, ensure_ascii=False)
        yield cells


def _markers_type(blocks: Iterable[Any]) -> str:
    """A struct of numbers where every marker is one and no two names differ by case alone, else JSON."""
    names: set[str] = set()
    fits = True
    for block in blocks:
        if isinstance(block, dict):
            names.update(block)
            fits = fits and all(item is None or isinstance(item, (int, float)) for item in block.values())
        else:
            fits = fits and block is None
    if not fits or not 0 < len(names) <= 500 or len({name.casefold() for name in names}) < len(names):
        return "JSON"
    return "STRUCT(" + ", ".join('"' + name.replace('"', '""') + '" DOUBLE' for name in sorted(names)) + ")"
