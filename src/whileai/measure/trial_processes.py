"""Trials on several cores: processes that are started as programs and sent one cell after the other."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from whileai.errors import WaiError
from whileai.measure.trial_cells import Cell, Count
from whileai.measure.trials import count

#: Processes of a quick run: more of them would start for longer than they count.
QUICK_PROCESSES = 8


def usable_processes(*, full: bool) -> int:
    """How many processes may count at once."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return usable if full else min(usable, QUICK_PROCESSES)


def counted(cells: Sequence[Cell], seed: int, level: float, processes: int) -> Iterator[tuple[int, list[Count]]]:
    """The counts of every cell with its place, in the order in which they are done.

    Raises
    ------
    WaiError
        A process ended before its work was done.
    """
    if processes > 1 and sys.executable and not getattr(sys, "frozen", False):
        yield from _counted_apart(cells, seed, level, processes)
        return
    for place, cell in enumerate(cells):
        yield place, count(cell, seed, level)


def _counted_apart(cells: Sequence[Cell], seed: int, level: float, processes: int) -> Iterator[tuple[int, list[Count]]]:
    """The same from other processes, largest cells first; started as programs, so that no caller needs a guard."""
    todo: queue.SimpleQueue[int] = queue.SimpleQueue()
    for place in sorted(range(len(cells)), key=lambda place: -cells[place].trials * cells[place].n * cells[place].k):
        todo.put(place)
    done: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
    with tempfile.TemporaryFile() as errors:
        workers = [_worker(errors) for _ in range(processes)]
        feeds = [
            threading.Thread(target=_feed, args=(worker, cells, seed, level, todo, done), daemon=True)
            for worker in workers
        ]
        try:
            for feed in feeds:
                feed.start()
            for _ in cells:
                place, answer = done.get()
                if answer is None:
                    errors.seek(0)
                    last = errors.read().decode(errors="replace").strip().splitlines()[-1:]
                    raise WaiError(f"self_check: a process ended before its work was done. {''.join(last)}".rstrip())
                yield place, [Count(*values) for values in answer]
        finally:
            for worker, feed in zip(workers, feeds, strict=True):
                _end(worker, feed)


def _worker(errors: Any) -> subprocess.Popen[str]:
    """A process that counts the cells it is sent."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "whileai.measure.trials"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
        env={**os.environ, "PYTHONPATH": _import_path(), "PYTHONWARNINGS": "ignore"},
    )


def _import_path() -> str:
    """What this process can import, less the folder of its script.

    A file there may bear the name of a module of the standard library.
    """
    package = str(Path(__file__).resolve().parents[2])
    script = getattr(sys.modules.get("__main__"), "__file__", None)
    standard = Path(os.__file__).resolve().parent
    aside = {"", str(Path.cwd()), str(Path(script).resolve().parent) if script else ""}
    aside |= {str(standard), str(standard / "lib-dynload")}
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    added = [entry for entry in sys.path if entry not in aside and not entry.endswith(".zip")]
    return os.pathsep.join(dict.fromkeys(entry for entry in (package, *given, *added) if entry))


def _feed(
    worker: subprocess.Popen[str],
    cells: Sequence[Cell],
    seed: int,
    level: float,
    todo: queue.SimpleQueue[int],
    done: queue.SimpleQueue[tuple[int, Any]],
) -> None:
    """Give a worker one cell after the other until none is left; ``None`` says that it is gone."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    while True:
        try:
            place = todo.get_nowait()
        except queue.Empty:
            return
        try:
            worker.stdin.write(json.dumps({"cell": list(cells[place]), "seed": seed, "level": level}) + "\n")
            worker.stdin.flush()
            answer = worker.stdout.readline()
        except OSError:  # it is gone
            answer = ""
        whole = answer.endswith("\n")
        done.put((place, json.loads(answer) if whole else None))
        if not whole:
            return


def _end(worker: subprocess.Popen[str], feed: threading.Thread) -> None:
    """End a worker and the thread that feeds it, whose read then returns."""
    worker.kill()
    worker.wait()
    if feed.ident is not None:
        feed.join()
    for pipe in (worker.stdin, worker.stdout):
        with contextlib.suppress(OSError):  # what it was still to be told goes nowhere
            if pipe is not None:
                pipe.close()
