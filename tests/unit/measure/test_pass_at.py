"""`wai.pass_at`: the numbers, what is undefined, the notes, what is refused."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import whileai as wai


def slow(groups, k):
    """Pass@k and pass^k by drawing every set of k rows of every task that has them."""
    enough = [group for group in groups if len(group) >= k]
    any_, all_ = [], []
    for group in enough:
        draws = list(combinations(group, k))
        any_.append(Fraction(sum(map(any, draws)), len(draws)))
        all_.append(Fraction(sum(map(all, draws)), len(draws)))
    return float(sum(any_) / len(enough)), float(sum(all_) / len(enough))


@pytest.mark.parametrize(
    ("groups", "k"),
    [
        ([[1, 0, 1, 1], [0, 0, 1, 0], [1, 1, 1, 1]], 2),
        ([[1, 0, 1], [0, 0], [1]], 1),
        ([[1, 0, 1], [0, 0], [1]], 2),
        ([[0] * 5 + [1], [1] * 3 + [0] * 4, [0] * 3], 3),
        ([[1, 0]] * 7, 2),
    ],
)
def test_rates_are_those_of_every_draw(scored, groups, k):
    result = wai.pass_at(scored(groups), k=k)
    at, pow_ = slow(groups, k)
    assert result.pass_at_k == pytest.approx(at, abs=1e-12)
    assert result.pass_pow_k == pytest.approx(pow_, abs=1e-12)
    assert result.pass_at_1 == pytest.approx(sum(sum(g) / len(g) for g in groups) / len(groups), abs=1e-12)
    same = [g for g in groups if len(g) >= k]
    assert result.headroom == pytest.approx(at - sum(sum(g) / len(g) for g in same) / len(same), abs=1e-12)
    assert result.n_tasks_at_k == len(same)


@pytest.mark.parametrize(
    ("sizes", "k"),
    [([4] * 10, 4), ([4] * 9 + [1], 4), ([4] * 8 + [1] * 2, 1), ([4] * 8 + [3] * 2, 3), ([1, 1], 1), ([8], 8)],
)
def test_default_k_is_what_nine_tasks_in_ten_have(scored, sizes, k):
    assert wai.pass_at(scored([[1] * size for size in sizes])).k == k


def test_intervals_hold_their_estimates(scored):
    result = wai.pass_at(scored([[1, 0, 0.5, 1], [0, 1], [1, 1, 1]]), k=2, level=0.9)
    for name in ("pass_at_1", "pass_pow_k", "pass_at_k", "reward"):
        low, high = result.intervals[name]
        assert 0 <= low <= result[name] <= high <= 1
        assert low < high
    assert result.ci95 == result["ci95"] == result.intervals["pass_at_1"]


def test_one_row_a_task_is_clopper_and_pearson(scored):
    # R: binom.test(7, 10)$conf.int
    low, high = wai.pass_at(scored([[1]] * 7 + [[0]] * 3)).ci95
    assert (low, high) == (pytest.approx(0.3475471, abs=1e-6), pytest.approx(0.9332605, abs=1e-6))


def test_counts(scored):
    result = wai.pass_at(scored([[1, None, 0.5], [math.nan, None], [0.25]]))
    counts = (result.n_tasks, result.n_rows, result.n_unjudged, result.n_partial, result.n_tasks_at_k, result.k)
    assert counts == (3, 6, 3, 2, 1, 1)
    assert result.pass_at_1 == 1.0
    assert result.reward == pytest.approx((0.75 + 0.25) / 2)
    assert result.per_task == {"t0": 1.0}


def test_per_task_is_sorted_by_id_and_leaves_out_tasks_without_a_rate(scored):
    rows = scored([[0.5], [0], [1, 0]])
    assert list(wai.pass_at(rows[::-1]).per_task.items()) == [("t1", 0.0), ("t2", 0.5)]


def codes(result):
    return [note.code for note in result.notes]


@pytest.mark.parametrize(
    ("groups", "options", "expected"),
    [
        ([], {}, ["no_rows"]),
        ([[None, None]], {}, ["no_binary_reward"]),
        ([[0.5, 0.25]], {}, ["no_binary_reward"]),
        ([[0.5, None]], {}, ["no_binary_reward", "unjudged"]),
        ([[1]], {}, ["all_pass"]),
        ([[0, 0]] * 3, {}, ["all_fail"]),
        ([[1, 0]] * 3, {}, ["few_tasks"]),
        ([[1, 0]] * 10, {}, []),
        ([[1, 0, 0.5]] * 10, {}, ["partial"]),
        ([[1, 0]] * 10, {"k": 3}, ["k_too_large"]),
        ([[1, 0]] * 9 + [[1]], {"k": 2}, ["fewer_tasks_at_k"]),
    ],
)
def test_notes(scored, groups, options, expected):
    assert codes(wai.pass_at(scored(groups), **options)) == expected


def test_odd_ids_and_prompts_are_noted(scored):
    rows = scored([[1, 0]] * 10)
    rows[0]["scenario_id"] = "other"
    rows[1]["prompt"] = "another"
    assert codes(wai.pass_at(rows)) == ["id_conflict", "prompt_conflict"]


def test_undefined_is_none(scored):
    empty = wai.pass_at([])
    assert (empty.pass_at_1, empty.pass_pow_k, empty.pass_at_k, empty.headroom, empty.reward) == (None,) * 5
    assert set(empty.intervals.values()) == {None}
    large = wai.pass_at(scored([[1, 0]] * 10), k=3)
    assert (large.pass_at_k, large.headroom, large.intervals["pass_pow_k"], large.pass_at_1) == (None, None, None, 0.5)


def test_unjudged_bounds_are_printed(scored):
    result = wai.pass_at(scored([[1, None], [None, None], [0, 1]]))
    assert "3 rows of 6 unjudged and skipped: pass@1 would be 0.33 if all of them failed, 0.83 if all passed" in str(
        result
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "pass_at: k must be a whole number of at least 1; got 0."),
        ({"k": 2.0}, "pass_at: k must be a whole number of at least 1; got 2.0."),
        ({"k": True}, "pass_at: k must be a whole number of at least 1; got True."),
        ({"level": 95}, "pass_at: level must be a number between 0 and 1; got 95. Write 0.95."),
        ({"level": 1.0}, "pass_at: level must be a number between 0 and 1; got 1.0. 0.95 is usual."),
    ],
)
def test_refusals(options, message):
    def rows():
        raise AssertionError("read before the arguments were checked")
        yield

    with pytest.raises(wai.ParamError) as error:
        wai.pass_at(rows(), **options)
    assert str(error.value) == message


def test_numbers_of_any_kind_are_taken(scored):
    rows = scored([[1, 0, 1], [0, 0, 1]])
    plain = wai.pass_at(rows, k=2, level=0.9).to_json()
    assert wai.pass_at(rows, k=np.int64(2), level=Fraction(9, 10)).to_json() == plain
    assert wai.pass_at(wai.task_table(rows), k=2, level=np.float64(0.9)).to_json() == plain
