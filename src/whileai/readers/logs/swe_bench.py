"""SWE-bench: the report of a run, and the report of one instance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from whileai.readers.logs.base import Format, Log
from whileai.readers.logs.head import Head
from whileai.readers.logs.scored import failed, judged
from whileai.readers.logs.scores import UNSCORED, Verdict, verdict_of
from whileai.result.digits import count

RESOLVED, WRONG = Verdict(1, "ok", 1.0), Verdict(0, "ok", 0.0)
EMPTY = "empty patch"
#: Lists of the report that lay beside predictions before the harness ran in containers, the strongest word first.
EARLY = (
    ("resolved", "resolved"), ("no_generation", "empty"), ("no_apply", "wrong"), ("test_timeout", "timeout"),
    ("test_errored", "error"), ("install_fail", "error"), ("reset_failed", "error"), ("applied", "wrong"),
    ("generated", "error"),
)  # fmt: skip
#: The same of the report of today; an instance whose failure may be the harness's stands among the unresolved too.
LISTS = (
    ("resolved_ids", "resolved"), ("infra_failure_ids", "error"), ("empty_patch_ids", "empty"), ("error_ids", "error"),
    ("unresolved_ids", "wrong"), ("ambiguous_failure_ids", "unscored"), ("completed_ids", "unscored"),
)  # fmt: skip


class SweBenchRun(Format):
    """The report of a SWE-bench run: a row for every instance with a prediction.

    An empty patch is a failure, an instance that the harness could not judge an error, and one without a prediction no
    attempt.
    """

    name = "swe-bench"
    what = "the report of a SWE-bench run"

    def sniff(self, head: Head) -> bool:
        """Lists of instances by what became of them."""
        if not head.is_document:
            return False
        keys = set(head.keys)
        today = "resolved_ids" in keys and not {"unresolved_ids", "completed_ids", "submitted_ids"}.isdisjoint(keys)
        today = today or {"total_instances", "submitted_instances", "completed_instances"} <= keys
        return today or {"generated", "applied", "resolved"} <= keys

    def read(self, log: Log) -> Iterator[dict[str, Any]]:
        """The rows of all instances."""
        report = log.document()
        report = report if isinstance(report, Mapping) else {}
        outcomes = _outcomes(log, report, EARLY if "resolved_ids" not in report and "applied" in report else LISTS)
        reasons = report.get("failure_reasons")
        reasons = reasons if isinstance(reasons, Mapping) else {}
        for instance, outcome in outcomes.items():
            yield {"task_id": instance, "rollout_index": 0, **_verdict(outcome, reasons.get(instance))}
        missing = _ids(report, "incomplete_ids") - set(outcomes)
        if missing:
            log.skip("instances without a prediction", len(missing))
        lost = _ids(report, "submitted_ids") - set(outcomes) - missing
        if lost:
            log.skip("instances with a prediction and no outcome", len(lost))
        vague = _ids(report, "ambiguous_failure_ids") & {name for name, of in outcomes.items() if of == "wrong"}
        if vague:
            text = f"{count(len(vague), 'instance')} failed in a way that may be the harness's; they count as failed."
            log.note("ambiguous_failures", text, "The report names them under ambiguous_failure_ids.")
        if not outcomes and "total_instances" in report:
            log.note("no_ids", "the report counts instances and names none of them.")


class SweBenchInstance(Format):
    """``report.json`` of one SWE-bench instance; of a folder of a run, all of them: a row each."""

    name = "swe-bench-instance"
    what = "the report of a SWE-bench instance"

    def sniff(self, head: Head) -> bool:
        """Whether it was resolved, and its patch applied, under the name of an instance."""
        if not head.is_document or not isinstance(head.value, dict) or not head.value:
            return False
        first = next(iter(head.value.values()))
        return isinstance(first, Mapping) and "resolved" in first and _is_of_patch(first)

    def eval_name(self, head: Head) -> str | None:
        """The model, where the file lies as the harness puts it: in a folder of the instance in one of the model."""
        return _model(head)

    def read(self, log: Log) -> Iterator[dict[str, Any]]:
        """The rows of all instances in the file."""
        document, model = log.document(), _model(log.head)
        for instance, report in document.items() if isinstance(document, Mapping) else ():
            if not isinstance(report, Mapping):
                log.skip("instances without a report")
                continue
            row: dict[str, Any] = {"task_id": str(instance), "rollout_index": 0}
            if report.get("infra_failure") is True:
                row |= _verdict("error", report.get("infra_failure_reason"))
            elif report.get("resolved") is not True and (
                report.get("patch_is_None") is True or report.get("patch_exists") is False
            ):
                row |= _verdict("empty", None)
            else:
                row |= judged(verdict_of(report.get("resolved")), "swe-bench")
            markers = _markers(report.get("tests_status"))
            row |= {"markers": markers} if markers else {}
            yield row if model is None else {**row, "model": model}


def _is_of_patch(report: Mapping[str, Any]) -> bool:
    return not {"patch_is_None", "patch_exists", "patch_successfully_applied", "tests_status"}.isdisjoint(report)


def _model(head: Head) -> str | None:
    """The folder of the model, where the file lies in one of its instance."""
    folder = head.path.absolute().parent
    return folder.parent.name if folder.name in head.first else None


def _ids(report: Mapping[str, Any], name: str) -> set[str]:
    found = report.get(name)
    return {str(item) for item in found} if isinstance(found, list) else set()


def _outcomes(log: Log, report: Mapping[str, Any], lists: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """What became of each instance: the strongest word on it."""
    outcomes: dict[str, str] = {}
    for name, outcome in lists:
        if name in report and not isinstance(report[name], list):
            log.skip(f"lists that are none: {name}")
        for instance in sorted(_ids(report, name)):
            outcomes.setdefault(instance, outcome)
    return outcomes


def _verdict(outcome: str, reason: Any) -> dict[str, Any]:
    """The keys of a row for what became of its instance."""
    why = reason if isinstance(reason, str) and reason else None
    if outcome in ("error", "timeout"):
        return failed(why or ("the harness could not judge it" if outcome == "error" else "the tests timed out"),
                      "timeout" if outcome == "timeout" or (why and "timeout" in why.lower()) else None)  # fmt: skip
    if outcome == "empty":
        return {**judged(WRONG, "swe-bench"), "reason": EMPTY}
    verdict = {"resolved": RESOLVED, "wrong": WRONG}.get(outcome, UNSCORED)
    row = judged(verdict, "swe-bench")
    return row if why is None or verdict is RESOLVED else {**row, "reason": why}


def _markers(tests: Any) -> dict[str, float]:
    """The share of tests that passed, of those that should begin to and of those that should go on to."""
    markers = {}
    for name, key in (("fail_to_pass", "FAIL_TO_PASS"), ("pass_to_pass", "PASS_TO_PASS")):
        of = tests.get(key) if isinstance(tests, Mapping) else None
        if isinstance(of, Mapping):
            right, wrong = (len(of[part]) if isinstance(of.get(part), list) else 0 for part in ("success", "failure"))
            if right + wrong:
                markers[name] = right / (right + wrong)
    return markers
