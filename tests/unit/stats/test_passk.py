"""pass@k, pass^k and the default k against exact fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai.stats.passk import default_k, pass_at_k, pass_hat_k


def exact_at(n, c, k):
    return 1 - Fraction(math.comb(n - c, k), math.comb(n, k))


def exact_hat(n, c, k):
    return Fraction(math.comb(c, k), math.comb(n, k))


@st.composite
def counts(draw, most):
    n = draw(st.integers(1, most))
    return n, draw(st.integers(0, n)), draw(st.integers(1, n))


@settings(max_examples=300, deadline=None)
@given(counts(60) | counts(3000))
def test_equals_the_exact_ratio(case):
    """Both agree with binomial coefficients in fractions, tiny values included."""
    n, c, k = case
    assert pass_at_k([n], [c], k)[0] == pytest.approx(float(exact_at(n, c, k)), rel=1e-12, abs=0)
    expected = float(exact_hat(n, c, k))
    assert pass_hat_k([n], [c], k)[0] == pytest.approx(expected, rel=1e-12, abs=1e-305)


@pytest.mark.parametrize(("n", "c", "k"), [(10**6, 1, 10**5), (10**6, 1000, 1000), (10**5, 99_990, 50_000)])
def test_many_rows(n, c, k):
    """A million rows per task keep their digits."""
    assert pass_at_k([n], [c], k)[0] == pytest.approx(float(exact_at(n, c, k)), rel=1e-12)
    assert pass_hat_k([n], [c], k)[0] == pytest.approx(float(exact_hat(n, c, k)), rel=1e-11, abs=1e-305)


def test_one_try_is_the_pass_rate():
    """With k = 1 both are c / n to the last bit, so that headroom is exactly 0."""
    n = np.repeat(np.arange(1, 80), 80)
    c = np.minimum(np.tile(np.arange(80), 79), n)
    assert (pass_at_k(n, c, 1) == c / n).all()
    assert pass_hat_k(n, c, 1) == pytest.approx(c / n, rel=1e-15)


def test_too_few_rows_is_nan():
    """Where a task has fewer rows than k nothing is defined, and the others stay."""
    for find, second in ((pass_at_k, 1.0), (pass_hat_k, 0.5)):
        out = find([3, 4, 0], [3, 3 if find is pass_at_k else 4, 0], 4)
        assert np.isnan(out[[0, 2]]).all()
        assert out[1] == pytest.approx(1.0 if find is pass_hat_k else second)


def test_shape_and_empty():
    """The answer has the shape of the counts."""
    assert pass_at_k(np.array([[4, 4], [2, 8]]), np.array([[1, 2], [0, 8]]), 2).shape == (2, 2)
    assert pass_hat_k(np.zeros(0, int), np.zeros(0, int), 2).shape == (0,)


@given(counts(40))
def test_order(case):
    """pass^k <= pass@1 <= pass@k, in [0, 1]."""
    n, c, k = case
    low, middle, high = pass_hat_k([n], [c], k)[0], c / n, pass_at_k([n], [c], k)[0]
    assert -0.0 <= low <= middle + 1e-15 <= high + 2e-15 <= 1 + 2e-15


@pytest.mark.parametrize(
    ("n", "share", "k"),
    [
        ([4] * 9 + [1], 0.9, 4),
        ([4] * 8 + [1] * 2, 0.9, 1),
        ([4] * 8 + [2] * 2, 0.9, 2),
        ([], 0.9, 1),
        ([7], 0.9, 7),
        ([1, 2, 3], 0.9, 1),
        ([8] * 63 + [2] * 7, 0.9, 8),
        ([8] * 7 + [2] * 3, 0.7, 8),
        ([8] * 69_999 + [2] * 30_001, 0.7, 2),
        ([3, 5], 1.0, 3),
    ],
    ids=str,
)
def test_default_k(n, share, k):
    """The largest k that the share of tasks has, exact at the border."""
    assert default_k(n, share) == k
    assert default_k(n[::-1], share) == k
