"""The items of one JSON list, however large the file: what was given is let go."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Protocol

#: Characters read at a time, twice as many whenever an item does not fit.
CHUNK = 1 << 20
#: How far before the end of what was read an error may lie that only says that an item goes on: a cut-off number,
#: word or escape. A text without its end is blamed on where it begins, wherever that is.
NEAR = 64

_space = re.compile(r"[ \t\n\r]*")
_decode = json.JSONDecoder().raw_decode


class Text(Protocol):
    """A file of text."""

    def read(self, size: int, /) -> str:
        """The next characters, at most `size`; none at the end."""


class JsonList:
    """The items of a file that holds one list, as `json.loads` reads them, one after the other.

    Parameters
    ----------
    text : Text
        Read once.

    Attributes
    ----------
    head : str
        The first characters of the file.
    """

    def __init__(self, text: Text) -> None:
        self._text = text
        self._window = self.head = text.read(CHUNK)
        self._at = self._base = 0
        self._ended = not self.head

    @property
    def is_list(self) -> bool:
        """Whether the file begins like a list."""
        return self.head.lstrip(" \t\n\r").startswith("[")

    def rest(self) -> str:
        """All of a file that is no list."""
        parts = [self._window]
        while part := self._text.read(CHUNK):
            parts.append(part)
        return "".join(parts)

    def __iter__(self) -> Iterator[Any]:
        """The items.

        Raises
        ------
        ValueError
            What stands there is no JSON; the items before it were given.
        """
        self._next()
        self._at += 1
        if self._next() == "]":
            self._at += 1
        else:
            yield self._item()
            while (mark := self._next()) != "]":
                if mark != ",":
                    raise self._error("Expecting ',' delimiter")
                self._at += 1
                self._next()
                yield self._item()
            self._at += 1
        if self._next():
            raise self._error("Extra data")

    def _next(self) -> str:
        """The next character that is no space, empty at the end of the file; the cursor stands on it then."""
        while True:
            found = _space.match(self._window, self._at)
            self._at = found.end() if found else self._at
            if self._at < len(self._window) or not self._load():
                return self._window[self._at : self._at + 1]

    def _item(self) -> Any:
        """The value at the cursor, which stands behind it then."""
        while True:
            try:
                value, end = _decode(self._window, self._at)
            except json.JSONDecodeError as error:
                goes_on = error.msg.startswith("Unterminated") or error.pos > len(self._window) - NEAR
                if not (goes_on and self._load()):
                    self._at = error.pos
                    raise self._error(error.msg) from error
            else:
                if end + 3 < len(self._window) or not self._load():  # of 1e+300 a window may end with 1e+
                    self._at = end
                    return value

    def _load(self) -> bool:
        """Read on and let go of what lies before the cursor, if there is more."""
        part = "" if self._ended else self._text.read(max(CHUNK, len(self._window) - self._at))
        if not part:
            self._ended = True
            return False
        self._window = self._window[self._at :] + part
        self._base += self._at
        self._at = 0
        return True

    def _error(self, message: str) -> ValueError:
        return ValueError(f"{message}: char {self._base + self._at:,}")
