"""Choices that depend on a key alone, cheap enough to make for every field of every record."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, TypeVar

T = TypeVar("T")


class Draw:
    """Choices that depend on a key alone: the digits of its SHA-256, read one after another."""

    __slots__ = ("_bits", "_key", "_round")

    def __init__(self, *key: Any) -> None:
        self._key = "\x1f".join(map(str, key))
        self._round = 0
        self._bits = self._hash()

    def _hash(self) -> int:
        return int.from_bytes(hashlib.sha256(f"{self._key}\x1f{self._round}".encode()).digest(), "big")

    def below(self, n: int) -> int:
        """A whole number from 0 to n - 1."""
        if self._bits < n << 64:  # few digits left: the next hash goes on
            self._round += 1
            self._bits = self._hash()
        self._bits, rest = divmod(self._bits, n)
        return rest

    def pick(self, options: Sequence[T]) -> T:
        """One of the options."""
        return options[self.below(len(options))]

    def between(self, low: int, high: int) -> int:
        """A whole number from low to high."""
        return low + self.below(max(0, high - low) + 1)
