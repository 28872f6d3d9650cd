"""The words a world and a rollout end things with: the one place they are spelt."""

from __future__ import annotations

from typing import Any

OK = "ok"
ERROR = "error"
TIMEOUT = "timeout"
PERMISSION_DENIED = "permission_denied"
UNKNOWN_TOOL = "unknown_tool"
INVALID_ARGUMENTS = "invalid_arguments"
PLACEHOLDER = "placeholder"
NOT_FOUND = "not_found"
ALREADY_DONE = "already_done"
CONFLICT = "conflict"

AGENT_DONE = "agent_done"
USER_DONE = "user_done"
USER_LEFT = "user_left"
MAX_TURNS = "max_turns"
MAX_TOOL_CALLS = "max_tool_calls"
#: How a usable rollout ends.
USABLE = (AGENT_DONE, USER_DONE, USER_LEFT, MAX_TURNS, MAX_TOOL_CALLS)

AGENT_RAISED = "agent_raised"
AGENT_BAD_REPLY = "agent_bad_reply"
AGENT_EMPTY = "agent_empty"
AGENT_TIMEOUT = "agent_timeout"
#: How a rollout ends that the agent itself spoilt.
AGENTS = (AGENT_RAISED, AGENT_BAD_REPLY, AGENT_EMPTY, AGENT_TIMEOUT)
#: How a rollout ends that a service spoilt; the reasons of an `EndpointError`.
INFRASTRUCTURE = ("rate_limited", "server_error", "connection", "bad_response", "auth", "quota", "context_length")

USER_FAILED = "user_failed"
WORLD_FAILED = "world_failed"
#: How a rollout ends that the simulation itself spoilt.
OURS = (USER_FAILED, WORLD_FAILED)

UNUSABLE = (*AGENTS, *INFRASTRUCTURE, *OURS)


def refusal(status: str, error: str, hint: str = "") -> dict[str, Any]:
    """What a refused call answers."""
    told = {"status": status, "error": error}
    return {**told, "hint": hint} if hint else told


class Failure(dict[str, Any]):
    """The answer of a tool that raised, told apart from one that says so itself."""

    def __init__(self, status: str, error: str) -> None:
        super().__init__(status=status, error=error)
