"""Whole runs: the same rows in any order of landing, errors before the first call, an end where going on is no use."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
import threading
import time
import warnings
from pathlib import Path

import pytest

import whileai as wai
from simulate_helpers import SYSTEM_PROMPT, TOOLS, Sleeper, bare, even, simulated, turns_of
from whileai.engine.endpoint_error import EndpointError
from whileai.engine.run import BREAKER
from world_helpers import FakeEndpoint, reply

TESTS = str(Path(__file__).resolve().parents[2])


def codes(data):
    return [note.code for note in data.warnings]


# order


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("policy", [{}, {"mode": "rl", "judge": even, "repeats": 6, "budget": 70, "situations": 16}])
def test_the_rows_do_not_depend_on_concurrency(seed, policy):
    alone = simulated(Sleeper(0.001), seed=seed, concurrency=1, **{"repeats": 3, **policy})
    many = simulated(Sleeper(0.01), seed=seed, concurrency=16, **{"repeats": 3, **policy})
    assert bare(alone) == bare(many)
    assert len({row["rollout_id"] for row in alone}) == len(alone)
    places = [(row["lineage"]["situation"], row["rollout_index"]) for row in alone]
    assert places == sorted(places)


def test_another_seed_gives_other_prompts():
    prompts = [{row["prompt"] for row in simulated(seed=seed)} for seed in (0, 1)]
    assert not prompts[0] & prompts[1]


def test_neither_hash_seed_nor_process_changes_a_row(run_script):
    code = f"""
    import sys, json, hashlib
    sys.path.insert(0, {TESTS!r})
    from simulate_helpers import *
    data = simulated(mode="rl", judge=even, situations=8, repeats=4, budget=24)
    print(hashlib.sha256(json.dumps(bare(data)).encode()).hexdigest())
    """
    found = {run_script(code, env={"PYTHONHASHSEED": seed}).stdout for seed in ("1", "2")}
    here = simulated(mode="rl", judge=even, situations=8, repeats=4, budget=24)
    assert found == {hashlib.sha256(json.dumps(bare(here)).encode()).hexdigest() + "\n"}


def test_a_longer_run_begins_with_the_shorter_one():
    short, long = simulated(situations=16), simulated(situations=32)
    assert bare(long)[:32] == bare(short)


def test_as_many_rows_as_were_asked_for_and_no_prompt_twice():
    data = simulated(tools=TOOLS[:1], situations=500, repeats=1)
    assert (len(data), data.stopped_because) == (500, "done")
    assert len({row["prompt"] for row in data}) == 500
    assert sum(bool(row["faults"]) for row in data) == 250


def test_two_agents_meet_the_same_tasks_and_are_compared():
    one = simulated(wai.seeded_agent(TOOLS, rate=0.9), situations=16, repeats=4).grade(lambda row: not row["seeded"])
    other = simulated(wai.seeded_agent(TOOLS, rate=0.0), situations=16, repeats=4).grade(lambda row: not row["seeded"])
    result = wai.compare(one, other)
    assert (result.n_paired, result.verdict) == (16, "improved")


def test_the_situations_of_an_earlier_run_are_met_again(tmp_path):
    first = simulated(system_prompt="Be kind. Never lie.", situations=10, seed=3)
    first.save(tmp_path / "rows.jsonl", privileged=True)
    for seeds in (first, list(first), str(tmp_path / "rows.jsonl")):
        again = simulated(system_prompt="Be brief.", situations=None, seeds=seeds, seed=9)
        assert [row["task_id"] for row in again] == [row["task_id"] for row in first]
        same = ("prompt", "axes", "faults", "seed", "world_state", "ledger")
        assert all(row[key] == old[key] for row, old in zip(again, first, strict=True) for key in same)
        for row, old in zip(again, first, strict=True):
            assert row["privileged"]["hidden_state"]["records"] == old["privileged"]["hidden_state"]["records"]
        assert again[0]["policy_version"] != first[0]["policy_version"]
        assert [row["final_text"] for row in again] != [row["final_text"] for row in first]


def test_seeds_are_kept_word_for_word():
    talk = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": "So?"},
    ]
    data = simulated(seeds=["Where  is ORD-1?", talk], repeats=1)
    assert [row["prompt"] for row in data[:2]] == ["Where  is ORD-1?", "So?"]
    assert turns_of(data[1])[:3] == ["Hi", "Hello.", "So?"]


def test_traces_aim_the_plan(tmp_path):
    bad = {"prompt": "Cancel order ORD-1000 now!!", "final_text": "No.", "reward": 0}
    bad["steps"] = [{"tool": "cancel_order", "arguments": {}, "result": {"status": "timeout"}}]
    path = tmp_path / "traces.jsonl"
    path.write_text("".join(json.dumps({**bad, "id": i}) + "\n" for i in range(5)))
    data = simulated(traces=path, situations=16, repeats=1)
    plain = simulated(situations=16, repeats=1)
    assert [row["axes"] for row in data] != [row["axes"] for row in plain]


# before the first call


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"situations": 0}, "situations must be a whole number of at least 1; got 0"),
        ({"budget": 0}, "budget must be a whole number of at least 1"),
        ({"repeats": -1}, "repeats must be a whole number of at least 1"),
        ({"mode": "explor"}, "Did you mean explore"),
        ({"fault_rat": 0.5}, "Did you mean fault_rate"),
        (
            {"simulator": "gpt"},
            "simulator must be an Endpoint, or None for the templates; got 'gpt'. Write wai.Endpoint",
        ),
        ({"simulator": True}, "simulator must be an Endpoint"),
        ({"users": wai.UserOptions(model="gpt")}, "users.model must be an Endpoint"),
        ({"system_prompt": None}, "system_prompt must be text"),
        ({"logprobs": "all"}, "logprobs must be False, True or 'tokens'"),
        ({"seeds": "Where is it?"}, "seeds must be"),
        ({"traces": []}, "traces must be rows, at least one"),
        ({"mode": "rl", "judge": even, "probe": 1}, "probe must be at least 2"),
        ({"situations": 10**15}, "situations must be at most"),
    ],
)
def test_a_value_out_of_bounds_is_an_error_before_the_first_call(options, message, tmp_path):
    def agent(message):
        raise AssertionError("it was run")

    with pytest.raises(wai.ParamError, match=message):
        simulated(agent, output=tmp_path / "rows.jsonl", **options)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("options", "error"), [({"judge": 7}, TypeError), ({"traces": 7}, TypeError)])
def test_what_is_no_judge_and_no_data_is_a_type_error(options, error):
    with pytest.raises(error, match="simulate: "):
        simulated(**options)


def test_without_an_agent_the_environment_names_the_model(monkeypatch):
    monkeypatch.delenv("WHILEAI_MODEL", raising=False)
    with pytest.raises(wai.ParamError, match=r"wai.OpenAI\(.*WHILEAI_MODEL.*callable"):
        wai.simulate(tools=TOOLS)


def test_rl_without_a_judge_is_fixed_with_a_note():
    data = simulated(mode="rl")
    assert "fixed_without_judge" in codes(data)
    assert {row["allocation"]["policy"] for row in data} == {"fixed"}


def test_a_partial_reward_does_not_go_with_the_adaptive_policy():
    with pytest.raises(wai.ParamError, match=r"got 0\.5\. Give repeat_policy='fixed'"):
        simulated(mode="rl", judge=lambda row: 0.5)
    assert {row["reward"] for row in simulated(judge=lambda row: 0.5)} == {0.5}


# where going on is no use


def test_a_fatal_failure_ends_the_run_at_once():
    endpoint = FakeEndpoint(EndpointError("auth", "wrong key", fatal=True))
    data = simulated(endpoint, situations=50, concurrency=2)
    assert data.stopped_because == "agent_failed"
    assert 1 <= len(data) <= 3
    (note,) = [note for note in data.warnings if note.code == "agent_failed"]
    assert "wrong key" in note.text
    assert "stopped, as the agent could not be run" in str(data)


def test_an_agent_that_only_fails_is_given_up():
    def agent(message):
        raise KeyError("nothing")

    data = simulated(agent, situations=40, concurrency=4)
    assert data.stopped_because == "agent_failed"
    assert BREAKER <= len(data) < BREAKER + 4
    assert {row["unusable_reason"] for row in data} == {"agent_raised"}
    assert data[0]["error"] == {"type": "KeyError", "message": "'nothing'"}
    assert data[0]["reward"] is None


def test_a_huge_run_that_is_given_up_costs_no_memory():
    def agent(message):
        raise KeyError("nothing")

    data = simulated(agent, situations=10**8, concurrency=2)
    assert len(data) <= BREAKER + 2
    assert data.coverage.n_situations == 10_000


def test_one_usable_rollout_and_it_goes_on():
    def agent(message, ctx):
        if ctx.messages and ctx.rollout_index == 0 and agent.left:
            agent.left -= 1
            return "Hello."
        raise KeyError("nothing")

    agent.left = 1
    data = simulated(agent, situations=40, concurrency=1)
    assert (data.stopped_because, len(data)) == ("done", 80)


def test_agents_that_never_end_stop_the_run(monkeypatch):
    from whileai.engine import run

    monkeypatch.setattr(run, "MAX_STUCK", 3)
    release = threading.Event()

    def agent(message):
        release.wait()
        return "late"

    try:
        data = simulated(agent, timeout=0.1, situations=8, concurrency=2)
    finally:
        release.set()
    assert data.stopped_because == "agent_failed"
    assert {"agent_failed", "abandoned"} <= set(codes(data))
    assert {row["unusable_reason"] for row in data} == {"agent_timeout"}


def test_a_judge_that_cannot_run_at_all_is_told(monkeypatch):
    from whileai.engine import judging

    def broken(*arguments, **options):
        raise wai.ScorerError("no workers")
        yield

    monkeypatch.setattr(judging, "land_verdicts", broken)
    with pytest.raises(wai.ScorerError, match="no workers"):
        simulated(judge=even)


# where it is called from


def test_it_works_within_a_running_loop():
    async def main():
        return simulated()

    assert bare(asyncio.run(main())) == bare(simulated())


def test_it_works_in_a_notebook():
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    import nbformat

    start = f"import sys; sys.path.insert(0, {TESTS!r})\nfrom simulate_helpers import *"
    same = "print(bare(simulated()) == bare(await wai.asimulate(agent, tools=TOOLS, system_prompt=SYSTEM_PROMPT, "
    cells = [start, f"{same}situations=8, repeats=2)))"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the client and the kernel, which are not ours
        nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
    assert [output.text for output in notebook.cells[1].outputs] == ["True\n"]


def test_asimulate_leaves_the_loop_free():
    async def main():
        ticks = 0
        work = asyncio.ensure_future(
            wai.asimulate(Sleeper(0.05), tools=TOOLS, system_prompt=SYSTEM_PROMPT, situations=8)
        )
        while not work.done():
            await asyncio.sleep(0.01)
            ticks += 1
        return work.result(), ticks

    data, ticks = asyncio.run(main())
    assert ticks > 3
    assert bare(data) == bare(simulated(repeats=1))


def test_a_cancelled_asimulate_ends_the_run_and_keeps_what_is_finished(tmp_path):
    output = tmp_path / "rows.jsonl"

    async def main():
        work = asyncio.ensure_future(
            wai.asimulate(Sleeper(0.5), tools=TOOLS, system_prompt=SYSTEM_PROMPT, situations=60, output=output)
        )
        while not output.exists() or output.read_bytes().count(b"\n") < 4:
            await asyncio.sleep(0.01)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work

    asyncio.run(main())
    n = len(list(wai.read(output)))
    assert 4 <= n < 60
    time.sleep(0.2)
    assert len(list(wai.read(output))) == n


def test_two_runs_at_a_time_from_two_threads():
    found = {}
    threads = [threading.Thread(target=lambda s=seed: found.update({s: simulated(seed=s)})) for seed in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {seed: bare(data) for seed, data in found.items()} == {seed: bare(simulated(seed=seed)) for seed in (0, 1)}


def test_an_interrupt_returns_what_is_finished(monkeypatch):
    from whileai.engine import driving

    seen = []

    def press(self, *, last=False):
        seen.append(last)
        if len(seen) == 6:
            raise KeyboardInterrupt

    monkeypatch.setattr(driving.Meter, "tick", press)
    data = simulated(Sleeper(0.5), situations=60, repeats=1)
    assert data.stopped_because == "interrupted"
    assert 0 < len(data) < 60
    assert "interrupted" in str(data)
    assert set(data.groups.values()) <= {"full", "cut"}
    assert data.coverage.n_situations == 60


# told


def test_on_progress_gets_the_counts():
    told = []
    simulated(Sleeper(0.15), situations=8, on_progress=told.append)
    assert told[-1] | {"seconds": 0} == {
        "planned": 16, "done": 16, "usable": 16, "unusable": {}, "tokens": 0, "cost": None, "seconds": 0,
    }  # fmt: skip
    assert [one["done"] for one in told] == sorted(one["done"] for one in told)


def test_on_progress_that_raises_ends_the_run():
    def tell(counts):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        simulated(on_progress=tell)


def test_it_is_quiet_where_stderr_is_no_terminal(capsys):
    simulated()
    assert capsys.readouterr() == ("", "")
    simulated(progress=True)
    assert capsys.readouterr().err.startswith("simulate  16/16 rollouts")


def test_notes_of_rollouts_are_counted():
    def agent(message):
        return "Hello."

    data = simulated(agent, repeats=2)
    (note,) = [note for note in data.warnings if note.code == "faults_unreachable"]
    assert "(8 rollouts)" in note.text
    assert "ctx" in note.fix


def test_one_endpoint_in_two_roles_is_noted():
    endpoint = FakeEndpoint(reply("Hello."))
    data = simulated(endpoint, users=wai.UserOptions(model=endpoint))
    (note,) = [note for note in data.warnings if note.code == "same_model"]
    assert "person" in note.text


def test_execute_answers_in_place_of_the_records():
    def execute(tool, arguments, ctx):
        return {"status": "ok", "from": ctx.task_id}

    data = simulated(execute=execute, fault_rate=0)
    answers = [step["result"] for row in data for step in row["steps"] if "tool" in step]
    assert {answer["from"] for answer in answers} == {row["task_id"] for row in data}


def test_memory_holds_no_more_rollouts_than_are_run_at_a_time():
    alive, most = 0, 0
    lock = threading.Lock()

    def agent(message):
        nonlocal alive, most
        with lock:
            alive += 1
            most = max(most, alive)
        time.sleep(0.002)
        with lock:
            alive -= 1
        return "Hello."

    simulated(agent, situations=40, concurrency=3)
    assert most <= 3


def test_sys_is_left_as_it_was():
    import signal

    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT), sys.excepthook
    simulated()
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT), sys.excepthook) == before
