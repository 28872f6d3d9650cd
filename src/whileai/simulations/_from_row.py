"""A flat row as typed objects."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any

from whileai.keys import VERDICT_KEYS
from whileai.simulations._conversation import read_messages
from whileai.simulations._parts import FaultEvent, Lineage, Message, PolicyRef, Privileged, Step, World
from whileai.simulations._shapes import is_stamped, to_v1
from whileai.simulations._types import Judgment, Marker, Rollout, Task
from whileai.simulations._verdicts import has_verdict, read_entries, read_judgment, read_markers
from whileai.simulations._wire import ALWAYS, all_dicts, copied, read_part, rollout_id_of, task_id_of

#: The keys that have a typed home, and what must stand there to get into it.
_KINDS: dict[Any, Any] = {
    **dict.fromkeys(("spec_id", "prompt", "final_text", "rollout_id", "unusable_reason"), str),
    **dict.fromkeys(("policy_name", "model_version", "policy_version", "prompt_hash"), str),
    **dict.fromkeys(("rollout_index", "seed"), int),
    **dict.fromkeys(("messages", "steps", "ledger", "behaviors", "judgments"), list),
    **dict.fromkeys(
        ("faults", "axes", "scenario_dimensions", "lineage", "sampling", "markers", "marker_evidence"), dict
    ),
    **dict.fromkeys(("task_id", "scenario_id", "world_state", "privileged", *VERDICT_KEYS), object),
    "usable": bool,
}
_UNKNOWN_POLICY = PolicyRef()


def from_row(row: dict) -> tuple[Task, Rollout, list[Judgment], list[Marker]]:  # type: ignore[type-arg]  # as documented
    """Split one flat row into its four objects. Any version, any shape.

    Parameters
    ----------
    row : dict
        A row: stamped, from the engine, a training row, a pull from a platform, ingested telemetry, with JSON columns,
        a log in ShareGPT's form, in response items or content blocks, or with only some of the keys. It is not changed,
        and shares no dict or list with what comes out.

    Returns
    -------
    task : Task
        Its id is the row's ``task_id``, else its ``scenario_id``, else a digest of the prompt.
    rollout : Rollout
        With every key that has no typed home in its ``extra``.
    judgments : list of Judgment
        The row's own verdict first, then those under ``judgments``; empty for an unjudged row.
    markers : list of Marker
        The finite numbers under ``markers``.

    Raises
    ------
    TypeError
        If `row` is no dict. Nothing inside a dict raises: an odd value is carried in ``extra``, not typed.

    Examples
    --------
    >>> from whileai.simulations import schema
    >>> task, rollout, judgments, markers = schema.from_row({"prompt": "2 + 3?", "final_text": "5", "reward": 1})
    >>> task.task_id, rollout.final_text, judgments[0].reward
    ('task_c1f22f18a43e', '5', 1)
    """
    if not isinstance(row, dict):
        raise TypeError(f"from_row: row must be a dict; got {type(row).__name__}. Call it on one row at a time.")
    return read_row(row, Counter())


def read_row(row: dict[Any, Any], seen: Counter[str]) -> tuple[Task, Rollout, list[Judgment], list[Marker]]:
    """`from_row` of a dict, which also counts what it met on the way; see `to_v1`."""
    row = copied(row)
    if is_stamped(row):
        stamped = True
        task_id = task_id_of(row)
        names = tuple(row)
    else:
        stamped = False
        task_id = to_v1(row, seen)
        names = ALWAYS + tuple(key for key in row if key not in ALWAYS)
    known: dict[Any, Any] = {}
    extra: dict[Any, Any] = {}
    for key, value in row.items():
        kind = _KINDS.get(key)
        if kind is None or value is None or not isinstance(value, kind):
            extra[key] = value
        else:
            known[key] = value
    extra.pop("schema_version", None)

    rollout = _read_rollout(known, extra, task_id)
    rollout.__dict__["_keys"] = names
    prefix, messages = read_messages(known.get("messages"), known.get("prompt", ""), rollout.steps, rollout.final_text)
    _carry(extra, "messages", messages)
    task = _read_task(known, extra, task_id, prefix)
    judgments = _read_judgments(known, extra, rollout.rollout_id, stamped=stamped)
    markers: list[Marker] = []
    if "markers" in known or "marker_evidence" in known:
        markers, rest = read_markers(known.get("markers"), known.get("marker_evidence"), rollout.rollout_id)
        for key, value in rest.items():
            _carry(extra, key, value)
    return task, rollout, judgments, markers


def _carry(extra: dict[Any, Any], key: str, value: Any) -> None:
    """Keep under `extra` what has no typed home."""
    if value is not None:
        extra[key] = value


def _read_rollout(known: dict[Any, Any], extra: dict[Any, Any], task_id: str) -> Rollout:
    get = known.get
    index = get("rollout_index", 0)
    name, model, prompt_hash = get("policy_name", ""), get("model_version", ""), get("prompt_hash", "")
    version, sampling = get("policy_version", ""), get("sampling")
    policy = _UNKNOWN_POLICY
    if name or model or prompt_hash or version or sampling is not None:
        policy = PolicyRef(name, model, prompt_hash, version, sampling)
    rollout_id = get("rollout_id")
    if not rollout_id:
        _carry(extra, "rollout_id", rollout_id)
        rollout_id = rollout_id_of(task_id, index, version, extra.get("conversation_id"))
    steps = get("steps", [])
    if all_dicts(steps):
        steps = [read_part(Step, step) for step in steps]
    else:
        extra["steps"], steps = steps, []
    return Rollout(
        rollout_id,
        task_id,
        policy,
        index,
        steps,
        get("final_text", ""),
        _read_ledger(known, extra),
        get("usable", True),
        get("unusable_reason"),
        extra,
    )


def _read_ledger(known: dict[Any, Any], extra: dict[Any, Any]) -> list[FaultEvent]:
    """The ledger, else the events that the fault plan speaks of, marked as planned."""
    ledger = known.get("ledger")
    if ledger is not None:
        if all_dicts(ledger):
            return [read_part(FaultEvent, event) for event in ledger]
        extra["ledger"] = ledger
    if ledger is not None or "ledger" in extra:
        return []
    plan = known.get("faults") or extra.get("faults")
    if isinstance(plan, dict):
        return [_planned({"tool": tool}, fault) for tool, fault in plan.items()]
    return [_planned({}, fault) for fault in plan or ()] if all_dicts(plan) else []


def _planned(event: dict[str, Any], fault: Any) -> FaultEvent:
    if isinstance(fault, dict):
        event |= copied(fault)
    elif isinstance(fault, str):
        event["mode"] = fault
    return dataclasses.replace(read_part(FaultEvent, event), planned=True)


def _read_task(known: dict[Any, Any], extra: dict[Any, Any], task_id: str, prefix: tuple[Message, ...]) -> Task:
    get = known.get
    for key in ("task_id", "scenario_id"):
        value = get(key)
        if value is not None and not (type(value) is str and value == task_id):
            extra[key] = value
    if "axes" in known or "axes" in extra:
        axes = get("axes", {})
        _carry(extra, "scenario_dimensions", get("scenario_dimensions"))
    else:
        axes = get("scenario_dimensions", {})
    behaviors = get("behaviors", ())
    if not all(isinstance(name, str) for name in behaviors):
        extra["behaviors"], behaviors = behaviors, ()
    block = get("privileged")
    if block is None:
        privileged = Privileged()
    else:
        privileged = read_part(Privileged, block) if isinstance(block, dict) else Privileged(raw=block)
    return Task(
        task_id,
        get("spec_id", ""),
        get("prompt", ""),
        prefix,
        World(get("seed"), get("world_state"), get("faults", {})),
        privileged,
        axes,
        tuple(behaviors),
        read_part(Lineage, known["lineage"]) if "lineage" in known else Lineage(),
    )


def _read_judgments(known: dict[Any, Any], extra: dict[Any, Any], rollout_id: str, *, stamped: bool) -> list[Judgment]:
    """The row's own verdict, then the further ones.

    A stamped row that has further ones without a verdict of its own was not written here, and keeps them as they are.
    """
    own = has_verdict(known)
    judgments = []
    held: set[str] = set()
    if own:
        judgment, held = read_judgment(known, rollout_id)
        judgments.append(judgment)
    for key in VERDICT_KEYS:
        if key in known and key not in held:
            extra[key] = known[key]
    if "judgments" in known:
        carried = known["judgments"]
        if own or not stamped:
            further, carried = read_entries(carried, rollout_id)
            judgments += further
        _carry(extra, "judgments", carried)
    return judgments
