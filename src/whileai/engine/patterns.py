"""A text that a simple regular expression matches."""

from __future__ import annotations

import re
import string

from whileai.engine.ids import Draw

_CLASSES = {
    "d": string.digits,
    "w": string.ascii_lowercase + string.digits,
    "s": " ",
}
_QUANTIFIER = re.compile(r"\{(\d+)(?:,(\d*))?\}|[*+?]")


def sample(pattern: str, draw: Draw) -> str | None:
    """A text that `pattern` matches in full, or ``None`` where it uses more than literals, classes and counts."""
    try:
        pieces = list(_pieces(pattern.removeprefix("^").removesuffix("$")))
    except ValueError:
        return None
    out: list[str] = []
    for alphabet, low, high in pieces:
        count = low + (draw.below(high - low + 1) if high > low else 0)
        out.extend(alphabet[draw.below(len(alphabet))] for _ in range(count))
    text = "".join(out)
    try:
        return text if re.fullmatch(pattern, text) else None
    except re.error:
        return None


def _pieces(pattern: str) -> list[tuple[str, int, int]]:
    """The pattern as (alphabet, least, most) in order."""
    pieces: list[tuple[str, int, int]] = []
    place = 0
    while place < len(pattern):
        char = pattern[place]
        if char == "\\":
            escaped = pattern[place + 1 : place + 2]
            if not escaped or (escaped.isalnum() and escaped not in _CLASSES):
                raise ValueError(pattern)
            alphabet, place = _CLASSES.get(escaped, escaped), place + 2
        elif char == "[":
            alphabet, place = _bracket(pattern, place)
        elif char == ".":
            alphabet, place = string.ascii_lowercase, place + 1
        elif char in "()|^$*+?{":
            raise ValueError(pattern)
        else:
            alphabet, place = char, place + 1
        low = high = 1
        counted = _QUANTIFIER.match(pattern, place)
        if counted:
            place = counted.end()
            low, high = _counts(counted)
        pieces.append((alphabet, low, high))
    return pieces


def _counts(found: re.Match[str]) -> tuple[int, int]:
    """How often, at least and at most; without an upper end, a few more than the least."""
    if found[1] is None:
        return {"*": (1, 3), "+": (1, 4), "?": (1, 1)}[found[0]]
    low = int(found[1])
    if "," not in found[0]:
        return low, low
    return low, max(low, min(int(found[2]), low + 4)) if found[2] else low + 2


def _bracket(pattern: str, start: int) -> tuple[str, int]:
    """The characters of a class in brackets, and where it ends."""
    end = pattern.find("]", start + 2)
    inside = pattern[start + 1 : end]
    if end < 0 or inside.startswith("^"):
        raise ValueError(pattern)
    alphabet = ""
    place = 0
    while place < len(inside):
        if inside[place] == "\\":
            alphabet += _CLASSES.get(inside[place + 1 : place + 2], inside[place + 1 : place + 2])
            place += 2
        elif inside[place + 1 : place + 2] == "-" and place + 2 < len(inside):
            alphabet += "".join(map(chr, range(ord(inside[place]), ord(inside[place + 2]) + 1)))
            place += 3
        else:
            alphabet += inside[place]
            place += 1
    if not alphabet:
        raise ValueError(pattern)
    return alphabet, end + 1
