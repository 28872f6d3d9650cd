"""`wai.sample_for_labels`: which rows to label, drawn so that what the labels say holds for all rows."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from whileai import keys, params
from whileai.measure.gold import label_key, read_gold, stratum_of
from whileai.readers.containers import listed
from whileai.result import Block, Headline, Note, Reported, Result, Table
from whileai.result import digits as d
from whileai.result.digits import count
from whileai.scoring.replies import turn_of

CALL = "sample_for_labels"
#: Labels that every stratum gets, so that its own rate can be told.
_LEAST = 2
#: Earlier labels of a stratum from which they say how much its labels tell.
_PILOT = 10


@dataclass(frozen=True)
class Stratum:
    """The rows with one verdict of the judge.

    Attributes
    ----------
    name : str
        ``pass``, ``fail``, or ``all`` where no row is judged.
    n_rows, n_labeled, n_picked : int
        Rows, rows that have gold already, rows drawn now.
    probability : float
        The chance of each row to be labelled, then or now.
    """

    name: str
    n_rows: int
    n_labeled: int
    n_picked: int
    probability: float


@dataclass(frozen=True, repr=False)
class SampleReport(Result):
    """What `sample_for_labels` drew.

    Attributes
    ----------
    n_rows, n_picked : int
    seed : int
    strata : tuple of Stratum
    notes : tuple of Note
    """

    n_rows: int
    n_picked: int
    seed: int
    strata: tuple[Stratum, ...]
    notes: tuple[Note, ...] = field(default=())

    def _blocks(self) -> list[Block]:
        head = f"picked {self.n_picked:,} of {count(self.n_rows, 'row')} to label (seed {self.seed})"
        cells = tuple(
            (s.name, f"{s.n_rows:,}", f"{s.n_labeled:,}", f"{s.n_picked:,}", d.number(s.probability, 3))
            for s in self.strata
        )
        header = ("judge says", "rows", "labelled before", "picked", "chance")
        return [Headline(head), *([Table(header, cells, "lrrrr")] if cells else []), *self.notes]


class Sampled(Reported[SampleReport]):
    """The picked rows; ``print`` says how they were picked.

    Attributes
    ----------
    report : SampleReport
    """


def sample_for_labels(rows: Any, n: int, seed: int = 0, *, gold: str = keys.GOLD_REWARD) -> Sampled:
    """Rows whose labels tell most of the judge and of the true pass rate, drawn with known chances.

    Parameters
    ----------
    rows : rows
        Anything that counts as data, judged: ``reward`` is the judge's verdict. Rows with gold are not drawn again.
    n : int
        Rows to draw; all there are where that is less.
    seed : int
        Another seed draws other rows. The same one draws the same rows whatever their order, and more of them with a
        larger `n`.
    gold : str
        Key of the gold that some rows may have.

    Returns
    -------
    Sampled
        A list of copies, each with ``label_sampling``: ``design``, ``stratum``, ``population`` (its rows), ``sampled``,
        ``probability`` and ``seed``. `wai.label` carries it over to the rows, and `wai.judge_trust` and `wai.compare`
        weight by it.

    Raises
    ------
    ParamError
        `n` is no whole number of at least 1, or `seed` no whole number.

    Notes
    -----
    A random sample without replacement within each verdict of the judge. A verdict gets labels in proportion to the
    square root of its number of rows (power allocation, Bankier 1988), which serves the rare one as well: with it
    leaks, misses and kappa can be told, and the pass rate nearly as well as by a proportional share. Where a verdict
    has ten labels already, the square root is multiplied by the standard deviation that they show (Neyman 1934). Rows
    are drawn by task, so that two arms are labelled on the same tasks, as far as their verdicts allow.

    Examples
    --------
    >>> import whileai as wai
    >>> rows = [{"task_id": i, "final_text": str(i), "reward": int(i % 10 > 0)} for i in range(100)]
    >>> [len([row for row in wai.sample_for_labels(rows, 20) if row["reward"] == verdict]) for verdict in (1, 0)]
    [15, 5]
    """
    params.whole(CALL, "n", n)
    params.whole(CALL, "seed", seed, 0)
    given, told = listed(rows, CALL, "rows")
    has_gold = read_gold(given, CALL, gold).values
    fill = [keys.is_fill(row) for row in given]  # tell no rate, whatever their label
    judged = [None if out else stratum_of(row) for row, out in zip(given, fill, strict=True)]
    if not any(judged):
        judged = [None if out else "all" for out in fill]
    found = {name: [i for i, own in enumerate(judged) if own == name] for name in ("pass", "fail", "all")}
    members = {name: places for name, places in found.items() if places}
    open_ = {name: [i for i in places if math.isnan(has_gold[i])] for name, places in members.items()}
    wants = {name: _pull(members[name], has_gold) for name in members}
    share = allocated({name: len(open_[name]) for name in members}, wants, int(n))
    ranks = _ranks(given, int(seed))
    picked: list[tuple[int, dict[str, Any]]] = []
    strata = []
    for name, places in members.items():
        before = len(places) - len(open_[name])
        chance = (before + share[name]) / len(places)
        strata.append(Stratum(name, len(places), before, share[name], chance))
        ranked = sorted(open_[name], key=lambda i: (ranks[i], i))
        stamp = {
            "design": "stratified_by_verdict" if name != "all" else "simple",
            "stratum": name,
            "population": len(places),
            "sampled": share[name],
            "probability": chance,
            "seed": int(seed),
        }
        picked += [(i, {**given[i], keys.LABEL_SAMPLING: stamp}) for i in ranked[: share[name]]]
    chosen = [row for _, row in sorted(picked, key=lambda item: item[0])]
    notes = [*_notes(given, judged, strata, has_gold, int(n), len(chosen)), *told]
    return Sampled(chosen, SampleReport(len(given), len(chosen), int(seed), tuple(strata), tuple(notes)))


def _ranks(rows: Sequence[Mapping[str, Any]], seed: int) -> list[str]:
    """What rows are drawn by: the task and the turn, not the reply, so that two arms are labelled on the same tasks."""
    tasks = [str(keys.task_of(row)) for row in rows]
    times = Counter(tasks)
    turns: Counter[tuple[str, str]] = Counter((task, str(turn_of(row))) for task, row in zip(tasks, rows, strict=True))
    ranks = []
    for task, row in zip(tasks, rows, strict=True):
        turn = str(turn_of(row))
        name = "" if times[task] == 1 else turn if turns[task, turn] == 1 else label_key(row)
        text = f"label {seed} {name} {task}"
        ranks.append(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest())
    return ranks


def _pull(places: Sequence[int], gold: Any) -> float:
    """How many labels a stratum asks for, beside the others."""
    known = [gold[i] for i in places if gold[i] in (0, 1)]
    spread = 0.5
    if len(known) >= _PILOT:
        rate = (sum(known) + 1) / (len(known) + 2)
        spread = math.sqrt(rate * (1 - rate))
    return math.sqrt(len(places)) * spread


def allocated(sizes: Mapping[str, int], wants: Mapping[str, float], n: int) -> dict[str, int]:
    """`n` shared out as wanted, within what there is, by largest remainders."""
    n = min(n, sum(sizes.values()))
    share = {name: min(size, _LEAST if n >= _LEAST * len(sizes) else 0) for name, size in sizes.items()}
    while sum(share.values()) < n:
        # the next label goes where the fewest are for what is wanted (Sainte-Lague), ties by name
        room = [name for name in sizes if share[name] < sizes[name]]
        best = max(room, key=lambda name: (wants[name] / (2 * share[name] + 1), name))
        share[best] += 1
    return share


def _notes(
    rows: Sequence[Any], judged: Sequence[str | None], strata: Sequence[Stratum], gold: Any, n: int, n_picked: int
) -> list[Note]:
    notes = []
    if not rows:
        return [Note("no_rows", "there are no rows to draw from.")]
    if any(stratum.name == "all" for stratum in strata):
        notes.append(Note("no_verdicts", "no row has a binary verdict, so all had the same chance."))
    n_fill = sum(map(keys.is_fill, rows))
    if n_fill:
        added = "that was" if n_fill == 1 else "that were"
        text = f"{count(n_fill, 'row')} {added} added because of earlier outcomes could not be drawn."
        notes.append(Note("fill_rows", text))
    n_out = sum(own is None for own in judged) - n_fill
    if n_out:
        notes.append(Note("not_drawn", f"{count(n_out, 'row')} without a binary verdict could not be drawn."))
    if n_picked < n:
        notes.append(Note("few_rows", f"only {count(n_picked, 'row')} without gold could be drawn, not {n:,}."))
    n_before = sum(
        not math.isnan(gold[i]) and keys.LABEL_SAMPLING not in row for i, row in enumerate(rows) if judged[i]
    )
    if n_before:
        text = f"{count(n_before, 'row')} had gold before; they are taken as drawn at random within their verdict."
        notes.append(Note("earlier_labels", text))
    return notes
