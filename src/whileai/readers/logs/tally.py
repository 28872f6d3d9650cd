"""What was read from logs: tasks, repeats, scored, unscored, errors, time-outs, what was skipped and why."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from whileai.keys import is_missing, task_of
from whileai.result import Block, Headline, Line, Note, Result
from whileai.result.digits import count


@dataclass(frozen=True, repr=False)
class Tally(Result):
    """What a reader read.

    A wrong answer is a reward of 0. An error, a time-out and a missing verdict are three other things: their rows have
    no reward, and are counted apart here.

    Attributes
    ----------
    formats : dict of str to int
        How many logs of each format.
    n_rows : int
        Completions read.
    n_tasks : int
        Distinct tasks among them.
    repeats : tuple of int, or None
        The fewest and the most completions of one task, ``None`` where there is no task.
    scored : int
        Rows with a reward, 0 included.
    unscored : int
        Rows without one that neither failed nor ran out of time.
    errors : int
        Rows whose run or whose scoring failed.
    timeouts : int
        Rows that ran out of time.
    skipped : dict of str to int
        Lines or records that gave no row, by reason.
    notes : tuple of Note
        What the reader chose, left out or could not tell.
    """

    formats: dict[str, int] = field(default_factory=dict)
    n_rows: int = 0
    n_tasks: int = 0
    repeats: tuple[int, int] | None = None
    scored: int = 0
    unscored: int = 0
    errors: int = 0
    timeouts: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()

    @property
    def n_skipped(self) -> int:
        """Lines or records that gave no row."""
        return sum(self.skipped.values())

    def _blocks(self) -> list[Block]:
        low, high = self.repeats or (0, 0)
        each = f" x {low:,}" if low == high else f" x {low:,} to {high:,}"
        logs = ", ".join(count(n, f"{name} log") for name, n in self.formats.items()) or "no log"
        rows = f"{count(self.n_rows, 'row')} ({count(self.n_tasks, 'task')}{each if self.n_tasks else ''}) from {logs}"
        parts = [f"{self.scored:,} scored", f"{self.unscored:,} unscored", count(self.errors, "error")]
        parts.append(count(self.timeouts, "time-out"))
        blocks: list[Block] = [Headline(f"{rows} | {' | '.join(parts)}")]
        if self.skipped:
            blocks.append(Line(f"skipped {self.n_skipped:,}: {skipped_text(self.skipped)}"))
        return [*blocks, *self.notes]


class Rows(list[dict[str, Any]]):
    """Rows of logs: a list like any other, with what was read beside it.

    Attributes
    ----------
    report : Tally
        Tasks, repeats, scored, unscored, errors, time-outs, skipped lines by reason, notes.
    """

    def __init__(self, rows: Iterable[dict[str, Any]], report: Tally) -> None:
        super().__init__(rows)
        self.report = report


class Counts:
    """The tally while it grows: one a log, or one for all logs of a folder.

    Examples
    --------
    >>> counts = Counts()
    >>> counts.add({"task_id": "a", "reward": 0}), counts.add({"task_id": "a", "judge_status": "timeout"})
    (None, None)
    >>> counts.tally().summary
    '2 rows (1 task x 2) from no log | 1 scored | 0 unscored | 0 errors | 1 time-out'
    """

    def __init__(self) -> None:
        self.formats: Counter[str] = Counter()
        self.tasks: Counter[str | None] = Counter()
        self.kinds: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()
        self.notes: dict[str, Note] = {}
        self.models: dict[str, None] = {}

    def add(self, row: Mapping[str, Any]) -> None:
        """Count one row by what its verdict is."""
        task = row.get("task_id")
        self.tasks[task if type(task) is str else task_of(row)] += 1
        model = row.get("model")
        if model.__class__ is str and model not in self.models:
            self.models[model] = None
        if not is_missing(row.get("reward")):
            self.kinds["scored"] += 1
        else:
            status = row.get("judge_status")
            self.kinds[status if status in ("error", "timeout") else "unscored"] += 1

    def skip(self, reason: str, n: int = 1) -> None:
        """Count lines or records that give no row; `reason` reads after a number: ``3 lines of other events``."""
        self.skipped[reason] += n

    def note(self, code: str, text: str, fix: str = "") -> None:
        """Say something about what was read; the same words are said once."""
        self.notes.setdefault(f"{code} {text}", Note(code, text, fix))

    def merge(self, other: Counts) -> None:
        """Take in what was counted elsewhere."""
        for mine, theirs in (
            (self.formats, other.formats), (self.kinds, other.kinds), (self.skipped, other.skipped),
        ):  # fmt: skip
            mine.update(theirs)
        self.tasks.update(other.tasks)
        self.models |= other.models
        self.notes = {**self.notes, **{key: note for key, note in other.notes.items() if key not in self.notes}}

    def tally(self) -> Tally:
        """What was counted so far."""
        sizes = self.tasks.values()
        notes = list(self.notes.values())
        if len(self.models) > 1 and self.formats:
            named = ", ".join(list(self.models)[:4]) + (", ..." if len(self.models) > 4 else "")
            text = f"completions of {len(self.models):,} models are read as one: {named}."
            notes.append(Note("models_mixed", text, "Read the logs of each alone to compare them."))
        return Tally(
            formats=dict(self.formats),
            n_rows=sum(sizes),
            n_tasks=len(self.tasks),
            repeats=(min(sizes), max(sizes)) if sizes else None,
            scored=self.kinds["scored"],
            unscored=self.kinds["unscored"],
            errors=self.kinds["error"],
            timeouts=self.kinds["timeout"],
            skipped=dict(self.skipped),
            notes=tuple(notes),
        )


def skipped_text(skipped: Mapping[str, int]) -> str:
    """What was skipped and how often, in words that fit the numbers.

    Examples
    --------
    >>> skipped_text({"lines that are no JSON": 1, "torn last line": 2, "file that is a listing of Inspect logs": 3})
    '1 line that is no JSON, 2 torn last lines, 3 files that are each a listing of Inspect logs'
    """
    return ", ".join(f"{n:,} {_inflected(reason, one=n == 1)}" for reason, n in skipped.items())


#: The verb after "that" in the plural -> in the singular; a file is counted in the singular, so here too.
_VERBS = {"are": "is", "stand": "stands", "were": "was"}


def _inflected(reason: str, *, one: bool) -> str:
    """A reason as it reads after a number, whichever number it was written for."""
    noun, _, rest = reason.partition(" ")
    if one and noun not in ("torn", "file"):
        verb = re.match(r"that (are|stand|were)\b", rest)
        rest = f"that {_VERBS[verb[1]]}{rest[verb.end() :]}" if verb else rest
        return f"{'entry' if noun == 'entries' else noun.removesuffix('s')} {rest}"
    if one or noun not in ("torn", "file"):
        return reason
    if noun == "torn":
        return f"{reason.replace('end of the', 'ends of')}s"
    rest = rest.replace("that is", "that are each", 1).replace("each neither rows nor a log", "neither rows nor logs")
    return f"files {rest}"


def reader_notes(tally: Tally) -> Sequence[Note]:
    """What a measurement says beside its numbers about the logs it was given, nothing where all went well."""
    notes = []
    if tally.n_skipped:
        notes.append(Note("log_skipped", f"the reader skipped {skipped_text(tally.skipped)}."))
    if tally.errors or tally.timeouts:
        failed = [f"{count(tally.errors, 'run')} failed"] if tally.errors else []
        failed += [f"{count(tally.timeouts, 'run')} ran out of time"] if tally.timeouts else []
        text = f"{' and '.join(failed)}; that is no wrong answer, and no reward."
        notes.append(Note("log_errors", text, "Run them again, or count them yourself."))
    return [*notes, *tally.notes]


def told_of(parts: Mapping[str, Sequence[Note]]) -> list[Note]:
    """What readers had to say of several data: once where it is said of all, else with the name of each."""
    told = list(parts.values())
    shared = [note for note in dict.fromkeys(told[0] if told else ()) if all(note in notes for notes in told)]
    own = [(name, note) for name, notes in parts.items() for note in notes if note not in shared]
    return [*shared, *(Note(note.code, f"{name}: {note.text}", note.fix) for name, note in own)]
