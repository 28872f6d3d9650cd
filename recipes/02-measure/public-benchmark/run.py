"""A public benchmark from questions to a verdict, offline, in seconds.

Two hundred GSM8K test questions, the answers of two arms, `MathEqual`, three eval passes, the noise floor, the size of
the set, the groups worth training on, and whether the change is real.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import whileai as wai
from whileai.cli import demo

N_QUESTIONS = 200
DATA = Path(__file__).resolve().parents[4] / "shared" / "data" / "gsm8k"
HUB_DATASET = ("openai/gsm8k", "main")
ARMS = ("175b_finetuning", "6b_verification")


def main(argv: list[str] | None = None) -> int:
    """Print the report of the simulated arms, and of the real ones where their solutions are there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=Path, help="a file in GSM8K's format: one {question, answer} a line")
    parser.add_argument("--data", type=Path, default=DATA, help="folder with test.jsonl and model_solutions.jsonl")
    parser.add_argument("--seed", type=int, default=0, help="of the generated questions and the simulated answers")
    options = parser.parse_args(argv)

    problems, source = load_questions(options)
    print(f"questions: {source}\n")
    print(demo.report(problems[:N_QUESTIONS], seed=options.seed))

    solutions = options.data / "model_solutions.jsonl"
    if solutions.is_file():
        print("\n" + real_models(solutions))
    return 0


def load_questions(options: argparse.Namespace) -> tuple[list[dict[str, str]], str]:
    """The first of: a named file, the data folder, the hub, the generator; and which it was."""
    if options.questions is not None:
        return demo.read_questions(options.questions), f"{options.questions}"
    local = options.data / "test.jsonl"
    if local.is_file():
        return demo.read_questions(local), f"the GSM8K test split in {os.path.relpath(local)}"
    loaded, why_not = from_hub()
    if loaded:
        return loaded, f"the GSM8K test split from the Hugging Face hub ({HUB_DATASET[0]})"
    made = demo.questions(N_QUESTIONS, options.seed)
    return made, f"generated in GSM8K's format, seed {options.seed} (the hub was not used: {why_not})"


def from_hub() -> tuple[list[dict[str, str]], str]:
    """GSM8K's test split through `datasets`; empty with the reason where that cannot be."""
    try:
        import datasets
        from huggingface_hub import constants
    except ImportError:
        return [], "the package datasets is not installed"
    host = urlsplit(constants.ENDPOINT).hostname
    try:  # the client itself would ask an unreachable hub again and again for half a minute
        socket.create_connection((host, 443), timeout=3).close()
    except OSError:
        return [], "it cannot be reached"
    datasets.disable_progress_bars()
    try:
        split = datasets.load_dataset(*HUB_DATASET, split="test")
    except (OSError, ValueError, RuntimeError) as error:
        return [], f"{type(error).__name__}: {error}"
    with tempfile.TemporaryDirectory() as folder:  # through the same reader and its checks as any file
        path = Path(folder) / "test.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in split), encoding="utf-8")
        return demo.read_questions(path), ""


def real_models(path: Path) -> str:
    """Two real models on all test questions, graded here and checked against the publishers' verdicts."""
    entries = wai.read(path)
    gold = [entry["ground_truth"].rpartition("A:")[2].strip() for entry in entries]
    graded, lines = {}, ["== Real models on the whole test split"]
    for arm in ARMS:
        texts = [entry[arm]["solution"] for entry in entries]
        lengths = [{"chars": len(text)} for text in texts]
        questions = [entry["question"] for entry in entries]
        rows = wai.rows(questions, texts, wai.verify.MathEqual(), references=gold, markers=lengths)
        agree = sum(row["reward"] == int(entry[arm]["is_correct"]) for row, entry in zip(rows, entries, strict=True))
        lines += [f"{arm}: {agree:,} of {len(rows):,} verdicts equal the publishers'", f"  {wai.pass_at(rows).summary}"]
        graded[arm] = rows
    comparison: Any = wai.compare(graded[ARMS[0]], graded[ARMS[1]], lower_is_better=["marker:chars"])
    return "\n".join([*lines, "", f"{ARMS[0]} -> {ARMS[1]}", str(comparison)])


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (wai.WaiError, FileNotFoundError) as error:
        sys.exit(str(error))
