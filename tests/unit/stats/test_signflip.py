"""The sign-flip p-value against enumeration, its ways against each other, and its invariances."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai.stats import signflip
from whileai.stats.signflip import min_nonzero_for, signflip_p

steps = st.lists(st.integers(-6, 6), min_size=1, max_size=11)


def enumerated(whole):
    """All sign patterns, in integers."""
    seen = abs(sum(whole))
    patterns = itertools.product((-1, 1), repeat=len(whole))
    hits = sum(abs(sum(s * v for s, v in zip(signs, whole, strict=True))) >= seen for signs in patterns)
    return hits / 2 ** len(whole)


def counted_out(sizes, seen):
    """P(|S| >= seen) in exact fractions, for integers of any number."""
    ways = {0: 1}
    for size in sizes:
        new = {}
        for total, count in ways.items():
            for turned in (total + size, total - size):
                new[turned] = new.get(turned, 0) + count
        ways = new
    return Fraction(sum(count for total, count in ways.items() if abs(total) >= seen), 2 ** len(sizes))


@settings(deadline=None)
@given(steps)
def test_equals_enumeration(whole):
    """Every pattern counted, exactly."""
    assert signflip_p(np.array(whole) / 4, scale=4) == enumerated(whole)


@settings(deadline=None)
@given(steps, st.sampled_from([1.0, 0.25, 1000.0, 1 / 3, math.pi, 1e-9, 7e12, -1.0]), st.randoms(use_true_random=False))
def test_unit_order_and_sign(whole, factor, draw):
    """The unit, the order and the direction of the differences change nothing."""
    values = [factor * v for v in whole]
    draw.shuffle(values)
    assert signflip_p(values) == pytest.approx(enumerated(whole), rel=1e-12)


@settings(deadline=None)
@given(steps, st.data())
def test_weights_are_repeats(whole, data):
    """Counts in place of repeats give the same bits."""
    counts = [data.draw(st.integers(0, 4)) for _ in whole]
    expected = signflip_p(np.repeat(np.array(whole) / 8, counts))
    assert signflip_p(np.array(whole) / 8, weights=counts) == expected


@pytest.mark.parametrize("k", [1, 3, 8])
@pytest.mark.parametrize("gain", [0.0, 0.1, 0.4])
def test_ways_agree(k, gain):
    """The transform of tilted signs gives the digits of the direct convolution, far out in the tail too."""
    rng = np.random.default_rng(k)
    whole = (
        rng.binomial(k, 0.5 + gain, 400) - rng.binomial(k, 0.5 - gain, 400) + int(gain == 0) * rng.integers(0, 2, 400)
    )
    sizes, times, seen = signflip._on_lattice(whole, None)
    reach = int((sizes * times).sum())
    direct = signflip._convolved_p(sizes, times, seen, reach)
    assert 0 < direct < 1
    for points in (1 << 12, 1 << 14):
        assert signflip._tilted_p(sizes, times, seen, reach, points) == pytest.approx(direct, rel=1e-11)


@pytest.mark.parametrize(("up", "down"), [(700, 650), (900, 500), (1200, 52), (60_000, 59_000)])
def test_many_tasks_is_the_binomial(up, down):
    """Thousands of wins and losses give the exact binomial tail, down to 1e-280."""
    n = up + down
    tail = sum(itertools.accumulate(range(1, down + 1), lambda c, i: c * (n - i + 1) // i, initial=1))
    assert signflip_p([1.0, -1.0, 0.0], weights=[up, down, 10**6]) == pytest.approx(
        float(Fraction(2 * tail, 2**n)), rel=1e-10
    )


def test_many_fractional_tasks():
    """Thousands of differences of several sizes give the exact tail."""
    sizes = [1, 2, 3] * 400
    assert signflip_p([0.1, 0.2, 0.3, -0.1, -0.2, -0.3], weights=[230, 225, 220, 170, 175, 180]) == pytest.approx(
        float(counted_out(sizes, abs(60 + 2 * 50 + 3 * 40))), rel=1e-10
    )


def test_rates_of_unequal_groups():
    """Rates over one to eight completions share the lattice of 1/840, found or given."""
    rng = np.random.default_rng(5)
    d = np.concatenate([rng.binomial(n, 0.6, 9) / n - rng.binomial(n, 0.5, 9) / n for n in range(1, 9)])
    expected = float(counted_out(np.abs(np.rint(840 * d)).astype(int).tolist(), abs(int(np.rint(840 * d).sum()))))
    assert signflip_p(d, scale=840) == pytest.approx(expected, rel=1e-12)
    assert signflip_p(d) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("n", [3, 12, 17])
def test_off_the_lattice_enumerates(n):
    """Differences without a common step are enumerated, ties and all."""
    d = np.sqrt(np.arange(2, n + 2)) * np.where(np.arange(n) % 4 == 0, -1, 1)
    sums = np.array([np.dot(signs, d) for signs in itertools.product((-1, 1), repeat=n)])
    assert signflip_p(d) == (np.abs(sums) >= abs(d.sum()) - 1e-9).mean()
    assert signflip_p(d[::-1]) == signflip_p(d)
    assert signflip_p(-12345.678 * d) == signflip_p(d)


def test_many_off_the_lattice_are_normal():
    """Above forty such differences the normal limit stands in, near the exact value at forty."""
    rng = np.random.default_rng(0)
    d = rng.normal(0.3, 1, 41)
    z = abs(d.sum()) / math.sqrt((d * d).sum())
    assert signflip_p(d) == pytest.approx(math.erfc(z / math.sqrt(2)), rel=1e-12)
    z = abs(d[:40].sum()) / math.sqrt((d[:40] ** 2).sum())
    assert signflip_p(d[:40]) == pytest.approx(math.erfc(z / math.sqrt(2)), rel=0.25)


@pytest.mark.parametrize("d", [[], [0.0], [0.0] * 9, [0.5, -0.5], [math.sqrt(2), -math.sqrt(2)]], ids=str)
def test_nothing_seen(d):
    """Without a difference, or with a sum of 0, p is 1."""
    assert signflip_p(d) == 1.0


def test_ties_of_rounding():
    """Differences up to `tie` are ties."""
    assert signflip_p([1e-17, 2e-17, 1e-16], tie=1e-12) == 1.0
    assert signflip_p([0.5] * 6 + [1e-16] * 9, tie=1e-12) == 2.0**-5


def test_never_zero():
    """However many tasks agree, p is a number above 0."""
    assert 0 < signflip_p(np.full(5000, 0.5)) < 1e-300
    assert 0 < signflip_p([0.5, -0.5, 0.25], weights=[100_000, 5, 7]) < 1e-300


@pytest.mark.parametrize("scale", [3, 10**30, 2])
def test_a_scale_that_does_not_fit(scale):
    """A scale that leaves fractions, or a huge one, is not used."""
    assert signflip_p([0.25, 0.5, 0.75, 0.25], scale=scale) == 0.125


def test_fine_lattice_of_many_is_near_the_normal_limit():
    """A lattice finer than the transform holds gives the normal limit, never an error."""
    rng = np.random.default_rng(1)
    d = rng.integers(-(10**6), 10**6 + 50_000, 20_000).astype(float)
    z = abs(d.sum()) / math.sqrt((d * d).sum())
    assert signflip_p(d) == pytest.approx(math.erfc(z / math.sqrt(2)), rel=1e-9)


@pytest.mark.parametrize(
    ("level", "fewest"), [(0.5, 3), (0.8, 4), (0.9, 5), (0.9375, 6), (0.95, 6), (0.99, 8), (0.999, 11)]
)
def test_fewest_that_can_prove(level, fewest):
    """One fewer cannot reach the level even if all agree."""
    assert min_nonzero_for(level) == fewest
    assert signflip_p(np.ones(fewest)) < 1 - level <= signflip_p(np.ones(fewest - 1))
