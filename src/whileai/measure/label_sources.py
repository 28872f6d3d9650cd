"""Labels in the shapes in which people keep them -> who said what of which row."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from whileai import keys
from whileai.errors import ParamError
from whileai.measure.gold import as_label, label_key
from whileai.readers.containers import listed
from whileai.result import Note
from whileai.scoring.replies import named_task, turn_of

CALL = "label"
BOUND = "a verdict for each row, several by annotator, records with a label, or a file of those"
#: Who gave a label, where nothing says.
ANNOTATOR = "annotator"
_VERDICT = "a verdict: 1 or 0, true or false, pass or fail, or None where there is none"

Rows = Sequence[Mapping[str, Any]]


@dataclass
class Labels:
    """Who said what of which row.

    Attributes
    ----------
    said : dict of int to dict of str to int
        Place of the row -> annotator -> 0 or 1.
    sampling : dict of int to mapping
        Place of the row -> how it was picked, where the labels know.
    n_unmatched : int
        Records that belong to no row.
    told : dict of str to list of Note
        What was passed over in the file of the labels, where they are one.
    """

    said: defaultdict[int, dict[str, int]] = field(default_factory=lambda: defaultdict(dict))
    sampling: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    n_unmatched: int = 0
    told: dict[str, list[Note]] = field(default_factory=dict)

    def put(self, place: int, annotator: str, value: Any, where: str) -> None:
        """One label; ``None`` takes an earlier one of the same annotator back."""
        label = _binary(value, where)
        if label is None:
            self.said.get(place, {}).pop(annotator, None)
        else:
            self.said[place][annotator] = label


def read_labels(rows: Rows, labels: Any) -> Labels:
    """The labels of the rows.

    Raises
    ------
    ParamError
        A label that is no verdict, another number of labels than rows, or none that belongs to a row.
    TypeError
        What holds no labels.
    """
    if isinstance(labels, (str, os.PathLike)):
        records, notes = listed(labels, CALL, "labels")
        found = _records(rows, records)
        found.told = {"labels": notes}
        return found
    if isinstance(labels, Mapping):
        return _mapping(rows, labels)
    if hasattr(labels, "tolist"):
        labels = labels.tolist()
    if not isinstance(labels, Sequence):
        try:
            labels, _ = listed(labels, CALL, "labels")  # a frame: of records, or a column for each annotator
        except TypeError:
            raise TypeError(f"{CALL}: labels must be {BOUND}; got {type(labels).__name__}.") from None
    if labels and all(isinstance(item, Mapping) and _is_record(item) for item in labels):
        return _records(rows, labels)
    return _aligned(rows, labels, "labels")


def _is_record(item: Mapping[str, Any]) -> bool:
    return "label" in item or keys.GOLD_REWARD in item


def _aligned(rows: Rows, labels: Sequence[Any], where: str, annotator: str = ANNOTATOR) -> Labels:
    """One entry a row: a label, labels in the order of the annotators, or labels by annotator."""
    if len(labels) != len(rows):
        raise ParamError.of(CALL, where, f"one entry for each of the {len(rows):,} rows", f"{len(labels):,} entries")
    found = Labels()
    for place, entry in enumerate(labels):
        if isinstance(entry, Mapping):
            for name, value in entry.items():
                found.put(place, str(name), value, f"{where}[{place}][{name!r}]")
        elif isinstance(entry, (list, tuple)):
            for number, value in enumerate(entry):
                found.put(place, f"{annotator} {number + 1}", value, f"{where}[{place}][{number}]")
        else:
            found.put(place, annotator, entry, f"{where}[{place}]")
    return found


def _mapping(rows: Rows, labels: Mapping[Any, Any]) -> Labels:
    """Annotators with one label a row each, or tasks with their label."""
    columns = {name: column.tolist() if hasattr(column, "tolist") else column for name, column in labels.items()}
    if columns and all(isinstance(column, (list, tuple)) for column in columns.values()):
        found = Labels()
        for name, column in columns.items():
            mine = _aligned(rows, column, f"labels[{name!r}]", str(name))
            for place, said in mine.said.items():
                found.said[place].update(said)
        return found
    finder, found = _Finder(rows), Labels()
    for task, value in columns.items():
        places = finder.of_task(keys.task_name(task), f"labels[{task!r}]")
        found.n_unmatched += not places
        for place in places:
            found.put(place, ANNOTATOR, value, f"labels[{task!r}]")
    return _checked(found, rows, columns)


def _records(rows: Rows, records: Sequence[Mapping[str, Any]]) -> Labels:
    """Records that name their row: by its key, by task (and rollout_index), by index, or by being a copy of it."""
    finder = _Finder(rows)
    found = Labels()
    for number, record in enumerate(records):
        if not isinstance(record, Mapping) or not _is_record(record):
            raise ParamError.of(CALL, f"labels[{number}]", "a record with a label", record)
        places = finder.places(record, number)
        found.n_unmatched += not places
        given = record["label"] if "label" in record else record[keys.GOLD_REWARD]
        several = record.get(keys.GOLD_LABELS)
        for place in places:
            if isinstance(several, Mapping) and several:
                for name, value in several.items():
                    found.put(place, str(name), value, f"labels[{number}].{keys.GOLD_LABELS}[{name!r}]")
            else:
                found.put(place, str(record.get("annotator") or ANNOTATOR), given, f"labels[{number}].label")
            picked = record.get(keys.LABEL_SAMPLING)
            if isinstance(picked, Mapping):
                found.sampling[place] = picked
    return _checked(found, rows, records)


def _checked(found: Labels, rows: Rows, labels: Any) -> Labels:
    """Raise where no label belongs to a row."""
    if labels and rows and found.n_unmatched == len(labels):
        first = next(iter(labels))
        raise ParamError.of(CALL, "labels", "labels of these rows", first, "None of them belongs to a row here.")
    return found


class _Finder:
    """The places of the rows a record is about."""

    def __init__(self, rows: Rows) -> None:
        self.n = len(rows)
        self.by_key: defaultdict[str, list[int]] = defaultdict(list)
        self.by_task: defaultdict[str, list[int]] = defaultdict(list)
        self.turn: defaultdict[tuple[str, Any], list[int]] = defaultdict(list)
        for place, row in enumerate(rows):
            task = str(keys.task_of(row))
            self.by_key[label_key(row)].append(place)
            self.by_task[task].append(place)
            self.turn[task, turn_of(row)].append(place)

    def of_task(self, task: str, where: str) -> list[int]:
        """The place of the one row of a task."""
        places = self.by_task.get(task, [])
        if len(places) > 1:
            fix = "Give the labels a rollout_index, or one entry for each row."
            raise ParamError.of(CALL, where, "about one row", f"task {task} has {len(places)}", fix)
        return places

    def places(self, record: Mapping[str, Any], number: int) -> list[int]:
        """Where the rows stand that a record is about, none where it is about no row here."""
        if isinstance(record.get("key"), str):
            return self.by_key.get(record["key"], [])
        if keys.candidate_of(record) is not None:
            return self.by_key.get(label_key(record), [])
        task = named_task(record)
        if task is not None:
            turn = turn_of(record)
            return self.turn.get((task, turn), []) if turn is not None else self.of_task(task, f"labels[{number}]")
        index = record.get("index")
        if isinstance(index, int) and not isinstance(index, bool) and 0 <= index < self.n:
            return [index]
        raise ParamError.of(CALL, f"labels[{number}]", "a record that names its row by key, task_id or index", record)


def _binary(value: Any, where: str) -> int | None:
    if keys.is_missing(value) or (isinstance(value, str) and value.strip().casefold() in ("", "s", "skip")):
        return None
    try:
        label = as_label(value)
    except ValueError:
        label = None
    if label not in (0, 1):
        raise ParamError.of(CALL, where, _VERDICT, value)
    return int(label)
