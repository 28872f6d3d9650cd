"""``wai demo``, the worked example: an eval of two simulated models, measured from the first number to the verdict.

The questions are generated, or read from a file in GSM8K's format. The answers are simulated, so that the example needs
no model and its truth is known; everything after them is what one does with real ones.
"""

from __future__ import annotations

import math
import os
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from whileai import params
from whileai.cli.word_problems import Draw, make
from whileai.errors import ParamError, RowError
from whileai.result import Block, Headline, Result
from whileai.result.text import WIDTH, ascii_of

if TYPE_CHECKING:
    import argparse

    from whileai.cli.inputs import Reading
    from whileai.measure.comparison import Comparison
    from whileai.measure.eval_variance import EvalVariance
    from whileai.measure.holdout_size import HoldoutSize
    from whileai.measure.pass_at import PassAt
    from whileai.selection.reports import RlReport, SftReport

#: Log-odds of the two models on a question of medium difficulty.
OLD, NEW = -0.2, 0.9
#: How far the difficulties of the questions spread, in log-odds.
DIFFICULTY = 1.5
N_RUNS = 3
GAIN = 0.05
FEWEST = 20
ANSWER_BOUND = 'a worked answer that ends in "#### <number>"'


def questions(n: int = 200, seed: int = 0) -> list[dict[str, str]]:
    """`n` word problems made from a seed, as ``{"question", "answer"}`` with the gold after ``####``."""
    params.whole("demo", "n", n)
    params.whole("demo", "seed", seed, 0)
    return make(n, seed)


def read_questions(path: str | os.PathLike[str]) -> list[dict[str, str]]:
    """The problems of a file in GSM8K's format, one ``{"question", "answer"}`` a line.

    Raises
    ------
    FileNotFoundError
        No file has that name.
    RowError
        A line without a question, or whose answer does not end in ``#### <number>``.
    """
    from whileai.readers.files import file_rows, files_of

    found = []
    for file in files_of(path, "demo"):
        for index, row in enumerate(file_rows(file, "demo")):
            question, answer = row.get("question"), row.get("answer")
            if not isinstance(question, str) or not question.strip():
                raise RowError.of("demo", str(file), index, "question", "text", question)
            if not isinstance(answer, str) or _number(answer) is None:
                raise RowError.of("demo", str(file), index, "answer", ANSWER_BOUND, answer)
            found.append({"question": question, "answer": answer})
    return found


def gold_of(problem: Mapping[str, str]) -> str:
    """The gold of a problem: what follows the last ``####``."""
    return problem["answer"].rpartition("####")[2].strip()


def _number(answer: str) -> int | float | None:
    """The gold as a number, ``None`` where it is none."""
    marked, gold = "####" in answer, answer.rpartition("####")[2]
    try:
        value = float(gold.replace(",", "").replace("$", "").strip())
    except ValueError:
        return None
    if not marked or not math.isfinite(value):
        return None
    return int(value) if value.is_integer() else value


def answers(problems: Sequence[Mapping[str, str]], skill: float, k: int = 4, seed: int = 0) -> list[list[str]]:
    """`k` simulated completions of each problem, short worked solutions that end in an answer.

    Parameters
    ----------
    problems : sequence of dict
        ``{"question", "answer"}``.
    skill : float
        Log-odds that an answer is right where the difficulty is 0. A problem's difficulty is a draw from its text
        alone, so every model finds the same problems hard.
    k : int
        Completions per problem.
    seed : int
        Of the draws; another seed is another run of the same model.

    Returns
    -------
    list of list of str
        One list per problem.
    """
    return [
        [_completion(problem, skill, Draw(f"answer {seed} {j} {problem['question']}")) for j in range(k)]
        for problem in problems
    ]


def _completion(problem: Mapping[str, str], skill: float, draw: Draw) -> str:
    """One simulated completion."""
    lines = [re.sub(r"<<.*?>>", "", line) for line in problem["answer"].splitlines() if not line.startswith("####")]
    right = draw.chance() < 1 / (1 + math.exp(_difficulty(problem["question"]) - skill))
    gold = gold_of(problem)
    value = gold if right else _slip(problem["answer"], draw)
    steps = lines if right else lines[:-1]  # a wrong solution leaves its path before the last step
    ends = (f"The answer is {value}.", f"\\boxed{{{value}}}", f"#### {value}")
    return "\n".join([*steps, draw.pick(ends)])


def _difficulty(question: str) -> float:
    """A normal draw (Box and Muller) from the text of a question."""
    draw = Draw(f"difficulty {question}")
    return DIFFICULTY * math.sqrt(-2 * math.log(1 - draw.chance())) * math.cos(2 * math.pi * draw.chance())


def _slip(answer: str, draw: Draw) -> str:
    """A number near the gold that is not it."""
    gold = _number(answer)
    return str((0 if gold is None else gold) + draw.whole(1, 9) * (1 if draw.chance() < 0.5 else -1))


@dataclass(frozen=True, repr=False)
class Example(Result):
    """What the worked example found; ``print`` is the readable report.

    Attributes
    ----------
    n_questions, k, seed : int
    pass_at : PassAt
        Of the old model's first run.
    eval_variance : EvalVariance
        Over three runs of the old model.
    holdout_size : HoldoutSize
        For a gain of five points, from the old model's first run.
    compare : Comparison
        The old model's first run and the new model, with the noise floor.
    select : RlReport
        Of the old model's first run, which is where training would start.
    """

    n_questions: int
    k: int
    seed: int
    pass_at: PassAt
    eval_variance: EvalVariance
    holdout_size: HoldoutSize
    compare: Comparison
    select: RlReport | SftReport
    _first: Mapping[str, str] | None = None

    def _blocks(self) -> list[Block]:
        return [Headline(self.compare.summary)]

    def to_text(self, width: int = WIDTH) -> str:
        """The report: a section a question, one plain sentence before each result."""
        example = "" if self._first is None else _wrapped(self._first["question"], width)
        graded = f"{self.n_questions:,} questions, {self.k} answers each, graded by wai.verify.MathEqual(). The answers"
        parts: list[tuple[str, str, str | Result]] = [
            ("The eval", f"{graded} are simulated. The first question:", example),
            ("How good is the old model?", "Intervals are over questions, not over answers.", self.pass_at),
            (
                "How far does the number move on its own?",
                f"The same model was run {N_RUNS} times; what moves between runs is noise.",
                self.eval_variance,
            ),
            (
                "Is the eval big enough?",
                f"What it takes to prove a gain of {GAIN:.2f}, judged by the first run.",
                self.holdout_size,
            ),
            (
                "Is the new model better?",
                "Paired by question; a change must beat chance and the noise between runs.",
                self.compare,
            ),
            (
                "What is worth training on?",
                "Groups that all pass or all fail teach RL nothing; these are left for it.",
                self.select,
            ),
        ]
        sections = []
        for title, said, shown in parts:
            text = shown.to_text(width) if isinstance(shown, Result) else shown
            sections.append("\n".join([f"== {title}", *textwrap.wrap(said, width), text]).rstrip())
        return "\n\n".join(sections).encode("ascii", "backslashreplace").decode("ascii")


def _wrapped(text: str, width: int) -> str:
    """A quoted text, indented, without what a terminal would obey."""
    plain = "".join(sign if sign.isprintable() else " " for sign in text)
    return textwrap.fill(ascii_of(plain), width, initial_indent="  ", subsequent_indent="  ")


def report(problems: Sequence[Mapping[str, str]], *, k: int = 4, seed: int = 0) -> Example:
    """Simulate both models on `problems` and measure all there is to measure.

    Parameters
    ----------
    problems : sequence of dict
        ``{"question", "answer"}``, of `questions` or `read_questions`.
    k : int
        Completions per problem.
    seed : int
        Of the simulated answers.
    """
    from whileai.measure.compare import compare
    from whileai.measure.eval_variance import eval_variance
    from whileai.measure.holdout_size import holdout_size
    from whileai.measure.pass_at import pass_at
    from whileai.scoring.build import rows
    from whileai.selection.select import select
    from whileai.verify.math_equal import MathEqual

    params.whole("demo", "k", k)
    if len(problems) < FEWEST:
        bound = f"at least {FEWEST} of them"
        raise ParamError.of("demo", "questions", bound, len(problems), "Fewer show nothing of an eval.")
    prompts, golds = [problem["question"] for problem in problems], [gold_of(problem) for problem in problems]

    def run_of(skill: float, number: int) -> list[dict[str, Any]]:
        completions = answers(problems, skill, k, seed * (N_RUNS + 1) + number)
        return rows(prompts, completions, MathEqual(), references=golds)

    runs = [run_of(OLD, number) for number in range(N_RUNS)]
    new = run_of(NEW, N_RUNS)
    variance = eval_variance(*runs)
    return Example(
        n_questions=len(problems),
        k=k,
        seed=seed,
        pass_at=pass_at(runs[0]),
        eval_variance=variance,
        holdout_size=holdout_size(GAIN, k=k, before=runs[0]),
        compare=compare(runs[0], new, run_std=variance.run_std, run_std_runs=N_RUNS),
        select=select(runs[0], mode="rl").report,
        _first=problems[0],
    )


def command(args: argparse.Namespace) -> int:
    """``wai demo``."""
    from whileai.cli.inputs import reading
    from whileai.cli.output import Answer, check_file, deliver

    check_file(args.output)
    params.whole("demo", "k", args.k)
    params.whole("demo", "seed", args.seed, 0)
    inputs: tuple[Reading, ...] = ()
    if args.questions is None:
        problems = questions(args.n, args.seed)
    else:
        problems = read_questions(args.questions)
        data = reading(args, "demo", "questions", [args.questions])
        data.rows()  # counts them for the envelope
        inputs = (data,)
    result = report(problems, k=args.k, seed=args.seed)
    deliver(args, Answer("demo", result, inputs, result.compare.ok, result.compare.verdict))
    return 0
