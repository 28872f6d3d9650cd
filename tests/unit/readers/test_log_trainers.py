"""verl, TRL and verifiers: grouping, which score is the reward, steps of a folder, rollouts that failed."""

from __future__ import annotations

import json

import pytest

import whileai as wai
from log_samples import VERIFIERS, episode, lines, parquet, rollout, trace, verl


def put(folder, data, name="log.jsonl"):
    (folder / name).write_bytes(data)
    return folder / name


def test_verl_rows_have_prompt_reply_gold_and_what_the_reward_function_said(tmp_path):
    row = wai.read(put(tmp_path, lines(verl(acc=True, pred="5", data_source="sums"))))[0]
    assert (row["prompt"], row["final_text"], row["privileged"]) == ("user\n2+3?\nassistant\n", "5", {"reference": "5"})
    assert (row["step"], row["markers"]) == (7, {"acc": 1.0})
    assert row["metadata"] == {"pred": "5", "data_source": "sums"}


def test_verl_uid_keeps_equal_prompts_apart(tmp_path):
    rows = wai.read(put(tmp_path, lines(verl(uid="u"), verl(uid="v"), verl(uid="u", score=0.0))))
    assert [(row["task_id"], row["rollout_index"], row["reward"]) for row in rows] == [
        ("u", 0, 1),
        ("v", 0, 1),
        ("u", 1, 0),
    ]


def test_verl_steps_are_tasks_of_their_own_together_and_pair_apart(tmp_path):
    early = put(tmp_path, lines(verl(step=1, score=0.0), verl(step=1)), "1.jsonl")
    late = put(tmp_path, lines(verl(step=2), verl(step=2)), "2.jsonl")
    assert wai.read(tmp_path).report.n_tasks == 2
    assert [row["task_id"].partition("/")[0] for row in wai.read(tmp_path)] == ["step_1"] * 2 + ["step_2"] * 2
    assert wai.compare(early, late).n_paired == 1
    both = put(tmp_path, early.read_bytes() + late.read_bytes(), "all.txt")
    assert wai.read(both).report.n_tasks == 2


@pytest.mark.parametrize(
    ("scores", "rewards", "judge"),
    [
        ([(1.0, True), (-1.0, False)], [1, 0], "acc"), ([(0.25, True), (1.0, True)], [0.25, 1], "score"),
        ([(3.0, None), (1.0, None)], [None, None], "score"),
    ],
)  # fmt: skip
def test_verl_takes_the_accuracy_where_the_score_is_no_reward(tmp_path, scores, rewards, judge):
    rows = wai.read(put(tmp_path, lines(*(verl(score=score, acc=acc) for score, acc in scores))))
    assert [row["reward"] for row in rows] == rewards
    assert {row["judge_name"] for row in rows} == {judge}
    if judge != "score" or rewards[0] is None:
        assert [row["markers"]["score"] for row in rows] == [score for score, _ in scores]


def test_verl_filter_and_its_near_miss(tmp_path):
    path = put(tmp_path, lines(verl(acc=False, fmt=1)))
    assert wai.read(path, filter="acc")[0]["reward"] == 0
    with pytest.raises(wai.ParamError, match=r"got 'acx'\. Did you mean acc\?"):
        wai.read(path, filter="acx")


def completion(prompt="q", step=3, **rewards):
    return {"step": step, "prompt": prompt, "completion": "a", **rewards, "advantage": 0.1}


def test_trl_reward_functions_are_markers_beside_the_first_in_range(tmp_path):
    path = put(
        tmp_path, parquet([completion(length=12.0, right=1.0, form=0.5), completion(length=9.0, right=0.0, form=1.0)])
    )
    rows = wai.read(path)
    assert [(row["reward"], row["judge_name"], row["markers"]) for row in rows] == [
        (1, "right", {"length": 12.0, "form": 0.5}), (0, "right", {"length": 9.0, "form": 1.0}),
    ]  # fmt: skip
    assert [row["advantage"] for row in rows] == [0.1, 0.1]
    assert [row["reward"] for row in wai.read(path, filter="form")] == [0.5, 1]
    assert "the reward function right is the reward; length, form are" in str(rows.report)


def test_trl_steps_of_a_folder_and_conversations(tmp_path):
    turns = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}]
    for step in (1, 2):
        put(tmp_path, parquet([completion(json.dumps(turns), step, right=1.0)] * 2), f"completions_{step}.parquet")
    rows = wai.read(tmp_path)
    assert [row["task_id"].partition("/")[0] for row in rows] == ["step_1"] * 2 + ["step_2"] * 2
    assert (rows[0]["prompt"], rows[0]["final_text"]) == ("Why?", "a")
    assert rows[0]["messages"] == [*turns, {"role": "assistant", "content": "a"}]
    assert wai.pass_at(tmp_path).n_tasks == 2


def test_verifiers_errors_are_no_zeros_and_the_metadata_is_skipped(tmp_path):
    put(tmp_path, VERIFIERS, "results.jsonl")
    settings = {"env_id": "sums", "model": "m", "num_examples": 2, "rollouts_per_example": 2, "avg_reward": 0.25}
    (tmp_path / "metadata.json").write_text(json.dumps(settings, indent=1))
    rows = wai.read(tmp_path)
    assert [(row["reward"], row["judge_status"]) for row in rows] == [
        (1, "ok"),
        (0, "ok"),
        (None, "error"),
        (None, "timeout"),
    ]
    assert (rows[2]["error"], rows[0]["final_text"], rows[0]["privileged"]) == ("503", "5", {"reference": "5"})
    assert rows.report.skipped == {"file that is the settings and means of a verifiers run": 1}
    with pytest.raises(wai.ParamError, match=r"Read the results.jsonl beside it"):
        wai.read(tmp_path / "metadata.json")


def test_verifiers_rewards_above_one_are_markers_and_no_metric_takes_their_place(tmp_path):
    rows = wai.read(put(tmp_path, lines(rollout(reward=1.5), rollout(reward=1.0), rollout(reward=0.5))))
    assert [row["reward"] for row in rows] == [None] * 3
    assert [row["markers"]["reward"] for row in rows] == [1.5, 1.0, 0.5]
    assert "reward is no reward in [0, 1] on 3 rows, such as 1.5" in str(rows.report)


def test_traces_are_weighted_sums_of_one_agent_on_the_last_branch(tmp_path):
    path = put(tmp_path, lines(episode("a", trace(score=0.5), trace("critic", 0.0))))
    rows = wai.read(path)
    assert [(row["agent"], row["reward"], row["final_text"]) for row in rows] == [("solver", 0.75, "five")]
    assert [turn["content"] for turn in rows[0]["messages"]] == ["2+3?", "five"]
    assert (rows[0]["markers"]["right"], rows[0]["privileged"]) == (0.5, {"reference": "5"})
    assert [row["agent"] for row in wai.read(path, filter="critic")] == ["critic"]
    with pytest.raises(wai.ParamError, match="Did you mean solver"):
        wai.read(path, filter="solvr")


def test_a_trace_a_line_and_one_that_was_saved_by_a_second_attempt(tmp_path):
    saved = trace(score=1.0, errors=[{"type": "ProviderError", "message": "first try"}])
    lone = {**saved, "task": {"type": "Sum", "data": {"idx": 4}}}
    rows = wai.read(put(tmp_path, lines(lone)))
    assert [(row["task_id"], row["reward"]) for row in rows] == [("4", 1)]
