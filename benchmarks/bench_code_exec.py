"""Programs a second that `CodeExec` judges through `wai.rows`: three for each problem of HumanEval, one of them wrong.

Beside it, in the same run, the same programs each in a bare ``python -I`` with no isolation at all, two at once.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ThreadPoolExecutor

import humaneval
import whileai as wai
from timing import save


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=164)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--isolation", default="auto")
    options = parser.parse_args()
    problems = humaneval.problems()[: options.problems]
    if not problems:
        print(humaneval.ABSENT)
        return
    wrong = humaneval.all_wrong(problems, options.workers)
    programs = [
        [humaneval.fenced(problem), humaneval.body(problem), mutant]
        for problem, mutant in zip(problems, wrong, strict=True)
    ]
    verifier = wai.verify.CodeExec(isolation=options.isolation)
    rows = [
        {"task_id": problem["task_id"], "prompt": problem["prompt"], "final_text": program,
         "entry_point": problem["entry_point"], "reference": problem["test"]}
        for problem, group in zip(problems, programs, strict=True)
        for program in group
    ]  # fmt: skip
    wai.grade(rows[:2], verifier, workers=options.workers)  # finds out which isolation works
    begun = time.perf_counter()
    judged = wai.grade(rows, verifier, workers=options.workers)
    seconds = time.perf_counter() - begun
    begun = time.perf_counter()
    with ThreadPoolExecutor(options.workers) as pool:
        bodies = [[humaneval.whole(problem)] * 2 + [mutant] for problem, mutant in zip(problems, wrong, strict=True)]
        pairs = [(problem, body) for problem, group in zip(problems, bodies, strict=True) for body in group]
        list(pool.map(lambda pair: humaneval.outcome(*pair), pairs))
    bare = time.perf_counter() - begun
    agree = sum(row["reward"] == expected for row, expected in zip(judged, [1, 1, 0] * len(problems), strict=True))
    save(
        "code_exec",
        [
            {
                "programs": len(rows),
                "workers": options.workers,
                "isolation": judged[0]["judge_meta"]["isolation"],
                "programs_a_second": round(len(rows) / seconds, 1),
                "bare_python_a_second": round(len(rows) / bare, 1),
                "verdicts_as_expected": agree,
            }
        ],
    )
    for row, expected in zip(judged, [1, 1, 0] * len(problems), strict=True):
        if row["reward"] != expected:
            print(row["task_id"], expected, row["reward"], row["judge_status"], row.get("reason"))


if __name__ == "__main__":
    main()
