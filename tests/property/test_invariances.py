"""What must not change a digit, and what must hold on any data."""

from __future__ import annotations

import itertools
import json
import random
import re

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

import whileai as wai
from whileai.result import digits
from whileai.table.from_rows import TableBuilder

BINARY = st.sampled_from([0, 1])
ANY = st.sampled_from([0, 1, 1, 0, 0.25, 1 / 3, 0.9, None])
MARK = st.one_of(st.none(), st.integers(-5, 5), st.floats(-1e9, 1e9, allow_nan=False))


def tables(reward=ANY, most_tasks=9, most_rows=5):
    """Rows of some tasks, each with a reward and a marker that may be missing."""
    row = st.tuples(reward, MARK)
    groups = st.lists(st.lists(row, min_size=1, max_size=most_rows), min_size=1, max_size=most_tasks)
    return groups.map(
        lambda found: [
            {"task_id": f"t{i}", "final_text": f"{i} {j}", "reward": reward, "markers": {"m": mark}}
            for i, group in enumerate(found)
            for j, (reward, mark) in enumerate(group)
        ]
    )


def measured(rows, other):
    """Every number that the calls give on two arms."""
    return json.dumps(
        [
            wai.pass_at(rows).to_dict(),
            wai.compare(rows, other, must_not_regress=["marker:m"] if _both(rows, other) else ()).to_dict(),
            wai.eval_variance(rows, other, rows).to_dict(),
            wai.holdout_size(0.01, base=0.5, before=rows, after=other).to_dict(),
        ]
    )


def _both(*arms):
    return all(any(row["markers"]["m"] is not None for row in rows) for rows in arms)


def shuffled(rows, seed):
    rows = list(rows)
    random.Random(seed).shuffle(rows)
    return rows


@settings(max_examples=40, deadline=None)
@given(tables(), tables(), st.integers(0, 99))
def test_row_order(rows, other, seed):
    assert measured(shuffled(rows, seed), shuffled(other, seed)) == measured(rows, other)


@settings(max_examples=40, deadline=None)
@given(tables(), tables(), st.lists(st.integers(0, 45), max_size=4))
def test_shards(rows, other, cuts):
    builder = TableBuilder("c", markers=True)
    ends = [0, *sorted(cuts), len(rows)]
    for start, end in itertools.pairwise(ends):
        builder.add_all(rows[start:end], "part")
    assert wai.pass_at(builder.build()).to_json() == wai.pass_at(rows).to_json()
    assert wai.compare(builder.build(), other).to_json() == wai.compare(rows, other).to_json()


@settings(max_examples=30, deadline=None)
@given(tables(), tables())
def test_renamed_tasks(rows, other):
    names = {f"t{i}": f"{9 - i} renamed \u00e9" for i in range(10)}
    renamed = [[{**row, "task_id": names[row["task_id"]]} for row in arm] for arm in (rows, other)]
    assert measured(*renamed) == measured(rows, other)


@settings(max_examples=30, deadline=None)
@given(tables(BINARY), tables(BINARY))
def test_doubled_tasks_keep_every_mean_and_never_widen_an_interval(rows, other):
    twice = [arm + [{**row, "task_id": f"again {row['task_id']}"} for row in arm] for arm in (rows, other)]
    one, two = wai.compare(rows, other), wai.compare(*twice)
    assert (one.before, one.after, one.delta) == (two.before, two.after, two.delta)
    assert two.n_paired == 2 * one.n_paired
    if one.interval is not None:
        assert two.interval[1] - two.interval[0] <= one.interval[1] - one.interval[0] + 1e-12
        assert two.p_value <= one.p_value + 1e-12
    first, second = wai.pass_at(rows), wai.pass_at(twice[0])
    assert (first.pass_at_1, first.pass_at_k, first.pass_pow_k) == (
        second.pass_at_1,
        second.pass_at_k,
        second.pass_pow_k,
    )


def negated(ends):
    return None if ends is None else (-ends[1], -ends[0])


@settings(max_examples=40, deadline=None)
@given(tables(), tables())
def test_swapped_arms(rows, other):
    there, back = wai.compare(rows, other), wai.compare(other, rows)
    assert list(there.metrics) == list(back.metrics)
    opposite = {"improved": "regressed", "regressed": "improved"}
    assert back.verdict == opposite.get(there.verdict, there.verdict)
    for name, delta in there.metrics.items():
        mirror = back.metrics[name]
        assert (mirror.before, mirror.after, mirror.p_value) == (delta.after, delta.before, delta.p_value)
        assert mirror.interval == negated(delta.interval)
        assert mirror.delta == (None if delta.delta is None else -delta.delta)


@settings(max_examples=30, deadline=None)
@given(tables())
def test_an_arm_against_itself(rows):
    result = wai.compare(rows, rows)
    assert not result.regressions
    for delta in result.metrics.values():
        if delta.delta is not None:
            assert (delta.delta, delta.p_value, delta.verdict) == (0, 1, "no_difference")


@settings(max_examples=15, deadline=None)
@given(tables())
def test_containers(rows):
    expected = wai.pass_at(rows).to_json()
    marks = wai.eval_variance(rows, rows, rows).to_json()
    arrow = pa.Table.from_pylist(rows, schema=SCHEMA)
    for held in (arrow, pd.DataFrame(rows), pl.from_arrow(arrow), duckdb.from_arrow(arrow), iter(rows)):
        table = wai.task_table(held)
        assert wai.pass_at(table).to_json() == expected
        assert wai.eval_variance(table, table, table).to_json() == marks


SCHEMA = pa.schema(
    [
        ("task_id", pa.string()),
        ("final_text", pa.string()),
        ("reward", pa.float64()),
        ("markers", pa.struct([("m", pa.float64())])),
    ]
)


@settings(max_examples=60, deadline=None)
@given(tables(st.sampled_from([0, 1, None])), st.integers(1, 6), st.sampled_from([0.5, 0.8, 0.95, 0.999]))
def test_order_of_the_rates_on_the_tasks_that_have_k_rows(rows, k, level):
    judged = {}
    for row in rows:
        judged[row["task_id"]] = judged.get(row["task_id"], 0) + (row["reward"] is not None)
    enough = [row for row in rows if judged[row["task_id"]] >= k]
    result = wai.pass_at(enough, k=k, level=level)
    if result.pass_at_k is not None:
        assert result.pass_pow_k <= result.pass_at_1 + 1e-12
        assert result.pass_at_1 <= result.pass_at_k + 1e-12
        assert result.headroom >= 0
    for name, ends in result.intervals.items():
        if ends is not None:
            assert 0 <= ends[0] <= result[name] <= ends[1] <= 1
            assert ends[0] < ends[1]


def near(printed, value):
    """Whether a printed number is within half its last digit of the value."""
    places = len(printed.partition(".")[2])
    return abs(float(printed.replace(",", "")) - value) <= 0.5 * 10.0**-places * (1 + 1e-6) + 1e-12


@settings(max_examples=60, deadline=None)
@given(tables(), st.sampled_from([0.8, 0.95, 0.99]))
def test_printed_numbers_are_those_of_the_fields(rows, level):
    result = wai.pass_at(rows, level=level)
    if result.pass_at_1 is None:
        assert "pass@1 not measured" in result.summary
        return
    value, low, high = re.search(r"pass@1 (\S+) \[(\S+)\.\.(\S+)\]", result.summary).groups()
    assert near(value, result.pass_at_1)
    assert near(low, result.ci95[0])
    assert near(high, result.ci95[1])
    for printed, exact in ((value, result.pass_at_1), (low, result.ci95[0]), (high, result.ci95[1])):
        if round(exact, digits.MOST) not in (0, 1):
            assert float(printed) not in (0, 1)


@settings(max_examples=60, deadline=None)
@given(tables(BINARY, 30, 2), tables(BINARY, 30, 2), st.sampled_from([None, 0.01, 0.1]))
def test_the_word_agrees_with_the_printed_ends(rows, other, run_std):
    result = wai.compare(rows, other, run_std=run_std)
    found = re.search(r"(\S+) -> (\S+), change (\S+) \[(\S+)\.\.(\S+)\]", result.summary)
    before, after, change, low, high = found.groups()
    for printed, value in (
        (before, result.before),
        (after, result.after),
        (change, result.delta),
        (low, result.interval[0]),
        (high, result.interval[1]),
    ):
        assert near(printed, value)
    word = result.summary.partition(":")[0]
    if word == "improved":
        assert float(low) > 0
    if word == "regressed":
        assert float(high) < 0
    if word == "within noise":
        assert abs(result.delta) < result.noise_band
    p = re.search(r"p[=<](\S+?)(?:;|$)", str(result), re.MULTILINE).group(1)
    if word in ("improved", "regressed"):
        assert float(p) < 0.05


@settings(max_examples=40, deadline=None)
@given(tables(), st.sampled_from(["rl", "sft"]), st.integers(1, 3))
def test_select_keeps_whole_groups_and_counts_every_row(rows, mode, per_task):
    selection = wai.select(rows, mode=mode, per_task=per_task)
    key = lambda row: row["final_text"]  # noqa: E731
    kept, dropped = set(map(key, selection)), set(map(key, selection.dropped))
    assert kept | dropped == set(map(key, rows))
    assert not kept & dropped
    gates = [
        "unjudged",
        "partial",
        "empty_reply",
        "cut_off",
        "single",
        "unanimous",
        "too_easy",
        "too_hard",
        "beyond_target",
    ]
    if mode == "sft":
        gates = ["unjudged", "empty_reply", "cut_off", "not_pass", "not_best", "beyond_target"]
    assert sum(selection.report[gate] for gate in gates) == len(dropped)
    if mode == "rl":
        tasks = {row["task_id"] for row in selection}
        assert kept == {key(row) for row in rows if row["task_id"] in tasks and row["reward"] in (0, 1)}
