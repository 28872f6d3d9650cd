"""Rows that are odd in one way give the digits and the notes of plain ones, whatever they stand in."""

from __future__ import annotations

import json
from collections import defaultdict
from decimal import Decimal

import datasets
import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whileai as wai
from whileai.table.flat import to_flat
from whileai.table.from_rows import BATCH


def as_lines(rows, folder):
    path = folder / f"{len(rows)}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def as_json(rows, folder):
    path = folder / "rows.json"
    path.write_text(json.dumps(rows))
    return path


def as_parquet(rows, folder):
    path = folder / f"{len(rows)}.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def in_two(hold):
    """Two files, the first of two rows in three."""

    def held(rows, folder):
        cut = (2 * len(rows) + 2) // 3
        hold(rows[:cut], folder)
        hold(rows[cut:], folder)
        return folder

    return held


def as_reader(rows, _):
    return pa.Table.from_pylist(rows).to_reader(max(1, len(rows) // 3))


FRAMES = {
    "parquet": as_parquet,
    "pandas": lambda rows, _: pd.DataFrame(rows),
    "polars": lambda rows, _: pl.DataFrame(rows, infer_schema_length=None),
    "polars lazy": lambda rows, _: pl.LazyFrame(rows, infer_schema_length=None),
    "arrow": lambda rows, _: pa.Table.from_pylist(rows),
    "arrow batches": as_reader,
    "hugging face": lambda rows, _: datasets.Dataset.from_list(rows),
    "duckdb": lambda rows, _: duckdb.from_arrow(pa.Table.from_pylist(rows)),
}
IN_MEMORY = {"list": lambda rows, _: rows, "generator": lambda rows, _: iter(rows), **FRAMES}
#: What holds values of any type side by side in one column.
LOOSE = {
    **{name: IN_MEMORY[name] for name in ("list", "generator")},
    "lines": as_lines,
    "two files of lines": in_two(as_lines),
    "json": as_json,
}
CONTAINERS = {**IN_MEMORY, **LOOSE, "two files of parquet": in_two(as_parquet)}
#: DuckDB tells no case apart, and gives one of two such columns another name before its relation comes here.
CASED = {name: hold for name, hold in CONTAINERS.items() if name != "duckdb"}


def each(containers):
    return pytest.mark.parametrize("hold", containers.values(), ids=containers)


def counted(data):
    """Task to its rows with a binary reward and how many of them pass."""
    table = wai.task_table(data)
    return {task: (n, ones) for task, n, ones in zip(table.task, table.n.tolist(), table.passes.tolist(), strict=True)}


def told(notes):
    return [str(note) for note in notes if note.code == "log_skipped"]


# rows that nothing but their messages names


def talk(place):
    """A row of one of 700 questions, in one of five documents."""
    question = place % 700
    turns = [{"role": "user", "content": f"question {question}"}, {"role": "assistant", "content": f"answer {place}"}]
    return {"messages": turns, "reward": place % 3 % 2, "doc": f"d{question % 5}", "level": question % 2}


TALKS = [talk(place) for place in range(BATCH + 452)]
UNNAMED = {
    "no other key": TALKS,
    "keys that are always None": [{"task_id": None, "prompt": None, **row} for row in TALKS],
    "an id on those of the first batch": [
        {"task_id": f"t{i}" if i < BATCH else None, **r} for i, r in enumerate(TALKS)
    ],
}


@pytest.mark.parametrize("rows", UNNAMED.values(), ids=UNNAMED)
@each(CONTAINERS)
def test_messages_name_the_task(hold, rows, tmp_path):
    named = [{**row, "task_id": row.get("task_id") or row["messages"][0]["content"]} for row in rows]
    assert wai.pass_at(hold(rows, tmp_path)).to_dict()["intervals"] == wai.pass_at(named).to_dict()["intervals"]
    prompts = [{"prompt": row["messages"][0]["content"], "reward": row["reward"]} for row in TALKS]
    if rows is not UNNAMED["an id on those of the first batch"]:
        assert counted(hold(rows, tmp_path)) == counted(prompts)


@pytest.mark.parametrize("rows", UNNAMED.values(), ids=UNNAMED)
@each(CONTAINERS)
def test_messages_name_the_task_beside_a_label(hold, rows, tmp_path):
    assert wai.pass_at(hold(rows, tmp_path), cluster="doc").to_dict() == wai.pass_at(rows, cluster="doc").to_dict()
    found = wai.compare(hold(rows, tmp_path), rows, by="level", cluster="doc")
    assert found.to_dict() == wai.compare(rows, rows, by="level", cluster="doc").to_dict()
    assert list(found.slices) == ["0", "1"]


def test_a_stream_is_asked_once_for_labels_and_tasks():
    rows = [{"task_id": f"t{i}", "reward": i % 2, "doc": f"d{i % 4}", "level": i % 3} for i in range(60)]
    stream = as_reader(rows, None)
    assert wai.pass_at(stream, cluster="doc").to_dict() == wai.pass_at(rows, cluster="doc").to_dict()
    assert list(stream) == []
    before, after = as_reader(rows, None), as_reader(rows[::-1], None)
    assert wai.compare(before, after, by="level").to_dict() == wai.compare(rows, rows, by="level").to_dict()


# completions in lists

ONE_REWARD = [
    {"task_id": "a", "prompt": "p", "final_text": ["x", "y", "z"], "reward": 1, "doc": "d"},
    {"task_id": "b", "prompt": "q", "final_text": ["x", "y"], "reward": 0, "doc": "e"},
    {"task_id": "c", "prompt": "r", "final_text": [], "reward": 1, "doc": "d"},
]
EMPTY = "note log_skipped: the reader skipped 1 row with an empty list of completions."


@each(CONTAINERS)
def test_one_reward_belongs_to_all_of_a_list(hold, tmp_path):
    assert counted(hold(ONE_REWARD, tmp_path)) == {"a": (3, 3), "b": (2, 0)}
    result = wai.pass_at(hold(ONE_REWARD, tmp_path))
    assert (result.k, result.n_rows, told(result.notes)) == (2, 5, [EMPTY])
    assert result.to_dict() == wai.pass_at(ONE_REWARD).to_dict()


@each(CONTAINERS)
def test_an_empty_list_is_noted_whatever_is_asked(hold, tmp_path):
    assert [str(note) for note in wai.task_table(hold(ONE_REWARD, tmp_path)).reading] == [EMPTY]
    assert told(wai.pass_at(hold(ONE_REWARD, tmp_path), cluster="doc").notes) == [EMPTY]
    assert told(wai.compare(hold(ONE_REWARD, tmp_path), ONE_REWARD).notes) == [EMPTY]
    assert told(wai.compare(hold(ONE_REWARD, tmp_path), ONE_REWARD, by="doc").notes) == [EMPTY]
    read = wai.read(hold(ONE_REWARD, tmp_path))
    assert ([row["task_id"] for row in read], read.report.n_skipped) == (["a", "a", "a", "b", "b"], 1)


@pytest.mark.parametrize("n_before", [1, BATCH + 1])
@pytest.mark.parametrize(
    ("hold", "text"),
    [
        *(pytest.param(hold, None, id=f"{name}-nothing") for name, hold in CONTAINERS.items()),
        *(pytest.param(hold, "one reply", id=f"{name}-a text") for name, hold in LOOSE.items()),
    ],
)
def test_lists_behind_rows_without_one(hold, text, n_before, tmp_path):
    plain = {"prompt": "p", "final_text": text, "reward": 1, "doc": "d", "padding": "x" * 100}
    rows = [{"task_id": f"n{i}", **plain} for i in range(n_before)]
    rows += [{**row, "padding": ""} for row in ONE_REWARD]
    expected = {**{row["task_id"]: (1, 1) for row in rows[:n_before]}, "a": (3, 3), "b": (2, 0)}
    assert counted(hold(rows, tmp_path)) == expected
    assert wai.pass_at(hold(rows, tmp_path), cluster="doc").to_dict() == wai.pass_at(rows, cluster="doc").to_dict()


# names


@each(IN_MEMORY)
def test_a_decimal_names_the_task_of_its_number(hold, tmp_path):
    ids = [Decimal("1.00"), Decimal("2.50"), Decimal("100.00"), Decimal("12345678901234567890.00")]
    rows = [{"task_id": id_, "reward": 1, "doc": id_} for id_ in ids]
    assert sorted(counted(hold(rows, tmp_path))) == ["1", "100", "12345678901234567890", "2.5"]
    plain = [{"task_id": id_, "reward": 0, "doc": id_} for id_ in (1, 2.5, "100", 12345678901234567890)]
    assert wai.compare(hold(rows, tmp_path), plain, by="doc").n_paired == 4


@each(CASED)
def test_keys_that_differ_in_case_are_other_keys(hold, tmp_path):
    rows = [
        {"Task_ID": "x", "task_id": task, "reward": 1, "Reward": 7, "doc": task, "Doc": "e", "Final_Text": ["u", "v"]}
        for task in "abb"
    ]
    assert counted(hold(rows, tmp_path)) == {"a": (1, 1), "b": (2, 2)}
    assert wai.pass_at(hold(rows, tmp_path), cluster="doc").to_dict() == wai.pass_at(rows, cluster="doc").to_dict()


@each(CONTAINERS)
def test_a_key_in_another_case_is_not_taken_for_ours(hold, tmp_path):
    rows = [{"Task_ID": "x", "prompt": f"p{i}", "Reward": 1, "reward": None} for i in range(3)]
    if hold is FRAMES["duckdb"]:
        rows = [{name: value for name, value in row.items() if name != "reward"} for row in rows]
    table = wai.task_table(hold(rows, tmp_path))
    assert (len(table), table.n_unjudged.tolist()) == (3, [1, 1, 1])
    with pytest.raises(wai.ParamError, match="cluster must be a key of the rows; got 'task_ID'"):
        wai.pass_at(hold(rows, tmp_path), cluster="task_ID")


@each(CASED)
def test_markers_that_differ_in_case_are_two(hold, tmp_path):
    rows = [{"task_id": "a", "reward": 1, "markers": {"len": float(i), "Len": 10.0 * i}} for i in (1, 2, 6)]
    table = wai.task_table(hold(rows, tmp_path))
    assert {name: column.mean.tolist() for name, column in table.markers.items()} == {"len": [3.0], "Len": [30.0]}


@each({name: FRAMES[name] for name in FRAMES if name != "arrow batches"})
def test_the_near_miss_is_one_of_all_columns(hold, tmp_path):
    rows = [{"task_id": f"t{i}", "reward": 1, "docs": "d"} for i in range(2)]
    with pytest.raises(wai.ParamError, match=r"got 'doc'\. Did you mean docs\?"):
        wai.pass_at(hold(rows, tmp_path), cluster="doc")


# tables that are grouped already


def lines_of(rows):
    flat = to_flat(wai.task_table(rows))
    columns = [column.tolist() for column in flat.values()]
    return [dict(zip(flat, values, strict=True)) for values in zip(*columns, strict=True)]


@each(FRAMES)
def test_lines_of_one_task_are_one_task(hold, tmp_path):
    rows = [{"task_id": f"t{i % 4}", "prompt": "p", "reward": [0, 1, 1 / 3, None][i * 7 % 12 // 3]} for i in range(50)]
    lines = [*lines_of(rows[:9]), *lines_of(rows[9:30]), *lines_of(rows[30:])]
    assert wai.pass_at(hold(lines, tmp_path)).to_dict() == wai.pass_at(rows).to_dict()
    assert wai.compare(hold(lines[::-1], tmp_path), rows).to_dict() == wai.compare(rows, rows).to_dict()


@pytest.mark.parametrize("kind", [bool, int, float])
@each(FRAMES)
def test_whether_prompts_differ_in_any_type(hold, kind, tmp_path):
    rows = [{"task_id": task, "prompt": prompt, "reward": 1} for task, prompt in ("ap", "aq", "bp")]
    lines = [{**line, "several": kind(line["several"])} for line in lines_of(rows)]
    assert wai.task_table(hold(lines, tmp_path)).n_prompt_conflicts == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"reward_p0": 3},  # three rewards of at most 1, two of which are 0
        {"reward_p0": 0},  # one of them is 1
        {"reward_p1": 1 << 39},  # half a reward more, and none is partial
        {"reward_p0": -1},
        {"passes": 4},
        {"n": -1},
    ],
    ids=str,
)
@each(FRAMES)
def test_a_sum_that_no_rewards_have_is_refused(hold, wrong, tmp_path):
    good = lines_of([{"task_id": task, "reward": reward} for task in "ab" for reward in (1, 0, 0)])
    assert counted(hold(good, tmp_path)) == {"a": (3, 1), "b": (3, 1)}
    with pytest.raises(wai.RowError, match="row 1: the line must be counts of one named task"):
        wai.pass_at(hold([good[0], {**good[1], **wrong}], tmp_path))


def test_rows_that_make_keys_up_are_left_as_they_were():
    rows = [defaultdict(list, task_id=i // 2, reward=i % 2) for i in range(4)]
    assert wai.pass_at(rows).pass_at_1 == 0.5
    assert [set(row) for row in rows] == [{"task_id", "reward"}] * 4
