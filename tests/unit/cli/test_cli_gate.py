"""The gates of `wai compare`, through processes."""

from __future__ import annotations

import json
import re

import pytest

import whileai as wai
from cli_helpers import arm, run

GATES = [
    # arms and flags, exit code, what stands in the text
    ("high.jsonl low.jsonl", 0, None),
    ("high.jsonl low.jsonl --gate", 1, "gate failed: the result is not ok (regressed)"),
    ("low.jsonl high.jsonl --gate", 0, "gate passed"),
    ("low.jsonl low.jsonl --gate", 0, "not ruled out: a loss of up to 0.07"),
    ("low.jsonl low.jsonl --max-loss 0.2", 0, "gate passed"),
    ("low.jsonl low.jsonl --max-loss 0.01", 1, "gate failed: a loss of 0.01 is the most allowed; about "),
    ("high.jsonl low.jsonl --max-loss 0.1", 1, "and the change seen is no smaller"),
    ("high.jsonl low.jsonl --max-loss 0.9", 0, "gate passed"),
    ("high.jsonl low.jsonl --max-loss 0.9 --gate", 1, "gate failed: the result is not ok"),
    ("high.jsonl low.jsonl --lower-is-better pass_at_1 --gate --max-loss 0", 0, "gate passed"),
    ("low.jsonl long.jsonl --must-not-regress marker:chars --lower-is-better marker:chars", 0, "not ok: the guard"),
    ("low.jsonl long.jsonl --must-not-regress marker:chars --lower-is-better marker:chars --gate", 1, "gate failed"),
    (
        "low.jsonl long.jsonl --must-not-regress marker:chars --lower-is-better marker:chars --max-loss 0.5",
        1,
        "a guard",
    ),
    ("low.jsonl other.jsonl --gate", 1, "gate failed: the result is not ok (not comparable)"),
    ("low.jsonl other.jsonl --max-loss 0.5", 1, "no loss is ruled out"),
    ("low.jsonl other.jsonl", 0, "not comparable"),
]


@pytest.mark.parametrize(("line", "code", "said"), GATES)
def test_only_a_gate_makes_a_verdict_an_exit_code(line, code, said, folder):
    done = run("compare", *line.split(), cwd=folder)
    assert (done.returncode, done.stderr) == (code, "")
    assert said is None or said in done.stdout
    assert ("gate " in done.stdout) == ("--gate" in line or "--max-loss" in line)


def test_the_loss_printed_is_the_interval_s_end_and_on_its_side_of_the_bar(folder):
    loss = -wai.compare(arm(10), arm(10)).interval[0]
    for bar, code in ((loss * 0.9999, 1), (loss * 1.0001, 0)):
        done = run("compare", "low.jsonl", "low.jsonl", "--max-loss", repr(bar), cwd=folder)
        shown = float(re.search(r"a loss of up to ([\d.]+)", done.stdout)[1])
        assert done.returncode == code
        assert (shown >= bar) == bool(code)


def test_beside_json_a_gate_speaks_on_stderr(folder):
    done = run("compare", "high.jsonl", "low.jsonl", "--gate", "--json", cwd=folder)
    found = json.loads(done.stdout)
    assert (done.returncode, found["ok"], found["verdict"]) == (1, False, "regressed")
    assert done.stderr.splitlines()[-1] == "gate failed: the result is not ok (regressed)"
