"""Tools, situations and rollouts of one shop, for the tests of the world and of the agents in it."""

from __future__ import annotations

import asyncio
from typing import Any

import whileai as wai
from whileai.engine.agents import Agent
from whileai.engine.catalog import Catalog
from whileai.engine.faults import Fault
from whileai.engine.options import Options, resolve
from whileai.engine.person import ScriptedPerson
from whileai.engine.played import Played
from whileai.engine.reply import Reply, ToolCall, Usage
from whileai.engine.rollout import replayed
from whileai.engine.situations import Brief, Public, Situation
from whileai.engine.tools import as_tools
from whileai.engine.world import World, Worlds


@wai.tool
def get_order(order_id: str) -> dict:
    """Look an order up."""
    return {"order_id": order_id, "status": "real"}


@wai.tool
def cancel_order(order_id: str, reason: str = "") -> dict:
    """Cancel an order."""
    return {"order_id": order_id, "status": "cancelled"}


@wai.tool
def update_order(order_id: str, quantity: int) -> dict:
    """Change how many."""
    return {}


@wai.tool
def create_order(customer_id: str, item: str, quantity: int = 1) -> dict:
    """Place an order."""
    return {}


@wai.tool
def list_orders(customer_id: str, limit: int = 10) -> list:
    """All orders of a customer."""
    return []


SHOP = (get_order, cancel_order, update_order, create_order, list_orders)
CATALOG = Catalog(SHOP)


def situation(
    fault: Fault | None = None,
    *,
    state: str = "present",
    seed: int = 5,
    focus: tuple[str, ...] = ("get_order",),
    messages: tuple[dict[str, Any], ...] = (),
    prompt: str = "Hi, where is my order?",
    patience_facts: dict[str, Any] | None = None,
) -> Situation:
    """One situation of the shop."""
    facts = patience_facts or {}
    kinds = {name: "order" for name in facts if name.endswith("_id")}
    public = Public(prompt, messages)
    return Situation(
        0, "sc_000000000001", public, {}, fault, seed, state, Brief("get an order", facts=facts, kinds=kinds), "",
        focus=focus,
    )  # fmt: skip


def order_ids(one: Situation | None = None) -> list[str]:
    """The ids of the orders of a situation's world."""
    return list((one or situation()).records(CATALOG).tables["order"])


def world(one: Situation | None = None, tools: Any = CATALOG, **options: Any) -> World:
    """The world of one rollout."""
    return Worlds(tools, resolve(**options).world).of(one or situation())


def answers(made: World, *calls: tuple[str, Any]) -> list[Any]:
    """What a world answers to calls, one after the other."""

    async def all_of_them() -> list[Any]:
        return [await made.call(*call) for call in calls]

    return asyncio.run(all_of_them())


def played(
    agent: Any,
    one: Situation | None = None,
    *,
    tools: Any = SHOP,
    system_prompt: str = "Be kind.",
    index: int = 0,
    person: Any = None,
    n: int = 1,
    **options: Any,
) -> Any:
    """One rollout of an agent; with `n`, that many at once, as a list."""
    told = resolve(**options)
    return asyncio.run(
        _all(agent, one or situation(), as_tools(tools, "simulate"), system_prompt, index, person, told, n)
    )


async def _all(
    agent: Any, one: Situation, tools: Any, system_prompt: str, index: int, person: Any, told: Options, n: int
) -> Any:
    wrapped = agent if isinstance(agent, Agent) else Agent(agent, system_prompt, tools)
    worlds = Worlds(tools, told.world)

    async def single(place: int) -> Played:
        return await replayed(
            one,
            wrapped,
            lambda: worlds.of(one, place),
            lambda: person or ScriptedPerson(one.brief, told.users.patience),
            told,
            place,
        )

    made = await asyncio.gather(*(single(index + place) for place in range(n)))
    return made if n > 1 else made[0]


class FakeEndpoint:
    """An endpoint that answers from a script: replies, exceptions to raise, or functions of the messages."""

    def __init__(self, *script: Any, model: str = "m-1", seconds: float = 0.0) -> None:
        self.script = list(script)
        self.model = model
        self.seconds = seconds
        self.requests: list[dict[str, Any]] = []

    async def chat(self, messages: Any, **options: Any) -> Reply:
        self.requests.append({"messages": [dict(turn) for turn in messages], **options})
        if self.seconds:
            await asyncio.sleep(self.seconds)
        entry = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        entry = entry(messages) if callable(entry) and not isinstance(entry, type) else entry
        if isinstance(entry, BaseException):
            raise entry
        return entry


def reply(text: str = "", *calls: tuple[str, Any], logprobs: tuple[float, ...] | None = None, **more: Any) -> Reply:
    """A completion."""
    made = tuple(
        ToolCall(more.pop("id", f"call_{place}"), name, arguments if isinstance(arguments, dict) else {},
                 None if isinstance(arguments, dict) else arguments)
        for place, (name, arguments) in enumerate(calls)
    )  # fmt: skip
    usage = Usage(10, 5, 2, 1, 0, 0.25)
    return Reply(text, made, "tool" if made else "stop", usage, logprobs, "m-1-0101", **more)
