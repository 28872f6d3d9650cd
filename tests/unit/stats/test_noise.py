"""The band of re-run noise and the spread of runs against textbook formulas."""

import math
import statistics

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

import whileai as wai
from whileai.errors import ParamError
from whileai.stats.noise import noise_band, run_spread

tables = st.tuples(st.integers(2, 6), st.integers(2, 5)).flatmap(
    lambda shape: st.lists(
        st.lists(st.integers(0, 8).map(lambda c: c / 8), min_size=shape[1], max_size=shape[1]),
        min_size=shape[0],
        max_size=shape[0],
    )
)


@pytest.mark.parametrize("df", [None, 1, 2, 4.5, 10**9])
@pytest.mark.parametrize(("n_a", "n_b", "level"), [(1, 1, 0.95), (3, 2, 0.9), (10, 1, 0.5)])
def test_band(df, n_a, n_b, level):
    """The formula, with the quantile of scipy's distributions."""
    p = (1 + level) / 2
    quantile = scipy.stats.norm.ppf(p) if df is None else scipy.stats.t.ppf(p, df)
    band = noise_band(0.03, n_a, n_b, df=df, level=level)
    assert band == pytest.approx(quantile * 0.03 * math.sqrt(1 / n_a + 1 / n_b), rel=1e-12)
    assert type(band) is float


def test_band_is_public():
    """It is the library's `noise_band`."""
    assert wai.noise_band is noise_band


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((-1,), ["run_std", "-1"]),
        ((math.nan,), ["run_std", "nan"]),
        ((math.inf,), ["run_std", "inf"]),
        ((True,), ["run_std", "True"]),
        (("0.1",), ["run_std", "'0.1'"]),
        ((None,), ["run_std", "None"]),
        ((0.1, 0), ["n_a", "0"]),
        ((0.1, 1.0), ["n_a", "1.0"]),
        ((0.1, 1, -1), ["n_b", "-1"]),
        ((0.1, 1, True), ["n_b", "True"]),
        ((0.1, 1, 1, 0), ["df", "0"]),
        ((0.1, 1, 1, 0.5), ["df", "0.5"]),
        ((0.1, 1, 1, math.nan), ["df", "nan"]),
        ((0.1, 1, 1, True), ["df", "True"]),
        ((0.1, 1, 1, "2"), ["df", "'2'"]),
        ((0.1, 1, 1, None, 1), ["level", "1"]),
        ((0.1, 1, 1, None, 95), ["level", "95", "0.95"]),
    ],
    ids=str,
)
def test_band_refuses(arguments, words):
    """An argument outside its bound is named with its value."""
    with pytest.raises(ParamError) as error:
        noise_band(*arguments)
    for word in ("noise_band: ", *words):
        assert word in str(error.value)


@settings(deadline=None)
@given(tables)
def test_spread_is_the_two_way_table(rows):
    """Means, standard deviation and residual mean square of the textbook."""
    n, r = len(rows), len(rows[0])
    spread = run_spread(rows, 0.9)
    means = [statistics.fmean(column) for column in zip(*rows, strict=True)]
    assert spread.means.tolist() == pytest.approx(means)
    assert spread.mean == pytest.approx(statistics.fmean(means))
    assert spread.run_std == pytest.approx(statistics.stdev(means), abs=1e-14)
    grand = statistics.fmean(means)
    square = sum(
        (rows[i][j] - statistics.fmean(rows[i]) - means[j] + grand) ** 2 for i in range(n) for j in range(r)
    ) / ((n - 1) * (r - 1))
    assert spread.sampling_std == pytest.approx(math.sqrt(square / n), abs=1e-12)
    if spread.run_std and spread.sampling_std:
        f = spread.run_std**2 / spread.sampling_std**2
        assert spread.f_p_value == pytest.approx(scipy.stats.f.sf(f, r - 1, (n - 1) * (r - 1)), rel=1e-9)
    if spread.run_std:
        low, high = spread.run_std_interval
        ends = [math.sqrt((r - 1) / scipy.stats.chi2.ppf(p, r - 1)) for p in (0.95, 0.05)]
        assert (low, high) == pytest.approx([spread.run_std * end for end in ends])


@settings(deadline=None)
@given(tables, st.randoms(use_true_random=False))
def test_spread_has_no_order(rows, draw):
    """The order of tasks changes no digit, nor does that of the runs change a spread."""
    expected = run_spread(rows)
    shuffled = list(rows)
    draw.shuffle(shuffled)
    assert repr(run_spread(shuffled)) == repr(expected)
    turned = run_spread([row[::-1] for row in rows])
    assert (turned.run_std, turned.sampling_std) == (expected.run_std, expected.sampling_std)
    assert (turned.f_p_value, turned.run_std_interval) == (expected.f_p_value, expected.run_std_interval)


def test_equal_runs():
    """Equal means have a spread of exactly 0, and no interval of zero width."""
    spread = run_spread([[0.1] * 7, [0.7] * 7, [0.3] * 7])
    assert (spread.run_std, spread.sampling_std) == (0.0, 0.0)
    assert (spread.run_std_interval, spread.f_p_value) == (None, None)


@pytest.mark.parametrize(("shape", "undefined"), [((5, 1), {"run_std", "run_std_interval"}), ((1, 4), set())])
def test_too_thin(shape, undefined):
    """One run has no spread, and one task no residual."""
    spread = run_spread(np.linspace(0, 1, math.prod(shape)).reshape(shape))
    empty = {
        name for name in ("run_std", "run_std_interval", "sampling_std", "f_p_value") if getattr(spread, name) is None
    }
    assert empty == undefined | {"sampling_std", "f_p_value"}
