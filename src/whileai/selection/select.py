"""`wai.select`: which rows are worth training on."""

from __future__ import annotations

from itertools import compress
from typing import Any

from whileai import params
from whileai.errors import ParamError
from whileai.readers.containers import listed
from whileai.result import Reported, noted
from whileai.selection.gates import read_gates
from whileai.selection.reports import RlReport, SftReport
from whileai.selection.rl import keep_groups
from whileai.selection.sft import keep_best

MODES = ("rl", "sft")


class Selection(Reported[RlReport | SftReport]):
    """The rows that stay: a list that goes into every other call.

    Attributes
    ----------
    report : RlReport or SftReport
        What each gate took.
    dropped : list of dict
        The rows left out, in the order they came.
    """

    def __init__(self, kept: list[dict[str, Any]], dropped: list[dict[str, Any]], report: RlReport | SftReport) -> None:
        super().__init__(kept, report)
        self.dropped = dropped


def select(
    rows: Any,
    *,
    mode: str,
    band: tuple[float, float] = (0.2, 0.8),
    target: int | None = None,
    per_task: int = 1,
) -> Selection:
    """The rows worth training on: whole groups that carry gradient, or the best completions.

    Parameters
    ----------
    rows : rows
        Anything that counts as data; left as it is.
    mode : {"rl", "sft"}
        ``"rl"`` keeps the whole groups whose pass rate lies in `band`; ``"sft"`` the best passing completions of each
        task.
    band : (float, float)
        Lowest and highest pass rate of a kept group, ends included. A group that is all pass or all fail has no
        advantage to learn from (Lambert 2025, chapter Reasoning; DAPO, arXiv:2503.14476).
    target : int, optional
        Stop once at least so many rows are kept; in rl a group is never split.
    per_task : int
        Completions kept per task in sft; of the passing ones those sampled first (``rollout_index``, else by text).

    Returns
    -------
    Selection
        A list of row copies in the order they came. A kept row carries ``calibration``: its task's pass rate, the rows
        behind it, and the Wilson interval.

    Raises
    ------
    ParamError
        A misspelt mode, a band that is no ascending pair within [0, 1], a count below 1.
    RowError
        A reward that is no number in [0, 1], a row with neither id nor prompt.

    Notes
    -----
    Four gates take rows: ``unjudged``, ``partial``, ``empty_reply``, ``cut_off`` (read from finish reasons and
    truncation stamps, never from the text). The others take what is left of whole groups: ``single``, ``unanimous``,
    ``too_easy``, ``too_hard``; in sft ``not_pass`` and ``not_best`` take rows. No row leaves for any other reason:
    equal replies are not thinned out, and a right answer is not dropped for containing the gold.

    Examples
    --------
    >>> import whileai as wai
    >>> rows = wai.rows(["q", "r"], [["a", "b"], ["c", "d"]], [[1, 0], [1, 1]])
    >>> kept = wai.select(rows, mode="rl")
    >>> len(kept), kept.report.unanimous
    (2, 2)
    """
    params.one_of("select", "mode", mode, MODES)
    low, high = _band(band)
    if target is not None:
        params.whole("select", "target", target)
    params.whole("select", "per_task", per_task)
    given, told = listed(rows, "select", "rows")
    gated = read_gates(given)
    report: RlReport | SftReport
    if mode == "rl":
        places, report = keep_groups(gated, low, high, target)
    else:
        places, report = keep_best(gated, per_task, target)
    kept = gated.calibrated(places)
    leaving = bytearray(b"\1") * len(given)
    for place in places:
        leaving[place] = 0
    return Selection(kept, list(compress(given, leaving)), noted(report, told))


def _band(band: Any) -> tuple[float, float]:
    """An ascending pair within [0, 1]."""
    try:
        low, high = band
    except (TypeError, ValueError):
        raise ParamError.of("select", "band", "a pair (low, high)", band, "(0.2, 0.8) is usual.") from None
    for end in (low, high):
        params.real("select", "band", end, "two rates in [0, 1]", 0, 1, fix="(0.2, 0.8) is usual.")
    if low > high:
        raise ParamError.of("select", "band", "a pair (low, high) with low first", band, f"Write ({high}, {low}).")
    return float(low), float(high)
