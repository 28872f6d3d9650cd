"""Blocks as plain text: ASCII, no colour, at most 100 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from whileai.result.blocks import Block, Headline, Line, Note, Table

WIDTH = 100
MOST_NOTES = 6


def render(blocks: Sequence[Block], width: int = WIDTH) -> str:
    """The readable block of a result: headline, lines, tables, notes."""
    lines: list[str] = []
    notes = [block for block in blocks if isinstance(block, Note)]
    for block in blocks:
        if isinstance(block, Headline):
            lines.append(block.text)
        elif isinstance(block, Line):
            lines += _wrapped(block.text, width, "  ", "    ")
        elif isinstance(block, Table):
            lines += table_lines(block, width)
    for note in notes[:MOST_NOTES]:
        lines += _wrapped(str(note), width, "", "  ")
    if len(notes) > MOST_NOTES:
        lines.append(f"and {len(notes) - MOST_NOTES} more in .notes")
    return "\n".join(lines).encode("ascii", "backslashreplace").decode("ascii")


def _wrapped(text: str, width: int, first: str, rest: str) -> list[str]:
    return textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=rest, break_long_words=True, break_on_hyphens=False
    )


def table_lines(table: Table, width: int) -> list[str]:
    """A table with its columns aligned; columns that may be dropped go until it fits."""
    columns = list(range(len(table.align)))
    body = ([table.header] if table.header else []) + list(table.rows)
    drop = list(table.droppable)
    while True:
        sizes = [max((len(row[c]) for row in body), default=0) for c in columns]
        if sum(sizes) + 2 * len(sizes) <= width or not drop:
            break
        columns.remove(drop.pop(0))
    lines = []
    for row in body:
        cells = [_aligned(row[c], size, table.align[c]) for c, size in zip(columns, sizes, strict=True)]
        lines.append(("  " + "  ".join(cells)).rstrip())
    return lines


def _aligned(cell: str, size: int, align: str) -> str:
    return cell.rjust(size) if align == "r" else cell.center(size) if align == "c" else cell.ljust(size)
