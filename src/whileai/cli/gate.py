"""Whether a comparison passes: ``--gate`` and ``--max-loss``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from whileai.measure.comparison import WORDS, value_places
from whileai.result import digits as d

if TYPE_CHECKING:
    from whileai.measure.comparison import Comparison


def judged(
    result: Comparison, guards: Sequence[str], *, gate: bool, max_loss: float | None
) -> tuple[bool, tuple[str, ...]]:
    """Whether the gates that were asked for pass, and what they say.

    Parameters
    ----------
    gate : bool
        Passes where the result is ok.
    max_loss : float, optional
        Passes where the interval rules out a loss of so much, and the guards and the proxy hold. A proven loss that is
        smaller passes here, and fails `gate`.

    Notes
    -----
    That no difference was proven is no proof of no harm: a gate that passes says what loss its data do not rule out.
    """
    if not gate and max_loss is None:
        return True, ()
    loss = largest_loss(result)
    reasons = []
    if gate and not result.ok:
        reasons.append(f"the result is not ok ({WORDS[result.verdict]})")
    if max_loss is not None:
        unmeasured = [name for name in guards if name not in result.metrics or result.metrics[name].delta is None]
        if not gate and (result.regressions or unmeasured or result.over_optimized):
            reasons.append("a guard or the proxy is not ok")
        if loss is None:
            reasons.append("the change has no interval, so no loss is ruled out")
        elif loss >= max_loss:
            reasons.append(f"a loss of {max_loss:g} is the most allowed{_remedy(result, max_loss)}")
    remarks = []
    if loss is not None and loss > 0:
        remarks.append(f"not ruled out: a loss of up to {_shown(result, loss, max_loss)}")
    remarks.append(f"gate failed: {'; '.join(reasons)}" if reasons else "gate passed")
    return not reasons, tuple(remarks)


def largest_loss(result: Comparison) -> float | None:
    """The largest loss the interval leaves open, below 0 where a gain is proven; ``None`` without an interval."""
    if result.interval is None or result.delta is None:
        return None
    low, high = result.interval
    return high if _falls(result) else -low


def _falls(result: Comparison) -> bool:
    """Whether the target improves when it falls."""
    return result.metrics[result.target].lower_is_better


def _shown(result: Comparison, loss: float, max_loss: float | None) -> str:
    """A loss with the digits of the printed interval, on its true side of the bar."""
    is_rate = not result.target.startswith("marker:")
    places = value_places(result.metrics[result.target], is_rate=is_rate, band=result.noise_band)
    return d.number(loss, d.honest_decimals(places, (loss,), () if max_loss is None else (max_loss,)))


def _remedy(result: Comparison, max_loss: float) -> str:
    """About how many tasks would rule the loss out, if the change stays as it is: widths shrink with their root."""
    if result.interval is None or result.delta is None:
        return ""
    gain = -result.delta if _falls(result) else result.delta
    end = result.interval[1] if _falls(result) else result.interval[0]
    if gain + max_loss <= 0:
        return ", and the change seen is no smaller"
    tasks = math.ceil(result.n_paired * (abs(end - result.delta) / (gain + max_loss)) ** 2)
    return f"; about {max(tasks, result.n_paired + 1):,} tasks would rule it out if the change stays as it is"
