"""The calibration a row carries, typed."""

from __future__ import annotations

import dataclasses
from typing import Any

from whileai.errors import ParamError
from whileai.simulations._parts import PolicyRef
from whileai.simulations._types import Calibration
from whileai.simulations._wire import copied, task_id_of


def calibration_of(row: dict) -> Calibration | None:  # type: ignore[type-arg]  # the documented annotation
    """The typed `Calibration` a row carries, or ``None`` when absent or malformed.

    Parameters
    ----------
    row : dict
        A row. Its ``calibration`` is a flat dict: ``n``, ``pass_rate`` and where known ``task_id`` (else the row's
        own), ``student`` (a dict, or the student's name), ``mean_kl`` and ``pass_rate_ci95``.

    Returns
    -------
    Calibration or None
        ``None`` where there is no such dict, or a number in it is missing or outside its range.

    Raises
    ------
    TypeError
        If `row` is no dict.

    Examples
    --------
    >>> from whileai.simulations import schema
    >>> row = {"task_id": "t", "calibration": {"n": 8, "pass_rate": 0.5, "pass_rate_ci95": [0.2152, 0.7848]}}
    >>> schema.calibration_of(row).pass_rate_ci95
    (0.2152, 0.7848)
    >>> schema.calibration_of({"task_id": "t"}) is None
    True
    """
    if not isinstance(row, dict):
        raise TypeError(f"calibration_of: row must be a dict; got {type(row).__name__}. Call it on one row at a time.")
    block = row.get("calibration")
    if not isinstance(block, dict):
        return None
    task_id = block.get("task_id")
    student = _student(block.get("student"))
    n = block.get("n")
    ends = block.get("pass_rate_ci95")
    if student is None or not isinstance(task_id, (str, type(None))):
        return None
    try:
        return Calibration(
            task_id_of(row) if task_id is None else task_id,
            student,
            int(n) if isinstance(n, float) and n.is_integer() else n,  # type: ignore[arg-type]  # checked by the class
            block.get("pass_rate"),  # type: ignore[arg-type]  # checked by the class
            block.get("mean_kl"),
            tuple(ends) if isinstance(ends, list) else ends,
        )
    except ParamError:
        return None


def _student(value: Any) -> PolicyRef | None:
    """The student of a calibration, unnamed where none is given, ``None`` where it cannot be read."""
    if value is None or isinstance(value, str):
        return PolicyRef(name=value or "")
    if not isinstance(value, dict):
        return None
    names = [field.name for field in dataclasses.fields(PolicyRef)]
    fields = {name: value[name] for name in names if value.get(name) is not None}
    if all(isinstance(item, dict if name == "sampling" else str) for name, item in fields.items()):
        return PolicyRef(**copied(fields))
    return None
