"""`self_check` counts the code behind the calls, says no when that code is wrong, and prints the same anywhere."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import whileai as wai
from whileai.cli import main as cli
from whileai.measure import eval_variance, pass_at, scripted, self_check, trial_groups, trials
from whileai.measure.compare import Asked, decide
from whileai.measure.grouping import Grouping
from whileai.measure.paired import Arms
from whileai.measure.trials import Cell, Count
from whileai.stats import agreement, clustered, intervals, power, signflip

PAGE = Path(__file__).parents[3] / "docs" / "calls" / "self_check.md"
SOME = [
    Cell("rates", "near-ceiling", 10, 4, 60),
    Cell("reward", "even", 10, 2, 40),
    Cell("change", "reshuffled", 12, 4, 40),
    Cell("change", "10% break", 30, 1, 40),
    Cell("reward change", "few gain", 10, 2, 30),
    Cell("power", "0.5 +0.2", 97, 1, 30, power=0.8),
    Cell("band", "even", 30, 4, 30, runs=3),
    Cell("clustered rates", "bimodal", 10, 2, 70),
    Cell("clustered change", "reshuffled", 12, 2, 40),
    Cell("corrected", "0.8, errs 0.3/0.05", 20, 1, 40),
]


def checked(cells, **settings):
    settings = {"full": False, "seed": 0, "level": 0.95, "processes": 1, **settings}
    return self_check._checked(cells, **settings)


def test_a_quick_run_holds_and_prints_what_its_page_shows():
    result = wai.self_check()
    assert result.ok
    assert result.n_misses == 0 == len(result.misses)
    assert result.n_checks == len(result.checks) > 250
    shown = re.search(r"```text\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[1]
    assert str(result) == shown.rstrip("\n")


@pytest.mark.parametrize("processes", [2, 3])
def test_digits_do_not_depend_on_the_processes(processes):
    assert checked(SOME, processes=processes) == checked(SOME)


def test_digits_depend_on_the_seed_and_the_setting_alone():
    assert checked(SOME).checks != checked(SOME, seed=1).checks
    alone = [check for cell in reversed(SOME) for check in checked([cell]).checks]
    assert sorted(alone, key=repr) == sorted(checked(SOME).checks, key=repr)


def test_a_script_needs_no_guard(run_script):
    code = """
    from pathlib import Path
    from whileai.measure import self_check
    from whileai.measure.trials import Cell
    Path(__file__).with_name("statistics.py").write_text("raise SystemExit('not the standard library')")
    cells = [Cell("rates", "even", n, 4, 20) for n in (5, 6)]
    for processes in (1, 2):
        print(self_check._checked(cells, full=False, seed=0, level=0.95, processes=processes).to_json())
    """
    apart = run_script(code).stdout.splitlines()
    assert len(apart) == 2
    assert apart[0] == apart[1]


def test_a_worker_that_dies_is_an_error_and_no_wait():
    with pytest.raises(wai.WaiError, match=r"^self_check: a process ended before its work was done\. KeyError: 'none'"):
        checked([*SOME, Cell("rates", "none", 5, 4, 10)], processes=2)


def narrow(find):
    """An interval half as wide."""

    def found(x, level=0.95, weights=None):
        low, high = find(x, level, weights=weights)
        middle = float(np.average(x, weights=weights))
        return middle - (middle - low) / 2, middle + (high - middle) / 2

    return found


def narrow_clusters(find):
    """An interval over clusters half as wide."""

    def found(x, clusters, level=0.95):
        low, high = find(x, clusters, level)
        middle = float(np.mean(x))
        return middle - (middle - low) / 2, middle + (high - middle) / 2

    return found


def spread_rate(by):
    """A corrected rate whose interval is so many times as wide."""

    def spoilt(find):
        def found(*args):
            right = find(*args)
            low, high = right.interval
            return right._replace(
                interval=(right.rate - by * (right.rate - low), right.rate + by * (high - right.rate))
            )

        return found

    return spoilt


WRONG = {
    "pass@1 of clusters": (
        clustered,
        "mean_interval",
        narrow_clusters,
        Cell("clustered rates", "70% always", 30, 2, 100),
    ),
    "pass^k of clusters": (
        clustered,
        "mean_interval",
        narrow_clusters,
        Cell("clustered rates", "70% always", 30, 2, 100),
    ),
    "change of clusters": (
        clustered,
        "paired_interval",
        lambda find: narrow_clusters(narrow_clusters(find)),
        Cell("clustered change", "few gain", 30, 2, 100),
    ),
    "corrected rate interval": (
        agreement,
        "corrected_rate",
        spread_rate(0.5),
        Cell("corrected", "0.8, errs 0.1/0.1", 50, 1, 100),
    ),
    "corrected width / gold alone": (
        agreement,
        "corrected_rate",
        spread_rate(1.3),
        Cell("corrected", "0.8, errs 0.3/0.3", 50, 1, 100),
    ),
    "intervals of zero width": (
        intervals,
        "mean_interval",
        lambda find: lambda x, level, weights: (1.0, 1.0) if np.all(x == 1) else find(x, level, weights=weights),
        Cell("rates", "near-ceiling", 4, 1, 100),
    ),
    "pass@1 interval": (intervals, "mean_interval", narrow, Cell("rates", "even", 30, 4, 100)),
    "pass^k interval": (intervals, "mean_interval", narrow, Cell("rates", "even", 30, 4, 100)),
    "pass@k interval": (intervals, "mean_interval", narrow, Cell("rates", "even", 30, 4, 100)),
    "reward interval": (intervals, "mean_interval", narrow, Cell("reward", "bimodal", 30, 4, 100)),
    "change interval": (intervals, "paired_interval", narrow, Cell("change", "all +0.1", 30, 4, 100)),
    "reward change interval": (
        intervals,
        "paired_interval",
        lambda find: narrow(narrow(narrow(find))),
        Cell("reward change", "few gain", 60, 2, 100),
    ),
    "power, 0.8 asked": (
        power,
        "proving_power",
        lambda find: find,
        Cell("power", "0.5 +0.2", 60, 1, 200, power=0.8),
    ),
    "noise band of 3 runs": (
        eval_variance,
        "noise_band",
        lambda find: lambda run_std, df, level: find(run_std, df=df, level=level) / 2,
        Cell("band", "even", 100, 4, 200, runs=3),
    ),
}


@pytest.mark.parametrize("check", WRONG)
def test_wrong_statistics_are_found(check, monkeypatch):
    module, name, spoilt, cell = WRONG[check]
    right = checked([cell])
    assert cell.kind == "power" or right.ok  # a planned eval is wrong by its size
    monkeypatch.setattr(module, name, spoilt(getattr(module, name)))
    result = checked([cell])
    assert not result.ok
    assert result.verdict == "missed"
    missed = [found for found in result.misses if found.check == check]
    assert len(missed) == 1
    assert not missed[0].ok
    assert missed[0].margin < (-3 if missed[0].mc_std else 0)
    text = str(result)
    assert text.startswith(f"missed: {result.n_misses} of ")
    assert f"missed: {check} " in text
    assert "MISSED" in text


def test_false_alarms_are_found(monkeypatch):
    monkeypatch.setattr(intervals, "paired_interval", lambda d, level, weights: (0.1, 0.2))
    monkeypatch.setattr(signflip, "signflip_p", lambda d, scale, weights: 0.001)
    found = {check.check: check for check in checked([Cell("change", "even", 30, 4, 50)]).checks}
    alarms = found["false alarms"]
    assert not alarms.at_least
    assert not alarms.ok
    assert alarms.measured > 0.5


def test_the_verdict_without_its_band_would_raise_alarms(monkeypatch):
    cell = Cell("band", "even", 100, 8, 150, runs=5)
    beside = checked([cell]).checks[1]
    assert beside.check == "verdict, band of 5 runs"
    assert beside.ok
    monkeypatch.setattr(trials, "SHOCK", 0.05)
    assert checked([cell]).checks[1].ok
    monkeypatch.setattr(Asked, "band", lambda asked: None)
    assert not checked([cell]).checks[1].ok


@pytest.mark.parametrize(
    ("hits", "target", "at_least", "ok"),
    [(367, 0.95, True, True), (366, 0.95, True, False), (33, 0.05, False, True), (34, 0.05, False, False)],
)
def test_three_standard_errors(hits, target, at_least, ok):
    check = self_check._judged(Count("x", "even", 10, 4, 400, hits, target, at_least))
    assert check.ok is ok
    assert check.measured == hits / 400
    assert check.mc_std == pytest.approx(math.sqrt(0.95 * 0.05 / 400))
    assert (check.margin >= -3) is ok


@pytest.mark.parametrize(
    ("hits", "target", "at_least", "ok"),
    [(0, 0.0, False, True), (1, 0.0, False, False), (400, 1.0, False, True), (400.5, 1.0, False, False),
     (419, 1.05, False, True), (421, 1.05, False, False), (400, 1.0, True, True), (399, 1.0, True, False)],
)  # fmt: skip
def test_exact_targets_allow_nothing(hits, target, at_least, ok):
    check = self_check._judged(Count("x", "even", 10, 4, 400, hits, target, at_least))
    assert check.ok is ok
    assert check.mc_std == 0
    assert (check.margin >= 0) is ok


@pytest.mark.parametrize(("hits", "ok"), [(0, True), (2, True), (3, True), (4, False)])
def test_rare_failures_are_judged_by_their_chance(hits, ok):
    alarms = Count("x", "even", 10, 4, 400, hits, 0.001, at_least=False)
    assert self_check._judged(alarms).ok is ok
    held = Count("x", "even", 10, 4, 400, 400 - hits, 0.999, at_least=True)
    assert self_check._judged(held).ok is ok


@pytest.mark.parametrize("cell", SOME[:5], ids=lambda cell: f"{cell.kind} {cell.agent}")
def test_equal_trials_counted_once_change_no_count(cell, monkeypatch):
    grouped = trials.count(cell, 3, 0.9)
    monkeypatch.setattr(trials, "_distinct", lambda cell, draw, top: ((row, 1) for row in draw((cell.trials, cell.n))))
    assert trials.count(cell, 3, 0.9) == grouped


def test_large_draws_come_in_batches(monkeypatch):
    cell = Cell("rates", "even", 5, 2, 50)
    monkeypatch.setattr(trials, "_DRAWN", 5 * 2 * scripted.STEPS * 7)
    sizes = []

    def draw(size):
        sizes.append(size)
        return np.zeros(size, dtype=np.int64)

    found = list(trials._distinct(cell, draw, 2))
    assert sizes == [(7, 5)] * 7 + [(1, 5)]
    assert [(codes.tolist(), times) for codes, times in found] == [([0] * 5, 50)]


def rows_of(rewards):
    return [{"task_id": str(i), "reward": reward} for i, group in enumerate(rewards) for reward in group]


def test_scripted_tables_are_those_of_their_rows():
    rng = np.random.default_rng(4)
    k = 3
    steps = rng.integers(0, scripted.STEPS + 1, (40, k))
    full, partial = (steps == scripted.STEPS).sum(axis=1), ((steps > 0) & (steps < scripted.STEPS)).sum(axis=1)
    binary = steps >= 3
    pairs = [
        (scripted.graded_table(k, full, partial, steps.sum(axis=1)), rows_of((steps / scripted.STEPS).tolist())),
        (scripted.table(k, binary.sum(axis=1)), rows_of(binary.astype(int).tolist())),
    ]
    for made, rows in pairs:
        read = wai.task_table(rows)
        assert made.task == read.task
        assert made.n_rows == read.n_rows
        for name in ("n", "passes", "n_partial", "n_unjudged"):
            assert getattr(made, name).tolist() == getattr(read, name).tolist(), name
        assert made.reward.n.tolist() == read.reward.n.tolist()
        assert [part.tolist() for part in made.reward.sums] == [part.tolist() for part in read.reward.sums]


def test_graded_codes_say_what_was_drawn():
    agent = scripted.AGENTS["even"]
    codes = trials._graded(agent.rates(np.random.default_rng(5), (200, 3))[0], 4, np.random.default_rng(6))
    steps = scripted.steps(agent.rates(np.random.default_rng(5), (200, 3))[0], 4, np.random.default_rng(6))
    assert codes.max() <= trials._codes(4)
    table = trials._graded_table(codes[0], 4)
    assert table.reward.mean.tolist() == (steps[0].mean(axis=-1) / scripted.STEPS).tolist()
    assert table.n_partial.tolist() == ((steps[0] > 0) & (steps[0] < scripted.STEPS)).sum(axis=-1).tolist()


@pytest.mark.parametrize("name", scripted.AGENTS)
def test_agents_are_what_they_say(name):
    agent = scripted.AGENTS[name]
    assert math.fsum(share for share, *_ in agent.parts) == pytest.approx(1, abs=1e-12)
    assert all(0 <= rate <= 1 for _, *rates in agent.parts for rate in rates)
    before, after = agent.rates(np.random.default_rng(7), (200_000,))
    seen = Counter(zip(before.tolist(), after.tolist(), strict=True))
    assert set(seen) == {(before, after) for _, before, after in agent.parts}
    assert float((after - before).mean()) == pytest.approx(agent.change, abs=0.005)
    for k in (1, 3):
        passed = scripted.passes(before, k, np.random.default_rng(8))
        assert float((passed == k).mean()) == pytest.approx(agent.all_of(k), abs=0.006)
        assert float((passed > 0).mean()) == pytest.approx(agent.any_of(k), abs=0.006)
    graded = scripted.steps(before, 1, np.random.default_rng(9)).mean() / scripted.STEPS
    assert float(graded) == pytest.approx(agent.all_of(1), abs=0.005)


def test_truths_by_hand():
    half, dead = scripted.AGENTS["homogeneous"], scripted.AGENTS["10% dead"]
    assert (half.all_of(4), half.any_of(4)) == (0.0625, 0.9375)
    assert dead.all_of(2) == pytest.approx(0.9 * 0.98**2)
    assert dead.any_of(2) == pytest.approx(0.9 * (1 - 0.02**2))
    changes = {name: agent.change for name, agent in scripted.CHANGES.items()}
    still = {name for name, change in changes.items() if change == 0}
    assert still == {"reshuffled", "jiggled", "most gain, 10% break", "most lose, 10% mend"}
    assert changes["few gain"] == pytest.approx(0.1)
    assert changes["none to all"] == pytest.approx(0.9)
    assert changes["5% break"] == pytest.approx(-0.05)


def test_what_is_counted_is_what_the_calls_say():
    rng = np.random.default_rng(10)
    verdicts = set()
    for name, n, k in itertools.product(["even", "all +0.1", "20% break"], [6, 40, 90], [1, 4]):
        before, after = (scripted.passes(rate, k, rng) for rate in scripted.AGENTS[name].rates(rng, (n,)))
        arms = [rows_of([[1] * c + [0] * (k - c) for c in arm.tolist()]) for arm in (before, after)]
        for run_std in (None, 0.08):
            result = wai.compare(*arms, run_std=run_std, run_std_runs=3)
            asked = Asked("pass_at_1", 0.95, run_std=run_std, run_std_runs=3)
            decision = decide(Arms(scripted.table(k, before), scripted.table(k, after)), asked)
            assert (decision.verdict, decision.main.interval) == (result.verdict, result.interval)
            verdicts.add(decision.verdict)
        assert pass_at.pass_at(scripted.table(k, before)).intervals == wai.pass_at(arms[0]).intervals
    assert verdicts == {"improved", "regressed", "no_difference", "within_noise"}


def test_clusters_are_of_any_size_and_their_tasks_alike():
    codes = scripted.clusters(7)
    assert np.bincount(codes).tolist() == [1, 2, 3, 5, 9, 1, 2]
    cell = Cell("clustered rates", "even", 7, 2, 70)
    rates = [
        rates for pair in trial_groups._drawn(cell, np.random.default_rng(0), Grouping(codes, ())) for rates in pair
    ]
    for task_rates in rates:
        assert all(len(set(task_rates[codes == c])) == 1 for c in range(7))
    assert len(rates) == 2 * cell.trials


def test_a_judge_is_as_good_as_it_says():
    judge = scripted.JUDGES["0.95, errs 0.3/0.05"]
    assert (judge.rate, judge.leaks, judge.misses, judge.useless) == (0.95, 0.3, 0.05, False)
    assert {name for name, judge in scripted.JUDGES.items() if judge.useless} == {
        f"{p}, useless" for p in (0.5, 0.8, 0.95)
    }


@pytest.mark.parametrize("full", [False, True])
def test_the_grid(full):
    cells = trials.grid(full=full, level=0.95)
    assert len({tuple(cell) for cell in cells}) == len(cells)
    assert {cell.kind for cell in cells} == set(trials._COUNTERS)
    assert {cell.trials for cell in cells if cell.kind != "band"} == {4000 if full else 400}
    drawn = [cell for cell in cells if cell.kind in ("rates", "change")]
    assert {cell.k for cell in drawn} == {1, 4, 8}
    assert {cell.n for cell in drawn} >= ({4, 10, 30, 100, 300} if full else {4, 10, 30, 100})
    assert {cell.runs for cell in cells if cell.kind == "band"} == {3, 5}
    planned = [cell for cell in cells if cell.kind == "power"]
    assert planned
    for cell in planned:
        base, effect = map(float, cell.agent.split(" +"))
        size = wai.holdout_size(effect, base=base, k=cell.k, power=cell.power)
        assert cell.n == size.n_tasks_to_prove >= 30
    assert {cell.agent for cell in drawn} <= set(scripted.AGENTS)
    assert {cell.n for cell in cells if cell.kind.startswith("clustered")} >= ({4, 300} if full else {4, 30})
    corrected = [cell for cell in cells if cell.kind == "corrected"]
    assert {cell.n for cell in corrected} == ({20, 50, 100, 200} if full else {20, 100})
    assert {cell.agent for cell in corrected} <= set(scripted.JUDGES)
    assert max(scripted.JUDGES[cell.agent].leaks for cell in corrected if "errs" in cell.agent) == 0.3


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"full": "yes"}, "self_check: full must be True or False; got 'yes'."),
        ({"seed": -1}, "self_check: seed must be a whole number of at least 0; got -1."),
        ({"seed": 0.5}, "self_check: seed must be a whole number of at least 0; got 0.5."),
        ({"level": 95}, "self_check: level must be a number between 0 and 1; got 95. Write 0.95."),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(wai.ParamError, match=f"^{re.escape(message)}$"):
        wai.self_check(**settings)


@pytest.mark.parametrize("ok", [True, False])
def test_the_command_line_says_no_on_a_miss(ok, monkeypatch, capfd):
    asked = []

    def call(**settings):
        asked.append(settings)
        found = Count("pass@1 interval", "even", 10, 4, 400, 390 if ok else 300, 0.95, at_least=True)
        check = self_check._judged(found)
        return self_check.SelfCheck(ok, 1, int(not ok), (check,), full=False, seed=2, level=0.9)

    monkeypatch.setattr(self_check, "self_check", call)
    assert cli.main(["self-check", "--seed", "2", "--level", "0.9"]) == (0 if ok else 1)
    assert capfd.readouterr().out.startswith("passed: all 1 check " if ok else "missed: 1 of 1 check ")
    assert cli.main(["self-check", "--full", "--json"]) == (0 if ok else 1)
    envelope = json.loads(capfd.readouterr().out)
    assert (envelope["call"], envelope["ok"], envelope["inputs"]) == ("self_check", ok, [])
    assert envelope["verdict"] == ("passed" if ok else "missed")
    assert envelope["result"]["checks"][0]["measured"] == (0.975 if ok else 0.75)
    assert asked == [{"full": False, "seed": 2, "level": 0.9}, {"full": True, "seed": 0, "level": 0.95}]
    assert cli.main(["self-check", "--seed", "-1"]) in (0, 1)  # the stand-in takes any seed
