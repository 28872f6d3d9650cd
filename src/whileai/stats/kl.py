"""The sampled KL divergence of a student to a reference, per generated token, from log-probabilities of its text."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from whileai.stats import exact
from whileai.stats.arrays import floats
from whileai.stats.quantiles import t_quantile

Ends = tuple[float, float]


class SampledKl(NamedTuple):
    """A sampled KL divergence per token, in nats, its interval (``None`` for one unit), and the tokens behind it."""

    mean: float
    interval: Ends | None
    n_tokens: int


def sampled_kl(log_ratios: ArrayLike, n_tokens: ArrayLike, level: float = 0.95) -> SampledKl | None:
    """The mean log-ratio per token, and its interval over the units.

    Parameters
    ----------
    log_ratios : float array, shape (units,)
        Per rollout (or per task, summed), the log-probability of its text under the student less that under the
        reference, in nats.
    n_tokens : int array, shape (units,)
        Generated tokens of each.
    level : float

    Returns
    -------
    SampledKl or None
        ``None`` without a token. The interval is ``None`` with fewer than two units, or where all of them agree: it
        would have no width, which no sample can support.

    Notes
    -----
    The ratio of sums, ``sum(l - r) / sum(n)``, with the linearised standard error of a ratio (Cochran, Sampling
    Techniques, 1977, section 6.4) and Student's t at one degree of freedom less than there are units. The true
    divergence is never negative, a sample of it can be; it is not clamped, for that would bias it.
    """
    ratios, sizes = floats(log_ratios), floats(n_tokens)
    tokens = exact.total(sizes)
    if not tokens > 0:
        return None
    mean = exact.total(ratios) / tokens
    m = len(ratios)
    if m < 2:
        return SampledKl(mean, None, int(tokens))
    squares = exact.total((ratios - mean * sizes) ** 2)
    error = math.sqrt(m / (m - 1) * squares) / tokens
    if error <= 1e-12 * max(1.0, abs(mean)):  # units that agree to the last digit say nothing of how far others lie
        return SampledKl(mean, None, int(tokens))
    half = t_quantile((1 + level) / 2, m - 1) * error
    return SampledKl(mean, (mean - half, mean + half), int(tokens))


def k3(student: ArrayLike, reference: ArrayLike) -> float | None:
    """The mean over tokens of ``exp(-d) - 1 + d`` with ``d = student - reference``; never negative.

    Schulman 2020, "Approximating KL divergence" (the estimator k3): unbiased as the mean log-ratio is, with less spread
    where the two policies are near. ``None`` without a token, or where a ratio is larger than any float.
    """
    d = floats(student) - floats(reference)
    with np.errstate(over="ignore"):
        terms = np.expm1(-d) + d
    if not d.size or not np.isfinite(terms).all():
        return None
    return max(0.0, exact.mean(terms))
