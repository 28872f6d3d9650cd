"""``wai validate``: what is wrong with rows, counted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from whileai import params
from whileai.cli.failures import one_line
from whileai.cli.inputs import reading
from whileai.cli.output import Answer, check_file, deliver
from whileai.errors import RowError
from whileai.readers.logs.tally import Counts, reader_notes
from whileai.result import Block, Headline, Note, Result, Table
from whileai.result.digits import count
from whileai.simulations import schema

if TYPE_CHECKING:
    import argparse

FIRST = 5
MOST_CODES = 30
BROKEN = "unreadable_line"


@dataclass(frozen=True, repr=False)
class Validation(Result):
    """What `wai validate` found.

    Attributes
    ----------
    kind : str
        What the rows are to be: ``row``, ``training`` or ``preference``.
    n_rows, n_bad : int
        Rows read, and those with a problem.
    codes : dict of str to dict
        Per problem: ``rows``, how many have it, and ``first``, up to five of them as ``[file, row]``, rows from 0.
    notes : tuple of Note
    """

    kind: str
    n_rows: int
    n_bad: int
    codes: dict[str, dict[str, object]] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    _cells: tuple[tuple[str, str, str], ...] = ()

    @property
    def verdict(self) -> str:
        """``valid`` or ``not valid``."""
        return "not valid" if self.n_bad else "valid"

    def _blocks(self) -> list[Block]:
        kind = "" if self.kind == "row" else f" as {self.kind} rows"
        rows = count(self.n_rows, "row")
        if not self.n_bad:
            return [Headline(f"valid: {rows}, no problem{kind}"), *self.notes]
        verb = "has" if self.n_bad == 1 else "have"
        head = f"not valid: {self.n_bad:,} of {rows} {verb} a problem{kind}"
        return [Headline(head), Table(("problem", "rows", "first rows"), self._cells, "lrl"), *self.notes]


def validate(args: argparse.Namespace) -> int:
    """Are the rows well formed; 1 where any is not."""
    check_file(args.output)
    params.one_of("validate", "kind", args.kind, ("row", "training", "preference"))
    counts = Counts()
    data = reading(args, "validate", "data", args.data, counts)
    found: dict[str, tuple[int, list[tuple[str, int]]]] = {}
    notes, n_rows, n_bad = [], 0, 0

    def keep(code: str, path: str, index: int) -> None:
        n, first = found.get(code, (0, []))
        found[code] = (n + 1, first if len(first) >= FIRST else [*first, (path, index)])

    for part in data.parts:
        path = str(part.path)
        try:
            for index, row in data.stream(part, counts):
                problems = schema.validate(row, kind=args.kind)
                n_bad += bool(problems)
                for code in problems:
                    keep(code, path, index)
        except RowError as error:  # the reader stops there, and what follows is unknown
            keep(BROKEN, path, error.index)
            n_bad += 1
            n_rows += 1
            text = f"{one_line(str(error).removeprefix('validate: '))} The rest of that file was not read."
            notes.append(Note(BROKEN, text))
        n_rows += part.rows
    notes += reader_notes(counts.tally())
    result = _report(args.kind, n_rows, n_bad, found, notes, several=len(data.parts) > 1)
    deliver(args, Answer("validate", result, (data,), not n_bad, result.verdict))
    return 1 if n_bad else 0


def _report(
    kind: str,
    n_rows: int,
    n_bad: int,
    found: dict[str, tuple[int, list[tuple[str, int]]]],
    notes: list[Note],
    *,
    several: bool,
) -> Validation:
    """The counts put together, the most frequent problem first."""
    order = sorted(found, key=lambda code: (-found[code][0], code))
    cells = []
    for code in order[:MOST_CODES]:
        n, first = found[code]
        places = [one_line(f"{path}:{index}") if several else str(index) for path, index in first]
        more = ", ..." if n > len(first) else ""
        cells.append((code, f"{n:,}", ", ".join(places) + more))
    if len(order) > MOST_CODES:
        notes.append(Note("more_problems", f"{len(order) - MOST_CODES:,} more kinds of problems.", "--json has all."))
    if not n_rows:
        notes.append(Note("no_rows", "there are no rows."))
    codes: dict[str, dict[str, object]] = {
        code: {"rows": found[code][0], "first": [list(place) for place in found[code][1]]} for code in order
    }
    return Validation(kind, n_rows, n_bad, codes, tuple(notes), tuple(cells))
