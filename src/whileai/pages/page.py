"""One file that opens from disk: markup, style, scripts and data, and a policy that lets nothing else in."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import replace
from importlib import resources
from typing import TYPE_CHECKING

from whileai.errors import ParamError
from whileai.pages import closing, sections
from whileai.pages.browser import browser
from whileai.pages.content import Content
from whileai.pages.markup import Markup, joined, tag
from whileai.pages.payload import columns_json, pack_texts, packed
from whileai.result import digits as d

if TYPE_CHECKING:
    from whileai.result import Result

#: Of a page of 5 MB so much may be texts in base64; the rest is room for what can be read without scripts.
TEXT_SHARE = 0.8


def asset(name: str) -> str:
    """A file that stands in every page: the style sheet, or the scripts, bundled from the modules in ``web``."""
    return (resources.files("whileai.pages") / "assets" / name).read_text(encoding="utf-8")


def built(content: Content, max_mb: float) -> tuple[bytes, Content]:
    """The page, and the content with the texts that found room.

    Raises
    ------
    ParamError
        Not even the page without any task fits into `max_mb`.
    """
    most = int(max_mb * 1e6)
    order = list(content.order)
    while True:
        bare = written(content)
        room = min(most - len(bare) - 4000, int(TEXT_SHARE * most))
        if room >= 0 or not order:
            break
        order = order[: len(order) // 2]
        content = replace(content, kept=sorted(order), order=order)
    if room < 0:
        need = (len(bare) + 5000) / 1e6
        raise ParamError.of("report", "max_mb", f"at least {need:.2f}, what the page takes without any task", max_mb)
    if content.with_texts and content.tasks is not None and any(arm.rows is not None for arm in content.arms):
        texts = pack_texts(
            content.arms, content.tasks, content.order, budget=room, include_reference=content.include_reference
        )
        content = replace(content, texts=texts)
    return written(content), content


def written(content: Content) -> bytes:
    """The page as bytes."""
    style, code = asset("page.css"), asset("report.js")
    policy = (
        f"default-src 'none'; script-src '{_hash(code)}'; style-src '{_hash(style)}'; img-src data:; base-uri 'none'; "
        "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    head = [
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", content.main.summary),
        tag("link", rel="icon", href="data:,"),
        Markup(f"<style>{style}</style>"),
    ]
    body = [
        tag("a", "Skip to the tasks", href="#flips", class_="skip") if content.tasks is not None else None,
        tag("header", tag("span", "whileai report", class_="brand"), _buttons()),
        tag("main", _sections(content)),
        tag("footer", tag("p", _foot(content))),
        _data(content),
        Markup(f"<script>{code}</script>"),
    ]
    page = f'<!doctype html>\n<html lang="en"><head>{joined(head)}</head>\n<body>{joined(body)}</body></html>\n'
    return page.encode("utf-8", "backslashreplace")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _buttons() -> Markup:
    return tag(
        "div",
        tag("button", "Theme: system", type="button", id="theme"),
        tag("button", "Print", type="button", id="print"),
        id="page-tools",
        hidden=True,
    )


def _sections(content: Content) -> list[Markup]:
    """The sections in their order; one without data is absent, and the last but one says so."""
    result = content.comparison
    found: list[tuple[Markup | None, str]] = []
    if result is not None:
        found.append((sections.changed(result), "what changed: nothing was computed"))
    no_rows = "the tasks: only results were given. wai.report(result, path, before=rows, after=rows) lists them"
    found.append((browser(content), no_rows if content.tasks is None else "the tasks: none is measured in every arm"))
    found.append((sections.spread(content), "the spread of tasks: no task with a binary reward is known"))
    found.append((sections.tries(content), "what more tries buy: tasks have one judged row each, or no rows are known"))
    if result is not None:
        found.append((sections.slices(result), "slices: by= was not given to compare"))
    kinds = {type(other).__name__ for other in content.others}
    for place, other in enumerate(_ordered(content)):
        found.append((sections.other(other, f"other-{place}"), ""))
    for kind, text in (
        ("JudgeTrust", "the judge: no wai.judge_trust result, and no row with gold_reward, was given"),
        ("EvalVariance", "re-run noise: no wai.eval_variance result was given"),
    ):
        found.append((None, text if kind not in kinds and type(content.main).__name__ != kind else ""))
    absent = [text for part, text in found if part is None and text]
    parts = [sections.verdict(content), *(part for part, _ in found if part is not None)]
    return [*parts, closing.left_out(content, absent), closing.how(content)]


def _ordered(content: Content) -> list[Result]:
    """The other results: the judge, noise, size, then the rest as they were given."""
    ranks = {"JudgeTrust": 0, "EvalVariance": 1, "HoldoutSize": 2}
    return sorted(content.others, key=lambda result: ranks.get(type(result).__name__, 3))


def _foot(content: Content) -> str:
    """Which texts the file holds, for whoever passes it on."""
    if content.tasks is None or not content.with_texts or not content.texts.places:
        return "This file holds no prompt and no completion. It asks nothing of any network."
    n = len(content.texts.places)
    gold = "; with the gold" if content.include_reference else "; without the gold"
    held = f"the prompts and completions of {n:,} of {d.count(len(content.tasks), 'task')}{gold}"
    return f"This file holds {held}. It asks nothing of any network."


def _data(content: Content) -> list[Markup]:
    """What the scripts read, as inert blocks."""
    tasks = content.tasks
    if tasks is None or not len(tasks):
        return []
    settings = {
        "arms": [arm.name for arm in content.arms],
        "flags": list(tasks.flags()),
        "target": tasks.target,
        "lower": tasks.lower,
        "gold": content.include_reference,
        "total": len(tasks),
        "texts": len(content.texts.places),
        "more": content.more,
    }
    blocks = {
        "wai-settings": json.dumps(settings).replace("<", "\\u003c"),
        "wai-columns": packed(columns_json(tasks, content.kept)),
        "wai-texts": content.texts.packed,
    }
    # texts name tasks by their place among all tasks; the columns may hold fewer
    if len(content.kept) < len(tasks):
        blocks["wai-places"] = packed(json.dumps(list(content.kept), separators=(",", ":")))
    return [Markup(f'<script type="application/json" id="{name}">{text}</script>\n') for name, text in blocks.items()]
