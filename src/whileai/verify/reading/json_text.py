"""The JSON value of a completion, and whether two values are the same."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from typing import Any

from whileai.verify.reading.numbers import long_int

MAX_DEPTH = 500
_SHALLOW = 100
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[\]{}]', re.DOTALL)
_INFO = re.compile(r"[ \t]*[\w+.-]*[ \t]*(?:\r?\n|\Z)")


class NotJSONError(ValueError):
    """A text that holds no JSON; the message says why, for a verdict's reason."""


def read_json(text: str) -> Any:
    """The JSON value that a completion is, or that its one fenced block is.

    Raises
    ------
    NotJSONError
        If neither is JSON. ``NaN``, ``Infinity`` and nesting past 500 levels are refused; of a key given twice the last
        value counts, as in most readers.
    """
    text = text.removeprefix("\ufeff").strip()
    if not text:
        raise NotJSONError("the completion is empty")
    fenced = _fenced(text) if not text.startswith(("{", "[", '"')) else None
    return _loaded(text if fenced is None else fenced)


def _fenced(text: str) -> str | None:
    """What stands between the first fence and the last, ``None`` where there are no two."""
    start, end = text.find("```"), text.rfind("```")
    if not 0 <= start < end:
        return None
    block = text[start + 3 : end]
    info = _INFO.match(block)
    return block if info is None else block[info.end() :]


def _loaded(text: str) -> Any:
    if text.count("[") + text.count("{") > _SHALLOW and _depth(text) > MAX_DEPTH:
        raise NotJSONError(f"the completion's JSON is nested deeper than {MAX_DEPTH} levels")
    try:
        return json.loads(text.strip(), parse_constant=_refused, parse_int=_integer)
    except RecursionError:
        raise NotJSONError("the completion's JSON is nested too deep") from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno} column {error.colno}"
        raise NotJSONError(f"the completion is no JSON: {error.msg} at {place}") from None


def _refused(constant: str) -> Any:
    raise NotJSONError(f"the completion is no JSON: {constant} is no JSON number")


def _integer(digits: str) -> int:
    return -long_int(digits[1:]) if digits.startswith("-") else long_int(digits)


def _depth(text: str) -> int:
    """How deep brackets outside strings are nested."""
    depth = deepest = 0
    for match in _BRACKETS.finditer(text):
        if match[0] in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif match[0] in "]}":
            depth -= 1
    return deepest


def same_value(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same: ``42`` and ``42.0`` are, ``1`` and ``true`` are not, key order is nothing.

    Notes
    -----
    Floats are the same within one part in 10^9, which forgives rounding. Texts are compared letter by letter, whatever
    their Unicode composition.
    """
    pairs = [(one, other)]
    while pairs:
        left, right = pairs.pop()
        if isinstance(left, dict) and isinstance(right, dict):
            if left.keys() != right.keys():
                return False
            pairs += [(left[key], right[key]) for key in left]
        elif isinstance(left, list) and isinstance(right, list):
            if len(left) != len(right):
                return False
            pairs += zip(left, right, strict=True)
        elif not _same_leaf(left, right):
            return False
    return True


def _same_leaf(left: Any, right: Any) -> bool:
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, str) and isinstance(right, str):
        return left == right or unicodedata.normalize("NFC", left) == unicodedata.normalize("NFC", right)
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        if left == right or (isinstance(left, int) and isinstance(right, int)):
            return left == right
        try:
            return math.isclose(left, right, rel_tol=1e-9)
        except OverflowError:  # an integer past every float
            return False
    return left is None and right is None
