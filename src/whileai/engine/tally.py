"""How far a run is: the counts, and the line on stderr that tells them."""

from __future__ import annotations

import contextlib
import shutil
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from whileai import progress
from whileai.result.digits import count

#: Seconds from one telling to the next: on a terminal, and in a log that was asked for.
EVERY, EVERY_IN_A_LOG = 0.25, 10.0


@dataclass
class Tally:
    """The counts of a run.

    Attributes
    ----------
    planned, done, usable : int
        Rollouts; those that an earlier run left in the output are done.
    unusable : Counter
        By reason.
    tokens : int
        Of the agent, as far as the servers say.
    cost : float or None
        ``None`` without a price.
    """

    planned: int = 0
    done: int = 0
    usable: int = 0
    unusable: Counter[str] = field(default_factory=Counter)
    tokens: int = 0
    cost: float | None = None
    n_here: int = 0
    begun: float = field(default_factory=time.monotonic)

    def add(self, row: Mapping[str, Any], *, here: bool = True) -> None:
        """Count a row; `here` where this run made it."""
        self.done += 1
        self.n_here += here
        if row.get("usable", True):
            self.usable += 1
        else:
            self.unusable[str(row.get("unusable_reason"))] += 1
        usage = row.get("usage")
        if here and isinstance(usage, Mapping):
            self.tokens += (usage.get("input_tokens") or 0) + (usage.get("output_tokens") or 0)
            if usage.get("cost") is not None:
                self.cost = (self.cost or 0.0) + usage["cost"]

    def seen(self) -> dict[str, Any]:
        """The counts as plain data, for ``on_progress``."""
        return {
            "planned": self.planned,
            "done": self.done,
            "usable": self.usable,
            "unusable": dict(self.unusable),
            "tokens": self.tokens,
            "cost": self.cost,
            "seconds": time.monotonic() - self.begun,
        }

    def line(self) -> str:
        """The counts in words; what comes first is what a narrow terminal keeps."""
        seconds = max(time.monotonic() - self.begun, 1e-9)
        parts = [f"simulate  {self.done:,}/{count(self.planned, 'rollout')}"]
        rate = self.n_here / seconds
        if rate:
            parts.append(f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.2g}/s")
            parts.append(f"{max(0, self.planned - self.done) / rate:,.0f} s left")
        parts += [f"{reason} {n:,}" for reason, n in self.unusable.most_common()]
        if self.tokens:
            parts.append(f"{self.tokens:,} tokens")
        if self.cost is not None:
            parts.append(f"cost {self.cost:,.2f}")
        return "  ".join(parts)


class Meter:
    """Tells a tally: on stderr, and to a function of the caller's; never more often than four times a second.

    Parameters
    ----------
    tally : Tally
    shown : bool or None
        A line on stderr; ``None`` where that is a terminal.
    told : callable or None
        Given the counts.
    """

    def __init__(self, tally: Tally, shown: bool | None, told: Any = None) -> None:
        self.tally = tally
        self.live = progress.wanted() and shown is not False
        self.logs = shown is True and not self.live
        self.told = told
        self._last_told = self._last_shown = time.monotonic()
        self._last_done = -1

    def tick(self, *, last: bool = False) -> None:
        """Tell the counts if it is time."""
        now = time.monotonic()
        if self.live and (now - self._last_shown >= EVERY or last):
            self._last_shown = now
            self._draw("" if last else self.tally.line())
        elif self.logs and (now - self._last_shown >= EVERY_IN_A_LOG or last):
            self._last_shown = now
            self._print(self.tally.line())
        if self.told is not None and (last or (now - self._last_told >= EVERY and self.tally.done != self._last_done)):
            self._last_told, self._last_done = now, self.tally.done
            self.told(self.tally.seen())

    def _draw(self, text: str) -> None:
        width = shutil.get_terminal_size().columns - 1
        with contextlib.suppress(OSError, ValueError):  # a terminal that went away must not cost a rollout
            sys.stderr.write(f"\r\x1b[K{text[:width]}")
            sys.stderr.flush()

    def _print(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            print(text, file=sys.stderr, flush=True)
