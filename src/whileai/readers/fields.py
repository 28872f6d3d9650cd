"""``fields=``: what the keys of a row are called in somebody else's data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from whileai import keys
from whileai.errors import ParamError
from whileai.params import near_miss
from whileai.readers.completions import one_each

if TYPE_CHECKING:
    from whileai.readers.logs.tally import Counts

#: Names of ours that a map may give, beside ``marker:<name>`` and ``metadata.<name>``.
OURS = (
    "task_id", "scenario_id", "prompt", "messages", "final_text", "reward", "reference", "markers", "rollout_index",
    "gold_reward", "judge_name", "judge_status", "reason", "finish_reason", "truncated", "steps", "model",
)  # fmt: skip
NUMBERS = frozenset({"reward", "gold_reward", "rollout_index", "truncated"})
STRUCTURED = frozenset({"messages", "markers", "steps"})
#: Rows looked at for the names that an error offers.
LOOKED_AT = 100


class Fields:
    """A map of our names to theirs.

    Parameters
    ----------
    call : str
        For errors.
    fields : mapping of str to str
        Ours to theirs; theirs may be a dotted path, and a literal key with a dot wins over a path.

    Raises
    ------
    ParamError
        A name of ours that no row has, with the near miss; or a value that is no name.
    """

    def __init__(self, call: str, fields: Any) -> None:
        if not isinstance(fields, Mapping):
            fix = "Write fields={'prompt': 'question'}: our name, then the data's."
            raise ParamError.of(call, "fields", "a mapping of names", fields, fix)
        self.call = call
        self.map: dict[str, str] = {}
        for ours, theirs in fields.items():
            if not isinstance(theirs, str) or not theirs:
                raise ParamError.of(call, f"fields[{ours!r}]", "the name of a column", theirs)
            self.map[_known(call, ours)] = theirs
        if "markers" in self.map:  # before the single markers, which go into it
            self.map = {"markers": self.map["markers"], **self.map}
        taken = set(self.map.values())
        self._moved = taken - set(self.map)
        self._unseen = dict.fromkeys(taken)
        self._names: dict[str, None] = {}
        self._rows = 0
        self._theirs = {ours.replace("marker:", "markers.", 1): theirs for ours, theirs in self.map.items()}

    @property
    def heads(self) -> frozenset[str]:
        """The columns that the map reads."""
        return frozenset(theirs.partition(".")[0] for theirs in self.map.values()) | set(self.map.values())

    @property
    def numbers(self) -> frozenset[str]:
        """The columns that hold numbers."""
        return frozenset(them for us, them in self.map.items() if us in NUMBERS or us.startswith("marker:"))

    @property
    def structured(self) -> frozenset[str]:
        """The columns that hold JSON where the file has only text."""
        return frozenset(them for us, them in self.map.items() if us in STRUCTURED)

    def rows(self, rows: Iterable[Any], source: str, counts: Counts | None = None) -> Iterator[Any]:
        """`rows` under our names, one completion each."""
        renamed = (self._row(row) if isinstance(row, Mapping) else row for row in rows)
        return one_each(renamed, self.call, source, counts, frozenset(self._theirs), self._theirs)

    def check(self) -> None:
        """Raise `ParamError` for a name of theirs that stood in no row that was read."""
        if self._rows and self._unseen:
            self.blame(next(iter(self._unseen)), self._names)

    def blame(self, theirs: str, names: Iterable[str]) -> NoReturn:
        """The error of a name that is no column."""
        ours = next(us for us, them in self.map.items() if them == theirs)
        raise ParamError.of(self.call, f"fields[{ours!r}]", "a column of the data", theirs, near_miss(theirs, names))

    def _row(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """One row under our names; what the map does not name stays as it is."""
        self._rows += 1
        if self._unseen:
            self._look(row)
        found = {ours: keys.at_path(row, theirs) for ours, theirs in self.map.items()}
        new = {key: value for key, value in row.items() if key not in self._moved}
        for ours, value in found.items():
            kind, _, name = ours.partition(":") if ours.startswith("marker:") else ours.partition(".")
            if ours == "reference":
                if not keys.is_missing(value):
                    new["privileged"] = {**(new.get("privileged") or {}), "reference": value}
            elif name:
                block = "markers" if kind == "marker" else kind
                if not (kind == "marker" and keys.is_missing(value)):
                    new[block] = {**(new.get(block) or {}), name: value}
            elif ours == "prompt":
                _put_prompt(new, value)
            elif ours == "final_text" and isinstance(value, (int, float)) and not keys.is_missing(value):
                new[ours] = str(value)
            else:
                new[ours] = value
        return new

    def _look(self, row: Mapping[str, Any]) -> None:
        """Note which columns are there."""
        for name in [name for name in self._unseen if keys.has_path(row, name) or keys.at_path(row, name) is not None]:
            del self._unseen[name]
        if self._unseen and self._rows <= LOOKED_AT:
            for key, value in row.items():
                self._names[str(key)] = None
                if isinstance(value, Mapping):
                    self._names.update(dict.fromkeys(f"{key}.{name}" for name in value))


def _known(call: str, ours: Any) -> str:
    """A name of ours, else an error with the near miss."""
    if isinstance(ours, str):
        if ours in OURS or (ours.startswith(("marker:", "metadata.")) and not ours.endswith((":", "."))):
            return ours
        if ours == "privileged.reference":
            return "reference"
        if ours.startswith("markers.") and ours != "markers.":
            return f"marker:{ours.removeprefix('markers.')}"
    fix = near_miss(ours, [*OURS, "marker:<name>", "metadata.<name>"])
    raise ParamError.of(call, "fields", "a map of our names to the data's", ours, fix)


def _put_prompt(row: dict[str, Any], prompt: Any) -> None:
    """A prompt; of a message list the last user turn, with the list kept and the task named after all of it."""
    if not keys.is_messages(prompt):
        row["prompt"] = prompt
        return
    if not any("role" in turn for turn in prompt):
        row["prompt"] = keys.text_of(prompt)  # blocks of content
        return
    if all(keys.is_missing(row.get(key)) for key in ("task_id", "scenario_id")):
        alone = prompt[0] if len(prompt) == 1 and prompt[0].get("role") == "user" else {}
        row["task_id"] = keys.default_task_id(keys.text_of(alone.get("content")) or prompt)
    row["prompt"] = keys.last_user_text(prompt)
    if keys.is_missing(row.get("messages")):
        row["messages"] = list(prompt)
