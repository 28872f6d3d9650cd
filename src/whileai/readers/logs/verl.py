"""verl: the rollouts of a training or validation step, ``{step}.jsonl``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from whileai.keys import default_task_id
from whileai.readers.logs.base import Format, Log
from whileai.readers.logs.chat import asked, unpacked
from whileai.readers.logs.head import Head
from whileai.readers.logs.scored import Repeats, Scored, numbers_of
from whileai.readers.logs.scores import Survey

#: Keys of a line that are no scores.
TEXTS = ("input", "output", "gts", "ground_truth")
PLACES = ("step", "uid", "data_source", "request_id", "rollout_id", "sample_index")


class VerlRollouts(Format):
    """The rollouts that verl dumps: a completion a row.

    A task is what has one ``uid``, or one prompt where there are none, in one step: another step is another policy. The
    reward is the score; where that does not lie in [0, 1], the accuracy beside it.
    """

    name = "verl"
    what = "a file of verl rollouts"

    def sniff(self, head: Head) -> bool:
        """Input, output and score of a step."""
        found = head.first
        return {"input", "output", "score"} <= set(found) and ("step" in found or "gts" in found)

    def eval_name(self, head: Head) -> str | None:
        """The step, so that the tasks of a folder of steps stay apart."""
        step = head.first.get("step")
        return f"step_{step}" if step is not None and not isinstance(step, (dict, list)) else None

    def read(self, log: Log) -> Iterator[dict[str, Any]]:
        """The rows of one or several steps."""
        names = tuple(dict.fromkeys(key for record in log.head.records for key in record if key not in TEXTS))
        survey, steps = Survey(), set()
        for line in log.again().records(*names):
            steps.add(str(line.get("step")))
            for name, value in _scores(line).items():
                survey.add(name, value)
        scored, repeats = Scored(log, survey, ("score", "acc", "reward"), others=False), Repeats()
        for line in log.records(*(() if log.texts else (*names, "input"))):
            task = _task(line)
            if task is None:
                log.skip("lines without an input")
                continue
            task = f"step_{line.get('step')}/{task}" if len(steps) > 1 else task
            row = {"task_id": task, "rollout_index": repeats.next(task)}
            if log.texts:
                row |= _texts(line)
            row |= scored.keys(_scores(line))
            if line.get("step") is not None:
                row["step"] = line["step"]
            yield row | _metadata(line, survey)
        scored.finish()


def _scores(line: Mapping[str, Any]) -> dict[str, Any]:
    """The score of a line and the numbers beside it; a score that is missing is one all the same."""
    return {"score": line.get("score"), **numbers_of(line, (*TEXTS, *PLACES, "score"))}


def _task(line: Mapping[str, Any]) -> str | None:
    """What groups a line: its uid, else its prompt."""
    if line.get("uid") is not None:
        return str(line["uid"])
    prompt = line.get("input")
    return default_task_id(prompt) if isinstance(prompt, str) or (isinstance(prompt, list) and prompt) else None


def _texts(line: Mapping[str, Any]) -> dict[str, Any]:
    row = asked(unpacked(line.get("input")), line.get("output"))
    gold = next((line[name] for name in ("gts", "ground_truth") if line.get(name) is not None), None)
    return row if gold is None else {**row, "privileged": {"reference": gold}}


def _metadata(line: Mapping[str, Any], survey: Survey) -> dict[str, Any]:
    """What stands beside the scores and is none, such as the answer that was parsed."""
    rest = {
        name: value for name, value in line.items()
        if name not in TEXTS and name not in ("step", "uid") and name not in survey.seen
    }  # fmt: skip
    return {"metadata": rest} if rest else {}
