"""What is wrong with a row, as short codes; and the JSON Schema that says the same of a stamped row."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import resources
from typing import Any, Literal, get_args

from whileai import keys
from whileai.simulations._types import STATUSES, is_marker_value
from whileai.simulations._wire import SCHEMA_VERSION, is_reward, plain_number

Kind = Literal["row", "training", "preference"]
KINDS: tuple[str, ...] = get_args(Kind)

#: Key of a stamped row -> the type it must have, and that type's word in a code.
_TYPES: dict[str, tuple[Any, str]] = {
    "prompt": (str, "str"),
    "final_text": (str, "str"),
    "steps": ((list, tuple), "list"),
    "messages": ((list, tuple), "list"),
    "task_id": ((str, int, float), "str"),
    "scenario_id": ((str, int, float), "str"),
    "markers": (dict, "dict"),
}
_REQUIRED = ("prompt", "final_text", "steps")


def validate(
    row: Any,
    kind: Literal["row", "training", "preference"] = "row",
) -> list[str]:
    """Problems with one row, empty when it is fine. Never raises.

    Parameters
    ----------
    row : object
        A row, or anything else.
    kind : {"row", "training", "preference"}
        What the row is to be: a row; a training sample, which needs ``messages``; a preference pair, which needs
        ``chosen`` and ``rejected``, each a text or messages.

    Returns
    -------
    list of str
        Codes, each at most once. Of any value:

        - ``not_a_dict``; ``empty_row``, a dict without a key; ``unreadable``, a value that raises when it is looked at
        - ``unknown_kind:<kind>``

        Of a row with a ``schema_version``:

        - ``unknown_schema_version:<version>``: not ``"1"``, so nothing else is known of the row
        - ``prompt_missing``, ``prompt_not_str``, ``final_text_missing``, ``final_text_not_str``, ``steps_missing``,
          ``steps_not_list``, ``steps_item_not_dict``
        - ``messages_not_list``, ``messages_item_not_dict``
        - ``task_id_not_str``, ``scenario_id_not_str`` (a number is an id too), ``rollout_index_not_int``
        - ``reward_not_number``, ``reward_out_of_range`` (outside [0, 1]), ``reward_without_ok`` (a reward beside a
          status that says there is none), ``judge_status_unknown``
        - ``markers_not_dict``, ``markers_item_not_number``

        Of a training sample: ``messages_missing``, ``messages_not_list``, ``messages_item_not_dict``,
        ``messages_role_missing``. Of a pair: ``chosen_missing``, ``chosen_not_text``, ``rejected_missing``,
        ``rejected_not_text``.

    Notes
    -----
    A row without ``schema_version`` is version 0 and as a row only has to have a key. A reward that is ``None`` or NaN
    means unjudged, a marker not measured; both are fine.

    Examples
    --------
    >>> from whileai.simulations import schema
    >>> schema.validate({"schema_version": "1", "prompt": "q", "steps": [], "final_text": None, "reward": 7})
    ['final_text_not_str', 'reward_out_of_range']
    >>> schema.validate({"prompt": "q", "chosen": "a"}, kind="preference")
    ['rejected_missing']
    """
    try:
        return list(dict.fromkeys(_problems(row, kind)))
    except Exception:  # noqa: BLE001  (a value may raise anything when it is looked at, and that is its problem's code)
        return ["unreadable"]


def _problems(row: Any, kind: Any) -> Iterator[str]:
    if not isinstance(kind, str) or kind not in KINDS:
        yield f"unknown_kind:{_shown(kind)}"
    if not isinstance(row, dict):
        yield "not_a_dict"
        return
    plain = {key: value for key, value in dict.items(row) if isinstance(key, str)}  # past overridden methods
    if not plain and not dict.__len__(row):
        yield "empty_row"
        return
    yield from _stamped_problems(plain)
    if kind == "training":
        yield from _training_problems(plain)
    elif kind == "preference":
        for side in ("chosen", "rejected"):
            yield from _side_problems(side, plain.get(side))


def _stamped_problems(row: dict[str, Any]) -> Iterator[str]:
    version = row.get("schema_version")
    if keys.is_missing(version):
        return
    if not (isinstance(version, str) and version == SCHEMA_VERSION):
        yield f"unknown_schema_version:{_shown(version)}"
        return
    for key in _REQUIRED:
        if key not in row:
            yield f"{key}_missing"
    for key, (kind, word) in _TYPES.items():
        value = row.get(key)
        if value is None and key not in _REQUIRED:
            continue
        if key in row and (not isinstance(value, kind) or isinstance(value, bool)):
            yield f"{key}_not_{word}"
    index = row.get("rollout_index")
    if isinstance(index, bool) or not (index is None or isinstance(index, int) or _is_whole(index)):
        yield "rollout_index_not_int"
    yield from _item_problems(row)
    yield from _verdict_problems(row)


def _item_problems(row: dict[str, Any]) -> Iterator[str]:
    for key in ("steps", "messages"):
        if _has_other(row.get(key)):
            yield f"{key}_item_not_dict"
    markers = row.get("markers")
    if isinstance(markers, dict):
        values = dict.values(markers)
        if not all(keys.is_missing(value) or is_marker_value(value) for value in values):
            yield "markers_item_not_number"


def _verdict_problems(row: dict[str, Any]) -> Iterator[str]:
    reward, status = row.get("reward"), row.get("judge_status")
    judged = not keys.is_missing(reward)
    if judged and not is_reward(reward):
        yield "reward_not_number" if plain_number(reward) is None else "reward_out_of_range"
    if status is not None:
        if not isinstance(status, str) or status not in STATUSES:
            yield "judge_status_unknown"
        elif status != "ok" and judged:
            yield "reward_without_ok"


def _training_problems(row: dict[str, Any]) -> Iterator[str]:
    messages = row.get("messages")
    if _is_nothing(messages):
        yield "messages_missing"
    elif not isinstance(messages, (list, tuple)):
        yield "messages_not_list"
    elif _has_other(messages):
        yield "messages_item_not_dict"
    elif not all(isinstance(dict.get(turn, "role"), str) for turn in messages):
        yield "messages_role_missing"


def _side_problems(side: str, value: Any) -> Iterator[str]:
    if _is_nothing(value):
        yield f"{side}_missing"
    elif not isinstance(value, str) and (not isinstance(value, (list, tuple)) or _has_other(value)):
        yield f"{side}_not_text"


def _is_nothing(value: Any) -> bool:
    return keys.is_missing(value) or (isinstance(value, (str, list, tuple)) and not value)


def _has_other(value: Any) -> bool:
    """Whether a value is a list that holds something other than dicts."""
    return isinstance(value, (list, tuple)) and not all(isinstance(item, dict) for item in value)


def _is_whole(value: Any) -> bool:
    return isinstance(value, float) and value.is_integer()


def _shown(value: Any) -> str:
    """A value in a code: a short text or number in plain letters, else the name of its type."""
    if isinstance(value, (str, float)) or (isinstance(value, int) and abs(value) < 10**12):
        text = str(value)[:40]
        return "".join(sign if sign.isascii() and (sign.isalnum() or sign in "._-") else "?" for sign in text)
    return type(value).__name__


def row_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a stamped row, a fresh dict.

    It is shipped as ``row-v1.schema.json`` beside this module and agrees with `validate`: a row of JSON values that one
    of them finds fine, the other does too. Keys it does not name are allowed everywhere.

    Examples
    --------
    >>> from whileai.simulations import schema
    >>> schema.row_schema()["required"]
    ['schema_version', 'prompt', 'steps', 'final_text']
    """
    text = resources.files("whileai.simulations").joinpath("row-v1.schema.json").read_text(encoding="utf-8")
    return json.loads(text)  # type: ignore[no-any-return]  # the file holds an object
