"""One rollout and its situation -> the row, in the form that `whileai.simulations` types."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from whileai.engine import statuses
from whileai.engine.played import Played
from whileai.engine.situations import Situation
from whileai.simulations._wire import SCHEMA_VERSION, copied, rollout_id_of

#: What an agent's code may not write on its own row: verdicts, and what only the engine knows.
_NOT_THE_AGENTS = frozenset(
    {
        *("reward", "label_source", "judge_name", "judge_status", "judge_meta", "reason", "failure_class"),
        *("judgments", "gold_reward", "calibration", "split"),
    }
)
#: Where an agent's own values stand that bear one of our names.
_ITS_OWN = "agent_said"


def prompt_sha(system_prompt: str) -> str:
    """The first 16 hex digits of the SHA-256 of a system prompt: which of them a policy was told."""
    return hashlib.sha256(system_prompt.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def row_of(
    situation: Situation, played: Played, allocation: Mapping[str, Any], *, policy: str, system_prompt_sha: str
) -> dict[str, Any]:
    """The row of a rollout.

    Parameters
    ----------
    situation : Situation
    played : Played
    allocation : dict
        The stamp of its place in the allocation.
    policy : str
        What the agent is called, the same on all rows of a run.
    system_prompt_sha : str

    Returns
    -------
    dict
        Keys that say nothing are left out, but for ``reward`` of an unusable rollout, which is ``None``. The values
        that may differ when the same thing is run again are all under ``timing``.
    """
    version = f"{policy}@{system_prompt_sha}"
    row: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "task_id": situation.task_id,
        "scenario_id": situation.task_id,
        "rollout_id": rollout_id_of(situation.task_id, played.index, version),
        "rollout_index": played.index,
        "prompt": situation.public.prompt,
        "messages": played.messages,
        "steps": played.steps,
        "final_text": played.final_text,
        **_given(finish_reason=played.finish_reason),
        "stop_reason": played.stop_reason,
        "usable": played.usable,
        **_failure(played),
        "axes": dict(situation.axes),
        "world_state": situation.state,
        "faults": situation.faults,
        "ledger": [dict(event) for event in played.ledger],
        **_numbers(played),
        **_given(model_version=policy),
        "policy_version": version,
        **_given(served_model=played.model if played.model != policy else ""),
        "writer_model": situation.writer,
        "user_model": played.user_model,
        **_given(sampling=played.sampling),
        "allocation": dict(allocation),
        "seed": situation.world_seed,
        "lineage": {**situation.lineage, "system_prompt_sha": system_prompt_sha},
        "privileged": {
            "principle": situation.rule,
            "hidden_state": copied(played.hidden_state),
            "reference": situation.reference,
            "rubric": {},
        },
    }
    row |= _extra(played.extra, row)
    row["timing"] = {"started": played.started, "seconds": played.seconds}
    return row


def _given(**values: Any) -> dict[str, Any]:
    """What says something of a few values."""
    return {name: value for name, value in values.items() if value}


def _failure(played: Played) -> dict[str, Any]:
    if played.usable:
        return {}
    failed: dict[str, Any] = {"unusable_reason": played.unusable_reason or statuses.AGENT_RAISED}
    if played.error is not None:
        failed["error"] = dict(played.error)
    return {**failed, "reward": None}


def _numbers(played: Played) -> dict[str, Any]:
    """Log-probabilities and costs, where they are known."""
    found: dict[str, Any] = {"logprob": played.logprob, "n_tokens": played.n_tokens}
    found["token_logprobs"] = played.token_logprobs
    found["usage"] = None if played.usage is None else played.usage.to_dict()
    found["user_usage"] = played.person_usage.to_dict() if played.person_usage.requests else None
    return {name: value for name, value in found.items() if value is not None}


def _extra(said: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    """What else an agent's code returned; under one key where it bears a name that is ours."""
    own = {name: value for name, value in said.items() if name in row or name in _NOT_THE_AGENTS or name == "timing"}
    more = {name: value for name, value in said.items() if name not in own}
    return {**more, _ITS_OWN: own} if own else more
