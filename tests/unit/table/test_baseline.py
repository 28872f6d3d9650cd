"""Tables as JSON lines: what is read back is what was written, and what is none is said."""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import whileai as wai
from whileai.table.baseline import load_baseline, save_baseline
from whileai.table.flat import to_flat


def same(one, other):
    """Whether two tables are equal to the last bit."""
    a, b = to_flat(one), to_flat(other)
    return list(a) == list(b) and all(np.array_equal(a[name], b[name]) for name in a)


REWARD = st.one_of(st.sampled_from([0, 1, None]), st.floats(0, 1, allow_subnormal=False))
MARKER = st.one_of(st.integers(-(10**18), 10**18), st.floats(allow_nan=False, allow_infinity=False))
ROWS = st.lists(
    st.fixed_dictionaries(
        {"task_id": st.text(min_size=1, max_size=3), "prompt": st.text(max_size=2), "reward": REWARD},
        optional={"markers": st.dictionaries(st.text(max_size=3), MARKER, max_size=2), "scenario_id": st.just("s")},
    ),
    max_size=12,
)


@given(rows=ROWS)
def test_a_table_comes_back_to_the_last_bit(rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("baseline") / "b.jsonl"
    table = wai.task_table(rows)
    save_baseline(table, path)
    back = load_baseline(path)
    assert same(back, table)
    assert (back.n_rows, back.n_id_conflicts) == (table.n_rows, table.n_id_conflicts)
    first = path.read_bytes()
    save_baseline(back, path)
    assert path.read_bytes() == first


def test_a_comparison_with_a_baseline_is_the_one_with_its_rows(tmp_path, scored):
    before = scored(
        [[1, 0, 0.5], [1, 1, 1], [0, 0, None]] * 9, [[{"chars": 0.1 * i + j} for j in range(3)] for i in range(27)]
    )
    after = scored(
        [[1, 1, 1], [0, 1, 1], [0, 1, 0]] * 9, [[{"chars": 0.3 * i + j} for j in range(3)] for i in range(27)]
    )
    save_baseline(wai.task_table(before), tmp_path / "b.jsonl")
    back = load_baseline(tmp_path / "b.jsonl")
    for target in ("pass_at_1", "reward", "marker:chars"):
        assert wai.compare(back, after, target=target) == wai.compare(before, after, target=target)


def test_rows_added_for_their_outcomes_are_kept_apart(tmp_path):
    rows = [{"task_id": "a", "reward": i % 2, "allocation": {"phase": "fill" if i > 2 else "first"}} for i in range(6)]
    table = wai.task_table(rows)
    assert table.n_fill == 3
    save_baseline(table, tmp_path / "b.jsonl")
    assert same(load_baseline(tmp_path / "b.jsonl"), table)


def test_the_file_reads_well_and_holds_no_text(tmp_path):
    rows = [
        {"task_id": f"q{i}", "prompt": "PRIVATE", "final_text": "PRIVATE", "reward": i % 2, "markers": {"chars": 50.05}}
        for i in (2, 1, 1)
    ]
    save_baseline(wai.task_table(rows), tmp_path / "b.jsonl")
    text = (tmp_path / "b.jsonl").read_text("utf-8")
    head, *tasks = [json.loads(line) for line in text.splitlines()]
    assert head == {"wai_baseline": 1, "tasks": 2, "rows": 3}
    assert [task["task"] for task in tasks] == ["q1", "q2"]
    assert (tasks[0]["n"], tasks[0]["passes"]) == (2, 2)
    assert tasks[0]["markers"]["chars"][:2] == [2, 100.1]
    assert tasks[1]["markers"] == {"chars": [1, 50.05]}
    assert "PRIVATE" not in text
    assert list(tmp_path.iterdir()) == [tmp_path / "b.jsonl"]


LINE = '{"task": "a", "n": 2, "passes": 1}'
HEAD = '{"wai_baseline": 1, "tasks": 1, "rows": 2}'
DAMAGED = [
    ("", 'line 1 must be a baseline that starts with {"wai_baseline": 1}; got {}.'),
    ('{"task_id": "a", "reward": 1}', "line 1 must be a baseline that starts with"),
    (HEAD.replace("1,", "2,", 1), "line 1 must be a baseline that starts with"),
    (HEAD, "line 1 must be followed by 1 tasks; got 0. Write the baseline anew."),
    (f"{HEAD}\n{LINE}\n{LINE}", "line 1 must be followed by 1 tasks; got 2."),
    (f"{HEAD}\n{LINE[:-4]}", "line 2 must be a JSON object; got"),
    (f"{HEAD}\n[1]", "line 2 must be a JSON object; got [1]."),
    ('{"wai_baseline": 1, "tasks": 2}\n' + f"{LINE}\n{LINE}", "line 3 must be of a task of its own; got 'a'."),
    (f'{HEAD}\n{{"n": 2, "passes": 1}}', "line 2 must be a task with its counts and sums; got"),
    (f"{HEAD}\n" + LINE.replace('"a"', "1"), "line 2 must be a task with its counts and sums; got"),
    (f"{HEAD}\n" + LINE.replace("2", "2.5"), "line 2 must be a task with its counts and sums; got"),
    (f"{HEAD}\n" + LINE[:-1] + ', "markers": {"x": [1]}}', "line 2 must be a task with its counts and sums; got"),
    (f"{HEAD}\n" + LINE[:-1] + ', "markers": {"x": [1, NaN]}}', "line 2 must be a task with its counts and sums; got"),
    (f"{HEAD}\n" + LINE[:-1] + ', "markers": {"x": [1, Infinity]}}', "line 2 must be a task with its counts and sums"),
    (f"{HEAD}\n" + LINE[:-1] + ', "markers": {"x": [1, 2.0, [1, 0, 0]]}}', "line 2 must be a task with its counts"),
    (f"{HEAD}\n" + LINE[:-1] + ', "markers": {"x": [1, 2.0, [2]]}}', "line 2 must be a task with its counts and sums"),
    (f"{HEAD}\n" + LINE[:-1] + ', "markers": [1]}', "line 2 must be a task with its counts and sums; got"),
    (f"{HEAD}\n" + LINE.replace('"passes": 1', '"passes": 3'), "row 0: the line must be counts of one named task"),
]


@pytest.mark.parametrize(("text", "said"), DAMAGED)
def test_a_damaged_file_is_named_with_its_line(text, said, tmp_path):
    path = tmp_path / "b.jsonl"
    path.write_text(text)
    with pytest.raises(wai.RowError) as error:
        load_baseline(path)
    assert said in str(error.value)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def _write(path, passes):
    for _ in range(20):
        save_baseline(wai.task_table([{"task_id": i, "reward": int(i < passes)} for i in range(200)]), path)


def test_processes_that_write_at_once_leave_one_whole_file(tmp_path):
    path = Path(tmp_path / "b.jsonl")
    context = multiprocessing.get_context("spawn")
    started = [context.Process(target=_write, args=(path, passes)) for passes in (50, 150)]
    for process in started:
        process.start()
    for process in started:
        process.join(60)
    assert [process.exitcode for process in started] == [0, 0]
    assert int(load_baseline(path).passes.sum()) in (50, 150)
    assert list(tmp_path.iterdir()) == [path]


def test_a_write_that_fails_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "b.jsonl"
    table = wai.task_table([{"task_id": "a", "reward": 1}])
    save_baseline(table, path)
    before = path.read_bytes()

    def full(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        save_baseline(wai.task_table([{"task_id": "b", "reward": 0}]), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
