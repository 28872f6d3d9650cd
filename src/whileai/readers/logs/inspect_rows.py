"""A sample or the summary of one, as Inspect writes them -> a row."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from whileai.keys import is_messages, last_user_text, text_of
from whileai.readers.logs.base import Log
from whileai.readers.logs.inspect_messages import resolved, turns_of
from whileai.readers.logs.scores import INVALID, UNSCORED, Survey, flat_scores
from whileai.result.digits import count

#: What statistics need of a sample, and what only its texts are in.
THIN_FIELDS = ("id", "epoch", "metadata", "scores", "score", "error", "limit", "uuid", "completed")
SCORE_FIELDS = ("scores", "score")
TEXT_FIELDS = ("input", "target", "choices", "messages", "output", "attachments")
#: What the one score of logs of the first versions is called, which hold it without its scorer's name.
ALONE = "score"
LETTERS = {"C": 1, "I": 0, "P": 0.5, "N": 0}
#: What summaries put in the place of a long value, and how long their texts are at most.
REMOVED, LONGEST = "Key removed from summary (> 1k)", 1000
_late = re.compile(r"\W*(?:[a-z_]+\.)*\w*Time(?:d)?[Oo]ut\w*")


class Score(NamedTuple):
    """One value, the record it stands in, and whether it is all of that record's value."""

    value: Any
    record: Mapping[str, Any]
    whole: bool


def survey_sample(survey: Survey, sample: Mapping[str, Any]) -> None:
    """Take the scores of a sample into a survey."""
    for name, score in scores_of(sample).items():
        survey.add(name, score.value, LETTERS, whole=score.whole)


def scores_of(sample: Mapping[str, Any]) -> dict[str, Score]:
    """Every single score of a sample by its name."""
    scores = sample.get("scores")
    if not isinstance(scores, Mapping) or not scores:
        scores = {ALONE: sample["score"]} if isinstance(sample.get("score"), Mapping) else {}
    found: dict[str, Score] = {}
    for name, record in scores.items():
        of = record if isinstance(record, Mapping) else {"value": record}
        parts = flat_scores(str(name), of.get("value"))
        found |= {part: Score(value, of, part == str(name)) for part, value in parts.items()}
    return found


class RowMaker:
    """Makes the rows of one log.

    Parameters
    ----------
    header : mapping
        The log's header.
    survey : Survey
        All its scores.

    Raises
    ------
    ParamError
        The caller chose a scorer that the log does not have.
    """

    def __init__(self, log: Log, header: Mapping[str, Any], survey: Survey) -> None:
        self.log = log
        self.header = header
        self.survey = survey
        self.scorer = survey.first()
        if log.choice is not None and survey.seen:
            self.scorer = log.pick(list(survey.seen), "scorer")
        self.n_rows = self.n_odd = self.n_scored_errors = 0
        self.odd: Any = None

    def needs_sample(self, summary: Mapping[str, Any]) -> bool:
        """Whether a summary leaves out what is asked for: texts, or metadata that it cut."""
        if self.log.texts:
            return True
        metadata = summary.get("metadata")
        if not self.log.needs("metadata") or self.log.wanted is None or not isinstance(metadata, Mapping):
            return False
        asked = {key.partition(".")[2].partition(".")[0] for key in self.log.wanted if key.startswith("metadata")}
        values = metadata.values() if "" in asked else [metadata.get(name) for name in asked]
        return any(isinstance(value, str) and (value == REMOVED or len(value) >= LONGEST) for value in values)

    def rows(self, sample: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """The row of a sample; none of one that has no id."""
        if sample.get("id") is None:
            self.log.skip("samples without an id")
            return
        epoch = sample.get("epoch") if isinstance(sample.get("epoch"), int) else 1
        row: dict[str, Any] = {"task_id": str(sample["id"]), "rollout_index": max(0, int(epoch or 1) - 1)}
        if self.log.texts:
            row |= _texts(sample)
        row |= self._verdict(sample)
        row |= {"epoch": epoch, **self._stamps()}
        if isinstance(sample.get("metadata"), Mapping) and sample["metadata"]:
            row["metadata"] = dict(sample["metadata"])
        if sample.get("uuid"):
            row["sample_uuid"] = sample["uuid"]
        self.n_rows += 1
        yield row

    def _stamps(self) -> dict[str, Any]:
        """Where the row is from."""
        spec = self.header.get("eval")
        if not isinstance(spec, Mapping):
            return {}
        stamps = {"eval": spec.get("task"), "model": spec.get("model")}
        return {name: value for name, value in stamps.items() if isinstance(value, str)}

    def _verdict(self, sample: Mapping[str, Any]) -> dict[str, Any]:
        """Reward, status, reason and markers of a sample."""
        markers, chosen, held = {}, UNSCORED, None
        for name, (value, record, _) in scores_of(sample).items():
            verdict = self.survey.verdict(name, value, LETTERS)
            if name == self.scorer:
                chosen, held = verdict, record
            if verdict.marker is not None and (name != self.scorer or verdict.reward is None):
                markers[name] = verdict.marker
            if name == self.scorer and verdict.status == INVALID.status:
                self.n_odd, self.odd = self.n_odd + 1, value if self.n_odd == 0 else self.odd
        row: dict[str, Any] = {"reward": chosen.reward, "judge_status": chosen.status}
        if self.scorer is not None:
            row["judge_name"] = self._name_alone() if self.scorer == ALONE else self.scorer
        reason = _reason(held) if held is not None else None
        if reason and self.log.texts:
            row["reason"] = reason
        error = _message(sample.get("error"))
        if error is not None:
            row["error"] = error
            if chosen.reward is None:
                row["judge_status"] = "timeout" if _late.match(error) else "error"
            else:
                self.n_scored_errors += 1
        limit = sample.get("limit")
        kind = limit.get("type") if isinstance(limit, Mapping) else limit
        if isinstance(kind, str):
            row["limit"] = kind
            if error is None and chosen.reward is None and kind in ("time", "working"):
                row["judge_status"] = "timeout"
        if markers:
            row["markers"] = markers
        return row

    def _name_alone(self) -> str:
        """The scorer of a log that keeps its scores without a name, which only its results say."""
        results = self.header.get("results")
        scorer = results.get("scorer") if isinstance(results, Mapping) else None
        name = scorer.get("name") if isinstance(scorer, Mapping) else scorer
        return name if isinstance(name, str) else ALONE

    def finish(self) -> None:
        """Say what the reading as a whole showed."""
        log, scorer, names = self.log, self.scorer, list(self.survey.seen)
        if names and scorer is None:
            text = f"no scorer gives one value: {', '.join(names[:6])}; they were read as markers."
            log.note("no_single_score", text, "Choose the reward with filter=.")
        elif scorer is not None and log.choice is None:
            log.pick([scorer, *(name for name in names if name != scorer)], "scorer")
        if self.n_odd:
            odd = self.odd if scorer is None or self.survey.is_reward(scorer) else self.survey.seen[scorer].outside
            text = f"{scorer} is no reward in [0, 1] on {count(self.n_odd, 'sample')}, such as {odd!r}."
            log.note("score_no_reward", text, "Numbers are markers of that name; the samples are unscored.")
        if self.n_scored_errors:
            text = f"{count(self.n_scored_errors, 'sample')} failed and were scored all the same."
            log.note("scored_errors", text, "Their scores were taken, as Inspect does.")
        self._note_run()

    def _note_run(self) -> None:
        """Whether the run ended well and whole."""
        status, spec = self.header.get("status"), self.header.get("eval")
        planned = _planned(self.header, spec)
        if status not in ("success", None) or (planned is not None and self.n_rows < planned):
            of = "" if planned is None else f" of {planned:,}"
            text = f"the run has status {status}, and {self.n_rows:,}{of} samples are in its log."
            self.log.note("run_not_whole", text)
        if self.header.get("invalidated"):
            self.log.note("invalidated", "someone marked samples of this log as invalid; they were read all the same.")


def _planned(header: Mapping[str, Any], spec: Any) -> int | None:
    """How many samples the run was to have, epochs included, where the log says so."""
    results = header.get("results")
    total = results.get("total_samples") if isinstance(results, Mapping) else None
    if isinstance(total, int) and total > 0:
        return total
    dataset = spec.get("dataset") if isinstance(spec, Mapping) else None
    ids = dataset.get("sample_ids") if isinstance(dataset, Mapping) else None
    config = spec.get("config") if isinstance(spec, Mapping) else None
    epochs = config.get("epochs") if isinstance(config, Mapping) else None
    return len(ids) * (epochs if isinstance(epochs, int) else 1) if isinstance(ids, list) and ids else None


def _reason(score: Mapping[str, Any]) -> str | None:
    """Why a score is what it is."""
    for key in ("explanation", "reason"):
        if isinstance(score.get(key), str) and score[key]:
            return str(score[key])
    return None


def _message(error: Any) -> str | None:
    """The message of an error, ``None`` where there was none."""
    if isinstance(error, Mapping):
        error = error.get("message") or error.get("traceback") or "error"
    return error if isinstance(error, str) else None


def _texts(sample: Mapping[str, Any]) -> dict[str, Any]:
    """Prompt, messages, reply and gold of a whole sample."""
    attachments = sample.get("attachments")
    attachments = attachments if isinstance(attachments, Mapping) else {}
    row: dict[str, Any] = {}
    given = resolved(sample.get("input"), attachments)
    row["prompt"] = last_user_text(given) if is_messages(given) else given if isinstance(given, str) else ""
    messages = turns_of(sample, attachments)
    if messages:
        row["messages"] = messages
    output = sample.get("output")
    output = output if isinstance(output, Mapping) else {}
    choices = output.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], Mapping) else {}
    message = choice.get("message")
    said = text_of(message.get("content")) if isinstance(message, Mapping) else None
    row["final_text"] = resolved(said if said is not None else output.get("completion") or "", attachments)
    if isinstance(choice.get("stop_reason"), str):
        row["stop_reason"] = choice["stop_reason"]
    target = resolved(sample.get("target"), attachments)
    if target not in (None, "", []):
        row["privileged"] = {"reference": target}
    if sample.get("choices"):
        row["choices"] = resolved(sample["choices"], attachments)
    return row
