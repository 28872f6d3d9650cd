"""The file of `grade(resume=)`: who may write to it, what is refused, and what no saved verdict may outlive."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import whileai as wai
from whileai import verify

ROWS = [{"task_id": i, "prompt": "p", "final_text": str(i), "answer": "1", "info": {"key": "2"}} for i in range(4)]


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def lines_after(path, text):
    """The lines behind a torn one."""
    torn = len(text.splitlines())
    return [json.loads(line) for line in path.read_text().splitlines()[torn:]]


def right(row):
    return row["final_text"] == row["answer"]


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda home: home, wai.ParamError, "grade: resume must be a file of verdicts, or a new one; got '"),
        (lambda home: "", wai.ParamError, "grade: resume must be a file of verdicts, or a new one; got ''."),
        (lambda home: os.devnull, wai.ParamError, "grade: resume must be a file of verdicts"),
        (
            lambda home: home / "no" / "x",
            FileNotFoundError,
            "grade: resume must be a file in a folder that exists; got '",
        ),
        (lambda home: 5, TypeError, "grade: resume must be a path; got 5."),
        (lambda home: b"x", TypeError, "grade: resume must be a path; got b'x'."),
    ],
    ids=["folder", "empty", "device", "no folder", "number", "bytes"],
)
def test_what_is_no_ledger_is_refused_before_rows_are_read(tmp_path, make, error, said):
    def unread():
        pytest.fail("a row was read")
        yield

    with pytest.raises(error) as raised:
        wai.grade(unread(), right, resume=make(tmp_path))
    assert str(raised.value).startswith(said)


@pytest.mark.parametrize(
    "text",
    ['{"task_id": 1, "final_text": "x"}\n', "task_id,final_text\n1,x\n", "\x1f\x8b\x08", "[\n{}\n]\n", '{"key": 1}\n'],
    ids=["rows", "csv", "packed", "list", "keys"],
)
def test_a_file_of_something_else_is_left_as_it_is(tmp_path, text):
    file = tmp_path / "rows.jsonl"
    file.write_text(text)
    with pytest.raises(wai.ParamError, match="It holds something else, and is left as it is"):
        wai.grade(ROWS, right, resume=file)
    assert file.read_text() == text


@pytest.mark.parametrize("text", ["", "\n\n", '{"key', '{"key": "abc", "judge": "x", "rew'])
def test_a_file_torn_at_its_first_line_is_a_ledger(tmp_path, text):
    file = tmp_path / "verdicts.jsonl"
    file.write_text(text)
    assert [row["reward"] for row in wai.grade(ROWS, right, resume=file)] == [0, 1, 0, 0]
    assert sorted(line["reward"] for line in lines_after(file, text)) == [0, 0, 0, 1]


BAD = [
    {"reward": 7},
    {"reward": None},
    {"reward": "1"},
    {"status": "good"},
    {"status": "error"},
    {"status": ["ok"]},
    {"markers": None},
    {"meta": []},
    {"reason": 5},
]


@pytest.mark.parametrize("change", BAD, ids=str)
def test_a_line_that_is_no_sound_verdict_is_not_believed(tmp_path, change):
    file = tmp_path / "verdicts.jsonl"
    first = wai.grade(ROWS, right, resume=file)
    entries = lines(file)
    entries[0] |= change
    file.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    assert wai.grade(ROWS, right, resume=file) == first
    assert len(lines(file)) == 5


def test_a_line_twice_is_one_verdict(tmp_path):
    file = tmp_path / "verdicts.jsonl"
    first = wai.grade(ROWS, right, resume=file)
    file.write_text(file.read_text() * 3)
    assert wai.grade(ROWS, right, resume=file) == first
    assert len(lines(file)) == 12


def test_lines_of_others_stay_and_are_not_used(tmp_path):
    file = tmp_path / "verdicts.jsonl"
    wai.grade(ROWS, lambda row: 0.5, resume=file)
    wai.grade([{**row, "task_id": "other"} for row in ROWS], right, resume=file)
    before = file.read_text()
    assert wai.grade(ROWS, right, resume=file) == wai.grade(ROWS, right)
    assert file.read_text().startswith(before)
    assert len(lines(file)) == 12


PARTS = {
    "All": lambda part: verify.All([verify.ExactMatch(), part]),
    "Any": lambda part: verify.Any([verify.ExactMatch(), part]),
    "Weighted": lambda part: verify.Weighted([(verify.ExactMatch(), 1), (part, 2)]),
    "nested": lambda part: verify.Any([verify.All([part]), verify.Numeric()]),
    "beside a function": lambda part: verify.All([lambda prompt, completion: 1, part]),
    "alone": lambda part: part,
}


@pytest.mark.parametrize("name", PARTS)
def test_the_gold_of_every_part_belongs_to_the_key(tmp_path, name):
    file = tmp_path / "verdicts.jsonl"
    judge = PARTS[name](verify.Numeric(field="info.key"))
    wai.grade(ROWS, judge, resume=file)
    changed = [{**row, "info": {"key": "3"}} for row in ROWS]
    assert wai.grade(changed, judge, resume=file) == wai.grade(changed, judge)
    assert len(lines(file)) == 8


SAW = {"rubric": "strict"}
JUDGES = {
    "a function of the row": lambda row: row.get("rubric") == "strict",
    "a verifier of a function": wai.verifier(lambda completion, gold, row: row.get("rubric") == "strict"),
    "a part": verify.All([lambda row: row.get("rubric") == "strict"]),
}


@pytest.mark.parametrize("name", JUDGES)
def test_all_that_a_judge_of_rows_may_read_belongs_to_the_key(tmp_path, name):
    file = tmp_path / "verdicts.jsonl"
    first = wai.grade(ROWS, JUDGES[name], resume=file)
    assert {row["reward"] for row in first} == {0}
    assert {row["reward"] for row in wai.grade([{**row, **SAW} for row in ROWS], JUDGES[name], resume=file)} == {1}
    assert wai.grade(first, JUDGES[name], resume=file) == first
    assert len(lines(file)) == 8


def test_what_no_judge_reads_asks_nothing_again(tmp_path):
    file = tmp_path / "verdicts.jsonl"
    wai.grade(ROWS, verify.Numeric(), resume=file)
    wai.grade([{**row, **SAW, "rollout_index": 3, "markers": {"x": 1}} for row in ROWS], verify.Numeric(), resume=file)
    assert len(lines(file)) == 4


EDITS = {
    "a list on the object": ("self.words = ['1']", "self.words = ['2']"),
    "a method it calls": ("return text in self.words", "return text not in self.words"),
    "a constant of its class": ("BAR = 1", "BAR = 2"),
}
OBJECT = """
class J{base}:
    BAR = 1
    def __init__(self):
        {init}self.words = ['1']
    def helped(self, text):
        return text in self.words
    def {call}:
        return self.helped({text}) and self.BAR == 1
judge = J()
"""
KINDS = {
    "an object": OBJECT.format(base="", init="", call="__call__(self, row)", text="row['final_text']"),
    "a method": OBJECT.format(base="", init="", call="ask(self, row)", text="row['final_text']")
    + "judge = judge.ask\n",
    "a verifier": "import whileai as wai\n"
    + OBJECT.format(
        base="(wai.Verifier)",
        init="super().__init__(); ",
        call="check(self, candidate, reference, row)",
        text="candidate",
    ),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_object_is_another_judge(tmp_path, kind, edit):
    file = tmp_path / "verdicts.jsonl"
    for change in (("", ""), EDITS[edit], ("", "")):
        namespace = {"__name__": "judges"}
        exec(KINDS[kind].replace(*change) if change[0] else KINDS[kind], namespace)
        wai.grade(ROWS, namespace["judge"], resume=file)
    assert len(lines(file)) == 8


HOLDS = """
    import os, sys, time
    import whileai as wai
    def judge(row):
        time.sleep(float(sys.argv[2]))
        return 1
    wai.grade([{"task_id": i, "final_text": "x"} for i in range(6)], judge, resume=sys.argv[1], workers=2)
    print("done")
"""


def holder(tmp_path, file, pause):
    """A process that has written two verdicts and goes on writing."""
    script = tmp_path / "holds.py"
    script.write_text(textwrap.dedent(HOLDS))
    command = [sys.executable, str(script), str(file), str(pause)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    deadline = time.monotonic() + 30
    while not (file.exists() and file.read_bytes().count(b"\n") >= 2):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return process


def test_two_runs_do_not_write_to_one_file(tmp_path):
    file = tmp_path / "verdicts.jsonl"
    process = holder(tmp_path, file, 0.4)
    with pytest.raises(
        wai.ScorerError, match=r"grade: another run writes to '.*verdicts\.jsonl'\. Wait until it has ended"
    ):
        wai.grade(ROWS, right, resume=file)
    assert process.communicate(timeout=60) == ("done\n", None)
    assert len(lines(file)) == 6
    wai.grade(ROWS, right, resume=file)
    assert len(lines(file)) == 10


def test_the_file_is_free_once_its_run_was_killed(tmp_path):
    file = tmp_path / "verdicts.jsonl"
    process = holder(tmp_path, file, 0.4)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    assert [row["reward"] for row in wai.grade(ROWS, right, resume=file)] == [0, 1, 0, 0]


def test_a_judge_that_grades_into_a_file_of_its_own(tmp_path):
    def judge(row):
        return wai.grade(ROWS[1:2], right, resume=tmp_path / f"inner{row['task_id']}")[0]["reward"]

    assert [row["reward"] for row in wai.grade(ROWS, judge, resume=tmp_path / "outer")] == [1] * 4


def test_a_child_does_not_hold_the_file(tmp_path):
    """Else its lock would outlive the run: a lock ends when the last holder of the open file does."""
    if not Path("/proc/self/fd").is_dir():
        pytest.skip("this system has no /proc")
    file = tmp_path / "verdicts.jsonl"

    def judge(row):
        return not any(os.path.realpath(end) == str(file) for end in Path("/proc/self/fd").iterdir())

    assert {row["reward"] for row in wai.grade(ROWS, judge, resume=file)} == {1}
