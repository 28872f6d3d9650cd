"""Which rollouts are run: how many of which situation, in which order, under either policy."""

from __future__ import annotations

from collections import Counter

import pytest

import whileai as wai
from engine_tools import PROMPT, SHOP
from whileai.engine.allocate import Allocation, allocated, groups_of, is_mixed
from whileai.engine.options import resolve
from whileai.engine.plan import Plan


def pairs(slots):
    return [(slot.situation, slot.index) for slot in slots]


def test_fixed_takes_situation_by_situation_and_cuts_the_last():
    made = Allocation(3, 4, 10, "fixed")
    assert pairs(made.first()) == [(s, i) for s in range(3) for i in range(4)][:10]
    assert list(made.later(lambda place: True)) == []
    assert made.n_planned == 10


def test_adaptive_probes_all_first_then_fills_what_is_mixed_then_the_rest():
    made = Allocation(4, 4, 12, "adaptive", 2)
    assert pairs(made.first()) == [(s, i) for s in range(4) for i in range(2)]
    later = list(made.later(lambda place: place in (1, 3)))
    assert pairs(later) == [(1, 2), (1, 3), (3, 2), (3, 3)]
    assert {slot.phase for slot in later} == {"fill"}
    more = Allocation(4, 4, 15, "adaptive", 2)
    assert pairs(more.later(lambda place: place in (1, 3)))[4:] == [(0, 2), (0, 3), (2, 2)]
    assert made.stamp(later[0]) == {"policy": "adaptive", "phase": "fill", "k": 4}


@pytest.mark.parametrize("budget", [1, 3, 8, 9, 16, 100])
@pytest.mark.parametrize("policy", ["fixed", "adaptive"])
def test_the_budget_is_never_passed_and_used_up_where_it_can_be(budget, policy):
    made = Allocation(4, 4, budget, policy, 2)
    slots = pairs(made.first()) + pairs(made.later(lambda place: place == 2))
    assert len(slots) == len(set(slots)) == made.n_planned == min(budget, 16)


@pytest.mark.parametrize(
    ("rewards", "mixed"),
    [([0, 1], True), ([1, 1], False), ([0, None], False), ([0, 0.5], False), ([True, False], True), ([], False)],
)
def test_a_group_is_mixed_where_a_zero_and_a_one_are_in_it(rewards, mixed):
    assert is_mixed(rewards) is mixed


@pytest.mark.parametrize(
    ("mode", "options", "situations", "repeats", "budget"),
    [
        ("explore", {}, "cover", 1, "cover"),
        ("sft", {}, "cover", 4, None),
        ("rl", {}, "cover", 8, None),
        ("explore", {"situations": 5}, 5, 1, 5),
        ("explore", {"budget": 7}, 7, 1, 7),
        ("explore", {"situations": 10, "repeats": 3, "budget": 7}, 3, 3, 7),
        ("explore", {"repeats": 200}, 5, 200, 1000),
        ("explore", {"situations": 1200}, 1200, 1, 1200),
    ],
)
def test_the_sizes_of_a_run(mode, options, situations, repeats, budget):
    plan = Plan(SHOP, PROMPT)
    made = allocated(plan, resolve(mode, **options))
    covering = plan.n_to_cover()
    expected = covering if situations == "cover" else situations
    assert 16 <= covering * 8 <= 1000
    assert (made.n_situations, made.repeats) == (expected, repeats)
    assert made.budget == (expected * repeats if budget in (None, "cover") else budget)


def test_every_seed_is_paid_for_or_it_is_an_error():
    plan = Plan(SHOP, PROMPT, seeds=["Where is ORD-1?", "Cancel ORD-2.", "Is anybody there?"])
    assert allocated(plan, resolve("sft", budget=12)).n_situations == 3
    with pytest.raises(wai.ParamError, match=r"budget must be at least 12; got 11\. There are 3 seeds with 4"):
        allocated(plan, resolve("sft", budget=11))
    with pytest.raises(wai.ParamError, match="situations must be at least 3"):
        allocated(plan, resolve("sft", situations=2))


def test_no_tools_and_nothing_to_cover_still_gives_sixteen():
    axes = {"stance": ["plain"], "history": ["first_contact"]}
    assert allocated(Plan((), "", axes=axes), resolve()).n_situations == 16


def group(task, rewards, policy="adaptive", k=4, probe=2):
    stamps = [{"policy": policy, "phase": "probe" if i < probe else "fill", "k": k} for i in range(len(rewards))]
    return [
        {"task_id": task, "reward": reward, "allocation": stamp} for reward, stamp in zip(rewards, stamps, strict=True)
    ]


@pytest.mark.parametrize(
    ("rewards", "policy", "status"),
    [
        ([0, 1, 1, 0], "adaptive", "full"),
        ([1, 1], "adaptive", "stopped_unanimous"),
        ([1, 1, 1], "adaptive", "cut"),
        ([0, 1], "adaptive", "cut"),
        ([1], "adaptive", "cut"),
        ([1, 1], "fixed", "cut"),
        ([1, 0, 1, 1], "fixed", "full"),
    ],
)
def test_groups_say_how_far_they_came(rewards, policy, status):
    assert groups_of(group("a", rewards, policy)) == {"a": status}


def test_a_group_whose_verdicts_never_came_was_cut_and_did_not_agree():
    judged = [{**row, "judge_status": "ok"} for row in group("a", [1, 1])]
    waiting = {name: value for name, value in judged[1].items() if name not in ("reward", "judge_status")}
    failed = {**waiting, "judge_status": "error"}
    spoilt = {**waiting, "usable": False, "reward": None}
    statuses = [groups_of([judged[0], other])["a"] for other in (judged[1], waiting, failed, spoilt)]
    assert statuses == ["stopped_unanimous", "cut", "stopped_unanimous", "stopped_unanimous"]


def test_a_run_stamps_its_rows_and_tells_its_groups():
    from simulate_helpers import even, simulated

    data = simulated(mode="rl", judge=even, situations=20, repeats=8, budget=70)
    by_task = Counter(row["task_id"] for row in data)
    assert sum(by_task.values()) == 70
    assert set(data.groups.values()) >= {"full", "stopped_unanimous"}
    assert data.stopped_because == "budget"
    phases = {(row["allocation"]["phase"], row["rollout_index"] < 2) for row in data}
    assert phases == {("probe", True), ("fill", False)}
    mixed = {
        task
        for task in by_task
        if is_mixed(row["reward"] for row in data if row["task_id"] == task and row["rollout_index"] < 2)
    }
    full = {task for task, status in data.groups.items() if status == "full"}
    assert full <= mixed
