"""Which of many texts say the same as one of a set: exactly, by n-grams, with a few words changed, or reworded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from whileai.selection import rewording, shingles
from whileai.selection.words import is_mark, shown

#: Near-duplicates are compared by shorter shingles, which one changed word spoils fewer of.
NEAR = 3
#: Shingles a text needs before most of them being shared means that only a few words changed.
NEAR_LEAST = 15
#: A change of more words than this is other text, no swap.
_LONGEST_SWAP = 8
#: Words kept in mind between batches beyond those of the eval.
_MOST_WORDS = 500_000
#: Above this product of lengths two texts are not aligned word by word.
_MOST_CELLS = 4_000_000


@dataclass(frozen=True, slots=True)
class Match:
    """What a text was found to say: the rule, the place of the text it matches, and the share behind it."""

    rule: str
    against: int
    score: float


class Finder:
    """The eval's texts, indexed, to find what says the same as one of them. It goes to other processes by pickle.

    Parameters
    ----------
    against : sequence of str
        The distinct texts of the eval, as `words.key_of` writes them.
    n : int
        Words of an n-gram.
    threshold : float
        Share of n-grams of a hit.
    reworded : float, optional
        Score of a rewording; ``None`` to look for none.
    sample : sequence of str
        Some of the texts that will be asked about, to learn which words are common.
    """

    def __init__(
        self,
        against: Sequence[str],
        n: int,
        threshold: float,
        reworded: float | None = None,
        sample: Sequence[str] = (),
    ) -> None:
        self.against, self.n, self.threshold, self.reworded = against, n, threshold, reworded
        self.places = {key: place for place, key in enumerate(against)}
        self.vocabulary = shingles.Vocabulary()
        batch = shingles.batch_of(against, self.vocabulary)
        self.by_gram = shingles.Index(shingles.grams(batch, n))
        self.by_shingle = shingles.Index(shingles.grams(batch, NEAR))
        self.stems = rewording.Stems(self.vocabulary)
        self.rewordings: rewording.Rewordings | None = None
        if reworded is not None:
            long = shingles.long_enough(batch, rewording.LEAST)
            others = [key for key in dict.fromkeys(sample) if key not in self.places]
            other_batch = shingles.batch_of(others, self.vocabulary)
            self.rewordings = rewording.Rewordings(self.stems.grams(batch), self.stems.grams(other_batch), long)
        self.size = len(self.vocabulary), self.stems.size()

    def matches(self, keys: Sequence[str]) -> dict[int, Match]:
        """The texts that match one of the eval's, by place; given distinct, as `words.key_of` writes them.

        The first rule that hits is the one given, and of its matches the one with the highest share, then the first.
        """
        found = {place: Match("exact", self.places[key], 1.0) for place, key in enumerate(keys) if key in self.places}
        if not self.against:
            return found
        rest = [place for place in range(len(keys)) if place not in found]
        texts = [keys[place] for place in rest]
        for start, batch in shingles.batches(texts, self.vocabulary):
            hits = self._in_batch(batch, texts[start : start + batch.n_texts])
            found.update({rest[start + text]: match for text, match in hits.items()})
            self._forget()
        return found

    def _in_batch(self, batch: shingles.Batch, texts: Sequence[str]) -> dict[int, Match]:
        """The matches of one batch by n-grams, then shingles, then stems."""
        hits: dict[int, Match] = {}
        for rule, index, size in (("ngram", self.by_gram, self.n), ("near_duplicate", self.by_shingle, NEAR)):
            best: dict[int, Match] = {}
            for pair in index.pairs(shingles.grams(batch, size), self.threshold):
                if pair.text not in hits:
                    _keep(best, pair, rule, self.threshold, texts[pair.text], self.against[pair.indexed])
            hits.update(best)
        if self.rewordings is not None and self.reworded is not None:
            long = shingles.long_enough(batch, rewording.LEAST)
            for near in self.rewordings.nearest(self.stems.grams(batch), self.reworded):
                first, second = texts[near.text].split(), self.against[near.indexed].split()
                if long[near.text] and near.text not in hits and not rewording.other_marks(first, second):
                    hits[near.text] = Match("reworded", near.indexed, near.score)
        return hits

    def _forget(self) -> None:
        """Let go of the words that only the texts asked about hold, once they are many."""
        n_words, n_stems = self.size
        if len(self.vocabulary) > n_words + _MOST_WORDS:
            self.vocabulary.forget(n_words)
            self.stems.forget(n_words, n_stems)


def _keep(best: dict[int, Match], pair: shingles.Pair, rule: str, threshold: float, text: str, other: str) -> None:
    """Keep a pair if the rule holds for it and no better one is kept."""
    least = NEAR_LEAST if rule == "near_duplicate" else 1
    shares = [
        share
        for share, size in ((pair.of_indexed, pair.n_indexed), (pair.of_text, pair.n_text))
        if share >= threshold and size >= least
    ]
    if not shares:
        return
    match = Match(rule, pair.indexed, max(shares))
    kept = best.get(pair.text)
    if kept is not None and (kept.score, -kept.against) >= (match.score, -match.against):
        return
    whole = rule == "ngram" and match.score == 1
    if whole or not swapped(text.split(), other.split()):
        best[pair.text] = match


def swapped(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether two texts, aligned word by word, have different numbers, symbols or single letters in short changes.

    ``what is 12 plus 7`` and ``what is 12 plus 8`` differ by one word and are two questions. A number added, left out
    or written in words is no swap. Texts too long to align are taken for not swapped.
    """
    if len(first) * len(second) > _MOST_CELLS:
        return False
    only_first: list[str] = []
    only_second: list[str] = []
    for tag, i, i_end, j, j_end in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        if tag != "equal" and max(i_end - i, j_end - j) <= _LONGEST_SWAP:
            only_first += filter(is_mark, first[i:i_end])
            only_second += filter(is_mark, second[j:j_end])
    return bool(only_first and only_second)


def span(text: str, other: str) -> str:
    """The longest run of words that two texts share, cut to fit a line; of texts too long to align, the first words."""
    first, second = text.split(), other.split()
    if len(first) * len(second) > _MOST_CELLS:
        first, second = first[:2000], second[:2000]
    run = SequenceMatcher(None, first, second, autojunk=False).find_longest_match()
    return shown(first[run.a : run.a + run.size])
