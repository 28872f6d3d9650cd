"""Ids and random draws, each a function of what it is for, never of when, where or in which order it is asked for."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from whileai import keys

T = TypeVar("T")


def canonical(value: Any) -> str:
    """The one JSON text of a JSON value: keys sorted, no spaces, so that equal values have equal texts.

    Raises
    ------
    TypeError
        If `value` is no JSON value. Tuples count as lists.

    Examples
    --------
    >>> canonical({"b": 1, "a": ("x", None)})
    '{"a":["x",null],"b":1}'
    """
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def number(*key: Any) -> int:
    """A whole number in [0, 2**64) that depends on `key` alone; SHA-256 of its JSON, the first 8 bytes."""
    text = json.dumps(key, sort_keys=True)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def rng(*key: Any) -> random.Random:
    """A generator of its own for one purpose, seeded by `key` alone.

    Examples
    --------
    >>> rng(7, "records").random() == rng(7, "records").random()
    True
    """
    return random.Random(number(*key))  # noqa: S311 - draws of a simulation, no secrets


class Draw:
    """Choices that depend on a key alone: the digits of its SHA-256, read one after another.

    Cheap enough to make for every field of every record, which `rng` is not.
    """

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


def world_seed(run_seed: int, index: int, phrasing: int = 0) -> int:
    """The seed of the world of one situation, in [0, 2**32): it stands on the row as ``seed``."""
    return number("world", run_seed, index, phrasing) >> 32


def agent_seed(run_seed: int, task_id: str, rollout_index: int) -> int:
    """The seed an agent may draw from in one rollout, in [0, 2**32); another run seed gives other draws."""
    return number("agent", run_seed, task_id, rollout_index) >> 32


def task_id(
    axes: Mapping[str, Any],
    prompt: str | Sequence[Mapping[str, Any]],
    faults: Mapping[str, Any],
    world_seed: int,
) -> str:
    """``sc_`` and 12 hex digits of what makes the situation; the agent, its tools and its prompt are not part of it.

    Examples
    --------
    >>> task_id({"tool": "get_order"}, "Where is it?", {}, 7)
    'sc_2e14b5866263'
    """
    asked = prompt if isinstance(prompt, str) else list(prompt)
    return "sc_" + keys.digest(canonical([dict(axes), asked, dict(faults), world_seed]))
