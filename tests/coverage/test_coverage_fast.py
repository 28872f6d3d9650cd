"""A fast slice of the coverage grid: bounds are the nominal level less three Monte Carlo standard errors."""

import runpy
from pathlib import Path

import pytest

GRID = runpy.run_path(str(Path(__file__).with_name("grid.py")))
SAMPLES = 1200


@pytest.mark.parametrize("shape", ["uniform", "alike .5", "ceiling .95", "ceiling .95 two", "10% dead"])
@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("n", [4, 10, 30, 100])
def test_one_arm(n, k, shape):
    """The interval of pass@1 holds the true rate, near the ceiling and with dead tasks too."""
    share = GRID["one_arm"](shape, n, k, SAMPLES, seed=11)
    assert not share.below(0.95), share


@pytest.mark.parametrize("scenario", ["same uniform", "same ceiling .95", "all +.1", "few gain", "20% break"])
@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("n", [5, 10, 30])
def test_paired(n, k, scenario):
    """The paired interval holds the true change."""
    held, _ = GRID["paired"](scenario, n, k, SAMPLES, seed=12)
    assert not held.below(0.95), held


@pytest.mark.parametrize("scenario", ["same uniform", "same alike .5", "same bimodal", "reshuffled", "jiggled"])
@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("n", [5, 10, 30])
def test_false_alarms(n, k, scenario):
    """Arms that differ by chance alone are told apart in at most one of twenty comparisons."""
    _, alarms = GRID["paired"](scenario, n, k, SAMPLES, seed=13)
    assert not alarms.above(0.05), alarms


@pytest.mark.parametrize(("base", "effect", "k"), [(0.5, 0.2, 1), (0.5, 0.3, 1), (0.45, 0.1, 4), (0.3, 0.1, 8)])
def test_power(base, effect, k):
    """The tasks asked for prove the effect about as often as asked."""
    share = GRID["proven"](base, effect, k, 0.8, SAMPLES, seed=14)
    assert not share.below(0.77), share
    assert not share.above(0.83), share


@pytest.mark.parametrize("re_runs", [2, 3, 5])
def test_noise_band(re_runs):
    """The band of a few re-runs holds two fresh runs."""
    share = GRID["noise_alarms"](re_runs, 20_000, seed=15)
    assert not share.above(0.05), share
    assert not share.below(0.05), share


def test_spread_of_pass_rates():
    """The variance of pass rates from counts has no bias worth the name."""
    assert abs(GRID["rate_spread"]("uniform", 40, 4, SAMPLES, seed=16)) < 4
