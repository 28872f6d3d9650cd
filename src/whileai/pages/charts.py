"""The figures of a page, each at two widths, with the numbers as a table beside it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from whileai.pages.markup import Child, Markup, table, tag
from whileai.result import Plot, Table
from whileai.result import digits as d
from whileai.result.svg import BLUE, INK, LETTER_WIDTH, ORANGE, Drawing, Scale, interval_plot, shortened, tick_text

if TYPE_CHECKING:
    from whileai.measure.eval_variance import EvalVariance
    from whileai.measure.pass_at import PassAt
    from whileai.pages.flips import Side, Tasks

#: Widths that a figure is drawn for; a style sheet shows the one that fits.
WIDE, NARROW = 700, 340
#: Tasks that are drawn one by one, and rates that have a bar each.
MOST_DUMBBELLS, MOST_BARS = 40, 11
#: Rows an arm up to which passes before are set against passes after, one cell a pair.
MOST_CELLS = 8
RL_BAND = (0.2, 0.8)
BEFORE, AFTER = INK, BLUE


def figure(title: str, draw: Callable[[float], str], caption: str, numbers: Child) -> Markup:
    """A figure whose title is its finding, with a caption and the same numbers as a table."""
    return tag(
        "figure",
        tag("figcaption", title),
        tag("div", Markup(draw(WIDE)), class_="wide"),
        tag("div", Markup(draw(NARROW)), class_="narrow"),
        tag("p", caption, class_="caption") if caption else None,
        tag("details", tag("summary", "The numbers"), numbers),
    )


def intervals(title: str, plot: Plot, axis: str, caption: str, block: Table | None = None) -> Markup:
    """The interval plot; its table is `block`, or the printed numbers row by row."""
    rows = tuple((row.name, row.text) for row in plot.rows)
    block = block or Table(("", "value"), rows, "ll")
    return figure(title, lambda width: interval_plot(plot, width, axis=axis, most=40), caption, table(title, block))


@dataclass(frozen=True)
class Frame:
    """A drawing with two axes."""

    drawing: Drawing
    x: Scale
    y: Scale


def framed(
    width: float,
    height: float,
    x: tuple[float, float],
    y: tuple[float, float],
    titles: tuple[str, str],
    foot: float = 40,
) -> Frame:
    """Two axes with their titles, the grid of the upright one; `foot` is the room under the lower one."""
    drawing = Drawing(width, height)
    across, up = Scale(*x, 46, width - 14), Scale(*y, height - foot, 22)
    for tick in up.ticks(5):
        drawing.faint([(across.start, up(tick)), (across.end, up(tick))])
        drawing.label(across.start - 6, up(tick) + 4, tick_text(tick), "end", quiet=True)
    drawing.label(2, 12, titles[1], quiet=True)
    drawing.label((across.start + across.end) / 2, height - 4, titles[0], "middle", quiet=True)
    return Frame(drawing, across, up)


# tries ---------------------------------------------------------------------------------------------------------------


def curves(title: str, arms: Sequence[tuple[str, Sequence[PassAt]]]) -> Markup:
    """pass@k and pass^k over k, two lines an arm with ribbons."""
    ks = sorted({result.k for _, results in arms for result in results})

    def draw(width: float) -> str:
        frame = framed(width, 260, (ks[0], ks[-1]), (0, 1), ("k, tries", "rate"))
        steps = ks if len(ks) <= 10 else [k for k in ks if k in {round(t) for t in frame.x.ticks(8)} | {ks[0], ks[-1]}]
        for k in steps:
            frame.drawing.label(frame.x(k), 234, str(k), "middle", quiet=True)
        for (_, results), tone in zip(arms, (AFTER,) if len(arms) == 1 else (BEFORE, AFTER), strict=True):
            for name, shape in (("pass_at_k", "circle"), ("pass_pow_k", "square")):
                _curve(frame, results, name, tone, shape, alone=len(arms) == 1)
        told = "; ".join(f"{name}: {_told(results)}" for name, results in arms)
        return frame.drawing.text(f"{title}. {told}")

    rows = []
    for k in ks:
        cells: list[str] = []
        for _, results in arms:
            found = next((result for result in results if result.k == k), None)
            cells += [
                d.ABSENT if found is None else d.rate_within(getattr(found, name), found.intervals[name])
                for name in ("pass_at_k", "pass_pow_k")
            ]
        rows.append((str(k), *cells))
    header = (
        "k",
        *(f"{part}{'' if len(arms) == 1 else f' {name}'}" for name, _ in arms for part in ("pass@k", "pass^k")),
    )
    caption = "dots = pass@k, one of k tries passes; squares = pass^k, all k pass; shaded = 95% interval over tasks"
    caption = caption.replace("95%", f"{100 * arms[0][1][0].level:.6g}%")
    if len(arms) > 1:
        caption += "; blue = after"
    return figure(title, draw, caption, table(title, Table(header, tuple(rows), "r" * len(header))))


def _curve(frame: Frame, results: Sequence[PassAt], name: str, tone: str, shape: str, *, alone: bool) -> None:
    known = [(r.k, getattr(r, name), r.intervals[name]) for r in results if getattr(r, name) is not None]
    line = [(frame.x(k), frame.y(value)) for k, value, _ in known]
    upper = [(frame.x(k), frame.y(ends[1])) for k, _, ends in known if ends is not None]
    lower = [(frame.x(k), frame.y(ends[0])) for k, _, ends in known if ends is not None]
    frame.drawing.ribbon([*upper, *reversed(lower)], tone)
    frame.drawing.line(line, tone, 2, "" if shape == "circle" else "6 3")
    for x, y in line:
        frame.drawing.point(x, y, shape, tone, 4)
    for place, anchor in ((0, "start"), (-1, "end")):
        (x, y), (_, value, ends) = line[place], known[place]
        above = shape == "circle" if alone else tone == AFTER
        if anchor == "end" or name == "pass_at_k":  # at k=1 the two rates are one
            text = d.rate_within(value, ends).partition(" ")[0]
            frame.drawing.label(x + (6 if place == 0 else 0), y - 9 if above else y + 18, text, anchor)


def _told(results: Sequence[PassAt]) -> str:
    last = results[-1]
    ends = [
        f"{name} {d.rate_within(getattr(last, key), last.intervals[key])}"
        for name, key in ((f"pass@{last.k}", "pass_at_k"), (f"pass^{last.k}", "pass_pow_k"))
    ]
    return f"pass@1 {d.rate_within(last.pass_at_1, last.intervals['pass_at_1'])}, {', '.join(ends)}"


# spread --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bins:
    """Tasks by pass rate.

    Attributes
    ----------
    names : list of str
        The rates, or ``0.1..0.2`` where there are many.
    ends : list of (float, float)
        Where each bar stands, on a scale from 0 to 1.
    counts : list of list of int
        One list an arm.
    """

    names: list[str]
    ends: list[tuple[float, float]]
    counts: list[list[int]]


def bins_of(sides: Sequence[Side]) -> Bins:
    """A bar for each rate where there are few, else ten bins, the last with its upper end."""
    pairs = [Counter(zip(side.passes.tolist(), side.n.tolist(), strict=True)) for side in sides]
    found = [Counter[tuple[int, int]]() for _ in sides]
    for own, counter in zip(pairs, found, strict=True):
        for (passes, n), tasks in own.items():
            divisor = math.gcd(passes, n) or 1
            if n:
                counter[passes // divisor, n // divisor] += tasks
    rates = sorted({pair for counter in found for pair in counter}, key=lambda pair: pair[0] / pair[1])
    sizes = {n for own in pairs for _, n in own if n}
    if len(sizes) == 1 and (k := max(sizes)) < MOST_BARS:
        rates = [(passes // (math.gcd(passes, k) or 1), k // (math.gcd(passes, k) or 1)) for passes in range(k + 1)]
        names = [f"{passes / k:.2f}".rstrip("0").rstrip(".") for passes in range(k + 1)]
    elif len(rates) <= MOST_BARS:
        names = [f"{passes / n:.2f}".rstrip("0").rstrip(".") for passes, n in rates]
    else:
        edges = [place / 10 for place in range(11)]
        counts = [[0] * 10 for _ in sides]
        for place, counter in enumerate(found):
            for (passes, n), tasks in counter.items():
                counts[place][min(passes * 10 // n, 9)] += tasks
        return Bins(
            [f"{a:g}..{b:g}" for a, b in pairwise(edges)],
            list(pairwise(edges)),
            counts,
        )
    half = 0.42 * min((b[0] / b[1] - a[0] / a[1] for a, b in pairwise(rates)), default=0.2)
    half = min(half, 0.08)
    ends = [(p / n - half, p / n + half) for p, n in rates]
    return Bins(names, ends, [[counter[rate] for rate in rates] for counter in found])


def spread(title: str, bins: Bins, names: Sequence[str]) -> Markup:
    """Bars of tasks over pass rate, the band that rl keeps shaded."""
    most = max((n for counts in bins.counts for n in counts), default=1)

    def draw(width: float) -> str:
        frame = framed(width, 240, (-0.09, 1.09), (0, most * 1.12), ("pass rate of a task", "tasks"))
        low, high = frame.x(RL_BAND[0] - 0.02), frame.x(RL_BAND[1] + 0.02)
        frame.drawing.band(low, 22, high - low, 178, INK, 0.09)
        for place, counts in enumerate(bins.counts):
            tone = AFTER if place == len(bins.counts) - 1 else BEFORE
            for (a, b), n in zip(bins.ends, counts, strict=True):
                size = (b - a) / len(bins.counts)
                left = frame.x(a + place * size)
                wide = frame.x(a + (place + 1) * size) - left - 1
                if tone == BEFORE:
                    frame.drawing.band(left, frame.y(n), wide, frame.y(0) - frame.y(n), tone, 0.55)
                else:
                    frame.drawing.bar(left, frame.y(n), wide, frame.y(0) - frame.y(n), tone)
                if wide > len(f"{n:,}") * LETTER_WIDTH * 0.8:
                    frame.drawing.label(left + wide / 2, frame.y(n) - 4, f"{n:,}", "middle")
        named = [(sum(ends) / 2, rate) for rate, ends in zip(bins.names, bins.ends, strict=True) if ".." not in rate]
        named = named or [(place / 5, f"{place / 5:g}") for place in range(6)]
        if any(b[0] - a[0] < 0.085 for a, b in pairwise(named)):
            named = [(place / 5, f"{place / 5:g}") for place in range(6)]
        for rate, text in named:
            frame.drawing.label(frame.x(rate), 216, text, "middle", quiet=True)
        told = "; ".join(
            f"{name}: " + ", ".join(f"{n:,} at {rate}" for rate, n in zip(bins.names, counts, strict=True))
            for name, counts in zip(names, bins.counts, strict=True)
        )
        return frame.drawing.text(f"{title}. {told}")

    rows = tuple((rate, *(f"{counts[place]:,}" for counts in bins.counts)) for place, rate in enumerate(bins.names))
    header = ("pass rate", *(("tasks",) if len(names) == 1 else tuple(f"tasks {name}" for name in names)))
    caption = "bar = tasks; shaded = pass rates from 0.2 to 0.8, which give rl a gradient"
    caption += "" if len(names) == 1 else "; grey = before, blue = after"
    return figure(title, draw, caption, table(title, Table(header, rows, "r" * len(header))))


# change --------------------------------------------------------------------------------------------------------------


def flips(title: str, tasks: Tasks) -> Markup:
    """Tasks in order of change: few as dumbbells, many as one curve of steps."""
    assert tasks.before is not None
    change = (tasks.after.mean - tasks.before.mean).tolist()
    places = sorted(range(len(tasks)), key=lambda i: (change[i], tasks.ids[i]))
    low, high = min(0.0, *change), max(0.0, *change)
    counts = Counter(round(value, 9) for value in change)

    def curve(width: float) -> str:
        frame = framed(
            width, 220, (0, len(places)), (low, high), ("tasks in order of change", "change, after - before")
        )
        frame.drawing.line([(frame.x(0), frame.y(0)), (frame.x(len(places)), frame.y(0))], INK, 1, "3 2")
        for tick in frame.x.ticks(5 if width > NARROW else 3):
            frame.drawing.label(frame.x(tick), 198, tick_text(tick), "middle", quiet=True)
        steps: list[tuple[float, float, float]] = []
        for rank, place in enumerate(places):
            if steps and abs(steps[-1][2] - change[place]) < (high - low) / 400:
                steps[-1] = (steps[-1][0], rank + 1, steps[-1][2])
            else:
                steps.append((rank, rank + 1, change[place]))
        for start, end, value in steps:
            tone = INK if value == 0 else BLUE if (value < 0) == tasks.lower else ORANGE
            x, wide = frame.x(start), max(frame.x(end) - frame.x(start), 0.6)
            top = min(frame.y(value), frame.y(0))
            frame.drawing.band(x, top, wide, max(abs(frame.y(value) - frame.y(0)), 1), tone, 0.75)
        return frame.drawing.text(f"{title}. {_counted(counts)}")

    def dumbbells(width: float) -> str:
        assert tasks.before is not None
        size = 34 if width > NARROW else 17
        names = [shortened(tasks.ids[place], size) for place in places]
        left = max(map(len, names)) * LETTER_WIDTH + 12
        drawing = Drawing(width, len(places) * 18 + 38)
        every = [*tasks.before.mean.tolist(), *tasks.after.mean.tolist()]
        low_, high_ = (min(every), max(every)) if tasks.target.startswith("marker:") else (0.0, 1.0)
        at = Scale(low_, high_, left + 8, width - 14)
        for tick in at.ticks(5 if width > NARROW else 2):
            drawing.faint([(at(tick), 4), (at(tick), len(places) * 18 + 6)])
            drawing.label(at(tick), len(places) * 18 + 18, tick_text(tick), "middle", quiet=True)
        for rank, place in enumerate(places):
            y = rank * 18 + 12
            old, new = float(tasks.before.mean[place]), float(tasks.after.mean[place])
            tone = INK if change[place] == 0 else BLUE if (change[place] < 0) == tasks.lower else ORANGE
            drawing.label(left, y + 4, names[rank], "end")
            drawing.line([(at(old), y), (at(new), y)], tone, 2)
            drawing.point(at(old), y, "circle", INK, 3.5)
            shape = "square" if change[place] == 0 else "diamond" if (change[place] < 0) == tasks.lower else "triangle"
            drawing.point(at(new), y, shape, tone, 4.5)
        drawing.label((at.start + at.end) / 2, len(places) * 18 + 32, tasks.target, "middle", quiet=True)
        return drawing.text(f"{title}. {_counted(counts)}")

    shown = sorted(counts.items())
    if len(shown) > 40:
        shown = sorted(Counter(round(value, 1) + 0.0 for value in change).items())
    rows = tuple((d.signed(value, 2 if abs(value) <= 1 else 1), f"{n:,}") for value, n in shown)
    numbers = table("Tasks by change", Table(("change", "tasks"), rows, "rr"))
    if len(places) <= MOST_DUMBBELLS:
        caption = "dot = before, mark = after; diamond better, triangle worse, square the same"
        return figure(title, dumbbells, caption, numbers)
    return figure(title, curve, "bar = change of a task's own rate; blue better, orange worse", numbers)


def _counted(counts: Counter[float]) -> str:
    few = sorted(counts.items()) if len(counts) <= 12 else []
    return ", ".join(f"{n:,} changed by {d.signed(value, 2)}" for value, n in few)


def transitions(tasks: Tasks) -> Markup | None:
    """What became of the tasks that passed so often before, as a table; ``None`` where rows are many or uneven."""
    if tasks.before is None or tasks.target != "pass_at_1" or not len(tasks):
        return None
    sizes = {int(n) for side in (tasks.before, tasks.after) for n in (side.n.min(), side.n.max())}
    if len(sizes) != 1 or (k := max(sizes)) > MOST_CELLS:
        return None
    counts = Counter(zip(tasks.before.passes.tolist(), tasks.after.passes.tolist(), strict=True))
    most = math.log1p(max(counts.values()))
    head = tag(
        "tr",
        tag("th", "before\u00a0\u2193 after\u00a0\u2192", scope="col"),
        [tag("th", f"{c}/{k}", scope="col", class_="num") for c in range(k + 1)],
    )
    rows = []
    for old in range(k + 1):
        cells = []
        for new in range(k + 1):
            n = counts[old, new]
            tone = round(4 * math.log1p(n) / most)
            kind = "same" if new == old else "better" if new > old else "worse"
            cells.append(tag("td", f"{n:,}", class_=f"num tone{tone} {kind}"))
        rows.append(tag("tr", tag("th", f"{old}/{k}", scope="row", class_="num"), cells))
    title = "Tasks by passes before and after"
    body = tag("table", tag("caption", title), tag("thead", head), tag("tbody", rows), class_="grid")
    return tag("div", body, class_="scroll", role="region", tabindex=0, aria_label=title)


# runs ----------------------------------------------------------------------------------------------------------------


def runs(title: str, result: EvalVariance, numbers: Child) -> Markup:
    """The mean of each run; where a run falls, and how much of that sampling alone explains, as two bands."""
    means, mean = result.means, result.mean or 0.0
    reach = None if result.noise_band is None else result.noise_band / math.sqrt(2)
    inner = None
    if reach is not None and result.run_std and result.sampling_std is not None:
        inner = reach * result.sampling_std / result.run_std
    shown = [*means, *(mean + sign * size for size in (reach, inner) if size is not None for sign in (-1, 1))]
    low, high = min(shown), max(shown)
    if result.metric in ("pass_at_1", "reward"):
        low, high = max(low, 0.0), min(high, 1.0)

    def draw(width: float) -> str:
        frame = framed(width, 240, (0.5, len(means) + 0.5), (low, high), ("run", result.metric))
        left, right = frame.x.start, frame.x.end
        for size, opacity in ((reach, 0.08), (inner, 0.1)):
            if size is not None:
                top, foot = frame.y(mean + size), frame.y(mean - size)
                frame.drawing.band(left, top, right - left, foot - top, INK, opacity)
        frame.drawing.line([(left, frame.y(mean)), (right, frame.y(mean))], INK, 1, "3 2")
        step = -(-len(means) * 30 // int(right - left)) or 1
        for place, value in enumerate(means, 1):
            frame.drawing.point(frame.x(place), frame.y(value), "circle", BLUE)
            if (place - 1) % step == 0:
                frame.drawing.label(frame.x(place), 218, str(place), "middle", quiet=True)
        return frame.drawing.text(title)

    caption = "dot = a run, dashes = their mean"
    if reach is not None:
        caption += f"; shaded = where {100 * result.level:.6g}% of runs fall"
    if inner is not None:
        caption += ", darker = where sampling alone would put them"
    return figure(title, draw, caption, numbers)
