"""What a judge's word is worth: gold against its verdicts, and against its scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from whileai.pages import charts
from whileai.pages.markup import Markup, table
from whileai.result import Interval, Plot, Table
from whileai.result import digits as d
from whileai.result.svg import BLUE, INK, LETTER_WIDTH, tick_text
from whileai.stats.agreement import rate_of

if TYPE_CHECKING:
    from whileai.measure.judged import Judged
    from whileai.measure.trust import JudgeTrust

#: Bins of scores at most, and labelled rows that each has at least where there are so many.
MOST_BINS, FEWEST = 10, 5


class Bin(NamedTuple):
    """Labelled rows of about one score: its range, its mean, how often gold passes, how many rows."""

    low: float
    high: float
    score: float
    rate: float
    ends: tuple[float, float]
    n: int


def bins_of(read: Judged, level: float) -> list[Bin]:
    """Labelled rows in up to ten bins of as many rows each, in the order of their scores; equal scores stay together.

    Empty where no labelled row has a score between 0 and 1.
    """
    import numpy as np

    gold = read.gold.values
    use = np.flatnonzero(np.isfinite(read.judge) & ((gold == 0) | (gold == 1)))
    use = use[np.lexsort((read.codes[use], read.judge[use]))]
    scores = read.judge[use]
    if not ((scores > 0) & (scores < 1)).any():
        return []
    n = len(scores)
    k = min(MOST_BINS, max(1, n // FEWEST))
    runs = np.append(np.flatnonzero(np.diff(scores)) + 1, n)  # where a run of equal scores ends
    cuts, share = [0], 1
    for end in runs.tolist():
        if end * k >= share * n:
            cuts.append(end)
            share = end * k // n + 1
    found = []
    for rows in np.split(np.arange(n), cuts[1:-1]):
        among = scores[rows]
        _, codes = np.unique(read.codes[use][rows], return_inverse=True)
        rate, ends, _ = rate_of(gold[use][rows], codes, level)
        found.append(Bin(float(among[0]), float(among[-1]), float(among.mean()), rate, ends, len(rows)))
    return found


def shown(result: JudgeTrust) -> tuple[str, list[Markup]]:
    """What the scores say where no verdict can be measured, empty otherwise; and the figures.

    Gold where the judge says pass and where it says fail; gold over its scores where it gives scores.
    """
    read = result._read
    if read is None:
        return "", []
    figures = [] if result.agreement is None else [_verdicts(result, read)]
    bins = bins_of(read, result.level)
    if not bins:
        return "", figures
    n = sum(item.n for item in bins)
    score, rate = (sum(getattr(item, name) * item.n for item in bins) / n for name in ("score", "rate"))
    finding = f"On {d.count(n, 'labelled row')} the judge's score is {score:.2f} on average, and gold passes {rate:.2f}"
    return "" if figures else f"{finding}.", [*figures, _scores(bins, result.level)]


def _verdicts(result: JudgeTrust, read: Judged) -> Markup:
    import numpy as np

    use, counts = read.labelled, result.confusion
    rows, cells = [], []
    for said, word, own in ((1, "pass", ("tp", "fp")), (0, "fail", ("fn", "tn"))):
        among = read.judge[use] == said
        if not among.any():
            continue
        weights = None if read.weights is None else read.weights[among]
        _, codes = np.unique(read.codes[use][among], return_inverse=True)
        rate, ends, _ = rate_of(read.gold.values[use][among], codes, result.level, weights)
        text = d.rate_within(rate, ends)
        rows.append(Interval(f"judge said {word}", f"{text}, {d.count(int(among.sum()), 'row')}", rate, *ends))
        cells.append((f"judge said {word}", *(f"{counts[name]:,}" for name in own), f"{int(among.sum()):,}", text))
    title = "; ".join(f"where the {row.name}, gold passes {cell[-1]}" for row, cell in zip(rows, cells, strict=True))
    ends_ = result.intervals["corrected_pass_rate"]
    if result.corrected_pass_rate is not None and ends_ is not None:
        text = d.rate_within(result.corrected_pass_rate, ends_)
        rows.append(Interval("pass rate, corrected", text, result.corrected_pass_rate, *ends_))
        cells.append(("pass rate, corrected", "", "", "", text))
    title = title[:1].upper() + title[1:]
    numbers = Table(("", "gold pass", "gold fail", "rows", "gold passes"), tuple(cells), "lrrrl")
    return charts.intervals(title, Plot(title, tuple(rows)), "share that gold passes", _caption(result.level), numbers)


def _scores(bins: list[Bin], level: float) -> Markup:
    told = [d.rate_within(item.rate, item.ends) for item in bins]
    spans = [f"{item.low:.3g}..{item.high:.3g}" for item in bins]
    off = max(range(len(bins)), key=lambda place: abs(bins[place].rate - bins[place].score))
    title = f"Farthest off: where it scores {spans[off]}, gold passes {told[off]}"

    def draw(width: float) -> str:
        frame = charts.framed(width, 300, (0, 1), (0, 1), ("judge score", "gold pass rate"), foot=58)
        frame.drawing.line([(frame.x(0), frame.y(0)), (frame.x(1), frame.y(1))], INK, 1, "3 2")
        for tick in frame.x.ticks(5):
            frame.drawing.label(frame.x(tick), 258, tick_text(tick), "middle", quiet=True)
        frame.drawing.label(2, 276, "rows", quiet=True)
        end = frame.x.start - 6
        for item in bins:
            x, text = frame.x(item.score), f"{item.n:,}"
            frame.drawing.line([(x, frame.y(item.ends[0])), (x, frame.y(item.ends[1]))], BLUE, 2.5)
            frame.drawing.point(x, frame.y(item.rate), "circle", BLUE)
            half = len(text) * LETTER_WIDTH / 2
            if x - half > end:
                frame.drawing.label(x, 276, text, "middle")
                end = x + half + 4
        return frame.drawing.text(f"{title}. Gold passes: {', '.join(told)}")

    rows = tuple(
        (span, f"{item.score:.3f}", f"{item.n:,}", text) for span, item, text in zip(spans, bins, told, strict=True)
    )
    numbers = Table(("judge score", "mean score", "rows", "gold passes"), rows, "lrrl")
    caption = f"dashed = a score that is the chance to pass; above it the judge is too strict; {_caption(level)}"
    return charts.figure(title, draw, caption, table(title, numbers))


def _caption(level: float) -> str:
    return f"line = {100 * level:.6g}% interval over tasks"
