"""Rows into a file of one of the formats: the whole of `wai.write` but the reading of its argument."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from whileai import keys, params
from whileai.errors import ParamError
from whileai.export.columns import TEXT, even_line, turn_keys, turns_type, types_first
from whileai.export.episodes import Episode
from whileai.export.files import checked_path, kind_of, write_lines, write_parquet
from whileai.export.flat import flattened
from whileai.export.formats import FORMATS, SUFFIXES, Format
from whileai.export.given_pairs import is_pair, pair_of
from whileai.export.pairs import Pair, pick_pairs, sign_p
from whileai.export.reading import Source, gold_text
from whileai.export.written import Written
from whileai.result import Note
from whileai.result.digits import count, p_text
from whileai.simulations._wire import task_id_of

CALL = "write"
#: Problems of a reply, which is nothing to a file of prompts.
_OF_REPLIES = ("", "unusable", "cut_off", "no_reply")


@dataclass
class _Lines:
    """Lines as they are made.

    Attributes
    ----------
    lines : iterable of dict
        A list; of whole rows an iterator, as each is made when it is written. `n_lines` counts them then.
    """

    lines: Any = field(default_factory=list)
    n_lines: int = 0
    tasks: set[str] = field(default_factory=set)
    skipped: Counter[str] = field(default_factory=Counter)
    odd: Counter[str] = field(default_factory=Counter)
    notes: list[Note] = field(default_factory=list)

    def add(self, line: dict[str, Any] | str, episode: Episode, *, prompt_only: bool = False) -> None:
        if isinstance(line, str):
            self.skipped[line] += 1
            return
        self.lines.append(line)
        self.n_lines += 1
        self.tasks.add(episode.task_id)
        shown = episode.prompt if prompt_only else episode.turns
        self.odd["tools_unknown"] += not episode.tools and any("tool_calls" in turn for turn in shown)
        self.odd["reasoning"] += any("reasoning_content" in turn for turn in shown)
        self.odd["loss_mask_unread"] += episode.mask_unread


def checked(path: Any, format: Any) -> tuple[Path, Format]:
    """The file and the format, if the one fits the other."""
    made = FORMATS[params.one_of(CALL, "format", format, FORMATS)]
    file = checked_path(CALL, path)
    if kind_of(file) not in made.kinds:
        fits = " or ".join(SUFFIXES[kind] for kind in made.kinds)
        raise ParamError.of(CALL, "path", f"a file ending in {fits} for {made.name}", str(path))
    return file, made


def write_rows(
    rows: Sequence[dict[str, Any]],
    path: Any,
    *,
    format: str,
    include_reference: bool,
    system_prompt: str | None = None,
    tools: Any = None,
    per_task: int = 1,
    min_margin: float = 1.0,
) -> Written:
    """Write rows, and say what was written; see `wai.write`."""
    file, made = checked(path, format)
    pairs = [place for place, row in enumerate(rows) if is_pair(row)]
    if pairs and made.unit != "pair":
        fits = ", ".join(name for name, other in FORMATS.items() if other.unit == "pair")
        raise ParamError.of(CALL, "format", f"one for preference pairs, {fits}, as rows hold some", format)
    source = Source.of(
        CALL,
        [row for row in rows if not is_pair(row)] if pairs else rows,
        include_reference=include_reference,
        system_prompt=system_prompt,
        tools=tools,
    )
    made_of = _Lines()
    if made.unit == "whole":
        made_of.lines = _whole(made_of, source, include_reference=include_reference) if rows else ()
    elif made.unit == "task":
        _add_tasks(made_of, source, made, include_reference=include_reference)
    elif made.unit == "row":
        _add_episodes(made_of, source, made, include_reference=include_reference)
    else:
        given = [pair_of(CALL, place, rows[place], system_prompt, tools) for place in pairs]
        _add_pairs(made_of, source, made, given, per_task, min_margin)
    if made_of.lines:
        _save(file, made, made_of)
    notes = _notes(made_of, made, file, include_reference=include_reference)
    return Written(
        path=str(path),
        format=format,
        n_rows=len(rows),
        n_lines=made_of.n_lines,
        n_tasks=len(made_of.tasks),
        skipped={name: n for name, n in made_of.skipped.items() if n},
        withheld={
            name: n for name, n in source.withheld.items() if n and (made.unit == "whole" or name == "privileged")
        },
        include_reference=include_reference and made.takes_reference,
        notes=tuple(notes),
    )


def _whole(made_of: _Lines, source: Source, *, include_reference: bool) -> Iterator[dict[str, Any]]:
    for row, clean in source.cleaned():
        block = row.get("privileged")
        gold = block.get("reference") if isinstance(block, dict) else None
        if include_reference and not keys.is_missing(gold):
            made_of.odd["golds"] += 1
        else:
            made_of.odd["open_golds"] += keys.reference_of(clean) is not None
            gold = None
        made_of.n_lines += 1
        made_of.tasks.add(task_id_of(clean))
        yield clean if gold is None else {**clean, "privileged": {"reference": gold}}


def _add_tasks(made_of: _Lines, source: Source, made: Format, *, include_reference: bool) -> None:
    """One line a task: its first prompt, its first gold."""
    prompts: dict[str, Episode] = {}
    golds: dict[str, str] = {}
    odd_prompts, odd_golds = set(), set()
    for row, episode in source.episodes():
        problem = episode.problem if episode.problem not in _OF_REPLIES else "" if episode.prompt else "no_prompt"
        if problem:
            made_of.skipped[problem] += 1
            continue
        task = episode.task_id
        if prompts.setdefault(task, episode).prompt != episode.prompt:
            odd_prompts.add(task)
        gold = gold_text(row) if include_reference else None
        if gold is not None and golds.setdefault(task, gold) != gold:
            odd_golds.add(task)
    for index, (task, episode) in enumerate(prompts.items()):
        gold = golds.get(task)
        made_of.odd["golds"] += gold is not None
        more = (index,) if made.name == "verl" else ()
        line = made.line(episode, gold, *more)
        made_of.add(_with_tools(line, episode, made), episode, prompt_only=True)
    for code, tasks, what in (("prompts_differ", odd_prompts, "prompt"), ("golds_differ", odd_golds, "gold")):
        if tasks:
            text = f"{count(len(tasks), 'task')} with several {what}s: the first {what} was written."
            made_of.notes.append(Note(code, text, "Give each question a task_id of its own."))


def _add_episodes(made_of: _Lines, source: Source, made: Format, *, include_reference: bool) -> None:
    judged = made.name in ("trl-kto", "every-eval-ever")
    for row, episode in source.episodes(judged=judged):
        if episode.problem:
            made_of.skipped[episode.problem] += 1
        elif made.takes_reference:
            gold = keys.reference_of(row) if include_reference else None
            line = made.line(episode, gold)
            if not isinstance(line, str):
                made_of.odd["golds"] += gold is not None
                made_of.odd["unnamed"] += "unknown" in (line["model_id"], line["evaluation_name"])
            made_of.add(line, episode)
        else:
            made_of.add(_with_tools(made.line(episode), episode, made), episode)


def _add_pairs(
    made_of: _Lines, source: Source, made: Format, given: list[Pair], per_task: int, min_margin: float
) -> None:
    episodes = [episode for _, episode in source.episodes(judged=True)]
    picked, without, left_out = pick_pairs(episodes, per_task=per_task, min_margin=min_margin)
    made_of.skipped.update(left_out)
    pairs = [*given, *picked]
    for pair in pairs:
        made_of.add(_with_tools(made.line(pair), pair.chosen, made), pair.chosen)
    if without:
        reasons = ", ".join(f"{name} {n:,}" for name, n in Counter(without.values()).most_common())
        n_tasks = len(without) + len({pair.chosen.task_id for pair in picked})
        fix = "wai.preference_pairs(rows, min_margin=...) pairs partial rewards." if "within_margin" in reasons else ""
        made_of.notes.append(
            Note("tasks_without_pair", f"no pair in {len(without):,} of {count(n_tasks, 'task')}: {reasons}.", fix)
        )
    longer = sum(pair.chosen.size > pair.rejected.size for pair in pairs)
    shorter = sum(pair.chosen.size < pair.rejected.size for pair in pairs)
    p = sign_p(longer, shorter)
    if p is not None and p < 0.05:
        text = f"the chosen one is the longer in {longer:,} of {longer + shorter:,} pairs (sign test p{p_text(p)})."
        made_of.notes.append(Note("length_tracks_choice", text, "A model can learn the length instead of the reason."))


def _with_tools(line: dict[str, Any] | str, episode: Episode, made: Format) -> dict[str, Any] | str:
    """A line with the schemas of its tools as JSON text, which every version of `datasets` keeps as it is."""
    if isinstance(line, str) or not made.turns or not episode.tools:
        return line
    return {**line, "tools": json.dumps(episode.tools, ensure_ascii=False)}


def _save(file: Path, made: Format, made_of: _Lines) -> None:
    parquet = kind_of(file) == "parquet"
    lines: Iterable[dict[str, Any]] = made_of.lines
    columns: dict[str, str] = {}
    if made.unit == "whole" and parquet:
        lines, columns = flattened(list(lines))
    elif made.even and made.turns:
        names = {column: turn_keys(lines, column) for column in made.turns}
        more = [key for key in ("reference", "tools") if any(key in line for line in lines)]
        columns = {column: turns_type(held) for column, held in names.items()}
        columns |= (made.columns or {}) | dict.fromkeys(more, TEXT)
        ordered = made_of.lines if parquet else types_first(made_of.lines, columns, names)
        lines = (even_line(line, columns, names) for line in ordered)
    if parquet:
        write_parquet(file, lines, columns)
    else:
        write_lines(file, lines)


def _notes(made_of: _Lines, made: Format, file: Path, *, include_reference: bool) -> Iterator[Note]:
    yield from made_of.notes
    odd, n_lines = made_of.odd, made_of.n_lines
    if not n_lines:
        stays = f" {file.name} stays as it was." if file.exists() else ""
        yield Note("nothing_written", f"no row could become a line of {made.name}, so there is no file.{stays}")
    elif include_reference and not made.takes_reference:
        yield Note("reference_not_written", f"{made.name} has no place for a gold.")
    elif include_reference:
        yield Note("gold_written", f"the gold is in {odd['golds']:,} of {count(n_lines, 'line')}, as was asked for.")
    elif made.name == "verl":
        fix = "include_reference=True writes the gold for one."
        yield Note("no_gold", "ground_truth is empty, so a rule-based reward in the trainer cannot score.", fix)
    if odd["open_golds"] and not include_reference:
        text = (
            f"{count(odd['open_golds'], 'row')} with a gold under a key that is not privileged (answer and the like): "
        )
        yield Note("open_gold", f"{text}it was written.", "Move it to privileged.reference to keep it in.")
    if odd["tools_unknown"]:
        text = f"{count(odd['tools_unknown'], 'line')} with calls of tools whose schemas are not given."
        yield Note("tools_unknown", text, "Pass tools=.")
    if odd["loss_mask_unread"] and made.name in ("trl-messages", "openai-sft"):
        text = f"{count(odd['loss_mask_unread'], 'row')} with a loss_mask that is not one 0 or 1 a message."
        yield Note("loss_mask_unread", text, "All turns of the assistant count there.")
    if odd["reasoning"] and made.name.startswith("openai"):
        yield Note("reasoning_left_out", f"{made.name} has no place for what was thought before a turn.")
    if odd["unnamed"]:
        text = f"{count(odd['unnamed'], 'line')} without the name of a model or an evaluation: it reads 'unknown'."
        yield Note("names_unknown", text, "Put model_version and spec_id on the rows.")
