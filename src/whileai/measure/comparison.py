"""`Comparison`: what `wai.compare` returns, and how it prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from whileai.measure.corrected_change import CorrectedChange
from whileai.result import Block, Headline, Interval, Line, Note, Plot, Result, Table
from whileai.result import digits as d

Ends = tuple[float, float]
WORDS = {
    "improved": "improved",
    "regressed": "regressed",
    "no_difference": "no difference proven",
    "within_noise": "within noise",
    "insufficient_data": "too little data",
    "not_comparable": "not comparable",
}
TABLE_WORDS = {**WORDS, "no_difference": "no difference"}
#: Slices that are printed.
MOST_SLICES = 20
#: Verdicts as marks, and what a figure of changes says under itself.
SHAPES = {"improved": "diamond", "regressed": "triangle"}
CHANGES = "line = interval over tasks, dashes = no change; diamond better, triangle worse, square neither"
#: How a headline names a metric.
NAMES = {"pass_at_1": "pass@1"}


@dataclass(frozen=True, repr=False)
class Delta(Result):
    """One metric of a comparison.

    Attributes
    ----------
    verdict : str
        ``improved``, ``regressed``, ``no_difference`` or ``insufficient_data``, in the metric's own better direction.
    before, after, delta : float or None
        Means over the paired tasks, and after minus before.
    interval : (float, float) or None
        Of `delta`; ``None`` where the differences have no spread to estimate it from.
    p_value : float or None
        Exact sign-flip test of no change on any task.
    p_adjusted : float or None
        Holm's, over all metrics of the comparison (over all slices, for a slice).
    n_paired : int
        Tasks behind it.
    lower_is_better : bool
    n_clusters : int or None
        Clusters that the tasks lie in; ``None`` where ``cluster=`` was not given.
    """

    verdict: str
    before: float | None = None
    after: float | None = None
    delta: float | None = None
    interval: Ends | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    n_paired: int = 0
    lower_is_better: bool = False
    n_clusters: int | None = None

    def _blocks(self) -> list[Block]:
        if self.delta is None:
            return [Headline(f"{WORDS[self.verdict]}: {d.count(self.n_paired, 'task')} paired")]
        places = value_places(self, is_rate=False)
        return [Headline(f"{WORDS[self.verdict]}: {change_text(self, places)}, p{d.p_text(self.p_value)}")]

    def _plot(self) -> Plot | None:
        if self.delta is None:
            return None
        return Plot("The change", (change_row("change", self, value_places(self, is_rate=False)),), CHANGES)


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """What `compare` returns.

    Attributes
    ----------
    verdict : str
        ``improved``, ``regressed``, ``no_difference``, ``within_noise``, ``insufficient_data`` or ``not_comparable``,
        of the target.
    ok : bool
        The comparison was made, the target did not regress, no guard did, and nothing was over-optimised; with
        ``gold=``, the corrected change was measured and is no loss.
    target : str
    before, after, delta : float or None
        Of the target, means over the paired tasks.
    interval : (float, float) or None
    p_value : float or None
    n_paired, n_only_before, n_only_after : int
        Tasks behind the target; tasks of one arm only.
    level : float
        Of the intervals and the tests.
    noise_band : float or None
        How far re-running alone moves the difference of two single runs.
    run_std : float or None
    metrics : dict of str to Delta
    regressions : tuple of str
        Guards that regressed.
    proxy : str or None
    over_optimized : bool
        The proxy improved and the target did not.
    detectable_effect : float or None
        Smallest change that this many tasks would prove four times in five.
    tasks_needed : int or None
        Tasks that would prove a change as large as the one seen, four times in five; ``None`` where none was seen or it
        is proven.
    slices : dict of str to Delta
        The target on every value of ``by=``, in the order of the values. With fewer tasks than the exact test needs the
        verdict is ``insufficient_data`` whatever they show, and such a slice is no part of Holm's family.
    notes : tuple of Note
    n_clusters : int or None
        Clusters that the paired tasks lie in; ``None`` where ``cluster=`` was not given.
    corrected : CorrectedChange or None
        The target with the judge's errors counted; ``None`` where ``gold=`` was not given.
    """

    verdict: str
    ok: bool
    target: str
    before: float | None
    after: float | None
    delta: float | None
    interval: Ends | None
    p_value: float | None
    n_paired: int
    n_only_before: int
    n_only_after: int
    level: float = 0.95
    noise_band: float | None = None
    run_std: float | None = None
    metrics: dict[str, Delta] = field(default_factory=dict)
    regressions: tuple[str, ...] = ()
    proxy: str | None = None
    over_optimized: bool = False
    detectable_effect: float | None = None
    tasks_needed: int | None = None
    slices: dict[str, Delta] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    n_clusters: int | None = None
    corrected: CorrectedChange | None = None
    _moved: tuple[int, int, int] = (0, 0, 0)
    _guards: tuple[str, ...] = ()
    _run_std_runs: int | None = None
    _by_judge: str = ""

    def _blocks(self) -> list[Block]:
        if self.delta is None:
            return [Headline(_not_made(self)), *self.notes]
        delta = self.metrics[self.target]
        places = value_places(delta, is_rate=not self.target.startswith("marker:"), band=self.noise_band)
        name = NAMES.get(self.target, self.target)
        head = f"{self._words()}: {name} {change_text(delta, places)}"
        p = f"p{d.p_text(self.p_value, 1 - self.level)}"
        if self.verdict == "within_noise":
            head += f" is inside the band +/-{d.spread(self.noise_band)}"
        else:
            head += f", {p}"
        blocks: list[Block] = [Headline(head), *self._failures(), *self._guard_lines()]
        better, worse, same = self._moved
        tasks = d.count(self.n_paired, "task")
        if self.n_clusters is not None:
            tasks = f"{tasks} in {d.count(self.n_clusters, 'cluster')},"
        moved = f"{tasks} in both arms: {better:,} better, {worse:,} worse, {same:,} the same"
        blocks.append(Line(f"{moved}; {p}" if self.verdict == "within_noise" else moved))
        if self.corrected is not None:
            blocks.append(Line(self.corrected.text))
        if self.noise_band is not None:
            blocks.append(Line(self._band_line()))
        told = (self.target, "reward", *self._guards)
        others = [name for name, found in self.metrics.items() if name not in told and found.delta is not None]
        if others:
            blocks.append(metrics_table(self, [self.target, *self._guards, *others]))
        if self.slices:
            blocks += _slices(self)
        return [*blocks, *self.notes]

    def _plot(self) -> Plot | None:
        names = [name for name in (self.target, *self._guards, *self.metrics) if name in self.metrics]
        rows = [
            self._plot_row(name)
            for name in dict.fromkeys(names)
            if self.metrics[name].delta is not None and (name != "reward" or name == self.target)
        ]
        return Plot("Changes, after minus before", tuple(rows), CHANGES) if rows else None

    def _plot_row(self, name: str) -> Interval:
        """One metric; the band is the target's."""
        delta = self.metrics[name]
        is_target = name == self.target
        band = self.noise_band if is_target else None
        places = value_places(delta, is_rate=not name.startswith("marker:"), band=band)
        shape = "square" if is_target and self.verdict == "within_noise" else SHAPES.get(delta.verdict, "square")
        axis = name if name.startswith("marker:") else "change"
        row = change_row(name, delta, places, axis=axis, shape=shape)
        return replace(row, band=None if band is None else (-band, band), main=is_target)

    def _words(self) -> str:
        """The verdict in words; ``not ok`` where the verdict alone would mislead."""
        words = WORDS[self.verdict]
        return words if self.ok or self.verdict == "regressed" else f"{words}, not ok"

    def _failures(self) -> list[Block]:
        """Why the comparison is not ok beside its target."""
        lines: list[Block] = []
        for name in self._guards:
            delta = self.metrics.get(name)
            if delta is None or delta.delta is None:
                lines.append(Line(f"not ok: the guard {name} was not measured on both arms"))
            elif name in self.regressions:
                text = f"{change_text(delta, value_places(delta, is_rate=not name.startswith('marker:')))}"
                side = " (lower is better)" if delta.lower_is_better else ""
                lines.append(Line(f"not ok: the guard {name} got worse, {text}{side}"))
        if self._by_gold():
            lines.append(Line(f"not ok: {self._by_gold()}"))
        if self.over_optimized:
            lines.append(Line(f"not ok: over-optimised, the proxy {self.proxy} improved and {self.target} did not"))
        return lines

    def _by_gold(self) -> str:
        """What gold says against the target that the verdict does not name, empty where nothing."""
        if self.corrected is None or self.verdict == "regressed":
            return ""
        ends = self.corrected.interval
        counted = f"with the judge's errors counted {NAMES.get(self.target, self.target)}"
        if ends is None:
            return f"{counted} was not measured"
        lost = ends[0] > 0 if self.metrics[self.target].lower_is_better else ends[1] < 0
        return f"{counted} got worse" if lost else ""

    def _guard_lines(self) -> list[Block]:
        """Guards that held."""
        lines: list[Block] = []
        for name in self._guards:
            delta = self.metrics.get(name)
            if delta is not None and delta.delta is not None and name not in self.regressions and name != self.target:
                text = change_text(delta, value_places(delta, is_rate=not name.startswith("marker:")))
                side = " (lower is better)" if delta.lower_is_better else ""
                lines.append(Line(f"guard {name} held, {text}{side}"))
        return lines

    def _band_line(self) -> str:
        how = ", taken as known"
        if self._run_std_runs is not None:
            how = f" over {self._run_std_runs} runs, t with {self._run_std_runs - 1} df"
        band = d.spread(self.noise_band)
        return f"re-running this eval alone moves it by up to {band} (run_std {d.spread(self.run_std)}{how})"


def _not_made(result: Comparison) -> str:
    """The headline of a comparison without numbers."""
    if result.verdict == "not_comparable":
        n_before, n_after = result.n_only_before, result.n_only_after
        return f"not comparable: the arms share no task ({n_before:,} before, {n_after:,} after); nothing was computed"
    return f"too little data: no task has {NAMES.get(result.target, result.target)} in both arms; nothing was computed"


def value_places(delta: Delta, *, is_rate: bool, band: float | None = None) -> int:
    """Decimals of one row of numbers, from the width of the change's interval."""
    ends = delta.interval
    known = [value for value in (delta.before, delta.after) if value is not None]
    if ends is None:
        places = 2 if is_rate or all(abs(value) < 100 for value in known) else 0
        return places if delta.delta is None else d.honest_decimals(places, (delta.delta,), (0.0,))
    places = d.decimals(ends[1] - ends[0], 2 if is_rate else 0)
    shown = ends if delta.delta is None else (*ends, delta.delta)
    places = d.honest_decimals(places, shown, (0.0,) if band is None else (0.0, band, -band))
    return d.honest_decimals(places, known, (0.0, 1.0)) if is_rate else places


def change_text(delta: Delta, places: int) -> str:
    """``0.35 -> 0.39, change +0.04 [+0.01..+0.07]``."""
    pair = f"{d.number(delta.before, places)} -> {d.number(delta.after, places)}"
    return f"{pair}, change {d.signed(delta.delta, places)} {d.interval(delta.interval, places, sign=True)}"


def change_row(name: str, delta: Delta, places: int, *, axis: str = "change", shape: str = "") -> Interval:
    """A change as a row of a figure, labelled with the printed digits."""
    low, high = delta.interval or (None, None)
    text = f"{d.signed(delta.delta, places)} {d.interval(delta.interval, places, sign=True)}"
    shape = shape or SHAPES.get(delta.verdict, "square")
    return Interval(name, text, delta.delta, low, high, shape=shape, axis=axis, reference=0.0)


def metrics_table(result: Comparison, names: list[str]) -> Table:
    """One row for each metric named, in this order."""
    rows = []
    for name in dict.fromkeys(names):
        delta = result.metrics.get(name)
        if delta is None or delta.delta is None:
            continue
        band = result.noise_band if name == result.target else None
        places = value_places(delta, is_rate=not name.startswith("marker:"), band=band)
        rows.append((name, "down" if delta.lower_is_better else "up", *_cells(delta, places, result.level)))
    header = ("metric", "better", "before", "after", "change", "95% interval", "p (Holm)", "verdict")
    return Table(_leveled(header, result.level), tuple(rows), "lcrrrlrl", droppable=(1, 6))


def _slices(result: Comparison) -> list[Block]:
    """One row a slice; of many the least likely to be chance, and how many there are beside them."""
    shown = list(result.slices.items())
    if len(shown) > MOST_SLICES:
        shown = sorted(shown, key=_notable)[:MOST_SLICES]
    blocks: list[Block] = [slices_table(result, shown)]
    if len(result.slices) > len(shown):
        told = Counter(TABLE_WORDS[delta.verdict] for delta in result.slices.values())
        told.subtract(TABLE_WORDS[delta.verdict] for _, delta in shown)
        rest = ", ".join(f"{n:,} {word}" for word, n in told.items() if n)
        blocks.append(Line(f"and {len(result.slices) - len(shown):,} more in .slices: {rest}"))
    return blocks


def slices_table(result: Comparison, shown: Sequence[tuple[str, Delta]]) -> Table:
    """One row for each slice named, in this order."""
    is_rate = not result.target.startswith("marker:")
    rows = [
        (name, f"{delta.n_paired:,}", *_cells(delta, value_places(delta, is_rate=is_rate), result.level))
        for name, delta in shown
    ]
    header = ("slice", "tasks", "before", "after", "change", "95% interval", "p (Holm)", "verdict")
    return Table(_leveled(header, result.level), tuple(rows), "lrrrrlrl", droppable=(6,))


def _notable(item: tuple[str, Delta]) -> tuple[bool, float, float, str]:
    """The order of many slices: smallest p first, then the largest change; those too small to say come last."""
    name, delta = item
    p = 1.0 if delta.p_value is None else delta.p_value
    return delta.verdict == "insufficient_data", p, -abs(delta.delta or 0.0), name


def _leveled(header: tuple[str, ...], level: float) -> tuple[str, ...]:
    return tuple(name.replace("95%", f"{100 * level:.6g}%") for name in header)


def _cells(delta: Delta, places: int, level: float) -> tuple[str, ...]:
    """The numbers of one table row."""
    if delta.delta is None:
        return "", "", "", "", "", d.ABSENT
    return (
        d.number(delta.before, places),
        d.number(delta.after, places),
        d.signed(delta.delta, places),
        d.interval(delta.interval, places, sign=True),
        "" if delta.p_adjusted is None else d.p_value(delta.p_adjusted, 1 - level),
        TABLE_WORDS[delta.verdict],
    )
