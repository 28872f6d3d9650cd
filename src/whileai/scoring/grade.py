"""`wai.grade`: rows in, judged copies out, resumable."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from whileai import keys, params
from whileai.errors import RowError
from whileai.readers.containers import listed
from whileai.result import Note
from whileai.scoring.judging import Land, check_clock, land_verdicts, put, shown
from whileai.scoring.ledger import Ledger, check_path
from whileai.verify.adapt import as_judge

CALL = "grade"
ENGINES = ("ray",)


class Graded(list[dict[str, Any]]):
    """Graded rows: a list like any other.

    Attributes
    ----------
    notes : tuple of Note
        What the reader of the data passed over.
    """

    def __init__(self, rows: Iterable[dict[str, Any]], notes: Iterable[Note] = ()) -> None:
        super().__init__(rows)
        self.notes = tuple(notes)


def grade(
    data: Any,
    judge: Any,
    *,
    timeout: float = 30.0,
    workers: int | None = None,
    resume: str | os.PathLike[str] | None = None,
    engine: str | None = None,
) -> Graded:
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
        Verdicts made at the same time, by default as many as suits the judge; with an engine its workers, by default
        one a processor, each of which makes verdicts as a local call does.
    resume : path, optional
        A JSON-lines file to which every verdict is appended as it lands, and from which a later call over the same
        rows, gold and judge takes what is there. Verdicts that read ``error`` or ``timeout`` are tried again. A torn
        last line is skipped. A function counts as another judge once its code changes, or plain data or a function of
        its module that it reads; a function of ``(row)`` is asked again once anything on the row but verdicts and
        markers changes. Only one run at a time writes to the file.
    engine : {None, "ray"}
        Where the verdicts are made: on this machine, or by the workers of Ray, in which case `data` may also be a Ray
        Dataset. With ``"ray"`` verdicts land a batch at a time.

    Returns
    -------
    list of dict
        In the order of `data`; the rows passed in are left as they were. Its ``.notes`` say what the reader of a file
        passed over.

    Raises
    ------
    TypeError
        What is no data, or cannot judge.
    ParamError
        A `timeout`, `workers`, `resume` or `engine` outside its bound, a `resume` that holds something else.
    FileNotFoundError
        The folder of `resume` does not exist.
    ScorerError
        Another run writes to `resume`; the judge cannot be sent to Ray.
    MissingExtra
        `engine` is ``"ray"`` and Ray is not installed.

    Examples
    --------
    >>> import whileai as wai
    >>> rows = wai.rows(["Name a prime."], [["7", "8"]])
    >>> [row["reward"] for row in wai.grade(rows, lambda row: row["final_text"] in ("2", "3", "5", "7"))]
    [1, 0]
    """
    check_clock(CALL, timeout, workers)
    if engine is not None:
        params.one_of(CALL, "engine", engine, ENGINES, "None or 'ray'")
    scorer = as_judge(judge, CALL, "judge")
    path = None if resume is None else check_path(resume)
    land: Land = land_verdicts
    if engine == "ray":
        from whileai.scoring.ray_grade import land_on_ray, rows_of

        land, data = land_on_ray, rows_of(data)
    rows, told = listed(data, CALL, "data")
    for index, row in enumerate(rows):
        markers = row.get("markers")
        if not isinstance(markers, dict) and not keys.is_missing(markers) and not isinstance(markers, Mapping):
            raise RowError.of(CALL, "data", index, "markers", "a mapping of names to numbers", markers)
    graded = Graded(({key: value for key, value in row.items() if key not in keys.VERDICT_KEYS} for row in rows), told)
    if path is None:
        with shown(land(scorer, rows, timeout=timeout, workers=workers), len(rows)) as landing:
            for place, verdict in landing:
                put(graded[place], verdict, scorer.name)
        return graded
    with Ledger(path, rows, scorer) as ledger:
        for place, verdict in ledger.known():
            put(graded[place], verdict, scorer.name)
        places = ledger.open_places()
        left = [rows[place] for place in places]
        with shown(land(scorer, left, timeout=timeout, workers=workers), len(left)) as landing:
            for at, verdict in landing:
                ledger.append(places[at], verdict)
                put(graded[places[at]], verdict, scorer.name)
    return graded
