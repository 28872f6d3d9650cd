"""What the person in a situation knows, wants and is like. No agent sees any of it but what the person says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Brief:
    """The person's side of a situation.

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
