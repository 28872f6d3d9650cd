"""A system that has no fork and no modules of Unix, as Windows: played by a process that has lost them."""

from __future__ import annotations

import subprocess
import sys
import textwrap

LOST = """
    import asyncio, multiprocessing, os, signal, subprocess, sys
    for module, names in (
        (os, ("fork", "register_at_fork", "killpg", "setsid", "sched_getaffinity", "geteuid")),
        (signal, ("SIGKILL", "SIGALRM", "pthread_sigmask")),
    ):
        for name in names:
            if hasattr(module, name):
                delattr(module, name)
    for name in ("fcntl", "grp", "pty", "pwd", "readline", "resource", "termios", "tty"):
        sys.modules[name] = None
    import whileai as wai
"""


def printed(code):
    """What some code prints there."""
    script = textwrap.dedent(LOST) + textwrap.dedent(code)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_name_can_be_imported():
    code = """
        print(len([getattr(room, name) for room in (wai, wai.verify, wai.simulations) for name in dir(room)]) > 60)
        import whileai.cli, whileai.pytest_plugin
    """
    assert printed(code) == "True\n"


def test_what_needs_forked_processes_says_so_in_one_sentence():
    code = """
        rows = [{"task_id": "t", "final_text": "4", "reference": "4"}]
        print([row["reward"] for row in wai.grade(rows, wai.verify.ExactMatch())])
        def mine(row):
            return 1
        for call in (wai.verify.CodeExec, lambda: wai.grade(rows, mine), lambda: wai.rows(["p"], ["r"], mine)):
            try:
                call()
            except wai.ScorerError as error:
                print(str(error).replace(sys.platform, "here"))
    """
    alone = "runs in forked processes, on Linux and macOS only; this system is 'here'."
    told = [f"CodeExec {alone}", *[f"the judge mine {alone}"] * 2]
    assert printed(code).splitlines() == ["[1]", *told]
