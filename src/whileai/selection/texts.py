"""The texts of rows that are compared, and where they stood."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from whileai import keys
from whileai.errors import ParamError, sentence
from whileai.params import near_miss
from whileai.readers.containers import sources
from whileai.readers.logs.tally import Counts, reader_notes
from whileai.result import Note
from whileai.selection.words import key_of

CALL = "decontaminate"
#: Texts that weights of words are learned from, beside the eval's: enough to know what is common.
SAMPLE = 20_000


@dataclass(slots=True)
class Texts:
    """The distinct texts of some rows.

    Attributes
    ----------
    keys : list of str
        Each distinct text as `words.key_of` writes it, in the order met.
    originals : list of str
        The first way it was written.
    rows : list of int
        The row it was first met on.
    of_row : list of list of int
        Per row, the places of its texts; empty where it has none.
    """

    keys: list[str] = field(default_factory=list)
    originals: list[str] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    of_row: list[list[int]] = field(default_factory=list)
    _places: dict[str, int] = field(default_factory=dict)
    _known: dict[str, int] = field(default_factory=dict)

    def add(self, texts: Sequence[str]) -> None:
        """The texts of the next row."""
        row = len(self.of_row)
        self.of_row.append([place for text in texts if (place := self._place(text, row)) is not None])

    def _place(self, text: str, row: int) -> int | None:
        """Where a text stands among the distinct ones, ``None`` for a blank one."""
        place = self._known.get(text)
        if place is None:
            key = key_of(text)
            if not key:
                return None
            place = self._places.setdefault(key, len(self.keys))
            if place == len(self.keys):
                self.keys.append(key)
                self.originals.append(text)
                self.rows.append(row)
            self._known[text] = place
        return place


def field_names(fields: Any) -> tuple[str, ...]:
    """The names of the fields; one string is one field."""
    names = (fields,) if isinstance(fields, str) else fields
    if isinstance(names, (list, tuple)) and names and all(isinstance(name, str) and name for name in names):
        return tuple(dict.fromkeys(names))
    raise ParamError.of(CALL, "fields", "a name or a list of names of keys on the rows", fields)


def texts_of_rows(rows: Sequence[Mapping[str, Any]], fields: Sequence[str]) -> tuple[list[list[str]], dict[str, int]]:
    """Per training row its texts, and per field how many rows have none in it; a field on no row is an error."""
    unread = dict.fromkeys(fields, 0)
    missing = set(fields)
    found = []
    for row in rows:
        missing -= {name for name in missing if has_field(row, name)}
        found.append(_texts_of(row, fields, unread))
    if missing and rows:
        name = next(name for name in fields if name in missing)
        known = dict.fromkeys(str(key) for row in rows[:1000] for key in row)
        raise ParamError.of(CALL, "fields", "keys on the rows", name, near_miss(name, known))
    return found, unread


def sample_of(rows: Sequence[Sequence[str]]) -> list[str]:
    """Some of the texts as `words.key_of` writes them: all of a few, else about `SAMPLE`, whatever their order."""
    step = max(1, sum(map(len, rows)) // SAMPLE)
    some = {text: None for row in rows for text in row if step == 1 or _checksum(text) % step == 0}
    return list(dict.fromkeys(key for key in map(key_of, some) if key))


def _checksum(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


def texts_against(data: Any, fields: Sequence[str]) -> tuple[Texts, list[str | None], Sequence[Note]]:
    """The texts of what is checked against, rows or plain strings; the task of each; what its reader passed over."""
    found = Texts()
    unread = dict.fromkeys(fields, 0)
    tasks: list[str | None] = []
    known: dict[str, None] = {}
    readable = False
    counts = Counts()
    for source, items in sources(data, CALL, "against", counts=counts):
        for index, item in enumerate(items):
            if isinstance(item, str):
                found.add([item])
                tasks.append(None)
                readable = True
            elif isinstance(item, Mapping):
                found.add(_texts_of(item, fields, unread))
                tasks.append(keys.task_of(item))
                readable = readable or any(has_field(item, name) for name in fields)
                if len(tasks) <= 1000:
                    known.update(dict.fromkeys(map(str, item)))
            else:
                raise TypeError(sentence(CALL, f"{source} row {index}", "a dict or a string, in a list", item))
    if tasks and not readable:
        shown = fields[0] if len(fields) == 1 else tuple(fields)
        bound = "keys of the rows in against too"
        raise ParamError.of(CALL, "fields", bound, shown, f"{near_miss(fields[0], known)} Plain strings do as well.")
    return found, tasks, reader_notes(counts.tally())


def _texts_of(row: Mapping[str, Any], fields: Sequence[str], unread: dict[str, int]) -> list[str]:
    """The texts of one row; a field without one is counted."""
    texts = []
    for name in fields:
        text = text_in(row, name)
        if text is None or not text.strip():
            unread[name] += 1
        else:
            texts.append(text)
    return texts


def has_field(row: Mapping[str, Any], name: str) -> bool:
    """Whether a field is on a row, be it empty; a row's messages are its prompt where it has no other."""
    if name in row or (name == "prompt" and "messages" in row):
        return True
    head, _, rest = name.rpartition(".")
    holder = keys.at_path(row, head) if head else None
    return (isinstance(holder, Mapping) and rest in holder) or keys.at_path(row, name) is not None


def text_in(row: Mapping[str, Any], name: str) -> str | None:
    """The text of a field, ``None`` where there is none.

    Of a message list, what the user says: a system prompt or a greeting of the assistant's stands on many rows and
    makes no two questions the same. A list without a user's turn is read whole.
    """
    value = keys.at_path(row, name)
    if name == "prompt" and keys.is_missing(value):
        value = row.get("messages")
    if hasattr(value, "tolist"):  # an array that a frame holds in a cell
        value = value.tolist()
    if keys.is_messages(value):
        turns = [turn for turn in value if turn.get("role") == "user"] or value
        return "\n".join(text for turn in turns if (text := keys.text_of(turn.get("content"))))
    return keys.text_of(value)
