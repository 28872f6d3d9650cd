"""verifiers: the rollouts of an evaluation, ``results.jsonl``, and the ``metadata.json`` beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from whileai.readers.logs.base import Companion, Format, Log
from whileai.readers.logs.chat import asked
from whileai.readers.logs.head import Head
from whileai.readers.logs.scored import Repeats, Scored, failed, numbers_of
from whileai.readers.logs.scores import Survey

#: What rows need beside the texts.
THIN = ("example_id", "reward", "metrics", "error", "stop_condition", "is_truncated", "task", "env_id")


class VerifiersResults(Format):
    """The rollouts of a verifiers evaluation: a row each, grouped by ``example_id``.

    A rollout with an error is stored with the reward 0, which nobody gave; it is an error here. Metrics are markers.
    """

    name = "verifiers"
    what = "a file of verifiers rollouts"

    def sniff(self, head: Head) -> bool:
        """Examples with a reward and what was said."""
        found = head.first
        return {"example_id", "reward"} <= set(found) and not {"completion", "metrics", "is_completed"}.isdisjoint(
            found
        )

    def read(self, log: Log) -> Iterator[dict[str, Any]]:
        """The rows of all rollouts."""
        survey, several = Survey(), set()
        for line in log.again().records(*THIN):
            several.add(_env(line))
            if line.get("error") is None:
                for name, value in _scores(line).items():
                    survey.add(name, value)
        scored, repeats = Scored(log, survey, ("reward",), others=False), Repeats()
        for line in log.records(*(() if log.texts else THIN)):
            if line.get("example_id") is None:
                log.skip("lines without an example_id")
                continue
            task = str(line["example_id"])
            task = f"{_env(line)}/{task}" if len(several) > 1 else task
            row: dict[str, Any] = {"task_id": task, "rollout_index": repeats.next(task)}
            if log.texts:
                row |= asked(line.get("prompt"), line.get("completion"))
                if line.get("answer") not in (None, ""):
                    row["privileged"] = {"reference": line["answer"]}
            scores = _scores(line)
            if line.get("error") is not None:
                row |= scored.keys({**scores, "reward": None}) | failed(line["error"], line.get("stop_condition"))
            else:
                row |= scored.keys(scores)
            yield row | _stamps(line)
        scored.finish()


class VerifiersMetadata(Companion):
    """``metadata.json``: the settings and means of a run."""

    name = ""
    what = "the settings and means of a verifiers run"
    fix = "Read the results.jsonl beside it."

    def sniff(self, head: Head) -> bool:
        """An environment, a model, and how many examples and rollouts."""
        keys = set(head.keys)
        return head.is_document and {"env_id", "num_examples", "rollouts_per_example"} <= keys


def _env(line: Mapping[str, Any]) -> str:
    """The environment of a rollout, where several were evaluated together."""
    return str(next((line[name] for name in ("env_id", "task") if isinstance(line.get(name), str)), ""))


def _scores(line: Mapping[str, Any]) -> dict[str, Any]:
    return {"reward": line.get("reward"), **numbers_of(line.get("metrics"), ("reward",))}


def _stamps(line: Mapping[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {"eval": _env(line)} if _env(line) else {}
    if line.get("is_truncated") is True:
        row["truncated"] = True
    if isinstance(line.get("stop_condition"), str):
        row["stop_condition"] = line["stop_condition"]
    if isinstance(line.get("info"), Mapping) and line["info"]:
        row["metadata"] = dict(line["info"])
    return row
