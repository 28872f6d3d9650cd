"""Agreement of several raters, some of whom saw only some of the units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple


class Pair(NamedTuple):
    """Two raters on the units that both rated.

    Attributes
    ----------
    n : int
        Units both rated.
    agreement : float
    kappa : float or None
        Cohen's; ``None`` where chance alone would agree on everything.
    """

    n: int
    agreement: float
    kappa: float | None


def krippendorff_alpha(units: Sequence[Sequence[Any]]) -> float | None:
    """Krippendorff's alpha for nominal labels, any number of raters, labels missing.

    Parameters
    ----------
    units : sequence of sequence
        The labels each unit got; who gave them does not matter. A unit with fewer than two says nothing.

    Returns
    -------
    float or None
        1 where all agree, about 0 where labels are as good as drawn; ``None`` without two labels of one unit, or where
        all labels are the same, which shows no agreement beyond chance.

    Notes
    -----
    ``1 - (n - 1) * sum of o_ck over c != k / sum of n_c * n_k over c != k``, with `o_ck` the coincidences: each pair of
    labels of a unit counts ``1 / (labels of the unit - 1)`` (Krippendorff 2011, Computing Krippendorff's
    alpha-reliability, section on nominal data and missing values).
    """
    totals: dict[Any, int] = {}
    differ = 0.0
    for labels in units:
        m = len(labels)
        if m < 2:
            continue
        here: dict[Any, int] = {}
        for label in labels:
            here[label] = here.get(label, 0) + 1
            totals[label] = totals.get(label, 0) + 1
        differ += (m * m - sum(c * c for c in here.values())) / (m - 1)
    n = sum(totals.values())
    expected = n * n - sum(c * c for c in totals.values())
    return 1.0 - (n - 1) * differ / expected if expected else None


def pairwise(ratings: Mapping[str, Mapping[int, Any]]) -> dict[tuple[str, str], Pair]:
    """Agreement and Cohen's kappa of every two raters with a unit in common.

    Parameters
    ----------
    ratings : mapping of str to mapping of int to label
        Rater -> unit -> label.
    """
    found = {}
    for one, other in combinations(sorted(ratings), 2):
        both = ratings[one].keys() & ratings[other].keys()
        if both:
            found[one, other] = _pair([(ratings[one][unit], ratings[other][unit]) for unit in both])
    return found


def _pair(labels: Sequence[tuple[Any, Any]]) -> Pair:
    n = len(labels)
    same = sum(a == b for a, b in labels)
    known = {label for pair in labels for label in pair}
    by_chance = sum(sum(a == c for a, _ in labels) * sum(b == c for _, b in labels) for c in known)
    kappa = (same * n - by_chance) / (n * n - by_chance) if by_chance < n * n else None
    return Pair(n, same / n, kappa)
