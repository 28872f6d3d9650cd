"""Rows -> cleaned rows and episodes, one after the other."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from whileai import keys
from whileai.errors import RowError
from whileai.export.episodes import Episode, episode_of, tool_schemas
from whileai.export.public import Secrets, is_privileged, public_label, public_row, secrets_of
from whileai.simulations._shapes import is_stamped
from whileai.simulations._wire import is_reward, task_id_of
from whileai.simulations.schema import from_row, to_row


@dataclass
class Source:
    """The rows that are to leave.

    Attributes
    ----------
    rows : sequence of dict
        In any shape; each is brought to canonical form when its turn comes, so that no second copy of all is held.
    secrets : dict of str to Secrets
        By task.
    system_prompt, tools
        What the policy was told and had, where the rows do not say.
    withheld : Counter
        Rows from which something was withheld, by key.
    """

    call: str
    rows: Sequence[dict[str, Any]]
    secrets: dict[str, Secrets]
    system_prompt: str | None = None
    tools: list[dict[str, Any]] = field(default_factory=list)
    withheld: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(
        cls,
        call: str,
        rows: Sequence[dict[str, Any]],
        *,
        include_reference: bool = False,
        system_prompt: str | None = None,
        tools: Any = None,
    ) -> Source:
        """The source of rows in any shape; stamped rows are taken as they are."""
        private = ((_task_of(row), row) for row in rows if any(map(is_privileged, row)))
        secrets = secrets_of(private, include_reference=include_reference)
        return cls(call, rows, secrets, system_prompt, tool_schemas(tools))

    def cleaned(self) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Every row in canonical form, and without what may not leave."""
        for row in self.rows:
            known = row if is_stamped(row) else to_row(*from_row(row))
            yield known, self._public(known)

    def _public(self, row: dict[str, Any]) -> dict[str, Any]:
        return public_row(row, self.secrets.get(task_id_of(row)), self.withheld)

    def episodes(self, *, judged: bool = False) -> Iterator[tuple[dict[str, Any], Episode]]:
        """Every row in canonical form, and its episode.

        Parameters
        ----------
        judged : bool
            Whether rewards are read, so that one which is no number in [0, 1] is an error.
        """
        for index, given in enumerate(self.rows):
            task, rollout, judgments, markers = from_row(given)
            row = given if is_stamped(given) else to_row(task, rollout, judgments, markers)
            reward = row.get("reward")
            if judged and not keys.is_missing(reward) and not is_reward(reward):
                raise RowError.of(self.call, "rows", index, "reward", "a number in [0, 1]", reward)
            verdict = judgments[0].reward if judgments else None
            yield (
                row,
                episode_of(
                    self._public(row),
                    task,
                    rollout,
                    None if verdict is None else float(verdict),
                    task_id=public_label(task.task_id, self.secrets.get(task.task_id)),
                    system_prompt=self.system_prompt,
                    tools=self.tools,
                ),
            )


def _task_of(row: dict[str, Any]) -> str:
    """The task of a row in any shape, as its canonical form names it."""
    named = is_stamped(row) or not all(keys.is_missing(row.get(key)) for key in ("task_id", "scenario_id"))
    return task_id_of(row) if named else from_row(row)[0].task_id


def gold_text(row: Mapping[str, Any]) -> str | None:
    """The gold of a row as one text: itself, the only one of a list, else the JSON of what it is."""
    gold = keys.reference_of(row)
    if hasattr(gold, "tolist"):
        gold = gold.tolist()
    if isinstance(gold, (list, tuple)) and len(gold) == 1:
        gold = gold[0]
    if gold is None or isinstance(gold, str):
        return gold
    return json.dumps(gold, ensure_ascii=False, default=str)
