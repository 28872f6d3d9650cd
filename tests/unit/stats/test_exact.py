"""Exact sums against fractions, in any order and any cut."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai.stats import exact

BIG = st.floats(-1e300, 1e300) | st.floats(-1e19, 1e19)
SMALL = (
    st.floats(-1, 1)
    | st.integers(-5, 5).map(float)
    | st.floats(-1e-15, 1e-15)
    | st.integers(0, 10).map(lambda v: v / 10)
)
rows = st.lists(st.tuples(st.integers(0, 3), SMALL | BIG), max_size=40) | st.lists(
    st.tuples(st.integers(0, 3), SMALL), max_size=40
)


def on_grid(value):
    """The value cut toward 0 at 2^-80."""
    return Fraction(math.trunc(Fraction(value) * 2**80), 2**80)


def as_fractions(sums):
    return [
        Fraction(int(p0)) + Fraction(int(p1), 2**40) + Fraction(int(p2), 2**80)
        for p0, p1, p2 in zip(*sums, strict=True)
    ]


def same(left, right):
    return all(a.tolist() == b.tolist() and a.dtype == b.dtype for a, b in zip(left, right, strict=True))


@settings(deadline=None, max_examples=200)
@given(rows)
def test_sums_are_exact(pairs):
    """Each group's sum is that of fractions on the grid, with canonical limbs."""
    codes, values = [code for code, _ in pairs], [value for _, value in pairs]
    sums = exact.exact_sums(codes, values, 4)
    for code, total in enumerate(as_fractions(sums)):
        assert total == sum((on_grid(value) for c, value in pairs if c == code), Fraction(0))
    for limb in sums[1:]:
        assert limb.dtype == np.int64
        assert ((limb >= 0) & (limb < 2**40)).all()


@settings(deadline=None)
@given(rows, st.randoms(use_true_random=False), st.integers(0, 40))
def test_order_and_shards(pairs, draw, cut):
    """Any order and any cut into two shards gives the same bits."""
    expected = exact.exact_sums([c for c, _ in pairs], [v for _, v in pairs], 4)
    shuffled = list(pairs)
    draw.shuffle(shuffled)
    parts = [
        exact.exact_sums([c for c, _ in part], [v for _, v in part], 4) for part in (shuffled[:cut], shuffled[cut:])
    ]
    assert same(exact.add(*parts), expected)
    assert same(exact.add(*parts[::-1]), expected)


@settings(deadline=None, max_examples=200)
@given(rows)
def test_means_are_rounded_once(pairs):
    """The mean is within one unit in the last place of the exact mean of the sums."""
    sums = exact.exact_sums([c for c, _ in pairs], [v for _, v in pairs], 4)
    n = np.bincount([c for c, _ in pairs], minlength=4)
    for total, count, mean in zip(as_fractions(sums), n.tolist(), exact.means(sums, n).tolist(), strict=True):
        if count == 0:
            assert math.isnan(mean)
        else:
            ideal = float(total / count)
            assert abs(mean - ideal) <= max(math.ulp(ideal), 2.0**-80)


@given(st.lists(st.integers(-1000, 1000), min_size=1, max_size=30), st.integers(1, 500))
def test_whole_columns_take_the_cheap_path(values, n):
    """Whole numbers have the mean that plain division gives, by the general path too."""
    sums = exact.exact_sums([0] * len(values), values, 1)
    assert exact.means(sums, [n])[0] == sum(values) / n
    assert exact._short_means(sums, np.array([n]))[0] == sum(values) / n


@pytest.mark.parametrize(("value", "n"), [(1e15, 10**7), (-0.1, 5 * 10**6), (1.7e18, 100_000), (0.7, 9000)])
def test_large_groups(value, n):
    """Ten million rows a group, and epoch nanoseconds, neither wrap nor drift."""
    sums = exact.exact_sums(np.zeros(n, dtype=np.int64), np.full(n, value), 1)
    assert as_fractions(sums) == [n * on_grid(value)]
    assert exact.means(sums, [n])[0] == value


def test_wide_sums_come_back():
    """A sum that leaves int64 and comes back is int64 again, as if it had never left."""
    far = exact.exact_sums([0, 1], [1e30, 2.5], 2)
    assert far.p0.dtype == object
    assert same(exact.add(far, exact.exact_sums([0], [-1e30], 2)), exact.exact_sums([0, 1], [0.0, 2.5], 2))


def test_small_negative_values():
    """What lies just under 0 is not rounded to 0 or -1."""
    sums = exact.exact_sums([0, 0], [-1e-20, 3e-20], 1)
    assert as_fractions(sums)[0] == on_grid(-1e-20) + on_grid(3e-20)
    assert exact.means(sums, [2])[0] == pytest.approx(1e-20, rel=1e-3)


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_no_place_on_the_grid(value):
    """What is not finite is refused."""
    with pytest.raises(OverflowError, match="finite"):
        exact.exact_sums([0, 0], [1.0, value], 1)


def test_nothing():
    """No rows and no groups are fine."""
    assert same(exact.exact_sums([], [], 2), exact.exact_sums([0, 1], [0.0, -0.0], 2))
    assert exact.exact_sums([], [], 0).p0.size == 0
    assert exact.total([]) == 0.0
    assert math.isnan(exact.mean([]))


@settings(deadline=None)
@given(st.lists(SMALL, min_size=1, max_size=50), st.data())
def test_total_and_mean(values, data):
    """The total is the rounded exact sum; counts and repeats, and any order, are the same bits."""
    counts = [data.draw(st.integers(1, 5)) for _ in values]
    repeated = [value for value, count in zip(values, counts, strict=True) for _ in range(count)]
    assert exact.total(values) == pytest.approx(math.fsum(values), rel=1e-15, abs=1e-20)
    assert exact.total(values, counts) == exact.total(repeated[::-1])
    assert exact.mean(values, counts) == exact.mean(repeated)
    assert exact.mean([values[0]] * 7) == pytest.approx(values[0], rel=1e-15, abs=1e-23)


def test_total_with_huge_counts():
    """Counts beyond what a float dot product holds exactly are still added exactly."""
    assert exact.total([1 / 3, -1 / 3, 1.0], [2**40, 2**40, 5]) == 5.0
    assert exact.mean([0.1], [2**40]) == 0.1
