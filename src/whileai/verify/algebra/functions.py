"""The functions of an answer, and with them the value of any tree."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from whileai.verify.algebra.prose import words
from whileai.verify.algebra.tokens import Node
from whileai.verify.algebra.value import ZERO, Arithmetic, TooLarge, Undefined, is_real

_PERIODIC = words("sin cos tan cot sec csc")
_PLAIN = _PERIODIC | words(
    "asin acos atan acot asec acsc sinh cosh tanh coth sech csch asinh acosh atanh acoth asech acsch"
)


class Evaluator(Arithmetic):
    """The value of a tree at one point; see `Arithmetic` for its parameters."""

    def _call(self, node: Node) -> Any:
        name = node.text
        if name == "det" and node.args[0].kind == "matrix":
            return self.determinant(node.args[0])
        values = [self(part) for part in node.args]
        if any(isinstance(value, float) for value in values):
            raise Undefined("a function of infinity")
        own = getattr(self, f"call_{name}", None)
        if own is not None:
            return own(*values)
        if name in _PLAIN:
            return self.elementary(name, *values)
        return self.opaque(name, values)

    def elementary(self, name: str, *values: Any) -> Any:
        """A trigonometric or hyperbolic function of one value."""
        if len(values) != 1:
            raise Undefined(name)
        mp = self.digits()
        value = self.wide(values[0])
        if abs(value) > (10**12 if name in _PERIODIC else 10**9):
            raise TooLarge
        try:
            result = getattr(mp, name)(value)
        except ZeroDivisionError as error:
            raise Undefined(name) from error
        if abs(result) < ZERO * (1 + abs(value)):
            return Fraction(0)
        if abs(result) > 1 / ZERO and name in _PERIODIC:
            raise Undefined(name)
        return self.kept(result)

    def call_root(self, value: Any, order: Any) -> Any:
        """The real root where there is one, else the principal one."""
        if not isinstance(order, Fraction) or order.denominator != 1 or order < 1:
            raise Undefined("a root of no whole order")
        if isinstance(value, Fraction) and value < 0 and order % 2:
            return -self.power(-value, 1 / order)
        return self.power(value, 1 / order)

    def call_log(self, value: Any, base: Any = None) -> Any:
        """A logarithm; without base, as the evaluator was told."""
        if base is None:
            base = Fraction(10) if self.common_log else None
        if value == 0 or (base is not None and base in (0, 1)):
            raise Undefined("a logarithm")
        if base is None:
            return self.call_ln(value)
        if (
            isinstance(value, Fraction)
            and isinstance(base, Fraction)
            and (power := _exact_log(value, base)) is not None
        ):
            return power
        mp = self.digits()
        return self.kept(mp.log(self.wide(value)) / mp.log(self.wide(base)))

    def call_lg(self, value: Any) -> Any:
        """The logarithm of base ten."""
        return self.call_log(value, Fraction(10))

    def call_ln(self, value: Any) -> Any:
        """The natural logarithm."""
        if value == 0:
            raise Undefined("a logarithm")
        if value == 1:
            return Fraction(0)
        return self.kept(self.digits().log(self.wide(value)))

    def call_exp(self, value: Any) -> Any:
        """The exponential function."""
        return self.exponential(value)

    def call_abs(self, value: Any) -> Any:
        """The absolute value."""
        return abs(value)

    def call_factorial(self, value: Any) -> Any:
        """The factorial, of what is no whole number by the gamma function."""
        if isinstance(value, Fraction):
            if value.denominator == 1 and value < 0:
                raise Undefined("a factorial")
            if value.denominator == 1 and value <= self.max_factorial:
                return Fraction(math.factorial(value.numerator))
        mp = self.digits()
        if abs(self.wide(value)) > 10**13:
            raise TooLarge
        return self.kept(mp.factorial(self.wide(value)))

    def call_binom(self, top: Any, bottom: Any) -> Any:
        """The binomial coefficient."""
        if isinstance(top, Fraction) and isinstance(bottom, Fraction):
            if top.denominator == bottom.denominator == 1 and bottom >= 0 and 0 <= top <= self.max_factorial:
                return Fraction(math.comb(top.numerator, bottom.numerator))
            if bottom.denominator == 1 and 0 <= bottom <= 12:
                product = Fraction(1)
                for step in range(bottom.numerator):
                    product = product * (top - step) / (step + 1)
                return product
        mp = self.digits()
        if max(abs(self.wide(top)), abs(self.wide(bottom))) > 10**12:
            raise TooLarge
        return self.kept(mp.binomial(self.wide(top), self.wide(bottom)))

    def call_floor(self, value: Any) -> Any:
        """The next whole number down."""
        real = self._real(value)
        return Fraction(math.floor(real)) if isinstance(real, Fraction) else Fraction(int(self.digits().floor(real)))

    def call_ceil(self, value: Any) -> Any:
        """The next whole number up."""
        return -self.call_floor(-value)

    def call_sign(self, value: Any) -> Any:
        """The sign of a real value."""
        real = self._real(value)
        return Fraction((real > 0) - (real < 0))

    def call_gcd(self, *values: Any) -> Any:
        """The greatest common divisor of whole numbers."""
        return Fraction(math.gcd(*self._whole(values)))

    def call_lcm(self, *values: Any) -> Any:
        """The least common multiple of whole numbers."""
        return Fraction(math.lcm(*self._whole(values)))

    def call_min(self, *values: Any) -> Any:
        """The least of real values."""
        return min(map(self._real, values))

    def call_max(self, *values: Any) -> Any:
        """The greatest of real values."""
        return max(map(self._real, values))

    def _whole(self, values: Iterable[Any]) -> list[int]:
        if not all(isinstance(value, Fraction) and value.denominator == 1 for value in values):
            raise Undefined("no whole number")
        return [int(value) for value in values]

    def _real(self, value: Any) -> Any:
        if not is_real(value) or (not isinstance(value, Fraction) and abs(value) > 10**40):
            raise Undefined("no real number")
        return value

    def determinant(self, matrix: Node) -> Any:
        """The determinant of a square matrix, by cofactors: matrices in answers are small."""
        rows = [[self(cell) for cell in row.args] for row in matrix.args]
        if len(rows) > 5 or any(len(row) != len(rows) for row in rows):
            raise Undefined("a determinant")
        return self._cofactors(rows)

    def _cofactors(self, rows: list[list[Any]]) -> Any:
        if len(rows) == 1:
            return rows[0][0]
        total: Any = Fraction(0)
        for place, cell in enumerate(rows[0]):
            minor = [[*row[:place], *row[place + 1 :]] for row in rows[1:]]
            part = self.times(cell, self._cofactors(minor))
            total = total + (part if place % 2 == 0 else -part)
        return total

    def opaque(self, name: str, values: Sequence[Any]) -> Any:
        """A function of unknown rule: a fixed polynomial of its own, so that only equal arguments give equal values."""
        total: Any = Fraction(_mark(name, 0), 97)
        for place, value in enumerate(values):
            first, second = Fraction(_mark(name, 2 * place + 1), 89), Fraction(_mark(name, 2 * place + 2), 83)
            square = self.times(value, value)
            term = self.times(self.times(square, value), first)
            parts = [total, term, self.times(square, second)]
            total = (
                sum(parts, Fraction(0)) if all(isinstance(p, Fraction) for p in parts) else sum(map(self.wide, parts))
            )
        return total


def _mark(name: str, place: int) -> int:
    return 11 + int.from_bytes(hashlib.sha256(f"{name} {place}".encode()).digest()[:2])


def _exact_log(value: Fraction, base: Fraction) -> Fraction | None:
    """The whole power of `base` that `value` is."""
    if value <= 0 or base <= 0 or max(value.numerator, value.denominator).bit_length() > 900:
        return None
    guess = round((math.log(value.numerator) - math.log(value.denominator)) / math.log(base))
    size = max(base.numerator, base.denominator).bit_length()
    return Fraction(guess) if abs(guess) * size <= 2000 and base**guess == value else None
