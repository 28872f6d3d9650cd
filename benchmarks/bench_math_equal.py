"""Verdicts a second of `MathEqual` beside math-verify called directly, in one run.

Three loads: plain numbers, GSM8K-like sentences, and LaTeX that no plain arithmetic settles. The last is also given to
`math_verify.parse` and `math_verify.verify` in as many processes as `MathEqual` has workers; the ratio is printed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections.abc import Callable

from whileai.verify.math_equal import MathEqual

Pair = tuple[str, str]


def plain(count: int) -> list[Pair]:
    return [(str(n % 7), str(n % 5)) for n in range(count)]


def sentences(count: int) -> list[Pair]:
    return [
        (f"Then {n} - {n // 2} = {n - n // 2}.\nThe answer is ${n - n // 2:,}.", str(n - n // 2)) for n in range(count)
    ]


def latex(count: int) -> list[Pair]:
    kinds: list[Callable[[int], Pair]] = [
        lambda n: (f"so \\boxed{{\\frac{{\\sqrt{{{n}}}}}{{{n}}}}}", f"\\frac{{1}}{{\\sqrt{{{n}}}}}"),
        lambda n: (f"$\\sqrt{{{n}}}+\\pi$", f"\\pi+{n}^{{1/2}}"),
        lambda n: (f"$e^{{{n}x}}$", f"\\left(e^x\\right)^{{{n + n % 2}}}"),
        lambda n: (f"$(x+\\sqrt{{{n}}})^2$", f"x^2+2\\sqrt{{{n}}}x+{n}"),
        lambda n: (f"$\\left(\\frac{{\\pi}}{{{n}}}, \\infty\\right)$", f"(\\frac{{2\\pi}}{{{2 * n}}},\\infty)"),
        lambda n: (f"$\\sin^2 {n}x$", f"1-\\cos^2({n}x)"),
    ]
    return [kinds[n % len(kinds)](n + 2) for n in range(count)]


def of_ours(pairs: list[Pair], workers: int) -> float:
    rows = [{"final_text": candidate, "reference": gold} for candidate, gold in pairs]
    list(MathEqual().score_all(rows[:8], timeout=30, workers=workers))  # start the workers
    begun = time.perf_counter()
    for _ in MathEqual().score_all(rows, timeout=30, workers=workers):
        pass
    return len(rows) / (time.perf_counter() - begun)


def _direct(pair: Pair) -> bool:
    import math_verify

    candidate, gold = pair
    parsed = math_verify.parse(f"${gold}$", parsing_timeout=None), math_verify.parse(candidate, parsing_timeout=None)
    return bool(math_verify.verify(gold=parsed[0], target=parsed[1], timeout_seconds=None))


def of_math_verify(pairs: list[Pair], workers: int) -> float:
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        pool.map(_direct, pairs[: 8 * workers], chunksize=8)
        begun = time.perf_counter()
        pool.map(_direct, pairs, chunksize=8)
        return len(pairs) / (time.perf_counter() - begun)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--latex", type=int, default=600)
    parser.add_argument("--plain", type=int, default=100_000)
    options = parser.parse_args()
    print(f"plain numbers   {of_ours(plain(options.plain), options.workers):12,.0f} verdicts/s")
    print(f"sentences       {of_ours(sentences(options.plain // 4), options.workers):12,.0f} verdicts/s")
    ours, theirs = (measure(latex(options.latex), options.workers) for measure in (of_ours, of_math_verify))
    print(f"LaTeX           {ours:12,.0f} verdicts/s in {options.workers} workers")
    print(f"  math-verify   {theirs:12,.0f} verdicts/s in {options.workers} processes")
    print(f"  ratio         {ours / theirs:12.2f}")


if __name__ == "__main__":
    main()
