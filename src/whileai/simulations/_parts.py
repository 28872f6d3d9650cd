"""The parts of which a task, a rollout and a judgment are made.

A part that stands in a row as a dict of its own has the keys that its fields name, in their order. Whatever a field
cannot hold stays in the part's ``extra`` and is written back from there: a key it does not know, a value of
another type, a key that is there and ``None``. A field that has been set wins over an ``extra`` of the same name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation.

    Attributes
    ----------
    role : str
        Who speaks: ``system``, ``user``, ``assistant``, ``tool``.
    content : object
        The text, or a list of content blocks, ``None`` where the turn has none.
    name, tool_calls, tool_call_id : str, list, str, optional
        The tool's name, the calls an assistant turn makes, and the call a tool turn answers.
    extra : dict
        Every other key of the message.
    """

    role: str = ""
    content: Any = None
    name: str | None = None
    tool_calls: list[Any] | None = None
    tool_call_id: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Step:
    """One thing that happened in an episode: the user spoke, a tool was called, or the policy answered.

    Attributes
    ----------
    user, text : str, optional
        What the user said; what the policy said.
    tool : str, optional
        The tool that was called, with its `arguments`, its `result` and the `id` of the call.
    turn : int, optional
        The turn of the policy it belongs to, from 0.
    ts : object, optional
        When, as the source says it: ISO text or a number.
    latency_ms : float, optional
        How long it took, in milliseconds.
    logprob : float, optional
        The sum of the log-probabilities of the turn's generated tokens, in nats.
    n_tokens : int, optional
        How many tokens that sum is over.
    extra : dict
        Every other key of the step.
    """

    user: str | None = None
    text: str | None = None
    tool: str | None = None
    arguments: Any = None
    result: Any = None
    id: str | None = None
    turn: int | None = None
    ts: Any = None
    latency_ms: float | None = None
    logprob: float | None = None
    n_tokens: int | None = None
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FaultEvent:
    """One failure of a tool.

    Attributes
    ----------
    tool, mode : str
        Which tool failed, and how.
    rate : float, optional
        The planned chance of the failure, in [0, 1].
    injected : bool, optional
        Whether the failure was planned and put there, rather than met.
    call : int, optional
        The place of the failed call in the episode, from 0.
    planned : bool
        Whether the event is read off the row's fault plan because the row keeps no ledger: nothing says then that it
        happened. Planned events are not written.
    extra : dict
        Every other key of the event.
    """

    tool: str = ""
    mode: str = ""
    rate: float | None = None
    injected: bool | None = None
    call: int | None = None
    planned: bool = False
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class World:
    """The world an episode is played in.

    Attributes
    ----------
    seed : int, optional
        What the world's records were drawn from.
    state : object
        Its state at the start, in any shape.
    faults : dict
        The fault plan: tool -> failure.
    """

    seed: int | None = None
    state: Any = None
    faults: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Privileged:
    """What a judge may see and a policy may not. No training export projects it.

    Attributes
    ----------
    reference : object
        The gold, one value or a list of accepted ones.
    principle, hidden_state, rubric : object
        What should be done, what is true and hidden, and how it is scored, in any shape.
    raw : object
        The whole block where it is no dict.
    extra : dict
        Every other key of the block.
    """

    reference: Any = None
    principle: Any = None
    hidden_state: Any = None
    rubric: Any = None
    raw: Any = None
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Lineage:
    """Where a task comes from.

    Attributes
    ----------
    parent_task_id : str, optional
        The task it was made from.
    transform : str, optional
        How it was made.
    seed : int, optional
        The seed of that making.
    extra : dict
        Every other key of the block.
    """

    parent_task_id: str | None = None
    transform: str | None = None
    seed: int | None = None
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PolicyRef:
    """Which policy acted.

    Attributes
    ----------
    name, model, prompt_hash, version : str
        Its name, its model, the digest of its system prompt, and the version that tells all of it apart; empty where
        unknown. On the row ``policy_name``, ``model_version``, ``prompt_hash`` and ``policy_version``.
    sampling : dict, optional
        Temperature and the like.
    """

    name: str = ""
    model: str = ""
    prompt_hash: str = ""
    version: str = ""
    sampling: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ScorerRef:
    """Who gave a verdict.

    Attributes
    ----------
    name : str
        The judge's name, ``judge_name`` on the row.
    kind : str
        What it is: ``rule``, ``program``, ``judge``, ``reward_model``, ``human`` or any other word; empty where
        unknown. ``judge_meta.scorer_kind`` on the row.
    version : str
        ``judge_meta.version`` on the row.
    label_source : str
        Where the label comes from if no judge made it, such as ``given``; ``label_source`` on the row.
    """

    name: str = ""
    kind: str = ""
    version: str = ""
    label_source: str = ""
