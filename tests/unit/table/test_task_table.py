"""Dict rows to a TaskTable: the quick way and the careful way read alike, and say what is wrong."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import whileai as wai
from whileai.table.from_rows import BATCH, TableBuilder
from whileai.table.task_table import aligned


def table(rows):
    return wai.task_table(rows)


def counts(found):
    columns = (found.n, found.passes, found.n_partial, found.n_unjudged)
    return dict(zip(found.task, zip(*(c.tolist() for c in columns), strict=True), strict=True))


def of(*rewards):
    return [{"task_id": "t", "reward": reward} for reward in rewards]


@pytest.mark.parametrize(
    ("rewards", "expected"),
    [
        ([1, 0, True, False, 1.0, 0.0, -0.0], (7, 3, 0, 0)),
        ([np.int64(1), np.float32(0), np.bool_(True), np.array(1)], (4, 3, 0, 0)),
        ([Decimal(1), Decimal("0.5"), Fraction(1, 3), None], (1, 1, 2, 1)),
        ([None, math.nan, np.float32("nan"), np.float64("nan"), pd.NA, Decimal("NaN"), 1], (1, 1, 0, 6)),
        ([0.5, 1e-300, 1 - 2**-53, 1], (1, 1, 3, 0)),
    ],
)
def test_rewards(rewards, expected):
    assert counts(table(of(*rewards))) == {"t": expected}
    assert counts(table(of(*rewards, None)))["t"][:3] == expected[:3]  # None sends the batch the careful way


@pytest.mark.parametrize(
    ("value", "fix"),
    [
        ("1", "Use float()."),
        ("", "Use float()."),
        (7.0, "Scale it, or use None for an unjudged row."),
        (-1e-9, "Scale it, or use None for an unjudged row."),
        (math.inf, "Scale it, or use None for an unjudged row."),
        (10**400, "Scale it, or use None for an unjudged row."),
        ([1], "Use None for an unjudged row."),
        ({"reward": 1}, "Use None for an unjudged row."),
        (1j, "Use None for an unjudged row."),
    ],
    ids=lambda value: str(value)[:20],
)
def test_bad_rewards(value, fix):
    for place in (0, 1, BATCH + 3):
        rows = of(*[1] * place, value)
        with pytest.raises(wai.RowError) as error:
            table(rows)
        assert (error.value.index, error.value.key) == (place, "reward")
        assert str(error.value).startswith(f"task_table: row {place}: reward must be a number in [0, 1]; got ")
        assert str(error.value).endswith(fix)


@pytest.mark.parametrize(
    ("ids", "tasks"),
    [
        ([0, "0", 0.0, np.int64(0), np.float32(0)], {"0": 5}),
        ([1, "1", 1.0, "01", 1.5], {"1": 3, "01": 1, "1.5": 1}),
        (["", " ", "a", "A"], {"": 1, " ": 1, "a": 1, "A": 1}),
        (["\ud800", "é", "e\u0301"], {"\ud800": 1, "é": 1, "e\u0301": 1}),
        ([10**30, float(2**60)], {str(10**30): 1, str(2**60): 1}),
    ],
)
def test_ids(ids, tasks):
    rows = [{"task_id": id_, "reward": 1} for id_ in ids]
    for order in (rows, rows[::-1], [*rows[1:], rows[0]]):
        assert {task: n[0] for task, n in counts(table(order)).items()} == tasks


@pytest.mark.parametrize("id_", [[1], {"a": 1}, ("a",), b"a", 1j, object()], ids=lambda value: type(value).__name__)
def test_what_names_no_task(id_):
    with pytest.raises(wai.RowError, match=r"^task_table: row 1: task_id must be text or a number; got "):
        table([{"task_id": "a", "reward": 1}, {"task_id": id_, "reward": 1}])


def test_ids_missing_in_part():
    rows = [
        {"task_id": None, "scenario_id": "s", "prompt": "p", "reward": 1},
        {"task_id": "t", "scenario_id": "s", "prompt": "p", "reward": 1},
        {"scenario_id": math.nan, "prompt": "What is 2 + 3?", "reward": 1},
        {
            "messages": [{"role": "user", "content": "What is 2 + 3?"}, {"role": "assistant", "content": "5"}],
            "reward": 0,
        },
        {"task_id": "t", "reward": 0},
    ]
    found = table(rows)
    assert counts(found) == {"s": (1, 1, 0, 0), "t": (2, 1, 0, 0), "task_1ea26256ebae": (2, 1, 0, 0)}
    assert found.n_id_conflicts == 1


def test_a_row_that_names_nothing():
    with pytest.raises(wai.RowError) as error:
        table([{"task_id": 1, "reward": 1}, {"final_text": "x", "reward": 1}])
    assert (
        str(error.value)
        == "task_table: row 1: task_id must be given, or scenario_id or prompt; got None. Name the task."
    )


@pytest.mark.parametrize(
    ("pairs", "n"),
    [
        ([("a", "a"), ("b", "b")], 0),
        ([("a", "b"), ("b", "b")], 1),
        ([(1, "1"), (2.0, 2), ("3", None)], 0),
        ([("a", None), ("b", "c")], 1),
    ],
)
def test_id_conflicts(pairs, n):
    rows = [{"task_id": task, "scenario_id": scenario, "reward": 1} for task, scenario in pairs]
    assert table(rows).n_id_conflicts == n
    assert table([{"task_id": "plain", "reward": 1}, *rows]).n_id_conflicts == n


@pytest.mark.parametrize(
    ("prompts", "n"),
    [
        (["p", "p"], 0),
        (["p", "q", "q"], 1),
        (["p", None], 0),
        ([None, "p"], 0),
        ([None, "p", "q"], 1),
        ([[{}], "p"], 0),
        ([5, "p"], 0),
    ],
    ids=str,
)
def test_prompt_conflicts(prompts, n):
    assert table([{"task_id": "t", "prompt": prompt, "reward": 1} for prompt in prompts]).n_prompt_conflicts == n


def marks(found):
    return {name: (column.n.tolist(), column.mean.tolist()) for name, column in found.markers.items()}


def test_markers_on_part_of_the_rows():
    rows = [
        {"task_id": "a", "reward": 1, "markers": {"n": 1, "m": True}},
        {"task_id": "a", "reward": 1, "markers": {"n": None, "m": np.float32(3)}},
        {"task_id": "a", "reward": 1, "markers": {"n": math.nan}},
        {"task_id": "a", "reward": 1, "markers": None},
        {"task_id": "a", "reward": 1},
        {"task_id": "a", "reward": 1, "markers": {"n": 2.0, "extra": Decimal("0.1")}},
    ]
    expected = {"n": ([2], [1.5]), "m": ([2], [2.0]), "extra": ([1], [0.1])}
    assert marks(table(rows)) == expected
    assert marks(table(rows[::-1])) == expected


@pytest.mark.parametrize(
    ("markers", "message"),
    [
        ("n", "row 1: markers must be a mapping of names to numbers; got 'n'."),
        ([("n", 1)], "row 1: markers must be a mapping of names to numbers; got [('n', 1)]."),
        ({"n": "1"}, "row 1: markers['n'] must be a finite number; got '1'."),
        ({"n": math.inf}, "row 1: markers['n'] must be a finite number; got inf."),
        ({"n": 10**400}, "row 1: markers['n'] must be a finite number; got 1"),
        ({"n": [1]}, "row 1: markers['n'] must be a finite number; got [1]."),
    ],
    ids=lambda value: str(value)[:25],
)
def test_bad_markers(markers, message):
    with pytest.raises(wai.RowError) as error:
        table([{"task_id": 1, "reward": 1, "markers": {"n": 1}}, {"task_id": 1, "reward": 1, "markers": markers}])
    assert message in str(error.value)


def test_means_do_not_depend_on_the_order_of_rows():
    values = [0.1, 0.7, 1e-17, 1e9, -1e9, 0.3] * 50
    rows = [{"task_id": "t", "reward": abs(math.sin(i)), "markers": {"n": value}} for i, value in enumerate(values)]
    orders = [rows, rows[::-1], sorted(rows, key=lambda row: row["reward"])]
    found = {(table(order).reward.mean[0], table(order).markers["n"].mean[0]) for order in orders}
    assert len(found) == 1


def test_batches_and_shards_make_no_difference():
    rows = [
        {
            "task_id": i % 37,
            "prompt": f"p{i % 37}",
            "reward": [0, 1, 0.25, None][i % 4],
            "markers": {"n": i / 7} if i % 5 else None,
        }
        for i in range(3 * BATCH + 11)
    ]
    whole = table(rows)
    builder = TableBuilder("c", markers=True)
    for start in range(0, len(rows), 997):
        builder.add_all(iter(rows[start : start + 997]), f"part {start}")
    parts = builder.build()
    assert counts(parts) == counts(whole)
    assert marks(parts) == marks(whole)
    assert parts.reward.mean.tolist() == whole.reward.mean.tolist()


def test_an_index_counts_within_its_part():
    builder = TableBuilder("c", markers=True)
    builder.add_all(of(1, 0), "one")
    with pytest.raises(wai.RowError, match=r"^c: two row 1: reward"):
        builder.add_all(of(1, 5), "two")


def test_no_rows():
    found = table([])
    assert (len(found), found.n_rows, found.metrics) == (0, 0, ["pass_at_1", "reward"])


def test_aligned():
    a, b = (table([{"task_id": t, "reward": 1} for t in tasks]) for tasks in ("abcd", "dxb"))
    lines = aligned([a, b])
    assert [a.task[i] for i in lines[0]] == [b.task[i] for i in lines[1]] == ["b", "d"]


def test_rows_are_left_as_they_are():
    rows = [{"task_id": 1, "reward": 1, "markers": {"n": 1}, "extra": object()}]
    keep = {**rows[0]}
    table(rows)
    assert rows == [keep]
