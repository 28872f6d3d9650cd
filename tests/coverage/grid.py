"""How often the intervals hold the truth and the tests raise a false alarm, counted on simulated tasks.

``python tests/coverage/grid.py`` runs the whole grid, prints one line a group of settings and exits with 1 if a group
misses its bound by more than three Monte Carlo standard errors. ``--quick`` takes a tenth of the samples.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whileai.stats import intervals, noise, passk, power, signflip
from whileai.stats.quantiles import t_quantile

Counts = NDArray[np.int64]
Rates = NDArray[np.float64]
Shape = Callable[[np.random.Generator, int], Rates]


def _beta(a: float, b: float) -> Shape:
    return lambda rng, n: rng.beta(a, b, n)


def _mixed(*parts: tuple[float, float]) -> Shape:
    """Tasks with one of a few pass rates: pairs of (share, rate)."""
    shares, rates = np.array([share for share, _ in parts]), np.array([rate for _, rate in parts])
    return lambda rng, n: rates[rng.choice(len(parts), n, p=shares)]


#: How hard tasks are: name -> sampler of true pass rates. Mixtures with dead or free tasks are what agent suites are.
SHAPES: dict[str, Shape] = {
    "uniform": _beta(1, 1),
    "bimodal": _beta(0.5, 0.5),
    "alike .5": _mixed((1, 0.5)),
    "mid .8": _beta(4, 1),
    "ceiling .95": _beta(4.75, 0.25),
    "ceiling .95 tight": _beta(19, 1),
    "ceiling .95 two": _mixed((0.95, 1.0), (0.05, 0.0)),
    "floor .05": _beta(0.25, 4.75),
    "floor .05 two": _mixed((0.05, 1.0), (0.95, 0.0)),
    "70/30": _mixed((0.7, 1.0), (0.3, 0.0)),
    "20% dead": _mixed((0.2, 0.0), (0.8, 0.97)),
    "10% dead": _mixed((0.1, 0.0), (0.9, 0.98)),
    "5% dead": _mixed((0.05, 0.0), (0.95, 0.6)),
    "10% free": _mixed((0.1, 1.0), (0.9, 0.03)),
}

#: Two arms: name -> sampler of the pass rates of the same tasks before and after.
Arms = Callable[[np.random.Generator, int], tuple[Rates, Rates]]


def _moved(shape: str, change: Callable[[np.random.Generator, Rates], Rates]) -> Arms:
    def sample(rng: np.random.Generator, n: int) -> tuple[Rates, Rates]:
        before = SHAPES[shape](rng, n)
        return before, np.clip(change(rng, before), 0.0, 1.0)

    return sample


def _on_share(share: float, rate: float) -> Callable[[np.random.Generator, Rates], Rates]:
    """A share of the tasks goes to one rate, the others stay."""
    return lambda rng, before: np.where(rng.random(before.size) < share, rate, before)


NULLS: dict[str, Arms] = {
    **{
        f"same {shape}": _moved(shape, lambda _, p: p)
        for shape in ("uniform", "bimodal", "alike .5", "ceiling .95", "10% dead")
    },
    "reshuffled": lambda rng, n: (rng.beta(1, 1, n), rng.beta(1, 1, n)),
    "jiggled": _moved("alike .5", lambda rng, p: p + rng.choice([-0.2, 0.2], p.size)),
}
SCENARIOS: dict[str, Arms] = {
    **NULLS,
    "all +.1": _moved("alike .5", lambda _, p: p + 0.1),
    "all -.2": _moved("mid .8", lambda _, p: np.maximum(p - 0.2, 0.0)),
    "few gain": _moved("alike .5", _on_share(0.2, 1.0)),
    "ceiling gain": _moved("ceiling .95 tight", lambda _, p: p + 0.5 * (1 - p)),
    "0 to 1": _moved("floor .05", lambda _, p: 1 - p),
    "most gain, 10% break": _moved("alike .5", lambda rng, p: np.where(rng.random(p.size) < 0.1, 0.0, p + 0.05)),
    "5% break": _moved("mid .8", _on_share(0.05, 0.0)),
    "20% break": _moved("ceiling .95", _on_share(0.2, 0.0)),
}


@dataclass(frozen=True)
class Share:
    """How often something happened, and what it should at least (or at most) be."""

    name: str
    hits: int
    samples: int

    @property
    def value(self) -> float:
        """The share."""
        return self.hits / self.samples

    def below(self, bound: float) -> bool:
        """Whether it is under the bound by more than three standard errors."""
        return self.value < bound - 3 * math.sqrt(bound * (1 - bound) / self.samples)

    def above(self, bound: float) -> bool:
        """Whether it is over the bound by more than three standard errors."""
        return self.value > bound + 3 * math.sqrt(bound * (1 - bound) / self.samples)


def truth(sample: Callable[[np.random.Generator], Rates]) -> float:
    """The mean over tasks of a sampler, from four million draws."""
    return float(np.mean([sample(np.random.default_rng(seed)).mean() for seed in range(4)]))


def tallies(values: Counts, low: int, high: int) -> Counts:
    """How often each whole number from `low` to `high` is in each row of `values`."""
    width = high - low + 1
    codes = (values - low) + width * np.arange(values.shape[0])[:, None]
    return np.bincount(codes.ravel(), minlength=width * values.shape[0]).reshape(-1, width)


def one_arm(
    shape: str,
    n: int,
    k: int,
    samples: int,
    seed: int,
    score: Callable[[Counts], Rates] | None = None,
    level: float = 0.95,
) -> Share:
    """Coverage of the one-arm interval; `score` turns passes 0..k into task scores, pass@1 without it."""
    rng = np.random.default_rng([seed, n, k])
    values = np.arange(k + 1) / k if score is None else score(np.arange(k + 1))

    def expected(rates: Rates) -> Rates:
        ways = np.array([math.comb(k, c) for c in range(k + 1)])
        c = np.arange(k + 1)
        chance = ways * rates[:, None] ** c * (1 - rates[:, None]) ** (k - c)
        return np.asarray(chance @ values)

    mean = truth(lambda draw: expected(SHAPES[shape](draw, 100_000)))
    rates = SHAPES[shape](rng, samples * n).reshape(samples, n)
    rows, times = np.unique(tallies(rng.binomial(k, rates), 0, k), axis=0, return_counts=True)
    hits = 0
    for row, count in zip(rows, times.tolist(), strict=True):
        low, high = intervals.mean_interval(values, level, weights=row)
        hits += count * (low - 1e-3 / math.sqrt(n) <= mean <= high + 1e-3 / math.sqrt(n))  # the truth is sampled too
    return Share(f"{shape}, n={n}, k={k}", hits, samples)


def paired(scenario: str, n: int, k: int, samples: int, seed: int, level: float = 0.95) -> tuple[Share, Share]:
    """Coverage of the paired interval, and how often interval and exact test both say that the arms differ."""
    rng = np.random.default_rng([seed, n, k])
    arms = SCENARIOS[scenario]
    mean = 0.0 if scenario in NULLS else truth(lambda draw: np.subtract(*arms(draw, 1_000_000)[::-1]))
    before, after = (rates.reshape(samples, n) for rates in arms(rng, samples * n))
    changes = rng.binomial(k, after) - rng.binomial(k, before)
    rows, times = np.unique(tallies(changes, -k, k), axis=0, return_counts=True)
    values = np.arange(-k, k + 1) / k
    held = alarms = 0
    for row, count in zip(rows, times.tolist(), strict=True):
        low, high = intervals.paired_interval(values, level, weights=row)
        held += count * (low - 1e-3 / math.sqrt(n) <= mean <= high + 1e-3 / math.sqrt(n))
        if low > 0 or high < 0:
            alarms += count * (signflip.signflip_p(values, scale=k, weights=row) < 1 - level)
    name = f"{scenario}, n={n}, k={k}"
    return Share(name, held, samples), Share(name, alarms, samples)


def proven(base: float, effect: float, k: int, asked: float, samples: int, seed: int, level: float = 0.95) -> Share:
    """How often the tasks that `n_for_interval` asks for prove the effect."""
    rng = np.random.default_rng([seed, k])
    n = power.n_for_interval(power.task_std(base, effect, k), effect, k, level, asked)
    changes = rng.binomial(k, base + effect, (samples, n)) - rng.binomial(k, base, (samples, n))
    values = np.arange(-k, k + 1) / k
    hits = 0
    for row in tallies(changes, -k, k):
        if intervals.paired_interval(values, level, weights=row)[0] > 0:
            hits += signflip.signflip_p(values, scale=k, weights=row) < 1 - level
    return Share(f"base={base}, effect={effect}, k={k}, n={n}, power={asked}", hits, samples)


def unpaired(before: str, after: str, n: int, k: int, samples: int, seed: int) -> Share:
    """Coverage of the interval of two arms on different tasks."""
    rng = np.random.default_rng([seed, n, k])
    mean = truth(lambda draw: SHAPES[after](draw, 1_000_000)) - truth(lambda draw: SHAPES[before](draw, 1_000_000))
    hits = 0
    for _ in range(samples):
        a, b = (rng.binomial(k, SHAPES[shape](rng, n)) / k for shape in (before, after))
        low, high = intervals.mover_interval(
            float(a.mean()), intervals.mean_interval(a), float(b.mean()), intervals.mean_interval(b)
        )
        hits += low <= mean <= high
    return Share(f"{before} / {after}, n={n}, k={k}", hits, samples)


def noise_alarms(re_runs: int, samples: int, seed: int) -> Share:
    """How often two fresh runs of one model leave the band of a standard deviation from `re_runs` runs."""
    rng = np.random.default_rng([seed, re_runs])
    runs = rng.normal(0.6, 0.01, (samples, re_runs + 2))
    q = t_quantile(0.975, re_runs - 1)
    band = q * runs[:, :re_runs].std(axis=1, ddof=1) * math.sqrt(2)
    assert math.isclose(noise.noise_band(1.0, df=re_runs - 1), q * math.sqrt(2))
    return Share(f"{re_runs} re-runs", int((np.abs(runs[:, -1] - runs[:, -2]) > band).sum()), samples)


def deviation(scenario: str, n: int, k: int, samples: int, seed: int) -> Share:
    """Coverage of Bonett's interval of the standard deviation of the paired difference."""
    rng = np.random.default_rng([seed, n, k])

    def draw(size: int, source: np.random.Generator) -> Rates:
        before, after = SCENARIOS[scenario](source, size)
        return (source.binomial(k, after) - source.binomial(k, before)) / k

    true = float(draw(4_000_000, np.random.default_rng(0)).std())
    found = [power.sd_interval_bonett(draw(n, rng)) for _ in range(samples)]
    return Share(
        f"{scenario}, n={n}, k={k}", sum(ends is not None and ends[0] <= true <= ends[1] for ends in found), samples
    )


def rate_spread(shape: str, n: int, k: int, samples: int, seed: int) -> float:
    """Bias of the estimated variance of pass rates, in its own standard errors."""
    rng = np.random.default_rng([seed, n, k])
    true = float(SHAPES[shape](np.random.default_rng(0), 4_000_000).var())
    found = [
        power.pass_rate_variance(np.full(n, k), rng.binomial(k, SHAPES[shape](rng, n))) or 0.0 for _ in range(samples)
    ]
    return (float(np.mean(found)) - true) / (float(np.std(found)) / math.sqrt(samples))


def _k_way(k: int, find: Callable[..., Rates]) -> Callable[[Counts], Rates]:
    return lambda c: find(np.full(c.shape, c.size - 1), c, k)


def lines(samples: int) -> Iterator[tuple[str, list[Share], float, bool]]:
    """Groups of settings with the bound that each must keep, and whether it is a lower one."""
    sizes = (3, 5, 10, 20, 30, 100, 300)
    for n in sizes:
        for k in (1, 4, 8):
            yield f"pass@1 n={n} k={k}", [one_arm(s, n, k, samples, 1) for s in SHAPES], 0.95, True
    for n in sizes:
        for name, find in (("pass@4", passk.pass_at_k), ("pass^4", passk.pass_hat_k)):
            shares = [one_arm(s, n, 8, samples, 2, _k_way(4, find)) for s in SHAPES]
            yield f"{name} of 8, n={n}", shares, 0.95, True
    for n in sizes:
        for k in (1, 4, 8):
            both = {scenario: paired(scenario, n, k, samples, 3) for scenario in SCENARIOS}
            # rare breakages at k = 1 sit on a coarse lattice: counted out, the least coverage there is .938
            yield f"paired n={n} k={k}", [held for held, _ in both.values()], 0.938, True
            yield f"false alarms n={n} k={k}", [both[null][1] for null in NULLS], 0.05, False
    for n in (5, 10, 20, 100):
        pairs = [("uniform", "mid .8"), ("ceiling .95", "ceiling .95"), ("10% dead", "20% dead"), ("70/30", "bimodal")]
        yield f"unpaired n={n} k=4", [unpaired(a, b, n, 4, samples // 4, 4) for a, b in pairs], 0.941, True
    yield "noise band", [noise_alarms(r, 10 * samples, 5) for r in (2, 3, 4, 5, 10)], 0.05, False
    for n in (12, 30, 60):
        shares = [deviation(s, n, 4, samples // 4, 6) for s in ("same uniform", "all +.1", "few gain")]
        yield f"sd of the difference n={n}", shares, 0.933, True
    for asked in (0.8, 0.9):
        for k in (1, 4, 8):
            settings = [(b, e) for b in (0.3, 0.5, 0.7) for e in (0.05, 0.1, 0.2, 0.3) if b + e < 1]
            needed = {s: power.n_for_interval(power.task_std(*s, k), s[1], k, 0.95, asked) for s in settings}
            shares = [proven(*s, k, asked, min(samples, 4000), 7) for s in settings if needed[s] >= 30]
            yield f"power {asked} k={k}, at least", shares, asked - 0.03, True
            yield f"power {asked} k={k}, at most", shares, asked + 0.03, False


def main() -> int:
    """Run the grid, print it, and say whether every bound holds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the samples")
    samples = 800 if parser.parse_args().quick else 8000
    missed = 0
    print(f"{'group':<32} {'worst':>7} {'mean':>7} {'bound':>7}  worst setting")
    for name, shares, bound, is_least in lines(samples):
        worst = min(shares, key=lambda share: share.value) if is_least else max(shares, key=lambda share: share.value)
        miss = worst.below(bound) if is_least else worst.above(bound)
        missed += miss
        mean = sum(share.value for share in shares) / len(shares)
        print(
            f"{name:<32} {worst.value:7.3f} {mean:7.3f} {bound:7.3f}  {worst.name}{'  MISS' if miss else ''}",
            flush=True,
        )
    print(f"{missed} missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
