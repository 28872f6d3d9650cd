"""Blocks as plain text: ASCII, no colour, at most 100 columns."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

from whileai.result.blocks import Block, Headline, Line, Note, Table

WIDTH = 100
MOST_NOTES = 6
#: A name in a table is not shortened further than this.
SHORTEST_NAME = 12
#: Stands for a space at which a line may not be broken.
_HELD = "\x00"
#: Typographic signs with a plain equivalent; anything else beyond ASCII is escaped.
_PLAIN = str.maketrans(
    {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "-", "\u2026": "..."}
)
_control = re.compile(r"[\x00-\x1f\x7f]")


def render(blocks: Sequence[Block], width: int = WIDTH) -> str:
    """The readable block of a result: headline, lines, tables, notes."""
    lines: list[str] = []
    notes = [block for block in blocks if isinstance(block, Note)]
    for block in blocks:
        if isinstance(block, Headline):
            lines += _wrapped(block.text, max(width, block.width), "", "    ")
        elif isinstance(block, Line):
            lines += _wrapped(block.text, width, "  ", "    ")
        elif isinstance(block, Table):
            lines += table_lines(block, width)
    for note in notes[:MOST_NOTES]:
        lines += _wrapped(str(note), width, "", "  ")
    if len(notes) > MOST_NOTES:
        lines.append(f"and {len(notes) - MOST_NOTES} more in .notes")
    return "\n".join(lines)


def ascii_of(text: str) -> str:
    """`text` with everything that is not printable ASCII as a backslash escape: names come from the caller's data."""
    plain = text.translate(_PLAIN).encode("ascii", "backslashreplace").decode("ascii")
    return _control.sub(lambda match: f"\\x{ord(match[0]):02x}", plain)


def _wrapped(text: str, width: int, first: str, rest: str) -> list[str]:
    """`text` in lines; where it is a list of items, ``a | b | c``, none is broken and no line begins with a bar."""
    items = ascii_of(text).split(" | ")
    if len(items) > 1:
        items = [item.replace(" ", _HELD) for item in items]
    lines = textwrap.wrap(
        f"{_HELD}| ".join(items),
        width,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=True,
        break_on_hyphens=False,
    )
    return [line.replace(_HELD, " ") for line in lines]


def table_lines(table: Table, width: int) -> list[str]:
    """A table with its columns aligned.

    Where it is too wide, columns that may be dropped go first; then the texts of a table without a header are wrapped,
    and the names of one with a header shortened.
    """
    columns = list(range(len(table.align)))
    body = [[ascii_of(cell) for cell in row] for row in ([table.header] if table.header else []) + list(table.rows)]
    drop = list(table.droppable)
    while True:
        sizes = [max((len(row[c]) for row in body), default=0) for c in columns]
        spare = width - sum(sizes) - 2 * len(sizes)
        if spare >= 0 or not drop:
            break
        columns.remove(drop.pop(0))
    if spare < 0 and table.header:
        sizes[0] = max(SHORTEST_NAME, sizes[0] + spare)
        for row in body:
            row[columns[0]] = middle_out(row[columns[0]], sizes[0])
    indent = " " * (2 + sum(sizes[:-1]) + 2 * len(sizes[:-1]))
    lines = []
    for row in body:
        cells = [_aligned(row[c], size, table.align[c]) for c, size in zip(columns, sizes, strict=True)]
        line = ("  " + "  ".join(cells)).rstrip()
        if len(line) <= width or table.header:
            lines.append(line)
        else:
            lines += textwrap.wrap(
                row[columns[-1]], width, initial_indent=line[: len(indent)], subsequent_indent=indent
            )
    return lines


def middle_out(text: str, size: int) -> str:
    """`text` in at most `size` characters, its middle left out."""
    if len(text) <= size:
        return text
    tail = (size - 3) // 2
    return f"{text[: size - 3 - tail]}...{text[-tail:]}"


def _aligned(cell: str, size: int, align: str) -> str:
    return cell.rjust(size) if align == "r" else cell.center(size) if align == "c" else cell.ljust(size)
