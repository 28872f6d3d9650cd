"""The scripted person: answers what is asked and nothing else, confirms, corrects, changes their mind, leaves."""

from __future__ import annotations

import asyncio

import pytest

from engine_tools import ALL, PROMPT
from whileai.engine.hearing import hear
from whileai.engine.person import Said, ScriptedPerson
from whileai.engine.plan import Plan
from whileai.engine.situations import Brief

FACTS = {
    "order_id": "ORD-4550",
    "new_address": "3 Mill Street, Oslo",
    "reason": "It came late.",
    "email": "a.b@c.example",
}
KINDS = {"order_id": "order"}


def brief(stance="plain", **more):
    return Brief("change an order", stance, FACTS, kinds=KINDS, **more)


def spoken(person, *texts):
    return [person.answer(text) for text in texts]


ASKED = [
    ("What is your order number?", ("order_id",)),
    ("Could you share the order ID?", ("order_id",)),
    ("Which order is it?", ("order_id",)),
    ("Please provide your order_id.", ("order_id",)),
    ("I'm sorry. I just need your order reference to look it up.", ("order_id",)),
    ("Please confirm your order number.", ("order_id",)),
    ("May I have the reference number?", ("order_id",)),
    ("Where should it go? I need the new address.", ("new_address",)),
    ("What address do you want it sent to?", ("new_address",)),
    ("Why do you want that?", ("reason",)),
    ("Tell me your e-mail address and the order number.", ("order_id", "email")),
    ("To go on I need two things:\n- the order ID?\n- the reason?", ("order_id", "reason")),
    ("What is your phone number?", ()),
    ("What colour is it?", ()),
    ("Which address should I use?", ("new_address",)),
]


@pytest.mark.parametrize(("text", "fields"), ASKED)
def test_a_fact_is_given_when_its_field_is_asked_for_and_only_then(text, fields):
    person = ScriptedPerson(brief())
    message, done = person.answer(text)
    assert not done
    for name, value in FACTS.items():
        assert (value in message) == (name in fields), message


@pytest.mark.parametrize(
    "text",
    [
        "Shall I cancel order ORD-4550?",
        "Do you want me to send it to the new address?",
        "I will change the address of order ORD-4550. Is that correct?",
        "Would you like me to go ahead with the order?",
        "Please confirm, and I will do it.",
        "Should I proceed?",
        "It timed out. Shall I try again?",
        "Is it okay to update your email?",
    ],
)
def test_a_confirmation_gets_a_yes_and_never_the_end(text):
    for stance in ("plain", "hurried", "upset", "insistent", "hostile", "vague"):
        person = ScriptedPerson(brief(stance))
        message, done = person.answer(text)
        assert message
        assert not done
        assert not any(value in message for value in FACTS.values())
        assert person.stop_reason is None


@pytest.mark.parametrize(
    "text",
    [
        "Your order is cancelled.",
        "I cannot do that.",
        "It is done. Let me know if you need anything else.",
        "The page is at https://shop.example/orders?id=4550 now.",
        "Done! I have confirmed the order.",
        "",
    ],
)
def test_a_reply_that_asks_nothing_ends_it(text):
    person = ScriptedPerson(brief())
    assert person.answer(text) == Said(None, done=True)
    assert person.stop_reason == "agent_done"


def test_anything_else_is_answered_with_no_and_the_end():
    person = ScriptedPerson(brief())
    message, done = person.answer("It is cancelled. Is there anything else I can help you with?")
    assert done
    assert message
    assert person.stop_reason == "user_done"


def test_a_confirmation_beside_anything_else_does_not_end_it():
    person = ScriptedPerson(brief())
    assert not person.answer("Shall I cancel it? Is there anything else I can help with?").done


@pytest.mark.parametrize("patience", [1, 3, 5])
def test_the_person_leaves_after_so_many_questions(patience):
    person = ScriptedPerson(brief(), patience)
    said = spoken(person, *["What colour is it?"] * (patience + 1))
    assert [one.done for one in said] == [False] * patience + [True]
    assert said[-1].message
    assert person.stop_reason == "user_left"


def test_a_mistake_is_put_right_once():
    person = ScriptedPerson(brief("mistaken", wrong={"order_id": "ORD-1111"}))
    first, second = spoken(person, "Shall I cancel order ORD-1111?", "Shall I cancel order ORD-4550 then?")
    assert "ORD-4550" in first.message
    assert not first.done
    assert "ORD-4550" not in second.message


def test_a_mistake_is_put_right_with_the_fact_that_is_asked_for():
    person = ScriptedPerson(brief("mistaken", wrong={"order_id": "ORD-1111"}))
    (said,) = spoken(person, "Why do you want that?")
    assert "ORD-4550" in said.message
    assert "It came late" in said.message


def test_a_mistake_is_put_right_before_the_end():
    person = ScriptedPerson(brief("mistaken", wrong={"order_id": "ORD-1111"}))
    assert not person.answer("ORD-1111 is cancelled. Anything else?").done
    assert person.answer("ORD-4550 is cancelled. Anything else?").done


def test_a_mind_is_changed_at_the_first_confirmation_and_the_new_wish_holds():
    person = ScriptedPerson(brief("changes_mind", change={"new_address": "9 Hill Road, Graz"}), patience=5)
    asked, changed, again, yes = spoken(
        person, "What is the order number?", "Shall I do it?", "What is the new address?", "Shall I do it now?"
    )
    assert "ORD-4550" in asked.message
    assert "9 Hill Road, Graz" in changed.message
    assert not changed.done
    assert "9 Hill Road, Graz" in again.message
    assert "Hill Road" not in yes.message


def test_a_mind_may_change_to_leaving_it():
    person = ScriptedPerson(brief("changes_mind"))
    said = person.answer("Shall I do it?")
    assert not said.done
    assert "yes" not in said.message.lower()


def test_asked_what_they_want_they_say_it_without_a_fact():
    (said,) = spoken(ScriptedPerson(brief()), "How can I help you?")
    assert "change an order" in said.message
    assert not any(value in said.message for value in FACTS.values())


def test_the_same_brief_says_the_same():
    texts = ["What colour is it?", "Shall I do it?", "What size?"]
    assert spoken(ScriptedPerson(brief(voice=3)), *texts) == spoken(ScriptedPerson(brief(voice=3)), *texts)
    said = {tuple(spoken(ScriptedPerson(brief(voice=v)), *texts)) for v in range(20)}
    assert len(said) > 5


def test_the_person_hears_the_last_thing_the_agent_said():
    conversation = [
        {"role": "user", "content": "Change it."},
        {"role": "assistant", "content": "What is the order number?"},
        {"role": "user", "content": "ORD-4550"},
        {"role": "assistant", "content": [{"type": "text", "text": "Shall I do it?"}]},
    ]
    said = asyncio.run(ScriptedPerson(brief()).reply(conversation))
    assert said.message.lower().startswith(("yes", "correct"))


def test_every_fact_of_a_plan_can_be_asked_for_by_its_name():
    for situation in Plan(ALL, PROMPT).take(150):
        for name, label in situation.brief.labels.items():
            heard = hear(f"What is the {label}?", situation.brief.facts, situation.brief.kinds)
            assert name in heard.fields, (name, label)


def test_no_person_of_a_plan_ends_it_in_the_turn_in_which_they_confirm():
    for situation in Plan(ALL, PROMPT).take(150):
        person = ScriptedPerson(situation.brief)
        assert not person.answer("Shall I go ahead?").done
        assert not person.answer("Is that correct?").done
        assert person.answer("It is done.").done


def test_what_is_a_sentence_of_its_own_is_quoted():
    (said,) = spoken(ScriptedPerson(brief()), "What is the reason?")
    assert said.message == 'The reason is "It came late."'
