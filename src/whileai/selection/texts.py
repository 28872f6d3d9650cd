"""The texts of rows that are compared, and where they stood."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from whileai import keys
from whileai.errors import ParamError, sentence
from whileai.params import near_miss
from whileai.readers.containers import sources
from whileai.selection.words import key_of

CALL = "decontaminate"


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
    unread : dict
        Per field, how many rows have no text in it.
    """

    keys: list[str] = field(default_factory=list)
    originals: list[str] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    of_row: list[list[int]] = field(default_factory=list)
    unread: dict[str, int] = field(default_factory=dict)
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


def texts_of_rows(rows: Sequence[Mapping[str, Any]], fields: Sequence[str]) -> Texts:
    """The texts of the training rows; a field that is on none of them is an error."""
    found = Texts(unread=dict.fromkeys(fields, 0))
    missing = set(fields)
    for row in rows:
        missing -= {name for name in missing if has_field(row, name)}
        _add_row(found, row, fields)
    if missing and rows:
        name = next(name for name in fields if name in missing)
        known = dict.fromkeys(str(key) for row in rows[:1000] for key in row)
        raise ParamError.of(CALL, "fields", "keys on the rows", name, near_miss(name, known))
    return found


def texts_against(data: Any, fields: Sequence[str]) -> tuple[Texts, list[str | None]]:
    """The texts of what is checked against, rows or plain strings, and the task of each of its rows."""
    found = Texts(unread=dict.fromkeys(fields, 0))
    tasks: list[str | None] = []
    known: dict[str, None] = {}
    readable = False
    for source, items in sources(data, CALL, "against"):
        for index, item in enumerate(items):
            if isinstance(item, str):
                found.add([item])
                tasks.append(None)
                readable = True
            elif isinstance(item, Mapping):
                _add_row(found, item, fields)
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
    return found, tasks


def _add_row(found: Texts, row: Mapping[str, Any], fields: Sequence[str]) -> None:
    texts = []
    for name in fields:
        text = text_in(row, name)
        if text is None or not text.strip():
            found.unread[name] += 1
        else:
            texts.append(text)
    found.add(texts)


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
