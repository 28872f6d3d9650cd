"""Whether two equations hold at the same points, tried numerically where no constant factor joins them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from whileai.verify.algebra.functions import Evaluator
from whileai.verify.algebra.shapes import points, symbols
from whileai.verify.algebra.tokens import Node
from whileai.verify.algebra.value import Undefined

_STARTS = (0.7, -1.3, 2.9 + 0.8j, -0.4 - 1.1j, 0.2 + 2.3j, -3.7 + 0.5j)


def same_zeros(first: Node, second: Node) -> bool:
    """Whether the zeros found of either expression are zeros of the other.

    All variables but one are held at fixed values and the last is solved for from several starts, real and complex; a
    pair with fewer than two such points is not held to be the same.
    """
    names = tuple(sorted(symbols(first) | symbols(second)))
    found = 0
    for one, other in ((first, second), (second, first)):
        here = 0
        for point in points(names)[:3]:
            for free in names[:2]:
                for root in _roots(one, point, free):
                    if not _vanishes(other, point, free, root):
                        return False
                    here += 1
        if here < 2:
            return False
        found += here
    return found >= 4


def _value(node: Node, point: dict[str, Fraction], free: str, value: Any) -> Any:
    evaluator = Evaluator({**point, free: value}, exact=False)
    return evaluator.wide(evaluator(node))


def _roots(node: Node, point: dict[str, Fraction], free: str) -> list[Any]:
    """The zeros in one variable that Newton's secant steps reach."""
    roots: list[Any] = []
    mp = Evaluator(exact=False).digits()
    for start in _STARTS:
        try:
            root = mp.findroot(lambda value: _value(node, point, free, value), mp.mpc(start), tol=1e-30, maxsteps=40)
        except (ValueError, ZeroDivisionError, Undefined, OverflowError):
            continue
        if all(abs(root - other) > 1e-10 for other in roots):
            roots.append(root)
    return roots


def _vanishes(node: Node, point: dict[str, Fraction], free: str, root: Any) -> bool:
    """Whether an expression is zero there, against its size a little aside."""
    try:
        here = abs(_value(node, point, free, root))
        aside = max(abs(_value(node, point, free, root + step)) for step in (0.5, -0.5j))
    except (Undefined, ZeroDivisionError, OverflowError):
        return False
    return bool(here <= aside * 1e-6)
