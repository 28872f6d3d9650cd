"""`wai.seeded_agent`: what it does wrong is labelled, as often as was asked, and what it does right is right."""

from __future__ import annotations

import math

import pytest

import whileai as wai
from whileai.engine.faults import Fault
from whileai.engine.seeded import BEHAVIORS
from whileai.errors import ParamError
from world_helpers import SHOP, order_ids, played, situation

OWN = order_ids()[0]
READ = situation(prompt=f"Hi, where is my order {OWN}?")
CANCEL = situation(prompt=f"Please cancel order {OWN}.", focus=("cancel_order",))


def labels(made):
    return [one.extra["seeded"] for one in made]


@pytest.mark.parametrize("rate", [0.0, 0.35, 1.0])
@pytest.mark.parametrize("one", [READ, CANCEL, situation(Fault("get_order", "timeout"), prompt=READ.public.prompt)])
def test_the_labelled_share_is_the_rate(rate, one):
    made = played(wai.seeded_agent(SHOP, rate=rate), one, n=300)
    share = sum(1 for label in labels(made) if label) / 300
    assert all(run.usable for run in made)
    assert abs(share - rate) <= 4 * math.sqrt(rate * (1 - rate) / 300)


def test_the_same_rollouts_go_wrong_in_the_same_way_whatever_runs_beside_them():
    agent = wai.seeded_agent(SHOP, rate=0.5)
    together = [(one.extra, one.final_text) for one in played(agent, READ, n=20)]
    apart = [(one.extra, one.final_text) for one in (played(agent, READ, index=place) for place in range(20))]
    assert together == apart
    assert together != [
        (one.extra, one.final_text) for one in played(wai.seeded_agent(SHOP, rate=0.5, seed=1), READ, n=20)
    ]


@pytest.mark.parametrize("behavior", sorted(BEHAVIORS))
def test_each_behaviour_does_what_its_name_says(behavior):
    fault = Fault("get_order", "permission_denied") if behavior == "ignored_failure" else None
    one = situation(fault, prompt=READ.public.prompt)
    made = played(wai.seeded_agent(SHOP, rate=1, behaviors=[behavior]), one)
    assert made.extra["seeded"] == [behavior]
    calls = [step for step in made.steps if "tool" in step]
    if behavior == "unfounded_claim":
        assert calls == []
    elif behavior == "made_up_id":
        assert calls[0]["arguments"]["order_id"] not in (OWN, READ.public.prompt)
    elif behavior == "ignored_failure":
        assert calls[0]["result"]["status"] == "permission_denied"
        assert "worked" in made.final_text
    elif behavior == "wrong_value":
        held = {str(value) for value in calls[0]["result"]["order"].values()}
        assert made.final_text.rstrip(".").rpartition(" is ")[2] not in held
    else:
        assert len(calls) == 3
        assert len({str(call["arguments"]) for call in calls}) == 1


def test_a_behaviour_that_cannot_show_is_not_labelled():
    made = played(wai.seeded_agent(SHOP, rate=1, behaviors=["ignored_failure"]), READ, n=5)
    assert labels(made) == [[]] * 5
    assert all("Here is what I have" in one.final_text for one in made)


@pytest.mark.parametrize("mode", [None, "timeout", "malformed", "stale", "permission_denied"])
def test_what_it_does_right_claims_nothing_that_did_not_happen(mode):
    one = situation(Fault("cancel_order", mode) if mode else None, prompt=CANCEL.public.prompt, focus=("cancel_order",))
    made = played(wai.seeded_agent(SHOP, rate=0), one, max_turns=1)
    first = next(step for step in made.steps if "tool" in step)
    assert first["arguments"]["order_id"] == OWN
    well = isinstance(first["result"], dict) and first["result"]["status"] == "ok"
    assert ("is cancelled" in made.final_text) == well
    if mode == "stale":
        assert "out of date" in made.final_text


def test_it_asks_for_what_it_needs_and_uses_the_answer():
    made = played(
        wai.seeded_agent(SHOP, rate=0), situation(patience_facts={"order_id": OWN}, prompt="Where is my order?")
    )
    assert made.messages[1]["content"] == "What is the order ID?"
    assert [step["arguments"] for step in made.steps if "tool" in step] == [{"order_id": OWN}]


def test_it_plays_any_set_of_tools():
    @wai.tool
    def search_flights(origin: str, destination: str, date: str, passengers: int = 1) -> list:
        """Search flights."""

    @wai.tool
    async def send_email(to: str, subject: str, urgent: bool = False) -> dict:
        """Send an email."""

    said = "Please search flights: the origin is Oslo, the destination is Rome and the date is 2024-05-01."
    made = played(
        wai.seeded_agent([search_flights, send_email], rate=0),
        situation(prompt=said),
        tools=[search_flights, send_email],
    )
    (call,) = [step for step in made.steps if "tool" in step]
    assert call["tool"] == "search_flights"
    assert {"origin": "Oslo", "destination": "Rome", "date": "2024-05-01"}.items() <= call["arguments"].items()
    nothing = played(wai.seeded_agent([], rate=0.5), situation(prompt="Tell me a joke."), tools=[], n=3)
    assert all(one.usable and one.n_tool_calls == 0 for one in nothing)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"rate": 1.2}, "[0, 1]"), ({"seed": 0.5}, "a whole number"), ({"behaviors": "made_up_id"}, "a list"),
        ({"behaviors": []}, "at least one"), ({"behaviors": ["made_up_di"]}, "Did you mean made_up_id?"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused(given, words):
    with pytest.raises(ParamError) as caught:
        wai.seeded_agent(SHOP, **given)
    assert words in str(caught.value)
