"""The rows of a simulation: valid, typed and back, taken by every call, and nothing hidden in what an agent sees."""

from __future__ import annotations

import json

import pytest

import whileai as wai
from chat_server import ChatServer, last_user, structured, tool_call
from simulate_helpers import SYSTEM_PROMPT, TOOLS, agent, bare, even, simulated
from whileai.engine.endpoint_error import EndpointError
from whileai.simulations import from_row, to_row, validate
from world_helpers import FakeEndpoint, reply


def failing(message, ctx):
    """Now and then does what an agent should not."""
    kind = ctx.seed % 5
    if kind == 0:
        raise ValueError("no \ud800 such thing")
    if kind == 1:
        return None
    if kind == 2:
        return {"final_text": "ok", "seeded": ["x"], "mine": {"deep": [1, None]}, "logprob": -1.5, "n_tokens": 2}
    return agent(message, ctx)


def endpoint():
    """Calls a tool, fails, then only speaks."""
    call, said = reply("", ("get_order", {"order_id": "ORD-1"})), reply("Hello.", logprobs=(-1.0, -2.0))
    return FakeEndpoint(call, EndpointError("connection", "gone"), said)


TALK = [
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Hello."},
    {"role": "user", "content": "So?"},
]
RUNS = {
    "plain": lambda: simulated(),
    "failing": lambda: simulated(failing, situations=16, repeats=4),
    "seeds": lambda: simulated(seeds=["Where is ORD-1?", TALK]),
    "judged": lambda: simulated(mode="rl", judge=even, repeats=4),
    "graded": lambda: simulated(failing, situations=16).grade(even, unusable="fail"),
    "seeded": lambda: simulated(wai.seeded_agent(TOOLS), situations=16),
    "endpoint": lambda: simulated(endpoint(), logprobs="tokens", temperature=0.5, concurrency=1),
    "no tools": lambda: simulated(lambda message: "Hello.", tools=[]),
    "custom fault": lambda: simulated(fault_kinds={"slow": lambda payload, draws: {"wait": 3}}, fault_rate=1),
}  # fmt: skip


@pytest.mark.parametrize("run", RUNS)
def test_rows_are_valid_and_come_back_from_their_types_unchanged(run):
    data = RUNS[run]()
    assert len(data) >= 16
    for row in data:
        assert validate(row) == []
        assert validate(row, "training") == []
        assert to_row(*from_row(row)) == row
        assert json.loads(json.dumps(row)) == row
        assert list(to_row(*from_row(row))) == list(row)


def test_the_types_hold_what_the_row_says():
    data = simulated(agent, seeds=[TALK], situations=8)
    row = data[0]
    task, rollout, judgments, markers = from_row(row)
    assert (task.task_id, task.prompt, [turn.content for turn in task.prefix]) == (
        row["task_id"],
        "So?",
        ["Hi", "Hello."],
    )
    assert (task.world.seed, task.world.state, task.world.faults) == (row["seed"], row["world_state"], row["faults"])
    assert (task.axes, task.lineage.transform, task.lineage.seed) == (row["axes"], "simulate", 0)
    assert task.privileged.reference == row["privileged"]["reference"]
    assert (rollout.rollout_id, rollout.index, rollout.usable) == (row["rollout_id"], 0, True)
    assert rollout.policy.version == row["policy_version"] == f"agent@{row['lineage']['system_prompt_sha']}"
    assert (judgments, markers) == ([], [])
    faulty = next(row for row in data if row["ledger"])
    (event, *_) = from_row(faulty)[1].ledger
    assert (event.tool, event.mode) == (faulty["ledger"][0]["tool"], faulty["ledger"][0]["mode"])
    assert rollout.ledger == [] or rollout.ledger[0].mode


def test_keys_that_say_nothing_are_absent():
    row = simulated()[0]
    absent = {
        "reward",
        "unusable_reason",
        "error",
        "logprob",
        "n_tokens",
        "token_logprobs",
        "usage",
        "finish_reason",
        "sampling",
    }
    assert not absent & set(row)
    assert row["privileged"]["principle"] is None or isinstance(row["privileged"]["principle"], str)
    assert list(row)[-1] == "timing"


def test_an_agent_cannot_judge_itself_nor_write_what_is_ours():
    def agent(message):
        return {
            "final_text": "ok",
            "reward": 1,
            "task_id": "mine",
            "markers": {"own": 2.0},
            "judge_status": "ok",
            "timing": 3,
        }

    (row,) = simulated(agent, situations=1, repeats=1)
    assert "reward" not in row
    assert row["task_id"].startswith("sc_")
    assert row["agent_said"] == {"reward": 1, "task_id": "mine", "judge_status": "ok", "timing": 3}
    assert row["markers"] == {"own": 2.0}


def test_every_measurement_takes_them_unchanged(tmp_path):
    data = simulated(situations=16, repeats=4, mode="sft").grade(even)
    before = json.dumps(data)
    half = len(data) // 2
    assert wai.pass_at(data).n_tasks == 16
    assert wai.pass_at(data, cluster="axes.condition").n_clusters == 5
    assert wai.compare(data, data, by="axes.condition").delta == 0
    assert wai.eval_variance(data, data, data).n_tasks == 16
    assert wai.holdout_size(0.1, before=data).source == "before"
    assert wai.hack_scan(data).verdict
    assert len(wai.calibrate(data)) == 64
    assert len(wai.select(data, mode="rl")) == len(data.select("rl"))
    assert wai.judge_trust([{**row, "gold_reward": row["reward"]} for row in data]).ok is not None
    assert wai.decontaminate(data[:half], data[half:]) is not None
    assert wai.publish_gate(data, mode="sft").refusals == ()
    assert wai.preference_pairs(data).report.n_rows == 64
    for name in ("trl-messages", "trl-preference", "verl", "openai-sft", "rows"):
        path = tmp_path / ("f.parquet" if name == "verl" else "f.jsonl")
        assert wai.write(data, path, format=name).n_rows == 64
    assert len(wai.load_traces(data)) == 64
    assert json.dumps(data) == before


def test_equal_from_a_list_a_file_and_a_frame(tmp_path):
    import polars as pl

    data = simulated(mode="rl", judge=even, situations=16, repeats=6, budget=60)
    data.save(tmp_path / "rows.jsonl")
    slim = [{name: row.get(name) for name in ("task_id", "reward", "allocation", "prompt")} for row in data]
    found = {str(wai.pass_at(one)) for one in (data, list(data), tmp_path / "rows.jsonl", pl.DataFrame(slim))}
    assert len(found) == 1
    assert "fill_rows" in found.pop()


# nothing privileged


CANARY = "zxqv-canary"


def texts_in(value):
    """Every text in a value, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from texts_in(key)
            yield from texts_in(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from texts_in(item)


def hidden_texts(row):
    """What of a row no agent may see: the reference, clause by clause, its task, its axis labels."""
    clauses = [
        clause for clause in row["privileged"]["reference"].split("; ") if not clause.startswith("keep to the rule")
    ]
    labels = [value for name, value in row["axes"].items() if name not in ("tool", "rule") and "_" in value]
    return [*clauses, *labels, row["task_id"], row["rollout_id"], str(row["seed"])]


def test_no_request_of_an_endpoint_holds_what_is_hidden():
    def answer(request, n):
        tools = [turn for turn in request["messages"] if turn["role"] == "tool"]
        return tool_call("get_order", {"order_id": "ORD-1000"}) if not tools else "What is the order number?"

    with ChatServer() as server:
        server.says("m", answer)
        data = simulated(wai.Endpoint("m", base_url=server.url), situations=40, repeats=1)
        said = [json.dumps(request, ensure_ascii=False) for request in server.requests]
    assert len(said) >= 80
    everything = "\n".join(said)
    for row in data:
        # a fault kind is also the status that the world answers with, which an agent is meant to see
        for text in hidden_texts(row):
            if text not in ("permission_denied", "already_done"):
                assert text not in everything, text


def test_no_request_of_an_agent_holds_what_its_judge_is_told():
    with ChatServer() as server:
        agent, judge = (wai.Endpoint(name, base_url=server.url) for name in ("ok", "pass"))
        told = wai.Judge(f"It says {CANARY}.", judge, anchors={"pass": CANARY}, privileged=True)
        data = simulated(agent, situations=8, judge=told)
        assert {row["reward"] for row in data} == {1}
        assert CANARY in json.dumps(server.of("pass"))
        assert data[0]["privileged"]["reference"] in json.dumps(server.of("pass")).replace('\\\\\\"', '"')
        assert CANARY not in json.dumps(server.of("ok"))


def test_no_context_of_a_function_holds_what_is_hidden():
    seen = []

    def agent(message, ctx):
        ctx.call("get_order", order_id="ORD-1000")
        seen.append(
            json.dumps([message, ctx.messages, ctx.tools, ctx.system_prompt, ctx.rollout_index, ctx.seed, repr(ctx)])
        )
        seen.extend(f"{name}={value!r}" for name, value in vars(ctx).items() if not callable(value))
        return "What is the order number?"

    data = simulated(agent, situations=40, repeats=1)
    everything = "\n".join(seen)
    for row in data:
        for text in hidden_texts(row):
            if text not in ("permission_denied", "already_done"):
                assert text not in everything, text


def test_canaries_in_replayed_rows_reach_nobody():
    old = [dict(row) for row in simulated(situations=6, repeats=1)]
    for row in old:
        row["privileged"] = {
            "principle": CANARY,
            "reference": CANARY,
            "rubric": {CANARY: 1},
            "hidden_state": {CANARY: CANARY},
        }
        row["judge_meta"] = {"evidence": CANARY}
        row["lineage"] = {**row["lineage"], "note": CANARY}
        row["reason"] = CANARY
    seen = []

    def agent(message, ctx):
        seen.append(json.dumps([message, ctx.messages, ctx.tools, ctx.system_prompt]))
        seen.append(json.dumps(ctx.call("get_order", order_id="ORD-1000")))
        return "What is the order number?"

    def prompts(request, n):
        return structured(request, {"prompts": []})

    with ChatServer() as server:
        server.says("writer", prompts).says("m", lambda request, n: last_user(request))
        writer, endpoint = (wai.Endpoint(name, base_url=server.url) for name in ("writer", "m"))
        for who in (agent, endpoint):
            data = simulated(who, seeds=old, situations=None, repeats=1, simulator=writer)
            assert len(data) == 6
        seen += [json.dumps(request) for request in server.requests]
    assert CANARY not in "\n".join(seen)
    assert data[0]["privileged"]["reference"] == CANARY


def test_saving_drops_the_block_and_nothing_inside(tmp_path):
    @wai.tool
    def check_part(part_id: str, reference: str) -> dict:
        """Check a part."""

    def agent(message, ctx):
        ctx.call("check_part", part_id="PAR-1", reference="mine")
        return {"final_text": "Done.", "info": {"privileged": "kept", "reference": 3}}

    data = wai.simulate(agent, tools=[check_part], situations=4)
    saved = data.save(tmp_path / "rows.jsonl")
    assert (saved.n_rows, saved.privileged, [note.code for note in saved.notes]) == (4, False, ["privileged_dropped"])
    rows = list(wai.read(tmp_path / "rows.jsonl"))
    assert rows == [{name: value for name, value in row.items() if name != "privileged"} for row in data]
    assert rows[0]["steps"][1]["arguments"]["reference"] == "mine"
    assert rows[0]["info"] == {"privileged": "kept", "reference": 3}
    data.save(tmp_path / "all.jsonl.gz", privileged=True)
    assert list(wai.read(tmp_path / "all.jsonl.gz")) == list(data)
    with pytest.raises(wai.ParamError, match=r"path must be a file ending in \.jsonl"):
        data.save(tmp_path / "rows.csv")


def test_rows_share_nothing():
    data = simulated(repeats=2)
    other = json.dumps(data[1])
    data[0]["privileged"]["hidden_state"]["records"]["order"].clear()
    data[0]["axes"].clear()
    data[0]["lineage"]["x"] = 1
    assert json.dumps(data[1]) == other
    assert bare(simulated(repeats=2))[0]["axes"]


def test_the_system_prompt_is_on_the_data_and_in_no_message():
    data = simulated()
    assert data.system_prompt == SYSTEM_PROMPT
    assert not [turn for row in data for turn in row["messages"] if turn["role"] == "system"]
