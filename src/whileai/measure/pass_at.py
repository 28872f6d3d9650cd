"""`wai.pass_at`: how often does it pass, in one try and in k."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

from whileai import params
from whileai.measure.common import table_notes, unjudged_note
from whileai.measure.grouping import Grouping, grouping_of, in_clusters
from whileai.result import Block, Headline, Interval, Line, Note, Plot, Result
from whileai.result import digits as d
from whileai.stats import clustered, exact, intervals, passk
from whileai.stats.cells import cells
from whileai.table.clusters import check_found, check_key, labelled_table
from whileai.table.intake import as_table
from whileai.table.task_table import TaskTable

Ends = tuple[float, float]
#: Columns of the headline; what does not fit goes under it.
WIDEST = 120


@dataclass(frozen=True, repr=False)
class PassAt(Result):
    """What `pass_at` returns.

    Attributes
    ----------
    pass_at_1 : float or None
        Mean over tasks of the task's pass rate.
    pass_pow_k : float or None
        Chance that k tries at a task all pass, mean over the tasks with k rows.
    pass_at_k : float or None
        Chance that at least one of k tries passes, mean over the same tasks.
    headroom : float or None
        pass@k minus pass@1 on the same tasks, at least 0.
    reward : float or None
        Mean over tasks of the mean of all rewards, partial ones included.
    k : int
        The k of the two k-way rates.
    level : float
        Of the intervals.
    n_tasks, n_rows, n_unjudged, n_partial, n_tasks_at_k : int
        Tasks, rows, rows without a reward, rows with one strictly between 0 and 1, tasks with k binary rows or more.
    intervals : dict
        ``(low, high)`` of ``pass_at_1``, ``pass_pow_k``, ``pass_at_k`` and ``reward``.
    notes : tuple of Note
    n_clusters : int or None
        Clusters that the tasks lie in; ``None`` where ``cluster=`` was not given.
    """

    pass_at_1: float | None
    pass_pow_k: float | None
    pass_at_k: float | None
    headroom: float | None
    reward: float | None
    k: int
    level: float
    n_tasks: int
    n_rows: int
    n_unjudged: int
    n_partial: int
    n_tasks_at_k: int
    intervals: dict[str, Ends | None]
    notes: tuple[Note, ...] = ()
    n_clusters: int | None = None
    _bounds: Ends | None = None
    _table: TaskTable | None = field(default=None, compare=False)

    @property
    def ci95(self) -> Ends | None:
        """The interval of pass@1 (at `level`, 0.95 by default)."""
        return self.intervals["pass_at_1"]

    @property
    def per_task(self) -> dict[str, float]:
        """The pass rate of every task that has one, by id, in the order of the ids."""
        if self._table is None:
            return {}
        rates = self._table.rates.tolist()
        found = {task: rate for task, rate in zip(self._table.task, rates, strict=True) if not math.isnan(rate)}
        return dict(sorted(found.items()))

    def _blocks(self) -> list[Block]:
        shown = {
            "pass@1": (self.pass_at_1, self.intervals["pass_at_1"]),
            f"pass^{self.k}": (self.pass_pow_k, self.intervals["pass_pow_k"]),
            f"pass@{self.k}": (self.pass_at_k, self.intervals["pass_at_k"]),
        }
        if self.pass_at_1 is None and self.reward is not None:
            shown = {"pass@1": (None, None), "reward": (self.reward, self.intervals["reward"])}
        elif self.k == 1:
            shown = {"pass@1": (self.pass_at_1, self.intervals["pass_at_1"])}
        parts = [f"{name} {d.rate_within(value, ends)}" for name, (value, ends) in shown.items()]
        if self.k > 1 and self.headroom is not None:
            parts.append(f"headroom {d.number(self.headroom, 2)}")
        size = f"({self._of_tasks()}, k={self.k})"
        below: list[str] = []
        while len(parts) > 1 and len(" | ".join(parts)) + 1 + len(size) > WIDEST:
            below.insert(0, parts.pop())
        blocks: list[Block] = [Headline(f"{' | '.join(parts)} {size}", WIDEST), *map(Line, below)]
        if self.n_partial and self.pass_at_1 is not None:
            blocks.append(
                Line(f"reward {d.rate_within(self.reward, self.intervals['reward'])}, partial scores included")
            )
        if self._bounds is not None:
            low, high = self._bounds
            text = f"{d.count(self.n_unjudged, 'row')} of {self.n_rows:,} unjudged and skipped: pass@1 would be "
            ends = [d.number(end, d.decimals(high - low)) for end in (low, high)]
            blocks.append(Line(f"{text}{ends[0]} if all of them failed, {ends[1]} if all passed"))
        return [*blocks, *self.notes]

    def _of_tasks(self) -> str:
        """The tasks behind the first number: ``300 tasks``, or ``11 of 300 tasks`` where the others have none."""
        tasks = in_clusters(self.n_tasks, self.n_clusters)
        if self._table is None:
            return tasks
        n = self._table.n if self.pass_at_1 is not None else self._table.reward.n
        measured = int((n > 0).sum())
        return f"{measured:,} of {tasks}" if 0 < measured < self.n_tasks else tasks

    def _plot(self) -> Plot | None:
        names = {"pass@1": "pass_at_1"}
        if self.pass_at_1 is None:
            names = {"reward": "reward"}
        elif self.k > 1:
            names |= {f"pass^{self.k}": "pass_pow_k", f"pass@{self.k}": "pass_at_k"}
        rows = []
        for shown, name in names.items():
            value, ends = getattr(self, name), self.intervals[name]
            if value is not None and ends is not None:
                rows.append(Interval(shown, d.rate_within(value, ends), value, *ends, main=shown == "pass@1"))
        return Plot("Pass rates", tuple(rows), "line = interval over tasks") if rows else None


def pass_at(data: Any, *, k: int | None = None, cluster: str | None = None, level: float = 0.95) -> PassAt:
    """Pass@1, pass^k and pass@k with intervals over tasks.

    Parameters
    ----------
    data : rows
        Anything that counts as data. Binary rewards are counted; partial and unjudged rows are skipped and counted.
    k : int, optional
        Tries per task of the two k-way rates, by default the largest k that at least 90% of the tasks have rows for.
    cluster : str, optional
        A key of the rows (a dotted path) that several tasks share, as the passage they ask about or the repository they
        mend. Tasks of one cluster may resemble one another; the intervals are then over clusters, and wider. The rates
        stay means over tasks. Tasks without it are clusters of their own; of several values the first in order counts.
    level : float
        Of the intervals, between 0 and 1.

    Returns
    -------
    PassAt
        A rate that no row supports is ``None``, and a note says why.

    Raises
    ------
    ParamError
        `k` is no whole number of at least 1, `level` is not between 0 and 1, or no row has the key `cluster`.
    RowError
        A reward is no number in [0, 1], or a row has neither id nor prompt.
    TypeError
        What is no data; a TaskTable, which has no keys, where `cluster` is given.

    Notes
    -----
    pass@k is the mean of 1 - C(n-c, k)/C(n, k) (Chen et al. 2021, arXiv:2107.03374), pass^k the mean of
    C(c, k)/C(n, k) (Yao et al. 2024, arXiv:2406.12045), over tasks with n rows of which c pass. Every interval treats a
    task as one observation (Miller 2024, arXiv:2411.00640) and imagines one more task that failed, or passed (Gaffke
    2005 with a Beta match; exactly Clopper and Pearson's where every task has one row). With `cluster` it imagines one
    more cluster, over as many clusters of equal size as these are worth (Kish 1965), with the jackknife over clusters
    for the spread; for many clusters that is the clustered standard error of Miller 2024, section 2.2.

    Examples
    --------
    >>> import whileai as wai
    >>> rows = [{"task_id": task, "reward": reward} for task, reward in [("a", 1), ("a", 0), ("b", 1), ("b", 1)]]
    >>> result = wai.pass_at(rows)
    >>> result.pass_at_1, result["pass_pow_k"], result.k
    (0.75, 0.5, 2)
    """
    if k is not None:
        params.whole("pass_at", "k", k)
    params.level("pass_at", level)
    if cluster is None:
        return measured(as_table(data, "pass_at", "data", label="", markers=False), k, level)
    check_key("pass_at", "cluster", cluster, {"data": data})
    table, labels = labelled_table(data, "pass_at", "data", [cluster], label="", markers=False)
    check_found("pass_at", "cluster", cluster, labels.values(), [data])
    return measured(table, k, level, grouping_of(labels[cluster]))


def measured(table: TaskTable, k: int | None, level: float, groups: Grouping | None = None) -> PassAt:
    """The measurement itself: everything over tasks is a weighted sum over the few distinct (n, passes)."""
    import numpy as np

    judged = table.n > 0
    pairs, weights = cells(table.n[judged], table.passes[judged])
    n, c = pairs[:, 0], pairs[:, 1]
    k = passk.default_k(table.n[judged]) if k is None else int(k)
    tries = min(k, np.iinfo(np.int64).max)  # as good as any k that no task has rows for
    enough = n >= tries
    at_k = weights[enough]
    n_at_k = int(at_k.sum())
    any_of_k = passk.pass_at_k(n[enough], c[enough], tries)
    all_of_k = passk.pass_hat_k(n[enough], c[enough], tries)
    one, one_ends = _mean(c / n, weights, level)
    at, at_ends = _mean(any_of_k, at_k, level)
    pow_, pow_ends = _mean(all_of_k, at_k, level)
    base, _ = _mean((c / n)[enough], at_k, level)
    has_reward = table.reward.n > 0
    if int(table.n_partial.sum()):
        means, reward_weights = cells(table.reward.mean[has_reward])
        reward, reward_ends = _mean(means[:, 0], reward_weights, level)
    else:
        reward, reward_ends = one, one_ends
    n_unjudged, n_partial = int(table.n_unjudged.sum()), int(table.n_partial.sum())
    result = PassAt(
        pass_at_1=one,
        pass_pow_k=pow_,
        pass_at_k=at,
        headroom=None if at is None or base is None else max(0.0, at - base),
        reward=reward,
        k=k,
        level=level,
        n_tasks=len(table),
        n_rows=table.n_rows,
        n_unjudged=n_unjudged,
        n_partial=n_partial,
        n_tasks_at_k=n_at_k,
        intervals={"pass_at_1": one_ends, "pass_pow_k": pow_ends, "pass_at_k": at_ends, "reward": reward_ends},
        _bounds=_unjudged_bounds(table) if n_unjudged and n_unjudged + n_partial < table.n_rows else None,
        _table=table,
    )
    if groups is not None:
        result = _clustered(result, table, tries, groups)
    notes = [*_notes(result, table, int(np.sum(judged))), *([] if groups is None else groups.notes)]
    return replace(result, notes=tuple(notes))


def _clustered(result: PassAt, table: TaskTable, k: int, groups: Grouping) -> PassAt:
    """The same rates with intervals over clusters of tasks."""
    import numpy as np

    judged, enough, has_reward = table.n > 0, table.n >= k, table.reward.n > 0
    n, c = table.n[enough], table.passes[enough]
    values = {
        "pass_at_1": (table.passes[judged] / table.n[judged], judged, result.pass_at_1),
        "pass_pow_k": (passk.pass_hat_k(n, c, k), enough, result.pass_pow_k),
        "pass_at_k": (passk.pass_at_k(n, c, k), enough, result.pass_at_k),
        "reward": (table.reward.mean[has_reward], has_reward, result.reward),
    }
    found: dict[str, Ends | None] = {}
    for name, (scores, use, mean) in values.items():
        found[name] = None
        if mean is not None:
            low, high = clustered.mean_interval(scores, groups.codes[use], result.level)
            found[name] = (min(low, mean), max(high, mean))
    counted = judged if judged.any() else has_reward
    return replace(result, intervals=found, n_clusters=len(np.unique(groups.codes[counted])))


def _mean(values: Any, weights: Any, level: float) -> tuple[float | None, Ends | None]:
    """The weighted mean of task values and its interval, ``None`` without tasks."""
    if len(values) == 0:
        return None, None
    mean = min(1.0, max(0.0, exact.mean(values, weights)))
    low, high = intervals.mean_interval(values, level, weights=weights)
    return mean, (min(low, mean), max(high, mean))


def _unjudged_bounds(table: TaskTable) -> Ends:
    """pass@1 if every unjudged row had failed, and if every one had passed."""
    rows = table.n + table.n_unjudged
    kept = rows > 0
    low = math.fsum((table.passes[kept] / rows[kept]).tolist()) / int(kept.sum())
    high = math.fsum(((table.passes + table.n_unjudged)[kept] / rows[kept]).tolist()) / int(kept.sum())
    return low, high


def _notes(result: PassAt, table: TaskTable, n_judged: int) -> list[Note]:
    """What a reader should know, weightiest first."""
    notes = table_notes(table)
    if result.n_rows == 0:
        return [Note("no_rows", "there are no rows, so nothing was measured.")]
    if n_judged == 0:
        none = f"no row has a reward ({result.n_unjudged:,} unjudged)"
        why = "every judged reward is partial" if result.n_partial else none
        fix = "Read .reward, the mean." if result.n_partial else "Judge the rows with wai.grade(rows, judge)."
        notes.append(Note("no_binary_reward", f"{why}, so there is no pass rate.", fix))
        some = unjudged_note(result.n_unjudged, result.n_rows) if result.n_partial else None
        notes += [] if some is None else [some]
    elif result.n_partial:
        are = "is" if result.n_partial == 1 else "are"
        text = f"{d.count(result.n_partial, 'row')} with a partial reward {are} no part of the pass rates."
        notes.append(Note("partial", text))
    if n_judged and result.n_tasks_at_k == 0:
        most = int(table.n.max())
        notes.append(
            Note("k_too_large", f"no task has {result.k} judged rows; the most is {most}.", f"Ask for k={most}.")
        )
    elif n_judged > result.n_tasks_at_k and result.k > 1:
        text = (
            f"pass^{result.k} and pass@{result.k} are over the {result.n_tasks_at_k:,} tasks with as many judged rows."
        )
        notes.append(Note("fewer_tasks_at_k", text))
    ends = result.intervals["pass_at_1"]
    if ends is not None:
        notes += _shape_notes(result, ends, n_judged, single=int(table.n.max()) == 1)
    return notes


def _cluster_notes(result: PassAt, ends: Ends, n_judged: int, n_clusters: int) -> list[Note]:
    """The same where the interval is over clusters."""
    size = in_clusters(n_judged, n_clusters)
    if result.pass_at_1 in (0.0, 1.0):
        all_pass = result.pass_at_1 == 1
        end = ends[0] if all_pass else ends[1]
        rate = d.rate(end, d.rate_decimals(ends[1] - ends[0], (end,)))
        verb = "passed" if all_pass else "failed"
        text = f"every one of {size} {verb}; that leaves the rate anywhere {'above' if all_pass else 'below'} {rate}."
        return [Note("all_pass" if all_pass else "all_fail", text)]
    if n_clusters < 10:
        leave = "leaves" if n_clusters == 1 else "leave"
        text = f"{d.count(n_clusters, 'cluster')} {leave} an interval {ends[1] - ends[0]:.2f} wide."
        return [Note("few_clusters", text, "More clusters narrow it; more tasks in these hardly do.")]
    return []


def _shape_notes(result: PassAt, ends: Ends, n_judged: int, *, single: bool) -> list[Note]:
    """Notes on an interval at an end of the scale, or a wide one."""
    if result.n_clusters is not None and result.n_clusters < n_judged:
        return _cluster_notes(result, ends, n_judged, result.n_clusters)
    share = (1 - result.level) / 2
    if result.pass_at_1 in (0.0, 1.0):
        all_pass = result.pass_at_1 == 1
        end = ends[0] if all_pass else ends[1]
        rate = d.rate(end, d.rate_decimals(ends[1] - ends[0], (end,)))
        seen = f"{n_judged if all_pass else 0:,} of {n_judged:,}"
        often = f"{100 * share:.3g}% of the time"
        text = f"a true rate of {rate} would still give {seen} {often}."
        if not single:  # several rows a task: the interval speaks of tasks that always pass, not of single tries
            text = f"if {rate} of all tasks always passed, a draw of {n_judged:,} would still hold {seen} {often}."
        return [Note("all_pass" if all_pass else "all_fail", text)]
    if n_judged < 10:
        leave = "leaves" if n_judged == 1 else "leave"
        text = f"{d.count(n_judged, 'task')} {leave} an interval {ends[1] - ends[0]:.2f} wide."
        return [Note("few_tasks", text, "wai.holdout_size(effect) says how many to run.")]
    return []
