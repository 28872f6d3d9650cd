"""Which texts say almost the same as one that is known: by n-grams of words, each looked up once."""

from __future__ import annotations

import re
from collections import Counter

_WORD = re.compile(r"\w+")
#: Words of an n-gram, and the share of a text's n-grams in one known text from which it counts as a copy of it.
N_GRAM = 5
CLOSE = 0.8


def word_grams(text: str, size: int = N_GRAM) -> set[tuple[str, ...]]:
    """The runs of `size` words of a text, lower case; of a shorter one, the one run there is."""
    words = [word.lower() for word in _WORD.findall(text)]
    size = min(size, len(words))
    return {tuple(words[place : place + size]) for place in range(len(words) - size + 1)} if words else set()


class Known:
    """Texts to be kept away from.

    Examples
    --------
    >>> known = Known()
    >>> known.add("Where is my parcel? It was sent on Monday.")
    >>> known.is_close("where is my parcel, it was sent on monday"), known.is_close("Where is my parcel?")
    (True, False)
    """

    def __init__(self) -> None:
        self._posting: dict[tuple[str, ...], list[int]] = {}
        self._n = 0

    def add(self, text: str) -> None:
        """Know a text."""
        for gram in word_grams(text):
            self._posting.setdefault(gram, []).append(self._n)
        self._n += 1

    def is_close(self, text: str) -> bool:
        """Whether 0.8 of the five-word runs of a text stand in one that is known; of a shorter text, all of it."""
        if not self._posting:
            return False
        grams = word_grams(text)
        shared: Counter[int] = Counter()
        for gram in grams:
            shared.update(self._posting.get(gram, ()))
        return bool(grams) and max(shared.values(), default=0) >= CLOSE * len(grams)


def repeats(text: str, source: str, allowed: str = "", size: int = 8) -> bool:
    """Whether a text holds `size` words in a row of `source` that do not stand so in `allowed`."""
    own, kept = _runs(source, size), _runs(allowed, size)
    return any(run in own and run not in kept for run in _runs(text, size))


def _runs(text: str, size: int) -> set[tuple[str, ...]]:
    return {run for run in word_grams(text, size) if len(run) == size}
