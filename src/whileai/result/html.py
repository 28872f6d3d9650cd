"""Blocks as HTML for a notebook: no script, no style sheet, no id; every text escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from whileai.result.blocks import Block, Headline, Line, Note, Table
from whileai.result.text import MOST_NOTES

SIDES = {"l": "left", "c": "center", "r": "right"}
MONO = "font-family:var(--jp-code-font-family,monospace)"
QUIET = "color:var(--jp-ui-font-color2,inherit)"


def render(blocks: Sequence[Block]) -> str:
    """The same digits as the text."""
    parts: list[str] = []
    notes = [block for block in blocks if isinstance(block, Note)]
    for block in blocks:
        if isinstance(block, Headline):
            parts.append(f"<p><strong>{escape(block.text)}</strong></p>")
        elif isinstance(block, Line):
            parts.append(f"<p>{escape(block.text)}</p>")
        elif isinstance(block, Table):
            parts.append(table_html(block))
    if notes:
        items = "".join(f"<li>{escape(str(note))}</li>" for note in notes[:MOST_NOTES])
        if len(notes) > MOST_NOTES:
            items += f"<li>and {len(notes) - MOST_NOTES} more in .notes</li>"
        parts.append(f'<ul style="{QUIET}">{items}</ul>')
    page = f'<div style="{MONO}">{"".join(parts)}</div>'
    return page.encode("utf-8", "backslashreplace").decode()  # a lone surrogate would not reach the browser


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
    return f'<{tag}{scope} style="text-align:{SIDES[side]}">{escape(text)}</{tag}>'
