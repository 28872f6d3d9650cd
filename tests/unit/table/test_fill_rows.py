"""Rows added because of earlier outcomes tell no rate: every measurement leaves them out, whatever the container."""

from __future__ import annotations

import json

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import whileai as wai
from whileai.table.flat import to_flat


def row(task, index, reward, phase, **more):
    """A row of the engine's adaptive policy."""
    stamp = {"policy": "adaptive", "phase": phase, "k": 4}
    return {
        "task_id": task, "prompt": f"Do {task}.", "final_text": "ok", "rollout_index": index, "reward": reward,
        "allocation": stamp, "markers": {"size": float(index)}, **more,
    }  # fmt: skip


PROBES = [
    row(task, i, reward, "probe")
    for task, pair in (("a", (0, 1)), ("b", (1, 1)), ("c", (0, 0)))
    for i, reward in enumerate(pair)
]
FILLS = [row("a", 2, 1, "fill"), row("a", 3, None, "fill"), row("b", 2, 0.5, "fill"), row("b", 3, 1, "fill")]
ROWS = [row_ for pair in zip(PROBES, [*FILLS, None, None], strict=True) for row_ in pair if row_ is not None]

MEASURES = {
    "pass_at": lambda rows: wai.pass_at(rows),
    "compare": lambda rows: wai.compare(rows, [{**row_, "reward": 1} for row_ in PROBES]),
    "eval_variance": lambda rows: wai.eval_variance(rows, PROBES, PROBES),
    "holdout_size": lambda rows: wai.holdout_size(0.2, before=rows),
}


def without_fill_note(result):
    found = result.to_dict()
    found["notes"] = [note for note in found["notes"] if note["code"] != "fill_rows"]
    return found


@pytest.mark.parametrize("call", MEASURES)
def test_it_measures_as_without_them_and_says_how_many_were_left_out(call):
    result = MEASURES[call](ROWS)
    assert without_fill_note(result) == MEASURES[call](PROBES).to_dict()
    (note,) = [note for note in result.notes if note.code == "fill_rows"]
    assert note.text.startswith("4 rows")


def test_calibrate_leaves_them_out_too():
    kept = {row_["task_id"]: row_["calibration"] for row_ in wai.calibrate(ROWS)}
    assert {task: (block["n"], block["pass_rate"]) for task, block in kept.items()} == {
        "a": (2, 0.5), "b": (2, 1.0), "c": (2, 0.0),
    }  # fmt: skip


def test_select_reads_whole_groups():
    rows = [*PROBES, row("b", 2, 0, "fill"), row("b", 3, 0, "fill")]
    assert {row_["task_id"] for row_ in wai.select(rows, mode="rl")} == {"a", "b"}


def test_the_table_keeps_both_counts():
    table = wai.task_table(ROWS)
    place = [table.place[task] for task in "abc"]
    assert table.n[place].tolist() == [2, 2, 2]
    assert table.passes[place].tolist() == [1, 2, 0]
    assert table.n_all[place].tolist() == [3, 3, 2]
    assert table.passes_all[place].tolist() == [2, 3, 0]
    assert (table.n_rows, table.n_fill, table.n_unjudged.sum()) == (6, 4, 0)
    assert table.markers["size"].n[place].tolist() == [2, 2, 2]
    plain = wai.task_table(PROBES)
    assert plain.fill is None
    assert plain.n_all.tolist() == plain.n.tolist()


def as_file(tmp_path, suffix, rows):
    path = tmp_path / f"rows{suffix}"
    if suffix == ".jsonl":
        path.write_text("".join(json.dumps(row_) + "\n" for row_ in rows))
    else:
        pl.DataFrame(rows).write_parquet(path)
    return path


CONTAINERS = {
    "generator": lambda rows, _: (row_ for row_ in rows),
    "jsonl": lambda rows, tmp: as_file(tmp, ".jsonl", rows),
    "parquet": lambda rows, tmp: as_file(tmp, ".parquet", rows),
    "pandas": lambda rows, _: pd.DataFrame(rows),
    "polars": lambda rows, _: pl.DataFrame(rows),
    "arrow": lambda rows, _: pa.Table.from_pylist(rows),
    "arrow map": lambda rows, _: pa.Table.from_pylist(
        [{**row_, "allocation": [("phase", row_["allocation"]["phase"])]} for row_ in rows],
        pa.schema([("task_id", pa.string()), ("prompt", pa.string()), ("reward", pa.float64()),
                   ("allocation", pa.map_(pa.string(), pa.string())),
                   ("markers", pa.struct([("size", pa.float64())]))]),
    ),
    "merged": lambda rows, _: wai.task_table(rows[:3]).merge(wai.task_table(rows[3:4]), wai.task_table(rows[4:])),
    "saved": lambda rows, tmp: saved(rows, tmp),
}  # fmt: skip


def saved(rows, tmp_path):
    for place, part in enumerate((rows[:5], rows[5:], PROBES[:0])):
        if part:
            wai.task_table(part).save(tmp_path / f"part{place}.parquet")
    return wai.TaskTable.load(tmp_path / "part*.parquet")


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container_gives_the_same_table(container, tmp_path):
    expected = to_flat(wai.task_table(ROWS))
    found = to_flat(wai.task_table(CONTAINERS[container](ROWS, tmp_path)))
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        assert found[name].tolist() == values.tolist(), name


def test_a_reward_out_of_range_on_such_a_row_is_told():
    rows = [*PROBES, row("a", 2, 7.0, "fill")]
    for data in (rows, pl.DataFrame([{**row_, "reward": float(row_["reward"])} for row_ in rows])):
        with pytest.raises(wai.RowError, match=r"reward must be a number in \[0, 1\]"):
            wai.pass_at(data)
