"""The target of a comparison on each value of a key of the rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from whileai import keys
from whileai.measure.grouping import ranked
from whileai.measure.paired import Arms, adjusted, paired_delta
from whileai.result import Note
from whileai.result.digits import count
from whileai.stats import signflip
from whileai.table.intake import as_table

if TYPE_CHECKING:
    from whileai.measure.comparison import Delta
    from whileai.table.clusters import Labels

#: Slices that a note names.
NAMED = 5

Rows = tuple[list[Any], list[Any]]


@dataclass(frozen=True)
class Slices:
    """What was found on each slice, in the order of the values, and what is said of them."""

    deltas: dict[str, Delta]
    notes: tuple[Note, ...]


def sliced(arms: Arms, labels: tuple[Labels, Labels], rows: Rows, *, target: str, lower: bool, level: float) -> Slices:
    """The change of the target on each value.

    A slice with fewer tasks (clusters, where the arms have them) than the exact test needs to prove anything has the
    verdict ``insufficient_data`` and is no part of Holm's family: no result of its tasks could change a verdict
    (Tarone 1990).

    Parameters
    ----------
    arms : Arms
    labels : (Labels, Labels)
        The values on both arms; a task is in a slice where both arms have its value.
    rows : (list, list)
        The rows of both arms, read again where rows of one task have different values.
    """
    whole = not (labels[0].several.any() or labels[1].several.any())
    parts = _parts(arms, labels) if whole else _row_parts(arms, rows, labels[0].path)
    found: dict[str, Delta] = {}
    n_in_slices = 0
    for value, part in parts:
        found[value] = paired_delta(part, target, lower, level)
        n_in_slices += part.n_shared
    fewest = signflip.min_nonzero_for(level)
    small = [name for name, delta in found.items() if (delta.n_clusters or delta.n_paired) < fewest]
    unsaid = set(small)
    judged = adjusted({name: delta for name, delta in found.items() if name not in unsaid}, None, level)
    deltas = {name: judged.get(name) or replace(delta, verdict="insufficient_data") for name, delta in found.items()}
    notes = [_small_note(small, fewest, "clusters" if arms.clusters is not None else "tasks")] if small else []
    notes += _outside_notes(arms, labels, n_in_slices if whole else None)
    return Slices(deltas, tuple(notes))


def _parts(arms: Arms, labels: tuple[Labels, Labels]) -> Iterator[tuple[str, Arms]]:
    """Each value with its tasks, where every task has one value."""
    import numpy as np

    values, (one, other) = ranked(labels, arms.lines)
    inside = np.flatnonzero((one == other) & (one >= 0))
    order = inside[np.argsort(one[inside], kind="stable")]
    ends = np.searchsorted(one[order], np.arange(len(values) + 1))
    for place, value in enumerate(values):
        yield value, arms.part(order[ends[place] : ends[place + 1]])


def _row_parts(arms: Arms, rows: Rows, path: str) -> Iterator[tuple[str, Arms]]:
    """Each value with the rows that have it, where rows of one task have different values."""
    import numpy as np

    cluster_of: dict[str, int] = {}
    if arms.clusters is not None:
        names = (arms.before.task[line] for line in arms.lines[0].tolist())
        cluster_of = dict(zip(names, arms.clusters.tolist(), strict=True))
    before, after = (_grouped(arm, path) for arm in rows)
    for value in sorted({*before, *after}):
        old = as_table(before.get(value, []), "compare", "before")
        part = Arms(old, as_table(after.get(value, []), "compare", "after"))
        if arms.clusters is not None:
            tasks = (part.before.task[line] for line in part.lines[0].tolist())
            part.clusters = np.array([cluster_of[task] for task in tasks], dtype=np.int64)
        yield value, part


def _grouped(rows: Sequence[Any], path: str) -> dict[str, list[Any]]:
    """Rows by the value of a key; rows without it are in no group."""
    groups: defaultdict[str, list[Any]] = defaultdict(list)
    for row in rows:
        value = keys.at_path(row, path)
        if not keys.is_missing(value):
            groups[keys.task_name(value)].append(row)
    return groups


def _small_note(names: Sequence[str], fewest: int, units: str) -> Note:
    """The slices that are too small to say."""
    shown = [repr(name) for name in names[:NAMED]]
    if len(names) > NAMED:
        listed = f"{', '.join(shown)} and {len(names) - NAMED:,} more have"
    elif len(names) > 1:
        listed = f"{', '.join(shown[:-1])} and {shown[-1]} have"
    else:
        listed = f"{shown[0]} has"
    text = f"{listed} fewer than {fewest} paired {units}, too few for any result to prove a change."
    return Note("small_slices", text, "Run more tasks of the kind.")


def _outside_notes(arms: Arms, labels: tuple[Labels, Labels], n_in_slices: int | None) -> list[Note]:
    """Rows without the key, and tasks whose value differs between the arms."""
    notes = []
    path = labels[0].path
    missing = [
        (label.n_missing, arm) for label, arm in zip(labels, ("before", "after"), strict=True) if label.n_missing
    ]
    if missing:
        rows = " and ".join(f"{count(n, 'row')} of {arm}" for n, arm in missing)
        alone = len(missing) == 1 and missing[0][0] == 1
        text = f"{rows} {'has' if alone else 'have'} no {path!r} and {'is' if alone else 'are'} in no slice."
        notes.append(Note("no_slice", text))
    if n_in_slices is not None:
        _, (one, other) = ranked(labels, arms.lines)
        differ = int(((one >= 0) & (other >= 0)).sum()) - n_in_slices
        if differ:
            tasks = count(differ, "task")
            text = f"{path!r} differs between the arms in {tasks}, which {'is' if differ == 1 else 'are'} in no slice."
            notes.append(Note("slices_differ", text))
    return notes
