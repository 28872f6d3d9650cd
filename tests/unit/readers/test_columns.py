"""Columns are read where they stand, only those that are wanted, with the digits of a reading row by row."""

from __future__ import annotations

import subprocess
import sys

import datasets
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whileai as wai
from whileai.readers import columns

ROWS = [
    {"task_id": f"t{i // 4}", "prompt": f"q{i // 4}", "reward": [0, 1, 0.5, None][i * 7 % 4], "markers": {"n": i / 3}}
    for i in range(60)
]


def expected(rows=ROWS):
    table = wai.task_table(rows)
    return wai.pass_at(table).to_dict(), wai.compare(table, table, target="reward").to_dict()


def measured(data):
    return wai.pass_at(data()).to_dict(), wai.compare(data(), data(), target="reward").to_dict()


def boom(*_, **__):
    raise AssertionError("a column that nobody asked for was computed")


def test_a_lazy_frame_computes_only_what_is_wanted():
    frame = pl.LazyFrame([{**row, "final_text": "x"} for row in ROWS])
    frame = frame.with_columns(pl.col("final_text").map_batches(boom, return_dtype=pl.String))
    with pytest.raises(AssertionError):
        frame.collect()
    assert measured(lambda: frame) == expected()


@pytest.mark.parametrize("change", ["as it is", "shuffled", "filtered", "picked twice"])
def test_a_dataset_with_a_selection(change):
    data = datasets.Dataset.from_list([{**row, "final_text": "x"} for row in ROWS])
    rows = ROWS
    if change == "shuffled":
        data = data.shuffle(seed=3)
    elif change == "filtered":
        rows = ROWS[10:31]
        data = data.select(range(10, 31))
    elif change == "picked twice":
        rows = ROWS[20:60:3]
        data = data.select(range(20, 60)).select(range(0, 40, 3))
    assert measured(lambda: data) == expected(rows)


def test_a_stream_is_read_once_and_narrowed():
    texts = [{**row, "final_text": "x"} for row in ROWS]
    stream = pa.Table.from_pylist(texts).to_reader(7)
    table = columns.settled(stream, ("task_id", "reward"))
    assert table.column_names == ["task_id", "reward"]
    assert wai.pass_at(pa.Table.from_pylist(texts).to_reader(7)).to_dict() == expected()[0]


@pytest.mark.parametrize("column", ["task_id", "scenario_id", "prompt", "reward"])
@pytest.mark.parametrize("odd", [1.0, True, "1", np.float32(1), None, -1])
def test_pandas_columns_of_several_types(column, odd):
    rows = [{"task_id": "a", "scenario_id": "a", "prompt": "p", "reward": 1} for _ in range(1500)]
    rows.append({**rows[0], column: odd})
    if column != "task_id":
        for row in rows:
            del row["task_id"]
    frame = pd.DataFrame({name: pd.Series([row[name] for row in rows], dtype=object) for name in rows[0]})
    assert outcome(frame) == outcome(rows)


def outcome(data):
    """What a table says of its tasks, or of the row that it refuses."""
    try:
        table = wai.task_table(data)
    except wai.RowError as error:
        return error.index, error.key
    return dict(zip(table.task, table.n.tolist(), strict=True)), table.n_prompt_conflicts


def test_prompts_that_differ_are_counted_by_task(tmp_path):
    rows = [{"task_id": i % 3, "prompt": f"q{i % 3}" if i else None, "reward": 1} for i in range(12)]
    rows[5]["prompt"] = "another"
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "r.parquet")
    by_column, by_row = wai.task_table(tmp_path / "r.parquet"), wai.task_table(rows)
    assert by_column.n_prompt_conflicts == by_row.n_prompt_conflicts == 1
    assert wai.compare(by_column, by_row).to_dict() == wai.compare(by_row, by_row).to_dict()
    assert sorted(by_column.prompts.codes.tolist()) == sorted(by_row.prompts.codes.tolist())


def test_no_progress_bar_and_no_file_is_left(tmp_path):
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "r.parquet")
    script = "import whileai as wai; wai.pass_at('r.parquet'); wai.read('r.parquet')"
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")
    assert [path.name for path in tmp_path.iterdir()] == ["r.parquet"]


def test_json_lines_load_no_engine(tmp_path):
    (tmp_path / "r.jsonl").write_text('{"task_id": 1, "reward": 1, "final_text": "x"}\n')
    script = (
        "import sys, whileai as wai; wai.pass_at('r.jsonl')\n"
        "assert not {'duckdb', 'pyarrow', 'pandas', 'polars', 'datasets'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)


def test_frames_without_pyarrow(tmp_path):
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "r.parquet")
    script = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "pyarrow":
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Absent())
import polars as pl
import whileai as wai
frame = pl.read_parquet("r.parquet")
wanted = wai.pass_at("r.parquet").to_dict()
assert wai.pass_at(frame).to_dict() == wai.pass_at(frame.lazy()).to_dict() == wanted
class Stream:
    def __arrow_c_stream__(self, requested_schema=None):
        return frame.__arrow_c_stream__(requested_schema)
assert wai.pass_at(Stream()).to_dict() == wanted
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_relation_is_asked_for_its_wanted_columns():
    relation = duckdb.sql("select i // 2 as task_id, i % 2 as reward, error('asked') as final_text from range(8) t(i)")
    assert wai.pass_at(relation).n_tasks == 4
