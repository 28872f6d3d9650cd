"""Corrected rates and changes: the published formula, several rows a task, rows drawn with known chances."""

import math

import numpy as np
import pytest

from whileai.stats import agreement, corrected, intervals
from whileai.stats.corrected import Labelled


def arm(judge, gold, tasks=None, weights=None, units=None):
    judge = np.asarray(judge, dtype=float)
    tasks = np.arange(len(judge)) if tasks is None else np.asarray(tasks)
    weights = np.ones(len(judge)) if weights is None else np.asarray(weights, dtype=float)
    gold = np.array([math.nan if value is None else value for value in gold], dtype=float)
    return Labelled(judge, gold, tasks if units is None else np.asarray(units), tasks, weights)


#: 50 labelled rows and 450 that the judge passes three times in four.
REFERENCE = [(1, 1)] * 28 + [(0, 0)] * 12 + [(0, 1)] * 2 + [(1, 0)] * 8
REFERENCE += [(1, None)] * 337 + [(0, None)] * 112 + [(0.5, None)]


def test_one_row_a_task_is_the_published_formula():
    judge, gold = zip(*REFERENCE, strict=True)
    found = corrected.corrected_mean(arm(judge, gold))
    # its weight comes from the variance of F on all rows, pooled; ours from the variance of the whole estimate
    assert found.value == pytest.approx(0.6186300925, abs=2e-3)
    assert found.interval == pytest.approx((0.4940179383, 0.7432422467), abs=3e-3)
    assert found.gold_alone == (pytest.approx(0.6), pytest.approx(intervals.mean_interval([1] * 30 + [0] * 20)))


def test_rogan_gladen_of_the_reference():
    judge, gold = zip(*REFERENCE, strict=True)
    rate, (low, high) = corrected.rogan_gladen(arm(judge, gold))
    share = np.mean(judge)
    assert rate == pytest.approx((share + 12 / 20 - 1) / (28 / 30 + 12 / 20 - 1))
    assert rate == pytest.approx(0.650625)
    # the delta method written out for rows that are their own tasks, a hit and a miss more in each class
    better = 28 / 30 + 12 / 20 - 1
    n, yes, no = 500, 30, 20
    se, sp = 29 / (yes + 2), 13 / (no + 2)
    variance = np.var(judge) / n + rate**2 * se * (1 - se) / (yes + 2) + (1 - rate) ** 2 * sp * (1 - sp) / (no + 2)
    half = 2.0095752 * math.sqrt(variance) / better
    assert (low, high) == (pytest.approx(rate - half, abs=1e-6), pytest.approx(rate + half, abs=1e-6))
    assert corrected.rogan_gladen(arm([1, 0, 1, 0], [1, 1, 0, 0])) is None  # no better than chance
    assert corrected.rogan_gladen(arm([1, 0, 1], [1, 1, None])) is None


def test_rogan_gladen_of_a_judge_without_an_error_has_a_width():
    tasks = np.arange(12) // 2
    perfect = corrected.Labelled(*(np.tile([0.0, 1.0], 6),) * 2, tasks, tasks, np.ones(12))
    rate, (low, high) = corrected.rogan_gladen(perfect)
    assert rate == 0.5
    assert low < 0.3
    assert high > 0.7


def test_a_weight_of_two_is_the_row_twice():
    rng = np.random.default_rng(4)
    judge, gold = rng.integers(0, 2, 40), rng.integers(0, 2, 40).tolist()
    tasks = np.arange(40)
    weights = rng.integers(1, 4, 40)
    once = corrected.weighted_rate(np.array(gold, float), tasks, weights.astype(float))
    many = np.repeat(np.arange(40), weights)
    again = corrected.weighted_rate(np.array(gold, float)[many], many, np.ones(len(many)))
    assert once == (pytest.approx(again[0]), pytest.approx(again[1]), pytest.approx(again[2]))
    kappas = (
        agreement.kappa_std(judge, np.array(gold), tasks, weights),
        agreement.kappa_std(judge[many], np.array(gold)[many], many),
    )
    assert kappas[0] == pytest.approx(kappas[1])


def test_equal_weights_are_no_weights():
    x = np.array([1, 0, 1, 1, 0.5])
    rate, ends, size = corrected.weighted_rate(x, np.arange(5), np.full(5, 7.0))
    assert (rate, size) == (pytest.approx(0.7), pytest.approx(5))
    assert ends == pytest.approx(intervals.mean_interval(x))


def test_labels_drawn_by_verdict_give_the_post_stratified_rate():
    """A weight for each verdict makes the estimate what is known as post-stratification, whatever was drawn."""
    judge = [1] * 80 + [0] * 20
    gold = [1] * 6 + [0] * 2 + [None] * 72 + [1] * 3 + [0] * 5 + [None] * 12
    weights = [80 / 8] * 80 + [20 / 8] * 20
    found = corrected.corrected_mean(arm(judge, gold, weights=weights))
    assert found.value == pytest.approx(0.8 * 6 / 8 + 0.2 * 3 / 8)
    assert found.interval[0] < found.value < found.interval[1]


def test_rows_of_one_task_are_one_label():
    """Eight copies of a task say as much as the task."""
    judge, gold = [1, 1, 0, 0, 1, 0], [1, 0, 0, 1, None, None]
    once = corrected.corrected_mean(arm(judge, gold))
    tasks = np.repeat(np.arange(6), 8)
    often = corrected.corrected_mean(arm(np.repeat(judge, 8), np.repeat(np.array(gold, dtype=object), 8), tasks))
    assert often.value == pytest.approx(once.value)
    assert often.interval == pytest.approx(once.interval)


def test_units_widen():
    rng = np.random.default_rng(1)
    truth = np.repeat(rng.random(20) < 0.5, 10)
    judge = np.where(rng.random(200) < 0.1, ~truth, truth)
    gold = [int(t) if i % 2 else None for i, t in enumerate(truth)]
    alone = corrected.corrected_mean(arm(judge, gold))
    together = corrected.corrected_mean(arm(judge, gold, units=np.repeat(np.arange(20), 10)))
    assert np.ptp(together.interval) > np.ptp(alone.interval)


def test_a_change_is_mirrored_and_nothing_changes_by_nothing():
    rng = np.random.default_rng(2)
    rows = [(rng.random(60) < 0.6, [int(rng.random() < 0.5) if i < 30 else None for i in range(60)]) for _ in range(2)]
    before, after = (arm(judge, gold) for judge, gold in rows)
    there, back = corrected.corrected_change(before, after), corrected.corrected_change(after, before)
    assert there.value == pytest.approx(-back.value)
    assert there.interval == pytest.approx((-back.interval[1], -back.interval[0]))
    same = corrected.corrected_change(before, before)
    assert same.value == 0
    assert same.interval[0] < 0 < same.interval[1]
    assert corrected.corrected_change(before, arm([1, 0, 1], [1, None, None])) is None


def test_labels_of_the_same_tasks_say_more():
    """Where arms are alike, residuals of a task labelled twice cancel."""
    rng = np.random.default_rng(3)
    gold = rng.random(400) < 0.5
    said = [np.where(rng.random(400) < 0.2, ~gold, gold) for _ in range(2)]

    def labelled(judge, first):
        return arm(judge, [int(g) if first <= i < first + 60 else None for i, g in enumerate(gold)])

    shared = corrected.corrected_change(labelled(said[0], 0), labelled(said[1], 0))
    apart = corrected.corrected_change(labelled(said[0], 0), labelled(said[1], 60))
    assert np.ptp(shared.interval) < 0.7 * np.ptp(apart.interval)


@pytest.mark.parametrize("k", [1, 4])
def test_it_holds_the_truth_where_the_judges_own_change_does_not(k):
    """The judge is lenient on one arm only: its own change is made of that."""
    rng = np.random.default_rng(k)
    tasks = np.repeat(np.arange(120), k)
    held = fooled = 0
    for _ in range(100):
        rates = np.where(rng.random(120) < 0.5, 0.2, 0.8)[tasks]
        arms = []
        for leak in (0.05, 0.4):
            gold = rng.random(len(tasks)) < rates
            said = rng.random(len(tasks)) < np.where(gold, 0.95, leak)
            there = rng.random(len(tasks)) < 60 / len(tasks)
            arms.append(arm(said, [int(g) if t else None for g, t in zip(gold, there, strict=True)], tasks))
        found = corrected.corrected_change(*arms)
        held += found.interval[0] <= 0 <= found.interval[1]
        means = [agreement.task_means(side.judge, tasks) for side in arms]
        low, _ = intervals.paired_interval(means[1] - means[0])
        fooled += low > 0
    assert held >= 90
    assert fooled >= 50
