"""tau-bench: the trials of a run, one JSON list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from whileai.readers.logs.base import Format, Log
from whileai.readers.logs.chat import said
from whileai.readers.logs.decoding import Wanted
from whileai.readers.logs.head import Head
from whileai.readers.logs.scored import Repeats, failed, judged, numbers_of, snapped
from whileai.readers.logs.scores import verdict_of

#: What rows need beside the conversation.
THIN: tuple[Wanted, ...] = (
    "task_id", "reward", "trial", ("info", "error"), ("info", "reward_info", "info"), ("info", "user_cost"),
)  # fmt: skip


class TauBenchTrials(Format):
    """The trials of tau-bench: a row each.

    A trial whose agent or user could not be called is stored with the reward 0, no conversation and the error; it is an
    error here.
    """

    name = "tau-bench"
    what = "a file of tau-bench trials"

    def sniff(self, head: Head) -> bool:
        """Tasks with a reward and a trajectory."""
        found, info = head.first, head.first.get("info")
        told = isinstance(info, Mapping) and not {"reward_info", "traceback"}.isdisjoint(
            info
        )  # the rest may be cut off
        return {"task_id", "reward"} <= set(found) and ("traj" in found or told)

    def read(self, log: Log) -> Iterator[dict[str, Any]]:
        """The rows of all trials."""
        repeats = Repeats()
        for trial in log.records(*(() if log.texts else THIN)):
            if trial.get("task_id") is None:
                log.skip("trials without a task_id")
                continue
            task, number = str(trial["task_id"]), trial.get("trial")
            place = repeats.next(task)
            row: dict[str, Any] = {"task_id": task, "rollout_index": number if isinstance(number, int) else place}
            info = trial.get("info")
            info = info if isinstance(info, Mapping) else {}
            if log.texts:
                row |= _texts(trial, info)
            if info.get("error") is not None:
                row |= failed(info["error"])
            else:
                row |= judged(verdict_of(snapped(trial.get("reward"))), "tau-bench")
                markers = _markers(info.get("reward_info"))
                row |= {"markers": markers} if markers else {}
            yield row


def _markers(reward_info: Any) -> dict[str, float]:
    """What the reward is made of."""
    parts = reward_info.get("info") if isinstance(reward_info, Mapping) else None
    return {name: float(value) for name, value in numbers_of(parts).items()}


def _texts(trial: Mapping[str, Any], info: Mapping[str, Any]) -> dict[str, Any]:
    """The conversation; the prompt is what the simulated user was told, which is the same in every trial."""
    task = info.get("task")
    task = task if isinstance(task, Mapping) else {}
    row = said(trial.get("traj"), task.get("instruction"))
    gold = {name: task[name] for name in ("actions", "outputs") if task.get(name)}
    return {**row, "privileged": {"reference": gold}} if gold else row
