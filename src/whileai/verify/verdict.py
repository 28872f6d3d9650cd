"""The judge contract: what a judge may return, and the one reading of it."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

from whileai.errors import shown

Status = Literal["ok", "missing_reward", "invalid_result", "error", "timeout"]
#: An int from here on has no JSON form that every reader takes.
HUGE = 10**4000
KNOWN = ("reward", "reason", "markers", "failure_class")


@dataclass(frozen=True, slots=True)
class Verdict:
    """One verdict on one completion.

    Attributes
    ----------
    reward : int, float or None
        0 and 1 are ints, anything between a float; ``None`` exactly when `status` is not ``"ok"``.
    status : str
        ``ok``, ``missing_reward``, ``invalid_result``, ``error`` or ``timeout``.
    reason : str or None
        Why, in words that never quote the gold.
    markers : dict of str to float
        Measurements the judge made beside its verdict.
    failure_class : str or None
        The judge's own class of failure.
    meta : dict
        Every other key the judge returned.
    """

    reward: int | float | None
    status: Status = "ok"
    reason: str | None = None
    markers: dict[str, float] = field(default_factory=dict)
    failure_class: str | None = None
    meta: dict[str, Any] = field(default_factory=dict)


def passed(ok: bool, reason: str | None = None, **meta: Any) -> Verdict:
    """A binary verdict; a reason is kept for either outcome."""
    return Verdict(1 if ok else 0, reason=reason, meta=meta)


def not_scored(status: Status, reason: str, **meta: Any) -> Verdict:
    """A verdict without a reward."""
    return Verdict(None, status, reason, meta=meta)


def raised(error: BaseException) -> Verdict:
    """The verdict of a judge that raised: status ``error`` with the type and the message."""
    kind = type(error).__name__
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 - a judge's own error may fail to print
        message = "its message cannot be printed"
    text = f"{kind}: {message}" if message else kind
    return not_scored("error", text[:2000], error_type=kind)


def as_reward(value: Any) -> int | float | None:
    """`value` as a reward, ``None`` where it is no real number in [0, 1]."""
    if hasattr(value, "dtype") and getattr(value, "shape", None) == ():
        value = value.item()
    if not isinstance(value, (numbers.Real, Decimal)):
        return None
    try:
        number = float(value)
    except (OverflowError, ValueError):
        return None
    if not 0.0 <= number <= 1.0:
        return None
    return int(number) if number in (0.0, 1.0) else number


def read_verdict(returned: Any) -> Verdict:
    """The verdict in what a judge returned: a `Verdict`, a bool, a number in [0, 1], or a dict with ``reward``.

    Nothing is clamped and nothing invented: a wrong type, a value out of range or NaN is ``invalid_result``, no value
    ``missing_reward``.
    """
    if isinstance(returned, Verdict):
        return returned
    if not isinstance(returned, Mapping):
        if returned is None:
            return not_scored("missing_reward", "the judge returned nothing")
        reward = as_reward(returned)
        return _invalid(returned) if reward is None else Verdict(reward)
    value = returned.get("reward")
    reason = returned.get("reason")
    reason = None if reason is None else str(reason)
    markers, bad_marker = _read_markers(returned.get("markers"))
    failure = returned.get("failure_class")
    meta = {str(key): plain(item) for key, item in returned.items() if key not in KNOWN}
    reward = as_reward(value)
    if value is None:
        return Verdict(None, "missing_reward", reason or "the judge gave no reward", markers, _text(failure), meta)
    if reward is None or bad_marker:
        invalid = _invalid(value) if reward is None else not_scored("invalid_result", bad_marker)
        return Verdict(None, "invalid_result", invalid.reason, markers, _text(failure), meta)
    return Verdict(reward, "ok", reason, markers, _text(failure), meta)


def _invalid(value: Any) -> Verdict:
    return not_scored("invalid_result", f"the judge returned {shown(value)}, not a number in [0, 1]")


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _read_markers(value: Any) -> tuple[dict[str, float], str]:
    """The markers of a verdict as floats, and what is wrong with them in words, empty where nothing is."""
    if value is None:
        return {}, ""
    if not isinstance(value, Mapping):
        return {}, f"markers must be a mapping of names to numbers, not {type(value).__name__}"
    markers: dict[str, float] = {}
    for name, number in value.items():
        read = plain(number)
        if not isinstance(read, (int, float)) or not _finite(read):
            return markers, f"marker {name!r} must be a finite number; got {shown(number)}"
        markers[str(name)] = float(read)
    return markers, ""


def _finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:  # an int larger than any float
        return False


def plain(value: Any) -> Any:
    """`value` as plain data: numpy becomes Python's own, keys become text, and what has no JSON form its text."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value) if abs(value) < HUGE else shown(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    if isinstance(value, numbers.Real):
        return plain(float(value))
    return str(value)
