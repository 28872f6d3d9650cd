"""Blocks as HTML for a notebook: no script, no style sheet, no id; every text escaped."""

from __future__ import annotations

from collections.abc import Sequence

from whileai.result.blocks import Block, Headline, Line, Note, Plot, Table
from whileai.result.svg import interval_plot, safe
from whileai.result.text import MOST_NOTES

SIDES = {"l": "left", "c": "center", "r": "right"}
MONO = "font-family:var(--jp-code-font-family,monospace)"
QUIET = "color:var(--jp-ui-font-color2,inherit)"


def render(blocks: Sequence[Block], plot: Plot | None = None) -> str:
    """The same digits as the text, with the figure under the headline."""
    parts: list[str] = []
    notes = [block for block in blocks if isinstance(block, Note)]
    for block in blocks:
        if isinstance(block, Headline):
            parts.append(f"<p><strong>{safe(block.text)}</strong></p>")
            parts += [plot_html(plot)] if plot is not None and plot.rows and len(parts) == 1 else []
        elif isinstance(block, Line):
            parts.append(f"<p>{safe(block.text)}</p>")
        elif isinstance(block, Table):
            parts.append(table_html(block))
    if notes:
        items = "".join(f"<li>{safe(str(note))}</li>" for note in notes[:MOST_NOTES])
        if len(notes) > MOST_NOTES:
            items += f"<li>and {len(notes) - MOST_NOTES} more in .notes</li>"
        parts.append(f'<ul style="{QUIET}">{items}</ul>')
    return f'<div style="{MONO}">{"".join(parts)}</div>'


def plot_html(plot: Plot) -> str:
    """The figure with its caption; a viewer that drops it still has the table."""
    caption = f'<figcaption style="{QUIET}">{safe(plot.caption)}</figcaption>' if plot.caption else ""
    return f'<figure style="margin:0">{interval_plot(plot)}{caption}</figure>'


def table_html(table: Table) -> str:
    """A table with scoped headers."""
    head = ""
    if table.header:
        cells = "".join(_cell("th", text, side) for text, side in zip(table.header, table.align, strict=True))
        head = f"<thead><tr>{cells}</tr></thead>"
    rows = ""
    for row in table.rows:
        cells = "".join(_cell("td", text, side) for text, side in zip(row, table.align, strict=True))
        rows += f"<tr>{cells}</tr>"
    return f"<table>{head}<tbody>{rows}</tbody></table>"


def _cell(tag: str, text: str, side: str) -> str:
    scope = ' scope="col"' if tag == "th" else ""
    return f'<{tag}{scope} style="text-align:{SIDES[side]}">{safe(text)}</{tag}>'
