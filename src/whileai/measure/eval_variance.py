"""`wai.eval_variance`: how far the number moves when nothing changes but the run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from whileai import params
from whileai.errors import ParamError
from whileai.measure.common import RATES, check_metric, reading_notes, table_notes, unjudged_note
from whileai.readers.containers import is_data
from whileai.result import Block, Headline, Interval, Note, Plot, Result, Table
from whileai.result import digits as d
from whileai.stats.noise import RunSpread, noise_band, run_spread
from whileai.table.intake import as_table
from whileai.table.task_table import TaskTable, aligned

Ends = tuple[float, float]
#: Two runs give a standard deviation whose 95% interval spans a factor of 70: not worth printing.
FEWEST_RUNS = 3


@dataclass(frozen=True, repr=False)
class EvalVariance(Result):
    """What `eval_variance` returns.

    Attributes
    ----------
    run_std : float or None
        Standard deviation of the run means; ``None`` with fewer than three runs.
    run_std_interval : (float, float) or None
        Its chi-square interval.
    sampling_std : float or None
        What drawing the same tasks' answers again predicts for it (the task x run residual).
    noise_band : float or None
        How far apart two single runs of one model fall, ``t * run_std * sqrt(2)`` at `df`.
    df, n_runs : int
    mean : float or None
        Mean of the run means.
    means : tuple of float
        In the order of the runs, each over the tasks that are in every run.
    run_std_by_metric : dict of str to float or None
    n_tasks : int
        Tasks in every run.
    metric : str
    level : float
    notes : tuple of Note
    beyond_std : float or None
        Standard deviation of what moves whole runs beside sampling, ``sqrt(run_std**2 - sampling_std**2)``, 0 where
        sampling explains all of it.
    beyond_p_value : float or None
        F test of whether there is any: the chance of a `run_std` this large if sampling is all that moves the runs.
    """

    run_std: float | None
    run_std_interval: Ends | None
    sampling_std: float | None
    noise_band: float | None
    df: int
    n_runs: int
    mean: float | None
    means: tuple[float, ...]
    run_std_by_metric: dict[str, float | None]
    n_tasks: int
    metric: str = "pass_at_1"
    level: float = 0.95
    notes: tuple[Note, ...] = field(default=())
    beyond_std: float | None = None
    beyond_p_value: float | None = None

    def _blocks(self) -> list[Block]:
        size = f"({d.count(self.n_runs, 'run')}, {d.count(self.n_tasks, 'task')})"
        if self.noise_band is None:
            head = f"run noise not measured {size}"
        elif self.noise_band == 0:
            head = f"run noise: none seen, every run has the same mean {size}"
        else:
            band = d.spread(self.noise_band)
            head = f"run noise: two single runs of this eval differ by up to {band} without any change {size}"
        rows = []
        if self.means:
            floor = 2 if self.metric in RATES else 0
            places = d.decimals(max(self.means) - min(self.means), floor)
            shown = "  ".join(d.number(mean, places) for mean in self.means)
            rows.append(("run means", f"{shown}, mean {d.number(self.mean, places)}"))
        if self.run_std is not None:
            ends = self.run_std_interval
            interval = "" if ends is None else f" [{d.spread(ends[0])}..{d.spread(ends[1])}]"
            rows.append(("run_std", f"{d.spread(self.run_std)}{interval}"))
        if self.sampling_std is not None:
            what = "what drawing the same tasks' answers again predicts"
            rows.append(("sampling alone", f"{d.spread(self.sampling_std)}, {what}"))
        if self.beyond_p_value is not None and self.beyond_std is not None:
            rows.append(("beyond it", self._beyond(self.beyond_std, self.beyond_p_value)))
        if self.noise_band is not None:
            text = f"+/-{d.spread(self.noise_band)} for one run against one (t, {self.df} df)"
            rows.append(("noise band", text))
        table: list[Block] = [Table((), tuple(rows), "ll")] if rows else []
        return [Headline(head), *table, *self.notes]

    def _plot(self) -> Plot | None:
        if not self.means or self.mean is None:
            return None
        places = d.decimals(max(self.means) - min(self.means), 2 if self.metric in RATES else 0)
        band = None if self.noise_band is None else (self.mean - self.noise_band, self.mean + self.noise_band)
        rows = tuple(
            Interval("", d.number(mean, places), mean, shape="circle", axis="run", reference=self.mean, band=band)
            for mean in self.means
        )
        caption = "a dot a run, dashes = their mean" + ("" if band is None else ", shaded = the noise band around it")
        return Plot("Run means", rows, caption)

    def _beyond(self, std: float, p: float) -> str:
        """Whether something beside sampling moves the runs, and how far."""
        test = f"F test, p{d.p_text(p, 1 - self.level)}"
        return f"{d.spread(std)} ({test})" if p < 1 - self.level else f"none shown ({test})"


def eval_variance(*runs: Any, metric: str = "pass_at_1", level: float = 0.95) -> EvalVariance:
    """How far an eval's number moves between runs of the same model, and how much of that sampling explains.

    Parameters
    ----------
    *runs : rows
        Three or more passes of one eval by one model, each anything that counts as data; or one list of them.
    metric : str
        ``pass_at_1``, ``reward`` or ``marker:<name>``.
    level : float
        Of interval and band.

    Returns
    -------
    EvalVariance
        ``run_std`` feeds ``compare(run_std=, run_std_runs=n_runs)``.

    Raises
    ------
    ParamError
        No run; a metric the runs do not have.

    Notes
    -----
    All means are over the tasks that every run has. The band is Student's, for run_std is itself an estimate: with the
    normal's 1.96, three runs call a change in 19% of comparisons without one. In the task x run table, the residual
    mean square over n tasks predicts the spread of the means if sampling is all that differs between runs; an F test
    says whether it is. The band rests on `run_std` all the same, never on `sampling_std`: with a shock to whole runs
    as large as sampling noise, a band from sampling alone calls a change in 16% of comparisons without one.

    Examples
    --------
    >>> import whileai as wai
    >>> runs = [[{"task_id": i, "reward": int(i < passes)} for i in range(50)] for passes in (31, 33, 32)]
    >>> round(wai.eval_variance(*runs).run_std, 6)
    0.02
    """
    params.level("eval_variance", level)
    listed = _listed(runs)
    tables = [as_table(run, "eval_variance", f"runs[{i}]") for i, run in enumerate(listed)]
    known = [name for name in _all_metrics(tables) if name in RATES or all(name in table.metrics for table in tables)]
    check_metric("eval_variance", "metric", metric, known)
    lines = aligned(tables)
    spreads = {name: _spread(tables, lines, name, level) for name in known}
    n_tasks, main = spreads[metric]
    n_runs = len(tables)
    enough = n_runs >= FEWEST_RUNS and main is not None
    run_std = main.run_std if main is not None and enough else None
    shown = [name for name in known if name != "reward" or metric == "reward" or _partial(tables)]
    result = EvalVariance(
        run_std=run_std,
        run_std_interval=main.run_std_interval if main is not None and enough else None,
        sampling_std=None if main is None else main.sampling_std,
        noise_band=None if run_std is None else noise_band(run_std, df=n_runs - 1, level=level),
        df=n_runs - 1,
        n_runs=n_runs,
        mean=None if main is None else main.mean,
        means=() if main is None else tuple(main.means.tolist()),
        run_std_by_metric={name: _std(spreads[name][1], n_runs) for name in shown},
        n_tasks=n_tasks,
        metric=metric,
        level=level,
        beyond_std=None if run_std is None or main is None else _beyond_std(run_std, main.sampling_std),
        beyond_p_value=None if run_std is None or main is None else main.f_p_value,
    )
    return replace(result, notes=tuple(_notes(result, tables, main)))


def _listed(runs: Sequence[Any]) -> list[Any]:
    """The runs, given apart or in one list."""
    if not runs:
        raise ParamError("eval_variance: runs must be at least one run; got none. Three are the fewest worth reading.")
    if len(runs) == 1 and isinstance(runs[0], (list, tuple)) and runs[0]:
        inside = runs[0]
        if all(isinstance(item, TaskTable) or is_data(item) for item in inside):
            return list(inside)
    return list(runs)


def _all_metrics(tables: Sequence[TaskTable]) -> list[str]:
    """Every metric of any run, the rates first."""
    markers = sorted({name for table in tables for name in table.metrics[2:]})
    return [*RATES, *markers]


def _partial(tables: Sequence[TaskTable]) -> bool:
    return any(int(table.n_partial.sum()) for table in tables)


def _spread(
    tables: Sequence[TaskTable], lines: Sequence[Any], metric: str, level: float
) -> tuple[int, RunSpread | None]:
    """The common tasks of a metric and the spread of its run means over them."""
    import numpy as np

    columns = [table.column(metric) for table in tables]
    means = np.stack([mean[at] for (mean, _), at in zip(columns, lines, strict=True)], axis=1)
    measured = np.logical_and.reduce([n[at] > 0 for (_, n), at in zip(columns, lines, strict=True)])
    if not measured.any():
        return 0, None
    return int(measured.sum()), run_spread(means[measured], level)


def _beyond_std(run_std: float, sampling_std: float | None) -> float | None:
    return None if sampling_std is None else math.sqrt(max(run_std**2 - sampling_std**2, 0.0))


def _std(spread: RunSpread | None, n_runs: int) -> float | None:
    return None if spread is None or n_runs < FEWEST_RUNS else spread.run_std


def _notes(result: EvalVariance, tables: Sequence[TaskTable], main: RunSpread | None) -> list[Note]:
    """What a reader should know, weightiest first."""
    notes: list[Note | None] = []
    if main is None:
        why = "there are no rows" if not any(map(len, tables)) else f"no task has {result.metric} in every run"
        fix = "" if why == "there are no rows" else "Give all runs the same task ids, and judge their rows."
        notes.append(Note("nothing_in_common", f"{why}.", fix))
    if result.n_runs < FEWEST_RUNS:
        text = f"{d.count(result.n_runs, 'run')}; three are the fewest that give a standard deviation worth reading."
        notes.append(Note("too_few_runs", text))
    elif main is not None:
        notes += _spread_notes(result, main)
    n_seen = len({task for table in tables for task in table.task})
    if main is not None and n_seen > result.n_tasks:
        n_left = n_seen - result.n_tasks
        are, were = ("is", "was") if n_left == 1 else ("are", "were")
        text = f"{d.count(n_left, 'task')} of {n_seen:,} {are} not measured in every run and {were} left out."
        notes.append(Note("tasks_left_out", text))
    for i, table in enumerate(tables):
        where = f"run {i + 1}"
        notes.append(unjudged_note(int(table.n_unjudged.sum()), table.n_rows, f" of {where}"))
        notes += table_notes(table, where)
    notes += reading_notes({f"run {i + 1}": table for i, table in enumerate(tables)})
    return [note for note in notes if note is not None]


def _spread_notes(result: EvalVariance, main: RunSpread) -> list[Note]:
    """How far the spread itself can be trusted."""
    if result.run_std == 0:
        text = "equal runs do not prove an eval without noise."
        return [Note("no_spread", text, "Check that each run samples anew and nothing is cached.")]
    notes = []
    if main.f_p_value is not None and main.f_p_value < 1 - result.level:
        text = f"the runs differ by more than sampling explains (F test, p{d.p_text(main.f_p_value)})."
        notes.append(Note("beyond_sampling", text, "Look for what else changes: server, seed, judge."))
    if result.n_runs <= 4 and result.run_std_interval is not None:
        low, high = result.run_std_interval
        text = f"{d.count(result.n_runs, 'run')} leave run_std uncertain by a factor of {high / low:.0f}."
        notes.append(Note("few_runs", text, "Two more runs help most."))
    return notes
