"""The line of `grade`: what it says, where it is live, where it is logged, where there is none."""

from __future__ import annotations

import io
import itertools
import sys

import pytest

import whileai as wai
from whileai import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Gone(io.StringIO):
    def write(self, text):
        raise BrokenPipeError


@pytest.fixture
def go(monkeypatch):
    """A function that lets items of some kinds go by at a fixed pace and returns what stderr got."""

    def run(kinds, total, *, pace, stream=None, every=60.0, **env):
        for name in ("WHILEAI_QUIET", "NO_COLOR", "FORCE_COLOR"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("TERM", "xterm")
        for name, value in env.items():
            monkeypatch.setenv(name, value)
        ticks = itertools.count()
        monkeypatch.setattr(progress.time, "monotonic", lambda: next(ticks) / pace)
        monkeypatch.setattr(progress, "EVERY", every)
        monkeypatch.setattr(progress, "DELAY", 0.0)
        stream = io.StringIO() if stream is None else stream
        monkeypatch.setattr(sys, "stderr", stream)
        assert list(progress.tallied(iter(kinds), total=total, what="grade", kind=str)) == list(kinds)
        return stream.getvalue()

    return run


@pytest.mark.parametrize(
    ("counts", "total", "pace", "every", "line"),
    [
        (
            {"ok": 1198, "timeout": 2, "error": 4},
            5276,
            41,
            29.365,
            "grade  1,204/5,276 rows  41/s  1 min 39 s left  ok 1,198  error 4  timeout 2\n",
        ),
        ({"ok": 6}, 7, 0.1, 60, "grade  6/7 rows  0.1/s  10 s left  ok 6\n"),
        ({"invalid_result": 3}, 5000, 0.05, 60, "grade  3/5,000 rows  0.05/s  1 d 3 h left  invalid_result 3\n"),
        ({"ok": 240}, 30240, 4, 60, "grade  240/30,240 rows  4.0/s  2 h 5 min left  ok 240\n"),
    ],
    ids=lambda value: "" if isinstance(value, dict) else None,
)
def test_what_the_line_says(go, counts, total, pace, every, line):
    kinds = [kind for kind, n in counts.items() for _ in range(n)]
    assert go(kinds, total, pace=pace, every=every) == line


def test_one_line_a_minute_and_none_at_the_end(go):
    lines = go(["ok"] * 600, 600, pace=3.0).splitlines()
    assert [line.split()[1] for line in lines] == ["180/600", "360/600", "540/600"]


@pytest.mark.parametrize(
    ("stream", "env"),
    [(io.StringIO, {"WHILEAI_QUIET": "1"}), (Terminal, {"WHILEAI_QUIET": "1"}), (Terminal, {"TERM": "dumb"})],
)
def test_no_line_where_none_is_wanted(go, stream, env):
    assert go(["ok"] * 600, 600, pace=3.0, stream=stream(), **env) == ""


def test_force_colour_makes_no_live_line_and_no_colour_takes_none_away(go):
    assert "\r" not in go(["ok"] * 600, 600, pace=3.0, FORCE_COLOR="1")
    shown = go(["ok"] * 600, 600, pace=3.0, stream=Terminal(), NO_COLOR="1")
    assert "\r" in shown
    assert "/600 rows" in shown


def test_a_live_line_counts_and_is_taken_away(go):
    shown = go(["ok", "error"] * 500, 1000, pace=10.0, stream=Terminal())
    assert shown.startswith("\rgrade  0/1,000 rows")
    assert shown.rpartition("\r")[2].strip() == ""
    assert shown.endswith("\r")


def test_a_log_that_nobody_reads_costs_no_verdict(go):
    assert go(["ok"] * 600, 600, pace=3.0, stream=Gone()) == ""


def test_grade_counts_its_verdicts(monkeypatch):
    monkeypatch.delenv("WHILEAI_QUIET", raising=False)
    monkeypatch.setattr(progress, "EVERY", 0.0)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    rows = [{"task_id": i, "final_text": str(i), "answer": "1" if i < 2 else None} for i in range(4)]
    wai.grade(rows, wai.verify.Numeric())
    lines = sys.stderr.getvalue().splitlines()
    assert [line.partition(" left  ")[2] for line in lines] == ["ok 1", "ok 2", "ok 2  missing_reward 1"]
