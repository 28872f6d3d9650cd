"""Time and memory of `wai.decontaminate`: many rows of prose, of templates, long documents, and twice as many of each.

Run ``python benchmarks/bench_decontaminate.py`` (some minutes), or with ``--full`` for 1,000,000 rows of prose as well.
Every text is made up from a seeded generator, and every case runs in a process of its own. Beside the seconds on the
clock stand those of the processor, which other work on the machine moves less; the ratios are of these.
"""

from __future__ import annotations

import random
import resource
import subprocess
import sys
import time

import whileai as wai

Case = tuple[list[dict[str, str]], list[str]]
SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "el", "ir")]


def _word(number: int) -> str:
    """A word for every number, the common ones short."""
    parts = []
    while number >= 0:
        number, place = divmod(number, len(SYLLABLES))
        parts.append(SYLLABLES[place])
        number -= 1
    return "".join(parts)


WORDS = [_word(number) for number in range(30_000)]


def _text(draw: random.Random, words: int) -> str:
    """A text of words drawn so that a few are very common, as in prose, with some numbers and stops."""
    drawn = [WORDS[int(30_000 ** draw.random())] for _ in range(words)]
    for place in range(7, words, 9):
        drawn[place] = f"{drawn[place]},"
    for place in range(4, words, 17):
        drawn[place] = str(draw.randrange(100))
    return f"{' '.join(drawn)}."


def prose(n_rows: int) -> Case:
    """Texts of 45 words beside 10,000 eval texts; one in a thousand is an eval text with three words changed."""
    draw = random.Random(0)
    against = [_text(draw, 45) for _ in range(10_000)]
    rows = [{"prompt": _text(draw, 45)} for _ in range(n_rows)]
    for i in range(0, n_rows, 1_000):
        words = against[i // 1_000 % 10_000].split()
        words[12] = words[26] = words[40] = "other"
        rows[i]["prompt"] = " ".join(words)
    return rows, against


def numbers_in_a_template(n_rows: int) -> Case:
    """Prompts that differ in two numbers, beside 4,000."""
    text = "Solve this step by step and give only the final number as the answer: what is {} plus {}?"
    rows = [{"prompt": text.format(i, 3 * i)} for i in range(n_rows)]
    return rows, [text.format(i, 5 * i + 1) for i in range(4_000)]


def words_in_a_template(n_rows: int) -> Case:
    """Prompts that differ in four words of 300, beside 10,000: every slot is on many eval texts, none on too many."""
    draw = random.Random(2)
    text = "You are a careful writer, so keep to simple words: one paragraph about {} and {} at the {} of {} people."

    def prompt() -> str:
        return text.format(*(WORDS[2_000 + draw.randrange(300)] for _ in range(4)))

    return [{"prompt": prompt()} for _ in range(n_rows)], [prompt() for _ in range(10_000)]


def one_eval_text(n_rows: int) -> Case:
    """Prompts of one template beside a single one of them."""
    rows, against = numbers_in_a_template(n_rows)
    return rows, against[:1]


def long_documents(n_rows: int) -> Case:
    """Documents of 20,000 words, each holding an eval text, beside 1,000 eval texts."""
    draw = random.Random(1)
    against = [_text(draw, 50) for _ in range(1_000)]
    rows = [{"prompt": f"{_text(draw, 10_000)} {against[i]} {_text(draw, 10_000)}"} for i in range(n_rows)]
    return rows, against


CASES = {case.__name__: case for case in (prose, numbers_in_a_template, words_in_a_template, one_eval_text)}
CASES["long_documents"] = long_documents
SIZES = {"prose": 100_000, "numbers_in_a_template": 50_000, "words_in_a_template": 100_000, "one_eval_text": 50_000}
SIZES["long_documents"] = 50


def measure(name: str, n_rows: int, *, reworded: bool) -> float:
    """The seconds of the processor that one case takes, with one line about it."""
    rows, against = CASES[name](n_rows)
    start, start_cpu = time.perf_counter(), time.process_time()
    kept = wai.decontaminate(rows, against, reworded=reworded)
    took, cpu = time.perf_counter() - start, time.process_time() - start_cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    tiers = "all rules" if reworded else "without rewordings"
    spent = f"{took:6.1f} s ({cpu:.1f} of the processor)  peak {peak:5.0f} MiB"
    print(f"{name:22} {n_rows:9,} rows {tiers:18} {spent}  {kept.report.n_dropped:,} dropped")
    return cpu


def apart(name: str, n_rows: int, *, reworded: bool) -> float:
    """`measure` in a process of its own, so that its peak is its own."""
    command = [sys.executable, __file__, name, str(n_rows), str(int(reworded))]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    line, _, took = done.stdout.rstrip().rpartition("\n")
    print(line, flush=True)
    return float(took)


def main() -> None:
    """Print a line per case and size, and the ratio of twice the rows."""
    if len(sys.argv) == 4:
        print(measure(sys.argv[1], int(sys.argv[2]), reworded=sys.argv[3] == "1"))
        return
    for name, size in SIZES.items():
        for reworded in (False, True):
            once, twice = (apart(name, n_rows, reworded=reworded) for n_rows in (size, 2 * size))
            print(f"{'':22} twice the rows: {twice / once:.2f} times the seconds")
    if "--full" in sys.argv:
        for reworded in (False, True):
            apart("prose", 1_000_000, reworded=reworded)


if __name__ == "__main__":
    main()
