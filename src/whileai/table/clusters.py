"""A key of the rows as a label of tasks: which cluster, which slice a task lies in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, islice
from typing import TYPE_CHECKING, Any

from whileai import keys
from whileai.errors import ParamError, RowError
from whileai.params import near_miss
from whileai.readers.columns import can_be_read_again
from whileai.readers.completions import one_each
from whileai.readers.containers import hold_several, sources
from whileai.readers.logs.tally import Counts
from whileai.table.flat import is_flat
from whileai.table.from_rows import BATCH, WANTED, TableBuilder
from whileai.table.task_table import TaskTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Rows whose keys are named where a path leads nowhere.
NAMED = 50
NO_KEYS = "It has counts of tasks, no keys."


@dataclass(frozen=True)
class Labels:
    """What stands at one path, task by task.

    Attributes
    ----------
    path : str
    values : list of str
        Every value found, in order.
    first : ndarray of int, shape (tasks,)
        Place among `values` of each task's value, of several the first in order; -1 where its rows have none.
    several : ndarray of bool, shape (tasks,)
        Tasks whose rows have more than one value.
    n_missing : int
        Rows without a value.
    n_rows : int
    names : tuple of str
        Keys of the first rows, for the near miss.
    """

    path: str
    values: list[str]
    first: NDArray[np.int64]
    several: NDArray[np.bool_]
    n_missing: int
    n_rows: int
    names: tuple[str, ...]

    def named(self) -> list[str | None]:
        """The value of each task."""
        return [None if place < 0 else self.values[place] for place in self.first.tolist()]


def labelled_table(
    data: Any, call: str, argument: str, paths: Sequence[str], *, label: str | None = None, markers: bool = True
) -> tuple[TaskTable, dict[str, Labels]]:
    """The table of `data`, as `as_table` gives it, and the labels at each path; the data is read once.

    Parameters
    ----------
    call, argument, label, markers
        As in `whileai.table.intake.as_table`.
    paths : sequence of str
        Dotted paths of the rows.

    Raises
    ------
    TypeError
        A saved TaskTable, which has counts of tasks but no keys.
    """
    empty = Counts()
    if isinstance(data, (list, tuple)) and {dict}.issuperset(map(type, data)) and hold_several(data):
        data = list(one_each(data, call, argument if label is None else label, empty))
    wanted = [*(WANTED if markers else WANTED[:-1]), *paths, *(path.partition(".")[0] for path in paths)]
    builder = TableBuilder(call, markers=markers, counts=empty)
    try:
        return _labelled(data, builder, argument, paths, label, list(dict.fromkeys(wanted)))
    except RowError:
        if not can_be_read_again(data):
            raise
    # again, now with all keys: the task may stand in the messages, and an error shows the whole row
    return _labelled(data, TableBuilder(call, markers=markers), argument, paths, label, None)


def check_key(call: str, where: str, path: Any, arms: Mapping[str, Any]) -> None:
    """Raise where `path` is no text, or an arm is a TaskTable and so has no keys to look at."""
    if not isinstance(path, str):
        raise ParamError.of(call, where, "a key of the rows", path)
    for arm, data in arms.items():
        if isinstance(data, TaskTable):
            message = f"{call}: {arm} must be rows where {where}= is given; got a TaskTable."
            raise TypeError(f"{message} {NO_KEYS}")


def check_found(call: str, where: str, path: str, found: Iterable[Labels], arms: Iterable[Any]) -> None:
    """Raise where no row has a value at `path`, with the near miss; no rows at all are no error."""
    found = list(found)
    if any(labels.values for labels in found) or not any(labels.n_rows for labels in found):
        return
    names = {name for labels in found for name in labels.names}
    for data in arms:
        if can_be_read_again(data):  # only the wanted keys were read
            for _, rows in sources(data, call, where):
                names.update(_names(list(islice(rows, NAMED))))
    raise ParamError.of(call, where, "a key of the rows", path, near_miss(path, sorted(names)))


def _labelled(
    data: Any,
    builder: TableBuilder,
    argument: str,
    paths: Sequence[str],
    label: str | None,
    wanted: Sequence[str] | None,
) -> tuple[TaskTable, dict[str, Labels]]:
    """The table and the labels row by row."""
    call = builder.call
    columns = [_Column(path) for path in paths]
    names: tuple[str, ...] = ()
    for source, rows in sources(data, call, argument, wanted, counts=builder.counts):
        builder.add_all((), label if label is not None and source == argument else source)  # a new part
        for batch in _batches(rows):
            if not names and isinstance(batch[0], Mapping) and is_flat(list(batch[0])):
                raise TypeError(f"{call}: {argument} must be rows here; got a saved TaskTable. {NO_KEYS}")
            builder.add(batch)
            for column in columns:
                column.add(batch)
            names = names or _names(batch[:NAMED])
    codes = builder.columns()[1]
    table = builder.build()
    return table, {column.path: column.labels(codes, len(table), names) for column in columns}


def _batches(rows: Iterable[Any]) -> Iterator[Sequence[Any]]:
    """Rows a batch at a time."""
    if isinstance(rows, (list, tuple)):
        for start in range(0, len(rows), BATCH):
            yield rows[start : start + BATCH]
        return
    stream = iter(rows)
    while batch := list(islice(stream, BATCH)):
        yield batch


def _names(rows: Sequence[Any]) -> tuple[str, ...]:
    """The keys of some rows, and the paths of the keys one level down."""
    found = set()
    for row in rows:
        for name, value in row.items():
            found.add(str(name))
            if isinstance(value, Mapping):
                found.update(f"{name}.{inner}" for inner in value)
    return tuple(sorted(found))


class _Column:
    """The values at one path, numbered as they come."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._number: defaultdict[str, int] = defaultdict(count().__next__)
        self._codes: list[NDArray[np.int64]] = []

    def add(self, batch: Sequence[Any]) -> None:
        """Read one batch."""
        import numpy as np

        if "." in self.path:
            values = [keys.at_path(row, self.path) for row in batch]
        else:
            values = [row.get(self.path) for row in batch]
        number = self._number
        codes = (
            number[value] if type(value) is str else -1 if keys.is_missing(value) else number[keys.task_name(value)]
            for value in values
        )
        self._codes.append(np.fromiter(codes, dtype=np.int64, count=len(batch)))

    def labels(self, tasks: NDArray[np.int64], n_tasks: int, names: tuple[str, ...]) -> Labels:
        """The labels of the tasks; `tasks` is the line of each row's task."""
        import numpy as np

        codes = np.concatenate(self._codes) if self._codes else np.zeros(0, dtype=np.int64)
        values = sorted(self._number)
        rank = np.zeros(len(values) + 1, dtype=np.int64)
        rank[[self._number[value] for value in values]] = np.arange(len(values))
        here = codes >= 0
        places, lines = rank[codes[here]], tasks[here]
        low, high = np.full(n_tasks, len(values)), np.full(n_tasks, -1)
        np.minimum.at(low, lines, places)
        np.maximum.at(high, lines, places)
        first = np.where(high >= 0, low, -1)
        return Labels(self.path, values, first, low < high, int((~here).sum()), len(codes), names)
