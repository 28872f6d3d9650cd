"""Two lm-eval runs with a verdict: paired by document, by subject, beside what two standard errors would say; offline.

Give the two `samples_*.jsonl` that `lm_eval --log_samples` wrote. Without any, two logs of simulated models are written
in that format first, so that the recipe runs anywhere.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

import whileai as wai
from whileai.cli import demo

N_QUESTIONS = 400
#: Log-odds of a right answer where the difficulty is 0.
SKILLS = {"before": 0.2, "after": 0.8}
#: The second model is worse at this subject, by so much.
BROKEN, LOSS = "time", 1.3
#: Words of a question that tell its subject.
SUBJECTS = {"money": ("cost", "pay", "price", "dollar", "earn", "coin"), "time": ("hour", "minute", "day", "week")}


def main(argv: list[str] | None = None) -> int:
    """Print what was read, the usual comparison, the paired one, and where it comes from."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("logs", nargs="*", metavar="LOG", help="two logs: before and after")
    parser.add_argument("--filter", help="which of the log's filters, or of its metrics, is the reward")
    parser.add_argument("--by", default="metadata.subject", help="the key that slices are made of, a dotted path")
    parser.add_argument("--must-not-regress", action="append", default=[], metavar="METRIC")
    parser.add_argument(
        "--run-std", type=float, help="noise of a whole run, of wai.eval_variance on three runs or more"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the simulated logs")
    options = parser.parse_args(argv)
    if len(options.logs) not in (0, 2):
        parser.error("give two logs, before and after, or none")

    with tempfile.TemporaryDirectory() as folder:
        logs = options.logs or simulated(Path(folder), options.seed)
        chosen = options.filter or (None if options.logs else "flexible-extract")
        before, after = (wai.read(log, filter=chosen) for log in logs)
    print("== What was read")
    for name, rows in (("before", before), ("after", after)):
        report = getattr(rows, "report", None)  # plain rows have none
        print(f"{name}: {report if report is not None else f'{len(rows)} rows'}")

    print("\n== What two standard errors say")
    print(side_by_side(before, after))

    print("\n== What pairing the documents says")
    comparison: Any = wai.compare(
        before,
        after,
        by=options.by if any(holds(row, options.by) for row in before) else None,
        must_not_regress=options.must_not_regress,
        run_std=options.run_std,
    )
    print(comparison)
    return 0


def side_by_side(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> str:
    """Each run's score with its standard error, as lm-eval's table has it, and the difference in units of both."""
    lines, scores = [], []
    for name, rows in (("before", before), ("after", after)):
        rewards = [float(row["reward"]) for row in rows if row.get("reward") is not None]
        if len(rewards) < 2:
            return f"{name} has {len(rewards)} scored documents, too few for a standard error"
        mean = sum(rewards) / len(rewards)
        error = math.sqrt(sum((reward - mean) ** 2 for reward in rewards) / (len(rewards) - 1) / len(rewards))
        scores.append((mean, error))
        lines.append(f"{name:<6} {mean:.4f} +/- {error:.4f}")
    (old, old_error), (new, new_error) = scores
    both = math.hypot(old_error, new_error)
    units = "" if both == 0 else f", {abs(new - old) / both:.1f} standard errors of a difference of independent runs"
    lines.append(f"change {new - old:+.4f}{units}")
    lines.append("Both runs answered the same documents, so they are not independent. This leaves that out.")
    return "\n".join(lines)


def holds(row: dict[str, Any], path: str) -> bool:
    """Whether a row has something under a dotted path."""
    value: Any = row
    for part in path.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value is not None


def simulated(folder: Path, seed: int) -> list[Path]:
    """Two logs as lm-eval writes them, a line a document and filter: of models that fail on much the same questions."""
    problems = demo.questions(N_QUESTIONS, seed)
    paths = []
    for run, (name, skill) in enumerate(SKILLS.items()):
        replies = demo.answers(problems, skill, k=1, seed=seed)
        worse = demo.answers(problems, skill - LOSS, k=1, seed=seed)
        lines = []
        for place, problem in enumerate(problems):
            broken = name == "after" and subject(problem["question"]) == BROKEN
            reply, gold = (worse if broken else replies)[place][0], demo.gold_of(problem)
            filters = ("strict-match", "flexible-extract")
            lines += [log_line(place, problem, reply, gold, chosen) for chosen in filters]
        random.Random(seed).shuffle(lines)  # logs need not be in the same order
        path = folder / f"{name}_samples_sums_2026-03-0{run + 1}T10-00-00.000000.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        paths.append(path)
    return paths


def subject(question: str) -> str:
    """A word for what a question is about, from its words."""
    found = (name for name, words in SUBJECTS.items() if any(word in question.lower() for word in words))
    return next(found, "things")


def log_line(place: int, problem: dict[str, str], reply: str, gold: str, chosen: str) -> dict[str, Any]:
    """One line of a log: the strict filter wants the answer behind ####, the flexible one takes the last number."""
    words = reply.replace("}", " ").replace("{", " ").rstrip(". ").split()
    answer = words[-1] if chosen == "flexible-extract" or "####" in reply else "[invalid]"
    question = {"gen_args_0": {"arg_0": problem["question"], "arg_1": {"until": ["Question:"]}}}
    return {
        "doc_id": place,
        "doc": {"question": problem["question"], "answer": gold, "subject": subject(problem["question"])},
        "target": gold,
        "arguments": question,
        "resps": [[reply]],
        "filtered_resps": [answer],
        "filter": chosen,
        "metrics": ["exact_match"],
        "exact_match": float(answer == gold),
    }


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (wai.WaiError, FileNotFoundError) as error:
        sys.exit(str(error))
