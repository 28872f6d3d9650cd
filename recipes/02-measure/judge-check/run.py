"""Is the judge fit for use? 120 labels against 600 verdicts: agreement, what moves its errors, the corrected rate.

A simulated judge that is right most of the time, lenient, and fond of long replies. The truth is known here, so the
corrected pass rate can be held against it. With a file given, its rows are checked instead; offline.
"""

from __future__ import annotations

import argparse
import random
import sys
from typing import Any

import whileai as wai

N_TASKS, N_LABELS = 600, 120
#: Chances that the judge passes: a right reply, a wrong short one, a wrong long one.
RIGHT, WRONG_SHORT, WRONG_LONG = 0.95, 0.1, 0.65
LONG = 300


def main(argv: list[str] | None = None) -> int:
    """Print the check of the biased judge, of a fair one, and the rates beside the truth."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", help="rows with the judge's reward on all and gold on some")
    parser.add_argument("--gold", default="gold_reward", help="the key of the gold")
    parser.add_argument("--labels", type=int, default=N_LABELS, help="labelled tasks in the example")
    parser.add_argument("--seed", type=int, default=0, help="of the example")
    options = parser.parse_args(argv)
    if options.data:
        print(wai.judge_trust(wai.read(options.data), gold=options.gold))
        return 0
    if not 0 <= options.labels <= N_TASKS:
        parser.error(f"--labels must be from 0 to {N_TASKS}")

    replies, truth = situation(options.seed)
    rates = []
    for name, lenient in (("a judge that likes long replies", True), ("a judge that does not", False)):
        rows = judged(replies, truth, lenient=lenient, n_labels=options.labels, seed=options.seed)
        trust: Any = wai.judge_trust(rows)
        print(f"== Can {name} be trusted?\n{trust}\n")
        verdicts = [row["reward"] for row in rows if row["reward"] is not None]
        rates.append(
            (name, sum(verdicts) / len(verdicts), trust.corrected_pass_rate, trust.intervals.get("corrected_pass_rate"))
        )

    print(f"== The pass rate, of which the truth is {sum(truth) / len(truth):.3f}")
    print("  said     corrected by the labels")
    for name, said, corrected, ends in rates:
        text = (
            "not measured" if corrected is None or ends is None else f"{corrected:.3f} [{ends[0]:.3f}..{ends[1]:.3f}]"
        )
        print(f"  {said:.3f}    {text:<22}  {name}")
    return 0


def situation(seed: int) -> tuple[list[str], list[bool]]:
    """Replies of which the wrong ones are longer as a rule, and whether each is right."""
    draw = random.Random(seed)
    truth = [draw.random() < 0.6 for _ in range(N_TASKS)]
    sizes = [draw.randint(40, 260) if right else draw.randint(120, 700) for right in truth]
    return ["word " * (size // 5) for size in sizes], truth


def judged(replies: list[str], truth: list[bool], *, lenient: bool, n_labels: int, seed: int) -> list[dict[str, Any]]:
    """Rows with the judge's verdict, and with gold on some that were picked at random: the correction needs that."""
    draw = random.Random(f"judge {seed}")
    prompts = [f"Task {place}" for place in range(N_TASKS)]

    def judge(row: dict[str, Any]) -> bool:
        place = int(row["prompt"].split()[1])
        long = len(row["final_text"]) > LONG
        chance = RIGHT if truth[place] else WRONG_LONG if lenient and long else WRONG_SHORT
        return random.Random(f"{seed} {place}").random() < chance

    rows: list[dict[str, Any]] = wai.rows(prompts, replies, judge)
    for place in draw.sample(range(N_TASKS), n_labels):
        rows[place]["gold_reward"] = int(truth[place])
    return rows


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (wai.WaiError, FileNotFoundError) as error:
        sys.exit(str(error))
