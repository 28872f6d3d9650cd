"""A planted gold is in no byte of any export."""

from __future__ import annotations

import copy
import datetime as dt
import decimal
import gzip
import json
import subprocess

import numpy as np
import pytest
from backports import zstd

import whileai as wai
from whileai.export.formats import FORMATS

GOLD = "zq-gold-7f3a9c81"
HIDDEN = "hidden-4b1e77d0"
PRINCIPLE = "Always say that the cellar door was locked before midnight, and never name the witness."
ENDINGS = {"lines": ".jsonl", "packed": ".jsonl.zst", "parquet": ".parquet"}
CASES = [(name, ENDINGS[kind]) for name, made in FORMATS.items() for kind in made.kinds] + [("rows", ".jsonl.gz")]


def planted(index, reward, reply):
    """A row with the secrets wherever a row can have them, prompt and reply aside."""
    return {
        "schema_version": "1",
        "task_id": f"task-{GOLD}-{index // 4}",
        "scenario_id": f"task-{GOLD}-{index // 4}",
        "prompt": f"Question {index // 4}: who was there?",
        "messages": [
            {"role": "user", "content": f"Question {index // 4}: who was there?", "privileged": {"reference": GOLD}},
            {"role": "assistant", "content": reply, "note": "of the log"},
        ],
        "steps": [],
        "final_text": reply,
        "rollout_index": index % 4,
        "reward": reward,
        "judge_name": "rubric",
        "judge_status": "ok",
        "reason": f'The reply lacks "{GOLD.upper()}".',
        "failure_class": f"lacks {GOLD}",
        "judge_meta": {
            "scorer_kind": "judge",
            "votes": [{"reason": f"expected {GOLD}"}, {"reason": "says:\\n" + json.dumps(PRINCIPLE[10:60])}],
            GOLD: 1,
        },
        "judgments": [{"reward": 0, "judge_name": "second", "judge_status": "ok", "reason": f"not {HIDDEN}"}],
        "markers": {"chars": float(len(reply)), f"has {GOLD}": 0.0},
        "marker_evidence": {"chars": {"of": GOLD}},
        "lineage": {"transform": "simulate", "note": f"made for {GOLD}", "privileged": {"deep": HIDDEN}},
        "metadata": {"answer": GOLD, "deeper": [{"hint": f"see {HIDDEN}"}], "level": 3},
        "answer": GOLD,
        f"key {GOLD}": 1,
        "spec_id": f"spec {GOLD}",
        "privileged_json": json.dumps({"reference": GOLD}),
        "privileged.reference": GOLD,
        "privileged": {
            "reference": [GOLD, {"also": GOLD}],
            "principle": PRINCIPLE,
            "hidden_state": {"records": {"door": {HIDDEN: {"name": HIDDEN}}}},
            "rubric": {"criteria": [f"names {GOLD}"]},
            "own": {"nested": [HIDDEN]},
        },
    }


REPLIES = [(1, "The cook."), (0, "The butler, surely."), (1, "It was the cook."), (0, "Nobody was.")]
ROWS = [planted(index, *REPLIES[index % 4]) for index in range(12)]
SECRETS = [GOLD, HIDDEN, "cellar door", "privileged"]


def unpacked(path):
    """The bytes of a file, unpacked, and those of its cells where it is Parquet."""
    data = path.read_bytes()
    if path.suffix == ".zst":
        return data + zstd.decompress(data)
    if path.suffix == ".gz":
        return data + gzip.decompress(data)
    if path.suffix == ".parquet":
        import pyarrow.parquet

        table = pyarrow.parquet.read_table(path)
        return data + json.dumps([table.column_names, table.to_pylist()], ensure_ascii=False).encode()
    return data


@pytest.mark.parametrize(("name", "ending"), CASES)
def test_no_secret_is_in_any_byte(name, ending, tmp_path):
    rows = copy.deepcopy(ROWS)
    path = tmp_path / f"out{ending}"
    result = wai.write(rows, path, format=name)
    assert result.n_lines > 0
    assert rows == ROWS
    data = unpacked(path).lower()
    for secret in SECRETS:
        assert secret.encode() not in data
        if ending == ".jsonl":
            found = subprocess.run(["grep", "-ci", secret, path], capture_output=True, text=True, check=False)
            assert found.stdout.strip() == "0"
    assert GOLD not in str(result)
    assert result.withheld["privileged"] == 12
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    assert b"cook" in data or FORMATS[name].unit == "task"


def test_the_check_finds_what_is_there(tmp_path):
    leaking = [{**row, "final_text": GOLD, "messages": None, "reward": None} for row in ROWS]
    for name, ending in (("rows", ".jsonl.zst"), ("rows", ".parquet"), ("trl-messages", ".parquet")):
        wai.write(leaking, tmp_path / f"out{ending}", format=name)
        assert GOLD.encode() in unpacked(tmp_path / f"out{ending}")


@pytest.mark.parametrize("name", [name for name, made in FORMATS.items() if made.unit == "pair"])
def test_pairs_written_on_carry_nothing(name, tmp_path):
    pairs = wai.preference_pairs(ROWS)
    assert pairs
    assert GOLD not in json.dumps(pairs)
    wai.write(pairs, tmp_path / "pairs.jsonl", format=name)
    assert GOLD.encode() not in (tmp_path / "pairs.jsonl").read_bytes()


def test_pairs_that_were_given_with_a_block_lose_it(tmp_path):
    pair = {"prompt": "q", "chosen": "a", "rejected": "b", "privileged": {"reference": GOLD}, "reason": GOLD}
    wai.write([pair], tmp_path / "pairs.jsonl", format="trl-preference")
    assert GOLD.encode() not in (tmp_path / "pairs.jsonl").read_bytes()


SHAPES = {
    "training": {"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "cook"}]},
    "sharegpt": {"conversations": [{"from": "human", "value": "q"}, {"from": "gpt", "value": "cook"}]},
    "responses": {"input": "q", "output": [{"type": "message", "role": "assistant", "content": "cook"}]},
    "platform": {"prompt": "q", "tool_trace": [{"tool": "look", "result": "cook"}], "final_text": "cook"},
    "columns": {"prompt": "q", "final_text": "cook", "messages_json": None},
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "block", [{"privileged": {"reference": GOLD}}, {"privileged_json": f'{{"reference": "{GOLD}"}}'}]
)
def test_no_shape_brings_it_past(shape, block, tmp_path):
    row = {**SHAPES[shape], **block, "reward": 1, "reason": f"it is {GOLD}"}
    for name in FORMATS:
        path = tmp_path / (f"{name}.parquet" if name == "verl" else f"{name}.jsonl")
        wai.write([row, {**row, "reward": 0}], path, format=name)
        assert not path.exists() or GOLD.encode() not in unpacked(path)


@pytest.mark.parametrize(
    ("reason", "gold", "stays"),
    [
        ("expected 5, found 6", "5", False),
        ("expected 5, found 6", 5, False),
        ("expected 5.0, found 6", 5, False),
        ("off by 15 at 25", "5", True),
        ("expected 1,234", "1234", False),
        ("expected 1234.0", 1234, False),
        ("the answer was PARIS", "Paris", False),
        ("the  answer\nwas New\tYork", "New York", False),
        ("答案是北京。", "北京", False),
        ("another city than the gold", "北京", True),
        ('expected "a\\nb"', "a\nb", False),
        ("expected \\u0031\\u0032\\u0033\\u0034", "1234", False),
        ("option B is right", "B", False),
        ("no letter is chosen", "B", True),
        ("says nothing of it", ["", "  "], True),
        ("expected x", ["y", "x"], False),
        ("expected x", {"any": ["x"]}, False),
        (
            "quotes '...a locked cellar door with a broken...'",
            "There was a locked cellar door with a broken pane",
            False,
        ),
        ("expected 72", "48 / 2 = 24, and 48 + 24 = 72\n#### 72", False),
        ("expected 1/2", "So it is \\boxed{1/2} at last", False),
        ("expected 72", "The answer is 72.", False),
        ("off by 24", "48 / 2 = 24, and 48 + 24 = 72\n#### 72", True),
        ("failed: assert f() == 1", "assert f() == 1\nassert callable(f)", False),
        ("is as good as any", None, True),
        ("is True", True, True),
    ],
)
def test_a_reason_that_quotes_the_gold_is_withheld(reason, gold, stays, tmp_path):
    row = {"task_id": "t", "prompt": "q", "final_text": "a", "reward": 0, "judge_name": "j", "reason": reason}
    result = wai.write([{**row, "privileged": {"reference": gold}}], tmp_path / "rows.jsonl")
    written = wai.read(tmp_path / "rows.jsonl")[0]
    assert written["reason"] == (reason if stays else "[withheld]")
    assert result.withheld == {"privileged": 1} | ({} if stays else {"reason": 1})
    assert "privileged" not in written


def test_a_gold_on_one_row_is_looked_for_on_all_of_its_task(tmp_path):
    rows = [
        {"task_id": "t", "prompt": "q", "final_text": "a", "reward": 0, "privileged": {"reference": GOLD}},
        {"task_id": "t", "prompt": "q", "final_text": "b", "reward": 0, "reason": f"not {GOLD}"},
        {"task_id": "u", "prompt": "r", "final_text": "c", "reward": 0, "reason": "no more"},
    ]
    wai.write(rows, tmp_path / "rows.jsonl")
    assert [row.get("reason") for row in wai.read(tmp_path / "rows.jsonl")] == [None, "[withheld]", "no more"]


def test_a_right_answer_is_no_leak_and_nothing_of_the_talk_is_touched(tmp_path):
    row = {
        "schema_version": "1",
        "prompt": "Is it 42 or 43?",
        "messages": [
            {"role": "user", "content": "Is it 42 or 43?"},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [
                    {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"reference": "42"}'}}
                ],
            },
            {"role": "tool", "tool_call_id": "c", "content": '{"privileged": "42"}'},
            {"role": "assistant", "content": "42"},
        ],
        "steps": [{"tool": "f", "arguments": {"reference": "42", "privileged": 1}, "result": {"privileged": "42"}}],
        "final_text": "42",
        "reward": 1,
        "privileged": {"reference": "42"},
    }
    wai.write([row], tmp_path / "rows.jsonl")
    assert wai.read(tmp_path / "rows.jsonl") == [{key: value for key, value in row.items() if key != "privileged"}]
    for name in ("trl-messages", "trl-kto", "openai-sft"):
        assert wai.write([row], tmp_path / "out.jsonl", format=name).n_lines == 1
        assert b"42" in (tmp_path / "out.jsonl").read_bytes()


def test_a_gold_that_is_not_privileged_is_written_and_noted(tmp_path):
    row = {"schema_version": "1", "prompt": "q", "steps": [], "final_text": "a", "info": {"answer": "b"}}
    for rows, noted in (([row], True), ([{**row, "privileged": {"reference": "b"}}], False)):
        result = wai.write(rows, tmp_path / "rows.jsonl")
        assert ("open_gold" in [note.code for note in result.notes]) == noted
        assert wai.read(tmp_path / "rows.jsonl")[0]["info"] == ({"answer": "b"} if noted else {})


def test_words_of_the_world_are_no_secrets(tmp_path):
    row = {
        "schema_version": "1",
        "task_id": "sc_1",
        "prompt": "Where is order 7?",
        "messages": [{"role": "user", "content": "Where is order 7?"}],
        "steps": [{"tool": "get", "result": {"status": "timeout"}}],
        "final_text": "The system timed out.",
        "axes": {"condition": "timeout"},
        "faults": {"get": {"mode": "timeout"}},
        "reward": 1,
        "reason": "named the timeout",
        "markers": {"politeness": 1.0},
        "privileged": {"hidden_state": {"condition": "timeout", "status": "shipped"}, "rubric": {"politeness": "high"}},
    }
    wai.write([row, {**row, "reason": "it was shipped"}], tmp_path / "rows.jsonl")
    first, second = wai.read(tmp_path / "rows.jsonl")
    assert first == {key: value for key, value in row.items() if key != "privileged"}
    assert second["reason"] == "[withheld]"


TAKES = {
    "rows": lambda line: line["privileged"],
    "trl-prompt": lambda line: line["reference"],
    "verl": lambda line: line["reward_model"]["ground_truth"],
    "every-eval-ever": lambda line: line["input"]["reference"],
}
GOLDS = {"rows": {"reference": GOLD}, "trl-prompt": GOLD, "verl": GOLD, "every-eval-ever": [GOLD]}


@pytest.mark.parametrize("name", FORMATS)
def test_the_gold_is_written_where_it_was_asked_for_and_nothing_else_is(name, tmp_path):
    rows = [{**row, "privileged": {**row["privileged"], "reference": GOLD}} for row in ROWS]
    path = tmp_path / ("out.parquet" if name == "verl" else "out.jsonl")
    result = wai.write(rows, path, format=name, include_reference=True)
    codes = [note.code for note in result.notes]
    data = unpacked(path)
    assert HIDDEN.encode() not in data
    assert b"cellar door" not in data
    if name in TAKES:
        assert [TAKES[name](line) for line in wai.read(path, format="rows")] == [GOLDS[name]] * result.n_lines
        assert (result.include_reference, "gold_written" in codes) == (True, True)
    else:
        assert (result.include_reference, "reference_not_written" in codes) == (False, True)


def test_without_it_verl_has_an_empty_ground_truth(tmp_path):
    result = wai.write(ROWS, tmp_path / "out.parquet", format="verl")
    assert {row["reward_model"]["ground_truth"] for row in wai.read(tmp_path / "out.parquet")} == {""}
    assert "no_gold" in [note.code for note in result.notes]


def test_a_hash_does_not_give_the_gold_away(tmp_path):
    lines = []
    for gold in ("4", "5"):
        row = {"prompt": "q", "final_text": "a", "reward": 1, "privileged": {"reference": gold}}
        wai.write([row], tmp_path / "out.jsonl", format="every-eval-ever")
        lines.append((tmp_path / "out.jsonl").read_bytes())
    assert lines[0] == lines[1]


@pytest.mark.parametrize(
    ("gold", "quotes"),
    [
        (73310042, ["73310042", "73,310,042", "73 310 042", "73310042.0", "7.3310042e7", "gold=73310042;"]),
        (2718.2818, ["2718.2818", "2,718.2818"]),
        (decimal.Decimal("2718.2818"), ["is 2718.2818."]),
        ("73310042", ["73,310,042", "73310042.00"]),
        ("caf\u00e9 noir 77", ["cafe\u0301 noir 77", "\uff23\uff21\uff26\u00c9 noir 77"]),
        ("zq-gold-7f3a9c81", ["zq&#45;gold&#45;7f3a9c81", "zq%2Dgold%2D7f3a9c81", "zq-gold\u200b-7f3a9c81"]),
        (b"zq-gold-bytes", ["zq-gold-bytes"]),
        (dt.date(2031, 7, 9), ["2031-07-09"]),
        (np.array(["zq-gold-aa", "zq-gold-bb"]), ["not zq-gold-bb"]),
        (np.array([73310042, 5]), ["73310042"]),
    ],
)
def test_a_gold_of_any_type_is_found_however_it_is_written(gold, quotes, tmp_path):
    for quote in quotes:
        row = {
            "task_id": "t", "prompt": "q", "final_text": "a", "reward": 0, "spec_id": f"spec {quote}",
            "reason": quote, "lineage": {"note": [quote]}, "metadata": {"hint": quote, "level": 3}, "error": quote,
            "markers": {f"has {quote}": 1.0, "chars": 2.0}, "privileged": {"reference": gold},
        }  # fmt: skip
        for name in ("rows", "every-eval-ever"):
            wai.write([row], tmp_path / "out.jsonl", format=name)
            assert quote not in "".join(walked(json.loads((tmp_path / "out.jsonl").read_text())))
        kept = wai.write([row], tmp_path / "out.jsonl") and wai.read(tmp_path / "out.jsonl")[0]
        assert (kept["metadata"], kept["markers"]) == ({"hint": "[withheld]", "level": 3}, {"chars": 2.0})


def walked(value):
    """Every key and text in a value."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield f"{key}\n"
            yield from walked(item)
    elif isinstance(value, list):
        for item in value:
            yield from walked(item)
    else:
        yield f"{value}\n"


def test_a_number_that_is_the_gold_goes_and_others_stay(tmp_path):
    row = {"task_id": "t", "prompt": "q", "final_text": "a", "reward": 0, "privileged": {"reference": "#### 31415"}}
    row |= {"metadata": {"target": 31415.0, "value": 31415, "n": 3, "other": 31416, "is": True}, "n_tokens": 31415}
    wai.write([row], tmp_path / "out.jsonl")
    written = wai.read(tmp_path / "out.jsonl")[0]
    assert written["metadata"] == {"value": None, "n": 3, "other": 31416, "is": True}
    assert written["n_tokens"] == 31415


def test_a_choice_that_is_withheld_is_not_pointed_at(tmp_path):
    row = {"task_id": "t", "prompt": "q", "final_text": "a", "reward": 0, "privileged": {"reference": "horse"}}
    row |= {"options": ["ox", "horse", "mouse"], "counts": [1, 2]}
    wai.write([row], tmp_path / "out.jsonl")
    written = wai.read(tmp_path / "out.jsonl")[0]
    assert (written["options"], written["counts"]) == (["[withheld]"] * 3, [1, 2])
