"""What stands in each format, and that its readers load it."""

from __future__ import annotations

import importlib.util
import json

import pytest

import whileai as wai
from whileai.errors import ParamError, RowError
from whileai.export.formats import FORMATS

CALLS = [{"id": "c1", "type": "function", "function": {"name": "get_order", "arguments": '{"order_id": 7}'}}]
TOOLS = [{"type": "function", "function": {"name": "get_order", "description": "", "parameters": {"type": "object"}}}]
EPISODE = {
    "schema_version": "1",
    "task_id": "sc_1",
    "prompt": "Where is order 7?",
    "messages": [
        {"role": "user", "content": "Where is order 7?"},
        {"role": "assistant", "content": "", "tool_calls": CALLS},
        {"role": "tool", "tool_call_id": "c1", "name": "get_order", "content": '{"status": "late"}'},
        {"role": "assistant", "content": "It is late."},
        {"role": "user", "content": "Bye."},
    ],
    "steps": [
        {"user": "Where is order 7?"},
        {"tool": "get_order", "arguments": {"order_id": 7}, "result": {"status": "late"}, "id": "c1"},
        {"text": "It is late."},
        {"user": "Bye."},
    ],
    "final_text": "It is late.",
    "rollout_index": 0,
    "reward": 1,
    "model_version": "m-1",
    "spec_id": "orders",
    "usage": {"input_tokens": 9, "output_tokens": 4},
}
PROMPT = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Where is order 7?"}]


def simple(**more):
    """Two questions, three replies each."""
    return wai.rows(
        ["What is 2 + 3?", "What is 7 * 6?"],
        [["5", "6", "five"], ["42", "41", "forty"]],
        [[1, 0, 0], [1, 0, 0]],
        references=["5", "42"],
        **more,
    )


def written(rows, path, name, **settings):
    wai.write(rows, path, format=name, **settings)
    return wai.read(path, format="rows")


def test_messages_have_the_system_prompt_once_the_tools_and_a_mask(tmp_path):
    for row in (EPISODE, {**EPISODE, "messages": [PROMPT[0], *EPISODE["messages"]]}):
        (line,) = written([row], tmp_path / "a.jsonl", "trl-messages", system_prompt="Be brief.", tools=TOOLS)
        said = [{key: value for key, value in turn.items() if value is not None} for turn in line["messages"]]
        assert said == [*PROMPT, *EPISODE["messages"][1:4]]
        assert line["loss_mask"] == [0, 0, 1, 0, 1]
        assert json.loads(line["tools"]) == TOOLS
        assert line["task_id"] == "sc_1"


def test_prompt_and_completion_part_at_the_prompt(tmp_path):
    (line,) = written([EPISODE], tmp_path / "a.jsonl", "trl-prompt-completion")
    assert [turn["role"] for turn in line["prompt"]] == ["user"]
    assert [turn["role"] for turn in line["completion"]] == ["assistant", "tool", "assistant"]
    line = written(simple(), tmp_path / "a.jsonl", "trl-prompt-completion")[1]
    assert line == {
        "prompt": [{"role": "user", "content": "What is 2 + 3?"}],
        "completion": [{"role": "assistant", "content": "6"}],
        "task_id": "task_1ea26256ebae",
    }


def test_labels_are_binary_rewards(tmp_path):
    rows = simple()
    rows[1]["reward"], rows[2]["reward"] = 0.5, None
    result = wai.write(rows, tmp_path / "a.jsonl", format="trl-kto")
    assert [line["label"] for line in wai.read(tmp_path / "a.jsonl")] == [True, True, False, False]
    assert result.skipped == {"partial": 1, "unjudged": 1}


def test_prompts_come_once_a_task_with_its_gold_on_request(tmp_path):
    rows = [*simple(), {"task_id": "u", "prompt": "Unseen?"}]
    lines = written(rows, tmp_path / "a.jsonl", "trl-prompt", include_reference=True, system_prompt="Be brief.")
    assert [line["prompt"][-1]["content"] for line in lines] == ["What is 2 + 3?", "What is 7 * 6?", "Unseen?"]
    assert {line["prompt"][0]["content"] for line in lines} == {"Be brief."}
    assert [line["reference"] for line in lines] == ["5", "42", None]


@pytest.mark.parametrize(
    ("gold", "text"),
    [("5", "5"), (5, "5"), (0.5, "0.5"), (["5"], "5"), (["5", "five"], '["5", "five"]'), ({"a": 1}, '{"a": 1}')],
)
def test_a_ground_truth_is_a_text(gold, text, tmp_path):
    rows = wai.rows(["q"], ["a"], [1], references=[gold])
    lines = written([{**rows[0], "data_source": "own"}], tmp_path / "a.parquet", "verl", include_reference=True)
    assert lines == [
        {
            "prompt": [{"role": "user", "content": "q"}],
            "data_source": "own",
            "ability": "",
            "reward_model": {"style": "rule", "ground_truth": text},
            "extra_info": {"split": "train", "index": 0, "task_id": rows[0]["task_id"]},
        }
    ]


def test_tasks_with_several_prompts_or_golds_are_noted(tmp_path):
    rows = [
        {"task_id": "t", "prompt": "a", "final_text": "x", "answer": "1"},
        {"task_id": "t", "prompt": "b", "final_text": "x", "answer": "2"},
    ]
    result = wai.write(rows, tmp_path / "a.jsonl", format="trl-prompt", include_reference=True)
    assert [note.code for note in result.notes] == ["prompts_differ", "golds_differ", "gold_written"]
    assert wai.read(tmp_path / "a.jsonl")[0]["reference"] == "1"


def test_openai_lines_have_only_its_keys(tmp_path):
    (line,) = written([EPISODE], tmp_path / "a.jsonl", "openai-sft", system_prompt="Be brief.", tools=TOOLS)
    assert line == {
        "messages": [
            *PROMPT,
            {"role": "assistant", "tool_calls": CALLS, "weight": 1},
            {"role": "tool", "tool_call_id": "c1", "content": '{"status": "late"}'},
            {"role": "assistant", "content": "It is late.", "weight": 1},
        ],
        "tools": TOOLS,
    }
    line = written(simple(), tmp_path / "a.jsonl", "openai-dpo")[0]
    assert line == {
        "input": {"messages": [{"role": "user", "content": "What is 2 + 3?"}]},
        "preferred_output": [{"role": "assistant", "content": "5"}],
        "non_preferred_output": [{"role": "assistant", "content": "6"}],
    }


def test_the_openai_client_takes_the_lines(tmp_path):
    from openai.types.chat import completion_create_params as params
    from pydantic import TypeAdapter

    turns = TypeAdapter(list[params.ChatCompletionMessageParam])
    rows = [EPISODE, *simple()]
    for line in written(rows, tmp_path / "a.jsonl", "openai-sft", tools=TOOLS):
        bare = [{key: value for key, value in turn.items() if key != "weight"} for turn in line["messages"]]
        turns.validate_python(bare)
    for line in written(rows, tmp_path / "a.jsonl", "openai-dpo"):
        turns.validate_python([*line["input"]["messages"], *line["preferred_output"]])


def test_replies_of_several_turns_are_no_openai_pair(tmp_path):
    rows = [EPISODE, {**EPISODE, "rollout_index": 1, "reward": 0, "messages": None, "final_text": "Lost."}]
    rows[1]["steps"] = [{"text": "Lost."}]
    result = wai.write(rows, tmp_path / "a.jsonl", format="openai-dpo")
    assert (result.n_lines, result.skipped) == (0, {"several_turns": 1})
    assert wai.write(rows, tmp_path / "b.jsonl", format="trl-preference").n_lines == 1


def masked(**more):
    messages = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": "c"},
        {"role": "assistant", "content": "d"},
    ]
    for place, extra in more.pop("turns", {}).items():
        messages[place] |= extra
    return {"messages": messages, **more}


@pytest.mark.parametrize(
    ("row", "mask", "weights"),
    [
        (masked(), [0, 1, 0, 1], [1, 1]),
        (masked(loss_mask=[0, 0, 0, 1]), [0, 0, 0, 1], [0, 1]),
        (masked(loss_mask=[False, False, True, True]), [0, 0, 1, 1], [0, 1]),
        (masked(turns={1: {"weight": 0}}), [0, 0, 0, 1], [0, 1]),
        (masked(turns={1: {"loss_mask": 0}, 3: {"weight": 1}}), [0, 0, 0, 1], [0, 1]),
        (masked(turns={1: {"train": False}}), [0, 0, 0, 1], [0, 1]),
        (masked(loss_mask=[1, 1]), [0, 1, 0, 1], [1, 1]),
        (masked(loss_mask=[0, 0.5, 0, 1]), [0, 1, 0, 1], [1, 1]),
    ],
)
def test_masks_are_kept(row, mask, weights, tmp_path):
    (line,) = written([row], tmp_path / "a.jsonl", "trl-messages")
    assert line["loss_mask"] == mask
    (line,) = written([row], tmp_path / "a.jsonl", "openai-sft")
    assert [turn["weight"] for turn in line["messages"] if turn["role"] == "assistant"] == weights
    noted = "loss_mask_unread" in [n.code for n in wai.write([row], tmp_path / "a.jsonl", format="openai-sft").notes]
    assert noted == (row.get("loss_mask") in ([1, 1], [0, 0.5, 0, 1]))


def test_a_mask_of_zeros_teaches_nothing(tmp_path):
    result = wai.write([masked(loss_mask=[0] * 4)], tmp_path / "a.jsonl", format="trl-messages")
    assert (result.n_lines, result.skipped) == (0, {"nothing_to_learn": 1})


def turns(*calls_and_results):
    return {"messages": [{"role": "user", "content": "q"}, *calls_and_results, {"role": "assistant", "content": "a"}]}


def call(*names, **ids):
    return {
        "role": "assistant",
        "tool_calls": [{"name": name, "arguments": {}, **({"id": ids[name]} if name in ids else {})} for name in names],
    }


def result_of(name=None, call_id=None):
    turn = {"role": "tool", "content": "r"}
    return turn | ({"name": name} if name else {}) | ({"tool_call_id": call_id} if call_id else {})


@pytest.mark.parametrize(
    ("row", "links"),
    [
        (turns(call("f"), result_of()), ["call_0"]),
        (turns(call("f", "g"), result_of("g"), result_of("f")), ["call_1", "call_0"]),
        (turns(call("f", "f"), result_of(), result_of()), ["call_0", "call_1"]),
        (turns(call("f", f="x"), result_of(call_id="x")), ["x"]),
        (turns(call("f"), result_of(), call("f"), result_of()), ["call_0", "call_1"]),
        (turns(call("f", f="call_0"), result_of(), call("f"), result_of()), ["call_0", "call_1"]),
        (turns({"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}}, result_of()), ["call_0"]),
        (turns(call("f")), None),
        (turns(result_of()), None),
        (turns(call("f", f="x"), result_of(call_id="y")), None),
        (turns(call("f"), {"role": "user", "content": "wait"}, result_of()), None),
    ],
)
def test_results_carry_the_id_of_their_call(row, links, tmp_path):
    result = wai.write([row], tmp_path / "a.jsonl", format="openai-sft")
    if links is None:
        assert result.skipped == {"unlinked_calls": 1}
        return
    messages = wai.read(tmp_path / "a.jsonl")[0]["messages"]
    made = [entry["id"] for turn in messages for entry in turn.get("tool_calls", ())]
    assert [turn["tool_call_id"] for turn in messages if turn["role"] == "tool"] == links
    assert sorted(made) == sorted(links)


SKIPS = {
    "unusable": {"usable": False},
    "cut_off": {"finish_reason": "length"},
    "no_reply": {"final_text": "", "messages": None},
    "not_text": {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]},
    "unknown_role": {"messages": [{"role": "critic", "content": "x"}, {"role": "assistant", "content": "y"}]},
}


@pytest.mark.parametrize("reason", SKIPS)
@pytest.mark.parametrize("name", ["trl-messages", "trl-kto", "openai-sft", "every-eval-ever"])
def test_what_cannot_be_trained_on_is_skipped_and_counted(reason, name, tmp_path):
    rows = [{"task_id": "t", "prompt": "q", "final_text": "a", "reward": 1}]
    rows.append({**rows[0], **SKIPS[reason]})
    result = wai.write(rows, tmp_path / "a.jsonl", format=name)
    assert (result.n_lines, result.skipped) == (1, {reason: 1})


def test_a_line_of_the_registry(tmp_path):
    lines = written([EPISODE, *simple()], tmp_path / "a.jsonl", "every-eval-ever")
    required = {
        *("schema_version", "evaluation_id", "model_id", "evaluation_name", "sample_id", "interaction_type"),
        *("input", "answer_attribution", "evaluation"),
    }
    known = {*required, "sample_hash", "output", "messages", "token_usage", "performance", "error", "metadata"}
    for line in lines:
        assert required <= line.keys() <= known
        assert all(isinstance(value, str) for value in line["metadata"].values())
        assert (line["output"] is None) == (line["interaction_type"] != "single_turn")
        assert (line["messages"] is None) == (line["interaction_type"] == "single_turn")
        assert isinstance(line["evaluation"]["score"], float)
    episode = lines[0]
    assert (episode["model_id"], episode["evaluation_name"], episode["sample_id"]) == ("m-1", "orders", "sc_1")
    assert episode["interaction_type"] == "agentic"
    assert episode["messages"][1]["tool_calls"] == [{"id": "c1", "name": "get_order", "arguments": {"order_id": "7"}}]
    assert episode["messages"][2]["tool_call_id"] == ["c1"]
    assert episode["token_usage"] == {"input_tokens": 9, "output_tokens": 4, "total_tokens": 13}
    assert [line["evaluation"]["is_correct"] for line in lines] == [True, True, False, False, True, False, False]


MIXED = [
    *simple(markers=[[{"chars": 1}, {}, {"chars": 2.5, "x y": 1}]] * 2),
    {**EPISODE, "scenario_id": "sc_1", "mine": {"deep": [1, None]}, "flag": True},
    {"messages": [{"role": "user", "content": "plain"}, {"role": "assistant", "content": "2024-01-01"}], "reward": 0.5},
]
LOADS = [
    (name, ending) for name, made in FORMATS.items() for ending in (".jsonl", ".parquet") if made.kinds != ("lines",)
]
LOADS = [pair for pair in LOADS if pair != ("verl", ".jsonl")]
LOADS += [(name, ".jsonl") for name, made in FORMATS.items() if made.kinds == ("lines",)]


@pytest.mark.parametrize(("name", "ending"), LOADS)
def test_datasets_loads_it(name, ending, tmp_path):
    datasets = pytest.importorskip("datasets")
    path = tmp_path / f"a{ending}"
    result = wai.write(MIXED, path, format=name, tools=TOOLS)
    builder = "parquet" if ending == ".parquet" else "json"
    loaded = datasets.load_dataset(builder, data_files=str(path), split="train", cache_dir=str(tmp_path / "cache"))
    assert len(loaded) == result.n_lines > 0
    column = FORMATS[name].turns[0] if FORMATS[name].turns else None
    if column:
        texts = [[turn["content"] for turn in row[column]] for row in loaded]
        assert texts == [[turn["content"] for turn in row[column]] for row in wai.read(path)]
        if ending == ".parquet":
            other = tmp_path / "b.parquet"
            wai.write(MIXED[::-1], other, format=name, tools=TOOLS)
            again = datasets.load_dataset(
                "parquet", data_files=str(other), split="train", cache_dir=str(tmp_path / "c")
            )
            assert again.features == loaded.features


def test_a_long_file_whose_tools_come_late_still_loads(tmp_path):
    datasets = pytest.importorskip("datasets")
    plain = [{"task_id": f"t{i}", "prompt": "q " * 50_000, "final_text": "a " * 50_000} for i in range(60)]
    rows = [*plain, EPISODE, *simple()]
    path = tmp_path / "a.jsonl"
    for name in ("trl-messages", "trl-prompt-completion"):
        wai.write(rows, path, format=name, tools=TOOLS)
        lines = wai.read(path)
        assert [line["task_id"] for line in lines[:3]] == ["sc_1", "t0", "t1"]
        loaded = datasets.load_dataset("json", data_files=str(path), split="train", cache_dir=str(tmp_path / name))
        assert (len(loaded), loaded[0]["task_id"]) == (len(rows), "sc_1")
    wai.write(rows[50:], path, format="trl-messages", tools=TOOLS)
    assert wai.read(path)[0]["task_id"] == "t50"


@pytest.mark.parametrize("name", [name for name in FORMATS if name.startswith("trl")])
def test_trl_recognises_it(name, tmp_path):
    if importlib.util.find_spec("trl") is None or importlib.util.find_spec("transformers") is None:
        pytest.skip("trl is not installed: it needs torch, which is no dependency of the tests")
    from trl.data_utils import is_conversational, maybe_unpair_preference_dataset

    datasets = pytest.importorskip("datasets")
    path = tmp_path / "a.parquet"
    wai.write(MIXED, path, format=name, tools=TOOLS)
    loaded = datasets.load_dataset("parquet", data_files=str(path), split="train", cache_dir=str(tmp_path / "cache"))
    assert all(map(is_conversational, loaded))
    if name == "trl-preference":
        assert {"prompt", "completion", "label"} <= set(maybe_unpair_preference_dataset(loaded).column_names)


def test_rows_come_back_as_they_were(tmp_path):
    for ending in (".jsonl", ".jsonl.gz", ".jsonl.zst", ".parquet"):
        path = tmp_path / f"a{ending}"
        wai.write(MIXED, path, include_reference=True)
        back = wai.load_traces(path)
        stamped = list(wai.load_traces(MIXED))
        assert back == stamped, ending
        assert wai.pass_at(path).to_dict() == wai.pass_at(MIXED).to_dict()
        assert (
            wai.select(path, mode="rl", band=(0.1, 0.9)).report == wai.select(MIXED, mode="rl", band=(0.1, 0.9)).report
        )


ODD = {
    "surrogate": "a \ud800 b",
    "nul": "a \x00 b",
    "lines": "a\u2028b\nc\r\nd",
    "quotes": "\"a\" 'b' \\ {}",
    "number": "007",
    "null": "null",
    "long": "x" * 300_000,
}


@pytest.mark.parametrize("ending", [".jsonl", ".parquet"])
def test_odd_texts_survive(ending, tmp_path):
    rows = [{"task_id": name, "prompt": text, "final_text": text, "odd": text} for name, text in ODD.items()]
    for name in ("trl-prompt-completion", "rows"):
        path = tmp_path / f"a{ending}"
        back = written(rows, path, name)
        for row, text in zip(back, ODD.values(), strict=True):
            expected = text.replace("\ud800", "\ufffd")
            assert (row["completion"][0]["content"] if name != "rows" else row["odd"]) == expected


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("ending", [".csv", ".json", "", ".jsonl.bz2", ".parquet.gz", ".gz"])
def test_a_name_that_does_not_fit_says_what_does(name, ending, tmp_path):
    fits = ".parquet" if name == "verl" else ".jsonl"
    with pytest.raises(ParamError, match=rf"write: path must be a file ending in .*\{fits} .*{name}"):
        wai.write(simple(), tmp_path / f"a{ending}", format=name)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda p: wai.write([], p / "a.jsonl", format="trl-pref"), ParamError, "Did you mean trl-preference"),
        (lambda p: wai.write([], p / "a.jsonl", format=None), ParamError, "format must be one of"),
        (lambda p: wai.write([], p / "no" / "a.jsonl"), ParamError, "a folder that exists"),
        (lambda p: wai.write([], 5), ParamError, "path must be a file name"),
        (lambda p: wai.write(5, p / "a.jsonl"), TypeError, "write: rows must be"),
        (lambda p: wai.write([5], p / "a.jsonl"), TypeError, "rows row 0"),
        (lambda p: wai.write(simple(), p / "a.jsonl", include_reference="yes"), ParamError, "include_reference"),
        (lambda p: wai.write(simple(), p / "a.jsonl", tools=[5]), ParamError, "tools must be tools with a name"),
        (lambda p: wai.write(simple(), p / "a.jsonl", tools={}), TypeError, "tools must be a list"),
        (lambda p: wai.write(simple(), p / "a.jsonl", tools="nope"), ParamError, "tools must be a list"),
        (lambda p: wai.write(simple(), p / "a.jsonl", system_prompt=5), ParamError, "system_prompt must be a text"),
        (
            lambda p: wai.write([{"prompt": "q", "final_text": "a", "reward": 7}], p / "a.jsonl", format="trl-kto"),
            RowError,
            r"write: rows row 0: reward must be a number in \[0, 1\]; got 7",
        ),
        (
            lambda p: wai.write([{"prompt": "q", "chosen": "a", "rejected": "b"}], p / "a.jsonl", format="trl-kto"),
            ParamError,
            "one for preference pairs, trl-preference, openai-dpo",
        ),
        (
            lambda p: wai.write([{"chosen": 5, "rejected": "b"}], p / "a.jsonl", format="trl-preference"),
            RowError,
            "row 0: chosen must be a text or a list of messages",
        ),
        (lambda p: wai.write([{"id": 1, "ID": 2, "prompt": "q"}], p / "a.parquet"), ParamError, "Write .jsonl"),
        (lambda p: wai.write([{"prompt": "q", "x": float("inf")}], p / "a.jsonl"), RowError, "must be finite"),
    ],
)
def test_bad_input_is_one_sentence_and_leaves_no_file(call, error, text, tmp_path):
    with pytest.raises(error, match=text):
        call(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_nothing_to_write_leaves_no_file_and_what_was_there(tmp_path):
    path = tmp_path / "a.jsonl"
    for rows in ([], [{"prompt": "q", "final_text": "a"}]):
        result = wai.write(rows, path, format="trl-kto")
        assert (result.n_lines, [note.code for note in result.notes]) == (0, ["nothing_written"])
        assert not path.exists()
    path.write_text("before")
    assert "stays as it was" in wai.write([], path, format="trl-kto").notes[0].text
    assert path.read_text() == "before"


def test_a_failure_midway_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.jsonl"
    wai.write(simple(), path)
    before = path.read_bytes()
    path.chmod(0o640)
    with pytest.raises(RowError):
        wai.write([*simple(), {"prompt": "q", "final_text": "a", "x": float("inf")}], path)
    assert path.read_bytes() == before
    wai.write(simple()[:1], path)
    assert (len(wai.read(path)), path.stat().st_mode & 0o777) == (1, 0o640)
    link = tmp_path / "link.jsonl"
    link.symlink_to(path)
    wai.write(simple()[:2], link)
    assert (link.is_symlink(), len(wai.read(path))) == (True, 2)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.jsonl", "link.jsonl"]


class Data(list):
    """Rows that say what the policy was told and had, as a simulation's data does."""

    system_prompt = "Be brief."
    tools = (type("Tool", (), {"openai": lambda self: TOOLS[0]})(),)


def test_data_of_a_simulation_brings_its_prompt_and_tools(tmp_path):
    (line,) = written(Data([EPISODE]), tmp_path / "a.jsonl", "openai-sft")
    assert line["messages"][0] == PROMPT[0]
    assert line["tools"] == TOOLS
    pairs = wai.preference_pairs(
        Data([EPISODE, {**EPISODE, "reward": 0, "final_text": "No", "messages": None, "steps": []}])
    )
    assert (pairs[0]["prompt"], pairs[0]["tools"]) == (PROMPT, TOOLS)


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "function", "name": "f", "description": "d", "parameters": {"type": "object"}},
        {"name": "f", "description": "d", "input_schema": {"type": "object"}},
        {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}},
    ],
)
def test_tools_of_every_form_become_one(tool, tmp_path):
    made = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}
    for given in ([tool], json.dumps([tool])):
        (line,) = written([{**EPISODE, "tools": given}], tmp_path / "a.jsonl", "openai-sft")
        assert line["tools"] == [made]
