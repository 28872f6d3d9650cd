"""Markup that escapes by default: text goes in as text, and only what was built here is markup."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Union

from whileai.result.blocks import Table
from whileai.result.svg import safe

#: Elements without an end.
VOID = frozenset({"meta", "link", "input", "br", "hr"})
#: Elements between which a line break is no text.
LINES = frozenset({"section", "details", "table", "tr", "li", "ul", "figure", "div", "header", "nav", "main", "p"})


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


Child = Union[str, None, "Iterable[Child]"]


def tag(name: str, /, *children: Child, **attributes: str | int | bool | None) -> Markup:
    """One element.

    Parameters
    ----------
    *children : str, Markup, None, or iterables of them
        Text is escaped, markup is not, ``None`` is left out.
    **attributes : str, int, bool or None
        ``class_`` is ``class``, ``aria_label`` is ``aria-label``; ``True`` stands alone, ``None`` and ``False`` do not
        stand.
    """
    told = ""
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        spelt = key.rstrip("_").replace("_", "-")
        told += f" {spelt}" if value is True else f' {spelt}="{safe(str(value))}"'
    end = "" if name in VOID else f"</{name}>"
    return Markup(f"<{name}{told}>{joined(children)}{end}" + ("\n" if name in LINES else ""))


def joined(children: Child) -> Markup:
    """Children one after the other."""
    if children is None:
        return Markup("")
    if isinstance(children, Markup):
        return children
    if isinstance(children, str):
        return Markup(safe(children))
    return Markup("".join(map(joined, children)))


def table(caption: str, block: Table, *, marked: int | None = None) -> Markup:
    """A table in a region that scrolls on its own and can be reached by keyboard; the first cell of a row names it."""
    sides = {"l": None, "c": "mid", "r": "num"}
    classes = [sides[side] for side in block.align]
    head = None
    if block.header:
        cells = [
            tag("th", text, scope="col", class_=side) if text else tag("td")
            for text, side in zip(block.header, classes, strict=True)
        ]
        head = tag("thead", tag("tr", cells))
    rows = [
        tag("tr", _cells(row, classes), class_="main" if place == marked else None)
        for place, row in enumerate(block.rows)
    ]
    body = tag("table", tag("caption", caption), head, tag("tbody", rows))
    return tag("div", body, class_="scroll", role="region", tabindex=0, aria_label=caption)


def _cells(row: Sequence[str], classes: Sequence[str | None]) -> list[Markup]:
    return [
        tag("th", text, scope="row") if place == 0 and text else tag("td", text, class_=side)
        for place, (text, side) in enumerate(zip(row, classes, strict=True))
    ]
