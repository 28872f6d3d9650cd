"""Frames, tables, relations and plain Python containers: the same rows, and what is refused."""

from __future__ import annotations

import datetime as dt
from collections import UserDict, deque
from types import MappingProxyType

import datasets
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whileai as wai
from whileai.readers.containers import as_list

ROWS = [
    {"task_id": "a", "final_text": "x", "reward": 1.0, "markers": {"n": 1.0, "m": 2.0}, "steps": [{"tool": "t"}]},
    {"task_id": "a", "final_text": "y", "reward": None, "markers": {"n": 3.0, "m": None}, "steps": []},
    {"task_id": "b", "final_text": "", "reward": 0.5, "markers": None, "steps": None},
]


class Stream:
    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def parquet_to_pandas(rows, tmp_path):
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "r.parquet")
    return pd.read_parquet(tmp_path / "r.parquet")


CONTAINERS = {
    "tuple": lambda rows, _: tuple(rows),
    "generator": lambda rows, _: (row for row in rows),
    "deque": lambda rows, _: deque(rows),
    "dict values": lambda rows, _: dict(enumerate(rows)).values(),
    "UserDicts": lambda rows, _: [UserDict(row) for row in rows],
    "proxies": lambda rows, _: [MappingProxyType(row) for row in rows],
    "pandas": lambda rows, _: pd.DataFrame(rows),
    "pandas from parquet": parquet_to_pandas,
    "pandas of arrow": lambda rows, _: pa.Table.from_pylist(rows).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda rows, _: pl.DataFrame(rows),
    "polars lazy": lambda rows, _: pl.DataFrame(rows).lazy(),
    "arrow": lambda rows, _: pa.Table.from_pylist(rows),
    "arrow batches": lambda rows, _: pa.Table.from_pylist(rows).to_reader(2),
    "arrow stream": lambda rows, _: Stream(pa.Table.from_pylist(rows)),
    "hugging face": lambda rows, _: datasets.Dataset.from_list(rows),
    "hugging face stream": lambda rows, _: datasets.Dataset.from_list(rows).to_iterable_dataset(),
    "duckdb": lambda rows, _: duckdb.from_arrow(pa.Table.from_pylist(rows)),
}


@pytest.fixture(params=CONTAINERS)
def hold(request, tmp_path):
    return lambda rows: CONTAINERS[request.param](rows, tmp_path)


def test_the_same_rows(hold):
    assert as_list(hold(ROWS), "c", "data") == ROWS


def test_the_same_table(hold):
    table, expected = wai.task_table(hold(ROWS)), wai.task_table(ROWS)
    line, wanted = [table.place[task] for task in ("a", "b")], [expected.place[task] for task in ("a", "b")]
    for name in ("n", "passes", "n_partial", "n_unjudged"):
        assert getattr(table, name)[line].tolist() == getattr(expected, name)[wanted].tolist()
    assert {name: column.n[line].tolist() for name, column in table.markers.items()} == {"n": [2, 0], "m": [1, 0]}
    assert [column.mean[line[0]] for column in table.markers.values()] == [2.0, 2.0]


def test_select_from_any_container(hold):
    rows = [{**row, "reward": i % 2, "final_text": str(i)} for i, row in enumerate(ROWS * 2)]
    kept = wai.select(hold(rows), mode="rl")
    assert [(row["task_id"], row["final_text"]) for row in kept] == [
        (row["task_id"], row["final_text"]) for row in rows
    ]


def test_types_of_a_database():
    relation = duckdb.sql("""
        select * from (values
            (uuid '00000000-0000-0000-0000-000000000001', 1.0, date '2026-01-01'),
            (uuid '00000000-0000-0000-0000-000000000001', null, null),
            (uuid '00000000-0000-0000-0000-000000000002', 0.5, null)) t(task_id, reward, day)
    """)
    table = wai.task_table(relation)
    assert table.task == ["00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"]
    assert (table.n.tolist(), table.n_partial.tolist(), table.n_unjudged.tolist()) == ([1, 0], [0, 1], [1, 0])
    assert as_list(relation, "c", "data")[0]["day"] == dt.date(2026, 1, 1)


def test_markers_as_an_arrow_map():
    kind = pa.map_(pa.string(), pa.float64())
    table = pa.table({"task_id": ["a", "b"], "reward": [1, 0], "markers": pa.array([[("n", 2.0)], None], kind)})
    for data in (table, duckdb.from_arrow(table)):
        assert wai.task_table(data).markers["n"].n.tolist() == [1, 0]


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "boolean", "category", "object", "float32"])
def test_pandas_types(dtype):
    frame = pd.DataFrame({"task_id": [1, 1, 2], "reward": pd.array([1, 0, None], dtype="object")})
    frame["reward"] = frame["reward"].astype(dtype)
    table = wai.task_table(frame)
    assert (table.task, table.n.tolist(), table.passes.tolist(), table.n_unjudged.tolist()) == (
        ["1", "2"],
        [2, 0],
        [1, 0],
        [0, 1],
    )


def test_pandas_records_with_na():
    rows = pd.DataFrame({"task_id": [1, 2], "reward": pd.array([1, None], dtype="Int64")}).to_dict("records")
    assert wai.pass_at(rows).n_unjudged == 1


def test_a_frame_is_left_as_it_is():
    frame = pd.DataFrame(ROWS).iloc[::-1]
    keep = frame.copy(deep=True)
    wai.task_table(frame)
    wai.grade(frame, lambda row: 1)
    pd.testing.assert_frame_equal(frame, keep)


@pytest.mark.parametrize(
    "data",
    [
        None,
        5,
        0.5,
        b"rows.jsonl",
        bytearray(b"x"),
        {"task_id": 1},
        {1, 2},
        np.zeros(3),
        np.array([{"a": 1}]),
        pd.Series([1]).array.to_numpy(),
        dict,
        object(),
        list,
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_data(data):
    calls = {
        "data": [lambda: wai.pass_at(data), lambda: wai.task_table(data), lambda: wai.grade(data, lambda row: 1)],
        "before": [lambda: wai.compare(data, [])],
        "after": [lambda: wai.compare([], data)],
        "runs[1]": [lambda: wai.eval_variance([], data)],
        "rows": [lambda: wai.select(data, mode="rl")],
    }
    for argument, some in calls.items():
        for call in some:
            with pytest.raises(TypeError) as error:
                call()
            assert f": {argument} must be a list or generator of dict rows, a path or glob" in str(error.value)


@pytest.mark.parametrize("row", [5, "text", None, ["a"], ("task_id", 1)], ids=str)
@pytest.mark.parametrize("place", [0, 1])
def test_what_is_no_row(row, place):
    rows = [{"task_id": 1, "reward": 1}]
    rows.insert(place, row)
    for data in (rows, tuple(rows), iter(rows)):
        with pytest.raises(TypeError) as error:
            wai.pass_at(data)
        assert str(error.value) == f"pass_at: row {place} must be a dict, in a list of rows; got {row!r}."


def test_a_generator_is_read_once():
    def once():
        yield from ROWS
        raise_if_asked_again.append(1)
        assert len(raise_if_asked_again) == 1

    raise_if_asked_again = []
    assert wai.pass_at(once()).n_rows == 3


def test_an_error_inside_a_generator_is_not_swallowed():
    def torn():
        yield ROWS[0]
        raise ConnectionError("gone")

    with pytest.raises(ConnectionError, match="gone"):
        wai.pass_at(torn())
