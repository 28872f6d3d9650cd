"""Who made a completion: the policy of a row, and the rows that count towards a rate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from whileai import keys, params
from whileai.errors import ParamError

#: Field of a policy -> key of the row.
POLICY_KEYS = {
    "name": "policy_name",
    "model": "model_version",
    "prompt_hash": "prompt_hash",
    "version": "policy_version",
}
Policy = tuple[str, ...]


def policy_of(row: Mapping[str, Any]) -> Policy:
    """The policy of a row as a tuple of its four fields; a version tells all of it apart."""
    values = (row.get(key) for key in POLICY_KEYS.values())
    return tuple("" if keys.is_missing(value) else str(value) for value in values)


def label_of(policy: Policy) -> str:
    """What a policy is called: its version, else its model, else its name."""
    name, model, _, version = policy
    return version or model or name


def block_of(policy: Policy) -> dict[str, str]:
    """The policy as it stands in a calibration."""
    return dict(zip(POLICY_KEYS, policy, strict=True))


def asked_for(asked: Any, policies: Sequence[Policy], call: str) -> Policy:
    """The one policy that a name, a model or a version names."""
    for place in (3, 1, 0):
        found = [policy for policy in policies if policy[place] and policy[place] == asked]
        if len(found) == 1:
            return found[0]
        if found:
            field = list(POLICY_KEYS)[place]
            fix = f"{len(found)} policies have this {field}; name one by its policy_version."
            raise ParamError.of(call, "policy", "the name of one policy", asked, fix)
    known = sorted({value for policy in policies for value in policy if value})
    raise ParamError.of(call, "policy", "a policy on the rows", asked, params.near_miss(asked, known))
