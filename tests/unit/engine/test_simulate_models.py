"""Simulations through real HTTP: agent, person, writer and judge behind an OpenAI-compatible server."""

from __future__ import annotations

import json
import math
import time

import pytest

import whileai as wai
from chat_server import LOGPROBS, ChatServer, completion, structured, tool_call
from simulate_helpers import TOOLS, bare, simulated
from whileai.engine.writer import BATCH


@pytest.fixture
def server():
    with ChatServer() as one:
        yield one


def endpoint(server, model, **options):
    return wai.Endpoint(model, base_url=server.url, **options)


STATUSES = [
    # model, reason (None: usable), requests and retries of a rollout, whether the run is given up at once
    ("ok", None, 1, 0, False),
    ("429-once", None, 1, 0, False),
    ("500-once", None, 1, 0, False),
    ("drop-once", None, 1, 0, False),
    ("silent", "agent_empty", 1, 0, False),
    ("stream", "bad_response", 1, 0, False),
    ("refusal", None, 1, 0, False),
    ("cut", None, 1, 0, False),
    ("no-usage", None, 1, 0, False),
    ("new-names", None, 1, 0, False),
    ("no-choices", "bad_response", 1, 0, False),
    ("html-as-json", "bad_response", 1, 0, False),
    ("sse", "bad_response", 1, 0, False),
    ("429-always", "rate_limited", 3, 2, False),
    ("500-always", "server_error", 3, 2, False),
    ("400", "bad_response", 1, 0, False),
    ("context", "context_length", 1, 0, False),
    ("drop", "connection", 3, 2, False),
    ("drop-within", "connection", 3, 2, False),
    ("html", "bad_response", 1, 0, False),
    ("half-json", "bad_response", 1, 0, False),
    ("empty", "bad_response", 1, 0, False),
    ("error-in-200", "server_error", 3, 2, False),
    ("slow", "agent_timeout", 1, 0, False),
    ("trickle", "agent_timeout", 1, 0, False),
    ("auth", "auth", 1, 0, True),
    ("quota", "quota", 1, 0, True),
    ("unknown-model", "bad_response", 1, 0, True),
]


@pytest.mark.parametrize(
    ("model", "reason", "requests", "retries", "fatal"), STATUSES, ids=[one[0] for one in STATUSES]
)
def test_every_behaviour_ends_in_a_row_with_its_name(model, reason, requests, retries, fatal, server):
    started = time.monotonic()
    limit = 2.0 if reason == "agent_timeout" else 8.0
    data = simulated(
        endpoint(server, model),
        situations=3,
        repeats=1,
        concurrency=1 if model.endswith("once") or fatal else 3,
        retries=2,
        timeout=limit,
    )
    assert time.monotonic() - started < limit + 3 if reason == "agent_timeout" else 3 * limit
    rows = data[1:] if model.endswith("once") else data
    assert len(data) == (1 if fatal else 3)
    assert data.stopped_because == ("agent_failed" if fatal else "done")
    for row in rows:
        assert row.get("unusable_reason") == reason
        assert row["usable"] is (reason is None)
        assert row["stop_reason"] == (reason or "agent_done")
        assert reason is None or (row["reward"] is None and row["error"]["message"])
        assert (row["usage"]["requests"], row["usage"]["retries"]) == (requests, retries)
    if model.endswith("once"):
        assert (data[0]["usage"]["requests"], data[0]["usage"]["retries"], data[0]["usable"]) == (2, 1, True)
    result = wai.pass_at(data)
    assert (result.n_unjudged, result.pass_at_1) == (len(data), None)


def test_malformed_tool_calls_are_kept_refused_and_told(server):
    data = simulated(endpoint(server, "bad-arguments"), situations=4, repeats=1, max_tool_calls=2)
    for row in data:
        call = next(step for step in row["steps"] if "tool" in step)
        assert (call["arguments"], call["arguments_raw"], call["result"]["status"]) == (
            {},
            '{"order_id": ',
            "invalid_arguments",
        )
        assert (row["stop_reason"], row["usable"]) == ("max_tool_calls", True)


def test_tools_are_called_and_costs_are_summed(server):
    model = endpoint(server, "tool", price=(1.0, 10.0))
    data = simulated(model, situations=5, repeats=2)
    assert len(server.requests) == data.usage["agent"].requests == sum(row["usage"]["requests"] for row in data) >= 20
    row = data[0]
    cost = row["usage"]["requests"] * (12 * 1.0 + 3 * 10.0) / 1e6
    assert row["usage"]["cost"] == pytest.approx(cost)
    assert data.usage["agent"].cost == pytest.approx(sum(row["usage"]["cost"] for row in data))
    assert (row["model_version"], row["served_model"]) == ("tool", "served")
    assert "cost not measured" not in str(data)
    assert "cost not measured" in str(simulated(endpoint(server, "ok")))


def test_sampling_is_sent_and_stands_on_the_row(server):
    sampling = wai.Sampling(temperature=0.25, seed=10, extra={"top_k": 5})
    data = simulated(endpoint(server, "ok"), situations=2, repeats=3, sampling=sampling)
    assert [row["sampling"] for row in data[:3]] == [
        {"temperature": 0.25, "seed": 10 + index, "top_k": 5} for index in range(3)
    ]
    assert {request["seed"] for request in server.of("ok")} == {10, 11, 12}
    assert {(request["temperature"], request["top_k"]) for request in server.of("ok")} == {(0.25, 5)}


# log-probabilities


def test_log_probabilities_come_back_and_their_divergence_is_that_computed_by_hand(server):
    data = simulated(endpoint(server, "logprobs"), situations=4, repeats=3, logprobs="tokens").grade(lambda row: True)
    assert {tuple(row["token_logprobs"]) for row in data} == {tuple(LOGPROBS)}
    assert {(row["logprob"], row["n_tokens"]) for row in data} == {(math.fsum(LOGPROBS), 3)}
    # the reference gives each rollout another sum; the divergence is sum(l - r) / sum(n)
    shift = {0: 0.3, 1: 0.0, 2: 0.9}
    ref = [{**row, "logprob": row["logprob"] - shift[row["rollout_index"]], "token_logprobs": None} for row in data]
    block = wai.calibrate(data, ref=ref)[0]["calibration"]
    assert block["mean_kl"] == pytest.approx((0.3 + 0.0 + 0.9) / 9)
    assert block["n_tokens"] == 9
    tokens = [
        {**row, "token_logprobs": [value - 0.1 for value in row["token_logprobs"]], "logprob": row["logprob"] - 0.3}
        for row in data
    ]
    block = wai.calibrate(data, ref=tokens)[0]["calibration"]
    assert (block["mean_kl"], block["mean_kl_k3"]) == (pytest.approx(0.1), pytest.approx(math.exp(-0.1) - 1 + 0.1))


def test_a_function_without_log_probabilities_gets_the_same_note():
    data = simulated(logprobs=True)
    (told,) = [note for note in data.warnings if note.code == "no_logprobs"]
    assert f"({len(data):,} rollouts)" in told.text
    assert "logprob" in told.fix
    assert "no_logprobs" not in [note.code for note in simulated().warnings]
    known = simulated(lambda message, ctx: {"final_text": "Done.", "logprob": -1.0, "n_tokens": 2}, logprobs=True)
    assert "no_logprobs" not in [note.code for note in known.warnings]


@pytest.mark.parametrize("retries", [0, 1])
def test_the_person_and_the_writer_keep_to_the_retries_of_the_run(retries, server):
    server.says("asks", lambda request, n: "What is the order number?")
    failing = endpoint(server, "500-always")
    users = wai.UserOptions(model=failing, max_turns=3)
    data = simulated(endpoint(server, "asks"), users=users, retries=retries, situations=2, repeats=1, concurrency=1)
    assert {row["unusable_reason"] for row in data} == {"server_error"}
    assert data.usage["person"].requests == len(data) * (1 + retries)
    data = simulated(endpoint(server, "ok"), simulator=failing, retries=retries, situations=2, concurrency=1)
    spent = data.usage["writer"]
    assert (spent.requests, spent.retries) == (2 * (1 + retries), 2 * retries)  # asked once, and once more


def test_a_server_without_log_probabilities_gives_none_and_one_note(server):
    data = simulated(endpoint(server, "ok"), logprobs=True)
    assert not [row for row in data if "logprob" in row]
    assert [note.code for note in data.warnings].count("no_logprobs") == 1


# judge


def test_a_model_judges_rows_as_they_land(server):
    judge = wai.Judge("The agent answers.", endpoint(server, "pass"))
    data = simulated(endpoint(server, "ok"), situations=4, judge=judge)
    assert {(row["reward"], row["judge_status"], row["judge_name"]) for row in data} == {(1, "ok", "Judge")}
    assert data.usage["judge"].requests == len(server.of("pass")) == 8
    assert data.pass_at.pass_at_1 == 1


def test_the_verdicts_of_a_run_are_those_of_grade(server):
    rubric = wai.Judge("The agent answers.", endpoint(server, "fail"))
    landed = simulated(endpoint(server, "ok"), situations=4, judge=rubric)
    graded = simulated(endpoint(server, "ok"), situations=4).grade(rubric)
    assert bare(landed) == bare(graded)


# person and writer


def test_a_model_plays_the_person(server):
    def person(request, n):
        asked = [turn for turn in request["messages"] if turn["role"] != "system"]
        return structured(request, {"message": "It is the blue one, and I need it soon.", "done": len(asked) > 4})

    server.says("person", person).says("asks", lambda request, n: f"Which one do you mean, please? ({n})")
    data = simulated(
        endpoint(server, "asks"), situations=3, repeats=1, users=wai.UserOptions(model=endpoint(server, "person"))
    )
    assert {row["user_model"] for row in data} == {"person"}
    assert all("blue one" in row["messages"][2]["content"] for row in data)
    assert (
        data.usage["person"].requests == len(server.of("person")) == sum(row["user_usage"]["requests"] for row in data)
    )


WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "omikron")


def written(request, n):
    """A prompt of its own for every person asked for."""
    people = json.loads(request["messages"][-1]["content"])["people"]
    told = []
    for one in people:
        word, other = WORDS[one["i"] % len(WORDS)], WORDS[one["i"] // len(WORDS)]
        told.append(
            {"i": one["i"], "prompt": f"Hello, {word} {other}: {one['wants']} {' '.join(one['must_contain'])}!"}
        )
    return completion(json.dumps({"prompts": told}))


def test_a_model_writes_the_prompts_once_and_a_resumed_run_never_asks_again(server, tmp_path):
    server.says("writer", written)
    output = tmp_path / "rows.jsonl"
    data = simulated(simulator=endpoint(server, "writer"), output=output, situations=12)
    models = [row["writer_model"] for row in data]
    assert models.count("writer") > len(data) // 2
    assert all(row["prompt"].startswith("Hello, ") for row in data if row["writer_model"] == "writer")
    assert data.usage["writer"].requests == len(server.of("writer"))
    asked = len(server.of("writer"))
    again = simulated(simulator=endpoint(server, "writer"), output=output, situations=12)
    assert (list(again), len(server.of("writer"))) == (list(data), asked)
    assert again.coverage.to_dict() == data.coverage.to_dict()
    assert data.coverage.pairs_covered > 100
    plan = (tmp_path / "rows.jsonl.plan.jsonl").read_bytes()
    entries = [json.loads(line) for line in plan.splitlines()]
    assert len(entries) == BATCH * 2
    # torn: what was lost is asked for again, no more
    (tmp_path / "rows.jsonl.plan.jsonl").write_bytes(plan[:-20])
    simulated(simulator=endpoint(server, "writer"), output=output, situations=12)
    assert len(server.of("writer")) <= asked + 2


def test_a_writer_without_access_is_an_error_before_anything_is_run(server):
    with pytest.raises(wai.WaiError, match="Incorrect API key"):
        simulated(simulator=endpoint(server, "auth"))


def test_a_writer_that_fails_later_ends_the_run_with_what_there_is(server):
    def fails_later(request, n):
        from chat_server import error

        return written(request, n) if n < 2 else error(401, "Incorrect API key provided", "invalid_api_key")

    server.says("writer", fails_later)
    data = simulated(simulator=endpoint(server, "writer"), situations=60, repeats=1, concurrency=1)
    assert data.stopped_because == "agent_failed"
    assert BATCH <= len(data) < 60
    assert "writer_failed" in [note.code for note in data.warnings]


def test_a_writer_that_says_nothing_of_use_leaves_the_templates(server):
    data = simulated(simulator=endpoint(server, "ok"), situations=4)
    assert {row["writer_model"] for row in data} == {"template"}
    assert "template_prompts" in [note.code for note in data.warnings]
    assert [row["prompt"] for row in data] == [row["prompt"] for row in simulated(situations=4)]


def test_rpm_holds_all_that_share_an_endpoint(server):
    model = endpoint(server, "ok")
    simulated(model, situations=6, repeats=1, rpm=600, concurrency=6)
    assert max(server.times) - min(server.times) > 0.3  # five gaps of 0.1 s, and some room for a slow machine
    assert model.rpm is None


def test_the_default_agent_is_read_from_the_environment(server, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("WHILEAI_MODEL", "ok")
    data = wai.simulate(tools=TOOLS, situations=2)
    assert {(row["model_version"], row["final_text"]) for row in data} == {("ok", "ok")}


def test_tool_calls_meet_the_planned_faults(server):
    names = {}

    def caller(request, n):
        if request["messages"][-1]["role"] == "tool":
            return "I could not see it."
        text = request["messages"][-1]["content"]
        names[text] = n
        return tool_call("get_order", {"order_id": "ORD-1000"})

    server.says("caller", caller)
    data = simulated(endpoint(server, "caller"), situations=16, repeats=1, tools=TOOLS[:1], fault_rate=1)
    met = [row for row in data if row["ledger"]]
    assert len(met) >= 10
    for row in met:
        (event,) = row["ledger"]
        assert (event["mode"], event["injected"], event["call"]) == (row["axes"]["condition"], True, 0)
