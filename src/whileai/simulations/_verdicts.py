"""Judgments and markers in a flat row.

The first judgment stands in the row's own keys, every further one as a dict of the same keys in the list ``judgments``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from whileai import keys
from whileai.errors import ParamError
from whileai.simulations._parts import ScorerRef
from whileai.simulations._types import STATUSES, Judgment, Marker, Status, is_marker_value
from whileai.simulations._wire import copied, is_reward, same


def implied_status(reward: Any) -> Status:
    """The status of a verdict that states none."""
    if is_reward(reward):
        return "ok"
    return "missing_reward" if keys.is_missing(reward) else "invalid_result"


def has_verdict(row: Mapping[str, Any]) -> bool:
    """Whether a row, or an entry of ``judgments``, carries a verdict: a reward, a judge's name or a status."""
    name, status = row.get("judge_name"), row.get("judge_status")
    return is_reward(row.get("reward")) or (isinstance(name, str) and name != "") or _is_status(status)


def _is_status(value: Any) -> bool:
    return isinstance(value, str) and value in STATUSES


def read_judgment(row: Mapping[str, Any], rollout_id: str) -> tuple[Judgment, set[str]]:
    """The verdict in a row's own keys, and which of the keys it holds in full.

    A reward beside a status that is not ``ok`` is no reward, and stays outside.
    """
    held = set()
    texts = {"judge_name": "", "label_source": "", "reason": ""}
    for key in texts:
        value = row.get(key)
        if isinstance(value, str):
            texts[key] = value
            held.add(key)
    reward = row.get("reward")
    status: Any = row.get("judge_status")
    if _is_status(status):
        held.add("judge_status")
    else:
        status = implied_status(reward)
    if status != "ok" or not is_reward(reward):
        if reward is None:
            held.add("reward")
        reward = None
    else:
        held.add("reward")
    failure = row.get("failure_class")
    if isinstance(failure, str):
        held.add("failure_class")
    else:
        failure = None
    scorer_kind = version = ""
    evidence: dict[str, Any] = {}
    meta = row.get("judge_meta")
    if isinstance(meta, dict):
        held.add("judge_meta")
        if meta:
            evidence = copied(meta)
            scorer_kind, version = (_take_text(evidence, key) for key in ("scorer_kind", "version"))
    scorer = ScorerRef(texts["judge_name"], scorer_kind, version, texts["label_source"])
    return Judgment(rollout_id, scorer, reward, status, texts["reason"], failure, evidence), held


def _take_text(block: dict[str, Any], key: str) -> str:
    """A text taken out of a block, empty, with nothing taken, where there is none."""
    value = block.get(key)
    if isinstance(value, str) and value:
        del block[key]
        return value
    return ""


def write_judgment(judgment: Judgment, raw_reward: Any = None) -> dict[str, Any]:
    """The keys of a verdict that say something, without those that are at their default.

    Parameters
    ----------
    raw_reward : object
        What stands under ``reward`` where the judgment has none, for what the status goes without saying.
    """
    scorer = judgment.scorer
    row: dict[str, Any] = {}
    if judgment.reward is not None:
        row["reward"] = judgment.reward
    if scorer.label_source:
        row["label_source"] = scorer.label_source
    if scorer.name:
        row["judge_name"] = scorer.name
    if judgment.status != implied_status(raw_reward if judgment.reward is None else judgment.reward):
        row["judge_status"] = judgment.status
    if judgment.reason:
        row["reason"] = judgment.reason
    meta = copied(judgment.evidence)
    if scorer.kind:
        meta["scorer_kind"] = scorer.kind
    if scorer.version:
        meta["version"] = scorer.version
    if meta:
        row["judge_meta"] = meta
    if judgment.failure_class is not None:
        row["failure_class"] = judgment.failure_class
    return row


def write_entry(judgment: Judgment) -> dict[str, Any]:
    """A further judgment as an entry of ``judgments``; reward and status are always there."""
    row = write_judgment(judgment)
    row = {"reward": judgment.reward, "judge_status": judgment.status, **row}
    return {key: row[key] for key in keys.VERDICT_KEYS if key in row}


def read_entries(entries: Any, rollout_id: str) -> tuple[list[Judgment], Any]:
    """The judgments in a ``judgments`` list, and the list where writing them would give another one, else ``None``."""
    if type(entries) is not list:
        return [], entries
    judgments = [read_judgment(entry, rollout_id)[0] for entry in entries if type(entry) is dict and has_verdict(entry)]
    return judgments, None if same([write_entry(judgment) for judgment in judgments], entries) else entries


def write_entries(judgments: Sequence[Judgment], kept: Any, rollout_id: str) -> list[dict[str, Any]]:
    """The ``judgments`` list; a judgment that is still what it was read as gets the entry it was read from."""
    if type(kept) is not list:
        return [write_entry(judgment) for judgment in judgments]
    sources = [entry for entry in kept if type(entry) is dict and has_verdict(entry)]
    read = [read_judgment(entry, rollout_id)[0] for entry in sources]
    if same(read, list(judgments)):
        return copied(kept)  # type: ignore[no-any-return]  # a copy of a list is one
    entries = []
    for judgment in judgments:
        place = next((place for place, source in enumerate(read) if same(source, judgment)), None)
        if place is not None:
            del read[place]
            entries.append(copied(sources.pop(place)))
        else:
            entries.append(write_entry(judgment))
    return entries


def read_markers(values: Any, evidence: Any, rollout_id: str) -> tuple[list[Marker], dict[str, Any]]:
    """The markers of a row, and what they do not hold of ``markers`` and ``marker_evidence``."""
    markers: list[Marker] = []
    if not isinstance(values, dict):
        return markers, {"markers": values, "marker_evidence": evidence}
    sources = evidence if isinstance(evidence, dict) else {}
    odd: dict[Any, Any] = {}
    held = set()
    for name, value in values.items():
        if not isinstance(name, str) or not is_marker_value(value):
            odd[name] = value
            continue
        source = sources.get(name)
        if isinstance(source, dict) and source:
            held.add(name)
            markers.append(Marker(rollout_id, name, value, source))
        else:
            markers.append(Marker(rollout_id, name, value))
    rest = {name: source for name, source in sources.items() if name not in held} if sources else evidence
    return markers, {"markers": odd or None, "marker_evidence": rest or None}


def write_markers(markers: Sequence[Marker], extra: Mapping[str, Any]) -> dict[str, Any]:
    """The cells ``markers`` and ``marker_evidence``, with what was carried beside the typed markers."""
    values: dict[str, Any] = {}
    evidence: dict[str, Any] = {}
    for marker in markers:
        if marker.name in values:
            raise ParamError.of("to_row", "markers", "of one value a name", marker.name, "Keep one of the two.")
        values[marker.name] = marker.value
        if marker.evidence:
            evidence[marker.name] = copied(marker.evidence)
    cells = {}
    for key, typed in (("markers", values), ("marker_evidence", evidence)):
        carried = extra.get(key)
        if typed and isinstance(carried, dict):
            typed |= {name: copied(item) for name, item in carried.items() if name not in typed}
        if typed:
            cells[key] = typed
    return cells
