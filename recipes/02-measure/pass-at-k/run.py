"""pass@k of code that really runs: eight candidates a problem, in a sandbox, and what more tries would buy; offline.

Six small programming problems. Each candidate is one of a few written solutions, right ones and wrong ones, drawn with
a chance that depends on the problem, so that no model is needed. With a file given, its rows are measured instead.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import whileai as wai


class Problem(NamedTuple):
    """What is asked, its tests, a right solution and two wrong ones, and the chance of the right one."""

    prompt: str
    tests: str
    right: str
    wrong: tuple[str, str]
    chance: float


PROBLEMS = [
    Problem(
        "Write leap(year), True for leap years of the Gregorian calendar.",
        tests="""
def check(leap):
    assert leap(2024) and leap(2000)
    assert not leap(1900) and not leap(2023)
""",
        right="""
def leap(year):
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
""",
        wrong=(
            """
def leap(year):
    return year % 4 == 0
""",
            """
def leap(year):
    return year % 4 == 0 and year % 100 != 0
""",
        ),
        chance=0.6,
    ),
    Problem(
        "Write flatten(items), a list without any nested list.",
        tests="""
def check(flatten):
    assert flatten([1, [2, [3, []]], 4]) == [1, 2, 3, 4]
    assert flatten([]) == []
""",
        right="""
def flatten(items):
    out = []
    for item in items:
        out += flatten(item) if isinstance(item, list) else [item]
    return out
""",
        wrong=(
            """
def flatten(items):
    return sum(items, [])
""",
            """
def flatten(items):
    return [x for y in items for x in y]
""",
        ),
        chance=0.5,
    ),
    Problem(
        "Write rotate(text, n), the text turned n places to the left.",
        tests="""
def check(rotate):
    assert rotate('abcd', 1) == 'bcda'
    assert rotate('abcd', 5) == 'bcda'
    assert rotate('', 3) == ''
""",
        right="""
def rotate(text, n):
    n = n % len(text) if text else 0
    return text[n:] + text[:n]
""",
        wrong=(
            """
def rotate(text, n):
    return text[n:] + text[:n]
""",
            """
def rotate(text, n):
    return text[-n:] + text[:-n]
""",
        ),
        chance=0.4,
    ),
    Problem(
        "Write is_prime(n).",
        tests="""
def check(is_prime):
    found = [n for n in range(-2, 30) if is_prime(n)]
    assert found == [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]
""",
        right="""
def is_prime(n):
    return n > 1 and all(n % d for d in range(2, int(n ** 0.5) + 1))
""",
        wrong=(
            """
def is_prime(n):
    return all(n % d for d in range(2, n))
""",
            """
def is_prime(n):
    return n % 2 == 1
""",
        ),
        chance=0.9,
    ),
    Problem(
        "Write roman(n), a number below 4000 in Roman numerals.",
        tests="""
def check(roman):
    assert roman(4) == 'IV' and roman(1994) == 'MCMXCIV' and roman(3999) == 'MMMCMXCIX'
""",
        right="""
def roman(n):
    signs = 'M CM D CD C XC L XL X IX V IV I'.split()
    values = [1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1]
    out = ''
    for sign, value in zip(signs, values):
        out += sign * (n // value)
        n %= value
    return out
""",
        wrong=(
            """
def roman(n):
    return 'I' * n
""",
            """
import os
os._exit(0)  # not an answer, and not a pass either
""",
        ),
        chance=0.15,
    ),
    Problem(
        "Write collatz(n), the number of steps to 1.",
        tests="""
def check(collatz):
    assert collatz(1) == 0 and collatz(6) == 8 and collatz(27) == 111
""",
        right="""
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps
""",
        wrong=(
            """
def collatz(n):
    return 0 if n == 1 else collatz(n // 2) + 1
""",
            """
def collatz(n):
    return n
""",
        ),
        chance=0.75,
    ),
]
KS = (1, 2, 4, 8, 16, 32, 64)


def main(argv: list[str] | None = None) -> int:
    """Print pass@k for every k that the rows allow, and the tasks behind it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", help="a file, glob or folder of rows or logs, several completions a task")
    parser.add_argument("-n", type=int, default=8, help="candidates a problem in the example")
    parser.add_argument("--seed", type=int, default=0, help="of the candidates drawn in the example")
    options = parser.parse_args(argv)
    if options.n < 1:
        parser.error("-n must be 1 or more")

    rows = wai.read(options.data) if options.data else example(options.n, options.seed)
    result = wai.pass_at(rows)
    print("== How good is one try, and how good are k?")
    print(result)
    if result.pass_at_k is None:
        return 0
    print("\n== What do more tries buy?")
    print("  k  pass@k  95% interval   pass^k  95% interval")
    for k in sorted({*(k for k in KS if k < result.k), result.k}):
        print(line(wai.pass_at(rows, k=k)))
    if result.per_task and len(result.per_task) <= 20:
        print("\n== Which tasks?")
        for task, rate in sorted(result.per_task.items(), key=lambda item: (item[1], item[0])):
            print(f"  {rate:.2f}  {task}")
    if not options.data and result.k > 1:
        print(f"\n== Why not from the pass rate alone?\n{bias(rows, max(2, result.k // 2))}")
    return 0


def example(n: int, seed: int) -> list[dict[str, Any]]:
    """Rows of the six problems, graded by running every candidate against the tests."""
    draw = random.Random(seed)
    completions = [
        [(p.right if draw.random() < p.chance else draw.choice(p.wrong)).strip() for _ in range(n)] for p in PROBLEMS
    ]
    prompts, tests = [p.prompt for p in PROBLEMS], [p.tests for p in PROBLEMS]
    names = [prompt.split()[1].partition("(")[0] for prompt in prompts]
    rows: list[dict[str, Any]] = wai.rows(prompts, completions, wai.verify.CodeExec(), references=tests, task_ids=names)
    failed = next((row for row in rows if row["judge_status"] == "error"), None)
    if failed is not None:  # without a sandbox nothing was measured, and nothing below would be true
        raise SystemExit(f"the candidates could not be run: {failed['reason']}")
    level = rows[0]["judge_meta"]["isolation"]
    print(f"{len(PROBLEMS)} problems, {n} candidates each, run under {level}\n")
    return rows


def line(result: Any) -> str:
    """One row of the table over k."""
    cells = []
    for name in ("pass_at_k", "pass_pow_k"):
        low, high = result.intervals[name]
        cells.append(f"{getattr(result, name):.2f}  [{low:.2f}..{high:.2f}]")
    return f"{result.k:>3}    {cells[0]}     {cells[1]}"


def bias(rows: Sequence[dict[str, Any]], k: int) -> str:
    """What pass@k would be from each task's pass rate, beside what it is over all subsets of its tries."""
    groups: dict[str, list[int]] = {}
    for row in rows:
        groups.setdefault(row["task_id"], []).append(int(row["reward"] == 1))
    pairs = [(len(group), sum(group)) for group in groups.values()]
    powers = [1 - (1 - c / n) ** k for n, c in pairs]
    subsets = [1 - math.comb(n - c, k) / math.comb(n, k) for n, c in pairs]
    return (
        f"pass@{k} over all subsets of the tries is {sum(subsets) / len(subsets):.3f}. 1 - (1 - rate)^{k} would give "
        f"{sum(powers) / len(powers):.3f}:\nit draws the same try twice, so it is never higher, and too low on average."
    )


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (wai.WaiError, FileNotFoundError) as error:
        sys.exit(str(error))
