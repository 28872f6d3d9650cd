"""One situation: what an agent may see of it, and what it may not."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from whileai.engine.catalog import Catalog
from whileai.engine.faults import Fault, plan_of
from whileai.engine.records import Records
from whileai.engine.tools import Tool


@dataclass(frozen=True, slots=True)
class Public:
    """All of a situation that an agent may see; whatever builds a text for an agent takes this and nothing else.

    Attributes
    ----------
    prompt : str
        What the person says first, the last user turn of a conversation that is given.
    messages : tuple of dict
        The conversation up to the agent's first turn, the prompt its last message. No system turn.
    """

    prompt: str
    messages: tuple[Mapping[str, Any], ...] = ()

    def __post_init__(self) -> None:
        if not self.messages:
            object.__setattr__(self, "messages", ({"role": "user", "content": self.prompt},))

    def conversation(self) -> list[dict[str, Any]]:
        """The messages as a list of its own, which a caller may write to."""
        copied: list[dict[str, Any]] = json.loads(json.dumps([dict(turn) for turn in self.messages]))
        return copied

    def asked(self) -> str | list[dict[str, Any]]:
        """What a task id is made of: the prompt, or the whole conversation where there is more of it."""
        return self.prompt if len(self.messages) == 1 else self.conversation()


@dataclass(frozen=True, slots=True)
class Brief:
    """The person's side of a situation. No agent sees any of it but what the person says.

    Attributes
    ----------
    goal : str
        What they want, in words without any fact: ``cancel an order``.
    stance : str
        How they are.
    facts : dict of str to object
        Parameter -> the value they would give if asked for it. What is not here they do not know.
    labels : dict of str to str
        Parameter -> how it is said: ``order ID``.
    kinds : dict of str to str
        Parameter that takes an id -> what it is the id of.
    told : tuple of str
        The parameters whose values the prompt gives.
    wrong : dict of str to object
        Of a mistaken person: parameter -> the value the prompt gives in place of the fact.
    change : dict of str to object
        Of a person who changes their mind: parameter -> the value they ask for in place of the fact; empty where they
        give up the request instead.
    state, history : str
        What is the case and what came before, for the texts a model writes.
    voice : int
        What choices of words are drawn from.
    """

    goal: str
    stance: str = "plain"
    facts: Mapping[str, Any] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    told: tuple[str, ...] = ()
    wrong: Mapping[str, Any] = field(default_factory=dict)
    change: Mapping[str, Any] = field(default_factory=dict)
    state: str = "present"
    history: str = "first_contact"
    voice: int = 0


@dataclass(frozen=True, slots=True)
class Situation:
    """One situation of a plan.

    Attributes
    ----------
    index : int
        Its place in the plan, from 0.
    task_id : str
    public : Public
        What an agent may see.
    axes : dict of str to str
        Axis -> value.
    fault : Fault or None
        The failure that is planned.
    world_seed : int
        What its records are drawn from; ``seed`` on the row.
    state : str
        What is the case in its world; ``world_state`` on the row.
    brief : Brief
        What the person knows, wants and is like.
    reference : str
        What a right answer does, in words, for a judge.
    writer : str
        Who wrote the prompt: ``template``, the name of a model, ``seed`` or ``replay``.
    phrasing : int
        Which phrasing of its point, from 0.
    lineage : dict
        Where it comes from.
    focus : tuple of str
        The tools the person needs, none where none serves.
    named : tuple of str
        Ids that a given prompt names, which the world holds for it.
    rule : str or None
        The rule of the system prompt that is at stake.
    seed_row : dict or None
        The row of an earlier run that it replays.
    """

    index: int
    task_id: str
    public: Public
    axes: Mapping[str, str]
    fault: Fault | None
    world_seed: int
    state: str
    brief: Brief
    reference: str
    writer: str = "template"
    phrasing: int = 0
    lineage: Mapping[str, Any] = field(default_factory=dict)
    focus: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    rule: str | None = None
    seed_row: Mapping[str, Any] | None = field(default=None, repr=False)

    @property
    def faults(self) -> dict[str, Any]:
        """The plan of failures as it stands on a row."""
        return plan_of(self.fault)

    def records(self, tools: Catalog | Iterable[Tool], n: int = 8) -> Records:
        """The records of its world, the same for every rollout; whoever changes them changes a copy."""
        return Records(self.world_seed, tools, self.state, n=n, focus=self.focus, named=self.named)
