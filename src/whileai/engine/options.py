"""What a simulation can be told: four frozen objects, the flat names of their fields, and what each mode fills in."""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

from whileai import params
from whileai.engine import faults
from whileai.errors import ParamError
from whileai.result.blocks import Note

CALL = "simulate"


@dataclass(frozen=True)
class WorldOptions:
    """The world the agent meets.

    Attributes
    ----------
    fault_rate : float
        Share of situations in which a tool fails, in [0, 1].
    fault_kinds : sequence of str, or mapping of str to callable
        Which failures: of ``timeout``, ``malformed``, ``stale``, ``permission_denied``. A mapping adds kinds of your
        own, ``{"name": fn(payload, rng) -> payload}``; a built-in kind among them has ``None`` for its function.
    fault_span : int or None
        How many calls of the failing tool are struck, from the first; ``None`` for all.
    execute : callable, optional
        ``execute(tool, arguments)`` or ``execute(tool, arguments, ctx)``, plain or async, answers in place of the
        records; ``wai.run_tools`` runs the tools' own bodies.
    records : int
        Records per entity.
    seed : int, optional
        Seed of the worlds, by default the run's.
    """

    fault_rate: float = 0.5
    fault_kinds: Sequence[str] | Mapping[str, Callable[..., Any] | None] = faults.KINDS
    fault_span: int | None = 1
    execute: Callable[..., Any] | None = None
    records: int = 8
    seed: int | None = None

    def __post_init__(self) -> None:
        params.real(CALL, "fault_rate", self.fault_rate, "a number in [0, 1]", 0, 1)
        kinds = _fault_kinds(self.fault_kinds)
        if self.fault_rate > 0 and not kinds:
            fix = "fault_rate=0 switches faults off."
            raise ParamError.of(CALL, "fault_kinds", "at least one kind", self.fault_kinds, fix)
        if self.fault_span is not None:
            params.whole(CALL, "fault_span", self.fault_span, fix="None strikes every call.")
        if self.execute is not None:
            _callable("execute", self.execute, "a function of (tool, arguments) or (tool, arguments, ctx)", 2, 3)
        params.whole(CALL, "records", self.records)
        _seed("world seed", self.seed)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The names of the kinds, in order."""
        return tuple(_fault_kinds(self.fault_kinds))

    @property
    def bends(self) -> dict[str, Callable[..., Any]]:
        """The functions of the kinds that are the caller's own."""
        return {name: fn for name, fn in _fault_kinds(self.fault_kinds).items() if fn is not None}


@dataclass(frozen=True)
class Sampling:
    """How an endpoint samples. What is ``None`` is not sent.

    Attributes
    ----------
    temperature, top_p : float, optional
    max_tokens : int, optional
        Most tokens of one completion.
    seed : int, optional
        Sent with the rollout's index added, so that the rollouts of a task differ.
    extra : dict
        Further fields of the request.
    """

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.temperature is not None:
            params.real(CALL, "temperature", self.temperature, "a number of at least 0", 0, math.inf)
        if self.top_p is not None:
            params.real(CALL, "top_p", self.top_p, "a number in (0, 1]", 0, 1, ends="(]")
        if self.max_tokens is not None:
            params.whole(CALL, "max_tokens", self.max_tokens)
        _seed("sampling seed", self.seed)
        if not isinstance(self.extra, Mapping):
            raise ParamError.of(CALL, "extra", "a mapping of request fields", self.extra)

    def sent(self, rollout_index: int = 0) -> dict[str, Any]:
        """What the requests of one rollout carry, as its row records it: what is set, and the extra fields."""
        named = {name: getattr(self, name) for name in ("temperature", "top_p", "max_tokens")}
        sent = {name: value for name, value in named.items() if value is not None}
        if self.seed is not None:
            sent["seed"] = self.seed + rollout_index
        return {**sent, **self.extra}

    def of_rollout(self, rollout_index: int) -> Sampling:
        """The sampling of one rollout: the seed moved on by its index."""
        return self if self.seed is None else dataclasses.replace(self, seed=self.seed + rollout_index)


@dataclass(frozen=True)
class UserOptions:
    """The person the agent talks to.

    Attributes
    ----------
    max_turns : int, optional
        Most turns of the agent; by default 1 for a callable of one argument, which keeps no history, else 8.
    patience : int
        Questions of the agent before the person leaves.
    model : object, optional
        An endpoint that plays the person; by default the person is scripted.
    """

    max_turns: int | None = None
    patience: int = 3
    model: Any = None

    def __post_init__(self) -> None:
        if self.max_turns is not None:
            params.whole(CALL, "max_turns", self.max_turns)
        params.whole(CALL, "patience", self.patience)


@dataclass(frozen=True)
class RunOptions:
    """How the rollouts are run.

    Attributes
    ----------
    concurrency : int
        Rollouts at a time.
    timeout : float
        Seconds for a whole rollout.
    max_tool_calls : int
        Most tool calls of a rollout.
    repeat_policy : {"fixed", "adaptive"}, optional
        ``adaptive`` gives a task its later rollouts where the first ones disagree, and needs a judge. By default as
        the mode says.
    probe : int
        Rollouts of every task before the adaptive policy looks.
    retries : int
        Times a failed request is sent again.
    rpm : float, optional
        Requests a minute to one endpoint, shared by agent, person and judge.
    progress : bool, optional
        A line on stderr; by default where that is a terminal.
    on_progress : callable, optional
        Called with the counts as they grow.
    retry_unusable : {"infra", "none"}
        Which unusable rollouts a resumed run plays again: those a service spoilt, or none.
    """

    concurrency: int = 16
    timeout: float = 120.0
    max_tool_calls: int = 30
    repeat_policy: str | None = None
    probe: int = 2
    retries: int = 4
    rpm: float | None = None
    progress: bool | None = None
    on_progress: Callable[..., Any] | None = None
    retry_unusable: str = "infra"

    def __post_init__(self) -> None:
        for name in ("concurrency", "max_tool_calls", "probe"):
            params.whole(CALL, name, getattr(self, name))
        params.whole(CALL, "retries", self.retries, 0)
        params.real(CALL, "timeout", self.timeout, "a number of seconds above 0", 0, math.inf, ends="()")
        if self.rpm is not None:
            params.real(CALL, "rpm", self.rpm, "a number of requests a minute above 0", 0, math.inf, ends="()")
        if self.repeat_policy is not None:
            params.one_of(CALL, "repeat_policy", self.repeat_policy, ("fixed", "adaptive"))
        if self.progress is not None and not isinstance(self.progress, bool):
            raise ParamError.of(CALL, "progress", "True, False or None", self.progress)
        if self.on_progress is not None:
            _callable("on_progress", self.on_progress, "a function of the counts", 1)
        params.one_of(CALL, "retry_unusable", self.retry_unusable, ("infra", "none"))


class EngineOptions(TypedDict, total=False):
    """What `simulate` takes beside its named parameters: the four objects, or their fields by name."""

    world: WorldOptions
    sampling: Sampling
    users: UserOptions
    run: RunOptions
    judge: Any
    traces: Any
    axes: Mapping[str, Sequence[Any]] | None
    fault_rate: float
    fault_kinds: Sequence[str] | Mapping[str, Callable[..., Any] | None]
    fault_span: int | None
    execute: Callable[..., Any] | None
    records: int
    temperature: float | None
    top_p: float | None
    max_tokens: int | None
    max_turns: int | None
    patience: int
    concurrency: int
    timeout: float
    max_tool_calls: int
    repeat_policy: str | None
    probe: int
    retries: int
    rpm: float | None
    progress: bool | None
    on_progress: Callable[..., Any] | None
    retry_unusable: str


@dataclass(frozen=True)
class Mode:
    """What a mode fills in: `repeats` per situation, and the policy where there is a judge."""

    repeats: int
    policy: str


MODES = {"explore": Mode(1, "fixed"), "sft": Mode(4, "fixed"), "rl": Mode(8, "adaptive")}

#: The objects by the name they are given under.
OBJECTS: dict[str, type[Any]] = {
    "world": WorldOptions,
    "sampling": Sampling,
    "users": UserOptions,
    "run": RunOptions,
}
_OTHERS = ("judge", "traces", "axes")
#: Fields that would not say whose they are, so they go in their object alone.
_AMBIGUOUS = ("seed", "model", "extra")


def _flat() -> dict[str, str]:
    """Flat name -> the object whose field it is."""
    return {
        part.name: owner
        for owner, kind in OBJECTS.items()
        for part in dataclasses.fields(kind)
        if part.name not in _AMBIGUOUS
    }


@dataclass(frozen=True)
class Options:
    """Everything a run was told, checked, with the mode's values filled in.

    Attributes
    ----------
    mode : str
    situations : int or None
        ``None``: as many as cover every pair, at least 16.
    repeats : int
        Rollouts of a situation.
    budget : int or None
        Most rollouts, unusable ones included.
    seed : int
    world, sampling, users, run : the four objects
        ``run.repeat_policy`` is filled in.
    judge, traces, axes : object
        As given.
    notes : tuple of Note
        What was decided for the caller.
    """

    mode: str = "explore"
    situations: int | None = None
    repeats: int = 1
    budget: int | None = None
    seed: int = 0
    world: WorldOptions = field(default_factory=WorldOptions)
    sampling: Sampling = field(default_factory=Sampling)
    users: UserOptions = field(default_factory=UserOptions)
    run: RunOptions = field(default_factory=lambda: RunOptions(repeat_policy="fixed"))
    judge: Any = None
    traces: Any = None
    axes: Mapping[str, Sequence[Any]] | None = None
    logprobs: bool | str = False
    notes: tuple[Note, ...] = ()


def resolve(
    mode: str = "explore",
    *,
    situations: int | None = None,
    repeats: int | None = None,
    budget: int | None = None,
    seed: int = 0,
    logprobs: bool | str = False,
    **options: Any,
) -> Options:
    """Everything checked, before the first call of the agent.

    Raises
    ------
    ParamError
        If a value is outside its bound, a name is unknown, or a field is given twice.

    Examples
    --------
    >>> resolve("sft", fault_rate=0).repeats
    4
    """
    params.one_of(CALL, "mode", mode, MODES)
    for name, value in (("situations", situations), ("repeats", repeats), ("budget", budget)):
        if value is not None:
            params.whole(CALL, name, value)
    _seed("seed", seed, needed=True)
    if not isinstance(logprobs, bool) and logprobs != "tokens":
        raise ParamError.of(CALL, "logprobs", "False, True or 'tokens'", logprobs)
    objects, others = _sorted_out(options)
    filled = MODES[mode]
    run, notes = _policy(objects["run"], mode, others.get("judge"))
    return Options(
        mode=mode,
        situations=situations,
        repeats=filled.repeats if repeats is None else repeats,
        budget=budget,
        seed=seed,
        world=objects["world"],
        sampling=objects["sampling"],
        users=objects["users"],
        run=run,
        judge=others.get("judge"),
        traces=others.get("traces"),
        axes=others.get("axes"),
        logprobs=logprobs,
        notes=notes,
    )


def _sorted_out(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The four objects with the flat fields put in, and the options that belong to none."""
    owners = _flat()
    known = (*OBJECTS, *_OTHERS, *owners)
    fields: dict[str, dict[str, Any]] = {name: {} for name in OBJECTS}
    for name, value in options.items():
        if name in _AMBIGUOUS:
            fix = "It goes in its object, such as sampling=Sampling(seed=1)."
            raise ParamError.of(CALL, "option", "one that says whose it is", name, fix)
        if name not in known:
            raise ParamError.of(CALL, "option", "a known name", name, params.near_miss(name, known))
        if name in owners:
            fields[owners[name]][name] = value
    objects: dict[str, Any] = {}
    for name, kind in OBJECTS.items():
        given = options.get(name)
        if given is None:
            objects[name] = kind(**fields[name])
            continue
        if not isinstance(given, kind):
            raise ParamError.of(CALL, name, f"a {kind.__name__}", given)
        defaults = kind()
        for one in fields[name]:
            if getattr(given, one) != getattr(defaults, one):
                fix = f"It stands in {name}= as well; give it once."
                raise ParamError.of(CALL, one, "given once", fields[name][one], fix)
        objects[name] = dataclasses.replace(given, **fields[name])
    return objects, {name: options[name] for name in _OTHERS if name in options}


def _policy(run: RunOptions, mode: str, judge: Any) -> tuple[RunOptions, tuple[Note, ...]]:
    """The run with its policy filled in, and the note where it is not the one that was asked for."""
    wanted = run.repeat_policy or MODES[mode].policy
    if wanted == "adaptive" and judge is None:
        text = "repeats are fixed: the adaptive policy looks at verdicts, and there is no judge."
        fix = "Give judge=, or repeat_policy='fixed'."
        return dataclasses.replace(run, repeat_policy="fixed"), (Note("fixed_without_judge", text, fix),)
    if wanted == "adaptive" and run.probe < 2:
        fix = "One rollout cannot disagree with itself."
        raise ParamError.of(CALL, "probe", "at least 2 for the adaptive policy", run.probe, fix)
    return dataclasses.replace(run, repeat_policy=wanted), ()


def _fault_kinds(given: Any) -> dict[str, Callable[..., Any] | None]:
    """Kind -> the function of one's own, or ``None`` for a built-in kind."""
    if isinstance(given, str) or not isinstance(given, (Mapping, Sequence)):
        fix = f"Write ({given!r},)." if isinstance(given, str) else ""
        raise ParamError.of(CALL, "fault_kinds", "a list of kinds, or a mapping of name to function", given, fix)
    named: dict[str, Callable[..., Any] | None] = {}
    for name in given:
        fn = given[name] if isinstance(given, Mapping) else None
        if fn is None:
            params.one_of(CALL, "fault_kinds", name, faults.KINDS)
        elif name in faults.KINDS or not isinstance(name, str) or not name:
            fix = "A built-in kind has None here." if name in faults.KINDS else ""
            raise ParamError.of(CALL, "fault_kinds", "a new name for each function", name, fix)
        else:
            _callable(f"fault_kinds[{name!r}]", fn, "a function of (payload, rng)", 2)
        if name in named:
            raise ParamError.of(CALL, "fault_kinds", "kinds named once each", name)
        named[name] = fn
    return named


def _callable(where: str, value: Any, bound: str, *counts: int) -> None:
    """Refuse what is no function of so many arguments; one whose signature cannot be read is believed."""
    if callable(value):
        try:
            signature = inspect.signature(value)
        except (TypeError, ValueError):
            return
        if any(_binds(signature, count) for count in counts):
            return
        raise ParamError.of(CALL, where, bound, value, f"It takes {signature}.")
    raise ParamError.of(CALL, where, bound, value)


def _binds(signature: inspect.Signature, count: int) -> bool:
    try:
        signature.bind(*range(count))
    except TypeError:
        return False
    return True


def _seed(where: str, value: Any, *, needed: bool = False) -> None:
    if value is None and not needed:
        return
    if not isinstance(value, int) or isinstance(value, bool):
        raise ParamError.of(CALL, where, "a whole number", value)
