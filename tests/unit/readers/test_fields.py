"""``fields=`` and list columns: other people's names, k completions in one line."""

from __future__ import annotations

import csv
import gzip
import json

import datasets
import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whileai as wai

FIELDS = {"task_id": "idx", "prompt": "question", "final_text": "response", "reward": "score", "reference": "gt"}
MARKED = {**FIELDS, "marker:len": "n_tokens"}


def flat_rows():
    return [
        {"idx": i // 4, "question": f"q{i // 4}", "response": f"r{i}", "score": i % 3 % 2, "gt": "1", "n_tokens": i / 7}
        for i in range(40)
    ]


def ours(rows):
    return [
        {
            "task_id": row["idx"],
            "prompt": row["question"],
            "final_text": row["response"],
            "reward": row["score"],
            "markers": {"len": row["n_tokens"]},
        }
        for row in rows
    ]


def as_lines(rows, folder):
    path = folder / "r.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def as_gzip(rows, folder):
    path = folder / "r.jsonl.gz"
    path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))
    return path


def as_json(rows, folder):
    path = folder / "r.json"
    path.write_text(json.dumps(rows))
    return path


def as_csv(rows, folder):
    path = folder / "r.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def as_parquet(rows, folder):
    pq.write_table(pa.Table.from_pylist(rows), folder / "r.parquet")
    return folder / "r.parquet"


CONTAINERS = {
    "list": lambda rows, _: rows,
    "generator": lambda rows, _: iter(rows),
    "lines": as_lines,
    "gzip": as_gzip,
    "json": as_json,
    "parquet": as_parquet,
    "pandas": lambda rows, _: pd.DataFrame(rows),
    "polars": lambda rows, _: pl.DataFrame(rows),
    "polars lazy": lambda rows, _: pl.LazyFrame(rows),
    "arrow": lambda rows, _: pa.Table.from_pylist(rows),
    "arrow batches": lambda rows, _: pa.Table.from_pylist(rows).to_reader(3),
    "hugging face": lambda rows, _: datasets.Dataset.from_list(rows),
    "duckdb": lambda rows, _: duckdb.from_arrow(pa.Table.from_pylist(rows)),
}


@pytest.mark.parametrize("name", [*CONTAINERS, "csv"])
def test_the_same_digits_under_other_names(tmp_path, name):
    rows = flat_rows()
    hold = {**CONTAINERS, "csv": as_csv}[name]
    table = wai.task_table(hold(rows, tmp_path), fields=MARKED)
    expected = wai.task_table(ours(rows))
    assert wai.pass_at(table).to_dict() == wai.pass_at(expected).to_dict()
    metric = {"target": "marker:len"}
    assert wai.compare(table, table, **metric).to_dict() == wai.compare(expected, expected, **metric).to_dict()
    read = wai.read(hold(rows, tmp_path), fields=MARKED)
    assert [row["privileged"] for row in read] == [{"reference": "1"}] * 40
    assert wai.pass_at(read).to_dict() == wai.pass_at(expected).to_dict()


LISTS = [
    {"idx": i, "question": f"q{i}", "response": texts, "score": scores, "gt": gold, "n_tokens": sizes}
    for i, (texts, scores, gold, sizes) in enumerate(
        [(["x", "y", "z"], [True, False, True], "x", [1, 2, 3]), (["x"], [False], "y", [9]), ([], [], "z", [])]
    )
]


@pytest.mark.parametrize("name", CONTAINERS)
def test_completions_in_lists(tmp_path, name):
    fields = {**MARKED, "metadata.mine": "n_tokens"}
    rows = wai.read(CONTAINERS[name](LISTS, tmp_path), fields=fields)
    assert [(r["task_id"], r["rollout_index"], r["final_text"], r["reward"], r["markers"]["len"]) for r in rows] == [
        (0, 0, "x", True, 1),
        (0, 1, "y", False, 2),
        (0, 2, "z", True, 3),
        (1, 0, "x", False, 9),
    ]
    assert [row["metadata"]["mine"] for row in rows] == [1, 2, 3, 9]
    assert {row["privileged"]["reference"] for row in rows} == {"x", "y"}
    assert "response" not in rows[0]
    table = wai.task_table(CONTAINERS[name](LISTS, tmp_path), fields=MARKED)
    assert dict(zip(table.task, table.n.tolist(), strict=True)) == {"0": 3, "1": 1}


@pytest.mark.parametrize("name", CONTAINERS)
def test_our_own_names_in_lists_need_no_map(tmp_path, name):
    rows = [
        {"task_id": "a", "prompt": "p", "final_text": ["x", "y"], "reward": [1, 0]},
        {"task_id": "b", "prompt": "q", "final_text": ["x", "y", "z"], "reward": [1, 1, 0]},
    ]
    flat = [
        {"task_id": row["task_id"], "prompt": row["prompt"], "final_text": text, "reward": reward}
        for row in rows
        for text, reward in zip(row["final_text"], row["reward"], strict=True)
    ]
    hold = lambda: CONTAINERS[name](rows, tmp_path)  # noqa: E731
    assert wai.pass_at(hold()).to_dict() == wai.pass_at(flat).to_dict()
    assert [row["final_text"] for row in wai.read(hold())] == [row["final_text"] for row in flat]
    assert len(wai.select(hold(), mode="rl")) == len(wai.select(flat, mode="rl"))
    graded = wai.grade(hold(), lambda row: row["final_text"] == "x")
    assert [row["reward"] for row in graded] == [1, 0, 1, 0, 0]


def test_one_value_belongs_to_all():
    row = {"task_id": "a", "prompt": "p", "final_text": ["x", "y"], "reward": 1, "markers": {"n": [1, None], "m": 5}}
    first, second = wai.read([row])
    assert (first["reward"], second["reward"]) == (1, 1)
    assert (first["markers"], second["markers"]) == ({"n": 1, "m": 5}, {"m": 5})
    assert row["final_text"] == ["x", "y"]


def test_what_is_no_list_of_completions():
    turns = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "5"}]
    (row,) = wai.read([{"idx": 1, "question": turns[:1], "response": turns[1:], "score": 1}], fields={
        "task_id": "idx", "prompt": "question", "final_text": "response", "reward": "score"})  # fmt: skip
    assert (row["prompt"], row["final_text"], row["messages"]) == ("hi", "5", turns)
    (row,) = wai.read([{"question": turns[:1], "gt": ["5", "five"], "response": "5"}], fields={
        "prompt": "question", "reference": "gt", "final_text": "response"})  # fmt: skip
    assert row["privileged"]["reference"] == ["5", "five"]
    assert row["task_id"] == wai.rows(["hi"], ["5"])[0]["task_id"]


def test_lists_of_message_lists():
    replies = [[{"role": "assistant", "content": text}] for text in ("5", "6")]
    rows = wai.read(
        [{"q": "2 + 3?", "out": replies, "ok": [1, 0]}], fields={"prompt": "q", "final_text": "out", "reward": "ok"}
    )
    assert [(row["final_text"], row["reward"]) for row in rows] == [("5", 1), ("6", 0)]


@pytest.mark.parametrize("place", [0, 1])
def test_lists_of_different_lengths(tmp_path, place):
    rows = [dict(LISTS[1])] * place + [{**LISTS[0], "score": [True, False]}]
    path = as_lines(rows, tmp_path)
    for call in (lambda: wai.read(path, fields=FIELDS), lambda: wai.task_table(path, fields=FIELDS)):
        with pytest.raises(wai.RowError) as error:
            call()
        end = f": {path} row {place}: score must be as long as response, which has 3 items; got 2 items."
        assert str(error.value).endswith(end)
        assert error.value.index == place


def test_dotted_paths_and_literal_dots():
    row = {"doc": {"q": "p", "ids": ["a", "b"]}, "eval.score": 0.5, "n": {"tokens": 3}}
    fields = {"prompt": "doc.q", "task_id": "doc.ids.1", "reward": "eval.score", "marker:t": "n.tokens"}
    (read,) = wai.read([row], fields=fields)
    assert (read["prompt"], read["task_id"], read["reward"], read["markers"]) == ("p", "b", 0.5, {"t": 3})
    assert read["doc"] == row["doc"]


def test_dotted_paths_into_structs_of_parquet(tmp_path):
    rows = [{"doc": {"id": i // 2, "q": f"q{i // 2}"}, "m": {"acc": i % 2}} for i in range(8)]
    path = as_parquet(rows, tmp_path)
    fields = {"task_id": "doc.id", "prompt": "doc.q", "reward": "m.acc"}
    assert wai.task_table(path, fields=fields).n.tolist() == [2] * 4
    with pytest.raises(wai.ParamError, match=r"got 'm\.ac'\. Did you mean m\.acc\?"):
        wai.task_table(path, fields={**fields, "reward": "m.ac"})


def test_names_that_are_swapped_or_shared():
    row = {"prompt": "an id", "question": "text"}
    (read,) = wai.read([row], fields={"task_id": "prompt", "prompt": "question", "scenario_id": "prompt"})
    assert read == {"task_id": "an id", "scenario_id": "an id", "prompt": "text"}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"task_di": "idx"}, "fields must be a map of our names to the data's; got 'task_di'. Did you mean task_id?"),
        ({"marker:": "idx"}, "fields must be a map of our names to the data's; got 'marker:'."),
        ({"metadata.": "idx"}, "fields must be a map of our names to the data's; got 'metadata.'."),
        ({5: "idx"}, "fields must be a map of our names to the data's; got 5."),
        ({"reward": "scor"}, "fields['reward'] must be a column of the data; got 'scor'. Did you mean score?"),
        ({"reward": "SCORE"}, "fields['reward'] must be a column of the data; got 'SCORE'. Did you mean score?"),
        ({"reward": 5}, "fields['reward'] must be the name of a column; got 5."),
        ({"reward": ""}, "fields['reward'] must be the name of a column; got ''."),
        (["reward"], "fields must be a mapping of names; got ['reward']."),
        ("reward", "fields must be a mapping of names; got 'reward'."),
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["list", "lines", "parquet", "csv", "polars lazy"])
def test_what_is_no_map(tmp_path, fields, message, name):
    hold = {**CONTAINERS, "csv": as_csv}[name]
    for call in (wai.read, wai.task_table):
        with pytest.raises(wai.ParamError) as error:
            call(hold(flat_rows(), tmp_path), fields=fields)
        assert f": {message}" in str(error.value)


def test_a_column_that_only_some_rows_have(tmp_path):
    rows = flat_rows()
    for row in rows[::2]:
        del row["score"]
    assert wai.pass_at(wai.task_table(as_lines(rows, tmp_path), fields=FIELDS)).n_unjudged == 20


def test_a_table_has_our_names():
    with pytest.raises(wai.ParamError, match="fields must be left out where the data is a TaskTable"):
        wai.task_table(wai.task_table(ours(flat_rows())), fields=FIELDS)


def test_no_rows_name_no_column(tmp_path):
    (tmp_path / "r.jsonl").write_text("")
    assert wai.read(tmp_path / "r.jsonl", fields=FIELDS) == []


@pytest.mark.parametrize("column", ["response", "code"])
def test_a_published_file_of_eight_completions_a_line(data_folder, column):
    path = data_folder / "qwen_math" / "math_cot_100.jsonl"
    fields = {**FIELDS, "final_text": column}
    rows = wai.read(path, fields=fields)
    assert len(rows) == 800
    assert {row["rollout_index"] for row in rows} == set(range(8))
    result = wai.pass_at(wai.task_table(path, fields=fields))
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert (result.n_tasks, result.n_rows, result.k) == (100, 800, 8)
    assert result.pass_at_1 == pytest.approx(sum(sum(line["score"]) for line in lines) / 800, abs=1e-12)
    assert wai.pass_at(rows).to_dict() == result.to_dict()


@pytest.mark.parametrize("name", CONTAINERS)
def test_a_path_into_a_list(tmp_path, name):
    rows = [{"id": place % 2, "scores": [0.5, place % 2], "doc": {"tags": [{"n": place}]}} for place in range(6)]
    fields = {"task_id": "id", "reward": "scores.1", "marker:n": "doc.tags.0.n"}
    table = wai.task_table(CONTAINERS[name](rows, tmp_path), fields=fields)
    assert dict(zip(table.task, table.passes.tolist(), strict=True)) == {"0": 0, "1": 3}
    assert sorted(table.markers["n"].mean.tolist()) == [2.0, 3.0]
    data = CONTAINERS[name](rows, tmp_path)
    with pytest.raises(wai.ParamError, match=r"fields\['reward'\] must be a column of the data; got 'score.1'"):
        wai.task_table(data, fields=fields | {"reward": "score.1"})
