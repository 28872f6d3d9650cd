"""OpenAI evals: the events of a run, ``*.jsonl``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from whileai.readers.logs.base import Format, Log
from whileai.readers.logs.chat import as_text, asked
from whileai.readers.logs.head import Head
from whileai.readers.logs.scored import Scored, failed, numbers_of
from whileai.readers.logs.scores import Survey

#: Lines that are no events of a sample.
FRAME = ("spec", "final_report")


class OpenAIEvals(Format):
    """The events of a run of OpenAI evals, put together: a row for every sample.

    Whether the sample matched is the reward, else its first metric in [0, 1]. A sample that ran on after its time was
    up is logged twice; its first verdict counts.
    """

    name = "openai-evals"
    what = "a log of OpenAI evals"

    def sniff(self, head: Head) -> bool:
        """The specification of a run, or events of samples."""
        spec = head.first.get("spec")
        if isinstance(spec, Mapping) and not {"eval_name", "completion_fns", "run_id"}.isdisjoint(spec):
            return True
        return {"run_id", "event_id", "type", "data"} <= set(head.first)

    def eval_name(self, head: Head) -> str | None:
        """The eval of the specification."""
        spec = head.first.get("spec")
        name = spec.get("eval_name") if isinstance(spec, Mapping) else None
        return name if isinstance(name, str) else None

    def read(self, log: Log) -> Iterator[dict[str, Any]]:
        """The rows, once all events were read: those of one sample stand apart."""
        samples: dict[str, _Sample] = {}
        for line in log.records("sample_id", "type", "data", *FRAME):
            if any(name in line for name in FRAME):
                continue
            if line.get("sample_id") is None or not isinstance(line.get("data"), Mapping):
                log.skip("events without a sample")
                continue
            sample = samples.setdefault(str(line["sample_id"]), _Sample())
            if not sample.take(str(line.get("type")), line["data"], texts=log.texts):
                log.skip("verdicts of samples that have one")
        survey = Survey()
        for sample in samples.values():
            for name, value in sample.scores().items():
                survey.add(name, value)
        scored, model = Scored(log, survey, ("correct",), what="metric"), _model(log.head)
        for name, sample in samples.items():
            row: dict[str, Any] = {"task_id": name, "rollout_index": 0}
            if log.texts:
                row |= sample.said()
            row |= scored.keys(sample.scores())
            if row["reward"] is None and sample.error is not None:
                row |= failed(sample.error)
            yield row if model is None else {**row, "model": model}
        scored.finish()


def _model(head: Head) -> str | None:
    """The model of the specification."""
    spec = head.first.get("spec")
    models = spec.get("completion_fns") if isinstance(spec, Mapping) else None
    return str(models[0]) if isinstance(models, list) and models else None


@dataclass(slots=True)
class _Sample:
    """What the events of one sample say."""

    match: Mapping[str, Any] | None = None
    metrics: Mapping[str, Any] | None = None
    error: Any = None
    samplings: list[tuple[Any, Any]] = field(default_factory=list)

    def take(self, kind: str, data: Mapping[str, Any], *, texts: bool) -> bool:
        """Take in an event; no for a verdict where there is one."""
        if kind == "match":
            if self.match is not None:
                return False
            self.match = data if texts else {"correct": data.get("correct")}
        elif kind == "metrics":
            if self.metrics is not None:
                return False
            self.metrics = data
        elif kind == "error":
            self.error = data
        elif kind == "sampling" and texts:
            self.samplings.append((data.get("prompt"), data.get("sampled")))
        return True

    def scores(self) -> dict[str, Any]:
        """Whether it matched, and its metrics."""
        found = numbers_of(self.metrics)
        return {"correct": self.match.get("correct"), **found} if self.match is not None else found

    def said(self) -> dict[str, Any]:
        """The prompt and the reply: the first that was sampled where a model graded it after that, else the last."""
        graded = self.metrics is not None and "choice" in self.metrics
        prompt, reply = (self.samplings[0] if graded else self.samplings[-1]) if self.samplings else (None, None)
        if isinstance(reply, list) and len(reply) == 1:
            reply = reply[0]
        row = asked(prompt, as_text(reply))
        gold = self.match.get("expected") if self.match is not None else None
        return {**row, "privileged": {"reference": gold}} if gold is not None else row
