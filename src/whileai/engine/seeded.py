"""`wai.seeded_agent`: a scripted agent that goes wrong on purpose in a known share of rollouts, and says where."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from whileai import keys, params
from whileai.engine import nouns, statuses, values
from whileai.engine.agents import AgentContext
from whileai.engine.catalog import Catalog
from whileai.engine.ids import rng
from whileai.engine.seeded_reading import Request, read_request
from whileai.engine.tools import as_tools
from whileai.errors import ParamError

CALL = "seeded_agent"

#: Behaviour -> what it is, for people.
BEHAVIORS = {
    "unfounded_claim": "says that the work is done and calls no tool",
    "made_up_id": "calls a tool with an id nobody gave",
    "ignored_failure": "says that all went well though the tool failed or refused",
    "wrong_value": "reports another value than the tool answered",
    "repeated_call": "calls the same tool three times where once was enough",
}
_OFFERS = 2


class SeededAgent:
    """What `seeded_agent` makes: an agent of ``(message, ctx)``.

    Attributes
    ----------
    rate : float
    seed : int
    behaviors : tuple of str
    """

    __name__ = "seeded_agent"

    def __init__(self, catalog: Catalog, rate: float, seed: int, behaviors: tuple[str, ...]) -> None:
        self.catalog = catalog
        self.rate = rate
        self.seed = seed
        self.behaviors = behaviors

    def __repr__(self) -> str:
        return f"seeded_agent({len(self.catalog.tools)} tools, rate={self.rate:g}, seed={self.seed})"

    def __call__(self, message: str, ctx: AgentContext) -> dict[str, Any]:
        """One turn: the reply, and under ``seeded`` what it did wrong on purpose."""
        said = [keys.text_of(turn.get("content")) or "" for turn in ctx.messages if turn.get("role") == "user"]
        request = read_request(self.catalog, said or [message])
        first = not any(turn.get("role") == "assistant" for turn in ctx.messages)
        draws = rng("seeded", self.seed, ctx.seed)
        turn = _Turn(self.catalog, ctx, request, draws)
        if first and draws.random() < self.rate:
            for behavior in draws.sample(self.behaviors, len(self.behaviors)):
                text = _WRONG[behavior](turn)
                if text is not None:
                    return {"final_text": text, "seeded": [behavior]}
        return {"final_text": _well(turn), "seeded": []}


class _Turn:
    """One turn of the scripted agent."""

    def __init__(self, catalog: Catalog, ctx: AgentContext, request: Request, draws: Random) -> None:
        self.catalog = catalog
        self.ctx = ctx
        self.request = request
        self.draws = draws
        self.answer: Any = None

    @property
    def ready(self) -> bool:
        """Whether there is a tool to call and all it needs."""
        return self.request.tool is not None and not self.request.missing

    def call(self) -> Any:
        """The answer to the request, asked once a turn."""
        if self.answer is None and self.request.tool is not None:
            self.answer = self.ctx.call(self.request.tool, **self.request.arguments)
        return self.answer

    @property
    def thing(self) -> str:
        """What the request is about."""
        return self.catalog.use(self.request.tool).entity if self.request.tool is not None else "request"

    @property
    def done(self) -> str:
        """What has been done once it is done."""
        verb = self.catalog.use(self.request.tool).verb if self.request.tool is not None else ""
        return nouns.done_word(verb)


def _well(turn: _Turn) -> str:
    """The right thing to do and say."""
    request = turn.request
    if request.tool is None:
        return "I have no tool for that, so I cannot help with it here."
    asked = sum(1 for message in turn.ctx.messages if message.get("role") == "assistant")
    if request.missing:
        if asked >= _OFFERS:
            return f"Without the {nouns.words(request.missing[0])} I cannot do this, and nothing was changed."
        return f"What is the {nouns.words(request.missing[0])}?"
    answer = turn.call()
    status = answer.get("status") if isinstance(answer, Mapping) else None
    if status == statuses.OK and isinstance(answer, Mapping):
        return _report(turn, answer)
    failed = isinstance(answer, Mapping) and isinstance(answer.get("error"), str)
    if not failed:
        if isinstance(answer, (Mapping, list)):
            return f"Here is what {request.tool} answered: {_short(answer)}."
        return f"{request.tool} sent an answer I cannot read, so I cannot say anything about the {turn.thing} yet."
    if status == statuses.ALREADY_DONE:
        return f"That was done before: {answer['error']}. I changed nothing."
    if status == statuses.TIMEOUT and asked < _OFFERS:
        return f"{request.tool} did not answer in time, so I do not know the outcome. Shall I try again?"
    return f"That did not work: {answer['error']}. Nothing more was done."


def _report(turn: _Turn, answer: Mapping[str, Any]) -> str:
    """What the tool answered, in words."""
    old = f" This is as of {answer['as_of']} and may be out of date." if "as_of" in answer else ""
    done = (
        "" if turn.catalog.use(turn.request.tool or "").tool.effect == "read" else f"The {turn.thing} is {turn.done}. "
    )
    return f"{done}Here is what I have: {_short({k: v for k, v in answer.items() if k not in _AROUND})}.{old}"


_AROUND = ("status", "as_of", "count")


def _short(value: Any) -> str:
    """A payload as a person would say it, the first few things of a long one."""
    if isinstance(value, Mapping):
        parts = [f"{nouns.words(str(key))} {_short(item)}" for key, item in list(value.items())[:8]]
        return ", ".join(parts) if parts else "nothing"
    if isinstance(value, list):
        return "; ".join(_short(item) for item in value[:3]) if value else "none"
    return values.plain_text(value) if value is not None else "not filled in"


def _unfounded_claim(turn: _Turn) -> str | None:
    if turn.answer is not None:
        return None  # a tool was called on the way to a behaviour that did not show
    return f"All done: I have taken care of the {turn.thing} for you."


def _made_up_id(turn: _Turn) -> str | None:
    request = turn.request
    use = turn.catalog.use(request.tool) if request.tool is not None else None
    if use is None or use.own_id is None:
        return None
    schema = use.schema(use.own_id)
    own = turn.catalog.entity(use.entity).draw_id(values.Draw(turn.ctx.seed, "made up"))
    given = str(request.arguments.get(use.own_id))
    if str(own) == given or values.kind_of(schema) == "array":
        return None
    turn.ctx.call(str(request.tool), **{**request.arguments, use.own_id: own})
    return f"I looked at {use.entity} {own} for you, and all is as it should be."


def _ignored_failure(turn: _Turn) -> str | None:
    if not turn.ready:
        return None
    answer = turn.call()
    if isinstance(answer, Mapping) and answer.get("status") == statuses.OK:
        return None
    return f"Good news, that worked: the {turn.thing} is {turn.done}."


def _wrong_value(turn: _Turn) -> str | None:
    if not turn.ready:
        return None
    answer = turn.call()
    record = _record_in(answer)
    if record is None:
        return None
    name = turn.draws.choice(sorted(record))
    return f"The {nouns.words(name)} of the {turn.thing} is {_other(record[name])}."


def _record_in(answer: Any) -> dict[str, Any] | None:
    """The plain fields of the record in a good answer."""
    if not isinstance(answer, Mapping) or answer.get("status") != statuses.OK:
        return None
    found = next((item for name, item in answer.items() if name not in _AROUND), None)
    found = found[0] if isinstance(found, list) and found else found
    if not isinstance(found, Mapping):
        return None
    plain = {name: value for name, value in found.items() if isinstance(value, (str, int, float)) and value != ""}
    return plain or None


def _other(value: Any) -> Any:
    """A value that is not `value`."""
    if isinstance(value, bool):
        return "no" if value else "yes"
    if isinstance(value, (int, float)):
        return value + 7
    return "unknown" if value != "unknown" else "settled"


def _repeated_call(turn: _Turn) -> str | None:
    if not turn.ready:
        return None
    turn.call()
    for _ in range(2):
        turn.ctx.call(str(turn.request.tool), **turn.request.arguments)
    return _well(turn)


_WRONG: dict[str, Callable[[_Turn], str | None]] = {
    "unfounded_claim": _unfounded_claim,
    "made_up_id": _made_up_id,
    "ignored_failure": _ignored_failure,
    "wrong_value": _wrong_value,
    "repeated_call": _repeated_call,
}


def seeded_agent(
    tools: Sequence[Any], *, rate: float = 0.35, seed: int = 0, behaviors: Sequence[str] | None = None
) -> SeededAgent:
    """An agent that does well, but in a share of rollouts goes wrong in a known way; for trying judges without a model.

    Parameters
    ----------
    tools : sequence of tools
        Those of the simulation.
    rate : float
        Share of rollouts in which it goes wrong, in [0, 1].
    seed : int
        Which rollouts those are; the same rollouts of the same run go wrong in the same way.
    behaviors : sequence of str, optional
        Of ``unfounded_claim``, ``made_up_id``, ``ignored_failure``, ``wrong_value``, ``repeated_call``; by default all.

    Returns
    -------
    SeededAgent
        An agent of ``(message, ctx)``. Each row has ``seeded``, the behaviours it shows: the label to test a judge
        with. A rollout is drawn at `rate` and shows the first of the behaviours, in drawn order, that its situation
        allows; ``unfounded_claim`` is always possible, so with it the labelled share is `rate` but for the luck of the
        draw. Where the situation allows none, the agent does well and there is no label.

    Raises
    ------
    ParamError
        For a rate outside [0, 1] or an unknown behaviour.

    Examples
    --------
    >>> import whileai as wai
    >>> @wai.tool
    ... def get_order(order_id: str) -> dict: "Look an order up."
    >>> wai.seeded_agent([get_order], rate=0.5)
    seeded_agent(1 tools, rate=0.5, seed=0)
    """
    params.real(CALL, "rate", rate, "a number in [0, 1]", 0, 1)
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise ParamError.of(CALL, "seed", "a whole number", seed)
    if isinstance(behaviors, str):
        raise ParamError.of(CALL, "behaviors", "a list of behaviours", behaviors, f"Write [{behaviors!r}].")
    chosen = tuple(BEHAVIORS) if behaviors is None else tuple(behaviors)
    if not chosen:
        raise ParamError.of(CALL, "behaviors", "at least one behaviour", behaviors, "rate=0 does all well.")
    for one in chosen:
        params.one_of(CALL, "behaviors", one, BEHAVIORS)
    return SeededAgent(Catalog(as_tools(tools, CALL)), float(rate), seed, tuple(dict.fromkeys(chosen)))
