"""Anything that counts as data -> TaskTable."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from whileai.errors import RowError
from whileai.readers.containers import may_have_columns, relation_of, sources
from whileai.table.from_columns import grouped
from whileai.table.from_rows import WANTED, TableBuilder
from whileai.table.task_table import TaskTable


def as_table(data: Any, call: str, argument: str, *, label: str | None = None, markers: bool = True) -> TaskTable:
    """The table of any data; a TaskTable comes back as it is.

    Parameters
    ----------
    call, argument : str
        For errors: the call that reads, and its argument.
    label : str, optional
        What errors call a source that is no file, by default the argument. A call with one arm passes ``""``.
    markers : bool
        Whether markers are read; a call that does not use them is faster without.
    """
    if isinstance(data, TaskTable):
        return data
    table = _from_columns(data, markers=markers)
    if table is not None:
        return table
    wanted = WANTED if markers else WANTED[:-1]
    try:
        return _from_rows(data, call, argument, label, markers=markers, wanted=wanted)
    except RowError:
        if not isinstance(data, (str, os.PathLike)):
            raise
    # a file can be read again, now with all keys: the task may stand in the messages, and an error shows the whole row
    return _from_rows(data, call, argument, label, markers=markers, wanted=None)


def _from_rows(
    data: Any, call: str, argument: str, label: str | None, *, markers: bool, wanted: Sequence[str] | None
) -> TaskTable:
    """The table row by row."""
    builder = TableBuilder(call, markers=markers)
    for source, rows in sources(data, call, argument, wanted):
        name = label if label is not None and source == argument else source
        builder.add_all(rows, name)
    return builder.build()


def _from_columns(data: Any, *, markers: bool) -> TaskTable | None:
    """The table of data in columns, ``None`` for anything else and for what only a reading row by row can judge."""
    if isinstance(data, (list, tuple)) or not may_have_columns(data):
        return None
    import duckdb

    with duckdb.connect() as connection:
        relation = relation_of(data, connection)
        return None if relation is None else grouped(relation, markers=markers)


def task_table(data: Any) -> TaskTable:
    """The TaskTable of any data: read once, then measured as often as you like.

    Parameters
    ----------
    data : rows
        A list or generator of dicts, a file or glob, a frame, an Arrow stream, a relation.

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
    """
    return as_table(data, "task_table", "data", label="")
