"""A TaskTable as flat columns, one line per task: what a Parquet file of it holds and any GROUP BY can make.

==================  =====================================================================================
``task``            name of the task (text)
``n, passes``       rows whose reward is 0 or 1, and those where it is 1
``n_partial``       rows whose reward lies strictly between
``n_unjudged``      rows without a reward
``reward_p0..p2``   exact sum of all rewards in limbs: ``p0 + p1 * 2**-40 + p2 * 2**-80``
``marker:x_n``      rows that carry marker ``x``; ``marker:x_p0..p2`` its exact sum
``several``         true where different prompts stand under the task (optional, with ``code``)
``code``            first 60 bits of the prompt's SHA-256; 0 or null where there is none, or several
``id_conflicts``    rows whose two ids differ (optional; only the column's sum has a meaning)
``fill_rows``       rows that were added because of earlier outcomes and are in no other count; ``fill_n`` and
                    ``fill_passes`` those of them with a reward of 0 or 1, and of 1 (optional, all three)
==================  =====================================================================================
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from whileai.errors import RowError
from whileai.table.prompts import Prompts
from whileai.table.task_table import Column, Fill, TaskTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from whileai.stats.exact import Sums

COUNTS = ("n", "passes", "n_partial", "n_unjudged")
LIMBS = ("p0", "p1", "p2")
FILL = ("fill_rows", "fill_n", "fill_passes")
NEEDED = ("task", *COUNTS, *(f"reward_{limb}" for limb in LIMBS))


def is_flat(columns: Sequence[str]) -> bool:
    """Whether columns are those of a table already grouped by task."""
    return set(NEEDED) <= set(columns)


def to_flat(table: TaskTable) -> dict[str, Any]:
    """The columns of a table, tasks in the order of their names."""
    import numpy as np

    order = np.array(sorted(range(len(table)), key=table.task.__getitem__), dtype=np.int64)
    conflicts = np.zeros(len(table), dtype=np.int64)
    conflicts[:1] = table.n_id_conflicts
    columns: dict[str, Any] = {"task": np.array([table.task[line] for line in order], dtype=object)}
    columns |= {name: getattr(table, name)[order] for name in COUNTS}
    columns |= {f"reward_{limb}": value[order] for limb, value in zip(LIMBS, table.reward.sums, strict=True)}
    columns |= {"several": table.prompts.several[order], "code": table.prompts.codes[order], "id_conflicts": conflicts}
    if table.fill is not None:
        counts = (table.fill.rows, table.fill.n, table.fill.passes)
        columns |= {name: values[order] for name, values in zip(FILL, counts, strict=True)}
    for name, column in sorted(table.markers.items()):
        columns[f"marker:{name}_n"] = column.n[order]
        columns |= {f"marker:{name}_{limb}": value[order] for limb, value in zip(LIMBS, column.sums, strict=True)}
    return columns


def from_flat(columns: Mapping[str, Any], source: str) -> TaskTable:
    """The table in flat columns of numpy arrays; lines of one task, as of several shards, are added up.

    Raises
    ------
    RowError
        A task without a name, or counts that cannot be: negative, more passes than rows, or a sum that rewards in
        [0, 1] cannot have. It names `source`.
    """
    shards = _shards(columns)
    if len(shards) == 1:
        return _from_lines(columns, source)
    from whileai.table.merge import merged

    return merged([_from_lines({name: values[at] for name, values in columns.items()}, source) for at in shards])


def _shards(columns: Mapping[str, Any]) -> list[Any]:
    """The lines in groups that name each task once: the first of every task, the second, and so on."""
    import numpy as np

    names = np.ma.getdata(columns["task"]).tolist()
    if len(set(names)) == len(names):
        return [slice(None)]
    seen: Counter[Any] = Counter()
    turns = np.empty(len(names), dtype=np.int64)
    for line, name in enumerate(names):
        turns[line] = seen[name]
        seen[name] += 1
    return [np.flatnonzero(turns == turn) for turn in range(int(turns.max()) + 1)]


def _from_lines(columns: Mapping[str, Any], source: str) -> TaskTable:
    """The table of lines that name each task once."""
    import numpy as np

    def whole(name: str) -> NDArray[Any]:
        return _whole(columns[name])

    task = columns["task"]
    names = np.ma.getdata(task).tolist()
    counts = {name: whole(name).astype(np.int64) for name in COUNTS}
    rewards = Column(counts["n"] + counts["n_partial"], _sums(columns, "reward"))
    _check(names, np.ma.getmaskarray(task), counts, rewards, source)
    size = len(names)
    several = whole("several").astype(bool) if "several" in columns else np.zeros(size, dtype=bool)
    codes = whole("code").astype(np.int64) if "code" in columns else np.zeros(size, dtype=np.int64)
    markers = [name.removesuffix("_n") for name in columns if name.startswith("marker:") and name.endswith("_n")]
    return TaskTable(
        task=[str(name) for name in names],
        n=counts["n"],
        passes=counts["passes"],
        n_partial=counts["n_partial"],
        n_unjudged=counts["n_unjudged"],
        reward=rewards,
        markers={
            name.removeprefix("marker:"): Column(whole(f"{name}_n").astype(np.int64), _sums(columns, name))
            for name in markers
            if whole(f"{name}_n").any()
        },
        n_rows=int(sum(counts[name].sum() for name in ("n", "n_partial", "n_unjudged"))),
        n_id_conflicts=int(whole("id_conflicts").sum()) if "id_conflicts" in columns else 0,
        prompts=Prompts(several, codes=np.where(several, 0, codes)),
        fill=_fill([whole(name).astype(np.int64) for name in FILL]) if set(FILL) <= set(columns) else None,
    )


def _fill(counts: Sequence[Any]) -> Fill | None:
    """The counts of rows that tell no rate, ``None`` where there are none."""
    return Fill(*counts) if counts[0].any() else None


def _whole(column: Any) -> NDArray[Any]:
    """A column of whole numbers, nulls as 0: int64, or Python ints where it came as text or decimals."""
    import numpy as np

    array = np.ma.asarray(column)
    is_text = array.dtype.kind in "OSU"
    values = np.ma.filled(array, "0" if is_text else 0)
    if is_text:
        from whileai.stats.exact import narrow

        return narrow(np.array([int(value or 0) for value in values.tolist()], dtype=object))
    return values.astype(np.int64)


def _sums(columns: Mapping[str, Any], name: str) -> Sums:
    from whileai.stats.exact import Sums, normalised

    return normalised(Sums(*(_whole(columns[f"{name}_{limb}"]) for limb in LIMBS)))


def _check(names: Sequence[Any], nameless: Any, counts: Mapping[str, Any], rewards: Column, source: str) -> None:
    import numpy as np

    wrong = nameless | (counts["passes"] > counts["n"])
    for values in counts.values():
        wrong |= values < 0
    total = np.where(rewards.n > 0, rewards.mean * rewards.n, rewards.sums.p0.astype(np.float64))
    low, slack = counts["passes"], 1e-9 * (1 + rewards.n)
    wrong |= (total < low - slack) | (total > low + counts["n_partial"] + slack)
    if wrong.any():
        place = int(wrong.argmax())
        seen = {"task": names[place], **{name: int(values[place]) for name, values in counts.items()}}
        seen["sum of rewards"] = float(total[place])
        fix = "One line a task, as the GROUP BY in the docs makes it."
        raise RowError.of("task_table", source, place, "the line", "counts of one named task", seen, fix)


def of_relation(relation: Any, source: str) -> TaskTable:
    """The table in a DuckDB relation of flat columns."""
    wide = ("hugeint", "uhugeint", "decimal", "double", "float", "ubigint")
    types = dict(zip(relation.columns, relation.types, strict=True))
    chosen = [
        f"CAST(CAST({quoted(name)} AS HUGEINT) AS VARCHAR) AS {quoted(name)}" if kind.id in wide else quoted(name)
        for name, kind in types.items()
        if name in NEEDED or name in ("several", "code", "id_conflicts", *FILL) or name.startswith("marker:")
    ]
    return from_flat(relation.project(", ".join(chosen)).fetchnumpy(), source)


def quoted(name: str) -> str:
    """A name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'
