"""What trees mention, and the points their identities are tried at."""

from __future__ import annotations

import random
from fractions import Fraction
from functools import lru_cache

from whileai.verify.algebra.tokens import Node


@lru_cache(maxsize=4096)
def symbols(node: Node) -> frozenset[str]:
    """The names of the free symbols of a tree."""
    if node.kind == "sym":
        return frozenset((node.text,))
    return frozenset().union(*map(symbols, node.args)) if node.args else frozenset()


@lru_cache(maxsize=4096)
def mentions(node: Node, kind: str, text: str = "") -> bool:
    """Whether a tree has a part of a kind, and of a text where one is given."""
    if node.kind == kind and text in ("", node.text):
        return True
    return any(mentions(part, kind, text) for part in node.args)


@lru_cache(maxsize=256)
def points(names: tuple[str, ...], *, whole: bool = False) -> tuple[dict[str, Fraction], ...]:
    """Fixed points to try an identity at: positive, small, of mixed signs, large; or whole numbers."""
    drawn: list[dict[str, Fraction]] = []
    for place in range(4 if whole else 12):
        source = random.Random(f"point {place} {whole}")  # noqa: S311 - the same points in every run, no secret
        point = {}
        for name in names:
            low, high = ((2, 9), (300, 3000), (40, 900), (10_000, 40_000))[
                0 if whole else (1, 1, 1, 2, 1, 3)[place % 6]
            ]
            size = Fraction(source.randrange(low, high), 1 if whole else 997)
            negative = not whole and place in (1, 4, 7, 9) and source.random() < (0.6 if place != 4 else 1.1)
            point[name] = -size if negative else size
        drawn.append(point)
    return tuple(drawn)
