"""From graded tries to the files that TRL trains on: nothing of the eval in them, only groups with something to learn.

Eight tries of a simulated model at 120 questions are graded; the eval is taken out, groups in the band stay, and the
files for GRPO, SFT and DPO are written. The reward that GRPO needs is at the end of this file, and runs here on what
was written; offline, without TRL.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

import whileai as wai
from whileai.cli import demo

N_QUESTIONS, N_TRIES, N_EVAL = 120, 8, 40
SKILL = 0.3
SYSTEM = "Solve the problem. End with: The answer is <number>."


def main(argv: list[str] | None = None) -> int:
    """Print what stays at each step, and what the files hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, help="folder for the files; a temporary one where not given")
    parser.add_argument("--seed", type=int, default=0, help="of the questions and of the tries")
    options = parser.parse_args(argv)
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
        return report(options.output, options.seed)
    with tempfile.TemporaryDirectory() as folder:
        return report(Path(folder), options.seed)


def report(folder: Path, seed: int) -> int:
    """All steps, the files going into `folder`."""
    rows, held_out = tries(seed)
    print("== How good is the model that trains?")
    print(wai.pass_at(rows))

    print("\n== Is the eval in it?")
    clean: Any = wai.decontaminate(rows, held_out)
    print(clean.report)

    print("\n== Which groups are worth training on?")
    kept: Any = wai.select(clean, mode="rl", band=(0.2, 0.8))
    print(kept.report)

    print("\n== What is written?")
    best = wai.select(clean, mode="sft")
    write: Any = wai.write
    written = [
        (
            "grpo.jsonl",
            write(kept, folder / "grpo.jsonl", format="trl-prompt", include_reference=True, system_prompt=SYSTEM),
        ),
        ("sft.jsonl", write(best, folder / "sft.jsonl", format="trl-messages", system_prompt=SYSTEM)),
        ("dpo.jsonl", write(kept, folder / "dpo.jsonl", format="trl-preference", system_prompt=SYSTEM)),
    ]
    for name, result in written:
        print(f"{name}: {result}")

    print("\n== Does the reward see what was written?")
    lines = wai.read(folder / "grpo.jsonl")
    replies = {row["task_id"]: row["final_text"] for row in kept if row["reward"] == 1}
    completions = [[{"role": "assistant", "content": replies[line["task_id"]]}] for line in lines]
    rewards = reward(completions, [line["reference"] for line in lines])
    wrong = reward(
        [[{"role": "assistant", "content": "I do not know."}]] * len(lines), [line["reference"] for line in lines]
    )
    print(f"{rewards.count(1)} of {len(lines)} right replies earn 1, {wrong.count(1)} of {len(lines)} empty ones do")
    return 0


def tries(seed: int) -> tuple[list[dict[str, Any]], list[str]]:
    """Graded rows of a simulated model, and the questions of an eval of which a few are among them, as happens."""
    problems = demo.questions(N_QUESTIONS + N_EVAL, seed)
    train, held_out = problems[:N_QUESTIONS], [problem["question"] for problem in problems[N_QUESTIONS:]]
    held_out[:3] = [train[7]["question"].upper(), f"Read with care. {train[31]['question']}", train[64]["question"]]
    rows = wai.rows(
        [problem["question"] for problem in train],
        demo.answers(train, SKILL, k=N_TRIES, seed=seed),
        wai.verify.MathEqual(),
        references=[demo.gold_of(problem) for problem in train],
    )
    return rows, held_out


def reward(completions: list[Any], reference: list[str], **_: Any) -> list[float | None]:
    """A reward function for TRL's GRPOTrainer, which passes the columns of the file by their names.

    A completion that could not be judged is ``None``, which the trainer leaves out, and never a 0.
    """
    texts = [completion if isinstance(completion, str) else completion[-1]["content"] for completion in completions]
    rows = wai.rows([""] * len(texts), texts, wai.verify.MathEqual(), references=reference)
    return [row["reward"] for row in rows]


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (wai.WaiError, FileNotFoundError) as error:
        sys.exit(str(error))
