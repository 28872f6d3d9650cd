"""The world: what it answers, refuses, remembers and breaks, the same in every process."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import whileai as wai
from whileai.engine import faults, statuses
from whileai.engine.faults import Fault
from whileai.engine.world import RolloutOver, WorldFailed
from world_helpers import CATALOG, SHOP, answers, order_ids, situation, world

FIRST, SECOND = order_ids()[:2]
CUSTOMER = next(iter(situation().records(CATALOG).tables["customer"]))


def test_a_read_gives_the_record_and_the_same_one_again():
    one, two = answers(world(), ("get_order", {"order_id": FIRST}), ("get_order", {"order_id": FIRST}))
    assert one == two
    assert one["status"] == "ok"
    assert one["order"] == situation().records(CATALOG).tables["order"][FIRST]


def test_an_agent_that_writes_to_an_answer_changes_nothing():
    made = world()
    (one,) = answers(made, ("get_order", {"order_id": FIRST}))
    one["order"]["status"] = "mine"
    (two,) = answers(made, ("get_order", {"order_id": FIRST}))
    assert two["order"]["status"] != "mine"
    assert made.hidden_state["records"]["order"][FIRST]["status"] != "mine"


def test_a_list_is_filtered_by_its_arguments():
    tables = situation().records(CATALOG).tables
    theirs = [own for own, order in tables["order"].items() if order["customer_id"] == CUSTOMER]
    more = [("create_order", {"customer_id": CUSTOMER, "item": item}) for item in ("lamp", "desk")]
    before, *_, after, first = answers(
        world(),
        ("list_orders", {"customer_id": CUSTOMER}),
        *more,
        ("list_orders", {"customer_id": CUSTOMER}),
        ("list_orders", {"customer_id": CUSTOMER, "limit": 1}),
    )
    assert [order["order_id"] for order in before["orders"]] == theirs
    assert after["count"] == len(after["orders"]) == len(theirs) + 2
    assert (len(first["orders"]), first["count"]) == (1, len(theirs) + 2)


def test_writes_are_seen_by_later_reads_of_this_rollout_alone():
    made = world()
    created, again, found, listed, changed, read = answers(
        made,
        ("create_order", {"customer_id": CUSTOMER, "item": "lamp"}),
        ("create_order", {"customer_id": CUSTOMER, "item": "lamp"}),
        ("get_order", {"order_id": FIRST}),
        ("list_orders", {"customer_id": CUSTOMER}),
        ("update_order", {"order_id": FIRST, "quantity": 987}),
        ("get_order", {"order_id": FIRST}),
    )
    own = created["order"]["order_id"]
    assert own not in order_ids()
    assert again["status"] == statuses.ALREADY_DONE
    assert own in [order["order_id"] for order in listed["orders"]]
    assert found["order"]["quantity"] != 987
    assert changed["order"]["quantity"] == read["order"]["quantity"] == 987
    assert set(made.hidden_state["changed"]["order"]) == {own, FIRST}
    assert "changed" not in world().hidden_state
    (other,) = answers(world(), ("get_order", {"order_id": own}))
    assert other["status"] == statuses.NOT_FOUND


def test_a_second_cancel_and_an_update_to_what_is_there_are_already_done():
    done, twice, same, anew = answers(
        world(),
        ("cancel_order", {"order_id": FIRST}),
        ("cancel_order", {"order_id": FIRST, "reason": "again"}),
        ("update_order", {"order_id": SECOND, "quantity": 41}),
        ("update_order", {"order_id": SECOND, "quantity": 41}),
    )
    assert (done["status"], done["order"]["status"]) == ("ok", "cancelled")
    assert twice["status"] == statuses.ALREADY_DONE
    assert (same["status"], anew["status"]) == ("ok", statuses.ALREADY_DONE)


def test_what_is_deleted_is_gone():
    @wai.tool
    def delete_note(note_id: str) -> dict:
        """Delete a note."""

    @wai.tool
    def get_note(note_id: str) -> dict:
        """Read a note."""

    made = world(situation(focus=("get_note",)), [delete_note, get_note])
    own = next(iter(made.hidden_state["records"]["note"]))
    told = answers(made, *((name, {"note_id": own}) for name in ("delete_note", "get_note", "delete_note")))
    assert [one["status"] for one in told] == ["ok", statuses.NOT_FOUND, statuses.ALREADY_DONE]
    assert made.hidden_state["changed"] == {"note": {own: None}}


@pytest.mark.parametrize(
    ("tool", "arguments", "status", "words"),
    [
        ("get_ordr", {"order_id": 3}, statuses.UNKNOWN_TOOL, "get_order"),
        ("get_order", {}, statuses.INVALID_ARGUMENTS, "order_id"),
        ("get_order", {"order_id": 3}, statuses.INVALID_ARGUMENTS, "order_id"),
        ("get_order", {"order_id": FIRST, "x": 1}, statuses.INVALID_ARGUMENTS, "x"),
        ("get_order", "{broken", statuses.INVALID_ARGUMENTS, "JSON object; got {broken"),
        ("get_order", "[1]", statuses.INVALID_ARGUMENTS, "JSON object; got [1]"),
        ("get_order", None, statuses.INVALID_ARGUMENTS, "JSON object"),
        ("get_order", {"order_id": "order_id"}, statuses.PLACEHOLDER, "order_id"),
        ("get_order", {"order_id": "<order id>"}, statuses.PLACEHOLDER, "order_id"),
        ("get_order", {"order_id": "YOUR_ORDER_ID"}, statuses.PLACEHOLDER, "order_id"),
        ("get_order", {"order_id": "string"}, statuses.PLACEHOLDER, "order_id"),
        ("create_order", {"customer_id": CUSTOMER, "item": "{{item}}"}, statuses.PLACEHOLDER, "item"),
        ("create_order", {"customer_id": "NOBODY-1", "item": "item"}, statuses.PLACEHOLDER, "item"),
        ("get_order", {"order_id": "ORD-0"}, statuses.NOT_FOUND, "ORD-0"),
        ("create_order", {"customer_id": "NOBODY-1", "item": "lamp"}, statuses.NOT_FOUND, "NOBODY-1"),
        ("update_order", {"order_id": "ORD-0", "quantity": 1}, statuses.NOT_FOUND, "ORD-0"),
    ],
)
def test_refusals_come_in_order_and_say_why(tool, arguments, status, words):
    made = world()
    (told,) = answers(made, (tool, arguments))
    assert told["status"] == status
    assert words in json.dumps(told)
    assert set(told) <= {"status", "error", "hint"}
    assert "changed" not in made.hidden_state
    assert made.ledger == []


def test_what_contradicts_the_record_is_a_conflict():
    @wai.tool
    def cancel_booking(booking_id: str, guest_id: str) -> dict:
        """Cancel a booking."""

    @wai.tool
    def register_guest(guest_id: str, name: str) -> dict:
        """Add a guest."""

    @wai.tool
    def get_booking(booking_id: str) -> dict:
        """Read a booking."""

    made = world(situation(focus=("cancel_booking",)), [cancel_booking, register_guest, get_booking])
    tables = made.hidden_state["records"]
    own, booking = next(iter(tables["booking"].items()))
    other = next(guest for guest in tables["guest"] if guest != booking["guest_id"])
    told = answers(
        made,
        ("cancel_booking", {"booking_id": own, "guest_id": other}),
        ("register_guest", {"guest_id": other, "name": "Ann Ode"}),
        ("get_booking", {"booking_id": own}),
        ("cancel_booking", {"booking_id": own, "guest_id": booking["guest_id"]}),
    )
    assert [one["status"] for one in told] == [statuses.CONFLICT, statuses.CONFLICT, "ok", "ok"]
    assert told[2]["booking"]["status"] == booking["status"]


def test_a_value_the_person_gave_is_no_placeholder_however_it_looks():
    said = situation(prompt="Please order one: item is user@example.com, that is its name.")
    (told,) = answers(world(said), ("create_order", {"customer_id": CUSTOMER, "item": "user@example.com"}))
    assert told["status"] == "ok"


def test_a_choice_of_the_schema_is_no_placeholder():
    kind = {"type": "object", "properties": {"kind": {"enum": ["string", "text"]}}, "required": ["kind"]}
    (told,) = answers(world(tools=_tools(kind)), ("list_types", {"kind": "text"}))
    assert told["status"] == "ok"


def _tools(parameters):
    from whileai.engine.tools import as_tools

    return as_tools([{"name": "list_types", "parameters": parameters}], "simulate")


@pytest.mark.parametrize("state", ["present", "missing", "already_done", "partial", "conflicting", "stale"])
def test_the_state_of_a_situation_is_what_its_tool_meets(state):
    one = situation(state=state, focus=("cancel_order",))
    own = one.records(CATALOG).facts["order_id"]
    read, cancelled = answers(world(one), ("get_order", {"order_id": own}), ("cancel_order", {"order_id": own}))
    expected = {"missing": (statuses.NOT_FOUND,) * 2, "already_done": ("ok", statuses.ALREADY_DONE)}
    assert (read["status"], cancelled["status"]) == expected.get(state, ("ok", "ok"))
    if state == "partial":
        assert None in read["order"].values()


def test_what_was_made_before_is_not_made_again_and_another_one_is():
    one = situation(state="already_done", focus=("create_order",))
    wish = {
        name: value for name, value in one.records(CATALOG).facts.items() if name in ("customer_id", "item", "quantity")
    }
    again, other = answers(world(one), ("create_order", wish), ("create_order", {**wish, "item": "another lamp"}))
    assert (again["status"], other["status"]) == (statuses.ALREADY_DONE, "ok")


def test_what_the_person_says_of_whose_a_thing_is_is_right_unless_the_situation_is_that_it_is_not():
    @wai.tool
    def cancel_booking(booking_id: str, email: str) -> dict:
        """Cancel a booking."""

    @wai.tool
    def create_booking(guest: str, email: str) -> dict:
        """Make a booking."""

    tools = [cancel_booking, create_booking]
    one = situation(focus=("cancel_booking",))
    facts = world(one, tools)._records.facts
    told = [
        answers(world(one, tools), ("cancel_booking", {**facts, **more}))[0]["status"]
        for more in ({}, {"email": "someone@else.example"})
    ]
    assert told == ["ok", statuses.CONFLICT]


@pytest.mark.parametrize("mode", faults.KINDS)
@pytest.mark.parametrize("tool", ["get_order", "*"])
def test_a_fault_strikes_the_first_calls_of_its_tool_and_is_written_down(mode, tool):
    call = ("get_order", {"order_id": FIRST})
    (true,) = answers(world(), call)
    made = world(situation(Fault(tool, mode)))
    struck, after = answers(made, call, call)
    assert struck != true
    assert after == true
    assert made.ledger == [{"tool": "get_order", "mode": mode, "rate": 1.0, "injected": True, "call": 0}]
    assert made.hidden_state["condition"] == mode
    if mode in faults.CUT:
        assert struck["status"] == mode
    if mode == faults.STALE:
        assert struck["as_of"] < "2024"
        assert struck["order"]["order_id"] == FIRST
        assert struck["order"]["status"] != true["order"]["status"]


def test_other_tools_do_not_use_up_a_fault_and_the_span_says_how_many_calls_it_strikes():
    calls = [("cancel_order", {"order_id": FIRST})] + [("get_order", {"order_id": SECOND})] * 4
    for span, struck in ((1, [1]), (3, [1, 2, 3]), (None, [1, 2, 3, 4])):
        made = world(situation(Fault("get_order", "timeout")), fault_span=span)
        answers(made, *calls)
        assert [event["call"] for event in made.ledger] == struck


def test_a_fault_with_a_rate_strikes_about_that_share_of_calls():
    struck = [
        len(made.ledger)
        for seed in range(40)
        for made in [world(situation(Fault("get_order", "timeout", 0.5), seed=seed), fault_span=None)]
        for _ in [answers(made, *[("get_order", {"order_id": "x"})] * 10)]
    ]
    assert 150 < sum(struck) < 250


def test_what_is_done_can_be_done_again_once_it_was_undone():
    @wai.tool
    def cancel_order(order_id: str) -> dict:
        """Cancel an order."""

    @wai.tool
    def update_order(order_id: str, status: str) -> dict:
        """Change an order."""

    made = world(tools=[cancel_order, update_order])
    own = next(iter(made.hidden_state["records"]["order"]))
    cancel = ("cancel_order", {"order_id": own})
    told = answers(made, cancel, ("update_order", {"order_id": own, "status": "reopened"}), cancel, cancel)
    assert [one["status"] for one in told] == ["ok", "ok", "ok", statuses.ALREADY_DONE]


def test_a_stale_answer_of_execute_is_marked_as_old_whatever_it_is():
    for payload in ({"a": 1}, [1], "text"):
        (told,) = answers(world(situation(Fault("get_order", "stale")), execute=lambda tool, arguments: payload), CALL)  # noqa: B023
        assert told["as_of"] < "2024"
        assert (told.get("a") or told.get("result")) in (1, payload)


def test_a_fault_comes_before_validation():
    made = world(situation(Fault("get_order", "permission_denied")))
    (told,) = answers(made, ("get_order", {"nonsense": 1}))
    assert told["status"] == "permission_denied"


def test_a_write_behind_a_timeout_may_or_may_not_have_happened_and_the_state_knows():
    seen = set()
    for seed in range(12):
        one = situation(Fault("cancel_order", "timeout"), seed=seed)
        own = order_ids(one)[0]
        made = world(one)
        cut, read = answers(made, ("cancel_order", {"order_id": own}), ("get_order", {"order_id": own}))
        assert cut["status"] == "timeout"
        (unseen,) = made.hidden_state["unseen"]
        seen.add(unseen["written"])
        assert (read["order"]["status"] == "cancelled") == unseen["written"]
        assert ("changed" in made.hidden_state) == unseen["written"]
    assert seen == {True, False}


def test_no_permission_means_nothing_was_done():
    made = world(situation(Fault("cancel_order", "permission_denied")))
    answers(made, ("cancel_order", {"order_id": FIRST}))
    assert "changed" not in made.hidden_state


def test_a_malformed_payload_is_cut_or_has_a_value_of_another_type():
    kinds = set()
    for seed in range(20):
        one = situation(Fault("get_order", "malformed"), seed=seed)
        own = order_ids(one)[0]
        (true,), (broken,) = answers(world(situation(seed=seed)), ("get_order", {"order_id": own})), answers(
            world(one), ("get_order", {"order_id": own})
        )  # fmt: skip
        if isinstance(broken, str):
            with pytest.raises(json.JSONDecodeError):
                json.loads(broken)
            assert json.dumps(true, ensure_ascii=False).startswith(broken)
        else:
            (odd,) = [name for name in true["order"] if broken["order"][name] != true["order"][name]]
            assert type(broken["order"][odd]) is not type(true["order"][odd])
        kinds.add(type(broken))
    assert kinds == {str, dict}


def test_a_kind_of_your_own_bends_the_payload_and_one_that_raises_is_the_worlds_failure():
    one = situation(Fault("get_order", "shouting"))
    made = world(
        one, fault_kinds={"shouting": lambda payload, rng: {"loud": payload["status"].upper(), "n": rng.random()}}
    )
    (told,) = answers(made, ("get_order", {"order_id": FIRST}))
    assert told["loud"] == "OK"
    assert made.ledger[0]["mode"] == "shouting"
    broken = world(one, fault_kinds={"shouting": lambda payload, rng: 1 / 0})
    with pytest.raises(WorldFailed, match="ZeroDivisionError"):
        answers(broken, ("get_order", {"order_id": FIRST}))


def plain(tool, arguments):
    return {"said": [tool, arguments]}


async def later(tool, arguments):
    await asyncio.sleep(0)
    return {"said": [tool, arguments]}


def told_more(tool, arguments, ctx):
    return [tool, arguments, ctx.task_id, ctx.rollout_index, ctx.prompt, sorted(ctx.tools)]


def raises(tool, arguments):
    raise LookupError(tool)


def leaves(tool, arguments):
    raise SystemExit(2)


def no_json(tool, arguments):
    return {"x": object()}


CALL = ("get_order", {"order_id": "anything"})


@pytest.mark.parametrize("execute", [plain, later, lambda tool, arguments: later(tool, arguments)])
def test_execute_answers_in_place_of_the_records(execute):
    made = world(execute=execute)
    assert answers(made, CALL) == [{"said": ["get_order", {"order_id": "anything"}]}]
    assert made.call_now(*CALL) == {"said": ["get_order", {"order_id": "anything"}]}
    assert made.ledger == []
    assert "records" not in made.hidden_state


def test_execute_with_three_arguments_is_told_of_the_task():
    (told,) = answers(world(execute=told_more), CALL)
    names = sorted(tool.name for tool in SHOP)
    assert told == ["get_order", {"order_id": "anything"}, "sc_000000000001", 0, "Hi, where is my order?", names]


@pytest.mark.parametrize("execute", [raises, leaves, no_json])
def test_an_execute_that_fails_is_an_answer_and_a_ledger_entry(execute):
    made = world(execute=execute)
    for told in (*answers(made, CALL), made.call_now(*CALL)):
        assert told["status"] == "error"
    assert made.ledger == [{"tool": "get_order", "mode": "error", "injected": False, "call": place} for place in (0, 1)]


def test_execute_is_not_asked_about_what_is_no_call():
    asked = []
    made = world(execute=lambda tool, arguments: asked.append(tool))
    told = answers(made, ("nope", {}), ("get_order", {}))
    assert [one["status"] for one in told] == [statuses.UNKNOWN_TOOL, statuses.INVALID_ARGUMENTS]
    assert asked == []


@pytest.mark.parametrize("mode", faults.KINDS)
def test_faults_strike_before_execute(mode):
    asked = []

    def execute(tool, arguments):
        asked.append(tool)
        return {"value": "as it is", "n": 3}

    made = world(situation(Fault("get_order", mode)), execute=execute)
    struck, after = answers(made, CALL, CALL)
    assert struck != {"value": "as it is", "n": 3} == after
    assert len(asked) == (1 if mode in faults.CUT else 2)


def test_real_tools_with_bodies_answer_through_run_tools():
    made = world(execute=wai.run_tools)
    assert answers(made, ("get_order", {"order_id": "A"}))[0]["status"] == "real"

    @wai.tool
    def get_order(order_id: str):
        raise KeyError(order_id)

    broken = world(tools=[get_order], execute=wai.run_tools)
    assert answers(broken, CALL) == [{"status": "error", "error": "KeyError: 'anything'"}]
    assert [event["injected"] for event in broken.ledger] == [False]


def test_a_world_that_is_closed_ends_who_calls_it_and_who_waits_for_it():
    made = world(execute=lambda tool, arguments: time.sleep(30))

    async def close_while_waiting():
        waiting = asyncio.create_task(made.call(*CALL))
        await asyncio.sleep(0.05)
        made.close()
        with pytest.raises(RolloutOver):
            await waiting

    asyncio.run(close_while_waiting())
    with pytest.raises(RolloutOver):
        made.call_now(*CALL)


SCRIPT = """
import json
from world_helpers import CATALOG, answers, situation, world
from whileai.engine.faults import Fault
told = []
for seed in range(3):
    for mode in ("timeout", "malformed", "stale", "permission_denied"):
        for state in ("present", "partial", "already_done"):
            one = situation(Fault("*", mode), seed=seed, state=state, focus=("cancel_order",))
            made = world(one, fault_span=2)
            own = one.records(CATALOG).facts["order_id"]
            told += answers(made, ("cancel_order", {"order_id": own}), ("get_order", {"order_id": own}),
                ("create_order", {"customer_id": next(iter(made.hidden_state["records"]["customer"])), "item": "x"}))
            told += [made.ledger, made.hidden_state]
print(json.dumps(told))
"""


def test_the_same_world_in_every_process():
    here = Path(__file__).parents[2]

    def run(seed: str) -> str:
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(here)}
        return subprocess.run(
            [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True
        ).stdout

    first = run("1")
    assert first == run("2")
    assert len(json.loads(first)) == 3 * 4 * 3 * 5
