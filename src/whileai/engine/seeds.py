"""Openings that the caller gives: prompts kept word for word, and the situations of an earlier run, replayed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from whileai import keys
from whileai.errors import ParamError
from whileai.result import Note

CALL = "simulate"
_WHAT = "a list of prompts or of conversations, or the rows (or their path) of an earlier run"
_LISTED = "Put it into a list: seeds=[...]."


@dataclass(frozen=True, slots=True)
class Seed:
    """One opening.

    Attributes
    ----------
    prompt : str
        The last user turn.
    messages : tuple of dict
        The conversation up to it, itself included.
    row : dict or None
        The row of an earlier run that it is from, where that says in which world it was met.
    """

    prompt: str
    messages: tuple[Mapping[str, Any], ...]
    row: Mapping[str, Any] | None = None


class Openings(NamedTuple):
    """The openings, how many of them are rows that say nothing of a world, and what a reader had to say of a file."""

    seeds: list[Seed]
    n_bare: int = 0
    notes: Sequence[Note] = ()


def seeds_of(given: Any) -> Openings:
    """The openings in what the caller gave.

    Raises
    ------
    ParamError
        If it is nothing that holds openings, or one of them is empty or ends with another turn than the user's.
    FileNotFoundError
        If it is a path that is not there.
    """
    if given is None:
        return Openings([])
    entries, notes = _entries(given)
    if not entries:
        raise ParamError.of(CALL, "seeds", f"{_WHAT}, with at least one", given, "Leave seeds out for none.")
    if isinstance(entries[0], Mapping) and "role" in entries[0] and "prompt" not in entries[0]:
        raise ParamError.of(CALL, "seeds", _WHAT, given, "One conversation goes into a list of its own: seeds=[[...]].")
    if not isinstance(entries[0], Mapping):
        return Openings([_opening(f"seeds[{place}]", entry) for place, entry in enumerate(entries)])
    return Openings(*_of_rows(entries), notes)


def _entries(given: Any) -> tuple[list[Any], Sequence[Note]]:
    if isinstance(given, (str, Path)):
        path = Path(given)
        if isinstance(given, str) and ("\n" in given or not path.suffix):
            raise ParamError.of(CALL, "seeds", _WHAT, given, _LISTED)
        from whileai.readers.containers import listed

        return listed(path, CALL, "seeds")
    if isinstance(given, (bytes, Mapping)) or not isinstance(given, Iterable):
        raise ParamError.of(CALL, "seeds", _WHAT, given, _LISTED if isinstance(given, Mapping) else "")
    return list(given), ()


def _opening(where: str, entry: Any) -> Seed:
    """A prompt or a conversation as a seed."""
    if isinstance(entry, str):
        if not entry.strip():
            raise ParamError.of(CALL, where, "a prompt with text", entry)
        return Seed(entry, ({"role": "user", "content": entry},))
    if not keys.is_messages(entry):
        raise ParamError.of(CALL, where, "a prompt, or a conversation as a list of messages", entry)
    if any(turn.get("role") == "system" for turn in entry):
        raise ParamError.of(CALL, where, "a conversation without a system turn", entry, "Give it as system_prompt=.")
    last = entry[-1]
    text = keys.text_of(last.get("content"))
    if last.get("role") != "user" or not (text and text.strip()):
        raise ParamError.of(CALL, where, "a conversation that ends with what the user says", entry)
    return Seed(text, tuple(dict(turn) for turn in entry))


def _of_rows(rows: Sequence[Any]) -> tuple[list[Seed], int]:
    """The situations of rows, each once, in the order of their plan where they tell it."""
    found: dict[Any, Seed] = {}
    bare = 0
    for place, row in enumerate(rows):
        where = f"seeds[{place}]"
        if not isinstance(row, Mapping):
            raise ParamError.of(CALL, where, "a row, as the first one is", row)
        if is_planned(row):
            key: Any = row["task_id"]
            if key not in found:
                found[key] = _replayed(row)
            continue
        messages = row.get("messages")
        prompt = row.get("prompt")
        asked: Any = prompt
        if not isinstance(prompt, str) and keys.is_messages(messages):
            asked = keys.prompt_turns(messages)
        seed = _opening(f"{where}['prompt']", asked)
        key = json.dumps(list(seed.messages), sort_keys=True, default=str)
        bare += key not in found
        found.setdefault(key, seed)
    planned = list(found.values())
    if all(seed.row is not None and isinstance(_place(seed.row), int) for seed in planned):
        planned.sort(key=lambda seed: int(_place(seed.row)))
    return planned, bare


def _place(row: Mapping[str, Any] | None) -> Any:
    lineage = row.get("lineage") if row is not None else None
    place = lineage.get("situation") if isinstance(lineage, Mapping) else None
    return None if isinstance(place, bool) else place


def is_planned(row: Mapping[str, Any]) -> bool:
    """Whether a row says in which situation it was met: its task, its axes and the seed of its world."""
    seed, lineage = row.get("seed"), row.get("lineage")
    made = isinstance(lineage, Mapping) and lineage.get("transform") == "simulate"
    world = isinstance(seed, int) and not isinstance(seed, bool) and isinstance(row.get("axes"), Mapping)
    return made and world and isinstance(row.get("task_id"), str) and isinstance(row.get("prompt"), str)


def _replayed(row: Mapping[str, Any]) -> Seed:
    """The opening of a row: its messages up to the agent's first turn that is not the seed's own."""
    prompt = row["prompt"]
    opening = row.get("lineage", {}).get("opening")
    messages = row.get("messages")
    if keys.is_messages(messages) and isinstance(opening, int) and 0 < opening <= len(messages):
        return Seed(prompt, tuple(dict(turn) for turn in messages[:opening]), row)
    return Seed(prompt, ({"role": "user", "content": prompt},), row)
