"""Figures as SVG text: lines, bands, points, bars and labels, and the interval plot that every notebook shows.

The same text stands in notebook, page and docs, so a figure brings neither style sheet nor `id`: its ink is
``currentColor``, and its two tones are variables of the page or of the notebook, with a tone that stands out from white
and from black alike where there is neither.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from whileai.result.text import middle_out

if TYPE_CHECKING:
    from whileai.result.blocks import Interval, Plot

INK = "currentColor"
BLUE = "var(--wai-blue,var(--jp-brand-color1,#2f7fd0))"
ORANGE = "var(--wai-orange,var(--jp-warn-color0,#c8680f))"
#: Height of one letter and, about, its width, in the units of a figure.
LETTER, LETTER_WIDTH = 12, 7.2
#: Rows of the plot in a notebook, and characters of a name there.
MOST_ROWS, LONGEST_NAME = 9, 22
#: What no markup may hold, and what would turn the text around it.
_unfit = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\ufffe\uffff]"
)


def visible(text: str) -> str:
    """`text` with invisible, direction and control characters, and lone surrogates, shown as ``[U+202E]``."""
    return _unfit.sub(lambda match: f"[U+{ord(match[0]):04X}]", text)


def one_line(text: str) -> str:
    """`text` with every run of white space as one space."""
    return " ".join(text.split())


def safe(text: str) -> str:
    """`text` for markup: what is invisible shown, what is markup escaped."""
    return escape(visible(text))


class Drawing:
    """A figure that is drawn on.

    Parameters
    ----------
    width, height : float
        Of the figure, in CSS pixels; it shrinks where it has less room.
    """

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = width, height
        self._parts: list[str] = []

    def line(self, points: Iterable[tuple[float, float]], tone: str = INK, size: float = 1.5, dash: str = "") -> None:
        """A line through points."""
        path = "L".join(f"{_n(x)} {_n(y)}" for x, y in points)
        more = f' stroke-dasharray="{dash}"' if dash else ""
        self._parts.append(f'<path d="M{path}" fill="none" stroke="{tone}" stroke-width="{_n(size)}"{more}/>')

    def faint(self, points: Iterable[tuple[float, float]]) -> None:
        """A line of the grid."""
        path = "L".join(f"{_n(x)} {_n(y)}" for x, y in points)
        self._parts.append(f'<path d="M{path}" fill="none" stroke="{INK}" stroke-opacity=".22"/>')

    def band(self, x: float, y: float, width: float, height: float, tone: str = INK, opacity: float = 0.13) -> None:
        """A shaded rectangle."""
        box = f'x="{_n(x)}" y="{_n(y)}" width="{_n(max(width, 0))}" height="{_n(max(height, 0))}"'
        self._parts.append(f'<rect {box} fill="{tone}" fill-opacity="{_n(opacity, 2)}"/>')

    def ribbon(self, points: Sequence[tuple[float, float]], tone: str) -> None:
        """A shaded area inside an outline."""
        path = "L".join(f"{_n(x)} {_n(y)}" for x, y in points)
        self._parts.append(f'<path d="M{path}Z" fill="{tone}" fill-opacity=".15"/>')

    def bar(self, x: float, y: float, width: float, height: float, tone: str = BLUE) -> None:
        """A full rectangle."""
        self.band(x, y, width, height, tone, 1)

    def point(self, x: float, y: float, shape: str = "square", tone: str = INK, size: float = 5) -> None:
        """A mark: ``diamond`` (better), ``triangle`` (worse), ``square`` or ``circle``."""
        if shape == "circle":
            self._parts.append(f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(size * 0.9)}" fill="{tone}"/>')
            return
        s = size * (1.25 if shape != "square" else 0.9)
        corners = {
            "diamond": [(0, -s), (s, 0), (0, s), (-s, 0)],
            "triangle": [(-s, -s * 0.8), (s, -s * 0.8), (0, s)],
            "square": [(-s, -s), (s, -s), (s, s), (-s, s)],
        }[shape]
        path = "L".join(f"{_n(x + dx)} {_n(y + dy)}" for dx, dy in corners)
        self._parts.append(f'<path d="M{path}Z" fill="{tone}"/>')

    def label(
        self, x: float, y: float, text: str, anchor: str = "start", *, bold: bool = False, quiet: bool = False
    ) -> None:
        """A text; `y` is its base line, `anchor` ``start``, ``middle`` or ``end``."""
        more = ' font-weight="600"' if bold else ""
        more += ' opacity=".8"' if quiet else ""
        side = "" if anchor == "start" else f' text-anchor="{anchor}"'
        self._parts.append(f'<text x="{_n(x)}" y="{_n(y)}" fill="{INK}"{side}{more}>{safe(one_line(text))}</text>')

    def text(self, label: str) -> str:
        """The figure as markup; `label` says to those who cannot see it what it shows."""
        size = f'width="{_n(self.width)}" height="{_n(self.height)}" viewBox="0 0 {_n(self.width)} {_n(self.height)}"'
        face = f'font-size="{LETTER}" font-family="system-ui,sans-serif"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{safe(one_line(label))}" {size} {face}>'
        return f"{head}{''.join(self._parts)}</svg>"


def _n(value: float, places: int = 1) -> str:
    """A coordinate, as short as it can be."""
    text = f"{value:.{places}f}".rstrip("0").rstrip(".") if "." in f"{value:.{places}f}" else f"{value:.{places}f}"
    return "0" if text in ("-0", "") else text


class Scale:
    """Numbers from `low` to `high` laid out from `start` to `end`."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        if not high > low:
            spread = max(abs(low) * 0.1, 0.5)
            low, high = low - spread, high + spread
        self.low, self.high, self.start, self.end = low, high, start, end

    def __call__(self, value: float) -> float:
        """Where a number lies; what is off the scale lies at its end."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self, most: int = 5) -> list[float]:
        """Round numbers on the scale, `most` and one more at most."""
        step = 10.0 ** math.floor(math.log10((self.high - self.low) / max(most, 1)))
        for times in (1, 2, 5, 10):
            if (self.high - self.low) / (step * times) <= most:
                step *= times
                break
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [round(place * step, 12) for place in range(first, last + 1)]


def tick_text(value: float) -> str:
    """A number on an axis."""
    return f"{value:,.6g}" if abs(value) < 1e6 else f"{value:.3g}"


def shortened(text: str, size: int = LONGEST_NAME) -> str:
    """`text` in at most `size` characters, its middle left out."""
    return middle_out(visible(one_line(text)), size)


def scales_of(rows: Sequence[Interval], start: float, end: float) -> dict[str, Scale]:
    """One scale for all rows that share an axis, with everything on it that they show."""
    seen: dict[str, list[float]] = {}
    for row in rows:
        own = seen.setdefault(row.axis, [])
        own += [end for end in (row.value, row.low, row.high, row.reference, *(row.band or ())) if end is not None]
    found = {}
    for axis, values in seen.items():
        low, high = min(values, default=0.0), max(values, default=1.0)
        pad = 0.0 if axis == "rate" else (high - low) * 0.06
        bounds = (0.0, 1.0) if axis == "rate" else (low - pad, high + pad)
        if any(row.shape == "bar" for row in rows if row.axis == axis):
            bounds = (0.0, high)
        found[axis] = Scale(*bounds, start, end)
    return found


def interval_plot(plot: Plot, width: float = 640, *, axis: str = "", most: int = MOST_ROWS) -> str:
    """One row an interval: its name, its line and mark, the printed numbers. Below 480 wide the texts stand above.

    Mark and line need no colour to be read: a diamond is better, a triangle worse, a square neither.

    Parameters
    ----------
    axis : str
        What the first row's numbers are, written under an axis for them; no axis is drawn without.
    most : int
        Rows that are drawn.
    """
    rows = plot.rows[:most]
    if axis and rows:  # the rows that the drawn axis is for stand over it, the others under it
        rows = (*(row for row in rows if row.axis == rows[0].axis), *(row for row in rows if row.axis != rows[0].axis))
    n_over = sum(row.axis == rows[0].axis for row in rows) if axis else 0
    wide = width >= 480
    names = [shortened(row.name, LONGEST_NAME if wide else 40) for row in rows]
    texts = [visible(row.text) for row in rows]
    left = (max(map(len, names), default=0) * LETTER_WIDTH + 12) if wide else 8
    right = (max(map(len, texts), default=0) * LETTER_WIDTH + 12) if wide else 8
    step = 24 if wide else 40
    ruler = 42 if n_over else 0
    drawing = Drawing(width, len(rows) * step + 8 + ruler)
    scales = scales_of(rows, left, max(width - right, left + 60))
    if n_over:
        _ruler(drawing, scales[rows[0].axis], n_over * step + 6, axis)
    for place, (row, name, text) in enumerate(zip(rows, names, texts, strict=True)):
        y = place * step + (16 if wide else 28) + (ruler if place >= n_over else 0)
        _row(drawing, row, scales[row.axis], y)
        drawing.label(4, y + 4 if wide else y - 14, name, bold=row.main)
        drawing.label(width - 4, y + 4 if wide else y - 14, text, "end")
    told = "; ".join(f"{visible(row.name)} {visible(row.text)}" for row in rows)
    return drawing.text(f"{plot.title}: {told}")


def _row(drawing: Drawing, row: Interval, at: Scale, y: float) -> None:
    """Band, reference, line and mark of one row."""
    tone = _tone(row.shape)
    if row.band is not None:
        drawing.band(at(row.band[0]), y - 10, at(row.band[1]) - at(row.band[0]), 20)
    if row.reference is not None:
        drawing.line([(at(row.reference), y - 10), (at(row.reference), y + 10)], INK, 1, "3 2")
    if row.shape == "bar" and row.value is not None:
        drawing.bar(at(0.0), y - 7, at(row.value) - at(0.0), 14)
        return
    if row.low is not None and row.high is not None:
        drawing.line([(at(row.low), y), (at(row.high), y)], tone, 2.5)
    if row.value is not None:
        drawing.point(at(row.value), y, row.shape, tone)


def _ruler(drawing: Drawing, at: Scale, y: float, title: str) -> None:
    """An axis under the rows."""
    drawing.faint([(at.start, y), (at.end, y)])
    for tick in at.ticks(max(2, min(6, int((at.end - at.start) / 60)))):
        drawing.faint([(at(tick), 2), (at(tick), y + 4)])
        drawing.label(at(tick), y + 16, tick_text(tick), "middle", quiet=True)
    drawing.label((at.start + at.end) / 2, y + 31, title, "middle", quiet=True)


def _tone(shape: str) -> str:
    return {"diamond": BLUE, "triangle": ORANGE, "bar": BLUE}.get(shape, INK)
