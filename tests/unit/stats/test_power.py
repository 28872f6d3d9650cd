"""Sizes against a linear scan of the written-out criterion, and power against counting."""

import itertools
import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai.stats import power
from whileai.stats.intervals import paired_interval
from whileai.stats.mcnemar import proving_power
from whileai.stats.signflip import min_nonzero_for, signflip_p


def scanned(sd, effect, k, level, asked):
    """The first size at which the interval is above 0 with the asked power, one by one from 3."""
    alpha, z = 1 - level, scipy.stats.norm.ppf(asked)
    typical = 1.0 if k == 1 else min(1.0, 3 * sd * sd)
    for n in itertools.count(3):
        size = n + 2
        error = math.sqrt((n * sd * sd + 2 * typical) / ((size - 1) * size))
        lower = effect * n / size - scipy.stats.t.ppf(1 - alpha / 2, size - 1) * error
        spare = z * sd / math.sqrt(n)
        if lower >= spare * n / size and effect - spare >= alpha ** (-1 / n) - 1:
            return n
    return None


@settings(deadline=None, max_examples=40)
@given(
    st.floats(0.05, 0.8),
    st.floats(0.06, 0.9),
    st.sampled_from([2, 4, 8]),
    st.sampled_from([0.8, 0.9, 0.95, 0.99]),
    st.sampled_from([0.5, 0.8, 0.9]),
)
def test_size_is_the_scanned_one(sd, effect, k, level, asked):
    """The search finds what going through the sizes finds, and never under what the exact test needs."""
    expected = max(scanned(sd, effect, k, level, asked), min_nonzero_for(level))
    assert power.n_for_interval(sd, effect, k, level, asked) == expected


@pytest.mark.parametrize(("sd", "effect"), [(0.35, 0.02), (0.7, 0.025), (0.35, 0.0123)])
def test_large_size_is_the_scanned_one(sd, effect):
    """Sizes in the thousands, beyond those gone through one by one."""
    assert power.n_for_interval(sd, effect, 4) == scanned(sd, effect, 4, 0.95, 0.8)


def test_huge_sizes():
    """A tiny effect needs about what the normal formula says, and is found at once."""
    assert power.n_for_interval(0.35, 1e-6, 4) == pytest.approx(power.n_normal(0.35, 1e-6), rel=1e-6)


@pytest.mark.parametrize(("n", "up", "down", "level"), [(7, 0.6, 0.1, 0.95), (12, 0.5, 0.2, 0.9), (9, 0.9, 0.0, 0.95)])
def test_counted_power(n, up, down, level):
    """With one completion the power is the chance of all win and loss counts that pass both rules."""
    chance = 0.0
    for wins in range(n + 1):
        for losses in range(n - wins + 1):
            counts = [wins, losses, n - wins - losses]
            low, _ = paired_interval([1.0, -1.0, 0.0], level, counts)
            if low > 0 and signflip_p([1.0, -1.0, 0.0], weights=counts) < 1 - level:
                ways = math.comb(n, wins) * math.comb(n - wins, losses)
                chance += ways * up**wins * down**losses * (1 - up - down) ** counts[2]
    sd = math.sqrt(up + down - (up - down) ** 2)
    assert proving_power(sd, up - down, n, level) == pytest.approx(chance, rel=1e-9)


@pytest.mark.parametrize("asked", [0.8, 0.9])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
@pytest.mark.parametrize(
    ("base", "effect"),
    [(b, e) for b in (0.0, 0.3, 0.5, 0.7, 0.8) for e in (0.02, 0.05, 0.1, 0.2, 0.3) if b + e <= 1.0],
)
def test_one_completion_has_the_asked_power(base, effect, level, asked):
    """From thirty tasks up the power of interval and exact test together is within three points, counted out."""
    sd = power.task_std(base, effect, 1)
    n = power.n_for_interval(sd, effect, 1, level, asked)
    if n >= 30:
        assert abs(proving_power(sd, effect, n, level) - asked) <= 0.03


@pytest.mark.parametrize(("base", "effect", "k"), [(0.3, 0.15, 2), (0.5, 0.1, 4), (0.7, 0.15, 4), (0.45, 0.1, 8)])
def test_several_completions_have_the_asked_power(base, effect, k):
    """So it is with several completions, simulated."""
    n = power.n_for_interval(power.task_std(base, effect, k), effect, k)
    rng = np.random.default_rng(k)
    proven, repeats = 0, 1500
    for _ in range(repeats):
        d = (rng.binomial(k, base + effect, n) - rng.binomial(k, base, n)) / k
        proven += paired_interval(d)[0] > 0 and signflip_p(d, scale=k) < 0.05
    assert abs(proven / repeats - 0.8) <= 0.03 + 3 * math.sqrt(0.16 / repeats)


@pytest.mark.parametrize("k", [1, 4])
def test_size_falls_with_the_effect(k):
    """A larger effect never needs more tasks, a higher power or level never fewer."""
    sizes = [power.n_for_interval(power.task_std(0.4, e, k), e, k) for e in np.linspace(0.6, 0.06, 60).tolist()]
    assert sizes == sorted(sizes)
    for name, values in (("power", (0.5, 0.8, 0.95)), ("level", (0.8, 0.9, 0.95, 0.99))):
        sizes = [power.n_for_interval(0.5, 0.2, k, **{name: value}) for value in values]
        assert sizes == sorted(sizes)


@settings(deadline=None, max_examples=60)
@given(st.floats(0.05, 0.7), st.integers(1, 3000), st.sampled_from([1, 4]), st.sampled_from([0.9, 0.95]))
def test_detectable_effect_inverts_the_size(sd, n, k, level):
    """The effect that n tasks prove is one whose size is at most n, and n tasks do not prove a tenth less."""
    effect = power.detectable_effect(sd, n, k, level)
    if effect is None:
        assert n < min_nonzero_for(level) or power.n_for_interval(sd, 1.0, k, level) > n
        return
    assert 0 < effect <= 1
    assert power.n_for_interval(sd, min(1.0, effect * (1 + 1e-9)), k, level) <= n
    if n >= 30:
        assert power.n_for_interval(sd, 0.9 * effect, k, level) > n


def test_detectable_effect_of_too_few():
    """Five tasks prove nothing at 95%."""
    assert power.detectable_effect(0.3, 5, 4) is None
    assert power.detectable_effect(0.1, 6, 4) is not None


@pytest.mark.parametrize(("k", "n"), [(4, 104), (1, 60), (8, 30)])
def test_half_width_is_what_compare_shows(k, n):
    """The half width is that of the paired interval on differences of the given spread, to a twentieth."""
    rng = np.random.default_rng(n)
    sd = power.task_std(0.5, 0.0, k)
    widths = [
        np.subtract(*paired_interval((rng.binomial(k, 0.5, n) - rng.binomial(k, 0.5, n)) / k)[::-1]) / 2
        for _ in range(300)
    ]
    assert power.half_width(sd, n, k) == pytest.approx(np.mean(widths), rel=0.05)


def test_half_width_of_ties():
    """Without spread the rule of three is left."""
    low, high = paired_interval([0.0] * 50)
    assert power.half_width(0.0, 50, 4) == pytest.approx(1 - 0.05 ** (1 / 50))
    assert power.half_width(0.0, 50, 1) <= (high - low) / 2 + 1e-12


@pytest.mark.parametrize(
    ("base", "effect", "k", "tau"),
    [(0.45, 0.1, 4, 0.0), (0.45, 0.1, 4, 0.25), (0.2, 0.5, 1, 0.2), (0.0, 0.127, 4, 0.0), (0.6, 0.4, 2, 0.3)],
)
def test_concentrated_std_is_that_of_its_model(base, effect, k, tau):
    """The formula is the variance of the model written out over a two-point spread of pass rates."""
    share = effect / (1 - base)
    mean = square = 0.0
    for p in (base - tau, base + tau):
        noise = p * (1 - p) / k
        mean += share * (1 - p) / 2
        square += (share * (noise + (1 - p) ** 2) + (1 - share) * 2 * noise) / 2
    assert mean == pytest.approx(effect)
    assert power.concentrated_std(base, effect, k, tau) == pytest.approx(math.sqrt(square - effect**2))


@given(st.floats(0, 1), st.floats(0.01, 1), st.integers(1, 16))
def test_task_std_is_binomial(base, effect, k):
    """Two independent binomial arms; spread between tasks lowers it, unequal gains raise it."""
    after = min(1.0, base + effect)
    plain = power.task_std(base, effect, k)
    assert plain == pytest.approx(math.sqrt((base * (1 - base) + after * (1 - after)) / k), abs=1e-12)
    assert power.task_std(base, effect, k, tau=0.1) <= plain
    assert power.task_std(base, effect, k, omega=0.1) == pytest.approx(math.hypot(plain, 0.1))


def test_normal_size():
    """At least one task, and whole ratios are not pushed up by rounding."""
    assert power.n_normal(0.0, 0.5) == 1
    z = scipy.stats.norm.ppf(0.975) + scipy.stats.norm.ppf(0.8)
    assert power.n_normal(10 * 0.1 / z, 0.1) == 100


def slow_bonett(d, level):
    """Bonett's interval with scipy's trimmed mean."""
    n = len(d)
    z = scipy.stats.norm.ppf((1 + level) / 2)
    middle = scipy.stats.trim_mean(d, 1 / (2 * math.sqrt(n - 4)))
    squares = sum((v - np.mean(d)) ** 2 for v in d)
    kurtosis = n * sum((v - middle) ** 4 for v in d) / squares**2
    c = n / (n - z)
    error = c * math.sqrt((kurtosis - (n - 3) / n) / (n - 1))
    return tuple(math.sqrt(c * squares / (n - 1) * math.exp(sign * z * error)) for sign in (-1, 1))


@pytest.mark.parametrize("n", [5, 6, 12, 40])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_bonett(n, level):
    """The interval of a standard deviation, in any order."""
    d = np.random.default_rng(n).integers(-4, 5, n) / 4
    found = power.sd_interval_bonett(d, level)
    assert found == pytest.approx(slow_bonett(d, level), rel=1e-9)
    assert power.sd_interval_bonett(d[::-1], level) == found
    assert found[0] < np.std(d, ddof=1) < found[1]


@pytest.mark.parametrize(("d", "level"), [([0, 1, 0, 1], 0.95), ([0.5] * 9, 0.95), ([0, 1, 0, 1, 0], 1 - 1e-9)])
def test_bonett_undefined(d, level):
    """Four values, no spread, or a level too high for so few say nothing."""
    assert power.sd_interval_bonett(d, level) is None
