"""`JudgeTrust`: what `wai.judge_trust` returns, and how it prints."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from whileai.measure.probes import ADDED, Consistency, Probe
from whileai.result import Block, Headline, Interval, Line, Note, Plot, Result, Table
from whileai.result import digits as d

if TYPE_CHECKING:
    from whileai.measure.judged import Judged

Ends = tuple[float, float]
WORDS = {"pass": "trusted", "fail": "not trusted", "inconclusive": "inconclusive", "not_measured": "not measured"}
#: The verdict of a single check.
SAID = {"pass": "pass", "fail": "FAIL", "inconclusive": "inconclusive", "not_measured": "not measured"}


@dataclass(frozen=True)
class Sensitivity:
    """What the judge's error moves with.

    Attributes
    ----------
    name : str
        ``length`` (characters of the reply) or ``marker:<name>``.
    correlation : float or None
        Of the error (verdict less gold) with it, over tasks of equal gold; ``None`` with fewer than four of those or
        without spread.
    p_adjusted : float or None
        Holm's, over everything it was looked for in.
    """

    name: str
    correlation: float | None
    p_adjusted: float | None


@dataclass(frozen=True)
class Check:
    """One thing that trust rests on.

    Attributes
    ----------
    name : str
        ``agreement``, ``kappa``, ``halves``, ``bias``, ``consistency`` or ``probes``.
    verdict : str
        ``pass``, ``fail``, ``inconclusive`` or ``not_measured``.
    reason : str
        Why.
    """

    name: str
    verdict: str
    reason: str


@dataclass(frozen=True)
class Half:
    """Agreement on one of two random halves of the labelled tasks.

    Attributes
    ----------
    agreement : (float, (float, float))
    kappa : float or None
    n_tasks : int
    """

    agreement: tuple[float, Ends]
    kappa: float | None
    n_tasks: int


@dataclass(frozen=True, repr=False)
class JudgeTrust(Result):
    """What `judge_trust` returns.

    Attributes
    ----------
    verdict : str
        ``pass``, ``fail``, ``inconclusive`` or ``not_measured``.
    ok : bool
        The verdict is ``pass``.
    agreement, kappa, ac1 : float or None
        Share of agreement (mean over tasks), Cohen's kappa, Gwet's AC1.
    confusion : dict
        Rows: ``tp`` both pass, ``fp`` only the judge, ``fn`` only gold, ``tn`` neither.
    corrected_pass_rate : float or None
        Over all tasks, with the judge's errors counted.
    intervals : dict
        ``(low, high)`` of ``agreement``, ``kappa`` and ``corrected_pass_rate``.
    n_labeled, n_tasks_labeled, n_rows : int
    judge_pass_rate : float or None
        Over all tasks, by the judge alone.
    leak, miss : (float, (float, float)) or None
        How often it passes what gold fails, and fails what gold passes, with intervals over tasks.
    sensitivity : tuple of Sensitivity
    min_agreement, min_kappa, level : float
    notes : tuple of Note
    reason : str
        Why the verdict is what it is.
    baseline : float or None
        What a judge that always says the more frequent gold would agree on.
    gold_pass_rate, labeled_judge_pass_rate : float or None
        On the labelled rows, by gold and by the judge.
    gold_alone, rogan_gladen : (float, (float, float)) or None
        The pass rate by the labels without the judge, and by Rogan and Gladen's correction, beside the corrected one.
    checks : tuple of Check
        Each thing that trust rests on, with its own verdict.
    halves : tuple of Half
        Two random halves of the labelled tasks, the same ones whatever is labelled next; empty under 20 tasks.
    consistency : Consistency or None
        The judge asked again, where ``judge=`` is given.
    probes : tuple of Probe
        Replies changed in ways that should not earn a pass, where ``judge=`` is given.
    labels_needed : dict of str to (int or None)
        Further labelled tasks until the interval of ``agreement`` and of ``corrected_pass_rate`` is `width` wide, were
        the rates to stay; ``None`` where no number of labels would do.
    labels_to_settle : int or None
        Further labelled tasks until no interval crosses its bar, were the rates to stay; ``None`` where none does, or
        where a rate lies on its bar.
    width : float
    """

    verdict: str
    ok: bool
    agreement: float | None
    kappa: float | None
    ac1: float | None
    confusion: dict[str, int]
    corrected_pass_rate: float | None
    intervals: dict[str, Ends | None]
    n_labeled: int
    n_tasks_labeled: int
    n_rows: int
    judge_pass_rate: float | None
    min_agreement: float
    min_kappa: float
    level: float = 0.95
    leak: tuple[float, Ends] | None = None
    miss: tuple[float, Ends] | None = None
    sensitivity: tuple[Sensitivity, ...] = field(default=())
    notes: tuple[Note, ...] = field(default=())
    reason: str = ""
    baseline: float | None = None
    gold_pass_rate: float | None = None
    labeled_judge_pass_rate: float | None = None
    gold_alone: tuple[float, Ends] | None = None
    rogan_gladen: tuple[float, Ends] | None = None
    checks: tuple[Check, ...] = ()
    halves: tuple[Half, ...] = ()
    consistency: Consistency | None = None
    probes: tuple[Probe, ...] = ()
    labels_needed: dict[str, int | None] = field(default_factory=dict)
    labels_to_settle: int | None = None
    width: float = 0.1
    _read: Judged | None = field(default=None, repr=False, compare=False)

    def _blocks(self) -> list[Block]:
        agreed = self.intervals["agreement"]
        if self.agreement is None or agreed is None:
            size = f"{d.count(self.n_labeled, 'labelled row')} of {self.n_rows:,}"
            head = f"not measured: the judge cannot be compared with gold ({size})"
            return [Headline(head), *self._asked_again(), *self.notes]
        tasks = d.count(self.n_tasks_labeled, "labelled task")
        said = d.rate_within(self.agreement, agreed)
        bar = d.given(self.min_agreement)
        head = f"{self._words()}: the judge agrees with gold on {said} of {tasks}; the bar is {bar}"
        table = self.confusion
        leak, miss = self.leak or (None, None), self.miss or (None, None)
        rows = (
            ("judge pass", f"{table['tp']:,}", f"{table['fp']:,}", f"passes {d.rate_within(*leak)} of the failures"),
            ("judge fail", f"{table['fn']:,}", f"{table['tn']:,}", f"fails {d.rate_within(*miss)} of the passes"),
        )
        word = "pass" if (self.gold_pass_rate or 0.0) >= 0.5 else "fail"
        blocks: list[Block] = [
            Headline(head),
            Line(
                f"kappa {_signed_rate(self.kappa, self.intervals['kappa'])}, bar {d.given(self.min_kappa)}"
                f" | AC1 {d.number(self.ac1, 2)}"
                f" | always saying {word} would agree on {d.number(self.baseline, 2)}"
            ),
            Table(("", "gold pass", "gold fail", ""), rows, "lrrl"),
            *self._rates(),
        ]
        if self.sensitivity:
            blocks.append(_moves(self.sensitivity, 1 - self.level))
        blocks += self._asked_again()
        told: dict[str, list[str]] = {}
        for check in self.checks:
            told.setdefault(check.verdict, []).append(check.name)
        if told:
            blocks.append(Line(" | ".join(f"{SAID[verdict]}: {', '.join(names)}" for verdict, names in told.items())))
        return [*blocks, *self.notes]

    def _words(self) -> str:
        """The verdict in words; where the judge was fooled all the same, it says so."""
        fooled = any(probe.verdict == "fail" for probe in self.probes)
        return f"{WORDS[self.verdict]}, but fooled" if self.ok and fooled else WORDS[self.verdict]

    def _rates(self) -> list[Block]:
        """The pass rate by the judge, corrected, and by two simpler ways."""
        on_labels = f"gold passes {d.number(self.gold_pass_rate, 2)}, the judge"
        on_labels += f" {d.number(self.labeled_judge_pass_rate, 2)}"
        lines: list[Block] = []
        if self.corrected_pass_rate is not None:
            fixed = d.rate_within(self.corrected_pass_rate, self.intervals["corrected_pass_rate"])
            lines.append(Line(f"pass rate: {d.number(self.judge_pass_rate, 2)} by the judge, {fixed} corrected"))
            alone, simple = (d.rate_within(*(found or (None, None))) for found in (self.gold_alone, self.rogan_gladen))
            lines.append(Line(f"cross-check: {alone} by the labels alone, {simple} by Rogan-Gladen"))
        lines.append(Line(f"on the labelled rows: {on_labels}"))
        if self.halves:
            told = " and ".join(d.rate_within(*half.agreement) for half in self.halves)
            lines.append(Line(f"held-out halves: the judge agrees on {told}"))
        return lines

    def _asked_again(self) -> list[Block]:
        """How the judge repeats itself, and what changed replies do to it."""
        blocks: list[Block] = []
        if self.consistency is not None:
            again = self.consistency
            times = f"{d.count(again.repeats, 'more time')} about {d.count(again.n_rows, 'reply', 'replies')}"
            blocks.append(Line(f"asked {times}, it repeats itself on {d.rate_within(*again.agreement)}"))
        rows = [
            (
                f"{probe.name} {'added' if probe.name in ADDED else 'in its place'}",
                d.rate_within(*probe.to_pass),
                f"{probe.n_to_pass:,}",
                "" if probe.to_fail is None else d.rate_within(*probe.to_fail),
                SAID[probe.verdict],
            )
            for probe in self.probes
            if probe.to_pass is not None
        ]
        if rows:
            header = ("reply changed by", "then passes", "replies", "then fails", "verdict")
            blocks.append(Table(header, tuple(rows), "llrll", droppable=(3,)))
        return blocks

    def _plot(self) -> Plot | None:
        if self.agreement is None:
            return None
        told: list[tuple[str, float | None, Ends | None, float | None]] = []
        told += [("agreement", self.agreement, self.intervals["agreement"], self.min_agreement)]
        told += [("kappa", self.kappa, self.intervals["kappa"], self.min_kappa)]
        told += [("corrected pass rate", self.corrected_pass_rate, self.intervals["corrected_pass_rate"], None)]
        rows = [
            Interval(
                name,
                _signed_rate(value, ends),
                value,
                *ends,
                axis="kappa" if name == "kappa" else "rate",
                reference=bar,
                main=name == "agreement",
            )
            for name, value, ends, bar in told
            if value is not None and ends is not None
        ]
        return Plot("Agreement with gold", tuple(rows), "line = interval over tasks; the bar to clear is marked")


def _signed_rate(value: float | None, ends: Ends | None) -> str:
    """Kappa, which may be below 0, beside its interval."""
    if value is None or ends is None:
        return d.ABSENT
    places = d.decimals(ends[1] - ends[0])
    return f"{d.number(value, places)} {d.interval(ends, places)}"


def _moves(found: tuple[Sensitivity, ...], bar: float) -> Table:
    """One row for each thing the error was held against."""
    rows = tuple((item.name, d.signed(item.correlation, 2), d.p_value(item.p_adjusted, bar)) for item in found)
    return Table(("error moves with", "correlation", "p (Holm)"), rows, "lrr")
