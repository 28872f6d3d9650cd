"""Logs that are Parquet: their columns through DuckDB, a batch at a time."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from typing import Any

from whileai.readers.files import broken_parquet, connected, quoted, relation_rows
from whileai.readers.logs.base import Log


def table_rows(log: Log, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The columns named, of every row in the order of the file."""
    yield from query_rows(log, ", ".join(map(quoted, columns)))


def query_rows(log: Log, columns: str) -> Iterator[dict[str, Any]]:
    """What an SQL list of columns gives for every row in the order of the file."""
    import duckdb

    name = glob.escape(str(log.path))
    with connected() as connection:
        try:
            relation = connection.read_parquet(name, hive_partitioning=False)
            yield from relation_rows(relation.project(columns))
        except duckdb.Error as error:
            raise broken_parquet(log.path, log.call, error) from error


def fields_of(log: Log) -> dict[str, frozenset[str]]:
    """The columns of the file, each with the fields in it where it is a struct."""
    import duckdb

    with connected() as connection:
        try:
            relation = connection.read_parquet(glob.escape(str(log.path)), hive_partitioning=False)
            types = dict(zip(relation.columns, relation.types, strict=True))
        except duckdb.Error as error:
            raise broken_parquet(log.path, log.call, error) from error
    return {
        name: frozenset(field for field, _ in kind.children) if kind.id == "struct" else frozenset()
        for name, kind in types.items()
    }
