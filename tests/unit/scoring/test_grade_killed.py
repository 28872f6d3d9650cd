"""Grading at size that is killed again and again, and Ctrl-C from a terminal."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import whileai as wai

N, KILLS = 20_000, 10
GRADED = """
    import hashlib, json, sys
    import whileai as wai
    ledger, out, kind, n = sys.argv[1:]
    rows = [{"task_id": i // 4, "prompt": "p", "final_text": f"It is {i % 97}.", "answer": str(i % 89)}
            for i in range(int(n))]
    def judge(prompt, completion, reference):
        return {"reward": reference in completion, "markers": {"n": len(completion)}}
    graded = wai.grade(rows, wai.verify.Numeric() if kind == "rule" else judge, resume=ledger)
    open(out, "w").write(json.dumps(graded))
"""


def expected(kind):
    rows = [
        {"task_id": i // 4, "prompt": "p", "final_text": f"It is {i % 97}.", "answer": str(i % 89)} for i in range(N)
    ]
    if kind == "rule":
        return wai.grade(rows, wai.verify.Numeric())
    more = {"judge_name": "judge", "judge_status": "ok"}
    return [
        {
            **row,
            "reward": int(row["answer"] in row["final_text"]),
            **more,
            "markers": {"n": float(len(row["final_text"]))},
        }
        for row in rows
    ]


def started(tmp_path, code, *args):
    script = tmp_path / "graded.py"
    script.write_text(textwrap.dedent(code), encoding="utf-8")
    return subprocess.Popen(
        [sys.executable, str(script), *map(str, args)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def sound(ledger):
    """The keys of the whole lines of a ledger, and how many lines are torn."""
    keys, torn = [], 0
    for line in ledger.read_bytes().splitlines():
        try:
            keys.append(json.loads(line)["key"])
        except ValueError:
            torn += 1
    return keys, torn


def wait_for(ready, seconds=60):
    deadline = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def written(file):
    """How many lines a file has."""
    return file.read_bytes().count(b"\n") if file.exists() else 0


@pytest.mark.parametrize("kind", ["rule", "function"])
def test_killed_ten_times_it_ends_as_if_it_never_was(tmp_path, kind):
    """Each kill comes once the file has a drawn number of lines, so that all fall into the middle of the work."""
    ledger, out = tmp_path / "verdicts.jsonl", tmp_path / "out.json"
    moments = sorted(random.Random(f"kills {kind}").sample(range(N // 50, N - N // 10), KILLS))
    killed = 0
    for moment in moments:
        process = started(tmp_path, GRADED, ledger, out, kind, N)
        wait_for(lambda moment=moment, process=process: written(ledger) >= moment or process.poll() is not None)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate(timeout=60)
        killed += process.returncode == -signal.SIGKILL
        keys, torn = sound(ledger)
        assert len(set(keys)) == len(keys)
        assert torn <= killed
    assert killed == KILLS
    assert len(keys) < N
    done = started(tmp_path, GRADED, ledger, out, kind, N)
    assert done.communicate(timeout=60) == ("", "")
    keys, torn = sound(ledger)
    assert (len(keys), len(set(keys))) == (N, N)
    assert torn <= KILLS
    assert json.loads(out.read_text()) == expected(kind)


SLOW = """
    import os, subprocess, sys, time
    import whileai as wai
    mark = sys.argv[2]
    def judge(row):
        if row["task_id"] >= 5:
            subprocess.run([sys.executable, "-c", "import time; time.sleep(600)", mark])
        return 1
    rows = [{"task_id": i, "final_text": "x"} for i in range(12)]
    wai.grade(rows, judge, timeout=500, resume=sys.argv[1], workers=2)
"""


def alive(mark):
    """The processes whose command line holds `mark`."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (process / "cmdline").read_bytes():
                found.append(int(process.name))
        except OSError:
            continue
    return found


def test_ctrl_c_to_the_whole_group_keeps_what_is_done_and_leaves_no_process(tmp_path):
    if not Path("/proc").is_dir():
        pytest.skip("this system has no /proc")
    ledger, mark = tmp_path / "verdicts.jsonl", f"mark-{tmp_path}"
    process = started(tmp_path, SLOW, ledger, mark)
    wait_for(lambda: ledger.exists() and ledger.read_bytes().count(b"\n") == 5 and len(alive(mark)) >= 5)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=10)
    assert process.returncode == -signal.SIGINT
    assert said.rstrip().endswith("KeyboardInterrupt")
    wait_for(lambda: not alive(mark), 10)
    keys, torn = sound(ledger)
    assert (len(keys), torn) == (5, 0)


def test_an_exception_between_two_verdicts_leaves_no_child(tmp_path):
    """Its traceback keeps every frame, and with them the generator whose end stops the children."""
    process = started(
        tmp_path,
        """
        import json, os, sys, time
        import whileai as wai
        import whileai.scoring.appending as module
        def judge(row):
            time.sleep(600 if row["task_id"] else 0)
            return 1
        def full(file, line):
            raise OSError(28, "No space left on device")
        module.write = full
        rows = [{"task_id": i, "final_text": "x"} for i in range(6)]
        try:
            wai.grade(rows, judge, timeout=500, resume=sys.argv[1])
        except OSError as error:
            try:
                os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                print(error.strerror)
        """,
        tmp_path / "verdicts.jsonl",
    )
    assert process.communicate(timeout=30) == ("No space left on device\n", "")
