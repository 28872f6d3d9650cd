"""HumanEval through `wai.rows` and `wai.grade`: right programs pass in every form, programs proved wrong fail."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

import whileai as wai

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
EVERY = 8


@pytest.fixture(scope="module")
def humaneval():
    """The benchmark's reader of the problems; the package that holds them is no dependency."""
    spec = importlib.util.spec_from_file_location("humaneval_problems", FOLDER / "humaneval.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture(scope="module")
def sample(humaneval):
    problems = humaneval.problems()
    if not problems:
        pytest.skip(humaneval.ABSENT)
    assert len(problems) == 164
    return problems[::EVERY]


def graded(problems, programs):
    """The rows of one program a problem, with the problem's tests as their gold."""
    rows = [
        {
            "task_id": problem["task_id"],
            "prompt": problem["prompt"],
            "final_text": program,
            "entry_point": problem["entry_point"],
            "reference": problem["test"],
        }
        for problem, program in zip(problems, programs, strict=True)
    ]
    judged = wai.grade(rows, wai.verify.CodeExec(timeout=10), timeout=60)
    return {row["task_id"]: (row["reward"], row["judge_status"], row.get("reason")) for row in judged}


@pytest.mark.parametrize("form", ["whole", "fenced", "body"])
def test_canonical_solutions_pass(humaneval, sample, form):
    found = graded(sample, [getattr(humaneval, form)(problem) for problem in sample])
    assert {task: verdict for task, verdict in found.items() if verdict[:2] != (1, "ok")} == {}


def test_programs_with_one_fault_fail(humaneval, sample):
    """Each is first proved wrong by the canonical tests in a plain interpreter."""
    programs = humaneval.all_wrong(sample)
    assert all(
        humaneval.outcome(problem, program) == "failed" for problem, program in zip(sample, programs, strict=True)
    )
    found = graded(sample, programs)
    assert {task: verdict for task, verdict in found.items() if verdict[:2] != (0, "ok")} == {}
    assert all(reason for _, _, reason in found.values())


def test_programs_that_return_nothing_fail(humaneval, sample):
    found = graded(sample, [humaneval.empty(problem) for problem in sample])
    assert {task: verdict for task, verdict in found.items() if verdict[:2] != (0, "ok")} == {}


def test_rows_finds_the_function_without_an_entry_point(humaneval, sample):
    """`wai.rows` carries no entry point: the one function no other of the reply calls is the one checked."""
    chosen = [problem for problem in sample if problem["prompt"].count("def ") == 1]
    assert len(chosen) >= 10
    rows = wai.rows(
        [problem["prompt"] for problem in chosen],
        [[humaneval.whole(problem), humaneval.empty(problem)] for problem in chosen],
        wai.verify.CodeExec(timeout=10),
        references=[problem["test"] for problem in chosen],
        timeout=60,
    )
    wrong = [(row["task_id"], row.get("reason")) for row in rows if row["reward"] != 1 - row["rollout_index"]]
    assert wrong == []
