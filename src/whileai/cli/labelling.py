"""``wai label``, ``sample-for-labels``, ``judge-trust`` and ``compare-judges``."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whileai import params
from whileai.cli.failures import InputError
from whileai.cli.inputs import reading, told
from whileai.cli.output import Answer, check_file, deliver
from whileai.cli.rowfile import check_row_file, write_rows
from whileai.cli.terminal import busy
from whileai.errors import RowError
from whileai.result import Block, Headline, Line, Note, Result, noted
from whileai.result.digits import count

if TYPE_CHECKING:
    import argparse


@dataclass(frozen=True, repr=False)
class LabelSession(Result):
    """What `wai label` did.

    Attributes
    ----------
    output : str
        The file of the labels.
    annotator : str
    n_rows, n_labeled, n_skipped, n_left : int
        Replies to label, and what became of them, in this sitting and before.
    n_now : int
        Labels given in this sitting.
    notes : tuple of Note
    """

    output: str
    annotator: str
    n_rows: int
    n_labeled: int
    n_skipped: int
    n_left: int
    n_now: int
    notes: tuple[Note, ...] = field(default=())

    def _blocks(self) -> list[Block]:
        head = f"labelled {self.n_labeled:,} of {count(self.n_rows, 'reply', 'replies')}, {self.n_now:,} of them now"
        rest = f"skipped {self.n_skipped:,} | left {self.n_left:,} | annotator {self.annotator} | {self.output}"
        return [Headline(head), Line(rest), *self.notes]


def label(args: argparse.Namespace) -> int:
    """A labeller in the terminal: one reply after the other, a key for each."""
    from whileai.cli.label_screen import run
    from whileai.cli.label_store import Store, to_label

    output = args.output or f"{args.data[0]}.labels.jsonl"
    data = reading(args, "label", "data", args.data)
    if Path(output).resolve() in {part.path.resolve() for part in data.parts}:
        raise InputError(f"--output must be a file of its own, for labels; got {output!r}.")
    annotator = args.annotator or os.environ.get("USER") or "annotator"
    queue = to_label(data.rows(), args.show)
    with Store(output, annotator, queue) as store:
        n_now = run(store, args.show)
    notes: tuple[Note, ...] = ()
    if not queue:
        notes = (Note("no_rows", "there are no replies to label."),)
    elif not store.n_left:
        notes = (Note("next", "every reply is done.", "wai.label(rows, FILE) puts it on the rows."),)
    result = LabelSession(output, annotator, len(queue), store.n_labeled, store.n_skipped, store.n_left, n_now, notes)
    deliver(args, Answer("label", told(result, data), (data,)), to_file=False)
    return 0


def sample_for_labels(args: argparse.Namespace) -> int:
    """Which rows to label."""
    from whileai.measure.sample_for_labels import sample_for_labels as call

    check_row_file(args.output)
    params.whole("sample_for_labels", "n", args.n)
    params.whole("sample_for_labels", "seed", args.seed, 0)
    data = reading(args, "sample_for_labels", "data", args.data)
    rows = data.rows()
    try:
        picked = call(rows, args.n, args.seed, gold=args.gold)
    except RowError as error:
        raise data.blame(error) from error
    write_rows(args.output, picked)
    remarks = () if args.json else (f"wai label {args.output}",)
    deliver(args, Answer("sample_for_labels", told(picked.report, data), (data,), remarks=remarks), to_file=False)
    return 0


def judge_trust(args: argparse.Namespace) -> int:
    """How far to believe the judge; 1 where a gate was asked for and it is not trusted."""
    from whileai.measure.judge_trust import judge_trust as call

    check_file(args.output)
    settings: dict[str, Any] = {name: getattr(args, name) for name in ("min_agreement", "min_kappa", "level", "width")}
    call([], **settings)  # raises on a number outside its bound before files are read
    data = reading(args, "judge_trust", "data", args.data)
    rows = data.rows()
    about_labels: tuple[Note, ...] = ()
    if args.labels is not None:
        from whileai.measure.label import label as put

        rows = put(rows, args.labels, args.kind)
        about_labels = rows.report.notes
    try:
        with busy("judge-trust"):
            result = call(rows, gold=args.gold, **settings)
    except RowError as error:
        raise data.blame(error) from error
    result = noted(told(result, data), about_labels)
    deliver(args, Answer("judge_trust", result, (data,), result.ok, result.verdict))
    return 1 if args.gate and not result.ok else 0


def compare_judges(args: argparse.Namespace) -> int:
    """Which of several judges agrees most with gold."""
    from whileai.measure.compare_judges import compare_judges as call

    check_file(args.output)
    params.level("compare_judges", args.level)
    files: dict[str, str] = {}
    for item in args.judges:
        name, sign, file = item.partition("=")
        if not sign or not name or not file:
            raise InputError(f"JUDGE must be NAME=FILE, rows with that judge's verdicts; got {item!r}.")
        if name in files:
            raise InputError(f"JUDGE must be different names; got {name!r} twice.")
        files[name] = file
    read = {name: reading(args, "compare_judges", f"judges[{name!r}]", [file]) for name, file in files.items()}
    base = None if args.rows is None else reading(args, "compare_judges", "rows", [args.rows])
    tables = {name: data.rows() for name, data in read.items()}
    result = call(tables, None if base is None else base.rows(), gold=args.gold, level=args.level)
    inputs = (*read.values(), *(() if base is None else (base,)))
    deliver(args, Answer("compare_judges", told(result, *inputs), inputs, result.ok, result.verdict))
    return 0
