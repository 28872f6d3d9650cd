"""Which task each row belongs to, and what that says of its ids and prompts."""

from __future__ import annotations

import math
import numbers
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import count, islice, repeat
from operator import contains, eq, itemgetter
from typing import TYPE_CHECKING, Any
from uuid import UUID

from whileai import keys
from whileai.table.prompts import Prompts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Characters of prompts that are kept as they are. Beyond, a code stands for each if they are `LONG` on average: to
#: hash short ones, row by row, costs time for little memory. Beyond `MANY` the memory counts.
KEPT, LONG, MANY = 1 << 24, 200, 1 << 25
#: What a row is told apart by; rows with equal values here are of one task and one prompt.
IDENTITY = ("task_id", "scenario_id", "prompt")
#: What most rows are told apart by. Once prompts are digested, those stand beside the ids, not with each in a pair.
ID, PAIR = ("task_id",), ("task_id", "prompt")
_task, _scenario, _prompt = itemgetter("task_id"), itemgetter("scenario_id"), itemgetter("prompt")


class NamelessRow(Exception):
    """A row whose task cannot be named.

    Attributes
    ----------
    place : int
        Its place in the batch.
    bound, value, fix
        What its ``task_id`` must be, what stands there, and what to do.
    """

    def __init__(self, place: int, bound: str, value: Any, fix: str = "") -> None:
        super().__init__(bound)
        self.place = place
        self.bound = bound
        self.value = value
        self.fix = fix


class NotARow(Exception):
    """An item that is no mapping.

    Attributes
    ----------
    place : int
        Its place in the batch.
    """

    def __init__(self, place: int) -> None:
        super().__init__(place)
        self.place = place


@dataclass(frozen=True)
class Tasks:
    """The tasks of all rows read.

    Attributes
    ----------
    names : list of str
    codes : ndarray of int, shape (N,)
        The place of each row's task among them.
    prompts : Prompts
        The prompt of each task.
    n_id_conflicts : int
        Rows whose two ids differ.
    """

    names: list[str]
    codes: NDArray[np.int64]
    prompts: Prompts
    n_id_conflicts: int


class Digest(int):
    """The code of a prompt (`whileai.keys.prompt_code`), in its place where prompts would fill the memory."""

    __slots__ = ()


def _digest(prompt: Any) -> Any:
    """The digest of a text; anything else as it is."""
    return Digest(keys.prompt_code(prompt)) if isinstance(prompt, str) else prompt


class _Beside:
    """The prompts of identities that do not hold them: the lowest and the highest code of each identity's."""

    def __init__(self) -> None:
        import numpy as np

        self.low = self.high = np.zeros(0, dtype=np.int64)

    def add(self, codes: NDArray[np.int64], prompts: Iterable[str]) -> None:
        """The prompts of some rows; `codes` are the numbers of their identities."""
        import numpy as np

        self.grow(int(codes.max(initial=-1)) + 1)
        seen = np.fromiter(map(keys.prompt_code, prompts), dtype=np.int64, count=len(codes))
        np.minimum.at(self.low, codes, seen)
        np.maximum.at(self.high, codes, seen)

    def grow(self, size: int) -> None:
        """Make room for `size` identities."""
        import numpy as np

        more = max(size - len(self.low), 0) and max(size, 2 * len(self.low)) - len(self.low)
        self.low = np.concatenate([self.low, np.full(more, np.iinfo(np.int64).max)]) if more else self.low
        self.high = np.concatenate([self.high, np.zeros(more, dtype=np.int64)]) if more else self.high

    def of(self, size: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The code of each of `size` identities' prompt, 0 without one, and whether it has several."""
        self.grow(size)
        return self.high[:size], self.low[:size] < self.high[:size]


class TaskReader:
    """Numbers the distinct identities of rows; what they mean is worked out once for each, not once a row.

    Attributes
    ----------
    streamed : bool
        Whether the rows are let go once they are read, so that their prompts are better not kept: beyond
        `KEPT` characters a code of eight bytes may stand for each.
    """

    def __init__(self) -> None:
        self.streamed = False
        self._kept = 0
        self._digested = False
        self._beside: _Beside | None = None
        self._number: Callable[[], int] = count().__next__
        self._known: dict[tuple[str, ...], defaultdict[Any, int]] = {}
        self._codes: list[NDArray[np.int64]] = []
        self._gaps = False  # whether numbers were given that stand for no identity

    def add(self, batch: Sequence[Any]) -> None:
        """Read one batch of rows.

        Raises
        ------
        NamelessRow
            The first row that has neither id nor prompt, or an id that is no text or number.
        NotARow
            The first item that is no mapping.
        """
        import numpy as np

        try:
            present = tuple(key for key in IDENTITY if key in batch[0])
            absent = (key for key in IDENTITY if key not in batch[0])
            if not present or any(any(map(contains, batch, repeat(key))) for key in absent):
                raise KeyError
            if present[:2] == IDENTITY[:2] and all(map(eq, map(_task, batch), map(_scenario, batch))):
                present = (IDENTITY[0], *present[2:])  # as every row of ours has it; one id then says as much as two
            if self._beside is not None and present == PAIR:
                self._look_up_ids(batch, self._beside)
                return
            values = map(itemgetter(*present), batch)
            self._look_up(batch, present, self._digests(present, values) if self._digested else values)
        except (KeyError, TypeError, ValueError):
            careful: Iterable[Any] = [_careful(place, row) for place, row in enumerate(batch)]
            careful = self._digests(IDENTITY, careful) if self._digested else careful
            before = len(self._known.get(IDENTITY, ()))
            self._codes.append(np.asarray(self._codes_of(IDENTITY, len(batch), careful)))
            self._count_kept(islice(reversed(self._known[IDENTITY]), len(self._known[IDENTITY]) - before))

    def _count_kept(self, fresh: Iterable[tuple[Any, Any, Any]]) -> None:
        """Count the characters of new identities' prompts, and go over to digests where they are too many."""
        if self.streamed and not self._digested:
            self._kept += sum(len(prompt) for _, _, prompt in fresh if isinstance(prompt, str))
            if self._kept > min(MANY, max(KEPT, LONG * sum(map(len, self._known.values())))):
                self._digest_known()

    def _digests(self, present: tuple[str, ...], values: Iterable[Any]) -> Iterable[Any]:
        """Identities with a digest in place of the prompt, which stands last in them where it stands at all."""
        if present[-1] != "prompt":
            return values
        if len(present) == 1:
            return map(_digest, values)
        return ((*value[:-1], _digest(value[-1])) for value in values)

    def _digest_known(self) -> None:
        """Let go of the prompts of all identities so far."""
        self._digested = True
        if ID not in self._known:
            self._put_beside(self._known.get(PAIR, {}))
        for present, known in self._known.items():
            fresh = dict(zip(self._digests(present, known), known.values(), strict=True))
            self._known[present] = defaultdict(self._number, fresh)

    def _put_beside(self, pairs: Mapping[Any, int]) -> None:
        """Take the prompts out of pairs of an id and a prompt, if both are texts and each id has one prompt so far."""
        import numpy as np

        ids = {task: code for (task, prompt), code in pairs.items() if type(task) is type(prompt) is str}
        if len(ids) == len(pairs):
            self._beside = _Beside()
            self._beside.add(np.fromiter(pairs.values(), np.int64, len(pairs)), map(itemgetter(1), pairs))
            self._known.pop(PAIR, None)
            self._known[ID] = defaultdict(self._number, ids)

    def _look_up_ids(self, batch: Sequence[Any], beside: _Beside) -> None:
        """The quick way for rows with an id and a prompt, both texts, once prompts are digested."""
        ids, prompts = list(map(_task, batch)), list(map(_prompt, batch))
        if not ({str}.issuperset(map(type, ids)) and {str}.issuperset(map(type, prompts))):
            raise KeyError
        codes = self._codes_of(ID, len(batch), ids)
        beside.add(codes, prompts)
        self._codes.append(codes)

    def _look_up(self, batch: Sequence[Any], present: tuple[str, ...], values: Iterable[Any]) -> None:
        """The quick way: every row has the same of the identity's keys, with values that can be looked up."""
        before = len(self._known.get(present, ()))
        try:
            codes = self._codes_of(present, len(batch), values)
            fresh = islice(reversed(self._known[present]), len(self._known[present]) - before)
            named = [_full(present, value) for value in fresh]
            if not all(map(_is_named, named)):
                raise KeyError
        except (KeyError, TypeError, ValueError):
            self._forget(present, before)
            raise
        self._codes.append(codes)
        self._count_kept(named)

    def _forget(self, present: tuple[str, ...], before: int) -> None:
        """Let go of what a batch was numbered by that must be read the careful way.

        What names no task there would pass for known, and so for named, in a later batch.
        """
        known = self._known[present]
        for identity in list(islice(reversed(known), len(known) - before)):
            del known[identity]
            self._gaps = True

    def _codes_of(self, present: tuple[str, ...], n: int, values: Iterable[Any]) -> NDArray[np.int64]:
        import numpy as np

        known = self._known.setdefault(present, defaultdict(self._number))
        return np.fromiter(map(known.__getitem__, values), dtype=np.int64, count=n)

    def tasks(self) -> Tasks:
        """What was read."""
        import numpy as np

        codes = np.concatenate(self._codes) if self._codes else np.zeros(0, dtype=np.int64)
        self._codes = [codes]
        identities = self._identities()
        names, scenarios, prompts = identities
        rows = np.bincount(codes, minlength=len(names))
        pairs = ((code, task, other) for code, (task, other) in enumerate(zip(names, scenarios, strict=True)))
        conflicts = [code for code, task, other in pairs if other is not None and _conflict(task, other)]
        n_id_conflicts = int(rows[conflicts].sum())
        several = np.zeros(len(names), dtype=bool)
        if self._beside is not None:
            found, several = self._beside.of(len(names))
            if self._known.keys() == {ID} and rows.all():  # ids that stand for one task each, whatever their prompts
                return Tasks(names, codes, Prompts(several, codes=np.where(several, 0, found)), n_id_conflicts)
            prompts[:] = [
                Digest(code) if code else prompt for code, prompt in zip(found.tolist(), prompts, strict=True)
            ]
        elif {str}.issuperset(map(type, names)) and len(set(names)) == len(names) and rows.all():
            texts = [prompt if isinstance(prompt, (str, Digest)) else None for prompt in prompts]
            return Tasks(names, codes, _prompts(several, texts), n_id_conflicts)
        lines, names, merged = _merged(identities, rows.tolist(), several.tolist())
        return Tasks(names, lines[codes], merged, n_id_conflicts)

    def _identities(self) -> tuple[list[Any], list[Any], list[Any]]:
        """The ids, the other ids and the prompts of every identity that was numbered, in the order of the numbers."""
        if len(self._known) == 1 and not self._gaps:
            ((present, known),) = self._known.items()
            places = [present.index(key) if key in present else None for key in IDENTITY]
            if len(present) == 1:
                columns = [[None] * len(known) if at is None else list(known) for at in places]
            else:
                columns = [[None] * len(known) if at is None else list(map(itemgetter(at), known)) for at in places]
            return columns[0], columns[1], columns[2]
        size = 1 + max((code for known in self._known.values() for code in known.values()), default=-1)
        found: tuple[list[Any], ...] = ([None] * size, [None] * size, [None] * size)
        for present, known in self._known.items():
            for value, code in known.items():
                for column, item in zip(found, _full(present, value), strict=True):
                    column[code] = item
        return found[0], found[1], found[2]


def _merged(
    identities: tuple[list[Any], list[Any], list[Any]], rows: Sequence[int], differ_within: Sequence[bool]
) -> tuple[NDArray[np.int64], list[str], Prompts]:
    """The task of each identity that has rows, and the tasks with their prompts."""
    import numpy as np

    line_of: dict[str, int] = {}
    prompts: list[Any] = []
    several: set[int] = set()
    lines = np.zeros(len(rows), dtype=np.int64)
    for code, (task, scenario, prompt) in enumerate(zip(*identities, strict=True)):
        if not rows[code]:  # numbered in a batch that was then read the careful way
            continue
        name = task if type(task) is str else _name(task, scenario, prompt)
        line = line_of.setdefault(name, len(line_of))
        lines[code] = line
        text = prompt if isinstance(prompt, (str, Digest)) else None
        if differ_within[code]:
            several.add(line)
        if line == len(prompts):
            prompts.append(text)
        elif text is not None and text != prompts[line]:
            if prompts[line] is None:
                prompts[line] = text
            else:
                several.add(line)
    differ = np.zeros(len(prompts), dtype=bool)
    differ[list(several)] = True
    return lines, list(line_of), _prompts(differ, prompts)


def _prompts(several: NDArray[np.bool_], prompts: list[Any]) -> Prompts:
    """The prompts of the tasks, each a text, a digest or ``None``."""
    import numpy as np

    if not any(type(prompt) is Digest for prompt in prompts):
        return Prompts(several, prompts)
    digests = (prompt if type(prompt) is Digest else _digest(prompt) for prompt in prompts)
    codes = np.fromiter((0 if code is None else code for code in digests), np.int64, len(prompts))
    return Prompts(several, codes=np.where(several, 0, codes))


def _full(present: tuple[str, ...], value: Any) -> tuple[Any, Any, Any]:
    """An identity with ``None`` for the keys that the rows lack."""
    if len(present) == len(IDENTITY):
        return value  # type: ignore[no-any-return]
    values = dict(zip(present, value if len(present) > 1 else (value,), strict=True))
    return values.get("task_id"), values.get("scenario_id"), values.get("prompt")


def _name(task: Any, scenario: Any, prompt: Any) -> str:
    """The name of a task from its identity."""
    for value in (task, scenario):
        if not keys.is_missing(value):
            return keys.task_name(value)
    return f"task_{prompt:015x}"[:17] if type(prompt) is Digest else keys.default_task_id(prompt)


def _is_named(identity: tuple[Any, Any, Any]) -> bool:
    """Whether an identity names a task without a look at the rest of its row."""
    task, scenario, prompt = identity
    if type(task) is str:
        return True
    for value in (task, scenario):
        if not keys.is_missing(value):
            return _is_id(value)
    return isinstance(prompt, (str, Digest))


def _careful(place: int, row: Any) -> tuple[Any, Any, str | None]:
    """The identity of one row, whatever its values are."""
    if not isinstance(row, Mapping):
        raise NotARow(place)
    task, scenario, prompt = (row.get(key) for key in IDENTITY)
    for value in (task, scenario):
        if not keys.is_missing(value):
            if not _is_id(value):
                raise NamelessRow(place, "text or a number", value)
            break
    else:
        task = keys.task_of(row)
        if task is None:
            raise NamelessRow(place, "given, or scenario_id or prompt", row.get("task_id"), "Name the task.")
    named = [None if keys.is_missing(value) or not _is_id(value) else value for value in (task, scenario)]
    return named[0], named[1], prompt if isinstance(prompt, str) else None


def _is_id(value: Any) -> bool:
    """Whether a value can name a task."""
    if isinstance(value, (str, UUID)):
        return True
    return isinstance(value, (numbers.Real, Decimal)) and not math.isnan(value)


def _conflict(task: Any, scenario: Any) -> bool:
    """Whether two ids of one row differ."""
    if task == scenario or keys.is_missing(task) or keys.is_missing(scenario):
        return False
    return keys.task_name(task) != keys.task_name(scenario)
