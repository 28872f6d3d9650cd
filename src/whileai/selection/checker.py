"""Some rows' texts -> which of them match the eval, and how; parts of a whole join to the same answer."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from whileai.selection.embedding import Embedded
from whileai.selection.overlap import Finder, Match, span
from whileai.selection.rewording import LEAST
from whileai.selection.shingles import weight_of
from whileai.selection.texts import Texts
from whileai.selection.words import WORD, shortened, shown

#: The rules in the order they are tried, and what the printed block calls them.
RULES = {
    "exact": "exact",
    "ngram": "n-gram containment",
    "near_duplicate": "near-duplicate",
    "reworded": "reworded",
    "embedding": "embedding",
}
_ORDER = list(RULES)


@dataclass(frozen=True, slots=True)
class Options:
    """How texts are compared; a rule that is ``None`` is not tried."""

    n: int
    threshold: float
    reworded: float | None
    embed: Callable[[list[str]], Any] | None


@dataclass(slots=True)
class Checked:
    """What was found on some rows.

    Attributes
    ----------
    ids : list
        One for each distinct text, equal for equal texts.
    of_row : list of list of int
        Per row, the places of its texts among `ids`.
    matches, spans : dict
        Place -> the match, and the text that shows it.
    short : set of int
        The places of texts under `n` words.
    any_long : bool
        Whether a text was long enough to be compared by its stems.
    """

    ids: list[Hashable] = field(default_factory=list)
    of_row: list[list[int]] = field(default_factory=list)
    matches: dict[int, Match] = field(default_factory=dict)
    spans: dict[int, str] = field(default_factory=dict)
    short: set[int] = field(default_factory=set)
    any_long: bool = False

    def best(self, places: Sequence[int]) -> int | None:
        """Which of a row's texts tells why it is left out: by the earliest rule, then the highest score."""
        hit = [place for place in places if place in self.matches]
        return min(hit, key=lambda p: (_ORDER.index(self.matches[p].rule), -self.matches[p].score), default=None)

    def for_the_road(self) -> Checked:
        """The same, with digests of 16 bytes in place of the texts."""
        self.ids = [hashlib.blake2b(str(i).encode("utf-8", "surrogatepass"), digest_size=16).digest() for i in self.ids]
        return self


def joined(parts: Iterable[Checked]) -> Checked:
    """What was found on the rows of all parts, in their order."""
    whole = Checked()
    places: dict[Hashable, int] = {}
    for part in parts:
        at = []
        for id_ in part.ids:
            place = places.setdefault(id_, len(whole.ids))
            if place == len(whole.ids):
                whole.ids.append(id_)
            at.append(place)
        whole.of_row.extend([at[place] for place in row] for row in part.of_row)
        whole.matches.update({at[place]: match for place, match in part.matches.items()})
        whole.spans.update({at[place]: span_ for place, span_ in part.spans.items()})
        whole.short.update(at[place] for place in part.short)
        whole.any_long = whole.any_long or part.any_long
    return whole


class Checker:
    """The eval and the rules, to check texts against. It goes to other processes by pickle.

    Parameters
    ----------
    other : Texts
        The texts of the eval.
    options : Options
        The rules.
    sample : sequence of str
        Some of the texts that will be checked, as `words.key_of` writes them.
    """

    def __init__(self, other: Texts, options: Options, sample: Sequence[str]) -> None:
        self.keys, self.originals, self.options = other.keys, other.originals, options
        self.finder = Finder(other.keys, options.n, options.threshold, options.reworded, sample)
        self.embedded: Embedded | None = None

    def prepare(self) -> None:
        """Ask for the vectors of the eval's texts, so that no other process has to."""
        if self.options.embed is not None and self.originals and self.embedded is None:
            self.embedded = Embedded(self.options.embed, self.originals, self.options.threshold)

    def check(self, rows: Sequence[Sequence[str]]) -> Checked:
        """What is found on some rows, given by their texts."""
        texts = Texts()
        for row in rows:
            texts.add(row)
        matches = self.finder.matches(texts.keys)
        if self.options.embed is not None and self.originals:
            stay = {place for row in texts.of_row if not any(map(matches.__contains__, row)) for place in row}
            rest = sorted(stay)
            if rest:
                self.prepare()
                assert self.embedded is not None
                near = self.embedded.nearest([texts.originals[place] for place in rest])
                matches.update({rest[place]: match for place, match in near.items()})
        spans = {place: self._span(texts, place, match) for place, match in matches.items()}
        weights = list(map(weight_of, texts.keys))
        short = {place for place, weight in enumerate(weights) if weight < self.options.n * WORD}
        any_long = max(weights, default=0) >= LEAST * WORD
        return Checked(list(texts.keys), texts.of_row, matches, spans, short, any_long)

    def _span(self, texts: Texts, place: int, match: Match) -> str:
        """The words that a text shares with what it matches, as a reader sees them, or the start of what it matches."""
        if match.rule == "exact":
            return shown(texts.keys[place].split())
        if match.rule in ("reworded", "embedding"):
            return shortened(" ".join(self.originals[match.against].split()), 80)
        return span(texts.keys[place], self.keys[match.against])
