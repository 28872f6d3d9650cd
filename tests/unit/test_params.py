"""Checks of arguments: what passes, what is refused, and in which words."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from whileai import ParamError, params


@pytest.mark.parametrize("value", [0, 1, 0.5, np.float32(0.5), np.int64(1), Fraction(1, 2)], ids=repr)
def test_real_takes_any_real_number(value):
    number = params.real("c", "x", value, "in [0, 1]", 0, 1)
    assert type(number) is float
    assert number == float(value)


BAD_REALS = [True, "1", None, math.nan, math.inf, -0.1, 1.1, 10**400, -(10**400), Decimal("0.5"), [0.5], 1j]


@pytest.mark.parametrize("value", BAD_REALS, ids=str)
def test_real_refuses(value):
    with pytest.raises(ParamError, match=r"^c: x must be in \[0, 1\]; got ."):
        params.real("c", "x", value, "in [0, 1]", 0, 1)


@pytest.mark.parametrize(
    ("ends", "low", "high"), [("[]", True, True), ("()", False, False), ("[)", True, False), ("(]", False, True)]
)
def test_ends(ends, low, high):
    for value, passes in ((0, low), (1, high)):
        if passes:
            assert params.real("c", "x", value, "b", 0, 1, ends=ends) == value
        else:
            with pytest.raises(ParamError):
                params.real("c", "x", value, "b", 0, 1, ends=ends)


@pytest.mark.parametrize("value", [1, np.int32(3), 10**30])
def test_whole(value):
    assert params.whole("c", "n", value) == value


@pytest.mark.parametrize("value", [0, -1, True, 1.0, np.float64(2), "3", None], ids=repr)
def test_whole_refuses(value):
    with pytest.raises(ParamError, match=r"^c: n must be a whole number of at least 1; got ."):
        params.whole("c", "n", value)


@pytest.mark.parametrize(
    ("value", "fix"),
    [
        (95, "Write 0.95."),
        (np.int64(99), "Write 0.99."),
        (1, "0.95 is usual."),
        (0, "0.95 is usual."),
        (True, "0.95 is usual."),
        ("0.95", "0.95 is usual."),
        (10**400, "0.95 is usual."),
        (math.nan, "0.95 is usual."),
    ],
)
def test_level(value, fix):
    with pytest.raises(ParamError, match=r"^c: level must be a number between 0 and 1; got .") as error:
        params.level("c", value)
    assert str(error.value).endswith(fix)


@pytest.mark.parametrize(
    ("value", "fix"),
    [
        ("rll", "Did you mean rl?"),
        ("RL", "Did you mean rl?"),
        ("zz" * 10**6, "Known here: rl, sft."),
        (None, "Known here: rl, sft."),
        (["rl"], "Known here: rl, sft."),
    ],
)
def test_one_of_names_the_near_miss(value, fix):
    with pytest.raises(ParamError) as error:
        params.one_of("select", "mode", value, ["rl", "sft"])
    assert str(error.value).startswith("select: mode must be one of 'rl', 'sft'; got ")
    assert str(error.value).endswith(f". {fix}")


@pytest.mark.parametrize("asked", ["marker:char", "chars", "Marker:Chars", "marker chars"])
def test_near_miss_of_a_marker(asked):
    assert params.near_miss(asked, ["pass_at_1", "reward", "marker:chars"]) == "Did you mean marker:chars?"


def test_near_miss_of_many_names_is_short():
    assert params.near_miss("zzz", [f"name{i}" for i in range(50)]).endswith("name11, ....")
    assert params.near_miss("x", []) == ""
