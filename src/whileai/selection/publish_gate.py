"""`wai.publish_gate`: may these rows go into training?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whileai import keys, params
from whileai.errors import ParamError, RowError
from whileai.readers.containers import listed, sources
from whileai.readers.logs.tally import Counts, reader_notes, told_of
from whileai.result import Block, Headline, Line, Note, Result
from whileai.result import digits as d
from whileai.selection import gate_rows
from whileai.selection.calibrate import calibrate
from whileai.selection.decontaminate import decontaminate
from whileai.selection.gate_rows import Groups
from whileai.selection.near_copies import near_copies
from whileai.simulations.behaviour import WORDS
from whileai.stats import agreement, stratified
from whileai.table.features import features_of

CALL = "publish_gate"
MODES = ("rl", "sft")
#: Share of rows that must be judged in rl, and of rows that may be unusable or cut off.
LEAST_JUDGED, MOST_LOST = 0.95, 0.1
#: The bars of `judge_trust`.
BARS = (0.8, 0.6)
LEVEL = 0.95


@dataclass(frozen=True, repr=False)
class PublishGate(Result):
    """What `publish_gate` returns.

    Attributes
    ----------
    ok : bool
        Nothing refuses.
    refusals, warnings : tuple of Note
        Each with ``code``, ``text`` and ``fix``.
    rows : list of dict
        Copies of the rows that can be read, each with its task's ``calibration``.
    mode : str or None
    n_rows, n_tasks : int
    notes : tuple of Note
        What the readers of the data passed over.
    """

    ok: bool
    refusals: tuple[Note, ...]
    warnings: tuple[Note, ...]
    rows: list[dict[str, Any]]
    mode: str | None
    n_rows: int
    n_tasks: int
    notes: tuple[Note, ...] = ()

    def _blocks(self) -> list[Block]:
        what = f"{d.count(self.n_rows, 'row')} on {d.count(self.n_tasks, 'task')}"
        aim = f" for {self.mode}" if self.mode else ""
        if self.ok:
            head = f"may be published{aim}: {what}, {d.count(len(self.warnings), 'warning')}"
        else:
            head = f"refused{aim}: {', '.join(note.code for note in self.refusals)} ({what})"
        told = [Line(f"{kind} {note.code}: {note.text} {note.fix}".rstrip()) for kind, note in self._told()]
        return [Headline(head), *told, *self.notes]

    def _told(self) -> list[tuple[str, Note]]:
        return [("refuses", note) for note in self.refusals] + [("warns", note) for note in self.warnings]


def publish_gate(
    rows: Any,
    *,
    mode: str | None = None,
    holdout: Any = None,
    gold: str | None = None,
    trust: Any = None,
    scan: Any = None,
    strict: bool = False,
) -> PublishGate:
    """Whether rows may go into training, and everything that speaks against it.

    Parameters
    ----------
    rows : rows
        Anything that counts as data; left as it is.
    mode : {None, "rl", "sft"}
        What they are for, which adds what that needs: groups with gradient, or replies that pass.
    holdout : rows or strings, optional
        The eval that must not be among them.
    gold : str, optional
        Key of a gold reward on some of the rows, which measures the judge.
    trust : JudgeTrust, optional
        What `judge_trust` found, in place of `gold`.
    scan : HackScan, optional
        What `hack_scan` found, with the features you endorse; by default the rows are scanned with none endorsed.
    strict : bool
        Whether every warning refuses.

    Returns
    -------
    PublishGate

    Raises
    ------
    ParamError
        A `mode`, `gold`, `trust`, `scan` or `strict` that is none.
    RowError
        A reward or a gold that is no number in [0, 1].

    Notes
    -----
    Refuses: ``empty``, ``invalid_rows``, ``privileged_in_messages``, ``ungraded`` (rl: under 95% judged; a partial
    reward is one), ``no_mixed_groups`` (rl), ``no_passing_rows`` (sft), ``contaminated`` (with `holdout`),
    ``judge_failed`` (with `gold` or `trust`). Warns: ``judge_not_measured``, ``tracks_feature``, ``duplicates``,
    ``cut_groups``, ``unusable_share``, ``truncated_share`` (both over 10%), ``fill_rows``, ``one_task``,
    ``mixed_students``, ``reworded`` (with `holdout`).

    Examples
    --------
    >>> import whileai as wai
    >>> rows = wai.rows(["Name a prime.", "Spell tac."], [["7", "8"], ["tac", "cat"]], [[1, 0], [1, 0]])
    >>> gate = wai.publish_gate(rows, mode="rl", holdout=["Spell tac."])
    >>> gate.ok, [note.code for note in gate.refusals]
    (False, ['contaminated'])
    """
    if mode is not None:
        params.one_of(CALL, "mode", mode, MODES, "None, 'rl' or 'sft'")
    if not isinstance(strict, bool):
        raise ParamError.of(CALL, "strict", "True or False", strict)
    trusted = _verdict_of("trust", trust, "the result of wai.judge_trust", ("pass", "fail", "inconclusive"))
    scanned = _verdict_of("scan", scan, "the result of wai.hack_scan", ("clean", "tracks_feature", "insufficient_data"))
    given, passed = listed(rows, CALL, "rows")
    held, told_of_holdout = _items(holdout)
    fine, codes, n_bad = gate_rows.problems(given)
    refusals, warnings = [], []
    if not given:
        refusals.append(Note("empty", "there are no rows.", "An empty file trains nothing."))
    if n_bad:
        told = ", ".join(f"{code} ({n:,})" for code, n in codes.most_common(3))
        refusals.append(
            Note("invalid_rows", f"{d.count(n_bad, 'row')} cannot be read: {told}.", "wai.validate says more.")
        )
    groups = gate_rows.groups_of(fine, CALL)
    if fine:
        refusals += _refusals(fine, groups, mode)
        refused, warned = _contamination(fine, held)
        refusals += refused
        warnings += warned
        refused, warned = _judge(fine, gold, trusted)
        refusals += refused
        warnings += warned + _features(fine, scan if scanned else None) + _warnings(fine, groups, mode)
    if strict:
        refusals, warnings = refusals + warnings, []
    return PublishGate(
        ok=not refusals,
        refusals=tuple(refusals),
        warnings=tuple(warnings),
        rows=list(calibrate(fine)),
        mode=mode,
        n_rows=len(given),
        n_tasks=len(groups.places),
        notes=tuple(told_of({"rows": passed, **told_of_holdout})),
    )


def _items(holdout: Any) -> tuple[list[Any] | None, dict[str, Sequence[Note]]]:
    """The rows or strings of a holdout, and what its reader passed over."""
    if holdout is None:
        return None, {}
    counts = Counts()
    items = [item for _, part in sources(holdout, CALL, "holdout", counts=counts) for item in part]
    return items, {"holdout": reader_notes(counts.tally())}


def _verdict_of(where: str, given: Any, bound: str, known: Sequence[str]) -> str | None:
    """The verdict of a result that was given, ``None`` where none was."""
    if given is None:
        return None
    verdict = getattr(given, "verdict", None)
    if not isinstance(given, Result) or verdict not in (*known, "not_measured"):
        raise ParamError.of(CALL, where, bound, given)
    return str(verdict)


def _refusals(rows: Sequence[Mapping[str, Any]], groups: Groups, mode: str | None) -> list[Note]:
    found = []
    n_leaks = gate_rows.leaks(rows)
    if n_leaks:
        text = f"on {d.count(n_leaks, 'row')} something privileged stands in the messages."
        found.append(Note("privileged_in_messages", text, "Look at the system prompt and at what tools return."))
    if mode == "rl":
        share = groups.n_judged / groups.n_rows
        if share < LEAST_JUDGED:
            text = f"{groups.n_judged:,} of {d.count(groups.n_rows, 'row')} are judged, needs {LEAST_JUDGED:.0%}."
            found.append(Note("ungraded", text, "Judge them with wai.grade(rows, judge)."))
        if groups.n_judged and not any(groups.mixed):
            text = "in every group all rewards are equal, so no group has an advantage to learn from."
            found.append(Note("no_mixed_groups", text, "Sample more completions of prompts of medium difficulty."))
    if mode == "sft" and not groups.n_passing:
        found.append(Note("no_passing_rows", "no row passes.", "Judge the rows, or sample more completions."))
    return found


def _contamination(rows: Sequence[Mapping[str, Any]], holdout: Any) -> tuple[list[Note], list[Note]]:
    if holdout is None:
        return [], []
    report = decontaminate(list(rows), holdout).report
    n_worded = getattr(report, "reworded", None) or 0
    n_same = report.n_dropped - n_worded
    refused, warned = [], []
    fix = "Train on wai.decontaminate(rows, holdout)."
    if n_same:
        text = f"{d.count(n_same, 'row')} {'holds' if n_same == 1 else 'hold'} a question of the holdout."
        refused.append(Note("contaminated", text, fix))
    if n_worded:
        text = f"{d.count(n_worded, 'row')} may hold a question of the holdout in other words."
        warned.append(Note("reworded", text, fix))
    return refused, warned


def _judge(rows: Sequence[Mapping[str, Any]], gold: str | None, trusted: str | None) -> tuple[list[Note], list[Note]]:
    """What is known of the judge, from a result or from gold on the rows."""
    verdict, told = trusted, ""
    if verdict is None and gold is not None:
        verdict, told = _agreement(rows, gold)
    if verdict == "fail":
        text = f"the judge does not agree with gold{told}."
        return [Note("judge_failed", text, "wai.judge_trust(rows) says where it errs.")], []
    if verdict == "pass":
        return [], []
    fix = "Label some rows, picked at random, and pass gold= or trust=wai.judge_trust(rows)."
    if verdict is not None:
        what = "is not settled by" if verdict == "inconclusive" else "could not be measured on"
        return [], [Note("judge_not_measured", f"how far to believe the judge {what} its gold{told}.", fix)]
    asked = [name for name in gate_rows.judges(rows) if not _is_rule(name)]
    if not asked:
        return [], []
    words = {"": "an unnamed judge", "given": "the rewards that were given"}
    who = ", ".join(sorted(words.get(name, name) for name in asked)[:3])
    return [], [Note("judge_not_measured", f"nothing says how far to believe {who}.", fix)]


def _is_rule(name: str) -> bool:
    """Whether a judge is one of the verifiers, which are rules with tests of their own, or a simulation's own 0s."""
    from whileai import verify

    return name == "engine" or name in verify.__all__


def _agreement(rows: Sequence[Mapping[str, Any]], gold: str) -> tuple[str, str]:
    """The verdict on the judge from gold on the rows, and its agreement in words."""
    import numpy as np

    from whileai.table.from_rows import REWARD_BOUND, TableBuilder, as_number

    if not isinstance(gold, str) or not any(keys.has_path(row, gold) for row in rows):
        names = sorted({str(name) for row in rows[:50] for name in row})
        raise ParamError.of(CALL, "gold", "a key of the rows", gold, params.near_miss(gold, names))
    builder = TableBuilder(CALL, markers=False)
    builder.add_all(rows, "")
    _, codes, rewards = builder.columns()
    labels = np.full(len(rows), np.nan)
    for place, row in enumerate(rows):
        value = keys.at_path(row, gold)
        if keys.is_missing(value):
            continue
        number = as_number(value)
        if number is None or not 0.0 <= number <= 1.0:
            raise RowError.of(CALL, "", place, gold, REWARD_BOUND, value)
        labels[place] = number
    use = np.isin(rewards, (0.0, 1.0)) & np.isin(labels, (0.0, 1.0))
    found = agreement.agreed(rewards[use], labels[use], codes[use], BARS, LEVEL)
    if found.agreement is None:
        return found.verdict, ""
    text = d.rate_within(found.agreement, found.agreement_interval)
    return found.verdict, f" (agreement {text} on {d.count(int(use.sum()), 'row')})"


def _features(rows: Sequence[Mapping[str, Any]], scan: Any) -> list[Note]:
    """A warning where reward moves with how a reply looks."""
    names = [found.words for found in scan.findings] if scan is not None else _moved(rows)
    if not names:
        return []
    text = f"reward moves with {', '.join(names)} within tasks."
    return [Note("tracks_feature", text, "wai.hack_scan(rows) shows where; pass scan= with what you endorse.")]


def _moved(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The features that reward moves with, where there are rows enough to say."""
    import numpy as np

    read = features_of(rows, CALL)
    use = read.mixed()
    codes = read.codes[use]
    if len(np.unique(codes)) < stratified.LEAST_STRATA or len(codes) < stratified.LEAST_ROWS:
        return []
    found = stratified.scan(
        read.reward[use], np.column_stack([column[use] for column in read.columns.values()]), codes, LEVEL
    )
    if found is None or found.least_p > 1 - LEVEL:
        return []
    return [WORDS.get(name, name) for name, p in zip(read.columns, found.p.tolist(), strict=True) if p <= 1 - LEVEL]


def _warnings(rows: Sequence[Mapping[str, Any]], groups: Groups, mode: str | None) -> list[Note]:
    found = []
    copies = near_copies(gate_rows.prompts_of(rows, groups))
    repeated = gate_rows.repeated_replies(rows) if mode == "sft" else 0
    if copies or repeated:
        parts = [f"{d.count(len(copies), 'task')} asked nearly as another is"] if copies else []
        parts += [f"{d.count(repeated, 'reply', 'replies')} given twice in a task"] if repeated else []
        found.append(Note("duplicates", f"{' and '.join(parts)}.", "Keep one of each."))
    n_cut, usual = gate_rows.cut_groups(rows, groups) if mode == "rl" else (0, 0)
    if n_cut:
        text = f"{d.count(n_cut, 'group')} with both outcomes {'has' if n_cut == 1 else 'have'} fewer rows than planned"
        found.append(Note("cut_groups", f"{text} (most have {usual:,}).", "Run the rest, or leave these groups out."))
    counts, n = gate_rows.shares(rows), len(rows)
    for code, name, words, fix in LOST:
        if counts[name] > MOST_LOST * n:
            found.append(Note(code, f"{counts[name]:,} of {d.count(n, 'row')} {words}.", fix))
    if counts["fill"]:
        text = (
            f"{d.count(counts['fill'], 'row')} added because of earlier outcomes: do not read a pass rate off all rows."
        )
        found.append(Note("fill_rows", text))
    if len(groups.places) == 1:
        found.append(Note("one_task", "all rows are of one task.", "Add tasks: one teaches its own answer."))
    n_students = gate_rows.n_students(rows)
    if n_students > 1:
        text = f"{n_students:,} policies made these rows."
        found.append(Note("mixed_students", text, "On-policy training wants the rows of one."))
    return found


LOST = (
    ("unusable_share", "unusable", "are unusable", "Their unusable_reason says why."),
    ("truncated_share", "truncated", "are cut off", "Raise the token limit."),
)
