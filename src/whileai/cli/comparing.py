"""``wai compare``: two arms, a verdict, a gate, and what continuous integration reads of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from whileai.cli import github
from whileai.cli.failures import InputError
from whileai.cli.inputs import Reading, reading, told
from whileai.cli.output import Answer, check_files, deliver, encoded, write_file
from whileai.cli.terminal import busy
from whileai.errors import RowError

if TYPE_CHECKING:
    import argparse

    from whileai.measure.comparison import Comparison

#: Losses that a comment lists.
MOST_LOSSES = 10


@dataclass(frozen=True)
class Arms:
    """The two arms as they were read: tables, or rows where slices or clusters are asked for.

    `read` holds table and rows of each where a page is to show the rows.
    """

    readings: tuple[Reading, Reading]
    data: tuple[Any, Any]
    read: tuple[Any, ...] = ()


def compare(args: argparse.Namespace) -> int:
    """Is AFTER better than BEFORE; 1 where a gate was asked for and says no."""
    from whileai.measure.gating import judged

    _check(args)
    arms = _read(args)
    result = _compared(args, arms)
    gate = judged(result, gate=args.gate, max_loss=args.max_loss)
    gated = args.gate or args.max_loss is not None
    title = _title(args)
    markdown = None
    if args.markdown or (gated and github.summary_file()):
        markdown = _markdown(args, arms, result, gate)
    if args.junit is not None:
        from whileai.cli.junit import document

        strict = judged(result, gate=True, max_loss=args.max_loss)
        write_file(args.junit, [encoded(document(result, gate, strict, args.max_loss, title))])
    if args.report is not None:
        from whileai.cli.reporting import written

        written(args, arms.readings, arms.read, result, args.report)
    said = tuple(github.annotated(title, gate.failures))
    answer = Answer("compare", result, arms.readings, result.ok, result.verdict, gate.remarks, said, markdown, gated)
    deliver(args, answer)
    return 0 if gate.passes else 1


def _check(args: argparse.Namespace) -> None:
    """Raise on a setting outside its bound before files are read."""
    check_files({"--output": args.output, "--junit": args.junit, "--report": args.report})
    if args.max_loss is not None:
        from whileai.measure.gating import check_loss

        check_loss("compare", "max_loss", args.max_loss, args.target)
    from whileai.cli.markdown import is_name

    if not is_name(args.name):
        bound = "1 to 64 letters, digits, dots, dashes and underscores, a letter or digit first"
        raise InputError(f"--name must be {bound}; got {args.name!r}.")
    check_numbers(args)


def check_numbers(args: argparse.Namespace) -> None:
    """Raise on a number outside its bound; what a marker's noise may be only its rows say."""
    from whileai.measure.compare import compare as call

    run_std = None if args.target.startswith("marker:") else args.run_std
    call([], [], run_std=run_std, run_std_runs=args.run_std_runs, level=args.level)


def _title(args: argparse.Namespace) -> str:
    """What this comparison is called where there may be several."""
    return "wai compare" if args.name == "default" else f"wai compare {args.name}"


def _read(args: argparse.Namespace) -> Arms:
    before, after = (reading(args, "compare", name, [getattr(args, name)]) for name in ("before", "after"))
    whole = args.by is None and args.cluster is None and args.gold is None
    if args.report is not None:
        read = tuple(arm.arm(as_rows=not whole) for arm in (before, after))
        old, new = (table if whole or rows is None else rows for table, rows in read)
        return Arms((before, after), (old, new), read)
    old, new = (arm.table() if whole else arm.rows() for arm in (before, after))
    return Arms((before, after), (old, new))


def _compared(args: argparse.Namespace, arms: Arms) -> Comparison:
    from whileai.measure.compare import compare as call

    try:
        with busy("compare"):
            result = call(
                *arms.data,
                target=args.target,
                must_not_regress=args.must_not_regress,
                lower_is_better=args.lower_is_better,
                proxy=args.proxy,
                run_std=args.run_std,
                run_std_runs=args.run_std_runs,
                by=args.by,
                cluster=args.cluster,
                gold=args.gold,
                level=args.level,
            )
    except RowError as error:
        before, after = arms.readings
        blamed = before.blame(error)
        raise (after.blame(error) if blamed is error else blamed) from error
    return told(result, *arms.readings)


def _markdown(args: argparse.Namespace, arms: Arms, result: Comparison, gate: Any) -> str:
    """The comment on a pull request, with the tasks that lost most."""
    from whileai.cli.markdown import comparison
    from whileai.measure.gating import largest_losses
    from whileai.table.intake import as_table

    before, after = arms.data
    old, new = as_table(before, "compare", "before"), as_table(after, "compare", "after")
    return comparison(result, gate, largest_losses(old, new, result, MOST_LOSSES), name=args.name)
