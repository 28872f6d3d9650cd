"""Checks of arguments: each returns the value, or raises the library's one sentence."""

from __future__ import annotations

import difflib
import math
import numbers
from collections.abc import Iterable
from typing import Any

from whileai.errors import ParamError


def real(
    call: str, where: str, value: Any, bound: str, low: float, high: float, *, ends: str = "[]", fix: str = ""
) -> float:
    """`value` as a float if it is a real number between `low` and `high`.

    Parameters
    ----------
    bound : str
        The bound in words, for the message.
    ends : {"[]", "()", "[)", "(]"}
        Which ends belong to the range.
    """
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        number = _as_float(value)
        above = number >= low if ends[0] == "[" else number > low
        below = number <= high if ends[1] == "]" else number < high
        if math.isfinite(number) and above and below:
            return number
    raise ParamError.of(call, where, bound, value, fix)


def _as_float(value: Any) -> float:
    """A real number as a float, infinity where it is larger than any."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value >= 0 else -math.inf


def whole(call: str, where: str, value: Any, low: int = 1, fix: str = "") -> int:
    """`value` as an int if it is a whole number of at least `low`."""
    if isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) >= low:
        return int(value)
    raise ParamError.of(call, where, f"a whole number of at least {low}", value, fix)


def level(call: str, value: Any) -> float:
    """A confidence level, strictly between 0 and 1."""
    percent = isinstance(value, numbers.Real) and 1 < _as_float(value) < 100
    fix = f"Write {float(value) / 100:g}." if percent else "0.95 is usual."
    return real(call, "level", value, "a number between 0 and 1", 0, 1, ends="()", fix=fix)


def one_of(call: str, where: str, value: Any, known: Iterable[str], what: str = "") -> str:
    """`value` if it is one of the known names, else an error that names the near miss."""
    names = list(known)
    if isinstance(value, str) and value in names:
        return value
    bound = what or "one of " + ", ".join(map(repr, names))
    raise ParamError.of(call, where, bound, value, near_miss(value, names))


def near_miss(value: Any, known: Iterable[str]) -> str:
    """``Did you mean ...?`` where a known name is close, else the known names."""
    names = list(known)
    asked = str(value)[:100].casefold()
    close = [name for name in names if asked in (name.casefold(), name.casefold().partition(":")[2])]
    close = close or difflib.get_close_matches(asked, names, n=1, cutoff=0.6)
    if close:
        return f"Did you mean {close[0]}?"
    shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    return f"Known here: {shown}." if names else ""
