"""The best passing completions of each task."""

from __future__ import annotations

from collections import Counter

import numpy as np

from whileai.selection.gates import OPEN, Gated
from whileai.selection.reports import SftReport


def keep_best(gated: Gated, per_task: int, target: int | None) -> tuple[list[int], SftReport]:
    """Places of the kept rows in order, and what each gate took.

    Only a reward of 1 passes. Passing completions of a task are equals, so the first ones are kept.
    """
    # a partial reward is judged and does not pass, so in this mode it is `not_pass` rather than left out of the groups
    usable = (gated.gate == OPEN) | (gated.gate == 1)
    passing = usable & (gated.rewards == 1)
    so_far: Counter[int] = Counter()
    places: list[int] = []
    beyond = 0
    codes = gated.codes.tolist()
    for place in np.flatnonzero(passing).tolist():
        code = codes[place]
        if so_far[code] < per_task:
            so_far[code] += 1
            if target is None or len(places) < target:
                places.append(place)
            else:
                beyond += 1
    taken = gated.taken()
    n_passing = int(passing.sum())
    report = SftReport(
        n_rows=len(gated.rows),
        n_kept=len(places),
        n_tasks=len(gated.task),
        n_tasks_kept=len({codes[place] for place in places}),
        per_task=per_task,
        unjudged=taken["unjudged"],
        empty_reply=taken["empty_reply"],
        cut_off=taken["cut_off"],
        not_pass=int(usable.sum()) - n_passing,
        not_best=n_passing - len(places) - beyond,
        beyond_target=beyond,
    )
    return places, report
