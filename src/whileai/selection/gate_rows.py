"""What the gate reads of the rows: their groups, what is wrong with single ones, and what leaked into messages."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whileai import keys
from whileai.scoring.replies import prompt_text
from whileai.selection.policy import policy_of
from whileai.simulations import validate
from whileai.table.from_rows import TableBuilder

#: A privileged text shorter than this may stand in a message by chance.
LEAST_LEAK = 12
#: A turn this long may hold the gold as a passage holds the answer to a question about it.
PASSAGE = 300
#: Keys that a message must not have.
_HIDDEN_KEYS = ("privileged", "reference", "gold", "rubric", "hidden_state")
#: Two lettered choices, in a text that is folded and on one line.
_CHOICES = re.compile(r"(^|\s)[(\[]?a[).:\]]\s.*\s[(\[]?b[).:\]]\s")


@dataclass(frozen=True)
class Groups:
    """Rows in groups of one task.

    Attributes
    ----------
    rewards : list of list of float
        Per task its rewards, NaN where unjudged.
    places : list of list of int
        Per task the places of its rows.
    n_judged, n_rows : int
    """

    rewards: list[list[float]]
    places: list[list[int]]
    n_judged: int
    n_rows: int

    @property
    def mixed(self) -> list[bool]:
        """Whether the judged rewards of each task differ."""
        return [len({reward for reward in group if reward == reward}) > 1 for group in self.rewards]  # noqa: PLR0124 - NaN

    @property
    def n_passing(self) -> int:
        """Rows with a reward of 1."""
        return sum(reward == 1 for group in self.rewards for reward in group)


def groups_of(rows: Sequence[Mapping[str, Any]], call: str) -> Groups:
    """The groups of rows."""
    builder = TableBuilder(call, markers=False)
    builder.add_all(rows, "")
    names, codes, rewards = builder.columns()
    groups: list[list[float]] = [[] for _ in names]
    places: list[list[int]] = [[] for _ in names]
    for place, (code, reward) in enumerate(zip(codes.tolist(), rewards.tolist(), strict=True)):
        groups[code].append(reward)
        places[code].append(place)
    n_judged = sum(reward == reward for reward in rewards.tolist())  # noqa: PLR0124 - NaN is not equal to itself
    return Groups(groups, places, n_judged, len(rows))


def problems(rows: Sequence[Any]) -> tuple[list[Mapping[str, Any]], Counter[str], int]:
    """The rows without a problem, how often each problem occurs, and how many rows have one."""
    fine, codes = [], Counter[str]()
    for row in rows:
        found = validate(row)
        codes.update(found)
        if not found:
            fine.append(row)
    return fine, codes, len(rows) - len(fine)


def leaks(rows: Sequence[Mapping[str, Any]]) -> int:
    """Rows in whose messages something privileged stands."""
    return sum(_leaks(row) for row in rows)


def _leaks(row: Mapping[str, Any]) -> bool:
    """Whether a message has a hidden key, or a turn says what is privileged.

    The completion may say the gold: a right answer is no leak. So may a question that lists choices or holds a passage.
    The world's hidden state is met through tools, and the person knows some of it, so it is not searched for.
    """
    messages = row.get("messages")
    if not keys.is_messages(messages):
        return False
    if any(name in turn for turn in messages for name in _HIDDEN_KEYS):
        return True
    block = row.get("privileged")
    if not isinstance(block, Mapping):
        return False
    turns = [(str(turn.get("role")), _plain(keys.text_of(turn.get("content")) or "")) for turn in messages]
    for name, value in block.items():
        if name == "hidden_state":
            continue
        for secret in _texts(value):
            if name == "reference":
                said = any(secret in text and not _may_hold(role, text) for role, text in turns)
            else:
                said = any(secret in text for _, text in turns)
            if said:
                return True
    return False


def _may_hold(role: str, text: str) -> bool:
    """Whether a turn may hold the gold without giving it away."""
    if role == "assistant":
        return True
    return role == "user" and (len(text) >= PASSAGE or _CHOICES.search(text) is not None)


def _texts(value: Any) -> Iterator[str]:
    """The texts in a value that are long enough to be no coincidence."""
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, str) and len(_plain(value)) >= LEAST_LEAK:
        yield _plain(value)


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def cut_groups(rows: Sequence[Mapping[str, Any]], groups: Groups) -> tuple[int, int]:
    """Mixed groups with fewer rows than were planned, and the plan: the rows' own, else the size most groups have."""
    sizes = Counter(len(places) for places in groups.places)
    usual = max(sizes, key=lambda size: (sizes[size], size), default=0)
    n_cut = 0
    for places, mixed in zip(groups.places, groups.mixed, strict=True):
        plan = _planned(rows[places[0]]) or usual
        n_cut += mixed and len(places) < plan
    return n_cut, usual


def _planned(row: Mapping[str, Any]) -> int:
    block = row.get("allocation")
    planned = block.get("k") if isinstance(block, Mapping) else None
    return planned if isinstance(planned, int) else 0


def shares(rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How many rows are unusable, cut off, or fill rows."""
    return {
        "unusable": sum(row.get("usable") is False for row in rows),
        "truncated": sum(keys.is_cut_off(row) for row in rows),
        "fill": sum(map(keys.is_fill, rows)),
    }


def n_students(rows: Sequence[Mapping[str, Any]]) -> int:
    """How many policies made the rows."""
    return len({policy_of(row) for row in rows})


def repeated_replies(rows: Sequence[Mapping[str, Any]]) -> int:
    """Rows whose task and reply another row has too."""
    seen = Counter((keys.task_of(row), keys.candidate_of(row)) for row in rows)
    return sum(n - 1 for n in seen.values())


def prompts_of(rows: Sequence[Mapping[str, Any]], groups: Groups) -> list[str]:
    """One prompt a task, empty where it has none."""
    return [prompt_text(rows[places[0]]) for places in groups.places]


def judges(rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How many rows each judge judged; a label that no judge gave goes by its source."""
    named: defaultdict[str, int] = defaultdict(int)
    for row in rows:
        if not keys.is_missing(row.get("reward")):
            named[str(row.get("judge_name") or row.get("label_source") or "")] += 1
    return dict(named)
