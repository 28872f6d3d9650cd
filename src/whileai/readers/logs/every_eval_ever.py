"""every_eval_ever: the samples of an evaluation, ``*_samples.jsonl``, and the summary beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from whileai.readers.logs.base import Companion, Format, Log
from whileai.readers.logs.chat import asked, said, turns_of
from whileai.readers.logs.head import Head
from whileai.readers.logs.scored import Repeats, Scored, failed, numbers_of
from whileai.readers.logs.scores import UNSCORED, Survey
from whileai.result.digits import count

#: What rows need beside the texts.
THIN = ("sample_id", "evaluation_name", "evaluation_result_id", "model_id", "evaluation", "error", "metadata")


class EveryEvalEverSamples(Format):
    """The samples of an evaluation in the registry's form: a row for every completion.

    The score is the reward, or whether the answer is correct where scores do not lie in [0, 1]. A sample that several
    results of one evaluation are of has a line for each; one result is read.
    """

    name = "every-eval-ever"
    what = "a file of every_eval_ever samples"

    def sniff(self, head: Head) -> bool:
        """Samples of an evaluation with what they scored."""
        return {"sample_id", "evaluation"} <= set(head.first) and not {"evaluation_id", "evaluation_name"}.isdisjoint(
            head.first
        )

    def read(self, log: Log) -> Iterator[dict[str, Any]]:
        """The rows of one result of each evaluation."""
        results: dict[str, list[str]] = {}
        for line in log.again().records("evaluation_name", "evaluation_result_id"):
            held = results.setdefault(_name(line), [])
            if _result(line) not in held:
                held.append(_result(line))
        several = [result for held in results.values() if len(held) > 1 for result in held]
        if several:
            chosen = {name: held[0] for name, held in results.items()}
            picked = log.pick(several, "result")
            chosen |= {name: picked for name, held in results.items() if picked in held}
        else:
            chosen = {name: held[0] for name, held in results.items()}
        survey = Survey()
        for line in log.again().records(*THIN):
            if chosen[_name(line)] == _result(line):
                for name, value in _scores(line).items():
                    survey.add(name, value)
        first = ("score", "is_correct")
        scored, repeats, n_several = Scored(log, survey, first, others=False, choose=not several), Repeats(), 0
        for line in log.records(*THIN, "output", *(("input", "messages") if log.texts else ())):
            if line.get("sample_id") is None:
                log.skip("lines without a sample_id")
                continue
            if chosen[_name(line)] != _result(line):
                continue
            task = str(line["sample_id"])
            task = f"{_name(line)}/{task}" if len(results) > 1 else task
            replies = _replies(line)
            n_several += len(replies) > 1
            keys = _verdict(line, scored, len(replies)) | _stamps(line)
            for reply in replies:
                row: dict[str, Any] = {"task_id": task, "rollout_index": repeats.next(task)}
                yield row | (_texts(line, reply) if log.texts else {}) | keys
        scored.finish()
        if n_several:
            text = (
                f"{count(n_several, 'sample')} with several completions and one verdict of them all; each completion "
            )
            log.note("repeats_unjudged", f"{text}is left unjudged.", "Judge each with wai.grade(rows, verifier).")


class EveryEvalEverResults(Companion):
    """The summary of an evaluation that its samples lie beside."""

    name = ""
    what = "a summary of every_eval_ever results"
    fix = "Read the *_samples.jsonl beside it."

    def sniff(self, head: Head) -> bool:
        """Results of an evaluation of a model."""
        return head.is_document and {"evaluation_id", "model_info"} <= set(head.keys)


def _name(line: Mapping[str, Any]) -> str:
    return str(line.get("evaluation_name") or "")


def _result(line: Mapping[str, Any]) -> str:
    """The one of several results of an evaluation that a line is of."""
    return str(line.get("evaluation_result_id") or "")


def _replies(line: Mapping[str, Any]) -> list[Any]:
    """The completions of a sample, one that is a conversation as nothing."""
    output = line.get("output")
    raw = output.get("raw") if isinstance(output, Mapping) else output
    return raw if isinstance(raw, list) and raw else [raw if isinstance(raw, str) else None]


def _scores(line: Mapping[str, Any]) -> dict[str, Any]:
    """The score of a line, and whether it is right where that says something else."""
    of = line.get("evaluation")
    of = of if isinstance(of, Mapping) else {}
    found = {"score": of.get("score"), **numbers_of(of, ("score", "is_correct"))}
    return {**found, "is_correct": of["is_correct"]} if isinstance(of.get("is_correct"), bool) else found


def _verdict(line: Mapping[str, Any], scored: Scored, n_replies: int) -> dict[str, Any]:
    scores = _scores(line)
    if line.get("error"):
        return failed(line["error"])
    if n_replies > 1:
        row = scored.keys({**scores, scored.name or "score": None})
        return {**row, "reward": None, "judge_status": UNSCORED.status}
    row = scored.keys(scores)
    if row["reward"] is not None and scored.name == "score":
        row.get("markers", {}).pop("is_correct", None)  # it would say the same again
    return row if row.get("markers", True) else {key: value for key, value in row.items() if key != "markers"}


def _stamps(line: Mapping[str, Any]) -> dict[str, Any]:
    stamps = {"eval": line.get("evaluation_name"), "model": line.get("model_id")}
    row: dict[str, Any] = {name: value for name, value in stamps.items() if isinstance(value, str)}
    if isinstance(line.get("metadata"), Mapping) and line["metadata"]:
        row["metadata"] = dict(line["metadata"])
    return row


def _texts(line: Mapping[str, Any], reply: Any) -> dict[str, Any]:
    given = line.get("input")
    given = given if isinstance(given, Mapping) else {}
    prompt = given.get("raw")
    turns = turns_of(line.get("messages"))
    row = said(turns, prompt) if turns and reply is None else asked(prompt, reply)
    gold = given.get("reference")
    if isinstance(gold, list):
        gold = gold[0] if len(gold) == 1 else gold
    return {**row, "privileged": {"reference": gold}} if gold not in (None, "", []) else row
