"""The replies to label and the file of labels, to which each is appended as it is given."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from whileai import keys
from whileai.cli.failures import InputError
from whileai.measure.gold import label_key

#: What would tell an annotator what the judge said, or another annotator.
HIDDEN = ("reward", "reason", "judge_name", "judge_status", "judge_meta", "judgments", "markers", "failure_class")
HIDDEN_GOLD = (keys.GOLD_REWARD, keys.GOLD_LABELS, keys.LABEL_SAMPLING)


def to_label(rows: Sequence[Mapping[str, Any]], show: Sequence[str]) -> list[Mapping[str, Any]]:
    """The rows to label, each reply once: those that `sample_for_labels` picked where it picked any, else all.

    Raises
    ------
    InputError
        A key to show that no row has, or that would tell the verdict.
    """
    for path in show:
        if path.partition(".")[0] in (*HIDDEN, *HIDDEN_GOLD):
            raise InputError(f"--show must be a key that does not tell the verdict; got {path!r}.")
        if rows and not any(keys.has_path(row, path) for row in rows):
            raise InputError(f"--show must be a key of the rows; got {path!r}.")
    picked = [row for row in rows if isinstance(row.get(keys.LABEL_SAMPLING), Mapping)]
    return list({label_key(row): row for row in reversed(picked or rows)}.values())[::-1]


class Store:
    """Labels of one annotator, in a file that may hold those of others.

    Parameters
    ----------
    path : str
    annotator : str
    queue : sequence of mapping
        The rows to label, in order.
    """

    def __init__(self, path: str, annotator: str, queue: Sequence[Mapping[str, Any]]) -> None:
        self.path = Path(path)
        self.annotator = annotator
        self.queue = list(queue)
        self.keys = [label_key(row) for row in self.queue]
        #: key -> 1, 0, or ``None`` where it was skipped.
        self.done: dict[str, int | None] = {}
        self.given: list[int] = []

    def __enter__(self) -> Self:
        whole = self._read()
        try:
            self._file = self.path.open("ab")  # a line goes to the end, though another session may be writing there too
            if self._file.tell() > whole:
                self._file.truncate(whole)  # the torn last line of a session that was killed
        except OSError as error:
            raise InputError(f"--output must be a file that can be written; got {str(self.path)!r}.") from error
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def _read(self) -> int:
        """Take over what this annotator has said before; how many bytes of the file are whole lines."""
        if not self.path.exists():
            return 0
        whole = 0
        mine = set(self.keys)
        for number, line in enumerate(self.path.read_bytes().splitlines(keepends=True)):
            if not line.endswith(b"\n"):
                break
            try:
                record = json.loads(line)
                key, label = record["key"], record["label"]
            except (ValueError, KeyError, TypeError):
                text = "--output must be a new file, or the labels of an earlier session"
                raise InputError(f"{text}; {str(self.path)!r} line {number + 1} is none.") from None
            whole += len(line)
            if record.get("annotator") == self.annotator and key in mine:
                if record.get("undone"):
                    self.done.pop(key, None)
                else:
                    self.done[key] = label
        return whole

    @property
    def n_labeled(self) -> int:
        """Replies with a label."""
        return sum(label is not None for label in self.done.values())

    @property
    def n_skipped(self) -> int:
        """Replies that were skipped."""
        return len(self.done) - self.n_labeled

    @property
    def n_left(self) -> int:
        """Replies neither labelled nor skipped."""
        return len(self.queue) - len(self.done)

    def next(self) -> int | None:
        """The place of the next reply, ``None`` where all are done."""
        return next((place for place, key in enumerate(self.keys) if key not in self.done), None)

    def put(self, place: int, label: int | None) -> None:
        """One label, or a skip, on disk before this returns."""
        self.done[self.keys[place]] = label
        self.given.append(place)
        self._append(place, label)

    def undo(self) -> bool:
        """Take the last label of this sitting back; whether there was one."""
        if not self.given:
            return False
        place = self.given.pop()
        self.done.pop(self.keys[place], None)
        self._append(place, None, undone=True)
        return True

    def _append(self, place: int, label: int | None, *, undone: bool = False) -> None:
        row = self.queue[place]
        record: dict[str, Any] = {"key": self.keys[place], "label": label, "annotator": self.annotator}
        if undone:
            record["undone"] = True
        task = keys.task_of(row)
        if task is not None:
            record["task_id"] = task
        picked = row.get(keys.LABEL_SAMPLING)
        if isinstance(picked, Mapping):
            record[keys.LABEL_SAMPLING] = dict(picked)
        text = json.dumps(record, ensure_ascii=True, default=str)
        self._file.write(f"{text}\n".encode())
        self._file.flush()
        os.fsync(self._file.fileno())
