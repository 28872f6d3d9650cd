"""lighteval: the details of a task, ``details_{task}_{date}.parquet``."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from whileai.readers.logs.base import Format, Log
from whileai.readers.logs.chat import turns_of
from whileai.readers.logs.head import Head
from whileai.readers.logs.scored import Scored
from whileai.readers.logs.scores import Survey
from whileai.readers.logs.tables import fields_of, query_rows
from whileai.result.digits import count


class LightevalDetails(Format):
    """The documents of a lighteval task: a completion a row.

    A document has one value for each metric, of all its completions together. Where there are several, each is left
    without a reward and the metrics are markers.
    """

    name = "lighteval"
    what = "a table of lighteval details"

    def sniff(self, head: Head) -> bool:
        """Documents beside what the model answered and the metrics of that."""
        columns = set(head.columns)
        return head.kind == "parquet" and {"doc", "model_response"} <= columns and not columns.isdisjoint(_METRICS)

    def eval_name(self, head: Head) -> str | None:
        """The task."""
        log = Log(head, "read")
        if "task_name" not in fields_of(log).get("doc", ()):
            return None
        name = next((row["name"] for row in query_rows(log, "doc.task_name AS name")), None)
        return name if isinstance(name, str) and name else None

    def read(self, log: Log) -> Iterator[dict[str, Any]]:
        """The rows of all documents."""
        name = next(name for name in _METRICS if name in log.head.columns)
        survey = Survey()
        for line in query_rows(log, f'"{name}" AS metric'):
            for metric, value in _metrics(line).items():
                survey.add(metric, value)
        scored, n_several = Scored(log, survey, what="metric"), 0
        for place, line in enumerate(query_rows(log, f'"{name}" AS metric, {_columns(log)}')):
            texts = line["texts"] if log.texts else [None] * max(1, line["n_texts"] or 0)
            keys = scored.keys(_metrics(line) if len(texts or ()) < 2 else {})
            if len(texts or ()) > 1:
                n_several += 1
                numbers = {key: float(value) for key, value in _metrics(line).items() if _is_number(value)}
                keys |= {"markers": numbers} if numbers else {}
            doc = line["doc"] if isinstance(line["doc"], Mapping) else {}
            given = doc.get("id")
            task = str(place) if given in (None, "") else str(given)
            for index, text in enumerate(texts or [None]):
                row: dict[str, Any] = {"task_id": task, "rollout_index": index}
                if log.texts:
                    row |= _texts(doc, line["answer"]) | ({"final_text": text} if text is not None else {})
                yield row | keys | _stamps(doc)
        scored.finish()
        if n_several:
            verb = "has" if n_several == 1 else "have"
            text = f"{count(n_several, 'document')} {verb} several completions and one value for each metric, which is "
            text += "of them all; each completion is left unjudged, and the metrics are markers."
            log.note("repeats_unjudged", text, "Judge each with wai.grade(rows, verifier).")


_METRICS = ("metric", "metrics")


def _columns(log: Log) -> str:
    """The columns to read: of documents and answers only the ids and counts where no texts are asked for."""
    fields = fields_of(log)
    text = "model_response.text" if "text" in fields["model_response"] else "[]"
    if log.texts:
        return f"doc, model_response AS answer, {text} AS texts"
    thin = ", ".join(f"{name} := doc.{name}" for name in ("id", "task_name") if name in fields["doc"])
    return f"{f'struct_pack({thin})' if thin else 'NULL'} AS doc, len({text}) AS n_texts"


def _metrics(line: Mapping[str, Any]) -> dict[str, Any]:
    """The metrics of a document; one that other documents have and this lacks is left out."""
    found = line["metric"]
    return {str(key): value for key, value in found.items() if value is not None} if isinstance(found, Mapping) else {}


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and math.isfinite(value)


def _stamps(doc: Mapping[str, Any]) -> dict[str, Any]:
    return {"eval": doc["task_name"]} if isinstance(doc.get("task_name"), str) else {}


def _texts(doc: Mapping[str, Any], answer: Any) -> dict[str, Any]:
    """Prompt and gold of a document, and the likeliest choice where the model was asked for likelihoods alone."""
    row: dict[str, Any] = {"prompt": doc.get("query") or "", "final_text": ""}
    turns = turns_of(answer.get("input")) if isinstance(answer, Mapping) else []
    if turns:
        row["messages"] = turns
    choices = doc.get("choices")
    choices = [str(choice) for choice in choices] if isinstance(choices, list) else []
    places = doc.get("gold_index")
    places = places if isinstance(places, list) else [places]
    golds = [choices[place] for place in places if isinstance(place, int) and 0 <= place < len(choices)]
    if golds:
        row["privileged"] = {"reference": golds[0] if len(golds) == 1 else golds}
    scores = answer.get("logprobs") if isinstance(answer, Mapping) else None
    if isinstance(scores, list) and len(scores) == len(choices) > 1 and all(map(_is_number, scores)):
        row["final_text"] = choices[max(range(len(scores)), key=scores.__getitem__)].strip()
    return row
