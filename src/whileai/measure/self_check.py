"""`wai.self_check`: the statistics on agents whose truth is known."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from whileai import params
from whileai.errors import ParamError, WaiError
from whileai.measure.trial_cells import TOLERANCE, ZERO_WIDTH, Cell, Count, is_miss, margin, mc_std
from whileai.progress import progress
from whileai.result import Block, Headline, Line, Note, Result, Table
from whileai.result import digits as d

CALL = "self_check"
#: Misses that are printed; `checks` has all of them.
SHOWN = 10
#: Processes of a quick run: more of them would start for longer than they count.
QUICK_PROCESSES = 8


@dataclass(frozen=True)
class Check:
    """One promise in one setting.

    Attributes
    ----------
    check : str
        What was counted, ``pass@1 interval`` for instance.
    agent : str
        The scripted agent.
    n_tasks, k : int
        Tasks, and rows a task; clusters, or labelled tasks, where the check is about those.
    trials : int
        Times it was drawn and measured.
    measured, target : float
        The share of the trials in which it happened, and the share promised; of widths, the mean ratio.
    mc_std : float
        Monte Carlo standard error of `measured`, were the true share at its target; 0 where the target is exact.
    at_least : bool
        Whether `target` is a lower bound (coverage, power) or an upper one (false alarms).
    ok : bool
        Whether `measured` is worse than `target` by three standard errors at the most.
    """

    check: str
    agent: str
    n_tasks: int
    k: int
    trials: int
    measured: float
    target: float
    mc_std: float
    at_least: bool
    ok: bool

    @property
    def margin(self) -> float:
        """How far `measured` lies on the good side of `target`, in standard errors; as it is where they are 0."""
        return margin(self.measured, self.target, self.mc_std, at_least=self.at_least)


@dataclass(frozen=True, repr=False)
class SelfCheck(Result):
    """What `self_check` returns.

    Attributes
    ----------
    ok : bool
        No check missed its target.
    n_checks, n_misses : int
    checks : tuple of Check
        Every promise in every setting.
    full : bool
        Whether the whole grid was run.
    seed : int
    level : float
        Of the intervals and tests.
    notes : tuple of Note
    """

    ok: bool
    n_checks: int
    n_misses: int
    checks: tuple[Check, ...]
    full: bool
    seed: int
    level: float
    notes: tuple[Note, ...] = field(default=())

    @property
    def verdict(self) -> str:
        """``passed`` or ``missed``."""
        return "passed" if self.ok else "missed"

    @property
    def misses(self) -> tuple[Check, ...]:
        """The checks that missed, worst first."""
        return tuple(sorted((check for check in self.checks if not check.ok), key=lambda check: check.margin))

    def _blocks(self) -> list[Block]:
        size = f"({'full' if self.full else 'quick'} run, level {d.given(self.level)}, seed {self.seed})"
        if self.ok:
            head = f"passed: all {d.count(self.n_checks, 'check')} hold what is promised {size}"
        else:
            head = f"missed: {self.n_misses:,} of {d.count(self.n_checks, 'check')} fall short {size}"
        lines: list[Block] = [Line(f"missed: {_told(check)}") for check in self.misses[:SHOWN]]
        if self.n_misses > SHOWN:
            lines.append(Line(f"and {self.n_misses - SHOWN:,} more, in .checks"))
        header = ("promise", "tasks", "checks", "mean", "worst", "promised", "MC se", "where the worst is")
        rows = tuple(_row(group) for group in _groups(self.checks))
        return [Headline(head), *lines, Table(header, rows, "lrrrrrrl", droppable=(2, 3, 6)), *self.notes]


def _groups(checks: Sequence[Check]) -> list[list[Check]]:
    """The checks of one promise at one number of tasks; of planned numbers, and of zero widths, at all of them."""
    groups: dict[tuple[str, int], list[Check]] = {}
    for check in checks:
        together = check.check.startswith(("power", ZERO_WIDTH))
        groups.setdefault((check.check, 0 if together else check.n_tasks), []).append(check)
    order = list(dict.fromkeys(name for name, _ in groups))
    return [groups[key] for key in sorted(groups, key=lambda key: (order.index(key[0]), key[1]))]


def _row(group: Sequence[Check]) -> tuple[str, ...]:
    worst = min(group, key=lambda check: check.margin)
    few, many = min(check.n_tasks for check in group), max(check.n_tasks for check in group)
    mean = sum(check.measured for check in group) / len(group)
    sizes = f"{few:,}" if few == many else f"{few:,}..{many:,}"
    where = f"{worst.agent}, k={worst.k}{'' if few == many else f', {worst.n_tasks:,} tasks'}"
    return (
        worst.check,
        sizes,
        f"{len(group):,}",
        d.number(mean, 3),
        _share(worst),
        _promised(worst),
        d.number(worst.mc_std, 4) if worst.mc_std else "exact",
        where if worst.ok else f"{where}  MISSED",
    )


def _share(check: Check) -> str:
    """The measured share, on its true side of the target."""
    return d.number(check.measured, d.honest_decimals(3, (check.measured,), (check.target,)))


def _promised(check: Check) -> str:
    return f"{'>=' if check.at_least else '<='} {d.number(check.target, 3)}"


def _told(check: Check) -> str:
    where = f"{check.agent}, {d.count(check.n_tasks, 'task')}, k={check.k}"
    return f"{check.check} {_share(check)}, promised {_promised(check)} ({where}; {check.trials:,} trials)"


def self_check(*, full: bool = False, seed: int = 0, level: float = 0.95) -> SelfCheck:
    """Whether intervals hold the truth, verdicts raise few false alarms and planned evals have their power.

    Rewards are drawn from scripted agents whose truth is known, and measured by the code behind `pass_at`, `compare`,
    `eval_variance`, `holdout_size` and `judge_trust`. Counted are: the coverage of the intervals of pass@1, pass^k,
    pass@k, the mean of partial rewards and the paired change, tasks in clusters too, and of the pass rate corrected for
    a judge's errors; intervals of zero width; how often `compare` tells arms apart that do not differ on average; how
    often it proves a gain with ``n_tasks_to_prove`` tasks; how often two runs of one model leave the noise band.

    Parameters
    ----------
    full : bool
        The whole grid, 4 to 300 tasks with 4,000 trials a setting, on all cores. Without it a slice with 400 trials,
        within seconds.
    seed : int
        Of the draws. The same seed gives the same digits, on any number of cores.
    level : float
        Of the intervals and tests.

    Returns
    -------
    SelfCheck
        ``ok`` is False where a share is worse than promised by more than three Monte Carlo standard errors.

    Raises
    ------
    ParamError
        `full` is no bool, `seed` no whole number of at least 0, or `level` not between 0 and 1.
    WaiError
        A process ended before its work was done.

    Notes
    -----
    The targets are the level itself, one less the level for false alarms, and the asked power less three points. Where
    tasks either stay or break outright, outcomes form a coarse lattice and the paired interval is held to the level
    less 1.5 points; the corrected rate is held to the level less one.

    Examples
    --------
    >>> import whileai as wai
    >>> print(wai.self_check())  # doctest: +SKIP
    """
    if not isinstance(full, bool):
        raise ParamError.of(CALL, "full", "True or False", full)
    params.whole(CALL, "seed", seed, 0)
    params.level(CALL, level)
    from whileai.measure import trials

    return _checked(trials.grid(full=full, level=level), full=full, seed=int(seed), level=float(level))


def _checked(cells: Sequence[Cell], *, full: bool, seed: int, level: float, processes: int | None = None) -> SelfCheck:
    """The cells counted and judged."""
    from whileai.verify.workers.pool import processors

    wanted = processes or min(processors(), len(cells) if full else QUICK_PROCESSES)
    counting = _counted(cells, seed, level, min(wanted, len(cells)))
    found = dict(progress(counting, total=len(cells), what="self-check", unit="settings"))
    checks = tuple(_judged(one) for place in range(len(cells)) for one in found[place])
    n_misses = sum(not check.ok for check in checks)
    return SelfCheck(
        ok=n_misses == 0,
        n_checks=len(checks),
        n_misses=n_misses,
        checks=checks,
        full=full,
        seed=seed,
        level=level,
        notes=tuple(_notes(checks, full=full, level=level)),
    )


def _counted(cells: Sequence[Cell], seed: int, level: float, processes: int) -> Iterator[tuple[int, list[Count]]]:
    """The counts of every cell with its place, as they are done: here, or by worker processes, largest cells first."""
    from whileai.measure.trials import count
    from whileai.verify.workers.pool import Session

    if processes < 2 or not sys.executable or getattr(sys, "frozen", False):
        for place, cell in enumerate(cells):
            yield place, count(cell, seed, level)
        return
    with Session("whileai.measure.trials", timeout=math.inf, workers=processes, memory_mb=None) as session:
        for place, cell in sorted(enumerate(cells), key=lambda one: -one[1].trials * one[1].n * one[1].k):
            session.submit(place, {"cell": list(cell), "seed": seed, "level": level})
        for place, outcome in session.drain():
            body = outcome.body or {}
            if "counts" not in body:
                text = f"{CALL}: a process ended before its work was done. {body.get('error', '')}"
                raise WaiError(text.rstrip())
            yield place, [Count(*values) for values in body["counts"]]


def _judged(found: Count) -> Check:
    return Check(
        check=found.check,
        agent=found.agent,
        n_tasks=found.n_tasks,
        k=found.k,
        trials=found.trials,
        measured=found.hits / found.trials,
        target=found.target,
        mc_std=mc_std(found),
        at_least=found.at_least,
        ok=not is_miss(found),
    )


def _notes(checks: Sequence[Check], *, full: bool, level: float) -> list[Note]:
    """Where less is promised than the level says, and what the run can see."""
    from whileai.measure.trial_groups import CORRECTED_SLACK
    from whileai.measure.trials import LATTICE_SLACK, POWER_SLACK, POWER_TASKS

    notes = []
    if any(check.agent.endswith("% break") and "interval" in check.check for check in checks):
        text = f"where tasks either stay or break outright the promise is the level less {LATTICE_SLACK:g}."
        notes.append(Note("coarse_lattice", text))
    if any(check.check.startswith("power") for check in checks):
        text = f"planned power is promised within {POWER_SLACK:g} of the asked one, from {POWER_TASKS} tasks up."
        notes.append(Note("power_slack", text))
    if any(check.check.startswith("corrected") for check in checks):
        text = f"a rate corrected for its judge is promised to be held at the level less {CORRECTED_SLACK:g}."
        notes.append(Note("corrected_slack", text))
    if not full and checks:
        trials = min(check.trials for check in checks)
        seen = TOLERANCE * math.sqrt(level * (1.0 - level) / trials)
        text = f"{trials:,} trials a setting show a shortfall of {d.spread(seen)} or more, and none that is smaller."
        notes.append(Note("quick_run", text, "full=True sees a third of that, on the whole grid."))
    return notes
