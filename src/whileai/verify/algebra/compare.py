"""Whether two answers are equal: as values, lists, tuples, sets, intervals, matrices, equations or inequalities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from whileai.verify.algebra.functions import Evaluator
from whileai.verify.algebra.read import readings
from whileai.verify.algebra.sets import describes_set, equal_sets, real_set
from whileai.verify.algebra.shapes import (
    are_rules,
    cells,
    difference,
    euler,
    fold,
    is_name,
    is_value,
    literal,
    mentions,
    mirrored,
    named_value,
    points,
    rounded,
    spread,
    symbols,
    terminates,
    vector,
    worked_out,
)
from whileai.verify.algebra.tokens import Node
from whileai.verify.algebra.units import quantity, scales
from whileai.verify.algebra.value import NeedsDigits, Undefined, is_real, same

#: A decimal of so many significant digits may stand for an exact value that it rounds to.
APPROXIMATE_DIGITS = 6
#: ... and from so many on, its last digits may be a float's noise.
NOISE_DIGITS = 15
MAX_ITEMS = 60


def equal_answers(gold: str, answer: str, *, percent: str, exact: bool) -> bool | None:
    """Whether two prepared answers are equal, ``None`` where one of them is not readable.

    Parameters
    ----------
    percent : {"strict", "either"}
        Whether ``50%`` also equals ``50``.
    exact : bool
        Whether to stop with `NeedsDigits` where fractions do not settle it.
    """
    comparer = Comparer(exact=exact)
    golds, answers = readings(gold), readings(answer)
    if any(comparer.equal(one, other) for one in golds for other in answers):
        return True
    gold_value, gold_unit = quantity(gold)
    answer_value, answer_unit = quantity(answer)
    if gold_unit is None and answer_unit is not None and answer_unit.kind not in ("?", "any"):
        gold_value, gold_unit = quantity(gold, attached=True)
    if answer_unit is None and gold_unit is not None and gold_unit.kind not in ("?", "any"):
        answer_value, answer_unit = quantity(answer, attached=True)
    if (gold_unit, answer_unit) != (None, None) or (gold_value, answer_value) != (gold, answer):
        golds, answers = readings(gold_value), readings(answer_value)
        pairs = scales(gold_unit, answer_unit, percent=percent)
        for gold_scale, answer_scale in pairs or ():
            scaled = [scale_tree(tree, gold_scale) for tree in golds]
            others = [scale_tree(tree, answer_scale) for tree in answers]
            if any(comparer.equal(one, other) for one in scaled for other in others):
                return True
    return False if golds and answers else None


def readable(text: str) -> bool:
    """Whether a prepared answer is mathematics of this grammar, with or without a unit."""
    return bool(readings(text) or readings(quantity(text)[0]))


def scale_tree(node: Node, scale: Fraction) -> Node:
    """A tree with its value, or the values in it, times a factor."""
    if scale == 1:
        return node
    if node.kind == "num" and node.value is not None:
        return node._replace(value=node.value * scale, step=None if node.step is None else node.step * scale)
    if node.kind in ("list", "bracket", "set"):
        return node._replace(args=tuple(scale_tree(part, scale) for part in node.args))
    if node.kind == "rel":
        return node._replace(args=(*node.args[:-1], scale_tree(node.args[-1], scale)))
    return Node("mul", (Node("num", value=scale), node))


class Comparer:
    """Comparison of two trees.

    Parameters
    ----------
    exact : bool
        Whether values that are no fractions stop it with `NeedsDigits`.
    """

    def __init__(self, *, exact: bool) -> None:
        self.exact = exact
        self.evaluate: Callable[[Node], Any] = Evaluator(exact=exact)

    def equal(self, gold: Node, answer: Node) -> bool:
        """Whether the two are equal, letters of either case taken for the same where that mixes none up."""
        gold, answer = worked_out(spread(gold)), worked_out(spread(answer))
        if gold == answer or self.alike(gold, answer):
            return True
        if symbols(gold) == symbols(answer):
            return False
        one, other = fold(euler(gold, answer)), fold(euler(answer, gold))
        if one is None or other is None or (one, other) == (gold, answer):
            return False
        return symbols(one) == symbols(other) and self.alike(one, other)

    def alike(self, gold: Node, answer: Node) -> bool:
        """`equal` for letters as they are."""
        for kind in (
            self._approximations,
            self._congruences,
            self._sets,
            self._relations,
            self._collections,
            self._matrices,
        ):
            settled = kind(gold, answer)
            if settled is not None:
                return settled
        return self.scalar(gold, answer)

    # -- shapes; each says None where it is not its business

    def _approximations(self, gold: Node, answer: Node) -> bool | None:
        """A chain such as ``x = 1/3 ≈ 0.333`` gives the answer twice."""
        ways = [list(rounded(node)) for node in (gold, answer)]
        if len(ways[0]) == len(ways[1]) == 1:
            return None
        if not all(self._near_each_other(way) for way in ways):
            return False
        return any(self.alike(one, other) for one in ways[0] for other in ways[1])

    def _near_each_other(self, parts: list[Node]) -> bool:
        """Whether the numbers among the parts of a chain are within a tenth of each other: ``5 ≈ 6`` is two answers."""
        found = [_roughly(self._at(part, {})) for part in parts if not symbols(part)]
        values = [value for value in found if value is not None]
        return all(abs(value - values[0]) * 10 <= abs(values[0]) for value in values)

    def _congruences(self, gold: Node, answer: Node) -> bool | None:
        """``x = 3 mod 5`` and ``x = 8 mod 5``; its value alone is a naming."""
        kinds = {gold.kind, answer.kind}
        if "mod" not in kinds:
            return None
        if kinds != {"mod"}:
            return all(self.alike(*pair) for pair in [[n.args[1] if n.kind == "mod" else n for n in (gold, answer)]])
        gap = Node("div", (Node("add", (gold.args[1], Node("neg", (answer.args[1],)))), gold.args[2]))
        multiple = self._at(gap, {}) if not symbols(gap) else None
        whole = isinstance(multiple, Fraction) and multiple.denominator == 1
        return self.alike(gold.args[0], answer.args[0]) and self.alike(gold.args[2], answer.args[2]) and whole

    def _sets(self, gold: Node, answer: Node) -> bool | None:
        if not (describes_set(gold) or describes_set(answer)):
            return None
        left, right = real_set(gold, self.evaluate), real_set(answer, self.evaluate)
        if left is None or right is None:
            return None
        named = {name for name in (left.name, right.name) if name}
        return len(named) < 2 and equal_sets(left.pieces, right.pieces)

    def _relations(self, gold: Node, answer: Node) -> bool | None:
        if gold.kind != "rel" and answer.kind != "rel":
            return None
        if gold.kind == "rel" and answer.kind == "rel":
            return self._both_related(gold, answer)
        relation, other = (gold, answer) if gold.kind == "rel" else (answer, gold)
        value = named_value(relation, is_gold=relation is gold)
        if value is None or other.kind == "ratio":
            return False
        return self.alike(value, other) if relation is gold else self.alike(other, value)

    def _both_related(self, gold: Node, answer: Node) -> bool:
        signs = set(gold.text.split()), set(answer.text.split())
        if signs == ({"="}, {"="}):
            return self.equations(gold, answer)
        if "in" in signs[0] | signs[1] or len(gold.args) != len(answer.args):
            inner = [named_value(node, is_gold=True) for node in (gold, answer)]
            if inner[0] is None or inner[1] is None or gold.args[0] != answer.args[0]:
                return False
            return self.alike(inner[0], inner[1])
        if len(gold.args) == 2:
            return self.inequality(gold, answer)
        return any(
            gold.text.split() == turned.text.split()
            and all(self.alike(one, other) for one, other in zip(gold.args, turned.args, strict=True))
            for turned in (answer, mirrored(answer))
        )

    def _collections(self, gold: Node, answer: Node) -> bool | None:
        kinds = {gold.kind, answer.kind}
        if not kinds & {"list", "bracket", "set", "ratio"} or kinds & {"matrix"}:
            return None
        if kinds == {"bracket"} and gold.text != answer.text:
            return False
        if kinds <= {"list", "set"}:
            return self._unordered(gold.args, answer.args, distinct=kinds == {"set"})
        if kinds in ({"bracket"}, {"list", "bracket"}, {"ratio"}):
            return self._ordered(gold.args, answer.args)
        return False

    def _matrices(self, gold: Node, answer: Node) -> bool | None:
        kinds = {gold.kind, answer.kind}
        if "matrix" not in kinds:
            return None
        if kinds == {"matrix"}:
            shapes = [(len(node.args), len(node.args[0].args)) for node in (gold, answer)]
            return shapes[0] == shapes[1] and self._ordered(cells(gold), cells(answer))
        one, other = vector(gold), vector(answer)
        return one is not None and other is not None and self._ordered(one, other)

    def _ordered(self, gold: Sequence[Node], answer: Sequence[Node]) -> bool:
        return len(gold) == len(answer) and all(self.alike(one, other) for one, other in zip(gold, answer, strict=True))

    def _unordered(self, gold: Sequence[Node], answer: Sequence[Node], *, distinct: bool) -> bool:
        if max(len(gold), len(answer)) > MAX_ITEMS:
            return self._ordered(gold, answer)
        if distinct:
            gold, answer = self._different(gold), self._different(answer)
        if len(gold) != len(answer):
            return False
        left = list(answer)
        for one in gold:
            match = next((place for place, other in enumerate(left) if self.alike(one, other)), None)
            if match is None:
                return False
            del left[match]
        return True

    def _different(self, parts: Sequence[Node]) -> list[Node]:
        kept: list[Node] = []
        for part in parts:
            if not any(self.alike(part, other) for other in kept):
                kept.append(part)
        return kept

    # -- relations

    def equations(self, gold: Node, answer: Node) -> bool:
        """Two equations, equal where their sides differ by a constant factor or they hold at the same points."""
        left, right = (Node("rel", (node.args[0], node.args[-1]), "=") for node in (gold, answer))
        names = [one.args[0] if is_name(one.args[0]) else None for one in (left, right)]
        values = left.args[1], right.args[1]
        if any(not is_value(side) for side in (*left.args, *right.args)):
            return left.args[0] == right.args[0] and self.alike(*values)
        if not symbols(left) and not symbols(right) and None in names:
            return self.alike(*values) and self.alike(left.args[0], right.args[0])
        if names[0] is not None and names[0] == names[1]:
            return self.alike(*values)
        if None not in names and symbols(values[0]) and are_rules(names) and self.alike(*values):
            return True
        first, second = difference(left), difference(right)
        if self._proportional(first, second, positive=False):
            return True
        if not symbols(first) or symbols(first) != symbols(second):
            return False
        if self.exact:
            raise NeedsDigits
        from whileai.verify.algebra.curves import same_zeros

        return same_zeros(first, second)

    def inequality(self, gold: Node, answer: Node) -> bool:
        """Two inequalities of one relation each, equal where their sides differ by a factor of the right sign."""
        turned = []
        for node in (gold, answer):
            sign = node.text
            first = difference(node)
            if sign in (">", ">="):
                sign, first = "<" + sign[1:], Node("neg", (first,))
            turned.append((sign, first))
        (sign, first), (other_sign, second) = turned
        return sign == other_sign and self._proportional(first, second, positive=sign != "!=")

    def _proportional(self, first: Node, second: Node, *, positive: bool) -> bool:
        """Whether two expressions differ by a constant factor that is not zero."""
        names = tuple(sorted(symbols(first) | symbols(second)))
        ratio: Any = None
        compared = 0
        for point in points(names):
            values = self._at(first, point), self._at(second, point)
            if values[0] is None or values[1] is None or not is_real(values[0]) or not is_real(values[1]):
                continue
            if values[0] == 0 or values[1] == 0:
                if values[0] != values[1]:
                    return False
                continue
            quotient = self._quotient(*values)
            if ratio is None:
                ratio = quotient
            if not same(ratio, quotient) or (positive and ratio < 0):
                return False
            compared += 1
        return compared >= (3 if names else 1)

    def _quotient(self, top: Any, bottom: Any) -> Any:
        if isinstance(top, Fraction) and isinstance(bottom, Fraction):
            return top / bottom
        evaluator = Evaluator(exact=self.exact)
        return evaluator.wide(top) / evaluator.wide(bottom)

    def _at(self, node: Node, point: dict[str, Fraction], *, common_log: bool = False) -> Any:
        """The value at a point, ``None`` where there is none."""
        return _valued(Evaluator(point, exact=self.exact, common_log=common_log), node)

    # -- values

    def scalar(self, gold: Node, answer: Node) -> bool:
        """Two values, with a logarithm without base read as the natural one, then as that of base ten."""
        if not (is_value(gold) and is_value(answer)):
            return False
        logs = [False, True] if mentions(gold, "call", "log") or mentions(answer, "call", "log") else [False]
        return any(self._scalar(gold, answer, common_log=common) for common in logs)

    def _scalar(self, gold: Node, answer: Node, *, common_log: bool) -> bool:
        names = tuple(sorted(symbols(gold) | symbols(answer)))
        if names:
            return self._identity(gold, answer, names, common_log=common_log)
        left, right = self._at(gold, {}, common_log=common_log), self._at(answer, {}, common_log=common_log)
        if left is None or right is None:
            return gold == answer
        return same(left, right) or self._rounds_to(gold, left, answer, right)

    def _rounds_to(self, gold: Node, left: Any, answer: Node, right: Any) -> bool:
        """Whether one is a long decimal that the other rounds to, or both are one but for a float's last digits."""
        decimals = [literal for literal in (literal(gold), literal(answer)) if literal is not None]
        if not decimals or isinstance(left, float) or isinstance(right, float):
            return False
        if not is_real(left) or not is_real(right):
            return False
        if terminates(left) and terminates(right):
            return max(node.digits for node in decimals) >= NOISE_DIGITS and abs(left - right) <= abs(left) / 10**9
        digits, step = max((node.digits, node.step or Fraction(0)) for node in decimals)
        if digits < APPROXIMATE_DIGITS:
            return False
        evaluator = Evaluator(exact=self.exact)
        if isinstance(left, Fraction) and isinstance(right, Fraction):
            gap, size = abs(left - right), abs(left)
        else:
            gap, size = abs(evaluator.wide(left) - evaluator.wide(right)), abs(evaluator.wide(left))
            step = evaluator.wide(step)
        return bool(gap < step and gap * 999_999 <= size)

    def _identity(self, gold: Node, answer: Node, names: tuple[str, ...], *, common_log: bool) -> bool:
        """Whether two expressions agree wherever both are real; of complex ones, wherever defined."""
        imaginary = mentions(gold, "const", "i") or mentions(answer, "const", "i")
        for whole in (False, True):
            compared = agreed = 0
            for point in points(names, whole=whole):
                sides = [Evaluator(point, exact=self.exact, common_log=common_log) for _ in range(2)]
                left, right = _valued(sides[0], gold), _valued(sides[1], answer)
                if left is None or right is None:
                    continue
                if imaginary or not (sides[0].left_reals or sides[1].left_reals):
                    if not same(left, right):
                        return False
                    compared += 1
                elif sides[0].left_reals == sides[1].left_reals:
                    agreed += same(left, right)
            if compared >= 2:
                return True
        return compared > 0 or agreed >= 2


def _roughly(value: Any) -> complex | None:
    """A number to fifteen digits, ``None`` where it is none or too large."""
    try:
        return None if value is None else complex(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _valued(evaluator: Evaluator, node: Node) -> Any:
    """The value of a tree, ``None`` where it has none."""
    try:
        return evaluator(node)
    except (Undefined, OverflowError):
        return None
