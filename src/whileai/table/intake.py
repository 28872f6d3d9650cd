"""Anything that counts as data -> TaskTable."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from whileai.errors import ParamError, RowError
from whileai.readers import columns
from whileai.readers.completions import one_each
from whileai.readers.containers import has_log, hold_several, sources
from whileai.readers.files import connected
from whileai.readers.logs.tally import Counts
from whileai.table.engines import engine_table
from whileai.table.flat import is_flat, of_relation
from whileai.table.from_columns import grouped
from whileai.table.from_rows import WANTED, TableBuilder
from whileai.table.saved import load
from whileai.table.task_table import TaskTable

if TYPE_CHECKING:
    from whileai.readers.fields import Fields


def as_table(
    data: Any,
    call: str,
    argument: str,
    *,
    label: str | None = None,
    markers: bool = True,
    fields: Any = None,
    format: str | None = None,
    filter: str | None = None,
) -> TaskTable:
    """The table of any data; a TaskTable comes back as it is.

    Parameters
    ----------
    call, argument : str
        For errors: the call that reads, and its argument.
    label : str, optional
        What errors call a source that is no file, by default the argument. A call with one arm passes ``""``.
    markers : bool
        Whether markers are read; a call that does not use them is faster without.
    fields : mapping of str to str, optional
        What the data calls our keys, as in `wai.read`.
    format, filter : str, optional
        As in `wai.read`: the format of a file, and which verdict of a log to take.
    """
    if isinstance(data, TaskTable):
        if fields is not None:
            raise ParamError.of(call, "fields", "left out where the data is a TaskTable", fields)
        return data
    wanted = WANTED if markers else WANTED[:-1]
    intake = _Intake(call, argument, label, _mapped(call, fields), wanted, format, filter, markers=markers)
    table = engine_table(data, markers=markers) if fields is None else None
    settled = data
    if table is None and not isinstance(data, (list, tuple)) and format is None and filter is None:
        settled = columns.settled(data, intake.needed())
        table = intake.from_columns(settled)
    if table is not None:
        return table
    try:
        return intake.from_rows(settled)
    except RowError:  # the task may stand in the messages, which were not asked for
        if settled is data or not columns.can_be_read_again(data):
            raise
    return intake.from_rows(data)


def _mapped(call: str, fields: Any) -> Fields | None:
    """A field map, checked."""
    if fields is None:
        return None
    from whileai.readers.fields import Fields

    return Fields(call, fields)


class _Intake:
    """One reading: who reads, and what is asked for."""

    def __init__(
        self,
        call: str,
        argument: str,
        label: str | None,
        fields: Fields | None,
        wanted: Sequence[str],
        format: str | None,
        filter: str | None,
        *,
        markers: bool,
    ) -> None:
        self.format, self.filter = format, filter
        self.call, self.argument, self.label = call, argument, label
        self.fields, self.wanted, self.markers = fields, wanted, markers

    def needed(self) -> Sequence[str]:
        """The columns that are read."""
        return self.wanted if self.fields is None else [*self.wanted, *self.fields.heads]

    def from_columns(self, data: Any) -> TaskTable | None:
        """The table of columns, ``None`` for anything else and for what only a reading row by row can judge."""
        if not columns.may_have_columns(data, self.call):
            return None
        is_path = isinstance(data, (str, os.PathLike))
        with connected() as connection:
            relation = columns.relation_of(data, connection, self.call)
            if relation is None:
                return None
            if is_flat(relation.columns):  # a table that was saved, or grouped by another engine
                return load(data) if is_path else of_relation(relation, self.argument)
            if self.fields is not None:
                relation = columns.renamed(relation, self.fields)
            elif is_path and columns.may_be_log(relation) and has_log(data, self.call):
                return None
            if relation is None or columns.holds_lists(relation):
                return None
            return grouped(relation, markers=self.markers)

    def from_rows(self, data: Any) -> TaskTable:
        """The table row by row."""
        if isinstance(data, (list, tuple)):
            return self._from_list(data)
        if not isinstance(data, (str, os.PathLike)):
            return self._read(data, None)
        try:
            return self._read(data, self.wanted)
        except RowError:  # a file can be read again, now with all keys: the task may stand in the messages, the
            return self._read(data, None)  # completions in a list, and an error shows the whole row

    def _from_list(self, rows: Sequence[Any]) -> TaskTable:
        """The table of rows in memory, any of which may hold several completions."""
        if self.fields is not None or not hold_several(rows):
            return self._read(rows, None)
        counts = Counts()
        name = self.argument if self.label is None else self.label
        return self._read(one_each(rows, self.call, name, counts), None, counts)

    def _read(self, data: Any, wanted: Sequence[str] | None, counts: Counts | None = None) -> TaskTable:
        builder = TableBuilder(self.call, markers=self.markers, counts=counts)
        how = {"format": self.format, "filter": self.filter}
        parts = sources(data, self.call, self.argument, wanted, fields=self.fields, counts=builder.counts, **how)
        try:
            for source, rows in parts:
                builder.add_all(rows, self.label if self.label is not None and source == self.argument else source)
        except RowError:
            if self.fields is not None:
                self.fields.check()  # a misspelt column is why a row lacks its task
            raise
        return builder.build()


def task_table(data: Any, *, fields: Any = None) -> TaskTable:
    """The TaskTable of any data: read once, then measured as often as you like.

    Parameters
    ----------
    data : rows
        A list or generator of dicts, a file or glob, a frame, an Arrow stream, a relation.
    fields : mapping of str to str, optional
        What the data calls our keys, ours first, as in `wai.read`: ``{"task_id": "idx", "reward": "score"}``.

    Returns
    -------
    TaskTable
        Every call that takes rows takes it in their place.

    Examples
    --------
    >>> import whileai as wai
    >>> table = wai.task_table([{"task_id": "a", "reward": 1}, {"task_id": "a", "reward": 0}])
    >>> table.task, table.n.tolist(), table.passes.tolist()
    (['a'], [2], [1])
    >>> wai.task_table([{"idx": 3, "score": [True, False]}], fields={"task_id": "idx", "reward": "score"}).n.tolist()
    [2]
    """
    return as_table(data, "task_table", "data", label="", fields=fields)
