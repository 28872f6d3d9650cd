"""The calls on lists of dicts, against a bare loop that reads the same keys."""

from __future__ import annotations

from typing import Any

import data
import whileai as wai
from timing import best, save


def read_two(rows: list[dict[str, Any]]) -> dict[Any, list[Any]]:
    """The bare loop of one arm: group one key by the other."""
    groups: dict[Any, list[Any]] = {}
    for row in rows:
        groups.setdefault(row["task_id"], []).append(row["reward"])
    return groups


def look_two(rows: list[dict[str, Any]]) -> None:
    """The barest loop: look two keys up and forget them."""
    for row in rows:
        row["task_id"]
        row["reward"]


def look_markers(arms: tuple[list[dict[str, Any]], list[dict[str, Any]]]) -> None:
    """The barest loop over two arms and their markers."""
    for rows in arms:
        for row in rows:
            row["task_id"]
            row["reward"]
            markers = row["markers"]
            markers["chars"]
            markers["score"]


def main() -> None:
    """Ratios at two sizes."""
    entries = []
    for n in (40_000, 1_000_000):
        before, after = data.rows(n, seed=1), data.rows(n, seed=2)
        look, group, both = (
            best(lambda: look_two(before)),
            best(lambda: read_two(before)),
            best(lambda: look_markers((before, after))),
        )
        for call, work, floor in (
            ("pass_at", lambda: wai.pass_at(before), look),
            ("compare", lambda: wai.compare(before, after), both),
            ("select rl", lambda: wai.select(before, mode="rl"), look),
        ):
            seconds = best(work, 3)
            entries.append(
                {
                    "call": call,
                    "rows": n,
                    "seconds": round(seconds, 4),
                    "bare loop": round(floor, 4),
                    "times bare": round(seconds / floor, 2),
                    "times grouping loop": round(seconds / group, 2),
                }
            )
    save("calls", entries)


if __name__ == "__main__":
    main()
