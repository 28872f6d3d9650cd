"""One reply after the other on the terminal, a key for each; all on stderr, which leaves stdout to the result."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from whileai import keys
from whileai.cli.failures import one_line
from whileai.cli.label_store import Store

KEYS = "p pass   f fail   s skip   u undo   q quit"
_LABELS: dict[str, int | None] = {"p": 1, "f": 0, "s": None}
#: Seconds in which the rest of a key of several signs is there.
_REST = 0.05
#: Columns of text at the most.
_WIDE = 100


def run(store: Store, show: Sequence[str]) -> int:
    """Label until all is done or the annotator quits; how many labels were given."""
    with _pressed() as press:
        place = store.next()
        if place is not None:
            _show(store, place, show)
        while place is not None:
            key = press()
            if key in ("q", ""):
                break
            if key in _LABELS:
                store.put(place, _LABELS[key])
            elif key == "u":
                if not store.undo():
                    _say("nothing to take back in this sitting.")
                    continue
            else:
                _say(f"keys: {KEYS}")
                continue
            place = store.next()
            if place is not None:
                _show(store, place, show)
    return sum(store.done.get(store.keys[place]) is not None for place in set(store.given))


def _show(store: Store, place: int, show: Sequence[str]) -> None:
    row = store.queue[place]
    _say("")
    _say(f"--- {place + 1:,} of {len(store.queue):,}, {store.n_left:,} left ---")
    parts = [("prompt", _prompt(row)), *((path, _text(keys.at_path(row, path))) for path in show)]
    for name, text in [*parts, ("reply", keys.candidate_of(row) or "")]:
        _say(f"{name}:")
        for line in _wrapped(text):
            _say(f"  {line}")
    _say(KEYS)


def _prompt(row: Mapping[str, Any]) -> str:
    prompt = row.get("prompt")
    if isinstance(prompt, str):
        return prompt
    turns = prompt if keys.is_messages(prompt) else row.get("messages")
    if not keys.is_messages(turns):
        return ""
    shown = keys.prompt_turns(turns)
    return "\n".join(f"{turn.get('role', '')}: {keys.text_of(turn.get('content')) or ''}" for turn in shown)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _wrapped(text: str) -> Iterator[str]:
    """Lines that fit, without a control character: a reply must not move the cursor."""
    width = max(20, min(_WIDE, shutil.get_terminal_size((_WIDE, 24)).columns) - 2)
    for line in text.splitlines() or [""]:
        yield from textwrap.wrap(one_line(line.expandtabs(4)), width, drop_whitespace=False) or [""]


def _say(line: str) -> None:
    """One line; a sign that this terminal cannot show is escaped."""
    coding = sys.stderr.encoding or "utf-8"
    sys.stderr.write(f"{line}\n".encode(coding, "backslashreplace").decode(coding))
    sys.stderr.flush()


@contextlib.contextmanager
def _pressed() -> Iterator[Any]:
    """A function that waits for a key and gives its sign in lower case, ``""`` where there are no more.

    On a terminal no Enter is needed, and the keys are not echoed; elsewhere the signs of stdin are read one by one.
    """
    stream = sys.stdin
    if stream is None or not stream.isatty():

        def from_stream() -> str:
            sign = " " if stream is not None else ""
            while stream is not None and sign.isspace():
                sign = stream.read(1)
            return sign.lower()

        yield from_stream
        return
    import termios
    import tty

    number = stream.fileno()
    before = termios.tcgetattr(number)

    def from_terminal() -> str:
        sign = os.read(number, 1)
        if sign == b"\x1b" and select.select([number], [], [], _REST)[0]:
            os.read(number, 64)  # End sends a letter f after it, F1 a p: no label that anyone meant
        return "" if sign in (b"", b"\x04") else sign.decode("latin-1").lower()

    try:
        tty.setcbreak(number)
        yield from_terminal
    finally:
        termios.tcsetattr(number, termios.TCSADRAIN, before)
