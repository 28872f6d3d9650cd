"""lm-eval: the lines of ``samples_*.jsonl``, and the summary that lies beside them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from whileai import params
from whileai.keys import digest
from whileai.readers.logs.base import Companion, Format, Log
from whileai.readers.logs.head import Head
from whileai.readers.logs.lm_eval_texts import Answers, answers_of, gold_of, prompt_of
from whileai.readers.logs.scores import INVALID, UNSCORED, Survey
from whileai.result.digits import count

#: Keys of a line that are no metric, for logs that do not name their metrics.
NO_METRICS = frozenset(
    ("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "schema_version")
)
_named = re.compile(r"samples_(.+)_\d{4}-\d\d-\d\dT[\d.:-]+\.jsonl?(?:\.gz|\.zst)?")


class LmEvalSamples(Format):
    """The samples of one lm-eval task: a completion a row.

    A log has a line for every document and every filter; one filter is read, the first unless ``filter=`` names
    another, a metric, or both as lm-eval prints them (``acc_norm,none``). Of k completions of a document the verdict
    belongs to what the filter made of them, so each is left unjudged.
    """

    name = "lm-eval"
    what = "a file of lm-eval samples"
    model_is_folder = True

    def sniff(self, head: Head) -> bool:
        """Documents with responses."""
        return (
            "doc_id" in head.first and "resps" in head.first and ("filtered_resps" in head.first or "doc" in head.first)
        )

    def eval_name(self, head: Head) -> str | None:
        """The task, which only the name of the file says."""
        found = _named.fullmatch(head.path.name)
        return found[1] if found else None

    def read(self, log: Log) -> Iterator[dict[str, Any]]:
        """The rows of one filter."""
        reading = _Reading(log, self.eval_name(log.head))
        for line in log.records():
            yield from reading.rows(line)
        reading.finish()


class LmEvalResults(Companion):
    """``results_*.json``: the summary of a run."""

    name = ""
    what = "a summary of lm-eval results"
    fix = "Read the samples_*.jsonl beside it (lm-eval writes them with --log_samples)."

    def sniff(self, head: Head) -> bool:
        """Results with the versions and settings of tasks."""
        return head.is_document and {"results", "configs"} <= set(head.keys) and "samples" not in head.keys


class _Reading:
    """One log being read.

    It is gone through twice: for the filters and metrics it has and the range of each, then for the rows.
    """

    def __init__(self, log: Log, task: str | None) -> None:
        self.log = log
        self.task = task
        self.surveys: dict[str, Survey] = {}
        self.n_lines: Counter[str] = Counter()
        self._look_through()
        self.filter, self.metric = self._chosen()
        self.survey = self.surveys.get(self.filter, Survey())
        self.seen: set[tuple[str, str]] = set()
        self.n_repeated = self.n_single = self.n_odd = 0

    def _look_through(self) -> None:
        """Take every line's verdicts into the survey of its filter; what is skipped is counted later.

        Only metrics are decoded. Which there are the first lines say; where a later one names more, all is read again.
        """
        names = {name for line in self.log.head.records for name in _named_metrics(line)}
        missed: set[str] = {""}
        while missed:
            missed = set()
            self.surveys.clear()
            self.n_lines.clear()
            for line in Log(self.log.head, self.log.call).records("filter", "metrics", *names):
                name = _filter_of(line)
                self.n_lines[name] += 1
                survey = self.surveys.setdefault(name, Survey())
                missed.update(metric for metric in _named_metrics(line) if metric not in names)
                for metric in _metrics(line):
                    survey.add(metric, line[metric])
            names |= missed

    def _chosen(self) -> tuple[str, str | None]:
        """The filter to read and the metric that is the reward: what the caller chose, else the first."""
        first = next(iter(self.surveys), "none")
        asked = self.log.choice
        if asked is None or not self.surveys:
            return first, self.surveys[first].first() if self.surveys else None
        metrics = list(dict.fromkeys(name for survey in self.surveys.values() for name in survey.seen))
        both = {f"{metric},{name}": (name, metric) for name, survey in self.surveys.items() for metric in survey.seen}
        known = [*self.surveys, *metrics, *both]
        params.one_of(self.log.call, "filter", asked, known, what=f"a filter or a metric of {self.log.path}")
        if asked in self.surveys:
            return asked, self.surveys[asked].first()
        return both.get(asked) or next((name, asked) for name, of in self.surveys.items() if asked in of.seen)

    def rows(self, line: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """The rows of one line, none where it is of another filter."""
        if line.get("doc_id") is None:
            self.log.skip("lines without a doc_id")
            return
        if _filter_of(line) != self.filter:
            return
        task = str(line["doc_id"])
        mark = (task, digest(repr(line.get("resps"))))
        if mark in self.seen:
            self.log.skip("lines that stand there twice")
            return
        self.seen.add(mark)
        yield from self._completions(line, task)

    def _completions(self, line: Mapping[str, Any], task: str) -> Iterator[dict[str, Any]]:
        """A row for each completion of a document."""
        answers = answers_of(line)
        several = len(answers.texts) > 1
        verdicts = {name: self.survey.verdict(name, line[name]) for name in _metrics(line)}
        verdict = verdicts.get(self.metric or "", UNSCORED)
        self.n_odd += verdict.status == INVALID.status and not several
        self.n_single += not several
        if several:
            self.n_repeated += 1
            verdict = UNSCORED
        if verdict.reward is not None:
            verdicts.pop(self.metric or "")  # a marker would say the same again
        markers = {name: of.marker for name, of in verdicts.items() if of.marker is not None}
        shared: dict[str, Any] = {"judge_name": f"{self.metric},{self.filter}", "judge_status": verdict.status}
        if markers:
            shared["markers"] = markers
        if self.task is not None:
            shared["eval"] = self.task
        if isinstance(line.get("doc"), Mapping):
            shared["metadata"] = line["doc"]
        texts = self._texts(line, answers) if self.log.texts else {}
        for place, text in enumerate(answers.texts):
            row = {"task_id": task, "rollout_index": place, **texts}
            if self.log.texts:
                row["final_text"] = text
            yield {**row, "reward": verdict.reward, **shared}

    def _texts(self, line: Mapping[str, Any], answers: Answers) -> dict[str, Any]:
        """What the rows of a line share of texts."""
        row = prompt_of(line)
        gold = gold_of(line, answers)
        if gold is not None:
            row["privileged"] = {"reference": gold}
        filtered = line.get("filtered_resps")
        if isinstance(filtered, list) and filtered and answers.is_free:
            row["judge_meta"] = {"filtered": filtered[0]}
        return row

    def finish(self) -> None:
        """Say what was chosen, and what else there was."""
        log, metric = self.log, self.metric
        others = [f"{name} ({n:,})" for name, n in self.n_lines.items() if name != self.filter]
        if others:
            text = f"filter {self.filter} was read ({count(self.n_lines[self.filter], 'line')}), and not "
            log.note("filter_chosen", f"{text}{', '.join(others)}: the same documents.", "Choose with filter=.")
        rest = [name for name in self.survey.seen if name != metric]
        if metric is not None and rest and log.choice is None and self.n_single and self.survey.seen[metric].n_rewards:
            kept = "is kept as a marker" if len(rest) == 1 else "are kept as markers"
            text = f"metric {metric} is the reward, {', '.join(rest[:6])} beside it {kept}."
            log.note("metric_chosen", text, "Choose with filter=.")
        if self.n_odd:
            text = f"{metric} is no reward in [0, 1] on {count(self.n_odd, 'document')}."
            log.note("score_no_reward", text, "Numbers are markers of that name; the documents are unscored.")
        if self.n_repeated:
            verb, names = "has" if self.n_repeated == 1 else "have", list(self.survey.seen)[:6]
            text = (
                f"{count(self.n_repeated, 'document')} {verb} several completions and one verdict, on what the filter "
            )
            named = f"{' and '.join(names)} {'is a marker' if len(names) == 1 else 'are markers'}"
            text += f"made of them; each completion is left unjudged, and {named}."
            log.note("repeats_unjudged", text, "Judge each with wai.grade(rows, verifier).")


def _filter_of(line: Mapping[str, Any]) -> str:
    """The filter of a line; early logs have one and do not name it."""
    name = line.get("filter")
    return name if isinstance(name, str) else "none"


def _named_metrics(line: Mapping[str, Any]) -> list[str]:
    """The names of a line's metrics; early logs do not name them, and keep them beside keys that are known."""
    names = line.get("metrics")
    if isinstance(names, list):
        return [name for name in names if isinstance(name, str)]
    return [name for name in line if name not in NO_METRICS and not name.endswith("_hash")]


def _metrics(line: Mapping[str, Any]) -> list[str]:
    """The metrics that stand in a line."""
    return [name for name in _named_metrics(line) if name in line]
