"""`wai.decontaminate`: which rows hold a question of the eval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from whileai import params
from whileai.errors import ParamError
from whileai.readers.containers import listed
from whileai.readers.logs.tally import told_of
from whileai.result import Note, noted
from whileai.result import digits as d
from whileai.selection.checker import Checked, Checker, Options
from whileai.selection.contamination import Decontaminated, DecontaminateReport, Hit
from whileai.selection.ray_check import check_on_ray
from whileai.selection.rewording import LEAST
from whileai.selection.shingles import weight_of
from whileai.selection.texts import CALL, Texts, field_names, sample_of, texts_against, texts_of_rows
from whileai.selection.words import WORD

#: The score from which on a text is a rewording; docs/design/decontaminate.md says what it finds and what it flags.
REWORDED = 0.3
ENGINES = ("ray",)
_MOST_EXAMPLES = 20


def decontaminate(
    rows: Any,
    against: Any,
    *,
    fields: str | Sequence[str] = ("prompt",),
    n: int = 8,
    threshold: float = 0.8,
    embed: Callable[[list[str]], Any] | None = None,
    reworded: bool | float = True,
    engine: str | None = None,
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
    reworded : bool or float
        Whether to look for rewordings; a number in (0, 1] is the score from which on a text is one (0.3). With a
        threshold of 1, which asks for the same words, only a number looks for them.
    engine : {None, "ray"}
        ``"ray"`` checks the texts on the workers of Ray, started here if it is not running. The answer is the same;
        rows and result stay in this process. `embed` is sent to the workers and called for each batch of rows there, so
        that it may see a text more than once.

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
    MissingExtra
        `engine` is ``"ray"`` and Ray is not installed.

    Notes
    -----
    A text is a hit by the first rule that holds. *Exact*: the same words after NFKC, case folding and without
    punctuation and spaces. *N-gram containment* (Brown et al. 2020, arXiv:2005.14165, appendix C, with a share in place
    of any match): of the distinct n-grams of the one text, `threshold` or more stand in the other, in either direction.
    *Near-duplicate*: the same of 3-grams (Broder 1997), of a text with at least 15. Each n-gram counts one over the
    number of eval texts that hold it, so what a template repeats does not make its items copies of each other, and one
    on over 20 eval texts makes no hit by itself. A partial match where a number, a symbol or a single letter was
    swapped for another is another question.

    *Reworded*: of two texts of eight words or more, the cosine of their sets of stems, each stem weighed by its inverse
    document frequency (Sparck Jones 1972) over the eval's texts and up to some 40,000 of the others, less half the
    cosine with the eval text that comes next, reaches `reworded`, and they share more than two of so many texts would
    by chance. Other numbers make another question here too. Only stems on at most 200 eval texts propose a pair, and
    the 16 pairs that share most of them are compared in full.
    *Embedding*: the cosine reaches the threshold.

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
    bar = _bar(reworded, threshold)
    if engine is not None:
        params.one_of(CALL, "engine", engine, ENGINES, "None or 'ray'")
    data, told = listed(rows, CALL, "rows")
    other, tasks, told_against = texts_against(against, names)
    texts, unread = texts_of_rows(data, names)
    sample = sample_of(texts) if bar is not None and other.keys else []
    checker = Checker(other, Options(n, threshold, bar, embed), sample)
    found = checker.check(texts) if engine is None else check_on_ray(checker, texts)
    by_row = [found.best(places) for places in found.of_row]
    hits = []
    for row, place in enumerate(by_row):
        if place is not None:
            match = found.matches[place]
            at = other.rows[match.against]
            hits.append(Hit(row, at, tasks[at], match.rule, match.score, found.spans[place]))
    report = noted(
        _report(found, other, unread, hits, (names, checker.options)),
        told_of({"rows": told, "against": told_against}),
    )
    kept = [row for row, place in zip(data, by_row, strict=True) if place is None]
    left_out = [row for row, place in zip(data, by_row, strict=True) if place is not None]
    return Decontaminated(kept, left_out, hits, report)


def _bar(reworded: Any, threshold: float) -> float | None:
    """The score of a rewording, ``None`` to look for none."""
    if isinstance(reworded, bool):
        return REWORDED if reworded and threshold < 1 else None
    return params.real(CALL, "reworded", reworded, "True, False or a number above 0 and at most 1", 0, 1, ends="(]")


def _report(
    found: Checked,
    other: Texts,
    unread: dict[str, int],
    hits: Sequence[Hit],
    settings: tuple[tuple[str, ...], Options],
) -> DecontaminateReport:
    """The counts of one call."""
    names, options = settings
    by_rule = Counter(hit.rule for hit in hits)
    left_out = {hit.row for hit in hits}
    short_rows = [
        places
        for row, places in enumerate(found.of_row)
        if places and row not in left_out and found.short >= set(places)
    ]
    weights = list(map(weight_of, other.keys))
    short_against = sum(weight < options.n * WORD for weight in weights)
    n_missing = sum(not places for places in found.of_row)
    checked = len(found.of_row) - len(short_rows) - by_rule["exact"] - n_missing
    ran = options.reworded is not None and found.any_long and max(weights, default=0) >= LEAST * WORD
    report = DecontaminateReport(
        n_rows=len(found.of_row),
        n_dropped=len(hits),
        exact=by_rule["exact"],
        ngram=by_rule["ngram"],
        near_duplicate=by_rule["near_duplicate"],
        reworded=by_rule["reworded"] if ran else None,
        embedding=by_rule["embedding"] if options.embed is not None else None,
        n_prompts=len(found.ids),
        n_prompts_hit=len(found.matches),
        n_against=len(other.keys),
        n_missing=n_missing,
        n_too_short=len(short_rows),
        n_against_too_short=short_against,
        fields=names,
        n=options.n,
        threshold=options.threshold,
        reworded_threshold=options.reworded,
        hits=tuple(hits[:_MOST_EXAMPLES]),
    )
    n_short_texts = len({place for places in short_rows for place in places})
    notes = _notes(report, other, unread, n_short_texts, against_short=checked > 0 and short_against > 0)
    object.__setattr__(report, "notes", tuple(notes))
    return report


def _notes(
    report: DecontaminateReport, other: Texts, unread: dict[str, int], n_short_texts: int, *, against_short: bool
) -> list[Note]:
    """What was not checked, weightiest first."""
    notes = []
    if not report.n_rows:
        notes.append(Note("no_rows", "there are no rows, so nothing was checked."))
    if not other.keys:
        text = "there is no text to check against, so every row stays unchecked."
        notes.append(Note("empty_against", text, "Pass the eval's rows or its prompts as strings."))
        return notes
    for name, rows in unread.items():
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
    without = len(other.of_row) - sum(bool(places) for places in other.of_row)
    if without:
        text = f"{without:,} of {d.count(len(other.of_row), 'row')} checked against have no text in the fields."
        notes.append(Note("missing_against", text))
    return notes
