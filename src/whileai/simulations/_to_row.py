"""Typed objects as a flat row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from whileai.errors import ParamError
from whileai.simulations._conversation import turns_of
from whileai.simulations._types import Judgment, Marker, Rollout, Task
from whileai.simulations._verdicts import write_entries, write_judgment, write_markers
from whileai.simulations._wire import SCHEMA_VERSION, copied, rollout_id_of, task_id_of, write_part

#: What a key of the row holds where its typed value is the default.
_TEXT_DEFAULTS = ("prompt", "final_text", "spec_id", "policy_name", "model_version", "policy_version", "prompt_hash")
_LIST_DEFAULTS = ("steps", "ledger", "behaviors")
_DICT_DEFAULTS = ("axes", "scenario_dimensions", "faults", "privileged", "lineage", "markers", "marker_evidence")


def to_row(
    task: Task,
    rollout: Rollout,
    judgments: Sequence[Judgment] = (),
    markers: Sequence[Marker] = (),
) -> dict:  # type: ignore[type-arg]  # the documented annotation
    """The flat v1 wire row. Inverse of `from_row` on stamped rows; on other shapes it is the canonical row.

    Parameters
    ----------
    task : Task
    rollout : Rollout
        An episode of that task.
    judgments : sequence of Judgment, optional
        Verdicts on that episode. The first stands in the row's own keys, every further one in the list ``judgments``.
    markers : sequence of Marker, optional
        Measurements of that episode, no two of one name.

    Returns
    -------
    dict
        A row stamped with ``schema_version``, whose dicts and lists are its own. The keys a row was read with come back
        in their order, the unknown ones with their values. What was changed in the objects since is in the row.

    Raises
    ------
    ParamError
        If the rollout is of another task, a judgment or marker of another rollout, or two markers have one name.

    Examples
    --------
    >>> from whileai.simulations import schema
    >>> row = {"schema_version": "1", "prompt": "2 + 3?", "steps": [], "final_text": "5", "mine": {"deep": [1, None]}}
    >>> schema.to_row(*schema.from_row(row)) == row
    True
    """
    _check_one_episode(task, rollout, judgments, markers)
    extra: dict[Any, Any] = rollout.extra
    cells = _task_cells(task, rollout)
    cells |= _rollout_cells(rollout)
    defaults: dict[str, Any] = {}
    if judgments:
        cells |= _verdict_cells(judgments, rollout)
        defaults = {"reward": None, **dict.fromkeys(("judge_name", "label_source", "reason"), "")}
        defaults |= {"judge_meta": {}, "judgments": []}
    if markers:
        cells |= write_markers(markers, extra)

    row: dict[Any, Any] = {}
    for key in rollout._keys:
        if key in cells:
            row[key] = cells[key]
        elif key in extra:
            row[key] = copied(extra[key])
        elif key in defaults:
            row[key] = defaults[key]
        else:
            _write_default(row, key, task, rollout)
    for key, value in cells.items():
        if key not in row:
            row[key] = value
    for key, value in extra.items():
        if key not in row:
            row[key] = copied(value)
    if task_id_of(row) != task.task_id:
        row["task_id"] = task.task_id
    return row


def _check_one_episode(task: Task, rollout: Rollout, judgments: Sequence[Judgment], markers: Sequence[Marker]) -> None:
    if rollout.task_id != task.task_id:
        raise ParamError.of("to_row", "rollout.task_id", f"the task's, {task.task_id!r}", rollout.task_id)
    parts: tuple[Judgment | Marker, ...] = (*judgments, *markers)
    for part in parts:
        if part.rollout_id != rollout.rollout_id:
            where = f"the rollout_id of every {type(part).__name__}"
            raise ParamError.of("to_row", where, f"the rollout's, {rollout.rollout_id!r}", part.rollout_id)


def _write_default(row: dict[Any, Any], key: Any, task: Task, rollout: Rollout) -> None:
    """Write what a key holds at its default; a key the types do not know was taken out of ``extra`` on purpose."""
    if key in _TEXT_DEFAULTS:
        row[key] = ""
    elif key in _LIST_DEFAULTS:
        row[key] = []
    elif key in _DICT_DEFAULTS:
        row[key] = {}
    elif key == "rollout_index":
        row[key] = rollout.index
    elif key == "usable":
        row[key] = rollout.usable
    elif key == "messages":
        turns = turns_of(task, rollout)
        if turns:
            row[key] = turns


def _task_cells(task: Task, rollout: Rollout) -> dict[str, Any]:
    """The cells of the task that are not at their default."""
    names, extra = rollout._keys, rollout.extra
    cells: dict[str, Any] = {"schema_version": SCHEMA_VERSION}
    for key in ("task_id", "scenario_id"):
        if key in names and key not in extra:
            cells[key] = task.task_id
    if task.prompt:
        cells["prompt"] = task.prompt
    if task.prefix and "messages" not in names and "messages" not in extra:
        cells["messages"] = turns_of(task, rollout)
    engine = "axes" not in names and "scenario_dimensions" in names and "scenario_dimensions" not in extra
    lists_and_texts = {
        "spec_id": task.spec_id,
        "scenario_dimensions" if engine else "axes": task.axes,
        "behaviors": list(task.behaviors),
        "faults": task.world.faults,
        "lineage": write_part(task.lineage),
    }
    cells |= {key: copied(value) for key, value in lists_and_texts.items() if value}
    anything = {
        "seed": task.world.seed,
        "world_state": task.world.state,
        "privileged": write_part(task.privileged) or task.privileged.raw,
    }
    return cells | {key: copied(value) for key, value in anything.items() if value is not None}


def _rollout_cells(rollout: Rollout) -> dict[str, Any]:
    """The cells of the rollout that are not at their default."""
    names, extra, policy = rollout._keys, rollout.extra, rollout.policy
    cells: dict[str, Any] = {}
    if "rollout_id" not in extra or rollout.rollout_id:
        derived = rollout_id_of(rollout.task_id, rollout.index, policy.version, extra.get("conversation_id"))
        if rollout.rollout_id != derived or ("rollout_id" in names and "rollout_id" not in extra):
            cells["rollout_id"] = rollout.rollout_id
    if rollout.steps:
        cells["steps"] = [write_part(step) for step in rollout.steps]
    if rollout.final_text:
        cells["final_text"] = rollout.final_text
    if rollout.index != 0:
        cells["rollout_index"] = rollout.index
    if not rollout.usable:
        cells["usable"] = rollout.usable
    if rollout.unusable_reason is not None:
        cells["unusable_reason"] = rollout.unusable_reason
    texts = {
        "policy_name": policy.name,
        "model_version": policy.model,
        "policy_version": policy.version,
        "prompt_hash": policy.prompt_hash,
    }
    cells |= {key: text for key, text in texts.items() if text}
    if policy.sampling is not None:
        cells["sampling"] = copied(policy.sampling)
    ledger = [write_part(event) for event in rollout.ledger if not getattr(event, "planned", False)]
    if ledger:
        cells["ledger"] = ledger
    return cells


def _verdict_cells(judgments: Sequence[Judgment], rollout: Rollout) -> dict[str, Any]:
    """The cells of the verdicts. Reward and status are always there, unless the row was read without them."""
    names, extra = rollout._keys, rollout.extra
    judgment = judgments[0]
    cells = write_judgment(judgment, extra.get("reward"))
    judged_without = {key for key in ("reward", "judge_status") if key not in names} if _was_judged(names) else ()
    if "reward" not in cells and "reward" not in extra and "reward" not in judged_without:
        cells["reward"] = None
    needs_status = bool(judgment.scorer.name) or judgment.reward is None or "judge_status" in names
    if needs_status and "judge_status" not in extra and "judge_status" not in judged_without:
        cells["judge_status"] = judgment.status
    if len(judgments) > 1 or "judgments" in extra:
        entries = write_entries(judgments[1:], extra.get("judgments"), rollout.rollout_id)
        if entries:
            cells["judgments"] = entries
    return cells


def _was_judged(names: Sequence[Any]) -> bool:
    return "reward" in names or "judge_name" in names or "judge_status" in names
