"""promptfoo: the results of an evaluation, as ``-o`` writes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from whileai.readers.logs.base import Format, Log
from whileai.readers.logs.chat import as_text, asked, unpacked
from whileai.readers.logs.decoding import Wanted
from whileai.readers.logs.head import Head
from whileai.readers.logs.scored import Repeats, failed, id_of, judged, numbers_of
from whileai.readers.logs.scores import UNSCORED, verdict_of
from whileai.result.digits import count

#: Where the results stand in a document.
RESULTS = ("results", "results")
#: What rows need beside prompts and outputs; what tells tests apart is in their variables.
THIN: tuple[Wanted, ...] = (
    "promptIdx", "testIdx", "testCase", "vars", "success", "score", "namedScores", "failureReason", "error",
    ("provider", "id"), ("provider", "label"), ("prompt", "label"), ("response", "cached"), ("gradingResult", "pass"),
    ("gradingResult", "reason"), ("gradingResult", "componentResults", "pass"),
    ("gradingResult", "componentResults", "score"), ("gradingResult", "componentResults", "assertion"), "promptId",
)  # fmt: skip
ERROR = 2


class PromptfooResults(Format):
    """The results of a promptfoo evaluation: a row each, grouped by test.

    ``success`` is the reward; an error (``failureReason`` 2) has none. The score, named scores and every assertion are
    markers. Of several providers or prompts the first is read, or the one that ``filter=`` names.
    """

    name = "promptfoo"
    what = "the results of a promptfoo evaluation"

    def sniff(self, head: Head) -> bool:
        """A document of results inside results, or lines of them."""
        if _is_result(head.first):
            return True
        inside = head.first.get("results") if head.is_document else None
        if not isinstance(inside, Mapping):
            return False
        told = "evalId" in head.keys or not {"stats", "prompts", "table"}.isdisjoint(inside)
        items = inside.get("results")
        return told and (items is None or (isinstance(items, list) and all(map(_is_result, items[:3]))))

    def read(self, log: Log) -> Iterator[dict[str, Any]]:
        """The rows of one provider and prompt."""
        arms = _arms(log)
        name = log.pick(list(arms), "provider") if arms else ""
        repeats, cached, answered = Repeats(), 0, Counter[str]()
        for result in _results(log, () if log.texts else THIN):
            if _arm(result) != arms[name]:
                continue
            task = _task(result)
            row: dict[str, Any] = {"task_id": task, "rollout_index": repeats.next(task)}
            response = result.get("response")
            response = response if isinstance(response, Mapping) else {}
            answered[task] += 1
            cached += response.get("cached") is True and answered[task] > 1
            if log.texts:
                row |= _texts(result, response)
            row |= _verdict(result) | {"model": _provider(result)}
            if isinstance(result.get("vars"), Mapping) and result["vars"]:
                row["metadata"] = dict(result["vars"])
            yield row
        if cached:
            text = f"{count(cached, 'repeat')} came from promptfoo's cache: the same reply again, not another try."
            log.note("cached_repeats", text, "Run with --no-cache for repeats that count.")


def _is_result(found: Any) -> bool:
    if not isinstance(found, Mapping) or "success" not in found:
        return False
    keys = {"testIdx", "promptIdx", "gradingResult", "testCase", "failureReason", "namedScores"}
    return "vars" in found and not keys.isdisjoint(found)


def _results(log: Log, names: tuple[Wanted, ...]) -> Iterator[dict[str, Any]]:
    """The results of a document or of lines; what is none is counted."""
    whole = not log.head.is_list and not _is_result(log.head.first)
    for result in log.items(RESULTS, *names) if whole else log.records(*names):
        if "success" in result or result.get("error"):
            yield result
        else:
            log.skip("results without a verdict")


def _provider(result: Mapping[str, Any]) -> str:
    """The provider by its label, else its id."""
    of = result.get("provider")
    if isinstance(of, Mapping):
        of = of.get("label") or of.get("id")
    return of if isinstance(of, str) else ""


def _arm(result: Mapping[str, Any]) -> tuple[str, str]:
    """What a result is one of several answers of: a provider and a prompt."""
    return _provider(result), str(result.get("promptIdx", result.get("promptId", "")))


def _arms(log: Log) -> dict[str, tuple[str, str]]:
    """The arms of the evaluation by name: the provider, with its prompt where there are several."""
    labels: dict[tuple[str, str], str] = {}
    names: tuple[Wanted, ...] = ("success", "error", "provider", "promptIdx", "promptId", ("prompt", "label"))
    for result in _results(log.again(), names):
        prompt = result.get("prompt")
        label = prompt.get("label") if isinstance(prompt, Mapping) else None
        place = _arm(result)[1]
        short = label if isinstance(label, str) and 0 < len(label) <= 60 and "\n" not in label else f"prompt {place}"
        labels.setdefault(_arm(result), short)
    several = len({place for _, place in labels}) > 1
    return {(f"{arm[0]} {label}" if several else arm[0]) or "all": arm for arm, label in labels.items()}


def _task(result: Mapping[str, Any]) -> str:
    """The id of a test: what it asks and asserts, which its repeats share and its place does not."""
    case = result.get("testCase")
    case = case if isinstance(case, Mapping) else {}
    variables = case.get("vars") if isinstance(case.get("vars"), Mapping) else result.get("vars")
    return id_of([variables, case.get("assert"), case.get("description")])


def _verdict(result: Mapping[str, Any]) -> dict[str, Any]:
    """Reward, status, reason and markers of a result."""
    grading = result.get("gradingResult")
    grading = grading if isinstance(grading, Mapping) else {}
    markers = _markers(result, grading)
    row: dict[str, Any] = {"markers": markers} if markers else {}
    error = result.get("error")
    known = result.get("failureReason")
    if known == ERROR or (known is None and error and not grading):
        return failed(error)  # its scores are zeros that nobody gave
    row |= judged(verdict_of(result["success"]) if "success" in result else UNSCORED, "promptfoo")
    reason = grading.get("reason")
    return {**row, "reason": reason} if isinstance(reason, str) and reason else row


def _markers(result: Mapping[str, Any], grading: Mapping[str, Any]) -> dict[str, float]:
    """The score, the named scores, and the score of every assertion by its metric or its type."""
    markers = {name: float(value) for name, value in numbers_of({"score": result.get("score")}).items()}
    parts = grading.get("componentResults")
    seen: Counter[str] = Counter()
    for part in parts if isinstance(parts, list) else []:
        assertion = part.get("assertion") if isinstance(part, Mapping) else None
        if not isinstance(assertion, Mapping):
            continue
        name = str(assertion.get("metric") or assertion.get("type") or "assert")
        seen[name] += 1
        marker = verdict_of(part.get("score", part.get("pass"))).marker
        if marker is not None:
            markers[name if seen[name] == 1 else f"{name}#{seen[name]}"] = marker
    return markers | {name: float(value) for name, value in numbers_of(result.get("namedScores")).items()}


def _texts(result: Mapping[str, Any], response: Mapping[str, Any]) -> dict[str, Any]:
    prompt = result.get("prompt")
    raw = prompt.get("raw") if isinstance(prompt, Mapping) else prompt
    return asked(unpacked(raw), as_text(response.get("output")))
