"""``wai report``: one arm or two as a page to look at."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any

from whileai.cli.failures import InputError, with_flags
from whileai.errors import ParamError, RowError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from whileai.cli.inputs import Reading
    from whileai.cli.parser import Parser
    from whileai.measure.comparison import Comparison
    from whileai.measure.pass_at import PassAt
    from whileai.pages.call import Page
    from whileai.table.task_table import TaskTable

    #: The table of an arm, and its rows where it has any.
    Read = tuple[TaskTable, list[dict[str, Any]] | None]

#: Options that only two arms have a use for, and the others that decide what stands on the page.
OF_TWO = ("target", "must_not_regress", "lower_is_better", "proxy", "run_std", "run_std_runs", "by", "cluster")
OF_ANY = ("gold", "level", "fields_map", "read_format", "filter", "no_texts", "include_reference", "max_mb")
FLAGS = {"fields_map": "--map", "read_format": "--from"}


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
    gold = "a key with the true verdict on some rows: the judge's errors are counted"
    parser.add_argument("--gold", metavar="KEY", help=gold)
    parser.add_argument("--cluster", metavar="KEY", help="a key that tasks share: intervals over its values")
    parser.add_argument("--level", type=number, default=0.95, metavar="L", help="of intervals and tests (0.95)")
    parser.add_argument("--tasks", metavar="IDS", help="list these tasks only, ids between commas")
    parser.add_argument("--no-texts", action="store_true", help="no prompt and no completion on the page")
    parser.add_argument("--include-reference", action="store_true", help="show the gold")
    parser.add_argument("--max-mb", type=number, default=5.0, metavar="X", help="megabytes the page may have (5)")


def report(args: argparse.Namespace) -> int:
    """Write the page; what is on it goes to stdout in a line or two."""
    from whileai import params
    from whileai.cli.comparing import check_numbers
    from whileai.cli.inputs import reading, told
    from whileai.cli.options import parser_of
    from whileai.cli.output import Answer, check_file, deliver

    check_file(args.output)
    params.real("report", "max_mb", args.max_mb, "a number above 0", 0, 1e6, ends="(]")
    usual = parser_of("report").get_default
    if args.after is None:
        given = next((name for name in OF_TWO if getattr(args, name) != usual(name)), None)
        if given is not None:
            raise InputError(f"--{given.replace('_', '-')} must be left out where there is no B. It is for two arms.")
    names = ("before",) if args.after is None else ("before", "after")
    arms = [reading(args, "report", name, [getattr(args, name)]) for name in names]
    try:
        check_numbers(args)
        read = [arm.arm(as_rows=_by_rows(args)) for arm in arms]
        result = told(_measured(args, read), *arms)
        page = written(args, arms, read, result, args.output)
    except (ParamError, RowError) as error:
        text = re.sub(r"^(compare|pass_at|judge_trust|report): ", "", str(error))
        raise InputError(with_flags(text, "report")) from error
    deliver(args, Answer("report", page, tuple(arms), page.ok, page.verdict), to_file=False)
    return 0


def _measured(args: argparse.Namespace, read: Sequence[Read]) -> Comparison | PassAt:
    """The rates of one arm, or the comparison of two: of tables where no key of the rows is asked for."""
    from whileai.measure.compare import compare
    from whileai.measure.pass_at import pass_at

    if len(read) == 1:
        return pass_at(read[0][0], level=args.level)
    settings = {name: getattr(args, name) for name in (*OF_TWO, "gold", "level")}
    by_rows = _by_rows(args)
    return compare(*[rows if by_rows and rows is not None else table for table, rows in read], **settings)


def _by_rows(args: argparse.Namespace) -> bool:
    """Whether a key of the rows is asked for, which a table has not."""
    return any(getattr(args, name) is not None for name in ("by", "cluster", "gold"))


def written(args: argparse.Namespace, arms: Sequence[Reading], read: Sequence[Read], result: Any, path: str) -> Page:
    """The page of what was read and measured, for ``wai report`` and for ``wai compare --report``."""
    from whileai.cli.options import parser_of
    from whileai.cli.terminal import busy
    from whileai.keys import GOLD_REWARD
    from whileai.pages.call import write_page
    from whileai.pages.flips import Arm
    from whileai.pages.given import input_of

    files = [getattr(args, arm.argument) for arm in arms]
    names = [arm.argument for arm in arms] if len(arms) > 1 else ["rows"]
    pages = [Arm(name, *found) for name, found in zip(names, read, strict=True)]
    tasks = getattr(args, "tasks", None)
    with busy("report"):
        return write_page(
            [result],
            pages,
            [input_of(arm, file) for arm, file in zip(pages, files, strict=True)],
            path,
            command=_command(args, files),
            max_mb=getattr(args, "max_mb", parser_of("report").get_default("max_mb")),
            texts=not getattr(args, "no_texts", False),
            include_reference=getattr(args, "include_reference", False),
            tasks=None if tasks is None else [task.strip() for task in tasks.split(",") if task.strip()],
            gold=args.gold or GOLD_REWARD,
        )


def _command(args: argparse.Namespace, files: Sequence[str]) -> str:
    """The ``wai report`` that measures the same."""
    from whileai.cli.options import parser_of

    parser = parser_of("report")
    words = ["wai", "report", *files]
    for name in (*OF_TWO, *OF_ANY):
        usual = parser.get_default(name)
        value = getattr(args, name, usual)
        flag = FLAGS.get(name, f"--{name.replace('_', '-')}")
        if value is True:
            words.append(flag)
        elif value != usual:
            for item in value if isinstance(value, list) else [value]:
                words += [flag, "=".join(item) if isinstance(item, tuple) else str(item)]
    return shlex.join(words)
