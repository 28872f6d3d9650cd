"""The figures of the docs, drawn from what the pages compute themselves.

A figure names a page, how many of its Python blocks are run, and what is drawn of what they leave behind. So a figure
shows the numbers printed above it, and is stale as soon as they change.
"""

from __future__ import annotations

import contextlib
import io
import re
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from whileai.pages import charts
from whileai.result import Interval, Plot
from whileai.result.svg import INK, ORANGE, Drawing, Scale, interval_plot, safe

WIDTH = 640
#: An image has no colours of the page around it: its ink follows the system's theme, as the page does.
STYLE = (
    "<style>svg{color:#1f2328;--wai-blue:#1f6fc4;--wai-orange:#b85a00}"
    "@media (prefers-color-scheme:dark){svg{color:#e2e4e9;--wai-blue:#6ab0ff;--wai-orange:#ffa657}}</style>"
)
Names = dict[str, Any]


@dataclass(frozen=True)
class Figure:
    """A figure: the page it is of, the Python blocks of it to run (all where ``None``), and how it is drawn."""

    page: str
    blocks: int | None
    draw: Callable[[Names], str]


def names_of(page: Path, blocks: int | None) -> Names:
    """What the first Python blocks of a page leave behind, run in a folder that is thrown away."""
    names: Names = {"__name__": "page"}
    found = re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
        for place, block in enumerate(found[:blocks]):
            exec(compile(block, f"{page.name} block {place}", "exec"), names)  # the page's own code
    return names


def framed(title: str, inner: str, caption: str = "") -> str:
    """A drawing as a file: its title above, its caption below, colours for both themes."""
    label = re.search(r'aria-label="([^"]*)"', inner)
    width, height = (float(re.search(rf'{side}="([\d.]+)"', inner)[1]) for side in ("width", "height"))  # type: ignore[index]
    frame = Drawing(width, height + 30 + 20 * bool(caption))
    frame.label(4, 16, title, bold=True)
    if caption:
        frame.label(4, height + 44, caption, quiet=True)
    text = frame.text(title)
    if label is not None:
        text = text.replace(f'aria-label="{safe(title)}"', f'aria-label="{label[1]}"', 1)
    start = text.index(">") + 1
    nested = inner.replace("<svg ", '<svg y="26" ', 1)
    return f"{text[:start]}{STYLE}{text[start : -len('</svg>')]}{nested}</svg>\n"


def of_plot(result: Any, axis: str = "", title: str = "") -> str:
    """The small figure of a result, with an axis under it."""
    plot = result._plot()
    rows = tuple(row if row.name else replace(row, name=f"run {place}") for place, row in enumerate(plot.rows, 1))
    named = Plot(plot.title, rows, plot.caption)
    return framed(title or plot.title, interval_plot(named, WIDTH, axis=axis, most=40), plot.caption)


def of_chart(markup: str, title: str) -> str:
    """A figure of the HTML page, at its wide size."""
    inner = re.search(r"<svg .*?</svg>", markup, re.DOTALL)
    caption = re.search(r'<p class="caption">(.*?)</p>', markup, re.DOTALL)
    assert inner is not None
    return framed(title, inner[0], "" if caption is None else caption[1])


def tries(names: Names) -> str:
    """pass@k and pass^k over k."""
    wai, rows, last = names["wai"], names["rows"], names["result"]
    results = [wai.pass_at(rows, k=k) for k in range(1, last.k + 1)]
    return of_chart(
        charts.curves("Passing once in k tries, and every time", [("rows", results)]), "What do more tries buy?"
    )


def compared(names: Names) -> str:
    """The metrics of the first comparison on the page."""
    result = names["wai"].compare(names["before"], names["after"], lower_is_better=["marker:chars"])
    return of_plot(result, "change of a rate, after - before", "What changed? Each marker has an axis of its own")


def bars(title: str, counts: dict[str, int], axis: str = "rows") -> str:
    """A bar for each count, the first one the one that matters."""
    rows = tuple(
        Interval(name, f"{n:,}", float(n), shape="bar", axis=axis, reference=0.0, main=not place)
        for place, (name, n) in enumerate(counts.items())
    )
    return framed(title, interval_plot(Plot(title, rows), WIDTH, axis=axis))


def leaks(names: Names) -> str:
    """Rows that stay, and rows that each rule takes."""
    report = names["kept"].report
    rules = ("exact", "ngram", "near_duplicate", "reworded", "embedding")
    counts = {"kept": report.n_rows - report.n_dropped, **{rule: report[rule] for rule in rules if report[rule]}}
    return bars("What stays, and which rule takes the rest", counts)


def judges(names: Names) -> str:
    """Each judge's agreement with gold."""
    found = names["wai"].compare_judges({"small": names["small"], "large": names["large"]}, names["labelled"])
    return of_plot(found, "agreement with gold")


def drawn_rows(names: Names) -> str:
    """Rows of each verdict beside those that were picked."""
    rows, picked = names["rows"], names["picked"]
    counts = {}
    for word, reward in (("pass", 1), ("fail", 0)):
        counts[f"judged {word}"] = sum(row["reward"] == reward for row in rows)
        counts[f"picked of {word}"] = sum(row["reward"] == reward for row in picked)
    return bars("More of the rarer verdict than its share", counts)


def rollouts(names: Names) -> str:
    """Rollouts by their verdict, and the faults they met, as the print counts them."""
    graded = names["graded"]
    counts = {name: sum(row["reward"] == reward for row in graded) for name, reward in (("pass", 1), ("fail", 0))}
    met = Counter(event["mode"] for row in graded for event in row["ledger"] if event.get("injected"))
    counts |= {f"met {mode}": met[mode] for mode in sorted(met)}
    return bars("Rollouts by verdict, and the faults that they met", counts, "rollouts, and faults")


def verdicts(names: Names) -> str:
    """One row a verdict: the interval, no change, and the noise band."""
    wai, arm = names["wai"], names["arm"]
    floor = {"run_std": 0.02, "run_std_runs": 8}
    pairs = [
        ("improved", arm(50), arm(64), floor),
        ("improved, a small gain", arm(150, n=300), arm(171, n=300), {"run_std": 0.01, "run_std_runs": 8}),
        ("within noise", arm(50), arm(58), {"run_std": 0.05, "run_std_runs": 8}),
        ("no difference proven", arm(50), arm(53), floor),
        ("of 10 tasks only", arm(5, n=10), arm(8, n=10), floor),
        ("regressed", arm(64), arm(50), floor),
    ]
    rows = []
    for name, before, after, noise in pairs:
        row: Interval = wai.compare(before, after, **noise)._plot().rows[0]
        rows.append(replace(row, name=name, main=False))
    caption = "line = 95% interval over tasks; shaded = what re-running alone may do; diamond better, triangle worse"
    plot = Plot("Verdicts and what they look like", tuple(rows), caption)
    return framed("A verdict is where the interval lies", interval_plot(plot, WIDTH, axis="change of pass@1"), caption)


def coverage(names: Names) -> str:
    """The worst coverage that the full run counted, over the number of tasks."""
    lines = re.findall(
        r"^\| ([\w@^ ]+ interval) \| (\d+) \| [\d,]+ \| [\d.]+ \| ([\d.]+) \|", names["text"], re.MULTILINE
    )
    series: dict[str, list[tuple[int, float]]] = {}
    for name, tasks, worst in lines:
        series.setdefault(name, []).append((int(tasks), float(worst)))
    steps = [4, 6, 10, 20, 30, 100, 300]
    drawing = Drawing(WIDTH, 250)
    across, up = Scale(0, len(steps) - 1, 46, WIDTH - 190), Scale(0.9, 1.0, 200, 16)
    for tick in (0.9, 0.92, 0.94, 0.96, 0.98, 1.0):
        drawing.faint([(across.start, up(tick)), (across.end, up(tick))])
        drawing.label(across.start - 6, up(tick) + 4, f"{tick:.2f}", "end", quiet=True)
    for place, tasks in enumerate(steps):
        drawing.label(across(place), 216, f"{tasks}", "middle", quiet=True)
    drawing.label((across.start + across.end) / 2, 236, "tasks", "middle", quiet=True)
    drawing.line([(across.start, up(0.95)), (across.end, up(0.95))], ORANGE, 2, "6 3")
    drawing.label(across.end + 8, up(0.95) + 4, "promised, 0.95")
    shapes = ("circle", "square", "diamond", "triangle")
    for turn, (name, found) in enumerate(item for item in series.items() if item[0] in SHOWN):
        points = [(across(steps.index(tasks)), up(worst)) for tasks, worst in found if tasks in steps]
        drawing.line(points, INK, 1)
        for x, y in points:
            drawing.point(x, y, shapes[turn % 4], INK, 4)
        drawing.point(across.end + 14, 30 + 20 * turn, shapes[turn % 4], INK, 4)
        drawing.label(across.end + 26, 34 + 20 * turn, name)
    told = "; ".join(
        f"{name}: " + ", ".join(f"{worst:.3f} at {n}" for n, worst in found) for name, found in series.items()
    )
    return framed("Worst coverage in any setting tried", drawing.text(f"Worst coverage over tasks. {told}"), NOTE)


SHOWN = ("pass@1 interval", "pass^k interval", "pass@k interval", "change interval")
NOTE = "mark = share of trials whose interval holds the truth, in the worst setting of its size"

FIGURES: dict[str, Figure] = {
    "calibrate": Figure("calls/calibrate.md", 1, lambda names: of_plot(names["kept"].report, "pass rate")),
    "compare": Figure("calls/compare.md", 1, compared),
    "compare_judges": Figure("calls/compare_judges.md", 1, judges),
    "coverage": Figure("statistics.md", 0, coverage),
    "decontaminate": Figure("calls/decontaminate.md", 1, leaks),
    "eval_variance": Figure("calls/eval_variance.md", 1, lambda names: of_plot(names["floor"], "pass@1 of a run")),
    "hack_scan": Figure(
        "calls/hack_scan.md", 1, lambda names: of_plot(names["result"], "correlation with the reward within tasks")
    ),
    "holdout_size": Figure(
        "calls/holdout_size.md", 1, lambda names: of_plot(names["wai"].holdout_size(0.05, base=0.60, k=8), "tasks")
    ),
    "judge_trust": Figure("calls/judge_trust.md", 1, lambda names: of_plot(names["wai"].judge_trust(names["rows"]))),
    "pass_at": Figure("calls/pass_at.md", 1, tries),
    "read": Figure("read-a-result.md", 1, verdicts),
    "report": Figure("calls/report.md", 1, lambda names: of_plot(names["result"], "change of a rate, after - before")),
    "sample_for_labels": Figure("calls/sample_for_labels.md", 1, drawn_rows),
    "select": Figure("calls/select.md", 1, lambda names: of_plot(names["kept"].report, "rows")),
    "simulate": Figure("calls/simulate.md", 1, rollouts),
}


def drawn(docs: Path) -> dict[str, str]:
    """Every figure as the text of its file, by its path under `docs`."""
    found = {}
    for name, figure in FIGURES.items():
        page = docs / figure.page
        names = names_of(page, figure.blocks)
        names["text"] = page.read_text("utf-8")
        found[f"figures/{name}.svg"] = figure.draw(names)
    return found
