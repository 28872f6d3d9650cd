"""Correction for several tests, and the variance of the tasks' true pass rates."""

import itertools
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whileai.stats.multiple import holm
from whileai.stats.power import pass_rate_variance

p_values = st.lists(st.floats(0, 1) | st.sampled_from([0.01, 0.04, 0.05]), min_size=1, max_size=12)


@given(p_values)
def test_holm_is_the_step_down(p):
    """The adjusted p is the largest, over the ranks up to its own, of tests left times p."""
    adjusted = holm(p).tolist()
    ordered = sorted(p)
    for value, found in zip(p, adjusted, strict=True):
        place = ordered.index(value)
        expected = max(min(1.0, (len(p) - i) * ordered[i]) for i in range(place + 1))
        assert found == pytest.approx(expected)
        assert value <= found <= 1


def test_nothing_to_correct():
    """No test, no correction."""
    assert holm([]).size == 0


@pytest.mark.parametrize("rates", [(0.2, 0.8), (0.5, 0.5, 0.9)])
def test_pass_rate_variance_is_unbiased(rates):
    """Over all outcomes, weighted by their chance, the split gives the variance of the true rates."""
    k = 3
    mean = 0.0
    for counts in itertools.product(range(k + 1), repeat=len(rates)):
        chance = np.prod([[1, 3, 3, 1][c] * p**c * (1 - p) ** (k - c) for c, p in zip(counts, rates, strict=True)])
        means = [c / k for c in counts]
        within = [c * (k - c) / (k * (k - 1)) for c in counts]
        unclipped = statistics.variance(means) - statistics.mean(within) / k
        assert pass_rate_variance([k] * len(rates), counts) == pytest.approx(max(0.0, unclipped), abs=1e-15)
        mean += chance * unclipped
    assert mean == pytest.approx(statistics.variance(rates))


def test_pass_rate_variance_of_single_completions():
    """Tasks with one completion are left out, and two tasks are the fewest."""
    assert pass_rate_variance([4, 4, 1], [4, 0, 1]) == pass_rate_variance([4, 4], [4, 0]) == 0.5
    assert pass_rate_variance([1, 1, 4], [1, 0, 2]) is None
