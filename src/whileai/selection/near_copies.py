"""Which of some texts say nearly the same as another, in time that grows with the texts and not with their pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from whileai.selection.overlap import swapped
from whileai.selection.shingles import Vocabulary, batch_of, grams
from whileai.selection.words import key_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Words of a shingle, and how often the texts are put into buckets: two that share .8 of their shingles land in one
#: bucket at least once with a chance of 1 - .2^12. A text is compared with the first few of each of its buckets.
SHINGLE, ROUNDS, COMPARED = 3, 12, 6
_STEP = 0x9E3779B97F4A7C15


def near_copies(texts: Sequence[str], threshold: float = 0.8) -> list[int]:
    """The places of the texts that are a copy, or nearly one, of a text in the list that is kept; ascending.

    Parameters
    ----------
    texts : sequence of str
    threshold : float
        The share of 3-word shingles, of the text with more of them, from which on two texts are near.

    Notes
    -----
    MinHash (Broder 1997): a text goes into a bucket by the least of its hashed shingles, twelve times, and is compared
    with the first few of each bucket. Texts joined by a chain of near pairs are one, of which the first is kept. Texts
    that differ in numbers, symbols or single letters are two, however near.
    """
    keys = [key_of(text) for text in texts]
    distinct = sorted(set(keys) - {""})
    one_of = dict(zip(distinct, _joined(distinct, threshold), strict=True))
    kept: set[int] = set()
    found = []
    for place, key in enumerate(keys):
        if key:
            if one_of[key] in kept:
                found.append(place)
            kept.add(one_of[key])
    return found


def _joined(keys: Sequence[str], threshold: float) -> list[int]:
    """A number for each distinct text, equal where a chain of near pairs joins two."""
    import numpy as np
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    shingles = grams(batch_of(keys, Vocabulary()), SHINGLE)
    bounds = np.searchsorted(shingles.owner, np.arange(len(keys) + 1))
    filled = np.flatnonzero(np.diff(bounds) > 0)
    sets = {text: shingles.hashes[bounds[text] : bounds[text + 1]] for text in filled.tolist()}
    near: list[tuple[int, int]] = []
    tried: set[tuple[int, int]] = set()
    for least in _least(shingles.hashes, bounds[filled]):
        buckets: dict[int, list[int]] = {}
        for text, bucket in zip(filled.tolist(), least.tolist(), strict=True):
            others = buckets.setdefault(bucket, [])
            for other in others:
                if (text, other) in tried:
                    continue
                tried.add((text, other))
                alike = _share(sets[text], sets[other]) >= threshold
                if alike and not swapped(keys[text].split(), keys[other].split()):
                    near.append((text, other))
            if len(others) < COMPARED:
                others.append(text)
    ends = tuple(np.array(near, dtype=np.int64).reshape(-1, 2).T)
    graph = csr_array((np.ones(len(near)), ends), shape=(len(keys), len(keys)))
    return list(map(int, connected_components(graph, directed=False)[1]))


def _least(hashes: NDArray[np.uint64], starts: NDArray[np.int64]) -> list[NDArray[np.uint64]]:
    """Per round, the least hash of each text."""
    import numpy as np

    if not len(starts):
        return []
    rounds = []
    for number in range(1, ROUNDS + 1):
        mixed = (hashes ^ np.uint64(number * _STEP & (1 << 64) - 1)) * np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(31)
        rounds.append(np.minimum.reduceat(mixed * np.uint64(0x94D049BB133111EB), starts))
    return rounds


def _share(first: NDArray[np.uint64], second: NDArray[np.uint64]) -> float:
    import numpy as np

    return len(np.intersect1d(first, second, assume_unique=True)) / max(len(first), len(second))
