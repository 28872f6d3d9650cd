"""Numbers and their arithmetic: exact fractions, else fifty digits; bounded before they are computed."""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache, reduce
from typing import Any

from whileai.verify.algebra.tokens import Node

MAX_BITS = 20_000
MAX_FACTORIAL = 2_500
#: The same where nobody holds a clock: there what is larger is left to those who do.
MAX_BITS_HERE = 2_000
MAX_FACTORIAL_HERE = 300
#: No power, factorial or exponential beyond e to this.
MAX_LOGARITHM = 10**15
DIGITS = 50
#: Two values are one where they agree in this share of themselves; a sum below `ZERO` of its terms is nothing.
CLOSE = 1e-25
ZERO = 1e-38


class Undefined(Exception):
    """The tree has no value here: a division by zero, an unknown function."""


class TooLarge(Undefined):
    """The value is too large to be written down."""


class NeedsDigits(Exception):
    """The value is no fraction, and only fractions were asked for."""


@cache
def _mp() -> Any:
    """The context of fifty digits."""
    context = importlib.import_module("mpmath").mp.clone()
    context.dps = DIGITS
    return context


class Arithmetic:
    """The value of trees at one point.

    Parameters
    ----------
    point : mapping of str to Fraction
        The value of each symbol.
    exact : bool
        Whether to stop with `NeedsDigits` where a value is no fraction.
    common_log : bool
        Whether a logarithm without base has base ten; else it is the natural one.

    Attributes
    ----------
    left_reals : bool
        Whether some part had a value that is not real, though the whole may be.
    """

    def __init__(self, point: Mapping[str, Fraction] | None = None, *, exact: bool, common_log: bool = False) -> None:
        self.point = point or {}
        self.exact = exact
        self.common_log = common_log
        self.left_reals = False
        self.max_bits = MAX_BITS_HERE if exact else MAX_BITS
        self.max_factorial = MAX_FACTORIAL_HERE if exact else MAX_FACTORIAL

    def __call__(self, node: Node) -> Any:
        """The value: a Fraction, an infinity as a float, or a real or complex number of the fifty-digit context."""
        method = getattr(self, f"_{node.kind}", None)
        if method is None:
            raise Undefined(node.kind)
        return method(node)

    def digits(self) -> Any:
        """The context of floating-point numbers, if they are allowed."""
        if self.exact:
            raise NeedsDigits
        return _mp()

    def wide(self, value: Any) -> Any:
        """`value` as a number of the context."""
        mp = self.digits()
        if isinstance(value, Fraction):
            return mp.mpf(value.numerator) / value.denominator
        return mp.mpf(value) if isinstance(value, float) else value

    def kept(self, value: Any) -> Any:
        """`value` without an imaginary part that is rounding; one that is not is remembered."""
        value = tidy(value)
        self.left_reals = self.left_reals or not is_real(value)
        return value

    def small(self, value: Fraction) -> Fraction:
        """`value` if it is not too large to go on with."""
        if max(value.numerator.bit_length(), value.denominator.bit_length()) > 8 * self.max_bits:
            self.digits()
            raise TooLarge
        return value

    # -- leaves

    def _num(self, node: Node) -> Any:
        assert node.value is not None
        return node.value

    def _sym(self, node: Node) -> Any:
        if node.text not in self.point:
            raise Undefined(node.text)
        return self.point[node.text]

    def _const(self, node: Node) -> Any:
        if node.text == "inf":
            return math.inf
        mp = self.digits()
        return {"pi": +mp.pi, "e": +mp.e, "i": mp.mpc(0, 1)}[node.text]

    # -- arithmetic

    def _neg(self, node: Node) -> Any:
        return -self(node.args[0])

    def _add(self, node: Node) -> Any:
        terms: list[Any] = []
        _flatten(node, terms)
        values = [self(part) if sign > 0 else -self(part) for part, sign in terms]
        if any(isinstance(value, float) for value in values):
            return self._infinite_sum(values)
        if all(isinstance(value, Fraction) for value in values):
            return self.small(sum(values, Fraction(0)))
        wide = [self.wide(value) for value in values]
        total = sum(wide[1:], wide[0])
        return Fraction(0) if abs(total) <= ZERO * max(map(abs, wide)) else self.kept(total)

    def _infinite_sum(self, values: Sequence[Any]) -> float:
        infinite = {value for value in values if isinstance(value, float)}
        if len(infinite) > 1:
            raise Undefined("infinity minus infinity")
        return float(infinite.pop())

    def _mul(self, node: Node) -> Any:
        return reduce(self.times, map(self, node.args))

    def times(self, left: Any, right: Any) -> Any:
        """A product."""
        if isinstance(left, Fraction) and isinstance(right, Fraction):
            return self.small(left * right)
        if isinstance(left, float) or isinstance(right, float):
            return _infinite_product(left, right)
        if left == 0 or right == 0:
            return Fraction(0)
        return self.kept(self.wide(left) * self.wide(right))

    def _div(self, node: Node) -> Any:
        top, bottom = self(node.args[0]), self(node.args[1])
        if bottom == 0:
            raise Undefined("division by zero")
        if isinstance(bottom, float):
            if isinstance(top, float):
                raise Undefined("infinity over infinity")
            return Fraction(0)
        if isinstance(top, Fraction) and isinstance(bottom, Fraction):
            return self.small(top / bottom)
        if isinstance(top, float):
            return _infinite_product(top, bottom)
        return self.kept(self.wide(top) / self.wide(bottom))

    def _pow(self, node: Node) -> Any:
        base_node, power_node = node.args
        power = self(power_node)
        if base_node.kind == "const" and base_node.text == "e":
            return self.exponential(power)
        return self.power(self(base_node), power)

    def power(self, base: Any, power: Any) -> Any:
        """A power: exact where it is small, a real root of a negative number where the root is odd in LaTeX only."""
        if isinstance(base, float) or isinstance(power, float):
            raise Undefined("a power of infinity")
        if base == 0:
            if isinstance(power, Fraction) and power > 0:
                return Fraction(0)
            raise Undefined("a power of zero")
        if isinstance(base, Fraction) and isinstance(power, Fraction):
            if power.denominator == 1:
                size = max(base.numerator.bit_length(), base.denominator.bit_length())
                if base in (1, -1) or size * abs(power.numerator) <= self.max_bits:
                    return base ** (power.numerator if base not in (1, -1) else power.numerator % 2)
            elif (root := _exact_root(base, power)) is not None:
                return root
        mp = self.digits()
        wide, exponent = self.wide(base), self.wide(power)
        if abs(exponent) * (abs(mp.log(abs(wide))) + 4) > MAX_LOGARITHM:
            raise TooLarge
        if isinstance(power, Fraction) and power.denominator == 1:
            exponent = power.numerator
        return self.kept(mp.power(wide, exponent))

    def exponential(self, power: Any) -> Any:
        """Euler's number to a power."""
        if isinstance(power, float):
            if power < 0:
                return Fraction(0)
            return power
        if power == 0:
            return Fraction(1)
        mp = self.digits()
        if abs(self.wide(power)) > MAX_LOGARITHM:
            raise TooLarge
        return self.kept(mp.exp(self.wide(power)))


def _flatten(node: Node, into: list[Any], sign: int = 1) -> None:
    """The terms of nested sums with their signs."""
    if node.kind == "add":
        for part in node.args:
            _flatten(part, into, sign)
    elif node.kind == "neg" and node.args[0].kind in ("add", "neg"):
        _flatten(node.args[0], into, -sign)
    else:
        into.append((node, sign))


def _infinite_product(left: Any, right: Any) -> float:
    if left == 0 or right == 0 or not is_real(left) or not is_real(right):
        raise Undefined("infinity times that")
    return math.inf if (left > 0) == (right > 0) else -math.inf


def _exact_root(base: Fraction, power: Fraction) -> Fraction | None:
    """A fraction to a fractional power where that is a fraction again."""
    order = power.denominator
    if base < 0 or order > 64 or abs(power.numerator) > 64:
        return None
    top, bottom = _whole_root(base.numerator, order), _whole_root(base.denominator, order)
    if top is None or bottom is None or max(top.bit_length(), bottom.bit_length()) * abs(power.numerator) > MAX_BITS:
        return None
    return Fraction(top, bottom) ** power.numerator


def _whole_root(value: int, order: int) -> int | None:
    if order == 2:
        root = math.isqrt(value)
    else:
        if value.bit_length() > 900:
            return None
        root = round(value ** (1 / order))
        root = next((near for near in (root - 1, root, root + 1) if near >= 0 and near**order == value), -1)
    return root if root >= 0 and root**order == value else None


def tidy(value: Any) -> Any:
    """A number of the context without an imaginary part that is nothing but rounding."""
    imaginary = getattr(value, "imag", 0)
    if hasattr(value, "_mpc_") and abs(imaginary) <= ZERO * abs(value.real):
        return value.real
    return value


def is_real(value: Any) -> bool:
    """Whether a value is a real number or an infinity."""
    return not hasattr(value, "_mpc_")


def same(left: Any, right: Any) -> bool:
    """Whether two values are one: exactly where both are fractions, else to a relative 1e-25."""
    if isinstance(left, float) or isinstance(right, float):
        return isinstance(left, float) and isinstance(right, float) and left == right
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return left == right
    mp = _mp()
    wide = [mp.mpf(v.numerator) / v.denominator if isinstance(v, Fraction) else v for v in (left, right)]
    return bool(abs(wide[0] - wide[1]) <= CLOSE * max(map(abs, wide)))
