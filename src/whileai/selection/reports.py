"""What `select` says it did: every gate with its count, zeros included."""

from __future__ import annotations

from dataclasses import dataclass, field

from whileai.result import Block, Headline, Interval, Line, Note, Plot, Result
from whileai.result.digits import count


@dataclass(frozen=True, repr=False)
class RlReport(Result):
    """Gates of ``select(mode="rl")``.

    Attributes
    ----------
    n_rows, n_kept, n_tasks, n_tasks_kept, n_tasks_in_band : int
    band : (float, float)
    unjudged, partial, empty_reply, cut_off : int
        Rows each gate took.
    single, unanimous, too_easy, too_hard : int
        Rows in the groups each gate took.
    beyond_target : int
        Rows in groups that lie in the band but were not needed for `target`.
    n_tasks_by_gate : dict of str to int
        Groups each group gate took.
    n_tasks_all_pass, n_tasks_all_fail : int
        The two kinds of unanimous groups.
    notes : tuple of Note
    """

    n_rows: int
    n_kept: int
    n_tasks: int
    n_tasks_kept: int
    n_tasks_in_band: int
    band: tuple[float, float]
    unjudged: int = 0
    partial: int = 0
    empty_reply: int = 0
    cut_off: int = 0
    single: int = 0
    unanimous: int = 0
    too_easy: int = 0
    too_hard: int = 0
    beyond_target: int = 0
    n_tasks_by_gate: dict[str, int] = field(default_factory=dict)
    n_tasks_all_pass: int = 0
    n_tasks_all_fail: int = 0

    notes: tuple[Note, ...] = field(default=(), init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "notes", self._why_empty())

    def _why_empty(self) -> tuple[Note, ...]:
        """Why nothing is left, where nothing is."""
        if self.n_kept or not self.n_rows:
            return () if self.n_rows else (Note("no_rows", "there are no rows to select from."),)
        gates = ("unjudged", "partial", "empty_reply", "cut_off", "single", "unanimous", "too_easy", "too_hard")
        most = max(gates, key=lambda name: getattr(self, name))
        return (Note("nothing_kept", f"most rows went at the gate {most}.", FIXES[most]),)

    def _blocks(self) -> list[Block]:
        low, high = self.band
        head = f"kept {self.n_kept:,} of {count(self.n_rows, 'row')}: {self.n_tasks_in_band:,} of "
        verb = "has" if self.n_tasks == 1 else "have"
        head += f"{count(self.n_tasks, 'task')} {verb} a pass rate in {low:g}..{high:g}, ends included"
        rows = " | ".join(
            f"{name} {count(getattr(self, name), 'row')}" for name in ("unjudged", "partial", "empty_reply", "cut_off")
        )
        groups = []
        for name in ("single", "unanimous", "too_easy", "too_hard"):
            text = f"{name} {count(self.n_tasks_by_gate.get(name, 0), 'task')}"
            if name == "unanimous":
                text += f" ({self.n_tasks_all_pass:,} all pass, {self.n_tasks_all_fail:,} all fail)"
            groups.append(text)
        blocks: list[Block] = [Headline(head), Line(rows), Line(" | ".join(groups))]
        if self.beyond_target:
            blocks.append(Line(f"beyond_target {count(self.beyond_target, 'row')}"))
        return [*blocks, *self.notes]

    def _plot(self) -> Plot | None:
        gates = ("unjudged", "partial", "empty_reply", "cut_off")
        return _rows_plot(self, {"kept": self.n_kept, **{name: getattr(self, name) for name in gates}})


@dataclass(frozen=True, repr=False)
class SftReport(Result):
    """Gates of ``select(mode="sft")``.

    Attributes
    ----------
    n_rows, n_kept, n_tasks, n_tasks_kept, per_task : int
    unjudged, empty_reply, cut_off : int
        Rows each gate took.
    not_pass : int
        Judged rows whose reward is not 1, partial ones included.
    not_best : int
        Passing rows beyond `per_task` of their task.
    beyond_target : int
        Rows not needed for `target`.
    notes : tuple of Note
    """

    n_rows: int
    n_kept: int
    n_tasks: int
    n_tasks_kept: int
    per_task: int
    unjudged: int = 0
    empty_reply: int = 0
    cut_off: int = 0
    not_pass: int = 0
    not_best: int = 0
    beyond_target: int = 0

    notes: tuple[Note, ...] = field(default=(), init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "notes", self._why_empty())

    def _why_empty(self) -> tuple[Note, ...]:
        """Why nothing is left, where nothing is."""
        if self.n_kept or not self.n_rows:
            return () if self.n_rows else (Note("no_rows", "there are no rows to select from."),)
        return (Note("nothing_kept", "no completion passes.", "Sample more completions, or judge the rows."),)

    def _blocks(self) -> list[Block]:
        head = f"kept {self.n_kept:,} of {count(self.n_rows, 'row')}: {self.per_task:,} passing a task at most, from "
        head += f"{self.n_tasks_kept:,} of {count(self.n_tasks, 'task')}"
        names = ["unjudged", "empty_reply", "cut_off", "not_pass", "not_best"]
        names += ["beyond_target"] if self.beyond_target else []
        line = " | ".join(f"{name} {count(getattr(self, name), 'row')}" for name in names)
        return [Headline(head), Line(line), *self.notes]

    def _plot(self) -> Plot | None:
        names = ("unjudged", "empty_reply", "cut_off", "not_pass", "not_best")
        return _rows_plot(self, {"kept": self.n_kept, **{name: getattr(self, name) for name in names}})


def _rows_plot(report: RlReport | SftReport, counts: dict[str, int]) -> Plot | None:
    """A bar for the rows that were kept, and one for each gate that took rows."""
    if not report.n_rows:
        return None
    rows = tuple(
        Interval(name, count(n, "row"), n, low=0, high=report.n_rows, shape="bar", axis="rows", main=name == "kept")
        for name, n in counts.items()
        if n or name == "kept"
    )
    return Plot("Rows", rows, "bar = rows, of all that were given")


FIXES = {
    "unjudged": "Judge the rows with wai.grade(rows, judge).",
    "partial": "rl reads binary rewards: threshold the scores first.",
    "empty_reply": "Look at the raw completions.",
    "cut_off": "Raise the token limit.",
    "single": "Sample several completions of each prompt.",
    "unanimous": "Sample more completions, or choose prompts of medium difficulty.",
    "too_easy": "Choose harder prompts, or widen band=.",
    "too_hard": "Choose easier prompts, or widen band=.",
}
