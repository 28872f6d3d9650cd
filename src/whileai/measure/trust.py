"""`JudgeTrust`: what `wai.judge_trust` returns, and how it prints."""

from __future__ import annotations

from dataclasses import dataclass, field

from whileai.result import Block, Headline, Line, Note, Result, Table
from whileai.result import digits as d

Ends = tuple[float, float]
WORDS = {"pass": "trusted", "fail": "not trusted", "inconclusive": "inconclusive", "not_measured": "not measured"}


@dataclass(frozen=True)
class Sensitivity:
    """What the judge's error moves with.

    Attributes
    ----------
    name : str
        ``length`` (characters of the reply) or ``marker:<name>``.
    correlation : float or None
        Of the error (verdict less gold) with it, over tasks; ``None`` with fewer than four tasks or without spread.
    p_adjusted : float or None
        Holm's, over everything it was looked for in.
    """

    name: str
    correlation: float | None
    p_adjusted: float | None


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

    def _blocks(self) -> list[Block]:
        agreed = self.intervals["agreement"]
        if self.agreement is None or agreed is None:
            size = f"{d.count(self.n_labeled, 'labelled row')} of {self.n_rows:,}"
            return [Headline(f"not measured: the judge cannot be compared with gold ({size})"), *self.notes]
        tasks = d.count(self.n_tasks_labeled, "labelled task")
        said = d.rate_within(self.agreement, agreed)
        bar = d.given(self.min_agreement)
        head = f"{WORDS[self.verdict]}: the judge agrees with gold on {said} of {tasks}; the bar is {bar}"
        table = self.confusion
        leak, miss = self.leak or (None, None), self.miss or (None, None)
        rows = (
            ("judge pass", f"{table['tp']:,}", f"{table['fp']:,}", f"passes {d.rate_within(*leak)} of the failures"),
            ("judge fail", f"{table['fn']:,}", f"{table['tn']:,}", f"fails {d.rate_within(*miss)} of the passes"),
        )
        n = sum(table.values())
        passes = (table["tp"] + table["fn"]) / n
        word, share = ("pass", passes) if passes >= 0.5 else ("fail", 1 - passes)
        blocks: list[Block] = [
            Headline(head),
            Line(
                f"kappa {_signed_rate(self.kappa, self.intervals['kappa'])}, bar {d.given(self.min_kappa)}"
                f" | AC1 {d.number(self.ac1, 2)}"
                f" | always saying {word} would agree on {d.number(share, 2)}"
            ),
            Table(("", "gold pass", "gold fail", ""), rows, "lrrl"),
        ]
        if self.corrected_pass_rate is not None:
            fixed = d.rate_within(self.corrected_pass_rate, self.intervals["corrected_pass_rate"])
            blocks.append(Line(f"pass rate: {d.number(self.judge_pass_rate, 2)} by the judge, {fixed} corrected"))
        if self.sensitivity:
            blocks.append(_moves(self.sensitivity, 1 - self.level))
        return [*blocks, *self.notes]


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
