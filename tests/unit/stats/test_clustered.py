"""Tasks in clusters: against the formulas without clusters, a regression from outside, enumeration, and known truth."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st

from whileai.stats import clustered, intervals, signflip

LAWS = {
    "equal": lambda rng, n: np.full(n, 4),
    "uneven": lambda rng, n: rng.integers(1, 11, n),
    "skewed": lambda rng, n: rng.geometric(0.2, n),
    "heavy": lambda rng, n: np.ceil(np.exp(rng.normal(1, 1, n))).astype(int),
}


def in_order(sizes):
    return np.repeat(np.arange(len(sizes)), sizes)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_clusters_of_one_task_change_no_bit(seed, level):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    x, d, alone = rng.integers(0, 5, n) / 4, rng.integers(-4, 5, n) / 4, rng.permutation(n) * 7 - 3
    assert clustered.mean_interval(x, alone, level) == intervals.mean_interval(x, level)
    assert clustered.paired_interval(d, alone, level) == intervals.paired_interval(d, level)
    unbounded = clustered.paired_interval_unbounded(30 * d, alone, level)
    assert unbounded == intervals.paired_interval_unbounded(30 * d, level)
    for scale in (None, 4):
        assert clustered.signflip_p(d, alone, scale) == signflip.signflip_p(d, scale)


@pytest.mark.parametrize("seed", range(4))
def test_clusters_of_one_size_are_tasks_with_the_clusters_means(seed):
    """Formulas unchanged with n = clusters."""
    rng = np.random.default_rng(seed)
    n, size = int(rng.integers(2, 30)), int(rng.integers(2, 6))
    codes = rng.permutation(in_order(np.full(n, size)))
    x = np.clip(rng.random(n)[codes] + rng.normal(0, 0.1, n * size), 0, 1)
    means = np.array([x[codes == c].mean() for c in range(n)])
    for ours, theirs, values in (
        (clustered.mean_interval, intervals.mean_interval, (x, means)),
        (clustered.paired_interval, intervals.paired_interval, (x - 0.4, means - 0.4)),
        (clustered.paired_interval_unbounded, intervals.paired_interval_unbounded, (9 * x, 9 * means)),
    ):
        wide, alone = theirs(values[1]), theirs(values[0])
        expected = min(wide[0], alone[0]), max(wide[1], alone[1])
        assert ours(values[0], codes) == pytest.approx(expected, abs=1e-12)


def test_whole_clusters_that_pass_or_fail_are_clopper_and_pearsons():
    from statsmodels.stats.proportion import proportion_confint

    codes = in_order([5] * 12)
    for passed in range(13):
        ends = clustered.mean_interval((codes < passed).astype(float), codes)
        assert ends == pytest.approx(proportion_confint(passed, 12, method="beta"), abs=1e-9)


def error_of(x, codes):
    """The clustered standard error of the mean."""
    return math.sqrt(clustered.spread_of(x, codes).variance)


def test_standard_error_is_that_of_a_regression_on_a_constant():
    """Miller 2024, section 2.2: sums of products within clusters; statsmodels multiplies by C/(C - 1)."""
    rng = np.random.default_rng(1)

    def outside(x, codes):
        fit = sm.OLS(x, np.ones(len(x))).fit(cov_type="cluster", cov_kwds={"groups": codes})
        return float(fit.bse[0])

    codes = in_order([6] * 15)
    x = np.clip(rng.random(15)[codes] + rng.normal(0, 0.2, 90), 0, 1)
    assert error_of(x, codes) == pytest.approx(outside(x, codes), rel=1e-12)
    by_hand = sum((x[codes == c] - x.mean()).sum() ** 2 for c in range(15)) / 90**2
    assert error_of(x, codes) == pytest.approx(math.sqrt(by_hand * 15 / 14), rel=1e-12)
    for law in LAWS.values():
        codes = in_order(law(rng, 3000))
        x = (rng.random(codes.size) < rng.random(3000)[codes]).astype(float)
        assert error_of(x, codes) == pytest.approx(outside(x, codes), rel=0.01)


@pytest.mark.parametrize("law", LAWS)
def test_many_clusters_give_the_normal_interval_of_the_clustered_error(law):
    rng = np.random.default_rng(2)
    codes = in_order(LAWS[law](rng, 20_000))
    x = (rng.random(codes.size) < rng.random(20_000)[codes]).astype(float)
    half = 1.959964 * error_of(x, codes)
    for ends in (clustered.mean_interval(x, codes), clustered.paired_interval(x, codes)):
        assert ends == pytest.approx((x.mean() - half, x.mean() + half), abs=0.02 * half)
    alone = intervals.mean_interval(x)
    assert half > 1.3 * (alone[1] - alone[0]) / 2


def test_a_cluster_that_holds_half_of_the_tasks_leaves_little_to_know():
    sizes = [40] + [1] * 40
    x = (in_order(sizes) == 0).astype(float)
    low, high = clustered.mean_interval(x, in_order(sizes))
    assert low < 0.05
    assert high > 0.95
    assert clustered.spread_of(x, in_order(sizes)).size == pytest.approx(1 / (0.25 + 40 / 80**2))


scores = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), min_size=1, max_size=40)


@given(scores, st.randoms(use_true_random=False), st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_ends_are_around_the_mean_never_equal_and_the_same_in_any_order(found, shuffle, level):
    x, codes = (np.array(column) for column in zip(*found, strict=True))
    x = x / 4
    one = clustered.mean_interval(x, codes, level)
    change = clustered.paired_interval(2 * x - 1, codes, level)
    assert 0 <= one[0] < one[1] <= 1
    assert one[0] <= x.mean() + 1e-12
    assert x.mean() - 1e-12 <= one[1]
    assert -1 <= change[0] < change[1] <= 1
    alone, change_alone = intervals.mean_interval(x, level), intervals.paired_interval(2 * x - 1, level)
    assert one[0] <= alone[0]
    assert alone[1] <= one[1]
    assert change[0] <= change_alone[0]
    assert change_alone[1] <= change[1]
    mirrored = clustered.paired_interval(1 - 2 * x, codes, level)
    assert mirrored == (-change[1], -change[0])
    order = shuffle.sample(range(len(found)), len(found))
    names = np.array(shuffle.sample(range(-9, 40), 7))
    assert clustered.mean_interval(x[order], names[codes[order]], level) == one
    assert clustered.paired_interval(2 * x[order] - 1, names[codes[order]], level) == change
    p = clustered.signflip_p(2 * x - 1, codes, 2)
    assert clustered.signflip_p(2 * x[order] - 1, names[codes[order]], 2) == p
    assert clustered.signflip_p(1 - 2 * x, codes, 2) == p


@given(scores)
def test_the_test_turns_whole_clusters(found):
    """All patterns of signs, one sign a cluster, counted out."""
    d, codes = (np.array(column) for column in zip(*found, strict=True))
    d = d - 2
    sums = [int(d[codes == c].sum()) for c in np.unique(codes)]
    seen = abs(sum(sums))
    reached = [abs(sum(s * x for s, x in zip(signs, sums, strict=True))) >= seen for signs in signs_of(len(sums))]
    expected = sum(reached) / len(reached)
    assert clustered.signflip_p(d / 4, codes, 4) == pytest.approx(expected, rel=1e-12)
    assert clustered.signflip_p(d / 4, codes) == pytest.approx(expected, rel=1e-12)


def signs_of(n):
    return list(itertools.product((1, -1), repeat=n))


def test_changes_that_cancel_within_a_cluster_are_none():
    d = np.array([0.1, 0.2, -0.3, 0.7, -0.7])
    assert clustered.cluster_sums(d, [0, 0, 0, 1, 1]).tolist() == [0, 0]
    assert clustered.signflip_p(d, [0, 0, 0, 1, 1]) == 1.0


def test_one_cluster():
    assert clustered.mean_interval([1, 1, 1], [0, 0, 0]) == pytest.approx((0.025, 1))
    assert clustered.paired_interval([1, 1, 1], [0, 0, 0]) == intervals.paired_interval([1.0])
    assert clustered.paired_interval_unbounded([1, 2], [0, 0]) is None
    assert clustered.signflip_p([1, 1], [0, 0], 1) == 1.0


def test_no_interval_of_differences_that_are_all_equal_or_too_large_to_square():
    assert clustered.paired_interval_unbounded([2, 2, 2, 2], [0, 0, 1, 1]) is None
    low, high = clustered.paired_interval_unbounded(np.array([1, 2, 3, 5]) * 1e200, [0, 0, 1, 1])
    small = clustered.paired_interval_unbounded([1, 2, 3, 5], [0, 0, 1, 1])
    assert (low / 1e200, high / 1e200) == pytest.approx(small)


def test_nothing_is_no_task():
    with pytest.raises(ValueError, match="at least one task"):
        clustered.mean_interval([], [])


def drawn(rng, law, n, truth):
    """Scores of tasks whose clusters pass or fail as one, or nearly."""
    codes = in_order(LAWS[law](rng, n))
    rates = (rng.random(n) < truth)[codes]
    return rates.astype(float), codes


TRIALS = 500


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("n", [4, 10, 30, 100])
@pytest.mark.parametrize("truth", [0.5, 0.9])
def test_coverage_of_the_rate(law, n, truth):
    rng = np.random.default_rng([n, len(law)])
    held = 0
    for _ in range(TRIALS):
        x, codes = drawn(rng, law, n, truth)
        low, high = clustered.mean_interval(x, codes)
        held += low <= truth <= high
    assert held / TRIALS >= 0.94 - 3 * math.sqrt(0.94 * 0.06 / TRIALS)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("n", [6, 20, 100])
def test_coverage_of_the_change_and_false_alarms(law, n):
    """Clusters that move as one, up or down; the same formulas over tasks cover far less."""
    rng = np.random.default_rng([n, len(law), 2])
    held = naive = alarms = 0
    for _ in range(TRIALS):
        codes = in_order(LAWS[law](rng, n))
        d = rng.choice([-1.0, 0.0, 0.0, 1.0], n)[codes]
        low, high = clustered.paired_interval(d, codes)
        held += low <= 0 <= high
        alarms += clustered.signflip_p(d, codes, 1) < 0.05 and not low <= 0 <= high
        low, high = intervals.paired_interval(d)
        naive += low <= 0 <= high
    assert held / TRIALS >= 0.94 - 3 * math.sqrt(0.94 * 0.06 / TRIALS)
    assert alarms / TRIALS <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / TRIALS)
    assert naive < held
