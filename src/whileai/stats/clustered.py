"""Intervals and the sign-flip test where tasks come in clusters: questions of one passage, issues of one repository.

Tasks of one cluster may resemble one another in any way; clusters are independent. The estimate stays the mean over
tasks. What the intervals of `whileai.stats.intervals` read from n tasks, its spread and the number n, is replaced:

- the variance of the mean is that of the delete-one-cluster jackknife. With `S_c` the sum of the `n_c` scores of a
  cluster, `w_c = n_c / n` its share of the tasks, ::

      e_c = (S_c - n_c * mean) / n        deviation, summed within the cluster first
      variance = (C - 1)/C * sum (e_c / (1 - w_c))**2

  which for clusters of one size is ``C/(C - 1) * sum e_c**2``, the clustered variance of Miller 2024
  (arXiv:2411.00640, section 2.2) with its small-sample factor, and tends to it for many clusters of any size. The
  ``1 - w_c`` matters where one cluster holds much of the data: it pulls the mean to itself and looks average.
- the number is the effective one, ``G = 1 / sum w_c**2`` (Kish 1965): C for clusters of one size, fewer for uneven
  ones. So the one imaginary task of an interval becomes an imaginary cluster, as large as the one that a task picked
  at random lies in, and Student's t has G + 1 degrees of freedom, its two imaginary clusters counted.

With every task a cluster of its own all functions return what their namesakes without clusters do, bit for bit.
An interval is never narrower than that namesake's: tasks that differ more inside clusters than between them gain
nothing here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whileai.stats import exact, intervals, signflip
from whileai.stats.arrays import floats
from whileai.stats.intervals import TIE, Interval
from whileai.stats.quantiles import t_quantile


@dataclass(frozen=True)
class Spread:
    """Task numbers summed up by cluster.

    Attributes
    ----------
    n : int
        Tasks.
    n_clusters : int
    size : float
        Effective number of clusters, ``1 / sum w_c**2``, from 1 to `n_clusters`.
    mean : float
        Mean over tasks.
    variance : float
        Jackknife variance of the mean; 0 with one cluster, which says nothing of its own spread.
    shares, means : float array, shape (clusters,)
        Share of the tasks of each cluster, and its mean.
    """

    n: int
    n_clusters: int
    size: float
    mean: float
    variance: float
    shares: NDArray[np.float64]
    means: NDArray[np.float64]

    @property
    def square(self) -> float:
        """Mean square deviation that `size` equal clusters with this variance of the mean would have."""
        return self.variance * (self.n_clusters - 1) / self.n_clusters * self.size


def spread_of(x: ArrayLike, clusters: ArrayLike) -> Spread:
    """The spread of `x` between clusters.

    Parameters
    ----------
    x : float array, shape (tasks,)
        One number per task, at least one.
    clusters : int array, shape (tasks,)
        Which cluster each task lies in; any whole numbers.

    Returns
    -------
    Spread
        The same digits for any order of tasks and any names of clusters.
    """
    values = floats(x)
    if values.size == 0:
        raise ValueError("spread_of: x must hold at least one task")
    _, codes, counts = np.unique(np.asarray(clusters), return_inverse=True, return_counts=True)
    n, n_clusters = int(values.size), int(counts.size)
    means = exact.means(exact.exact_sums(codes.ravel(), values, n_clusters), counts)
    shares = counts / n
    mean = exact.mean(values)
    variance = 0.0
    if n_clusters > 1:
        pulls = shares * (means - mean) / (1.0 - shares)
        pulls[np.abs(pulls) <= TIE * float(np.abs(values).max()) * shares] = 0.0  # equal means differ by rounding
        variance = exact.total(pulls * pulls) * (n_clusters - 1) / n_clusters
    size = n * n / sum(count * count for count in counts.tolist())
    return Spread(n, n_clusters, size, mean, variance, shares, means)


def mean_interval(x: ArrayLike, clusters: ArrayLike, level: float = 0.95) -> Interval:
    """`whileai.stats.intervals.mean_interval` for tasks in clusters.

    Parameters
    ----------
    x : float array, shape (tasks,)
        One number in [0, 1] per task.
    clusters : int array, shape (tasks,)
    level : float

    Returns
    -------
    (float, float)
        Ends in [0, 1], never equal, around the mean over tasks.

    Notes
    -----
    The lower end is what would be said if one more cluster had scored 0, the upper end if one more had scored 1. On
    clusters of one size it is the interval of the cluster means, so Clopper and Pearson's on whole clusters that pass
    or fail.
    """
    scores = floats(x)
    alone = intervals.mean_interval(scores, level)
    scores = np.where(scores < TIE, 0.0, np.where(scores > 1.0 - TIE, 1.0, scores))
    spread = spread_of(scores, clusters)
    if spread.n_clusters == spread.n:
        return alone
    low, high = intervals.moments_interval(spread.mean, spread.square, spread.size, level)
    return min(low, alone[0]), max(high, alone[1])


def paired_interval(d: ArrayLike, clusters: ArrayLike, level: float = 0.95) -> Interval:
    """`whileai.stats.intervals.paired_interval` for tasks in clusters.

    Parameters
    ----------
    d : float array, shape (tasks,)
        After minus before per task, in [-1, 1].
    clusters : int array, shape (tasks,)
    level : float

    Returns
    -------
    (float, float)
        Ends in [-1, 1], never equal, around the mean difference. ``-d`` gives the mirrored interval.

    Notes
    -----
    Two imaginary clusters, one up and one down by the size of a typical cluster's change, and the rule of three over
    clusters.
    """
    differences = floats(d)
    alone = intervals.paired_interval(differences, level)
    differences = np.where(np.abs(differences) <= TIE, 0.0, differences)
    spread = spread_of(differences, clusters)
    if spread.n_clusters == spread.n:
        return alone
    centre, half = _pseudo_clusters(spread, level)
    unseen = -math.expm1(math.log1p(-level) / spread.size)
    low = min(centre - half, spread.mean - (1.0 + spread.mean) * unseen, alone[0])
    high = max(centre + half, spread.mean + (1.0 - spread.mean) * unseen, alone[1])
    return max(-1.0, low), min(1.0, high)


def paired_interval_unbounded(d: ArrayLike, clusters: ArrayLike, level: float = 0.95) -> Interval | None:
    """`whileai.stats.intervals.paired_interval_unbounded` for tasks in clusters.

    Returns
    -------
    (float, float) or None
        ``None`` with fewer than two clusters, or where all differences are equal.
    """
    differences = floats(d)
    alone = intervals.paired_interval_unbounded(differences, level)
    if alone is None:
        return None
    exponent = math.frexp(float(np.abs(differences).max()))[1]
    spread = spread_of(np.ldexp(differences, -exponent), clusters)
    if spread.n_clusters == spread.n:
        return alone
    if spread.n_clusters == 1:
        return None
    centre, half = _pseudo_clusters(spread, level)
    return (
        min(math.ldexp(min(centre - half, spread.mean), exponent), alone[0]),
        max(math.ldexp(max(centre + half, spread.mean), exponent), alone[1]),
    )


def signflip_p(d: ArrayLike, clusters: ArrayLike, scale: int | None = None) -> float:
    """`whileai.stats.signflip.signflip_p` with all differences of a cluster turned together.

    Exact where the differences of a cluster depend on one another in any way: under no change on any task, a cluster's
    differences are as likely as all of them with the other sign.

    Parameters
    ----------
    d : float array, shape (tasks,)
    clusters : int array, shape (tasks,)
    scale : int, optional
        As there.
    """
    sums = cluster_sums(d, clusters, scale)
    return signflip.signflip_p(sums, scale)


def cluster_sums(d: ArrayLike, clusters: ArrayLike, scale: int | None = None) -> NDArray[np.float64]:
    """The sum of each cluster's differences, exactly 0 where they cancel; in the order of the clusters.

    Every task a cluster of its own: the differences themselves, in that order.
    """
    values = floats(d)
    _, codes, counts = np.unique(np.asarray(clusters), return_inverse=True, return_counts=True)
    codes = codes.ravel()
    ones = np.ones(counts.size, dtype=np.int64)
    sums = exact.means(exact.exact_sums(codes, values, counts.size), ones)
    if counts.size < values.size:
        sizes = np.bincount(codes, weights=np.abs(values), minlength=counts.size)
        sums[np.abs(sums) <= TIE * sizes] = 0.0  # 0.1 + 0.2 - 0.3 is no difference
        if scale:
            steps = np.rint(sums * scale)
            near = np.abs(sums * scale - steps) <= 1e-9 * np.maximum(1.0, np.abs(steps))
            sums = np.where(near, steps / scale, sums)
    return sums


def _pseudo_clusters(spread: Spread, level: float) -> tuple[float, float]:
    """As `whileai.stats.intervals._pseudo_tasks`, with clusters for tasks."""
    size = spread.size
    squares = spread.means * spread.means
    change = exact.total(spread.shares * squares)
    typical = exact.total(spread.shares * squares * squares) / change if change > 0 else 1.0
    centre = size * spread.mean / (size + 2)
    square = size * (spread.square + spread.mean * spread.mean)
    variance = max((square + 2 * typical - (size + 2) * centre * centre) / (size + 1), 0.0)
    return centre, t_quantile((1.0 + level) / 2, size + 1) * math.sqrt(variance / (size + 2))
