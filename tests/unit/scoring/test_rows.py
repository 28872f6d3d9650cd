"""`wai.rows`: the shapes it takes, the rows it gives, what it refuses and in which words."""

from __future__ import annotations

import copy
import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import whileai as wai


def test_one_row_in_full():
    prompt = [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Hi"}]
    (row,) = wai.rows(
        [prompt], ["Yo"], [0.5], references=["Hello"], task_ids=["greet"], markers=[{"chars": np.int64(2)}]
    )
    assert row == {
        "schema_version": "1",
        "task_id": "greet",
        "scenario_id": "greet",
        "prompt": "Hi",
        "messages": [*prompt, {"role": "assistant", "content": "Yo"}],
        "steps": [],
        "final_text": "Yo",
        "rollout_index": 0,
        "reward": 0.5,
        "privileged": {"reference": "Hello"},
        "markers": {"chars": 2.0},
        "label_source": "given",
    }


def test_rows_are_json_whatever_numbers_came_in():
    rows = wai.rows(
        ["a", "b"],
        [["x"], ["y"]],
        np.array([[1], [0]], dtype=np.float32),
        references=np.array([1, 2]),
        task_ids=[np.int64(0), np.float64(7)],
        markers=[{"n": np.float32(1)}, {"n": True}],
    )
    assert json.loads(json.dumps(rows)) == rows


@pytest.mark.parametrize(
    "column", [list, tuple, iter, np.array, pd.Series, pl.Series, pa.array, lambda x: pa.chunked_array([x])]
)
def test_columns_of_any_kind(column):
    rows = wai.rows(column(["a", "b"]), column(["x", "y"]), column([1, 0]), references=column(["g", "h"]))
    assert [row["final_text"] for row in rows] == ["x", "y"]
    assert [row["reward"] for row in rows] == [1, 0]
    assert [row["privileged"]["reference"] for row in rows] == ["g", "h"]


def test_polars_column_of_lists():
    rows = wai.rows(pl.Series(["a", "b"]), pl.Series([["x", "y"], ["z"]]), pl.Series([[1, None], [0]]))
    assert [(row["final_text"], row["reward"]) for row in rows] == [("x", 1), ("y", None), ("z", 0)]


@pytest.mark.parametrize("missing", [None, math.nan, np.float32("nan"), pd.NA], ids=repr)
def test_missing_is_missing_everywhere(missing):
    rows = wai.rows(
        ["a", "b"],
        ["x", "y"],
        [1, missing],
        references=["g", missing],
        task_ids=["id", missing],
        markers=[{"n": 1, "m": missing}, missing],
    )
    assert rows[1]["reward"] is None
    assert "privileged" not in rows[1]
    assert rows[1]["task_id"].startswith("task_")
    assert rows[0]["markers"] == {"n": 1.0}
    assert rows[1]["markers"] == {}


def test_indices_go_on_counting_over_entries_of_one_task():
    rows = wai.rows(["p", "q", "p"], [["a", "b"], "c", "d"], task_ids=[None, "t", None])
    assert [row["rollout_index"] for row in rows] == [0, 1, 0, 2]
    assert rows[0]["task_id"] == rows[3]["task_id"]


def test_a_prompt_without_completions_gives_no_row():
    assert [row["prompt"] for row in wai.rows(["a", "b"], [[], ["x"]], [[], [1]])] == ["b"]


def test_inputs_are_left_as_they_are():
    prompts = [[{"role": "user", "content": "Hi"}]]
    markers = [{"n": 1}]
    keep = copy.deepcopy((prompts, markers))
    rows = wai.rows(prompts, ["Yo"], lambda row: {"reward": 1, "markers": {"m": 2}}, markers=markers)
    rows[0]["messages"].append({})
    assert (prompts, markers) == keep
    assert rows[0]["markers"] == {"n": 1.0, "m": 2.0}


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: wai.rows("ab", ["x"]),
            TypeError,
            "rows: prompts must be a sequence of prompts; got 'ab'. Put it in a list: [prompt].",
        ),
        (
            lambda: wai.rows(["a"], "x"),
            TypeError,
            "rows: completions must be a sequence of completions; got 'x'. Put it in a list: [completion].",
        ),
        (
            lambda: wai.rows(["a"], ["x"], references="g"),
            TypeError,
            "rows: references must be a sequence with one entry per prompt; got 'g'. Put it in a list: [reference].",
        ),
        (
            lambda: wai.rows(["a", "b"], ["x"]),
            wai.ParamError,
            "rows: completions must have one entry per prompt; got 1 for 2 prompts.",
        ),
        (
            lambda: wai.rows(["a"], ["x"], references=[]),
            wai.ParamError,
            "rows: references must have one entry per prompt; got 0 for 1 prompts.",
        ),
        (
            lambda: wai.rows([b"a"], ["x"]),
            TypeError,
            "rows: prompts[0] must be a string or a list of messages; got b'a'.",
        ),
        (
            lambda: wai.rows(["a"], [None]),
            TypeError,
            "rows: completions[0] must be a string, a message or a sequence of them; got None.",
        ),
        (
            lambda: wai.rows(["a"], [["x", None]]),
            TypeError,
            "rows: completions[0][1] must be a string or a message; got None. An empty reply is ''.",
        ),
        (
            lambda: wai.rows(["a"], [["x", "y"]], [[1, 7.0]]),
            wai.ParamError,
            "rows: reward[0][1] must be a number in [0, 1]; got 7.0. Scale it, or pass None for an unjudged row.",
        ),
        (
            lambda: wai.rows(["a"], [["x", "y"]], [1, -1]),
            wai.ParamError,
            "rows: reward[0][1] must be a number in [0, 1]; got -1. Scale it, or pass None for an unjudged row.",
        ),
        (
            lambda: wai.rows(["a"], ["x"], ["1"]),
            wai.ParamError,
            "rows: reward[0][0] must be a number in [0, 1]; got '1'. Use float().",
        ),
        (
            lambda: wai.rows(["a"], ["x"], [math.inf]),
            wai.ParamError,
            "rows: reward[0][0] must be a number in [0, 1]; got inf. Scale it, or pass None for an unjudged row.",
        ),
        (
            lambda: wai.rows(["a"], [["x", "y"]], [[1]]),
            wai.ParamError,
            "rows: reward[0] must have one entry per completion; got 1 for 2.",
        ),
        (
            lambda: wai.rows(["a"], [["x", "y"]], [1]),
            wai.ParamError,
            "rows: reward must have one entry per completion; got 1 for 2 completions.",
        ),
        (
            lambda: wai.rows(["a"], ["x"], [1], markers=[5]),
            wai.ParamError,
            "rows: markers[0][0] must be a mapping of names to numbers; got 5.",
        ),
        (
            lambda: wai.rows(["a"], ["x"], [1], markers=[{"n": "5"}]),
            wai.ParamError,
            "rows: markers[0][0]['n'] must be a finite number; got '5'.",
        ),
        (
            lambda: wai.rows(["a"], ["x"], [1], markers=[{"n": math.inf}]),
            wai.ParamError,
            "rows: markers[0][0]['n'] must be a finite number; got inf.",
        ),
        (
            lambda: wai.rows(["a"], ["x"], len, timeout=0),
            wai.ParamError,
            "rows: timeout must be a number of seconds above 0; got 0.",
        ),
        (
            lambda: wai.rows(["a"], ["x"], len, workers=0),
            wai.ParamError,
            "rows: workers must be a whole number of at least 1; got 0.",
        ),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "reward", [0.5, "exact", b"x", {"a": 1}, object(), lambda: 1, lambda a, b, c, d: 1, wai.verify.Numeric]
)
def test_what_cannot_be_a_reward(reward):
    with pytest.raises(TypeError, match=r"^rows: reward must be a verifier, or a function of \(row\)"):
        wai.rows(["a"], ["x"], reward)


def test_nothing_is_judged_before_all_is_checked(tmp_path):
    def judge(row):
        (tmp_path / "called").touch()
        return 1

    with pytest.raises(wai.ParamError):
        wai.rows(["a"], ["x"], judge, markers=[{"n": "?"}])
    assert not (tmp_path / "called").exists()
