"""What a rollout came to: the record that a row is made of, and the notes it may leave on a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from whileai.engine.reply import Usage
from whileai.result.blocks import Note

#: What a rollout may find out about a run, by code.
NOTES = {
    "faults_unreachable": Note(
        "faults_unreachable",
        "the agent answers its own tools, so the world's failures do not reach it.",
        "Take a second argument, ctx, and call tools by ctx.call(name, **arguments).",
    ),
    "history_unseen": Note(
        "history_unseen",
        "the agent takes the message alone, so it did not see the earlier turns of a conversation.",
        "Take a second argument, ctx, and read ctx.messages.",
    ),
    "no_logprobs": Note(
        "no_logprobs",
        "log-probabilities were asked for and the model's server gave none.",
        "Ask its operator, or another server.",
    ),
    "no_logprobs_returned": Note(
        "no_logprobs",
        "log-probabilities were asked for and the agent's function returned none.",
        "Return a dict with final_text, logprob and n_tokens, or give an endpoint as the agent.",
    ),
}


@dataclass(slots=True)
class Played:
    """One rollout as it was played.

    Attributes
    ----------
    index : int
        Its place among the rollouts of its situation.
    messages, steps : list of dict
        The conversation, and the same as steps.
    final_text : str
        The last thing the agent said, as far as it came.
    stop_reason : str
        How it ended.
    usable : bool
    unusable_reason : str or None
        The stop reason where it is not usable.
    error : dict or None
        ``type`` and ``message``.
    fatal : bool
        Whether every other rollout would end the same way: no access, no money, no such model.
    finish_reason : str
        Of the last completion: ``stop``, ``length``, ``tool``, ``error``; empty where the agent does not say.
    ledger : list of dict
        The failures of tools that happened.
    hidden_state : dict
        What is true in the world and the agent cannot see.
    n_turns, n_tool_calls : int
    usage : Usage or None
        The agent's; ``None`` where a function does not say.
    person_usage : Usage
    user_model : str
    logprob : float or None
        Sum over all generated tokens; ``None`` where some turn gave none.
    n_tokens : int or None
    token_logprobs : list of float or None
    model : str
        As the server or the function names it.
    sampling : dict or None
        As it was sent.
    extra : dict
        What else a function returned.
    notes : tuple of str
        Codes of `NOTES`.
    started : str
        UTC, ISO.
    seconds : float
    """

    index: int
    messages: list[dict[str, Any]]
    steps: list[dict[str, Any]]
    final_text: str
    stop_reason: str
    usable: bool
    unusable_reason: str | None
    error: dict[str, str] | None
    fatal: bool
    finish_reason: str
    ledger: list[dict[str, Any]]
    hidden_state: dict[str, Any]
    n_turns: int
    n_tool_calls: int
    usage: Usage | None
    person_usage: Usage
    user_model: str
    logprob: float | None
    n_tokens: int | None
    token_logprobs: list[float] | None
    model: str
    sampling: dict[str, Any] | None
    extra: dict[str, Any]
    notes: tuple[str, ...]
    started: str
    seconds: float


@dataclass
class Totals:
    """What the completions of a rollout add up to."""

    usage: Usage | None = None
    logprobs: list[float | None] = field(default_factory=list)
    counts: list[int | None] = field(default_factory=list)
    tokens: list[list[float] | None] = field(default_factory=list)
    model: str = ""
    finish_reason: str = ""
    sampling: dict[str, Any] | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    def spend(self, usage: Usage | None) -> None:
        """Add what a turn says it used."""
        if usage is not None:
            self.usage = usage if self.usage is None else self.usage + usage


def all_or_none(values: list[Any]) -> list[Any] | None:
    """The values where each turn has one, else ``None``: a sum with an unknown part is unknown."""
    return values if values and all(value is not None for value in values) else None


def told(error: BaseException | None) -> dict[str, str]:
    """An error as a row keeps it."""
    if error is None:
        return {"type": "", "message": ""}
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 - an error that cannot say what it is is told by its type
        message = ""
    return {"type": type(error).__name__, "message": message[:2000]}
