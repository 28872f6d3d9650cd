"""Trials whose tasks lie in clusters, and trials of judges that gold corrects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from whileai.measure import scripted
from whileai.measure.compare import Asked, decide
from whileai.measure.grouping import Grouping
from whileai.measure.paired import Arms
from whileai.measure.pass_at import measured
from whileai.measure.sample_for_labels import allocated
from whileai.measure.trial_cells import ZERO_WIDTH, Cell, Count, counted, holds, is_point, share_left
from whileai.stats import agreement, intervals
from whileai.stats.corrected import Corrected, Labelled, corrected_mean
from whileai.stats.corrected import corrected_change as change_of

if TYPE_CHECKING:
    from whileai.measure.scripted import Floats

#: What the interval of a corrected rate may lack.
CORRECTED_SLACK = 0.01
#: How much wider than gold alone a judge that says nothing may make it, as a ratio.
USELESS_WIDTH = 1.05
#: Share of the tasks that break in a corrected change.
_BROKEN = 0.05
#: Trials drawn at once; part of what a seed means.
_DRAWN = 64


def clustered_rates(cell: Cell, rng: np.random.Generator, level: float) -> list[Count]:
    """Coverage of pass@1 and pass^k where the tasks of a cluster are equally hard."""
    agent = scripted.AGENTS[cell.agent]
    groups = Grouping(scripted.clusters(cell.n), ())
    truths = {"pass_at_1": agent.all_of(1), "pass_pow_k": agent.all_of(cell.k)}
    hits = dict.fromkeys(truths, 0)
    points = 0
    for rates, _ in _drawn(cell, rng, groups):
        found = measured(scripted.table(cell.k, scripted.passes(rates, cell.k, rng)), cell.k, level, groups)
        for name, truth in truths.items():
            hits[name] += holds(found.intervals[name], truth)
            points += is_point(found.intervals[name])
    return [
        counted(cell, "pass@1 of clusters", hits["pass_at_1"], level),
        counted(cell, "pass^k of clusters", hits["pass_pow_k"], level),
        counted(cell, ZERO_WIDTH, points, 0.0, at_least=False),
    ]


def clustered_change(cell: Cell, rng: np.random.Generator, level: float) -> list[Count]:
    """Coverage of the paired change, and false alarms, where the tasks of a cluster change alike."""
    agent = scripted.AGENTS[cell.agent]
    groups = Grouping(scripted.clusters(cell.n), ())
    held = alarms = points = 0
    for before, after in _drawn(cell, rng, groups):
        tables = (scripted.table(cell.k, scripted.passes(rates, cell.k, rng)) for rates in (before, after))
        first, second = tables
        decision = decide(Arms(first, second, clusters=groups.codes), Asked("pass_at_1", level))
        held += holds(decision.main.interval, agent.change)
        points += is_point(decision.main.interval)
        alarms += decision.verdict in ("improved", "regressed")
    counts = [counted(cell, "change of clusters", held, level)]
    if agent.change == 0:
        counts.append(counted(cell, "false alarms of clusters", alarms, share_left(level), at_least=False))
    return [*counts, counted(cell, ZERO_WIDTH, points, 0.0, at_least=False)]


def _drawn(cell: Cell, rng: np.random.Generator, groups: Grouping) -> Iterator[tuple[Floats, Floats]]:
    """The pass rates of each trial's tasks, before and after: one of each a cluster."""
    agent = scripted.AGENTS[cell.agent]
    for start in range(0, cell.trials, _DRAWN):
        before, after = agent.rates(rng, (min(_DRAWN, cell.trials - start), cell.n))
        yield from zip(before[:, groups.codes], after[:, groups.codes], strict=True)


def corrected(cell: Cell, rng: np.random.Generator, level: float) -> list[Count]:
    """Coverage of the pass rate from a judge's verdicts and gold on some tasks, and its width beside gold alone."""
    judge = scripted.JUDGES[cell.agent]
    held = points = 0
    ratio = 0.0
    for _ in range(cell.trials):
        gold = rng.random(scripted.JUDGED) < judge.rate
        said = (rng.random(scripted.JUDGED) < np.where(gold, 1.0 - judge.misses, judge.leaks)).astype(np.float64)
        labels = gold[: cell.n].astype(np.float64)
        found = agreement.corrected_rate(labels, said[: cell.n], said[cell.n :], level)
        ends = None if found is None else found.interval
        held += holds(ends, judge.rate)
        points += is_point(ends)
        low, high = intervals.mean_interval(labels, level)
        ratio += 1.0 if ends is None else (ends[1] - ends[0]) / (high - low)
    most = USELESS_WIDTH if judge.useless else 1.0
    return [
        counted(cell, "corrected rate interval", held, max(level - CORRECTED_SLACK, level / 2)),
        counted(cell, "corrected width / gold alone", ratio, most, at_least=False),
        counted(cell, ZERO_WIDTH, points, 0.0, at_least=False),
    ]


def corrected_change(cell: Cell, rng: np.random.Generator, level: float) -> list[Count]:
    """Coverage of the change of two judged arms, k rows a task, with gold on one row of some tasks in both.

    A twentieth of the tasks breaks outright.
    """
    judge = scripted.JUDGES[cell.agent]
    held = points = 0
    ratio = 0.0
    tasks = np.repeat(np.arange(scripted.JUDGED), cell.k)
    there = np.arange(len(tasks)) % cell.k == 0
    there &= tasks < cell.n
    for _ in range(cell.trials):
        before = _hard_and_easy(judge, rng)
        after = np.where(rng.random(scripted.JUDGED) < _BROKEN, 0.0, before)
        arms = [_judged(rates[tasks], judge, there, tasks, rng) for rates in (before, after)]
        found = change_of(arms[0], arms[1], level)
        ends = None if found is None else found.interval
        held += holds(ends, -_BROKEN * judge.rate)
        points += is_point(ends)
        low, high = intervals.paired_interval(arms[1].gold[there] - arms[0].gold[there], level)
        ratio += 1.0 if ends is None else (ends[1] - ends[0]) / (high - low)
    return _corrected_counts(cell, "change", level, held, ratio, points)


def corrected_sample(cell: Cell, rng: np.random.Generator, level: float) -> list[Count]:
    """Coverage of the corrected rate, k rows a task, where `wai.sample_for_labels` drew the rows to label."""
    judge = scripted.JUDGES[cell.agent]
    held = points = 0
    ratio = 0.0
    tasks = np.repeat(np.arange(scripted.JUDGED), cell.k)
    for _ in range(cell.trials):
        arm = _judged(_hard_and_easy(judge, rng)[tasks], judge, np.ones(len(tasks), dtype=bool), tasks, rng)
        sizes = {str(verdict): int((arm.judge == verdict).sum()) for verdict in (0, 1)}
        share = allocated(sizes, {name: size**0.5 for name, size in sizes.items()}, cell.n)
        weights, gold = np.ones(len(tasks)), np.full(len(tasks), np.nan)
        for verdict in (0, 1):
            places = np.flatnonzero(arm.judge == verdict)
            drawn = rng.permutation(places)[: share[str(verdict)]]
            gold[drawn] = arm.gold[drawn]
            weights[places] = len(places) / max(1, len(drawn))
        found = corrected_mean(Labelled(arm.judge, gold, tasks, tasks, weights), level)
        ends = None if found is None else found.interval
        held += holds(ends, judge.rate)
        points += is_point(ends)
        ratio += _ratio(found)
    return _corrected_counts(cell, "sample", level, held, ratio, points)


def _ratio(found: Corrected | None) -> float:
    """How wide an interval is beside that of its labels alone."""
    if found is None:
        return 1.0
    low, high = found.gold_alone[1]
    return (found.interval[1] - found.interval[0]) / (high - low)


def _hard_and_easy(judge: scripted.Judge, rng: np.random.Generator) -> Floats:
    """Pass rates of tasks of two kinds, whose mean is the judge's true rate."""
    apart = 0.8 * min(judge.rate, 1.0 - judge.rate)
    return np.where(rng.random(scripted.JUDGED) < 0.5, judge.rate - apart, judge.rate + apart)


def _judged(
    rates: Floats, judge: scripted.Judge, there: np.ndarray, tasks: scripted.Ints, rng: np.random.Generator
) -> Labelled:
    """Rows with a verdict each and gold where it is told."""
    gold = rng.random(len(rates)) < rates
    said = rng.random(len(rates)) < np.where(gold, 1.0 - judge.misses, judge.leaks)
    labels = np.where(there, gold.astype(np.float64), np.nan)
    return Labelled(said.astype(np.float64), labels, tasks, tasks, np.ones(len(rates)))


def _corrected_counts(cell: Cell, what: str, level: float, held: int, ratio: float, points: int) -> list[Count]:
    most = USELESS_WIDTH if scripted.JUDGES[cell.agent].useless else 1.0
    return [
        counted(cell, f"corrected {what} interval", held, max(level - CORRECTED_SLACK, level / 2)),
        counted(cell, f"corrected {what} / gold alone", ratio, most, at_least=False),
        counted(cell, ZERO_WIDTH, points, 0.0, at_least=False),
    ]
