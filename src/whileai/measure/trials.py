"""Trials of the measured functions on scripted agents, counted; as a program, a worker that counts what it is sent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import astuple
from typing import TYPE_CHECKING, Any

import numpy as np

from whileai.measure import scripted
from whileai.measure.compare import Asked, decide
from whileai.measure.eval_variance import eval_variance
from whileai.measure.holdout_size import holdout_size
from whileai.measure.paired import Arms
from whileai.measure.pass_at import pass_at
from whileai.measure.trial_cells import ZERO_WIDTH, Cell, Count, counted, holds, is_point, share_left
from whileai.measure.trial_groups import (
    clustered_change,
    clustered_rates,
    corrected,
    corrected_change,
    corrected_sample,
)
from whileai.verify.workers.serve import serve

if TYPE_CHECKING:
    from whileai.measure.compare import Decision
    from whileai.measure.scripted import Agent, Ints
    from whileai.table.task_table import TaskTable

#: Uniform numbers drawn at once; part of what a seed means.
_DRAWN = 1 << 20
#: What a printed interval may lack where tasks either stay or break outright: a coarse lattice of outcomes. Counted out
#: at level 0.95, 2% of 300 tasks gives 0.9365 and 10% of 100 tasks 0.9378.
LATTICE_SLACK = 0.015
#: How near to the asked power the planned one comes, from this many tasks up.
POWER_SLACK, POWER_TASKS = 0.03, 30
#: Run-to-run noise beside that of sampling: standard deviation of a shock that hits all tasks of a run.
SHOCK = 0.02


def count(cell: Cell, seed: int, level: float) -> list[Count]:
    """Everything that is counted in one cell."""
    return _COUNTERS[cell.kind](cell, cell.rng(seed), level)


def _rates(cell: Cell, rng: np.random.Generator, level: float) -> list[Count]:
    """Coverage of pass@1, pass^k and pass@k."""
    agent = scripted.AGENTS[cell.agent]
    truths = {"pass_at_1": agent.all_of(1)}
    if cell.k > 1:
        truths |= {"pass_pow_k": agent.all_of(cell.k), "pass_at_k": agent.any_of(cell.k)}
    hits = dict.fromkeys(truths, 0)
    points = 0

    def draw(size: tuple[int, int]) -> Ints:
        return scripted.passes(agent.rates(rng, size)[0], cell.k, rng)

    for codes, times in _distinct(cell, draw, cell.k):
        found = pass_at(scripted.table(cell.k, codes), level=level)
        for name, truth in truths.items():
            hits[name] += times * holds(found.intervals[name], truth)
            points += times * is_point(found.intervals[name])
    names = {"pass_at_1": "pass@1 interval", "pass_pow_k": "pass^k interval", "pass_at_k": "pass@k interval"}
    counts = [counted(cell, names[name], found, level) for name, found in hits.items()]
    return [*counts, counted(cell, ZERO_WIDTH, points, 0.0, at_least=False)]


def _reward(cell: Cell, rng: np.random.Generator, level: float) -> list[Count]:
    """Coverage of the mean of partial rewards."""
    agent = scripted.AGENTS[cell.agent]
    hits = points = 0
    for codes, times in _distinct(cell, lambda size: _graded(agent.rates(rng, size)[0], cell.k, rng), _codes(cell.k)):
        found = pass_at(_graded_table(codes, cell.k), level=level)
        hits += times * holds(found.intervals["reward"], agent.all_of(1))
        points += times * is_point(found.intervals["reward"])
    counts = [counted(cell, "reward interval", hits, level)]
    return [*counts, counted(cell, ZERO_WIDTH, points, 0.0, at_least=False)]


def _change(cell: Cell, rng: np.random.Generator, level: float) -> list[Count]:
    """Coverage of the paired change, and false alarms where there is none; of pass@1 or of partial rewards."""
    agent = scripted.AGENTS[cell.agent]
    partial = cell.kind == "reward change"
    target = "reward" if partial else "pass_at_1"
    held = alarms = points = 0
    for decision, times in _decisions(cell, agent, rng, Asked(target, level)):
        points += times * is_point(decision.main.interval)
        held += times * holds(decision.main.interval, agent.change)
        alarms += times * (decision.verdict in ("improved", "regressed"))
    what = "reward " if partial else ""
    promised = max(level - LATTICE_SLACK, level / 2) if agent.lattice else level
    counts = [counted(cell, f"{what}change interval", held, promised)]
    if agent.change == 0:
        counts.append(counted(cell, f"{what}false alarms", alarms, share_left(level), at_least=False))
    return [*counts, counted(cell, ZERO_WIDTH, points, 0.0, at_least=False)]


def _power(cell: Cell, rng: np.random.Generator, level: float) -> list[Count]:
    """How often the tasks that holdout_size asks for prove the gain."""
    base, effect = map(float, cell.agent.split(" +"))
    agent = scripted.Agent(((1.0, base, base + effect),))
    asked = Asked("pass_at_1", level)
    hits = sum(times * (decision.verdict == "improved") for decision, times in _decisions(cell, agent, rng, asked))
    return [counted(cell, f"power, {cell.power:g} asked", hits, cell.power - POWER_SLACK)]


def _band(cell: Cell, rng: np.random.Generator, level: float) -> list[Count]:
    """False alarms of the noise band, and of the verdict beside it, with two fresh runs of one model."""
    agent = scripted.AGENTS[cell.agent]
    outside = alarms = 0
    for _ in range(cell.trials):
        rates = agent.rates(rng, (cell.n,))[0]
        shocks = SHOCK * (rng.random((cell.runs + 2, 12)).sum(axis=1) - 6.0)  # twelve uniforms are near enough normal
        shifted = np.clip(rates + shocks[:, None], 0.0, 1.0)
        before, after, *others = (scripted.table(cell.k, run) for run in scripted.passes(shifted, cell.k, rng))
        noise = eval_variance(*others, level=level)
        asked = Asked("pass_at_1", level, run_std=noise.run_std, run_std_runs=noise.n_runs)
        decision = decide(Arms(before, after), asked)
        outside += not abs(decision.main.delta or 0.0) < (noise.noise_band or 0.0)
        alarms += decision.verdict in ("improved", "regressed")
    return [
        counted(cell, f"noise band of {cell.runs} runs", outside, share_left(level), at_least=False),
        counted(cell, f"verdict, band of {cell.runs} runs", alarms, share_left(level), at_least=False),
    ]


_COUNTERS: dict[str, Callable[[Cell, np.random.Generator, float], list[Count]]] = {
    "rates": _rates,
    "reward": _reward,
    "change": _change,
    "reward change": _change,
    "power": _power,
    "band": _band,
    "clustered rates": clustered_rates,
    "clustered change": clustered_change,
    "corrected": corrected,
    "corrected change": corrected_change,
    "corrected sample": corrected_sample,
}


def _decisions(cell: Cell, agent: Agent, rng: np.random.Generator, asked: Asked) -> Iterator[tuple[Decision, int]]:
    """What compare decides in each trial, equal trials counted."""
    partial = asked.target == "reward"
    top = _codes(cell.k) if partial else cell.k
    results = _graded if partial else scripted.passes

    def draw(size: tuple[int, int]) -> Ints:
        before, after = agent.rates(rng, size)
        return results(before, cell.k, rng) * (top + 1) + results(after, cell.k, rng)

    def build(codes: Ints) -> TaskTable:
        return _graded_table(codes, cell.k) if partial else scripted.table(cell.k, codes)

    for codes, times in _distinct(cell, draw, (top + 1) ** 2):
        before, after = np.divmod(codes, top + 1)
        yield decide(Arms(build(before), build(after)), asked), times


def _distinct(cell: Cell, draw: Callable[[tuple[int, int]], Ints], top: int) -> Iterator[tuple[Ints, int]]:
    """The trials whose tasks had other results, as one code a task, and how often each came up.

    No number depends on the order of the tasks, so trials that differ in it alone are measured once.
    """
    kind = np.min_scalar_type(top)
    times: dict[bytes, int] = {}
    batch = max(1, _DRAWN // (cell.n * cell.k * scripted.STEPS))
    for start in range(0, cell.trials, batch):
        codes = draw((min(batch, cell.trials - start), cell.n)).astype(kind)
        codes.sort(axis=1)
        for row in codes:
            key = row.tobytes()
            times[key] = times.get(key, 0) + 1
    for key, often in times.items():
        yield np.frombuffer(key, dtype=kind).astype(np.int64), often


def _codes(k: int) -> int:
    """The largest code of `_graded`."""
    return ((k * (k + 1)) + k) * (k * scripted.STEPS + 1) + k * scripted.STEPS


def _graded(rates: scripted.Floats, k: int, rng: np.random.Generator) -> Ints:
    """Full passes, rows in between and steps reached of each task, in one code."""
    reached = scripted.steps(rates, k, rng)
    full = (reached == scripted.STEPS).sum(axis=-1)
    partial = k - full - (reached == 0).sum(axis=-1)
    return np.asarray((full * (k + 1) + partial) * (k * scripted.STEPS + 1) + reached.sum(axis=-1))


def _graded_table(codes: Ints, k: int) -> TaskTable:
    """The table behind codes of `_graded`."""
    rest, reached = np.divmod(codes, k * scripted.STEPS + 1)
    full, partial = np.divmod(rest, k + 1)
    return scripted.graded_table(k, full, partial, reached)


def grid(*, full: bool, level: float) -> list[Cell]:
    """The settings of a run."""
    trials = 4000 if full else 400
    sizes = (4, 6, 10, 20, 30, 100, 300) if full else (4, 10, 30, 100)
    shapes = list(scripted.SHAPES)[: None if full else 5]
    both = [*shapes[:5], *(["10% dead"] if full else []), *scripted.CHANGES]
    if not full:
        both = ["even", "near-ceiling", "homogeneous", "most gain, 10% break", "few gain", "10% break"]
    cells = [Cell("rates", shape, n, k, trials) for n in sizes for k in (1, 4, 8) for shape in shapes]
    cells += [
        Cell("reward", shape, n, k, trials) for n in sizes for k in (1, 4) for shape in shapes[: 5 if full else 3]
    ]
    cells += [Cell("change", agent, n, k, trials) for n in sizes for k in (1, 4, 8) for agent in both]
    graded = ("even", "near-ceiling", "few gain") if full else ("near-ceiling",)
    cells += [Cell("reward change", agent, n, 1, trials) for n in sizes for agent in graded]
    cells += _planned(full=full, level=level, trials=trials)
    settings = [(n, k) for n in (30, 100) for k in (4, 8)] if full else [(100, 4)]
    cells += [Cell("band", "even", n, k, 2 * trials, runs) for runs in (3, 5) for n, k in settings]
    return [*cells, *_grouped(full=full, trials=trials)]


def _grouped(*, full: bool, trials: int) -> list[Cell]:
    """Tasks in clusters, and judges corrected by gold."""
    sizes = (4, 6, 10, 20, 30, 100, 300) if full else (4, 10, 30)
    shapes = ("even", "bimodal", "near-ceiling", "70% always", "10% dead") if full else ("bimodal", "70% always")
    pairs = ("reshuffled", "most gain, 10% break", "all +0.1", "few gain") if full else ("reshuffled", "few gain")
    cells = [Cell("clustered rates", shape, n, 2, trials) for n in sizes for shape in shapes]
    cells += [Cell("clustered change", agent, n, 2, trials) for n in sizes for agent in pairs]
    labels = (20, 50, 100, 200) if full else (20, 100)
    judges = list(scripted.JUDGES) if full else ["0.8, errs 0.1/0.1", "0.8, errs 0.3/0.3", "0.8, useless"]
    cells += [Cell("corrected", judge, m, 1, trials) for m in labels for judge in judges]
    some = labels if full else labels[:1]
    return cells + [
        Cell(kind, judge, m, k, trials)
        for kind, k in (("corrected change", 2), ("corrected sample", 2))
        for m in some
        for judge in judges
    ]


def _planned(*, full: bool, level: float, trials: int) -> list[Cell]:
    """The gains to prove, each with the tasks that holdout_size asks for."""
    asked = [(0.45, 0.1, 4, 0.8), (0.5, 0.2, 1, 0.8), (0.3, 0.1, 8, 0.8)]
    if full:
        gains = [(base, effect) for base in (0.3, 0.5, 0.7) for effect in (0.05, 0.1, 0.2)]
        asked = [(*gain, k, power) for power in (0.8, 0.9) for k in (1, 4, 8) for gain in gains]
    cells = []
    for base, effect, k, power in asked:
        n = holdout_size(effect, base=base, k=k, power=power, level=level).n_tasks_to_prove
        if n >= POWER_TASKS:
            cells.append(Cell("power", f"{base:g} +{effect:g}", n, k, trials, power=power))
    return cells


def _answer(asked: dict[str, Any]) -> dict[str, Any]:
    """What is counted in the cell that a message holds, or what went wrong."""
    try:
        counts = count(Cell(*asked["cell"]), asked["seed"], asked["level"])
    except Exception as error:  # noqa: BLE001 - it is raised where the call was made
        return {"error": f"{type(error).__name__}: {error}"}
    return {"counts": [astuple(found) for found in counts]}


if __name__ == "__main__":
    serve(lambda: _answer)
