"""`wai.load_traces`: conversations in any shape -> canonical rows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from whileai.readers.containers import not_a_row, sources
from whileai.readers.logs.tally import Counts, reader_notes
from whileai.result import Block, Headline, Line, Note, Reported, Result, noted
from whileai.result.digits import count

#: What a reading counts besides shapes: code -> what it means.
ODDITIES = {
    "arguments_kept_as_text": "{n} of a tool had arguments that are no JSON; they are kept as text.",
    "call_without_result": "{n} of a tool got no result.",
    "result_without_call": "{n} of a tool answered no call; each is a step without arguments.",
    "call_unread": "{n} of a tool named no tool and stayed in the messages only.",
    "item_without_turn": "{n} was no turn; each is kept as a turn of its own type.",
}
NOUNS = {"result_without_call": "result", "item_without_turn": "item"}
#: Shape of a row without a dialect -> the key that tells it, the surest first.
TELLS = (
    ("ours", "schema_version"),
    ("platform", "tool_trace"),
    ("telemetry", "conversation_id"),
    ("columns", "messages_json"),
    ("columns", "steps_json"),
    ("engine", "scenario_id"),
    ("messages", "messages"),
)
DIALECTS = ("exchange", "sharegpt", "responses", "blocks")
SHAPES = ("ours", "engine", "platform", "telemetry", "columns", "messages", *DIALECTS, "loose")
SUFFIX = "_json"


@dataclass(frozen=True, repr=False)
class TraceReport(Result):
    """What `load_traces` read.

    Attributes
    ----------
    n_read, n_rows : int
        Entries of the source, and the rows made of them.
    shapes : dict of str to int
        Rows of each shape: ``ours``, ``engine``, ``platform``, ``telemetry``, ``columns``, ``messages``, ``exchange``
        (a request beside its response, or a prompt beside its completion), ``sharegpt``, ``responses``, ``blocks``
        (content blocks with tool use) or ``loose``.
    dropped : dict of str to int
        Entries left out, by reason: ``no_conversation``, an entry without a prompt, a turn, a step and a reply.
    odd : dict of str to int
        What was kept and could not be read as it was meant: ``arguments_kept_as_text``, ``call_without_result``,
        ``result_without_call``, ``call_unread``, ``item_without_turn``.
    notes : tuple of Note
    """

    n_read: int
    n_rows: int
    shapes: dict[str, int] = field(default_factory=dict)
    dropped: dict[str, int] = field(default_factory=dict)
    odd: dict[str, int] = field(default_factory=dict)
    notes: tuple[Note, ...] = field(default=(), init=False)

    def __post_init__(self) -> None:
        notes = [
            Note(code, ODDITIES[code].format(n=count(n, NOUNS.get(code, "call")))) for code, n in self.odd.items() if n
        ]
        if not self.n_read:
            notes.append(Note("no_rows", "there is nothing in the source."))
        object.__setattr__(self, "notes", tuple(notes))

    def _blocks(self) -> list[Block]:
        head = f"read {count(self.n_rows, 'row')} of {count(self.n_read, 'entry', 'entries')}"
        if self.shapes:
            head += f": {' | '.join(f'{name} {n:,}' for name, n in self.shapes.items())}"
        blocks: list[Block] = [Headline(head)]
        if self.dropped:
            blocks.append(Line(" | ".join(f"dropped {name} {n:,}" for name, n in self.dropped.items())))
        return [*blocks, *self.notes]


class Traces(Reported[TraceReport]):
    """Canonical rows: a list that goes into every other call.

    Attributes
    ----------
    report : TraceReport
        Which shapes were met, and what was left out or kept as text.
    """


def load_traces(source: Any) -> Traces:
    """Canonical rows of conversations in any shape.

    Parameters
    ----------
    source : rows
        Anything that counts as data: a list of dicts, a file or glob, a frame. Its entries may be rows of ours, from
        the engine, training rows (``messages``), pulls from a platform (``tool_trace``), ingested telemetry
        (``conversation_id``), flat rows with ``*_json`` columns, ShareGPT (``conversations``), response items
        (``input`` and ``output``), turns of content blocks with ``tool_use`` and ``tool_result``, a request beside its
        response, or a prompt beside the turns of its ``completion``. Shapes may be mixed.

    Returns
    -------
    Traces
        A list of stamped rows, in the order they came, with a ``.report``. Rows of ours come back as they are. Turns
        and calls keep their order; what a tool was called with and answered is in ``steps`` too. Keys that nobody knows
        stay.

    Raises
    ------
    TypeError
        A source that is no data, or an entry that is no dict.
    FileNotFoundError
        A path that names no file.
    RowError
        A broken line in a file.

    Examples
    --------
    >>> import whileai as wai
    >>> turns = [{"from": "human", "value": "2 + 3?"}, {"from": "gpt", "value": "5"}]
    >>> rows = wai.load_traces([{"conversations": turns}])
    >>> rows[0]["prompt"], rows[0]["final_text"]
    ('2 + 3?', '5')
    >>> print(rows)
    read 1 row of 1 entry: sharegpt 1
    """
    from whileai.simulations._from_row import read_row
    from whileai.simulations._to_row import to_row

    seen: Counter[str] = Counter()
    shapes: Counter[str] = Counter()
    dropped: Counter[str] = Counter()
    rows: list[dict[str, Any]] = []
    n_read = 0
    counts = Counts()
    for entry in _entries(source, counts):
        n_read += 1
        met: Counter[str] = Counter()
        shape = next((name for name, key in TELLS if entry.get(key) is not None), "loose")
        row = to_row(*read_row(_unpacked(entry), met))
        if not (row.get("prompt") or row.get("messages") or row.get("steps") or row.get("final_text")):
            dropped["no_conversation"] += 1
            continue
        dialect = next((name for name in DIALECTS if met.pop(name, 0)), None)
        shapes[dialect if dialect and shape in ("loose", "messages") else shape] += 1
        seen.update(met)
        rows.append(row)
    report = TraceReport(
        n_read,
        len(rows),
        {name: shapes[name] for name in SHAPES if shapes[name]},
        {name: n for name, n in dropped.items() if n},
        {name: seen[name] for name in ODDITIES if seen[name]},
    )
    return Traces(rows, noted(report, reader_notes(counts.tally())))


def _entries(source: Any, counts: Counts) -> Iterator[dict[str, Any]]:
    for name, rows in sources(source, "load_traces", "source", counts=counts):
        for index, entry in enumerate(rows):
            if not hasattr(entry, "keys"):
                raise not_a_row("load_traces", name, index, entry)
            yield entry if isinstance(entry, dict) else dict(entry)


def _unpacked(entry: dict[str, Any]) -> dict[str, Any]:
    """An entry with ``*_json`` columns as the row it was: their JSON read, and cells that only other rows fill gone."""
    packed = {key for key in entry if isinstance(key, str) and key.endswith(SUFFIX) and len(key) > len(SUFFIX)}
    if not packed or entry.get("schema_version") is not None:
        return entry
    row: dict[str, Any] = {}
    for key, value in entry.items():
        if value is None:
            continue
        name = key.removesuffix(SUFFIX) if key in packed else key
        found = _decoded(value) if key in packed and entry.get(name) is None else None
        row[key if found is None else name] = value if found is None else found
    markers = row.get("markers")
    if isinstance(markers, dict):
        row["markers"] = {name: value for name, value in markers.items() if value is not None}
    return row


def _decoded(text: Any) -> Any:
    """What a JSON text holds, ``None`` where it is none."""
    try:
        return json.loads(text) if isinstance(text, str) else None
    except (RecursionError, ValueError):
        return None
