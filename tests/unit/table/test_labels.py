"""A key of the rows as a label of tasks: any container, any order, missing and contradicting values."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest

import whileai as wai
from whileai.table.clusters import check_found, check_key, labelled_table

ROWS = [
    {"task_id": "a", "reward": 1, "doc": "x", "info": {"part": 2}, "markers": {"m": 1}},
    {"task_id": "b", "reward": 0, "doc": None, "info": {}, "markers": {"m": 2}},
    {"task_id": "a", "reward": 0, "doc": "w", "info": {"part": 2.0}, "markers": {"m": 3}},
    {"task_id": "c", "reward": 1, "doc": "x", "info": None, "markers": {"m": 4}},
    {"task_id": "b", "reward": 1, "doc": math.nan, "info": {"part": "2"}, "markers": {"m": 5}},
]


def labelled(data, *paths):
    table, labels = labelled_table(data, "compare", "before", paths)
    return table, [labels[path] for path in paths]


def by_task(data, path):
    table, (labels,) = labelled(data, path)
    several = [task for task, found in zip(table.task, labels.several.tolist(), strict=True) if found]
    return dict(zip(table.task, labels.named(), strict=True)), several, labels.n_missing


def test_first_value_in_order_wins_and_several_are_named():
    assert by_task(ROWS, "doc") == ({"a": "w", "b": None, "c": "x"}, ["a"], 2)
    assert by_task(ROWS[::-1], "doc") == by_task(ROWS, "doc")


def test_one_number_has_one_name_at_any_depth():
    assert by_task(ROWS, "info.part") == ({"a": "2", "b": "2", "c": None}, [], 2)


def test_a_literal_key_with_a_dot_wins():
    rows = [{"task_id": 1, "reward": 1, "info.part": "literal", "info": {"part": "inner"}}]
    assert by_task(rows, "info.part")[0] == {"1": "literal"}


def test_the_table_is_that_of_the_rows():
    table, _ = labelled(ROWS, "doc", "info.part")
    plain = wai.task_table(ROWS)
    assert (table.task, table.n.tolist(), table.passes.tolist()) == (
        plain.task,
        plain.n.tolist(),
        plain.passes.tolist(),
    )
    assert table.markers["m"].mean.tolist() == plain.markers["m"].mean.tolist()


FLAT = [{"task_id": f"t{i % 7}", "reward": i % 2, "doc": f"d{i % 7 // 2}", "other": "x" * 50} for i in range(5000)]


def containers(folder):
    lines = "".join(json.dumps(row) + "\n" for row in FLAT)
    (folder / "rows.jsonl").write_text(lines)
    (folder / "rows.json").write_text(json.dumps(FLAT))
    frame = pl.DataFrame(FLAT)
    frame.write_parquet(folder / "rows.parquet")
    frame.write_csv(folder / "rows.csv")
    yield from (tuple(FLAT), iter(FLAT), frame, frame.lazy(), frame.to_arrow(), pd.DataFrame(FLAT))
    yield from (str(folder / f"rows.{kind}") for kind in ("jsonl", "json", "parquet", "csv"))


def test_any_container(tmp_path):
    expected = by_task(FLAT, "doc")
    for data in containers(tmp_path):
        assert by_task(data, "doc") == expected


def test_a_file_whose_task_stands_in_the_messages(tmp_path):
    rows = [{"messages": [{"role": "user", "content": f"q{i}"}], "reward": 1, "doc": f"d{i}"} for i in range(3)]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert by_task(path, "doc") == by_task(rows, "doc")
    assert sorted(by_task(path, "doc")[0].values()) == ["d0", "d1", "d2"]


def test_rows_of_several_completions():
    rows = [{"task_id": i, "final_text": ["u", "v"], "reward": [1, 0], "doc": "d"} for i in range(3)]
    table, (labels,) = labelled(rows, "doc")
    assert (table.n.tolist(), labels.n_rows, labels.named()) == ([2, 2, 2], 6, ["d"] * 3)


@pytest.mark.parametrize(
    ("path", "near"),
    [("dc", "Did you mean doc?"), ("info.prt", "Did you mean info.part?"), ("Doc", "Did you mean doc?")],
)
def test_a_path_that_leads_nowhere_names_the_near_miss(path, near, tmp_path):
    rows = [{**row, "doc": str(row["doc"])} for row in ROWS]
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for data in (rows, iter(rows), file):
        _, found = labelled(data, path)
        with pytest.raises(wai.ParamError) as error:
            check_found("compare", "by", path, found, [data])
        assert str(error.value) == f"compare: by must be a key of the rows; got {path!r}. {near}"


def test_no_rows_are_no_error():
    _, found = labelled([], "doc")
    check_found("compare", "by", "doc", found, [[]])
    assert found[0].named() == []


def test_what_has_no_keys():
    with pytest.raises(
        TypeError, match=r"^pass_at: data must be rows where cluster= is given; got a TaskTable\. It has"
    ):
        check_key("pass_at", "cluster", "doc", {"data": wai.task_table(ROWS)})
    with pytest.raises(wai.ParamError, match=r"^pass_at: cluster must be a key of the rows; got 3\.$"):
        check_key("pass_at", "cluster", 3, {"data": ROWS})


def test_a_saved_table_has_no_keys_either(tmp_path):
    wai.task_table(ROWS).save(tmp_path / "table.parquet")
    with pytest.raises(TypeError, match=r"^pass_at: data must be rows here; got a saved TaskTable\. It has counts of"):
        wai.pass_at(tmp_path / "table.parquet", cluster="doc")
    with pytest.raises(TypeError, match=r"^compare: before must be rows here; got a saved TaskTable\."):
        wai.compare(tmp_path / "table.parquet", ROWS, by="doc")


def test_a_bad_row_is_named_as_without_labels():
    rows = [*ROWS, {"task_id": "d", "reward": 7}]
    with pytest.raises(wai.RowError, match=r"^compare: before row 5: reward must be a number in \[0, 1\]; got 7"):
        labelled(rows, "doc")


def test_many_batches():
    n = 7000
    rows = [{"task_id": i, "reward": 1, "doc": (i * 37) % 50} for i in range(n)]
    table, (labels,) = labelled(rows, "doc")
    assert labels.named() == [str((int(task) * 37) % 50) for task in table.task]
    assert np.bincount(labels.first).tolist() == [140] * 50
