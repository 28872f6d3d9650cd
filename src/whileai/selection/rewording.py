"""Which texts ask what one of a set asks, in other words: they share rare words, and share them with that one alone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from whileai.selection.shingles import Batch, Grams, Vocabulary, grams
from whileai.selection.words import is_mark, stem

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

#: Words a text needs: what two short questions share is their pattern.
LEAST = 8
#: A stem on more eval texts than this proposes none of them, so that the work for a text has a bound.
PROPOSING = 200
#: How many proposed texts are compared in full.
COMPARED = 16
#: Texts worked on at once; the table of what they share takes some 100 MB at the very worst.
_AT_ONCE = 512
#: Share of the numbers that a rewording keeps: of three, one may be gone; of one or two, none.
SHARED = 0.66
_ONE = 1 << 20
#: Above this product of lengths two texts are not aligned word by word.
_MOST_CELLS = 4_000_000


@dataclass(frozen=True, slots=True)
class Near:
    """A text, the indexed text nearest to it, and by how much that one is nearer than any other, in [0, 1]."""

    text: int
    indexed: int
    score: float


class Stems:
    """Batches of words -> batches of stems."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.numbers = Vocabulary()
        self.of_word: list[int] = []

    def grams(self, batch: Batch) -> Grams:
        """The distinct stems of each text; of a script without spaces, its runs of characters that make a word."""
        import numpy as np

        self.of_word.extend(self.numbers[stem(word)] for word in self.vocabulary.words[len(self.of_word) :])
        ids = np.array(self.of_word, dtype=np.int64)[batch.ids] if len(batch.ids) else batch.ids
        return grams(Batch(ids, batch.weights, batch.bounds), 1)

    def size(self) -> int:
        """How many stems are numbered."""
        return len(self.numbers)

    def forget(self, n_words: int, n_stems: int) -> None:
        """Drop all but the first words and stems."""
        del self.of_word[n_words:]
        self.numbers.forget(n_stems)


class Rewordings:
    """The eval's texts by their stems, to stream other texts past.

    A stem weighs ``log((N + 1) / n)``, where it stands on ``n`` of all ``N`` texts that weights are learned from: those
    of the eval and some of the others. Two texts are as near as the cosine of their sets of stems,
    ``w(both) / sqrt(w(one) w(other))``. The score of a text is that of the nearest eval text, less half that of the
    next: two questions of one kind share its words with many of the kind, a rewording with one. The next is looked for
    among the `COMPARED` texts that share most, so a score is never too low, and at times a little too high. A hit
    shares at least ``2 log(N + 1)``: were words independent, no two of the N texts would share so much by chance. So
    items of a template, set apart by a few words of which most agree, are no rewordings.

    Parameters
    ----------
    against : Grams
        The stems of the eval's texts.
    sample : Grams
        The stems of other texts, all different from the eval's.
    long : array of bool
        Which of the eval's texts are long enough to be found by their stems.
    """

    def __init__(self, against: Grams, sample: Grams, long: NDArray[np.bool_]) -> None:
        import numpy as np
        from scipy.sparse import csr_array

        n_known = against.n_texts + sample.n_texts
        self.hashes, counts = np.unique(np.concatenate([against.hashes, sample.hashes]), return_counts=True)
        # whole numbers, so that a sum is the same in any order
        weights = np.rint(np.log((n_known + 1) / counts) * _ONE)
        self.unknown = float(round(math.log(n_known + 1) * _ONE))
        self.weights = weights.astype(np.float64)
        column = np.searchsorted(self.hashes, against.hashes)
        first = np.searchsorted(against.owner, np.arange(against.n_texts + 1))
        shape = (against.n_texts, len(self.hashes))
        self.stems = csr_array((np.ones(len(column)), column, first), shape=shape)
        times = np.bincount(column, minlength=len(self.hashes))
        self.common = times > PROPOSING
        self.total = np.bincount(against.owner, self.weights[column], against.n_texts)
        self.total_common = np.bincount(against.owner, self.weights[column] * self.common[column], against.n_texts)
        proposing = ~self.common[column] & long[against.owner]
        place = (column[proposing], against.owner[proposing])
        self.postings = csr_array((np.ones(len(place[0])), place), shape=shape[::-1])

    def nearest(self, found: Grams, threshold: float) -> Iterator[Near]:
        """The texts whose score reaches the threshold."""
        import numpy as np

        for start in range(0, found.n_texts, _AT_ONCE):
            end = min(start + _AT_ONCE, found.n_texts)
            low, high = np.searchsorted(found.owner, [start, end])
            part = Grams(found.owner[low:high] - start, found.hashes[low:high], end - start)
            for near in self._nearest(part, threshold):
                yield Near(near.text + start, near.indexed, near.score)

    def _nearest(self, found: Grams, threshold: float) -> Iterator[Near]:
        import numpy as np
        from scipy.sparse import csr_array

        if not len(self.hashes) or not len(found.hashes):
            return
        column = np.minimum(np.searchsorted(self.hashes, found.hashes), len(self.hashes) - 1)
        known = self.hashes[column] == found.hashes
        total = np.bincount(found.owner, np.where(known, self.weights[column], self.unknown), found.n_texts)
        owner, column = found.owner[known], column[known]
        weights = self.weights[column]
        common = np.bincount(owner, weights * self.common[column], found.n_texts)
        shape = (found.n_texts, len(self.hashes))
        texts = csr_array((weights, column, np.searchsorted(owner, np.arange(found.n_texts + 1))), shape=shape)
        proposed = texts @ self.postings
        text = np.repeat(np.arange(found.n_texts), np.diff(proposed.indptr))
        indexed = proposed.indices
        # what the common stems could add is at most what either text holds of them
        most = proposed.data + np.minimum(common[text], self.total_common[indexed])
        reach = most >= threshold * (1 - 1e-12) * np.sqrt(total[text] * self.total[indexed])
        rows = np.unique(text[reach])
        if not len(rows):
            return
        pairs = self._compared(proposed, rows)
        text, indexed = np.repeat(rows, [len(pair) for pair in pairs]), np.concatenate(pairs)
        both = np.asarray(texts[text].multiply(self.stems[indexed]).sum(axis=1)).ravel()
        cosine = both / np.sqrt(total[text] * self.total[indexed])
        yield from _clear(text, indexed, cosine, threshold, enough=both >= 2 * self.unknown)

    def _compared(self, proposed: Any, rows: Ints) -> list[Ints]:
        """Per text, the eval texts that share most by the stems that propose: the nearest first, then in order."""
        import numpy as np

        pairs = []
        for row in rows.tolist():
            part = slice(proposed.indptr[row], proposed.indptr[row + 1])
            indexed = proposed.indices[part].astype(np.int64)
            if len(indexed) > COMPARED:
                share = proposed.data[part] / np.sqrt(self.total[indexed])
                least = np.partition(share, len(share) - COMPARED)[len(share) - COMPARED]
                above, level = indexed[share > least], np.sort(indexed[share == least])
                indexed = np.concatenate([above, level[: COMPARED - len(above)]])
            pairs.append(np.sort(indexed))
        return pairs


def _clear(text: Ints, indexed: Ints, cosine: Floats, threshold: float, *, enough: NDArray[np.bool_]) -> Iterator[Near]:
    """The pairs that stand out from the others of their text, and share enough: the nearest less half the next."""
    import numpy as np

    order = np.lexsort((indexed, -cosine, text))
    text, indexed, cosine, enough = text[order], indexed[order], cosine[order], enough[order]
    first = np.flatnonzero(np.concatenate([[True], text[1:] != text[:-1]]))
    after = np.minimum(first + 1, len(text) - 1)
    has_next = (after > first) & (text[after] == text[first])
    score = cosine[first] - np.where(has_next, cosine[after], 0) / 2
    hit = (score >= threshold * (1 - 1e-12)) & enough[first]
    for t, e, value in zip(text[first][hit], indexed[first][hit], score[hit], strict=True):
        yield Near(int(t), int(e), min(1.0, float(value)))


def other_marks(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether two texts ask about other numbers or operations, and so two things.

    That is where less than `SHARED` of the numbers of the one that has fewer stand in the other: a rewording writes
    some in words, or comes with its answer, but keeps most. Neighbours of which one is a symbol (``x +``) are counted
    in the same way; single letters are not, for many languages have words of one. And a number, symbol or letter in
    the place of another, with the words beside it the same, is another question whatever else is shared.
    """
    for ours, theirs in zip(_marks(first), _marks(second), strict=True):
        if (ours & theirs).total() < SHARED * min(ours.total(), theirs.total()):
            return True
    if len(first) * len(second) > _MOST_CELLS:
        return False
    codes = SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
    single = (code for code in codes if code[0] == "replace" and code[2] - code[1] == code[4] - code[3] == 1)
    return any(is_mark(first[code[1]]) and is_mark(second[code[3]]) for code in single)


def _marks(words: Sequence[str]) -> tuple[Counter[Any], ...]:
    """How often each number, and each pair of marks with a symbol, stands in a text."""
    numbers = Counter(word for word in words if any(character.isnumeric() for character in word))
    pairs = (pair for pair in pairwise(words) if is_mark(pair[0]) and is_mark(pair[1]))
    return numbers, Counter(pair for pair in pairs if not (pair[0].isalnum() and pair[1].isalnum()))
