"""``wai select`` and ``decontaminate``: the rows into a file, the report to stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whileai.cli.inputs import reading, told
from whileai.cli.output import Answer, deliver
from whileai.cli.rowfile import check_row_file, write_rows
from whileai.cli.terminal import busy
from whileai.errors import ParamError, RowError

if TYPE_CHECKING:
    import argparse


def select(args: argparse.Namespace) -> int:
    """Which rows are worth training on."""
    from whileai.selection.select import select as call

    check_row_file(args.output)
    settings = {"mode": args.mode, "band": tuple(args.band), "target": args.target, "per_task": args.per_task}
    call([], **settings)  # raises on a setting outside its bound before files are read
    data = reading(args, "select", "rows", args.data)
    rows = data.rows()
    try:
        with busy(f"select from {len(rows):,} rows"):
            kept = call(rows, **settings)
    except RowError as error:
        raise data.blame(error) from error
    if args.output is not None:
        write_rows(args.output, kept)
    deliver(args, Answer("select", told(kept.report, data), (data,)), to_file=False)
    return 0


def decontaminate(args: argparse.Namespace) -> int:
    """Which rows hold a question of the eval."""
    from whileai.selection.decontaminate import decontaminate as call

    check_row_file(args.output)
    if args.no_reworded and args.reworded is not None:
        raise ParamError.of("decontaminate", "reworded", "left out beside --no-reworded", args.reworded)
    reworded = not args.no_reworded if args.reworded is None else args.reworded
    settings = {"fields": tuple(args.fields or ("prompt",)), "n": args.n, "threshold": args.threshold}
    settings |= {"reworded": reworded, "engine": args.engine}
    call([], [], **settings)  # raises on a setting outside its bound before files are read
    data = reading(args, "decontaminate", "rows", args.data)
    other = reading(args, "decontaminate", "against", args.against)
    rows, against = data.rows(), other.rows()
    with busy(f"check {len(rows):,} rows against {len(against):,}"):
        kept = call(rows, against, **settings)
    if args.output is not None:
        write_rows(args.output, kept)
    deliver(args, Answer("decontaminate", told(kept.report, data, other), (data, other)), to_file=False)
    return 0
