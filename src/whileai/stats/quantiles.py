"""Quantiles of the normal, Student's t, the chi-square and the beta distribution, right in the far corners too."""

from __future__ import annotations

import math
from statistics import NormalDist

_STANDARD_NORMAL = NormalDist()


def normal_quantile(p: float) -> float:
    """The standard normal quantile: ``Phi(z) = p``, for 0 < `p` < 1."""
    return _STANDARD_NORMAL.inv_cdf(p)


def normal_tail(z: float) -> float:
    """``P(Z >= z)`` of a standard normal, with full relative accuracy far out in the tail."""
    return math.erfc(z / math.sqrt(2)) / 2


def t_quantile(p: float, df: float) -> float:
    """Student's t quantile at `df` degrees of freedom (any real number above 0), for 0 < `p` < 1."""
    from scipy.special import stdtrit

    return float(stdtrit(df, p))


def chi_square_quantile(p: float, df: float) -> float:
    """The chi-square quantile at `df` degrees of freedom, for 0 < `p` < 1."""
    from scipy.special import gammaincinv

    return 2 * float(gammaincinv(df / 2, p))


def beta_quantile(p: float, a: float, b: float) -> float:
    """The Beta(a, b) quantile, for 0 < `p` < 1 and any `a`, `b` above 0.

    The distribution is turned so that the larger parameter comes second: a quantile within 1e-9 of 1 cannot carry its
    own digits, its distance from 1 can. Where both parameters are above 1e10 the distribution is normal but for its
    skewness, which a Cornish-Fisher term holds to 1e-10 of a standard deviation.
    """
    if a > b:
        return 1.0 - beta_quantile(1.0 - p, b, a)
    if a > 1e10:
        mean, size = a / (a + b), a + b
        std = math.sqrt(mean * (1.0 - mean) / (size + 1.0))
        skewness = 2.0 * ((1.0 - mean) - mean) / math.sqrt(size) / math.sqrt(mean * (1.0 - mean))
        z = normal_quantile(p)
        return mean + std * (z + skewness * (z * z - 1.0) / 6.0)
    from scipy.special import betaincinv

    return float(betaincinv(a, b, p))
