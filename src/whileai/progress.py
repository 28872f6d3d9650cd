"""A progress line on long work: on stderr, only where it is a terminal, only once the work has lasted."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

#: Work shorter than this shows nothing, in seconds.
DELAY = 1.0


def wanted() -> bool:
    """Whether a live line can be shown: stderr is a terminal that can move its cursor, and nobody asked for quiet."""
    if os.environ.get("TERM") == "dumb" or os.environ.get("WHILEAI_QUIET"):
        return False
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # no stderr, a stand-in without isatty, or a closed one
        return False


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
