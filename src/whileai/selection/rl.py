"""Groups that carry gradient: some of their completions pass and some fail."""

from __future__ import annotations

import numpy as np

from whileai.selection.gates import OPEN, Gated
from whileai.selection.reports import RlReport

#: Rates are ratios of small counts: an end of the band is met exactly, up to rounding.
SLACK = 1e-9


def keep_groups(gated: Gated, low: float, high: float, target: int | None) -> tuple[list[int], RlReport]:
    """Places of the kept rows in order, and what each gate took."""
    n, c = gated.per_task()
    with np.errstate(invalid="ignore"):
        rate = c / n
    present = n > 0
    single = n == 1
    several = n > 1
    all_pass, all_fail = several & (c == n), several & (c == 0)
    mixed = several & ~all_pass & ~all_fail
    easy, hard = mixed & (rate > high + SLACK), mixed & (rate < low - SLACK)
    kept = mixed & ~easy & ~hard
    n_in_band = int(kept.sum())
    if target is not None:
        kept = _first_groups(gated, kept, n, target)
    left = gated.gate == OPEN
    places = np.flatnonzero(left & kept[gated.codes]).tolist()
    gates = {"single": single, "unanimous": all_pass | all_fail, "too_easy": easy, "too_hard": hard}
    report = RlReport(
        n_rows=len(gated.rows),
        n_kept=len(places),
        n_tasks=len(gated.task),
        n_tasks_kept=int(kept.sum()),
        n_tasks_in_band=n_in_band,
        band=(low, high),
        **gated.taken(),
        **{name: int(n[mask].sum()) for name, mask in gates.items()},
        beyond_target=int(n[present & mixed & ~easy & ~hard & ~kept].sum()),
        n_tasks_by_gate={name: int(mask.sum()) for name, mask in gates.items()},
        n_tasks_all_pass=int(all_pass.sum()),
        n_tasks_all_fail=int(all_fail.sum()),
    )
    return places, report


def _first_groups(gated: Gated, kept: np.ndarray, n: np.ndarray, target: int) -> np.ndarray:
    """The first groups, in the order of their first rows, that together have at least `target` rows."""
    first = np.full(len(gated.task), len(gated.rows), dtype=np.int64)
    np.minimum.at(first, gated.codes, np.arange(len(gated.rows)))
    order = np.flatnonzero(kept)[np.argsort(first[kept], kind="stable")]
    before = np.cumsum(n[order]) - n[order]
    chosen = np.zeros_like(kept)
    chosen[order[before < target]] = True
    return chosen
