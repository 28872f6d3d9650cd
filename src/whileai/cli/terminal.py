"""What a terminal can show: its width, colour for the verdict word, a line while work goes on."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator

from whileai.progress import wanted

NARROW, WIDE = 80, 100
#: Bold, and a colour apart for eyes that do not tell red from green; the word itself says it without.
GOOD, BAD, OPEN, PLAIN = "\x1b[1;36m", "\x1b[1;31m", "\x1b[1;33m", "\x1b[0m"
#: Seconds of work before a line shows.
DELAY = 2.0


def width() -> int:
    """Columns of a printed result: the terminal's within 80..100, and 100 where there is none."""
    if not _is_terminal():
        return WIDE
    return min(WIDE, max(NARROW, shutil.get_terminal_size((WIDE, 24)).columns))


def in_colour() -> bool:
    """Whether stdout takes colour; ``NO_COLOR`` wins, then ``TERM=dumb``, then ``FORCE_COLOR``."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return bool(os.environ.get("FORCE_COLOR")) or _is_terminal()


def coloured(text: str, ok: bool | None, verdict: str | None) -> str:
    """`text` with the verdict it begins with in colour."""
    word, colon, rest = text.partition(":")
    if verdict is None or not colon:
        return text
    tone = BAD if ok is False else GOOD if verdict in ("improved", "valid", "passed") else OPEN
    return f"{tone}{word}{PLAIN}{colon}{rest}"


def _is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


@contextlib.contextmanager
def busy(what: str) -> Iterator[None]:
    """A line on stderr with the seconds gone by, on a terminal, once the work has lasted."""
    if not wanted():
        yield
        return
    done = threading.Event()
    ticker = threading.Thread(target=_tick, args=(what, done), daemon=True)
    ticker.start()
    try:
        yield
    finally:
        done.set()
        ticker.join()


def _tick(what: str, done: threading.Event) -> None:
    start = time.monotonic()
    if done.wait(DELAY):
        return
    shown = True
    while shown:
        sys.stderr.write(f"\r{what}  {time.monotonic() - start:.0f} s\x1b[K")
        sys.stderr.flush()
        shown = not done.wait(1.0)
    sys.stderr.write("\r\x1b[K")
    sys.stderr.flush()


def drop_stdout() -> None:
    """Send what is still to be written to stdout nowhere: its reader is gone, and the flush at exit would complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
