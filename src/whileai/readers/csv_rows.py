"""CSV -> rows."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whileai.errors import RowError
from whileai.readers.content import TORN, delimiter_of, opened

if TYPE_CHECKING:
    from whileai.readers.logs.tally import Counts

#: Columns whose cells are numbers or truth values, and those that hold JSON; every other cell stays text.
NUMBER_COLUMNS = frozenset({"reward", "gold_reward", "rollout_index", "truncated", "is_truncated"})
JSON_COLUMNS = frozenset({"markers", "messages", "steps", "privileged", "judge_meta", "lineage", "calibration"})
TRUTH = {"true": True, "false": False}


def csv_rows(
    path: Path,
    call: str,
    wanted: Sequence[str] | None = None,
    counts: Counts | None = None,
    kinds: tuple[Collection[str], Collection[str]] = ((), ()),
) -> Iterator[dict[str, Any]]:
    """CSV with a header; cells become numbers, truth values and JSON in the columns that hold them.

    A last row that was cut off while it was written (no end of line, fewer cells than the header) is counted in
    `counts` and passed over; a row that is short elsewhere has nothing in the cells it lacks.

    Parameters
    ----------
    wanted : sequence of str, optional
        The only columns that are needed.
    kinds : pair of collections of str
        More columns of numbers, and of JSON: what a field map says of names that are not ours.
    """
    limit = csv.field_size_limit(sys.maxsize)  # a completion may be longer than the module's default cell
    try:
        with opened(path, call) as file, io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as text:
            yield from _Table(path, call, text, counts).rows(wanted, kinds)
    except UnicodeDecodeError as error:
        raise RowError(f"{call}: {path} must be UTF-8 text; {error}.", 0, "", None) from error
    finally:
        csv.field_size_limit(limit)


class _Table:
    """One CSV file being read."""

    def __init__(self, path: Path, call: str, text: io.TextIOWrapper, counts: Counts | None) -> None:
        self.path, self.call, self.counts = path, call, counts
        delimiter = delimiter_of(path, text.readline())
        text.seek(0)
        self.last = ""
        self.cells = csv.reader(self._lines(text), delimiter=delimiter, strict=True)

    def _lines(self, text: Iterable[str]) -> Iterator[str]:
        for line in text:
            self.last = line
            yield line

    def rows(
        self, wanted: Sequence[str] | None, kinds: tuple[Collection[str], Collection[str]]
    ) -> Iterator[dict[str, Any]]:
        """The rows under the header."""
        try:
            header = self._header()
            names = [
                (at, name, _cell_of(name, *kinds)) for at, name in enumerate(header) if wanted is None or name in wanted
            ]
            index = -1
            for cells in self.cells:
                if not cells:  # a blank line
                    continue
                index += 1
                if len(cells) == len(header):
                    yield {name: value(cells[at]) for at, name, value in names}
                elif len(cells) > len(header):  # often a comma in a reply without quotes
                    bound, fix = "as many cells as the header has", "Quote cells that hold a comma."
                    shown = [*cells[: len(header)], cells[len(header) :]]
                    raise RowError.of(self.call, str(self.path), index, "the row", bound, shown, fix)
                elif index and not self.last.endswith(("\n", "\r")):
                    if self.counts is not None:
                        self.counts.skip(TORN)
                else:
                    yield {name: value(cells[at]) if at < len(cells) else None for at, name, value in names}
        except csv.Error as error:
            where = f"{self.path} line {self.cells.line_num}"
            fix = "A quote inside a quoted cell is written twice, and every quote is closed."
            raise RowError(f"{self.call}: {where} must be valid CSV; got {error}. {fix}", 0, "", None) from error

    def _header(self) -> list[str]:
        header = next(self.cells, [])
        named = [name for name in header if name]
        if len(set(named)) < len(named):
            twice = next(name for name in named if named.count(name) > 1)
            text = f"{self.call}: {self.path} must name each column once; {twice!r} stands twice in its header."
            raise RowError(text, 0, twice, None)
        return header


def _cell_of(name: str, numbers: Collection[str], structured: Collection[str]) -> Callable[[str], Any]:
    """How a cell of a column is read; an empty one holds nothing, but for a completion, which may be empty."""
    if name in NUMBER_COLUMNS or name.startswith("marker:") or name in numbers:
        return _number
    if name in JSON_COLUMNS or name in structured:
        return _structured
    return str if name == "final_text" else _text


def _text(cell: str) -> str | None:
    return cell or None


def _structured(cell: str) -> Any:
    if not cell:
        return None
    try:
        return json.loads(cell)
    except ValueError:
        return cell


def _number(cell: str) -> Any:
    """A cell as a number or truth value, as it stands where it is neither."""
    text = cell.strip()
    if not text:
        return cell or None
    if text.lower() in TRUTH:
        return TRUTH[text.lower()]
    try:
        number = float(text)
    except ValueError:
        return cell
    return int(text) if text.lstrip("+-").isdecimal() else number
