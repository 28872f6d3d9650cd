"""verifiers from version 1 on: the traces of a run, ``traces.jsonl``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from whileai.readers.logs.base import Format, Log
from whileai.readers.logs.chat import said
from whileai.readers.logs.decoding import Wanted
from whileai.readers.logs.head import Head
from whileai.readers.logs.scored import Repeats, Scored, failed, id_of, numbers_of, snapped
from whileai.readers.logs.scores import Survey, verdict_of

_IN_TRACE = ("agent", "ok", "errors", "rewards", "metrics", "stop_condition", "is_completed", "task")
#: What rows need of an episode, whose messages lie in the nodes of its traces, and of a trace that is a line itself.
THIN: tuple[Wanted, ...] = (*_IN_TRACE, "group", *(("traces", name) for name in _IN_TRACE))


class VerifiersTraces(Format):
    """The traces of a verifiers run: a row for every trace of one agent, grouped by task.

    The reward is the sum of the weighted rewards; one that was not given leaves the trace unscored. Where an episode
    has several agents, the first with rewards is read, or the one that ``filter=`` names.
    """

    name = "verifiers-traces"
    what = "a file of verifiers traces"

    def sniff(self, head: Head) -> bool:
        """Episodes of a task, or traces of one."""
        found = head.first
        task = found.get("task")
        one = {"nodes", "rewards"} <= set(found) or {"rewards", "agent"} <= set(found)
        return isinstance(task, Mapping) and (one or isinstance(found.get("traces"), list))

    def read(self, log: Log) -> Iterator[dict[str, Any]]:
        """The rows of all traces of the agent."""
        survey = Survey()
        agents: dict[str, bool] = {}
        for line in log.again().records(*THIN):
            for trace in _traces(line):
                rewarded = bool(trace.get("rewards"))
                agents[_agent(trace)] = agents.get(_agent(trace), False) or rewarded
        names = sorted(agents, key=lambda name: not agents[name]) or ["agent"]
        agent = log.pick(names, "agent") if len(names) > 1 else names[0]
        for line in log.again().records(*THIN):
            for trace in _traces(line):
                if _agent(trace) == agent and not _has_failed(trace):
                    for name, value in _scores(trace).items():
                        survey.add(name, value)
        scored, repeats = Scored(log, survey, ("reward",), others=False, choose=len(names) == 1), Repeats()
        for line in log.records(*(() if log.texts else THIN)):
            task = _task(line)
            if task is None:
                log.skip("lines without a task")
                continue
            traces = [trace for trace in _traces(line) if _agent(trace) == agent]
            if not traces:  # the episode failed before its agent began
                traces = [{"ok": False, "errors": line.get("errors")}]
            for trace in traces:
                row: dict[str, Any] = {"task_id": task, "rollout_index": repeats.next(task)}
                if log.texts:
                    row |= _texts(line, trace)
                yield row | _verdict(trace, scored) | _stamps(trace, agent)
        scored.finish()


def _traces(line: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The traces of an episode, or the one that the line is."""
    traces = line.get("traces")
    if isinstance(traces, list):
        return [trace for trace in traces if isinstance(trace, Mapping)]
    return [line] if "rewards" in line else []


def _agent(trace: Mapping[str, Any]) -> str:
    """The name of the agent that a trace is of."""
    agent = trace.get("agent")
    name = agent.get("name") if isinstance(agent, Mapping) else agent
    return name if isinstance(name, str) else "agent"


def _task(line: Mapping[str, Any]) -> str | None:
    """The key of a task, else its hash, its place in the data, or a digest of the data."""
    task = line.get("task")
    if not isinstance(task, Mapping):
        return None
    data = task.get("data")
    data = data if isinstance(data, Mapping) else {}
    named = (task.get("key"), task.get("hash"), data.get("idx"), data.get("example_id"))
    found = next((name for name in named if name is not None), None)
    return str(found) if found is not None else id_of(data) if data else None


def _has_failed(trace: Mapping[str, Any]) -> bool:
    """Whether a trace failed for good; errors of attempts before the last do not count where it says that all is ok."""
    return trace["ok"] is not True if isinstance(trace.get("ok"), bool) else bool(trace.get("errors"))


def _scores(trace: Mapping[str, Any]) -> dict[str, Any]:
    """The total of a trace's rewards, each of them, and its metrics."""
    rewards = trace.get("rewards")
    parts = dict(rewards) if isinstance(rewards, Mapping) else {}
    found: dict[str, Any] = {"reward": None, **numbers_of(trace.get("metrics"))}
    total = 0.0
    for name, part in parts.items():
        score = part.get("score") if isinstance(part, Mapping) else part
        weight = part.get("weight", 1.0) if isinstance(part, Mapping) else 1.0
        marker = verdict_of(score).marker
        if marker is None or not isinstance(weight, (int, float)):
            return {**found, "reward": None}
        total += marker * weight
        if len(parts) > 1:
            found[str(name)] = score
    return {**found, "reward": snapped(total) if parts else None}


def _verdict(trace: Mapping[str, Any], scored: Scored) -> dict[str, Any]:
    scores = _scores(trace)
    if not _has_failed(trace):
        return scored.keys(scores)
    errors = trace.get("errors")
    last = errors[-1] if isinstance(errors, list) and errors else trace.get("stop_condition")
    return scored.keys({**scores, "reward": None}) | failed(last)


def _stamps(trace: Mapping[str, Any], agent: str) -> dict[str, Any]:
    row: dict[str, Any] = {"agent": agent}
    if isinstance(trace.get("stop_condition"), str):
        row["stop_condition"] = trace["stop_condition"]
        if trace["stop_condition"] in ("max_turns", "max_input_tokens", "max_output_tokens", "max_total_tokens"):
            row["truncated"] = True
    return row


def _texts(line: Mapping[str, Any], trace: Mapping[str, Any]) -> dict[str, Any]:
    """The conversation on the last branch of a trace's messages, and the gold of its task."""
    task = line.get("task")
    data = task.get("data") if isinstance(task, Mapping) else None
    data = data if isinstance(data, Mapping) else {}
    row = said(_last_branch(trace.get("nodes")), data.get("prompt"))
    if not row["prompt"]:
        row["prompt"] = next((data[key] for key in ("question", "instruction") if isinstance(data.get(key), str)), "")
    if isinstance(trace.get("root_reply"), str):
        row["final_text"] = trace["root_reply"]
    if data.get("answer") not in (None, ""):
        row["privileged"] = {"reference": data["answer"]}
    return row


def _last_branch(nodes: Any) -> list[Any]:
    """The messages from the root to the last leaf of a graph of messages, each of which names its parent."""
    found = [node if isinstance(node, Mapping) else {} for node in nodes] if isinstance(nodes, list) else []
    parents = {node["parent"] for node in found if isinstance(node.get("parent"), int)}
    place: Any = next((place for place in range(len(found) - 1, -1, -1) if place not in parents), None)
    path: list[Any] = []
    while isinstance(place, int) and 0 <= place < len(found) and len(path) <= len(found):
        path.append(found[place].get("message"))
        place = found[place].get("parent")
    return path[::-1]
