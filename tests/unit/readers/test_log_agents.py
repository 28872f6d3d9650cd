"""tau-bench and tau2-bench: trials that failed are no zeros, whatever reward is stored with them."""

from __future__ import annotations

import json

import pytest

import whileai as wai
from log_samples import SIMULATIONS, TAU, TAU2, TAU2_RUN, document, simulation, trial


def test_the_published_trials_of_tau_bench(data_folder):
    path = data_folder / "tau_bench" / "gpt-4o-airline.json"
    rows = wai.read(path)
    assert (rows.report.n_rows, rows.report.n_tasks, rows.report.repeats, rows.report.errors) == (200, 50, (4, 4), 0)
    assert sum(row["reward"] for row in rows) == 84
    result = wai.pass_at(path)
    assert (result.n_tasks, result.k, result.pass_at_1) == (50, 4, pytest.approx(0.42))


def test_trials_have_their_conversation_gold_and_parts(tmp_path):
    path = tmp_path / "log.json"
    path.write_bytes(TAU)
    row = wai.read(path)[0]
    assert (row["prompt"], row["final_text"], len(row["messages"])) == ("You want 0.", "done", 3)
    assert row["privileged"] == {"reference": {"actions": [{"name": "cancel", "kwargs": {}}]}}
    assert row["markers"] == {"r_actions": 1.0}


@pytest.mark.parametrize(
    ("made", "reward", "status"),
    [
        (trial(0, 0, 1.0000000001), 1, "ok"), (trial(0, 0, -1e-9), 0, "ok"), (trial(0, 0, 0.5), 0.5, "ok"),
        (trial(0, 0, None), None, "missing_reward"), (trial(0, 0, error="x"), None, "error"),
        (trial(0, 0, error="openai.APITimeoutError: Request timed out."), None, "timeout"),
        (trial(0, 0, error="Request timed out."), None, "timeout"),
    ],
)  # fmt: skip
def test_states_of_a_trial(tmp_path, made, reward, status):
    path = tmp_path / "log.json"
    path.write_bytes(document([made]))
    row = wai.read(path)[0]
    assert (row["reward"], row["judge_status"]) == (reward, status)


@pytest.mark.parametrize(
    ("reason", "reward", "status", "found"),
    [
        ("user_stop", 1.0, "ok", 1), ("agent_stop", 0.0, "ok", 0), ("max_steps", 0.0, "ok", 0),
        ("too_many_errors", 0.0, "ok", 0), ("infrastructure_error", 0.0, "error", None),
        ("infrastructure_error", None, "error", None), ("context_window_exceeded", 0.0, "error", None),
        ("unexpected_error", 0.0, "error", None), ("timeout", 0.0, "timeout", None),
        ("user_stop", None, "missing_reward", None), ("user_stop", 0.5, "ok", 0.5),
    ],
)  # fmt: skip
def test_ends_of_a_simulation(tmp_path, reason, reward, status, found):
    path = tmp_path / "log.json"
    path.write_bytes(document(TAU2_RUN | {"simulations": [simulation("a", 0, reward, reason)]}))
    row = wai.read(path)[0]
    assert (row["judge_status"], row["reward"]) == (status, found)


def test_simulations_have_chat_messages_the_users_task_and_what_is_missing_is_said(tmp_path):
    path = tmp_path / "log.json"
    path.write_bytes(TAU2)
    rows = wai.read(path)
    assert (rows[0]["prompt"], rows[0]["final_text"], rows[0]["model"]) == ("You want a.", "found", "m1")
    call = rows[0]["messages"][1]["tool_calls"][0]
    assert (call["function"]["name"], json.loads(call["function"]["arguments"])) == ("find", {"id": 3})
    assert rows[0]["messages"][2] == {"role": "tool", "content": "{}", "tool_call_id": "c1"}
    assert "6 of 8 planned simulations are in the log" in str(rows.report)
    assert "6 of 8 planned simulations" in str(wai.pass_at(path))


def test_a_run_whose_simulations_are_files_of_their_own(tmp_path):
    run = tmp_path / "deep" / "run"
    (run / "simulations").mkdir(parents=True)
    (run / "results.json").write_bytes(document(TAU2_RUN | {"simulation_index": []}))
    for one in SIMULATIONS:
        (run / "simulations" / f"{one['id']}.json").write_bytes(document(one))
    whole = tmp_path / "log.json"
    whole.write_bytes(TAU2)
    assert wai.read(run) == wai.read(whole)
    assert wai.read(tmp_path / "deep").report.n_rows == 6
    with pytest.raises(wai.ParamError, match="Read its folder"):
        wai.read(run / "results.json")
    (run / "simulations" / "torn.json").write_bytes(b'{"id": ')
    assert wai.read(run).report.skipped == {"simulations that are no JSON": 1}


def test_tasks_longer_than_the_beginning_that_is_looked_at(tmp_path):
    path = tmp_path / "log.json"
    tasks = [{"id": name, "user_scenario": {"instructions": "x" * 200_000}} for name in "abc"]
    path.write_bytes(document(TAU2_RUN | {"tasks": tasks, "simulations": SIMULATIONS}))
    assert wai.read(path).report.n_rows == 6
