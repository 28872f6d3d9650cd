"""The within-stratum permutation test against brute force, and its false alarms on noise."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from whileai.stats import stratified
from whileai.stats.stratified import scan


def brute(y, x, codes):
    """Every permutation of the outcomes within strata, the slow way: correlations seen, and the largest of each way."""
    y, x, codes = np.asarray(y, float), np.asarray(x, float), np.asarray(codes)
    strata = [np.flatnonzero(codes == code) for code in np.unique(codes)]
    strata = [place for place in strata if 0 < y[place].sum() < len(place)]

    def centred(values):
        out = np.zeros(values.shape)
        for place in strata:
            out[place] = values[place] - values[place].mean(axis=0)
        return out

    cx = centred(x)

    def correlations(outcome):
        cy = centred(outcome)
        return np.array([np.dot(cy, column) / np.sqrt(np.dot(cy, cy) * np.dot(column, column)) for column in cx.T])

    ways = []
    options = []
    for place in strata:
        sets = itertools.combinations(place.tolist(), int(y[place].sum()))
        options.append(list(sets))
    for chosen in itertools.product(*options):
        outcome = np.zeros(len(y))
        outcome[list(itertools.chain(*chosen))] = 1
        ways.append(correlations(outcome))
    return correlations(y), np.array(ways)


CASES = [
    # outcomes, strata
    ([1, 0, 0, 1, 0, 1, 1, 0, 0, 1], [0, 0, 0, 1, 1, 1, 2, 2, 2, 2]),
    ([1, 0, 1, 1, 1, 0, 0, 0, 0, 1], [0, 0, 0, 1, 1, 1, 2, 2, 2, 2]),
    ([1, 1, 0, 0, 0, 0, 1, 1], [5, 5, 5, 5, 3, 3, 3, 3]),
]


@pytest.mark.parametrize(("y", "codes"), CASES)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_permutation_by_brute_force(y, codes, seed):
    x = np.random.default_rng(seed).integers(0, 4, (len(y), 3)).astype(float)
    x[:, 2] = np.random.default_rng(seed + 9).normal(size=len(y))
    seen, ways = brute(y, x, codes)
    top = np.abs(ways).max(axis=1)
    found = scan(y, x, codes, 0.8)
    assert found.every_way
    assert found.n_ways == len(ways)
    assert found.r == pytest.approx(seen, abs=1e-12)
    assert found.p == pytest.approx([(top >= abs(r) - 1e-9).mean() for r in seen])
    assert found.least_p == 1 / len(ways)
    assert ((np.abs(found.r) > found.floor + 1e-9) == (found.p <= 0.2 + 1e-12)).all()


def test_draws_agree_with_every_permutation(monkeypatch):
    generator = np.random.default_rng(4)
    y = np.tile([1, 0, 0, 1, 0], 5)
    codes = np.repeat(np.arange(5), 5)
    x = generator.normal(size=(25, 2)) + 0.5 * y[:, None]
    monkeypatch.setattr(stratified, "EVERY_WAY", 10**6)
    exact = scan(y, x, codes)
    monkeypatch.setattr(stratified, "EVERY_WAY", 10)
    drawn = scan(y, x, codes)
    monkeypatch.setattr(stratified, "_LISTED", 1)
    keyed = scan(y, x, codes)
    assert (exact.every_way, drawn.every_way, keyed.every_way) == (True, False, False)
    for found in (drawn, keyed):
        assert found.r == pytest.approx(exact.r)
        assert found.p == pytest.approx(exact.p, abs=0.02)
        assert found.floor == pytest.approx(exact.floor, abs=0.03)


def test_a_difference_between_strata_is_no_finding():
    """Hard strata with large values, easy ones with small: pooled they correlate, within strata they do not."""
    generator = np.random.default_rng(5)
    codes = np.repeat(np.arange(40), 8)
    rate = np.where(np.arange(40) < 20, 0.2, 0.8)[codes]
    y = (generator.random(320) < rate).astype(float)
    x = 100.0 * (codes < 20) + generator.normal(size=320)
    assert abs(np.corrcoef(x, y)[0, 1]) > 0.4
    assert scan(y, x[:, None], codes).p[0] > 0.05


def test_false_alarms_on_noise_are_at_most_one_in_twenty():
    generator = np.random.default_rng(6)
    alarms = 0
    for _ in range(400):
        codes = np.repeat(np.arange(12), 4)
        y = (generator.random(48) < 0.5).astype(float)
        x = generator.exponential(size=(48, 5))
        x[:, 1] = x[:, 0] + 0.1 * x[:, 1]
        found = scan(y, x, codes)
        alarms += bool((found.p <= 0.05).any())
    assert alarms <= 32  # P(more | 5%) is 0.4%


def test_a_real_effect_is_found():
    generator = np.random.default_rng(7)
    codes = np.repeat(np.arange(30), 6)
    x = generator.normal(size=(180, 4))
    y = (generator.random(180) < 1 / (1 + np.exp(-1.5 * x[:, 2]))).astype(float)
    found = scan(y, x, codes)
    assert found.p[2] == 1e-4
    assert (np.delete(found.p, 2) > 0.05).all()


def test_rows_in_any_order_give_the_same_digits():
    generator = np.random.default_rng(8)
    codes = np.repeat(np.arange(30), 8)
    y = (generator.random(240) < 0.5).astype(float)
    x = generator.integers(0, 5, (240, 3)).astype(float)
    x[generator.random((240, 3)) < 0.1] = np.nan
    order = generator.permutation(240)
    first, second = scan(y, x, codes), scan(y[order], x[order], codes[order])
    assert [part.tolist() if hasattr(part, "tolist") else part for part in first] == [
        part.tolist() if hasattr(part, "tolist") else part for part in second
    ]


def test_features_that_do_not_vary_or_do_not_count():
    y, codes = [1, 0, 1, 0, 1, 0], [0, 0, 1, 1, 2, 2]
    x = np.column_stack([np.ones(6), [0.1] * 3 + [0.1 + 1e-18] * 3, [2, 1, 2, 1, 2, 1], [np.nan] * 6])
    found = scan(y, x, codes, counts=[True, True, False, True])
    assert np.isnan(found.r).tolist() == [True, True, False, True]
    assert found.r[2] == pytest.approx(1.0)
    assert found.p[2] == 0.25  # one way in eight on either side, by itself


def test_without_a_stratum_of_both_outcomes_there_is_none():
    assert scan([1, 1, 0, 0], np.ones((4, 1)), [0, 0, 1, 1]) is None
    assert scan([], np.ones((0, 1)), []) is None
