"""LangSmith: runs with the feedback on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from whileai.readers.logs.base import Format, Log
from whileai.readers.logs.chat import asked
from whileai.readers.logs.head import Head
from whileai.readers.logs.platform_texts import given_of, reply_of
from whileai.readers.logs.scored import Repeats, Scored, failed, id_of
from whileai.readers.logs.scores import RIGHT, WRONG, Survey
from whileai.result.digits import count


class LangsmithRuns(Format):
    """The runs of a LangSmith experiment: a row for each outermost one, grouped by example."""

    name = "langsmith"
    what = "an export of LangSmith runs"

    def sniff(self, head: Head) -> bool:
        """Runs with inputs and outputs, of an example or of a kind."""
        keys = set(head.first)
        told = not {"reference_example_id", "feedback_stats", "run_type"}.isdisjoint(keys)
        return told and not {"inputs", "outputs"}.isdisjoint(keys)

    def read(self, log: Log) -> Iterator[dict[str, Any]]:
        """The rows of all outermost runs."""
        thin = ("id", "parent_run_id", "reference_example_id", "feedback", "feedback_stats", "error", "extra", "inputs")
        survey = Survey()
        for run in log.again().records(*thin):
            if run.get("parent_run_id") is None:
                for name, (value, _) in _scores(run).items():
                    survey.add(name, value)
        scored, repeats, n_inner = Scored(log, survey, what="feedback"), Repeats(), 0
        for run in log.records(*(() if log.texts else thin)):
            if run.get("parent_run_id") is not None:
                n_inner += 1
                continue
            given, example = run.get("inputs"), run.get("reference_example_id")
            if example is None and not given:
                log.skip("runs without an example and inputs")
                continue
            task = str(example) if example is not None else id_of(given)
            row: dict[str, Any] = {"task_id": task, "rollout_index": repeats.next(task)}
            if log.texts:
                row |= asked(given_of(given), reply_of(run.get("outputs")))
                gold = run.get("reference_outputs")
                row |= {"privileged": {"reference": reply_of(gold)}} if gold else {}
            scores = _scores(run)
            row |= scored.keys({name: value for name, (value, _) in scores.items()})
            reason = scores[scored.name][1] if scored.name in scores else None
            row |= {"reason": reason} if log.texts and isinstance(reason, str) and reason else {}
            if run.get("error"):  # what judges gave a run that broke is of nothing
                row |= failed(run["error"])
            extra = run.get("extra")
            metadata = extra.get("metadata") if isinstance(extra, Mapping) else None
            yield row | ({"metadata": dict(metadata)} if isinstance(metadata, Mapping) and metadata else {})
        if n_inner:
            log.note(
                "inner_runs", f"{count(n_inner, 'run')} inside others {'was' if n_inner == 1 else 'were'} passed over."
            )
        scored.finish()


def _scores(run: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """The feedback on a run by its key, each with its comment; a value counts where it is a verdict in a word."""
    found: dict[str, tuple[Any, Any]] = {}
    listed = run.get("feedback")
    for of in listed if isinstance(listed, list) else ():
        if isinstance(of, Mapping):
            score, value = of.get("score"), of.get("value")
            if score is None and isinstance(value, str) and value.strip().lower() in RIGHT | WRONG:
                score = value
            found.setdefault(str(of.get("key")), (score, of.get("comment")))
    stats = run.get("feedback_stats")
    for key, of in stats.items() if isinstance(stats, Mapping) else ():
        found.setdefault(str(key), (of.get("avg") if isinstance(of, Mapping) else None, None))
    return found
