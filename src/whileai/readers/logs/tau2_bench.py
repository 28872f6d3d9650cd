"""tau2-bench: the simulations of a run, in one document or one file each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from whileai.readers.logs.base import Companion, Format, Log
from whileai.readers.logs.chat import said, turns_of
from whileai.readers.logs.decoding import Wanted, decoder
from whileai.readers.logs.head import Head
from whileai.readers.logs.json_stream import Place
from whileai.readers.logs.scored import Repeats, failed, judged, numbers_of, snapped
from whileai.readers.logs.scores import UNSCORED, verdict_of

RESULTS, FOLDER = "results.json", "simulations"
SIMULATIONS: Place = ("simulations",)
#: What rows need beside the conversation.
THIN: tuple[Wanted, ...] = (
    "id", "task_id", "trial", "seed", "termination_reason", ("reward_info", "reward"),
    ("reward_info", "reward_breakdown"), ("info", "error"),
)  # fmt: skip
#: Ends of a simulation that say nothing of the agent, which tau2-bench leaves out of its own metrics too.
FAILED = frozenset({"infrastructure_error", "context_window_exceeded", "unexpected_error"})


class Tau2Simulations(Format):
    """The simulations of tau2-bench: a row each.

    One that the infrastructure ended is an error, one that ran out of time a time-out, whatever reward is stored with
    it; one that nobody evaluated has no reward.
    """

    name = "tau2-bench"
    what = "the simulations of a tau2-bench run"

    def sniff(self, head: Head) -> bool:
        """The settings, tasks and simulations of a run, one simulation, or the folder of a run."""
        if head.kind == "folder":
            return {RESULTS, FOLDER} <= head.members
        return _is_simulation(head.first) or (
            head.is_document and _is_run(head) and "simulation_index" not in head.keys
        )

    def eval_name(self, head: Head) -> str | None:
        """The domain."""
        return _domain(head.first.get("info"))

    def read(self, log: Log) -> Iterator[dict[str, Any]]:
        """The rows of all simulations."""
        maker = _RowMaker(log)
        if log.head.kind == "folder":
            yield from maker.of_folder()
        elif _is_run(log.head):
            yield from maker.of_document()
        else:
            for simulation in _whole_or_lines(log):
                yield from maker.rows(simulation)
        maker.finish()


class Tau2Index(Companion):
    """``results.json`` of a run whose simulations lie in a folder beside it."""

    name = ""
    what = "the index of a tau2-bench run, whose simulations lie in files of their own"
    fix = "Read its folder."

    def sniff(self, head: Head) -> bool:
        """The settings, the tasks, and an index of the simulations."""
        return head.is_document and _is_run(head) and "simulation_index" in head.keys


def _is_run(head: Head) -> bool:
    """Whether a document has the settings and tasks of a run; its simulations may come after what is looked at."""
    info = head.first.get("info")
    settings = {"num_trials", "environment_info", "agent_info", "user_info"}
    return "tasks" in head.keys and isinstance(info, Mapping) and not settings.isdisjoint(info)


def _is_simulation(found: Mapping[str, Any]) -> bool:
    return {"task_id", "termination_reason"} <= set(found) and not {"reward_info", "trial"}.isdisjoint(found)


def _whole_or_lines(log: Log) -> Iterator[Mapping[str, Any]]:
    """The simulations of a file that holds one, or several as a list or lines."""
    if log.head.kind == "json" and not log.head.is_list:
        document = log.document()
        if isinstance(document, Mapping):
            yield document
    else:
        yield from log.records(*(() if log.texts else THIN))


def _domain(info: Any) -> str | None:
    place = info.get("environment_info") if isinstance(info, Mapping) else None
    name = place.get("domain_name") if isinstance(place, Mapping) else None
    return name if isinstance(name, str) else None


class _RowMaker:
    """Makes the rows of one run, whose settings and tasks stand before its simulations."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.repeats = Repeats()
        self.info: Mapping[str, Any] = {}
        self.prompts: dict[str, str] = {}
        self.n_tasks = self.n_rows = 0

    def of_document(self) -> Iterator[dict[str, Any]]:
        """The rows of a run in one document, streamed."""
        names = () if self.log.texts else THIN
        for place, value in self.log.decoded({SIMULATIONS}, ("info", "tasks"), names):
            if place == SIMULATIONS and isinstance(value, Mapping):
                yield from self.rows(value)
            elif place == SIMULATIONS:
                self.log.skip("entries that are no JSON object")
            else:
                self._settings(place[0], value)

    def of_folder(self) -> Iterator[dict[str, Any]]:
        """The rows of a run whose simulations are a file each."""
        results = self.log.beside(self.log.path / RESULTS)
        for place, value in results.decoded((), ("info", "tasks", "simulation_index")):
            self._settings(place[0], value)
        decode = decoder(() if self.log.texts else THIN)
        for path in sorted((self.log.path / FOLDER).glob("*.json")):
            simulation = None
            with self.log.beside(path).opened() as file:
                try:
                    simulation = decode(file.read())
                except ValueError:
                    self.log.skip("simulations that are no JSON")
                    continue
            if isinstance(simulation, Mapping):
                yield from self.rows(simulation)
            else:
                self.log.skip("simulations that are no JSON object")

    def _settings(self, name: str, value: Any) -> None:
        """Take in what the run says of itself."""
        if name == "info" and isinstance(value, Mapping):
            self.info = value
        elif name == "tasks" and isinstance(value, list):
            self.n_tasks = len(value)
            tasks = [task for task in value if isinstance(task, Mapping)]
            self.prompts = {str(task.get("id")): _prompt(task) for task in tasks} if self.log.texts else {}

    def rows(self, simulation: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """The row of a simulation."""
        if simulation.get("task_id") is None:
            self.log.skip("simulations without a task_id")
            return
        task, trial = str(simulation["task_id"]), simulation.get("trial")
        place = self.repeats.next(task)
        row: dict[str, Any] = {"task_id": task, "rollout_index": trial if isinstance(trial, int) else place}
        if self.log.texts:
            row |= said(_messages(simulation), self.prompts.get(task))
        row |= _verdict(simulation)
        for name in ("termination_reason", "seed"):
            if simulation.get(name) is not None:
                row[name] = simulation[name]
        agent = self.info.get("agent_info")
        if isinstance(agent, Mapping) and isinstance(agent.get("llm"), str):
            row["model"] = agent["llm"]
        self.n_rows += 1
        yield row

    def finish(self) -> None:
        """Say where simulations that were planned are missing."""
        trials = self.info.get("num_trials")
        planned = trials * self.n_tasks if isinstance(trials, int) else 0
        if self.n_rows < planned:
            text = f"{self.n_rows:,} of {planned:,} planned simulations are in the log."
            self.log.note("run_not_whole", text, "A task with fewer trials counts as much as one with all.")


def _verdict(simulation: Mapping[str, Any]) -> dict[str, Any]:
    """Reward, status and markers: an end that is nobody's failure comes before the reward that is stored."""
    reason, held = str(simulation.get("termination_reason")), simulation.get("reward_info")
    if reason in FAILED or reason == "timeout":
        info = simulation.get("info")
        error = info.get("error") if isinstance(info, Mapping) else None
        return failed(error if isinstance(error, str) and error else reason, reason)
    if not isinstance(held, Mapping):
        return judged(UNSCORED, "tau2-bench")
    row = judged(verdict_of(snapped(held.get("reward"))), "tau2-bench")
    markers = {name: float(value) for name, value in numbers_of(held.get("reward_breakdown")).items()}
    return {**row, "markers": markers} if markers else row


def _messages(simulation: Mapping[str, Any]) -> list[Any]:
    """The conversation; where it was spoken, what the ticks hold of it."""
    messages = simulation.get("messages")
    if isinstance(messages, list):
        return [inner for message in messages for inner in _flat(message)]
    ticks = simulation.get("ticks")
    ticks = [tick for tick in ticks if isinstance(tick, Mapping)] if isinstance(ticks, list) else []
    names = ("user_chunk", "user_message", "agent_chunk", "agent_message")
    return [turn for tick in ticks for name in names for turn in turns_of([tick.get(name)]) if turn["content"]]


def _flat(message: Any) -> list[Any]:
    """A message, or the several answers of tools that one holds."""
    inner = message.get("tool_messages") if isinstance(message, Mapping) else None
    return inner if isinstance(inner, list) else [message]


def _prompt(task: Mapping[str, Any]) -> str:
    """What the simulated user of a task was told."""
    scenario = task.get("user_scenario")
    told = scenario.get("instructions") if isinstance(scenario, Mapping) else scenario
    if isinstance(told, Mapping):
        told = "\n".join(str(told[key]) for key in ("reason_for_call", "task_instructions") if told.get(key))
    return told if isinstance(told, str) else ""
