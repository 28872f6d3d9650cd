"""``wai convert`` and its other name."""

from __future__ import annotations

import json

import pytest

import whileai as wai
from cli_helpers import printed, run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("convert")
    rows = wai.rows(["2 + 3?", "7 * 6?"], [["5", "6"], ["42", "4"]], [[1, 0], [1, 0.5]], references=["5", "42"])
    lines = [json.dumps(row) + "\n" for row in rows]
    (home / "rows.jsonl").write_text("".join(lines))
    (home / "bad.jsonl").write_text("".join([*lines, json.dumps({**rows[0], "reward": 7}) + "\n"]))
    turns = [{"from": "human", "value": "2 + 3?"}, {"from": "gpt", "value": "5"}]
    (home / "traces.json").write_text(json.dumps([{"conversations": turns}]))
    tool = {"name": "add", "input_schema": {"type": "object"}}
    (home / "tools.json").write_text(json.dumps([tool]))
    return home


@pytest.mark.parametrize("command", ["convert", "export"])
def test_it_writes_what_the_call_writes(command, folder, tmp_path):
    done = run(command, "rows.jsonl", "-o", tmp_path / "a.jsonl", "--format", "trl-preference", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    result = wai.write(wai.read(folder / "rows.jsonl"), tmp_path / "b.jsonl", format="trl-preference")
    assert done.stdout.replace("a.jsonl", "b.jsonl") == printed(result)
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


def test_its_options(folder, tmp_path):
    out = tmp_path / "a.parquet"
    done = run("convert", "rows.jsonl", "-o", out, "--format", "verl", "--include-reference", "--json", cwd=folder)
    envelope = json.loads(done.stdout)
    assert (envelope["call"], envelope["ok"], envelope["result"]["n_lines"]) == ("write", True, 2)
    assert [row["reward_model"]["ground_truth"] for row in wai.read(out)] == ["5", "42"]
    out = tmp_path / "a.jsonl"
    settings = ["--system-prompt", "Be brief.", "--tools", "tools.json", "--min-margin", "0.5", "--per-task", "2"]
    assert run("convert", "rows.jsonl", "-o", out, "--format", "openai-dpo", *settings, cwd=folder).returncode == 0
    lines = wai.read(out)
    assert len(lines) == 2
    assert lines[0]["input"]["messages"][0] == {"role": "system", "content": "Be brief."}
    assert lines[0]["input"]["tools"][0]["function"] == {"name": "add", "parameters": {"type": "object"}}


def test_traces_become_rows(folder, tmp_path):
    assert run("convert", "traces.json", "-o", tmp_path / "a.jsonl", cwd=folder).returncode == 0
    assert wai.read(tmp_path / "a.jsonl") == list(wai.load_traces(folder / "traces.json"))


ERRORS = {
    "no -o": (["rows.jsonl"], "wai convert: error: -o/--output must be given."),
    "format": (["rows.jsonl", "-o", "x.jsonl", "--format", "trl-pref"], "Did you mean trl-preference?"),
    "suffix": (["rows.jsonl", "-o", "x.csv"], "--output must be a file ending in .jsonl"),
    "folder": (["rows.jsonl", "-o", "no/x.jsonl"], "--output must be a file in a folder that exists"),
    "flag": (["rows.jsonl", "-o", "x.jsonl", "--formt", "rows"], "Did you mean --format?"),
    "no file": (["none.jsonl", "-o", "x.jsonl"], "no file is named 'none.jsonl'"),
    "bad row": (
        ["bad.jsonl", "-o", "x.jsonl", "--format", "trl-kto"],
        "wai convert: error: bad.jsonl row 4: reward must be a number in [0, 1]; got 7.",
    ),
    "no pairs": (["rows.jsonl", "-o", "x.jsonl", "--min-margin", "1"], "--min-margin must be left out"),
    "margin": (
        ["rows.jsonl", "-o", "x.jsonl", "--format", "openai-dpo", "--min-margin", "2"],
        "--min-margin must be a number in (0, 1]; got 2.0",
    ),
    "tools": (["rows.jsonl", "-o", "x.jsonl", "--tools", "rows.jsonl"], "--tools must be a file of JSON"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors_are_one_line_and_write_nothing(case, folder):
    arguments, text = ERRORS[case]
    before = sorted(folder.iterdir())
    done = run("convert", *arguments, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert text in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert sorted(folder.iterdir()) == before


def test_nothing_to_write_is_said_and_is_no_success(folder, tmp_path):
    done = run("convert", "traces.json", "-o", tmp_path / "a.jsonl", "--format", "trl-kto", cwd=folder)
    assert done.returncode == 2
    assert done.stdout == (
        "wrote nothing: no line of trl-kto in 1 row\n"
        "  skipped: unjudged 1 row\n"
        "note nothing_written: no row could become a line of trl-kto, so there is no file.\n"
    )
    assert list(tmp_path.iterdir()) == []
