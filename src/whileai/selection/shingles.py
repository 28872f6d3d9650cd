"""Words -> hashed n-grams, and an index of the n-grams of one set of texts that another set is streamed past."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from whileai.selection.words import WORD, weight

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Hashes = NDArray[np.uint64]

#: An n-gram on more texts of the index than this is boilerplate: it never proposes a pair.
COMMON = 20
_ONE = 1 << 20
_BASE = 0x9E3779B97F4A7C15
_BASE_INVERSE = pow(_BASE, -1, 1 << 64)


class Vocabulary(dict[str, int]):
    """A number for every word, given as words are met, with the words' weights beside."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.weights: list[int] = []

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self)
        self.words.append(word)
        self.weights.append(weight(word))
        return number

    def __reduce__(self) -> tuple[Any, ...]:
        return _vocabulary_of, (self.words,)

    def forget(self, size: int) -> None:
        """Drop all but the first `size` words."""
        for word in self.words[size:]:
            del self[word]
        del self.words[size:], self.weights[size:]


def _vocabulary_of(words: Iterable[str]) -> Vocabulary:
    vocabulary = Vocabulary()
    for word in words:
        vocabulary[word]  # met in this order, it has this number
    return vocabulary


@dataclass(frozen=True, slots=True)
class Batch:
    """Some texts as numbers, end to end: `ids` and `weights` of their words, text i from `bounds[i]` on."""

    ids: Ints
    weights: Ints
    bounds: Ints

    @property
    def n_texts(self) -> int:
        """How many texts."""
        return len(self.bounds) - 1


@dataclass(frozen=True, slots=True)
class Grams:
    """The distinct n-grams of some texts: `owner` ascending, and within a text `hashes` ascending."""

    owner: Ints
    hashes: Hashes
    n_texts: int


@dataclass(frozen=True, slots=True)
class Pair:
    """A text of the index and a text beside it.

    Attributes
    ----------
    text, indexed : int
        Their places.
    of_indexed, of_text : float
        Weighted share of the indexed text's n-grams that stand in the other, and the reverse.
    n_indexed, n_text : int
        How many distinct n-grams each has.
    """

    text: int
    indexed: int
    of_indexed: float
    of_text: float
    n_indexed: int
    n_text: int


def batch_of(keys: Iterable[str], vocabulary: Vocabulary) -> Batch:
    """Texts, given as `words.key_of` writes them, as one batch."""
    import numpy as np

    ids: list[int] = []
    bounds = [0]
    for key in keys:
        ids.extend(map(vocabulary.__getitem__, key.split()))
        bounds.append(len(ids))
    numbers = np.array(ids, dtype=np.int64)
    table = np.array(vocabulary.weights, dtype=np.int64)
    weights = table[numbers] if len(numbers) else numbers
    return Batch(numbers, weights, np.array(bounds, dtype=np.int64))


def batches(keys: Sequence[str], vocabulary: Vocabulary, size: int = 1 << 20) -> Iterator[tuple[int, Batch]]:
    """`keys` in batches of about `size` characters, each with the place of its first text."""
    start = total = 0
    for place, key in enumerate(keys):
        total += len(key)
        if total >= size:
            yield start, batch_of(keys[start : place + 1], vocabulary)
            start, total = place + 1, 0
    if start < len(keys):
        yield start, batch_of(keys[start:], vocabulary)


def weight_of(key: str) -> int:
    """What the words of a text weigh together; `WORD` per word of a spaced script."""
    return WORD * len(key.split()) if key.isascii() else sum(map(weight, key.split()))


def long_enough(batch: Batch, n: int) -> NDArray[np.bool_]:
    """Which texts of a batch weigh as much as `n` words of a spaced script."""
    import numpy as np

    ends_at = np.concatenate([np.zeros(1, np.int64), np.cumsum(batch.weights)])
    enough: NDArray[np.bool_] = np.diff(ends_at[batch.bounds]) >= n * WORD
    return enough


def grams(batch: Batch, n: int) -> Grams:
    """The distinct n-grams of a batch as 64-bit hashes.

    An n-gram starts at any word and takes as many words as weigh `n` words of a spaced script: `n` words, or some
    1.7 n Chinese characters. It depends on nothing but the words from its start on, so it is the same in any text.
    The hash is a polynomial over mixed word numbers modulo 2^64; two of a billion n-grams collide by chance in about
    one run of forty.
    """
    import numpy as np

    n_words = len(batch.ids)
    ends_at = np.concatenate([np.zeros(1, np.int64), np.cumsum(batch.weights)])
    end = np.searchsorted(ends_at, ends_at[:-1] + n * WORD)
    owner = np.repeat(np.arange(batch.n_texts), np.diff(batch.bounds))
    start = np.flatnonzero(end <= batch.bounds[1:][owner])
    end, owner = end[start], owner[start]
    power, inverse = _powers(_BASE, n_words), _powers(_BASE_INVERSE, n_words)
    prefix = np.concatenate([np.zeros(1, np.uint64), np.cumsum(_mixed(batch.ids) * power)])
    hashes = _finished((prefix[end] - prefix[start]) * inverse[start])
    order = np.lexsort((hashes, owner))
    owner, hashes = owner[order], hashes[order]
    new = np.ones(len(owner), dtype=bool)
    new[1:] = (owner[1:] != owner[:-1]) | (hashes[1:] != hashes[:-1])
    return Grams(owner[new], hashes[new], batch.n_texts)


def _powers(base: int, count: int) -> Hashes:
    """``base ** i`` modulo 2^64."""
    import numpy as np

    factors = np.full(count, base, dtype=np.uint64)
    factors[:1] = 1
    return np.multiply.accumulate(factors)


def _mixed(ids: Ints) -> Hashes:
    """Word numbers spread over 64 bits (the finaliser of splitmix64, Steele et al. 2014)."""
    import numpy as np

    return _finished((ids.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15))


def _finished(z: Hashes) -> Hashes:
    """Every bit of a 64-bit number made to depend on every other."""
    import numpy as np

    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


class Index:
    """The n-grams of some texts, to stream other texts past.

    An n-gram that stands on many of the indexed texts says little about any one of them. Its weight is one
    over their number, and one on more than `COMMON` texts never makes a pair by itself. So a template's words count
    little beside what sets its items apart, and the work for a text is bounded whatever the template.
    """

    def __init__(self, found: Grams) -> None:
        import numpy as np

        self.n_texts = found.n_texts
        self.hashes, inverse, counts = np.unique(found.hashes, return_inverse=True, return_counts=True)
        self.texts_with = counts.astype(np.int64)
        # whole numbers, so that a sum is the same in any order
        self.weights = (_ONE // counts).astype(np.float64)
        self.postings = found.owner[np.argsort(inverse, kind="stable")]
        self.first = np.concatenate([np.zeros(1, np.int64), np.cumsum(self.texts_with)])
        self.grams = inverse.astype(np.int64)
        self.bounds = np.searchsorted(found.owner, np.arange(found.n_texts + 1))
        weights = self.weights[self.grams]
        common = self.texts_with[self.grams] > COMMON
        self.total = np.bincount(found.owner, weights, found.n_texts)
        self.common = np.bincount(found.owner[common], weights[common], found.n_texts)

    def pairs(self, found: Grams, threshold: float) -> list[Pair]:
        """The pairs of which a share reaches the threshold in one direction or the other."""
        import numpy as np

        if not len(self.hashes) or not len(found.hashes):
            return []
        place = np.minimum(np.searchsorted(self.hashes, found.hashes), len(self.hashes) - 1)
        known = self.hashes[place] == found.hashes
        total = np.bincount(found.owner, np.where(known, self.weights[place], _ONE), found.n_texts)
        sizes = np.bincount(found.owner, minlength=found.n_texts)
        owner, gram = found.owner[known], place[known]
        common = self.texts_with[gram] > COMMON
        of_common = np.bincount(owner[common], self.weights[gram[common]], found.n_texts)
        text, indexed, shared = self._proposed(owner[~common], gram[~common])
        reach = (shared + self.common[indexed] >= threshold * self.total[indexed] * (1 - 1e-12)) | (
            shared + of_common[text] >= threshold * total[text] * (1 - 1e-12)
        )
        bounds = np.searchsorted(owner, np.arange(found.n_texts + 1))
        pairs = []
        for t, e in zip(text[reach].tolist(), indexed[reach].tolist(), strict=True):
            own = self.grams[self.bounds[e] : self.bounds[e + 1]]
            both = np.intersect1d(own, gram[bounds[t] : bounds[t + 1]], assume_unique=True)
            sum_ = float(self.weights[both].sum())
            of_indexed, of_text = sum_ / float(self.total[e]), sum_ / float(total[t])
            if max(of_indexed, of_text) >= threshold:
                pairs.append(Pair(t, e, of_indexed, of_text, len(own), int(sizes[t])))
        return pairs

    def _proposed(self, owner: Ints, gram: Ints) -> tuple[Ints, Ints, Any]:
        """Pairs that share an n-gram which is not common: the text, the indexed text, the weight of what they share."""
        import numpy as np

        times = self.texts_with[gram]
        entry = np.repeat(np.arange(len(gram)), times)
        within = np.arange(len(entry)) - np.repeat(np.cumsum(times) - times, times)
        indexed = self.postings[self.first[gram[entry]] + within]
        keys, inverse = np.unique(owner[entry] * self.n_texts + indexed, return_inverse=True)
        shared = np.bincount(inverse, self.weights[gram[entry]], len(keys))
        return keys // self.n_texts, keys % self.n_texts, shared
