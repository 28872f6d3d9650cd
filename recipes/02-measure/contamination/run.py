"""Has the model seen the eval? Find the eval's questions in what it trains on, and measure without them; offline.

Copies of 40 questions of an eval are planted among 1,000 training questions: as they are, edited, inside a longer text,
and in other words. The model has learnt them by heart. With two files given, the first is checked against the second.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from typing import Any

import whileai as wai
from whileai.cli import demo

N_TRAIN, N_EVAL, N_EACH = 1000, 200, 10
SKILL, BY_HEART = 0.0, 4.0
#: One sentence pattern of the generated questions, and the same question asked in other words.
WORDS = {
    "bakes": "takes out of the oven",
    "sells": "hands over to customers",
    "are left": "remain",
    "How many": "What number of",
    "How far": "What distance",
    "has read": "is through",
    "cycles": "rides a bicycle for",
    "saves": "puts aside",
    "adds": "contributes",
    "now": "in the end",
}


def main(argv: list[str] | None = None) -> int:
    """Print what was found, how much of what was planted that is, and what it does to the number."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="*", metavar="FILE", help="training rows, then the eval")
    parser.add_argument("--seed", type=int, default=0, help="of the example")
    options = parser.parse_args(argv)
    if len(options.data) not in (0, 2):
        parser.error("give two files, training rows and the eval, or none")
    if options.data:
        print(wai.decontaminate(wai.read(options.data[0]), wai.read(options.data[1])))
        return 0

    train, problems, planted = situation(options.seed)
    questions = [problem["question"] for problem in problems]
    clean: Any = wai.decontaminate(train, questions)
    print("== What of the eval is in the training rows?")
    print(clean.report)

    found = {hit.row for hit in clean.hits}
    kinds = Counter(kind for kind, _ in planted.values())
    hit = Counter(planted[row][0] for row in found if row in planted)
    print("\n== How much of what was planted is that?")
    for kind, n in kinds.items():
        print(f"  {kind:<18} {hit[kind]:>2} of {n}")
    print(f"  {'not planted':<18} {len(found - planted.keys()):>2} of {len(train) - len(planted):,}")

    tainted = {hit.against for hit in clean.hits}
    learnt = {place for _, place in planted.values()}
    rows = answered(problems, learnt, options.seed)
    for row in rows:
        row["metadata"] = {"in_training": "found" if int(row["task_id"]) in tainted else "not found"}
    print("\n== What does it do to the number?")
    for name, chosen in (
        ("all questions", rows),
        ("found in training", [row for row in rows if row["metadata"]["in_training"] == "found"]),
        ("not found", [row for row in rows if row["metadata"]["in_training"] == "not found"]),
    ):
        print(f"  {name:<18} {wai.pass_at(chosen, k=1).summary}")
    honest = wai.pass_at(answered(problems, set(), options.seed), k=1)
    print(f"  {'without the leak':<18} {honest.summary}")
    return 0


def situation(seed: int) -> tuple[list[dict[str, Any]], list[dict[str, str]], dict[int, tuple[str, int]]]:
    """Training rows, the eval, and what was planted: row -> (how, question of the eval)."""
    problems = demo.questions(N_TRAIN + N_EVAL, seed)
    held_out, others = problems[:N_EVAL], [problem["question"] for problem in problems[N_EVAL:]]
    draw = random.Random(seed)
    changes = {
        "as it is": lambda text: text,
        "in capitals": str.upper,
        "in a longer text": lambda text: f"Here is a problem from the workbook. {text} Show every step of your work.",
        "in other words": reworded,
    }
    places = draw.sample(range(N_EVAL), N_EACH * len(changes))
    rows = draw.sample(range(len(others)), len(places))
    planted = {}
    for turn, (row, place) in enumerate(zip(rows, places, strict=True)):
        kind = list(changes)[turn // N_EACH]
        others[row] = changes[kind](held_out[place]["question"])
        planted[row] = (kind, place)
    return [{"prompt": question} for question in others], held_out, dict(sorted(planted.items(), key=lambda i: i[1]))


def reworded(text: str) -> str:
    """A question with other words and its last sentence first, its names and numbers kept."""
    for old, new in WORDS.items():
        text = text.replace(old, new)
    sentences = text.split(". ")
    return ". ".join([sentences[-1], *sentences[:-1]])


def answered(problems: list[dict[str, str]], learnt: set[int], seed: int) -> list[dict[str, Any]]:
    """Four graded tries at each question of a model that has some of them by heart."""
    groups = demo.answers(problems, SKILL, seed=seed)
    knows = demo.answers(problems, SKILL + BY_HEART, seed=seed)
    rows: list[dict[str, Any]] = wai.rows(
        [problem["question"] for problem in problems],
        [knows[place] if place in learnt else group for place, group in enumerate(groups)],
        wai.verify.MathEqual(),
        references=[demo.gold_of(problem) for problem in problems],
        task_ids=[str(place) for place in range(len(problems))],
    )
    return rows


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (wai.WaiError, FileNotFoundError) as error:
        sys.exit(str(error))
