"""Rows of what is in memory: lists, generators, frames, tables, streams, relations, datasets."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from whileai.errors import MissingExtra, sentence
from whileai.readers.columns import is_relation, narrowed
from whileai.readers.files import connected, relation_rows

ACCEPTED = (
    "a list or generator of dict rows, a path or glob (.jsonl .json .csv .parquet), a pandas or polars frame, "
    "an Arrow table or stream, a Hugging Face Dataset, a DuckDB relation or a Ray, Spark or Dask frame"
)


def rows_of_object(data: Any, call: str, argument: str, wanted: Sequence[str] | None = None) -> Iterable[Any]:
    """The rows of anything in memory; of a lazy frame or a relation only the wanted columns are asked for."""
    if isinstance(data, (list, tuple)):
        return data
    opener = _opener(data)
    if opener is not None:
        return opener(data if wanted is None else narrowed(data, wanted))
    if _may_hold_rows(data):
        return data  # type: ignore[no-any-return]
    raise TypeError(sentence(call, argument, ACCEPTED, data))


def is_data(value: Any) -> bool:
    """Whether a value counts as data, its rows unread."""
    return isinstance(value, (str, os.PathLike, list, tuple)) or _opener(value) is not None or _may_hold_rows(value)


def _may_hold_rows(value: Any) -> bool:
    """Whether a value is an iterable that may give rows: no text, no mapping, no array."""
    plain = isinstance(value, (bytes, bytearray, str, Mapping, set, frozenset, type))
    return not plain and isinstance(value, Iterable) and not hasattr(value, "dtype")


def _opener(data: Any) -> Callable[[Any], Iterable[Any]] | None:
    """How a frame, table or relation gives its rows, ``None`` for what is none; imports none of their packages."""
    package = type(data).__module__.partition(".")[0]
    name = type(data).__name__
    if package == "pandas" and name == "DataFrame":
        return _pandas_rows
    if package == "polars" and name in ("DataFrame", "LazyFrame"):
        return _polars_rows
    if package == "datasets" and name in ("Dataset", "IterableDataset"):
        return iter
    if package == "ray" and hasattr(data, "iter_rows"):
        return _ray_rows
    if package == "pyspark" and hasattr(data, "toLocalIterator"):
        return _spark_rows
    if package.startswith("dask") and name == "DataFrame":
        return _dask_rows
    if is_relation(data):
        return relation_rows
    if hasattr(data, "__arrow_c_stream__"):
        return _arrow_rows
    return None


def _pandas_rows(frame: Any) -> Iterator[dict[str, Any]]:
    """Rows of a pandas frame; its missing cells become ``None``."""
    names = [str(name) for name in frame.columns]
    columns = [frame.iloc[:, place] for place in range(len(names))]
    cells = [column.astype(object).where(column.notna(), None).tolist() for column in columns]
    cells = [list(map(_plain_cell, column)) if _holds_arrays(column) else column for column in cells]
    for values in zip(*cells, strict=True):
        yield dict(zip(names, values, strict=True))


def _holds_arrays(cells: list[Any]) -> bool:
    """Whether a column holds arrays or mappings, which Parquet gives pandas for lists and structs."""
    return any(isinstance(cell, dict) or hasattr(cell, "dtype") for cell in cells)


def _plain_cell(cell: Any) -> Any:
    """A cell with lists in place of arrays, inside mappings too."""
    if hasattr(cell, "dtype"):
        cell = cell.tolist()
    if isinstance(cell, dict):
        return {key: _plain_cell(item) for key, item in cell.items()}
    return [_plain_cell(item) for item in cell] if isinstance(cell, list) else cell


def _polars_rows(frame: Any) -> Iterator[dict[str, Any]]:
    """Rows of a polars frame, lazy or not."""
    collected = frame.collect() if hasattr(frame, "collect") else frame
    rows: Iterator[dict[str, Any]] = collected.iter_rows(named=True)
    return rows


def _ray_rows(dataset: Any) -> Iterator[dict[str, Any]]:
    """Rows of a Ray Dataset, streamed to this process."""
    for row in dataset.iter_rows():
        yield {key: _plain_cell(cell) for key, cell in row.items()}


def _spark_rows(frame: Any) -> Iterator[dict[str, Any]]:
    """Rows of a PySpark frame, a partition at a time."""
    for row in frame.toLocalIterator():
        yield row.asDict(recursive=True)


def _dask_rows(frame: Any) -> Iterator[dict[str, Any]]:
    """Rows of a Dask frame, a partition at a time."""
    for part in frame.partitions:
        yield from _pandas_rows(part.compute())


def _arrow_rows(stream: Any) -> Iterator[dict[str, Any]]:
    """Rows of anything with an Arrow C stream, through pyarrow where it is installed, else through DuckDB."""
    try:
        import pyarrow as pa
    except ImportError:
        yield from _arrow_rows_of_duckdb(stream)
        return
    reader = pa.RecordBatchReader.from_stream(stream)
    for batch in reader:
        yield from batch.to_pylist(maps_as_pydicts="strict")


def _arrow_rows_of_duckdb(stream: Any) -> Iterator[dict[str, Any]]:  # noqa: ARG001 - DuckDB finds it by name
    """The same where pyarrow is absent."""
    import duckdb

    with connected() as connection:
        try:
            relation = connection.sql("from stream")
        except duckdb.Error as error:
            raise MissingExtra("an Arrow stream of this kind needs pyarrow: pip install pyarrow") from error
        yield from relation_rows(relation)
