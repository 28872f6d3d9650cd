"""Gold on rows: reading it, what each labelled row stands for, and the name by which a label finds its row again."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from whileai import keys, params
from whileai.errors import ParamError, RowError
from whileai.result import Note
from whileai.stats.corrected import Labelled, label_shift
from whileai.table.from_rows import REWARD_BOUND, as_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: What a person may write for a verdict.
PASS_WORDS = frozenset({"pass", "passed", "passes", "correct", "right", "true", "yes", "p", "y"})
FAIL_WORDS = frozenset({"fail", "failed", "fails", "incorrect", "wrong", "false", "no", "f", "n"})
#: Standard errors between the judge's rate on labelled and on all rows that chance does not explain.
_SHIFTED = 4.0
#: Rows whose keys a near miss is looked for in.
_NAMED = 50


@dataclass(frozen=True)
class Gold:
    """The gold of some rows.

    Attributes
    ----------
    values : float array, shape (rows,)
        In [0, 1]; NaN where a row has none.
    kinds : tuple of str
        Who gave it, as far as the rows say.
    """

    values: NDArray[Any]
    kinds: tuple[str, ...] = ()


def _word(text: str) -> str:
    """A text as the words for a verdict are written."""
    return text.strip().strip(".!").casefold()


def _is_word(text: str) -> bool:
    """Whether a text is a word for a verdict."""
    return _word(text) in PASS_WORDS or _word(text) in FAIL_WORDS


def as_label(value: Any) -> float | None:
    """A verdict as a number in [0, 1], from a bool, a number or a word for it; ``None`` for any other text.

    Raises
    ------
    ValueError
        A number outside [0, 1], or what is neither number nor text.
    """
    if isinstance(value, str):
        word = _word(value)
        if word in PASS_WORDS:
            return 1.0
        if word in FAIL_WORDS:
            return 0.0
        try:
            number: float | None = float(word)
        except ValueError:
            return None
    else:
        number = as_number(value)
    if number is None or not 0.0 <= number <= 1.0:
        raise ValueError
    return number


def read_gold(rows: Sequence[Mapping[str, Any]], call: str, key: str, source: str = "") -> Gold:
    """The gold of every row under a key (a dotted path).

    Raises
    ------
    ParamError
        No row has the key, unless it is the usual one.
    RowError
        A gold that is no number in [0, 1] and no word for a verdict: a digit in quotes may be anything.
    """
    import numpy as np

    if not isinstance(key, str):
        raise ParamError.of(call, "gold", "a key of the rows", key)
    values = np.full(len(rows), math.nan)
    for index, row in enumerate(rows):
        value = keys.at_path(row, key)
        if keys.is_missing(value) or (isinstance(value, str) and not value.strip()):
            continue
        try:
            label = None if isinstance(value, str) and not _is_word(value) else as_label(value)
        except ValueError:
            label = None
        if label is None:
            fix = "Write 1 or 0, true or false, pass or fail; leave it out where there is no gold."
            raise RowError.of(call, source, index, key, REWARD_BOUND, value, fix)
        values[index] = label
    if rows and key != keys.GOLD_REWARD and not any(keys.has_path(row, key) for row in rows):
        names = sorted({str(name) for row in rows[:_NAMED] for name in row})
        raise ParamError.of(call, "gold", "a key of the rows", key, params.near_miss(key, names))
    kinds = {str(row[keys.GOLD_KIND]) for row in rows if not keys.is_missing(row.get(keys.GOLD_KIND))}
    return Gold(values, tuple(sorted(kinds)))


def gold_notes(gold: Gold) -> list[Note]:
    """What is odd about the gold itself."""
    notes = []
    if "model" in gold.kinds:
        text = "some of the gold was given by a model, so this is agreement with another judge."
        notes.append(Note("model_gold", text, "Let people label a random part of it."))
    return notes


def shift_note(arm: Labelled, where: str = "") -> Note | None:
    """Whether the judge passes so much more or less of the labelled rows that they can be no random sample."""
    found = None if not len(arm.judge) else label_shift(arm)
    if found is None or abs(found[2]) < _SHIFTED:
        return None
    on_labels, on_all, _ = found
    text = f"the judge passes {on_labels:.2f} of the labelled rows{where} and {on_all:.2f} of all: "
    text += "they are no random sample, so what they say need not hold for the rest."
    return Note("not_random", text, "Label rows that wai.sample_for_labels(rows, n) picks.")


@dataclass(frozen=True)
class Picked:
    """How the labelled rows were picked.

    Attributes
    ----------
    weights : float array, shape (rows,), or None
        For how many rows each labelled one stands; ``None`` where the rows do not say, and a random sample is assumed.
    rest_missing : bool
        The rows that the labelled ones were picked from are not all here.
    n_unrecorded : int
        Labelled rows that do not say how they were picked, beside ones that do.
    """

    weights: NDArray[Any] | None
    rest_missing: bool = False
    n_unrecorded: int = 0


def how_picked(rows: Sequence[Mapping[str, Any]], labelled: NDArray[Any]) -> Picked:
    """For how many rows each labelled row stands, from what `wai.sample_for_labels` wrote on it.

    Rows were drawn at random within a stratum, so each of its labelled rows stands for an equal part of its population:
    what was drawn but never labelled, and what was drawn in several goes, is accounted for by counting the labels. A
    labelled row that does not say how it was picked counts as drawn in the stratum of its verdict.
    """
    import numpy as np

    places = np.flatnonzero(labelled).tolist()
    strata: dict[int, str] = {}
    population: defaultdict[str, int] = defaultdict(int)
    for place in places:
        record = rows[place].get(keys.LABEL_SAMPLING)
        size = as_number(record.get("population")) if isinstance(record, Mapping) else None
        if isinstance(record, Mapping) and size is not None and size >= 1:
            strata[place] = str(record.get("stratum"))
            population[strata[place]] = max(population[strata[place]], int(size))
    if not strata:
        return Picked(None)
    n_unrecorded = len(places) - len(strata)
    for place in places:
        if place not in strata:
            strata[place] = "all" if "all" in population else stratum_of(rows[place]) or ""
    drawn = Counter(strata.values())
    weights = np.ones(len(rows))
    for place, stratum in strata.items():
        weights[place] = max(population.get(stratum, 0), drawn[stratum]) / drawn[stratum]
    here = sum("all" in population or stratum_of(row) in population for row in rows)
    rest_missing = here < sum(population.values())
    return Picked(weights, rest_missing, n_unrecorded)


def stratum_of(row: Mapping[str, Any]) -> str | None:
    """``pass`` or ``fail``, by the verdict on the row; ``None`` without a binary one."""
    value = row.get("reward")
    number = None if keys.is_missing(value) else as_number(value)
    return {1.0: "pass", 0.0: "fail"}.get(number) if number is not None else None


def label_key(row: Mapping[str, Any]) -> str:
    """What a label belongs to: a completion of a task. Rows alike in both are one; it does not know the verdict."""
    return keys.digest(f"{keys.task_of(row)}\n{keys.candidate_of(row) or ''}")
