"""The intervals against slow textbook versions, and what must hold for all of them."""

import itertools
import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai.stats import intervals

LEVELS = st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
lattice = st.lists(st.integers(0, 8).map(lambda c: c / 8), min_size=1, max_size=30)
scores = lattice | st.lists(st.floats(0, 1), min_size=1, max_size=30)
changes = st.lists(st.integers(-8, 8).map(lambda c: c / 8), min_size=1, max_size=30) | st.lists(
    st.floats(-1, 1).map(lambda v: 0.0 if abs(v) < 1e-9 else v), min_size=1, max_size=30
)
markers = st.lists(st.integers(-10_000, 10_000).map(lambda v: v / 7), min_size=2, max_size=20)


def slow_mean(x, level):
    """One imaginary task at 0 (lower) or 1 (upper), a beta with the moments of the Dirichlet-weighted mean."""

    def end(z, q):
        with_z = [*x, z]
        size = len(with_z)
        m = math.fsum(with_z) / size
        if m in (0.0, 1.0):
            return m
        v = math.fsum((value - m) ** 2 for value in with_z) / size / (size + 1)
        nu = m * (1 - m) / v - 1
        return scipy.stats.beta.ppf(q, m * nu, (1 - m) * nu)

    return end(0.0, (1 - level) / 2), end(1.0, (1 + level) / 2)


def slow_paired(d, level, bounded=True):
    """Student's t interval of the list with two more differences, and the rule of three."""
    d2, d4 = math.fsum(v**2 for v in d), math.fsum(v**4 for v in d)
    c = math.sqrt(d4 / d2) if d2 else 1.0
    longer = [*d, c, -c]
    size = len(longer)
    centre = math.fsum(longer) / size
    half = scipy.stats.t.ppf((1 + level) / 2, size - 1) * np.std(longer, ddof=1) / math.sqrt(size)
    if not bounded:
        return centre - half, centre + half
    mean, f = math.fsum(d) / len(d), (1 - level) ** (1 / len(d))
    low, high = min(centre - half, -1 + (mean + 1) * f), max(centre + half, 1 - (1 - mean) * f)
    return max(-1.0, low), min(1.0, high)


@settings(deadline=None)
@given(lattice, LEVELS)
def test_mean_is_the_slow_one(x, level):
    """The sums give what the list with one more task gives."""
    assert intervals.mean_interval(x, level) == pytest.approx(slow_mean(x, level), abs=1e-9)


@pytest.mark.parametrize("n", [1, 2, 5, 30])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_mean_of_binary_scores_is_clopper_pearson(n, level):
    """On scores of 0 and 1 each end leaves exactly half of 1 - level in the binomial tail."""
    for c in range(n + 1):
        low, high = intervals.mean_interval([1.0, 0.0], level, [c, n - c])
        if c:
            assert scipy.stats.binom.sf(c - 1, n, low) == pytest.approx((1 - level) / 2)
        if c < n:
            assert scipy.stats.binom.cdf(c, n, high) == pytest.approx((1 - level) / 2)


@settings(deadline=None)
@given(changes, LEVELS)
def test_paired_is_the_slow_one(d, level):
    """The sums give what the list with two more tasks gives."""
    assert intervals.paired_interval(d, level) == pytest.approx(slow_paired(d, level), abs=1e-9)


@settings(deadline=None)
@given(markers, LEVELS)
def test_unbounded_is_the_slow_one(d, level):
    """Without floor and clip, on any scale, and never without the mean inside."""
    found = intervals.paired_interval_unbounded(d, level)
    if min(d) == max(d):
        assert found is None
        return
    low, high = slow_paired(d, level, bounded=False)
    mean = math.fsum(d) / len(d)
    assert found == pytest.approx((min(low, mean), max(high, mean)), rel=1e-9, abs=1e-9)


BOUNDED = [(intervals.mean_interval, scores), (intervals.paired_interval, changes)]
ALL = [*BOUNDED, (intervals.paired_interval_unbounded, markers)]


@pytest.mark.parametrize(("find", "values"), ALL, ids=lambda v: getattr(v, "__name__", ""))
def test_order_and_weights(find, values):
    """Any order gives the same bits, and so do counts in place of repeats."""

    @settings(deadline=None, max_examples=60)
    @given(values, st.randoms(use_true_random=False), LEVELS)
    def check(x, draw, level):
        expected = find(x, level)
        shuffled = list(x)
        draw.shuffle(shuffled)
        assert find(shuffled, level) == expected
        counts = [draw.randint(0, 3) for _ in x]
        counts[0] += 1
        assert find(x, level, counts) == find(np.repeat(x, counts), level)

    check()


@pytest.mark.parametrize(("find", "values"), BOUNDED, ids=lambda v: getattr(v, "__name__", ""))
def test_bounded_ends(find, values):
    """Ends lie in the range, hold the mean, never meet, and move apart with the level."""

    @settings(deadline=None, max_examples=100)
    @given(values)
    def check(x):
        mean = math.fsum(x) / len(x)
        least = 0.0 if find is intervals.mean_interval else -1.0
        ends = [find(x, level) for level in (0.5, 0.8, 0.95, 0.99)]
        for low, high in ends:
            assert least <= low <= mean + 1e-12
            assert mean - 1e-12 <= high <= 1.0
            assert low < high
        for inner, outer in itertools.pairwise(ends):
            assert outer[0] <= inner[0] + 1e-12
            assert outer[1] >= inner[1] - 1e-12

    check()


@settings(deadline=None)
@given(changes, LEVELS)
def test_paired_mirrors_exactly(d, level):
    """Swapped arms give the mirrored interval, to the bit."""
    low, high = intervals.paired_interval(d, level)
    assert intervals.paired_interval([-v for v in d], level) == (-high, -low)


@settings(deadline=None)
@given(markers, LEVELS)
def test_unbounded_mirrors_and_scales(d, level):
    """Negation mirrors the interval and a unit scales it."""
    found = intervals.paired_interval_unbounded(d, level)
    if found is not None:
        assert intervals.paired_interval_unbounded([-v for v in d], level) == (-found[1], -found[0])
        scaled = intervals.paired_interval_unbounded([1000 * v for v in d], level)
        assert scaled == pytest.approx((1000 * found[0], 1000 * found[1]), rel=1e-9, abs=1e-6)


@settings(deadline=None)
@given(lattice, LEVELS)
def test_mean_mirrors(x, level):
    """Failures counted as passes give the mirrored interval."""
    low, high = intervals.mean_interval(x, level)
    assert intervals.mean_interval([1 - v for v in x], level) == pytest.approx((1 - high, 1 - low), abs=1e-12)


@pytest.mark.parametrize("edge", [0.0, 1.0])
@pytest.mark.parametrize("off", [1e-13, 1e-15, 1e-300])
def test_scores_beside_the_edge(edge, off):
    """Rounding beside 0 or 1 is the edge itself."""
    score = abs(edge - off)
    assert intervals.mean_interval([score] * 4) == pytest.approx(intervals.mean_interval([edge] * 4), abs=1e-12)


@pytest.mark.parametrize("off", [1e-3, 1e-6, 1e-9, 1e-11])
@pytest.mark.parametrize("n", [1, 5, 10**8])
def test_alike_scores_near_the_edge(off, n):
    """Equal scores near an edge have an honest interval at any number of tasks."""
    for score in (off, 1 - off):
        low, high = intervals.mean_interval([score], 0.95, [n])
        assert 0 <= low < high <= 1
        assert low <= score <= high


@pytest.mark.parametrize("n", [10**7, 10**8])
def test_very_many_tasks(n):
    """At a hundred million tasks the interval is the normal one."""
    x, counts = [0.25, 0.75], [n // 2, n // 2]
    half = 1.959963984540054 * 0.25 / math.sqrt(n)
    assert intervals.mean_interval(x, 0.95, counts) == pytest.approx((0.5 - half, 0.5 + half), abs=2e-2 * half)
    low, high = intervals.paired_interval([-0.25, 0.25], 0.95, counts)
    assert (low, high) == pytest.approx((-half, half), rel=1e-3)


def test_noise_in_place_of_ties():
    """Differences that are rounding are ties, which keep their width."""
    assert intervals.paired_interval([3e-17, -1e-16, 0.0]) == intervals.paired_interval([0.0] * 3)


def test_large_numbers():
    """Huge markers do not overflow."""
    low, high = intervals.paired_interval_unbounded([1e200, 2e200, 3e200])
    assert low < 2e200 < high < math.inf


@pytest.mark.parametrize("d", [[], [5.0], [5.0] * 4, [0.0] * 4], ids=str)
def test_unbounded_without_spread(d):
    """Nothing is known of the spread of equal differences."""
    assert intervals.paired_interval_unbounded(d) is None


@pytest.mark.parametrize("find", [intervals.mean_interval, intervals.paired_interval])
def test_no_task(find):
    """An interval of nothing is an error of the caller."""
    with pytest.raises(ValueError, match="at least one task"):
        find([])
    with pytest.raises(ValueError, match="at least one task"):
        find([0.5], 0.95, [0])


@pytest.mark.parametrize("weights", [[1], [1, -1], [1, 0.5]], ids=str)
def test_weights_are_counts(weights):
    """Weights are whole numbers, one for each value."""
    with pytest.raises(ValueError, match="weights"):
        intervals.mean_interval([0.5, 1.0], 0.95, weights)


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize(("c", "n"), [(0, 7), (3, 7), (7, 7), (81, 263)])
def test_wilson_solves_the_score_equation(c, n, level):
    """Each end is the rate at which the score test is on the edge."""
    z = scipy.stats.norm.ppf((1 + level) / 2)
    ends = intervals.wilson_interval(c, n, level)
    for end, at_edge in zip(ends, (c == 0, c == n), strict=True):
        if not at_edge:
            assert abs(c / n - end) == pytest.approx(z * math.sqrt(end * (1 - end) / n))
    assert 0 <= ends[0] <= c / n <= ends[1] <= 1


def test_wilson_of_nothing():
    """No trial says nothing."""
    assert intervals.wilson_interval(0, 0) == (0.0, 1.0)


def test_mover_mirrors():
    """Swapped arms give the mirrored interval, which holds the difference."""
    a, b = (0.3, (0.2, 0.5)), (0.6, (0.4, 0.7))
    low, high = intervals.mover_interval(*a, *b)
    assert low < 0.3 < high
    assert intervals.mover_interval(*b, *a) == pytest.approx((-high, -low))
    assert low == pytest.approx(0.3 - math.sqrt(0.2**2 + 0.2**2))
