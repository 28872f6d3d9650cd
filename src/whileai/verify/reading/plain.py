"""Text to plain ASCII-like mathematics: other scripts' digits, look-alike signs, and the LaTeX around numbers."""

from __future__ import annotations

import re
import unicodedata

_SIGNS = {
    "\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d": "-",
    "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000": " ",
    "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff": "",
    "\u00b7\u00d7\u2217\u22c5\u2219": "*",
    "\u2044\u2215": "/",
    "\u066a": "%",
    "\u066b": ".",
    "\u066c\u3001\u060c": ",",
    "\u3002": ".",
    "\u2248\u2243\u2245\u2252": "=",
    "\u2018\u2019": "'",
}
_SUPERSCRIPT = re.compile("[\u207a\u207b]?[\u2070\u00b9\u00b2\u00b3\u2074-\u2079]+")
_FRACTION_SIGN = re.compile("(?P<digit>(?<=[0-9]))?(?P<sign>[\u00bc-\u00be\u2150-\u215e])")


class _Plain(dict[int, str]):
    """A translation table that finds the plain form of a character when it first meets it."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        digit = unicodedata.decimal(char, None)
        if digit is not None:
            plain = str(digit)
        elif 0xFF01 <= code <= 0xFF5E:
            plain = chr(code - 0xFEE0)
        else:
            plain = char
        self[code] = plain
        return plain


_TABLE = _Plain({ord(char): plain for chars, plain in _SIGNS.items() for char in chars})


def ascii_signs(text: str) -> str:
    """`text` with every script's digits, minus, space, times and fraction signs as ASCII, superscripts as ``^{n}``."""
    if text.isascii():
        return text
    text = _SUPERSCRIPT.sub(lambda match: f"^{{{unicodedata.normalize('NFKC', match[0])}}}", text)
    text = _FRACTION_SIGN.sub(_spelled_fraction, text)
    return text.translate(_TABLE)


def _spelled_fraction(match: re.Match[str]) -> str:
    """A fraction sign as ``1/2``, set apart from a whole number before it."""
    spelled = unicodedata.normalize("NFKC", match["sign"])
    return spelled if match["digit"] is None else f" {spelled}"


#: A sign: the LaTeX commands that mean it around numbers; a command not named here is a space.
_MEANT = {
    "*": "times cdot ast", "÷": "div", "=": "approx simeq sim", "±": "pm mp", "√": "sqrt frac dfrac tfrac cfrac",
    "π": "pi", "≤": "le leq", "≥": "ge geq", "≠": "ne neq", "<": "lt", ">": "gt", "": "left right displaystyle",
    "%": "percent",
}  # fmt: skip
_COMMANDS = {name: sign for sign, names in _MEANT.items() for name in names.split()}
_GROUP_SPACE = re.compile(r"(?<=\d)(?:\\[,! ]|\{,\}|,\\!)(?=\d{3}(?!\d))")
_ESCAPED = re.compile(r"\\([%$#&_{}])")
_SPACING = re.compile(r"\\[,;:!> ()\[\]\\]")
_WORDS = re.compile(r"\\(?:text|mathrm|textbf|mathbf|textit|operatorname|mbox|rm|textnormal)\s*\{([^{}]*)\}")
_DEGREES = re.compile(r"\^\s*(?:\{\s*\\circ\s*\}|\\circ(?![a-zA-Z]))")
_FRACTION = re.compile(
    r"(-\s*)?\\[dtc]?frac\s*(?:\{\s*(-?)\s*([\d.,]+)\s*\}|()(\d))\s*(?:\{\s*(-?)\s*([\d.,]+)\s*\}|()(\d))"
)
_COMMAND = re.compile(r"\\([a-zA-Z]+)\*?")
_BOLD = re.compile(r"(?<!\d)(?<!\d )\*\*|\*\*(?![\d(-])(?! [\d(-])")


def plain_math(text: str) -> str:
    """`text` in ASCII signs, with LaTeX fractions of numbers as ``a/b`` and Markdown bold removed.

    What is no number in LaTeX leaves a mark that no number is read beside: ``√`` for roots and other fractions, braces.
    """
    text = ascii_signs(text)
    if "\\" in text or "{,}" in text:
        text = _latex(text)
    if "**" in text:
        text = _BOLD.sub("", text)
    return text


def _latex(text: str) -> str:
    text = _GROUP_SPACE.sub(",", text)
    text = _WORDS.sub(r" \1 ", text)
    text = _DEGREES.sub("°", text)
    text = _FRACTION.sub(_slashed, text)
    text = _ESCAPED.sub(r"\1", text)
    text = _SPACING.sub(" ", text)
    return _COMMAND.sub(lambda match: _COMMANDS.get(match[1], " "), text)


def _slashed(match: re.Match[str]) -> str:
    r"""A LaTeX fraction of two numbers as ``a/b``, with one sign in front and a space after a whole number."""
    lead, *parts = match.groups()
    top_sign, top, _, top_digit, bottom_sign, bottom, _, bottom_digit = parts
    minus = (lead is not None) ^ (top_sign == "-") ^ (bottom_sign == "-")
    before = match.string[max(0, match.start() - 1) : match.start()] if lead is None else ""
    sign = "-" if minus else ("+" if lead is not None else "")
    gap = " " if before.isdigit() and not sign else ""
    return f"{gap}{sign}{top or top_digit}/{bottom or bottom_digit}"


def boxes(text: str) -> list[tuple[int, int, str]]:
    r"""Every ``\boxed{...}`` or ``\fbox{...}`` of a text as start, end and content, with its braces balanced.

    Notes
    -----
    A box without braces holds the one character after it. A box that is never closed is cut off, and left out.
    """
    found = []
    place = 0
    while (match := _BOX.search(text, place)) is not None:
        place = match.end()
        if match[1] is None:
            found.append((match.start(), place, match[2]))
            continue
        end = _closing(text, place)
        if end is None:
            break
        found.append((match.start(), end + 1, text[place:end]))
        place = end + 1
    return found


_BOX = re.compile(r"\\f?box(?:ed)?\s*(?:(\{)|([0-9A-Za-z]))")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)


def _closing(text: str, place: int) -> int | None:
    """Where the brace opened just before `place` is closed."""
    depth = 1
    for match in _BRACE.finditer(text, place):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0:
            return match.start()
    return None
