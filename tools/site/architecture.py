"""The drawings of the architecture page: the way of a row, and the rooms as import-linter holds them apart."""

from __future__ import annotations

import ast
import re
import textwrap
import tomllib
from pathlib import Path

from figures import STYLE

from whileai.result.svg import BLUE, INK, LETTER_WIDTH, Drawing

WIDTH = 760
#: What stands in the way of a row: above the line who does it, in the box what it is.
WAY = (
    ("readers, scoring", "rows", "plain dicts: a prompt, a completion, its verdict"),
    ("table", "TaskTable", "a task: rows, passes, exact sums"),
    ("stats", "numbers", "arrays in, intervals and tests out"),
    ("measure, selection", "Result", "frozen; one list of blocks"),
    ("result, pages, cli", "what is seen", "text, HTML, SVG, Markdown, JSON: the same digits"),
)


def _boxed(drawing: Drawing, x: float, y: float, width: float, height: float) -> None:
    """A box with a faint face."""
    drawing.band(x, y, width, height, BLUE, 0.12)
    drawing.line([(x, y), (x + width, y), (x + width, y + height), (x, y + height), (x, y)], INK, 1)


def _file(drawing: Drawing, told: str) -> str:
    text = drawing.text(told)
    start = text.index(">") + 1
    return f"{text[:start]}{STYLE}{text[start:]}\n"


def way() -> str:
    """From rows to what is seen, left to right."""
    drawing = Drawing(WIDTH, 132)
    size = (WIDTH - 8 - 4 * 22) / 5
    for place, (who, what, said) in enumerate(WAY):
        x = 4 + place * (size + 22)
        drawing.label(x + size / 2, 16, who, "middle", quiet=True)
        _boxed(drawing, x, 26, size, 96)
        drawing.label(x + size / 2, 46, what, "middle", bold=True)
        for turn, line in enumerate(textwrap.wrap(said, int(size / LETTER_WIDTH) - 1)):
            drawing.label(x + size / 2, 66 + 15 * turn, line, "middle")
        if place:
            drawing.line([(x - 20, 74), (x - 8, 74)], INK, 2)
            drawing.line([(x - 10, 69), (x - 3, 74), (x - 10, 79)], INK, 2)
    return _file(drawing, "The way of a row: " + "; ".join(f"{what} ({who}): {said}" for who, what, said in WAY))


def layers_of(root: Path) -> list[list[str]]:
    """The rooms, a list for each layer, top first, as the linter is told; a room that may be missing is left out."""
    settings = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    rooms = [[name.strip().strip("()") for name in layer.split("|")] for layer in layers]
    return [[name for name in layer if _source(root, name) is not None] for layer in rooms]


def _source(root: Path, room: str) -> Path | None:
    folder = root / "src" / "whileai"
    return next((file for file in (folder / room / "__init__.py", folder / f"{room}.py") if file.is_file()), None)


def said_of(root: Path, room: str) -> str:
    """The first sentence of a room's own docstring."""
    file = _source(root, room)
    assert file is not None
    text = " ".join((ast.get_docstring(ast.parse(file.read_text("utf-8"))) or "").split("\n\n")[0].split())
    return re.split(r"(?<=[.])\s", text)[0].replace("`", "")


def rooms(root: Path) -> str:
    """The layers from top to bottom; imports point down."""
    layers = layers_of(root)
    drawing_rows = []
    y = 8.0
    for layer in layers:
        wide = (WIDTH - 8 - 10 * (len(layer) - 1)) / len(layer)
        texts = [textwrap.wrap(said_of(root, room), int(wide / LETTER_WIDTH) - 2) for room in layer]
        height = 28 + 15 * max(map(len, texts))
        drawing_rows.append((y, height, wide, layer, texts))
        y += height + 10
    drawing = Drawing(WIDTH, y)
    for top, height, wide, layer, texts in drawing_rows:
        for place, (room, lines) in enumerate(zip(layer, texts, strict=True)):
            x = 4 + place * (wide + 10)
            _boxed(drawing, x, top, wide, height)
            drawing.label(x + 8, top + 18, room, bold=True)
            for turn, line in enumerate(lines):
                drawing.label(x + 8, top + 35 + 15 * turn, line)
    return _file(drawing, "Rooms from top to bottom: " + "; ".join(", ".join(layer) for layer in layers))


def drawn(root: Path) -> dict[str, str]:
    """Both drawings by their path under `docs`."""
    return {"figures/way.svg": way(), "figures/rooms.svg": rooms(root)}
