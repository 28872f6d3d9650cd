"""The commands and their options."""

from __future__ import annotations

import argparse
import itertools
import re
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from whileai import __version__
from whileai.params import near_miss


class UsageError(Exception):
    """A command line that cannot be read; the message is the whole line to print."""


class Parser(argparse.ArgumentParser):
    """argparse with one-sentence errors, and near misses for misspelt options."""

    def __init__(self, **settings: Any) -> None:
        self.flags: list[str] = []
        super().__init__(allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, **settings)

    def add_argument(self, *names: Any, **settings: Any) -> argparse.Action:
        """As argparse's, keeping the names of the flags."""
        self.flags += [name for name in names if name.startswith("--")]
        return super().add_argument(*names, **settings)

    def error(self, message: str) -> NoReturn:
        """Raise the one sentence about what is wrong with the command line."""
        raise UsageError(f"{self.prog}: error: {_reworded(message)}")

    def check_flags(self, argv: Sequence[str]) -> None:
        """Raise on a flag that is not there, before argparse takes its value for something else."""
        for item in argv:
            if item == "--":
                return
            name = item.partition("=")[0]
            if name.startswith("--") and name not in self.flags:
                self.error(f"there is no option {name} here. {near_miss(name, self.flags)}".rstrip())


def _reworded(message: str) -> str:
    """What argparse says, in this library's words."""
    missing = re.match(r"the following arguments are required: (.*)", message)
    if missing:
        return f"{missing[1]} must be given."
    extra = re.match(r"unrecognized arguments: (.*)", message)
    if extra:
        return f"nothing here takes {extra[1]}. A pattern in quotes is one argument."
    about = re.match(r"argument ([^:]+): (.*)", message, re.DOTALL)
    if not about:
        return message
    name = about[1].split("/")[-1].split(" ")[0]
    needs = re.match(r"expected (one|\d+|at least one) arguments?$", about[2])
    if needs:
        return f"{name} needs {'a value' if needs[1] != '2' else 'two values'}."
    return f"{name} {about[2]}"


def number(text: str) -> float:
    """A number of the command line."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number; got {text!r}.") from None


def whole(text: str) -> int:
    """A whole number of the command line."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a whole number; got {text!r}.") from None


def _level(parser: Parser) -> None:
    parser.add_argument("--level", type=number, default=0.95, metavar="L", help="of intervals and tests (0.95)")


def _pass_at(parser: Parser) -> None:
    parser.add_argument("data", nargs="+", metavar="DATA", help="files or patterns of rows, read as one data set")
    parser.add_argument("--k", type=whole, metavar="K", help="tries per task (the most that 90%% of tasks have)")
    _level(parser)


def _compare(parser: Parser) -> None:
    parser.add_argument("before", metavar="BEFORE", help="a file, or a quoted pattern")
    parser.add_argument("after", metavar="AFTER", help="the same for the other arm")
    parser.add_argument("--target", default="pass_at_1", metavar="M", help="pass_at_1 (default), reward, marker:NAME")
    guards = "a metric that must not get worse; repeatable"
    parser.add_argument("--must-not-regress", action="append", default=[], metavar="M", help=guards)
    lower = "a metric that improves when it falls; repeatable"
    parser.add_argument("--lower-is-better", action="append", default=[], metavar="M", help=lower)
    parser.add_argument("--proxy", metavar="M", help="a metric that stands in for the target")
    parser.add_argument("--run-std", type=number, metavar="X", help="the noise floor, from wai variance")
    parser.add_argument("--run-std-runs", type=whole, metavar="N", help="the runs behind it")
    parser.add_argument("--by", metavar="FIELD", help="also each value of this key of the rows")
    _level(parser)
    parser.add_argument("--gate", action="store_true", help="exit 1 if the result is not ok")
    loss = "exit 1 unless a loss of X of the target is ruled out; guards count too"
    parser.add_argument("--max-loss", type=number, metavar="X", help=loss)


def _variance(parser: Parser) -> None:
    runs = "one file or quoted pattern a run; a single pattern: one run a file"
    parser.add_argument("runs", nargs="+", metavar="RUN", help=runs)
    parser.add_argument("--metric", default="pass_at_1", metavar="M", help="pass_at_1 (default), reward, marker:NAME")
    _level(parser)


def _holdout_size(parser: Parser) -> None:
    parser.add_argument("effect", type=number, metavar="EFFECT", help="the gain to prove: 0.05 is five points")
    parser.add_argument("--base", type=number, metavar="P", help="the pass rate it starts from")
    parser.add_argument("--k", type=whole, default=4, metavar="K", help="completions per task and arm (4)")
    parser.add_argument("--power", type=number, default=0.8, metavar="P", help="chance to prove it (0.8)")
    parser.add_argument("--task-std", type=number, metavar="X", help="spread of the paired difference, if known")
    parser.add_argument("--before", metavar="FILE", help="rows of a pilot")
    parser.add_argument("--after", metavar="FILE", help="rows of its other arm")
    _level(parser)


def _select(parser: Parser) -> None:
    parser.add_argument("data", nargs="+", metavar="DATA", help="files or patterns of rows, read as one data set")
    parser.add_argument("--mode", required=True, help="rl: whole groups in the band; sft: the best completions")
    band = "lowest and highest pass rate of a kept group (0.2 0.8)"
    parser.add_argument("--band", type=number, nargs=2, default=(0.2, 0.8), metavar=("LOW", "HIGH"), help=band)
    parser.add_argument("--target", type=whole, metavar="N", help="stop once so many rows are kept")
    parser.add_argument("--per-task", type=whole, default=1, metavar="N", help="completions kept per task in sft (1)")


def _decontaminate(parser: Parser) -> None:
    parser.add_argument("data", nargs="+", metavar="DATA", help="files or patterns of rows to train on")
    against = "files or patterns of the eval's rows; repeatable"
    parser.add_argument("--against", nargs="+", action="extend", required=True, metavar="FILE", help=against)
    fields = "a key whose texts are compared (prompt); repeatable"
    parser.add_argument("--fields", action="append", metavar="KEY", help=fields)
    parser.add_argument("--n", type=whole, default=8, metavar="N", help="words of an n-gram (8)")
    parser.add_argument("--threshold", type=number, default=0.8, metavar="X", help="share of n-grams of a hit (0.8)")


def _grade(parser: Parser) -> None:
    parser.add_argument("data", nargs="+", metavar="DATA", help="files or patterns of rows, graded as one data set")
    names = "exact, includes, numeric, math-equal, choice, json, code, regex"
    parser.add_argument("--verifier", required=True, metavar="NAME", help=names)
    parser.add_argument("--reference", metavar="FIELD", help="where the gold is, as in info.key (the usual keys)")
    parser.add_argument("--pattern", metavar="P", help="of regex: what must be found in the completion")
    parser.add_argument("--tests", metavar="FILE", help="of code: tests for every row (else each row's gold)")
    parser.add_argument("--timeout", type=number, metavar="S", help="seconds one verdict may take (30)")
    parser.add_argument("--workers", type=whole, metavar="N", help="verdicts made at the same time")
    parser.add_argument("--resume", metavar="FILE", help="keep each verdict there, and take those that are")


def _validate(parser: Parser) -> None:
    parser.add_argument("data", nargs="+", metavar="DATA", help="files or patterns of rows")
    parser.add_argument("--kind", default="row", help="row (default), training or preference")


def _self_check(parser: Parser) -> None:
    parser.add_argument("--full", action="store_true", help="the whole grid, on all cores, for minutes")
    parser.add_argument("--seed", type=whole, default=0, metavar="N", help="of the draws (0)")
    _level(parser)


def _demo(parser: Parser) -> None:
    questions = 'JSON lines of {"question", "answer"}, the answer ending in "#### <number>"'
    parser.add_argument("--questions", metavar="FILE", help=questions)
    parser.add_argument("--n", type=whole, default=200, metavar="N", help="questions to make without a file (200)")
    parser.add_argument("--k", type=whole, default=4, metavar="K", help="completions per question (4)")
    parser.add_argument("--seed", type=whole, default=0, metavar="N", help="of questions and answers (0)")


#: Command -> its arguments in the usage line, the question it answers, its options, the code, an example.
COMMANDS: dict[str, tuple[str, str, Callable[[Parser], None], str, str]] = {
    "pass-at": (
        "DATA... [options]",
        "How often does it pass? pass@1, pass^k and pass@k with intervals over tasks.",
        _pass_at,
        "whileai.cli.measuring:pass_at",
        "wai pass-at 'runs/*.jsonl' --k 4",
    ),
    "compare": (
        "BEFORE AFTER [options]",
        "Is AFTER better than BEFORE? Pairs the tasks and gives a verdict with its interval.",
        _compare,
        "whileai.cli.measuring:compare",
        "wai compare main.jsonl pr.jsonl --gate --must-not-regress marker:chars --lower-is-better marker:chars",
    ),
    "variance": (
        "RUN RUN RUN... [options]",
        "How far does the number move on its own? Three runs of one model or more.",
        _variance,
        "whileai.cli.measuring:variance",
        "wai variance run1.jsonl run2.jsonl run3.jsonl",
    ),
    "holdout-size": (
        "EFFECT [options]",
        "How many tasks prove a gain of EFFECT?",
        _holdout_size,
        "whileai.cli.measuring:holdout_size",
        "wai holdout-size 0.05 --base 0.45 --k 4",
    ),
    "select": (
        "DATA... --mode rl|sft [options]",
        "Which rows are worth training on? The rows go to -o, the report to stdout.",
        _select,
        "whileai.cli.selecting:select",
        "wai select rows.jsonl --mode rl --band 0.2 0.8 -o train.jsonl",
    ),
    "decontaminate": (
        "DATA... --against FILE... [options]",
        "Which rows hold a question of the eval? The clean rows go to -o, the report to stdout.",
        _decontaminate,
        "whileai.cli.selecting:decontaminate",
        "wai decontaminate train.jsonl --against eval.jsonl -o clean.jsonl",
    ),
    "grade": (
        "DATA... --verifier NAME -o FILE [options]",
        "What does a rule say of every row? The graded rows go to -o, the counts to stdout.",
        _grade,
        "whileai.cli.grading:grade",
        "wai grade samples.jsonl --verifier math-equal --reference info.answer -o graded.jsonl",
    ),
    "validate": (
        "DATA... [options]",
        "Are the rows well formed? Exit 1 if any is not.",
        _validate,
        "whileai.cli.validating:validate",
        "wai validate rows.jsonl --kind training",
    ),
    "self-check": (
        "[options]",
        "Do the statistics hold what they promise, on agents whose truth is known? Exit 1 if not.",
        _self_check,
        "whileai.cli.checking:self_check",
        "wai self-check --full",
    ),
    "demo": (
        "[options]",
        "The worked example: questions, simulated answers, every measurement on them.",
        _demo,
        "whileai.cli.demo:command",
        "wai demo --questions gsm8k.jsonl",
    ),
}
#: Where the rows go that a command writes.
WRITES_ROWS = {"select": "kept", "decontaminate": "kept", "grade": "graded"}


def program(argv: Sequence[str]) -> str:
    """``wai`` and the command, for messages."""
    command = next((item for item in argv if not item.startswith("-")), "")
    return f"wai {command}" if command in COMMANDS else "wai"


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The options of one command line.

    Raises
    ------
    UsageError
        A command, an option or a value that is not there.
    SystemExit
        After ``--help`` or ``--version``.
    """
    if not argv:
        raise UsageError(f"wai: error: COMMAND must be one of {', '.join(COMMANDS)}; got none. wai --help says more.")
    leading = list(itertools.takewhile(lambda item: item.startswith("-"), argv))
    top = _top()
    top.check_flags(leading)
    if {"-h", "--help", "--version"} & set(leading):
        top.parse_args(leading)
    command = next((item for item in argv if not item.startswith("-")), "")
    if command not in COMMANDS:
        known = ", ".join(COMMANDS)
        text = f"wai: error: COMMAND must be one of {known}; got {command!r}. {_near_command(command)}"
        raise UsageError(text.rstrip())
    rest = list(argv)
    rest.remove(command)
    parser = _command(command)
    parser.check_flags(rest)
    args = parser.parse_args(rest)
    args.command = command
    args.run = COMMANDS[command][3]
    return args


def _near_command(command: str) -> str:
    """The near miss, if there is one: the known names are in the sentence already."""
    hint = near_miss(command, COMMANDS)
    return hint if hint.startswith("Did") else ""


def _top() -> Parser:
    """The parser of what stands before a command."""
    lines = [f"  {name:<14} {question}" for name, (_, question, *_) in COMMANDS.items()]
    parser = Parser(
        prog="wai",
        usage="wai COMMAND ... [options]",
        description="Rows to a verdict: measure language models, and choose what to train on.",
        epilog="\n".join(["commands:", *lines, "", "wai COMMAND --help says more."]),
    )
    parser.add_argument("--version", action="version", version=f"wai {__version__}")
    for names in (("-q", "--quiet"), ("--debug",), ("--json",)):  # they may stand before the command too
        parser.add_argument(*names, action="store_true", help=argparse.SUPPRESS)
    return parser


def _command(name: str) -> Parser:
    """The parser of one command."""
    arguments, question, add, _, example = COMMANDS[name]
    parser = Parser(
        prog=f"wai {name}", usage=f"wai {name} {arguments}", description=question, epilog=f"example: {example}"
    )
    add(parser)
    kind = WRITES_ROWS.get(name)
    where = "write there instead of stdout" if kind is None else f"where the {kind} rows go: .jsonl or .json"
    parser.add_argument("--json", action="store_true", help="one JSON object instead of text")
    parser.add_argument("-o", "--output", metavar="FILE", required=name == "grade", help=where)
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress")
    parser.add_argument("--debug", action="store_true", help="the traceback of an error")
    return parser
