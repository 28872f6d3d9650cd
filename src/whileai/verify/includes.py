"""`Includes`: the completion says the gold somewhere, as whole tokens."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any, Literal

from whileai import params
from whileai.verify.base import Verifier
from whileai.verify.reading.text import folded, gold_texts
from whileai.verify.verdict import Verdict, not_scored

_INSIDE_NUMBER = frozenset(".,:/^")  # between two digits these make one number, time or fraction
_GLUED_AFTER = frozenset("+#^_&")  # after a letter or digit these make another name: C++, C#, x^2


class Includes(Verifier):
    """Whether a completion contains the gold as whole tokens.

    Parameters
    ----------
    mode : {"any", "all"}
        Of a list of golds, whether one must be contained or every one.
    field, name : str, optional
        As in `Verifier`.

    Notes
    -----
    Case, spacing and composition do not count, as in `ExactMatch`. A token is not cut: ``15``, ``3.5``, ``-5`` and
    ``5%`` do not contain ``5``, ``C++`` not ``C``, ``Parisian`` not ``Paris``. In scripts written without spaces
    (Chinese, Japanese, Thai and others) any place counts, except within a katakana word; in Korean, what follows a word
    may be a particle.

    Examples
    --------
    >>> import whileai as wai
    >>> judge = wai.verify.Includes()
    >>> [judge.score({"final_text": text, "answer": "5"}).reward for text in ("15, 5", "15")]
    [1, 0]
    """

    bounded = True

    def __init__(self, mode: Literal["any", "all"] = "any", field: str | None = None, name: str | None = None) -> None:
        super().__init__(field, name)
        self.mode = params.one_of("Includes", "mode", mode, ("any", "all"))

    def check(self, candidate: str, reference: Any, row: Mapping[str, Any]) -> Verdict:
        """The verdict on what the completion contains."""
        accepted = gold_texts(reference)
        if not accepted:
            return not_scored("missing_reward", "the gold of the row is blank")
        text = folded(candidate)
        if self.mode == "any":
            if any(contains(text, gold) for gold in accepted):
                return Verdict(1)
            return Verdict(0, reason="the completion contains no gold as whole words")
        missing = sum(not contains(text, gold) for gold in accepted)
        reason = f"the completion lacks {missing} of the {len(accepted)} golds" if missing else None
        return Verdict(0 if missing else 1, reason=reason)


def contains(text: str, gold: str) -> bool:
    """Whether `text` has `gold` as whole tokens; both already folded."""
    place = text.find(gold)
    while place >= 0:
        end = place + len(gold)
        if _free_before(text, place, gold[0], gold[1:2]) and _free_after(text, end, gold[-1]):
            return True
        place = text.find(gold, place + 1)
    return False


def _free_before(text: str, place: int, first: str, second: str) -> bool:
    """Whether a token may begin at `place`, whose characters are `first` and `second`."""
    if place == 0:
        return True
    near = text[place - 1]
    outer = text[place - 2 : place - 1] if place > 1 else ""
    if first.isalnum():
        if near.isalnum() or unicodedata.category(near)[0] == "M":
            return _may_touch(near, first, after=False)
        if near == "_":
            return not outer.isalnum()
        if near in "^&":
            return not outer.isalnum()
        if first.isdecimal():
            if near in _INSIDE_NUMBER and outer.isdecimal():
                return False
            if near == "." or near in "<≤≥±":
                return outer.isalpha()
            return near != "-" or outer.isalnum()
        return True
    if first in "-+." and second.isdecimal():  # -5 is not in 3-5, nor .5 in 3.5
        return not near.isalnum()
    return near != first or first in " \"'()[]"


def _free_after(text: str, end: int, last: str) -> bool:
    """Whether a token that ends in `last` may end at `end`."""
    near = text[end : end + 1]
    if not near:
        return True
    beyond = text[end + 1 : end + 2]
    if unicodedata.category(near)[0] == "M":
        return False
    if not last.isalnum():
        return near != last or last in " \"'()[]"
    if near.isalnum():
        return _may_touch(last, near, after=True)
    if near in _GLUED_AFTER:
        return near in "_&" and not beyond.isalnum()
    if last.isdecimal():
        return near not in "%°" and not (near in _INSIDE_NUMBER and beyond.isdecimal())
    if near == "'" and beyond.isalpha():  # Paris's, but not don't
        return beyond == "s" and not text[end + 2 : end + 3].isalpha()
    return True


def _may_touch(left: str, right: str, *, after: bool) -> bool:
    """Whether a token may end between two letters or digits that touch."""
    kinds = _script(left), _script(right)
    if kinds == ("katakana", "katakana"):
        return False
    if "unspaced" in kinds or "katakana" in kinds:
        return True
    return after and "hangul" in kinds


_UNSPACED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Burmese
    (0x1780, 0x17FF),  # Khmer
    (0x3005, 0x3007),
    (0x3040, 0x309F),  # hiragana
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)


def _script(char: str) -> str:
    """``unspaced``, ``katakana``, ``hangul``, or ``spaced`` for all others."""
    code = ord(char)
    if code < 0x0E00:
        return "spaced"
    if 0x30A0 <= code <= 0x30FF:
        return "katakana"
    if 0xAC00 <= code <= 0xD7AF:
        return "hangul"
    return "unspaced" if any(low <= code <= high for low, high in _UNSPACED) else "spaced"
