"""Pairs: every possible one is planned by the N that the plan names, and the count is another's too."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import floor

import pytest

import whileai as wai
from engine_tools import ALL, GET_ORDER, PROMPT, SHOP, schema_tool
from whileai.engine import cover
from whileai.engine.axes import HISTORIES, NAMES, STANCES, STATES
from whileai.engine.coverage import coverage_of
from whileai.engine.faults import KINDS
from whileai.engine.plan import Plan


def writers(n):
    return [schema_tool(f"update_thing{i}", (), (), "write") for i in range(n)]


def rules(n):
    return {"rule": [f"rule {i}" for i in range(n)]}


def naive_points(tools, rules):
    """Every possible combination, by trying all and asking the constraints in words."""
    effects = {tool.name: tool.effect for tool in tools}
    names = [*effects, "none", *(["several"] if len(effects) > 1 else [])]
    if all(effect == "read" for effect in effects.values()):
        effects["several"] = "read"
    for point in product(names, rules, STANCES, STATES, ("ok", *KINDS), HISTORIES):
        tool, _, _, state, condition, _ = point
        if tool == "none" and (condition != "ok" or state != "present"):
            continue
        if effects.get(tool) == "read" and state == "already_done":
            continue
        yield point


def naive_pairs(points):
    return {(i, p[i], j, p[j]) for p in points for i, j in combinations(range(6), 2)}


def as_tuples(pairs):
    return {(NAMES.index(p.axis), p.value, NAMES.index(p.other_axis), p.other_value) for p in pairs}


@pytest.mark.parametrize(
    ("n_tools", "n_rules", "n_points", "n_pairs"), [(1, 1, 1_240, 278), (2, 3, 10_920, 384), (10, 8, 105_920, 780)]
)
def test_points_and_pairs_are_those_of_the_closed_form(n_tools, n_rules, n_points, n_pairs):
    plan = Plan(writers(n_tools), axes=rules(n_rules))
    assert plan.n_points == n_points
    assert len(plan.axes.feasible) == n_pairs


@pytest.mark.parametrize("tools", [SHOP, (GET_ORDER,), ALL[:4]])
def test_feasible_pairs_and_points_equal_a_naive_count(tools):
    plan = Plan(tools, PROMPT)
    points = list(naive_points(tools, plan.axes.values["rule"]))
    assert plan.n_points == len(points)
    assert as_tuples(plan.axes.feasible) == naive_pairs(points)
    total = sum(len(plan.axes.values[a]) * len(plan.axes.values[b]) for a, b in combinations(NAMES, 2))
    infeasible = plan.axes.infeasible()
    assert len(infeasible) + len(plan.axes.feasible) == total
    assert all(reason for _, reason in infeasible)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("tools", "bound"), [((GET_ORDER,), 80), (SHOP, 80), (ALL, 130)])
def test_every_pair_is_planned_by_the_n_the_plan_names_and_not_before(tools, bound, seed):
    plan = Plan(tools, PROMPT, seed=seed)
    n = plan.n_to_cover()
    wanted = naive_pairs(naive_points(tools, plan.axes.values["rule"]))
    met = [tuple(plan.axes_at(i)[name] for name in NAMES) for i in range(n)]
    assert naive_pairs(met) == wanted
    assert naive_pairs(met[:-1]) < wanted
    assert n <= bound


def test_the_array_holds_every_pair_of_its_own():
    plan = Plan(ALL, PROMPT)
    rows = cover.array(plan.axes.allowed, 5)
    named = [tuple(plan.axes.named(row)[name] for name in NAMES) for row in rows]
    assert naive_pairs(named) == naive_pairs(naive_points(ALL, plan.axes.values["rule"]))


def test_point_by_point_building_covers_as_well_where_the_array_would_take_long(monkeypatch):
    with_array = Plan(ALL, PROMPT).n_to_cover()
    monkeypatch.setattr(cover, "MOST_PAIRS", 0)
    built = Plan(ALL, PROMPT).n_to_cover()
    assert built <= 1.25 * with_array


def test_many_tools_are_covered_too():
    plan = Plan(writers(60), axes=rules(20))
    n = plan.n_to_cover()
    met = {pair for i in range(n) for pair in cover.pairs_of(plan.axes_at(i))}
    assert met == plan.axes.feasible
    assert n <= 1.4 * 62 * 20


@pytest.mark.parametrize("rate", [0, 0.1, 0.5, 1, 1 / 3, 0.29])
def test_the_share_of_faults_is_right_within_one_situation_at_every_length(rate):
    plan = Plan(SHOP, PROMPT, fault_rate=rate)
    n = 0
    for i in range(200):
        n += plan.axes_at(i)["condition"] != "ok"
        assert n == floor((i + 1) * Fraction(str(rate)))


def test_sixteen_situations_at_a_half_have_two_of_each_kind():
    kinds = [plan_axes["condition"] for plan_axes in map(Plan(SHOP).axes_at, range(16))]
    assert {kind: kinds.count(kind) for kind in KINDS} == dict.fromkeys(KINDS, 2)


@pytest.mark.parametrize("n", [9, 40, 200])
def test_kinds_are_used_evenly(n):
    kinds = [axes["condition"] for axes in map(Plan(ALL, fault_rate=1).axes_at, range(n))]
    counts = [kinds.count(kind) for kind in KINDS]
    assert max(counts) - min(counts) <= 1


def test_points_are_not_repeated_before_all_are_used():
    plan = Plan((GET_ORDER,), axes={"stance": ["plain"], "history": ["long"]})
    met = [tuple(plan.axes_at(i).values()) for i in range(12)]
    assert plan.n_points == 5 * 5 + 1
    assert len(set(met[1::2])) == 6
    ok = [point for point in met if "ok" in point]
    assert len(set(ok)) == len(ok) == 6  # five states, and none: then they come again
    assert plan.take(60)[-1].phrasing > 0
    assert [note.code for note in plan.notes] == ["points_used_again"]


def rows_of(situations, fires=True, usable=True):
    for situation in situations:
        fault = situation.fault
        ledger = [{"tool": fault.tool, "mode": fault.mode, "rate": 1.0, "injected": True, "call": 0}] if fault else []
        yield {"task_id": situation.task_id, "usable": usable, "ledger": ledger if fires else []}


def test_a_full_run_is_covered():
    plan = Plan(SHOP, PROMPT)
    n = plan.n_to_cover()
    found = coverage_of(plan, n, rows_of(plan.take(n)))
    assert found.pairs_covered == found.pairs_planned == found.pairs_possible
    assert found.missing == ()
    assert sum(kind["fired"] for kind in found.faults.values()) == n // 2


def test_every_missing_pair_has_its_reason():
    plan = Plan(SHOP, PROMPT)
    situations = plan.take(plan.n_to_cover())

    def reasons(rows, n=None, plan=plan):
        found = coverage_of(plan, n or len(situations), list(rows))
        assert len(found.missing) == found.pairs_possible - found.pairs_covered
        return {one.reason for one in found.missing}, found

    assert reasons(rows_of(situations, fires=False))[0] == {"fault_never_reached"}
    assert reasons(rows_of(situations, usable=False))[0] == {"unusable_rollouts"}
    assert reasons([])[0] == {"not_run"}
    assert reasons(rows_of(situations[:16]), 16)[0] == {"needs_more_situations"}
    calm = Plan(SHOP, PROMPT, fault_rate=0)
    n = calm.n_to_cover()
    why, found = reasons(rows_of(calm.take(n)), n, calm)
    assert why == {"switched_off"}
    assert all("condition" in (one.pair.axis, one.pair.other_axis) for one in found.missing)


def test_a_fault_that_the_engine_did_not_plan_covers_nothing():
    plan = Plan(SHOP, PROMPT)
    situations = plan.take(16)
    rows = [{**row, "ledger": [{**event, "injected": False} for event in row["ledger"]]} for row in rows_of(situations)]
    assert all(kind["fired"] == 0 for kind in coverage_of(plan, 16, rows).faults.values())


def test_the_print_gives_the_ceiling_and_the_n_that_covers_all():
    plan = Plan(SHOP, PROMPT)
    text = str(coverage_of(plan, 16, rows_of(plan.take(16))))
    assert "which can cover 240 at most" in text
    assert f"({plan.n_to_cover()} plan every pair)" in text
    assert len(repr(coverage_of(plan, 16, []))) < 200


@pytest.mark.parametrize(
    ("pinned", "words"),
    [
        ({"stanec": ["plain"]}, "Did you mean stance?"),
        ({"stance": ["plian"]}, "Did you mean plain?"),
        ({"tool": ["get_oder"]}, "Did you mean get_order?"),
        ({"condition": ["time_out"]}, "Did you mean timeout?"),
        ({"state": []}, "at least one"),
        ({"state": [3]}, "at least one"),
        ({"tool": "none", "state": "missing"}, "where no tool is needed, state is present"),
        (["stance"], "a mapping"),
    ],
)
def test_axes_that_cannot_be_are_refused(pinned, words):
    with pytest.raises(wai.ParamError, match="simulate") as caught:
        Plan(SHOP, axes=pinned)
    assert words in str(caught.value)


def test_pinned_axes_hold_and_own_values_speak_in_own_words():
    plan = Plan(SHOP, axes={"state": "missing", "stance": {"sly": ["Between you and me."]}, "condition": ["timeout"]})
    situations = plan.take(12)
    assert {s.axes["state"] for s in situations} == {"missing"}
    assert {s.axes["condition"] for s in situations} == {"timeout"}
    assert all(
        "between you and me" in s.public.prompt.lower() or "between u and me" in s.public.prompt for s in situations
    )
    assert [note.code for note in plan.notes] == ["fault_rate_not_kept"]


def test_all_read_only_tools_leave_no_pair_with_already_done():
    plan = Plan((GET_ORDER, schema_tool("list_orders")))
    assert not [pair for pair in plan.axes.feasible if "already_done" in pair]
    reasons = {reason for pair, reason in plan.axes.infeasible() if pair.value == "already_done"}
    assert reasons
    assert all("only reads" in reason for reason in reasons)


def test_faults_that_are_rare_are_said_to_need_more_than_can_be_read():
    assert Plan(SHOP, fault_rate=1e-6).n_to_cover(far=500) is None


def test_no_more_situations_than_prompts():
    plan = Plan(SHOP)
    assert plan.check(1_000_000) == 1_000_000
    with pytest.raises(wai.ParamError, match=f"at most {plan.most:,}"):
        plan.check(plan.most + 1)
    with pytest.raises(wai.ParamError, match="a whole number of at least 1"):
        plan.check(0)
    with pytest.raises(wai.ParamError, match="each is a situation"):
        Plan(SHOP, seeds=["a question", "another"]).check(1)


@pytest.mark.parametrize("tools", [SHOP, ALL])
def test_values_are_met_about_equally_often(tools):
    plan = Plan(tools, PROMPT)
    met = [plan.axes_at(i) for i in range(plan.n_to_cover())]
    for axis in ("rule", "stance", "state", "history"):
        counts = [sum(axes[axis] == value for axes in met) for value in plan.axes.values[axis]]
        assert max(counts) <= 2 * min(counts), (axis, counts)
