"""promptfoo, lighteval, every_eval_ever, HELM and OpenAI evals: what belongs together, and what a verdict is of."""

from __future__ import annotations

import pytest

import whileai as wai
from log_samples import (
    EEE,
    HELM_STATE,
    HELM_STATS,
    OPENAI,
    PROMPTFOO,
    document,
    event,
    lines,
    parquet,
    request,
    result,
    sample,
    stats,
)  # fmt: skip


def put(folder, data, name="log.json"):
    (folder / name).write_bytes(data)
    return folder / name


def test_promptfoo_errors_are_no_failures_and_assertions_are_markers(tmp_path):
    rows = wai.read(put(tmp_path, PROMPTFOO))
    assert [(row["reward"], row["judge_status"]) for row in rows] == [(1, "ok"), (0, "ok"), (1, "ok"), (None, "error")]
    assert (rows[3]["error"], rows[1]["reason"], rows[0]["metadata"]) == ("API error: 500", "why", {"q": "2+3?"})
    assert rows[1]["markers"] == {"score": 0.0, "equals": 0.0, "brevity": 0.5}
    assert (rows[0]["prompt"], rows[0]["final_text"], rows[0]["model"]) == ("Answer: 2+3?", "5", "p:one")


def test_promptfoo_reads_one_provider_and_prompt(tmp_path):
    made = [result(provider=name, promptIdx=place) for name in ("a", "b") for place in (0, 1)]
    path = put(tmp_path, lines(*made))
    rows = wai.read(path)
    assert (len(rows), rows[0]["model"]) == (1, "a")
    assert "there is also" in str(rows.report)
    assert wai.read(put(tmp_path, lines(*made[::2])), filter="b")[0]["model"] == "b"
    with pytest.raises(wai.ParamError, match="filter must be a provider of"):
        wai.read(path, filter="c")


def test_promptfoo_says_what_came_from_the_cache_and_knows_older_errors(tmp_path):
    cached = {"output": "5", "cached": True}
    rows = wai.read(put(tmp_path, lines(result(), result(place=1, response=cached), result(place=2, response=cached))))
    assert "2 repeats came from promptfoo's cache" in str(rows.report)
    old = result(success=False, error="boom")
    del old["failureReason"]
    assert wai.read(put(tmp_path, lines(old)))[0]["reward"] == 0  # it was judged; the message is the assertion's
    assert wai.read(put(tmp_path, lines(old | {"gradingResult": None})))[0]["judge_status"] == "error"


def test_lighteval_of_several_completions_leaves_each_unjudged(tmp_path):
    doc = {"query": "Q?", "choices": ["5"], "gold_index": [0], "id": "3", "task_name": "sums|0"}
    answer = {"text": ["5", "6"], "logprobs": []}
    path = put(tmp_path, parquet([{"doc": doc, "metric": {"pass@1": 0.5}, "model_response": answer}]))
    rows = wai.read(path)
    assert [(row["task_id"], row["rollout_index"], row["final_text"], row["reward"]) for row in rows] == [
        ("3", 0, "5", None), ("3", 1, "6", None),
    ]  # fmt: skip
    assert (rows[0]["markers"], rows[0]["privileged"], rows[0]["eval"]) == (
        {"pass@1": 0.5},
        {"reference": "5"},
        "sums|0",
    )
    assert "is left unjudged" in str(rows.report)


def test_lighteval_of_likelihoods_takes_the_likeliest_choice(tmp_path):
    doc = {"query": "Q?", "choices": [" A", " B"], "gold_index": 1}
    answer = {"text": [], "logprobs": [-3.0, -1.0]}
    row = wai.read(put(tmp_path, parquet([{"doc": doc, "metric": {"acc": 1}, "model_response": answer}])))[0]
    assert (row["task_id"], row["final_text"], row["privileged"], row["reward"]) == ("0", "B", {"reference": " B"}, 1)


def test_every_eval_ever_of_several_results_reads_one(tmp_path):
    made = [sample(score=score, evaluation_result_id=name) for name, score in (("em", 0.0), ("f1", 0.5))]
    path = put(tmp_path, lines(*made, sample("s2", evaluation_result_id="em")))
    assert [row["reward"] for row in wai.read(path)] == [0, 1]
    assert [row["reward"] for row in wai.read(path, filter="f1")] == [0.5]
    row = wai.read(put(tmp_path, EEE))[0]
    assert (row["prompt"], row["final_text"], row["privileged"], row["model"]) == (
        "2+3?",
        "5",
        {"reference": "5"},
        "a/b",
    )


def test_every_eval_ever_scores_completions_and_conversations(tmp_path):
    rows = wai.read(put(tmp_path, lines(sample(score=40.0), sample("s2", 0.0))))
    assert [(row["reward"], row["judge_name"]) for row in rows] == [(1, "is_correct"), (0, "is_correct")]
    several = wai.read(put(tmp_path, lines(sample(output={"raw": ["5", "6"]}))))
    assert [row["reward"] for row in several] == [None, None]
    talk = [{"turn_idx": 0, "role": "user", "content": "2+3?"}, {"turn_idx": 1, "role": "assistant", "content": "5"}]
    row = wai.read(put(tmp_path, lines(sample(output=None, messages=talk))))[0]
    assert (row["final_text"], row["reward"], len(row["messages"])) == ("5", 1, 2)


def test_what_wai_write_makes_of_rows_reads_back(tmp_path, before):
    path = tmp_path / "out.jsonl"
    wai.write(before, path, format="every-eval-ever")
    rows = wai.read(path)
    assert rows.report.formats == {"every-eval-ever": 1}
    assert wai.pass_at(rows).summary == wai.pass_at(before).summary


@pytest.fixture
def helm(tmp_path):
    folder = tmp_path / "runs" / "sums:model=m"
    folder.mkdir(parents=True)
    put(folder, document(HELM_STATE), "scenario_state.json")
    put(folder, document(HELM_STATS), "per_instance_stats.json")
    put(folder, document({"name": "sums:model=m", "scenario_spec": {}, "adapter_spec": {}}), "run_spec.json")
    put(folder, document([{"name": {"name": "exact_match"}, "count": 1, "sum": 1.0}]), "stats.json")
    put(folder, document([{"input": {"text": "Q"}, "references": [], "split": "test", "id": "id1"}]), "instances.json")
    return folder


def test_helm_joins_requests_and_statistics_by_instance_trial_and_perturbation(helm):
    rows = wai.read(helm)
    found = [(row["task_id"], row["trial"], row["final_text"], row["reward"], row["judge_status"]) for row in rows]
    assert found == [
        ("id1", 0, " B", 1, "ok"), ("id1", 1, " A", 0, "ok"), ("id2", 0, " A", 0, "ok"),
        ("id2", 1, " B", None, "missing_reward"), ("id2", 1, " A", None, "missing_reward"),
        ("id3", 0, "", None, "error"),
    ]  # fmt: skip
    assert [row["rollout_index"] for row in rows] == [0, 1, 0, 1, 2, 0]
    assert (rows[0]["prompt"], rows[0]["privileged"]) == ("Prompt id1", {"reference": "B"})
    assert rows[0]["markers"] == {"num_references": 2.0, "quasi_exact_match": 1.0}
    assert "there is also typos" in str(rows.report)


def test_helm_by_its_file_from_above_by_perturbation_and_statistic(helm):
    assert wai.read(helm / "scenario_state.json") == wai.read(helm)
    above = wai.read(helm.parent)
    assert (above.report.n_rows, above.report.skipped) == (
        6,
        {"file that is a file beside the requests of a HELM run": 4},
    )
    assert [(row["task_id"], row["reward"]) for row in wai.read(helm, filter="typos")] == [("id1", 0)]
    assert wai.read(helm, filter="quasi_exact_match")[1]["reward"] == 1
    with pytest.raises(wai.ParamError, match="Did you mean exact_match"):
        wai.read(helm, filter="exact_mach")
    with pytest.raises(wai.ParamError, match="Read the folder of the run"):
        wai.read(helm / "per_instance_stats.json")
    assert wai.pass_at(helm).n_tasks == 3


def test_helm_requests_about_each_reference_are_one_row(tmp_path):
    made = [
        request("id1", "", reference_index=place, request_mode=mode)
        for mode in ("original", "calibration")
        for place in (0, 1)
    ]
    put(tmp_path, document(HELM_STATE | {"request_states": made}), "scenario_state.json")
    one = stats("id1", 1.0)
    one["stats"].append({"name": {"name": "predicted_index"}, "mean": 1.0})
    put(tmp_path, document([one]), "per_instance_stats.json")
    assert [(row["final_text"], row["reward"]) for row in wai.read(tmp_path)] == [("six", 1)]


def test_openai_evals_puts_events_together_and_takes_the_first_verdict(tmp_path):
    rows = wai.read(put(tmp_path, OPENAI))
    found = [(row["task_id"], row.get("final_text"), row["reward"], row["judge_status"]) for row in rows]
    assert found == [
        ("add.dev.1", "5", 1, "ok"), ("add.dev.2", "5", 0, "ok"), ("add.dev.3", "2", None, "missing_reward"),
        ("add.dev.4", "", None, "timeout"),
    ]  # fmt: skip
    assert (rows[0]["prompt"], rows[0]["privileged"], rows[0]["model"]) == ("2+3?", {"reference": "5"}, "m1")
    assert rows.report.skipped == {"verdicts of samples that have one": 1}


def test_openai_evals_of_metrics_and_a_grading_model(tmp_path):
    events = [
        event("s.1", "sampling", prompt="Q", sampled=["answer"]),
        event("s.1", "sampling", prompt="Grade", sampled=["Y"]),
        event("s.1", "metrics", choice="Y", score=1.0), event("s.2", "metrics", choice="N", score=0.25),
    ]  # fmt: skip
    rows = wai.read(put(tmp_path, lines(*events)))
    assert [(row["reward"], row["final_text"]) for row in rows] == [(1, "answer"), (0.25, "")]
