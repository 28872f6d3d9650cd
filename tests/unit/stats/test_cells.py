"""Distinct rows and their counts against a plain counter."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai.stats.cells import cells

whole = st.integers(-3, 9) | st.integers(-(2**62), 2**62)
columns = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.tuples(*[st.sampled_from([0, 1, 2, 5]) | whole] * width), max_size=40)
)


@settings(deadline=None)
@given(columns)
def test_whole_columns(tuples):
    """Whole columns, small or huge, are counted like tuples and sorted."""
    arrays = [np.array(column, dtype=np.int64) for column in zip(*tuples, strict=True)] or [np.zeros(0, dtype=np.int64)]
    rows, counts = cells(*arrays)
    assert rows.dtype == np.int64
    assert list(zip(map(tuple, rows.tolist()), counts.tolist(), strict=True)) == sorted(Counter(tuples).items())


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from([0.0, -0.0, 0.25, 1 / 3, -2.5]), st.integers(0, 3)), min_size=1, max_size=40))
def test_float_columns(tuples):
    """A float column beside a whole one, with one zero."""
    rows, counts = cells([a for a, _ in tuples], [b for _, b in tuples])
    expected = sorted(Counter((a + 0.0, b) for a, b in tuples).items())
    assert list(zip(map(tuple, rows.tolist()), counts.tolist(), strict=True)) == expected
    assert not np.signbit(rows[rows == 0]).any()


def test_bools_and_nan():
    """Bools are whole numbers, and NaN is one value."""
    rows, counts = cells([True, False, True])
    assert (rows.tolist(), counts.tolist()) == ([[0], [1]], [1, 2])
    rows, counts = cells([np.nan, 1.0, np.nan])
    assert counts.tolist() == [1, 2]
    assert np.isnan(rows[1, 0])


def test_many_tasks_few_cells():
    """A large column costs its cells: the table and the sort agree."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 9, 50_000), rng.integers(0, 9, 50_000)
    small = cells(a, b)
    spread = cells(a * 10**7, b * 10**7)
    assert small[0].tolist() == (spread[0] // 10**7).tolist()
    assert small[1].tolist() == spread[1].tolist()
    assert small[1].sum() == 50_000


@pytest.mark.parametrize("wrong", [(), ([1, 2], [1])], ids=str)
def test_one_length(wrong):
    """Columns of one length, at least one of them."""
    with pytest.raises(ValueError, match="one length"):
        cells(*wrong)
