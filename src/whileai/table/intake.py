"""Anything that counts as data -> TaskTable."""

from __future__ import annotations

from typing import Any

from whileai.readers.containers import sources
from whileai.table.from_rows import TableBuilder
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
    builder = TableBuilder(call, markers=markers)
    for source, rows in sources(data, call, argument):
        name = label if label is not None and source == argument else source
        builder.add_all(rows, name)
    return builder.build()


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
