"""The sections of a page: a question, its answer in the first sentence, then the figure and the table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from whileai.measure.comparison import CHANGES, SHAPES, WORDS, change_row, metrics_table, slices_table, value_places
from whileai.measure.eval_variance import EvalVariance
from whileai.measure.pass_at import measured
from whileai.measure.trust import JudgeTrust
from whileai.pages import charts, judging
from whileai.pages.markup import Child, Markup, table, tag
from whileai.result import Headline, Line, Note, Plot, Result, Table
from whileai.result import digits as d

if TYPE_CHECKING:
    from whileai.measure.comparison import Comparison
    from whileai.measure.pass_at import PassAt
    from whileai.pages.content import Content

ANSWERS = {"improved": "yes", "insufficient_data": "cannot say", "not_comparable": "cannot say"}
#: What a result answers, by the name of its type.
QUESTIONS = {
    "JudgeTrust": "Can the judge be trusted?",
    "EvalVariance": "How noisy is the eval?",
    "HoldoutSize": "How many tasks would prove it?",
    "HackScan": "Does the reward move with what should not earn it?",
    "RlReport": "What is worth training on?",
    "SftReport": "What is worth training on?",
    "DecontaminateReport": "Is the eval in the training data?",
    "CalibrateReport": "How hard are the tasks for the student?",
    "PublishGate": "May it be published?",
    "Coverage": "What did the simulation cover?",
    "SelfCheck": "Do the statistics hold what they promise?",
}
MOST_SLICE_ROWS, MOST_K = 30, 14


def section(name: str, question: str, answer: Child, *children: Child) -> Markup:
    """One section under its question."""
    head = tag("h2", question, id=f"h-{name}")
    first = tag("p", answer, class_="answer") if answer else None
    return tag("section", head, first, *children, id=name, aria_labelledby=f"h-{name}")


def verdict(content: Content) -> Markup:
    """The top of the page: the verdict, line one, what it rests on."""
    result = content.main
    blocks = result._blocks()
    if content.comparison is not None:
        word = content.comparison.verdict
        words = result.summary.partition(":")[0]
        question, answer = "Is it better?", f"{ANSWERS.get(word, 'no')}: {words}"
        kind = (
            {"improved": "good", "regressed": "bad"}.get(word, "open")
            if content.comparison.ok or word == "regressed"
            else "bad"
        )
    else:
        question, answer, kind = question_of(result), "", "open"
    lines = [tag("p", block.text) for block in blocks if isinstance(block, Line)]
    notes = [
        tag("li", tag("b", note.code), f" {note.text} {note.fix}".rstrip()) for note in blocks if isinstance(note, Note)
    ]
    tables = [] if content.comparison is not None else _tables(result)
    plot = None if content.comparison is not None else _plot(result)
    return tag(
        "section",
        tag(
            "h1",
            question,
            " " if answer else "",
            tag("span", answer, class_=f"verdict {kind}") if answer else None,
            id="h-verdict",
        ),
        tag("p", result.summary, class_="line-one"),
        lines,
        tag("p", _size(content), class_="size"),
        plot,
        tables,
        tag("ul", notes, class_="notes") if notes else None,
        id="verdict",
        aria_labelledby="h-verdict",
    )


def _size(content: Content) -> str:
    """How much data, at one glance."""
    parts = []
    for arm in content.arms:
        table_ = arm.table
        name = "" if len(content.arms) == 1 else f"{arm.name}: "
        told = f"{name}{d.count(table_.n_rows, 'row')} of {d.count(len(table_), 'task')}"
        parts.append(f"{told}, {int(table_.n_unjudged.sum()):,} unjudged")
    level = getattr(content.main, "level", None)
    return " | ".join([*parts, *([] if level is None else [f"level {d.given(level)}"])])


def question_of(result: Result) -> str:
    """What a result answers."""
    kind = type(result).__name__
    return "How often does it pass?" if kind == "PassAt" else QUESTIONS.get(kind, f"What does {kind} say?")


def _tables(result: Result) -> list[Markup]:
    """The printed tables of a result."""
    blocks = [block for block in result._blocks() if isinstance(block, Table)]
    more = ["", *(f" ({place})" for place in range(2, len(blocks) + 1))]
    return [table(f"{question_of(result)} The numbers{end}", block) for block, end in zip(blocks, more, strict=False)]


def _plot(result: Result) -> Markup | None:
    """The small figure of a result at the page's widths; its title is what its main rows say."""
    plot = result._plot()
    if plot is None:
        return None
    same = len({row.axis for row in plot.rows}) == 1
    caption = plot.caption
    if getattr(result, "level", None) is not None:
        caption = caption.replace("line = interval", f"line = {100 * result['level']:.6g}% interval")
    main = [row for row in plot.rows if row.main] or plot.rows[:3]
    title = f"{plot.title}: {', '.join(f'{row.name} {row.text}' for row in main)}"
    return charts.intervals(title, plot, plot.title.lower() if same else "", caption)


# change --------------------------------------------------------------------------------------------------------------


def changed(result: Comparison) -> Markup | None:
    """Every metric with its interval; ``None`` where nothing was computed."""
    plot = result._plot()
    if plot is None or result.delta is None:
        return None
    names = [row.name for row in plot.rows]
    counts = [sum(result.metrics[name].verdict == word for name in names) for word in ("improved", "regressed")]
    answer = f"Of {d.count(len(names), 'metric')}, {counts[0]:,} improved and {counts[1]:,} regressed"
    answer += ", each judged with the others in mind (Holm)." if len(names) > 1 else "."
    band = ""
    if result.noise_band is not None:
        band = f"; shaded = the noise band +/-{d.spread(result.noise_band)} of {result.target}"
    level = f"{100 * result.level:.6g}%"
    if result.target.startswith("marker:"):
        axis = f"{result.target}, after - before"
    else:
        axis = "change of a rate, after - before"
    caption = CHANGES.replace("line = interval", f"line = {level} interval") + band
    caption += "; each marker on an axis of its own" if any(name.startswith("marker:") for name in names) else ""
    figure = charts.intervals(_finding(result), plot, axis, caption, metrics_table(result, names))
    told = None
    if result.detectable_effect is not None:
        text = f"The smallest change that {d.count(result.n_paired, 'task')} can prove four times in five is about "
        text += d.spread(result.detectable_effect)
        more = (
            "" if result.tasks_needed is None else f"; the change seen would need about {result.tasks_needed:,} tasks"
        )
        told = tag("p", f"{text}{more}.")
    return section("changed", "What changed?", answer, figure, told)


def _finding(result: Comparison) -> str:
    """The target's change in words, as a figure's title."""
    return f"{result.target}: {WORDS[result.verdict]}, {result._plot_row(result.target).text}"


def slices(result: Comparison) -> Markup | None:
    """The target on every slice; ``None`` where none was asked for."""
    if not result.slices:
        return None
    counts = [
        sum(delta.verdict == word for delta in result.slices.values())
        for word in ("improved", "regressed", "insufficient_data")
    ]
    answer = f"Of {d.count(len(result.slices), 'slice')}, {counts[0]:,} improved, {counts[1]:,} regressed, "
    answer += f"{counts[2]:,} too small to say."
    shown = sorted(result.slices.items(), key=lambda item: (item[1].delta is None, item[1].delta or 0.0, item[0]))
    is_rate = not result.target.startswith("marker:")
    rows = tuple(
        change_row(name, delta, value_places(delta, is_rate=is_rate), shape=SHAPES.get(delta.verdict, "square"))
        for name, delta in shown
        if delta.delta is not None
    )
    drawn = rows if len(rows) <= MOST_SLICE_ROWS else (*rows[: MOST_SLICE_ROWS // 2], *rows[-MOST_SLICE_ROWS // 2 :])
    left = "" if len(drawn) == len(rows) else f"; of {len(rows):,} slices the ends are drawn, the table has all"
    level = f"{100 * result.level:.6g}%"
    caption = CHANGES.replace("line = interval", f"line = {level} interval") + left
    title = f"{result.target} by slice: {counts[0]:,} improved, {counts[1]:,} regressed"
    figure = charts.intervals(
        title, Plot(title, drawn), f"change of {result.target}", caption, slices_table(result, shown)
    )
    return section("slices", "Where?", answer, figure)


# tasks ---------------------------------------------------------------------------------------------------------------


def spread(content: Content) -> Markup | None:
    """Tasks by pass rate; ``None`` without a binary reward."""
    sides = [] if content.tasks is None else [s for s in (content.tasks.before, content.tasks.after) if s is not None]
    if not sides or not all(int((side.n > 0).sum()) for side in sides):
        return None
    names = [arm.name for arm in content.arms]
    useful, unread = [], 0
    for side in sides:
        judged = side.n > 0
        low, high = charts.RL_BAND
        rates = side.passes[judged] / side.n[judged]
        inside = int(((rates >= low - 1e-12) & (rates <= high + 1e-12)).sum())
        useful.append(f"{inside:,} of {d.count(int(judged.sum()), 'task')}")
        unread = max(unread, int((~judged).sum()))
    told = useful[0] if len(useful) == 1 else f"{useful[0]} before and {useful[1]} after"
    answer = f"Between 0.2 and 0.8, where rl learns something, lie the pass rates of {told}."
    if unread:
        answer += f" Without a reward of 0 or 1, and so left out: {d.count(unread, 'task')}."
    if max(int(side.n.max()) for side in sides) == 1:
        answer += " One row a task tells only 0 from 1: several tries would tell more."
    title = f"{told} between 0.2 and 0.8"
    return section("spread", "How are tasks spread?", answer, charts.spread(title, charts.bins_of(sides), names))


def tries(content: Content) -> Markup | None:
    """pass@k and pass^k over k; ``None`` where tasks have one row."""
    arms = []
    for name, result in content.passes:
        if result.k > 1 and result.pass_at_k is not None and result._table is not None:
            arms.append(
                (name, [result if k == result.k else measured(result._table, k, result.level) for k in _ks(result.k)])
            )
    if not arms:
        return None
    told = []
    for name, results in arms:
        last = results[-1]
        who = "" if len(content.passes) == 1 else f"{name}: "
        told.append(
            f"{who}{last.k} tries lift pass@1 {_rate(last, 'pass_at_1')} to pass@{last.k} {_rate(last, 'pass_at_k')}; "
            f"all {last.k} pass on {_rate(last, 'pass_pow_k')}"
        )
    return section(
        "tries",
        "What do more tries buy?",
        ". ".join(told) + ".",
        charts.curves(
            ", ".join(_ends(arms, *pair) for pair in (("pass@", "pass_at_k"), ("pass^", "pass_pow_k"))), arms
        ),
    )


def _ends(arms: Sequence[tuple[str, Sequence[PassAt]]], word: str, name: str) -> str:
    """A rate at the most tries, of each arm: ``pass@4 0.75 -> 0.92``."""
    last = [results[-1] for _, results in arms]
    told = [f"{_rate(result, name).partition(' ')[0]}" for result in last]
    if len({result.k for result in last}) > 1:
        return ", ".join(f"{word}{result.k} {text}" for result, text in zip(last, told, strict=True))
    return f"{word}{last[0].k} {' -> '.join(told)}"


def _rate(result: PassAt, name: str) -> str:
    return d.rate_within(getattr(result, name), result.intervals[name])


def _ks(most: int) -> list[int]:
    """Every k up to `most`, or of many some that double about."""
    if most <= MOST_K:
        return list(range(1, most + 1))
    found = {1, 2, 3, 4, most}
    k = 4.0
    while k < most:
        found.add(int(k))
        k *= 1.5
    return sorted(found)


def other(result: Result, name: str) -> Markup:
    """Any other result under its question."""
    blocks = result._blocks()
    head = next(block.text for block in blocks if isinstance(block, Headline))
    lines = [tag("p", block.text) for block in blocks if isinstance(block, Line)]
    tables = _tables(result)
    finding, figures = judging.shown(result) if isinstance(result, JudgeTrust) else ("", [])
    if finding:
        lines.insert(0, tag("p", head))
    if isinstance(result, EvalVariance) and result.means:
        figures, tables = [charts.runs(_runs_finding(result), result, tables)], []
    return section(name, question_of(result), finding or head, lines, figures or _plot(result), tables)


def _runs_finding(result: EvalVariance) -> str:
    """The range of the run means, as the table prints them."""
    places = d.decimals(max(result.means) - min(result.means), 2 if result.metric in ("pass_at_1", "reward") else 0)
    ends = (d.number(end(result.means), places) for end in (min, max))
    return f"{d.count(result.n_runs, 'run')} from {' to '.join(ends)}"
