"""Columns -> TaskTable by one GROUP BY in DuckDB, past memory and on all cores.

The sums are the integers that `whileai.stats.exact` makes, so the digits are those of a list of dicts. Whatever the
query cannot vouch for (an odd type, a reward out of range, a row without a task) is left to the careful reading row by
row, which also says what is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whileai.stats.exact import Sums, normalised
from whileai.table.prompts import Prompts
from whileai.table.task_table import Column, Fill, TaskTable

WHOLE = frozenset({"tinyint", "smallint", "integer", "bigint", "utinyint", "usmallint", "uinteger", "ubigint"})
NUMBERS = WHOLE | {"boolean", "float", "double", "decimal", "hugeint", "uhugeint"}
IDS = WHOLE | {"varchar"}
BASE = 1 << 40


def grouped(relation: Any, *, markers: bool) -> TaskTable | None:
    """The table of a DuckDB relation, ``None`` where its rows must be read one by one.

    Parameters
    ----------
    relation : duckdb.DuckDBPyRelation
        Rows as columns; markers in a struct of numbers.
    markers : bool
        Whether markers are read.
    """
    import duckdb

    types = dict(zip(relation.columns, relation.types, strict=True))
    query = _Query(types, markers=markers)
    if not query.readable:
        return None
    try:
        found = relation.project(", ".join(query.columns)).aggregate(", ".join(query.totals), "task")
        answer = found.order("task").fetchnumpy()
    except duckdb.Error:  # a sum beyond 64 bits; row by row they grow as they need
        return None
    return query.table(answer)


class _Query:
    """What to ask for, and how to read the answer."""

    def __init__(self, types: Mapping[str, Any], *, markers: bool) -> None:
        self.types = types
        self.markers = _struct_of_numbers(types.get("markers")) if markers and "markers" in types else []
        names = [name for name in ("task_id", "scenario_id") if name in types]
        self.readable = (
            (bool(names) or "prompt" in types)
            and all(types[name].id in IDS for name in names)
            and ("prompt" not in types or types["prompt"].id == "varchar")
            and ("reward" not in types or types["reward"].id in NUMBERS)
            and self.markers is not None
            and (fill := _fill_of(types.get("allocation"))) is not None
        )
        if not self.readable:
            return
        ids = [f"CAST({name} AS VARCHAR)" for name in names]
        digest = ["'task_' || substr(sha256(prompt), 1, 12)"] if "prompt" in types else []
        self.columns = [f"coalesce({', '.join([*ids, *digest])}) AS task"]
        self.conflicting = len(ids) == 2
        if self.conflicting:
            self.columns.append(f"{ids[0]} <> {ids[1]} AS conflict")
        self.columns.append("prompt" if "prompt" in types else "NULL::VARCHAR AS prompt")
        self.columns.append("CAST(reward AS DOUBLE) AS reward" if "reward" in types else "NULL::DOUBLE AS reward")
        self.filled = bool(fill)
        kept, of_kept = ("", "")
        if self.filled:
            self.columns.append(f"{fill} AS fill")
            kept, of_kept = " AND NOT fill", " FILTER (NOT fill)"
        text = "CASE WHEN prompt IS NOT NULL THEN hash(prompt) END"
        self.totals = [
            "task",
            f"count(*){of_kept} AS n_rows",
            f"count(*) FILTER (reward IN (0, 1){kept}) AS n",
            f"count(*) FILTER (reward = 1{kept}) AS passes",
            f"count(*) FILTER (reward > 0 AND reward < 1{kept}) AS n_partial",
            f"count(*) FILTER ((reward IS NULL OR isnan(reward)){kept}) AS n_unjudged",
            # by a hash of 64 bits: comparing the texts themselves would take longer than all the rest
            f"coalesce(min({text}) <> max({text}), false) AS several",
            # the whole part of a partial reward is 0
            *_sums("reward", "reward", f"reward > 0 AND reward < 1{kept}")[1:],
        ]
        if self.conflicting:
            self.totals.append("count(*) FILTER (conflict) AS conflicts")
        if markers:  # a call that reads no markers compares no prompts either, and a digest a task takes its time
            self.totals.append("('0x' || substr(sha256(any_value(prompt)), 1, 15))::BIGINT AS code")
        for place, name in enumerate(self.markers or []):
            column = f"m{place}"
            self.columns.append(f"CAST(markers.{_quoted(name)} AS DOUBLE) AS {column}")
            self.totals.append(f"count({column}) FILTER (NOT isnan({column}){kept}) AS {column}_n")
            self.totals.append(f"count(*) FILTER (isinf({column})) AS {column}_infinite")
            self.totals += _sums(column, column, f"NOT isnan({column}) AND NOT isinf({column}){kept}")
        if self.filled:
            odd = "reward IS NULL OR isnan(reward) OR (reward >= 0 AND reward <= 1)"
            self.totals += [
                "count(*) FILTER (fill) AS fill_rows",
                "count(*) FILTER (fill AND reward IN (0, 1)) AS fill_n",
                "count(*) FILTER (fill AND reward = 1) AS fill_passes",
                f"count(*) FILTER (fill AND NOT ({odd})) AS fill_odd",
            ]

    def table(self, found: Mapping[str, Any]) -> TaskTable | None:
        """The TaskTable in the answer, ``None`` where it counts something that only the careful reading can name."""
        import numpy as np

        def counts(name: str) -> Any:
            column = found.get(name)  # what could only be 0 was not asked for
            return np.zeros(size, dtype=np.int64) if column is None else np.ma.filled(column, 0).astype(np.int64)

        size = len(found["task"])

        n, n_partial, n_unjudged = counts("n"), counts("n_partial"), counts("n_unjudged")
        n_rows = counts("n_rows")
        nameless = np.ma.getmaskarray(found["task"]).any()
        infinite = any(counts(f"m{place}_infinite").any() for place in range(len(self.markers or [])))
        if nameless or infinite or (n + n_partial + n_unjudged != n_rows).any() or counts("fill_odd").any():
            return None
        fill = Fill(counts("fill_rows"), counts("fill_n"), counts("fill_passes"))
        passes = counts("passes")
        partial = _read_sums(found, "reward")
        columns = {}
        for place, name in enumerate(self.markers or []):
            n_marked = counts(f"m{place}_n")
            if n_marked.any():
                columns[name] = Column(n_marked, _read_sums(found, f"m{place}"))
        several = np.ma.filled(found["several"], False).astype(bool)
        return TaskTable(
            task=np.ma.getdata(found["task"]).tolist(),
            n=n,
            passes=passes,
            n_partial=n_partial,
            n_unjudged=n_unjudged,
            reward=Column(n + n_partial, Sums(partial.p0 + passes, partial.p1, partial.p2)),
            markers=columns,
            n_rows=int(n_rows.sum()),
            n_id_conflicts=int(counts("conflicts").sum()),
            prompts=Prompts(several, codes=np.where(several, 0, counts("code"))),
            fill=fill if fill.rows.any() else None,
        )


def _fill_of(kind: Any) -> str | None:
    """Whether a row tells no rate, in SQL: empty where none says so, ``None`` where only its dict can say."""
    if kind is None or kind.id not in ("struct", "map"):
        return ""
    phase = dict(kind.children).get("phase") if kind.id == "struct" else None
    if kind.id == "struct" and phase is None:
        return ""
    return "coalesce(allocation.phase = 'fill', false)" if phase is not None and phase.id == "varchar" else None


def _struct_of_numbers(kind: Any) -> list[str] | None:
    """The fields of a struct of numbers; ``None`` for any other type."""
    if kind.id != "struct" or any(child.id not in NUMBERS for _, child in kind.children):
        return None
    names = [name for name, _ in kind.children]
    return names if len({name.lower() for name in names}) == len(names) else None  # DuckDB tells no case apart


def _sums(name: str, value: str, where: str) -> list[str]:
    """The three limbs of an exact sum, as `whileai.stats.exact` cuts them."""
    rest = f"(({value} - trunc({value})) * {BASE})"
    limbs = (f"trunc({value})", f"trunc({rest})", f"trunc(({rest} - trunc({rest})) * {BASE})")
    return [
        f"CAST(sum(CASE WHEN {where} THEN CAST({limb} AS BIGINT) END) AS BIGINT) AS {name}_p{place}"
        for place, limb in enumerate(limbs)
    ]


def _read_sums(found: Mapping[str, Any], name: str) -> Sums:
    """The limbs of the answer; no rows sum to 0."""
    import numpy as np

    size = len(found["task"])
    limbs = (found.get(f"{name}_p{place}", np.zeros(size, dtype=np.int64)) for place in range(3))
    return normalised(Sums(*(np.ma.filled(limb, 0).astype(np.int64) for limb in limbs)))


def _quoted(name: str) -> str:
    """A name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'
