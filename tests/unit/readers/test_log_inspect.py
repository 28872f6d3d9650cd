"""Inspect logs: written by Inspect and read back with the numbers it printed, and by hand where it writes no such."""

from __future__ import annotations

import gzip
import json
import math
import zipfile
from collections import defaultdict
from pathlib import Path

import pytest

import whileai as wai
from log_writers import INSPECT, written
from whileai.readers.logs import inspect_archive
from whileai.readers.logs.registry import recognise

WANTED = ("task_id", "scenario_id", "prompt", "reward", "markers")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    pytest.importorskip("inspect_ai", reason="inspect-ai is not installed")
    folder = tmp_path_factory.mktemp("inspect")
    said = written(INSPECT, folder)
    chunked = next((folder / "chunked").glob("*.eval"))
    return {**said, "chunked": {**said["eval"], "file": str(chunked)}}


def mean_of_tasks(rows, value):
    """What Inspect's mean reducer gives: the mean over tasks of the mean over epochs that have a value."""
    tasks = defaultdict(list)
    for row in rows:
        if value(row) is not None:
            tasks[row["task_id"]].append(value(row))
    return math.fsum(math.fsum(values) / len(values) for values in tasks.values()) / len(tasks)


@pytest.mark.parametrize("name", ["eval", "json", "chunked"])
def test_real_logs_give_the_numbers_that_inspect_printed(runs, name):
    file, metrics = runs[name]["file"], runs[name]["metrics"]
    rows = wai.read(file)
    assert mean_of_tasks(rows, lambda row: row["reward"]) == pytest.approx(metrics["match.accuracy"], abs=1e-12)
    assert wai.pass_at(file).pass_at_1 == pytest.approx(metrics["match.accuracy"], abs=1e-12)
    for marker, metric in {"judge": "judge", "rubric.a": "a", "rubric.b": "b", "n_words": "n_words"}.items():
        ours = mean_of_tasks(rows, lambda row, marker=marker: row.get("markers", {}).get(marker))
        assert ours == pytest.approx(metrics[f"{metric}.mean"], abs=1e-12)
    report = rows.report
    assert (report.n_rows, report.n_tasks, report.repeats) == (12, 4, (3, 3))
    assert (report.scored, report.unscored, report.errors, report.timeouts) == (10, 0, 1, 1)


@pytest.mark.parametrize("name", ["eval", "json", "chunked"])
def test_real_logs_keep_texts_gold_epochs_and_metadata(runs, name):
    rows = {(row["task_id"], row["epoch"]): row for row in wai.read(runs[name]["file"])}
    for task, epoch, completion, error, texts in runs[name]["samples"]:
        row = rows.pop((task, epoch))
        assert row["final_text"] == completion
        assert row["rollout_index"] == epoch - 1
        assert row.get("error") == error
        assert [turn["content"] for turn in row["messages"]] == texts
        assert row["privileged"] == {"reference": "5"}
        assert row["prompt"] == next(turn["content"] for turn in row["messages"] if turn["role"] == "user")
        assert (row["eval"], row["model"]) == ("sums", "script/m")
        assert len(row["metadata"]["text"]) == (2001 if row["metadata"]["passage"] == 0 else 16)
    assert not rows


@pytest.mark.parametrize("name", ["eval", "json"])
def test_error_timeout_unscored_and_wrong_are_four_things(runs, name):
    rows = {(row["task_id"], row["epoch"]): row for row in wai.read(runs[name]["file"], filter="judge")}
    assert (rows["q3", 2]["reward"], rows["q3", 2]["judge_status"]) == (None, "error")
    assert (rows["q3", 3]["reward"], rows["q3", 3]["judge_status"]) == (None, "timeout")
    assert (rows["q2", 1]["reward"], rows["q2", 1]["judge_status"]) == (None, "missing_reward")
    assert rows["q2", 1]["reason"] == "the judge gave no grade"
    assert (rows["q1", 2]["reward"], rows["q1", 2]["judge_status"]) == (0.5, "ok")
    wrong = [row for row in wai.read(runs[name]["file"]) if row["final_text"] == "It is 7."]
    assert wrong
    assert {(row["reward"], row["judge_status"]) for row in wrong} == {(0, "ok")}


def test_the_archive_really_has_zstd_members_of_several_frames(runs):
    data = Path(runs["eval"]["file"]).read_bytes()
    with zipfile.ZipFile(runs["eval"]["file"]) as archive:
        infos = [info for info in archive.infolist() if info.filename.startswith("samples/")]
    assert {info.compress_type for info in infos} == {93}
    info = infos[0]
    packed = data[info.header_offset : info.header_offset + info.compress_size]
    assert packed.count(b"\x28\xb5\x2f\xfd") > 1


def test_a_measurement_reads_summaries_and_no_sample(runs, monkeypatch):
    whole = wai.pass_at(wai.read(runs["eval"]["file"]))
    monkeypatch.setattr(inspect_archive.Samples, "_whole", lambda *_: pytest.fail("a sample was opened"))
    rows = list(recognise(runs["eval"]["file"]).rows("pass_at", WANTED))
    assert {"prompt", "messages", "final_text"}.isdisjoint(rows[0])
    assert wai.pass_at(rows).to_dict() == whole.to_dict()


def test_metadata_that_the_summary_cut_is_read_from_the_sample(runs):
    rows = list(recognise(runs["eval"]["file"]).rows("compare", ("task_id", "reward", "metadata.text")))
    assert len({row["metadata"]["text"] for row in rows}) == 4
    assert "messages" not in rows[0]


def test_a_folder_skips_the_listing_and_says_so(runs):
    folder = Path(runs["eval"]["file"]).parent
    rows = wai.read(folder)
    assert len(rows) == 12
    assert rows.report.skipped == {"file that is a listing of Inspect logs": 1}
    with pytest.raises(wai.ParamError, match=r"got 'a listing of Inspect logs'. Read the logs it names"):
        wai.read(folder / "logs.json")


def test_logs_of_two_evals_keep_their_tasks_apart(runs):
    rows = wai.read(Path(runs["eval"]["file"]).parents[1] / "*" / "*.eval")
    assert {row["task_id"] for row in rows} == {
        "sums/q1", "sums/q2", "sums/q3", "sums/4", "counts/q1", "counts/q2", "parts/q1", "parts/q2", "scored/q3",
    }  # fmt: skip


def test_a_score_beyond_1_is_a_marker_and_no_reward(runs):
    rows = wai.read(runs["counts"]["file"])
    assert [row["reward"] for row in rows] == [None, None]
    assert sorted(row["markers"]["n_words"] for row in rows) == [1.0, 3.0]
    assert {row["judge_status"] for row in rows} == {"invalid_result"}
    assert [note.code for note in rows.report.notes] == ["score_no_reward"]


def test_scores_that_are_mappings_are_markers_until_one_is_chosen(runs):
    rows = wai.read(runs["parts"]["file"])
    assert [(row["reward"], row["markers"]) for row in rows] == [(None, {"rubric.a": 0.5, "rubric.b": 0.0})] * 2
    assert [note.code for note in rows.report.notes] == ["no_single_score"]
    assert [row["reward"] for row in wai.read(runs["parts"]["file"], filter="rubric.a")] == [0.5, 0.5]


def test_errors_that_were_scored_on_request_keep_their_score(runs):
    rows = wai.read(runs["scored"]["file"])
    assert wai.pass_at(rows).pass_at_1 == runs["scored"]["metrics"]["match.accuracy"]
    assert rows[1]["reward"] == 0
    assert "crashed" in rows[1]["error"]
    assert [note.code for note in rows.report.notes] == ["scored_errors"]


def test_a_misspelt_scorer_names_the_near_miss(runs):
    for name in ("eval", "json"):
        with pytest.raises(wai.ParamError, match=r"filter must be a scorer of .*; got 'jugde'. Did you mean judge\?"):
            wai.read(runs[name]["file"], filter="jugde")


# by hand


def sample(id=1, epoch=1, value="C", scorer="match", **more):
    return {
        "id": id, "epoch": epoch, "input": "Name a colour.", "target": ["red", "blue"],
        "messages": [{"role": "user", "content": "Name a colour."}, {"role": "assistant", "content": "red"}],
        "output": {"choices": [{"message": {"role": "assistant", "content": "red"}, "stop_reason": "max_tokens"}]},
        "scores": {scorer: {"value": value}}, "metadata": {}, **more,
    }  # fmt: skip


def header(**more):
    return {"version": 2, "status": "success", "eval": {"task": "colours", "model": "m", "task_id": "t"}, **more}


def document(tmp_path, samples, **more):
    path = tmp_path / "log.json"
    path.write_text(json.dumps(header(samples=samples, **more)), encoding="utf-8")
    return path


def archive(tmp_path, members, name="log.eval"):
    path = tmp_path / name
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for member, content in members:
            file.writestr(member, content if isinstance(content, (str, bytes)) else json.dumps(content))
    return path


VALUES = [
    ("C", 1, "ok"), ("I", 0, "ok"), ("P", 0.5, "ok"), ("N", 0, "ok"), (True, 1, "ok"), (False, 0, "ok"), (1, 1, "ok"),
    (0.25, 0.25, "ok"), ("yes", 1, "ok"), ("No", 0, "ok"), ("true", 1, "ok"), ("0.75", 0.75, "ok"), ([1], 1, "ok"),
    (float("nan"), None, "missing_reward"), (None, None, "missing_reward"), ("GOOD", None, "invalid_result"),
    (7, None, "invalid_result"), (-1, None, "invalid_result"), (float("inf"), None, "invalid_result"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "reward", "status"), VALUES, ids=[str(value[0]) for value in VALUES])
def test_every_kind_of_value(tmp_path, value, reward, status):
    rows = wai.read(document(tmp_path, [sample(value=value)]))
    assert (rows[0]["reward"], rows[0]["judge_status"]) == (reward, status)
    assert type(rows[0]["reward"]) is type(reward)


def test_one_number_beyond_1_unscores_the_scorer_as_a_whole(tmp_path):
    rows = wai.read(document(tmp_path, [sample(i, value=i, scorer="steps") for i in (0, 1, 9)]))
    assert [row["reward"] for row in rows] == [None] * 3
    assert [row["markers"] for row in rows] == [{"steps": 0.0}, {"steps": 1.0}, {"steps": 9.0}]


def test_a_scorer_that_is_no_reward_leaves_its_place_to_the_next(tmp_path):
    both = [sample(i, scores={"steps": {"value": i * 4}, "right": {"value": "C"}}) for i in (0, 1)]
    rows = wai.read(document(tmp_path, both))
    assert [(row["judge_name"], row["reward"], row["markers"]) for row in rows] == [
        ("right", 1, {"steps": 0.0}), ("right", 1, {"steps": 4.0}),
    ]  # fmt: skip


def test_a_missing_score_does_not_hide_that_a_scorer_gives_mappings(tmp_path):
    both = [
        {"rubric": {"value": float("nan")}, "m": {"value": "C"}},
        {"rubric": {"value": {"a": 1}}, "m": {"value": "I"}},
    ]
    rows = wai.read(document(tmp_path, [sample(i, scores=scores) for i, scores in enumerate(both)]), filter="m")
    assert [row["reward"] for row in rows] == [1, 0]


def test_list_scores_are_markers_by_place(tmp_path):
    rows = wai.read(document(tmp_path, [sample(value=[1, 0.5, "C"])]))
    assert rows[0]["markers"] == {"match.0": 1.0, "match.1": 0.5, "match.2": 1.0}


def test_cut_off_reply_and_gold_list_are_kept(tmp_path):
    row = wai.read(document(tmp_path, [sample()]))[0]
    assert (row["stop_reason"], row["privileged"]) == ("max_tokens", {"reference": ["red", "blue"]})
    assert row["final_text"] == "red"
    assert wai.select([row], mode="sft") == []


@pytest.mark.parametrize(
    ("limit", "value", "status"),
    [({"type": "time", "limit": 9}, float("nan"), "timeout"), ("working", None, "timeout"),
     ("token", None, "missing_reward"), ({"type": "time"}, "I", "ok")],
)  # fmt: skip
def test_a_time_limit_without_a_score_is_a_timeout(tmp_path, limit, value, status):
    row = wai.read(document(tmp_path, [sample(value=value, limit=limit)]))[0]
    assert row["judge_status"] == status
    assert row["limit"] == (limit if isinstance(limit, str) else limit["type"])


@pytest.mark.parametrize(
    ("error", "status"),
    [("TimeoutError()", "timeout"), ("httpx.ReadTimeout('')", "timeout"), ("APITimeoutError('x')", "timeout"),
     ("RuntimeError('timeout was 3')", "error"), ("ValueError('x')", "error"), ("", "error")],
)  # fmt: skip
def test_errors_and_timeouts_by_the_exception(tmp_path, error, status):
    bad = sample(error={"message": error, "traceback": "..."}, scores={})
    assert wai.read(document(tmp_path, [sample(2), bad]))[1]["judge_status"] == status


def test_attachments_are_put_back_into_the_texts(tmp_path):
    long = sample(input="attachment://a", attachments={"a": "Is it red?", "b": "It is."})
    long["messages"] = [
        {"role": "user", "content": [{"type": "text", "text": "attachment://a"}, {"type": "text", "text": " Say."}]},
        {"role": "assistant", "content": "attachment://b",
         "tool_calls": [{"id": "c", "function": "look", "arguments": {"at": "attachment://a"}}]},
        {"role": "tool", "content": "attachment://gone", "tool_call_id": "c", "function": "look"},
    ]  # fmt: skip
    row = wai.read(document(tmp_path, [long]))[0]
    assert row["prompt"] == "Is it red?"
    assert row["messages"] == [
        {"role": "user", "content": "Is it red? Say."},
        {"role": "assistant", "content": "It is.", "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "look", "arguments": '{"at": "Is it red?"}'}}]},
        {"role": "tool", "content": "attachment://gone", "tool_call_id": "c", "name": "look"},
    ]  # fmt: skip


def summary(id, epoch=1, **more):
    return {key: value for key, value in sample(id, epoch, **more).items() if key not in ("messages", "output")}


def test_a_run_that_has_not_ended_is_read_from_its_journal(tmp_path):
    spec = {"task": "colours", "model": "m", "dataset": {"sample_ids": [1, 2, 3, 4]}, "config": {"epochs": 2}}
    path = archive(tmp_path, [
        ("_journal/start.json", {"version": 2, "eval": spec, "plan": {}}),
        ("samples/1_epoch_1.json", sample(1)), ("samples/2_epoch_1.json", sample(2, value="I")),
        ("_journal/summaries/2.json", [summary(2, value="I")]), ("_journal/summaries/10.json", [summary(3)]),
        ("_journal/summaries/1.json", [summary(1)]), ("samples/3_epoch_1.json", sample(3)),
        ("samples/4_epoch_1.json", sample(4)),
    ])  # fmt: skip
    reader = recognise(path)
    for rows in (wai.read(path), list(reader.rows("pass_at", WANTED))):
        assert [(row["task_id"], row["reward"]) for row in rows] == [("1", 1), ("2", 0), ("3", 1), ("4", 1)]
    assert [str(note) for note in reader.notes()] == [
        "note run_not_whole: the run has status started, and 4 of 8 samples are in its log."
    ]


def test_a_cancelled_run_is_read_and_says_how_much_of_it_is_there(tmp_path):
    path = document(tmp_path, [sample(1), sample(2)], status="cancelled", results={"total_samples": 6})
    assert [str(note) for note in wai.read(path).report.notes] == [
        "note run_not_whole: the run has status cancelled, and 2 of 6 samples are in its log."
    ]


def test_a_sample_that_was_run_again_counts_once_and_the_last_holds(tmp_path):
    path = archive(tmp_path, [
        ("header.json", header()), ("summaries.json", [summary(1, value="I"), summary(2), summary(1, value="C")]),
    ])  # fmt: skip
    rows = wai.read(path)
    assert [(row["task_id"], row["reward"]) for row in rows] == [("2", 1), ("1", 1)]
    assert rows.report.skipped == {"samples that were run again": 1}


def test_an_archive_without_summaries_is_read_from_its_samples(tmp_path):
    path = archive(tmp_path, [("header.json", header()), ("samples/a/b_epoch_2.json", sample("a/b", 2))])
    for rows in (wai.read(path), list(recognise(path).rows("pass_at", WANTED))):
        assert [(row["task_id"], row["epoch"], row["reward"]) for row in rows] == [("a/b", 2, 1)]


def test_a_damaged_sample_falls_back_to_its_summary(tmp_path):
    path = archive(tmp_path, [
        ("header.json", header()), ("summaries.json", [summary(1), summary(2)]),
        ("samples/1_epoch_1.json", '{"id": 1, "epoch'), ("samples/2_epoch_1.json", sample(2)),
    ])  # fmt: skip
    rows = wai.read(path)
    assert [(row["task_id"], row["reward"]) for row in rows] == [("1", 1), ("2", 1)]
    assert [note.code for note in rows.report.notes] == ["only_summary"]


def test_a_log_of_the_first_versions_has_one_score_without_a_name(tmp_path):
    old = sample()
    old["score"] = old.pop("scores")["match"]
    rows = wai.read(document(tmp_path, [old], results={"scorer": {"name": "includes"}}))
    assert (rows[0]["judge_name"], rows[0]["reward"]) == ("includes", 1)


def test_a_header_without_samples_gives_no_rows(tmp_path):
    assert wai.read(document(tmp_path, None)) == []


def test_a_document_cut_off_gives_its_whole_samples_and_says_so(tmp_path):
    path = document(tmp_path, [sample(i) for i in range(5)])
    text = path.read_text()
    path.write_text(text[: text.index('"id": 3') + 20])
    rows = wai.read(path)
    assert [row["task_id"] for row in rows] == ["0", "1", "2"]
    assert rows.report.skipped == {"torn end of the file": 1}


@pytest.mark.parametrize("odd", ['"\\ud83d"', "NaN", "-Infinity", "123456789012345678901234567890", '"\xe9"'])
def test_what_strict_json_refuses_is_read(tmp_path, odd):
    path = tmp_path / "log.json"
    text = json.dumps(header(samples=[sample(metadata={"odd": "HERE"}), sample(2)])).replace('"HERE"', odd)
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    rows = wai.read(path)
    assert [row["reward"] for row in rows] == [1, 1]
    assert rows[0]["metadata"]["odd"] == json.loads(odd) or math.isnan(rows[0]["metadata"]["odd"])


def test_a_log_reads_alike_under_any_name_and_packing(tmp_path):
    plain = document(tmp_path, [sample(1), sample(2, value="I")])
    data = plain.read_bytes()
    names = {"log.jsonl": data, "log": data, "log.parquet": gzip.compress(data), "log.csv": data + b"\n"}
    for name, data in names.items():
        (tmp_path / name).write_bytes(data)
        assert wai.read(tmp_path / name) == wai.read(plain)


def test_a_sample_that_is_no_json_is_counted_and_the_rest_read(tmp_path):
    path = document(tmp_path, [sample(1), sample(2), sample(3)])
    path.write_text(path.read_text().replace('"id": 2', '"id": two'))
    rows = wai.read(path)
    assert [row["task_id"] for row in rows] == ["1", "3"]
    assert rows.report.skipped == {"entries that are no JSON": 1}


@pytest.mark.parametrize("member", ["header.json", "summaries.json"])
def test_a_broken_member_that_all_depends_on_is_an_error(tmp_path, member):
    members = {"header.json": json.dumps(header()), "summaries.json": json.dumps([summary(1)])}
    path = archive(
        tmp_path, [(name, text[: len(text) // 2] if name == member else text) for name, text in members.items()]
    )
    with pytest.raises(wai.RowError, match=r"log.eval must be a whole"):
        wai.read(path)


def test_bytes_changed_in_an_archive_are_an_error(tmp_path):
    path = archive(tmp_path, [("header.json", header()), ("summaries.json", [summary(i) for i in range(50)])])
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as file:
        place = file.getinfo("summaries.json").header_offset + 100
    data[place : place + 20] = b"\xff" * 20
    path.write_bytes(data)
    with pytest.raises(wai.RowError, match=r"log.eval must be a whole"):
        wai.read(path)


def test_other_archives_and_objects_are_no_inspect_logs(tmp_path):
    for members in ([("samples/cat.png", "x")], [("header.json", "{}")], [("notes/summaries.json", "[]")]):
        with pytest.raises(wai.ParamError, match="It looks like a zip archive with"):
            wai.read(archive(tmp_path, members, "other.zip"))
    for other in ({"eval": {"HumanEval/0": []}, "status": "x"}, {"a.json": {"loss": 1}}):
        (tmp_path / "other.json").write_text(json.dumps(other))
        with pytest.raises(wai.ParamError, match="It looks like a JSON object"):
            wai.read(tmp_path / "other.json")


def test_samples_before_a_hole_in_an_archive_are_read_from_their_summaries(runs, tmp_path):
    data = Path(runs["eval"]["file"]).read_bytes()
    with zipfile.ZipFile(runs["eval"]["file"]) as archive:
        first = min(info.header_offset for info in archive.infolist() if info.filename.startswith("samples/"))
    path = tmp_path / "lost.eval"
    path.write_bytes(data[: first + 60] + data[2 * first + 120 :])  # what the archive lists now lies before its start
    rows = wai.read(path)
    assert len(rows) == 12
    assert "only_summary" in [note.code for note in rows.report.notes]
    assert wai.pass_at(path).pass_at_1 == wai.pass_at(runs["eval"]["file"]).pass_at_1


def test_what_both_logs_say_is_said_once_and_else_with_the_arm(runs):
    both = wai.compare(runs["eval"]["file"], runs["json"]["file"])
    sliced = wai.compare(runs["eval"]["file"], runs["json"]["file"], by="metadata.passage")
    for result in (both, sliced):
        assert [note.code for note in result.notes].count("scorer_chosen") == 1
    one = wai.compare(runs["eval"]["file"], wai.read(runs["eval"]["file"]), by="metadata.passage")
    (note,) = [note for note in one.notes if note.code == "scorer_chosen"]
    assert note.text.startswith("before: scorer match was read; ")
