"""What several measurements share: checks of metric names, and the notes every table may carry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from whileai import params
from whileai.readers.logs.tally import told_of
from whileai.result import Note
from whileai.result.digits import count
from whileai.table.task_table import TaskTable

#: Metrics bounded by 0 and 1; markers live on any scale.
RATES = ("pass_at_1", "reward")


def check_metric(call: str, where: str, metric: Any, known: Iterable[str]) -> str:
    """A metric's name if the data has it, else an error that names the near miss."""
    return params.one_of(call, where, metric, list(known), what="a metric here")


def table_notes(table: TaskTable, arm: str = "") -> list[Note]:
    """What is odd about the ids and prompts of a table; `arm` names it where there are two.

    What its reader had to say is among it where there is one table; `reading_notes` says that of several.
    """
    where = f" of {arm}" if arm else ""
    notes = []
    if table.n_id_conflicts:
        text = f"task_id and scenario_id differ on {count(table.n_id_conflicts, 'row')}{where}; task_id was used."
        notes.append(Note("id_conflict", text))
    if table.n_prompt_conflicts:
        text = f"one id stands on different prompts in {count(table.n_prompt_conflicts, 'task')}{where}."
        notes.append(Note("prompt_conflict", text, "Give each prompt a task_id of its own."))
    return [*notes, *fill_notes(table, arm), *(() if arm else table.reading)]


def reading_notes(arms: Mapping[str, TaskTable]) -> list[Note]:
    """What readers of logs had to say of several arms: once where it is said of all, else with the arm's name."""
    return told_of({arm: table.reading for arm, table in arms.items()})


def fill_notes(table: TaskTable, arm: str = "") -> list[Note]:
    """The note on rows that tell no rate, none where there are none."""
    if not table.n_fill:
        return []
    where = f" of {arm}" if arm else ""
    were = "was" if table.n_fill == 1 else "were"
    text = (
        f"{count(table.n_fill, 'row')}{where} {were} left out: they were added because of earlier outcomes, so they "
        "tell no rate."
    )
    return [Note("fill_rows", text, "pass^k and pass@k beyond the rest need repeat_policy='fixed'.")]


def unjudged_note(n: int, n_rows: int, where: str = "") -> Note | None:
    """How many rows had no verdict."""
    if not n:
        return None
    are, were = ("is", "was") if n == 1 else ("are", "were")
    text = f"{n:,} of {count(n_rows, 'row')}{where} {are} unjudged and {were} skipped."
    return Note("unjudged", text, "Judge them with wai.grade(rows, judge).")
