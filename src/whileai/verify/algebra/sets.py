"""Sets of real numbers as intervals in order, and the inequalities, unions and brackets that describe them."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cmp_to_key
from typing import Any, NamedTuple

from whileai.verify.algebra.functions import Evaluator
from whileai.verify.algebra.shapes import symbols
from whileai.verify.algebra.tokens import Node
from whileai.verify.algebra.value import Undefined, is_real, same

SHAPES = frozenset({"union", "inter", "minus", "universe", "empty", "builder"})
_INTERVALS = frozenset({"()", "[]", "[)", "(]"})
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "!=": "!="}


class Piece(NamedTuple):
    """An interval with its ends, each in the set or not; a point is one with both ends there."""

    low: Any
    low_in: bool
    high: Any
    high_in: bool


class RealSet(NamedTuple):
    """A set of real numbers, and the name of the variable it was said of, empty where none was named."""

    pieces: tuple[Piece, ...]
    name: str = ""


EVERYTHING = (Piece(-math.inf, False, math.inf, False),)


def describes_set(node: Node) -> bool:
    """Whether a tree is an inequality, or sets combined, rather than one value, list or bracket."""
    if node.kind in SHAPES:
        return True
    if node.kind == "rel":
        return any(sign not in ("=", "~") for sign in node.text.split())
    return node.kind == "list" and node.text != "," and all(map(describes_set, node.args))


def order(left: Any, right: Any) -> int:
    """-1, 0 or 1 as `left` is below, at or above `right`."""
    if same(left, right):
        return 0
    if (
        isinstance(left, Fraction) != isinstance(right, Fraction)
        and not isinstance(left, float)
        and not isinstance(right, float)
    ):
        evaluator = Evaluator(exact=False)
        left, right = evaluator.wide(left), evaluator.wide(right)
    return -1 if left < right else 1


def real_set(node: Node, evaluate: Callable[[Node], Any]) -> RealSet | None:
    """The set of real numbers that a tree describes, ``None`` where it describes none."""
    try:
        return _read(node, evaluate)
    except Undefined:
        return None


def _read(node: Node, evaluate: Callable[[Node], Any]) -> RealSet | None:
    kind = node.kind
    if kind == "universe":
        return RealSet(EVERYTHING) if node.text == "R" else None
    if kind == "empty":
        return RealSet(())
    if kind == "bracket":
        return _interval(node, evaluate)
    if kind == "set":
        values = [_constant(part, evaluate) for part in node.args]
        return RealSet(merge([Piece(value, True, value, True) for value in values]))
    if kind == "rel":
        return _relation(node, evaluate)
    if kind == "builder":
        head, condition = node.args
        found = _read(condition, evaluate)
        if found is None or (head.kind == "sym" and found.name not in ("", head.text)):
            return None
        return RealSet(found.pieces)
    if kind in ("union", "inter", "minus") or (kind == "list" and node.text != ","):
        return _combined(node, evaluate)
    return None


def _combined(node: Node, evaluate: Callable[[Node], Any]) -> RealSet | None:
    parts = [_read(part, evaluate) for part in node.args]
    names = {part.name for part in parts if part is not None and part.name}
    if any(part is None for part in parts) or len(names) > 1:
        return None
    pieces = [part.pieces for part in parts if part is not None]
    total = pieces[0]
    for other in pieces[1:]:
        if node.kind == "union" or node.text == "or":
            total = merge([*total, *other])
        elif node.kind == "minus":
            total = common(total, rest(other))
        else:
            total = common(total, other)
    return RealSet(total, next(iter(names), ""))


def _constant(node: Node, evaluate: Callable[[Node], Any]) -> Any:
    if symbols(node):
        raise Undefined("no constant")
    value = evaluate(node)
    if not is_real(value):
        raise Undefined("not real")
    return value


def _interval(node: Node, evaluate: Callable[[Node], Any]) -> RealSet | None:
    if len(node.args) != 2 or node.text not in _INTERVALS:
        return None
    low, high = (_constant(part, evaluate) for part in node.args)
    side = order(low, high)
    if side > 0 or (side == 0 and node.text != "[]"):
        return None
    low_in = node.text[0] == "[" and not isinstance(low, float)
    return RealSet((Piece(low, low_in, high, node.text[1] == "]" and not isinstance(high, float)),))


def _relation(node: Node, evaluate: Callable[[Node], Any]) -> RealSet | None:
    """A chain of relations between one lone variable and constants."""
    signs = node.text.split()
    names = {part.text for part in node.args if part.kind == "sym"}
    if len(names) != 1:
        return None
    name = names.pop()
    pieces: tuple[Piece, ...] = EVERYTHING
    for sign, left, right in zip(signs, node.args, node.args[1:], strict=False):
        if sign == "in":
            inner = _read(right, evaluate) if left.kind == "sym" else None
            if inner is None:
                return None
            pieces = common(pieces, inner.pieces)
        elif left.kind == "sym" and sign in _MIRRORED:
            pieces = common(pieces, _side(sign, _constant(right, evaluate)))
        elif right.kind == "sym" and sign in _MIRRORED:
            pieces = common(pieces, _side(_MIRRORED[sign], _constant(left, evaluate)))
        else:
            return None
    return RealSet(pieces, name)


def _side(sign: str, value: Any) -> tuple[Piece, ...]:
    """The numbers that stand in this relation to a value."""
    finite = not isinstance(value, float)
    if sign == "=":
        return (Piece(value, True, value, True),)
    if sign == "!=":
        return rest((Piece(value, True, value, True),))
    if sign in ("<", "<="):
        return (Piece(-math.inf, False, value, finite and sign == "<="),)
    return (Piece(value, finite and sign == ">=", math.inf, False),)


def merge(pieces: list[Piece]) -> tuple[Piece, ...]:
    """Pieces in order, those that touch made one."""
    ordered = sorted(pieces, key=cmp_to_key(_by_start))
    merged: list[Piece] = []
    for piece in ordered:
        if merged:
            last = merged[-1]
            side = order(piece.low, last.high)
            if side < 0 or (side == 0 and (piece.low_in or last.high_in)):
                end = order(piece.high, last.high)
                high = piece.high if end > 0 else last.high
                high_in = piece.high_in if end > 0 else last.high_in or (end == 0 and piece.high_in)
                merged[-1] = Piece(last.low, last.low_in, high, high_in)
                continue
        merged.append(piece)
    return tuple(merged)


def _by_start(one: Piece, other: Piece) -> int:
    return order(one.low, other.low) or int(other.low_in) - int(one.low_in)


def rest(pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """All real numbers not in these pieces."""
    gaps: list[Piece] = []
    low: Any = -math.inf
    low_in = False
    for piece in merge(list(pieces)):
        side = order(low, piece.low)
        if side < 0 or (side == 0 and low_in and not piece.low_in):
            gaps.append(Piece(low, low_in, piece.low, not piece.low_in and not isinstance(piece.low, float)))
        low, low_in = piece.high, not piece.high_in and not isinstance(piece.high, float)
    if not isinstance(low, float) or low < 0:
        gaps.append(Piece(low, low_in, math.inf, False))
    return tuple(gaps)


def common(left: tuple[Piece, ...], right: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """The numbers in both."""
    return rest(merge([*rest(left), *rest(right)]))


def equal_sets(left: tuple[Piece, ...], right: tuple[Piece, ...]) -> bool:
    """Whether two sets are the same."""
    left, right = merge(list(left)), merge(list(right))
    return len(left) == len(right) and all(
        a.low_in == b.low_in and a.high_in == b.high_in and same(a.low, b.low) and same(a.high, b.high)
        for a, b in zip(left, right, strict=True)
    )
