"""Values from outside: papers, R packages, scipy and statsmodels. Beside each stands the call or table it comes from.

"slow" in a comment is a plain-Python version of the same formula (continued fraction for the beta, dictionaries for the
convolution) that was checked against scipy 1.17.1 and statsmodels 0.15.0 to 1e-10.
"""

import math

import numpy as np
import pytest

from whileai.stats import intervals, multiple, noise, passk, power, quantiles, signflip
from whileai.stats.mcnemar import proving_power

# ---------------------------------------------------------------- quantiles: scipy.stats.t.ppf(.975, df)
T_975 = {
    1: 12.7062047362,
    2: 4.3026527297,
    3: 3.1824463053,
    4: 2.7764451052,
    5: 2.5705818356,
    8: 2.3060041352,
    9: 2.2621571628,
    19: 2.0930240544,
    29: 2.0452296421,
    99: 1.9842169516,
    299: 1.9679296691,
    # mpmath.findroot on 1 - betainc(df/2, 1/2, 0, df/(df+t^2), regularized=True)/2 = .975, 30 digits
    10**6: 1.9599663568141070,
    10**10: 1.9599639847772814,
}


@pytest.mark.parametrize("df", T_975)
def test_t_quantile(df):
    """Student's t from one degree of freedom to ten billion."""
    assert quantiles.t_quantile(0.975, df) == pytest.approx(T_975[df], abs=5e-11)


def test_normal_and_chi_square():
    """scipy.stats.norm.ppf(.975), norm.sf(10), chi2.ppf([.025, .975], 2)."""
    assert quantiles.normal_quantile(0.975) == pytest.approx(1.959963984540054, rel=1e-15)
    assert quantiles.normal_tail(10) == pytest.approx(7.619853024160527e-24, rel=1e-13)
    assert quantiles.chi_square_quantile(0.025, 2) == pytest.approx(0.05063561596857975, rel=1e-12)
    assert quantiles.chi_square_quantile(0.975, 2) == pytest.approx(7.377758908227871, rel=1e-12)


# Beta(1, b) in closed form; Beta(3, 1e12) is a gamma to 1e-11: scipy.stats.gamma.ppf(p, 3) / 1e12
BETA = [
    (1.0, 1e8, 0.025, -math.expm1(math.log1p(-0.025) / 1e8)),
    (1.0, 1e8, 0.975, -math.expm1(math.log1p(-0.975) / 1e8)),
    (3.0, 1e12, 0.025, 0.6186721228956014e-12),
    (3.0, 1e12, 0.975, 7.22468766772396e-12),
    (3.0, 1e12, 0.0005, 0.14970384992316443e-12),
    (3.0, 1e12, 0.9995, 12.051399497491873e-12),
]


@pytest.mark.parametrize(("a", "b", "p", "quantile"), BETA)
def test_beta_quantile_at_the_edge(a, b, p, quantile):
    """Quantiles beside 0 keep their digits, and mirrored ones their distance from 1."""
    assert quantiles.beta_quantile(p, a, b) == pytest.approx(quantile, rel=1e-9)
    assert 1 - quantiles.beta_quantile(1 - p, b, a) == pytest.approx(quantile, rel=1e-9, abs=2e-16)


# mpmath, 40 digits: findroot on quad of the density from 30 standard deviations below the mean; both sides of the
# normal branch
HUGE_BETA = [
    (5e7, 5e7, 0.499902001801469142),
    (3e8, 7e8, 0.299971597802374318),
    (9e9, 2e10, 0.310339502994195273),
    (2e10, 6e10, 0.249996999436122015),
    (5e13, 1e12, 0.98039211881069738),
]


@pytest.mark.parametrize(("a", "b", "quantile"), HUGE_BETA)
def test_beta_quantile_of_huge_parameters(a, b, quantile):
    """A hundred million tasks and more."""
    assert quantiles.beta_quantile(0.025, a, b) == pytest.approx(quantile, rel=1e-14)


# ---------------------------------------------------------------- pass@k (Chen et al. 2021), pass^k (Yao et al. 2024)
# binomial coefficients in Python ints; the numpy form 1 - prod(1 - k / arange(n-c+1, n+1)) of the paper agrees to 1e-12
PASS_K = [
    (10, 3, 1, 0.3, 0.3),
    (10, 3, 5, 0.9166666667, 0.0),
    (10, 0, 5, 0.0, 0.0),
    (10, 10, 5, 1.0, 1.0),
    (5, 1, 1, 0.2, 0.2),
    (5, 1, 2, 0.4, 0.0),
    (8, 2, 4, 0.7857142857, 0.0),
    (8, 6, 4, 1.0, 0.2142857143),
    (8, 8, 8, 1.0, 1.0),
    (8, 7, 8, 1.0, 0.0),
    (4, 2, 4, 1.0, 0.0),
    (4, 3, 4, 1.0, 0.0),
    (200, 5, 1, 0.025, 0.025),
    (200, 5, 10, 0.2282844607, 0.0),
    (200, 5, 100, 0.9703083948, 0.0),
    (100, 30, 10, 0.9770827595, 1.735671744e-06),
    (1000, 10, 100, 0.6530722852, 0.0),
]


@pytest.mark.parametrize(("n", "c", "k", "at", "hat"), PASS_K)
def test_pass_k(n, c, k, at, hat):
    """The unbiased estimators, which the plug-in 1-(1-c/n)^k is not (.831930 for 10, 3, 5)."""
    assert passk.pass_at_k([n], [c], k)[0] == pytest.approx(at, abs=5e-11)
    assert passk.pass_hat_k([n], [c], k)[0] == pytest.approx(hat, rel=5e-10, abs=5e-11)


# ---------------------------------------------------------------- one arm
# 0/1 scores: statsmodels proportion_confint(count, nobs, method="beta") (Clopper-Pearson); fractional ones: slow
ONE_ARM = [
    ([1], (0.025, 1.0)),
    ([1] * 3, (0.29240177, 1.0)),
    ([1] * 5, (0.47817625, 1.0)),
    ([1] * 10, (0.69150289, 1.0)),
    ([1] * 20, (0.83156653, 1.0)),
    ([1] * 30, (0.88429669, 1.0)),
    ([1] * 100, (0.96378331, 1.0)),
    ([0] * 10, (0.0, 0.30849711)),
    ([1] * 7 + [0] * 3, (0.34754715, 0.93326049)),
    ([1] * 15 + [0] * 5, (0.50895413, 0.91342853)),
    ([1, 0.75, 0.5, 1, 0], (0.23168737, 0.93099454)),
    ([0.75, 0.25, 1, 0.5], (0.22352867, 0.90101111)),
    ([0.75, 1, 1, 1], (0.38580609, 0.99689303)),
    ([0.75, 0.25, 1, 0.75], (0.25409387, 0.93034333)),
    ([0.5] * 10, (0.37394397, 0.62605603)),
    ([1] * 12 + [0.875] * 4 + [0.5] * 2 + [0] * 2, (0.62205146, 0.93970844)),
    # Newcombe 1998 (Statistics in Medicine 17:857), Table I, Clopper-Pearson, with digits from statsmodels
    ([1] * 81 + [0] * 182, (0.25273675, 0.36762192)),
]


@pytest.mark.parametrize(("x", "ends"), ONE_ARM)
def test_one_arm(x, ends):
    """The interval over tasks."""
    assert intervals.mean_interval(x) == pytest.approx(ends, abs=6e-9)


# Newcombe 1998 (Statistics in Medicine 17:857), Table I: method 3 (Wilson) and method 5 (Clopper-Pearson), as printed
NEWCOMBE = [
    (81, 263, (0.2553, 0.3662), (0.2527, 0.3676)),
    (15, 148, (0.0624, 0.1605), (0.0578, 0.1617)),
    (0, 20, (0.0, 0.1611), (0.0, 0.1684)),
    (1, 29, (0.0061, 0.1718), (0.0009, 0.1776)),
]


@pytest.mark.parametrize(("c", "n", "wilson", "clopper_pearson"), NEWCOMBE)
def test_single_proportions(c, n, wilson, clopper_pearson):
    """The four published examples, to the digits printed."""
    assert intervals.wilson_interval(c, n) == pytest.approx(wilson, abs=5.1e-5)
    assert intervals.mean_interval([1.0, 0.0], 0.95, [c, n - c]) == pytest.approx(clopper_pearson, abs=5.1e-5)


# Bowyer et al. 2025 (arXiv:2503.01747), setting theta ~ U(0, 1), k = 1: mean coverage by numerical integration
BOWYER = [(3, 0.9946, 0.9560), (10, 0.9837, 0.9541), (30, 0.9734, 0.9524), (100, 0.9646, 0.9511)]


@pytest.mark.parametrize(("n", "clopper_pearson", "wilson"), BOWYER)
def test_mean_coverage(n, clopper_pearson, wilson):
    """Mean coverage over uniform rates; over the rate, the chance of a count is a beta density over n + 1."""
    from scipy.stats import beta

    def mean_coverage(find):
        ends = [find(c) for c in range(n + 1)]
        return sum(np.diff(beta.cdf(pair, c + 1, n - c + 1))[0] for c, pair in enumerate(ends)) / (n + 1)

    ours = mean_coverage(lambda c: intervals.mean_interval([1.0, 0.0], 0.95, [c, n - c]))
    assert ours == pytest.approx(clopper_pearson, abs=1e-4)
    assert mean_coverage(lambda c: intervals.wilson_interval(c, n)) == pytest.approx(wilson, abs=5.1e-5)


# Brown, Cai & DasGupta 2001 (Statistical Science 16:101), Wald coverage: our t interval with a normal quantile is Wald
# at these sizes up to the factor n/(n-1), so the table is held by the normal quantile and the binomial itself
BROWN = [(17, 0.5, 0.9510), (40, 0.5, 0.9193), (30, 0.2, 0.9463), (98, 0.2, 0.9281)]


@pytest.mark.parametrize(("n", "p", "coverage"), BROWN)
def test_wald_coverage(n, p, coverage):
    """The published erratic coverage of Wald, with our normal quantile, as printed there to three digits."""
    z = quantiles.normal_quantile(0.975)
    inside = [c for c in range(n + 1) if abs(c / n - p) <= z * math.sqrt(c / n * (1 - c / n) / n)]
    assert sum(math.comb(n, c) * p**c * (1 - p) ** (n - c) for c in inside) == pytest.approx(coverage, abs=5.1e-5)


# ---------------------------------------------------------------- paired
# interval: slow; p: slow, and for the ten tasks scipy.stats.permutation_test(permutation_type="samples"), all patterns
PAIRED = [
    ([0] * 5, (-0.53395994, 0.53395994), 1.0),
    ([0] * 10, (-0.27092254, 0.27092254), 1.0),
    ([0] * 20, (-0.13910834, 0.13910834), 1.0),
    ([0] * 100, (-0.02951305, 0.02951305), 1.0),
    ([1] * 5, (0.01516804, 1.0), 0.0625),
    ([1] * 20, (0.72003511, 1.0), 1.9073486328125e-06),
    ([0.5] * 20, (0.29133749, 0.56955417), 1.9073486328125e-06),
    ([0.25, 0.5, 0, 0.5], (-0.37935707, 0.67490132), 0.25),
    ([0.25, 0.5, 0, 0.25, -0.25, 0.75, 0, 0.25, 0.5, 0], (-0.09211030, 0.42883813), 0.078125),
    # bentur_2009 and cavo_2012 of R contingencytables (Fagerland, Lydersen & Laake 2014)
    ([1] + [-1] * 7 + [0] * 13, (-0.52862843, 0.00688930), 0.0703125),
    ([1] * 6 + [-1] * 16 + [0] * 139, (-0.12011702, -0.00258237), 0.0524787903),
]


@pytest.mark.parametrize(("d", "ends", "p"), PAIRED)
def test_paired(d, ends, p):
    """Interval and exact p of paired differences."""
    assert intervals.paired_interval(d) == pytest.approx(ends, abs=6e-9)
    assert signflip.signflip_p(d) == pytest.approx(p, abs=5e-11)


# R contingencytables, Bonett-Price 2012 intervals of paired proportions: the same centre with a normal quantile
BONETT_PRICE = [
    (1, 7, 13, (-0.5084, -0.0134)),  # bentur_2009: [[1, 1], [7, 12]]
    (6, 16, 139, (-0.1195, -0.0032)),  # cavo_2012: [[59, 6], [16, 80]]
]


@pytest.mark.parametrize(("up", "down", "ties", "ends"), BONETT_PRICE)
def test_bonett_price(up, down, ties, ends):
    """With z in place of t and no floor our paired interval is the published one."""
    n = up + down + ties
    centre, half = intervals._pseudo_tasks(np.array([1.0, -1.0, 0.0]), np.array([up, down, ties]), n, 0.95)
    half *= quantiles.normal_quantile(0.975) / quantiles.t_quantile(0.975, n + 1)
    # Bonett and Price divide the variance by n + 2, not n + 1
    half *= math.sqrt((n + 1) / (n + 2))
    assert (centre - half, centre + half) == pytest.approx(ends, abs=5.1e-5)


# statsmodels.stats.contingency_tables.mcnemar([[0, b], [c, 0]], exact=True).pvalue
MCNEMAR = [
    (0, 5, 0.0625),
    (0, 6, 0.03125),
    (1, 7, 0.0703125),
    (6, 16, 0.0524787903),
    (3, 10, 0.0922851562),
    (20, 40, 0.0134892937),
]


@pytest.mark.parametrize(("b", "c", "p"), MCNEMAR)
def test_exact_mcnemar(b, c, p):
    """With one completion per task the sign-flip test is McNemar's exact test, ties or none."""
    assert signflip.signflip_p([1.0] * b + [-1.0] * c) == pytest.approx(p, abs=6e-11)
    assert signflip.signflip_p([1.0, -1.0, 0.0], scale=1, weights=[c, b, 1000]) == pytest.approx(p, abs=6e-11)


# R contingencytables, cavo_2012, Newcombe's score interval of independent arms is MOVER on Wilson intervals:
# Newcombe 1998 (Statistics in Medicine 17:873), Table II, method 10: 56/70 - 48/80 is .0524 to .3339
def test_mover_is_newcombe_10():
    """MOVER on two Wilson intervals is method 10 of Newcombe 1998."""
    after, before = intervals.wilson_interval(56, 70), intervals.wilson_interval(48, 80)
    assert intervals.mover_interval(48 / 80, before, 56 / 70, after) == pytest.approx((0.0524, 0.3339), abs=5.1e-5)


# ---------------------------------------------------------------- noise: scipy.stats.t.ppf / norm.ppf times the formula
BANDS = [
    (0.01, {}, 0.0277180765),
    (0.01, {"df": 1}, 0.1796928706),
    (0.01, {"df": 2}, 0.0608486984),
    (0.01, {"df": 3}, 0.0450065873),
    (0.01, {"df": 4}, 0.0392648632),
    (0.01, {"df": 9}, 0.0319917334),
    (0.01, {"n_a": 3, "n_b": 3, "df": 4}, 0.0226695794),
    (0.01, {"n_a": 3, "n_b": 3}, 0.0160030389),
    (0.01, {"n_a": 1, "n_b": 3, "df": 2}, 0.0496827542),
    (0.01, {"n_a": 5, "n_b": 5, "df": 8}, 0.0145844507),
    (0.0123, {"n_a": 2, "n_b": 3, "df": 3}, 0.0357335014),
    (0.01, {"df": 2, "level": 0.90}, 0.0412948321),
    (0.01, {"df": 2, "level": 0.99}, 0.1403584786),
]


@pytest.mark.parametrize(("run_std", "options", "band"), BANDS, ids=str)
def test_noise_band(run_std, options, band):
    """The band of re-run noise."""
    assert noise.noise_band(run_std, **options) == pytest.approx(band, abs=6e-11)


def test_three_runs():
    """Run means .62, .66, .64: statistics.stdev is .02, and t at 2 degrees of freedom makes the band .1216973969."""
    spread = noise.run_spread(np.array([[0.62, 0.66, 0.64]] * 3))
    assert spread.run_std == pytest.approx(0.02, abs=1e-15)
    assert noise.noise_band(spread.run_std, df=2) == pytest.approx(0.1216973969, abs=6e-11)


# ---------------------------------------------------------------- sizes
# n_normal: Miller 2024 (arXiv:2411.00640), eq. 9; n_for_interval: slow, one size after the other
SIZES = [
    (0.45, 0.10, 4, 0.3517811820, 98, 104),
    (0.5, 0.10, 4, 0.35, 97, 103),
    (0.5, 0.05, 4, 0.3526683995, 391, 397),
    (0.6, 0.03, 4, 0.3439113258, 1032, 1039),
    (0.5, 0.10, 1, 0.7, 385, 390),
    (0.5, 0.10, 8, 0.2474873734, 49, 55),
    (0.8, 0.05, 4, 0.2680951324, 226, 233),
    (0.0, 0.127, 4, 0.1664864859, 14, 31),
]


@pytest.mark.parametrize(("base", "effect", "k", "sd", "n", "n_interval"), SIZES)
def test_sizes(base, effect, k, sd, n, n_interval):
    """Spread and both sizes."""
    found = power.task_std(base, effect, k)
    assert found == pytest.approx(sd, abs=5e-11)
    assert (power.n_normal(found, effect), power.n_for_interval(found, effect, k)) == (n, n_interval)


@pytest.mark.parametrize(
    ("base", "effect", "k", "n"),
    [
        (0.45, 0.1, 4, 73),
        (0.5, 0.1, 4, 72),
        (0.5, 0.05, 4, 293),
        (0.6, 0.03, 4, 759),
        (0.5, 0.1, 1, 287),
        (0.5, 0.1, 8, 36),
        (0.8, 0.05, 4, 128),
        (0.0, 0.127, 4, 6),
    ],
)
def test_sizes_with_spread_between_tasks(base, effect, k, n):
    """The same with tau = .25 (slow)."""
    assert power.n_normal(power.task_std(base, effect, k, tau=0.25), effect) == n


# 4,000 simulated samples a row: base, effect, k, true sd, size for that sd
CONCENTRATED = [(0.45, 0.10, 4, 0.0, 0.397, 130), (0.45, 0.10, 4, 0.25, 0.375, None), (0.8, 0.1, 8, 0.2, 0.229, None)]


@pytest.mark.parametrize(("base", "effect", "k", "tau", "sd", "n"), CONCENTRATED)
def test_concentrated(base, effect, k, tau, sd, n):
    """A gain carried by few tasks."""
    found = power.concentrated_std(base, effect, k, tau)
    assert found == pytest.approx(sd, abs=6e-4)
    if n is not None:
        assert power.n_for_interval(found, effect, k) == n


def test_miller():
    """Miller 2024 (arXiv:2411.00640): section 5's 969 tasks and its detectable effects."""
    z = quantiles.normal_quantile(0.975) + quantiles.normal_quantile(0.8)
    assert z * z == pytest.approx(7.848879734349088, rel=1e-12)
    assert power.n_normal(math.sqrt(1 / 9), 0.03) == 969
    for k, effect in ((1, 0.1327), (10, 0.0757), (10**9, 0.0664)):
        assert z * math.sqrt((1 / 9 + 2 / 6 / k) / 198) == pytest.approx(effect, abs=5e-5)
        assert power.n_normal(math.sqrt(1 / 9 + 2 / 6 / k), effect) == pytest.approx(198, abs=1)


def test_half_width():
    """98 tasks, sd .3518: 1.96 * sd / sqrt(n) is .0696; the interval's own is within .0015 of it at 104 tasks."""
    assert power.half_width(0.351781182, 104, 4) == pytest.approx(0.0696, abs=0.0015)


def test_power_of_the_golden_size():
    """base .5, effect .1, k = 1: 390 tasks; 200,000 simulated comparisons (numpy seed 9) proved it in .7823."""
    assert proving_power(0.7, 0.1, 390) == pytest.approx(0.7823, abs=0.003)


# ---------------------------------------------------------------- statsmodels.stats.multitest.multipletests
P_VALUES = [0.001, 0.008, 0.039, 0.041, 0.042, 0.06, 0.074, 0.205, 0.212, 0.216]


def test_multiplicity():
    """multipletests(p, method="holm")."""
    assert multiple.holm(P_VALUES) == pytest.approx([0.01, 0.072] + [0.312] * 5 + [0.615] * 3, abs=1e-12)


# ---------------------------------------------------------------- variance split: statistics.variance on each task
def test_variance_split():
    """Three tasks of four: [[1,1,1,0],[1,0,0,0],[1,1,1,1]]."""
    assert power.pass_rate_variance([4, 4, 4], [3, 1, 4]) == pytest.approx(0.1041666667, abs=5e-11)
