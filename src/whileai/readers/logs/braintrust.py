"""Braintrust: the spans of an experiment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from whileai.readers.logs.base import Format, Log
from whileai.readers.logs.chat import asked
from whileai.readers.logs.head import Head
from whileai.readers.logs.platform_texts import given_of, reply_of
from whileai.readers.logs.scored import Repeats, Scored, failed, id_of
from whileai.readers.logs.scores import Survey

#: What rows need beside output and gold; the input is what groups them.
THIN = ("id", "span_id", "root_span_id", "input", "scores", "error", "metadata", "trial_index", "origin", "is_root")
PLACES = ("events", "rows", "data", "objects")


class BraintrustSpans(Format):
    """The outermost spans of a Braintrust experiment: a row each, grouped by equal input."""

    name = "braintrust"
    what = "an export of a Braintrust experiment"

    def sniff(self, head: Head) -> bool:
        """Spans with scores by name."""
        return _is_span(head.first) or _place(head) is not None

    def read(self, log: Log) -> Iterator[dict[str, Any]]:
        """The rows of all outermost spans."""
        survey = Survey()
        for span in _spans(log.again(), THIN):
            for name, value in _scores(span).items():
                survey.add(name, value)
        scored, repeats = Scored(log, survey), Repeats()
        for span in _spans(log, () if log.texts else THIN):
            if span.get("input") is None:
                log.skip("spans without an input")
                continue
            task = id_of(span["input"])
            row: dict[str, Any] = {"task_id": task, "rollout_index": repeats.next(task)}
            if log.texts:
                row |= asked(given_of(span["input"]), reply_of(span.get("output")))
                gold = span.get("expected")
                row |= {"privileged": {"reference": gold}} if gold is not None else {}
            row |= scored.keys(_scores(span))
            if span.get("error"):
                row |= failed(span["error"])
            if isinstance(span.get("metadata"), Mapping) and span["metadata"]:
                row["metadata"] = dict(span["metadata"])
            yield row
        scored.finish()


def _is_span(found: Any) -> bool:
    if not isinstance(found, Mapping) or not {"scores", "input"} <= set(found):
        return False
    own = {"span_id", "root_span_id", "_xact_id", "experiment_id"}
    return isinstance(found["scores"], (Mapping, type(None))) and not own.isdisjoint(found)


def _place(head: Head) -> str | None:
    """Where a document keeps its spans, ``None`` where it is none."""
    if not head.is_document or not isinstance(head.value, Mapping):
        return None
    found = ((name, head.value.get(name)) for name in PLACES)
    return next((name for name, items in found if isinstance(items, list) and items and _is_span(items[0])), None)


def _spans(log: Log, names: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """The outermost spans; those inside say how the outcome came about."""
    place = None if _is_span(log.head.first) else _place(log.head)
    for span in log.records(*names) if place is None else log.items((place,), *names):
        if span.get("span_id") == span.get("root_span_id"):
            yield span


def _scores(span: Mapping[str, Any]) -> dict[str, Any]:
    scores = span.get("scores")
    return {str(name): value for name, value in scores.items()} if isinstance(scores, Mapping) else {}
