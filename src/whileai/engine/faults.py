"""What breaks in the world: which tool, how, and what its answer looks like then."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

TIMEOUT = "timeout"
MALFORMED = "malformed"
STALE = "stale"
PERMISSION_DENIED = "permission_denied"

#: The built-in kinds, in the order a plan deals them out.
KINDS = (TIMEOUT, MALFORMED, STALE, PERMISSION_DENIED)
#: The kinds whose call never answers with a payload.
CUT = (TIMEOUT, PERMISSION_DENIED)
#: What a fault plan says instead of a tool's name where the first calls fail, whichever tool they are to.
ANY_TOOL = "*"


@dataclass(frozen=True, slots=True)
class Fault:
    """One planned failure.

    Attributes
    ----------
    tool : str
        The tool it strikes; ``*`` strikes whichever is called.
    mode : str
        One of `KINDS`, or the name of a kind of the caller's own.
    rate : float
        The chance that a call it could strike is struck; a plan's is 1.
    """

    tool: str
    mode: str
    rate: float = 1.0

    def strikes(self, tool: str, call: int, span: int | None) -> bool:
        """Whether it could strike the call number `call` (from 0) among those to the tool it is planned for."""
        return self.tool in (tool, ANY_TOOL) and (span is None or call < span)

    def plan(self) -> dict[str, Any]:
        """Its entry under ``faults`` on the row."""
        return {self.tool: {"mode": self.mode, "rate": self.rate}}


def plan_of(fault: Fault | None) -> dict[str, Any]:
    """``faults`` of a row: empty where nothing is planned."""
    return fault.plan() if fault is not None else {}


def fault_of(plan: Mapping[str, Any]) -> Fault | None:
    """The fault of a row's ``faults``, as a replayed row has it; ``None`` for an empty plan."""
    for tool, entry in plan.items():
        return Fault(str(tool), str(entry["mode"]), float(entry.get("rate", 1.0)))
    return None


def malformed(payload: Any, draws: Random) -> Any:
    """The payload as a broken service sends it: its text cut off midway, or one of its values with another type.

    Only a payload with a value to spoil gets the second; what is too short to cut comes back as an open brace.
    """
    spots = [spot for spot in _leaves(payload, ()) if spot[1:] or spot[0] != "status"]
    if spots and draws.random() < 0.5:
        return _spoiled(payload, spots[draws.randrange(len(spots))])
    text = payload if isinstance(payload, str) else json.dumps(payload, ensure_ascii=False)
    return text[: draws.randrange(len(text) // 3 or 1, max(2, 2 * len(text) // 3))] if len(text) > 2 else "{"


def _leaves(value: Any, path: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    if isinstance(value, Mapping):
        return [spot for key, item in value.items() for spot in _leaves(item, (*path, key))]
    if isinstance(value, list):
        return [spot for place, item in enumerate(value) for spot in _leaves(item, (*path, place))]
    return [path] if path and value is not None else []


def _spoiled(value: Any, path: tuple[Any, ...]) -> Any:
    """A copy of `value` in which the leaf at `path` has another type."""
    if not path:
        return {"value": None, "type": type(value).__name__}
    if isinstance(value, Mapping):
        return {key: _spoiled(item, path[1:]) if key == path[0] else item for key, item in value.items()}
    return [_spoiled(item, path[1:]) if place == path[0] else item for place, item in enumerate(value)]
