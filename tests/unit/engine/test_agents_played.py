"""Agents that are functions: how they are called, what they may return, and that none of them stops the clock."""

from __future__ import annotations

import asyncio
import functools
import json
import os
import re
import sys
import threading
import time
from itertools import repeat

import pytest

from whileai.engine import statuses
from whileai.engine.agents import Agent, AgentContext
from whileai.engine.endpoint_error import EndpointError
from whileai.engine.faults import Fault
from whileai.engine.person import Said, UserFailed
from whileai.engine.reply import Usage
from whileai.errors import ParamError
from world_helpers import SHOP, order_ids, played, situation

OWN = order_ids()[0]


def says(message):
    return f"You said: {message}"


async def says_later(message):
    await asyncio.sleep(0)
    return f"You said: {message}"


class Object:
    def __call__(self, message):
        return says(message)


class AsyncObject:
    async def __call__(self, message, ctx):
        return says(message)


def by_name(message, *, ctx):
    return f"You said: {ctx.messages[-1]['content']}"


def with_options(message, history=None):
    assert history is None
    return says(message)


@pytest.mark.parametrize(
    ("agent", "takes_context", "name"),
    [
        (says, False, "says"),
        (says_later, False, "says_later"),
        (Object(), False, "Object"),
        (AsyncObject(), True, "AsyncObject"),
        (by_name, True, "by_name"),
        (with_options, False, "with_options"),
        (functools.partial(says), False, "says"),
        (lambda message, ctx: says(message), True, "<lambda>"),
        (lambda message: says_later(message), False, "<lambda>"),
        (lambda *both: says(both[0]), True, "<lambda>"),
        ("You said: {}".format, False, "format"),
    ],
)
def test_any_function_of_a_message_plays(agent, takes_context, name):
    wrapped = Agent(agent, "", SHOP)
    assert (wrapped.takes_context, wrapped.name, wrapped.is_endpoint) == (takes_context, name, False)
    made = played(agent, situation(prompt="Hi."))
    assert (made.usable, made.final_text) == (True, "You said: Hi.")
    assert made.stop_reason == statuses.AGENT_DONE
    assert made.steps == [{"user": "Hi.", "turn": 0}, {"text": "You said: Hi.", "turn": 0}]


@pytest.mark.parametrize("agent", ["gpt", 3, None, lambda: "x", lambda a, b, c: "x", lambda a, *, other: "x"])
def test_what_cannot_be_called_with_a_message_is_refused_at_once(agent):
    with pytest.raises(ParamError, match="agent must be"):
        Agent(agent)


def test_the_context_holds_what_an_agent_may_see_and_nothing_else():
    seen: list[AgentContext] = []

    def agent(message, ctx):
        seen.append(ctx)
        ctx.messages.append("mine")
        ctx.tools.clear()
        return "Done."

    one = situation(Fault("get_order", "timeout"), state="partial")
    played(agent, one, index=3, system_prompt="Be kind.")
    played(agent, one, index=3)
    played(agent, one, index=4)
    played(agent, one, index=4, seed=1)
    first = seen[0]
    public = {name for name in dir(first) if not name.startswith("_")}
    assert public == {"messages", "tools", "system_prompt", "rollout_index", "seed", "call"}
    assert (first.system_prompt, first.rollout_index) == ("Be kind.", 3)
    assert seen[1].messages[0] == {"role": "user", "content": "Hi, where is my order?"}
    assert [ctx.seed for ctx in seen[:2]] == [first.seed] * 2
    assert len({ctx.seed for ctx in seen}) == 3
    with pytest.raises(AttributeError):
        first.seed = 1


def calls_twice(message, ctx):
    got = ctx.call("get_order", order_id=OWN)
    ctx.call(SHOP[1], order_id=OWN)
    return f"It is {got['order']['status']}."


async def calls_twice_later(message, ctx):
    got = await ctx.call("get_order", order_id=OWN)
    await ctx.call(SHOP[1], order_id=OWN)
    return f"It is {got['order']['status']}."


@pytest.mark.parametrize("agent", [calls_twice, calls_twice_later])
@pytest.mark.parametrize("execute", [None, lambda tool, arguments: {"order": {"status": tool}}])
def test_tool_calls_go_through_the_world_and_onto_the_row(agent, execute):
    made = played(agent, execute=execute)
    tools = [step for step in made.steps if "tool" in step]
    assert [(step["tool"], step["id"], step["turn"]) for step in tools] == [
        ("get_order", "c1", 0),
        ("cancel_order", "c2", 1),
    ]
    assert made.steps[-1] == {"text": made.final_text, "turn": 2}
    roles = [turn["role"] for turn in made.messages]
    assert roles == ["user", "assistant", "tool", "assistant", "tool", "assistant"]
    for asked, answer in ((made.messages[1], made.messages[2]), (made.messages[3], made.messages[4])):
        assert asked["tool_calls"][0]["id"] == answer["tool_call_id"]
        assert asked["tool_calls"][0]["function"]["arguments"] == f'{{"order_id": "{OWN}"}}'
    assert made.n_tool_calls == 2
    assert made.final_text == f"It is {tools[0]['result']['order']['status']}."
    assert made.notes == ()


def test_a_fault_reaches_an_agent_with_a_context_and_the_ledger_shows_it():
    made = played(calls_with_care, situation(Fault("get_order", "timeout")))
    assert made.final_text == "timeout"
    assert [event["mode"] for event in made.ledger] == ["timeout"]


def calls_with_care(message, ctx):
    return ctx.call("get_order", order_id=OWN)["status"]


def test_a_tool_may_have_arguments_named_like_the_call_itself():
    told = []

    def agent(message, ctx):
        told.append(ctx.call("get_order", tool=1, self=2))
        return "Done."

    made = played(agent, execute=lambda tool, arguments: arguments)
    assert told[0]["status"] == statuses.INVALID_ARGUMENTS
    assert made.steps[1]["arguments"] == {"tool": 1, "self": 2}


def test_arguments_of_python_code_are_json_or_refused():
    told = []

    def agent(message, ctx):
        told.extend(ctx.call("get_order", order_id=given) for given in (object(), {1, 2}, b"\xff", OWN))
        return "Done."

    for tools in (SHOP, [{"name": "get_order", "parameters": {"properties": {"order_id": {}}}}]):
        told.clear()
        made = played(agent, tools=tools)
        assert made.usable
        assert told[0]["status"] == statuses.INVALID_ARGUMENTS
        assert "JSON" in told[0]["error"]
        assert told[-1]["status"] == "ok"
        json.dumps(made.steps)


OWN_MESSAGES = [
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "x", "type": "function", "function": {"name": "get_order", "arguments": '{"order_id": "A"}'}}]},
    {"role": "tool", "tool_call_id": "x", "content": '{"status": "shipped"}'},
    {"role": "assistant", "content": [{"type": "text", "text": "It is shipped."}]},
]  # fmt: skip
SAID = {"role": "user", "content": "Hi, where is my order?"}


@pytest.mark.parametrize(
    "value",
    [
        OWN_MESSAGES,
        [SAID, *OWN_MESSAGES],
        [{"role": "system", "content": "x"}, SAID, *OWN_MESSAGES],
        {"messages": OWN_MESSAGES},
        {"final_text": "It is shipped.", "messages": [SAID, *OWN_MESSAGES]},
        {"final_text": "It is shipped.", "steps": [
            {"user": "no call"},
            {"tool": "get_order", "arguments": {"order_id": "A"}, "result": {"status": "shipped"}, "id": "x"},
            {"text": "It is shipped."}]},
    ],
)  # fmt: skip
def test_messages_and_steps_of_the_agents_own_are_kept(value):
    made = played(lambda message: value)
    assert made.final_text == "It is shipped."
    assert made.steps[1] == {
        "tool": "get_order", "arguments": {"order_id": "A"}, "result": {"status": "shipped"}, "id": "x", "turn": 0,
    }  # fmt: skip
    assert made.messages[-1] == {"role": "assistant", "content": "It is shipped."}
    assert made.messages[1]["tool_calls"][0]["id"] == made.messages[2]["tool_call_id"] == "x"
    assert made.notes == ("faults_unreachable",)


def test_a_history_that_is_returned_again_is_not_told_twice():
    def agent(message, ctx):
        again = [turn for turn in ctx.messages if turn["role"] != "system"]
        return [*again, *OWN_MESSAGES[:2], {"role": "assistant", "content": "What else do you need?"}]

    made = played(agent, person=Talker("More.", None))
    assert [turn["role"] for turn in made.messages] == ["user", "assistant", "tool", "assistant"] * 2
    assert [step.get("tool") for step in made.steps] == [None, "get_order", None] * 2


def test_calls_through_the_world_that_are_returned_as_well_stand_once():
    def agent(message, ctx):
        got = ctx.call("get_order", order_id=OWN)
        return {"final_text": "Done.", "steps": [{"tool": "get_order", "arguments": {"order_id": OWN}, "result": got}]}

    made = played(agent)
    assert [step.get("tool") for step in made.steps] == [None, "get_order", None]
    assert made.notes == ()


def test_what_an_agent_says_of_itself_is_kept():
    def agent(message):
        return {
            "final_text": "Done.", "model": "mine-1", "finish_reason": "length", "token_logprobs": [-0.5, -0.25],
            "usage": {"prompt_tokens": 7, "completion_tokens": 2}, "sampling": {"temperature": 0.3}, "mood": ["good"],
        }  # fmt: skip

    made = played(agent)
    assert (made.model, made.finish_reason, made.sampling) == ("mine-1", "length", {"temperature": 0.3})
    assert (made.logprob, made.n_tokens, made.token_logprobs) == (-0.75, 2, [-0.5, -0.25])
    assert made.steps[-1] == {"text": "Done.", "turn": 0, "logprob": -0.75, "n_tokens": 2}
    assert (made.usage.input_tokens, made.usage.output_tokens, made.usage.cost) == (7, 2, None)
    assert made.extra == {"mood": ["good"]}


def test_an_agent_that_says_nothing_of_itself_leaves_no_numbers():
    made = played(says)
    assert (made.usage, made.logprob, made.n_tokens, made.token_logprobs, made.sampling) == (None,) * 5


async def a_generator(message):
    yield "text"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "None"), (3, "int"), (True, "bool"), (b"bytes", "bytes"), ({"text": "x"}, "text"), ({}, "nothing"),
        ({"final_text": None}, "None"), ({"final_text": 3}, "int"), ([], "messages"), (["text"], "messages"),
        ({"messages": "x"}, "str"), (object(), "object"), ({"final_text": "x", "logprob": "high"}, "logprob"),
        ({"final_text": "x", "logprob": float("nan")}, "logprob"), ({"final_text": "x", "n_tokens": 1.5}, "n_tokens"),
        ({"final_text": "x", "usage": 3}, "usage"), ({"final_text": "x", "steps": "x"}, "steps"),
        ({"final_text": "x", "model": 3}, "model"), ({"final_text": "x", "other": object()}, "JSON"),
        (("a", "tuple"), "tuple"),
    ],
)  # fmt: skip
def test_a_bad_reply_is_named_and_never_becomes_text(value, words):
    made = played(lambda message: value)
    assert (made.usable, made.unusable_reason, made.stop_reason) == (False, "agent_bad_reply", "agent_bad_reply")
    assert made.error["type"] == "BadReply"
    assert words in made.error["message"]
    assert made.final_text == ""
    assert made.steps == [{"user": "Hi, where is my order?", "turn": 0}]


def test_an_async_generator_is_a_bad_reply():
    assert played(a_generator).unusable_reason == statuses.AGENT_BAD_REPLY


@pytest.mark.parametrize("value", ["", "  \n", {"final_text": " "}, [{"role": "assistant", "content": ""}]])
def test_an_agent_that_says_nothing_is_empty(value):
    assert played(lambda message: value).unusable_reason == statuses.AGENT_EMPTY


def raising(error):
    def agent(message, ctx):
        ctx.call("get_order", order_id=OWN)
        raise error

    return agent


def raising_later(error):
    async def agent(message, ctx):
        await ctx.call("get_order", order_id=OWN)
        raise error

    return agent


class Unspeakable(Exception):
    def __str__(self):
        raise RuntimeError


ERRORS = [ValueError("no"), SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError(), GeneratorExit(),
          TimeoutError(), StopIteration(), Unspeakable(), StopAsyncIteration()]  # fmt: skip


@pytest.mark.parametrize("kind", [raising, raising_later])
@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_whatever_an_agent_raises_is_its_own_failure_and_what_it_did_is_kept(kind, error):
    made = played(kind(error))
    assert made.unusable_reason == statuses.AGENT_RAISED
    assert made.error["type"] in (type(error).__name__, "RuntimeError")  # coroutines turn StopIteration into that
    assert [step.get("tool") for step in made.steps] == [None, "get_order"]


def test_os_level_exits_in_threads_and_sys_exit_leave_the_engine_running():
    assert played(lambda message: sys.exit("bye")).error == {"type": "SystemExit", "message": "bye"}
    assert played(says).usable


def sleeps(message):
    time.sleep(3)
    return "late"


def calls_c_code(message):
    re.match(r"(a+)+$", "a" * 25 + "b")  # some seconds in one call, which keeps the interpreter's lock
    return "late"


async def sleeps_later(message):
    await asyncio.sleep(30)


async def blocks(message):
    time.sleep(1.5)
    return "late"


async def swallows(message):
    end = time.monotonic() + 2
    while time.monotonic() < end:
        try:
            await asyncio.sleep(0.5)
        except asyncio.CancelledError:
            continue
    return "late"


def spins(message):
    end = time.monotonic() + 1.5
    while time.monotonic() < end:
        pass
    return "late"


@pytest.mark.parametrize(
    ("agent", "left"),
    [(sleeps, 1), (calls_c_code, None), (sleeps_later, 0), (blocks, 1), (swallows, 1), (spins, 1)],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_the_clock_holds_whatever_an_agent_does(agent, left):
    wrapped = Agent(agent, "", SHOP)
    made = played(wrapped, timeout=0.3)
    assert made.unusable_reason == statuses.AGENT_TIMEOUT
    assert made.error == {"type": "TimeoutError", "message": "no answer from the agent within 0.3 s"}
    assert made.final_text == ""
    if left is not None:
        assert wrapped.abandoned == left


def test_what_an_abandoned_agent_still_does_is_no_part_of_the_rollout_and_it_is_ended_at_its_next_call():
    ended = threading.Event()

    def agent(message, ctx):
        try:
            ctx.call("get_order", order_id=OWN)
            time.sleep(0.8)
            while True:
                try:
                    ctx.call("get_order", order_id=OWN)
                except Exception:
                    continue
        finally:
            ended.set()

    wrapped = Agent(agent, "", SHOP)
    made = played(wrapped, timeout=0.3)
    assert ended.wait(5)
    assert made.n_tool_calls == 1
    assert len([step for step in made.steps if "tool" in step]) == 1
    for _ in range(100):
        if not wrapped.stuck:
            break
        time.sleep(0.01)
    assert (wrapped.abandoned, wrapped.stuck) == (1, 0)


def test_one_blocking_coroutine_does_not_hold_up_its_neighbours():
    free, done = threading.Event(), []

    async def agent(message, ctx):
        if ctx.rollout_index == 0:
            return "freed" if free.wait(15) else "held up"  # blocks the loop until the others are through
        await asyncio.sleep(0.05)
        got = await ctx.call("get_order", order_id=OWN)
        done.append(ctx.rollout_index)
        if len(done) == 3:
            free.set()
        return f"fast {got['status']}"

    made = played(agent, n=4, timeout=20)
    assert [one.final_text for one in made] == ["freed", *repeat("fast ok", 3)]
    assert [len([step for step in one.steps if "tool" in step]) for one in made] == [0, 1, 1, 1]


def test_agents_that_all_block_get_through():
    async def agent(message):
        time.sleep(0.4)
        return "done"

    made = played(agent, n=5, timeout=20)
    assert [one.final_text for one in made] == ["done"] * 5


def test_an_execute_that_hangs_counts_against_the_clock_and_is_not_the_agents_failure():
    async def hangs(tool, arguments):
        await asyncio.sleep(30)

    for execute in (hangs, lambda tool, arguments: time.sleep(2)):
        for agent in (calls_twice, calls_twice_later):
            wrapped = Agent(agent, "", SHOP)
            made = played(wrapped, timeout=0.3, execute=execute)
            assert made.unusable_reason == statuses.WORLD_FAILED
            assert wrapped.abandoned == (0 if execute is hangs else 1)
            assert "execute=" in made.error["message"]


def test_too_many_tool_calls_end_the_rollout_however_the_agent_takes_it():
    def stubborn(message, ctx):
        for _ in range(50):
            try:
                ctx.call("get_order", order_id=OWN)
            except BaseException:
                return "I gave up."
        return "never"

    async def eager(message, ctx):
        await asyncio.gather(*(ctx.call("get_order", order_id=OWN) for _ in range(50)))

    for agent in (stubborn, eager):
        made = played(agent, max_tool_calls=5)
        assert (made.stop_reason, made.usable, made.unusable_reason) == (statuses.MAX_TOOL_CALLS, True, None)
        assert made.n_tool_calls == len([step for step in made.steps if "tool" in step]) == 5


def test_a_broken_fault_kind_is_the_worlds_failure():
    def broken(payload, rng):
        raise ZeroDivisionError

    for agent in (calls_with_care, calls_twice_later):
        made = played(agent, situation(Fault("get_order", "odd")), fault_kinds={"odd": broken})
        assert made.unusable_reason == statuses.WORLD_FAILED
        assert "ZeroDivisionError" in made.error["message"]


class Talker:
    """A person who says each text once."""

    name = "talker"

    def __init__(self, *texts):
        self.texts = list(texts)
        self.usage = Usage(1, 2, 0, 1, 0)
        self.stop_reason = None
        self.heard = []

    async def reply(self, conversation):
        self.heard.append([dict(turn) for turn in conversation])
        entry = self.texts.pop(0)
        if isinstance(entry, BaseException):
            raise entry
        if entry is None:
            self.stop_reason = statuses.USER_LEFT
            return Said("Bye.", done=True)
        if entry == "hang":
            await asyncio.sleep(30)
        return Said(entry, done=False)


def asks(message, ctx):
    return f"Turn {len(ctx.messages)}: what else do you need?"


def test_person_and_agent_take_turns_until_the_person_leaves():
    person = Talker("A lamp.", "Two of them.", None)
    made = played(asks, person=person)
    assert (made.stop_reason, made.usable, made.n_turns, made.user_model) == (statuses.USER_LEFT, True, 3, "talker")
    assert [turn["role"] for turn in made.messages] == ["user", "assistant"] * 3
    assert [step.get("user") for step in made.steps][::2] == ["Hi, where is my order?", "A lamp.", "Two of them."]
    assert made.final_text == "Turn 5: what else do you need?"
    assert made.person_usage == person.usage
    assert [len(heard) for heard in person.heard] == [2, 4, 6]


@pytest.mark.parametrize(
    ("agent", "max_turns", "turns", "reason"),
    [
        (asks, 2, 2, statuses.MAX_TURNS),
        (asks, None, 8, statuses.MAX_TURNS),
        (lambda message: "And what else?", None, 1, statuses.MAX_TURNS),
        (lambda message: "It is done.", None, 1, statuses.AGENT_DONE),
        (lambda message: "And what else?", 3, 3, statuses.MAX_TURNS),
    ],
)
def test_turns_are_counted(agent, max_turns, turns, reason):
    made = played(agent, person=Talker(*repeat("More.", 9)), max_turns=max_turns)
    assert (made.n_turns, made.stop_reason, made.usable) == (turns, reason, True)


def test_the_scripted_person_answers_what_is_asked():
    def agent(message, ctx):
        found = re.search(r"ORD-\d+", message)
        return f"It is {ctx.call('get_order', order_id=found[0])['status']}." if found else "What is the order id?"

    made = played(agent, situation(patience_facts={"order_id": OWN}))
    assert (made.final_text, made.stop_reason) == ("It is ok.", statuses.AGENT_DONE)


@pytest.mark.parametrize(
    ("error", "reason"),
    [(UserFailed("odd"), "user_failed"), (EndpointError("rate_limited", "slow down"), "rate_limited")],
)
def test_a_person_who_fails_is_no_failure_of_the_agent(error, reason):
    made = played(asks, person=Talker(error))
    assert (made.usable, made.unusable_reason) == (False, reason)
    assert made.final_text.startswith("Turn 1")


def test_a_person_who_does_not_answer_is_no_failure_of_the_agent():
    made = played(asks, person=Talker("hang"), timeout=0.2)
    assert (made.unusable_reason, made.final_text[:6]) == (statuses.USER_FAILED, "Turn 1")


def test_an_agent_of_the_message_alone_is_told_of_what_it_misses():
    earlier = ({"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi."}, SAID)
    one = situation(Fault("get_order", "timeout"), messages=earlier)
    assert played(says, one).notes == ("faults_unreachable", "history_unseen")
    assert played(asks, one, max_turns=1).notes == ()
    assert played(asks, one, max_turns=1).final_text == "Turn 3: what else do you need?"


def test_rollouts_of_a_deterministic_agent_are_equal_at_any_concurrency():
    async def agent(message, ctx):
        await asyncio.sleep((ctx.seed % 7) / 500)
        got = await ctx.call("get_order", order_id=order_ids()[ctx.seed % 5])
        return f"It is {got['order']['status']}."

    def told(made):
        return [(one.steps, one.messages, one.final_text, one.ledger, one.hidden_state) for one in made]

    together = told(played(agent, situation(Fault("get_order", "stale")), n=12))
    apart = [told([played(agent, situation(Fault("get_order", "stale")), index=place)])[0] for place in range(12)]
    assert together == apart


def test_it_runs_in_a_forked_child_of_a_process_that_has_run():
    played(calls_twice)
    played(calls_twice_later)
    child = os.fork()
    if child == 0:  # pragma: no cover - in the child
        fine = played(calls_twice).usable and played(calls_twice_later).usable
        os._exit(0 if fine else 1)
    assert os.waitpid(child, 0)[1] == 0
