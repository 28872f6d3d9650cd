"""What holds for the log of every format: counted right, told by its content, claimed by no other, broken gently."""

from __future__ import annotations

import gzip
import json

import pytest

import whileai as wai
from log_samples import SAMPLES, lines
from whileai.cli.main import main
from whileai.readers.logs.head import head_of
from whileai.readers.logs.registry import FORMATS, recognise

ids = list(SAMPLES)
each = pytest.mark.parametrize("sample", ids)


def put(folder, sample, name="data"):
    path = folder / name
    path.write_bytes(SAMPLES[sample][1])
    return path


@each
def test_tasks_repeats_rewards_and_states(tmp_path, sample):
    format, _, counts, total = SAMPLES[sample]
    rows = wai.read(put(tmp_path, sample))
    report = rows.report
    assert (report.n_rows, report.n_tasks, report.scored, report.unscored, report.errors, report.timeouts) == counts[:6]
    assert (report.n_skipped, sum(report.formats.values()), list(report.formats)) == (counts[6], 1, [format])
    assert sum(row["reward"] for row in rows if row["reward"] is not None) == total
    assert len({(row["task_id"], row["rollout_index"]) for row in rows}) == len(rows)
    assert all(row["reward"] is None for row in rows if row["judge_status"] != "ok")
    assert all(isinstance(row.get("error"), str) for row in rows if row["judge_status"] == "error")


@each
@pytest.mark.parametrize("name", ["data.json", "data.jsonl", "data.txt", "data.csv", "data"])
def test_told_by_content_whatever_the_name_or_packing(tmp_path, sample, name):
    path = put(tmp_path, sample, name)
    assert recognise(path).format.name == SAMPLES[sample][0]
    if not SAMPLES[sample][1].startswith(b"PAR1"):
        rows = wai.read(path)
        path.write_bytes(gzip.compress(SAMPLES[sample][1]))
        assert wai.read(path) == rows


@each
def test_no_other_format_claims_it(tmp_path, sample):
    head = head_of(put(tmp_path, sample))
    assert [entry.name for entry in FORMATS if entry.may_fit(head) and entry.format().sniff(head)] == [
        SAMPLES[sample][0]
    ]


PLAIN = [
    {"task_id": "a", "prompt": "p", "completion": "c", "reward": 1},
    {"task_id": "HumanEval/0", "completion": "c", "reward": 1, "prompt": "p"},
    {"input": "p", "output": "c", "score": 1}, {"prompt": "p", "completion": "c", "step": 3, "reward": 0},
    {"task_id": "a", "reward": 1, "info": {"x": 1}, "trial": 2, "messages": []},
    {"id": 1, "scores": [1, 0], "input": "p", "output": "c"}, {"input": "p", "scores": {"a": 1}, "output": "c"},
    {"example_id": 3, "question": "q", "reward": 1}, {"success": True, "score": 1, "prompt": "p"},
    {"sample_id": 1, "score": 1, "prompt": "p"}, {"task_id": "a", "solution": "x = 1", "reward": 0},
    {"instance_id": "x", "resolved": True}, {"inputs": "p", "outputs": "c"}, {"name": "n", "tags": [], "reward": 1},
    {"task": "sums", "rewards": [1, 0], "prompt": "p"}, {"eval": "sums", "prompt": "p", "reward": 1},
    {"results": [1], "prompt": "p"}, {"trace_id": "t", "events": [], "reward": 1, "prompt": "p"},
]  # fmt: skip


@pytest.mark.parametrize("row", PLAIN, ids=[" ".join(row) for row in PLAIN])
def test_no_format_claims_plain_rows(tmp_path, row):
    for data in (lines(row, row), json.dumps([row, row], indent=1).encode()):
        (tmp_path / "rows").write_bytes(data)
        assert recognise(tmp_path / "rows") is None


@each
def test_through_every_door(tmp_path, sample, capsys):
    path = put(tmp_path, sample)
    rows, scored = wai.read(path), SAMPLES[sample][2][2]
    result = wai.pass_at(path)
    assert result.to_dict() | {"notes": ()} == wai.pass_at(list(rows)).to_dict() | {"notes": ()}
    assert (result.n_rows - result.n_unjudged) == scored
    assert main(["pass-at", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["result"]["pass_at_1"] == result.pass_at_1


@each
def test_texts_are_not_in_rows_that_need_none(tmp_path, sample):
    reader = recognise(put(tmp_path, sample))
    thin = list(reader.rows("pass_at", ("task_id", "reward", "markers")))
    full = list(reader.rows("read"))
    for key in ("task_id", "rollout_index", "reward", "judge_status", "markers"):
        assert [row.get(key) for row in thin] == [row.get(key) for row in full]
    assert not any({"prompt", "messages", "final_text", "privileged"} & set(row) for row in thin)


DAMAGE = {
    "cut in half": lambda data: data[: len(data) // 2],
    "cut at the end": lambda data: data[:-3],
    "a byte order mark": lambda data: b"\xef\xbb\xbf" + data,
    "a torn line": lambda data: data + b'{"torn": ',
    "noise inside": lambda data: data[: len(data) // 2] + b"\xff\xfe\x00}{" + data[len(data) // 2 :],
    "nulls": lambda data: data.replace(b'"5"', b"null").replace(b"1.0", b"null"),
    "other types": lambda data: data.replace(b"1.0", b'{"a": [1]}').replace(b'"user"', b"3"),
    "infinite": lambda data: data.replace(b"1.0", b"Infinity"),
    "a lone surrogate": lambda data: data.replace(b'"5"', b'"\\ud83d"'),
    "lists for objects": lambda data: data.replace(b": {", b": [{").replace(b"},", b"}],"),
}


@each
@pytest.mark.parametrize("damage", list(DAMAGE))
def test_damage_ends_in_one_sentence_or_a_counted_skip(tmp_path, sample, damage):
    data = DAMAGE[damage](SAMPLES[sample][1])
    path = tmp_path / "data.jsonl"
    path.write_bytes(data)
    for call in (wai.read, wai.pass_at):
        result, error = attempt(call, path)
        assert error is None or error.startswith(f"{call.__name__}: ")
        if error is None and call is wai.read:
            assert all(row.get("reward") is None or 0 <= row["reward"] <= 1 for row in result)


def attempt(call, path):
    """What a call gives, and the one sentence of an error of ours; any other goes through."""
    try:
        return call(path), None
    except wai.WaiError as error:
        return None, str(error).partition("\n")[0] if "\n" not in str(error) else "more than one line"


@each
def test_each_key_missing_or_empty_is_no_crash(tmp_path, sample):
    data = SAMPLES[sample][1]
    if data.startswith(b"PAR1"):
        pytest.skip("a table without a column is another table")
    path = tmp_path / "data.json"
    for value in variants(data):
        path.write_bytes(value)
        for call in (wai.read, thin_rows):
            error = attempt(call, path)[1]
            assert error is None or error.startswith(("read: ", "pass_at: "))


def thin_rows(path):
    """The rows as a call reads them that needs no texts."""
    reader = recognise(path, call="pass_at")
    return reader and list(reader.rows("pass_at", ("task_id", "reward", "markers")))


def variants(data):
    """The log with, in turn, every key of every object in it gone, null, a list, an empty object, or a text."""
    text = data.decode()
    try:
        whole = json.loads(text)
    except ValueError:
        whole = None
    parts = whole if whole is not None else [json.loads(line) for line in text.splitlines()]
    for place, key in places(parts):
        for value in (KeyError, None, [], {}, "x", -3):
            copy = json.loads(json.dumps(parts))
            inside = copy
            for step in place:
                inside = inside[step]
            if value is KeyError:
                del inside[key]
            else:
                inside[key] = value
            yield json.dumps(copy).encode() if whole is not None else lines(*copy)


def places(value, place=(), depth=0):
    """Every key of an object, with the way to it; of a list only the first items."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield place, key
            if depth < 7:
                yield from places(inner, (*place, key), depth + 1)
    elif isinstance(value, list):
        for index, inner in enumerate(value[:1]):
            yield from places(inner, (*place, index), depth + 1)
