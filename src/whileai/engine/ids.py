"""Ids and random draws, each a function of what it is for, never of when, where or in which order it is asked for."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from typing import Any

from whileai import keys
from whileai.simulations._wire import rollout_id_of


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


def rollout_id(task_id: str, rollout_index: int, policy_version: str = "") -> str:
    """``ro_`` and 12 hex digits of the task, the place among its rollouts and the policy."""
    return rollout_id_of(task_id, rollout_index, policy_version)
