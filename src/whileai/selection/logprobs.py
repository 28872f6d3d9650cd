"""The log-probabilities of a completion under the policy that made it and under a reference."""

from __future__ import annotations

import math
import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whileai import keys, params
from whileai.errors import ParamError
from whileai.readers.containers import listed
from whileai.result import Note
from whileai.simulations.behaviour import finite

#: Why a row has no part in the divergence, in words.
LEFT_OUT = {
    "no_student": "with no log-probabilities of their own",
    "no_reference": "with none under the reference",
    "other_tokens": "with another number of tokens on each side",
    "other_text": "with another text on the reference's side",
}


@dataclass(frozen=True)
class Side:
    """A completion under one policy: its summed log-probability and, where known, its tokens and each of them."""

    total: float
    n_tokens: int | None
    tokens: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Both:
    """A completion under student and reference."""

    log_ratio: float
    n_tokens: int
    tokens: tuple[tuple[float, ...], tuple[float, ...]] | None


def both_sides(
    rows: Sequence[Mapping[str, Any]], ref: Any, call: str
) -> tuple[list[Both | str], dict[str, list[Note]]]:
    """Per row its two sides, or why not (`LEFT_OUT`); and what was passed over in `ref` where it is data."""
    named = _key(rows, ref, call)
    told: dict[str, list[Note]] = {}
    if named is not None:
        found = [_at_key(row, named) for row in rows]
    else:
        others, told["ref"] = listed(ref, call, "ref")
        found = _of_rows(rows, others)
    return [_both(side_of(row), other) for row, other in zip(rows, found, strict=True)], told


def side_of(row: Mapping[str, Any]) -> Side | None:
    """The side of the policy that made a row: from ``token_logprobs``, ``logprob`` and ``n_tokens``, or its steps."""
    tokens = _numbers(row.get("token_logprobs"))
    total, size = finite(row.get("logprob")), _count(row.get("n_tokens"))
    if tokens is not None and (size is None or size == len(tokens)):
        return Side(math.fsum(tokens), len(tokens), tokens)
    if total is not None:
        return Side(total, size)
    steps = row.get("steps")
    if keys.is_messages(steps):
        parts = [(finite(step.get("logprob")), _count(step.get("n_tokens"))) for step in steps]
        known = [(part, n) for part, n in parts if part is not None and n is not None]
        if known:
            return Side(math.fsum(part for part, _ in known), sum(n for _, n in known))
    return None


def _key(rows: Sequence[Mapping[str, Any]], ref: Any, call: str) -> str | None:
    """`ref` where it names a key of the rows; ``None`` where it is data."""
    if not isinstance(ref, str):
        return None
    if not rows or any(keys.has_path(row, ref) for row in rows):
        return ref
    if any(sign in ref for sign in ("/", "\\", ".", "*")) or os.path.exists(ref):  # noqa: PTH110 - may be a glob
        return None
    known = sorted({str(name) for row in rows[:50] for name in row})
    raise ParamError.of(call, "ref", "a key of the rows, or rows", ref, params.near_miss(ref, known))


def _at_key(row: Mapping[str, Any], key: str) -> Side | str:
    """The reference's side under a key: a sum, a list of one number a token, or a block as rows have it."""
    value = keys.at_path(row, key)
    if isinstance(value, Mapping):
        return side_of(value) or "no_reference"
    tokens = _numbers(value)
    if tokens is not None:
        return Side(math.fsum(tokens), len(tokens), tokens)
    total = finite(value)
    return "no_reference" if total is None else Side(total, None)


def _of_rows(rows: Sequence[Mapping[str, Any]], ref: Sequence[Mapping[str, Any]]) -> list[Side | str]:
    """The reference's side of each row, from the row of `ref` with the same task, index and text."""
    others: defaultdict[tuple[Any, Any], list[Mapping[str, Any]]] = defaultdict(list)
    for other in ref:
        others[keys.task_of(other), other.get("rollout_index")].append(other)
    found: list[Side | str] = []
    for row in rows:
        same = others.get((keys.task_of(row), row.get("rollout_index")), [])
        text = keys.candidate_of(row)
        fitting = [other for other in same if keys.candidate_of(other) in (None, text)]
        if len(fitting) > 1:
            fitting = [other for other in fitting if other.get("rollout_id") == row.get("rollout_id")] or fitting
        sides = [side for other in fitting if (side := side_of(other)) is not None]
        found.append(sides[0] if sides else "other_text" if same and not fitting else "no_reference")
    return found


def _both(student: Side | None, reference: Side | str) -> Both | str:
    if student is None:
        return "no_student"
    if isinstance(reference, str):
        return reference
    size = student.n_tokens if student.n_tokens is not None else reference.n_tokens
    if reference.n_tokens not in (None, size) or not size:
        return "other_tokens"
    tokens = None
    if student.tokens is not None and reference.tokens is not None:
        tokens = (student.tokens, reference.tokens)
    return Both(student.total - reference.total, size, tokens)


def _count(value: Any) -> int | None:
    number = finite(value)
    return int(number) if number is not None and number >= 0 and number.is_integer() else None


def _numbers(value: Any) -> tuple[float, ...] | None:
    """A list of finite numbers, ``None`` for anything else."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if not isinstance(value, (list, tuple)) or not value:
        return None
    read = [finite(item) for item in value]
    return None if None in read else tuple(item for item in read if item is not None)
