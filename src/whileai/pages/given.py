"""What was given to `wai.report`: results, and the data of each arm."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from whileai.errors import ParamError, sentence
from whileai.measure.comparison import Comparison
from whileai.pages.content import Input
from whileai.pages.flips import Arm
from whileai.readers.containers import as_list, is_data, listed
from whileai.readers.files import files_of
from whileai.result import Result
from whileai.table.flat import is_flat
from whileai.table.intake import as_table
from whileai.table.task_table import TaskTable

CALL = "report"


def _result_of(value: Any) -> Result | None:
    """A result, also that of a list of rows with a report; ``None`` for anything else."""
    if isinstance(value, Result):
        return value
    found = getattr(value, "report", None) if isinstance(value, list) else None
    return found if isinstance(found, Result) else None


def sorted_out(main: Any, before: Any, after: Any) -> tuple[list[Result], list[tuple[str, Any]]]:
    """The results that were given, and the data of each arm by its name."""
    alone = _result_of(main)
    if alone is not None:
        results, data = [alone], [] if isinstance(main, Result) else [main]
    elif main is None or (isinstance(main, (list, tuple)) and not main):
        results, data = [], [] if main is None or before is not None or after is not None else [[]]
    elif isinstance(main, (list, tuple)) and any(isinstance(item, Result) for item in main):
        wrong = next((item for item in main if _result_of(item) is None), None)
        if wrong is not None:
            raise TypeError(
                sentence(
                    CALL,
                    "results_or_rows",
                    "results, or rows; not both in one list",
                    wrong,
                    "Rows go to before= and after=.",
                )
            )
        results, data = [found for item in main if (found := _result_of(item)) is not None], []
    elif (
        isinstance(main, (list, tuple))
        and len(main) == 2
        and all(isinstance(item, TaskTable) or (is_data(item) and not isinstance(item, dict)) for item in main)
    ):
        results, data = [], list(main)
    elif isinstance(main, TaskTable) or is_data(main):
        results, data = [], [main]
    else:
        raise TypeError(sentence(CALL, "results_or_rows", "a result, a list of results, or rows", main))
    return results, _arms_of(data, before, after, results)


def _arms_of(data: Sequence[Any], before: Any, after: Any, results: Sequence[Result]) -> list[tuple[str, Any]]:
    """The arms by name."""
    if data and before is not None and (after is not None or len(data) == 2):
        fix = "Rows in the first place are an arm already."
        raise ParamError.of(CALL, "before", "left out where rows are given twice", type(before).__name__, fix)
    if len(data) == 2:
        if after is not None:
            raise ParamError.of(CALL, "after", "left out where two arms are given", type(after).__name__)
        return [("before", data[0]), ("after", data[1])]
    if data and before is not None:
        return [("before", before), ("after", data[0])]
    if data:
        return [("before", data[0]), ("after", after)] if after is not None else [("rows", data[0])]
    if (before is None) != (after is None):
        name = "before" if before is None else "after"
        if any(isinstance(result, Comparison) for result in results):
            raise ParamError.of(CALL, name, "given where the other arm of a comparison is", None)
        return [("rows", after if before is None else before)]
    return [("before", before), ("after", after)] if before is not None else []


def arm_of(data: Any, name: str) -> Arm:
    """An arm read."""
    if isinstance(data, TaskTable):
        return Arm(name, data)
    if isinstance(data, (str, os.PathLike)):
        rows = as_list(data, CALL, name)
        table = as_table(data, CALL, name)
        return Arm(name, table, None if rows and is_flat(list(rows[0])) else rows)
    rows, told = listed(data, CALL, name)
    return Arm(name, replace(as_table(rows, CALL, name), reading=tuple(told)), rows)


def input_of(arm: Arm, data: Any) -> Input:
    """What is said of an input: of files their names and digests."""
    path = digest = ""
    if isinstance(data, (str, os.PathLike)):
        files = files_of(data, CALL)
        path = os.fspath(data)
        whole = hashlib.sha256()
        for file in files:
            with file.open("rb") as stream:
                one = hashlib.file_digest(stream, "sha256")
            whole.update(one.digest())
        digest = one.hexdigest() if len(files) == 1 else f"{whole.hexdigest()} of {len(files)} files"
    return Input(arm.name, arm.table.n_rows, len(arm.table), path, digest)
