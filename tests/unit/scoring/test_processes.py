"""Children of a judged call, seen from outside: what they print, what is left of them, Ctrl-C and kill -9."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

COUNTING = """
    import os, sys, time
    import whileai as wai
    ledger, log = sys.argv[1], sys.argv[2]
    def judge(row):
        with open(log, "a") as file:
            file.write(row["task_id"] + "\\n")
        time.sleep(float(os.environ["PAUSE"]))
        return {"reward": int(row["task_id"]) % 2, "reason": "é"}
    rows = [{"task_id": str(i), "prompt": "p", "final_text": str(i)} for i in range(40)]
    graded = wai.grade(rows, judge, resume=ledger, workers=2)
    print([row["reward"] for row in graded] == [i % 2 for i in range(40)])
"""


def alive(mark):
    """Processes whose command line holds `mark`."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (process / "cmdline").read_bytes():
                found.append(int(process.name))
        except OSError:
            continue
    return found


def ends(mark):
    """Wait until no process bears `mark`, up to ten seconds."""
    deadline = time.monotonic() + 10
    while alive(mark) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not alive(mark)


def started(tmp_path, code, *args, **env):
    script = tmp_path / "graded.py"
    script.write_text(textwrap.dedent(code), encoding="utf-8")
    return script, subprocess.Popen(
        [sys.executable, script, *map(str, args)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **env},
    )


def wait_for(ready):
    deadline = time.monotonic() + 30
    while not ready():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_stopped_in_the_middle_then_resumed(tmp_path, run_script, how):
    ledger, log = tmp_path / "verdicts.jsonl", tmp_path / "log"
    script, process = started(tmp_path, COUNTING, ledger, log, PAUSE="0.05")
    wait_for(lambda: ledger.exists() and ledger.read_bytes().count(b"\n") >= 5)
    process.send_signal(how)
    process.communicate(timeout=20)
    assert process.returncode != 0
    assert ends(str(script))
    saved = ledger.read_bytes().count(b"\n")
    assert 5 <= saved < 40
    asked = len(log.read_text().split())
    out = run_script(COUNTING, args=(ledger, log), env={"PAUSE": "0"}).stdout
    assert out == "True\n"
    assert len(log.read_text().split()) - asked == 40 - saved


def test_output_of_a_judge_appears_once(run_script):
    done = run_script("""
        import sys
        import whileai as wai
        print("before", end="")
        sys.stderr.write("")
        def judge(row):
            sys.stdout.write(f"judge {row['task_id']}" + chr(10))
            return 1
        wai.grade([{"task_id": i, "final_text": "x"} for i in range(4)], judge)
        print("after")
    """)
    assert sorted(done.stdout.replace("before", "before\n").split("\n")) == sorted(
        ["before", *(f"judge {i}" for i in range(4)), "after", ""]
    )
    assert done.stderr == ""


def test_a_stuck_judge_does_not_block_the_exit(tmp_path, run_script):
    done = run_script("""
        import subprocess, sys, time
        import whileai as wai
        def judge(row):
            subprocess.run([sys.executable, "-c", f"import time; time.sleep(600)  # {sys.argv[0]}"])
        print(wai.grade([{"task_id": 1, "final_text": "x"}], judge, timeout=1)[0]["judge_status"])
    """)
    assert done.stdout == "timeout\n"
    assert ends(str(done.args))


def test_an_exception_while_rows_are_judged_leaves_no_child(tmp_path, run_script):
    done = run_script("""
        import os, signal, threading, time
        import whileai as wai
        threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            wai.grade([{"task_id": i, "final_text": "x"} for i in range(8)], lambda row: time.sleep(600), timeout=500)
        except KeyboardInterrupt:
            try:
                os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                print("no child")
    """)
    assert done.stdout == "no child\n"


def test_a_broken_judge_prints_no_traceback(run_script):
    done = run_script("""
        import os, sys
        import whileai as wai
        def judge(row):
            sys.stdout.close()
            os.closerange(3, 100)
            return 1
        print([row["judge_status"] for row in wai.grade([{"task_id": i, "final_text": "x"} for i in range(3)], judge)])
    """)
    assert done.stdout == "['error', 'error', 'error']\n"
    assert done.stderr == ""


def test_progress_line_is_quiet_off_a_terminal(run_script):
    done = run_script("""
        import time
        import whileai as wai
        wai.grade([{"task_id": i, "final_text": "x"} for i in range(3)], lambda row: time.sleep(1.2) or 1)
    """)
    assert (done.stdout, done.stderr) == ("", "")


def test_a_set_in_a_judge_does_not_change_it_between_processes(tmp_path, run_script):
    """The order of a set literal's items differs from process to process; the judge is the same one."""
    code = """
        import sys
        import whileai as wai
        ACCEPTED = {"yes", "ja", "si", "oui"}
        def judge(row):
            with open(sys.argv[2], "a") as file:
                file.write("asked ")
            return row["final_text"] in {"a", "b", "c", "d", "e"} or row["final_text"] in ACCEPTED
        print(wai.grade([{"task_id": 1, "final_text": "c"}], judge, resume=sys.argv[1])[0]["reward"])
    """
    ledger, log = tmp_path / "ledger.jsonl", tmp_path / "log"
    for seed in ("1", "2", "3"):
        assert run_script(code, args=(ledger, log), env={"PYTHONHASHSEED": seed}).stdout == "1\n"
    assert log.read_text() == "asked "
    assert json.loads(ledger.read_text())["reward"] == 1
