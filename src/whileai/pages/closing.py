"""The last sections of a page: what was left out, and how it was computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from whileai.pages.markup import Markup, table, tag
from whileai.pages.sections import section
from whileai.result import Table
from whileai.result import digits as d

if TYPE_CHECKING:
    from whileai.pages.content import Content


def left_out(content: Content, absent: Sequence[str]) -> Markup:
    """Every counter and every note."""
    items: list[str] = []
    result = content.comparison
    if result is not None:
        before, after = (d.count(n, "task") for n in (result.n_only_before, result.n_only_after))
        items.append(f"{before} only before and {after} only after: paired with nothing")
    for arm in content.arms:
        where = "" if len(content.arms) == 1 else f"{arm.name}: "
        t = arm.table
        counts = (int(t.n_unjudged.sum()), int(t.n_partial.sum()), t.n_id_conflicts)
        unjudged, partial, conflicts = (d.count(n, "row") for n in counts)
        items.append(
            f"{where}{unjudged} unjudged, {partial} with a partial reward (no part of the pass rates), "
            f"{conflicts} with two ids that differ"
        )
    items += _texts_left_out(content)
    notes = [
        tag("li", tag("b", note.code), f" {f'({name}) ' if name else ''}{note.text} {note.fix}".rstrip())
        for name, note in content.notes
    ]
    answer = f"{d.count(len(content.notes), 'note')}, and what was counted but not measured:"
    return section(
        "left-out",
        "What was left out?",
        answer,
        tag("ul", [tag("li", text) for text in (*items, *absent)]),
        tag("ul", notes, class_="notes") if notes else None,
    )


def _texts_left_out(content: Content) -> list[str]:
    if content.tasks is None:
        return []
    items = []
    n, kept = len(content.tasks), len(content.kept)
    if kept < n:
        items.append(
            f"numbers of {kept:,} of {n:,} tasks are on this page, flips first, then a sample; "
            "every measurement is over all"
        )
    texts = content.texts
    if not content.with_texts:
        items.append("no prompt and no completion is on this page, as was asked")
    elif any(arm.rows is not None for arm in content.arms):
        if len(texts.places) < kept:
            items.append(
                f"texts of {len(texts.places):,} of {kept:,} tasks fit, the largest losses first; "
                f"others: {content.more}"
            )
        for count, thing, text in (
            (texts.shortened, "completion", "cut to the first 4,000 and the last 1,000 characters"),
            (texts.more_rows, "row", "beyond the four an arm that a task shows"),
            (texts.withheld, "reason", "withheld, for quoting the gold"),
        ):
            items += [f"{d.count(count, thing)} {text}"] if count else []
    if content.with_texts and not content.include_reference:
        items.append("the gold: include_reference=True shows it")
    return items


METHODS = (
    (
        "pass@1 and its interval",
        "mean over tasks, one more imagined to fail or to pass (Gaffke 2005; Clopper and Pearson for one row a task)",
    ),
    ("pass@k, pass^k", "unbiased from counts (Chen et al. 2021, arXiv:2107.03374; Yao et al. 2024, arXiv:2406.12045)"),
    ("change and its interval", "paired by task (Bonett and Price 2012; Miller 2024, arXiv:2411.00640)"),
    (
        "p",
        "exact permutation of signs over tasks (Pagano and Tritchler 1983; McNemar for one row a task), Holm's",
    ),
    ("noise band", "Student's t on the spread of re-runs"),
    ("expected flips", "each task's rows dealt anew to the arms, hypergeometric, exact"),
)
OTHER_METHODS = (
    ("JudgeTrust", ("agreement, gold passes", "mean over labelled tasks, with the interval of pass@1")),
    ("JudgeTrust", ("kappa, AC1", "Cohen's, linearised over tasks (Fleiss, Cohen and Everitt 1969); Gwet 2008")),
    ("JudgeTrust", ("corrected pass rate", "prediction-powered (PPI++, arXiv:2311.01453)")),
    ("EvalVariance", ("run_std, sampling", "spread of run means, chi-square; the task x run residual; F test")),
)


def _settings(content: Content) -> str:
    """What was asked for, as it was given."""
    result = content.comparison
    told = [] if result is None else [
        ("target", result.target),
        ("level", d.given(result.level)),
        ("must_not_regress", ", ".join(result._guards)),
        ("lower_is_better", ", ".join(name for name, delta in result.metrics.items() if delta.lower_is_better)),
        ("proxy", result.proxy or ""),
        ("run_std", "" if result.run_std is None else d.given(result.run_std)),
        ("run_std_runs", "" if result._run_std_runs is None else str(result._run_std_runs)),
    ]  # fmt: skip
    told += [("texts", str(content.with_texts)), ("include_reference", str(content.include_reference))]
    return " | ".join(f"{name} {value}" for name, value in told if value)


def how(content: Content) -> Markup:
    """Versions, inputs, settings, methods, the command that makes the page again."""
    import platform

    import numpy as np

    from whileai import __version__

    rows = [
        (entry.name, entry.path or "in memory", f"{entry.n_rows:,}", f"{entry.n_tasks:,}", entry.sha256 or "-")
        for entry in content.inputs
    ]
    inputs = (
        table("Inputs", Table(("argument", "file", "rows", "tasks", "sha256"), tuple(rows), "llrrl")) if rows else None
    )
    methods = list(METHODS if content.comparison is not None else METHODS[:2])
    methods += [row for name, row in OTHER_METHODS if any(type(result).__name__ == name for result in content.others)]
    if content.comparison is not None and content.comparison.corrected is not None:
        methods.append(("change with the judge's errors counted", "prediction-powered (PPI++, arXiv:2311.01453)"))
    answer = f"whileai {__version__}, Python {platform.python_version()}, numpy {np.__version__}; "
    answer += "the same data give the same page, byte by byte."
    printed = [
        tag("pre", str(result), tabindex=0, aria_label=f"{type(result).__name__} as printed")
        for result in (content.main, *content.others)
    ]
    return section(
        "how",
        "How was it computed?",
        answer,
        inputs,
        table("Methods", Table(("number", "method and source"), tuple(methods), "ll")),
        tag("p", "Settings: ", tag("code", _settings(content))),
        tag("p", "This page again: ", tag("code", content.again)),
        tag("details", tag("summary", "As printed"), printed),
    )
