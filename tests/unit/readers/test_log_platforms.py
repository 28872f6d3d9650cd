"""OpenTelemetry, Langfuse, LangSmith and Braintrust: which verdict belongs to which span, trace or run."""

from __future__ import annotations

import pytest

import whileai as wai
from log_samples import (
    BRAINTRUST,
    FALSE,
    LANGFUSE,
    LANGSMITH,
    LOG_RECORD,
    OTEL,
    TRUE,
    brain,
    document,
    evaluation,
    fuse,
    lines,
    records,
    run,
    span,
    spans,
)  # fmt: skip


def put(folder, data, name="log.jsonl"):
    (folder / name).write_bytes(data)
    return folder / name


def test_spans_with_evaluations_on_them_and_of_their_response(tmp_path):
    rows = wai.read(put(tmp_path, OTEL))
    assert [(row["task_id"], row["reward"], row["judge_status"]) for row in rows] == [
        ("x", 1, "ok"), ("x", 0, "ok"), ("y", 1, "ok"), ("y", None, "timeout"), ("t5", 1, "ok"),
    ]  # fmt: skip
    assert (rows[0]["prompt"], rows[0]["final_text"], rows[0]["reason"], rows[0]["model"]) == (
        "2+3?",
        "5",
        "because",
        "m1",
    )
    assert rows[0]["messages"] == [{"role": "user", "content": "2+3?"}, {"role": "assistant", "content": "5"}]


def test_spans_and_evaluations_in_two_files_of_a_folder(tmp_path):
    put(tmp_path, lines(spans(span("t5", "f"), span("t6", "g"))), "a.jsonl")
    lost = {**LOG_RECORD, "attributes": evaluation(0.0, gen_ai__response__id="resp-z")}
    near = {**LOG_RECORD, "attributes": evaluation(0.0), "traceId": "t6", "spanId": "inner"}
    put(tmp_path, lines(records(LOG_RECORD, near, lost)), "b.jsonl")
    rows = wai.read(tmp_path)
    assert [(row["task_id"], row["reward"]) for row in rows] == [("t5", 1), ("t6", 0)]
    assert rows.report.skipped == {"evaluations of spans that are not there": 1}


@pytest.mark.parametrize(
    ("made", "reward", "markers"),
    [
        ([evaluation(1.0)], 1, None), ([evaluation(label="fail")], 0, None), ([evaluation(label="vague")], None, None),
        ([evaluation(4.5, "pass")], 1, {"right": 4.5}),
        ([evaluation(1.0), evaluation(0.5, name="tone")], 1, {"tone": 0.5}),
        ([evaluation(7.0)], None, {"right": 7.0}), ([evaluation(float("nan"))], None, None),
    ],
)  # fmt: skip
def test_values_and_labels_of_evaluations(tmp_path, made, reward, markers):
    row = wai.read(put(tmp_path, lines(spans(span("t", "a", *made)))))[0]
    assert (row["reward"], row.get("markers")) == (reward, markers)


def test_your_own_attribute_names_the_task(tmp_path):
    one = span("t", "a", evaluation(1.0))
    one["attributes"].append({"key": "my.case.id", "value": {"intValue": "7"}})
    path = put(tmp_path, lines(spans(one)))
    rows = wai.read(path, format="otel", fields={"task_id": "metadata.my.case.id"})
    assert [row["task_id"] for row in rows] == [7]


def test_langfuse_scores_of_every_type(tmp_path):
    rows = wai.read(put(tmp_path, LANGFUSE))
    assert [(row["reward"], row["judge_status"]) for row in rows] == [
        (1, "ok"), (0, "ok"), (None, "missing_reward"), (None, "error"),
    ]  # fmt: skip
    assert (rows[0]["markers"], rows[0]["prompt"], rows[3]["error"]) == ({"tone": 4.5}, "2+3?", "500")
    words = [("grade", "CATEGORICAL", None, word) for word in ("correct", "incorrect")]
    rows = wai.read(put(tmp_path, lines(*(fuse("q", word) for word in words))))
    assert [row["reward"] for row in rows] == [1, 0]
    rows = wai.read(put(tmp_path, lines(fuse("q", TRUE, metadata={"dataset_item_id": "i7"}), fuse("q", FALSE))))
    assert rows[0]["task_id"] == "i7"


def test_langfuse_experiments(tmp_path):
    item = {"id": "i1", "input": "2+3?", "expected_output": "5"}
    made = {
        "item_results": [
            {"item": item, "output": "5", "evaluations": [{"name": "right", "value": True}], "trace_id": "t"}
        ]
    }
    row = wai.read(put(tmp_path, document(made)))[0]
    assert (row["task_id"], row["prompt"], row["final_text"], row["reward"]) == ("i1", "2+3?", "5", 1)
    assert row["privileged"] == {"reference": "5"}


def test_langsmith_runs(tmp_path):
    rows = wai.read(put(tmp_path, LANGSMITH))
    assert [(row["task_id"], row["reward"], row["judge_status"]) for row in rows] == [
        ("x", 1, "ok"), ("x", 0, "ok"), ("y", None, "missing_reward"), ("y", None, "timeout"),
    ]  # fmt: skip
    assert (rows[0]["prompt"], rows[0]["final_text"], rows[0]["reason"]) == ("2+3?", "5", "ok")
    assert "1 run inside others was passed over" in str(rows.report)
    summed = run(feedback=None, feedback_stats={"right": {"n": 1, "avg": 1.0}})
    assert wai.read(put(tmp_path, lines(summed)))[0]["reward"] == 1


def test_braintrust_spans(tmp_path):
    rows = wai.read(put(tmp_path, BRAINTRUST))
    assert [(row["rollout_index"], row["reward"], row["judge_status"]) for row in rows] == [
        (0, 1, "ok"), (1, 0.25, "ok"), (0, None, "missing_reward"), (1, None, "error"),
    ]  # fmt: skip
    assert (rows[0]["final_text"], rows[0]["privileged"]) == ("5", {"reference": "5"})
    assert wai.read(put(tmp_path, document({"events": [brain()]})))[0]["reward"] == 1
