"""Langfuse: traces with their scores, as its API and its experiments give them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from whileai.readers.logs.base import Format, Log
from whileai.readers.logs.chat import asked
from whileai.readers.logs.head import Head
from whileai.readers.logs.platform_texts import given_of, reply_of
from whileai.readers.logs.scored import Repeats, Scored, failed, id_of
from whileai.readers.logs.scores import Survey

#: Where a document keeps its traces.
PLACES = ("data", "item_results", "itemResults", "traces")


class LangfuseTraces(Format):
    """Traces of Langfuse with their scores: a row each, grouped by the item of the dataset, else by what was asked."""

    name = "langfuse"
    what = "an export of Langfuse traces"

    def sniff(self, head: Head) -> bool:
        """Traces or items of an experiment, each with a list of scores."""
        return _is_trace(head.first) or _place(head) is not None

    def read(self, log: Log) -> Iterator[dict[str, Any]]:
        """The rows of all traces."""
        survey = Survey()
        for trace in _traces(log.again()):
            for name, (value, _) in _scores(trace).items():
                survey.add(name, value)
        scored, repeats = Scored(log, survey), Repeats()
        for trace in _traces(log):
            item = trace.get("item")
            item = item if isinstance(item, Mapping) else {}
            given = trace["input"] if trace.get("input") is not None else item.get("input")
            task = _task(trace, item) or (None if given is None else id_of(given))
            if task is None:
                log.skip("traces without an item and an input")
                continue
            row: dict[str, Any] = {"task_id": task, "rollout_index": repeats.next(task)}
            if log.texts:
                row |= asked(given_of(given), reply_of(trace.get("output")))
                gold = next((of[key] for of in (item, trace) for key in _GOLD if of.get(key) is not None), None)
                row |= {"privileged": {"reference": gold}} if gold is not None else {}
            scores = _scores(trace)
            row |= scored.keys({name: value for name, (value, _) in scores.items()})
            reason = scores[scored.name][1] if scored.name in scores else None
            row |= {"reason": reason} if log.texts and isinstance(reason, str) and reason else {}
            if row["reward"] is None and _error(trace) is not None:
                row |= failed(_error(trace))
            metadata = trace.get("metadata")
            yield row | ({"metadata": dict(metadata)} if isinstance(metadata, Mapping) and metadata else {})
        scored.finish()


_GOLD = ("expected_output", "expectedOutput")


def _is_trace(found: Any) -> bool:
    """Whether an object is a trace, or an item of an experiment, of Langfuse."""
    if not isinstance(found, Mapping):
        return False
    scores = found.get("scores")
    listed = isinstance(scores, list) and all(isinstance(of, Mapping) and "name" in of for of in scores)
    trace = (
        listed
        and "output" in found
        and (bool(scores) or not {"observations", "sessionId", "htmlPath"}.isdisjoint(found))
    )
    return trace or ("evaluations" in found and "item" in found and "output" in found)


def _place(head: Head) -> str | None:
    """Where a document keeps its traces, ``None`` where it is none."""
    if not head.is_document or not isinstance(head.value, Mapping):
        return None
    for name in PLACES:
        items = head.value.get(name)
        if isinstance(items, list) and items and _is_trace(items[0]):
            return name
    return None


def _traces(log: Log) -> Iterator[dict[str, Any]]:
    place = None if _is_trace(log.head.first) else _place(log.head)
    yield from log.records() if place is None else log.items((place,))


def _task(trace: Mapping[str, Any], item: Mapping[str, Any]) -> str | None:
    """The item of the dataset."""
    metadata = trace.get("metadata")
    places = (item.get("id"), trace.get("datasetItemId"), trace.get("dataset_item_id"))
    inside = (
        [metadata.get(name) for name in ("dataset_item_id", "datasetItemId")] if isinstance(metadata, Mapping) else []
    )
    return next((str(name) for name in (*places, *inside) if name is not None), None)


def _scores(trace: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """The scores of a trace, each with its comment; a text is no score."""
    found: dict[str, tuple[Any, Any]] = {}
    listed = trace.get("scores", trace.get("evaluations"))
    for score in listed if isinstance(listed, list) else ():
        if not isinstance(score, Mapping) or score.get("dataType", score.get("data_type")) == "TEXT":
            continue
        kind = score.get("dataType", score.get("data_type"))
        word = score.get("stringValue", score.get("string_value"))
        value = score.get("value")
        if kind == "CATEGORICAL" or value is None:
            value = word if word is not None else value
        found.setdefault(str(score.get("name")), (value, score.get("comment")))
    return found


def _error(trace: Mapping[str, Any]) -> Any:
    """What went wrong in a trace."""
    if trace.get("level") == "ERROR":
        return trace.get("statusMessage") or "error"
    return trace.get("error")
