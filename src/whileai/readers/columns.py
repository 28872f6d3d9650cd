"""Data that stands in columns, as a DuckDB relation; nothing here reads a row."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whileai.readers.files import chosen, files_of, quoted, renames

if TYPE_CHECKING:
    from whileai.readers.fields import Fields

#: Types whose columns DuckDB reads where they lie, by package.
FRAMES = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "Table"}
#: Keys that decide on a row's task without its messages.
NAMES = frozenset({"task_id", "scenario_id", "prompt"})
MAGIC = b"PAR1"
LISTS = ("list", "array")


def is_relation(data: Any) -> bool:
    """Whether `data` is a relation of DuckDB."""
    return _package(data) in ("duckdb", "_duckdb") and type(data).__name__ == "DuckDBPyRelation"


def can_be_read_again(data: Any) -> bool:
    """Whether the columns that `narrowed` left out can still be had."""
    is_stream = type(data).__name__ == "RecordBatchReader"
    whole = _package(data) in ("polars", "datasets", "pyarrow") and not is_stream
    return whole or is_relation(data) or isinstance(data, (str, os.PathLike))


def _package(data: Any) -> str:
    return type(data).__module__.partition(".")[0]


def narrowed(data: Any, wanted: Sequence[str]) -> Any:
    """A frame, dataset or relation with only the wanted columns that it has; anything else as it is.

    Left whole where the wanted columns are not enough: completions in lists, tasks named by their messages alone.
    """
    package = _package(data)
    if package == "polars":
        types = {name: str(kind).lower() for name, kind in data.collect_schema().items()}
    elif package == "datasets" and getattr(data, "features", None):
        types = {name: type(kind).__name__.lower() for name, kind in data.features.items()}
    elif package == "pyarrow":
        types = {field.name: str(field.type) for field in data.schema}
    elif is_relation(data):
        types = {name: kind.id for name, kind in zip(data.columns, data.types, strict=True)}
    else:
        return data
    some = [name for name in types if name in wanted]
    kinds = (*LISTS, "large_list", "sequence", "fixed_size_list")
    if types.get("final_text", "").startswith(kinds) or NAMES.isdisjoint(some):
        return data
    if is_relation(data):
        return chosen(data, some)
    if type(data).__name__ == "RecordBatchReader":
        return _lean(data, some)
    return data.select_columns(some) if package == "datasets" else data.select(some)


def settled(data: Any, wanted: Sequence[str]) -> Any:
    """`data` in a form whose columns can be read twice, of lazy and streamed ones only what is wanted.

    A lazy polars frame is collected, a Hugging Face dataset gives its Arrow table, an Arrow stream is taken in.
    """
    package, name = _package(data), type(data).__name__
    if package == "polars" and name == "LazyFrame":
        return narrowed(data, wanted).collect()
    if package == "datasets" and name == "Dataset":
        return _table_of_dataset(narrowed(data, wanted))
    is_stream = hasattr(data, "__arrow_c_stream__") and FRAMES.get(package) != name
    if is_stream and package != "pyspark" and not is_relation(data):
        return _table_of_stream(data, wanted)
    return data


def _table_of_dataset(dataset: Any) -> Any:
    """The Arrow table of a dataset, its selection of rows applied."""
    import pyarrow as pa

    if getattr(dataset, "_indices", None) is None:
        return dataset.data.table
    return pa.concat_tables(list(dataset.with_format("arrow").iter(batch_size=50_000)))


def _table_of_stream(stream: Any, wanted: Sequence[str]) -> Any:
    """The wanted columns of an Arrow stream as a table; the stream itself where pyarrow is absent."""
    try:
        import pyarrow as pa
    except ImportError:
        return stream
    return narrowed(pa.RecordBatchReader.from_stream(stream), wanted).read_all()


def _lean(reader: Any, names: Sequence[str]) -> Any:
    """An Arrow stream with some of its columns, and the messages of batches where a row has nothing else to name it.

    A stream cannot be read again for what was left out.
    """
    import pyarrow as pa

    kept = [name for name in reader.schema.names if name in names or name == "messages"]
    schema = pa.schema([reader.schema.field(name) for name in kept])

    def batches() -> Iterator[Any]:
        for batch in reader:
            some = batch.select(kept)
            if "messages" in kept and "messages" not in names and _all_named(batch):
                nothing = pa.nulls(len(batch), schema.field("messages").type)
                some = some.set_column(kept.index("messages"), schema.field("messages"), nothing)
            yield some

    return pa.RecordBatchReader.from_batches(schema, batches())


def _all_named(batch: Any) -> bool:
    """Whether every row of an Arrow batch has an id or a prompt."""
    import pyarrow.compute as pc

    there = [batch.column(name).is_valid() for name in NAMES.intersection(batch.schema.names)]
    named = there[0]
    for column in there[1:]:
        named = pc.or_(named, column)
    return bool(pc.all(named, min_count=0).as_py())


def may_have_columns(data: Any, call: str) -> bool:
    """Whether `relation_of` can give a relation: Parquet files, a relation, a frame that can be read again."""
    if isinstance(data, (str, os.PathLike)):
        return all(map(_is_parquet, files_of(data, call)))
    return FRAMES.get(_package(data)) == type(data).__name__ or is_relation(data)


def relation_of(data: Any, connection: Any, call: str) -> Any | None:
    """What `may_have_columns` as a DuckDB relation, ``None`` where DuckDB does not take it."""
    import duckdb

    if isinstance(data, (str, os.PathLike)):
        names = [glob.escape(str(file)) for file in files_of(data, call)]
        try:
            relation = connection.read_parquet(names, hive_partitioning=False, union_by_name=True)
        except duckdb.Error:  # damaged; reading it file by file says which
            return None
        return None if renames(relation.columns, relation.types) else relation
    if is_relation(data):
        return data
    if _package(data) == "pandas" and not _is_plain(data):
        return None
    names = [str(name).lower() for name in (data.column_names if _package(data) == "pyarrow" else data.columns)]
    if len(set(names)) < len(names):  # DuckDB tells no case apart
        return None
    try:
        return connection.sql("from data")  # DuckDB finds the argument by its name
    except (duckdb.Error, ImportError):  # a column of a type it does not take; its rows can still be read
        return None


def _is_parquet(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def _is_plain(frame: Any) -> bool:
    """Whether the columns of a pandas frame that name tasks hold one type each; DuckDB would turn all into text."""
    from pandas.api.types import infer_dtype

    columns = [frame[name] for name in (*NAMES, "reward") if name in frame.columns]
    plain = ("string", "integer", "boolean", "floating", "empty", "categorical")
    return all(
        getattr(column, "dtype", None) != "object" or infer_dtype(column, skipna=True) in plain for column in columns
    )


def may_be_log(relation: Any) -> bool:
    """Whether the columns of a Parquet file are not plainly those of rows, so that a reader of logs should look."""
    names = set(relation.columns)
    return "reward" not in names or names.isdisjoint(("task_id", "scenario_id", "final_text"))


def holds_lists(relation: Any) -> bool:
    """Whether a row of the relation may hold several completions."""
    types = dict(zip(relation.columns, relation.types, strict=True))
    return "final_text" in types and types["final_text"].id in LISTS


def renamed(relation: Any, fields: Fields) -> Any | None:
    """A relation under our names, ``None`` where only a reading row by row can tell what its columns hold.

    Raises
    ------
    ParamError
        A column that the relation does not have.
    """
    types = dict(zip(relation.columns, relation.types, strict=True))
    found: dict[str, str] = {}
    markers: dict[str, str] = {}
    for ours, theirs in fields.map.items():
        place = _place(theirs, types)
        if place is None and _leads_on(theirs, types):
            return None
        if place is None:
            fields.blame(theirs, _names(types))
        sql, kind = place
        if kind.id in LISTS or (ours == "prompt" and kind.id != "varchar"):
            return None
        if ours.startswith("marker:"):
            markers[ours.removeprefix("marker:")] = sql
        elif ours in NAMES or ours in ("reward", "markers"):
            found[ours] = sql
    moved = set(fields.map.values())
    for name in (*NAMES, "reward", "markers", "final_text", "allocation"):
        if name in types and name not in moved and name not in fields.map:
            found[name] = quoted(name)
    if markers:
        if "markers" in found:
            return None
        found["markers"] = "struct_pack(" + ", ".join(f"{quoted(k)} := {v}" for k, v in markers.items()) + ")"
    return relation.project(", ".join(f"{sql} AS {quoted(name)}" for name, sql in found.items())) if found else None


def _place(path: str, types: Mapping[str, Any]) -> tuple[str, Any] | None:
    """The SQL of a column or of a field inside a struct, with its type."""
    if path in types:
        return quoted(path), types[path]
    head, *inside = path.split(".")
    if head not in types:
        return None
    sql, kind = quoted(head), types[head]
    for name in inside:
        if kind.id != "struct" or name not in dict(kind.children):
            return None
        sql, kind = f"{sql}.{quoted(name)}", dict(kind.children)[name]
    return sql, kind


def _leads_on(path: str, types: Mapping[str, Any]) -> bool:
    """Whether a path goes into a list or a map, where only a reading row by row can follow it."""
    head, *inside = path.split(".")
    kind = types.get(head)
    for name in inside:
        if kind is None or kind.id != "struct":
            return kind is not None and kind.id in (*LISTS, "map")
        kind = dict(kind.children).get(name)
    return False


def _names(types: Mapping[str, Any]) -> list[str]:
    """Columns, and the fields of those that are structs."""
    inside = [f"{name}.{child}" for name, kind in types.items() if kind.id == "struct" for child, _ in kind.children]
    return [*types, *inside]
