"""Which of many texts say the same as one of a set of texts: exactly, by n-grams, or with a few words changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from whileai.selection import shingles
from whileai.selection.words import is_mark, shown

#: Near-duplicates are compared by shorter shingles, which one changed word spoils fewer of.
NEAR = 3
#: Shingles a text needs before most of them being shared means that only a few words changed.
NEAR_LEAST = 15
#: A change of more words than this is other text, no swap.
_LONGEST_SWAP = 8
#: Above this product of lengths two texts are not aligned word by word.
_MOST_CELLS = 4_000_000


@dataclass(frozen=True, slots=True)
class Match:
    """What a text was found to say: the rule, the place of the text it matches, and the share behind it."""

    rule: str
    against: int
    score: float


def matches(keys: Sequence[str], against: Sequence[str], n: int, threshold: float) -> dict[int, Match]:
    """The texts that match one of `against`, by place; both given as distinct `words.key_of` keys.

    The first rule that hits is the one given, and of its matches the one with the highest share, then the first.
    """
    places = {key: place for place, key in enumerate(against)}
    found = {place: Match("exact", places[key], 1.0) for place, key in enumerate(keys) if key in places}
    rest = [place for place in range(len(keys)) if place not in found]
    if not rest or not against:
        return found
    vocabulary = shingles.Vocabulary()
    eval_batch = shingles.batch_of(against, vocabulary)
    by_gram = shingles.Index(shingles.grams(eval_batch, n))
    by_shingle = shingles.Index(shingles.grams(eval_batch, NEAR))
    texts = [keys[place] for place in rest]
    for start, batch in shingles.batches(texts, vocabulary):
        local = texts[start : start + batch.n_texts]
        hits: dict[int, Match] = {}
        for rule, index, size in (("ngram", by_gram, n), ("near_duplicate", by_shingle, NEAR)):
            best: dict[int, Match] = {}
            for pair in index.pairs(shingles.grams(batch, size), threshold):
                if pair.text not in hits:
                    _keep(best, pair, rule, threshold, local[pair.text], against[pair.indexed])
            hits.update(best)
        found.update({rest[start + text]: match for text, match in hits.items()})
    return found


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
