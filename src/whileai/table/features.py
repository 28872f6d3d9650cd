"""Rows -> what may move with their rewards: a column per measure, beside the task and the reward of each row."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from whileai.errors import RowError
from whileai.simulations.behaviour import behaviour_of
from whileai.table.from_rows import TableBuilder, as_number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Counts of what did not happen: on rows that tell of tools at all, a tool that was not called was called 0 times.
_ZERO_BY = {"tool:": "tool_calls"}


@dataclass(frozen=True, eq=False)
class Features:
    """Rows as columns.

    Attributes
    ----------
    task : list of str
        The tasks in the order of their names; `codes` points into it.
    codes : ndarray of int, shape (N,)
    reward : ndarray of float, shape (N,)
        NaN where unjudged.
    columns : dict of str to ndarray of float, shape (N,)
        Each measure, NaN where a row does not tell it: behaviour first, then ``marker:<name>``, each by name.
    """

    task: list[str]
    codes: NDArray[np.int64]
    reward: NDArray[np.float64]
    columns: dict[str, NDArray[np.float64]]

    def mixed(self) -> NDArray[np.bool_]:
        """Which rows have a binary reward in a task where some such rows pass and some fail, shape (N,)."""
        import numpy as np

        binary = (self.reward == 0) | (self.reward == 1)
        n = np.bincount(self.codes[binary], minlength=len(self.task))
        passed = np.bincount(self.codes[binary & (self.reward == 1)], minlength=len(self.task))
        both = (passed > 0) & (passed < n)
        mask: NDArray[np.bool_] = binary & both[self.codes] if len(self.codes) else binary
        return mask


def features_of(
    rows: Sequence[Mapping[str, Any]], call: str, own: Mapping[str, Callable[[Any], Any]] | None = None
) -> Features:
    """The features of rows; `own` are further ones, each a function of a row."""
    import numpy as np

    builder = TableBuilder(call, markers=True)
    builder.add_all(rows, "")
    names, codes, reward = builder.columns()
    order = sorted(range(len(names)), key=names.__getitem__)
    rank = np.empty(len(names), dtype=np.int64)
    rank[order] = np.arange(len(names))
    columns = _behaviour(rows)
    columns |= {f"marker:{name}": mark.filled(len(rows)) for name, mark in sorted(builder.marks.items())}
    for name, function in (own or {}).items():
        columns[name] = np.array(
            [_own(call, name, place, function(row)) for place, row in enumerate(rows)], dtype=float
        )
    return Features([names[at] for at in order], rank[codes] if names else codes, reward, columns)


def _behaviour(rows: Sequence[Mapping[str, Any]]) -> dict[str, NDArray[np.float64]]:
    import numpy as np

    columns: dict[str, NDArray[np.float64]] = {}
    for place, row in enumerate(rows):
        for name, value in behaviour_of(row).items():
            column = columns.get(name)
            if column is None:
                column = columns[name] = np.full(len(rows), math.nan)
            column[place] = value
    for name, column in columns.items():
        for prefix, told in _ZERO_BY.items():
            if name.startswith(prefix):
                column[np.isnan(column) & ~np.isnan(columns[told])] = 0.0
    return dict(sorted(columns.items(), key=lambda item: (item[0].startswith("tool:"), item[0])))


def _own(call: str, name: str, place: int, value: Any) -> float:
    if value is None:
        return math.nan
    number = as_number(value)
    if number is None or math.isinf(number):
        raise RowError.of(call, "", place, f"features[{name!r}]", "a finite number, or None", value)
    return number
