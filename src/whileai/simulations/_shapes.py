"""The shapes rows come in, brought to the keys of a stamped row.

- engine rows have a ``scenario_id``;
- training rows have ``messages`` alone, or a ``prompt`` that is a message list;
- platform pulls have their steps under ``tool_trace``;
- rows ingested from OpenTelemetry have a ``conversation_id``, which names the rollout;
- flat rows have lists and dicts as JSON text in ``*_json`` columns;
- logs of other tools have a ShareGPT ``conversations`` list, response items under ``input`` and ``output``, content
  blocks with tool use in them, or a request beside its response;
- loose rows have some of the keys.

A stamped row is none of them: it is read as it is.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from whileai import keys
from whileai.simulations._dialects import to_messages
from whileai.simulations._trace import steps_of
from whileai.simulations._wire import ALWAYS, SCHEMA_VERSION, all_dicts, task_id_of

_LISTS = ("messages", "steps", "tool_trace", "ledger", "judgments", "behaviors")
_DICTS = (
    *("markers", "marker_evidence", "lineage", "judge_meta", "axes", "scenario_dimensions", "faults", "sampling"),
    *("privileged", "world_state", "calibration"),
)
#: Column -> the key it stands for and the type its JSON must have.
_COLUMNS: dict[str, tuple[str, type]] = {
    **{f"{name}_json": (name, list) for name in (*_LISTS, "prompt")},
    **{f"{name}_json": (name, dict) for name in _DICTS},
}


def is_stamped(row: dict[str, Any]) -> bool:
    """Whether a row says that it is of the version written here."""
    version = row.get("schema_version")
    return isinstance(version, str) and version == SCHEMA_VERSION


def to_v1(row: dict[str, Any], seen: Counter[str]) -> str:
    """Bring an unstamped row to the keys of a stamped one, in place, and give its task's id.

    Parameters
    ----------
    seen : Counter
        Counts what was met on the way: the dialect, and what could not be read as what it was meant to be.

    There a cell that holds ``None`` or NaN is as good as absent, and a column's array is a list. What cannot be read
    stays where it is: a column that is no JSON, a trace that is no list of dicts.
    """
    _tidy(row)
    to_messages(row, seen)
    prompt = _unfold_prompt(row)
    task_id = task_id_of(row)
    for key in ("task_id", "scenario_id"):
        if isinstance(row.get(key), (int, float)):
            row[key] = keys.task_name(row[key])
    messages = row.get("messages")
    if keys.is_messages(messages):
        prompt = prompt or keys.last_user_text(messages)
    if prompt:
        row.setdefault("prompt", prompt)
    if "final_text" not in row:
        candidate = keys.candidate_of({"messages": messages})
        if candidate is not None:
            row["final_text"] = candidate
    if all_dicts(messages) and messages and row.get("steps") in (None, []):
        steps = steps_of(messages, seen)
        if steps:
            row["steps"] = steps
    return task_id


def _tidy(row: dict[str, Any]) -> None:
    """What frames, files and platforms do to a row, undone."""
    for key in ALWAYS:
        if keys.is_missing(row.get(key)):
            row.pop(key, None)
    for key in _LISTS:
        if hasattr(row.get(key), "tolist"):
            row[key] = row[key].tolist()
    for column in _COLUMNS.keys() & row.keys():
        _decode(row, column)
    steps = row.get("steps")
    if all_dicts(row.get("tool_trace")) and (steps is None or (isinstance(steps, list) and not steps)):
        row["steps"] = row.pop("tool_trace")
    index = row.get("rollout_index")
    if isinstance(index, float) and index.is_integer():
        row["rollout_index"] = int(index)


def _decode(row: dict[str, Any], column: str) -> None:
    name, kind = _COLUMNS[column]
    text = row[column]
    if not isinstance(text, str) or not keys.is_missing(row.get(name)):
        return
    try:
        value = json.loads(text)
    except (RecursionError, ValueError):
        return
    if type(value) is kind:
        row[name] = value
        del row[column]


def _unfold_prompt(row: dict[str, Any]) -> str:
    """Turn a prompt that is a message list into the messages it opens; the text of its last user turn, else empty."""
    turns = row.get("prompt")
    if not all_dicts(turns) or not turns:
        return ""
    messages = row.get("messages")
    if keys.is_missing(messages):
        reply = row.get("final_text")
        row["messages"] = [*turns, {"role": "assistant", "content": reply}] if isinstance(reply, str) else turns
    elif not isinstance(messages, list) or messages[: len(turns)] != turns:
        return ""
    del row["prompt"]
    return keys.last_user_text(turns)
