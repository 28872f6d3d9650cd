"""`wai.calibrate`: how hard each task is for a student, and how far the student is from a reference."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from whileai import keys
from whileai.errors import ParamError
from whileai.readers.containers import listed
from whileai.readers.logs.tally import told_of
from whileai.result import Block, Headline, Interval, Line, Note, Plot, Reported, Result, Table, noted
from whileai.result import digits as d
from whileai.selection.logprobs import LEFT_OUT, Both, both_sides
from whileai.selection.policy import Policy, asked_for, block_of, label_of, policy_of
from whileai.stats import exact, intervals, kl
from whileai.table.from_rows import TableBuilder

CALL = "calibrate"
Ends = tuple[float, float]
#: Bins of pass rates that a reader wants to see: hopeless, hard, useful, easy, done.
BINS = ("0", "below .2", ".2 to .8", "above .8", "1")
#: A longer name has a line to itself where there is no room beside it.
_SHORT_NAME = 40


@dataclass(frozen=True)
class Student:
    """One policy over all its tasks.

    Attributes
    ----------
    student : str
        Its version, else its model, else its name; empty where the rows name none.
    n_tasks, n_rows : int
        Tasks and rows behind the pass rates.
    pass_rate : float
        The mean of the tasks' pass rates.
    pass_rate_interval : (float, float)
        At 95%, over tasks.
    bins : dict of str to int
        Tasks by pass rate: ``0``, ``below .2``, ``.2 to .8``, ``above .8``, ``1``.
    mean_kl, mean_kl_interval, mean_kl_k3 : float, (float, float), float, or None
        Sampled KL per generated token to the reference, in nats; its interval at 95%, over tasks; the estimate k3.
    n_tokens : int
        Tokens behind the KL.
    """

    student: str
    n_tasks: int
    n_rows: int
    pass_rate: float
    pass_rate_interval: Ends
    bins: Mapping[str, int]
    mean_kl: float | None = None
    mean_kl_interval: Ends | None = None
    mean_kl_k3: float | None = None
    n_tokens: int = 0


@dataclass(frozen=True, repr=False)
class CalibrateReport(Result):
    """What `calibrate` measured, under ``.report``.

    Attributes
    ----------
    n_rows, n_tasks : int
        Rows and tasks given.
    n_calibrated : int
        Rows that carry a calibration.
    students : tuple of Student
        One for each policy, by name.
    n_unjudged, n_partial, n_fill : int
        Rows left out of the pass rates: without a reward, with a partial one, added because of earlier outcomes.
    left_out : dict of str to int
        Rows left out of the KL, by reason.
    with_reference : bool
        Whether a reference was given.
    notes : tuple of Note
    """

    n_rows: int
    n_tasks: int
    n_calibrated: int
    students: tuple[Student, ...]
    n_unjudged: int = 0
    n_partial: int = 0
    n_fill: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
    with_reference: bool = False
    notes: tuple[Note, ...] = ()

    def _blocks(self) -> list[Block]:
        who = "no student" if not self.students else d.count(len(self.students), "student")
        head = f"calibrated {self.n_calibrated:,} of {d.count(self.n_rows, 'row')} on {d.count(self.n_tasks, 'task')}"
        blocks: list[Block] = [Headline(f"{head} for {who}")]
        for student in self.students:
            name = student.student or "unnamed"
            rate = d.rate_within(student.pass_rate, student.pass_rate_interval)
            told = f"pass rate {rate} over {d.count(student.n_tasks, 'task')}{_kl_text(student)}"
            blocks.append(Line(f"{name}{': ' if len(name) <= _SHORT_NAME else ' | '}{told}"))
        if self.students:
            header = ("tasks with pass rate", *BINS)
            cells = tuple(
                (student.student or "unnamed", *(f"{student.bins[name]:,}" for name in BINS))
                for student in self.students
            )
            blocks.append(Table(header, cells, "lrrrrr"))
        return [*blocks, *self.notes]

    def _plot(self) -> Plot | None:
        rows = []
        for student in self.students:
            text = d.rate_within(student.pass_rate, student.pass_rate_interval)
            rows.append(Interval(student.student or "unnamed", text, student.pass_rate, *student.pass_rate_interval))
        return Plot("Pass rates", tuple(rows), "line = interval over tasks") if rows else None


def _kl_text(student: Student) -> str:
    if student.mean_kl is None:
        return ""
    ends = student.mean_kl_interval
    places = d.decimals(abs(student.mean_kl) if ends is None else ends[1] - ends[0])
    text = f" | KL {d.number(student.mean_kl, places)} {d.interval(ends, places)} nats a token"
    k3 = "" if student.mean_kl_k3 is None else f", k3 {d.number(student.mean_kl_k3, max(places, 3))}"
    return f"{text}{k3} ({d.count(student.n_tokens, 'token')})"


class Calibrated(Reported[CalibrateReport]):
    """Copies of the rows, in order; those of judged tasks carry ``calibration``.

    Attributes
    ----------
    report : CalibrateReport
        The counts and the students; ``print`` of the list prints it.
    """


def calibrate(rows: Any, policy: str | None = None, ref: Any = None) -> Calibrated:
    """The measured difficulty of each task, on copies of its rows.

    Parameters
    ----------
    rows : rows
        Anything that counts as data; left as it is.
    policy : str, optional
        The student whose difficulty every row carries, by its ``policy_version``, model or name. Without it a row
        carries that of the policy that made it. Policies are never pooled.
    ref : str or rows, optional
        Log-probabilities of the same completions under a reference: a key of the rows, under which stands their sum, a
        list of one number a token, or a block with ``logprob``, ``n_tokens``, ``token_logprobs``; or rows with the same
        ``task_id`` and ``rollout_index``.

    Returns
    -------
    Calibrated
        A list with ``.report``. A ``calibration`` is flat: ``task_id, student, n, pass_rate, pass_rate_ci95``, and with
        `ref` ``mean_kl, mean_kl_ci95, n_tokens``, with lists of tokens on both sides also ``mean_kl_k3``. ``None`` is
        what could not be measured: an interval needs two rollouts that differ.

    Raises
    ------
    ParamError
        A `policy` that made none of the rows, a `ref` that is neither a key nor data.
    RowError
        A reward that is no number in [0, 1].

    Notes
    -----
    ``pass_rate_ci95`` is Wilson's interval. With l and r the summed log-probabilities of a rollout under student and
    reference and n its generated tokens, ``mean_kl`` is sum(l - r) / sum(n), in nats a token, with the linearised
    interval of a ratio at 95%, over the rollouts of the task, in the report over tasks. A sample can lie below 0 where
    the true divergence does not; it is kept, for to clamp it would bias it. ``mean_kl_k3`` is never negative (Schulman
    2020, "Approximating KL divergence").

    Examples
    --------
    >>> import whileai as wai
    >>> rows = [{"task_id": "t", "reward": r, "logprob": -9.0, "n_tokens": 9, "base": -9.9} for r in (1, 0, 1, 1)]
    >>> calibration = wai.calibrate(rows, ref="base")[0]["calibration"]
    >>> calibration["pass_rate"], round(calibration["mean_kl"], 6)
    (0.75, 0.1)
    """
    if policy is not None and not isinstance(policy, str):
        raise ParamError.of(CALL, "policy", "the name of a policy, or None", policy)
    given, told = listed(rows, CALL, "rows")
    read = _read(given, ref)
    policies = sorted(set(read.policies))
    picked = None if policy is None else asked_for(policy, policies, CALL)
    cells = _cells(read, given)
    out, n_calibrated = [], 0
    for place, row in enumerate(given):
        block = cells.get((read.codes[place], picked or read.policies[place]))
        copy = {key: value for key, value in row.items() if key != "calibration"}
        if block is not None:
            copy["calibration"] = _own(block)
            n_calibrated += 1
        out.append(copy)
    shown = [who for who in policies if picked in (None, who)]
    students = tuple(student for who in shown if (student := _student(who, read, cells)) is not None)
    report = _report(read, students, n_calibrated, several=picked is None and len(policies) > 1)
    return Calibrated(out, noted(report, told_of({"rows": told, **read.told})))


def _own(block: Mapping[str, Any]) -> dict[str, Any]:
    """A calibration that shares nothing with another row's."""
    return {name: type(value)(value) if isinstance(value, (dict, list)) else value for name, value in block.items()}


@dataclass(frozen=True)
class _Read:
    """The rows as lists: task, reward, policy, whether the row tells a rate, and its two sides where asked for."""

    names: Sequence[str]
    codes: Sequence[int]
    rewards: Sequence[float]
    policies: Sequence[Policy]
    fill: Sequence[bool]
    sides: Sequence[Both | str] | None
    told: Mapping[str, Sequence[Note]]


def _read(rows: Sequence[Mapping[str, Any]], ref: Any) -> _Read:
    builder = TableBuilder(CALL, markers=False)
    builder.add_all(rows, "")
    names, codes, rewards = builder.columns()
    sides, told = (None, {}) if ref is None else both_sides(rows, ref, CALL)
    policies, fill = [policy_of(row) for row in rows], [keys.is_fill(row) for row in rows]
    return _Read(names, codes.tolist(), rewards.tolist(), policies, fill, sides, told)


def _cells(read: _Read, rows: Sequence[Mapping[str, Any]]) -> dict[tuple[int, Policy], dict[str, Any]]:
    """The calibration of each task and policy with a judged row that counts."""
    places: dict[tuple[int, Policy], list[int]] = {}
    for place in range(len(rows)):
        if not read.fill[place]:
            places.setdefault((read.codes[place], read.policies[place]), []).append(place)
    found = {}
    for (code, policy), at in places.items():
        judged = [read.rewards[place] for place in at if read.rewards[place] in (0.0, 1.0)]
        if not judged:
            continue
        n, passed = len(judged), int(sum(judged))
        block: dict[str, Any] = {"task_id": read.names[code], "student": block_of(policy), "n": n}
        block |= {"pass_rate": passed / n, "pass_rate_ci95": list(intervals.wilson_interval(passed, n))}
        if read.sides is not None:
            block |= _kl_of([side for place in at if isinstance(side := read.sides[place], Both)])
        found[code, policy] = block
    return found


def _kl_of(sides: Sequence[Both]) -> dict[str, Any]:
    """The divergence over some rollouts, as a calibration holds it."""
    found = kl.sampled_kl([side.log_ratio for side in sides], [side.n_tokens for side in sides])
    if found is None:
        return {"mean_kl": None, "mean_kl_ci95": None, "n_tokens": 0}
    ends = None if found.interval is None else list(found.interval)
    block = {"mean_kl": found.mean, "mean_kl_ci95": ends, "n_tokens": found.n_tokens}
    tokens = [side.tokens for side in sides if side.tokens is not None]
    if len(tokens) < len(sides):
        return block
    student, reference = ([value for pair in tokens for value in pair[side]] for side in (0, 1))
    return {**block, "mean_kl_k3": kl.k3(student, reference)}


def _student(who: Policy, read: _Read, cells: Mapping[tuple[int, Policy], Mapping[str, Any]]) -> Student | None:
    """One policy over its tasks, ``None`` where none of its rows is judged."""
    own = [block for (_, policy), block in cells.items() if policy == who]
    if not own:
        return None
    rates = [block["pass_rate"] for block in own]
    bins = Counter(_bin(rate) for rate in rates)
    student = Student(
        student=label_of(who),
        n_tasks=len(own),
        n_rows=sum(block["n"] for block in own),
        pass_rate=exact.mean(rates),
        pass_rate_interval=intervals.mean_interval(rates),
        bins={name: bins[name] for name in BINS},
    )
    if read.sides is None:
        return student
    by_task: dict[int, list[Both]] = {}
    for place, side in enumerate(read.sides):
        if isinstance(side, Both) and read.policies[place] == who and not read.fill[place]:
            by_task.setdefault(read.codes[place], []).append(side)
    ratios = [exact.total([side.log_ratio for side in sides]) for sides in by_task.values()]
    sizes = [sum(side.n_tokens for side in sides) for sides in by_task.values()]
    found = kl.sampled_kl(ratios, sizes)
    if found is None:
        return student
    every = _kl_of([side for sides in by_task.values() for side in sides])
    return replace(
        student,
        mean_kl=found.mean,
        mean_kl_interval=found.interval,
        mean_kl_k3=every.get("mean_kl_k3"),
        n_tokens=found.n_tokens,
    )


def _bin(rate: float) -> str:
    if rate in (0, 1):
        return BINS[0 if rate == 0 else 4]
    return BINS[1] if rate < 0.2 else BINS[3] if rate > 0.8 else BINS[2]


def _report(read: _Read, students: tuple[Student, ...], n_calibrated: int, *, several: bool) -> CalibrateReport:
    counted = [reward for reward, fill in zip(read.rewards, read.fill, strict=True) if not fill]
    left_out = Counter(side for side in read.sides or () if isinstance(side, str))
    report = CalibrateReport(
        n_rows=len(read.rewards),
        n_tasks=len(set(read.codes)),
        n_calibrated=n_calibrated,
        students=students,
        n_unjudged=sum(map(math.isnan, counted)),
        n_partial=sum(0 < reward < 1 for reward in counted),
        n_fill=sum(read.fill),
        left_out={name: left_out[name] for name in LEFT_OUT if left_out[name]},
        with_reference=read.sides is not None,
    )
    return replace(report, notes=tuple(_notes(report, several=several)))


def _notes(report: CalibrateReport, *, several: bool) -> list[Note]:
    if not report.n_rows:
        return [Note("no_rows", "there are no rows, so nothing was measured.")]
    notes = []
    if not report.students:
        notes.append(Note("nothing_judged", "no row has a binary reward.", "Judge them with wai.grade(rows, judge)."))
    if several:
        text = f"{len(report.students)} policies made these rows; each row carries the rate of its own."
        notes.append(Note("several_students", text, "policy= picks one."))
    if report.n_fill:
        text = f"{_left_out(report.n_fill)}, added because of earlier outcomes: such rows tell no rate."
        notes.append(Note("fill_rows", text))
    if report.n_partial:
        notes.append(Note("partial", f"{_left_out(report.n_partial)}, with a partial reward."))
    if report.n_unjudged:
        notes.append(Note("unjudged", f"{_left_out(report.n_unjudged)}, with no reward."))
    for reason, n in report.left_out.items():
        fix = "Run with logprobs=True." if reason == "no_student" else ""
        notes.append(Note(reason, f"{_left_out(n)} of the KL, {LEFT_OUT[reason]}.", fix))
    if any(student.mean_kl is not None and student.mean_kl < 0 for student in report.students):
        text = (
            "a sampled KL came out below 0, which the true one never is: it is within noise of 0, or the sides differ."
        )
        notes.append(Note("negative_kl", text, "Check that both sides score the same tokens."))
    return notes


def _left_out(n: int) -> str:
    return f"{d.count(n, 'row')} {'was' if n == 1 else 'were'} left out"
