"""`wai.label`: gold on rows from what people, programs or models said of them, by majority."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from whileai import keys, params
from whileai.measure.label_sources import CALL, Labels, read_labels
from whileai.readers.containers import listed
from whileai.readers.logs.tally import told_of
from whileai.result import Block, Headline, Line, Note, Reported, Result, Table, noted
from whileai.result import digits as d
from whileai.result.digits import count
from whileai.stats.raters import krippendorff_alpha, pairwise

KINDS = ("human", "program", "model")
#: Pairs of annotators that are printed.
_PAIRS = 10


@dataclass(frozen=True)
class Annotators:
    """Two annotators on the rows that both labelled.

    Attributes
    ----------
    names : (str, str)
    n : int
        Rows both labelled.
    agreement : float
    kappa : float or None
        Cohen's; ``None`` where chance alone would agree on everything.
    """

    names: tuple[str, str]
    n: int
    agreement: float
    kappa: float | None


@dataclass(frozen=True, repr=False)
class LabelReport(Result):
    """What `label` did.

    Attributes
    ----------
    kind : str
        ``human``, ``program`` or ``model``.
    n_rows, n_labeled : int
        Rows, and those that now have gold from these labels.
    n_pass : int
        Of those, the ones that pass.
    ties : tuple of int
        Places of the rows whose labels are as often pass as fail: they have no gold.
    annotators : dict of str to int
        Rows that each labelled.
    alpha : float or None
        Krippendorff's, nominal; ``None`` with one annotator, or where all labels are the same.
    pairs : tuple of Annotators
    n_unmatched : int
        Labels that belong to no row.
    notes : tuple of Note
    """

    kind: str
    n_rows: int
    n_labeled: int
    n_pass: int
    ties: tuple[int, ...]
    annotators: dict[str, int]
    alpha: float | None
    pairs: tuple[Annotators, ...]
    n_unmatched: int
    notes: tuple[Note, ...] = field(default=())

    def _blocks(self) -> list[Block]:
        rows = f"{self.n_labeled:,} of {count(self.n_rows, 'row')}"
        ties = f", {count(len(self.ties), 'tie')} without gold" if self.ties else ""
        head = f"labelled {rows}: {self.n_pass:,} pass, {self.n_labeled - self.n_pass:,} fail{ties}"
        who = ", ".join(f"{name} {n:,}" for name, n in self.annotators.items())
        blocks: list[Block] = [Headline(head)]
        if who:
            blocks.append(Line(f"{self.kind}: {who}"))
        if len(self.annotators) > 1:
            blocks.append(Line(f"Krippendorff's alpha {d.number(self.alpha, 3)}"))
        if self.pairs:
            cells = tuple(
                (" and ".join(pair.names), f"{pair.n:,}", d.number(pair.agreement, 2), d.number(pair.kappa, 3))
                for pair in self.pairs[:_PAIRS]
            )
            blocks.append(Table(("annotators", "rows", "agreement", "kappa"), cells, "lrrr"))
        if len(self.pairs) > _PAIRS:
            blocks.append(Line(f"and {len(self.pairs) - _PAIRS:,} more in .pairs"))
        return [*blocks, *self.notes]


class LabelledRows(Reported[LabelReport]):
    """The rows; ``print`` says what was done to them.

    Attributes
    ----------
    report : LabelReport
    """


def label(rows: Any, labels: Any, kind: str = "human") -> LabelledRows:
    """Copies of the rows with gold by majority of the labels.

    Parameters
    ----------
    rows : rows
        Anything that counts as data.
    labels : sequence, mapping, rows or path
        One label for each row, or a list or mapping of several annotators' for each; a mapping of annotator to one
        label for each row, or of task to label; records with ``label``, perhaps ``annotator``, and the ``key``,
        ``task_id`` (with ``rollout_index`` where a task has several rows) or ``index`` of the row; labelled copies of
        some of the rows; a file of any of those records, as `wai label` writes it. A label is a bool, 0 or 1, or a word
        for it; ``None`` is no label.
    kind : {"human", "program", "model"}
        Who gave them.

    Returns
    -------
    LabelledRows
        A list of all rows. A labelled one has ``gold_reward`` (0 or 1), ``gold_kind``, and ``gold_labels`` with what
        each annotator said; one whose labels tie has no ``gold_reward``. ``.report`` has the ties, Krippendorff's alpha
        and Cohen's kappa of every two annotators.

    Raises
    ------
    ParamError
        A label that is no verdict, another number of labels than rows, labels that belong to none of the rows.

    Examples
    --------
    >>> import whileai as wai
    >>> rows = [{"task_id": i, "final_text": str(i), "reward": 1} for i in range(3)]
    >>> [row.get("gold_reward") for row in wai.label(rows, {"ann": [1, 0, 1], "bob": [1, 0, 0]})]
    [1, 0, None]
    """
    params.one_of(CALL, "kind", kind, KINDS)
    given, told = listed(rows, CALL, "rows")
    found = read_labels(given, labels)
    out: list[dict[str, Any]] = []
    ties: list[int] = []
    said: dict[str, dict[int, int]] = {}
    for place, row in enumerate(given):
        new = dict(row)
        if place in found.sampling:
            new[keys.LABEL_SAMPLING] = dict(found.sampling[place])
        mine = found.said.get(place)
        if mine:
            before = row.get(keys.GOLD_LABELS)
            everyone = {**(before if isinstance(before, Mapping) else {}), **mine}
            _put(new, everyone, kind)
            if everyone and keys.GOLD_REWARD not in new:
                ties.append(place)
            for name, value in everyone.items():
                said.setdefault(str(name), {})[place] = int(value)
        out.append(new)
    notes = told_of({"rows": told, **found.told})
    return LabelledRows(out, noted(_report(out, found, ties, said, kind), notes))


def _put(row: dict[str, Any], said: Mapping[str, Any], kind: str) -> None:
    """Gold by majority; none where there is a tie or no label."""
    for key in (keys.GOLD_REWARD, keys.GOLD_KIND, keys.GOLD_LABELS):
        row.pop(key, None)
    passes = sum(map(int, said.values()))
    if said:
        row[keys.GOLD_LABELS] = dict(sorted(said.items()))
    if 2 * passes != len(said):
        row[keys.GOLD_REWARD] = int(2 * passes > len(said))
        row[keys.GOLD_KIND] = kind


def _report(
    rows: list[dict[str, Any]], found: Labels, ties: list[int], said: dict[str, dict[int, int]], kind: str
) -> LabelReport:
    gold = Counter(
        rows[place][keys.GOLD_REWARD] for place, mine in found.said.items() if mine and keys.GOLD_REWARD in rows[place]
    )
    units = [list(row[keys.GOLD_LABELS].values()) for row in rows if isinstance(row.get(keys.GOLD_LABELS), Mapping)]
    notes = []
    if ties:
        fix = "Ask one more annotator about them: .report.ties has their places."
        notes.append(Note("ties", f"{count(len(ties), 'row')} tied and got no gold.", fix))
    if found.n_unmatched:
        belong = "belongs" if found.n_unmatched == 1 else "belong"
        notes.append(Note("unmatched", f"{count(found.n_unmatched, 'label')} {belong} to no row here."))
    alpha = krippendorff_alpha(units) if len(said) > 1 else None
    if len(said) > 1 and alpha is None:
        notes.append(Note("no_alpha", "all labels are the same or no row has two, so alpha cannot be told."))
    return LabelReport(
        kind=kind,
        n_rows=len(rows),
        n_labeled=sum(gold.values()),
        n_pass=gold[1],
        ties=tuple(ties),
        annotators={name: len(said[name]) for name in sorted(said)},
        alpha=alpha,
        pairs=tuple(Annotators(names, *pair) for names, pair in pairwise(said).items()),
        n_unmatched=found.n_unmatched,
        notes=tuple(notes),
    )
