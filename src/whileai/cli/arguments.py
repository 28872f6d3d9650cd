"""What each command takes."""

from __future__ import annotations

import argparse

from whileai.cli.parser import Parser, number, whole


def level(parser: Parser) -> None:
    """The level of intervals and tests."""
    parser.add_argument("--level", type=number, default=0.95, metavar="L", help="of intervals and tests (0.95)")


def cluster(parser: Parser) -> None:
    """What several tasks share."""
    help_ = "a key that tasks share, as info.passage: intervals over its values"
    parser.add_argument("--cluster", metavar="KEY", help=help_)


def pair(text: str) -> tuple[str, str]:
    """``OURS=THEIRS`` of the command line."""
    ours, equals, theirs = text.partition("=")
    if not (ours and equals and theirs):
        raise argparse.ArgumentTypeError(f"must be OURS=THEIRS, as reward=score; got {text!r}.")
    return ours, theirs


def reading(parser: Parser) -> None:
    """How the files of a command are read, as `wai.read` takes it."""
    help_ = "what the files call one of our keys, as reward=score; repeatable"
    parser.add_argument("--map", dest="fields_map", type=pair, action="append", metavar="OURS=THEIRS", help=help_)
    help_ = "the format of the files, where their content should not say"
    parser.add_argument("--from", dest="read_format", metavar="FORMAT", help=help_)
    parser.add_argument("--filter", metavar="NAME", help="which of several verdicts of a log to take")


def pass_at(parser: Parser) -> None:
    """What ``wai pass-at`` takes."""
    parser.add_argument("data", nargs="+", metavar="DATA", help="files or patterns of rows, read as one data set")
    parser.add_argument("--k", type=whole, metavar="K", help="tries per task (the most that 90%% of tasks have)")
    cluster(parser)
    level(parser)


def compare(parser: Parser) -> None:
    """What ``wai compare`` takes."""
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
    gold = "a key with the true verdict on some rows: the judge's errors are counted"
    parser.add_argument("--gold", metavar="KEY", help=gold)
    cluster(parser)
    level(parser)
    parser.add_argument("--gate", action="store_true", help="exit 1 if the result is not ok")
    loss = "exit 1 unless a loss of X of the target is ruled out; guards count too"
    parser.add_argument("--max-loss", type=number, metavar="X", help=loss)
    parser.add_argument("--junit", metavar="FILE", help="also write JUnit XML there")
    parser.add_argument("--report", metavar="FILE", help="also write the HTML page of `wai report` there")
    name = "tells several comparisons apart in comments, annotations and JUnit"
    parser.add_argument("--name", default="default", metavar="NAME", help=name)


def variance(parser: Parser) -> None:
    """What ``wai variance`` takes."""
    runs = "one file or quoted pattern a run; a single pattern: one run a file"
    parser.add_argument("runs", nargs="+", metavar="RUN", help=runs)
    parser.add_argument("--metric", default="pass_at_1", metavar="M", help="pass_at_1 (default), reward, marker:NAME")
    level(parser)


def holdout_size(parser: Parser) -> None:
    """What ``wai holdout-size`` takes."""
    parser.add_argument("effect", type=number, metavar="EFFECT", help="the gain to prove: 0.05 is five points")
    parser.add_argument("--base", type=number, metavar="P", help="the pass rate it starts from")
    parser.add_argument("--k", type=whole, default=4, metavar="K", help="completions per task and arm (4)")
    parser.add_argument("--power", type=number, default=0.8, metavar="P", help="chance to prove it (0.8)")
    parser.add_argument("--task-std", type=number, metavar="X", help="spread of the paired difference, if known")
    parser.add_argument("--before", metavar="FILE", help="rows of a pilot")
    parser.add_argument("--after", metavar="FILE", help="rows of its other arm")
    level(parser)


def select(parser: Parser) -> None:
    """What ``wai select`` takes."""
    parser.add_argument("data", nargs="+", metavar="DATA", help="files or patterns of rows, read as one data set")
    parser.add_argument("--mode", required=True, help="rl: whole groups in the band; sft: the best completions")
    band = "lowest and highest pass rate of a kept group (0.2 0.8)"
    parser.add_argument("--band", type=number, nargs=2, default=(0.2, 0.8), metavar=("LOW", "HIGH"), help=band)
    parser.add_argument("--target", type=whole, metavar="N", help="stop once so many rows are kept")
    parser.add_argument("--per-task", type=whole, default=1, metavar="N", help="completions kept per task in sft (1)")


def decontaminate(parser: Parser) -> None:
    """What ``wai decontaminate`` takes."""
    parser.add_argument("data", nargs="+", metavar="DATA", help="files or patterns of rows to train on")
    against = "files or patterns of the eval's rows; repeatable"
    parser.add_argument("--against", nargs="+", action="extend", required=True, metavar="FILE", help=against)
    fields = "a key whose texts are compared (prompt); repeatable"
    parser.add_argument("--fields", action="append", metavar="KEY", help=fields)
    parser.add_argument("--n", type=whole, default=8, metavar="N", help="words of an n-gram (8)")
    parser.add_argument("--threshold", type=number, default=0.8, metavar="X", help="share of n-grams of a hit (0.8)")
    parser.add_argument("--reworded", type=number, metavar="X", help="score of a rewording (0.3)")
    parser.add_argument("--no-reworded", action="store_true", help="look for no rewordings")
    parser.add_argument("--engine", metavar="NAME", help="ray: check on the workers of Ray")


def grade(parser: Parser) -> None:
    """What ``wai grade`` takes."""
    parser.add_argument("data", nargs="+", metavar="DATA", help="files or patterns of rows, graded as one data set")
    names = "exact, includes, numeric, math-equal, choice, json, code, regex"
    parser.add_argument("--verifier", required=True, metavar="NAME", help=names)
    parser.add_argument("--reference", metavar="FIELD", help="where the gold is, as in info.key (the usual keys)")
    parser.add_argument("--pattern", metavar="P", help="of regex: what must be found in the completion")
    parser.add_argument("--tests", metavar="FILE", help="of code: tests for every row (else each row's gold)")
    parser.add_argument("--timeout", type=number, metavar="S", help="seconds one verdict may take (30)")
    parser.add_argument("--workers", type=whole, metavar="N", help="verdicts made at the same time")
    parser.add_argument("--resume", metavar="FILE", help="keep each verdict there, and take those that are")


def convert(parser: Parser) -> None:
    """What ``wai convert`` takes."""
    parser.add_argument("data", nargs="+", metavar="DATA", help="files or patterns of rows or traces, in any shape")
    names = "rows (default), trl-prompt, trl-messages, trl-prompt-completion, trl-preference, trl-kto, verl, "
    names += "openai-sft, openai-dpo, every-eval-ever"
    parser.add_argument("--format", default="rows", metavar="F", help=names)
    gold = "write the gold, which a rule-based reward in the trainer needs"
    parser.add_argument("--include-reference", action="store_true", help=gold)
    parser.add_argument("--system-prompt", metavar="TEXT", help="what the policy was told, where the rows do not say")
    parser.add_argument("--tools", metavar="FILE", help="JSON list of the schemas of its tools")
    parser.add_argument("--per-task", type=whole, metavar="N", help="of pairs: how many a task gives at most (1)")
    parser.add_argument("--min-margin", type=number, metavar="X", help="of pairs: how far apart rewards are (1)")


def validate(parser: Parser) -> None:
    """What ``wai validate`` takes."""
    parser.add_argument("data", nargs="+", metavar="DATA", help="files or patterns of rows")
    parser.add_argument("--kind", default="row", help="row (default), training or preference")


def simulate(parser: Parser) -> None:
    """What ``wai simulate`` takes."""
    parser.add_argument(
        "spec", metavar="SPEC", help="a TOML file: agent, tools, system_prompt and what else simulate takes"
    )
    parser.add_argument("--mode", help="explore, sft or rl, in place of the file's")
    parser.add_argument("--situations", type=whole, metavar="N", help="situations (as many as cover every pair)")
    parser.add_argument("--repeats", type=whole, metavar="N", help="rollouts of a situation (as the mode says)")
    parser.add_argument("--budget", type=whole, metavar="N", help="most rollouts")
    parser.add_argument("--seed", type=whole, metavar="N", help="of the plan and the agent's draws (0)")


def self_check(parser: Parser) -> None:
    """What ``wai self-check`` takes."""
    parser.add_argument("--full", action="store_true", help="the whole grid, on all cores, for minutes")
    parser.add_argument("--seed", type=whole, default=0, metavar="N", help="of the draws (0)")
    level(parser)


def demo(parser: Parser) -> None:
    """What ``wai demo`` takes."""
    questions = 'JSON lines of {"question", "answer"}, the answer ending in "#### <number>"'
    parser.add_argument("--questions", metavar="FILE", help=questions)
    parser.add_argument("--n", type=whole, default=200, metavar="N", help="questions to make without a file (200)")
    parser.add_argument("--k", type=whole, default=4, metavar="K", help="completions per question (4)")
    parser.add_argument("--seed", type=whole, default=0, metavar="N", help="of questions and answers (0)")
