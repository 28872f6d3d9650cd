"""Results as GitHub's Markdown, for a comment on a pull request or the summary of a step.

Of the rows only task ids and names stand in it, in code spans that nothing can close; no prompt and no completion.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from whileai.measure.comparison import metrics_table, slices_table
from whileai.measure.gating import guards_of
from whileai.result import Note
from whileai.result.digits import count
from whileai.result.markdown import code_span, escaped, headline
from whileai.result.svg import shortened

if TYPE_CHECKING:
    from whileai.measure.comparison import Comparison
    from whileai.measure.gating import Gate, Lost
    from whileai.result import Result, Table

#: A comment may have 65,536 characters.
COMMENT_BYTES = 60_000
#: Metrics beside the target and the guards, and slices, that are shown.
MOST_METRICS, MOST_SLICES = 50, 20
#: Characters of a name that comes from the rows.
LONGEST_NAME = 80
_SIDES = {"l": ":--", "c": ":--:", "r": "--:"}
_FOLDED, _END = "<details><summary>", "</details>"
_name = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


def is_name(name: str) -> bool:
    """Whether a comparison may bear this name: it stands in a comment of HTML, in a file name and in XML."""
    return _name.fullmatch(name) is not None


def comparison(result: Comparison, gate: Gate, losses: Sequence[Lost], *, name: str = "default") -> str:
    """A comparison as a comment, which a workflow finds again by its first line and brings up to date."""
    tasks = f" ({count(result.n_paired, 'task')})" if result.delta is not None else ""
    parts = [f"<!-- wai:compare:{name} -->\n{headline(result.summary, 'wai')}{tasks}"]
    if result.corrected is not None:
        parts.append(escaped(result.corrected.text))
    parts += [f"**{escaped(line)}**" if line.startswith("gate failed") else escaped(line) for line in gate.remarks]
    if result.metrics:
        parts.append(_metrics(result))
    if result.slices:
        parts.append(_slices(result))
    folded = _details(result, losses)
    return "\n\n".join([*parts, *([folded] if folded else [])]) + "\n"


def _metrics(result: Comparison) -> str:
    """The target, the guards, and whatever else was measured."""
    guards = guards_of(result)
    first = [result.target, *guards]
    others = [
        name for name, delta in result.metrics.items() if name not in (*first, "reward") and delta.delta is not None
    ]
    others.sort(key=lambda name: 1.0 if (p := result.metrics[name].p_adjusted) is None else p)
    table = metrics_table(result, [*first, *others[:MOST_METRICS]])
    rows = []
    for row in table.rows:
        verdict = f"**{row[-1]}**" if row[0] == result.target else row[-1]
        rows.append((_labelled(row[0], result.target, guards), *map(escaped, row[1:-1]), verdict))
    shown = {row[0] for row in table.rows}
    blank = [""] * (len(table.header) - 2)
    rows += [(_labelled(name, result.target, guards), *blank, "not measured") for name in guards if name not in shown]
    more = len(others) - MOST_METRICS
    tail = f"\n\nand {count(more, 'more metric')}, none with a smaller p" if more > 0 else ""
    return _table(table, rows) + tail


def _labelled(name: str, target: str, guards: Sequence[str]) -> str:
    """What a metric is in this comparison."""
    if name == target:
        return f"**{_span(name) if ':' in name else escaped(name)}** target"
    return f"{_span(name)} guard" if name in guards else _span(name)


def _slices(result: Comparison) -> str:
    """The target on each slice; of many those least likely to be chance."""
    shown = list(result.slices.items())
    if len(shown) > MOST_SLICES:
        shown.sort(key=lambda item: 1.0 if item[1].p_value is None else item[1].p_value)
    table = slices_table(result, shown[:MOST_SLICES])
    more = len(shown) - MOST_SLICES
    rows = [(_span(row[0]), *map(escaped, row[1:])) for row in table.rows]
    return _table(table, rows) + (f"\n\nand {count(more, 'more slice')}" if more > 0 else "")


def _details(result: Comparison, losses: Sequence[Lost]) -> str:
    """What a reader opens when the numbers above ask for it: the largest losses and the notes."""
    better, worse, _ = result._moved
    told, body = [], []
    if result.delta is not None:
        told.append(f"{count(worse, 'task')} lost, {better:,} won")
    if losses:
        told[-1] += f": the {f'{len(losses)} ' if len(losses) > 1 else ''}largest loss{'es' if len(losses) > 1 else ''}"
        lines = ["| task | before -> after |", "|:--|:--|"]
        body.append("\n".join([*lines, *(f"| {_span(lost.task)} | {lost.text} |" for lost in losses)]))
    if result.notes:
        told.append(count(len(result.notes), "note"))
        body.append(notes(result.notes))
    if not body:
        return escaped(", ".join(told))
    return "\n\n".join([f"{_FOLDED}{', '.join(told)}</summary>", *body, _END])


def notes(found: Sequence[Note]) -> str:
    """Notes as a list."""
    return "\n".join(f"- {escaped(str(note))}" for note in found)


def _table(table: Table, rows: Sequence[Sequence[str]]) -> str:
    head = [" | ".join(map(escaped, table.header)), "|".join(_SIDES[side] for side in table.align)]
    return "\n".join([f"| {head[0]} |", f"|{head[1]}|", *(f"| {' | '.join(row)} |" for row in rows)])


def _span(name: str) -> str:
    return code_span(shortened(name, LONGEST_NAME))


def other(result: Result, remarks: Sequence[str] = ()) -> str:
    """Any result, as a notebook that takes Markdown shows it, with what a gate says."""
    return "\n\n".join([result._repr_markdown_().rstrip("\n"), *map(escaped, remarks)]) + "\n"


def fitted(text: str, room: int) -> str:
    """`text` within so many bytes of UTF-8: cut at whole lines, which says how many were cut; empty where none fits."""
    if len(text.encode("utf-8", "backslashreplace")) <= room:
        return text
    lines = text.rstrip("\n").split("\n")
    kept: list[str] = []
    used, spare = 0, len(_END) + 64
    for line in lines:
        used += len(line.encode("utf-8", "backslashreplace")) + 1
        if used + spare > room:
            break
        kept.append(line)
    if not any(kept):
        return ""
    is_open = sum(line.startswith(_FOLDED) for line in kept) > kept.count(_END)
    end = [_END] if is_open else []
    cut = len(lines) - len(kept) - len(end)
    return (
        "\n".join([*kept, "", *end, *([""] if end else []), f"{count(cut, 'more line')} cut for want of room"]) + "\n"
    )
