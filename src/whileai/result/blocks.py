"""What a result is printed from. Every number in a block is already text, so no rendering can change a digit."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Headline:
    """The verdict in words, complete alone; `width` is how many columns it may take where those are more than usual."""

    text: str
    width: int = 0


@dataclass(frozen=True, slots=True)
class Line:
    """One line of detail under the headline."""

    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under a header.

    Attributes
    ----------
    header : tuple of str
        Column names; a table of labels and values may have none.
    rows : tuple of tuple of str
        The cells.
    align : str
        One of ``l``, ``c``, ``r`` per column.
    droppable : tuple of int
        Columns to leave out first where the page is narrow, in that order.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    align: str
    droppable: tuple[int, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Note:
    """What a reader should know beside the numbers.

    Attributes
    ----------
    code : str
        A short snake_case name that does not change.
    text : str
        What is the case.
    fix : str
        What to do about it, where something would help.
    """

    code: str
    text: str
    fix: str = ""

    def __str__(self) -> str:
        return f"note {self.code}: {self.text} {self.fix}".rstrip()


Block = Headline | Line | Table | Note
