"""A line on stderr while long work goes on: live on a terminal, and of grading elsewhere once a minute."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")

#: Work shorter than this shows nothing, in seconds.
DELAY = 1.0
#: Seconds from line to line where stderr is no terminal.
EVERY = 60.0


def wanted() -> bool:
    """Whether a live line can be shown: stderr is a terminal that can move its cursor, and nobody asked for quiet."""
    return os.environ.get("TERM") != "dumb" and not os.environ.get("WHILEAI_QUIET") and _terminal() is True


def logged() -> bool:
    """Whether a line now and then can be printed: stderr goes to a file or a pipe, and nobody asked for quiet."""
    return not os.environ.get("WHILEAI_QUIET") and _terminal() is False


def _terminal() -> bool | None:
    """Whether stderr is a terminal, ``None`` where nothing can be written to it."""
    try:
        return bool(sys.stderr.isatty())
    except (AttributeError, ValueError):  # no stderr, a stand-in without isatty, or a closed one
        return None


def progress(
    items: Iterable[T], *, total: int | None, what: str, unit: str = "rows", sized: bool = False
) -> Iterator[T]:
    """Pass `items` on, with a live line on stderr while they go by, if one is `wanted`.

    Where they are `sized`, every item is a batch and counts for as many as it holds.
    """
    if not wanted():
        yield from items
        return
    from tqdm import tqdm

    with tqdm(total=total, desc=what, unit=f" {unit}", delay=DELAY, leave=False, dynamic_ncols=True) as line:
        for item in items:
            yield item
            line.update(len(item) if sized else 1)  # type: ignore[arg-type]  # a sized item has a length


def tallied(items: Iterable[T], *, total: int, what: str, kind: Callable[[T], str]) -> Iterator[T]:
    """Pass `items` on, with a line on stderr that counts them by `kind`.

    Live where one is `wanted`; where stderr is no terminal, such a line once a minute. It reads
    ``grade  1,204/5,276 rows  41/s  1 min 39 s left  ok 1,198  error 4  timeout 2``.
    """
    if wanted():
        return _live(items, total, what, kind)
    return _by_the_minute(items, total, what, kind) if logged() else iter(items)


def _live(items: Iterable[T], total: int, what: str, kind: Callable[[T], str]) -> Iterator[T]:
    """The line that tqdm draws again and again."""
    from tqdm import tqdm

    counts: Counter[str] = Counter()

    class Line(tqdm):  # type: ignore[misc]  # tqdm has no types
        @property
        def format_dict(self) -> dict[str, Any]:
            known: dict[str, Any] = super().format_dict
            rate = known["rate"] or known["n"] / max(known["elapsed"], 1e-9)
            return {**known, "whole": _line(what, known["n"], total, rate, counts)}

    settings = {"total": total, "bar_format": "{whole}", "delay": DELAY, "leave": False, "dynamic_ncols": True}
    with Line(**settings) as line:
        for item in items:
            yield item
            counts[kind(item)] += 1
            line.update()


def _by_the_minute(items: Iterable[T], total: int, what: str, kind: Callable[[T], str]) -> Iterator[T]:
    """The line in a log: printed when an item goes by and the last one is a minute old."""
    counts: Counter[str] = Counter()
    start = last = time.monotonic()
    for n, item in enumerate(items, 1):
        yield item
        counts[kind(item)] += 1
        now = time.monotonic()
        if now - last >= EVERY and n < total and logged():
            last = now
            with contextlib.suppress(OSError):  # a log that nobody reads any more must not cost a verdict
                print(_line(what, n, total, n / max(now - start, 1e-9), counts), file=sys.stderr, flush=True)


def _line(what: str, n: int, total: int, rate: float, counts: Counter[str]) -> str:
    """The line in words; what comes first is what a narrow terminal keeps."""
    parts = [what, f"{n:,}/{total:,} rows"]
    if n:
        parts += [_per_second(rate), f"{_duration((total - n) / rate)} left"]
    parts += [
        f"{name} {count:,}" for name, count in sorted(counts.items(), key=lambda pair: (pair[0] != "ok", pair[0]))
    ]
    return "  ".join(parts)


def _per_second(rate: float) -> str:
    """A rate with two significant digits below ten, in whole numbers above."""
    return f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s" if rate >= 1 else f"{rate:.2g}/s"


def _duration(seconds: float) -> str:
    """Seconds in at most two units."""
    whole = round(seconds)
    minutes, hours, days = whole // 60, whole // 3600, whole // 86400
    if days:
        return f"{days} d {hours % 24} h"
    if hours:
        return f"{hours} h {minutes % 60} min"
    return f"{minutes} min {whole % 60} s" if minutes else f"{whole} s"
