"""What of a row may leave: everything but its privileged block, and what quotes that block.

All writers work on what comes out of here, so that a leak is not a filter somebody forgot. Three kinds of text are told
apart. What the policy was shown and what it said is data and stays as it is: a right answer is not a leak. What a judge
wrote (reasons, evidence) is searched for the gold down to a single character. Every other key is searched for longer
texts, because a short gold, ``5``, stands everywhere by accident.
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
import urllib.parse
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from numbers import Number
from typing import Any

from whileai import keys

WITHHELD = "[withheld]"
#: What the policy was shown and what it said.
TALK = frozenset({"prompt", "messages", "steps", "final_text", "system_prompt", "tools"})
#: What describes the world, the run and the policy: words that a privileged block uses too.
_WORLD = frozenset(
    {
        *("axes", "scenario_dimensions", "faults", "ledger", "world_state", "behaviors", "sampling", "allocation"),
        *("spec_id", "model_version", "policy_name", "policy_version", "prompt_hash", "user_model", "writer_model"),
        *("finish_reason", "stop_reason", "unusable_reason", "calibration", "usage", "timing", "schema_version"),
        *("judge_name", "judge_status", "label_source", "scorer_kind", "version", "markers", "failure_class"),
        *("task_id", "scenario_id", "rollout_id", "conversation_id", "seed", "logprob", "n_tokens"),
    }
)
_IDS = frozenset({"task_id", "scenario_id", "rollout_id", "conversation_id"})
#: Keys of ours, which quote nothing.
_PLAIN_KEYS = (
    TALK | _WORLD | {"reward", "reason", "judge_meta", "judgments", "marker_evidence", "lineage", "gold_reward"}
)
_JUDGED = re.compile(r"reason|judg|grader|explan|rationale|critique|feedback|evidence|comment", re.IGNORECASE)
_GOLDS = frozenset(
    {*keys.GOLD_NAMES, "gold", "gold_answer", "ground_truth", "gts", "correct_answer", "answers", "references"}
)
#: Signs of a solution, whose answer is the gold.
_STATED = re.compile(r"####|\\boxed|<answer>|\banswer\b", re.IGNORECASE)
_PRIVILEGED = re.compile(r"privileged(?:[._].*)?")
#: Characters from which on a text counts as quoted: by a judge, in any other key, where the world's words stand.
_ANY, _LONG, _LONGER = 1, 4, 8
#: Two texts that share a run of this many letters and digits, cut at half of it, quote each other.
_RUN = 16


@lru_cache(maxsize=4096)
def is_privileged(key: Any) -> bool:
    """Whether a key holds privileged content by its name: ``privileged``, or a column made of it."""
    return isinstance(key, str) and key.startswith("privileged") and _PRIVILEGED.fullmatch(key) is not None


class Secrets:
    """The texts of the privileged blocks of one task.

    Parameters
    ----------
    reference : bool
        Whether the gold is one of them; not where the caller asked for it to be written.
    """

    def __init__(self, *, reference: bool = True) -> None:
        self.reference = reference
        self.golds: set[str] = set()
        self.numbers: dict[Decimal, int] = {}  # each with how many characters it takes to write
        self.hidden: set[str] = set()
        self._golds_in: dict[tuple[str, int], bool] = {}  # texts come again and again: names, ids, reasons

    def learn(self, row: Mapping[str, Any]) -> None:
        """Take up what a row keeps privileged, under that key or in a column made of it."""
        for key, value in row.items():
            if not is_privileged(key):
                continue
            block = _decoded(value)
            blocks = block if isinstance(block, Mapping) else {key.removeprefix("privileged").strip("._"): block}
            for name, part in blocks.items():
                if name == "reference":
                    self._learn_gold(part)
                elif name == "hidden_state":
                    self.hidden.update(text for text, _ in _texts(part) if len(text) >= _LONG)
                else:  # the names of criteria are names of markers too: no more secret than the world's words
                    self.golds.update(text for text, is_key in _texts(part) if not is_key)
                    self.hidden.update(text for text, is_key in _texts(part) if is_key and len(text) >= _LONG)

    def _learn_gold(self, value: Any) -> None:
        if not self.reference:
            return
        for text, _ in _texts(value):
            self.golds |= _ways_to_say(text)
        for text in [*map(str, _numbers(value)), *(gold for gold in self.golds if len(gold) <= _LONGEST_NUMBER)]:
            number = _number_of(_fold(text))
            if number is not None:
                self.numbers[number] = len(f"{number:f}")

    def __bool__(self) -> bool:
        return bool(self.golds or self.numbers or self.hidden)

    def in_text(self, text: str, least: int, said: Iterable[str] = ()) -> bool:
        """Whether a text quotes one of them that has at least `least` characters.

        Parameters
        ----------
        said : iterable of str
            What the row says in the open: a hidden text that stands there too is no secret. It does not excuse a gold.
        """
        known = self._golds_in.get((text, least))
        if known is None:
            known = self._golds_in[text, least] = self._gold_in(text, least)
        if known or not self.hidden:
            return known
        folded, squeezed = _fold(text), _squeeze(text)
        found = [hidden for hidden in self.hidden if len(hidden) >= least and _quotes(folded, squeezed, hidden)]
        if not found:
            return False
        spoken = _fold("\n".join(said))
        return any(_fold(hidden) not in spoken for hidden in found)

    def _gold_in(self, text: str, least: int) -> bool:
        """Whether a text quotes the gold, or any other privileged text that is not hidden state."""
        golds = [gold for gold in self.golds if len(gold.strip()) >= least]
        if golds:
            folded, squeezed = _fold(text), _squeeze(text)
            if any(_quotes(folded, squeezed, gold) for gold in golds):
                return True
        written = (found[0] for found in _number.finditer(_fold(text))) if self.numbers else ()
        return any(self.is_number(part, least) for number in written for part in {number, *number.split(" ")})

    def is_number(self, value: Any, least: int) -> bool:
        """Whether a value is a gold that is a number of at least `least` characters, however it is written."""
        number = None if isinstance(value, bool) else _number_of(str(value).casefold())
        return number is not None and self.numbers.get(number, 0) >= least


def _ways_to_say(gold: str) -> set[str]:
    """A gold and what of it alone would give it away: the answer that a solution ends in, a line of a test."""
    found = {gold}
    lines = [line.strip() for line in gold.splitlines()]
    if len(lines) > 1:
        found.update(line for line in lines if len(line) >= _LONGER)
    if _STATED.search(gold):
        from whileai.verify.reading.math_text import gold_answer
        from whileai.verify.reading.stated import final_number

        number = final_number(gold)
        found.add(gold_answer(gold))
        found.update((number.text,) if number is not None else ())
    return {text for text in found if text.strip()}


def _decoded(block: Any) -> Any:
    """What a JSON text holds, any other value as it is."""
    if not isinstance(block, str):
        return block
    try:
        found = json.loads(block)
    except (RecursionError, ValueError):
        return block
    return found if isinstance(found, Mapping) else block


def _texts(value: Any, *, is_key: bool = False) -> Iterator[tuple[str, bool]]:
    """Every text in a value, however deep, and whether it is a key."""
    if isinstance(value, (bytes, bytearray)):
        value = bytes(value).decode("utf-8", "replace")
    if isinstance(value, str):
        if value.strip():
            yield value, is_key
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _texts(key, is_key=True)
            yield from _texts(item)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for item in value:
            yield from _texts(item)
    elif hasattr(value, "tolist"):
        yield from _texts(value.tolist())
    elif not (keys.is_missing(value) or isinstance(value, (bool, Number))):
        yield str(value), is_key  # a date and the like, as a file would have it


def _numbers(value: Any) -> Iterator[Any]:
    """Every number in a value, truth values left out."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, (list, tuple, set, frozenset)):
        for item in value:
            yield from _numbers(item)
    elif isinstance(value, Number) and not isinstance(value, bool) and not keys.is_missing(value):
        yield value


#: A number in a folded text: groups of three may stand apart, and a power of ten behind.
_number = re.compile(r"(?<![\w.])[-+]?\d+(?: \d{3})*(?:\.\d+)?(?:e[-+]?\d{1,3})?(?!\w)")
#: How long a text may be that is taken for one number.
_LONGEST_NUMBER = 40


def _number_of(text: str) -> Decimal | None:
    """The number that a folded text is, ``None`` where it is none."""
    if len(text) > _LONGEST_NUMBER or not _number.fullmatch(text):
        return None
    return Decimal(text.replace(" ", ""))


_escape = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([nrt])|(.))", re.DOTALL)


@lru_cache(maxsize=4096)
def _fold(text: str) -> str:
    """A text without the differences that quoting makes: escapes, case, spaces, commas inside numbers."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    if "&" in text:
        text = html.unescape(text)
    if "%" in text:
        text = urllib.parse.unquote(text)
    if "\\" in text:
        text = _escape.sub(lambda m: chr(int(m[1], 16)) if m[1] else " " if m[2] else m[3], text)
    return re.sub(r"(?<=\d),(?=\d\d\d)", "", " ".join(text.casefold().split()))


@lru_cache(maxsize=4096)
def _squeeze(text: str) -> str:
    """Only the letters and digits of a text."""
    return "".join(sign for sign in _fold(text) if sign.isalnum())


def _quotes(folded: str, squeezed: str, secret: str) -> bool:
    """Whether a text, folded and squeezed, holds a secret, or a run of one that is long."""
    if _stands_in(folded, _fold(secret)):
        return True
    short = _squeeze(secret)
    if len(short) < _RUN:
        return len(short) >= _LONGER and short in squeezed
    return any(short[start : start + _RUN] in squeezed for start in range(0, len(short) - _RUN + 1, _RUN // 2))


def _stands_in(folded: str, secret: str) -> bool:
    """Whether a text holds a folded secret; a short one in letters of ASCII as a word of its own."""
    if secret not in folded:
        return False
    if len(secret) >= _LONG or not secret.isascii() or not re.search(r"\w", secret):
        return True
    return re.search(rf"(?<!\w){re.escape(secret)}(?!\w)", folded) is not None


def secrets_of(rows: Iterable[tuple[str, Mapping[str, Any]]], *, include_reference: bool) -> dict[str, Secrets]:
    """The secrets of each task: a reason on one row may quote the gold that stands on another."""
    found: dict[str, Secrets] = {}
    for task, row in rows:
        if any(map(is_privileged, row)):
            found.setdefault(task, Secrets(reference=not include_reference)).learn(row)
    return {task: secrets for task, secrets in found.items() if secrets}


def public_label(text: str, secrets: Secrets | None) -> str:
    """An id or a name as it may leave: one that quotes a secret becomes its digest, so that it still tells apart."""
    if secrets is None or not secrets.in_text(text, _LONGER):
        return text
    return f"task_{keys.digest(text)}"


def public_row(row: Mapping[str, Any], secrets: Secrets | None, withheld: Counter[str]) -> dict[str, Any]:
    """A row without what may not leave.

    Parameters
    ----------
    secrets : Secrets or None
        Those of its task, ``None`` where it has none.
    withheld : Counter
        Counts the row under each top-level key of which something was withheld.
    """
    clean: dict[str, Any] = {}
    said: list[str] = []
    if secrets is not None and secrets.hidden:
        said = [text for key in TALK & row.keys() for text, _ in _texts(row[key])]
        said += [text for key in _WORLD & row.keys() for text, _ in _texts(row[key]) if len(text) < _RUN]
    withheld["privileged"] += any(map(is_privileged, row))
    for key, value in row.items():
        if is_privileged(key):
            continue
        if key in TALK:
            clean[key] = _own_keys_only(value) if key in ("messages", "steps") else value
        elif secrets is None:
            clean[key] = _without_blocks(value)
        else:
            sweep = _Sweep(secrets, said)
            kept = sweep.label(key, value) if key in _IDS else sweep.cleaned(value, _level(key, _LONG), key)
            if sweep.hides(key, _LONG):
                withheld["keys"] += 1
                continue
            withheld[str(key)] += sweep.found
            if not (sweep.found and key in _GOLDS):  # a mark in its place would be read as the gold
                clean[key] = kept
    return clean


def _level(key: Any, inherited: int) -> int:
    """From how many characters on a text under a key is searched for."""
    if key in _WORLD:
        return _LONGER
    if not isinstance(key, str):
        return inherited
    return _ANY if key in _GOLDS or _JUDGED.search(key) else inherited


def _own_keys_only(value: Any) -> Any:
    """Turns or steps without a block named ``privileged`` of their own; what lies deeper in them is data."""
    if not isinstance(value, list):
        return value
    return [
        {key: part for key, part in item.items() if key != "privileged"}
        if isinstance(item, dict) and "privileged" in item
        else item
        for item in value
    ]


def _without_blocks(value: Any) -> Any:
    """A value without dicts under ``privileged``, however deep."""
    if isinstance(value, Mapping):
        return {key: _without_blocks(item) for key, item in value.items() if not is_privileged(key)}
    return [_without_blocks(item) for item in value] if isinstance(value, list) else value


class _Sweep:
    """One key of a row, searched."""

    def __init__(self, secrets: Secrets, said: list[str]) -> None:
        self.secrets = secrets
        self.said = said
        self.found = False

    def hides(self, key: Any, least: int) -> bool:
        """Whether a key itself quotes a secret."""
        hidden = (
            isinstance(key, str) and key not in _PLAIN_KEYS and self.secrets.in_text(key, max(least, _LONG), self.said)
        )
        self.found |= hidden
        return hidden

    def label(self, key: str, value: Any) -> Any:
        """An id as it may leave."""
        text = public_label(value, self.secrets) if isinstance(value, str) else value
        self.found |= text != value
        return text

    def cleaned(self, value: Any, least: int, key: Any) -> Any:
        """A value with `WITHHELD` in place of every text that quotes a secret."""
        if isinstance(value, str):
            if self.secrets.in_text(value, least, self.said):
                self.found = True
                return WITHHELD
            return value
        if isinstance(value, Mapping):
            kept = {}
            for name, item in value.items():
                if is_privileged(name) or self.hides(name, least):
                    self.found = True
                    continue
                clean = self.cleaned(item, _level(name, least), name)
                if name not in _GOLDS or clean == item:  # a mark in its place would be read as the gold
                    kept[name] = clean
            return kept
        if isinstance(value, (list, tuple)):
            items = [self.cleaned(item, least, key) for item in value]
            if any(item == WITHHELD != was for item, was in zip(items, value, strict=True)):
                # one gone from among several choices would be pointed at
                return [WITHHELD if isinstance(item, str) else item for item in items]
            return items
        if self.secrets.is_number(value, _ANY if key in _GOLDS else least):
            self.found = True
            return None
        return value
