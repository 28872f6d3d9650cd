"""Does an outcome move with a feature within strata? Correlation centred in each, against permutations within each.

Outcomes are 0 or 1 and stay in their stratum, so nothing that differs between strata (a harder task, a longer topic)
can make a finding. The largest of all features' correlations is compared, so that many features raise no more false
alarms than one.
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whileai.stats import exact

#: Fewer strata with both outcomes, or fewer rows in them, say nothing either way.
LEAST_STRATA, LEAST_ROWS = 8, 20
#: Up to this many ways to permute, all are looked at; else this many fixed draws.
EVERY_WAY, DRAWS = 20_000, 9_999
#: A stratum with more subsets than this is drawn by sorting random keys instead of from a list of all of them.
_LISTED = 5_000
#: The draws are the same in every call.
_SEED = 20_260_101
#: Correlations nearer than this are equal: one permutation summed in two orders.
_ROUNDING = 1e-9


class Scan(NamedTuple):
    """Correlations within strata and how often chance reaches them.

    Attributes
    ----------
    r : float array, shape (features,)
        NaN where a feature does not vary within any stratum.
    p : float array, shape (features,)
        Chance of a largest correlation at least this far from 0, over all features that count; NaN where `r` is.
    floor : float
        The `level` quantile of the largest correlation by chance: what lies above it has ``p <= 1 - level``.
    n_ways : int
        Permutations looked at.
    every_way : bool
        Whether those are all there are.
    least_p : float
        The smallest p there can be.
    """

    r: NDArray[np.float64]
    p: NDArray[np.float64]
    floor: float
    n_ways: int
    every_way: bool
    least_p: float


def scan(
    outcome: ArrayLike, features: ArrayLike, strata: ArrayLike, level: float = 0.95, counts: ArrayLike | None = None
) -> Scan | None:
    """The correlation of an outcome with each feature within strata, and its permutation p.

    Parameters
    ----------
    outcome : array of 0 and 1, shape (rows,)
    features : float array, shape (rows, features)
        NaN where a feature was not measured on a row: it then pulls neither way.
    strata : int array, shape (rows,)
        The stratum of each row. Those with one outcome only say nothing, and are left out.
    level : float
        Of the floor.
    counts : bool array, shape (features,), optional
        Which features the largest correlation is taken over, by default all; the others get their own p.

    Returns
    -------
    Scan or None
        ``None`` where no stratum has both outcomes. The same digits for any order of the rows.

    Notes
    -----
    All permutations where there are at most 20,000, else 9,999 draws and ``p = (1 + b) / (1 + B)`` (Davison & Hinkley,
    Bootstrap Methods and their Application, 1997, section 4.2). The maximum over features is that of Westfall & Young
    (1993): it keeps the chance of any false alarm at ``1 - level`` however features hang together.
    """
    y, x, codes = _ordered(np.asarray(outcome, dtype=np.float64), np.asarray(features, dtype=np.float64), strata)
    if not len(y):
        return None
    groups = _groups(codes)
    x = _centred(x, groups)
    passed = [int(y[place].sum()) for place in groups]
    spread = math.sqrt(exact.total([k * (len(at) - k) / len(at) for k, at in zip(passed, groups, strict=True)]))
    sizes = np.sqrt([exact.total(column**2) for column in x.T])
    varies = sizes > 0
    scaled = x / np.where(varies, sizes, 1.0) / spread
    seen = np.array([exact.total(column[y == 1]) for column in scaled.T])
    seen[np.abs(seen) < _ROUNDING] = 0.0
    chance, every_way = _chance(scaled, groups, passed)
    asked = np.ones(len(sizes), dtype=bool) if counts is None else np.asarray(counts, dtype=bool)
    asked = asked & varies
    top = np.abs(chance[:, asked]).max(axis=1) if asked.any() else np.zeros(len(chance))
    p = np.array([_share(top if asked[f] else np.abs(chance[:, f]), abs(seen[f]), every_way) for f in range(len(seen))])
    floor = _floor(top, level, every_way)
    n_ways = len(chance)
    least = 1 / n_ways if every_way else 1 / (1 + n_ways)
    return Scan(np.where(varies, seen, np.nan), np.where(varies, p, np.nan), floor, n_ways, every_way, least)


def _ordered(
    y: NDArray[np.float64], x: NDArray[np.float64], strata: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """The rows of strata with both outcomes, in an order that depends on nothing but what stands in them."""
    codes = np.asarray(strata, dtype=np.int64)
    n, k = np.bincount(codes, minlength=1), np.bincount(codes, weights=y, minlength=1)
    mixed = (k > 0) & (k < n)
    use = mixed[codes] if len(codes) else np.zeros(0, dtype=bool)
    y, x, codes = y[use], x[use], codes[use]
    order = np.lexsort((y, *np.nan_to_num(x.T[::-1], nan=-np.inf), codes))
    return y[order], x[order], codes[order]


def _groups(codes: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """The rows of each stratum, which stand together."""
    cuts = np.flatnonzero(np.diff(codes)) + 1
    return np.split(np.arange(len(codes)), cuts)


def _centred(x: NDArray[np.float64], groups: list[NDArray[np.int64]]) -> NDArray[np.float64]:
    """Each feature less its mean in the stratum; 0 where it was not measured, and where it does not vary."""
    out = np.zeros_like(x)
    for place in groups:
        part = x[place]
        known = np.isfinite(part)
        n = known.sum(axis=0)
        filled = np.where(known, part, 0.0)
        low = np.where(known, part, np.inf).min(axis=0)
        varies = (n > 1) & (np.where(known, part, -np.inf).max(axis=0) > low)
        mean = filled.sum(axis=0) / np.maximum(n, 1)
        out[place] = np.where(known & varies, part - mean, 0.0)
    return out


def _chance(
    scaled: NDArray[np.float64], groups: list[NDArray[np.int64]], passed: list[int]
) -> tuple[NDArray[np.float64], bool]:
    """The correlations under permutations, shape (ways, features), and whether those are all ways."""
    ways = 1
    for place, k in zip(groups, passed, strict=True):
        ways *= math.comb(len(place), k)
        if ways > EVERY_WAY:
            break
    width = scaled.shape[1]
    if ways <= EVERY_WAY:
        sums = np.zeros((1, width))
        for place, k in zip(groups, passed, strict=True):
            sums = (sums[:, None, :] + _subset_sums(scaled[place], k)[None, :, :]).reshape(-1, width)
        return sums, True
    generator = np.random.Generator(np.random.PCG64(_SEED))
    sums = np.zeros((DRAWS, width))
    for place, k in zip(groups, passed, strict=True):
        part = scaled[place]
        if math.comb(len(place), k) <= _LISTED:
            listed = _subset_sums(part, k)
            sums += listed[_whole_draws(generator, len(listed))]
        else:
            sums += _drawn_sums(generator, part, k)
    return sums, False


def _subset_sums(part: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """The sums over every set of `k` rows."""
    sets = np.array(list(itertools.combinations(range(len(part)), k)), dtype=np.int64)
    sums: NDArray[np.float64] = part[sets].sum(axis=1)
    return sums


def _whole_draws(generator: np.random.Generator, size: int) -> NDArray[np.int64]:
    """Numbers below `size`, one a draw."""
    return np.minimum((generator.random(DRAWS) * size).astype(np.int64), size - 1)


def _drawn_sums(generator: np.random.Generator, part: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """The sums over a random set of `k` rows, one a draw; some draws at a time, so that memory stays small."""
    sums = np.zeros((DRAWS, part.shape[1]))
    step = max(1, 2_000_000 // len(part))
    for start in range(0, DRAWS, step):
        keys = generator.random((min(step, DRAWS - start), len(part)))
        chosen = np.zeros(keys.shape)
        np.put_along_axis(chosen, np.argpartition(keys, k - 1, axis=1)[:, :k], 1.0, axis=1)
        sums[start : start + len(keys)] = chosen @ part
    return sums


def unlikely(p: float, level: float) -> bool:
    """Whether a p is at most what `level` leaves: the one bar of a finding and of `Scan.floor`."""
    return p <= 1 - level + _ROUNDING


def _share(top: NDArray[np.float64], seen: float, every_way: bool) -> float:
    """How often chance is at least as large; of draws, the data themselves are one more."""
    reached = int((top >= seen - _ROUNDING).sum())
    return reached / len(top) if every_way else (1 + reached) / (1 + len(top))


def _floor(top: NDArray[np.float64], level: float, every_way: bool) -> float:
    """The largest value that chance reaches in more than ``1 - level`` of all ways: a finding lies above it."""
    values, counts = np.unique(top, return_counts=True)
    reached = np.cumsum(counts[::-1])[::-1]
    share = reached / len(top) if every_way else (1 + reached) / (1 + len(top))
    return float(values[share > 1 - level + _ROUNDING][-1])
