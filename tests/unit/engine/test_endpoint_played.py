"""An endpoint that the engine plays: what it sends, how tool calls run, what is counted, how failures are named."""

from __future__ import annotations

import asyncio
import json
import math
from itertools import pairwise

import pytest

from whileai.engine import statuses
from whileai.engine.agents import Agent
from whileai.engine.endpoint_error import EndpointError
from whileai.engine.faults import Fault
from whileai.engine.options import Sampling
from whileai.engine.reply import Usage
from world_helpers import SHOP, FakeEndpoint, order_ids, played, reply, situation

OWN, OTHER = order_ids()[:2]
CALLS = reply("Let me look.", ("get_order", {"order_id": OWN}), ("cancel_order", {"order_id": OTHER}))
DONE = reply("It is cancelled.")


def test_it_sends_the_system_prompt_the_conversation_and_the_tools():
    endpoint = FakeEndpoint(CALLS, DONE)
    earlier = (
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Hi."},
        {"role": "user", "content": "Cancel it."},
    )
    one = situation(messages=earlier, prompt="Cancel it.")
    made = played(endpoint, one, sampling=Sampling(temperature=0.5, seed=7), index=2, retries=1)
    first, second = endpoint.requests
    assert first["messages"] == [{"role": "system", "content": "Be kind."}, *earlier]
    assert first["tools"] == [tool.openai() for tool in SHOP]
    assert (first["sampling"].temperature, first["sampling"].seed, first["retries"]) == (0.5, 9, 1)
    assert second["messages"][1:] == made.messages[:-1]
    assert made.sampling == {"temperature": 0.5, "seed": 9}
    assert (made.model, made.finish_reason, made.stop_reason) == ("m-1-0101", "stop", statuses.AGENT_DONE)


def test_without_system_prompt_and_tools_none_are_sent():
    endpoint = FakeEndpoint(DONE)
    played(endpoint, tools=(), system_prompt="")
    assert endpoint.requests[0]["tools"] is None
    assert [turn["role"] for turn in endpoint.requests[0]["messages"]] == ["user"]


def test_tool_calls_of_one_turn_run_in_order_and_are_linked():
    made = played(FakeEndpoint(CALLS, reply("", ("get_order", {"order_id": OTHER})), DONE))
    asked, one, two, again, three, last = made.messages[1:]
    assert [call["id"] for call in asked["tool_calls"]] == [one["tool_call_id"], two["tool_call_id"]]
    assert [call["function"]["name"] for call in asked["tool_calls"]] == ["get_order", "cancel_order"]
    assert again["tool_calls"][0]["id"] == three["tool_call_id"] != one["tool_call_id"]
    assert json.loads(three["content"])["order"]["status"] == "cancelled"
    assert (asked["content"], last["content"]) == ("Let me look.", "It is cancelled.")
    turns = [(step.get("tool") or step.get("text") or "user", step["turn"]) for step in made.steps]
    assert turns == [
        ("user", 0), ("Let me look.", 0), ("get_order", 0), ("cancel_order", 0), ("get_order", 1),
        ("It is cancelled.", 2),
    ]  # fmt: skip
    assert made.final_text == "It is cancelled."


def test_arguments_that_are_no_json_are_kept_and_refused():
    made = played(FakeEndpoint(reply("", ("get_order", '{"order_id": ')), DONE))
    step = made.steps[1]
    assert (step["arguments"], step["arguments_raw"]) == ({}, '{"order_id": ')
    assert step["result"]["status"] == statuses.INVALID_ARGUMENTS
    assert made.messages[1]["tool_calls"][0]["function"]["arguments"] == "{}"


def test_an_unknown_tool_is_told_so():
    made = played(FakeEndpoint(reply("", ("get_ordr", {})), DONE))
    assert made.steps[1]["result"]["status"] == statuses.UNKNOWN_TOOL


@pytest.mark.parametrize("mode", ["timeout", "malformed", "stale", "permission_denied"])
def test_faults_reach_it(mode):
    endpoint = FakeEndpoint(reply("", ("get_order", {"order_id": OWN})), DONE)
    made = played(endpoint, situation(Fault("get_order", mode)))
    assert [event["mode"] for event in made.ledger] == [mode]
    content = endpoint.requests[1]["messages"][-1]["content"]
    assert isinstance(content, str)
    assert content == (made.steps[1]["result"] if mode == "malformed" and isinstance(made.steps[1]["result"], str)
                       else json.dumps(made.steps[1]["result"], ensure_ascii=False))  # fmt: skip


def test_usage_adds_up_over_completions():
    made = played(FakeEndpoint(CALLS, DONE))
    assert made.usage == Usage(20, 10, 4, 2, 0, 0.5)


def test_logprobs_stand_on_the_first_step_of_each_turn_and_add_up():
    script = [
        reply("Look.", ("get_order", {"order_id": OWN}), ("get_order", {"order_id": OTHER}), logprobs=(-0.5, -0.25)),
        reply("Done.", logprobs=(-1.0,)),
    ]
    made = played(FakeEndpoint(*script), logprobs="tokens")
    steps = [(step.get("logprob"), step.get("n_tokens")) for step in made.steps]
    assert steps == [(None, None), (-0.75, 2), (None, None), (None, None), (-1.0, 1)]
    assert (made.logprob, made.n_tokens, made.token_logprobs) == (-1.75, 3, [-0.5, -0.25, -1.0])
    with_sums = played(FakeEndpoint(*script), logprobs=True)
    assert (with_sums.logprob, with_sums.token_logprobs) == (-1.75, None)
    without = played(FakeEndpoint(*script))
    assert (without.logprob, without.n_tokens) == (None, None)
    assert "logprob" not in without.steps[1]


def test_a_server_without_logprobs_gives_none_and_a_note():
    made = played(FakeEndpoint(reply("Look.", ("get_order", {"order_id": OWN}), logprobs=(-0.5,)), DONE), logprobs=True)
    assert (made.logprob, made.n_tokens, made.token_logprobs) == (None, None, None)
    assert made.notes == ("no_logprobs",)
    assert made.steps[1]["logprob"] == -0.5
    assert "logprob" not in made.steps[-1]


@pytest.mark.parametrize("reason", statuses.INFRASTRUCTURE)
@pytest.mark.parametrize("first", [True, False])
def test_a_failure_of_the_server_ends_the_rollout_by_its_name(reason, first):
    error = EndpointError(reason, "it said so", fatal=reason in ("auth", "quota"))
    error.usage = Usage(requests=3, retries=2)
    script = [error] if first else [CALLS, error]
    made = played(FakeEndpoint(*script))
    assert (made.usable, made.unusable_reason, made.stop_reason) == (False, reason, reason)
    assert made.error == {"type": "EndpointError", "message": "it said so"}
    assert made.fatal == (reason in ("auth", "quota"))
    assert made.usage.requests == (3 if first else 4)
    assert made.usage.retries == 2
    assert len(made.steps) == (1 if first else 4)
    assert made.final_text == ("" if first else "Let me look.")


def test_a_completion_of_nothing_is_empty_and_keeps_why_it_ended():
    made = played(FakeEndpoint(reply(" ")))
    assert (made.unusable_reason, made.finish_reason) == (statuses.AGENT_EMPTY, "stop")


def test_a_slow_server_is_the_agents_timeout():
    endpoint = FakeEndpoint(DONE, seconds=30)
    made = played(endpoint, timeout=0.2)
    assert made.unusable_reason == statuses.AGENT_TIMEOUT
    assert endpoint.requests[0]["timeout"] < 0.2
    gave_up = played(FakeEndpoint(TimeoutError("no answer within 1 s")))
    assert gave_up.unusable_reason == statuses.AGENT_TIMEOUT


def test_too_many_tool_calls_leave_no_call_without_an_answer():
    looks = [reply("", *[("get_order", {"order_id": OWN})] * 4) for _ in range(9)]
    made = played(FakeEndpoint(*looks), max_tool_calls=6)
    assert (made.stop_reason, made.usable, made.n_tool_calls) == (statuses.MAX_TOOL_CALLS, True, 6)
    asked = [call["id"] for turn in made.messages for call in turn.get("tool_calls", ())]
    told = [turn["tool_call_id"] for turn in made.messages if turn["role"] == "tool"]
    assert asked == told
    assert len(set(asked)) == 6
    assert all(one["role"] != "assistant" or two["role"] == "tool" for one, two in pairwise(made.messages))


@pytest.mark.parametrize("execute", ["plain", "later"])
def test_execute_answers_it_wherever_it_runs(execute):
    async def later(tool, arguments):
        await asyncio.sleep(0)
        return [tool, arguments]

    def plain(tool, arguments):
        return asyncio.run(later(tool, arguments))

    made = played(FakeEndpoint(CALLS, DONE), execute={"plain": plain, "later": later}[execute])
    assert made.steps[2]["result"] == ["get_order", {"order_id": OWN}]


def test_an_execute_that_hangs_is_the_worlds_failure():
    async def hangs(tool, arguments):
        await asyncio.sleep(30)

    made = played(FakeEndpoint(CALLS, DONE), execute=hangs, timeout=0.3)
    assert made.unusable_reason == statuses.WORLD_FAILED
    assert made.final_text == "Let me look."


def test_no_privileged_word_reaches_it():
    from whileai.engine.situations import Brief, Public, Situation

    secret = "CANARY"
    brief = Brief(f"{secret} goal", facts={"order_id": f"{secret}-1"}, told=(), state=secret, history=secret)
    one = Situation(
        0, f"sc_{secret}", Public("Hi."), {"tool": secret}, Fault("get_order", "timeout"), 77777777, "present", brief,
        f"{secret} reference", lineage={"x": secret}, seed_row={"privileged": secret},
    )  # fmt: skip
    endpoint = FakeEndpoint(CALLS, reply("What is your name?"), DONE)
    made = played(endpoint, one)
    sent = json.dumps([request["messages"] for request in endpoint.requests])
    assert made.usable
    assert secret not in sent
    assert "77777777" not in sent


def test_it_is_told_apart_from_functions():
    wrapped = Agent(FakeEndpoint(DONE, model="m-7"))
    assert (wrapped.is_endpoint, wrapped.model, wrapped.name, wrapped.default_turns) == (True, "m-7", "m-7", 8)
    assert math.isfinite(played(FakeEndpoint(DONE)).seconds)
