"""`Result`: frozen, read as ``r.x`` and ``r["x"]``, printed from one list of blocks."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import numbers
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from whileai.params import near_miss
from whileai.result import html, markdown, text
from whileai.result.blocks import Block, Headline, Note, Plot


class Result:
    """The base of what every call returns; subclasses are frozen dataclasses that write ``_blocks``.

    A number that could not be computed is ``None``, and a note says why. Fields whose name starts with an underscore
    are for printing only and are no part of the data.
    """

    def _blocks(self) -> list[Block]:
        """What to print, in order."""
        raise TypeError(f"{type(self).__name__} must define _blocks()")

    def _plot(self) -> Plot | None:
        """The small figure beside the text, ``None`` where there is nothing to draw."""
        return None

    @property
    def summary(self) -> str:
        """The first printed line, complete alone."""
        return next(block.text for block in self._blocks() if isinstance(block, Headline))

    def keys(self) -> list[str]:
        """The names of the fields."""
        return [field.name for field in dataclasses.fields(self) if not field.name.startswith("_")]  # type: ignore[arg-type]

    def __getitem__(self, name: str) -> Any:
        known = self.keys()
        if name in known or isinstance(getattr(type(self), str(name), None), property):
            return getattr(self, name)
        raise KeyError(f"{type(self).__name__} has no field {name!r}. {near_miss(name, known)}")

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain data."""
        return {name: plain(getattr(self, name)) for name in self.keys()}

    def to_json(self) -> str:
        """The fields as one line of strict JSON."""
        return json.dumps(self.to_dict(), allow_nan=False)

    def to_text(self, width: int = text.WIDTH) -> str:
        """The readable block at most `width` columns wide."""
        return text.render(self._blocks(), width)

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {text.ascii_of(self.summary)}>"

    def _repr_html_(self) -> str:
        return html.render(self._blocks(), self._plot())

    def _repr_markdown_(self) -> str:
        return markdown.render(self._blocks())


Report = TypeVar("Report", bound=Result)


def noted(result: Report, notes: Iterable[Note]) -> Report:
    """A result with further notes after its own; the same where there are none."""
    more = tuple(notes)
    if not more:
        return result
    new = copy.copy(result)
    object.__setattr__(new, "notes", (*getattr(result, "notes", ()), *more))
    return new


class Reported(list[dict[str, Any]], Generic[Report]):
    """Rows as a list that goes into every other call; what was done to them is under ``report``, and is printed."""

    def __init__(self, rows: Iterable[dict[str, Any]], report: Report) -> None:
        super().__init__(rows)
        self.report = report

    def __str__(self) -> str:
        """The report."""
        return str(self.report)

    def _repr_html_(self) -> str:
        return self.report._repr_html_()

    def _repr_markdown_(self) -> str:
        return self.report._repr_markdown_()


def plain(value: Any) -> Any:
    """`value` as what JSON can hold: mappings with text keys, lists, and ``None`` for what is not finite."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Result):
        return value.to_dict()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, numbers.Real):
        return plain(float(value))
    return [plain(item) for item in value]
