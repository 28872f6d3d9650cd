"""`JudgeComparison`: what `wai.compare_judges` returns, and how it prints."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from whileai.result import Block, Headline, Interval, Note, Plot, Result, Table
from whileai.result import digits as d

Ends = tuple[float, float]


@dataclass(frozen=True)
class JudgeScore:
    """One judge.

    Attributes
    ----------
    name : str
    agreement, kappa, ac1 : float or None
        With gold, on the rows that every judge has judged; `kappa` ``None`` where chance would agree on everything, all
        ``None`` for a judge without a single binary verdict, which stands last and holds no other back.
    interval : (float, float) or None
        Of `agreement`, over tasks.
    kappa_interval : (float, float) or None
    confusion : dict of str to int
    behind : float or None
        Agreement of the first judge less its own, over tasks; ``None`` for the first.
    behind_interval : (float, float) or None
    p_value, p_adjusted : float or None
        Exact sign-flip test that it agrees as often as the first on every task, and Holm's over the judges.
    n_judged, n_unusable : int
        Labelled rows with a binary verdict of its, and without.
    seconds : float or None
        A verdict on average: wall time over verdicts where it was asked here, else ``seconds`` of `judge_meta`.
    cost : float or None
        A verdict on average, in the currency of ``cost`` in `judge_meta` or of its ``usage``; ``None`` where it is
        not told.
    tokens : float or None
        A verdict on average, where ``usage`` tells it.
    """

    name: str
    agreement: float | None
    interval: Ends | None
    kappa: float | None
    kappa_interval: Ends | None
    ac1: float | None
    confusion: dict[str, int]
    behind: float | None
    behind_interval: Ends | None
    p_value: float | None
    p_adjusted: float | None
    n_judged: int
    n_unusable: int
    seconds: float | None
    cost: float | None
    tokens: float | None


@dataclass(frozen=True, repr=False)
class JudgeComparison(Result):
    """What `compare_judges` returns.

    Attributes
    ----------
    verdict : str
        ``best``: the first agrees with gold more often than every other, proven; ``tied``: not proven of all;
        ``not_measured``: no row with gold that all have judged, or gold of one class.
    ok : bool
        The verdict is ``best``.
    best : str or None
        The first in the order, where something was measured.
    judges : tuple of JudgeScore
        By agreement, ties by kappa, then by name.
    n_rows, n_tasks : int
        Labelled rows that every judge has judged, and their tasks.
    level : float
    notes : tuple of Note
    """

    verdict: str
    ok: bool
    best: str | None
    judges: tuple[JudgeScore, ...]
    n_rows: int
    n_tasks: int
    level: float
    notes: tuple[Note, ...] = field(default=())

    def __getitem__(self, name: str) -> Any:
        for judge in self.judges:
            if judge.name == name:
                return judge
        return super().__getitem__(name)

    def _blocks(self) -> list[Block]:
        if self.verdict == "not_measured":
            size = d.count(self.n_rows, "row")
            return [Headline(f"not measured: {size} with gold of both kinds judged by all"), *self.notes]
        first = self.judges[0]
        said = d.rate_within(first.agreement, first.interval)
        others = len(self.judges) - 1
        if not others:
            words = "only one judge"
        elif self.ok:
            words = "best"
        else:
            words = "no judge proven best"
        tasks = d.count(self.n_tasks, "labelled task")
        head = f"{words}: {first.name} agrees with gold on {said} of {tasks}"
        rows = tuple(self._row(judge) for judge in self.judges)
        header = ("judge", "agreement", "kappa", "behind", "p (Holm)", "s", "cost", "unusable")
        told = [place for place in range(len(header)) if any(row[place] for row in rows)]
        cells = tuple(tuple(row[place] for place in told) for row in rows)
        kept = tuple(header[place] for place in told)
        droppable = tuple(place for place in reversed(range(len(kept))) if kept[place] in header[5:])
        table = Table(kept, cells, "".join("lllllrrr"[place] for place in told), droppable=droppable)
        return [Headline(head), table, *self.notes]

    def _row(self, judge: JudgeScore) -> tuple[str, ...]:
        behind = ""
        if judge.behind is not None and judge.behind_interval is not None:
            ends = judge.behind_interval
            places = d.honest_decimals(d.decimals(ends[1] - ends[0]), (*ends, judge.behind), (0.0,))
            behind = f"{d.signed(judge.behind, places)} {d.interval(ends, places, sign=True)}"
        return (
            judge.name,
            d.ABSENT if judge.agreement is None else d.rate_within(judge.agreement, judge.interval),
            d.number(judge.kappa, 2) if judge.kappa is not None else "",
            behind,
            "" if judge.p_adjusted is None else d.p_value(judge.p_adjusted, 1 - self.level),
            "" if judge.seconds is None else f"{judge.seconds:.2g}",
            "" if judge.cost is None else f"{judge.cost:.2g}",
            f"{judge.n_unusable:,}",
        )

    def _plot(self) -> Plot | None:
        rows = [
            Interval(judge.name, d.rate_within(judge.agreement, judge.interval), judge.agreement, *judge.interval)
            for judge in self.judges
            if judge.agreement is not None and judge.interval is not None
        ]
        return Plot("Agreement with gold", tuple(rows), "line = interval over tasks") if rows else None
