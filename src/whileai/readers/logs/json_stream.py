"""JSON too large to hold: the parts of a document one after the other, and what the beginning of one says."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from typing import Any

#: Bytes read at a time.
CHUNK = 1 << 20
Place = tuple[str, ...]

_space = re.compile(rb"[\s\xef\xbb\xbf]*")  # a byte order mark counts as space
_string = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_scalar = re.compile(rb"[^\s,\]}\x00]+(?=[\s,\]}]|\Z)")
_token = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],"]', re.DOTALL)


class TornJson(ValueError):
    """A document that ends before it is whole."""


def split(file: Any, lists: Collection[Place], keep: Collection[str] = ()) -> Iterator[tuple[Place, bytes]]:
    """The parts of one JSON document, each as ``(place, bytes)``, in the order of the file.

    Parameters
    ----------
    file : binary file
        Read once, a chunk at a time; what is neither in a list asked for nor kept is never held.
    lists : collection of tuple of str
        Where lists stand whose items are wanted one by one, ``()`` for a document that is a list. Only objects and
        lists count as items.
    keep : collection of str
        Members of the document's object that are wanted whole.

    Raises
    ------
    TornJson
        The file ends too early; all whole parts before that were given.
    ValueError
        What stands there is no JSON.
    """
    window = _Window(file)
    yield from _walk(window, (), 0, set(lists), set(keep))


def _walk(
    window: _Window, place: Place, depth: int, lists: set[Place], keep: set[str]
) -> Iterator[tuple[Place, bytes]]:
    """The parts of the value at the cursor, which stands `depth` brackets deep; leaves the cursor behind it."""
    first = window.peek()
    if first == b"[" and place in lists:
        for item in window.items(depth + 1):
            yield place, item
        return
    if first != b"{" or not (place == () or any(path[: len(place)] == place for path in lists)):
        window.value(depth, hold=False)
        return
    window.enter()
    while True:
        first = window.peek()
        if first == b"}":
            window.enter()
            return
        if first == b",":
            window.at += 1
            continue
        key = window.key()
        inside = (*place, key)
        if any(path[: len(inside)] == inside for path in lists):
            yield from _walk(window, inside, depth + 1, lists, keep)
        elif place == () and key in keep:
            yield inside, window.value(depth + 1, hold=True)
        else:
            window.value(depth + 1, hold=False)


class _Window:
    """The part of a file that is being looked at, with its brackets outside strings and how deep each leaves one.

    Attributes
    ----------
    at : int
        The cursor, as a place in the file.
    """

    def __init__(self, file: Any) -> None:
        import numpy as np

        self._file = file
        self._bytes = bytearray()
        self._base = 0
        self.at = 0
        self._places: Any = np.zeros(0, dtype=np.int64)
        self._depths: Any = np.zeros(0, dtype=np.int64)
        self._next = 0  # the first bracket not behind the cursor
        self._marks = np.zeros(256, dtype=np.bool_)
        self._marks[list(b'"{}[]\\')] = True
        self._steps = np.zeros(256, dtype=np.int64)
        self._steps[list(b"{[")] = 1
        self._steps[list(b"}]")] = -1
        self._in_string = 0
        self._depth = 0

    def _load(self, hold: int) -> None:
        """Read a chunk; bytes before `hold` are let go."""
        import numpy as np

        chunk = self._file.read(CHUNK)
        while chunk.endswith(b"\\"):  # an escape may not be cut in two
            more = self._file.read(1)
            if not more:
                break
            chunk += more
        if not chunk:
            raise TornJson("the file ends inside a value")
        del self._bytes[: hold - self._base]
        self._base = hold
        start = self._base + len(self._bytes)
        self._bytes += chunk
        codes = np.frombuffer(chunk, dtype=np.uint8)
        places = np.flatnonzero(self._marks[codes])
        marks = codes[places]
        quotes = (marks == ord('"')) & ~_escaped(places, marks)
        inside = (np.cumsum(quotes) + self._in_string) & 1
        steps = self._steps[marks] * (1 - inside)
        self._in_string = int(inside[-1]) if len(inside) else self._in_string
        brackets = steps != 0
        depths = np.cumsum(steps[brackets]) + self._depth
        self._depth = int(depths[-1]) if len(depths) else self._depth
        self._places = np.concatenate([self._places[self._next :], places[brackets] + start])
        self._depths = np.concatenate([self._depths[self._next :], depths])
        self._next = 0

    def _match(self, pattern: re.Pattern[bytes]) -> re.Match[bytes] | None:
        """A pattern at the cursor, with as much of the file as it takes to settle it."""
        while True:
            found = pattern.match(self._bytes, self.at - self._base)
            if found is not None and found.end() < len(self._bytes):
                return found
            try:
                self._load(self.at)
            except TornJson:
                return found

    def peek(self) -> bytes:
        """The next byte that is no space; the cursor stands on it then."""
        found = self._match(_space)
        self.at = self._base + (found.end() if found else 0)
        byte = bytes(self._bytes[self.at - self._base : self.at - self._base + 1])
        if not byte:
            raise TornJson("the file ends inside a value")
        return byte

    def enter(self) -> None:
        """Step over the bracket at the cursor."""
        self.at += 1
        self._next += 1

    def key(self) -> str:
        """The key at the cursor and the colon after it."""
        found = self._match(_string)
        if found is None:
            if self._bytes[self.at - self._base : self.at - self._base + 1] == b'"':
                raise TornJson("the file ends inside a key")
            raise ValueError(f"no key where one is due, at byte {self.at:,}")
        key = str(json.loads(found[0].decode("utf-8", "replace"), strict=False))
        self.at = self._base + found.end()
        if self.peek() != b":":
            raise ValueError(f"no colon behind the key {key!r}, at byte {self.at:,}")
        self.at += 1
        return key

    def value(self, depth: int, *, hold: bool) -> bytes:
        """The value at the cursor, which stands `depth` brackets deep; empty where it is not to be held."""
        first = self.peek()
        start = self.at
        if first in (b"{", b"["):
            self.enter()
            self.at = self._close(depth, start if hold else None)
        else:
            found = self._match(_string if first == b'"' else _scalar)
            if found is None:
                raise TornJson("the file ends inside a value")
            self.at = self._base + found.end()
        return bytes(self._bytes[start - self._base : self.at - self._base]) if hold else b""

    def _close(self, depth: int, hold: int | None) -> int:
        """Where the bracket that was entered closes, and one is `depth` deep again."""
        import numpy as np

        while True:
            hits = np.flatnonzero(self._depths[self._next :] == depth)
            if len(hits):
                self._next += int(hits[0]) + 1
                return int(self._places[self._next - 1]) + 1
            self._next = len(self._places)
            self._load(self._base + len(self._bytes) if hold is None else hold)

    def items(self, depth: int) -> Iterator[bytes]:
        """The objects and lists in the list at the cursor, inside which one is `depth` deep."""
        import numpy as np

        self.enter()
        begun: list[int] = []
        while True:
            places, depths = self._places[self._next :], self._depths[self._next :]
            over = np.flatnonzero(depths == depth - 1)
            last = int(over[0]) if len(over) else len(places)
            near = places[:last][(depths[:last] == depth) | (depths[:last] == depth + 1)]
            deep = depths[:last][(depths[:last] == depth) | (depths[:last] == depth + 1)]
            rises = np.diff(deep, prepend=depth + 1 if begun else depth)
            starts = begun + near[(deep == depth + 1) & (rises == 1)].tolist()
            ends = near[deep == depth].tolist()
            for start, end in zip(starts, ends, strict=False):
                yield bytes(self._bytes[start - self._base : end + 1 - self._base])
            begun = starts[len(ends) :]
            self._next += last
            if len(over):
                self.at = int(places[last]) + 1
                self._next += 1
                return
            self._load(begun[0] if begun else self._base + len(self._bytes))


def _escaped(places: Any, marks: Any) -> Any:
    """Whether each mark follows an odd number of backslashes."""
    import numpy as np

    slash = marks == ord("\\")
    if not slash.any():
        return slash
    follows = np.zeros(len(places), dtype=np.bool_)
    follows[1:] = slash[:-1] & (np.diff(places) == 1)
    order = np.arange(len(places))
    start = np.maximum.accumulate(np.where(slash & follows, 0, order))  # where the run of backslashes began
    odd = slash & ((order - start) % 2 == 0)
    return follows & np.concatenate([[False], odd[:-1]])


def partial(text: str, *, strict: bool = False) -> Any:
    """What the beginning of a JSON document says: the value with everything that is whole, its brackets closed.

    Parameters
    ----------
    text : str
        The beginning, or all, of a document.
    strict : bool
        Whether a value that is no JSON is an error; else the document counts as cut off before it.

    Raises
    ------
    ValueError
        It does not begin like JSON.

    Examples
    --------
    >>> partial('{"a": 1, "b": [{"c": 2, "d": "x')
    {'a': 1, 'b': [{'c': 2}]}
    """
    stack: list[str] = []
    safe = 0
    for found in _token.finditer(text):
        sign = found[0]
        if sign == '"':
            break  # a text that is cut off; what looks like brackets behind it is part of it
        if sign == ",":
            safe = found.start()
        elif sign in "{[":
            stack.append("}" if sign == "{" else "]")
            safe = found.end()
        elif sign in "}]":
            if not stack or stack.pop() != sign:
                raise ValueError("a bracket closes what was not open")
            safe = found.end()
            if not stack:
                break
    if not safe:
        raise ValueError("no object and no list")
    try:
        return json.loads(text[:safe] + "".join(reversed(stack)))
    except json.JSONDecodeError as error:
        if strict or not 0 < error.pos < safe:
            raise
        return partial(text[: error.pos])
