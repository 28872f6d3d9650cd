"""Sums of few values are added in Python ints, of many in limbs: the same bits either way."""

from __future__ import annotations

import numpy as np
import pytest

from whileai.stats import exact


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("spread", [0, 40, 900])
def test_few_and_many_are_the_same_bits(spread, weighted, monkeypatch):
    rng = np.random.default_rng(spread)
    cases = []
    for _ in range(300):
        n = int(rng.integers(1, exact._FEW + 1))
        values = rng.normal(size=n) * 2.0 ** rng.integers(-spread, spread + 1, n)
        weights = rng.integers(0, 1 << 30, n) if weighted else None
        cases.append((values, weights, exact.total(values, weights), exact.mean(values, weights)))
    monkeypatch.setattr(exact, "_FEW", 0)
    for values, weights, total, mean in cases:
        assert exact.total(values, weights) == total
        assert np.array_equal(exact.mean(values, weights), mean, equal_nan=True)


def test_bits_below_the_grid_are_dropped_toward_zero(monkeypatch):
    values = [1.0, -(2.0**-81), 2.0**-80, -3 * 2.0**-81]
    few = exact.total(values)
    monkeypatch.setattr(exact, "_FEW", 0)
    assert exact.total(values) == few
    assert exact._grid_total(np.array(values), None)[0] == (1 << 79)
