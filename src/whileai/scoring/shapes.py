"""The shapes in which prompts, completions, rewards and markers arrive, read into one."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from whileai import keys
from whileai.errors import ParamError, sentence
from whileai.verify.verdict import as_reward, plain

CALL = "rows"


def sequence(value: Any, where: str, bound: str) -> list[Any]:
    """The items of any iterable but a string, bytes or a mapping; arrays and columns give Python's own values."""
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        fix = f"Put it in a list: [{where[:-1]}]." if isinstance(value, (str, Mapping)) else ""
        raise TypeError(sentence(CALL, where, bound, value, fix))
    listed = own_values(value)
    return list(listed) if isinstance(listed, Iterable) else [listed]


def own_values(value: Any) -> Any:
    """An array or a column (numpy, torch, pandas; pyarrow; polars) as Python's own lists; anything else as it is."""
    for name in ("tolist", "to_pylist", "to_list"):
        if hasattr(value, name):
            return getattr(value, name)()
    return value


def same_length(where: str, items: Sequence[Any], n: int, what: str) -> None:
    """Raise unless there is one item for each of the `n` things named by `what`."""
    if len(items) != n:
        raise ParamError(f"{CALL}: {where} must have one entry per {what}; got {len(items)} for {n} {what}s.")


def read_prompt(prompt: Any, place: int) -> tuple[str, list[Any], str]:
    """A prompt as its text, its messages and its default task id.

    Parameters
    ----------
    prompt : str or list of dict
        A string, or a message list whose last user turn is the text.
    """
    if isinstance(prompt, str):
        return prompt, [{"role": "user", "content": prompt}], keys.default_task_id(prompt)
    if keys.is_messages(prompt):
        return keys.last_user_text(prompt), list(prompt), keys.default_task_id(prompt)
    raise TypeError(sentence(CALL, f"prompts[{place}]", "a string or a list of messages", prompt))


def read_completions(entry: Any, place: int) -> list[str]:
    """The completions of one prompt as texts.

    An entry is one completion (a string or a message) or a sequence of them, each of which may also be a conversation
    that ends in the completion.
    """
    where = f"completions[{place}]"
    if isinstance(entry, (str, Mapping)):
        return [_completion(entry, where)]
    entry = own_values(entry)
    if isinstance(entry, (list, tuple)) or (isinstance(entry, Iterable) and not isinstance(entry, bytes)):
        return [_completion(item, f"{where}[{j}]") for j, item in enumerate(entry)]
    raise TypeError(sentence(CALL, where, "a string, a message or a sequence of them", entry))


def _completion(item: Any, where: str) -> str:
    """One completion as its text."""
    if isinstance(item, str):
        return item
    turn = item[-1] if isinstance(item, (list, tuple)) and item else item
    text = keys.text_of(turn.get("content")) if isinstance(turn, Mapping) else None
    if text is None:
        raise TypeError(sentence(CALL, where, "a string or a message", item, "An empty reply is ''."))
    return text


def flat(values: Any, sizes: Sequence[int], where: str) -> list[tuple[str, Any]]:
    """Values nested like the completions, or flat, as one list with the name of each value's place."""
    outer = sequence(values, where, "nested like completions or one per completion")
    groups = [_group(item) for item in outer]
    if len(outer) == len(sizes) and all(group is not None for group in groups):
        named = []
        for i, (group, size) in enumerate(zip(groups, sizes, strict=True)):
            assert group is not None
            if len(group) != size:
                raise ParamError(
                    f"{CALL}: {where}[{i}] must have one entry per completion; got {len(group)} for {size}."
                )
            named += [(f"{where}[{i}][{j}]", value) for j, value in enumerate(group)]
        return named
    same_length(where, outer, sum(sizes), "completion")
    places = [f"{where}[{i}][{j}]" for i, size in enumerate(sizes) for j in range(size)]
    return list(zip(places, outer, strict=True))


def _group(item: Any) -> list[Any] | None:
    """The items of a nested group, ``None`` for a single value."""
    item = own_values(item)
    return list(item) if isinstance(item, (list, tuple)) else None


def given_reward(where: str, value: Any) -> int | float | None:
    """A reward given as a number, ``None`` where it is missing."""
    if keys.is_missing(value):
        return None
    reward = as_reward(value)
    if reward is None:
        fix = "Use float()." if isinstance(value, str) else "Scale it, or pass None for an unjudged row."
        raise ParamError.of(CALL, where, "a number in [0, 1]", value, fix)
    return reward


def given_markers(where: str, value: Any) -> dict[str, float]:
    """Markers of one completion as floats."""
    if keys.is_missing(value):
        return {}
    if not isinstance(value, Mapping):
        raise ParamError.of(CALL, where, "a mapping of names to numbers", value)
    markers = {}
    for name, number in value.items():
        if keys.is_missing(number):  # not measured on this completion
            continue
        read = plain(number)
        if not isinstance(read, (int, float)) or abs(read) > sys.float_info.max:
            raise ParamError.of(CALL, f"{where}[{name!r}]", "a finite number", number)
        markers[str(name)] = float(read)
    return markers
