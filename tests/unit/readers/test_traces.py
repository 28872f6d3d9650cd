"""Conversations in every shape, read as the same rows."""

from __future__ import annotations

import gzip
import json

import pytest

import whileai as wai
from whileai.errors import RowError
from whileai.simulations import schema

ASKED = {"role": "user", "content": "Where is order 7?"}
SAID = {"role": "assistant", "content": "It is late."}
CALL = {"id": "c1", "type": "function", "function": {"name": "get_order", "arguments": '{"order_id": 7}'}}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": '{"status": "late"}'}
STEPS = [
    {"user": "Where is order 7?", "turn": 0},
    {"tool": "get_order", "arguments": {"order_id": 7}, "result": {"status": "late"}, "id": "c1", "turn": 0},
    {"text": "It is late.", "turn": 1},
]
CALLS = {"role": "assistant", "content": "", "tool_calls": [CALL]}
PLAIN = [ASKED, CALLS, RESULT, SAID]

ITEMS = [
    {"type": "function_call", "call_id": "c1", "name": "get_order", "arguments": '{"order_id": 7}'},
    {"type": "function_call_output", "call_id": "c1", "output": '{"status": "late"}'},
    {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "It is late.", "annotations": []}],
    },
]
BLOCKS = [
    ASKED,
    {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "get_order", "input": {"order_id": 7}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": '{"status": "late"}'}]},
    {"role": "assistant", "content": "It is late."},
]
GPT = [
    {"from": "human", "value": "Where is order 7?"},
    {"from": "function_call", "value": '{"name": "get_order", "arguments": {"order_id": 7}}'},
    {"from": "observation", "value": '{"status": "late"}'},
    {"from": "gpt", "value": "It is late."},
]
#: Shape -> entry, all of one conversation with one call.
SHAPES = {
    "messages": {"messages": PLAIN},
    "columns": {"messages_json": json.dumps(PLAIN), "steps_json": None},
    "sharegpt": {"conversations": GPT},
    "responses": {"input": [ASKED], "output": ITEMS},
    "blocks": {"messages": BLOCKS},
    "exchange": {
        "request": {"model": "m", "messages": PLAIN[:3]},
        "response": {"model": "m", "choices": [{"index": 0, "message": SAID, "finish_reason": "stop"}]},
    },
}
MORE = {
    "responses, asked in a text": {"input": "Where is order 7?", "output": ITEMS},
    "responses, answered in a text": {"input": [ASKED, *ITEMS[:2]], "output": "It is late."},
    "responses in an exchange": {"request": {"input": "Where is order 7?"}, "response": {"output": ITEMS}},
    "items under messages": {"messages": [ASKED, *ITEMS]},
    "blocks, the reply apart": {
        "messages": BLOCKS[:3],
        "role": "assistant",
        "content": [{"type": "text", "text": "It is late."}],
    },
    "sharegpt with roles": {"conversations": PLAIN},
    "sharegpt, singular": {"conversation": GPT},
    "sharegpt, other speakers": {
        "conversations": [
            {"from": "USER", "value": GPT[0]["value"]},
            *GPT[1:3],
            {"from": "model", "value": "It is late."},
        ]
    },
    "legacy calls": {
        "messages": [
            ASKED,
            {"role": "assistant", "content": None, "function_call": CALL["function"]},
            {"role": "function", "name": "get_order", "content": '{"status": "late"}'},
            SAID,
        ]
    },
}


@pytest.mark.parametrize("shape", [*SHAPES, *MORE])
def test_one_conversation_reads_the_same_in_every_shape(shape):
    entry = {**SHAPES, **MORE}[shape]
    before = json.dumps(entry)
    (row,) = wai.load_traces([entry])
    assert json.dumps(entry) == before
    assert (row["prompt"], row["final_text"]) == ("Where is order 7?", "It is late.")
    assert [{key: value for key, value in step.items() if key != "id"} for step in row["steps"]] == [
        {key: value for key, value in step.items() if key != "id"} for step in STEPS
    ]
    assert schema.validate(row) == []
    assert schema.to_row(*schema.from_row(row)) == row
    assert schema.to_row(*schema.from_row(entry)) == row or shape == "columns"
    task, rollout, _, _ = schema.from_row(row)
    roles = [turn.role for turn in schema.conversation(task, rollout)]
    assert [role.replace("function", "tool") for role in roles] == ["user", "assistant", "tool", "assistant"]


@pytest.mark.parametrize("shape", SHAPES)
def test_the_report_names_the_shape(shape):
    assert wai.load_traces([SHAPES[shape]]).report.shapes == {shape: 1}


def test_one_task_whatever_the_shape():
    named = [SHAPES[shape] for shape in ("messages", "sharegpt", "responses", "blocks", "exchange")]
    assert len({row["task_id"] for row in wai.load_traces(named)}) == 1


def test_shapes_may_be_mixed_and_what_is_left_out_is_counted():
    entries = [
        *SHAPES.values(),
        {"prompt": "q", "tool_trace": [{"tool": "x"}]},
        {"conversation_id": "c", "prompt": "q"},
    ]
    entries += [{"prompt": "q", "final_text": "a"}, {"only": "keys"}, {}, wai.rows(["q"], ["a"])[0]]
    traces = wai.load_traces(iter(entries))
    assert str(traces) == (
        "read 10 rows of 12 entries: ours 1 | platform 1 | telemetry 1 | columns 1 | messages 1 |\n"
        "    exchange 1 | sharegpt 1 | responses 1 | blocks 1 | loose 1\n"
        "  dropped no_conversation 2"
    )
    assert (traces.report.n_read, traces.report.n_rows, len(traces)) == (12, 10, 10)
    assert traces.report.dropped == {"no_conversation": 2}
    assert wai.load_traces([]).report.notes[0].code == "no_rows"


def test_order_is_kept_and_a_text_after_a_call_opens_a_turn():
    blocks = [
        {"type": "thinking", "thinking": "First look.", "signature": "s"},
        {"type": "text", "text": "Looking."},
        {"type": "tool_use", "id": "a", "name": "f", "input": {}},
        {"type": "tool_use", "id": "b", "name": "g", "input": {"x": [1]}, "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": "And once more."},
        {"type": "tool_use", "id": "c", "name": "f", "input": {}},
    ]
    results = [
        {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "one"}]},
        {"type": "tool_result", "tool_use_id": "b", "content": "two", "is_error": True},
        {"type": "tool_result", "tool_use_id": "c", "content": [{"type": "image", "source": {"data": "x"}}]},
        {"type": "text", "text": "Go on."},
    ]
    messages = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": blocks, "id": "msg_1"},
        {"role": "user", "content": results},
        {"role": "assistant", "content": "Done."},
    ]
    (row,) = wai.load_traces([{"system": "Be brief.", "messages": messages}])
    assert [(turn["role"], turn["content"]) for turn in row["messages"]] == [
        ("system", "Be brief."),
        ("user", "q"),
        ("assistant", "Looking."),
        ("assistant", "And once more."),
        ("tool", "one"),
        ("tool", "two"),
        ("tool", [{"type": "image", "source": {"data": "x"}}]),
        ("user", "Go on."),
        ("assistant", "Done."),
    ]
    first = row["messages"][2]
    assert [call["id"] for call in first["tool_calls"]] == ["a", "b"]
    assert first["tool_calls"][1]["cache_control"] == {"type": "ephemeral"}
    assert (first["reasoning_content"], first["id"]) == ("First look.", "msg_1")
    assert first["thinking_blocks"] == [blocks[0]]
    assert row["messages"][5]["is_error"] is True
    assert [(step.get("tool"), step.get("text")) for step in row["steps"] if "user" not in step] == [
        ("f", "Looking."),
        ("g", None),
        ("f", "And once more."),
        (None, "Done."),
    ]


def test_items_of_a_response_keep_what_they_say():
    output = [
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "Two looks."}],
            "encrypted_content": "e",
        },
        {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "c1",
            "name": "f",
            "arguments": "{broken",
            "status": "completed",
        },
        {"type": "function_call", "id": "fc_2", "call_id": "c2", "name": "g", "arguments": "[1]"},
        {"type": "function_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "two"}]},
        {"type": "function_call_output", "call_id": "c1", "output": "one"},
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"query": "x"}},
        {"type": "custom_tool_call", "call_id": "c3", "name": "shell", "input": "ls -l"},
        {"type": "custom_tool_call_output", "call_id": "c3", "output": "a"},
        {"type": "mcp_call", "id": "m_1", "name": "roll", "arguments": "{}", "output": "4", "server_label": "dice"},
        {"type": "compaction", "id": "cp_1"},
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Done.", "annotations": [{"url": "u"}]}],
        },
    ]
    traces = wai.load_traces(
        [{"instructions": "Be brief.", "input": "q", "output": output, "model": "m", "id": "resp_1"}]
    )
    (row,) = traces
    assert [turn["role"] for turn in row["messages"]] == [
        *("system", "user", "assistant", "tool", "tool", "assistant", "tool", "assistant", "tool"),
        *("compaction", "assistant"),
    ]
    calls = [call for turn in row["messages"] for call in turn.get("tool_calls", ())]
    assert [(call["id"], call["function"]["name"], call["function"]["arguments"]) for call in calls] == [
        ("c1", "f", "{broken"),
        ("c2", "g", "[1]"),
        ("ws_1", "web_search", '{"query": "x"}'),
        ("c3", "shell", "ls -l"),
        ("m_1", "roll", "{}"),
    ]
    assert [(calls[0]["item_id"], calls[0]["status"]), calls[4]["server_label"]] == [("fc_1", "completed"), "dice"]
    tools = [step for step in row["steps"] if "tool" in step]
    assert [(step["arguments"], step.get("result")) for step in tools] == [
        ("{broken", "one"),
        ([1], "two"),
        ({"query": "x"}, None),
        ("ls -l", "a"),
        ({}, "4"),
    ]
    assert row["messages"][2]["reasoning_content"] == "Two looks."
    assert row["messages"][-1]["content"] == output[-1]["content"]
    assert (row["final_text"], row["model"], row["id"]) == ("Done.", "m", "resp_1")
    assert traces.report.odd == {"arguments_kept_as_text": 2, "call_without_result": 1, "item_without_turn": 1}
    assert "compaction" in json.dumps(row["messages"])


def test_nothing_of_an_entry_is_lost():
    marks = iter(range(1000))

    def tagged(value):
        """The value with a mark in every dict."""
        if isinstance(value, dict):
            return {**{key: tagged(item) for key, item in value.items()}, "mark": f"mark-{next(marks)}"}
        return [tagged(item) for item in value] if isinstance(value, list) else value

    for entry in SHAPES.values():
        if "messages_json" in entry:
            continue
        text = json.dumps(wai.load_traces([tagged(entry)]))
        lost = [
            mark for mark in range(next(marks)) if f'"mark-{mark}"' not in text and f'\\"mark-{mark}\\"' not in text
        ]
        assert lost == []
        marks = iter(range(1000))


def test_what_only_looks_like_a_dialect_is_left_alone():
    for entry in (
        {"prompt": "q", "input": "text", "output": "text", "final_text": "a"},
        {"prompt": "q", "input": [1, 2], "output": {"a": 1}, "final_text": "a"},
        {"prompt": "q", "conversations": "none", "conversation": [1], "final_text": "a"},
        {"prompt": "q", "request": {"a": 1}, "response": "text", "final_text": "a"},
        {"prompt": "q", "messages": [{"role": "user", "content": [{"type": "text", "text": "q"}]}], "final_text": "a"},
    ):
        (row,) = wai.load_traces([entry])
        assert entry.items() <= row.items()


def test_unknown_speakers_and_keys_stay():
    turns = [{"from": "critic", "value": "no", "score": 3}, {"from": "gpt", "value": "a"}]
    (row,) = wai.load_traces([{"conversations": turns, "mine": {"deep": [None]}}])
    assert row["messages"] == [{"role": "critic", "content": "no", "score": 3}, {"role": "assistant", "content": "a"}]
    assert row["mine"] == {"deep": [None]}


def test_calls_and_results_that_do_not_meet_are_counted():
    messages = [
        ASKED,
        {"role": "assistant", "content": "", "tool_calls": [CALL, {"id": "x"}, "odd"]},
        {"role": "tool", "tool_call_id": "nope", "content": "r"},
        SAID,
    ]
    report = wai.load_traces([{"messages": messages}]).report
    assert report.odd == {"call_without_result": 1, "result_without_call": 1, "call_unread": 2}


def test_rows_of_ours_come_back_as_they_are():
    rows = wai.rows(["q"], [["a", "b"]], [[1, 0.5]], references=["a"], markers=[[{"chars": 1}, {}]])
    assert list(wai.load_traces(rows)) == rows


def test_files_of_traces(tmp_path):
    path = tmp_path / "traces.jsonl.gz"
    path.write_bytes(gzip.compress("".join(json.dumps(entry) + "\n" for entry in SHAPES.values()).encode()))
    assert list(wai.load_traces(path)) == list(wai.load_traces(list(SHAPES.values())))
    (tmp_path / "one.json").write_text(json.dumps([SHAPES["sharegpt"]]))
    assert wai.load_traces(tmp_path / "one.json")[0]["final_text"] == "It is late."
    (tmp_path / "bad.jsonl").write_text('{"conversations": [}\n{"prompt": "q"}\n')
    with pytest.raises(RowError, match=r"load_traces: .*bad\.jsonl line 1"):
        wai.load_traces(tmp_path / "bad.jsonl")


@pytest.mark.parametrize("source", [5, None, {"messages": []}, [5], "ab"])
def test_what_is_no_data(source):
    with pytest.raises((TypeError, FileNotFoundError), match="load_traces: "):
        wai.load_traces(source)


def test_traces_are_measured_and_written_like_rows(tmp_path):
    entries = [{**entry, "reward": place % 2} for place, entry in enumerate([SHAPES["blocks"], SHAPES["sharegpt"]])]
    traces = wai.load_traces(entries)
    assert wai.pass_at(traces).n_tasks == 1
    wai.write(entries, tmp_path / "a.jsonl", format="openai-sft")
    for line in wai.read(tmp_path / "a.jsonl"):
        assert [turn["role"] for turn in line["messages"]] == ["user", "assistant", "tool", "assistant"]
        assert line["messages"][2]["tool_call_id"] == line["messages"][1]["tool_calls"][0]["id"]


@pytest.mark.parametrize("prompt", ["2 + 3?", [{"role": "user", "content": "2 + 3?"}]])
def test_a_prompt_beside_the_turns_of_its_completion(prompt):
    call = {"id": "c", "type": "function", "function": {"name": "add", "arguments": "{}"}}
    turns = [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "5"},
        {"role": "assistant", "content": "It is 5."},
    ]
    traces = wai.load_traces([{"prompt": prompt, "completion": turns, "label": True}])
    (row,) = traces
    assert (row["prompt"], row["final_text"], row["label"]) == ("2 + 3?", "It is 5.", True)
    assert row["messages"] == [{"role": "user", "content": "2 + 3?"}, *turns]
    assert traces.report.shapes == {"exchange": 1}
    assert list(wai.load_traces(traces)) == list(traces)


def test_a_completion_that_is_no_list_of_turns_stays_as_it_is():
    (row,) = wai.load_traces([{"prompt": "def f():", "completion": "    return 1"}])
    assert row["completion"] == "    return 1"
