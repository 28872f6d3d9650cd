"""What `wai.decontaminate` gives back: the hits, the report and its printed form."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from whileai.result import Block, Headline, Line, Note, Reported, Result, Table
from whileai.result import digits as d
from whileai.selection.checker import RULES
from whileai.selection.words import shortened

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
        ``exact``, ``ngram``, ``near_duplicate``, ``reworded`` or ``embedding``.
    score : float
        1 where the texts are equal; the weighted share of n-grams; by how much the nearest text is nearer than the
        next; the cosine. In [0, 1].
    span : str
        The longest run of words both share; by ``reworded`` and ``embedding`` the start of the text it matches. At
        most 80 characters.
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
    reworded : int or None
        Rows left out as rewordings; ``None`` where none were looked for, or no text on one side has eight words.
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
    reworded_threshold : float or None
        The score from which on a text was a rewording, ``None`` where none were looked for.
    hits : tuple of Hit
        The first 20 rows left out; all of them are in ``.hits`` of the list.
    notes : tuple of Note
    """

    n_rows: int
    n_dropped: int
    exact: int
    ngram: int
    near_duplicate: int
    reworded: int | None
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
    reworded_threshold: float | None
    hits: tuple[Hit, ...] = ()
    notes: tuple[Note, ...] = ()

    def _blocks(self) -> list[Block]:
        noun = "prompt" if self.fields == ("prompt",) else "text"
        verb = "is" if 1 in (self.n_prompts, self.n_prompts_hit) else "are"
        head = f"dropped {self.n_dropped:,} of {d.count(self.n_rows, 'row')}: {self.n_prompts_hit:,} of "
        head += f"{d.count(self.n_prompts, noun)} {verb} in the set checked against ({d.count(self.n_against, 'text')})"
        parts = {name: getattr(self, rule) for rule, name in RULES.items()}
        lines = [list(RULES.values())[:3], list(RULES.values())[3:]]
        if self.reworded is None and self.reworded_threshold is not None:  # asked for, with no text to try it on
            lines = [[*lines[0], RULES["embedding"]]]
        blocks: list[Block] = [Headline(head)]
        for names in lines:
            counts = [f"{name} {'not run' if parts[name] is None else d.count(parts[name], 'row')}" for name in names]
            blocks.append(Line(" | ".join(counts)))
        # an exact copy needs no proof; the other rules show what they go by
        examples = [hit for hit in self.hits if hit.rule != "exact"][:_MOST_PRINTED]
        if examples:
            cells = tuple(
                (f"{hit.row:,}", f"{hit.against:,}", hit.rule, d.rate(hit.score, 2), shortened(hit.span, 50))
                for hit in examples
            )
            blocks.append(Table(("row", "against", "rule", "score", "matched text"), cells, "rrlrl"))
        return [*blocks, *self.notes]


class Decontaminated(Reported[DecontaminateReport]):
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
        super().__init__(kept, report)
        self.dropped = dropped
        self.hits = hits
