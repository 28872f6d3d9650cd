"""A run that is killed, interrupted, torn or out of disk goes on where it stopped, and comes to the same rows."""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import whileai as wai
from simulate_helpers import SCRIPT, Sleeper, agent, bare, even, simulated
from whileai.engine import store as store_module
from whileai.engine.endpoint_error import EndpointError
from whileai.engine.store import Store

TESTS = str(Path(__file__).resolve().parents[2])


def started(tmp_path, output, policy, pause):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(tests=TESTS))
    return subprocess.Popen(
        [sys.executable, str(script), str(output), policy, str(pause)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def lines_of(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


def whole_run(policy, **more):
    options = (
        {"mode": "rl", "judge": even, "budget": 90, "situations": 16, "repeats": 8} if policy == "adaptive" else {}
    )
    options = {"situations": 40, "repeats": 2, **options, **more}
    return simulated(repeat_policy=policy, **options)


@pytest.mark.parametrize("policy", ["fixed", "adaptive"])
def test_killed_ten_times_it_comes_to_the_rows_of_an_uninterrupted_run(policy, tmp_path):
    output = tmp_path / "rows.jsonl"
    draws = random.Random(policy)
    for _ in range(10):
        process = started(tmp_path, output, policy, 0.4)
        before, end = lines_of(output), time.monotonic() + 30
        wanted = before + draws.randrange(0, 6)
        while process.poll() is None and lines_of(output) < wanted and time.monotonic() < end:
            time.sleep(0.005)
        time.sleep(draws.random() * 0.05)
        process.kill()
        process.communicate()
    assert 0 < lines_of(output) < 80
    resumed = whole_run(policy, agent=Sleeper(0), output=output)
    whole = whole_run(policy, agent=Sleeper(0))
    assert resumed.stopped_because == whole.stopped_because
    assert bare(resumed) == bare(whole)
    assert len(resumed) == (90 if policy == "adaptive" else 80)
    again = whole_run(policy, agent=Sleeper(0), output=output)
    assert list(again) == list(resumed)
    assert [note.code for note in again.warnings].count("resumed") == 1


def test_the_same_call_again_runs_nothing(tmp_path):
    output = tmp_path / "rows.jsonl"
    first = simulated(output=output)

    def agent(message, ctx):
        raise AssertionError("it was run")

    assert list(simulated(agent, output=output)) == list(first)
    assert sorted(map(str, wai.read(output))) == sorted(map(str, first))


@pytest.mark.parametrize(
    "size", [{"situations": 12}, {"repeats": 4}, {"situations": 12, "repeats": 3, "concurrency": 2}]
)
def test_more_situations_and_repeats_go_on_from_what_is_there(size, tmp_path):
    output = tmp_path / "rows.jsonl"
    small = simulated(output=output)
    grown = simulated(output=output, **size)
    met = {(row["task_id"], row["rollout_index"]): row for row in grown}
    assert all(met[row["task_id"], row["rollout_index"]] == row for row in small)
    whole = bare(simulated(**size))
    for row in whole:
        row["allocation"] = None
    assert [{**row, "allocation": None} for row in bare(grown)] == whole


def test_a_smaller_call_leaves_rows_out_and_says_so(tmp_path):
    output = tmp_path / "rows.jsonl"
    whole = simulated(output=output)
    some = simulated(output=output, situations=4)
    assert list(some) == list(whole)[:8]
    (note,) = [note for note in some.warnings if note.code == "rows_beyond"]
    assert "8 rows" in note.text


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("seed", {"seed": 1}),
        ("mode", {"mode": "sft"}),
        ("system_prompt", {"system_prompt": "Be brief."}),
        ("tools", {"tools": []}),
        ("axes", {"axes": {"stance": ["plain"]}}),
        ("seeds", {"seeds": ["Where is my order?"]}),
        ("traces", {"traces": [{"prompt": "Where is it?", "final_text": "Here.", "reward": 0}]}),
        ("world", {"fault_rate": 0.25}),
        ("world", {"world": wai.WorldOptions(seed=3)}),
        ("users", {"patience": 1}),
        ("sampling", {"temperature": 0.5}),
        ("agent", {"agent": lambda message, ctx: "Hi."}),
        ("max_tool_calls", {"max_tool_calls": 3}),
        ("logprobs", {"logprobs": True}),
        ("judge", {"judge": even}),
    ],
)
def test_another_run_on_the_same_output_is_an_error_that_names_what_differs(name, change, tmp_path):
    output = tmp_path / "rows.jsonl"
    simulated(output=output, situations=2)
    before = output.read_bytes()
    with pytest.raises(
        wai.ParamError, match=rf"simulate: {name} must be that of the run it resumes; got .* was made with "
    ):
        simulated(output=output, situations=2, **change)
    assert output.read_bytes() == before


def test_both_values_are_told(tmp_path):
    output = tmp_path / "rows.jsonl"
    simulated(output=output, situations=2)
    with pytest.raises(wai.ParamError, match=r"got 5\. .* was made with 0"):
        simulated(output=output, situations=2, seed=5)


@pytest.mark.parametrize(
    "held",
    [
        '{"task_id": "a", "rollout_index": 0, "prompt": "q", "final_text": "a"}\n',
        '{"question": "a line that is no row of a run"}\n',
        "notes of somebody, without the end of a line",
    ],
)
def test_a_file_that_holds_something_else_is_left_as_it_is(held, tmp_path):
    output = tmp_path / "rows.jsonl"
    output.write_text(held)
    with pytest.raises(wai.ParamError, match="output must be a new file, or that of an earlier run"):
        simulated(output=output)
    assert output.read_text() == held
    assert [path.name for path in tmp_path.iterdir()] == ["rows.jsonl"]


def test_the_file_of_another_run_is_left_as_it_is_torn_or_not(tmp_path):
    output = tmp_path / "rows.jsonl"
    simulated(output=output)
    held = output.read_bytes() + b'{"task_id": "sc_'
    output.write_bytes(held)
    with pytest.raises(wai.ParamError, match="seed must be that of the run it resumes"):
        simulated(output=output, seed=7)
    assert output.read_bytes() == held
    assert not (tmp_path / "rows.jsonl.torn").exists()


@pytest.mark.parametrize("tail", [b'{"schema_version": "1", "task_id": "sc_', b"{", b"\x00\x00\n", b"\xff\xfe"])
def test_a_torn_line_is_cut_off_kept_and_counted(tail, tmp_path):
    output = tmp_path / "rows.jsonl"
    whole = simulated(output=output)
    data = output.read_bytes()
    cut = data[: data.rindex(b"\n", 0, -1) + 1] + tail
    output.write_bytes(cut)
    again = simulated(output=output)
    assert bare(again) == bare(whole)
    assert "torn_line" in [note.code for note in again.warnings]
    assert (tmp_path / "rows.jsonl.torn").read_bytes() == tail.rstrip(b"\n") + b"\n"
    assert len(list(wai.read(output))) == 16


def test_a_last_line_without_its_end_is_no_torn_one(tmp_path):
    output = tmp_path / "rows.jsonl"
    whole = simulated(output=output)
    output.write_bytes(output.read_bytes().rstrip(b"\n"))
    assert list(simulated(output=output)) == list(whole)
    assert not (tmp_path / "rows.jsonl.torn").exists()


def test_a_bad_line_elsewhere_is_an_error_with_its_number(tmp_path):
    output = tmp_path / "rows.jsonl"
    simulated(output=output)
    lines = output.read_bytes().splitlines(keepends=True)
    lines[2] = b'{"task_id": 7}\n'
    output.write_bytes(b"".join(lines))
    with pytest.raises(wai.RowError, match=r"rows.jsonl line 3 must be a row"):
        simulated(output=output)
    assert output.read_bytes() == b"".join(lines)


def test_a_second_writer_gets_one_clear_error(tmp_path):
    output = tmp_path / "rows.jsonl"
    with Store(output, {}), pytest.raises(wai.ScorerError, match="another run writes to"):
        simulated(output=output)


def test_a_full_disk_stops_the_run_and_tells_which_rows_are_safe(tmp_path, monkeypatch):
    output = tmp_path / "rows.jsonl"
    write, written = os.write, []

    def full(file, data):
        if b'"rollout_index"' not in data:
            return write(file, data)
        if len(written) == 5:
            write(file, data[:40])
            raise OSError(errno.ENOSPC, "No space left on device")
        written.append(data)
        return write(file, data)

    with monkeypatch.context() as patch:
        patch.setattr(store_module.os, "write", full)
        with pytest.raises(OSError, match=r"No space left on device. 5 rows are safe in .*rows.jsonl") as error:
            simulated(output=output, concurrency=1)
    assert error.value.errno == errno.ENOSPC
    assert len(list(wai.read(output))) == 5
    assert bare(simulated(output=output)) == bare(simulated())


def test_lines_of_rows_a_service_spoilt_are_played_again_and_the_later_counts(tmp_path):
    output = tmp_path / "rows.jsonl"
    from world_helpers import FakeEndpoint, reply

    bad = FakeEndpoint(reply("Hello."), EndpointError("connection", "gone"), reply("Hello."))
    first = simulated(bad, output=output, situations=4, repeats=1, concurrency=1)
    assert [row.get("unusable_reason") for row in first] == [None, "connection", None, None]
    kept = simulated(FakeEndpoint(reply("Again.")), output=output, situations=4, repeats=1, retry_unusable="none")
    assert list(kept) == list(first)
    again = simulated(FakeEndpoint(reply("Again.")), output=output, situations=4, repeats=1)
    assert [row["final_text"] for row in again] == ["Hello.", "Again.", "Hello.", "Hello."]
    assert output.read_bytes().count(b"\n") == 5


@pytest.mark.parametrize("reason", ["context_length", "agent_raised"])
def test_what_the_agent_itself_spoilt_stands(reason, tmp_path):
    output = tmp_path / "rows.jsonl"
    from world_helpers import FakeEndpoint, reply

    if reason == "agent_raised":
        first, second = (simulated(one, output=output, situations=4) for one in (bad_agent, good_agent))
    else:
        bad = FakeEndpoint(reply("Hello."), EndpointError("context_length", "too long"), reply("Hello."))
        first = simulated(bad, output=output, situations=4)
        second = simulated(FakeEndpoint(reply("Again.")), output=output, situations=4)
    assert reason in [row.get("unusable_reason") for row in first]
    assert list(second) == list(first)


def bad_agent(message, ctx):
    if ctx.rollout_index:
        raise ValueError("no")
    return "Hello."


def good_agent(message, ctx):
    return "Hello."


bad_agent.__name__ = good_agent.__name__ = "one_agent"


def test_rows_whose_verdict_did_not_come_are_judged_when_it_goes_on(tmp_path):
    output = tmp_path / "rows.jsonl"

    def judge(row):
        if not (tmp_path / "now").exists():
            raise ConnectionError("no judge")
        return True

    first = simulated(output=output, situations=3, judge=judge)
    assert {row["judge_status"] for row in first} == {"error"}
    (tmp_path / "now").touch()
    again = simulated(output=output, situations=3, judge=judge)
    assert {(row["judge_status"], row["reward"], row.get("reason")) for row in again} == {("ok", 1, None)}


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_in_a_real_process_keeps_what_is_finished(how, tmp_path):
    output = tmp_path / "rows.jsonl"
    process = started(tmp_path, output, "fixed", 0.4)
    end = time.monotonic() + 30
    while lines_of(output) < 5 and time.monotonic() < end:
        time.sleep(0.01)
    process.send_signal(how)
    asked = time.monotonic()
    told, errors = process.communicate(timeout=20)
    assert time.monotonic() - asked < 5
    assert (process.returncode, told.split()[0]) == (0, "interrupted"), errors
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    assert len(rows) == int(told.split()[1]) < 80
    assert bare(whole_run("fixed", agent=Sleeper(0), output=output)) == bare(whole_run("fixed", agent=Sleeper(0)))


def test_a_second_ctrl_c_leaves_at_once(tmp_path, run_script):
    code = f"""
    import sys, threading, time, os, signal
    sys.path.insert(0, {TESTS!r})
    from simulate_helpers import *
    def stuck(message):
        while True:
            try:
                time.sleep(100)
            except BaseException:
                pass
    def press():
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)
    import whileai.engine.driving as driving
    driving.Driver.stop = lambda self: None  # the first one is never heard
    threading.Thread(target=press).start()
    try:
        simulated(stuck)
    except KeyboardInterrupt:
        print("left")
    """
    assert run_script(code, timeout=20).stdout.strip() == "left"


def test_the_sidecar_says_which_run_it_is(tmp_path):
    output = tmp_path / "rows.jsonl"
    simulated(agent, output=output, seed=3)
    told = json.loads((tmp_path / "rows.jsonl.run.json").read_text())
    assert told["version"] == wai.__version__
    assert (told["parts"]["seed"], told["parts"]["agent"]) == (3, "agent")


@pytest.mark.parametrize(
    ("output", "error"),
    [("rows.json", wai.ParamError), (7, TypeError), ("no/folder/rows.jsonl", FileNotFoundError), (".", wai.ParamError)],
)
def test_an_output_that_cannot_be_is_an_error_before_the_first_call(output, error, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def agent(message):
        raise AssertionError("it was run")

    with pytest.raises(error, match="simulate: output must be"):
        simulated(agent, output=output)


@pytest.mark.parametrize("argument", ["seeds", "traces"])
def test_a_torn_file_of_an_earlier_run_is_read_up_to_there_and_said(tmp_path, argument):
    whole = tmp_path / "whole.jsonl"
    simulated(situations=4, output=str(whole))
    torn = tmp_path / "torn.jsonl"
    torn.write_bytes(whole.read_bytes()[:-30])
    for path, said in ((whole, []), (torn, [f"{argument}: the reader skipped 1 torn last line."])):
        data = simulated(situations=4, **{argument: str(path)})
        assert [note.text for note in data.warnings if note.code == "log_skipped"] == said
