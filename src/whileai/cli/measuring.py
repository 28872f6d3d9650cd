"""``wai pass-at``, ``variance`` and ``holdout-size``."""

from __future__ import annotations

import glob
from typing import TYPE_CHECKING, Any

from whileai import params
from whileai.cli.failures import InputError
from whileai.cli.inputs import Reading, reading, told
from whileai.cli.output import Answer, check_file, deliver
from whileai.errors import RowError
from whileai.readers.files import files_of

if TYPE_CHECKING:
    import argparse


def pass_at(args: argparse.Namespace) -> int:
    """How often does it pass."""
    from whileai.measure.pass_at import pass_at as call

    check_file(args.output)
    if args.k is not None:
        params.whole("pass_at", "k", args.k)
    params.level("pass_at", args.level)
    data = reading(args, "pass_at", "data", args.data)
    try:
        rows: Any = data.table(markers=False) if args.cluster is None else data.rows()
        result = told(call(rows, k=args.k, cluster=args.cluster, level=args.level), data)
    except RowError as error:
        raise data.blame(error) from error
    deliver(args, Answer("pass_at", result, (data,)))
    return 0


def variance(args: argparse.Namespace) -> int:
    """How far the number moves on its own."""
    from whileai.measure.eval_variance import eval_variance as call

    check_file(args.output)
    params.level("eval_variance", args.level)
    patterns = args.runs
    if len(patterns) == 1 and glob.has_magic(patterns[0]):  # the shell would have given one argument a file
        patterns = [str(file) for file in files_of(patterns[0], "eval_variance")]
    runs = [reading(args, "eval_variance", f"runs[{i}]", [pattern]) for i, pattern in enumerate(patterns)]
    result = call(*[run.table() for run in runs], metric=args.metric, level=args.level)
    deliver(args, Answer("eval_variance", result, tuple(runs)))
    return 0


def holdout_size(args: argparse.Namespace) -> int:
    """How many tasks prove a gain."""
    from whileai.measure.holdout_size import holdout_size as call

    check_file(args.output)
    if args.after is not None and args.before is None:
        raise InputError("--before must be given where --after is. A paired pilot has both arms.")
    numbers: dict[str, Any] = {name: getattr(args, name) for name in ("base", "k", "power", "level", "task_std")}
    names = [name for name in ("before", "after") if getattr(args, name) is not None]
    if names:
        call(args.effect, **numbers)  # raises on a number outside its bound before files are read
    pilot = {name: _arm(args, "holdout_size", name) for name in names}
    tables: dict[str, Any] = {name: arm.table(markers=False) for name, arm in pilot.items()}
    result = call(args.effect, **numbers, **tables)
    deliver(args, Answer("holdout_size", result, tuple(pilot.values())))
    return 0


def _arm(args: argparse.Namespace, call: str, name: str) -> Reading:
    """The files of one arm, which is one argument."""
    return reading(args, call, name, [getattr(args, name)])
