"""What the benchmarks share: the best of several runs, ratios within one run, results on disk."""

from __future__ import annotations

import gc
import json
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def best(work: Callable[[], Any], rounds: int = 5) -> float:
    """Seconds of the fastest of several runs: the least disturbed one."""
    seconds = []
    for _ in range(rounds):
        gc.collect()
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def save(name: str, entries: list[dict[str, Any]]) -> None:
    """Write ``results/<name>.json`` with the machine it was measured on, and print the entries."""
    machine = {"python": platform.python_version(), "machine": platform.machine(), "cores": os.cpu_count()}
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps({"machine": machine, "entries": entries}, indent=1) + "\n")
    for entry in entries:
        print(name, json.dumps(entry))
