"""Time and memory of reading and of each call, from a thousand rows to ten million, each in a process of its own.

``seconds`` and ``peak MB`` are those of the whole process, Python's start and all imports included; ``call seconds``
is the time inside the call, and ``twice the rows`` that time over the time at half the size. The floor of Parquet is
DuckDB's own GROUP BY of the same file in a bare process.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from timing import save

SIZES = (1_000, 100_000, 500_000, 1_000_000)
K = 8
CONTAINERS = ("dicts", "jsonl", "parquet")
CALLS = ("pass_at", "compare", "eval_variance", "holdout_size", "select", "decontaminate")
#: Calls that hold every row with its texts are measured up to here, to keep the whole within minutes.
MOST = {"select": 500_000, "decontaminate": 100_000}
LARGEST = 10_000_000
FLOOR = "select task_id, count(*), sum(reward) from '{}' group by 1"


def write_jsonl(path: Path, n: int, seed: int) -> None:
    """Rows as a run writes them, some 460 bytes each."""
    import random

    draw = random.Random(seed)
    words = [f"word{i}" for i in range(500)]
    texts = [" ".join(draw.choices(words, k=5)) for _ in range(1_000)]
    with path.open("w") as file:
        for i in range(n):
            task, prompt = f"task_{i // K:012x}", f"Question {i // K}: {texts[i // K % 1_000]}"
            row = {
                "schema_version": "1", "task_id": task, "scenario_id": task, "prompt": prompt,
                "messages": [{"role": "user", "content": prompt}], "steps": [],
                "final_text": f"There are {i % 97} left. {texts[i % 997]}", "rollout_index": i % K,
                "reward": int(draw.random() < (i // K % 100) / 100), "judge_name": "Numeric", "judge_status": "ok",
                "markers": {"chars": float(draw.randint(10, 400)), "score": draw.random()},
            }  # fmt: skip
            file.write(json.dumps(row) + "\n")


def write_parquet(path: Path, n: int, seed: int, k: int = K) -> None:
    """The same columns, made by DuckDB."""
    import duckdb

    duckdb.execute("SET enable_progress_bar = false")
    duckdb.execute(
        f"""COPY (SELECT 'task_' || lpad((i // {k})::VARCHAR, 12, '0') AS task_id,
            'Question ' || (i // {k}) || ': how many are left after ' || (i // {k} % 97) || ' are gone?' AS prompt,
            'There are ' || (hash(i) % 100) || ' left.' AS final_text,
            (hash(i * 7 + {seed}) % 100 < (i // {k}) % 100)::INT AS reward,
            {{'chars': (hash(i) % 400)::DOUBLE, 'score': (hash(i * 3 + {seed}) % 100000) / 100000.0}} AS markers
            FROM range({n}) t(i)) TO '{path}' (FORMAT parquet)"""
    )


def work(call: str, runs: list[Any]) -> Callable[[], Any]:
    """The call on its data."""
    import whileai as wai

    against = [f"Question {i}: how many are left of the eval set number {i % 89}?" for i in range(1_000)]
    return {
        "pass_at": lambda: wai.pass_at(runs[0]),
        "compare": lambda: wai.compare(runs[0], runs[1]),
        "eval_variance": lambda: wai.eval_variance(*runs),
        "holdout_size": lambda: wai.holdout_size(0.02, before=runs[0], after=runs[1]),
        "select": lambda: wai.select(runs[0], mode="rl"),
        "decontaminate": lambda: wai.decontaminate(runs[0], against),
    }[call]


def child(call: str, container: str, paths: list[str]) -> None:
    """One call in this process; the time inside it goes to stdout."""
    if call == "floor":
        import duckdb

        start = time.perf_counter()
        duckdb.sql(FLOOR.format(paths[0])).fetchnumpy()
    else:
        runs: list[Any] = list(paths)
        if container == "dicts":
            runs = [[json.loads(line) for line in Path(path).read_bytes().splitlines()] for path in paths]
        job = work(call, runs)
        start = time.perf_counter()
        job()
    print(time.perf_counter() - start)


def measure(call: str, container: str, paths: list[Path], rounds: int) -> dict[str, Any]:
    """The best of several processes: seconds of the process and of the call, and the peak of its memory."""
    best: dict[str, Any] = {}
    for _ in range(rounds):
        start = time.perf_counter()
        words = [sys.executable, __file__, "--child", call, container, *map(str, paths)]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        inside = float(process.stdout.read())
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        seconds = time.perf_counter() - start
        if not best or inside < best["call"]:
            best = {"seconds": seconds, "call": inside, "peak MB": usage.ru_maxrss // 1024}
    return best


def entry(call: str, container: str, n: int, found: dict[str, Any], half: dict[str, Any] | None) -> dict[str, Any]:
    ratio = round(found["call"] / half["call"], 2) if half else ""
    return {
        "call": call, "from": container, "rows": n, "seconds": round(found["seconds"], 2),
        "call seconds": round(found["call"], 3), "peak MB": found["peak MB"], "twice the rows": ratio,
    }  # fmt: skip


def main() -> None:
    """Every call at every size, then ten million rows of Parquet beside the floor."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--child", nargs="+")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--largest", type=int, default=LARGEST)
    options = parser.parse_args()
    if options.child:
        call, container, *paths = options.child
        child(call, container, paths)
        return
    entries = []
    with tempfile.TemporaryDirectory() as folder:
        for container in CONTAINERS:
            writer, suffix = (write_parquet, "parquet") if container == "parquet" else (write_jsonl, "jsonl")
            last: dict[str, tuple[int, dict[str, Any]]] = {}
            for n in options.sizes:
                paths = [Path(folder) / f"{n}-{seed}.{suffix}" for seed in (1, 2, 3)]
                for seed, path in enumerate(paths):
                    if not path.exists():
                        writer(path, n, seed)
                for call in CALLS:
                    if n > MOST.get(call, n):
                        continue
                    needed = {"compare": 2, "holdout_size": 2, "eval_variance": 3}.get(call, 1)
                    if container == "dicts" and n * needed > 1_000_000:
                        continue  # three million dicts say nothing new and take their memory
                    found = measure(call, container, paths[:needed], 2 if n < 500_000 else 1)
                    size, before = last.get(call, (0, None))
                    entries.append(entry(call, container, n, found, before if 2 * size == n else None))
                    last[call] = (n, found)
        for path in Path(folder).iterdir():
            path.unlink()
        large = Path(folder) / "large.parquet"
        write_parquet(large, options.largest, 1, k=10)
        for call in ("floor", "pass_at"):
            found = measure(call, "parquet", [large], 2)
            name = "bare DuckDB GROUP BY" if call == "floor" else call
            entries.append(entry(name, "parquet", options.largest, found, None))
    save("sizes", entries)
    ratios = [float(found["twice the rows"]) for found in entries if found["twice the rows"] != ""]
    print(f"twice the rows take at most {max(ratios, default=0):.2f} times the time")


if __name__ == "__main__":
    main()
