"""The tokens of an answer, and the nodes of the trees it is read into."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import NamedTuple

MAX_CHARACTERS = 2000
MAX_DEPTH = 40
MAX_TOKENS = 800


class Unreadable(Exception):
    """The text is no answer this reader knows."""


class Node(NamedTuple):
    """A part of an answer.

    Attributes
    ----------
    kind : str
        ``num, sym, const, add, neg, mul, div, pow, call, pm, mp`` for values; ``list, bracket, set, matrix, row, rel,
        mod, ratio, union, inter, minus, universe, empty, builder`` for what is built of them.
    args : tuple of Node
        The parts.
    text : str
        The name, the brackets, the relation signs or the joiner.
    value : Fraction or None
        The value of a number.
    digits : int
        The significant digits of a number written with a decimal point, else 0.
    step : Fraction or None
        One unit in the last place of such a number.
    """

    kind: str
    args: tuple[Node, ...] = ()
    text: str = ""
    value: Fraction | None = None
    digits: int = 0
    step: Fraction | None = None


class Token(NamedTuple):
    """One token: its kind (``num let cmd op end``), its text, whether white space stands before it."""

    kind: str
    text: str
    spaced: bool


_LEX = re.compile(
    r"(?P<space>\s+)|(?P<rep>\d*\.\d*\\(?:overline|bar)\s*\{\d+\})"
    r"|(?P<num>\d{1,3}(?:,\d{3})+(?![\d,])(?:\.\d+)?|\d{1,3}(?: \d{3})+(?! ?\d)(?:\.\d+)?"
    r"|\d+(?:\.\d+)?|\.\d+|\d+\.(?!\d))|(?P<cmd>\\(?:[a-zA-Z]+|\\|\{|\}|\|))|(?P<let>[a-zA-Z]+)|(?P<op>\*\*|<=|>=|==|!=|<>|[-+*/^_=<>()\[\]{}|!,;:%'&$€£¥])"
)
_SCIENTIFIC = re.compile(r"[eE][+-]?\d{1,6}(?![\d.a-zA-Z])")
_PLAIN_NUMBER = re.compile(r"\d+(?:\.\d*)?|\.\d+")


def tokens(text: str, *, thousands: bool, scientific: bool) -> list[Token]:
    """The tokens of a prepared answer.

    Parameters
    ----------
    thousands : bool
        Whether ``1,234`` is one number; else its comma separates two.
    scientific : bool
        Whether ``1e3`` is one number; else its letter is Euler's number.
    """
    found: list[Token] = []
    place, spaced = 0, False
    while place < len(text):
        match = _LEX.match(text, place)
        if match is None:
            raise Unreadable(text[place])
        kind, part = str(match.lastgroup), match.group()
        if kind == "num" and "," in part and not thousands:
            short = _PLAIN_NUMBER.match(part)
            assert short is not None
            part = short.group()
        place += len(part)
        if kind == "space":
            spaced = True
            continue
        if kind == "num" and scientific and (power := _SCIENTIFIC.match(text, place)):
            part += power.group()
            place = power.end()
        found.append(Token(kind, part, spaced))
        spaced = False
        if len(found) > MAX_TOKENS:
            raise Unreadable("too long")
    found.append(Token("end", "", spaced))
    return found


def number(text: str) -> Node:
    """The node of a numeral."""
    text = text.replace(",", "").replace(" ", "")
    mantissa, _, power = text.lower().partition("e")
    scale = int(power) if power else 0
    if abs(scale) > 10_000:
        raise Unreadable("too large")
    whole, point, part = mantissa.partition(".")
    value = Fraction(int(whole + part or "0")) * Fraction(10) ** (scale - len(part))
    digits = len((whole + part).lstrip("0")) if point and part else 0
    step = Fraction(10) ** (scale - len(part)) if digits else None
    return Node("num", value=value, digits=digits, step=step)


def repeating(text: str) -> Node:
    """The node of a decimal whose last digits repeat without end."""
    head, _, tail = text.partition("\\")
    block = tail[tail.index("{") + 1 : -1]
    whole, _, part = head.partition(".")
    value = Fraction(int(whole + part + block) - int(whole + part or "0"), (10 ** len(block) - 1) * 10 ** len(part))
    return Node("num", value=value)
