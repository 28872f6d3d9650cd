"""OpenTelemetry: spans of generative AI and the evaluations of them, as OTLP JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from whileai.readers.logs.base import Format, Log
from whileai.readers.logs.chat import as_text, asked, turns_of
from whileai.readers.logs.head import Head, head_of
from whileai.readers.logs.otel_values import attributes_of, nested, parsed, spread
from whileai.readers.logs.scored import Repeats, Scored, failed, listed
from whileai.readers.logs.scores import RIGHT, WRONG, Survey

#: Where spans and log records stand, in either spelling.
SPANS, LOGS = ("resourceSpans", "resource_spans"), ("resourceLogs", "resource_logs")
EVALUATION = "gen_ai.evaluation.result"
#: Attributes that say which task a span is of, the surest first; else each is a task of its own.
TASKS = (
    "task_id", "task.id", "whileai.task_id", "test.case.id", "test.case.name", "dataset.item.id", "example.id",
    "sample.id",
)  # fmt: skip


class OtelSpans(Format):
    """Spans of generative AI: a row for each that was evaluated, or for the outermost of a trace where none was.

    An evaluation belongs to the span it stands on, whose id it carries, or whose response it names. The task is what an
    attribute like ``task_id`` says, else the trace.
    """

    name = "otel"
    what = "a file of OpenTelemetry spans"

    def sniff(self, head: Head) -> bool:
        """Spans or log records by resource; of a folder, in all its files, where both are there."""
        if head.kind != "folder":
            return any(isinstance(head.first.get(name), list) for name in (*SPANS, *LOGS))
        kinds = set()
        for path in _files(head):
            keys = set(head_of(path).keys)
            if keys.isdisjoint((*SPANS, *LOGS)):
                return False
            kinds |= {name for name in (SPANS, LOGS) if not keys.isdisjoint(name)}
        return len(kinds) > 1

    def read(self, log: Log) -> Iterator[dict[str, Any]]:
        """The rows, once all was read: an evaluation may stand anywhere."""
        found = _Found(texts=log.texts)
        parts = [log.beside(path) for path in _files(log.head)] if log.head.kind == "folder" else [log]
        for part in parts:
            for batch in _batches(part):
                found.take(batch)
        survey = Survey()
        rows = found.rows()
        for _, evaluations in rows:
            for name, value in _scores(evaluations).items():
                survey.add(name, value)
        scored, repeats = Scored(log, survey, what="evaluation"), Repeats()
        alone = Counter(span.trace for span, _ in rows)
        for span, evaluations in rows:
            task = span.task or (span.trace if alone[span.trace] == 1 else f"{span.trace}/{span.id}")
            row: dict[str, Any] = {"task_id": task, "rollout_index": repeats.next(task), **span.texts}
            row |= scored.keys(_scores(evaluations))
            row |= _reason(evaluations, scored.name) if log.texts else {}
            errors = [of["error.type"] for of in evaluations if of.get("error.type") and of.get(_SCORE) is None]
            if row["reward"] is None and (span.error is not None or errors):
                row |= failed(span.error if span.error is not None else errors[0])
            if span.model is not None:
                row["model"] = span.model
            yield row | ({"metadata": span.metadata} if span.metadata else {}) | {"trace_id": span.trace}
        if found.n_lost:
            log.skip("evaluations of spans that are not there", found.n_lost)
        scored.finish()


_NAME, _SCORE, _LABEL = "gen_ai.evaluation.name", "gen_ai.evaluation.score.value", "gen_ai.evaluation.score.label"


def _files(head: Head) -> list[Any]:
    """The files of a folder that can hold spans, at most a few of which are ever more than two."""
    names = sorted(name for name in head.members if name.endswith((".json", ".jsonl")))
    return [head.path / name for name in names] if 1 < len(names) <= 8 else []


def _batches(log: Log) -> Iterator[Mapping[str, Any]]:
    """The batches of spans and records, a line or a document each."""
    if log.head.kind == "json" and not log.head.is_list:
        document = log.document()
        if isinstance(document, Mapping):
            yield document
    else:
        yield from log.records(*SPANS, *LOGS)


@dataclass(slots=True)
class _Span:
    """What is kept of a span."""

    trace: str
    id: str
    parent: str
    response: str | None
    task: str | None
    model: str | None
    error: Any
    texts: dict[str, Any]
    metadata: dict[str, Any]
    evaluations: list[dict[str, Any]] = field(default_factory=list)


class _Found:
    """Spans and evaluations while they are read, and which belongs to which."""

    def __init__(self, *, texts: bool) -> None:
        self.texts = texts
        self.spans: dict[tuple[str, str], _Span] = {}
        self.parents: dict[tuple[str, str], str] = {}
        self.loose: list[tuple[str, str, dict[str, Any]]] = []
        self.n_lost = 0

    def take(self, batch: Mapping[str, Any]) -> None:
        """Take in what one batch holds."""
        for span in spread(batch, SPANS, ("scopeSpans", "scope_spans"), ("spans",)):
            self._span(span)
        for record in spread(batch, LOGS, ("scopeLogs", "scope_logs"), ("logRecords", "log_records")):
            of = attributes_of(record)
            name = record.get("eventName") or record.get("event_name") or of.get("event.name")
            if name == EVALUATION or (name is None and _NAME in of):
                self.loose.append((_id(record, "trace"), _id(record, "span"), of))

    def _span(self, span: Mapping[str, Any]) -> None:
        of, trace, place = attributes_of(span), _id(span, "trace"), _id(span, "span")
        parent = str(span.get("parentSpanId") or span.get("parent_span_id") or "")
        self.parents[trace, place] = parent
        if span.get("name") == EVALUATION:  # evaluations that are spans of their own
            self.loose.append((trace, parent, of))
            return
        events = [event for event in listed(span.get("events")) if isinstance(event, Mapping)]
        judged = [attributes_of(event) for event in events if event.get("name") == EVALUATION]
        if not judged and not any(name.startswith("gen_ai.") for name in of):
            return
        kept = _Span(
            trace=trace, id=place, parent=parent, response=_text(of.get("gen_ai.response.id")),
            task=next((str(of[name]) for name in TASKS if of.get(name) is not None), None),
            model=_text(of.get("gen_ai.response.model") or of.get("gen_ai.request.model")),
            error=_error(span, of), texts=_texts(of) if self.texts else {},
            metadata=nested({name: value for name, value in of.items() if not name.startswith("gen_ai.")}),
            evaluations=judged,
        )  # fmt: skip
        self.spans[trace, place] = kept

    def rows(self) -> list[tuple[_Span, list[dict[str, Any]]]]:
        """The spans that make rows, each with its evaluations."""
        self._join()
        evaluated = {span.trace for span in self.spans.values() if span.evaluations}
        return [
            (span, span.evaluations)
            for span in self.spans.values()
            if span.evaluations or (span.trace not in evaluated and not self._has_outer(span))
        ]

    def _join(self) -> None:
        """Give evaluations that stand elsewhere to their spans."""
        responses: dict[str | None, _Span] = {
            span.response: span for span in self.spans.values() if span.response is not None
        }
        for trace, place, of in self.loose:
            span = self.spans.get((trace, place)) or responses.get(_text(of.get("gen_ai.response.id")))
            if span is None:
                span = self._near(trace, place)
            if span is None:
                self.n_lost += 1
            else:
                span.evaluations.append(of)
        self.loose = []

    def _near(self, trace: str, place: str) -> _Span | None:
        """The span of generative AI around another span, or the only outermost one of its trace."""
        for _ in range(len(self.parents)):
            place = self.parents.get((trace, place), "")
            if not place or (trace, place) in self.spans:
                break
        outer = [span for span in self.spans.values() if span.trace == trace and not self._has_outer(span)]
        return self.spans.get((trace, place)) or (outer[0] if trace and len(outer) == 1 else None)

    def _has_outer(self, span: _Span) -> bool:
        """Whether a span lies in another of generative AI."""
        place = span.parent
        for _ in range(len(self.parents)):
            if (span.trace, place) in self.spans:
                return True
            place = self.parents.get((span.trace, place), "")
            if not place:
                break
        return False


def _id(of: Mapping[str, Any], kind: str) -> str:
    return str(of.get(f"{kind}Id") or of.get(f"{kind}_id") or "")


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _error(span: Mapping[str, Any], of: Mapping[str, Any]) -> Any:
    """What went wrong in a span, ``None`` where nothing did."""
    status = span.get("status")
    status = status if isinstance(status, Mapping) else {}
    kind = of.get("error.type")
    if status.get("code") in (2, "STATUS_CODE_ERROR", "ERROR") or kind:
        return {"message": status.get("message") or kind or "error", "type": kind}
    return None


def _texts(of: Mapping[str, Any]) -> dict[str, Any]:
    """Prompt, messages and reply of a span."""
    system, asked_for, said = (
        parsed(of.get(f"gen_ai.{name}")) for name in ("system_instructions", "input.messages", "output.messages")
    )
    before = turns_of(asked_for)
    if isinstance(system, list) and system and before and before[0]["role"] != "system":
        before = [*turns_of([{"role": "system", "parts": system}]), *before]
    after = turns_of(said)
    return asked(before or as_text(asked_for), after or as_text(said))


def _scores(evaluations: list[dict[str, Any]]) -> dict[str, Any]:
    """The evaluations of a span by name: their value, and beside it what a label says that is a verdict."""
    found: dict[str, Any] = {}
    for of in evaluations:
        name, value, label = str(of.get(_NAME) or "evaluation"), of.get(_SCORE), of.get(_LABEL)
        word = isinstance(label, str) and label.strip().lower() in RIGHT | WRONG
        if value is None:
            found.setdefault(name, label if word else None)
        else:
            found.setdefault(name, value)
            if word:
                found.setdefault(f"{name}.label", label)
    return found


def _reason(evaluations: list[dict[str, Any]], name: str | None) -> dict[str, Any]:
    """Why the reward is what it is."""
    told = [
        of.get("gen_ai.evaluation.explanation") for of in evaluations if name and of.get(_NAME) in (name, name[:-6])
    ]
    return {"reason": told[0]} if told and isinstance(told[0], str) else {}
