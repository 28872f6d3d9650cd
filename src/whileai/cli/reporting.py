"""``wai report``: one arm or two as a page to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whileai.cli.failures import InputError, with_flags
from whileai.errors import ParamError, RowError

if TYPE_CHECKING:
    import argparse

    from whileai.cli.inputs import Reading
    from whileai.cli.parser import Parser
    from whileai.measure.comparison import Comparison

#: Options that only two arms have a use for, with what they are where they are not given.
OF_TWO: dict[str, Any] = {
    "target": "pass_at_1",
    "must_not_regress": [],
    "lower_is_better": [],
    "proxy": None,
    "run_std": None,
    "run_std_runs": None,
    "by": None,
    "cluster": None,
}


def options(parser: Parser) -> None:
    """What ``wai report`` takes."""
    from whileai.cli.parser import number, whole

    parser.add_argument("before", metavar="A", help="a file, or a quoted pattern: the only arm, or the first")
    parser.add_argument("after", metavar="B", nargs="?", help="the arm after the change")
    parser.add_argument("--target", default="pass_at_1", metavar="M", help="pass_at_1 (default), reward, marker:NAME")
    guards = "a metric that must not get worse; repeatable"
    parser.add_argument("--must-not-regress", action="append", default=[], metavar="M", help=guards)
    lower = "a metric that improves when it falls; repeatable"
    parser.add_argument("--lower-is-better", action="append", default=[], metavar="M", help=lower)
    parser.add_argument("--proxy", metavar="M", help="a metric that stands in for the target")
    parser.add_argument("--run-std", type=number, metavar="X", help="the noise floor, from wai variance")
    parser.add_argument("--run-std-runs", type=whole, metavar="N", help="the runs behind it")
    parser.add_argument("--by", metavar="FIELD", help="also each value of this key of the rows")
    parser.add_argument("--cluster", metavar="KEY", help="a key that tasks share: intervals over its values")
    parser.add_argument("--level", type=number, default=0.95, metavar="L", help="of intervals and tests (0.95)")
    parser.add_argument("--tasks", metavar="IDS", help="list these tasks only, ids between commas")
    parser.add_argument("--no-texts", action="store_true", help="no prompt and no completion on the page")
    parser.add_argument("--include-reference", action="store_true", help="show the gold")
    parser.add_argument("--max-mb", type=number, default=5.0, metavar="X", help="megabytes the page may have (5)")


def report(args: argparse.Namespace) -> int:
    """Write the page; what is on it goes to stdout in a line or two."""
    import whileai
    from whileai import params
    from whileai.cli.inputs import reading
    from whileai.cli.output import Answer, check_file, deliver
    from whileai.cli.terminal import busy

    check_file(args.output)
    params.real("report", "max_mb", args.max_mb, "a number above 0", 0, 1e6, ends="(]")
    if args.after is None:
        given = next((name for name, usual in OF_TWO.items() if getattr(args, name) != usual), None)
        if given is not None:
            raise InputError(f"--{given.replace('_', '-')} must be left out where there is no B. It is for two arms.")
    names = ("before",) if args.after is None else ("before", "after")
    arms = [reading(args, "report", name, [getattr(args, name)]) for name in names]
    files = [getattr(args, name) for name in names]
    settings: dict[str, Any] = {
        "max_mb": args.max_mb,
        "texts": not args.no_texts,
        "include_reference": args.include_reference,
        "tasks": None if args.tasks is None else [task.strip() for task in args.tasks.split(",") if task.strip()],
    }
    with busy("report"):
        if len(arms) == 2:
            result: Any = _compared(args, arms)
            page = whileai.report(result, args.output, before=files[0], after=files[1], **settings)
        else:
            result = _measured(args, arms[0])
            page = whileai.report(result, args.output, after=files[0], **settings)
    deliver(args, Answer("report", page, tuple(arms), page.ok, page.verdict), to_file=False)
    return 0


def _measured(args: argparse.Namespace, arm: Reading) -> Any:
    """The rates of one arm."""
    from whileai.measure.pass_at import pass_at

    try:
        return pass_at(arm.table(), level=args.level)
    except ParamError as error:
        raise InputError(with_flags(str(error).removeprefix("pass_at: "), "report")) from error


def _compared(args: argparse.Namespace, arms: list[Reading]) -> Comparison:
    """The comparison, of tables where neither slices nor clusters are asked for."""
    from whileai.measure.compare import compare

    settings = {name: getattr(args, name) for name in (*OF_TWO, "level")}
    try:
        numbers = {name: settings[name] for name in ("run_std", "run_std_runs", "level")}
        compare([], [], **numbers)  # raises on a number outside its bound before files are read
        whole = args.by is None and args.cluster is None
        return compare(*[arm.table() if whole else arm.rows() for arm in arms], **settings)
    except (ParamError, RowError) as error:
        raise InputError(with_flags(str(error).removeprefix("compare: ").removeprefix("report: "), "report")) from error
