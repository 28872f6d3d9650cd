"""Grading: rows a second of each verifier, and `MathEqual` on LaTeX beside math-verify called directly."""

from __future__ import annotations

from typing import Any

import whileai as wai
from bench_math_equal import latex, of_math_verify, of_ours
from timing import best, save

ROWS = 50_000
PROGRAMS = 100
WORKERS = 2
LATEX = 600


def row(i: int, text: str, gold: str) -> dict[str, Any]:
    return {"task_id": f"t{i}", "prompt": f"Question {i}?", "final_text": text, "answer": gold}


def short(n: int) -> list[dict[str, Any]]:
    """Short sentences that end in a number, a third of them wrong."""
    return [row(i, f"The answer is {i + (i % 3 == 0)}.", str(i)) for i in range(n)]


def letters(n: int) -> list[dict[str, Any]]:
    return [row(i, f"The answer is ({'ABCD'[i % 4]}).", "ABCD"[i % 3]) for i in range(n)]


def objects(n: int) -> list[dict[str, Any]]:
    return [row(i, f'{{"answer": {i}, "ok": true}}', str(i)) for i in range(n)]


def programs(n: int) -> list[dict[str, Any]]:
    return [row(i, f"def add(a, b):\n    return a + b + {i % 2}", "assert add(2, 3) == 5") for i in range(n)]


def function(_: str, completion: str, reference: str) -> bool:
    return reference in completion


def main() -> None:
    """Every verifier on rows of its kind, then the comparison."""
    verify = wai.verify
    sentences, choices, values = short(ROWS), letters(ROWS), objects(ROWS)
    loads = [
        ("ExactMatch", verify.ExactMatch(), sentences),
        ("Includes", verify.Includes(), sentences),
        ("MultipleChoice", verify.MultipleChoice(), choices),
        ("Numeric", verify.Numeric(), sentences),
        ("MathEqual", verify.MathEqual(), sentences),
        ("JSONValid", verify.JSONValid(), values),
        ("JSONField", verify.JSONField("answer"), values),
        ("JSONSchema", verify.JSONSchema({"type": "object", "required": ["answer"]}), values),
        ("Regex", verify.Regex(r"answer is (\d+)", group=1), sentences),
        ("All(ExactMatch, Numeric)", verify.All([verify.ExactMatch(), verify.Numeric()]), sentences),
        ("a function", function, sentences),
        ("CodeExec", verify.CodeExec(), programs(PROGRAMS)),
    ]
    entries: list[dict[str, Any]] = []
    for name, judge, rows in loads:
        seconds = best(lambda j=judge, r=rows: wai.grade(r, j), 1 if name == "CodeExec" else 2)
        entries.append({"grading": name, "rows": len(rows), "rows a second": round(len(rows) / seconds)})
    pairs = latex(LATEX)
    ours, theirs = of_ours(pairs, WORKERS), of_math_verify(pairs, WORKERS)
    entries.append({"grading": "MathEqual, LaTeX, 2 workers", "rows": LATEX, "rows a second": round(ours)})
    direct = {"grading": "math-verify called directly, 2 processes", "rows": LATEX, "rows a second": round(theirs)}
    entries.append({**direct, "MathEqual is faster by": round(ours / theirs, 1)})
    save("grade", entries)


if __name__ == "__main__":
    main()
