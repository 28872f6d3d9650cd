"""`wai` processes and the files they read."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys


def run(*args, cwd=None, env=None, text=True):
    """One `wai` process; nothing of this terminal leaks in."""
    command = [sys.executable, "-m", "whileai", *map(str, args)]
    return subprocess.run(
        command, cwd=cwd, env=clean_env(env), capture_output=True, text=text, check=False, timeout=120
    )


def clean_env(more=None):
    """The environment without what changes how `wai` prints."""
    unset = (
        *("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TERM", "WHILEAI_QUIET"),
        *("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"),
    )
    return {**{name: value for name, value in os.environ.items() if name not in unset}, **(more or {})}


def printed(result):
    """What `wai` prints where there is no terminal."""
    return f"{result.to_text(100)}\n"


def arm(passes, n=40, k=2, chars=50):
    """Rows of `n` tasks, of which the first `passes` pass every try."""
    return [
        {
            "task_id": f"q{task}",
            "prompt": f"What is {task} plus {task + 1}?",
            "final_text": str(task),
            "reward": int(task < passes),
            "markers": {"chars": chars + task % 5},
            "topic": "ab"[task % 2],
        }
        for task in range(n)
        for _ in range(k)
    ]


def mixed():
    """Rows of which every task passes once and fails once."""
    return [{**row, "reward": place % 2} for place, row in enumerate(arm(0))]


def write(path, rows):
    """A file of JSON lines, packed if its name says so."""
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    path.write_bytes(gzip.compress(lines.encode()) if path.suffix == ".gz" else lines.encode())
    return path
