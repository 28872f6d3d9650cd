"""What the scripts of a page read: numbers of the tasks in columns, texts one task a line, both deflated."""

from __future__ import annotations

import base64
import json
import math
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from whileai.pages.flips import Arm, Tasks
from whileai.pages.rows import cut, gold_text, number_of, pass_first, prompt_text, row_record, task_secrets

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Tasks whose numbers stand on a page, rows of an arm whose texts do, and numbers of markers for sorting.
MOST_TASKS, MOST_ROWS, MOST_MARKED = 200_000, 4, 200_000
#: Characters of JSON between two looks at how much the deflated texts have grown.
STEP = 50_000


@dataclass(frozen=True)
class Texts:
    """Texts of the tasks that have room.

    Attributes
    ----------
    packed : str
        Base64 of deflated lines of JSON.
    places : list of int
        The tasks that have texts, in the order of the lines.
    shortened : int
        Texts whose middle was cut.
    more_rows : int
        Rows that are on no line because a task shows four an arm.
    withheld : int
        Reasons that quoted the gold.
    """

    packed: str = ""
    places: list[int] = field(default_factory=list)
    shortened: int = 0
    more_rows: int = 0
    withheld: int = 0


def packed(text: str) -> str:
    """A text deflated and in base64."""
    return base64.b64encode(zlib.compress(text.encode("utf-8", "surrogatepass"), 9)).decode("ascii")


def columns_json(tasks: Tasks, kept: Sequence[int]) -> str:
    """The numbers of the kept tasks as JSON: one list a column, flags as bits."""
    at = np.asarray(kept, dtype=np.int64)
    flags = tasks.flags()
    bits = np.zeros(len(at), dtype=np.int64)
    for place, name in enumerate(flags):
        bits |= flags[name][at].astype(np.int64) << place
    found: dict[str, Any] = {"ids": [tasks.ids[place] for place in kept], "flags": bits.tolist()}
    for name, side in (("before", tasks.before), ("after", tasks.after)):
        if side is None:
            continue
        if tasks.target == "pass_at_1":
            found[name] = {"n": side.n[at].tolist(), "c": side.passes[at].tolist()}
        else:
            found[name] = {"mean": _rounded(side.mean[at])}
    if len(at) * len(tasks.marker_changes) <= MOST_MARKED:
        found["markers"] = {name: _rounded(values[at], 5) for name, values in tasks.marker_changes.items()}
    return json.dumps(found, separators=(",", ":"))


def _rounded(values: NDArray[np.float64], digits: int = 9) -> list[float | None]:
    return [None if math.isnan(value) else float(f"{value:.{digits}g}") for value in values.tolist()]


def kept_places(tasks: Tasks, order: Sequence[int]) -> list[int]:
    """The tasks that stand on the page, in the order of their ids: all, or of very many the flips, then by `order`."""
    if len(order) > MOST_TASKS and tasks.before is not None:
        order = sorted(order, key=lambda place: bool(tasks.gain[place] == 0))
    return sorted(order[:MOST_TASKS])


def record(arms: Sequence[Arm], task: str, *, include_reference: bool, counts: Counter[str]) -> list[Any]:
    """One task's texts: prompt, replies of each arm, and the gold where it was asked for."""
    rows = [arm.by_task.get(task, []) for arm in arms]
    every = [row for group in rows for row in group]
    secrets = task_secrets(((task, row) for row in every), include_reference=include_reference).get(task)
    # the first pair to read is a pass against a fail where there is one
    fell = len(rows) > 1 and _mean(rows[0]) > _mean(rows[1])
    shown = []
    for place, group in enumerate(rows):
        few = pass_first(group, MOST_ROWS, fails=(place == 1) == fell if len(rows) > 1 else True)
        counts["more_rows"] += len(group) - len(few)
        shown.append([row_record(row, secrets) for row in few])
        counts["withheld"] += sum(item[4] == "[withheld]" for item in shown[-1])
    prompt = next((text for row in every if (text := prompt_text(row))), "")
    found: list[Any] = [cut(prompt), *shown]
    found += [gold_text(every)] if include_reference else []
    counts["shortened"] += sum("characters cut]" in item[0] for group in shown for item in group)
    return found


def _mean(rows: Sequence[Any]) -> float:
    rewards = [reward for row in rows if (reward := number_of(row.get("reward"))) is not None]
    return sum(rewards) / len(rewards) if rewards else 0.0


def pack_texts(
    arms: Sequence[Arm], tasks: Tasks, order: Iterable[int], *, budget: int, include_reference: bool
) -> Texts:
    """The texts of as many tasks, in this order, as fit into `budget` bytes of base64.

    Tasks are added while there is surely room; what the deflater still holds back is counted in full.
    """
    counts: Counter[str] = Counter()
    packer = zlib.compressobj(9)
    places: list[int] = []
    out = bytearray()
    for batch, lines, told in _batches(arms, tasks, order, include_reference=include_reference):
        rest = packer.copy()
        if len(out) + len(rest.compress(lines)) + len(rest.flush()) > budget * 3 // 4:
            break
        out += packer.compress(lines)
        places += batch
        counts += told
    out += packer.flush()
    text = base64.b64encode(bytes(out)).decode("ascii")
    return Texts(text, places, counts["shortened"], counts["more_rows"], counts["withheld"])


def _batches(
    arms: Sequence[Arm], tasks: Tasks, order: Iterable[int], *, include_reference: bool
) -> Iterator[tuple[list[int], bytes, Counter[str]]]:
    """Tasks a few at a time: their places, their lines, what was left out of them."""
    places: list[int] = []
    lines, counts = bytearray(), Counter[str]()
    for place in order:
        told = record(arms, tasks.ids[place], include_reference=include_reference, counts=counts)
        lines += json.dumps([place, *told], separators=(",", ":")).encode("ascii") + b"\n"
        places.append(place)
        if len(lines) >= STEP:
            yield places, bytes(lines), counts
            places, lines, counts = [], bytearray(), Counter()
    if places:
        yield places, bytes(lines), counts
