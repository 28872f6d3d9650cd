"""Agreement and the corrected rate against published and independent values."""

import math

import numpy as np
import pytest
import scipy.stats

from whileai.stats import agreement


@pytest.mark.parametrize(
    ("table", "kappa", "std", "ac1"),
    [  # kappa and its standard error: statsmodels 0.15 cohens_kappa; AC1 by Gwet's formula (2008)
        ((45, 15, 25, 15), 0.1304347826, 0.0986615376, 0.2660550459),
        ((40, 5, 9, 46), 0.7194388778, 0.0693068456, 0.7210043842),
        ((90, 4, 5, 1), 0.1346153846, 0.1621009408, 0.8995591764),
    ],
)
def test_reference_tables(table, kappa, std, ac1):
    assert agreement.cohen_kappa(*table) == pytest.approx(kappa, abs=1e-10)
    assert agreement.gwet_ac1(*table) == pytest.approx(ac1, abs=1e-10)
    judge = np.repeat([1, 1, 0, 0], table)
    gold = np.repeat([1, 0, 1, 0], table)
    n = sum(table)
    found = agreement.kappa_std(judge, gold, np.arange(n))
    assert found * math.sqrt((n - 1) / n) == pytest.approx(std, abs=1e-9)  # theirs divides by n


def test_rows_of_one_task_are_one_observation():
    judge, gold = np.array([1, 1, 0, 0, 1, 0] * 10), np.array([1, 0, 0, 1, 1, 0] * 10)
    once = agreement.kappa_std(judge, gold, np.arange(60))
    copied = agreement.kappa_std(np.repeat(judge, 5), np.repeat(gold, 5), np.repeat(np.arange(60), 5))
    assert copied == pytest.approx(once, rel=1e-12)


@pytest.mark.parametrize("table", [(0, 0, 0, 0), (5, 0, 0, 0), (0, 0, 0, 5)])
def test_kappa_that_is_undefined(table):
    assert agreement.cohen_kappa(*table) is None


def test_corrected_rate_of_the_reference():
    # PPI++ with two imaginary labelled rows, from a slow definition in standard-library Python; the reference has a
    # judge mean of exactly .75 on 450 rows, which takes one half
    gold = np.repeat([1.0, 0.0, 1.0, 0.0], [28, 12, 2, 8])
    judge = np.repeat([1.0, 0.0, 0.0, 1.0], [28, 12, 2, 8])
    rest = np.repeat([1.0, 0.0, 0.5], [337, 112, 1])
    found = agreement.corrected_rate(gold, judge, rest)
    assert found.rate == pytest.approx(0.6186300925, abs=2e-4)
    assert found.interval == pytest.approx((0.4940179383, 0.7432422467), abs=2e-4)


def test_corrected_rate_of_a_lenient_judge():
    place = np.arange(480)
    gold = place % 2
    judge = ((gold == 1) | (place % 8 == 0)).astype(float)
    use = place % 3 == 0
    found = agreement.corrected_rate(gold[use].astype(float), judge[use], judge[~use])
    assert found.rate == pytest.approx(0.5, abs=1e-9)
    assert found.interval == pytest.approx((0.4376159, 0.5623841), abs=1e-6)


def test_corrected_rate_holds_the_truth_where_the_judge_does_not():
    draw = np.random.default_rng(7)
    held = 0
    for _ in range(400):
        gold = draw.random(300) < 0.7
        judge = np.where(draw.random(300) < 0.2, ~gold, gold).astype(float)
        low, high = agreement.corrected_rate(gold[:60].astype(float), judge[:60], judge[60:]).interval
        held += low <= 0.7 <= high
    assert held / 400 > 0.95 - 3 * math.sqrt(0.95 * 0.05 / 400)


def test_a_useless_judge_costs_nothing_and_all_gold_is_gold():
    draw = np.random.default_rng(1)
    gold = (draw.random(80) < 0.6).astype(float)
    coin = (draw.random(80) < 0.5).astype(float)
    alone = agreement.corrected_rate(gold, coin, np.zeros(0))
    assert alone.rate == pytest.approx(gold.mean())
    helped = agreement.corrected_rate(gold, coin, (draw.random(500) < 0.5).astype(float))
    assert np.diff(helped.interval)[0] < 1.05 * np.diff(alone.interval)[0]
    assert agreement.corrected_rate(gold[:1], coin[:1], coin) is None


def test_correlation_needs_spread():
    alike = np.zeros(9)
    assert agreement.correlation(np.arange(3.0), np.arange(3.0), np.zeros(3)) is None
    assert agreement.correlation(np.ones(9), np.arange(9.0), alike) is None
    assert agreement.correlation(np.arange(9.0), np.arange(9.0), np.arange(9.0)) is None  # no two of equal gold
    r, p = agreement.correlation(np.array([1.0, 2, 3, 4, 5]), np.array([2.0, 1, 4, 3, 5]), np.zeros(5))
    assert r == pytest.approx(0.8)
    assert p == pytest.approx(2 * scipy.stats.t.sf(0.8 * 2, 3))


def test_correlation_within_groups():
    """The p is near the share of all shuffles within the groups that do as much."""
    rng = np.random.default_rng(3)
    gold = rng.integers(0, 2, 60).astype(float)
    x = rng.normal(size=60) * (1 + gold) + 3 * gold
    y = np.where(gold == 1, -1.0 * (rng.random(60) < 0.1), rng.random(60) < 0.3 + 0.3 * (x > 0)).astype(float)

    def pooled(values):
        return sum(np.cov(values[gold == g], y[gold == g])[0, 1] * ((gold == g).sum() - 1) for g in (0, 1))

    r, p = agreement.correlation(x, y, gold)
    squares = [sum(np.var(v[gold == g]) * (gold == g).sum() for g in (0, 1)) for v in (x, y)]
    assert r == pytest.approx(pooled(x) / np.sqrt(squares[0] * squares[1]))
    shuffled = []
    for _ in range(2000):
        other = x.copy()
        for g in (0, 1):
            other[gold == g] = rng.permutation(other[gold == g])
        shuffled.append(abs(pooled(other)) >= abs(pooled(x)))
    assert p == pytest.approx(np.mean(shuffled), abs=0.03)
