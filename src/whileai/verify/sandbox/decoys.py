"""Values that look like an expected value and are not it. Runs inside the sandbox.

An object of the candidate's own type can only be compared where it lives. Its process is then given the expected value
among decoys and says which of them it equals. The place of the expected value among the others is drawn evenly, so
that the options do not tell which one is meant, and an object that equals most of them is not believed.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MANY = 13
_random_bytes = os.urandom
_DIGITS = "0123456789"
_SMALL = "abcdefghijklmnopqrstuvwxyz"
_OTHERS: tuple[Any, ...] = (None, False, "", 0.5, (), 1j, b"")


def among(value: Any, step: float = 1) -> tuple[list[Any], int]:
    """`value` among its decoys, and its place.

    Parameters
    ----------
    value : object
        Plain data. Every number in it, and a character of every text, moves by the same count of steps.
    step : float
        The distance of neighbouring numbers.
    """
    place = below(MANY)
    options: list[Any] = []
    at = 0
    for index in range(MANY):
        one = value if index == place else moved(value, index - place, step)
        if index == place:
            at = len(options)
        elif _same(one, value) or any(_same(one, other) for other in options):
            continue
        options.append(one)
    if len(options) == 1:
        options.append(_unlike(value))
        if below(2):
            options.reverse()
            at = 1 - at
    return options, at


def below(count: int) -> int:
    """A random whole number from 0 to `count` - 1."""
    return int.from_bytes(_random_bytes(6), "big") % count


def too_many(hits: int, decoys: int) -> bool:
    """Whether an object equals more of the decoys than an honest equality (all odd numbers, say) does."""
    return hits > decoys // 2


def moved(value: Any, by: int, step: float = 1) -> Any:
    """`value` with all that can be moved in it moved by `by` steps."""
    kind = type(value)
    if kind is bool:
        return value if by % 2 == 0 else not value
    if kind in (int, float, complex):
        # a step that a large float cannot feel is no step
        scale = max(1, abs(value) * 1e-3) if kind is float and abs(value) < float("inf") else 1
        return value + by * (int(step) if kind is int and step == int(step) else step) * scale
    if kind is str:
        return value[:-1] + _turned(value[-1], by) if value else _turned("a", by)
    if kind is bytes:
        return value[:-1] + bytes([(value[-1] + by) % 256]) if value else bytes([by % 256])
    if kind is dict:
        return {key: moved(item, by, step) for key, item in value.items()} or {by: by}
    if kind in (list, tuple, set, frozenset):
        return kind(moved(item, by, step) for item in value) if value else kind([by])
    return value


def _turned(letter: str, by: int) -> str:
    for ring in (_DIGITS, _SMALL, _SMALL.upper()):
        if letter in ring:
            return ring[(ring.index(letter) + by) % len(ring)]
    return _SMALL[by % 26]


def _same(one: Any, other: Any) -> bool:
    return bool(one == other) or repr(one) == repr(other)


def _unlike(value: Any) -> Any:
    """One value that is not `value`, where nothing in it can be moved."""
    kind = type(value)
    if kind in (list, tuple, set, frozenset):
        return kind([*value, 0]) if 0 not in value else kind([*value, 1])
    return next(other for other in _OTHERS if not _same(other, value))
