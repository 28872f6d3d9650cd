"""What earlier rows say about where an agent fails: weights for the pairs of a plan, and texts not to write again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from whileai import keys
from whileai.engine.axes import NAMES, OK, Axes, Pair
from whileai.engine.catalog import Catalog
from whileai.engine.closeness import Known
from whileai.engine.cover import pairs_of
from whileai.engine.matching import axes_of_text
from whileai.errors import ParamError

_BROKEN = frozenset(("error", "timeout", "permission_denied", "failed", "malformed"))


class Traces:
    """Earlier rows, read for a plan.

    Attributes
    ----------
    marks : dict of Pair to float
        Pair of axis values -> the share of the rows holding it that failed or met a fault; only where above 0.
    """

    def __init__(self, rows: Iterable[Any], catalog: Catalog, axes: Axes) -> None:
        met: Counter[Pair] = Counter()
        failed: Counter[Pair] = Counter()
        self._known = Known()
        for place, row in enumerate(rows):
            if not isinstance(row, Mapping):
                raise ParamError.of("simulate", f"traces[{place}]", "a row", row)
            bad = is_failed(row)
            for pair in pairs_of(axes_of_row(row, catalog, axes)):
                met[pair] += 1
                failed[pair] += bad
            self._known.add(_prompt(row))
        self.marks = {pair: failed[pair] / n for pair, n in met.items() if failed[pair]}

    def is_close(self, prompt: str) -> bool:
        """Whether a prompt is almost that of a trace."""
        return self._known.is_close(prompt)


def _prompt(row: Mapping[str, Any]) -> str:
    prompt = row.get("prompt")
    if isinstance(prompt, str):
        return prompt
    messages = row.get("messages") if not keys.is_messages(prompt) else prompt
    if not keys.is_messages(messages):
        return ""
    first = next((turn for turn in messages if turn.get("role") == "user"), {})
    return keys.text_of(first.get("content")) or ""


def is_failed(row: Mapping[str, Any]) -> bool:
    """Whether a row failed (a reward under a half) or met a fault: in its ledger, or in what a tool answered."""
    reward = row.get("reward")
    if isinstance(reward, (int, float)) and not keys.is_missing(reward) and reward < 0.5:
        return True
    if row.get("ledger"):
        return True
    return any(_is_broken(step.get("result")) for step in _steps(row))


def _is_broken(result: Any) -> bool:
    return isinstance(result, Mapping) and (result.get("status") in _BROKEN or bool(result.get("error")))


def _steps(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    steps = row.get("steps")
    return [step for step in steps if isinstance(step, Mapping)] if isinstance(steps, (list, tuple)) else []


def axes_of_row(row: Mapping[str, Any], catalog: Catalog, axes: Axes) -> dict[str, str]:
    """The axis values of a row: its own where it has them, else by the tools it called, its faults and its words."""
    own = row.get("axes")
    if isinstance(own, Mapping):
        return {name: own[name] for name in NAMES if own.get(name) in axes.values[name]}
    found = axes_of_text(_prompt(row), catalog, axes)
    called = [step["tool"] for step in _steps(row) if step.get("tool") in catalog.uses]
    if called:
        found["tool"] = called[-1]
    found["condition"] = _condition(row, axes)
    return {name: found[name] for name in NAMES if found.get(name) in axes.values[name]}


def _condition(row: Mapping[str, Any], axes: Axes) -> str:
    """The fault a row met, ``ok`` where it met none."""
    ledger = row.get("ledger")
    for event in ledger if isinstance(ledger, (list, tuple)) else ():
        mode = event.get("mode") if isinstance(event, Mapping) else None
        if mode in axes.values["condition"]:
            return str(mode)
    for step in _steps(row):
        result = step.get("result")
        status = result.get("status") if isinstance(result, Mapping) else None
        if isinstance(status, str) and status in axes.values["condition"]:
            return status
    return OK
