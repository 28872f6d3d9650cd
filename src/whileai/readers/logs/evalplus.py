"""EvalPlus: the results of samples on the base tests of a benchmark and on those it adds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from whileai.readers.logs.base import Format, Log
from whileai.readers.logs.head import Head
from whileai.readers.logs.scored import judged, listed
from whileai.readers.logs.scores import UNSCORED, Verdict, verdict_of

STATUS = ("base_status", "plus_status")


class EvalPlusResults(Format):
    """The results of EvalPlus: a row for every sample.

    A sample passes where it passes the base tests *and* those added; ``filter="base"`` takes the base tests alone. One
    that failed neither and ran out of time on either has no reward.
    """

    name = "evalplus"
    what = "a file of EvalPlus results"

    def sniff(self, head: Head) -> bool:
        """Results by task, each a list of samples with two states."""
        results = head.first.get("eval") if head.is_document else None
        if not isinstance(results, Mapping) or "task" in results:
            return False
        return any(map(_is_judged, results.values()))

    def read(self, log: Log) -> Iterator[dict[str, Any]]:
        """The rows of all samples."""
        results = log.document()
        results = results.get("eval") if isinstance(results, Mapping) else None
        tasks = [(str(task), _samples(of)) for task, of in results.items()] if isinstance(results, Mapping) else []
        states = [sample.get(STATUS[1]) for _, samples in tasks for sample in samples]
        plus = any(state is not None for state in states)
        chosen = log.pick(["plus", "base"] if plus else ["base"], "verdict")
        for task, samples in tasks:
            for place, sample in enumerate(samples):
                row: dict[str, Any] = {"task_id": task, "rollout_index": place}
                if log.texts:
                    program = sample.get("solution", sample.get("completion"))
                    row["final_text"] = program if isinstance(program, str) else ""
                base, added = (verdict_of(sample.get(name)) for name in STATUS)
                row |= judged(base if chosen == "base" else _both(base, added), f"evalplus {chosen}")
                markers = {name: of.marker for name, of in (("base", base), ("plus", added)) if of.marker is not None}
                yield {**row, "markers": markers} if markers else row
        if not plus and tasks:
            text = "the samples were run on the base tests alone; that is the verdict."
            log.note("base_only", text)


def _is_judged(of: Any) -> bool:
    """Whether what stands under a task is the results of its samples."""
    if isinstance(of, Mapping):
        return "base" in of and "plus" in of
    return isinstance(of, list) and bool(of) and isinstance(of[0], Mapping) and "base_status" in of[0]


def _samples(of: Any) -> list[Mapping[str, Any]]:
    """The samples of a task, in either form that EvalPlus has written them in."""
    if isinstance(of, Mapping):  # early: a list of [state, details] for each set of tests
        base, plus = (list(listed(of.get(name))) for name in ("base", "plus"))
        plus += [None] * (len(base) - len(plus))
        pairs = zip(base, plus, strict=False)
        return [dict(zip(STATUS, (_state(one), _state(two)), strict=True)) for one, two in pairs]
    return [sample for sample in of if isinstance(sample, Mapping)] if isinstance(of, list) else []


def _state(result: Any) -> Any:
    return result[0] if isinstance(result, list) and result else result


def _both(base: Verdict, plus: Verdict) -> Verdict:
    """The verdict of both: failed where either failed, passed where both passed, else what is missing of them."""
    if 0 in (base.reward, plus.reward):
        return Verdict(0, "ok", 0.0)
    if base.reward == plus.reward == 1:
        return base
    return next((of for of in (base, plus) if of.status != "ok"), UNSCORED)
