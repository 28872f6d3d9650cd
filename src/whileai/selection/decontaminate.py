"""`wai.decontaminate`: which rows hold a question of the eval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from whileai import params
from whileai.errors import ParamError
from whileai.readers.containers import as_list
from whileai.result import Block, Headline, Line, Note, Result, Table
from whileai.result import digits as d
from whileai.selection import embedding, overlap
from whileai.selection.shingles import weight_of
from whileai.selection.texts import CALL, Texts, field_names, texts_against, texts_of_rows
from whileai.selection.words import WORD, shortened, shown

#: The rules in the order they are tried, and what the printed block calls them.
RULES = {
    "exact": "exact",
    "ngram": "n-gram containment",
    "near_duplicate": "near-duplicate",
    "embedding": "embedding",
}
_MOST_EXAMPLES = 20
_MOST_PRINTED = 5


@dataclass(frozen=True, slots=True)
class Hit:
    """One row that was left out.

    Attributes
    ----------
    row : int
        Its place among the rows given, from 0.
    against : int
        The place of what it matches among the rows or strings checked against, from 0.
    task : str or None
        The task of that row, ``None`` for a plain string or a row without id and prompt.
    rule : str
        ``exact``, ``ngram``, ``near_duplicate`` or ``embedding``.
    score : float
        1 where the texts are equal; the weighted share of n-grams; the cosine. In [0, 1].
    span : str
        The longest run of words both share, at most 80 characters; empty by embedding.
    """

    row: int
    against: int
    task: str | None
    rule: str
    score: float
    span: str


@dataclass(frozen=True, repr=False)
class DecontaminateReport(Result):
    """What `decontaminate` did, under ``.report``.

    Attributes
    ----------
    n_rows, n_dropped : int
        Rows given, rows left out.
    exact, ngram, near_duplicate : int
        Rows left out by each rule; the first rule that hits is the one counted.
    embedding : int or None
        Rows left out by cosine, ``None`` where no embedding was given.
    n_prompts, n_prompts_hit : int
        Distinct texts on the rows, and how many of them match.
    n_against : int
        Distinct texts checked against.
    n_missing : int
        Rows without a text in any of the fields, kept unchecked.
    n_too_short, n_against_too_short : int
        Rows that stay and whose texts all have fewer than `n` words, so that n-grams were not checked on them; distinct
        texts checked against that are as short.
    fields : tuple of str
    n : int
    threshold : float
    hits : tuple of Hit
        The first 20 rows left out; all of them are in ``.hits`` of the list.
    notes : tuple of Note
    """

    n_rows: int
    n_dropped: int
    exact: int
    ngram: int
    near_duplicate: int
    embedding: int | None
    n_prompts: int
    n_prompts_hit: int
    n_against: int
    n_missing: int
    n_too_short: int
    n_against_too_short: int
    fields: tuple[str, ...]
    n: int
    threshold: float
    hits: tuple[Hit, ...] = ()
    notes: tuple[Note, ...] = ()

    def _blocks(self) -> list[Block]:
        noun = "prompt" if self.fields == ("prompt",) else "text"
        verb = "is" if 1 in (self.n_prompts, self.n_prompts_hit) else "are"
        head = f"dropped {self.n_dropped:,} of {d.count(self.n_rows, 'row')}: {self.n_prompts_hit:,} of "
        head += f"{d.count(self.n_prompts, noun)} {verb} in the set checked against ({d.count(self.n_against, 'text')})"
        counts = [(name, getattr(self, rule)) for rule, name in RULES.items()]
        parts = [f"{name} {'not run' if rows is None else d.count(rows, 'row')}" for name, rows in counts]
        blocks: list[Block] = [Headline(head), Line(" | ".join(parts))]
        # an exact copy needs no proof; the other rules show what they go by
        examples = [hit for hit in self.hits if hit.rule != "exact"][:_MOST_PRINTED]
        if examples:
            cells = tuple(
                (f"{hit.row:,}", f"{hit.against:,}", hit.rule, d.rate(hit.score, 2), shortened(hit.span, 50))
                for hit in examples
            )
            blocks.append(Table(("row", "against", "rule", "score", "shared words"), cells, "rrlrl"))
        return [*blocks, *self.notes]


class Decontaminated(list[dict[str, Any]]):
    """The rows that stay, in order, the same dicts.

    Attributes
    ----------
    dropped : list of dict
        The rows left out, in order.
    hits : list of Hit
        Why, one for each row left out.
    report : DecontaminateReport
        The counts; ``print`` of the list prints it.
    """

    def __init__(
        self,
        kept: Iterable[dict[str, Any]],
        dropped: list[dict[str, Any]],
        hits: list[Hit],
        report: DecontaminateReport,
    ) -> None:
        super().__init__(kept)
        self.dropped = dropped
        self.hits = hits
        self.report = report

    def __str__(self) -> str:
        return str(self.report)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (list(self), self.dropped, self.hits, self.report)


def decontaminate(
    rows: Any,
    against: Any,
    *,
    fields: str | Sequence[str] = ("prompt",),
    n: int = 8,
    threshold: float = 0.8,
    embed: Callable[[list[str]], Any] | None = None,
) -> Decontaminated:
    """The rows that hold no text of an eval.

    Parameters
    ----------
    rows : rows
        Anything that counts as data: what is to be trained on. They are not changed.
    against : rows or strings
        Anything that counts as data, or plain strings, or both mixed: the eval.
    fields : str or list of str
        Keys (dotted paths too) whose texts are compared, each on a row with each on an eval row. Of a message list, the
        user's turns; a row with ``messages`` and no ``prompt`` has its prompt there.
    n : int
        Words of an n-gram. In scripts written without spaces characters count for a part of a word.
    threshold : float
        Share of n-grams, and cosine, from which on a text is a hit, in (0, 1].
    embed : callable, optional
        From a list of strings to one vector each. Called with the distinct texts that no other rule hit, at most 1,024
        at a time.

    Returns
    -------
    Decontaminated
        A list of the rows that stay, with ``.dropped``, ``.hits`` and ``.report``. Rows without the fields stay and are
        counted. With nothing to check against all rows stay, and a note says so.

    Raises
    ------
    ParamError
        An argument outside its bound; a field that no row has, on either side; an `embed` that does not return one
        finite vector other than zero for each text.
    TypeError
        What is no data.

    Notes
    -----
    A text is a hit by the first rule that holds. *Exact*: the same words after NFKC, case folding and without
    punctuation and spaces. *N-gram containment* (Brown et al. 2020, arXiv:2005.14165, appendix C, with a share in place
    of any match): of the distinct n-grams of the one text, `threshold` or more stand in the other, in either direction.
    *Near-duplicate*: the same of 3-grams (Broder 1997), of a text with at least 15. Each n-gram counts one over the
    number of eval texts that hold it, so what a template repeats does not make its items copies of each other, and one
    on over 20 eval texts makes no hit by itself. A partial match where a number, a symbol or a single letter was
    swapped for another is another question. *Embedding*: the cosine reaches the threshold.

    Examples
    --------
    >>> import whileai as wai
    >>> rows = [{"prompt": "What is 2 + 3?"}, {"prompt": "What is 2 - 3?"}]
    >>> wai.decontaminate(rows, ["what is 2+3"])
    [{'prompt': 'What is 2 - 3?'}]
    """
    names = field_names(fields)
    n = params.whole(CALL, "n", n)
    threshold = params.real(CALL, "threshold", threshold, "above 0 and at most 1", 0, 1, ends="(]")
    if embed is not None and not callable(embed):
        raise ParamError.of(CALL, "embed", "a function from a list of strings to their vectors", embed)
    data = as_list(rows, CALL, "rows")
    other, tasks = texts_against(against, names)
    texts = texts_of_rows(data, names)
    matches = overlap.matches(texts.keys, other.keys, n, threshold)
    rows_by_rule = [_best(places, matches) for places in texts.of_row]
    if embed is not None:
        dropped = {place for row, hit in enumerate(rows_by_rule) if hit is not None for place in texts.of_row[row]}
        rest = [place for place in range(len(texts.keys)) if place not in dropped]
        near = embedding.nearest(embed, [texts.originals[place] for place in rest], other.originals, threshold)
        matches.update({rest[place]: match for place, match in near.items()})
        rows_by_rule = [_best(places, matches) for places in texts.of_row]
    spans = {place: _span(place, matches[place], texts, other) for place in set(rows_by_rule) if place is not None}
    hits = []
    for row, place in enumerate(rows_by_rule):
        if place is not None:
            match = matches[place]
            at = other.rows[match.against]
            hits.append(Hit(row, at, tasks[at], match.rule, match.score, spans[place]))
    report = _report(texts, other, matches, rows_by_rule, hits, (names, n, threshold, embed is not None))
    kept = [row for row, hit in zip(data, rows_by_rule, strict=True) if hit is None]
    left_out = [row for row, hit in zip(data, rows_by_rule, strict=True) if hit is not None]
    return Decontaminated(kept, left_out, hits, report)


def _best(places: Sequence[int], matches: dict[int, overlap.Match]) -> int | None:
    """Which of a row's texts tells why it is left out: by the earliest rule, then the highest score."""
    order = list(RULES)
    hit = [place for place in places if place in matches]
    return min(hit, key=lambda p: (order.index(matches[p].rule), -matches[p].score), default=None)


def _span(place: int, match: overlap.Match, texts: Texts, other: Texts) -> str:
    """The words that a text shares with what it matches, as a reader sees them."""
    if match.rule == "embedding":
        return ""
    if match.rule == "exact":
        return shown(texts.keys[place].split())
    return overlap.span(texts.keys[place], other.keys[match.against])


def _report(
    texts: Texts,
    other: Texts,
    matches: dict[int, overlap.Match],
    rows_by_rule: Sequence[int | None],
    hits: Sequence[Hit],
    options: tuple[tuple[str, ...], int, float, bool],
) -> DecontaminateReport:
    """The counts of one call."""
    names, n, threshold, embedded = options
    by_rule = Counter(hit.rule for hit in hits)
    short = {place for place, key in enumerate(texts.keys) if place not in matches and weight_of(key) < n * WORD}
    short_rows = [
        places
        for places, hit in zip(texts.of_row, rows_by_rule, strict=True)
        if hit is None and places and short.issuperset(places)
    ]
    short_against = sum(weight_of(key) < n * WORD for key in other.keys)
    n_missing = sum(not places for places in texts.of_row)
    checked = len(texts.of_row) - len(short_rows) - by_rule["exact"] - n_missing
    report = DecontaminateReport(
        n_rows=len(texts.of_row),
        n_dropped=len(hits),
        exact=by_rule["exact"],
        ngram=by_rule["ngram"],
        near_duplicate=by_rule["near_duplicate"],
        embedding=by_rule["embedding"] if embedded else None,
        n_prompts=len(texts.keys),
        n_prompts_hit=len(matches),
        n_against=len(other.keys),
        n_missing=n_missing,
        n_too_short=len(short_rows),
        n_against_too_short=short_against,
        fields=names,
        n=n,
        threshold=threshold,
        hits=tuple(hits[:_MOST_EXAMPLES]),
    )
    n_short_texts = len({place for places in short_rows for place in places})
    notes = _notes(report, texts, other, n_short_texts, against_short=checked > 0 and short_against > 0)
    object.__setattr__(report, "notes", tuple(notes))
    return report


def _notes(
    report: DecontaminateReport, texts: Texts, other: Texts, n_short_texts: int, *, against_short: bool
) -> list[Note]:
    """What was not checked, weightiest first."""
    notes = []
    if not report.n_rows:
        notes.append(Note("no_rows", "there are no rows, so nothing was checked."))
    if not other.keys:
        text = "there is no text to check against, so every row stays unchecked."
        notes.append(Note("empty_against", text, "Pass the eval's rows or its prompts as strings."))
        return notes
    for name, rows in texts.unread.items():
        if rows:
            verb = "has" if rows == 1 else "have"
            text = f"{d.count(rows, 'row')} {verb} no text in {name}, which was not checked there."
            notes.append(Note("missing_field", text, "Name other fields= if the text is elsewhere."))
    remedies = ["lower n="] * (report.n > 1) + ["pass embed="] * (report.embedding is None)
    lower = f"{' or '.join(remedies)}.".capitalize() if remedies else ""
    noun = "prompt" if report.fields == ("prompt",) else "text"
    words = d.count(report.n, "word")
    if report.n_too_short:
        text = (
            f"{d.count(n_short_texts, noun)} under {words}, no n-gram checked on {d.count(report.n_too_short, 'row')}."
        )
        notes.append(Note("too_short", text, lower))
    if against_short:
        text = f"{report.n_against_too_short:,} of {d.count(report.n_against, 'text')} checked against under {words}: "
        notes.append(Note("short_against", f"{text}found as exact copies only.", lower))
    unread = len(other.of_row) - sum(bool(places) for places in other.of_row)
    if unread:
        text = f"{unread:,} of {d.count(len(other.of_row), 'row')} checked against have no text in the fields."
        notes.append(Note("missing_against", text))
    return notes
