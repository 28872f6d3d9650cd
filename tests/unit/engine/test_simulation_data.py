"""What comes out of a simulation, and what can be done with it; and that adaptive runs give rates that hold."""

from __future__ import annotations

import copy
import math
import pickle

import pytest

import whileai as wai
from simulate_helpers import TOOLS, agent, even, simulated
from whileai.engine.allocate import Allocation, is_mixed
from whileai.engine.ids import rng


def some(message, ctx):
    """One in four raises, one in four returns nothing, the others answer."""
    if ctx.seed % 4 == 0:
        raise ValueError("no")
    return None if ctx.seed % 4 == 1 else agent(message, ctx)


def test_it_is_a_list_of_rows():
    data = simulated()
    assert isinstance(data, list)
    assert (len(data), data[0], data.rows) == (16, data.rows[0], list(data))
    assert type(data.rows) is list
    assert (data.mode, data.agent, data.stopped_because, data.tools) == ("explore", "agent", "done", tuple(TOOLS))
    assert repr(data) == "<SimulationData 16 rows in 8 situations (explore, agent agent): done>"
    assert "<p" in data._repr_html_() or "<div" in data._repr_html_()
    assert list(copy.copy(data)) == list(data)


def test_grading_makes_another_one():
    data = simulated(some, situations=16)
    graded = data.grade(even)
    assert not [row for row in data if row.get("reward") is not None]
    assert isinstance(graded, wai.SimulationData)
    assert [row["task_id"] for row in graded] == [row["task_id"] for row in data]
    usable = [row for row in graded if row["usable"]]
    assert {row["judge_status"] for row in usable} == {"ok"}
    bad = graded.unusable()
    assert len(bad) == len(graded) - len(usable) > 0
    assert {row["reward"] for row in bad} == {None}
    assert graded.coverage is graded.coverage
    assert wai.pass_at(graded).n_unjudged == len(bad)
    plain = wai.grade([row for row in data if row["usable"]], even)
    assert [row["reward"] for row in usable] == [row["reward"] for row in plain]


def test_a_judge_that_says_nothing_gives_no_reward_and_no_zero():
    graded = simulated().grade(lambda row: {})
    assert {(row["reward"], row["judge_status"]) for row in graded} == {(None, "missing_reward")}
    assert (graded.failures(), graded.pass_at.pass_at_1) == ([], None)


def test_what_the_agent_spoilt_can_count_as_failed():
    data = simulated(some, situations=16).grade(even, unusable="fail")
    bad = data.unusable()
    assert {(row["reward"], row["label_source"]) for row in bad} == {(0, "engine")}
    assert "judge_name" not in bad[0]
    assert set(map(id, bad)) <= set(map(id, data.failures()))
    assert wai.pass_at(data).n_unjudged == 0
    with pytest.raises(wai.ParamError, match="Did you mean fail"):
        data.grade(even, unusable="fails")


def test_what_a_service_spoilt_never_counts():
    from whileai.engine.endpoint_error import EndpointError
    from world_helpers import FakeEndpoint, reply

    bad = FakeEndpoint(reply("Hello 2."), EndpointError("connection", "gone"), reply("Hello 2."))
    data = simulated(bad, concurrency=1).grade(even, unusable="fail")
    assert [row["reward"] for row in data.unusable()] == [None]


def test_grading_resumes(tmp_path):
    calls = tmp_path / "calls"

    def judge(row):
        with calls.open("a") as file:
            file.write("x")
        return True

    data = simulated()
    data.grade(judge, resume=tmp_path / "verdicts.jsonl")
    data.grade(judge, resume=tmp_path / "verdicts.jsonl")
    assert len(calls.read_text()) == 16


def test_selecting_and_pairing():
    data = simulated(mode="rl", situations=16, repeats=4).grade(even)
    assert list(data.select()) == list(wai.select(data, mode="rl"))
    assert list(data.select("sft", per_task=2)) == list(wai.select(data, mode="sft", per_task=2))
    assert list(data.pairs()) == list(wai.preference_pairs(data))
    assert data.pairs()
    with pytest.raises(wai.ParamError, match="This run was made to explore"):
        simulated().select()


def test_failures_are_those_below_a_half():
    data = simulated().grade(lambda row: len(row["final_text"]) % 10 / 10)
    assert data.failures() == [row for row in data if row["reward"] < 0.5]


def test_coverage_counts_what_was_met():
    data = simulated(situations=32)
    report = data.coverage
    assert report.n_situations == 32
    assert 0 < report.pairs_covered <= report.pairs_planned <= report.pairs_possible
    assert sum(kind["planned"] for kind in report.faults.values()) == 16
    silent = simulated(lambda message: "Hello.", situations=32).coverage
    assert "fault_never_reached" in {one.reason for one in silent.missing}
    assert not any(kind["fired"] for kind in silent.faults.values())


def test_the_print_fits_a_dozen_lines():
    data = simulated(some, situations=16).grade(even)
    lines = str(data).splitlines()
    assert len(lines) <= 14
    assert lines[0].startswith("32 rows in 16 situations (explore, agent some): done")
    assert any(line.startswith("  unusable: ") and "agent_raised" in line for line in lines)
    assert any(line.startswith("  judged: ") for line in lines)
    assert all(len(line) <= 120 for line in lines)


def test_it_goes_to_another_process():
    data = simulated().grade(even)
    there = pickle.loads(pickle.dumps(data))
    assert (list(there), str(there), there.groups) == (list(data), str(data), data.groups)
    assert [tool.name for tool in there.tools] == [tool.name for tool in data.tools]
    assert str(there.grade(even)) == str(data)


# honest rates


def adaptive_rows(rates, seed, k=8, budget_share=0.5):
    """What the adaptive policy leaves of tasks with known rates, by the engine's own allocation."""
    n = len(rates)
    made = Allocation(n, k, int(n * k * budget_share), "adaptive", 2)
    rows = {}

    def land(slot):
        passed = rng("known", seed, slot.situation, slot.index).random() < rates[slot.situation]
        rows[slot.situation, slot.index] = {
            "task_id": f"t{slot.situation}", "prompt": f"Do {slot.situation}.", "reward": int(passed),
            "allocation": made.stamp(slot),
        }  # fmt: skip

    for slot in made.first():
        land(slot)
    for slot in made.later(lambda place: is_mixed(rows[place, index]["reward"] for index in range(2))):
        land(slot)
    return list(rows.values())


@pytest.mark.parametrize(("a", "b"), [(4, 1), (1, 3)])
def test_rates_of_adaptive_runs_hold_and_those_of_all_rows_would_not(a, b):
    covered = pooled_covered = 0
    means, pooled_means = [], []
    runs, n = 200, 60
    truth = a / (a + b)
    for run in range(runs):
        draws = rng("rates", a, run)
        rates = [draws.betavariate(a, b) for _ in range(n)]
        rows = adaptive_rows(rates, run)
        result = wai.pass_at(rows)
        assert "fill_rows" in [note.code for note in result.notes]
        low, high = result.ci95
        covered += low <= truth <= high
        means.append(result.pass_at_1)
        pooled = wai.pass_at([{**row, "allocation": None} for row in rows])
        low, high = pooled.ci95
        pooled_covered += low <= truth <= high
        pooled_means.append(pooled.pass_at_1)
    error = math.sqrt(truth * (1 - truth) / n / runs)
    assert abs(math.fsum(means) / runs - truth) < 3 * error
    assert abs(math.fsum(pooled_means) / runs - truth) > 6 * error
    assert covered >= 0.94 * runs - 3 * math.sqrt(0.94 * 0.06 * runs)
    assert pooled_covered < covered


def test_a_run_of_the_engine_with_known_rates_counts_its_probes_alone():
    data = simulated(mode="rl", judge=even, situations=24, repeats=8, budget=110)
    probes = [row for row in data if row["allocation"]["phase"] == "probe"]
    assert data.pass_at.pass_at_1 == wai.pass_at(probes).pass_at_1
    assert data.pass_at.k == 2
    assert (len(probes), len(data)) == (48, 110)
    assert "left out" in str(data.pass_at)
