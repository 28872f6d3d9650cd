"""lm-eval samples: written by lm-eval and read back with the numbers it printed, and by hand for early and odd ones."""

from __future__ import annotations

import gzip
import json
import math

import pytest

import whileai as wai
from log_writers import LM_EVAL, written
from whileai.readers.logs.registry import recognise


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    pytest.importorskip("lm_eval", reason="lm-eval is not installed")
    folder = tmp_path_factory.mktemp("lm_eval")
    return written(LM_EVAL, folder), folder / "scripted"


def file_of(run, task):
    return next(run[1].glob(f"samples_{task}_2*"))


@pytest.mark.parametrize(
    ("task", "filter", "metric"),
    [
        ("sums", None, "exact_match,strict-match"),
        ("sums", "strict-match", "exact_match,strict-match"),
        ("sums", "flexible-extract", "exact_match,flexible-extract"),
        ("sums", "exact_match,flexible-extract", "exact_match,flexible-extract"),
        ("animals", None, "acc,none"),
        ("animals", "acc_norm", "acc_norm,none"),
        ("animals", "acc_norm,none", "acc_norm,none"),
    ],
)
def test_real_logs_give_the_numbers_that_lm_eval_printed(run, task, filter, metric):
    rows = wai.read(file_of(run, task), filter=filter)
    assert len(rows) == 8
    assert wai.pass_at(rows).pass_at_1 == run[0][task][metric]
    assert {row["judge_name"] for row in rows} == {metric}
    if filter is None:
        assert wai.pass_at(file_of(run, task)).pass_at_1 == run[0][task][metric]


def test_filters_are_never_counted_together(run):
    rows = wai.read(file_of(run, "sums"))
    assert len(file_of(run, "sums").read_text().splitlines()) == 16
    assert (rows.report.n_rows, rows.report.n_tasks, rows.report.repeats) == (8, 8, (1, 1))
    (note,) = rows.report.notes
    assert note.code == "filter_chosen"
    assert note.text == "filter strict-match was read (8 lines), and not flexible-extract (8): the same documents."


def test_a_row_has_prompt_reply_gold_and_document(run):
    row = wai.read(file_of(run, "sums"))[0]
    assert row["prompt"] == "Question: What is 0 + 3?\nAnswer:"
    assert row["final_text"] == "It is 3.\n#### 3"
    assert row["privileged"] == {"reference": "so 3\n#### 3"}
    assert row["metadata"]["question"] == "What is 0 + 3?"
    assert (row["eval"], row["judge_meta"]) == ("sums", {"filtered": "3"})


def test_repeats_become_rows_that_can_be_regraded(run):
    rows = wai.read(file_of(run, "sums_four"))
    assert (len(rows), rows.report.n_tasks, rows.report.repeats) == (32, 8, (4, 4))
    assert [row["rollout_index"] for row in rows[:5]] == [0, 1, 2, 3, 0]
    assert {(row["reward"], row["judge_status"]) for row in rows} == {(None, "missing_reward")}
    assert [note.code for note in rows.report.notes] == ["filter_chosen", "repeats_unjudged"]
    mean = math.fsum(row["markers"]["exact_match"] for row in rows) / 32
    assert mean == run[0]["sums_four"]["exact_match,strict-match"]
    graded = wai.grade(rows, wai.verify.Numeric())
    right = [row["final_text"].endswith(f"#### {int(row['task_id']) + 3}") for row in rows]
    assert [row["reward"] for row in graded] == right


def test_a_choice_is_the_text_that_was_likeliest(run):
    rows = wai.read(file_of(run, "animals"))
    assert [row["final_text"] == row["privileged"]["reference"] for row in rows] == [row["reward"] == 1 for row in rows]
    assert {row["final_text"] for row in rows} <= {"ox", "horse", "a mouse"}
    assert all(set(row["markers"]) == {"acc_norm"} for row in rows)


def test_a_likelihood_of_a_text_is_no_reply_and_no_reward(run):
    rows = wai.read(file_of(run, "rolling"))
    assert {(row["final_text"], row["reward"], row["judge_status"]) for row in rows} == {("", None, "invalid_result")}
    assert [note.code for note in rows.report.notes] == ["score_no_reward"]


def test_a_folder_reads_all_tasks_apart_and_skips_the_summary(run):
    rows = wai.read(run[1])
    assert (rows.report.formats, rows.report.n_rows, rows.report.n_tasks) == ({"lm-eval": 4}, 56, 32)
    assert {row["task_id"].partition("/")[0] for row in rows} == {"sums", "sums_four", "animals", "rolling"}
    assert rows.report.skipped == {"file that is a summary of lm-eval results": 1}
    with pytest.raises(wai.ParamError, match=r"a summary of lm-eval results'\. Read the samples_"):
        wai.read(next(run[1].glob("results_*")))


@pytest.mark.parametrize(
    ("filter", "near"),
    [("strict", "strict-match"), ("flexible_extract", "flexible-extract"), ("exact_macth", "exact_match")],
)
def test_a_misspelt_filter_names_the_near_miss(run, filter, near):
    with pytest.raises(wai.ParamError, match=rf"filter must be a filter or a metric of .*Did you mean {near}"):
        wai.read(file_of(run, "sums"), filter=filter)


def test_two_runs_of_a_task_pair_by_document(run):
    result = wai.compare(file_of(run, "sums"), wai.read(file_of(run, "sums"), filter="flexible-extract"))
    assert result.n_paired == 8


# by hand


def line(doc_id=0, filter="none", reply="4", **metrics):
    metrics = metrics or {"exact_match": 1.0}
    return {
        "doc_id": doc_id, "doc": {"question": f"Question {doc_id}?", "answer": "4"}, "target": "4",
        "arguments": {"gen_args_0": {"arg_0": f"Question {doc_id}?", "arg_1": {"until": ["\n"]}}},
        "resps": [[reply]], "filtered_resps": [reply], "filter": filter, "metrics": list(metrics),
        "doc_hash": f"h{doc_id}", **metrics,
    }  # fmt: skip


def log(tmp_path, lines, name="samples.jsonl"):
    path = tmp_path / name
    path.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("value", "reward", "status"),
    [
        (1.0, 1, "ok"), (0, 0, "ok"), (0.25, 0.25, "ok"), (True, 1, "ok"), ([1.0], 1, "ok"),
        (float("nan"), None, "missing_reward"), (None, None, "missing_reward"), ("N/A", None, "missing_reward"),
        ([0.5, 3], None, "invalid_result"), ({"a": 1}, None, "invalid_result"), (35.2, None, "invalid_result"),
    ],
)  # fmt: skip
def test_every_kind_of_value(tmp_path, value, reward, status):
    row = wai.read(log(tmp_path, [line(score=value)]))[0]
    assert (row["reward"], row["judge_status"]) == (reward, status)


def test_a_metric_of_0_to_100_is_no_reward_even_where_it_is_0(tmp_path):
    rows = wai.read(log(tmp_path, [line(i, bleu=value) for i, value in enumerate((0.0, 35.2, 1.0))]))
    assert [(row["reward"], row["markers"]) for row in rows] == [(None, {"bleu": v}) for v in (0.0, 35.2, 1.0)]


def test_of_several_metrics_the_first_that_is_a_reward(tmp_path):
    rows = wai.read(log(tmp_path, [line(i, bleu=35.0 * i, f1=0.5, em=float(i)) for i in range(2)]))
    assert [(row["judge_name"], row["reward"]) for row in rows] == [("f1,none", 0.5)] * 2
    assert rows[1]["markers"] == {"bleu": 35.0, "em": 1.0}


def test_each_filter_has_metrics_of_its_own(tmp_path):
    lines = [line(0, "a", right=1.0), line(0, "b", exact=0.0)]
    assert wai.read(log(tmp_path, lines), filter="exact")[0]["reward"] == 0
    assert wai.read(log(tmp_path, lines), filter="b")[0]["judge_name"] == "exact,b"


def test_early_logs_are_one_list_with_other_arguments(tmp_path):
    early = [
        {
            "doc_id": i, "doc": {"q": f"Q{i}", "choices": ["x", "y"]}, "target": 1,
            "arguments": [[f"Q{i}", " x"], [f"Q{i}", " y"]], "resps": [[[-4.5 + i * 4, False]], [[-1.5, True]]],
            "filtered_resps": [[-4.5, False], [-1.5, True]], "acc": 1.0 - i, "acc_norm": 1.0,
        }
        for i in range(2)
    ]  # fmt: skip
    path = tmp_path / "early.json"
    path.write_text(json.dumps(early, indent=2))
    rows = wai.read(path)
    assert [(row["task_id"], row["final_text"], row["reward"], row["markers"]) for row in rows] == [
        ("0", "y", 1, {"acc_norm": 1.0}), ("1", "x", 0, {"acc_norm": 1.0}),
    ]  # fmt: skip
    assert {row["privileged"]["reference"] for row in rows} == {"y"}


def test_an_early_list_of_generations(tmp_path):
    one = {
        "doc_id": 3,
        "doc": {"answer": "9"},
        "target": "9",
        "arguments": [["What?", {"until": ["."]}]],
        "resps": [["9", "8"]],
        "em": 1.0,
    }
    path = tmp_path / "early.json"
    path.write_text(json.dumps([one]))
    assert [(row["prompt"], row["final_text"], row["reward"]) for row in wai.read(path)] == [
        ("What?", "9", None), ("What?", "8", None),
    ]  # fmt: skip


def test_a_prompt_that_is_a_conversation(tmp_path):
    turns = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}]
    for prompt in (json.dumps(turns), [json.dumps(turns)], turns):
        row = wai.read(log(tmp_path, [line() | {"arguments": {"gen_args_0": {"arg_0": prompt, "arg_1": {}}}}]))[0]
        assert (row["prompt"], row["messages"]) == ("Why?", turns)


def test_one_likelihood_is_a_reply_only_where_it_is_the_greedy_one(tmp_path):
    for greedy, reply in (("True", "word"), ("False", "")):
        arguments = {"gen_args_0": {"arg_0": "A", "arg_1": " word"}}
        one = line(acc=1.0) | {
            "arguments": arguments,
            "resps": [[["-1.5", greedy]]],
            "filtered_resps": [["-1.5", greedy]],
        }
        assert wai.read(log(tmp_path, [one]))[0]["final_text"] == reply


def test_a_reply_that_is_a_number_stays_a_reply(tmp_path):
    assert wai.read(log(tmp_path, [line(reply="-10.0")]))[0]["final_text"] == "-10.0"


def test_a_line_twice_counts_once_and_a_second_run_is_a_repeat(tmp_path):
    rows = wai.read(log(tmp_path, [line(), line(1), line(), line(1, reply="5")]))
    assert [(row["task_id"], row["final_text"]) for row in rows] == [("0", "4"), ("1", "4"), ("1", "5")]
    assert rows.report.skipped == {"lines that stand there twice": 1}


def test_damaged_lines_are_counted_by_reason_and_the_rest_is_read(tmp_path):
    path = log(tmp_path, [line(0), line(1)])
    good = path.read_bytes()
    path.write_bytes(b"\xef\xbb\xbf" + good + b'[1]\n\nnot json\n{"doc": 1}\n' + good.splitlines()[0][:40])
    rows = wai.read(path)
    assert [row["task_id"] for row in rows] == ["0", "1"]
    assert rows.report.skipped == {
        "lines that are no JSON object": 1, "lines that are no JSON": 1, "lines without a doc_id": 1,
        "torn last line": 1,
    }  # fmt: skip


def test_a_log_reads_alike_packed_and_under_another_name(tmp_path):
    plain = log(tmp_path, [line(0), line(1, exact_match=0.0)])
    packed = tmp_path / "other.csv"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert wai.read(packed) == wai.read(plain)
    packed.write_bytes(packed.read_bytes()[:-12])
    with pytest.raises(wai.RowError, match="must be a whole compressed file"):
        wai.read(packed)


def test_a_line_longer_than_the_beginning_that_is_looked_at(tmp_path):
    path = log(tmp_path, [line(0, reply="x" * 300_000), line(1)])
    assert recognise(path).format.name == "lm-eval"
    assert len(wai.read(path)) == 2
    assert len(wai.read(log(tmp_path, [line(0, reply="x" * 300_000)]))) == 1


def test_a_metric_that_only_later_lines_name(tmp_path):
    lines = [line(i, "a", right=1.0) for i in range(30)] + [line(i, "b", exact=i % 2) for i in range(30)]
    rows = wai.read(log(tmp_path, lines), filter="b")
    assert [row["reward"] for row in rows] == [i % 2 for i in range(30)]


@pytest.mark.parametrize(
    ("target", "doc", "gold"),
    [
        ("['3', '3.0']", {"golds": ["3", "3.0"]}, ["3", "3.0"]),
        ("[3, 4]", {"golds": [3, 4]}, ["3", "4"]),
        ("['a', 'b']", {}, ["a", "b"]),
        ("['a', 'b']", {"answer": "['a', 'b']"}, "['a', 'b']"),
        ("[3, 4]", {"answer": "[3, 4]"}, "[3, 4]"),
        ('["a"]', {}, '["a"]'),
        ("[a, b]", {}, "[a, b]"),
        ("[", {}, "["),
    ],
)
def test_several_golds_are_a_list_though_the_log_has_its_text(tmp_path, target, doc, gold):
    (row,) = wai.read(log(tmp_path, [{**line(), "target": target, "doc": doc}]))
    assert row["privileged"] == {"reference": gold}


@pytest.mark.parametrize("resps", [[], None, "x", [[]], [None], {}])
@pytest.mark.parametrize("arguments", [{}, None, [], {"gen_args_0": 1}])
def test_a_document_without_a_readable_response_has_an_empty_reply(tmp_path, resps, arguments):
    rows = wai.read(log(tmp_path, [{**line(), "resps": resps, "arguments": arguments}, line(1)]))
    assert [(row["task_id"], row["reward"]) for row in rows if row["final_text"] == "4"] == [("1", 1)]


def test_metrics_of_repeats_are_all_said_to_be_markers(tmp_path):
    several = {**line(**{"pass@2": 0.5, "pass@4": 1.0}), "resps": [["a", "b", "c", "d"]]}
    (note,) = wai.read(log(tmp_path, [several])).report.notes
    assert note.text == (
        "1 document has several completions and one verdict, on what the filter made of them; each completion is left "
        "unjudged, and pass@2 and pass@4 are markers."
    )


def test_models_that_are_read_as_one_are_named(tmp_path):
    for model in ("small", "large"):
        (tmp_path / model).mkdir()
        log(tmp_path / model, [line(), line(1)], "samples_sums_2026-02-01T10-00-00.000000.jsonl")
    (tmp_path / "notes.json").write_text('{"temperature": 1}')  # lies above, and is no log
    rows = wai.read(tmp_path)
    assert [(row["model"], row["task_id"]) for row in rows] == [(m, i) for m in ("large", "small") for i in "01"]
    assert rows.report.skipped == {"file that is neither rows nor a log": 1}
    (note,) = wai.pass_at(tmp_path).notes[1:2]
    assert str(note) == (
        "note models_mixed: completions of 2 models are read as one: large, small. Read the logs of each alone to "
        "compare them."
    )
    assert "model" not in wai.read(tmp_path / "small")[0]
