"""How many digits a number deserves: as many as its interval can support."""

from __future__ import annotations

import math
from collections.abc import Iterable

MOST = 6
#: What stands where a number could not be computed.
ABSENT = "not measured"


def decimals(width: float, floor: int = 2) -> int:
    """Decimals that put the last digit between a tenth and a hundredth of an interval's `width`, at least `floor`."""
    if not width > 0 or not math.isfinite(width):
        return max(floor, 2)
    return min(MOST, max(floor, math.ceil(-math.log10(width)) + 1))


def honest_decimals(places: int, values: Iterable[float], bars: Iterable[float]) -> int:
    """`places`, or as many more as keep every value on its true side of every bar once rounded."""
    values, bars = list(values), list(bars)
    while places < MOST and any(
        (value > bar) != (round(value, places) > round(bar, places))
        or (value < bar) != (round(value, places) < round(bar, places))
        for value in values
        for bar in bars
    ):
        places += 1
    return places


def rate_decimals(width: float, rates: Iterable[float]) -> int:
    """Decimals for rates: none that is not exactly 0 or 1 prints as one."""
    return honest_decimals(decimals(width), rates, (0.0, 1.0))


def number(value: float | None, places: int) -> str:
    """A number with thousands commas; a rate that is exactly 0 or 1 needs no more than two decimals."""
    if value is None:
        return ABSENT
    text = f"{value:,.{places}f}"
    return text.removeprefix("-") if float(text.replace(",", "")) == 0 else text


def rate(value: float | None, places: int) -> str:
    """A rate in [0, 1]; exact 0 and 1 print as ``0.00`` and ``1.00``."""
    return number(value, 2 if value in (0, 1) else places)


def signed(value: float | None, places: int) -> str:
    """A change, with its sign."""
    if value is None:
        return ABSENT
    text = number(value, places)
    return text if text.startswith("-") else f"+{text}"


def interval(ends: tuple[float, float] | None, places: int, sign: bool = False) -> str:
    """``[low..high]``."""
    if ends is None:
        return f"[{ABSENT}]"
    write = signed if sign else number
    return f"[{write(ends[0], places)}..{write(ends[1], places)}]"


def rates(ends: tuple[float, float] | None, places: int) -> str:
    """``[low..high]`` of a rate."""
    return f"[{ABSENT}]" if ends is None else f"[{rate(ends[0], places)}..{rate(ends[1], places)}]"


def rate_within(value: float | None, ends: tuple[float, float] | None) -> str:
    """A rate beside its interval, with as many digits as that supports: ``0.69 [0.25..0.93]``."""
    if value is None or ends is None:
        return ABSENT
    places = rate_decimals(ends[1] - ends[0], (value, *ends))
    return f"{rate(value, places)} {rates(ends, places)}"


def spread(value: float | None) -> str:
    """A standard deviation or a band: two significant digits."""
    if value is None:
        return ABSENT
    if value == 0:
        return "0"
    places = max(0, 1 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{places}f}"
    # 0.0996 rounds up to a longer number: 0.100 has three significant digits
    return text[:-1].rstrip(".") if places > 0 and len(text.replace(".", "").lstrip("-0")) > 2 else text


def given(value: float) -> str:
    """A number that the caller gave: all of its digits, two decimals at least."""
    text = f"{value:.10f}".rstrip("0") if abs(value) >= 1e-6 or value == 0 else f"{value:g}"
    whole, _, part = text.partition(".")
    return text if "e" in text else f"{whole}.{part:0<2}"


def p_value(p: float | None, bar: float = 0.05) -> str:
    """Two significant digits, more where two would cross `bar`; ``<0.0001`` below that."""
    if p is None:
        return ABSENT
    if p < 0.0001:
        return "<0.0001"
    if p >= 0.9995:
        return "1.00"
    start = max(2, 1 - math.floor(math.log10(p)))
    for places in range(start, start + 4):
        text = f"{p:.{places}f}"
        if (p < bar) == (float(text) < bar):
            return text
    return text


def p_text(p: float | None, bar: float = 0.05) -> str:
    """``=0.031``, or ``<0.0001``: what stands after a ``p``."""
    shown = p_value(p, bar)
    return shown if shown.startswith("<") else f"={shown}"


def count(n: int, thing: str = "", plural: str = "") -> str:
    """A count with thousands commas and its noun, ``1 task`` and ``2 tasks``."""
    noun = thing if n == 1 else plural or f"{thing}s"
    return f"{n:,} {noun}" if thing else f"{n:,}"
