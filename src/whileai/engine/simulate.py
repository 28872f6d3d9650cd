"""`wai.simulate`: an agent in planned situations, in a world that answers, refuses and sometimes breaks."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from whileai.engine.agents import Agent
from whileai.engine.allocate import ADAPTIVE, Allocation, allocated
from whileai.engine.coverage import Coverage, coverage_of
from whileai.engine.data import Made, SimulationData
from whileai.engine.driving import Driver
from whileai.engine.models import Models
from whileai.engine.options import CALL, EngineOptions, Options, resolve
from whileai.engine.plan import Plan
from whileai.engine.run import Run
from whileai.engine.store import Store, check_output
from whileai.engine.tools import Tool, as_tools
from whileai.errors import ParamError, sentence
from whileai.readers.logs.tally import told_of
from whileai.result.blocks import Note
from whileai.scoring.fingerprint import judge_version
from whileai.verify.adapt import Judge, as_judge


def simulate(
    agent: Any = None,
    *,
    tools: Sequence[Any] = (),
    system_prompt: str = "",
    mode: str = "explore",
    situations: int | None = None,
    repeats: int | None = None,
    budget: int | None = None,
    seed: int = 0,
    seeds: Any = None,
    simulator: Any = None,
    logprobs: bool | str = False,
    output: str | os.PathLike[str] | None = None,
    **options: Unpack[EngineOptions],
) -> SimulationData:
    """Rows of an agent in planned situations.

    Parameters
    ----------
    agent : callable or Endpoint, optional
        A function of ``(message)`` or ``(message, ctx)``, plain or async, or an endpoint; by default ``wai.OpenAI()``,
        read from the environment. ``ctx.call(tool, **arguments)`` reaches the world, and with it its failures.
    tools : sequence of tools
        ``@wai.tool`` functions, or schemas as OpenAI, Anthropic or MCP write them.
    system_prompt : str
        What the agent is told; its rules are an axis of the plan.
    mode : {"explore", "sft", "rl"}
        To find failures (1 rollout of a situation), for demonstrations (4), for groups with gradient (8; with
        ``judge=`` more of them where the first two disagree).
    situations : int, optional
        By default as many as cover every pair of axis values, at least 16, at most 1,000 rollouts in all.
    repeats : int, optional
        Rollouts of a situation.
    budget : int, optional
        Most rollouts, unusable ones included.
    seed : int
        Of the plan and the agent's draws. Another one gives other situations.
    seeds : optional
        Opening prompts or conversations, each kept word for word as a situation; or the rows (or their file) of an
        earlier run, whose situations are met again as they were.
    simulator : Endpoint, optional
        A model that writes the prompts; by default, and with ``False``, templates do, offline.
    logprobs : bool or "tokens"
        Whether rows carry the log-probability of what the agent said, and that of every token.
    output : path, optional
        A ``.jsonl`` file to which every row is written as it lands. The same call again goes on where it stopped.
    **options : fields of EngineOptions
        The objects ``world=WorldOptions(...)``, ``sampling=Sampling(...)``, ``users=UserOptions(...)``,
        ``run=RunOptions(...)`` of `whileai.engine.options`, or their fields by name, such as ``fault_rate=0.5``,
        ``concurrency=16``, ``timeout=60``; ``judge`` (as of `wai.grade`), which judges rows as they land; ``traces``,
        rows or logs whose failures aim the plan; ``axes``, a mapping that pins or replaces axes.

    Returns
    -------
    SimulationData
        A list of rows that every other call takes.

    Raises
    ------
    ParamError
        A value outside its bound, an unknown name, a field given twice; an `output` that holds another run. Nothing has
        been run then.
    ScorerError
        Another run writes to `output`.
    OSError
        `output` cannot be written any more; the message says how many rows are safe.

    Notes
    -----
    Same seed and a deterministic agent: the same rows at any concurrency, interrupted or not, but for what is under
    ``timing``. Ctrl-C ends a run early and returns the finished rows; a second one leaves at once. What a service
    spoils (rate limits, dropped connections) is an unusable row and never a 0. Situations are a pairwise covering array
    (Cohen et al. 1997, IEEE Transactions on Software Engineering 23) of who asks, for what, in which state of the
    world, and what breaks.

    Examples
    --------
    >>> import whileai as wai
    >>> @wai.tool
    ... def get_order(order_id: str) -> dict: "Look an order up."
    >>> data = wai.simulate(wai.seeded_agent([get_order]), tools=[get_order], situations=4, repeats=2)
    >>> len(data), data.stopped_because, data[0]["allocation"]
    (8, 'done', {'policy': 'fixed', 'phase': 'probe', 'k': 2})
    """
    with _prepared(
        agent,
        tools,
        system_prompt,
        mode,
        situations,
        repeats,
        budget,
        seed,
        seeds,
        simulator,
        logprobs,
        output,
        options,
    ) as job:
        Driver(job.run).wait()
        return job.data()


async def asimulate(
    agent: Any = None,
    *,
    tools: Sequence[Any] = (),
    system_prompt: str = "",
    mode: str = "explore",
    situations: int | None = None,
    repeats: int | None = None,
    budget: int | None = None,
    seed: int = 0,
    seeds: Any = None,
    simulator: Any = None,
    logprobs: bool | str = False,
    output: str | os.PathLike[str] | None = None,
    **options: Unpack[EngineOptions],
) -> SimulationData:
    """`simulate` for a coroutine: other tasks of its loop go on meanwhile.

    Parameters
    ----------
    agent, tools, system_prompt, mode, situations, repeats, budget, seed, seeds, simulator : as of `simulate`
    logprobs, output, **options : as of `simulate`

    Returns
    -------
    SimulationData

    Raises
    ------
    asyncio.CancelledError
        It was cancelled; the run has ended, and what was finished is in `output`.

    Examples
    --------
    >>> import asyncio
    >>> import whileai as wai
    >>> len(asyncio.run(wai.asimulate(lambda message: "Hello.", situations=2)))
    2
    """
    with _prepared(
        agent,
        tools,
        system_prompt,
        mode,
        situations,
        repeats,
        budget,
        seed,
        seeds,
        simulator,
        logprobs,
        output,
        options,
    ) as job:
        await Driver(job.run).wait_async()
        return job.data()


@dataclass(frozen=True)
class _Job:
    """A run that is ready to start, and what its data will say of it."""

    run: Run
    options: Options
    allocation: Allocation
    tools: tuple[Tool, ...]
    output: str | None
    notes: tuple[Note, ...]

    def data(self) -> SimulationData:
        """What came of it."""
        run = self.run
        rows = run.in_order()
        n = self.allocation.n_situations
        said = [(row["task_id"], row.get("usable", True), row.get("ledger")) for row in rows]
        seen = [{"task_id": task, "usable": usable, "ledger": ledger} for task, usable, ledger in said]
        made = Made(
            mode=self.options.mode,
            policy=self.allocation.policy,
            seed=self.options.seed,
            probe=self.allocation.n_first if self.allocation.policy == ADAPTIVE else self.allocation.probe,
            repeats=self.allocation.repeats,
            n_situations=n,
            n_planned=self.allocation.n_planned,
            agent=run.agent.name,
            system_prompt=run.agent.system_prompt,
            tools=self.tools,
            stopped_because=run.stopped_because or "done",
            output=self.output,
            cover=lambda: _coverage(run, seen),
            usage=run.usage(),
            warnings=tuple(dict.fromkeys((*run.told(), *self.notes))),
        )
        return SimulationData(rows, made)


def _coverage(run: Run, rows: Sequence[Mapping[str, Any]]) -> Coverage:
    met = run.met()
    return coverage_of(run.plan, len(met), rows, met)


@contextlib.contextmanager
def _prepared(
    agent: Any,
    tools: Any,
    system_prompt: Any,
    mode: str,
    situations: int | None,
    repeats: int | None,
    budget: int | None,
    seed: int,
    seeds: Any,
    simulator: Any,
    logprobs: bool | str,
    output: Any,
    given: Mapping[str, Any],
) -> Iterator[_Job]:
    """Everything checked and made before the first call of the agent; the output is open while this holds."""
    options = resolve(
        mode, situations=situations, repeats=repeats, budget=budget, seed=seed, logprobs=logprobs, **given
    )
    if not isinstance(system_prompt, str):
        raise ParamError.of(CALL, "system_prompt", "text", system_prompt)
    known = as_tools(tools, CALL)
    path = None if output is None else check_output(output)
    models = Models(agent, simulator, options)
    played = Agent(models.agent, system_prompt, known)
    judge = None if models.judge is None else as_judge(models.judge, CALL, "judge")
    traces, of_traces = _traces_of(options.traces)
    plan = Plan(
        known,
        system_prompt,
        seed=options.seed,
        axes=options.axes,
        fault_rate=options.world.fault_rate,
        fault_kinds=options.world.kinds,
        records=options.world.records,
        world_seed=options.world.seed,
        seeds=seeds,
        traces=traces,
        spoken=models.writer is not None,
    )
    allocation = allocated(plan, options)
    with contextlib.ExitStack() as opened:
        store = None
        if path is not None:
            parts = _parts(plan, played, options, models, judge, traces)
            store = opened.enter_context(Store(path, parts))
        writer = models.writer_for(plan, store)
        run = Run(
            plan, played, options, allocation, person_of=models.person_of, writer=writer, judge=judge, store=store
        )
        notes = (*models.notes, *told_of({"seeds": plan.seed_notes, "traces": of_traces}))
        yield _Job(run, options, allocation, known, None if path is None else str(output), notes)


def _traces_of(given: Any) -> tuple[list[dict[str, Any]] | None, Sequence[Note]]:
    """The rows of traces in any shape, and what their reader had to say."""
    if given is None:
        return None, ()
    if isinstance(given, SimulationData):
        return given.rows, ()
    from whileai.readers.traces import load_traces

    try:
        rows = load_traces(given)
    except TypeError as error:
        raise TypeError(sentence(CALL, "traces", "rows, or what wai.load_traces reads", given)) from error
    if not rows:
        raise ParamError.of(CALL, "traces", "rows, at least one", given, "Leave traces out for none.")
    return rows, rows.report.notes


def _parts(
    plan: Plan, agent: Agent, options: Options, models: Models, judge: Judge | None, traces: Any
) -> dict[str, Any]:
    """What makes a run: what may not change when it is resumed. Sizes, clocks and retries may."""
    world, users = options.world, options.users
    policy = options.run.repeat_policy
    return {
        "seed": options.seed,
        "mode": options.mode,
        "agent": agent.name,
        "system_prompt": agent.system_prompt,
        "tools": {tool.name: {**tool.openai()["function"], "effect": tool.effect} for tool in agent.tools},
        "axes": {name: list(values) for name, values in plan.axes.values.items()},
        "seeds": [_digest([seed.prompt, seed.messages, (seed.row or {}).get("task_id")]) for seed in plan.seeds],
        "traces": None if traces is None else _digest(traces),
        "simulator": None if models.writer is None else str(models.writer.model),
        "world": {
            "fault_rate": world.fault_rate,
            "fault_kinds": list(world.kinds),
            "fault_span": world.fault_span,
            "execute": None if world.execute is None else _name_of(world.execute),
            "records": world.records,
            "seed": world.seed,
        },
        "sampling": options.sampling.sent(),
        "users": {
            "max_turns": users.max_turns,
            "patience": users.patience,
            "model": None if models.person is None else str(models.person.model),
        },
        "max_tool_calls": options.run.max_tool_calls,
        "logprobs": options.logprobs,
        "repeat_policy": policy,
        "probe": options.run.probe if policy == ADAPTIVE else None,
        "judge": None if judge is None else [judge.name, _digest(judge_version(judge))],
    }


def _name_of(function: Any) -> str:
    return str(getattr(function, "__qualname__", type(function).__qualname__))


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, default=repr)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
