"""Agent, judge, writer and person against llama.cpp's own OpenAI-compatible server, which serves a model made here.

What the model says is nonsense; what the server does with it is real: its fields, its refusals, its grammar, its pace.
``make test-real`` builds what this needs, which takes some minutes, and runs it.
"""

from __future__ import annotations

import importlib.util
import json
import socket
import subprocess
import sys
import threading
import time
import urllib.request

import pytest

import whileai as wai
from whileai.simulations import validate

MISSING = [name for name in ("llama_cpp", "gguf", "openai", "fastapi") if importlib.util.find_spec(name) is None]
pytestmark = pytest.mark.skipif(
    bool(MISSING), reason=f"needs a llama.cpp server ({', '.join(MISSING)} not installed): make test-real"
)
#: Ends texts within a grammar soon: the token of the double quote is likelier.
SOON = {"logit_bias": {str(3 + ord('"')): 6.0}, "max_tokens": 800}
SHORT = wai.Sampling(max_tokens=24, seed=5)


@wai.tool
def get_order(order_id: str) -> dict:
    """Look an order up."""


class Server:
    """llama.cpp's server in a process of its own."""

    def __init__(self, model, log, context=4096):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/v1"
        command = [sys.executable, "-m", "llama_cpp.server", "--model", str(model), "--port", str(port)]
        command += ["--host", "127.0.0.1", "--n_ctx", str(context), "--n_threads", "1", "--model_alias", "tiny"]
        with log.open("w") as out:
            self.process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
        end = time.monotonic() + 60
        while not self._is_up():
            assert self.process.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.1)

    def _is_up(self):
        try:
            with urllib.request.urlopen(f"{self.url}/models", timeout=5) as answer:
                return answer.status == 200
        except OSError:
            return False

    def model(self, **options):
        return wai.Endpoint("tiny", base_url=self.url, **options)

    def kill(self):
        self.process.kill()
        self.process.wait()


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """The model's file."""
    from real.tiny_llama import write_model

    path = write_model(tmp_path_factory.mktemp("model") / "tiny.gguf")
    assert path.stat().st_size < 150_000
    return path


@pytest.fixture(scope="module")
def server(tiny):
    running = Server(tiny, tiny.with_suffix(".log"))
    yield running
    running.kill()


def simulated(agent, **options):
    options = {"tools": [get_order], "situations": 4, "seed": 3, "sampling": SHORT, **options}
    return wai.simulate(agent, system_prompt="You are the agent of a shop.", **options)


def bare(rows):
    return [{name: value for name, value in row.items() if name != "timing"} for row in rows]


def test_what_it_says_stands_on_valid_rows_with_what_it_cost(server):
    data = simulated(server.model(price=(1.0, 2.0)), repeats=2)
    assert (len(data), data.stopped_because, data.unusable()) == (8, "done", [])
    assert [validate(row) for row in data] == [[]] * len(data)
    for row in data:
        assert row["final_text"]
        assert (row["finish_reason"], row["sampling"]["max_tokens"]) == ("length", 24)
        used = row["usage"]
        assert used["output_tokens"] == 24 * used["requests"]
        assert used["input_tokens"] > len(row["prompt"])
        assert used["cost"] == pytest.approx((used["input_tokens"] + 2 * used["output_tokens"]) / 1e6)
    assert data.usage["agent"].retries == 0


def test_with_a_seed_it_says_the_same_at_any_concurrency(server):
    one, many = (bare(simulated(server.model(), repeats=2, concurrency=n)) for n in (1, 8))
    assert one == many
    assert len({row["final_text"] for row in one}) > 4


def test_log_probabilities_are_those_of_the_server(server):
    import openai

    data = simulated(server.model(), logprobs="tokens", max_turns=1)
    client = openai.OpenAI(base_url=server.url, api_key="none", max_retries=0)
    for row in data:
        values = row["token_logprobs"]
        assert row["n_tokens"] == len(values) >= 24
        assert row["logprob"] == pytest.approx(sum(values))
        messages = [{"role": "system", "content": data.system_prompt}, *row["messages"][:1]]
        asked = client.chat.completions.create(
            model="tiny", messages=messages, logprobs=True, top_logprobs=1, max_tokens=24, seed=row["sampling"]["seed"],
            tools=[tool.openai() for tool in data.tools],
        )  # fmt: skip
        choice = asked.choices[0]
        assert choice.message.content == row["final_text"]
        assert [entry.logprob for entry in choice.logprobs.content] == pytest.approx(values, abs=1e-4)
    plain = simulated(server.model(), max_turns=1)
    assert not any("logprob" in row for row in plain)
    assert [row["final_text"] for row in plain] == [row["final_text"] for row in data]


def test_the_reference_of_a_model_against_itself_is_no_way_off(server):
    data = simulated(server.model(), logprobs="tokens", repeats=2, max_turns=1).grade(lambda row: True)
    (student,) = wai.calibrate(data, ref=data).report.students
    assert (student.mean_kl, student.n_tokens) == (0.0, sum(row["n_tokens"] for row in data))


def test_a_forced_tool_call_meets_the_world_and_its_faults(server):
    forced = {"tool_choice": {"type": "function", "function": {"name": "get_order"}}, **SOON}
    data = simulated(server.model(extra=forced), sampling=wai.Sampling(seed=5), max_tool_calls=2, fault_rate=1.0)
    assert {row["stop_reason"] for row in data} == {"max_tool_calls"}
    for row in data:
        assert [set(step["arguments"]) for step in row["steps"] if "tool" in step] == [{"order_id"}] * 2
        assert [turn["role"] for turn in row["messages"]] == ["user", *["assistant", "tool"] * 2]
        assert row["finish_reason"] == "tool"
    assert {event["mode"] for row in data for event in row["ledger"]} == set(wai.WorldOptions().fault_kinds)


def verdicts(server, rows, **options):
    judge = wai.Judge("It helps.", server.model(extra=SOON | {"seed": 4}), **options)
    return wai.grade(rows, judge, timeout=60, workers=1)


def test_a_judge_is_asked_by_a_tool_call_where_json_schema_is_refused(server):
    data = simulated(server.model())
    graded = verdicts(server, list(data))
    assert {row["judge_status"] for row in graded} == {"ok"}, [row.get("reason") for row in graded]
    for row in graded:
        assert (row["judge_meta"]["form"], row["judge_meta"]["label"]) in (("tool_call", "pass"), ("tool_call", "fail"))
        assert row["reward"] == (row["judge_meta"]["label"] == "pass")
    # the refusal is a 500 that names response_format, is not tried again, and is met once
    assert sum(row["judge_meta"]["usage"]["requests"] for row in graded) == len(graded) + 1
    assert sum(row["judge_meta"]["usage"]["retries"] for row in graded) == 0


def test_an_answer_that_is_cut_off_is_no_verdict(server):
    judge = wai.Judge("It helps.", server.model(extra={"max_tokens": 9, "seed": 1}))
    graded = wai.grade(list(simulated(server.model())), judge, timeout=60, workers=1)
    assert {(row["judge_status"], row["reward"]) for row in graded} == {("invalid_result", None)}


def test_a_judge_in_the_run_and_a_person_and_a_writer_on_the_same_server(server):
    model = server.model(extra=SOON | {"seed": 2, "temperature": 1.2})
    data = simulated(
        server.model(), mode="rl", repeats=3, budget=10, judge=wai.Judge("It helps.", model, name="tiny_judge"),
        simulator=model, users=wai.UserOptions(model=model, max_turns=3), timeout=60,
    )  # fmt: skip
    assert data.stopped_because in ("done", "budget")
    assert {row["writer_model"] for row in data} <= {"tiny", "template"}
    assert {row["user_model"] for row in data} == {"tiny"}
    assert {row["judge_status"] for row in data if row["usable"]} <= {"ok", "invalid_result"}
    assert {row["unusable_reason"] for row in data.unusable()} <= {"user_failed"}
    assert data.usage["writer"].requests > 0
    assert [validate(row) for row in data] == [[]] * len(data)


def test_a_writer_and_a_person_get_objects_of_their_form(server):
    import asyncio

    from whileai.engine.structured import Asker

    model = server.model(extra=SOON | {"seed": 2})
    schema = {
        "type": "object",
        "properties": {"message": {"type": "string"}, "done": {"type": "boolean"}},
        "required": ["message", "done"],
    }
    asked = [asyncio.run(Asker(model, "person", schema).ask([{"role": "user", "content": "Hi"}])) for _ in range(2)]
    assert [(answer.form, set(answer.value)) for answer in asked] == [("tool_call", {"message", "done"})] * 2
    assert model.shared.form == 2


def test_a_server_of_json_objects_alone(server):
    import asyncio

    reply = asyncio.run(
        server.model(extra=SOON).chat([{"role": "user", "content": "Hi"}], response_format={"type": "json_object"})
    )
    assert isinstance(json.loads(reply.text), dict)


def test_a_conversation_that_is_too_long_is_no_failure_of_the_agent(server):
    data = simulated(server.model(), seeds=["Where is my order? " * 400], situations=1)
    (row,) = data
    assert (row["usable"], row["unusable_reason"]) == (False, "context_length")
    assert (row["usage"]["requests"], row["usage"]["retries"]) == (1, 0)


def test_the_client_reads_its_stream(server):
    import openai

    client = openai.OpenAI(base_url=server.url, api_key="none", max_retries=0)
    asked = {"model": "tiny", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 12, "seed": 1}
    parts = [chunk.choices[0].delta.content or "" for chunk in client.chat.completions.create(**asked, stream=True)]
    assert "".join(parts) == client.chat.completions.create(**asked).choices[0].message.content


def test_a_server_that_dies_is_a_connection_and_the_run_goes_on_elsewhere(tiny, server, tmp_path):
    mortal = Server(tiny, tmp_path / "log")
    output = tmp_path / "rows.jsonl"

    def kill():
        while not output.exists() or output.read_bytes().count(b"\n") < 3:
            time.sleep(0.002)
        mortal.kill()

    long = wai.Sampling(max_tokens=200, seed=5)
    options = {"situations": 16, "concurrency": 1, "retries": 0, "output": output, "sampling": long}
    threading.Thread(target=kill, daemon=True).start()
    try:
        data = simulated(mortal.model(), **options)
    finally:
        mortal.kill()
    broken = [row for row in data if not row["usable"]]
    assert broken
    assert {row["unusable_reason"] for row in broken} == {"connection"}
    again = simulated(server.model(), **options)
    assert (len(again), again.unusable()) == (16, [])
    assert [row for row in data if row["usable"]] == list(again)[: 16 - len(broken)]


def test_a_model_that_never_ends_is_ended_by_the_clock(tiny, tmp_path):
    endless = Server(tiny, tmp_path / "log", context=16_384)
    try:
        start = time.monotonic()
        data = simulated(endless.model(), situations=2, sampling=wai.Sampling(seed=5), timeout=1.0)
        assert time.monotonic() - start < 2 * (1.0 + 1.0)
    finally:
        endless.kill()
    assert {row["unusable_reason"] for row in data} == {"agent_timeout"}
