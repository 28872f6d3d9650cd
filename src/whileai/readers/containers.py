"""Anything that counts as data -> dict rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter, methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whileai.errors import ParamError, sentence
from whileai.readers.columns import holds_lists, relation_of
from whileai.readers.completions import one_each
from whileai.readers.content import FORMATS
from whileai.readers.files import connected, file_rows, files_below, files_of
from whileai.readers.objects import is_data, rows_of_object

if TYPE_CHECKING:
    from whileai.readers.fields import Fields
    from whileai.readers.logs.registry import Reader
    from whileai.readers.logs.tally import Counts
    from whileai.result import Note

__all__ = ["as_list", "files_read", "has_log", "hold_several", "is_data", "listed", "not_a_row", "sources"]


def listed(data: Any, call: str, argument: str) -> tuple[list[dict[str, Any]], list[Note]]:
    """All rows of `data` in a list, and what the call that read them has to say of what was passed over."""
    from whileai.readers.logs.tally import Counts, reader_notes

    counts = Counts()
    rows = as_list(data, call, argument, counts)
    return rows, list(reader_notes(counts.tally()))


def as_list(data: Any, call: str, argument: str, counts: Counts | None = None) -> list[dict[str, Any]]:
    """All rows of `data` in a list; a list of dicts comes back as it is, unless a row has several completions.

    `counts` takes what is passed over, and what a reader of logs has to say.
    """
    parts = () if isinstance(data, list) else sources(data, call, argument, counts=counts)
    rows = data if isinstance(data, list) else [row for _, batch in parts for row in batch]
    if not {dict}.issuperset(map(type, rows)):
        for index, row in enumerate(rows):
            if not isinstance(row, Mapping):
                raise not_a_row(call, argument, index, row)
        rows = [row if isinstance(row, dict) else dict(row) for row in rows]
    return list(one_each(rows, call, argument, counts)) if hold_several(rows) else rows


def hold_several(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the completion of a row is a list."""
    ways: list[Callable[[Any], Any]] = [methodcaller("get", "final_text")]
    if rows and type(rows[0]) is dict:  # the faster way would add the key to a defaultdict
        ways.insert(0, itemgetter("final_text"))
    for text in ways:
        try:
            return not {list, tuple}.isdisjoint(map(type, map(text, rows)))
        except (AttributeError, LookupError, TypeError):
            continue
    return False  # an item is no row, which whoever reads it names


def holds_several(file: Path) -> bool:
    """Whether the completions of a file may stand in lists, as far as its columns or its first rows say.

    Later lines are looked at when they are read; a JSON list is decoded whole in any case.
    """
    from whileai.readers.logs.head import head_of

    head = head_of(file)
    if head.kind != "parquet":
        return head.kind == "json" or hold_several(head.records)
    if "final_text" not in head.columns:
        return False
    with connected() as connection:
        relation = relation_of(file, connection, "read")
        return relation is not None and holds_lists(relation)


def not_a_row(call: str, source: str, index: int, row: Any) -> TypeError:
    """The error of an item that is no row."""
    return TypeError(sentence(call, f"{source} row {index}".lstrip(), "a dict, in a list of rows", row))


def sources(
    data: Any,
    call: str,
    argument: str,
    wanted: Sequence[str] | None = None,
    *,
    format: str | None = None,
    fields: Fields | None = None,
    filter: str | None = None,
    counts: Counts | None = None,
) -> Iterator[tuple[str, Iterable[Any]]]:
    """The parts of `data`, each with the name that errors call it by: the argument, or the file.

    Parameters
    ----------
    wanted : sequence of str, optional
        The only keys that are needed, where leaving out the others saves time. Rows of several completions are then
        left as they are, unless the first ones of a file hold some: it is then read whole.
    format : str, optional
        The format of a file, where its content should not say.
    fields : Fields, optional
        What the data calls our keys.
    filter : str, optional
        Which of several verdicts of a log to take.
    counts : Counts, optional
        Takes what is passed over, and what a reader of logs has to say, once a part is read.

    Raises
    ------
    TypeError
        What is no data, with the argument's name and what is accepted.
    FileNotFoundError
        A string or path that names no file.
    ParamError
        A format that does not exist, or a content that is none of them.
    """
    if isinstance(data, (str, os.PathLike)):
        for file, reader in _readers(data, call, format, fields, counts):
            if reader is None:
                _no_filter(call, filter, f"{file} is a file of plain rows")
                yield str(file), _plain_rows(file, call, wanted, format, fields, counts)
            else:
                part = reader.rows(call, wanted, filter)
                yield str(file), part if fields is None else fields.rows(part, str(file), counts)
                if counts is not None:
                    counts.merge(reader.counts)
    else:
        _no_filter(call, filter, "the rows are in memory")
        if format is not None:
            raise ParamError.of(call, "format", "left out where the rows are in memory", format)
        rows = rows_of_object(data, call, argument, wanted)
        if fields is not None:
            rows = fields.rows(rows, argument, counts)
        yield argument, rows if isinstance(rows, (list, tuple)) else one_each(rows, call, argument, counts)
    if fields is not None:
        fields.check()


def _no_filter(call: str, filter: str | None, why: str) -> None:
    if filter is not None:
        fix = "It chooses among the verdicts of a log."
        raise ParamError.of(call, "filter", f"left out where {why}", filter, fix)


def _plain_rows(
    file: Path,
    call: str,
    wanted: Sequence[str] | None,
    format: str | None,
    fields: Fields | None,
    counts: Counts | None,
) -> Iterator[Any]:
    """The rows of a file that is no log."""
    kind = format if format in FORMATS else None
    if fields is not None:
        rows = file_rows(file, call, format=kind, counts=counts, numbers=fields.numbers, structured=fields.structured)
        return fields.rows(rows, str(file), counts)
    if wanted is not None and holds_several(file):
        wanted = None
    rows = file_rows(file, call, wanted, format=kind, counts=counts)
    return rows if wanted is not None else one_each(rows, call, str(file), counts)


def _readers(
    data: str | os.PathLike[str], call: str, format: str | None, fields: Fields | None, counts: Counts | None
) -> list[tuple[Path, Reader | None]]:
    """The files that a path or pattern names, each with the reader of its log, ``None`` for plain rows.

    What lies in a folder beside rows and logs and is neither is left out, and counted.
    """
    if format in FORMATS:
        return [(file, None) for file in files_of(data, call)]
    from whileai.readers.logs import registry

    _check_format(call, format)
    text = os.fspath(data)
    names = frozenset() if fields is None else fields.heads
    files = None
    if text and os.path.isdir(text):  # noqa: PTH112 - any path-like, also one too long
        whole = registry.recognise(text, format if format != registry.PLAIN else None, call=call)
        if whole is not None:
            return [(Path(text), whole)]
        files = _of_use(Path(text), call, format, names, counts)
    files = files_of(data, call) if files is None else files
    readers = registry.recognise_all(files, format, call=call, fields=names)
    if fields is not None and format is None:  # the map names the columns as they stand
        readers = [None if reader is None or reader.head.kind in PLAIN_KINDS else reader for reader in readers]
    return list(zip(files, readers, strict=True))


def files_read(
    data: str | os.PathLike[str],
    call: str,
    format: str | None = None,
    fields: Fields | None = None,
    counts: Counts | None = None,
) -> list[Path]:
    """The files that `sources` reads of a path or pattern; a folder that is one log is itself the only one."""
    return [file for file, _ in _readers(data, call, format, fields, counts)]


def has_log(data: str | os.PathLike[str], call: str) -> bool:
    """Whether any file that a path names is a log."""
    return any(reader is not None for _, reader in _readers(data, call, None, None, None))


def _of_use(folder: Path, call: str, format: str | None, names: frozenset[str], counts: Counts | None) -> list[Path]:
    """The files of a folder without those that are neither rows nor logs; all of them where none is.

    Where no file right in it has rows, as beside a summary or a listing of what lies deeper, all below are looked at.
    """
    files = files_of(folder, call)
    found, any_rows = _known(files, call, format, names)
    if not any_rows and len(below := files_below(folder)) > len(files):
        files = below
        found, _ = _known(files, call, format, names)
    if not found:
        return files
    if len(found) < len(files) and counts is not None:
        counts.skip("file that is neither rows nor a log", len(files) - len(found))
    return found


def _known(files: list[Path], call: str, format: str | None, names: frozenset[str]) -> tuple[list[Path], bool]:
    """The files that are rows, logs, or known to lie beside logs, and whether any has rows."""
    from whileai.readers.logs import registry
    from whileai.readers.logs.base import Companion

    found, any_rows = [], False
    for file in files:
        try:
            reader = registry.recognise(file, format, call=call, alone=False, fields=names)
        except ParamError:
            continue
        found.append(file)
        any_rows = any_rows or reader is None or not isinstance(reader.format, Companion)
    return found, any_rows


#: Kinds of files whose columns a field map may name itself.
PLAIN_KINDS = frozenset({"lines", "csv", "parquet"})


def _check_format(call: str, format: Any) -> None:
    """Raise for a format that does not exist, with the near miss among all of them."""
    if format is not None:
        from whileai.params import one_of
        from whileai.readers.logs import registry

        one_of(call, "format", format, [*FORMATS, *registry.names()])
