"""What the comparison asks of trees: their names, their signs spread, their values, their matrices worked out.

And the points that identities are tried at.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache, reduce
from typing import Any

from whileai.verify.algebra.prose import words
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


def spread(node: Node) -> Node:
    """A tree without plus-minus signs: one that has them is the list of its two values."""
    if node.kind == "list":
        parts: list[Node] = []
        for part in map(spread, node.args):
            parts.extend(part.args if part.kind == "list" and part.text == node.text else [part])
        return node._replace(args=tuple(parts))
    if not (mentions(node, "pm") or mentions(node, "mp")):
        return node
    if node.kind == "set":
        inner = spread(Node("list", node.args, "or"))
        return Node("set", inner.args)
    return Node("list", (_signed(node, upper=True), _signed(node, upper=False)), "or")


def _signed(node: Node, *, upper: bool) -> Node:
    """A tree with every plus-minus sign read as its upper, or its lower, sign."""
    args = tuple(_signed(part, upper=upper) for part in node.args)
    if node.kind in ("pm", "mp"):
        left, right = args
        return Node("add", (left, right if (node.kind == "pm") == upper else Node("neg", (right,))))
    return node._replace(args=args)


def euler(node: Node, other: Node) -> Node:
    """A tree with its letter E as Euler's number, which SymPy prints so, where only `other` has that number."""
    if mentions(node, "sym", "E") and not mentions(node, "const", "e") and mentions(other, "const", "e"):
        return _with_euler(node)
    return node


def _with_euler(node: Node) -> Node:
    if node.kind == "sym" and node.text == "E":
        return Node("const", text="e")
    return node._replace(args=tuple(map(_with_euler, node.args))) if node.args else node


def fold(node: Node) -> Node | None:
    """A tree with all its letters small, ``None`` where that would make one of two."""
    names = symbols(node)
    return _folded(node) if len({name.lower() for name in names}) == len(names) else None


def _folded(node: Node) -> Node:
    if node.kind == "sym":
        return node._replace(text=node.text.lower())
    return node._replace(args=tuple(map(_folded, node.args))) if node.args else node


def rounded(node: Node) -> Iterator[Node]:
    """The answers a chain with an "about equal" sign gives: what stands on either side of it."""
    if node.kind != "rel" or "~" not in node.text.split():
        yield node
        return
    signs = node.text.split()
    named = signs[0] != "~" and len(node.args) > 2
    for place in range(1 if named else 0, len(node.args)):
        yield node.args[place]


def named_value(relation: Node, *, is_gold: bool) -> Node | None:
    """The value a relation names: ``5`` of ``x = 5`` and of ``A = 2 + 3 = 5``, ``None`` where it is no naming.

    An equation in one unknown such as ``2x = 10`` names nothing; ``a + b = 7`` in an answer names a value.
    """
    signs = relation.text.split()
    head, value = relation.args[0], relation.args[-1]
    if signs == ["in"]:
        return value if is_name(head) else None
    if set(signs) != {"="}:
        return None
    if is_name(head) or len(signs) > 1:
        return value
    if is_gold:
        return None
    return value if len(symbols(head)) != 1 or head.kind == "call" or mentions(head, "call") else None


def is_name(node: Node) -> bool:
    """Whether a tree is one letter, or a function of letters or numbers whose rule is not known."""
    if node.kind == "sym":
        return True
    return (
        node.kind == "call" and len(node.text) <= 4 and node.text[0] in "fghFGHP" and node.text not in ("floor", "gcd")
    )


def are_rules(names: Sequence[Node | None]) -> bool:
    """Whether one side names a function and the other a letter, or both functions."""
    return any(name is not None and name.kind == "call" for name in names)


def difference(relation: Node) -> Node:
    """Left side minus right side of a relation."""
    return Node("add", (relation.args[0], Node("neg", (relation.args[1],))))


def mirrored(relation: Node) -> Node:
    """The same relation read from right to left."""
    turned = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
    signs = [turned.get(sign, sign) for sign in reversed(relation.text.split())]
    return Node("rel", tuple(reversed(relation.args)), " ".join(signs))


NO_VALUES = words("list bracket set mod matrix row rel ratio union inter minus universe empty builder args")


def is_value(node: Node) -> bool:
    """Whether a node stands for one value rather than a set, a relation or a list."""
    return node.kind not in NO_VALUES and all(
        is_value(part) or (node.kind == "call" and node.text == "det") for part in node.args
    )


def cells(matrix: Node) -> list[Node]:
    """The entries of a matrix, row by row."""
    return [cell for row in matrix.args for cell in row.args]


def vector(node: Node) -> list[Node] | None:
    """The entries of a matrix of one row or column, or of a tuple."""
    if node.kind == "matrix":
        return cells(node) if len(node.args) == 1 or len(node.args[0].args) == 1 else None
    return list(node.args) if node.kind == "bracket" and node.text == "()" else None


def literal(node: Node) -> Node | None:
    """The decimal that a tree is, with or without a sign."""
    if node.kind == "neg":
        node = node.args[0]
    return node if node.kind == "num" and node.digits else None


def terminates(value: Any) -> bool:
    """Whether a value is a fraction with an end to its decimals."""
    if not isinstance(value, Fraction):
        return False
    bottom = value.denominator
    for prime in (2, 5):
        while bottom % prime == 0:
            bottom //= prime
    return bottom == 1


def worked_out(node: Node) -> Node:
    """A tree of matrices added, multiplied or scaled as one matrix; any other tree as it is."""
    if node.kind not in ("add", "mul", "neg", "div") or not mentions(node, "matrix"):
        return node
    parts = [worked_out(part) for part in node.args]
    matrices = [part.kind == "matrix" for part in parts]
    if node.kind == "neg" and matrices[0]:
        return _entrywise(parts[0], lambda cell: Node("neg", (cell,)))
    if node.kind == "add" and all(matrices) and len(set(map(_shape, parts))) == 1:
        return reduce(_sum, parts)
    if node.kind == "mul":
        return reduce(_times, parts)
    return (
        _times(parts[0], Node("div", (Node("num", value=Fraction(1)), parts[1]))) if matrices == [True, False] else node
    )


def _times(left: Node, right: Node) -> Node:
    """A product of which one side may be a matrix, or both."""
    if left.kind == right.kind == "matrix":
        return _product(left, right)
    if "matrix" in (left.kind, right.kind):
        factor, matrix = (right, left) if left.kind == "matrix" else (left, right)
        return _entrywise(matrix, lambda cell: Node("mul", (cell, factor)))
    return Node("mul", (left, right))


def _entrywise(matrix: Node, change: Callable[[Node], Node]) -> Node:
    return Node("matrix", tuple(Node("row", tuple(map(change, row.args))) for row in matrix.args))


def _sum(one: Node, other: Node) -> Node:
    rows = zip(one.args, other.args, strict=True)
    return Node(
        "matrix",
        tuple(Node("row", tuple(Node("add", pair) for pair in zip(a.args, b.args, strict=True))) for a, b in rows),
    )


def _shape(matrix: Node) -> tuple[int, int]:
    return len(matrix.args), len(matrix.args[0].args)


def _product(left: Node, right: Node) -> Node:
    """The product of two small matrices that fit, else as it stands."""
    if _shape(left)[1] != _shape(right)[0] or max(*_shape(left), *_shape(right)) > 6:
        return Node("mul", (left, right))
    columns = list(zip(*(row.args for row in right.args), strict=True))
    rows = []
    for row in left.args:
        entries = []
        for column in columns:
            total = Node("num", value=Fraction(0))
            for one, other in zip(row.args, column, strict=True):
                total = Node("add", (total, Node("mul", (one, other))))
            entries.append(total)
        rows.append(Node("row", tuple(entries)))
    return Node("matrix", tuple(rows))
