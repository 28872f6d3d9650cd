"""The GROUP BY over columns gives the digits of the reading row by row, and leaves to it what it cannot judge."""

import json
import math
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whileai as wai
from whileai.readers import columns
from whileai.readers.files import connected
from whileai.table import intake
from whileai.table.from_columns import grouped


def by_columns(data, *, markers):
    """The table by GROUP BY alone."""
    with connected() as connection:
        return grouped(columns.relation_of(data, connection, "c"), markers=markers)


REWARDS = [0, 1, 0.5, 0.1, 0.7, 1 / 3, None, math.nan, 1.0, 0.0, 1e-12, 1 - 1e-12]


def rows_of(seed: int, n: int = 400) -> list[dict]:
    """Rows of every kind of reward, with gaps in ids, prompts, rewards and markers."""
    draw = random.Random(seed)
    rows = []
    for _ in range(n):
        task = draw.randrange(40)
        markers = {
            "chars": draw.choice([float(draw.randrange(500)), None]),
            "score": draw.choice([draw.gauss(0, 1e6), draw.random() * 1e-9, math.nan, 1.7e9 + draw.random()]),
        }
        rows.append(
            {
                "task_id": draw.choice([f"t{task}", None]) if task % 5 else None,
                "scenario_id": draw.choice([f"t{task}", f"s{task}", None]),
                "prompt": f"Prompt {task + (draw.random() < 0.01)}",
                "reward": draw.choice(REWARDS),
                "markers": draw.choice([markers, markers, None]),
            }
        )
    return rows


def test_random_columns():
    for seed in range(12):
        rows = rows_of(seed)
        table = pa.Table.from_pylist(rows)
        fast = intake.as_table(table, "pass_at", "data")
        assert by_columns(table, markers=True) is not None
        slow = intake.as_table(rows, "pass_at", "data")
        assert sorted(fast.task) == sorted(slow.task)
        assert wai.pass_at(fast).to_dict() == wai.pass_at(slow).to_dict()
        other = rows_of(seed + 100)
        expected = wai.compare(slow, other, target="reward").to_dict()
        assert wai.compare(fast, pa.Table.from_pylist(other), target="reward").to_dict() == expected


@pytest.mark.parametrize("kind", [pa.int8(), pa.int64(), pa.uint16(), pa.float32(), pa.float64(), pa.bool_()])
def test_types_of_rewards(kind):
    values = [1, 0, 1, 1, 0, 0]
    table = pa.table({"task_id": [1, 1, 2, 2, 3, 3], "reward": pa.array(values, pa.int64()).cast(kind)})
    assert by_columns(table, markers=False) is not None
    result = wai.pass_at(table)
    assert (result.pass_at_1, result.n_tasks, sorted(result.per_task)) == (0.5, 3, ["1", "2", "3"])


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("reward", [1.0, 7.0, 0.0], r"pass_at: row 1: reward must be a number in \[0, 1\]; got 7\.0"),
        ("reward", [1.0, 0.0, -math.inf], "pass_at: row 2: reward must be"),
        ("reward", ["1", "0", "1"], "pass_at: row 0: reward must be"),
        ("task_id", ["a", None, "b"], "pass_at: row 1: task_id must be given"),
    ],
)
def test_what_is_wrong_is_named_by_its_row(tmp_path, column, values, message):
    columns = {"task_id": ["a", "b", "c"], "reward": [1.0, 0.0, 1.0], column: values}
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table(columns), path)
    with pytest.raises(wai.RowError, match=message):
        wai.pass_at(pa.table(columns))
    with pytest.raises(wai.RowError, match=r"rows\.parquet row"):
        wai.pass_at(path)


def test_infinite_marker_is_named():
    table = pa.Table.from_pylist([{"task_id": "a", "reward": 1, "markers": {"m": math.inf}}])
    with pytest.raises(wai.RowError, match=r"compare: before row 0: markers\['m'\] must be a finite number; got inf"):
        wai.compare(table, table)


@pytest.mark.parametrize("markers", [[{"m": "long"}], [["m"]]], ids=["text", "list"])
def test_markers_of_another_type_are_read_row_by_row(markers):
    table = pa.table({"task_id": ["a"], "reward": [1], "markers": pa.array(markers)})
    with pytest.raises(wai.RowError, match="markers"):
        wai.compare(table, table)


def test_sums_beyond_64_bits():
    rows = [{"task_id": "a", "reward": 1, "markers": {"ns": 1.7e18 + 1024 * i}} for i in range(20)]
    table = pa.Table.from_pylist(rows)
    assert wai.compare(table, table).to_dict() == wai.compare(rows, rows).to_dict()
    assert wai.task_table(table).markers["ns"].mean.tolist() == wai.task_table(rows).markers["ns"].mean.tolist()


def test_names_of_markers_are_quoted():
    rows = [{"task_id": "a", "reward": 1, "markers": {'a "b"': 1.0, "x.y": 2.0, "select": 3.0}}] * 2
    table = wai.task_table(pa.Table.from_pylist(rows))
    assert {name: column.mean.tolist() for name, column in table.markers.items()} == {
        'a "b"': [1.0],
        "x.y": [2.0],
        "select": [3.0],
    }


def test_files_of_different_columns(tmp_path):
    pq.write_table(pa.table({"task_id": ["a", "b"], "reward": [1, 0]}), tmp_path / "part-0.parquet")
    second = pa.table({"reward": [0.5], "task_id": ["a"], "note": ["x"]})
    pq.write_table(second, tmp_path / "part-1.parquet")
    result = wai.pass_at(tmp_path / "part-*.parquet")
    assert (result.n_rows, result.n_partial, result.reward) == (3, 1, 0.375)


def test_json_lines_of_messages_only(tmp_path):
    path = tmp_path / "rows.jsonl"
    turns = [{"role": "user", "content": "What is 2 + 3?"}, {"role": "assistant", "content": "5"}]
    path.write_text(json.dumps({"messages": turns, "reward": 1}) + "\n")
    assert list(wai.pass_at(path).per_task) == ["task_1ea26256ebae"]
