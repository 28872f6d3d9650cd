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


@dataclass(frozen=True, slots=True)
class Interval:
    """One row of a figure: a number with its interval, drawn from raw floats and labelled with what is printed.

    Attributes
    ----------
    name, text : str
        What it is, and its numbers as they are printed.
    value, low, high : float or None
        Where mark and line stand.
    shape : str
        ``diamond`` better, ``triangle`` worse, ``square`` neither, ``circle`` a single run, ``bar`` a count.
    axis : str
        Rows with the same axis share it; ``rate`` reaches from 0 to 1.
    reference : float or None
        Where no change, or the bar to clear, lies.
    band : (float, float) or None
        What re-running alone may do.
    main : bool
        Whether the row is what the verdict is about.
    """

    name: str
    text: str
    value: float | None
    low: float | None = None
    high: float | None = None
    shape: str = "square"
    axis: str = "rate"
    reference: float | None = None
    band: tuple[float, float] | None = None
    main: bool = False


@dataclass(frozen=True, slots=True)
class Plot:
    """A figure of intervals, beside the text and never in its place.

    Attributes
    ----------
    title : str
        What it shows, for those who cannot see it.
    rows : tuple of Interval
    caption : str
        What line and marks mean.
    """

    title: str
    rows: tuple[Interval, ...]
    caption: str = ""


Block = Headline | Line | Table | Note
