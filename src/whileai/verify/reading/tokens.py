"""Which digits of a running text are a number of their own, and which a part of a formula, a name or a date."""

from __future__ import annotations

import re
from collections.abc import Sequence

from whileai.verify.reading.numbers import TOKEN, Reading, token_value

_NEAR = 20  # characters looked at on either side

_MONEY = re.compile(r"(?:(?:US|CA|AU|NZ|HK|C|A|S)?\$|[€£¥₹₩]|\bRs\.?|\b(?:USD|EUR|GBP))[ ]?\Z")
_SPACED_MINUS = re.compile(r"(?:[=:(,]|\b(?:is|equals|be))[ ]*-[ ]\Z")
_PART_BEFORE = re.compile(
    r"""
      [A-Za-z]\Z  # x2, H2O
    | [A-Za-z\d]_\Z  # x_2
    | [{}^√]\Z | √\(\Z | ±[ ]*\Z  # inside a formula
    | [<≤≥≠]=?[ ]*\Z | !=[ ]*\Z  # x < 5 is no 5
    | [\w)][ ]+>=?[ ]*\Z | (?<![A-Za-z/"'<])[A-Za-z]>=?[ ]*\Z
    | \d:\Z  # 10:30
    | (?:\d|[)}\]%π])[ ]?(?:\*\*?|[÷/x])[ ]?\(?\Z | \b[a-zA-Z][ ]?(?:\*\*?|[÷/])[ ]?\(?\Z
    | [A-Za-z]/\Z  # km/2
    | (?:[\d)}\]%π]|\b[a-zA-Z])[ ][-+][ ]\(?\Z  # 3 + 5
    | (?:[\d)}\]%π]|\b[a-zA-Z])[-+]\(?\Z  # 3+5
    """,
    re.VERBOSE,
)
_PART_AFTER = re.compile(
    r"""
      ([ ]?)(?:\*\*?|÷|/)\1[\d(√$]                      # 3*5
    | [ ]?\^                                            # 3^n
    | /[xyz]\b
    | [ ][-+][ ][$(]?[\d(√π]  | [-+][$(]?[\d(√π]        # 3 + 5, 3-5
    | [ ][-+][ ][a-z]\b | [-+][xyzn]\b
    | [xyzi](?![A-Za-z]) | [ ]?[π√]                     # 2x, 2π
    | [ ]?x[ ]?\d                                       # 3 x 5
    | :\d
    | !(?=[ ]*[$})=^*/+-])                              # $5!$
    """,
    re.VERBOSE,
)
_DENIED = re.compile(
    r"(?:\bnot|n't|\bnor|\brather than|\binstead of|\bversus|\bvs\.?)[ ]+(?:equal to |exactly |simply |just )?[*(]*\Z",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"(?:\b(?:step|part|case|section|equation|eq\.|problem|question|example|figure|fig\.|table|option|line|page|item)"
    r"[ ]*\(?#?|(?:^|\n)[ \t>]*#{1,6}[ ])\Z",
    re.IGNORECASE,
)
_LIST_PLACE = re.compile(r"(?:^|\n)[ \t>*-]*\Z")
_LIST_MARK = re.compile(r"[.)](?:\*\*)?[ \t]+\S|\)")
_ORDINAL = re.compile(r"(?:st|nd|rd|th)\b")
_PERCENT = re.compile(r"[ ]?(?:%|percent\b|per[ ]cent\b|pct\b)", re.IGNORECASE)
_SCALE = re.compile(r"[ -]?(thousand|million|billion|trillion)\b", re.IGNORECASE)
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}


class Token:
    """One run of digits of a text with what stands around it.

    Attributes
    ----------
    start, end : int
        Where the number stands, with its sign, currency and percent sign or word of scale.
    """

    __slots__ = ("_match", "_text", "end", "start")

    def __init__(self, text: str, match: re.Match[str]) -> None:
        self._text = text
        self._match = match
        self.start = match.start()
        self.end = match.end()

    def is_label(self) -> bool:
        """Whether the number only counts or names something: ``Step 3``, ``2. First``, ``the 4th``."""
        before = self._text[max(0, self._match.start() - _NEAR) : self._match.start()]
        after = self._text[self._match.end() : self._match.end() + _NEAR]
        if _ORDINAL.match(after) or _LABEL.search(before):
            return True
        written = self._match[0]
        if not _LIST_PLACE.search(before) or not written.rstrip(".").isdecimal():
            return False
        return _LIST_MARK.match(("." if written.endswith(".") else "") + after) is not None

    def read(self) -> Reading | None:
        """The number, ``None`` where the digits are a part of something else or are denied (``not 5``)."""
        match, text = self._match, self._text
        start, end = match.start(), match.end()
        after = text[end : end + _NEAR]
        if _PART_AFTER.match(after) and not match[0].endswith((".", ",")):
            return None
        before = text[max(0, start - _NEAR) : start]
        sign, before = _sign(before)
        if sign == 0 or _DENIED.search(before) or _PART_BEFORE.search(before):
            return None
        value = token_value(match, european=True)
        if value is None:
            return None
        self.start = start - (min(start, _NEAR) - len(before))
        if (scale := _SCALE.match(after)) is not None:
            value *= _SCALES[scale[1].lower()]
            self.end = end + scale.end()
        percent = _PERCENT.match(after)
        if percent is not None:
            self.end = end + percent.end()
        written = text[self.start : self.end].strip(" .,'_")
        return Reading(value * sign, percent is not None, written if len(written) <= 60 else f"{written[:40]}...")


def _sign(before: str) -> tuple[int, str]:
    """The sign that ends `before` (0 for a minus between two things), and what stands before it."""
    before = _without_money(before)
    if before[-1:] in ("-", "+"):
        rest = before[:-1]
        last = rest[-1:]
        if last and ((last.isascii() and last.isalnum()) or last in ")]}%°π+-*/^"):
            return 0, before
        return (-1 if before[-1] == "-" else 1), _without_money(rest)
    spaced = _SPACED_MINUS.search(before)
    if spaced is not None:
        return -1, before[: spaced.end() - 2]
    return 1, before


def _without_money(before: str) -> str:
    money = _MONEY.search(before)
    return before if money is None else before[: money.start()]


def tokens(text: str, start: int = 0, end: int | None = None) -> list[Token]:
    """The runs of digits of a text in plain mathematics, in order."""
    stop = len(text) if end is None else end
    return [Token(text, match) for match in TOKEN.finditer(text, start, stop)]


def last_reading(found: Sequence[Token]) -> tuple[Token, Reading] | None:
    """The last number among tokens that is no label, else the last that is."""
    spare = None
    for token in reversed(found):
        reading = token.read()
        if reading is None:
            continue
        if not token.is_label():
            return token, reading
        spare = spare or (token, reading)
    return spare
