"""``wai grade``: a verdict on every row; the rows into a file, the counts to stdout."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from whileai import keys, params, verify
from whileai.cli.failures import InputError, one_line
from whileai.cli.inputs import reading, told
from whileai.cli.output import Answer, deliver
from whileai.cli.rowfile import check_row_file, write_rows
from whileai.errors import ParamError, RowError
from whileai.result import Block, Headline, Line, Note, Result
from whileai.result.digits import count, honest_decimals, number
from whileai.verify.verdict import Status

if TYPE_CHECKING:
    import argparse

    from whileai.verify.base import Verifier

CALL = "grade"
#: What some verifiers take beside the rows: verifier -> the option and whether it must be given.
OWN_OPTION = {"regex": ("pattern", True), "code": ("tests", False)}
#: Seconds a verdict may take where nothing is said.
TIMEOUT = 30.0
#: Keys of a row that a near miss of ``--reference`` may be, to this depth of blocks.
DEPTH = 2


@dataclass(frozen=True, repr=False)
class Grading(Result):
    """What `wai grade` did.

    Attributes
    ----------
    verifier : str
        The name its verdicts carry.
    output : str
        The file of the graded rows.
    n_rows, n_scored : int
        Rows graded, and those with a reward.
    statuses : dict of str to int
        Rows per ``judge_status``; the five of them, zeros included.
    mean_reward : float or None
        Over the rows with a reward; ``None`` where there is none.
    notes : tuple of Note
    """

    verifier: str
    output: str
    n_rows: int
    n_scored: int
    statuses: dict[str, int] = field(default_factory=dict)
    mean_reward: float | None = None
    notes: tuple[Note, ...] = ()

    def _blocks(self) -> list[Block]:
        rows = count(self.n_rows, "row")
        value = self.mean_reward
        mean = (
            "no reward" if value is None else f"mean reward {number(value, honest_decimals(3, (value,), (0.0, 1.0)))}"
        )
        scored = "" if self.n_scored == self.n_rows else f" over {self.n_scored:,} of them"
        head = f"graded {rows} with {self.verifier}: {mean}{scored if self.n_scored else ''}"
        counts = " | ".join(f"{name} {n:,}" for name, n in self.statuses.items())
        return [Headline(head), Line(counts), *self.notes]


def grade(args: argparse.Namespace) -> int:
    """A verifier's verdict on every row."""
    from whileai.scoring.grade import grade as call
    from whileai.scoring.ledger import check_path

    check_row_file(args.output)
    judge = _verifier(args)
    settings: dict[str, Any] = {"timeout": TIMEOUT if args.timeout is None else args.timeout, "workers": args.workers}
    call([], judge, **settings)  # raises on a setting outside its bound before files are read
    if args.resume is not None:
        check_path(args.resume)
    data = reading(args, CALL, "data", args.data)
    _keep_apart(args, [part.path for part in data.parts])
    rows = data.rows()
    _check_reference(args, rows)
    try:
        graded = call(rows, judge, resume=args.resume, **settings)
    except RowError as error:
        raise data.blame(error) from error
    write_rows(args.output, graded)
    result = told(_report(judge.name, args.output, graded), data)
    following = () if args.json else (f"wai pass-at {shlex.quote(args.output)}",)
    deliver(args, Answer(CALL, result, (data,), remarks=following), to_file=False)
    return 0


def _verifier(args: argparse.Namespace) -> Verifier:
    """The verifier that was asked for, with the options that are its own."""
    name = params.one_of(CALL, "verifier", args.verifier, VERIFIERS)
    for owner, (option, needed) in OWN_OPTION.items():
        value = getattr(args, option)
        if value is not None and name != owner:
            raise InputError(f"--{option} is for --verifier {owner} alone; got it with --verifier {name}.")
        if value is None and name == owner and needed:
            raise InputError(f"--{option} must be given with --verifier {owner}.")
    unread = name in ("json", "regex") or args.tests is not None
    if args.reference is not None and unread:
        beside = f"--verifier {name}" + (" and --tests" if args.tests is not None else "")
        raise InputError(f"--reference is not read with {beside}; got {args.reference!r}.")
    try:
        return VERIFIERS[name](args)
    except ParamError as error:  # it names the class and its argument; here both are options
        raise InputError(f"--{str(error).partition(': ')[2]}") from error


def _code(args: argparse.Namespace) -> Verifier:
    """`CodeExec`, with the tests of a file; a time limit that was given is the candidate's too."""
    tests = None
    if args.tests is not None:
        try:
            tests = Path(args.tests).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it is no text in UTF-8"
            raise InputError(f"--tests must be a file that can be read; got {args.tests!r}: {reason}.") from error
        if not tests.strip():
            raise InputError(f"--tests must be a file of tests; got {args.tests!r}, which is empty.")
    limit = {} if args.timeout is None else {"timeout": args.timeout}
    judge: Verifier = verify.CodeExec(tests, field=args.reference, **limit)
    return judge


#: The names of ``--verifier``.
VERIFIERS: dict[str, Callable[[argparse.Namespace], Verifier]] = {
    "exact": lambda args: verify.ExactMatch(field=args.reference),
    "includes": lambda args: verify.Includes(field=args.reference),
    "numeric": lambda args: verify.Numeric(field=args.reference),
    "math-equal": lambda args: verify.MathEqual(field=args.reference),
    "choice": lambda args: verify.MultipleChoice(field=args.reference),
    "json": lambda _: verify.JSONValid(),
    "code": _code,
    "regex": lambda args: verify.Regex(args.pattern),
}


def _keep_apart(args: argparse.Namespace, files: Sequence[Path]) -> None:
    """Raise where the verdicts would go into a file of rows."""
    if args.resume is None:
        return
    own = Path(args.resume).resolve()
    if own == Path(args.output).resolve() or own in {file.resolve() for file in files}:
        raise InputError(f"--resume must be a file of its own, for verdicts; got {args.resume!r}.")


def _check_reference(args: argparse.Namespace, rows: Sequence[Mapping[str, Any]]) -> None:
    """Raise where no row has the named gold."""
    if args.reference is None or not rows or any(keys.reference_of(row, args.reference) is not None for row in rows):
        return
    known = sorted({path for row in rows for path in _paths(row, DEPTH)})
    raise InputError(
        f"--reference must be a field of the rows that has a value; got {args.reference!r}. "
        f"{params.near_miss(args.reference, known)}".rstrip()
    )


def _paths(block: Mapping[str, Any], depth: int) -> list[str]:
    """The dotted paths of what a row holds, not into lists."""
    found = []
    for name, value in block.items():
        if isinstance(value, Mapping) and depth > 1:
            found += [f"{name}.{path}" for path in _paths(value, depth - 1)]
        elif not keys.is_missing(value):
            found.append(str(name))
    return found


def _report(verifier: str, output: str, graded: Sequence[Mapping[str, Any]]) -> Grading:
    """The counts of graded rows; what could not be scored is said with its first reason."""
    counts = Counter(row["judge_status"] for row in graded)
    rewards = [row["reward"] for row in graded if row["reward"] is not None]
    notes = [] if graded else [Note("no_rows", "there are no rows.")]
    for status in get_args(Status)[1:]:
        place = next((place for place, row in enumerate(graded) if row["judge_status"] == status), None)
        if place is not None:
            reason = one_line(str(graded[place].get("reason") or "no reason given"))
            reason = reason if len(reason) <= 200 else f"{reason[:160]}..."
            notes.append(
                Note(status, f"{count(counts[status], 'row')}, the first is row {place}: {reason.rstrip('.')}.")
            )
    return Grading(
        verifier=verifier,
        output=output,
        n_rows=len(graded),
        n_scored=len(rewards),
        statuses={status: counts[status] for status in get_args(Status)},
        mean_reward=math.fsum(rewards) / len(rewards) if rewards else None,
        notes=tuple(notes),
    )
