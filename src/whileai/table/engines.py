"""TaskTables of data that lies on many machines: Ray and Spark group it where it is, tables alone come here.

Both give ``None`` where only the careful reading row by row can judge the data, or say what is wrong with it.
"""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from whileai.errors import RowError
from whileai.table.flat import LIMBS, from_flat, to_flat
from whileai.table.merge import merged
from whileai.table.task_table import TaskTable

#: Buckets of tasks per processor that Ray merges side by side.
BUCKETS = 4
#: Rows a Ray worker groups at a time.
BATCH_ROWS = 1 << 17
#: Spark's whole numbers end at 2**63; a value this large is read row by row.
WIDEST = float(1 << 62)
WHOLE = ("tinyint", "smallint", "int", "bigint")
NUMBERS = (*WHOLE, "float", "double", "boolean")


def engine_table(data: Any, *, markers: bool) -> TaskTable | None:
    """The table of a Ray Dataset or a PySpark DataFrame, ``None`` for anything else."""
    package = type(data).__module__.partition(".")[0]
    if package == "ray" and hasattr(data, "map_batches"):
        return _ray_table(data, markers=markers)
    if package == "pyspark" and hasattr(data, "toLocalIterator"):
        return _spark_table(data, markers=markers)
    return None


def _ray_table(dataset: Any, *, markers: bool) -> TaskTable | None:
    """Each batch becomes a table where it lies, Ray groups the tables by bucket of tasks, each bucket is merged."""
    import ray

    buckets = BUCKETS * max(1, int(ray.cluster_resources().get("CPU", 1)))
    options = {"batch_size": BATCH_ROWS, "fn_kwargs": {"markers": markers, "buckets": buckets}}
    tables = dataset.map_batches(_ray_tables, batch_format="pyarrow", **options)
    whole = tables.groupby("bucket", num_partitions=buckets).map_groups(_ray_merged, batch_format="numpy")
    parts = [pickle.loads(row["table"]) for row in whole.iter_rows()]  # noqa: S301 - our own bytes, written by _ray_tables
    if None in parts:
        return None
    return merged([from_flat(part, "data") for part in parts]) if parts else None


def _ray_tables(batch: Any, *, markers: bool, buckets: int) -> dict[str, list[Any]]:
    """One batch of rows as tables, one for each bucket of tasks; bucket 0 with ``None`` where it cannot be read."""
    from whileai.table.intake import as_table

    try:
        flat = to_flat(as_table(batch, "task_table", "data", markers=markers))
    except RowError:  # reading row by row on the caller's side finds it again, with its index among all rows
        return {"bucket": [0], "table": [pickle.dumps(None)]}
    of = [zlib.crc32(task.encode("utf-8", "surrogatepass")) % buckets for task in flat["task"]]
    lines: dict[int, list[int]] = {}
    for line, bucket in enumerate(of):
        lines.setdefault(bucket, []).append(line)
    # the rows whose ids differ are counted once a table, on its first line
    conflicts = int(flat.pop("id_conflicts").sum())
    cut = {bucket: {name: values[at] for name, values in flat.items()} for bucket, at in lines.items()}
    for part in cut.values():
        part["id_conflicts"] = _first(len(part["task"]), conflicts)
        conflicts = 0
    return {"bucket": list(cut), "table": [pickle.dumps(part) for part in cut.values()]}


def _first(size: int, value: int) -> Any:
    """Zeros with `value` in the first place."""
    import numpy as np

    column = np.zeros(size, dtype=np.int64)
    column[:1] = value
    return column


def _ray_merged(group: Mapping[str, Sequence[bytes]]) -> dict[str, list[bytes]]:
    """The tables of one bucket as one."""
    parts = [pickle.loads(blob) for blob in group["table"]]  # noqa: S301 - our own bytes, written by _ray_tables
    if None in parts:
        return {"table": [pickle.dumps(None)]}
    return {"table": [pickle.dumps(to_flat(merged([from_flat(part, "data") for part in parts])))]}


def _spark_table(frame: Any, *, markers: bool) -> TaskTable | None:
    """Spark's own group-by, with the columns of `whileai.table.flat`."""
    import numpy as np

    types = dict(frame.dtypes)
    marks = _spark_markers(frame, types) if markers and "markers" in types else {}
    ids = [name for name in ("task_id", "scenario_id") if name in types]
    readable = (
        (bool(ids) or "prompt" in types)
        and all(types[name] in ("string", *WHOLE) for name in ids)
        and types.get("prompt", "string") == "string"
        and types.get("reward", "double") in NUMBERS
        and marks is not None
        and not types.get("allocation", "").startswith(("struct", "map"))  # rows that may tell no rate
    )
    if not readable or marks is None:
        return None
    values = {"reward": "CAST(reward AS DOUBLE)" if "reward" in types else "CAST(NULL AS DOUBLE)", **marks}
    chosen = [_spark_task(ids, types), _spark_conflict(ids), "prompt" if "prompt" in types else "NULL AS prompt"]
    chosen += [f"{value} AS {_ticked(name)}" for name, value in values.items()]
    totals = [*_SPARK_COUNTS, *(total for name in values for total in _spark_totals(name))]
    from pyspark.sql import functions as sql

    answer = frame.selectExpr(*chosen).groupBy("task").agg(*map(sql.expr, totals)).collect()
    columns = {name: [row[name] for row in answer] for name in (answer[0].asDict() if answer else {})}
    wide = [name for name in columns if name.startswith("marker:") and name.endswith("_wide")]
    if not answer or None in columns["task"] or any(map(any, (columns.pop(name) for name in ("odd", *wide)))):
        return None
    return from_flat({name: np.array(values, dtype=object) for name, values in columns.items()}, "data")


_SPARK_COUNTS = (
    "CAST(count_if(reward IN (0, 1)) AS STRING) AS n",
    "CAST(count_if(reward = 1) AS STRING) AS passes",
    "CAST(count_if(reward > 0 AND reward < 1) AS STRING) AS n_partial",
    "CAST(count_if(reward IS NULL OR isnan(reward)) AS STRING) AS n_unjudged",
    "count_if(NOT isnan(reward) AND (reward < 0 OR reward > 1)) > 0 AS odd",
    "CAST(count_if(conflict) AS STRING) AS id_conflicts",
    "coalesce(min(prompt) <> max(prompt), false) AS several",
    "CASE WHEN min(prompt) = max(prompt) THEN conv(substr(sha2(min(prompt), 256), 1, 15), 16, 10) ELSE '0' END AS code",
)


def _spark_task(ids: Sequence[str], types: Mapping[str, str]) -> str:
    """A row's task: its first id, else the digest of its prompt."""
    named = [f"CAST({name} AS STRING)" for name in ids]
    digest = ["concat('task_', substr(sha2(prompt, 256), 1, 12))"] if "prompt" in types else []
    return f"coalesce({', '.join([*named, *digest])}) AS task"


def _spark_conflict(ids: Sequence[str]) -> str:
    """Whether the two ids of a row differ."""
    return f"CAST({ids[0]} AS STRING) <> CAST({ids[1]} AS STRING) AS conflict" if len(ids) == 2 else "false AS conflict"


def _spark_markers(frame: Any, types: Mapping[str, str]) -> dict[str, str] | None:
    """``marker:<name>`` to the expression of its value; ``None`` where markers are no struct or map of numbers."""
    kind = frame.schema["markers"].dataType
    if kind.typeName() == "struct":
        if any(field.dataType.simpleString() not in NUMBERS for field in kind.fields):
            return None
        return {f"marker:{field.name}": f"CAST(markers.{_ticked(field.name)} AS DOUBLE)" for field in kind.fields}
    if types["markers"] not in {f"map<string,{number}>" for number in NUMBERS}:
        return None
    found = frame.selectExpr("explode(map_keys(markers)) AS name").distinct().collect()
    names = sorted(row["name"] for row in found)
    return {f"marker:{name}": f"CAST(element_at(markers, {_spark_text(name)}) AS DOUBLE)" for name in names}


def _spark_totals(name: str) -> list[str]:
    """The rows that carry a value, and its exact sum in limbs; ``odd`` where a value is beyond Spark's integers."""
    value = _ticked(name)
    fits = f"{value} IS NOT NULL AND NOT isnan({value}) AND abs({value}) < {WIDEST!r}"
    whole = _spark_trunc(value)
    rest = f"(({value} - {whole}) * {float(1 << 40)!r})"
    limbs = (whole, _spark_trunc(rest), _spark_trunc(f"(({rest} - {_spark_trunc(rest)}) * {float(1 << 40)!r})"))
    totals = [
        f"CAST(sum(CASE WHEN {fits} THEN CAST({limb} AS DECIMAL(20, 0)) END) AS STRING) AS {_ticked(f'{name}_{place}')}"
        for place, limb in zip(LIMBS, limbs, strict=True)
    ]
    if name != "reward":
        totals.append(f"CAST(count_if({fits}) AS STRING) AS {_ticked(f'{name}_n')}")
        totals.append(f"count_if(NOT isnan({value}) AND abs({value}) >= {WIDEST!r}) > 0 AS {_ticked(f'{name}_wide')}")
    return totals


def _spark_trunc(value: str) -> str:
    """A number without its fraction; Spark's floor and ceil give whole numbers of 64 bits."""
    return f"(CASE WHEN {value} < 0 THEN ceil({value}) ELSE floor({value}) END)"


def _ticked(name: str) -> str:
    """A name as Spark's SQL writes it."""
    return "`" + name.replace("`", "``") + "`"


def _spark_text(text: str) -> str:
    """A string as Spark's SQL writes it."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
