"""Rows that hold k completions in lists -> k rows.

Math and RL repositories write one line a task: ``response: [...]`` beside ``score: [...]``. A list of that kind is one
of completions, and what stands beside it in lists of the same length belongs to them one by one; a message list is one
completion, and a list as gold means any of its items.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from whileai.errors import RowError
from whileai.keys import is_messages, last_text

if TYPE_CHECKING:
    from whileai.readers.logs.tally import Counts

#: Keys whose lists hold one item a completion.
SINGLE = (
    "reward", "gold_reward", "rollout_index", "judge_name", "judge_status", "reason", "finish_reason", "stop_reason",
    "truncated", "is_truncated",
)  # fmt: skip
NO_COMPLETION = "rows with an empty list of completions"


def are_completions(value: Any) -> bool:
    """Whether a value is a list of completions: texts, or message lists; a message list itself is one completion."""
    return isinstance(value, (list, tuple)) and not any(isinstance(item, Mapping) for item in value)


def one_each(
    rows: Iterable[Any],
    call: str,
    source: str,
    counts: Counts | None = None,
    named: Collection[str] = (),
    theirs: Mapping[str, str] | None = None,
) -> Iterator[Any]:
    """`rows` with every row of several completions as that many rows, the others as they are.

    Parameters
    ----------
    counts : Counts, optional
        Counts rows without any completion.
    named : collection of str
        Keys that a field map names: their lists count as completions even where ``final_text`` is no list.
    theirs : mapping of str to str, optional
        What the keys are called in the data, for errors.

    Raises
    ------
    RowError
        Two lists of a row differ in length.
    """
    single = tuple(key for key in SINGLE if key in named)
    for index, row in enumerate(rows):
        if not isinstance(row, dict):
            yield row
            continue
        text = row.get("final_text")
        several = are_completions(text)
        if several or (
            named and (any(type(row.get(key)) in (list, tuple) for key in single) or _in_blocks(row, named))
        ):
            lists = _lists(row, SINGLE if several else single, named)
            size = _size(lists, call, source, index, theirs or {})
            if not size and counts is not None:
                counts.skip(NO_COMPLETION)
            for place in range(size):
                yield _one(row, lists, place)
        else:
            yield row if text is None or type(text) is str else _with_text(row)


def _in_blocks(row: Mapping[str, Any], named: Collection[str]) -> bool:
    """Whether a marker or a piece of metadata that the map names is a list."""
    return any(
        isinstance(block := row.get(key), Mapping)
        and any(type(value) in (list, tuple) for name, value in block.items() if f"{key}.{name}" in named)
        for key in ("markers", "metadata")
    )


def _lists(row: Mapping[str, Any], single: Sequence[str], named: Collection[str]) -> dict[tuple[str, ...], Any]:
    """The lists of a row that hold one item a completion, each by its place; the completions first."""
    found: dict[tuple[str, ...], Any] = {}
    if are_completions(row.get("final_text")):
        found["final_text",] = row["final_text"]
    for key in single:
        if type(row.get(key)) in (list, tuple):
            found[key,] = row[key]
    messages, markers = row.get("messages"), row.get("markers")
    if isinstance(messages, (list, tuple)) and messages and all(isinstance(item, (list, tuple)) for item in messages):
        found["messages",] = messages
    if isinstance(markers, (list, tuple)):
        found["markers",] = markers
    for key in ("markers", "metadata"):
        block = row.get(key)
        if isinstance(block, Mapping):
            for name, value in block.items():
                if type(value) in (list, tuple) and (key == "markers" or f"{key}.{name}" in named):
                    found[key, name] = value
    return found


def _size(lists: Mapping[tuple[str, ...], Any], call: str, source: str, index: int, theirs: Mapping[str, str]) -> int:
    """How many completions the lists hold."""
    lead, *others = lists
    size = len(lists[lead])
    for place in others:
        if len(lists[place]) != size:
            first, name = (_called(at, theirs) for at in (lead, place))
            n = len(lists[place])
            where = f"{call}: {f'{source} row {index}'.lstrip()}: {name}"
            text = f"{where} must be as long as {first}, which has {size} items; got {n} items."
            raise RowError(text, index, name, lists[place])
    return size


def _called(place: tuple[str, ...], theirs: Mapping[str, str]) -> str:
    key = ".".join(place)
    return theirs.get(key, key)


def _one(row: Mapping[str, Any], lists: Mapping[tuple[str, ...], Any], place: int) -> dict[str, Any]:
    """The row of one completion."""
    one = dict(row)
    one["rollout_index"] = place
    for (key, *inside), values in lists.items():
        if inside:
            one[key] = {**one[key], inside[0]: values[place]}
        else:
            one[key] = values[place]
    if isinstance(one.get("markers"), Mapping):
        one["markers"] = {name: value for name, value in one["markers"].items() if value is not None}
    return _with_text(one)


def _with_text(row: dict[str, Any]) -> dict[str, Any]:
    """A row whose completion is a message list, with its last reply as the text."""
    reply = row.get("final_text")
    if not is_messages(reply):
        return row
    turns = row.get("messages")
    before = list(turns) if is_messages(turns) else []
    return {**row, "final_text": last_text(reply, "assistant"), "messages": [*before, *reply]}
