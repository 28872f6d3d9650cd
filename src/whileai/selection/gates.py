"""What the gates of `select` read of each row, a column at a time."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat
from operator import contains, itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whileai import keys
from whileai.stats.intervals import wilson_interval
from whileai.table.from_rows import BATCH, TableBuilder

#: Where a truncation stamp may stand on a row; ``steps`` only where there are any.
STAMPS = ("finish_reason", "stop_reason", "truncated", "is_truncated")
#: The gates that take single rows, in the order they stand in.
ROW_GATES = ("unjudged", "partial", "empty_reply", "cut_off")
OPEN = len(ROW_GATES)


@dataclass(frozen=True)
class Gated:
    """Rows with what the gates read.

    Attributes
    ----------
    rows : list of dict
    task : list of str
        Task names; `codes` points into it.
    codes : ndarray of int, shape (N,)
        The task of each row.
    rewards : ndarray of float, shape (N,)
    gate : ndarray of int, shape (N,)
        The first row gate that took the row, `OPEN` where none did.
    """

    rows: list[dict[str, Any]]
    task: list[str]
    codes: NDArray[np.int64]
    rewards: NDArray[np.float64]
    gate: NDArray[np.int64]

    def taken(self) -> dict[str, int]:
        """Rows each row gate took."""
        counts = np.bincount(self.gate, minlength=OPEN + 1).tolist()
        return dict(zip(ROW_GATES, counts, strict=False))

    def per_task(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows that passed the row gates and passes among them, per task, each of shape (T,)."""
        size = len(self.task)
        left = self.gate == OPEN
        n = np.bincount(self.codes[left], minlength=size)
        return n, np.bincount(self.codes[left & (self.rewards == 1)], minlength=size)

    def calibrated(self, places: list[int]) -> list[dict[str, Any]]:
        """Copies of the rows at `places`, each with its task's measured difficulty."""
        n, c = (counts.tolist() for counts in self.per_task())
        tasks, first, of = np.unique(self.codes[places], return_index=True, return_inverse=True)
        with collector_paused():
            kept = [self.rows[place].copy() for place in places]
            each = [
                _calibration(self.task[code], kept[row], n[code], c[code])
                for code, row in zip(tasks.tolist(), first.tolist(), strict=True)
            ]
            for row, calibration in zip(kept, map(each.__getitem__, of.tolist()), strict=True):
                row["calibration"] = calibration
        return kept


@contextmanager
def collector_paused() -> Iterator[None]:
    """No garbage collection while many containers are made: it would walk all of them again and again for nothing."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _calibration(task: str, row: dict[str, Any], n: int, c: int) -> dict[str, Any]:
    """The flat form of `whileai.simulations.schema.Calibration`."""
    found = {"task_id": task, "n": n, "pass_rate": c / n, "pass_rate_ci95": list(_wilson(c, n))}
    model = row.get("policy_version") or row.get("model_version")
    return {**found, "student": {"name": str(model)}} if model else found


@lru_cache(maxsize=4096)
def _wilson(c: int, n: int) -> tuple[float, float]:
    """Few distinct counts stand behind many tasks."""
    return wilson_interval(c, n)


def read_gates(rows: list[dict[str, Any]]) -> Gated:
    """Read task, reward, reply and stamps of every row, batch by batch while a batch is in the processor's cache."""
    builder = TableBuilder("select", markers=False)
    empty: list[int] = []
    cut_off: list[int] = []
    for start in range(0, len(rows), BATCH):
        batch = rows[start : start + BATCH]
        builder.add(batch)
        empty += [start + place for place in _empty(batch)]
        cut_off += [start + place for place in _cut_off(batch)]
    task, codes, rewards = builder.columns()
    gate = np.full(len(rows), OPEN, dtype=np.int64)
    gate[cut_off] = 3
    gate[empty] = 2
    gate[(rewards > 0) & (rewards < 1)] = 1
    gate[np.isnan(rewards)] = 0
    return Gated(rows, task, codes, rewards, gate)


def _empty(rows: list[dict[str, Any]]) -> list[int]:
    """Places of the rows that reply nothing."""
    try:
        texts = list(map(itemgetter("final_text"), rows))
        if all(texts) and not any(map(str.isspace, texts)):
            return []
    except (KeyError, TypeError):
        pass  # some row keeps its reply elsewhere, or has none
    replies = (keys.candidate_of(row) for row in rows)
    return [place for place, text in enumerate(replies) if not text or text.isspace()]


def _cut_off(rows: list[dict[str, Any]]) -> list[int]:
    """Places of the rows whose stamps say that the reply was cut off."""
    stamped = any(any(map(contains, rows, repeat(name))) for name in STAMPS)
    if not stamped and not _has_steps(rows):
        return []
    return [place for place, row in enumerate(rows) if keys.is_cut_off(row)]


def _has_steps(rows: list[dict[str, Any]]) -> bool:
    """Whether any row took steps, on which a stamp may stand."""
    try:
        return any(map(itemgetter("steps"), rows))
    except KeyError:
        return any(row.get("steps") for row in rows)
