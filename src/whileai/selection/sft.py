"""The best passing completions of each task."""

from __future__ import annotations

from collections import defaultdict
from operator import itemgetter
from typing import Any

import numpy as np

from whileai import keys
from whileai.selection.gates import OPEN, Gated
from whileai.selection.reports import SftReport


def keep_best(gated: Gated, per_task: int, target: int | None) -> tuple[list[int], SftReport]:
    """Places of the kept rows in order, and what each gate took.

    Only a reward of 1 passes, so the passing completions of a task are equals. Which of them stay must not depend on
    the order of the rows: those sampled first do (``rollout_index``), and where that does not tell, by their text.
    """
    # a partial reward is judged and does not pass, so in this mode it is `not_pass` rather than left out of the groups
    usable = (gated.gate == OPEN) | (gated.gate == 1)
    passing = usable & (gated.rewards == 1)
    codes = gated.codes.tolist()
    best = _first_of_each(gated.rows, codes, np.flatnonzero(passing).tolist(), per_task)
    places = best if target is None else best[:target]
    beyond = len(best) - len(places)
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


def _first_of_each(rows: list[dict[str, Any]], codes: list[int], places: list[int], most: int) -> list[int]:
    """At most so many of the `places` of each task, in the order of the rows."""
    groups: defaultdict[int, list[int]] = defaultdict(list)
    for place in places:
        groups[codes[place]].append(place)
    kept: list[int] = []
    for group in groups.values():
        if len(group) > most:
            ranked = sorted((_rank(rows[place]), place) for place in group)
            kept.extend(map(itemgetter(1), ranked[:most]))
        else:
            kept.extend(group)
    return sorted(kept)


def _rank(row: dict[str, Any]) -> tuple[float, str]:
    """What orders the equals of a task: their index among the samples, then their text."""
    index = row.get("rollout_index")
    number = float(index) if isinstance(index, (int, float)) and not keys.is_missing(index) else float("inf")
    return number, keys.candidate_of(row) or ""
