"""`wai` and what it is connected to: a terminal, a pipe, a reader that goes away, a Ctrl-C."""

from __future__ import annotations

import contextlib
import fcntl
import io
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

import whileai as wai
from cli_helpers import arm, clean_env, run, write
from whileai.cli import options

#: Runs `wai` with work of any length counted as long.
AT_ONCE = """
import whileai.progress
from whileai.cli.main import run
whileai.progress.DELAY = 0
run()
"""


def in_terminal(*args, cwd, env=None, columns=90, code=None):
    """(exit code, all that a terminal of some width got) of one `wai` process."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    start = ["-m", "whileai"] if code is None else ["-c", code]
    environment = clean_env({"TERM": "xterm", **(env or {})})
    process = subprocess.Popen(
        [sys.executable, *start, *args], cwd=cwd, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # the terminal ends with an error where its last process ends
        while piece := os.read(ours, 65536):
            shown += piece
    os.close(ours)
    return process.wait(timeout=60), shown.decode("utf-8").replace("\r\n", "\n")


COMPARE = ("compare", "low.jsonl", "high.jsonl")
ESCAPE = "\x1b["


@pytest.mark.parametrize(
    ("terminal", "env", "coloured"),
    [
        (True, {}, True),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": ""}, True),
        (True, {"TERM": "dumb"}, False),
        (True, {"TERM": "dumb", "FORCE_COLOR": "1"}, False),
        (False, {}, False),
        (False, {"FORCE_COLOR": "1"}, True),
        (False, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_only_the_verdict_is_coloured_and_only_where_it_may_be(terminal, env, coloured, folder):
    plain = run(*COMPARE, cwd=folder).stdout
    if terminal:
        _, shown = in_terminal(*COMPARE, cwd=folder, env=env, columns=100)
    else:
        shown = run(*COMPARE, cwd=folder, env=env).stdout
    assert re.sub(r"\x1b\[[\d;]*m", "", shown) == plain
    assert shown.count(ESCAPE) == (2 if coloured else 0)
    assert not coloured or re.match(r"\x1b\[1;\d+mimproved\x1b\[0m: ", shown)


def test_neither_files_nor_json_take_colour(folder, tmp_path):
    env = {"FORCE_COLOR": "1"}
    assert ESCAPE not in run(*COMPARE, "--json", cwd=folder, env=env).stdout
    run(*COMPARE, "-o", tmp_path / "out", cwd=folder, env=env)
    assert ESCAPE not in (tmp_path / "out").read_text()


@pytest.mark.parametrize(("columns", "width"), [(60, 80), (90, 90), (250, 100)])
def test_text_is_as_wide_as_the_terminal_within_80_and_100(columns, width, folder):
    result = wai.compare(arm(10), arm(30))
    code, shown = in_terminal(*COMPARE, cwd=folder, env={"NO_COLOR": "1"}, columns=columns)
    assert (code, shown) == (0, result.to_text(width) + "\n")


@pytest.mark.parametrize(
    ("args", "env", "lines"),
    [
        (["validate", "high.jsonl"], {}, ["read high.jsonl"]),
        (["select", "high.jsonl", "--mode", "rl"], {}, ["read high.jsonl"]),
        (["select", "high.jsonl", "--mode", "rl"], {"NO_COLOR": "1"}, ["read high.jsonl"]),
        (["pass-at", "high.jsonl", "--quiet"], {}, []),
        (["select", "high.jsonl", "--mode", "rl", "-q"], {}, []),
        (["pass-at", "high.jsonl", "--json"], {}, []),
        (["pass-at", "high.jsonl"], {"TERM": "dumb"}, []),
    ],
)
def test_long_work_shows_a_line_on_a_terminal_and_takes_it_away(args, env, lines, folder):
    code, shown = in_terminal(*args, cwd=folder, env=env, code=AT_ONCE)
    assert code == 0
    for line in lines:
        assert line in shown
    assert ("\r" in shown) == bool(lines)
    last = re.sub(r"\x1b\[[\d;]*[mK]", "", shown).rpartition("\r")[2]
    expected = run(*args, cwd=folder).stdout
    assert json.loads(last)["call"] == "pass_at" if "--json" in args else last.split() == expected.split()


def test_the_line_of_work_on_all_rows_counts_seconds_and_goes_away(tmp_path):
    code = """
import time
import whileai.cli.terminal
whileai.cli.terminal.DELAY = 0
with whileai.cli.terminal.busy("select from 80 rows"):
    time.sleep(1.5)
print("done")
"""
    _, shown = in_terminal(cwd=tmp_path, code=code)
    assert shown.startswith("\rselect from 80 rows  0 s")
    assert shown.endswith("\r\x1b[Kdone\n")


def test_short_work_and_pipes_show_no_line(folder):
    assert "read" not in in_terminal("pass-at", "high.jsonl", cwd=folder)[1]
    command = [sys.executable, "-c", AT_ONCE, "pass-at", "high.jsonl"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=clean_env())
    assert (done.returncode, done.stderr) == (0, "")


def test_ctrl_c_ends_with_130_and_one_line(folder):
    code = """
import sys, time
import whileai.cli.measuring
from whileai.cli.main import run
def stuck(args):
    print("ready", file=sys.stderr, flush=True)
    time.sleep(60)
whileai.cli.measuring.pass_at = stuck
run()
"""
    command = [sys.executable, "-c", code, "pass-at", "high.jsonl"]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "wai pass-at: interrupted\n")


@pytest.mark.parametrize(("flags", "code"), [([], 0), (["--gate"], 1), (["--help"], 0)])
def test_a_reader_that_goes_away_is_no_error(flags, code, folder):
    read, sink = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "whileai", "compare", "high.jsonl", "low.jsonl", *flags]
    done = subprocess.run(command, cwd=folder, stdout=sink, stderr=subprocess.PIPE, check=False)
    os.close(sink)
    assert (done.returncode, done.stderr) == (code, b"")


def test_an_odd_locale_changes_nothing(tmp_path):
    write(tmp_path / "é.jsonl", arm(30))
    odd = {"PYTHONIOENCODING": "cp1252", "LC_ALL": "C"}
    done = run("pass-at", "é.jsonl", "--json", cwd=tmp_path, env=odd, text=False)
    assert done.returncode == 0
    assert json.loads(done.stdout.decode("utf-8"))["inputs"][0]["path"] == "é.jsonl"


def test_version_and_help_need_no_heavy_module():
    code = "import sys; from whileai.cli import main; main.main(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    for args in (["--version"], ["--help"], ["compare", "--help"]):
        done = subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, check=True)
        loaded = set(done.stderr.split())
        assert "whileai.cli.options" in loaded
        assert not loaded & {"numpy", "scipy", "duckdb", "msgspec", "tqdm", "whileai.result", "whileai.measure"}
    assert done.stdout.startswith("usage: wai compare BEFORE AFTER [options]\n")


def test_help_names_every_command_and_every_command_has_help():
    top = run("--help")
    assert top.returncode == 0
    for name in options.COMMANDS:
        assert re.search(rf"^  {name} ", top.stdout, re.MULTILINE)
        with contextlib.redirect_stdout(io.StringIO()) as shown, pytest.raises(SystemExit) as stop:
            options.parse([name, "--help"])
        assert stop.value.code == 0
        assert {"--json", "--output", "--quiet", "--debug"} <= set(re.findall(r"--[a-z-]+", shown.getvalue()))
    before = run("--json", "-q", "holdout-size", "0.1")
    assert before.stdout == run("holdout-size", "0.1", "-q", "--json").stdout
    assert run("--version").stdout == f"wai {wai.__version__}\n"


def test_the_installed_command_is_the_module(folder):
    script = Path(sys.executable).parent / "wai"
    if not script.exists():
        pytest.skip("the package is not installed with its command here")
    done = subprocess.run([script, "pass-at", "low.jsonl"], cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, run("pass-at", "low.jsonl", cwd=folder).stdout)
