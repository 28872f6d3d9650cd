"""`grade(resume=)`: what is asked again, and what never is."""

from __future__ import annotations

import functools
import importlib.util
import json
import textwrap

import pytest

import whileai as wai

ROWS = [{"task_id": i // 2, "prompt": "p", "final_text": str(i % 3), "answer": "1"} for i in range(6)]


@pytest.fixture
def asked(tmp_path):
    """A function that grades with a judge and says how many verdicts it was asked for."""
    log = tmp_path / "log"
    ledger = tmp_path / "ledger.jsonl"

    def grade(judge, rows=ROWS, **options):
        log.write_text("")

        @functools.wraps(judge)
        def counted(row):
            with log.open("a") as file:
                file.write(".")
            return judge(row)

        graded = wai.grade(rows, counted, resume=ledger, **options)
        return len(log.read_text()), graded

    grade.ledger = ledger
    return grade


def module_of(tmp_path, name, code):
    """A module whose judge was edited: the same name, other text."""
    path = tmp_path / f"{name}.py"
    path.write_text(textwrap.dedent(code), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("judges", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def right(row):
    return row["final_text"] == row["answer"]


def test_a_second_call_asks_nothing_and_gives_the_same(asked):
    n, first = asked(right)
    again, second = asked(right)
    assert (n, again) == (6, 0)
    assert first == second
    assert [row["task_id"] for row in second] == [row["task_id"] for row in ROWS]


def test_new_rows_alone_are_asked(asked):
    asked(right, ROWS[:4])
    assert asked(right)[0] == 2
    assert asked(right, ROWS[::-1])[0] == 0


@pytest.mark.parametrize("change", [{"final_text": "9"}, {"prompt": "q"}, {"answer": "2"}, {"task_id": "new"}], ids=str)
def test_a_changed_row_is_asked_again(asked, change):
    asked(right)
    assert asked(right, [{**ROWS[0], **change}, *ROWS[1:]])[0] == 1


def test_equal_rows_are_verdicts_of_their_own(asked):
    rows = [ROWS[0]] * 3
    assert asked(right, rows)[0] == 3
    assert asked(right, rows)[0] == 0
    assert asked(right, [ROWS[0]] * 4)[0] == 1


@pytest.mark.parametrize("tail", ['{"key": "abc", "rew', "\n\n", "[1]\n", "not json at all", '{"key": 5}\n', "\ufffd"])
def test_a_damaged_line_costs_nothing_but_itself(asked, tail):
    asked(right, ROWS[:3])
    with asked.ledger.open("a", encoding="utf-8") as file:
        file.write(tail)
    assert asked(right)[0] == 3
    assert asked(right)[0] == 0


def test_a_torn_verdict_is_asked_again(asked):
    asked(right)
    asked.ledger.write_bytes(asked.ledger.read_bytes()[:-20])
    assert asked(right)[0] == 1
    assert asked(right)[0] == 0


def test_errors_and_timeouts_are_asked_again_and_sound_verdicts_are_not(asked, tmp_path):
    def judge(row):
        if (tmp_path / "down").exists():
            raise ConnectionError
        return {"0": None, "1": 1, "2": 7}[row["final_text"]]

    (tmp_path / "down").touch()
    n, graded = asked(judge)
    assert (n, {row["judge_status"] for row in graded}) == (6, {"error"})
    (tmp_path / "down").unlink()
    n, graded = asked(judge)
    assert [row["judge_status"] for row in graded] == ["missing_reward", "ok", "invalid_result"] * 2
    assert (n, asked(judge)[0]) == (6, 0)


def test_each_line_is_plain_json(asked):
    asked(lambda row: {"reward": 0.5, "reason": "\ud800é", "markers": {"n": 1}, "own": {"a": (1, None)}})
    lines = [json.loads(line) for line in asked.ledger.read_text(encoding="ascii").splitlines()]
    assert len(lines) == 6
    assert {line["reward"] for line in lines} == {0.5}
    assert lines[0]["meta"] == {"own": {"a": [1, None]}}
    restored = asked(lambda row: {"reward": 0.5, "reason": "\ud800é", "markers": {"n": 1}, "own": {"a": (1, None)}})[1]
    assert restored[0]["reason"] == "\ud800é"


SAME = "def judge(row): return row['final_text'] == '1'"


@pytest.mark.parametrize(
    ("first", "second", "another"),
    [
        (SAME, SAME, False),
        (SAME, f"# a comment\n\n{SAME}", False),
        (SAME, SAME.replace("'1'", "'2'"), True),
        (SAME, SAME.replace("==", "!="), True),
        ("def judge(row, bar=1): return bar", "def judge(row, bar=0): return bar", True),
        ("def judge(row, *, bar=1): return bar", "def judge(row, *, bar=0): return bar", True),
        ("BAR = 1\ndef judge(row): return BAR", "BAR = 0\ndef judge(row): return BAR", True),
        ("BAR = 1\nOTHER = 1\ndef judge(row): return BAR", "BAR = 1\nOTHER = 2\ndef judge(row): return BAR", False),
        (
            "def h(x): return 1\ndef judge(row): return h(row)",
            "def h(x): return 0\ndef judge(row): return h(row)",
            True,
        ),
        (
            "def h(x): return judge and 1\ndef judge(r): return h(r)",
            "def h(x): return judge and 1\ndef judge(r): return h(r)",
            False,
        ),
        ("judge = (lambda bar: lambda row: bar)(1)", "judge = (lambda bar: lambda row: bar)(0)", True),
        ("def judge(row): return row['final_text'] in {'1', '2', '3'}",) * 2 + (False,),
        (
            "def judge(row): return row['final_text'] in {'1', '2'}",
            "def judge(row): return row['final_text'] in {'1', '3'}",
            True,
        ),
        (
            "class J:\n def __init__(self, b): self.bar = b\n def __call__(self, row): return self.bar\njudge = J(1)",
            "class J:\n def __init__(self, b): self.bar = b\n def __call__(self, row): return self.bar\njudge = J(0)",
            True,
        ),
        (
            "class J:\n def __init__(self, b): self.bar = b\n def j(self, row): return self.bar\njudge = J(1).j",
            "class J:\n def __init__(self, b): self.bar = b\n def j(self, row): return self.bar\njudge = J(0).j",
            True,
        ),
        ("class J:\n def __init__(self): self.lock = object()\n def __call__(self, row): return 1\njudge = J()",) * 2
        + (False,),
        (
            "import functools\njudge = functools.partial(lambda bar, row: bar, 1)",
            "import functools\njudge = functools.partial(lambda bar, row: bar, 0)",
            True,
        ),
        (
            "import functools\njudge = functools.lru_cache(lambda p, c: 1)",
            "import functools\njudge = functools.lru_cache(lambda p, c: 0)",
            True,
        ),
        (
            "def deco(f): return lambda row: f(row)\njudge = deco(lambda row: 1)",
            "def deco(f): return lambda row: f(row)\njudge = deco(lambda row: 0)",
            True,
        ),
        (
            "import whileai as wai\njudge = wai.verify.Numeric(tol=1e-6)",
            "import whileai as wai\njudge = wai.verify.Numeric(tol=0.1)",
            True,
        ),
        (
            "import whileai as wai\njudge = wai.verifier(lambda c, r, row: 1)",
            "import whileai as wai\njudge = wai.verifier(lambda c, r, row: 0)",
            True,
        ),
        (
            "import whileai as wai\nclass V(wai.Verifier):\n def check(self, c, r, row): return 1\njudge = V()",
            "import whileai as wai\nclass V(wai.Verifier):\n def check(self, c, r, row): return 0\njudge = V()",
            True,
        ),
    ],
)
def test_an_edited_judge_is_another(tmp_path, first, second, another):
    ledger = tmp_path / "ledger.jsonl"
    for name, code in (("first", first), ("second", second)):
        wai.grade(ROWS, module_of(tmp_path, name, code).judge, resume=ledger)
    assert len(ledger.read_text().splitlines()) == (12 if another else 6)


def test_a_folder_that_is_not_there_is_an_error_before_judging(tmp_path):
    with pytest.raises(FileNotFoundError):
        wai.grade(ROWS, right, resume=tmp_path / "none" / "ledger.jsonl")
