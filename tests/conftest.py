"""Fixtures that tests in several rooms share."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

PROMPTS = ["Name the capital of Peru.", "Spell cat backwards.", "How many legs has a spider?", "What is 12 minus 5?"]
GOLDS = ["Lima", "tac", "8", "7"]
BEFORE = [["Lima", "Cusco", "Lima", "Lima"], ["cat", "tca", "tac", "act"], ["8"] * 4, ["7", "6", "7", "7"]]
AFTER = [["Lima"] * 4, ["tac", "tac", "tac", "cta"], ["8"] * 4, ["7"] * 4]


def rows_of(replies, **more):
    """Rows as a user would write them by hand: one per reply, right or wrong by equality."""
    return [
        {"task_id": f"q{i}", "prompt": prompt, "final_text": reply, "reward": int(reply == gold), **more}
        for i, (prompt, gold, group) in enumerate(zip(PROMPTS, GOLDS, replies, strict=True))
        for reply in group
    ]


@pytest.fixture
def before():
    """Four questions, four replies each, pass rates 3/4, 1/4, 1, 3/4."""
    return rows_of(BEFORE)


@pytest.fixture
def after():
    """The same questions with better replies."""
    return rows_of(AFTER)


@pytest.fixture
def scored():
    """A function from one list of rewards per task, and perhaps of markers, to rows."""

    def build(rewards, markers=None, **more):
        rows = []
        for i, group in enumerate(rewards):
            for j, reward in enumerate(group):
                row = {"task_id": f"t{i}", "prompt": f"Question {i}", "final_text": f"reply {j}", "reward": reward}
                if markers is not None:
                    row["markers"] = markers[i][j]
                rows.append({**row, **more})
        return rows

    return build


@pytest.fixture
def unjudged():
    """A function that gives `n` rows without a verdict, one task each."""
    return lambda n: [{"task_id": f"t{i}", "prompt": f"Question {i}", "final_text": str(i)} for i in range(n)]


@pytest.fixture
def run_script(tmp_path):
    """A function that runs a script in a fresh interpreter, in a session of its own, and returns the process ended."""

    def run(code, *, timeout=60, check=True, env=None, args=()):
        script = tmp_path / f"script_{len(list(tmp_path.iterdir()))}.py"
        script.write_text(textwrap.dedent(code), encoding="utf-8")
        process = subprocess.Popen(
            [sys.executable, str(script), *map(str, args)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **(env or {})},
            start_new_session=True,
        )
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            pytest.fail(f"the script did not end within {timeout} s")
        if check:
            assert process.returncode == 0, err
        return subprocess.CompletedProcess(script, process.returncode, out, err)

    return run


@pytest.fixture(scope="session")
def data_folder():
    """The folder of third-party data, which is no part of the repository."""
    folder = Path(os.environ.get("WHILEAI_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"no third-party data at {folder}; set WHILEAI_DATA to its folder")
    return folder
