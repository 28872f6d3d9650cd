"""Tables of shards -> one table, the bits that one pass over all their rows would give."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from whileai.table.prompts import Prompts
from whileai.table.task_table import Column, Fill, TaskTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from whileai.stats.exact import Sums


def merged(tables: Iterable[TaskTable]) -> TaskTable:
    """The table of all rows behind several tables, whatever rows of a task stand in which.

    Counts and sums are integers (`whileai.stats.exact`), so neither the order of the tables nor the cut between them
    changes a bit.
    """
    parts = list(tables)
    if len(parts) == 1:
        return parts[0]
    names, lines = _union([part.task for part in parts])
    size = len(names)

    def counted(values: list[NDArray[np.int64]]) -> NDArray[np.int64]:
        return _counted(values, lines, size)

    return TaskTable(
        task=names,
        n=counted([part.n for part in parts]),
        passes=counted([part.passes for part in parts]),
        n_partial=counted([part.n_partial for part in parts]),
        n_unjudged=counted([part.n_unjudged for part in parts]),
        reward=_column([part.reward for part in parts], lines, size),
        markers=_markers(parts, lines, size),
        n_rows=sum(part.n_rows for part in parts),
        n_id_conflicts=sum(part.n_id_conflicts for part in parts),
        prompts=_prompts([part.prompts for part in parts], lines, size),
        reading=tuple(dict.fromkeys(note for part in parts for note in part.reading)),
        fill=_fill([part.fill for part in parts], lines, size),
    )


def _fill(parts: Sequence[Fill | None], lines: Sequence[Any], size: int) -> Fill | None:
    """The rows that tell no rate, of the tables that have some."""
    found = [(part, at) for part, at in zip(parts, lines, strict=True) if part is not None]
    if not found:
        return None
    names = ("rows", "n", "passes")
    return Fill(
        *(_counted([getattr(part, name) for part, _ in found], [at for _, at in found], size) for name in names)
    )


def _union(tasks: Sequence[list[str]]) -> tuple[list[str], list[NDArray[np.int64]]]:
    """All tasks, and the line of each table's tasks among them."""
    import numpy as np

    place: dict[str, int] = {}
    lines = []
    for names in tasks:
        found = (place.setdefault(name, len(place)) for name in names)
        lines.append(np.fromiter(found, dtype=np.int64, count=len(names)))
    return list(place), lines


def _counted(values: Sequence[Any], lines: Sequence[Any], size: int) -> NDArray[np.int64]:
    import numpy as np

    total = np.zeros(size, dtype=np.int64)
    for value, at in zip(values, lines, strict=True):
        total[at] += value  # a table has each task once, so no line stands twice in `at`
    return total


def _column(columns: Sequence[Column | None], lines: Sequence[Any], size: int) -> Column:
    """One column of the merged table; ``None`` for a table that does not have it."""
    import numpy as np

    from whileai.stats.exact import Sums, add

    n = np.zeros(size, dtype=np.int64)
    sums = Sums(*(np.zeros(size, dtype=np.int64) for _ in range(3)))
    for column, at in zip(columns, lines, strict=True):
        if column is not None:
            n[at] += column.n
            sums = _placed(sums, add(Sums(*(limb[at] for limb in sums)), column.sums), at)
    return Column(n, sums)


def _placed(sums: Sums, some: Sums, at: Any) -> Sums:
    """`sums` with the lines `at` set; Python ints from where int64 no longer holds them."""
    p0 = sums.p0.astype(object) if some.p0.dtype == object else sums.p0
    p0[at], sums.p1[at], sums.p2[at] = some
    return sums._replace(p0=p0)


def _markers(parts: Sequence[TaskTable], lines: Sequence[Any], size: int) -> dict[str, Column]:
    names = dict.fromkeys(name for part in parts for name in part.markers)
    return {name: _column([part.markers.get(name) for part in parts], lines, size) for name in names}


def _prompts(parts: Sequence[Prompts], lines: Sequence[Any], size: int) -> Prompts:
    """A task has several prompts where a table says so or two tables have different ones."""
    import numpy as np

    several = np.zeros(size, dtype=bool)
    codes = np.zeros(size, dtype=np.int64)
    for part, at in zip(parts, lines, strict=True):
        old, new = codes[at], part.codes
        several[at] |= part.several | ((old != new) & (old != 0) & (new != 0))
        codes[at] = np.where(old == 0, new, old)
    codes[several] = 0
    return Prompts(several, codes=codes)
