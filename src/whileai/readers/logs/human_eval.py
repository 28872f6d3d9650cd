"""HumanEval, and what follows it: samples of programs, and their results."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from whileai.readers.logs.base import Format, Log
from whileai.readers.logs.head import Head
from whileai.readers.logs.scored import Repeats, judged
from whileai.readers.logs.scores import LATE, UNSCORED, Verdict, verdict_of

#: What a line may hold, so that rows with more than a sample are not taken for one.
SAMPLE = frozenset({"task_id", "completion", "solution", "_identifier", "completion_id", "raw_solution", "entry_point"})
#: What rows need beside the programs.
THIN = ("task_id", "passed", "result")
_task = re.compile(r"[A-Za-z][\w+-]*/\d+")


class HumanEvalSamples(Format):
    """Samples without results, which have no reward yet, and with results: a row each, grouped by task.

    ``passed`` is the reward; a program that ``timed out`` has none.
    """

    name = "human-eval"
    what = "a file of HumanEval samples or results"

    def sniff(self, head: Head) -> bool:
        """Programs for tasks named like ``HumanEval/0``, with nothing beside them but whether they passed."""
        found = head.first
        if not {"completion", "solution"} & set(found) or not isinstance(found.get("task_id"), str):
            return False
        if "passed" in found and "result" in found:
            return True
        return set(found) <= SAMPLE and _task.fullmatch(found["task_id"]) is not None

    def read(self, log: Log) -> Iterator[dict[str, Any]]:
        """The rows of all samples."""
        repeats, n_judged = Repeats(), 0
        for line in log.records(*(() if log.texts else THIN)):
            if line.get("task_id") is None:
                log.skip("lines without a task_id")
                continue
            task = str(line["task_id"])
            row: dict[str, Any] = {"task_id": task, "rollout_index": repeats.next(task)}
            if log.texts:
                program = line.get("completion", line.get("solution"))
                row["final_text"] = program if isinstance(program, str) else ""
            verdict = _verdict(line)
            n_judged += verdict is not UNSCORED
            row |= judged(verdict, "human-eval")
            result = line.get("result")
            if isinstance(result, str) and result not in ("passed", ""):
                row["reason"] = result
            yield row
        if not n_judged:
            fix = "Run their tests with the benchmark, or wai.grade(rows, wai.verify.CodeExec())."
            log.note("samples_without_results", "these are samples, which nobody has judged yet.", fix)


def _verdict(line: Mapping[str, Any]) -> Verdict:
    """Whether a program passed; one that ran out of time is stored as one that did not."""
    result = line.get("result")
    if isinstance(result, str) and result.strip().lower() in LATE and line.get("passed") is not True:
        return Verdict(None, "timeout")
    verdict = verdict_of(line.get("passed"))
    return UNSCORED if verdict == UNSCORED else verdict
