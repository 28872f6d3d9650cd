"""`wai.grade`: rows in, judged copies out, resumable."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from whileai import keys
from whileai.errors import RowError
from whileai.readers.containers import as_list
from whileai.scoring.judging import VERDICT_KEYS, check_clock, land_verdicts, put
from whileai.scoring.ledger import Ledger
from whileai.verify.adapt import as_judge


def grade(
    data: Any,
    judge: Any,
    *,
    timeout: float = 30.0,
    workers: int | None = None,
    resume: str | os.PathLike[str] | None = None,
) -> list[dict[str, Any]]:
    """Copies of the rows with a judge's verdict on each, in place of any earlier one.

    Parameters
    ----------
    data : rows
        A list or generator of dicts, a file, a frame: anything that counts as data.
    judge : verifier or callable
        As `reward` of `wai.rows`.
    timeout : float
        Seconds one verdict may take.
    workers : int, optional
        Verdicts made at the same time, by default as many as suits the judge.
    resume : path, optional
        A JSON-lines file to which every verdict is appended as it lands, and from which a later call over the same
        rows, gold and judge takes what is there. Verdicts that read ``error`` or ``timeout`` are tried again. A torn
        last line is skipped. A function counts as another judge once its code changes, or plain data or a function of
        its module that it reads.

    Returns
    -------
    list of dict
        In the order of `data`; the rows passed in are left as they were.

    Raises
    ------
    TypeError
        What is no data, or cannot judge.

    Examples
    --------
    >>> import whileai as wai
    >>> rows = wai.rows(["Name a prime."], [["7", "8"]])
    >>> [row["reward"] for row in wai.grade(rows, lambda row: row["final_text"] in ("2", "3", "5", "7"))]
    [1, 0]
    """
    check_clock("grade", timeout, workers)
    scorer = as_judge(judge, "grade", "judge")
    rows = as_list(data, "grade", "data")
    for index, row in enumerate(rows):
        markers = row.get("markers")
        if not isinstance(markers, dict) and not keys.is_missing(markers) and not isinstance(markers, Mapping):
            raise RowError.of("grade", "data", index, "markers", "a mapping of names to numbers", markers)
    graded = [{key: value for key, value in row.items() if key not in VERDICT_KEYS} for row in rows]
    if resume is None:
        for place, verdict in land_verdicts(scorer, rows, timeout=timeout, workers=workers):
            put(graded[place], verdict, scorer.name)
        return graded
    with Ledger(resume, rows, scorer) as ledger:
        for place, verdict in ledger.known():
            put(graded[place], verdict, scorer.name)
        open_places = ledger.open_places()
        left = [rows[place] for place in open_places]
        for at, verdict in land_verdicts(scorer, left, timeout=timeout, workers=workers):
            ledger.append(open_places[at], verdict)
            put(graded[open_places[at]], verdict, scorer.name)
    return graded
