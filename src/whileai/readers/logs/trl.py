"""TRL: the completions that a trainer logs, ``completions_{step}.parquet``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from whileai.keys import default_task_id
from whileai.readers.logs.base import Format, Log
from whileai.readers.logs.chat import asked, unpacked
from whileai.readers.logs.head import Head
from whileai.readers.logs.scored import Repeats, Scored, numbers_of
from whileai.readers.logs.scores import Survey
from whileai.readers.logs.tables import table_rows

#: Columns that are no reward functions.
PLAIN = ("step", "prompt", "completion", "advantage", "mode")


class TrlCompletions(Format):
    """The completions of a step of GRPO or RLOO: a row each, grouped by prompt.

    Every reward function has a column; their weights, and so the total, are not in the file. The first that lies in
    [0, 1] is the reward, or a column named ``reward`` where there is one; ``filter=`` names another.
    """

    name = "trl"
    what = "a table of TRL completions"

    def sniff(self, head: Head) -> bool:
        """Prompts and completions of a step."""
        return head.kind == "parquet" and {"step", "prompt", "completion"} <= set(head.columns)

    def read(self, log: Log) -> Iterator[dict[str, Any]]:
        """The rows of one or several steps."""
        columns = log.head.columns
        thin = [name for name in columns if name not in ("prompt", "completion")]
        survey, steps = Survey(), set()
        for line in table_rows(log, thin):
            steps.add(line.get("step"))
            for name, value in numbers_of(line, PLAIN).items():
                survey.add(name, value)
            for name in columns:  # None in a column of numbers is a reward that was not given
                if line.get(name) is None and name not in PLAIN:
                    survey.add(name, None)
        scored, repeats = Scored(log, survey, ("reward",), what="reward_function"), Repeats()
        for line in table_rows(log, columns if log.texts else [*thin, "prompt"]):
            prompt = unpacked(line.get("prompt"))
            if not prompt:
                log.skip("rows without a prompt")
                continue
            task = default_task_id(prompt)
            task = f"step_{line['step']}/{task}" if len(steps) > 1 else task
            row = {"task_id": task, "rollout_index": repeats.next(task)}
            if log.texts:
                row |= asked(prompt, unpacked(line.get("completion")))
            yield row | scored.keys({name: line.get(name) for name in survey.seen}) | _rest(line, survey)
        scored.finish()

    def eval_name(self, head: Head) -> str | None:
        """The step, so that the tasks of a folder of steps stay apart."""
        step = next((row.get("step") for row in table_rows(Log(head, "read"), ["step"])), None)
        return None if step is None else f"step_{step}"


def _rest(line: Mapping[str, Any], survey: Survey) -> dict[str, Any]:
    """The step, the advantage, and what else is no reward."""
    row = {name: line[name] for name in ("step", "advantage") if line.get(name) is not None}
    known = {"step", "advantage", "prompt", "completion", *survey.seen}
    rest = {name: value for name, value in line.items() if name not in known and value is not None}
    return {**row, "metadata": rest} if rest else row
