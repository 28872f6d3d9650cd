"""One form for texts that a reader takes for the same answer."""

from __future__ import annotations

import functools
import re
import unicodedata
from typing import Any

from whileai.verify.base import golds

_LOOKALIKES = {
    "\u2010\u2011\u2012\u2013\u2212\ufe63": "-",
    "\u2018\u2019\u02bc": "'",
    "\u201c\u201d\u201e": '"',
    "\u2026": "...",
    "\u00ad\u200b\u200e\u200f\u2060\ufeff": "",
}


class _Folded(dict[int, str]):
    """A translation table that folds full- and half-width characters when it first meets them."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        narrow = unicodedata.decomposition(char).startswith(("<wide>", "<narrow>"))
        folded = unicodedata.normalize("NFKC", char) if narrow else char
        self[code] = folded
        return folded


_TABLE = _Folded({ord(char): plain for chars, plain in _LOOKALIKES.items() for char in chars})
_PAIRS = (("**", "**"), ("`", "`"), ('"', '"'), ("'", "'"), ("«", "»"), ("「", "」"), ("*", "*"))
_PERIODS = re.compile(r"[.\u3002\uff61]+\Z|(?<=[^\W\d_])[!\uff01]\Z")


def folded(text: str) -> str:
    """`text` without differences of case, composition, width, kind of quote or dash, and amount of white space."""
    if text.isascii():
        return " ".join(text.lower().split())
    text = unicodedata.normalize("NFC", text.translate(_TABLE))
    text = unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold())
    return " ".join(text.split())


def normal(text: str) -> str:
    """`text` folded, without what stands around an answer: final periods, quotes, Markdown bold or code marks.

    Notes
    -----
    Nothing inside is taken away, nor signs that can belong to the answer: ``C++``, ``-5``, ``50%``, ``<5``,
    ``__init__``. An exclamation mark goes only after a letter (``5!`` is a factorial). A text of nothing but such marks
    stays whole.
    """
    text = folded(text)
    for _ in range(3):
        bare = _PERIODS.sub("", text).rstrip()
        for left, right in _PAIRS:
            size = len(left)
            inner = bare[size:-size]
            if bare.startswith(left) and bare.endswith(right) and inner.strip() and left not in inner:
                bare = inner.strip()
                break
        if not bare or bare == text:
            break
        text = bare
    return text


@functools.lru_cache(maxsize=65_536, typed=True)
def _gold_text(gold: str) -> str:
    return normal(gold)


def gold_texts(reference: Any) -> list[str]:
    """The normal form of every accepted gold; a gold that is no text counts by its text, and blank ones are left out.

    Notes
    -----
    A whole float counts as written and as an int, because a frame with gaps turns ``42`` into ``42.0``.
    """
    texts = []
    for gold in golds(reference):
        value = gold.item() if hasattr(gold, "item") and getattr(gold, "shape", None) == () else gold
        if value is None:
            continue
        texts.append(_gold_text(value if isinstance(value, str) else str(value)))
        if isinstance(value, float) and value.is_integer():
            texts.append(str(int(value)))
    return [text for text in texts if text]
