"""The commands, and how a command line is read."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Sequence
from typing import NamedTuple

from whileai import __version__
from whileai.cli import arguments, label_arguments, reporting
from whileai.cli.parser import Parser, UsageError
from whileai.params import near_miss


class Command(NamedTuple):
    """One command.

    Attributes
    ----------
    usage : str
        Its arguments in the usage line.
    question : str
        What it answers.
    add : callable
        Gives a parser its arguments.
    run : str
        The code, ``module:function``.
    example : str
    output : str
        What ``-o`` is for.
    needs_output : bool
        Whether ``-o`` must be given.
    """

    usage: str
    question: str
    add: Callable[[Parser], None]
    run: str
    example: str
    output: str = "write there instead of stdout"
    needs_output: bool = False


_KEPT = "where the kept rows go: .jsonl or .json"
_GRADED = "where the graded rows go: .jsonl or .json"
_PICKED = "where the picked rows go: .jsonl or .json"
_CONVERTED = "the file: .jsonl, .jsonl.gz, .jsonl.zst or .parquet"
_SIMULATED = "where the rows go, .jsonl; what is there is resumed"

#: The commands in the order of the help.
COMMANDS: dict[str, Command] = {
    "pass-at": Command(
        "DATA... [options]",
        "How often does it pass? pass@1, pass^k and pass@k with intervals over tasks.",
        arguments.pass_at,
        "whileai.cli.measuring:pass_at",
        "wai pass-at 'runs/*.jsonl' --k 4",
    ),
    "compare": Command(
        "BEFORE AFTER [options]",
        "Is AFTER better than BEFORE? Pairs the tasks and gives a verdict with its interval.",
        arguments.compare,
        "whileai.cli.comparing:compare",
        "wai compare main.jsonl pr.jsonl --gate --must-not-regress marker:chars --lower-is-better marker:chars",
    ),
    "variance": Command(
        "RUN RUN RUN... [options]",
        "How far does the number move on its own? Three runs of one model or more.",
        arguments.variance,
        "whileai.cli.measuring:variance",
        "wai variance run1.jsonl run2.jsonl run3.jsonl",
    ),
    "holdout-size": Command(
        "EFFECT [options]",
        "How many tasks prove a gain of EFFECT?",
        arguments.holdout_size,
        "whileai.cli.measuring:holdout_size",
        "wai holdout-size 0.05 --base 0.45 --k 4",
    ),
    "select": Command(
        "DATA... --mode rl|sft [options]",
        "Which rows are worth training on? The rows go to -o, the report to stdout.",
        arguments.select,
        "whileai.cli.selecting:select",
        "wai select rows.jsonl --mode rl --band 0.2 0.8 -o train.jsonl",
        _KEPT,
    ),
    "decontaminate": Command(
        "DATA... --against FILE... [options]",
        "Which rows hold a question of the eval? The clean rows go to -o, the report to stdout.",
        arguments.decontaminate,
        "whileai.cli.selecting:decontaminate",
        "wai decontaminate train.jsonl --against eval.jsonl -o clean.jsonl",
        _KEPT,
    ),
    "judge-trust": Command(
        "DATA... [options]",
        "How far can the judge be trusted? Its verdicts against gold, and the pass rate with its errors counted.",
        label_arguments.judge_trust,
        "whileai.cli.labelling:judge_trust",
        "wai judge-trust rows.jsonl --labels picked.jsonl.labels.jsonl",
    ),
    "sample-for-labels": Command(
        "DATA... -n N -o FILE [options]",
        "Which rows are worth a label? Drawn with known chances; the rows go to -o, the counts to stdout.",
        label_arguments.sample_for_labels,
        "whileai.cli.labelling:sample_for_labels",
        "wai sample-for-labels rows.jsonl -n 100 -o picked.jsonl",
        _PICKED,
        True,
    ),
    "label": Command(
        "FILE... [options]",
        "Is this reply right? One after the other, a key for each; what the judge said is not shown.",
        label_arguments.label,
        "whileai.cli.labelling:label",
        "wai label picked.jsonl --annotator ann",
        "where the labels go, and are resumed from (FILE.labels.jsonl)",
    ),
    "compare-judges": Command(
        "NAME=FILE NAME=FILE... [options]",
        "Which judge agrees most with gold, and what does it take?",
        label_arguments.compare_judges,
        "whileai.cli.labelling:compare_judges",
        "wai compare-judges small=small.jsonl large=large.jsonl --gold human",
    ),
    "grade": Command(
        "DATA... --verifier NAME -o FILE [options]",
        "What does a rule say of every row? The graded rows go to -o, the counts to stdout.",
        arguments.grade,
        "whileai.cli.grading:grade",
        "wai grade samples.jsonl --verifier math-equal --reference info.answer -o graded.jsonl",
        _GRADED,
        True,
    ),
    "convert": Command(
        "DATA... -o FILE [--format F] [options]",
        "Rows in the format of a trainer or a registry; nothing privileged leaves. wai export is the same.",
        arguments.convert,
        "whileai.cli.converting:convert",
        "wai convert runs/*.jsonl -o pairs.jsonl --format trl-preference",
        _CONVERTED,
        True,
    ),
    "validate": Command(
        "DATA... [options]",
        "Are the rows well formed? Exit 1 if any is not.",
        arguments.validate,
        "whileai.cli.validating:validate",
        "wai validate rows.jsonl --kind training",
    ),
    "simulate": Command(
        "SPEC -o FILE [options]",
        "What does an agent do in planned situations? The rows go to -o as they land, the report to stdout.",
        arguments.simulate,
        "whileai.cli.simulating:simulate",
        "wai simulate shop.toml -o rows.jsonl --mode sft",
        _SIMULATED,
    ),
    "report": Command(
        "A [B] -o FILE [options]",
        "What is there to see? One HTML page of one arm or two: verdict, figures, the tasks that flipped.",
        reporting.options,
        "whileai.cli.reporting:report",
        "wai report main.jsonl pr.jsonl -o report.html",
        "where the page goes",
        True,
    ),
    "self-check": Command(
        "[options]",
        "Do the statistics hold what they promise, on agents whose truth is known? Exit 1 if not.",
        arguments.self_check,
        "whileai.cli.checking:self_check",
        "wai self-check --full",
    ),
    "demo": Command(
        "[options]",
        "The worked example: questions, simulated answers, every measurement on them.",
        arguments.demo,
        "whileai.cli.demo:command",
        "wai demo --questions gsm8k.jsonl",
    ),
}
#: Commands that read no rows, or a spec of their own.
WITHOUT_FILES = ("simulate", "self-check", "demo")
#: Another name -> the command.
ALIASES = {"export": "convert"}


def program(argv: Sequence[str]) -> str:
    """``wai`` and the command, for messages."""
    command = next((item for item in argv if not item.startswith("-")), "")
    return f"wai {command}" if ALIASES.get(command, command) in COMMANDS else "wai"


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
        raise UsageError("wai: error: COMMAND must be given. wai --help lists them.")
    leading = list(itertools.takewhile(lambda item: item.startswith("-"), argv))
    top = _top()
    top.check_flags(leading)
    if {"-h", "--help", "--version"} & set(leading):
        top.parse_args(leading)
    given = next((item for item in argv if not item.startswith("-")), "")
    command = ALIASES.get(given, given)
    if command not in COMMANDS:
        near = near_miss(given, [*COMMANDS, *ALIASES])
        hint = near if near.startswith("Did") else "wai --help lists them."
        raise UsageError(f"wai: error: there is no command {given!r}. {hint}")
    rest = list(argv)
    rest.remove(given)
    parser = parser_of(command)
    parser.check_flags(rest)
    args = parser.parse_args(rest)
    if args.json and args.markdown:
        parser.error("--markdown must be left out beside --json.")
    args.command = command
    args.run = COMMANDS[command].run
    return args


def _top() -> Parser:
    """The parser of what stands before a command."""
    lines = [f"  {name:<17}  {command.question}" for name, command in COMMANDS.items()]
    parser = Parser(
        prog="wai",
        usage="wai COMMAND ... [options]",
        description="Rows to a verdict: measure language models, and choose what to train on.",
        epilog="\n".join(["commands:", *lines, "", "wai COMMAND --help says more."]),
    )
    parser.add_argument("--version", action="version", version=f"wai {__version__}")
    for names in (
        ("-q", "--quiet"),
        ("--debug",),
        ("--json",),
        ("--markdown",),
    ):  # they may stand before the command too
        parser.add_argument(*names, action="store_true", help=argparse.SUPPRESS)
    return parser


def parser_of(name: str) -> Parser:
    """The parser of one command."""
    command = COMMANDS[name]
    parser = Parser(
        prog=f"wai {name}",
        usage=f"wai {name} {command.usage}",
        description=command.question,
        epilog=f"example: {command.example}",
    )
    command.add(parser)
    if name not in WITHOUT_FILES:
        arguments.reading(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object instead of text")
    parser.add_argument("--markdown", action="store_true", help="GitHub's Markdown instead of text")
    parser.add_argument("-o", "--output", metavar="FILE", required=command.needs_output, help=command.output)
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress")
    parser.add_argument("--debug", action="store_true", help="the traceback of an error")
    return parser
