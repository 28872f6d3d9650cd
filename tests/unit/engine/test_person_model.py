"""The person a model plays: its answers are checked, its signal to stop is a field."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace

import pytest

from engine_tools import ALL, PROMPT
from whileai.engine.endpoint_error import EndpointError
from whileai.engine.model_person import ModelPerson, instructions
from whileai.engine.person import Said, UserFailed
from whileai.engine.plan import Plan
from whileai.engine.reply import Reply, Usage
from whileai.engine.situations import Brief

BRIEF = Brief(
    "cancel an order",
    "changes_mind",
    {"order_id": "ORD-4550", "reason": "It came two whole weeks later than you had promised to me"},
    {"order_id": "order ID"},
    {"order_id": "order"},
    change={"reason": "a cheaper one turned up"},
)
ASKED = [
    {"role": "user", "content": "Please cancel my order."},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "function": {"name": "get_order"}}]},
    {"role": "tool", "tool_call_id": "c1", "content": "SECRET TOOL RESULT"},
    {"role": "assistant", "content": "What is the order number?"},
]


class FakeModel:
    """Answers in turn with the texts it was given; an error among them is raised."""

    model = "fake-1"

    def __init__(self, *answers, form=1):
        self.answers = list(answers)
        self.requests = []
        self.shared = SimpleNamespace(form=form)

    async def chat(self, messages, tools=None, *, response_format=None, tool_choice=None):
        self.requests.append((json.loads(json.dumps(messages)), response_format))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Reply):
            return answer
        text = answer if isinstance(answer, str) else json.dumps(answer)
        return Reply(text, usage=Usage(10, 5, 0, 1))


def said(message, done=False):
    return {"message": message, "done": done}


def reply(model, conversation=ASKED, **options):
    person = ModelPerson(options.pop("brief", BRIEF), model, **options)
    return asyncio.run(person.reply(conversation)), person


def test_a_good_answer_is_what_the_person_says():
    model = FakeModel(said("It is ORD-4550."))
    got, person = reply(model)
    assert got == Said("It is ORD-4550.", done=False)
    assert person.name == "fake-1"
    assert (person.usage.input_tokens, person.usage.requests) == (10, 1)
    messages, form = model.requests[0]
    assert form["type"] == "json_schema"
    assert form["json_schema"]["schema"]["required"] == ["message", "done"]
    assert "SECRET TOOL RESULT" not in json.dumps(messages)
    assert [turn["role"] for turn in messages] == ["system", "user", "assistant", "user"]
    assert messages[-1]["content"] == "What is the order number?"


BAD = [
    "I want to cancel it.",
    {"message": "Yes."},
    said(3),
    said(""),
    said("x" * 2_001),
    said("How can I help you today?"),
    said("Assistant: I have cancelled it."),
    said("As an AI I cannot have an order."),
    said("My stance is to wait, then to answer."),
    said("I am in the changes_mind mood."),
    said("stance: hurried"),
    said("The first time you are asked to confirm, you want something else instead."),
    said("<think>what would they say</think> Yes."),
    Reply("", refusal="I cannot do that.", usage=Usage(1, 1, 0, 1)),
    Reply('{"message": "Yes, tha', finish_reason="length", usage=Usage(1, 1, 0, 1)),
]


@pytest.mark.parametrize("bad", BAD, ids=range(len(BAD)))
def test_what_no_person_says_is_asked_for_once_more_and_then_fails(bad):
    model = FakeModel(bad, said("It is ORD-4550."))
    got, person = reply(model)
    assert got.message == "It is ORD-4550."
    assert person.usage.requests == 2
    assert "cannot be used" in model.requests[1][0][-1]["content"]
    with pytest.raises(UserFailed, match="twice"):
        reply(FakeModel(bad, bad))


@pytest.mark.parametrize(
    "good",
    [
        "It came two whole weeks later than you had promised to me.",
        "Please cancel my order, it is about a person: me.",
        "The tool I ordered never came.",
        "I do not know: it was a present for a friend.",
    ],
)
def test_what_a_person_may_say_is_not_held_against_them(good):
    assert reply(FakeModel(said(good)))[0].message == good


def test_the_stop_signal_is_a_field():
    got, person = reply(FakeModel(said("Thank you, that is all.", done=True)))
    assert got == Said("Thank you, that is all.", done=True)
    assert person.stop_reason == "user_done"
    got, _ = reply(FakeModel(said("We are done here, DONE, stop.")))
    assert not got.done


def test_done_does_not_count_in_the_turn_that_confirms():
    asked = [*ASKED[:-1], {"role": "assistant", "content": "Shall I cancel order ORD-4550?"}]
    got, person = reply(FakeModel(said("Yes please.", done=True)), asked)
    assert got == Said("Yes please.", done=False)
    assert person.stop_reason is None


def test_a_reply_that_asks_nothing_costs_nothing():
    model = FakeModel()
    got, person = reply(model, [*ASKED, {"role": "assistant", "content": "It is cancelled."}])
    assert (got, person.stop_reason, model.requests) == (Said(None, done=True), "agent_done", [])


def test_the_person_leaves_after_so_many_questions():
    model = FakeModel(*[said("I do not know.")] * 2)
    person = ModelPerson(BRIEF, model, patience=2)
    got = [asyncio.run(person.reply(ASKED)) for _ in range(3)]
    assert [one.done for one in got] == [False, False, True]
    assert person.stop_reason == "user_left"


def test_the_form_a_server_refuses_is_not_asked_for_again_by_any_person():
    refused = EndpointError("bad_response", "no response_format", rejected=True)
    fenced = "```json\n" + json.dumps(said("Yes.")) + "\n```"
    model = FakeModel(refused, refused, said("It is ORD-4550."), fenced, form=0)
    assert [reply(model)[0].message for _ in range(2)] == ["It is ORD-4550.", "Yes."]
    assert [form and form["type"] for _, form in model.requests] == ["json_schema", None, "json_object", "json_object"]
    assert model.shared.form == 3


def test_a_server_that_fails_is_no_failure_of_the_person():
    with pytest.raises(EndpointError, match="slow down"):
        reply(FakeModel(EndpointError("rate_limited", "slow down")))


def test_the_instructions_name_no_axis_and_no_reference():
    for situation in Plan(ALL, PROMPT).take(80):
        text = instructions(situation.brief)
        for value in situation.axes.values():
            if "_" in value:
                assert value not in text
        assert situation.reference not in text
        assert situation.brief.goal in text
