"""Whether a comparison passes a gate, what the gate says of it, and which tasks lost most."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from whileai import params
from whileai.errors import ParamError
from whileai.measure.comparison import WORDS, change_text, value_places
from whileai.result import digits as d

if TYPE_CHECKING:
    from whileai.measure.comparison import Comparison
    from whileai.table.task_table import TaskTable


@dataclass(frozen=True)
class Failure:
    """One thing that a gate objects to.

    Attributes
    ----------
    kind : str
        ``regressed``, ``by_gold`` (a loss that the judge hides, or gold that measures nothing), ``guard``,
        ``not_measured`` (a guard), ``over_optimised``, ``not_made`` or ``max_loss``.
    metric : str
    text : str
        One sentence.
    """

    kind: str
    metric: str
    text: str


@dataclass(frozen=True)
class Gate:
    """What a gate says of a comparison.

    Attributes
    ----------
    passes : bool
    remarks : tuple of str
        What loss is not ruled out, and the outcome; empty where no gate was asked for.
    failures : tuple of Failure
        One for each thing objected to, none where it passes.
    """

    passes: bool = True
    remarks: tuple[str, ...] = ()
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True)
class Lost:
    """A task that got worse: its name, its two results as text, and how much it lost."""

    task: str
    text: str
    loss: float


def check_loss(call: str, where: str, loss: Any, target: str) -> None:
    """Raise unless a loss that is allowed is a number of at least 0, and of a rate at most 1."""
    params.real(call, where, loss, "a number of at least 0", 0, math.inf, ends="[)")
    if loss > 1 and not target.startswith("marker:"):  # five points written as 5 would let all pass
        bound = f"at most 1, the most that {target} can lose"
        raise ParamError.of(call, where, bound, loss, "0.05 is five points.")


def judged(result: Comparison, *, gate: bool, max_loss: float | None = None) -> Gate:
    """Whether the gates that were asked for pass, and what they say.

    Parameters
    ----------
    gate : bool
        Passes where the result is ok.
    max_loss : float, optional
        Passes where the interval rules out a loss of so much, and the guards and the proxy hold. A proven loss that is
        smaller passes here, and fails `gate`. `check_loss` says what it may be.

    Notes
    -----
    That no difference was proven is no proof of no harm: a gate that passes says what loss its data do not rule out.
    """
    if not gate and max_loss is None:
        return Gate()
    loss = largest_loss(result)
    beside = _beside_the_target(result)
    failures = [*(_of_the_target(result) if gate else ()), *beside]
    reasons = []
    if gate and not result.ok:
        reasons.append(f"the result is not ok ({result._by_gold() or WORDS[result.verdict]})")
    elif beside:
        reasons.append("a guard or the proxy is not ok")
    if max_loss is not None:
        reason = _too_much(result, loss, max_loss)
        if reason:
            reasons.append(reason)
            failures.append(Failure("max_loss", result.target, f"{result.target}: {reason}"))
    remarks = []
    if loss is not None and loss > 0:
        remarks.append(f"not ruled out: a loss of up to {shown_loss(result, loss, max_loss)}")
    remarks.append(f"gate failed: {'; '.join(reasons)}" if reasons else "gate passed")
    return Gate(not reasons, tuple(remarks), tuple(failures))


def _of_the_target(result: Comparison) -> list[Failure]:
    """What speaks against the target."""
    if result.verdict == "regressed":
        return [Failure("regressed", result.target, result.summary)]
    if result.verdict in ("not_comparable", "insufficient_data"):
        return [Failure("not_made", result.target, result.summary)]
    if result.corrected is not None and result._by_gold():
        return [Failure("by_gold", result.target, f"{result.target}: {result.corrected.text}")]
    return []


def _beside_the_target(result: Comparison) -> list[Failure]:
    """Guards that got worse or were not measured, and a proxy that improved alone."""
    found = []
    for name in guards_of(result):
        delta = result.metrics.get(name)
        if delta is None or delta.delta is None:
            found.append(Failure("not_measured", name, f"the guard {name} was not measured on both arms"))
        elif name in result.regressions:
            found.append(Failure("guard", name, f"the guard {name} got worse, {metric_text(result, name)}"))
    if result.over_optimized:
        text = f"over-optimised, the proxy {result.proxy} improved and {result.target} did not"
        found.append(Failure("over_optimised", str(result.proxy), text))
    return found


def guards_of(result: Comparison) -> tuple[str, ...]:
    """The guards that were asked for, without the target."""
    return result._guards


def metric_text(result: Comparison, name: str) -> str:
    """The change of a metric that was measured, with its interval and its better direction where that is down."""
    delta = result.metrics[name]
    places = value_places(delta, is_rate=not name.startswith("marker:"))
    return f"{change_text(delta, places)}{' (lower is better)' if delta.lower_is_better else ''}"


def _too_much(result: Comparison, loss: float | None, max_loss: float) -> str:
    """Why the largest loss is not ruled out, empty where it is."""
    if loss is None:
        return f"{result._by_gold() or 'the change has no interval'}, so no loss is ruled out"
    return f"a loss of {max_loss:g} is the most allowed{_remedy(result, max_loss)}" if loss >= max_loss else ""


def largest_loss(result: Comparison) -> float | None:
    """The largest loss the interval leaves open, below 0 where a gain is proven; ``None`` without an interval.

    With gold it is that of the corrected change: a judge that passes more than it should rules nothing out.
    """
    interval = result.interval if result.corrected is None else result.corrected.interval
    if interval is None or result.delta is None:
        return None
    low, high = interval
    return high if _falls(result) else -low


def _falls(result: Comparison) -> bool:
    """Whether the target improves when it falls."""
    return result.metrics[result.target].lower_is_better


def shown_loss(result: Comparison, loss: float, max_loss: float | None = None) -> str:
    """A loss with the digits of the printed interval, on its true side of the bar."""
    if result.corrected is not None and result.corrected.interval is not None:
        low, high = result.corrected.interval
        places = d.decimals(high - low)
    else:
        is_rate = not result.target.startswith("marker:")
        places = value_places(result.metrics[result.target], is_rate=is_rate, band=result.noise_band)
    return d.number(loss, d.honest_decimals(places, (loss,), () if max_loss is None else (max_loss,)))


def _remedy(result: Comparison, max_loss: float) -> str:
    """About how many tasks would rule the loss out, if the change stays as it is: widths shrink with their root."""
    if result.interval is None or result.delta is None:
        return ""
    seen = result.delta if result.corrected is None else result.corrected.delta or 0.0
    gain = -seen if _falls(result) else seen
    if gain + max_loss > 0 and result.corrected is not None:
        return "; more labels of both arms make the interval narrower"
    end = result.interval[1] if _falls(result) else result.interval[0]
    if gain + max_loss <= 0:
        return ", and the change seen is no smaller"
    tasks = math.ceil(result.n_paired * (abs(end - result.delta) / (gain + max_loss)) ** 2)
    return f"; about {max(tasks, result.n_paired + 1):,} tasks would rule it out if the change stays as it is"


def largest_losses(before: TaskTable, after: TaskTable, result: Comparison, most: int = 10) -> list[Lost]:
    """The tasks whose target got worse, the largest loss first; ties in an order that no file's order shows through.

    Parameters
    ----------
    before, after : TaskTable
        The arms that `result` compares.
    most : int
        How many to give at most.
    """
    import numpy as np

    from whileai.measure.paired import ROUNDING
    from whileai.table.task_table import aligned

    metric = result.target
    if result.delta is None:
        return []
    (old, n_old), (new, n_new) = before.column(metric), after.column(metric)
    at, bt = aligned((before, after))
    measured = (n_old[at] > 0) & (n_new[bt] > 0)
    at, bt = at[measured], bt[measured]
    losses = new[bt] - old[at] if result.metrics[metric].lower_is_better else old[at] - new[bt]
    # differences that rounding alone may leave are no loss
    lost = np.flatnonzero(losses > ROUNDING * np.maximum(np.abs(old[at]), np.abs(new[bt])))
    if len(lost) > most:  # all that tie with the last one stay until their names decide
        least = np.partition(losses[lost], len(lost) - most)[len(lost) - most]
        lost = lost[losses[lost] >= least]

    def text(table: TaskTable, line: int) -> str:
        if metric == "pass_at_1":
            return f"{int(table.passes[line])}/{int(table.n[line])}"
        return f"{table.column(metric)[0][line]:.3g}"

    found = [
        Lost(before.task[at[i]], f"{text(before, at[i])} -> {text(after, bt[i])}", float(losses[i]))
        for i in lost.tolist()
    ]
    found.sort(key=lambda item: (-item.loss, hashlib.sha256(item.task.encode("utf-8", "surrogatepass")).digest()))
    return found[:most]


def failing_text(result: Comparison, gate: Gate, told: tuple[str, ...] = ()) -> str:
    """A failed gate as lines: the printed result without its notes, what the gate says, what else is known."""
    body = type(result).to_text(result).split("\nnote ")[0]
    said = [f"  {line}" for line in (*gate.remarks, *told)]
    return "\n".join([body, *said])
