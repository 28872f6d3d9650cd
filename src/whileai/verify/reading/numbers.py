"""Reading numbers as people and models write them, exactly and in bounded time."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import NamedTuple

from whileai.verify.reading.plain import boxes, plain_math

#: The characters read of a text, from its end: a final answer stands there, and no reading may take long.
READ_CHARACTERS = 20_000
_MAX_EXPONENT = 10_000
_MAX_BITS = 100_000
_MAX_FACTORIAL = 1_000
_CHUNK = 4_000  # under the length at which int() refuses a text

_NUMERAL = r"(?:[1-9]\d{0,2}(?:[ ]\d{3})+(?!\d)(?:[.,]\d+)?|\d[\d.,'_]*|(?<![\w.])\.\d+)"
TOKEN = re.compile(
    rf"""
    (?P<whole>(?<![\d.,])\d{{1,9}})[ ](?:and[ ])?(?P<top>\d{{1,9}})/(?P<bottom>\d{{1,9}})(?![\d/]|\.\d)
    | (?P<number>{_NUMERAL})
      (?: (?<![,'_])[eE](?P<exponent>[-+]?\d{{1,9}})(?![A-Za-z0-9_])
        | (?P<slash>[ ]?/[ ]?)(?P<below>{_NUMERAL})
        | (?P<ten>[ ]?[*x][ ]?10)?(?P<gap>[ ]?)(?:\^|\*\*)(?P=gap)
          (?: \{{[ ]?(?P<power>-?\d{{1,9}})[ ]?\}} | \((?P<power2>-?\d{{1,9}})\) | (?P<power3>-?\d{{1,9}})(?!\d|\.\d) )
      )?
    """,
    re.VERBOSE,
)

_DECIMAL = re.compile(r"\d*\.\d*")
_COMMAS = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?|[1-9]\d?(?:,\d{2})+,\d{3}(?:\.\d*)?")
_GROUPS = re.compile(r"[1-9]\d{0,2}(?:(?: \d{3})+|(?:'\d{3})+|(?:_\d{3})+)(?:\.\d*)?")
_EUROPEAN = re.compile(r"[1-9]\d{0,2}(?:(?:\.\d{3})+,\d+|(?: \d{3})+,\d+|(?:\.\d{3}){2,})|\d+,\d+")


class Reading(NamedTuple):
    """A number read in a text.

    Attributes
    ----------
    value : int or fractions.Fraction
        Exactly what is written.
    percent : bool
        Whether a percent sign follows it; `value` is what stands before the sign.
    text : str
        The number as written, shortened where it is long.
    """

    value: int | Fraction
    percent: bool
    text: str


def long_int(digits: str) -> int:
    """The integer of a text of ASCII digits, of any length."""
    if len(digits) <= _CHUNK:
        return int(digits)
    value = 0
    for start in range(0, len(digits), _CHUNK):
        part = digits[start : start + _CHUNK]
        value = value * 10 ** len(part) + int(part)
    return value


def numeral(text: str, *, european: bool = False) -> int | Fraction | None:
    """The value of digits with an optional point and group marks, ``None`` where they are no number.

    Parameters
    ----------
    european : bool
        Whether a comma may be the decimal mark, and points group marks: ``3,5``, ``1.234,56``, ``1.234.567``. A comma
        before three digits groups them in either case.
    """
    text = text.rstrip(".,'_")
    if text.isdecimal():
        return long_int(text)
    if _DECIMAL.fullmatch(text):
        return _decimal(text)
    if _COMMAS.fullmatch(text):
        return _decimal(text.replace(",", ""))
    if _GROUPS.fullmatch(text):
        return _decimal(text.replace(" ", "").replace("'", "").replace("_", ""))
    if european and _EUROPEAN.fullmatch(text):
        return _decimal(text.replace(" ", "").replace(".", "").replace(",", "."))
    return None


def _decimal(text: str) -> int | Fraction:
    whole, _, part = text.partition(".")
    part = part.rstrip("0")
    value = long_int(whole + part or "0")
    return Fraction(value, 10 ** len(part)) if part else value


def token_value(match: re.Match[str], *, european: bool = False) -> int | Fraction | None:
    """The value of a match of `TOKEN`, ``None`` where it has none or is too large to write out."""
    if match["whole"] is not None:
        top, bottom = int(match["top"]), int(match["bottom"])
        return int(match["whole"]) + Fraction(top, bottom) if top < bottom else None
    value = numeral(match["number"], european=european)
    if value is None or match.end() == match.end("number"):
        return value
    if match["below"] is not None:
        below = numeral(match["below"], european=european)
        return Fraction(value) / below if below else None
    if match["exponent"] is not None:
        return _scaled(value, int(match["exponent"]))
    power = int(match["power"] or match["power2"] or match["power3"])
    return _scaled(value, power) if match["ten"] else _power(value, power)


def _scaled(value: int | Fraction, exponent: int) -> int | Fraction | None:
    """`value` times a power of ten."""
    if abs(exponent) > _MAX_EXPONENT:
        return None
    scale: int = 10 ** abs(exponent)
    return value * scale if exponent >= 0 else Fraction(value) / scale


def _power(base: int | Fraction, exponent: int) -> int | Fraction | None:
    """`base` to a whole power, ``None`` where the result is undefined or too large to write out."""
    size = max(base.numerator.bit_length(), base.denominator.bit_length())
    if abs(exponent) * size > _MAX_BITS or (base == 0 and exponent <= 0):
        return None
    power: int | Fraction = Fraction(base) ** exponent if exponent < 0 else base**exponent
    return power


_FACTORIAL = re.compile(r"(\d{1,4})!")
_MATH_EDGES = " \t\r\n$`"


def read_number(text: str) -> Fraction | None:
    r"""The number that the whole text is, ``None`` where it is anything else.

    Math delimiters, a box, a leading dollar sign, Markdown bold, group marks and one final period are taken off:
    ``$\boxed{1{,}234}$.`` is 1234. A percent sign is not a part of the number; see `split_percent`. A comma that groups
    no three digits is no decimal mark here, for ``1,2`` is also a list.
    """
    stripped = text.strip()
    if stripped.isascii() and stripped.isdecimal():
        return Fraction(long_int(stripped)) if len(stripped) <= READ_CHARACTERS else None
    value = whole_number(stripped, european=False)
    return None if value is None else Fraction(value)


def whole_number(text: str, *, european: bool) -> int | Fraction | None:
    """`read_number` with the choice of the decimal mark, and an int where the number is whole and written so."""
    if len(text) > READ_CHARACTERS:
        return None
    text = plain_math(unboxed(text)).strip(_MATH_EDGES)
    if text.endswith("."):
        text = text[:-1].rstrip(_MATH_EDGES)
    negative = False
    for _ in range(2):  # -$5 and $-5
        text = text.lstrip("$ ")
        if text[:1] in ("-", "+") and not negative:
            negative = text[0] == "-"
            text = text[1:]
    match = TOKEN.fullmatch(text.lstrip())
    if match is not None:
        value = token_value(match, european=european)
    else:
        factorial = _FACTORIAL.fullmatch(text)
        small = factorial is not None and int(factorial[1]) <= _MAX_FACTORIAL
        value = math.factorial(int(factorial[1])) if factorial is not None and small else None
    return -value if negative and value is not None else value


def unboxed(text: str) -> str:
    r"""The content of the box that the whole text is, else the text."""
    if "box" not in text:
        return text
    bare = text.strip("$ \t\r\n.")
    bare = bare.removeprefix("\\(").removesuffix("\\)").removeprefix("\\[").removesuffix("\\]").strip()
    found = boxes(bare)
    return found[0][2] if len(found) == 1 and found[0][:2] == (0, len(bare)) else text


_PERCENT = re.compile(r"\s*(?:\\?%|\uff05|\u066a|percent|per cent|pct)(?=[\s.$*`)\]}\\]*$)", re.IGNORECASE)


def split_percent(text: str) -> tuple[str, bool]:
    r"""`text` without a percent sign at its end, and whether there was one: ``$50\%$`` gives ``$50$``."""
    match = _PERCENT.search(text, max(0, len(text) - 24))
    if match is None:
        return text, False
    return text[: match.start()] + text[match.end() :], True
