"""Building and grading rows: completions a second."""

from __future__ import annotations

import whileai as wai
from timing import best, save


def main() -> None:
    """`rows` with the two number verifiers on short completions."""
    n = 50_000
    prompts = [f"What is {i} + 1?" for i in range(n)]
    gold = [str(i + 1) for i in range(n)]
    texts = [f"The answer is {i + 1 + (i % 3 == 0)}." for i in range(n)]
    plain = [str(i + 1 + (i % 3 == 0)) for i in range(n)]
    entries = []
    for name, verifier, completions in (
        ("Numeric, plain numbers", wai.verify.Numeric(), plain),
        ("Numeric, short sentences", wai.verify.Numeric(), texts),
        ("MathEqual, plain numbers", wai.verify.MathEqual(), plain),
        ("MathEqual, short sentences", wai.verify.MathEqual(), texts),
        ("a function in children", lambda _, completion, reference: reference in completion, plain),
    ):
        seconds = best(lambda v=verifier, c=completions: wai.rows(prompts, c, v, references=gold), 3)
        entries.append({"grading": name, "rows": n, "rows a second": round(n / seconds)})
    save("rows", entries)


if __name__ == "__main__":
    main()
