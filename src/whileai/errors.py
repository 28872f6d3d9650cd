"""The exceptions of the library.

::

    WaiError
    ├── ParamError     (ValueError)    an argument outside its bound
    ├── RowError       (ValueError)    a row that cannot be read: .index, .key, .value
    ├── ScorerError    (RuntimeError)  a scorer that cannot run at all
    └── MissingExtra   (ImportError)   an optional dependency that is not installed

Every message is one sentence, ``{call}: {where} must be {bound}; got {value!r}.``, and where there is one, the fix.
What is no data at all is a plain `TypeError`, and a path that is not there a plain `FileNotFoundError`.
"""

from __future__ import annotations

from typing import Any


class WaiError(Exception):
    """The base of every error the library raises on purpose."""


class ParamError(WaiError, ValueError):
    """An argument is outside its bound."""

    @classmethod
    def of(cls, call: str, where: str, bound: str, value: Any, fix: str = "") -> ParamError:
        """The library's one sentence about an argument."""
        return cls(sentence(call, where, bound, value, fix))


class RowError(WaiError, ValueError):
    """A row cannot be read.

    Attributes
    ----------
    index : int
        Place of the row in its container, from 0.
    key : str
        The key at fault.
    value : object
        What stands there.
    """

    def __init__(self, message: str, index: int, key: str, value: Any) -> None:
        super().__init__(message)
        self.index = index
        self.key = key
        self.value = value

    @classmethod
    def of(cls, call: str, source: str, index: int, key: str, bound: str, value: Any, fix: str = "") -> RowError:
        """The library's one sentence about a row; `source` is the argument or the file, or empty."""
        place = f"{source} row {index}: {key}".lstrip()
        return cls(sentence(call, place, bound, value, fix), index, key, value)

    def __reduce__(self) -> tuple[Any, ...]:
        """Survive a trip between processes, which plain exceptions with more arguments do not."""
        return type(self), (str(self), self.index, self.key, self.value)


class ScorerError(WaiError, RuntimeError):
    """A scorer cannot run at all, so there is no verdict to give."""


class MissingExtra(WaiError, ImportError):
    """An optional dependency is not installed; the message names the extra."""


def sentence(call: str, where: str, bound: str, value: Any, fix: str = "") -> str:
    """``{call}: {where} must be {bound}; got {value!r}. {fix}`` with a long value shortened."""
    return f"{call}: {where} must be {bound}; got {shown(value)}. {fix}".rstrip()


def shown(value: Any) -> str:
    """`value` as text for a message: its repr, shortened; what has no repr (a huge int has none) by its type."""
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - an error message must not fail on the value it is about
        return f"<{type(value).__name__} without a repr>"
    return text if len(text) <= 200 else f"{text[:160]}... ({len(text):,} characters)"
