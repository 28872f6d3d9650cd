"""TaskTables in Parquet files."""

from __future__ import annotations

import glob
import os
from pathlib import Path

from whileai.errors import RowError
from whileai.readers.files import files_of
from whileai.table.flat import NEEDED, is_flat, of_relation, quoted, to_flat
from whileai.table.merge import merged
from whileai.table.task_table import TaskTable

CALL = "TaskTable.load"


def save(table: TaskTable, path: str | os.PathLike[str]) -> None:
    """Write a table as Parquet; the file appears whole or not at all."""
    import duckdb

    target = Path(path)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    # DuckDB scans a mapping of arrays that bears the name in the query; sums beyond 64 bits go as text
    columns = {
        name: values.astype(str).astype(object) if values.dtype == object and name != "task" else values
        for name, values in to_flat(table).items()
    }
    places = {f"c{place}": values for place, values in enumerate(columns.values())}  # noqa: F841 - as said above
    named = ", ".join(f"c{place} AS {quoted(name)}" for place, name in enumerate(columns))
    file = str(part).replace("'", "''")
    try:
        with duckdb.connect() as connection:
            connection.execute(
                f"COPY (SELECT {named} FROM places) TO '{file}' "  # noqa: S608 - names and path are quoted
                "(FORMAT parquet, COMPRESSION zstd, KV_METADATA {whileai_task_table: '1'})"
            )
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def load(path: str | os.PathLike[str]) -> TaskTable:
    """The table in one file that `save` wrote, or the merged table of all files that a glob or folder names."""
    import duckdb

    tables = []
    with duckdb.connect() as connection:
        for file in files_of(path, CALL):
            try:
                relation = connection.read_parquet(glob.escape(str(file)), hive_partitioning=False)
            except duckdb.Error as error:
                raise RowError(
                    f"{CALL}: {file} must be a Parquet file; got {error}".splitlines()[0], 0, "", None
                ) from error
            if not is_flat(relation.columns):
                missing = ", ".join(name for name in NEEDED if name not in relation.columns)
                message = f"{CALL}: {file} must hold a table grouped by task; its columns lack {missing}."
                message += " Rows go to wai.task_table."
                raise RowError(message, 0, "", relation.columns)
            tables.append(of_relation(relation, str(file)))
    return merged(tables)
