"""What a judge may return and raise, and the verdict each becomes."""

from __future__ import annotations

import asyncio
import functools
import math
import os
import signal
import sys
import threading
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import whileai as wai


def verdict(judge, row=None, **options):
    """The one graded row."""
    return wai.grade([row or {"task_id": "t", "prompt": "p", "final_text": "x"}], judge, **options)[0]


@pytest.mark.parametrize(
    ("returned", "reward", "status"),
    [
        (True, 1, "ok"),
        (False, 0, "ok"),
        (1, 1, "ok"),
        (0.0, 0, "ok"),
        (0.25, 0.25, "ok"),
        (np.bool_(True), 1, "ok"),
        (np.float32(0.5), 0.5, "ok"),
        (np.array(1), 1, "ok"),
        (Fraction(1, 4), 0.25, "ok"),
        (Decimal("0.5"), 0.5, "ok"),
        ({"reward": 1}, 1, "ok"),
        (None, None, "missing_reward"),
        ({}, None, "missing_reward"),
        ({"reward": None}, None, "missing_reward"),
        ({"score": 1}, None, "missing_reward"),
        (1.0001, None, "invalid_result"),
        (-1, None, "invalid_result"),
        (7, None, "invalid_result"),
        (10**5000, None, "invalid_result"),
        (math.nan, None, "invalid_result"),
        (math.inf, None, "invalid_result"),
        (Decimal("NaN"), None, "invalid_result"),
        ("1", None, "invalid_result"),
        ("pass", None, "invalid_result"),
        ([1], None, "invalid_result"),
        ((1, "because"), None, "invalid_result"),
        (np.array([1.0]), None, "invalid_result"),
        (1 + 0j, None, "invalid_result"),
        (object(), None, "invalid_result"),
        ({"reward": "1"}, None, "invalid_result"),
        ({"reward": {"reward": 1}}, None, "invalid_result"),
        ({"reward": 2, "reason": "twice as good"}, None, "invalid_result"),
        ({"reward": 1, "markers": {"n": math.nan}}, None, "invalid_result"),
        ({"reward": 1, "markers": {"n": "3"}}, None, "invalid_result"),
        ({"reward": 1, "markers": {"n": 10**400}}, None, "invalid_result"),
        ({"reward": 1, "markers": [3]}, None, "invalid_result"),
    ],
    ids=lambda value: str(value).partition(" at 0x")[0][:30] if not isinstance(value, int) or value < 100 else "huge",
)
def test_verdict_table(returned, reward, status):
    row = verdict(lambda row: returned)
    assert (row["reward"], row["judge_status"]) == (reward, status)
    assert type(row["reward"]) in (int, float, type(None))
    if status != "ok":
        assert row["reason"]


def test_everything_a_verdict_may_carry():
    def judge(row):
        return {
            "reward": 0,
            "reason": "too long",
            "markers": {"chars": np.int64(9), "ok": True},
            "failure_class": "length",
            "model": "judge-1",
            "logits": np.array([1.5, 2.5]),
            "when": {3: {1}},
            "none": math.nan,
            "big": 10**5000,
        }

    row = verdict(judge, {"task_id": "t", "final_text": "x", "markers": {"words": 2, "chars": 1}})
    assert row["reason"] == "too long"
    assert row["failure_class"] == "length"
    assert row["markers"] == {"words": 2, "chars": 9.0, "ok": 1.0}
    assert row["judge_meta"] == {
        "model": "judge-1",
        "logits": [1.5, 2.5],
        "when": {"3": [1]},
        "none": None,
        "big": "<int without a repr>",
    }


class Own(BaseException):
    pass


class Mute(Exception):
    def __str__(self):
        raise RuntimeError


def raising(error):
    def judge(row):
        raise error

    return judge


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ValueError("bad"), "ValueError: bad"),
        (SystemExit(3), "SystemExit: 3"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (GeneratorExit(), "GeneratorExit"),
        (Own("mine"), "Own: mine"),
        (StopIteration(), "StopIteration"),
        (asyncio.CancelledError(), "CancelledError"),
        (Mute(), "Mute: its message cannot be printed"),
        (
            UnicodeEncodeError("ascii", "\ud800", 0, 1, "no"),
            "UnicodeEncodeError: 'ascii' codec can't encode character '\\ud800' in position 0: no",
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_whatever_a_judge_raises_is_its_verdict(error, reason):
    row = verdict(raising(error))
    assert (row["reward"], row["judge_status"], row["reason"]) == (None, "error", reason)


def forever(row):
    while True:
        try:
            threading.Event().wait()
        except BaseException:
            continue


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (lambda: os._exit(3), "the judge's process ended (exit code 3)"),
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "the judge's process ended (signal 9)"),
        (lambda: os.kill(0, signal.SIGKILL), "the judge's process ended (signal 9)"),
        (lambda: os.kill(os.getpid(), signal.SIGTERM), "the judge's process ended (signal 15)"),
    ],
    ids=["exit", "kill", "kill the group", "terminate"],
)
def test_a_judge_that_ends_its_process_loses_one_row(unjudged, act, reason):
    def judge(row):
        if row["task_id"] == "t3":
            act()
        return 1

    graded = wai.grade(unjudged(8), judge)
    assert [row["reward"] for row in graded] == [1, 1, 1, None, 1, 1, 1, 1]
    assert (graded[3]["judge_status"], graded[3]["reason"]) == ("error", reason)


def test_a_judge_that_forks_answers_once(unjudged):
    def judge(row):
        if os.fork() == 0 and row["task_id"] == "t1":
            sys.exit(0)
        return 1

    assert [row["reward"] for row in wai.grade(unjudged(6), judge)] == [1] * 6


def test_a_judge_may_grade(unjudged):
    def judge(row):
        return wai.grade([row], lambda inner: inner["final_text"] == "1", timeout=5)[0]["reward"]

    assert [row["reward"] for row in wai.grade(unjudged(3), judge, timeout=10)] == [0, 1, 0]


@pytest.mark.parametrize(
    "stuck",
    [
        forever,
        lambda row: __import__("re").fullmatch("(a+)+", "a" * 60 + "b"),
        lambda row: sum(iter(int, 1)),
        lambda row: asyncio.run(asyncio.sleep(3600)),
    ],
    ids=["swallows everything", "regex that holds the interpreter", "C loop", "sleeps"],
)
def test_a_stuck_verdict_is_stopped_and_delays_no_other(unjudged, stuck):
    graded = wai.grade(unjudged(20), lambda row: stuck(row) if row["task_id"] == "t0" else 1, timeout=0.5, workers=2)
    assert [row["judge_status"] for row in graded] == ["timeout"] + ["ok"] * 19
    assert graded[0]["reason"] == "no verdict within 0.5 s; the judge was stopped"


def test_timeout_is_per_verdict_not_per_batch(unjudged):
    graded = wai.grade(unjudged(12), lambda row: __import__("time").sleep(0.1) or 1, timeout=0.6, workers=1)
    assert {row["judge_status"] for row in graded} == {"ok"}


def test_a_very_long_reason_arrives_whole(unjudged):
    graded = wai.grade(unjudged(3), lambda row: {"reward": 1, "reason": row["task_id"] * 500_000})
    assert [len(row["reason"]) for row in graded] == [1_000_000] * 3


def test_order_of_many_rows_and_many_workers(unjudged):
    graded = wai.grade(unjudged(3000), lambda row: {"reward": 1, "own": row["final_text"]}, workers=16)
    assert [row["judge_meta"]["own"] for row in graded] == [str(i) for i in range(3000)]


def test_a_judge_sees_a_copy(unjudged):
    rows = unjudged(2)
    rows[0]["info"] = {"list": [1]}

    def judge(row):
        row.get("info", {}).clear()
        row["final_text"] = "changed"
        return 1

    graded = wai.grade(rows, judge)
    assert rows[0]["info"] == graded[0]["info"] == {"list": [1]}
    assert graded[0]["final_text"] == "0"


def test_an_earlier_verdict_is_replaced():
    old = {
        "task_id": "t",
        "final_text": "x",
        "reward": 1,
        "reason": "old",
        "judge_meta": {"a": 1},
        "failure_class": "f",
    }
    row = wai.grade([{**old, "label_source": "given", "extra": [1]}], lambda row: 0)[0]
    assert row == {
        "task_id": "t",
        "final_text": "x",
        "extra": [1],
        "reward": 0,
        "judge_name": row["judge_name"],
        "judge_status": "ok",
    }


def test_markers_missing_on_a_row_are_no_obstacle():
    rows = [{"task_id": i, "final_text": "x", "markers": value} for i, value in enumerate([None, math.nan, {"a": 1}])]
    graded = wai.grade(rows, lambda row: {"reward": 1, "markers": {"b": 2}})
    assert [row["markers"] for row in graded] == [{"b": 2.0}, {"b": 2.0}, {"a": 1, "b": 2.0}]


class Judge:
    def __init__(self, gold):
        self.gold = gold
        self.lock = threading.Lock()

    def of_row(self, row):
        with self.lock:
            return row["final_text"] == self.gold

    def __call__(self, prompt, completion):
        return completion == self.gold

    @classmethod
    def of_class(cls, prompt, completion, reference):
        return completion == "1"

    @staticmethod
    async def later(row):
        await asyncio.sleep(0)
        return row["final_text"] == "1"


class Later:
    async def __call__(self, row):
        return row["final_text"] == "1"


@pytest.mark.parametrize(
    "judge",
    [
        Judge("1").of_row,
        Judge("1"),
        Judge.of_class,
        Judge.later,
        Later(),
        functools.partial(lambda gold, row: row["final_text"] == gold, "1"),
        functools.partial(lambda row, gold: row["final_text"] == gold, gold="1"),
        lambda row, strict=True: row["final_text"] == "1",
        lambda prompt, completion, reference, *, scale=1: completion == "1",
        lambda *rows: rows[0]["final_text"] == "1",
        functools.lru_cache(lambda prompt, completion: completion == "1"),
        wai.verifier(lambda candidate, reference, row: candidate == "1"),
        wai.verify.ExactMatch(field="info.gold"),
    ],
)
def test_kinds_of_judges(unjudged, judge):
    rows = [{**row, "info": {"gold": "1"}} for row in unjudged(3)]
    graded = wai.grade(rows, judge)
    assert [row["reward"] for row in graded] == [0, 1, 0]
    assert {row["judge_status"] for row in graded} == {"ok"}
    assert graded[0]["judge_name"]


def test_a_judge_may_close_over_an_open_file(unjudged):
    with Path(os.devnull).open() as handle:
        assert wai.grade(unjudged(1), lambda row: not handle.closed)[0]["reward"] == 1


def test_from_a_thread(unjudged):
    found = []
    threads = [threading.Thread(target=lambda: found.append(wai.grade(unjudged(30), lambda row: 1))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [sum(row["reward"] for row in graded) for graded in found] == [30] * 3


def test_inside_a_running_loop(unjudged):
    async def judge(row):
        await asyncio.sleep(0)
        return 1

    async def main():
        return wai.grade(unjudged(3), judge)

    assert [row["reward"] for row in asyncio.run(main())] == [1, 1, 1]


@pytest.mark.parametrize(
    "judge",
    [None, 5, "x", object(), wai.verify.Numeric, lambda: 1, lambda row, *, scale: 1],
    ids=lambda value: type(value).__name__,
)
def test_what_cannot_judge(judge):
    with pytest.raises(TypeError, match=r"^grade: judge must be a verifier, or a function of \(row\)"):
        wai.grade([], judge)


def test_a_row_without_a_completion_is_an_error_of_the_verifier():
    row = verdict(wai.verify.ExactMatch(), {"task_id": "t", "answer": "x"})
    assert (row["reward"], row["judge_status"]) == (None, "error")


def test_markers_that_are_none_are_refused_before_judging():
    with pytest.raises(wai.RowError) as error:
        wai.grade([{"final_text": "x"}, {"final_text": "y", "markers": "chars"}], lambda row: 1)
    assert str(error.value) == "grade: data row 1: markers must be a mapping of names to numbers; got 'chars'."


def test_a_list_with_something_else_among_the_rows():
    with pytest.raises(TypeError, match=r"^grade: data row 1 must be a dict, in a list of rows; got 5\.$"):
        wai.grade([{"final_text": "x"}, 5], lambda row: 1)
