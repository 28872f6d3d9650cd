"""`wai.holdout_size`: how many tasks prove a gain of a given size."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from whileai import params
from whileai.errors import ParamError
from whileai.measure.common import fill_notes, reading_notes
from whileai.measure.paired import Arms
from whileai.result import Block, Headline, Interval, Note, Plot, Result, Table
from whileai.result import digits as d
from whileai.stats import exact
from whileai.stats import power as sizing
from whileai.table.intake import as_table
from whileai.table.task_table import TaskTable

CALL = "holdout_size"
#: A gain below this needs more tasks than can be counted.
SMALLEST_GAIN = 1e-9


@dataclass(frozen=True, repr=False)
class HoldoutSize(Result):
    """What `holdout_size` returns.

    Attributes
    ----------
    n_tasks : int
        Tasks by the usual normal formula.
    n_tasks_to_prove : int
        Tasks at which `compare` says ``improved`` with the asked power; at least 6 at level 0.95.
    task_std : float
        Standard deviation over tasks of the paired difference.
    source : str
        Where `task_std` comes from: ``model`` (two binomial arms), ``given``, ``before`` (rate and spread of one pilot
        arm), ``paired`` (differences of two).
    effect, base : float
        The gain, and the rate it starts from (``None`` where a given `task_std` makes it irrelevant).
    k : int
        Completions per task and arm.
    power, level : float
    half_width : float
        Half the width of the interval that `compare` would print at `n_tasks_to_prove`.
    n_tasks_low, n_tasks_high : int or None
        Range of `n_tasks` that the pilot's own uncertainty leaves (Bonett 2006); ``None`` without a paired pilot of
        five tasks.
    n_tasks_concentrated : int or None
        Tasks to prove the gain if few tasks carry all of it.
    notes : tuple of Note
    """

    n_tasks: int
    n_tasks_to_prove: int
    task_std: float
    source: str
    effect: float
    base: float | None
    k: int
    power: float
    level: float
    half_width: float
    n_tasks_low: int | None = None
    n_tasks_high: int | None = None
    n_tasks_concentrated: int | None = None
    notes: tuple[Note, ...] = field(default=())

    def _blocks(self) -> list[Block]:
        start = "" if self.base is None else f" on {_rate(self.base)}"
        settings = f"(power {d.given(self.power)}, level {d.given(self.level)})"
        n = f"{self.n_tasks_to_prove:,}"
        head = f"{n} paired tasks prove a gain of {d.given(self.effect)}{start} with k={self.k} {settings}"
        often = _often(self.power)
        rows = [
            ("n_tasks", f"{self.n_tasks:,}", "the usual normal formula; short of what compare's interval needs"),
            (
                "n_tasks_to_prove",
                f"{self.n_tasks_to_prove:,}",
                f"for compare to say improved {often}, about +/-{d.spread(self.half_width)}",
            ),
        ]
        if self.n_tasks_low is not None:
            text = "range of n_tasks, given how little the pilot says of the spread"
            rows.append(("low..high", f"{self.n_tasks_low:,}..{self.n_tasks_high:,}", text))
        if self.n_tasks_concentrated is not None:
            rows.append(("n_tasks_concentrated", f"{self.n_tasks_concentrated:,}", "if few tasks carry the whole gain"))
        rows.append(("task_std", d.spread(self.task_std), f"source: {SOURCES[self.source]}"))
        return [Headline(head), Table((), tuple(rows), "lrl"), *self.notes]

    def _plot(self) -> Plot | None:
        rows = []
        for name in ("n_tasks", "n_tasks_to_prove", "n_tasks_concentrated"):
            n = getattr(self, name)
            if n is not None:
                main = name == "n_tasks_to_prove"
                rows.append(Interval(name, f"{n:,}", n, shape="bar", axis="tasks", reference=0, main=main))
        return Plot("Tasks", tuple(rows), "bar = tasks")


SOURCES = {
    "model": "model (the same gain on every task)",
    "given": "given",
    "before": "before (the pilot's rate and spread; one gain on every task)",
    "paired": "paired (the pilot's own differences)",
}


def _often(chance: float) -> str:
    return "four times in five" if chance == 0.8 else f"with probability {d.given(chance)}"


def _rate(base: float) -> str:
    """A rate to start from: the digits it was given in; a measured one has no end of them and shows two decimals."""
    places = next((places for places in (2, 3, 4) if round(base, places) == base), 2)
    return d.rate(base, d.honest_decimals(places, (base,), (0.0, 1.0)))


def holdout_size(
    effect: float,
    *,
    base: float | None = None,
    k: int = 4,
    power: float = 0.8,
    level: float = 0.95,
    before: Any = None,
    after: Any = None,
    task_std: float | None = None,
) -> HoldoutSize:
    """How many paired tasks can prove a gain in pass@1, before any GPU runs.

    Parameters
    ----------
    effect : float
        The gain to prove, above 0 and at most 1.
    base : float, optional
        Pass rate it starts from, by default measured on `before`, else the rate that needs the most tasks.
    k : int
        Completions per task and arm. With both pilot arms it is read from them.
    power : float
        Chance to prove the gain if it is there.
    level : float
        Of the interval and the test that must prove it.
    before, after : rows, optional
        Pilot rows: of one arm for its rate and spread, of both for the spread of the paired differences.
    task_std : float, optional
        Standard deviation of the paired difference, if you know it.

    Returns
    -------
    HoldoutSize

    Raises
    ------
    ParamError
        A number outside its bound; a gain that cannot exist (``base + effect > 1``); `after` without `before`.

    Notes
    -----
    ``n_tasks`` is Miller 2024 (arXiv:2411.00640), equation 9, with variance (p(1-p) + q(1-q) - 2 tau^2)/k for rates p
    and q = p + effect and a spread tau of the tasks' own rates. ``n_tasks_to_prove`` solves for the interval of
    `compare`.

    Examples
    --------
    >>> import whileai as wai
    >>> size = wai.holdout_size(0.10, base=0.45, k=4)
    >>> size.n_tasks, size.n_tasks_to_prove
    (98, 104)
    """
    _check(effect, base, k, power, level, task_std)
    if after is not None and before is None:
        raise ParamError(f"{CALL}: before must be given where after is; got None. A paired pilot has both arms.")
    a = None if before is None else as_table(before, CALL, "before", markers=False)
    b = None if after is None else as_table(after, CALL, "after", markers=False)
    spread = _spread(effect, base, int(k), a, b, task_std)
    n_tasks = sizing.n_normal(spread.std, effect, level, power)
    n_prove = sizing.n_for_interval(spread.std, effect, spread.k, level, power)
    ends = None if spread.changes is None else sizing.sd_interval_bonett(spread.changes, level)
    low, high = (None, None) if ends is None else (sizing.n_normal(std, effect, level, power) for std in ends)
    concentrated = None
    if spread.base is not None and spread.source in ("model", "before"):
        uneven = sizing.concentrated_std(spread.base, effect, spread.k, spread.tau)
        concentrated = sizing.n_for_interval(uneven, effect, spread.k, level, power)
    return HoldoutSize(
        n_tasks=n_tasks,
        n_tasks_to_prove=n_prove,
        task_std=spread.std,
        source=spread.source,
        effect=effect,
        base=spread.base,
        k=spread.k,
        power=power,
        level=level,
        half_width=sizing.half_width(spread.std, n_prove, spread.k, level),
        n_tasks_low=low,
        n_tasks_high=high,
        n_tasks_concentrated=concentrated,
        notes=(*spread.notes, *_arm_notes(a, b)),
    )


def _arm_notes(a: TaskTable | None, b: TaskTable | None) -> list[Note]:
    """What was left out of the pilot's arms, and what their readers passed over."""
    arms = {arm: table for arm, table in (("before", a), ("after", b)) if table is not None}
    return [*(note for arm, table in arms.items() for note in fill_notes(table, arm)), *reading_notes(arms)]


def _check(effect: Any, base: Any, k: Any, power: Any, level: Any, task_std: Any) -> None:
    """Every number within its bound."""
    gain = "a gain above 0 and at most 1"
    params.real(CALL, "effect", effect, gain, SMALLEST_GAIN, 1, fix="0.05 is five points.")
    if base is not None:
        params.real(CALL, "base", base, "a rate in [0, 1]", 0, 1)
        _fits(effect, base)
    params.whole(CALL, "k", k)
    params.real(CALL, "power", power, "a number between 0 and 1", 0, 1, ends="()", fix="0.8 is usual.")
    params.level(CALL, level)
    if task_std is not None:
        params.real(CALL, "task_std", task_std, "a number above 0", 0, math.inf, ends="()")


def _fits(effect: float, base: float) -> None:
    """Raise where the gain would lead above 1."""
    if base + effect > 1 + 1e-12:
        bound = f"at most 1 - base, {1 - base:.4g} for base={base:.4g}"
        raise ParamError.of(CALL, "effect", bound, effect, "No model passes more than all of its tries.")


@dataclass(frozen=True)
class _Spread:
    """The standard deviation to plan with, and where it comes from."""

    std: float
    source: str
    base: float | None
    k: int
    tau: float = 0.0
    changes: Any = None
    notes: tuple[Note, ...] = ()


def _spread(
    effect: float, base: float | None, k: int, a: TaskTable | None, b: TaskTable | None, task_std: float | None
) -> _Spread:
    """The spread from the best source there is: given, paired pilot, pilot of one arm, model."""
    if task_std is not None:
        return _Spread(float(task_std), "given", base, k)
    if a is not None and b is not None:
        paired = _paired(a, b, base)
        if paired is not None:
            return paired
    if a is not None and (a.n > 0).any():
        return _measured(effect, base, k, a, tried_pairs=b is not None)
    notes = [Note("no_pilot", "the spread is assumed.", "Pass before= (and after=) from a pilot run.")]
    if a is not None:
        notes = [Note("empty_pilot", "the pilot has no binary reward, so the spread is assumed.", "Judge its rows.")]
    if base is None:
        base = 0.5 - effect / 2
        text = f"base={base:.4g} is assumed, the rate that needs the most tasks for this gain."
        notes.insert(0, Note("base_assumed", text, "Pass base=, or before= from a pilot run."))
    return _Spread(sizing.task_std(base, effect, k), "model", base, k, notes=tuple(notes))


def _paired(a: TaskTable, b: TaskTable, base: float | None) -> _Spread | None:
    """From the pilot's own paired differences; ``None`` with fewer than two, or without spread."""
    pairs = Arms(a, b).pairs("pass_at_1")
    if pairs is None or pairs.n < 2:
        return None
    if pairs.std == 0:
        return None
    before = exact.mean(pairs.before, pairs.weights)
    k = max(1, int(np.median(np.concatenate([a.n[a.n > 0], b.n[b.n > 0]]))))
    changes = np.repeat(pairs.changes, pairs.weights)
    return _Spread(pairs.std, "paired", before if base is None else base, k, changes=changes)


def _measured(effect: float, base: float | None, k: int, a: TaskTable, *, tried_pairs: bool) -> _Spread:
    """From the rate and the spread of one pilot arm."""
    rates = a.rates[a.n > 0]
    rate = exact.mean(rates) if base is None else base
    _fits(effect, rate)
    variance = sizing.pass_rate_variance(a.n, a.passes)
    tau = math.sqrt(min(variance or 0.0, rate * (1 - rate)))
    notes = []
    if tried_pairs:
        text = "the two arms give no spread of paired differences, so that of before was used."
        notes.append(Note("no_pairs", text, "Give both arms the same task ids."))
    if variance is None:
        notes.append(
            Note("single_rows", "the pilot has one row a task, so the spread of the rates is unknown; 0 is used.")
        )
    std = sizing.task_std(rate, effect, k, tau=tau)
    if std == 0:
        std = sizing.task_std(rate, effect, k)
        notes.append(Note("no_spread", "the pilot shows no spread, so the model's is used."))
    return _Spread(std, "before", rate, k, tau=tau, notes=tuple(notes))
