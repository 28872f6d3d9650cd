"""The browser of tasks: its frame for the scripts, and a first part of it that needs none."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from whileai.pages import charts
from whileai.pages.markup import Markup, tag
from whileai.pages.payload import record
from whileai.pages.sections import section
from whileai.result import digits as d

if TYPE_CHECKING:
    from whileai.pages.content import Content

LABELS = {
    "lost": "Lost",
    "won": "Won",
    "failing": "Failing",
    "passing": "Passing",
    "unstable": "Unstable",
    "uncertain": "Judge uncertain",
    "same": "Same",
    "all": "All",
}
HELP = (
    ("/", "search"),
    ("j, k, arrows", "next and previous task"), ("Home, End, Page keys", "far moves"), ("Enter", "open"),
    ("Esc", "back to the list"), ("1 to 6", "filters"), ("s", "next order"), ("n, p", "next and previous pair of rows"),
    ("d", "differences on or off"), ("?", "these keys"),
)  # fmt: skip
#: Tasks that can be read without scripts, and characters of each text there.
STATIC_WORSE, STATIC_BETTER, STATIC_CUT = 50, 20, 1200


def browser(content: Content) -> Markup | None:
    """The section; ``None`` where no task is known."""
    tasks = content.tasks
    if tasks is None or not len(tasks):
        return None
    flags = {name: int(mask.sum()) for name, mask in tasks.flags().items()}
    if tasks.before is not None:
        question = "Which tasks flipped?"
        answer = f"{flags['lost']:,} lost, {flags['won']:,} won"
        expected = tasks.expected_flips()
        if expected is not None:
            lost, won = (f"{value:,.1f}" for value in expected)
            each = f"{lost} each" if lost == won else f"{lost} and {won}"
            answer += f" ({each} expected if nothing changed)"
        answer += f", {flags['same']:,} the same."
        title = f"{d.count(flags['lost'], 'task')} lost, {flags['won']:,} won"
        figures: list[Any] = [charts.flips(title, tasks), charts.transitions(tasks)]
    else:
        judged = int((tasks.after.n > 0).sum())
        question = "Which tasks fail?" if judged == len(tasks) else "Which tasks score lowest?"
        failing, some, other = flags["failing"], flags["unstable"], len(tasks) - judged
        answer = f"{d.count(failing, 'task')} of {judged:,} {'fails' if failing == 1 else 'fail'} every row, "
        answer += f"{some:,} {'passes' if some == 1 else 'pass'} some."
        if other:
            answer += f" {d.count(other, 'task')} {'has' if other == 1 else 'have'} no reward of 0 or 1."
        figures = []
    return section("flips", question, answer, figures, _frame(content, flags), _static(content))


def _frame(content: Content, flags: dict[str, int]) -> Markup:
    """What the scripts fill; hidden until they run."""
    tasks = content.tasks
    assert tasks is not None
    kept = set(content.kept)
    shown = flags if len(kept) == len(tasks) else {
        name: sum(1 for place in kept if mask[place]) for name, mask in tasks.flags().items()
    }  # fmt: skip
    buttons = [
        tag("button", f"{LABELS[name]} ", tag("span", f"{n:,}"), type="button", data_f=name, aria_pressed="false")
        for name, n in shown.items()
    ]
    keys = [tag("div", tag("dt", key), tag("dd", what)) for key, what in HELP]
    return tag(
        "div",
        tag("div", buttons, class_="filters", role="group", aria_label="Show"),
        tag(
            "div",
            tag("label", "Search ", tag("input", type="search", id="q", autocomplete="off", spellcheck="false")),
            tag("label", "Sort ", tag("select", id="sort")),
            tag("button", "Differences", type="button", id="differ", aria_pressed="true", hidden=tasks.before is None),
            class_="tools",
        ),
        tag("p", id="count", aria_live="polite"),
        tag(
            "div",
            tag(
                "div",
                tag("div", id="rows", role="presentation"),
                id="list",
                role="listbox",
                tabindex=0,
                aria_label="Tasks",
            ),
            tag("div", id="detail", role="region", tabindex=-1, aria_label="The open task"),
            class_="panes",
        ),
        tag(
            "details",
            tag("summary", "Keys, while the focus is in the browser"),
            tag("dl", keys, class_="keys"),
            id="help",
        ),
        tag("div", id="print-list", aria_hidden="true"),
        id="browser",
        hidden=True,
    )


def _static(content: Content) -> Markup:
    """The worst tasks, and some of the best, to read without scripts."""
    tasks = content.tasks
    assert tasks is not None
    first, second = ("lost", "won") if tasks.before is not None else ("failing", "unstable")
    flags = tasks.flags()
    worse = [place for place in content.order if flags[first][place]][:STATIC_WORSE]
    better = [place for place in content.order if flags[second][place] and not flags[first][place]][:STATIC_BETTER]
    told = tag("p", f"The first {len(worse):,} {LABELS[first].lower()} and {len(better):,} {LABELS[second].lower()}:")
    return tag("div", told, [_one(content, place) for place in (*worse, *better)], id="static")


def rate_text(content: Content, place: int) -> str:
    """``3/4 -> 1/4``, or means where the target is no pass rate."""
    tasks = content.tasks
    assert tasks is not None
    sides = [side for side in (tasks.before, tasks.after) if side is not None]
    if tasks.target == "pass_at_1":
        return " -> ".join(f"{int(side.passes[place])}/{int(side.n[place])}" for side in sides)
    return " -> ".join(f"{float(side.mean[place]):.4g}" for side in sides)


def _one(content: Content, place: int) -> Markup:
    """One task with its first pair."""
    tasks = content.tasks
    assert tasks is not None
    head = tag("summary", tag("code", tasks.ids[place]), f" {rate_text(content, place)}")
    if not content.with_texts or all(arm.rows is None for arm in content.arms):
        return tag("details", head, tag("p", "no texts here"))
    found = record(content.arms, tasks.ids[place], include_reference=content.include_reference, counts=Counter())
    parts = [tag("h3", "Prompt"), tag("pre", _cut(found[0]), dir="auto", tabindex=0)]
    for arm, rows in zip(content.arms, found[1:], strict=False):
        if rows:
            text, reward = rows[0][0], rows[0][1]
            verdict = "unjudged" if reward is None else {0.0: "fail", 1.0: "pass"}.get(reward, f"reward {reward:g}")
            steps = "".join(f"[{kind}] {said}\n" for step in rows[0][6:] for kind, said in step)
            parts += [tag("h3", f"{arm.name}: {verdict}"), tag("pre", _cut(steps + text), dir="auto", tabindex=0)]
    return tag("details", head, parts)


def _cut(text: str) -> str:
    return text if len(text) <= STATIC_CUT else f"{text[:STATIC_CUT]}\n[{len(text) - STATIC_CUT:,} characters cut]"
