"""What is read from a row, whatever shape it comes in."""

import copy
import json

import numpy as np
import pytest

from whileai import keys
from whileai.simulations import schema

QUESTION = "What is 2 + 3?"
TURNS = [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": "5"}]
EPISODE = {
    "schema_version": "1",
    "task_id": "sc_1",
    "scenario_id": "sc_1",
    "rollout_id": "ro_1",
    "rollout_index": 2,
    "prompt": "Where is order 7?",
    "messages": [
        {"role": "user", "content": "Where is order 7?"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "get", "arguments": '{"id": 7}'}}],
        },
        {"role": "tool", "tool_call_id": "c1", "name": "get", "content": "late"},
        {"role": "assistant", "content": "Late."},
    ],
    "steps": [
        {"user": "Where is order 7?", "turn": 0},
        {"tool": "get", "arguments": {"id": 7}, "result": "late", "id": "c1", "turn": 0, "logprob": -3, "n_tokens": 4},
        {"text": "Late.", "turn": 1, "ts": 1.5, "latency_ms": 12, "cost": {"usd": None}},
    ],
    "final_text": "Late.",
    "usable": True,
    "axes": {"tone": "calm"},
    "behaviors": ["honest"],
    "world_state": "present",
    "faults": {"get": {"mode": "timeout", "rate": 1.0}},
    "ledger": [{"tool": "get", "mode": "timeout", "rate": 1.0, "injected": True, "call": 0, "note": "x"}],
    "model_version": "m-1",
    "policy_version": "m-1@ab",
    "sampling": {"temperature": 0.7},
    "seed": 7,
    "lineage": {"transform": "simulate", "seed": 0, "situation": 7},
    "privileged": {"principle": None, "hidden_state": {"vip": True}, "reference": "late", "rubric": {}},
    "markers": {"chars": 5.0, "odd": "x"},
    "marker_evidence": {"chars": {"of": "final_text"}, "gone": {}},
}


def test_an_episode_is_typed_through_and_through():
    task, rollout, judgments, markers = schema.from_row(EPISODE)
    assert task.world == schema.World(7, "present", {"get": {"mode": "timeout", "rate": 1.0}})
    assert task.privileged == schema.Privileged("late", None, {"vip": True}, {}, extra={"principle": None})
    assert task.lineage == schema.Lineage(transform="simulate", seed=0, extra={"situation": 7})
    assert (task.task_id, task.axes, task.behaviors) == ("sc_1", {"tone": "calm"}, ("honest",))
    assert (rollout.rollout_id, rollout.task_id, rollout.index) == ("ro_1", "sc_1", 2)
    assert rollout.policy == schema.PolicyRef(model="m-1", version="m-1@ab", sampling={"temperature": 0.7})
    assert rollout.ledger == [schema.FaultEvent("get", "timeout", 1.0, injected=True, call=0, extra={"note": "x"})]
    assert rollout.steps == [
        schema.Step(user="Where is order 7?", turn=0),
        schema.Step(tool="get", arguments={"id": 7}, result="late", id="c1", turn=0, logprob=-3, n_tokens=4),
        schema.Step(text="Late.", turn=1, ts=1.5, latency_ms=12, extra={"cost": {"usd": None}}),
    ]
    assert markers == [schema.Marker("ro_1", "chars", 5.0, {"of": "final_text"})]
    assert judgments == []
    assert rollout.extra == {"markers": {"odd": "x"}, "marker_evidence": {"gone": {}}}
    assert schema.to_row(task, rollout, judgments, markers) == EPISODE


def test_messages_that_the_steps_say_are_not_kept_twice():
    task, rollout, _, _ = schema.from_row(EPISODE)
    assert [turn.role for turn in schema.conversation(task, rollout)] == ["user", "assistant", "tool", "assistant"]
    assert schema.conversation(task, rollout)[2] == schema.Message("tool", "late", "get", tool_call_id="c1")
    kept = {**EPISODE, "messages": [{**EPISODE["messages"][0], "weight": 0}, *EPISODE["messages"][1:]]}
    task, rollout, _, _ = schema.from_row(kept)
    assert rollout.extra["messages"] == kept["messages"]
    assert schema.conversation(task, rollout)[0] == schema.Message("user", kept["prompt"], extra={"weight": 0})


@pytest.mark.parametrize(
    ("messages", "steps", "prefix"),
    [
        ([], [], []),
        (TURNS, [], []),
        ([{"role": "system", "content": "Be brief."}, *TURNS], [], ["system"]),
        ([*TURNS, *TURNS], [], ["user", "assistant"]),
        ([*TURNS, *TURNS], [{"text": "5"}, {"user": QUESTION}, {"text": "5"}], []),
        ([{"role": "user", "content": [{"type": "text", "text": QUESTION}]}], [], []),
        ([{"role": "user", "content": "Another."}], [], []),
    ],
)
def test_prefix_is_what_stands_before_the_prompt(messages, steps, prefix):
    row = {"schema_version": "1", "prompt": QUESTION, "steps": steps, "final_text": "5", "messages": messages}
    parts = schema.from_row(row)
    assert [turn.role for turn in parts[0].prefix] == prefix
    assert schema.to_row(*parts) == row


SHAPES = {
    "training": {"messages": TURNS},
    "conversation": {"messages": [{"role": "system", "content": "Be brief."}, *TURNS]},
    "prompt of messages": {"prompt": TURNS[:1], "final_text": "5"},
    "prompt of many messages": {"prompt": [{"role": "system", "content": "s"}, TURNS[0]], "final_text": "5"},
    "prompt and messages": {"prompt": TURNS[:1], "messages": TURNS},
    "platform": {"prompt": QUESTION, "tool_trace": [{"tool": "add", "result": 5}], "final_text": "5"},
    "platform, steps empty": {"prompt": QUESTION, "steps": [], "tool_trace": [{"tool": "add"}], "final_text": "5"},
    "telemetry": {"conversation_id": "c-1", "prompt": QUESTION, "final_text": "5"},
    "columns": {"messages_json": json.dumps(TURNS), "steps_json": '[{"tool": "add"}]', "messages": None},
    "trace column": {"prompt": QUESTION, "tool_trace_json": '[{"tool": "add"}]', "final_text": "5"},
    "arrays": {"messages": np.array(TURNS, dtype=object), "rollout_index": 0.0, "task_id": float("nan")},
    "loose": {"prompt": QUESTION, "final_text": "5"},
    "of another version": {"schema_version": "2", "prompt": QUESTION, "final_text": "5"},
    "engine": {"scenario_id": "sc_1", "prompt": QUESTION, "final_text": "5", "scenario_dimensions": {"tier": "hard"}},
}
STEPS = {"platform": 1, "platform, steps empty": 1, "columns": 1, "trace column": 1}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_read(shape):
    """The question, the answer and the task are found, and the canonical row of it is fine and stays what it is."""
    row = SHAPES[shape]
    before = copy.deepcopy(row)
    parts = schema.from_row(row)
    task, rollout, judgments, _ = parts
    assert (task.prompt, rollout.final_text, judgments) == (QUESTION, "5", [])
    assert len(rollout.steps) == STEPS.get(shape, 0)
    once = schema.to_row(*parts)
    assert schema.validate(once) == []
    assert schema.validate(once, kind="training") == []
    assert schema.to_row(*schema.from_row(json.loads(json.dumps(once)))) == once
    assert once["messages"][-1] == {"role": "assistant", "content": "5"}
    assert repr(row) == repr(before)


@pytest.mark.parametrize(
    ("row", "task_id"),
    [
        ({"task_id": "A", "scenario_id": "S", "prompt": "p"}, "A"),
        ({"scenario_id": "S", "prompt": "p"}, "S"),
        ({"task_id": None, "scenario_id": "S", "prompt": "p"}, "S"),
        ({"task_id": 0, "prompt": "p"}, "0"),
        ({"task_id": 3.0, "prompt": "p"}, "3"),
        ({"task_id": "", "prompt": "p"}, ""),
        ({"prompt": "p"}, keys.default_task_id("p")),
        ({"prompt": ""}, keys.default_task_id("")),
        (SHAPES["conversation"], keys.default_task_id(SHAPES["conversation"]["messages"][:2])),
        (SHAPES["prompt of many messages"], keys.default_task_id(SHAPES["prompt of many messages"]["prompt"])),
        (SHAPES["prompt of messages"], keys.default_task_id(QUESTION)),
        (SHAPES["columns"], keys.default_task_id(QUESTION)),
    ],
)
def test_the_task_is_the_rows_own(row, task_id):
    task, rollout, *_ = schema.from_row(row)
    assert task.task_id == rollout.task_id == task_id
    once = schema.to_row(*schema.from_row(row))
    assert once["task_id"] == keys.task_of(once) == task_id


def test_ids_that_differ_both_come_back():
    row = {"schema_version": "1", "task_id": 7, "scenario_id": "S", "prompt": "p", "steps": [], "final_text": ""}
    assert schema.to_row(*schema.from_row(row)) == row


def test_rollouts_without_ids_are_told_apart():
    rows = [
        {"prompt": prompt, "rollout_index": index, "policy_version": version}
        for prompt in "pq"
        for index in (0, 1)
        for version in ("a", "b")
    ]
    ids = [schema.from_row(row)[1].rollout_id for row in rows]
    assert len(set(ids)) == len(rows)
    assert ids == [schema.from_row(row)[1].rollout_id for row in rows]
    assert schema.from_row(SHAPES["telemetry"])[1].rollout_id == "c-1"


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        ({}, None),
        ({"reward": None}, None),
        ({"reward": float("nan")}, None),
        ({"reward": "good"}, None),
        ({"reward": 7}, None),
        ({"reason": "x", "judge_meta": {"a": 1}}, None),
        ({"reward": 1}, (1, "ok", "", "", "")),
        ({"reward": True, "label_source": "given"}, (True, "ok", "", "", "")),
        ({"reward": 0.25, "judge_name": "j"}, (0.25, "ok", "j", "", "")),
        ({"reward": np.float32(0.5)}, (0.5, "ok", "", "", "")),
        ({"reward": None, "judge_name": "j", "judge_status": "timeout"}, (None, "timeout", "j", "", "")),
        ({"judge_name": "j"}, (None, "missing_reward", "j", "", "")),
        ({"reward": 7, "judge_name": "j"}, (None, "invalid_result", "j", "", "")),
        ({"reward": 0.5, "judge_status": "error"}, (None, "error", "", "", "")),
        ({"reward": 1, "judge_status": "weird"}, (1, "ok", "", "", "")),
        ({"reward": 1, "judge_meta": {"scorer_kind": "human", "version": "2"}}, (1, "ok", "", "human", "2")),
        ({"reward": 1, "judge_meta": {"scorer_kind": 5, "version": 2}}, (1, "ok", "", "", "")),
    ],
)
def test_a_verdict_is_read_and_comes_back(verdict, expected):
    """A reward outside its range or beside a failed status is no verdict; it is kept all the same."""
    row = {"schema_version": "1", "prompt": "q", "steps": [], "final_text": "5", **verdict}
    parts = schema.from_row(row)
    judgment = parts[2][0] if parts[2] else None
    if expected is None:
        assert judgment is None
    else:
        scorer = judgment.scorer
        assert (judgment.reward, judgment.status, scorer.name, scorer.kind, scorer.version) == expected
    assert schema.to_row(*parts) == row


@pytest.mark.parametrize(
    ("row", "ledger"),
    [
        ({"faults": {"a": "timeout"}}, [("a", "timeout", None, True)]),
        (
            {"faults": {"a": {"mode": "timeout", "rate": 0.5}, "b": 3}},
            [("a", "timeout", 0.5, True), ("b", "", None, True)],
        ),
        ({"faults": [{"tool": "a", "mode": "timeout"}]}, [("a", "timeout", None, True)]),
        ({"faults": {"a": "timeout"}, "ledger": []}, []),
        ({"faults": {"a": "timeout"}, "ledger": [{"tool": "b", "mode": "error"}]}, [("b", "error", None, False)]),
        ({"faults": {"a": "timeout"}, "ledger": "none"}, []),
        ({"ledger": [{"tool": "b"}, 5]}, []),
        ({"faults": 5}, []),
    ],
)
def test_the_ledger_is_what_happened_else_the_plan_marked_as_such(row, ledger):
    row = {"schema_version": "1", "prompt": "q", "steps": [], "final_text": "5", **row}
    parts = schema.from_row(row)
    assert [(event.tool, event.mode, event.rate, event.planned) for event in parts[1].ledger] == ledger
    assert schema.to_row(*parts) == row


@pytest.mark.parametrize(
    "privileged", ["gold", ["a", "b"], 5, 0, "", [], {}, None, {"reference": ["5", "five"], "x": {}}]
)
def test_privileged_of_any_shape_leaves_with_the_task(privileged):
    """It comes back as it was, and a task without it writes none of it."""
    row = {"schema_version": "1", "prompt": "q", "steps": [], "final_text": "5", "privileged": privileged}
    task, rollout, *_ = schema.from_row(row)
    assert schema.to_row(task, rollout) == row
    bare = schema.Task(task.task_id, prompt=task.prompt)
    assert not schema.to_row(bare, rollout)["privileged"]


def test_nothing_is_shared_with_the_row():
    """Whatever is changed in the objects, the caller's row and the row written before stay as they are."""
    row = {
        **copy.deepcopy(EPISODE),
        "reward": 1,
        "judge_meta": {"votes": [1]},
        "mine": {"deep": [{}]},
        "messages": [
            {"role": "system", "content": [{"text": "s"}]},
            *copy.deepcopy(EPISODE["messages"]),
            {"role": "user"},
        ],
        "judgments": [{"reward": 1, "judge_status": "ok", "judge_meta": {"votes": [1]}}],
    }
    before = copy.deepcopy(row)
    task, rollout, judgments, markers = parts = schema.from_row(row)
    written = schema.to_row(*parts)
    for place in (
        *(
            task.axes,
            task.world.faults["get"],
            task.privileged.hidden_state,
            task.privileged.rubric,
            task.lineage.extra,
        ),
        *(
            task.prefix[0].content[0],
            rollout.steps[1].arguments,
            rollout.steps[2].extra["cost"],
            rollout.policy.sampling,
        ),
        *(rollout.ledger[0].extra, rollout.extra["mine"]["deep"][0], rollout.extra["messages"][0]["content"][0]),
        *(judgments[0].evidence, judgments[1].evidence, markers[0].evidence, rollout.extra),
    ):
        place["changed"] = True
    rollout.steps.clear()
    rollout.extra["messages"].clear()
    judgments[1].evidence["votes"].append(0)
    assert row == before
    assert written == before


def test_no_two_objects_share_a_part():
    """What stands in two places, the turns before the prompt and the fault plan, can be changed in one of them."""
    turns = [{"role": "system", "content": [{"text": "s"}]}, {**TURNS[0], "weight": 0}]
    row = {"prompt": QUESTION, "messages": turns, "faults": {"get": {"mode": "timeout", "more": {}}}}
    task, rollout, *_ = schema.from_row(row)
    task.prefix[0].content[0]["text"] = "changed"
    rollout.ledger[0].extra["more"]["changed"] = True
    assert rollout.extra["messages"] == turns
    assert task.world.faults == row["faults"]


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "part",
    [
        {"mine": nested(3000)},
        {"steps": [{"tool": "x", "result": nested(3000)}]},
        {"messages": [{"role": "user", "content": nested(3000)}]},
        {"judge_name": "a", "judgments": [{"judge_name": "b", "judge_meta": {"deep": nested(3000)}}]},
        {"privileged": nested(3000)},
    ],
    ids=lambda part: next(iter(part)),
)
@pytest.mark.parametrize("base", [{}, {"schema_version": "1", "prompt": "q", "steps": [], "final_text": ""}])
def test_depth_is_no_error(base, part):
    """A value nested deeper than the stack is carried whole."""
    back = schema.to_row(*schema.from_row({**base, **part}))

    def depth(value):
        deepest, waiting = 0, [(value, 1)]
        while waiting:
            item, level = waiting.pop()
            deepest = max(deepest, level)
            if isinstance(item, (dict, list)):
                waiting += [(child, level + 1) for child in (item.values() if isinstance(item, dict) else item)]
        return deepest

    assert depth({key: back[key] for key in part}) == depth(part)


def test_a_row_that_holds_itself_is_read():
    row = {"schema_version": "1", "prompt": "q", "steps": [], "final_text": ""}
    row["steps"] = [row]
    row["mine"] = row
    back = schema.to_row(*schema.from_row(row))
    assert back["mine"]["mine"] is back["mine"] is not row


@pytest.mark.parametrize("value", [None, 5, "row", [], [{}], ("a",), b"x", np.array([1])], ids=repr)
def test_only_what_is_no_dict_is_refused(value):
    with pytest.raises(TypeError, match="from_row: row must be a dict; got"):
        schema.from_row(value)
