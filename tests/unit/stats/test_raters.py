"""Several raters: Krippendorff's published examples, and kappa as scikit-learn and statsmodels have it."""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa

from whileai.stats import agreement
from whileai.stats.raters import krippendorff_alpha, pairwise


def units(*raters):
    """The labels of each unit from one string a rater; a dot is none."""
    return [[label for label in column if label != "."] for column in zip(*raters, strict=True)]


@pytest.mark.parametrize(
    ("raters", "alpha"),
    [
        (("0100000010", "1110010000"), 0.095),  # Krippendorff 2011, binary data, two observers
        (("aabbdcccedda", "babbbcccEddd".lower()), 0.692),  # nominal data, two observers
        (
            (
                "1233214 12...".replace(" ", ""),
                "123322412 5.3".replace(" ", ""),
                ".33323422 51.".replace(" ", ""),
                "12332441 251.".replace(" ", ""),
            ),
            0.743,
        ),
    ],
)
def test_krippendorffs_examples(raters, alpha):
    assert krippendorff_alpha(units(*raters)) == pytest.approx(alpha, abs=5e-4)


def test_alpha_where_nothing_can_be_told():
    assert krippendorff_alpha([]) is None
    assert krippendorff_alpha([[1], [0]]) is None
    assert krippendorff_alpha([[1, 1], [1, 1]]) is None
    assert krippendorff_alpha([[1, 1], [0, 0]]) == 1.0


def test_gwets_example():
    """Gwet 2008: 118 of 125 both positive, 5 and 2 split, none both negative; kappa is below 0 there."""
    assert agreement.gwet_ac1(118, 5, 2, 0) == pytest.approx(0.9408, abs=5e-5)
    assert agreement.cohen_kappa(118, 5, 2, 0) == pytest.approx(-0.0234, abs=5e-5)


@pytest.mark.parametrize("seed", range(5))
def test_kappa_is_what_others_have(seed):
    rng = np.random.default_rng(seed)
    one = rng.integers(0, 2, 60)
    other = np.where(rng.random(60) < 0.3, 1 - one, one)
    pair = pairwise({"a": dict(enumerate(one.tolist())), "b": dict(enumerate(other.tolist()))})["a", "b"]
    assert pair.kappa == pytest.approx(cohen_kappa_score(one, other))
    table = [[int(((one == i) & (other == j)).sum()) for j in (0, 1)] for i in (0, 1)]
    reference = cohens_kappa(np.array(table))
    assert pair.kappa == pytest.approx(reference.kappa)
    std = agreement.kappa_std(one, other, np.arange(60))
    assert std * np.sqrt(59 / 60) == pytest.approx(reference.std_kappa)


def test_pairs_share_units():
    found = pairwise({"a": {0: 1, 1: 0}, "b": {1: 0, 2: 1}, "c": {5: 1}})
    assert list(found) == [("a", "b")]
    assert found["a", "b"] == (1, 1.0, None)
