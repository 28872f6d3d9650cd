"""Sampled KL against sums by hand, a bootstrap-free reference, and simulation of two known policies."""

from __future__ import annotations

import math

import numpy as np
import pytest

from whileai.stats.kl import k3, sampled_kl


def test_by_hand():
    # (-10, -12, 20) and (-8, -9, 10): (2 + 1) / 30
    found = sampled_kl([-10 + 12, -8 + 9], [20, 10])
    assert found.mean == pytest.approx(0.1, abs=1e-15)
    assert found.n_tokens == 30
    assert found.interval is None  # both rollouts say 0.1 a token


def test_the_interval_by_hand():
    # ratios 2, 1, 3 on 20, 10, 10 tokens: mean 6/40 = 0.15; e = -1, -0.5, 1.5; sum of squares 3.5
    # se = sqrt(3/2 * 3.5) / 40 = 0.0572822; t at 2 degrees 4.3026527
    found = sampled_kl([2, 1, 3], [20, 10, 10])
    half = 4.3026527297 * math.sqrt(1.5 * 3.5) / 40
    assert found.mean == pytest.approx(0.15)
    assert found.interval == pytest.approx((0.15 - half, 0.15 + half), abs=1e-10)


def test_with_equal_lengths_it_is_the_interval_of_a_mean():
    from scipy import stats

    ratios = np.array([0.3, -0.1, 0.9, 0.4, 0.2])
    per_token = ratios / 7
    expected = stats.t.interval(0.9, 4, loc=per_token.mean(), scale=per_token.std(ddof=1) / math.sqrt(5))
    assert sampled_kl(ratios, [7] * 5, 0.9).interval == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("ratios", "sizes"), [([], []), ([0.0], [0])])
def test_without_a_token_there_is_none(ratios, sizes):
    assert sampled_kl(ratios, sizes) is None


def test_one_unit_has_no_interval():
    assert sampled_kl([1.5], [10]) == (0.15, None, 10)


def test_it_can_come_out_below_zero():
    assert sampled_kl([-1.0, 0.5], [10, 10]).mean < 0


def test_the_order_is_of_no_matter():
    generator = np.random.default_rng(0)
    ratios, sizes = generator.normal(size=50), generator.integers(1, 99, 50)
    order = generator.permutation(50)
    assert sampled_kl(ratios, sizes) == sampled_kl(ratios[order], sizes[order])


def test_it_covers_the_true_divergence():
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.4, 0.4, 0.2])
    truth = float((p * np.log(p / q)).sum())
    generator = np.random.default_rng(1)
    covered = 0
    for _ in range(1000):
        sizes = generator.integers(5, 40, 12)
        ratios = [np.log(p / q)[generator.choice(3, size, p=p)].sum() for size in sizes]
        low, high = sampled_kl(ratios, sizes).interval
        covered += low <= truth <= high
    assert 925 <= covered <= 972


def test_k3_by_hand_and_against_the_true_divergence():
    assert k3([-1.0], [-1.0]) == 0
    # d = ln 2: 1/2 - 1 + ln 2
    assert k3([math.log(0.5)], [math.log(0.25)]) == pytest.approx(math.log(2) - 0.5, abs=1e-15)
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.4, 0.4, 0.2])
    drawn = np.random.default_rng(2).choice(3, 200_000, p=p)
    found = k3(np.log(p)[drawn], np.log(q)[drawn])
    assert found == pytest.approx(float((p * np.log(p / q)).sum()), abs=3e-4)


def test_k3_is_never_negative_and_exact_near_zero():
    generator = np.random.default_rng(3)
    for size in (1e-9, 1e-4, 1.0):
        d = generator.normal(0, size, 100)
        assert k3(d, np.zeros(100)) >= 0
    assert k3([1e-6], [0.0]) == pytest.approx(5e-13, rel=1e-3)


def test_k3_that_is_larger_than_any_float_is_none():
    assert k3([-800.0], [0.0]) is None
    assert k3([], []) is None
