"""Time and memory of `wai.decontaminate`: many training rows, one template, one long document.

Run ``python benchmarks/bench_decontaminate.py``; every text is made up from a seeded generator.
"""

from __future__ import annotations

import random
import resource
import time
from collections.abc import Callable

import whileai as wai

Case = tuple[list[dict[str, str]], list[str]]


def _text(draw: random.Random, words: int) -> str:
    """A text of words drawn so that a few are very common, as in prose."""
    return " ".join(f"w{int(30_000 ** draw.random())}" for _ in range(words))


def many_rows() -> Case:
    """100,000 training texts of 50 words beside 1,000 eval texts; one in a thousand is a copy with a word changed."""
    draw = random.Random(0)
    against = [_text(draw, 50) for _ in range(1_000)]
    rows = [{"prompt": _text(draw, 50)} for _ in range(100_000)]
    for i in range(0, 100_000, 1_000):
        words = against[i // 1_000].split()
        words[25] = "other"
        rows[i]["prompt"] = " ".join(words)
    return rows, against


def one_template() -> Case:
    """4,000 beside 4,000 prompts that differ in two numbers."""
    text = "Solve this step by step and give only the final number as the answer: what is {} plus {}?"
    return (
        [{"prompt": text.format(i, 3 * i)} for i in range(4_000)],
        [text.format(i, 5 * i + 1) for i in range(4_000)],
    )


def one_eval_text() -> Case:
    """20,000 prompts of one template beside a single one of them."""
    rows, against = one_template()
    return rows * 5, against[:1]


def long_documents() -> Case:
    """50 documents of 20,000 words, each holding an eval text, beside 1,000 eval texts."""
    draw = random.Random(1)
    against = [_text(draw, 50) for _ in range(1_000)]
    return [{"prompt": f"{_text(draw, 10_000)} {against[i]} {_text(draw, 10_000)}"} for i in range(50)], against


def main() -> None:
    """Print one line per case."""
    cases: tuple[Callable[[], Case], ...] = (many_rows, one_template, one_eval_text, long_documents)
    for case in cases:
        rows, against = case()
        start = time.perf_counter()
        kept = wai.decontaminate(rows, against)
        took = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{case.__name__:15} {took:7.2f} s  peak {peak:6.0f} MiB  {kept.report.summary}")


if __name__ == "__main__":
    main()
