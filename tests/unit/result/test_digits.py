"""How many digits a number gets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whileai.result import digits as d


@pytest.mark.parametrize(
    ("width", "floor", "places"),
    [
        (1, 2, 2),
        (0.68, 2, 2),
        (0.1, 2, 2),
        (0.0999, 2, 3),
        (0.01, 2, 3),
        (0.0067, 2, 4),
        (1e-9, 2, 6),
        (0, 2, 2),
        (33, 0, 0),
        (9.9, 0, 1),
        (0.5, 0, 2),
        (float("inf"), 0, 2),
        (float("nan"), 2, 2),
    ],
)
def test_decimals_from_the_width(width, floor, places):
    assert d.decimals(width, floor) == places


@given(st.floats(1e-5, 1e4))
def test_the_last_digit_lies_between_a_tenth_and_a_hundredth_of_the_width(width):
    places = d.decimals(width, 0)
    if 0 < places < d.MOST:
        assert width / 100 * (1 - 1e-9) <= 10.0**-places <= width / 10 * (1 + 1e-9)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.076, "0.076"),
        (0.0996, "0.10"),
        (0.996, "1.0"),
        (9.96, "10"),
        (99.6, "100"),
        (12345.6, "12,346"),
        (0.00123, "0.0012"),
        (None, "not measured"),
    ],
)
def test_spread(value, text):
    assert d.spread(value) == text


@given(st.floats(1e-6, 1e6))
def test_a_spread_has_two_significant_digits(value):
    text = d.spread(value).replace(",", "")
    assert float(text) == pytest.approx(value, rel=0.05)
    assert not text.endswith(".")


@pytest.mark.parametrize(
    ("p", "bar", "text"),
    [
        (0.25, 0.05, "0.25"),
        (0.0032, 0.05, "0.0032"),
        (0.04996, 0.05, "0.04996"),
        (0.0501, 0.05, "0.050"),
        (0.00009, 0.05, "<0.0001"),
        (1.0, 0.05, "1.00"),
        (0.9996, 0.05, "1.00"),
        (0.00012, 0.05, "0.00012"),
        (None, 0.05, "not measured"),
    ],
)
def test_p_value(p, bar, text):
    assert d.p_value(p, bar) == text


@given(st.floats(0, 1), st.sampled_from([0.05, 0.1, 0.01, 1 - 0.95]))
def test_a_printed_p_stays_on_its_side_of_the_bar(p, bar):
    shown = d.p_value(p, bar)
    if not shown.startswith("<") and abs(p - bar) > 1e-6:
        assert (float(shown) < bar) == (p < bar)


@pytest.mark.parametrize(
    ("value", "places", "text"),
    [
        (0.0, 2, "0.00"),
        (-0.001, 2, "0.00"),
        (-0.0, 1, "0.0"),
        (-0.26, 1, "-0.3"),
        (1234567.8, 0, "1,234,568"),
        (None, 2, "not measured"),
    ],
)
def test_number(value, places, text):
    assert d.number(value, places) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.25, "+0.25"), (-0.25, "-0.25"), (0, "+0.00"), (-1e-9, "+0.00"), (None, "not measured")]
)
def test_signed(value, text):
    assert d.signed(value, 2) == text


def test_rates_at_their_ends_are_short_and_near_them_are_not():
    assert d.rates((0.0, 1.0), 4) == "[0.00..1.00]"
    places = d.rate_decimals(0.5, (0.9996, 0.5))
    assert d.rate(0.9996, places) == "0.9996"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.05, "0.05"), (0.1, "0.10"), (1, "1.00"), (0.125, "0.125"), (0.999, "0.999"), (1e-9, "1e-09"), (0, "0.00")],
)
def test_given(value, text):
    assert d.given(value) == text


@pytest.mark.parametrize(("n", "text"), [(0, "0 tasks"), (1, "1 task"), (1319, "1,319 tasks")])
def test_count(n, text):
    assert d.count(n, "task") == text


def test_count_of_nothing_named():
    assert d.count(1234567) == "1,234,567"
    assert d.count(2, "try", "tries") == "2 tries"
