"""Comparisons that an object cannot win by saying yes to everything. Runs inside the sandbox.

An equality that holds is believed where both sides are plain data of Python's own types. Where the candidate's own
types take part it must also hold from the other side, not hold and fail at once, and not hold for a stranger as well:
for an object of a type made this moment, and for several values of the other side's kind.
"""

from __future__ import annotations

import operator
import os
import sys

from whileai.verify.sandbox import decoys
from whileai.verify.sandbox.channel import Opaque, pack, unpack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from whileai.verify.sandbox.channel import Channel

SCALARS = frozenset({type(None), bool, int, float, complex, str, bytes, type, type(Ellipsis), type(NotImplemented)})
GROUPS = frozenset({list, tuple, set, frozenset})
OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
MIRROR = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
NATIVE = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "is": operator.is_, "is not": operator.is_not,
}  # fmt: skip
DEEPEST = 200
_random_bytes = os.urandom


def is_plain(value: Any, depth: int = 0) -> bool:
    """Whether a value is made of Python's own types alone, down to its last item."""
    kind = type(value)
    if kind in SCALARS:
        return True
    if depth > DEEPEST:
        return False
    if kind in GROUPS:
        return all(type(item) in SCALARS or is_plain(item, depth + 1) for item in value)
    if kind is dict:
        return all(is_plain(key, depth + 1) and is_plain(item, depth + 1) for key, item in value.items())
    return False


def _says(action: Any, left: Any, right: Any) -> bool | None:
    """Whether a comparison holds, ``None`` where it raises or has no truth of its own (an array's)."""
    try:
        return bool(action(left, right))
    except Exception:  # noqa: BLE001 - the candidate's code may raise anything here
        return None


class Guard:
    """What the rewritten tests call in place of comparing.

    Attributes
    ----------
    count : int
        Assertions reached so far.
    trusted : set of type
        Types the tests themselves define; how those compare is the tests' business.
    wildcards : list
        Objects of the tests that are meant to equal anything, such as their own ``mock.ANY``.
    """

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.count = 0
        self.trusted: set[type] = set()
        self.wildcards: list[Any] = []
        self._open: dict[int, Any] = {}

    def seen(self, value: Any) -> Any:
        """Count an assertion and pass its value on."""
        self.count += 1
        return value

    # --- literals that are kept elsewhere ---------------------------------------------------------------------------

    def held(self, key: int, value: Any) -> bool:
        """Whether the comparison with the literal kept under `key` holds for `value`."""
        return self._decide(key, value, {})

    def told(self, case: Any, method: str, key: int, value: Any, **options: Any) -> None:
        """A unittest assertion about the literal kept under `key`."""
        self.count += 1
        if not self._decide(key, value, {**options, "method": method}):
            raise case.failureException("not as expected")

    def _decide(self, key: int, value: Any, options: dict[str, Any]) -> bool:
        if key not in self._open:
            try:
                answer = self.channel.ask(["held", key, pack(value), False, options])
            except (Opaque, RecursionError):
                _, sign, several = self.channel.ask(["held", key, None, True, options])
                answer = self.channel.ask(["own", key, self._which(sign, value, unpack(several), options)])
            if len(answer) == 3:
                self._open[key] = (answer[1], unpack(answer[2]))
            return bool(answer[0])
        sign, literal = self._open[key]
        return self._holds(sign, literal, value, options)

    def _holds(self, sign: str, literal: Any, value: Any, options: dict[str, Any]) -> bool:
        return self.close(value, literal, options) if sign == "~" else bool(self.compare(sign, value, literal))

    def _which(self, sign: str, value: Any, several: list[Any], options: dict[str, Any]) -> list[bool]:
        """Which of several values, of which one is the expected one, an object holds for."""
        found, fault, faults = [], None, 0
        for one in several:
            try:
                found.append(self._holds(sign, one, value, options))
            except Exception as error:  # noqa: BLE001 - the candidate's own equality may not be made for a decoy
                found.append(False)
                fault, faults = error, faults + 1
        if fault is not None and faults == len(several):
            raise fault
        return found

    def close(self, value: Any, literal: Any, options: dict[str, Any]) -> bool:
        """Unittest's almost equal: within ``delta``, else equal when rounded to ``places``."""
        if self.compare("==", value, literal):
            return True
        number = base_number(value)
        return False if number is None else nearly(number, literal, options)

    # --- comparisons in the open ------------------------------------------------------------------------------------

    def chain(self, signs: tuple[str, ...], *values: Any) -> Any:
        """``a < b == c`` and the like."""
        result: Any = True
        for sign, left, right in zip(signs, values, values[1:], strict=False):
            result = self.compare(sign, left, right)
            if not result:
                break
        return result

    def compare(self, sign: str, left: Any, right: Any) -> Any:
        """What ``left sign right`` says, or ``False`` where it says yes and cannot be believed."""
        if sign in ("in", "not in"):
            inside = self._contains(left, right)
            return inside if sign == "in" else not inside
        result = NATIVE[sign](left, right)
        if sign in ("is", "is not", "!=") or (type(left) in SCALARS and type(right) in SCALARS):
            return result
        if type(result) is bool and not result:
            return result
        if is_plain(left) and is_plain(right):
            return result
        if sign == "==":
            return result if self.fair(left, right) else False
        contrary = _says(NATIVE[OPPOSITE[sign]], left, right)
        mirrored = _says(NATIVE[MIRROR[sign]], right, left)
        return result if contrary is not True and mirrored is not False else False

    def equal(self, left: Any, right: Any) -> bool:
        """Whether two values are equal, and believably."""
        return bool(self.compare("==", left, right))

    def fair(self, left: Any, right: Any) -> bool:
        """Whether an equality that was said to hold can be believed."""
        kinds = (type(left), type(right))
        if left is right and kinds[0] in SCALARS:
            return True
        if any(left is one or right is one for one in self.wildcards):
            return True
        for one, other in ((left, right), (right, left)):
            if type(one) in self.trusted:  # the tests' own type decides, whatever the candidate's says
                return type(other) in self.trusted or _says(type(one).__eq__, one, other) is True
        if kinds in ((list, list), (tuple, tuple)):
            return len(left) == len(right) and all(self.fair(a, b) for a, b in zip(left, right, strict=True))
        if kinds == (dict, dict):
            return all(self._alone(key) for key in left) and all(
                key in right and self.fair(item, right[key]) for key, item in left.items()
            )
        if kinds[0] in (set, frozenset) and kinds[1] in (set, frozenset):
            return all(self._alone(item) for item in [*left, *right])
        if kinds[0] in SCALARS and kinds[1] in SCALARS:
            return left is right or bool(left == right)
        return self._both_ways(left, right)

    def _both_ways(self, left: Any, right: Any) -> bool:
        if _says(operator.ne, left, right) is True or _says(operator.eq, right, left) is False:
            return False
        for one, other in ((left, right), (right, left)):
            if type(one) in SCALARS:
                continue
            if not self._alone(one):
                return False
            if is_plain(other) and (self._equals_all(one, strangers_like(other)) or self._equals_most(one, other)):
                return False
        return True

    def _alone(self, value: Any) -> bool:
        """Whether a value is not equal to a stranger: an object of a type that did not exist a moment ago."""
        if type(value) in SCALARS or type(value) in self.trusted or any(value is one for one in self.wildcards):
            return True
        stranger = type("Stranger", (), {})()
        for one, other in ((value, stranger), (value, object())):
            if _says(operator.eq, one, other) or _says(operator.ne, one, other) is False:
                return False
        return True

    @staticmethod
    def _equals_all(value: Any, others: list[Any]) -> bool:
        return bool(others) and all(_says(operator.eq, value, other) for other in others)

    @staticmethod
    def _equals_most(value: Any, other: Any) -> bool:
        options, place = decoys.among(other)
        found = [_says(operator.eq, value, option) is True for option in options]
        return decoys.too_many(sum(found) - found[place], len(options) - 1)

    def _contains(self, item: Any, container: Any) -> bool:
        result = item in container
        if not result or (is_plain(item) and is_plain(container)):
            return bool(result)
        if type(container) in GROUPS or type(container) is dict:
            return any(item is other or self.equal(item, other) for other in container)
        stranger = type("Stranger", (), {})()
        return _says(operator.contains, container, stranger) is not True


def strangers_like(value: Any) -> list[Any]:
    """Values of the same kind as `value`, all different from it, that no honest equality holds equal to it at once."""
    far = 1000 + int.from_bytes(_random_bytes(3), "big")
    kind = type(value)
    if kind is bool:
        return [not value]
    if kind in (int, float, complex):
        if value != value or (kind is float and value in (float("inf"), float("-inf"))):  # noqa: PLR0124 - not a number
            return [0.0, 1.0, float(far)]
        return [value + 1, value - far, value + 7 * far + 3]
    if kind is str:
        return [value + f" {far}", f"{far}", ""] if value else [f"{far}", "x"]
    if kind is bytes:
        return [value + b" %d" % far, b"%d" % far]
    if kind in (list, tuple):
        return [kind([*value, far]), kind([far]), kind([far, *value])]
    if kind in (set, frozenset):
        return [kind({*value, far, -far}), kind({far})]
    if kind is dict:
        return [{**value, far: far}, {far: far}]
    return []


def base_number(value: Any) -> Any:
    """The number in an object of a number's type, its own arithmetic left aside; ``None`` where there is none."""
    kinds: tuple[Any, ...] = (bool, int, float, complex)
    for kind in kinds:
        if isinstance(value, kind) and issubclass(type(value), kind):
            return kind.__add__(value, kind(0)) if kind is not bool else value
    for name in ("decimal", "fractions", "numpy"):
        if type(value) is getattr(sys.modules.get(name), type(value).__name__, None):
            return value
    return None


def nearly(value: Any, other: Any, options: dict[str, Any]) -> bool:
    """Whether two numbers are equal within ``delta``, or else when their difference is rounded to ``places`` (7)."""
    try:
        difference = abs(value - other)
        if options.get("delta") is not None:
            return bool(difference <= options["delta"])
        places = options.get("places")
        return bool(round(difference, 7 if places is None else places) == 0)
    except (TypeError, ValueError, OverflowError):
        return False
