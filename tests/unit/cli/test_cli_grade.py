"""`wai grade`: files in, graded rows into a file, counts on stdout."""

from __future__ import annotations

import hashlib
import json
import re

import pytest

import whileai as wai
from cli_helpers import run, write

VERIFY = wai.verify


def samples(**more):
    """Ten answers to five questions, of which six are right."""
    texts = ["0", "0", "1", "It is 1.", "3", "It is 2.", "4", "3", "4", "5"]
    return [
        {"task_id": f"q{i // 2}", "prompt": f"Which is {i // 2}?", "final_text": text, "answer": str(i // 2), **more}
        for i, text in enumerate(texts)
    ]


@pytest.fixture
def home(tmp_path):
    write(tmp_path / "a.jsonl", samples(reward=0, judge_name="old", reason="old"))
    write(tmp_path / "b.jsonl.gz", samples())
    nested = [{**row, "info": {"key": row.pop("answer")}} for row in samples()]
    write(tmp_path / "nested.jsonl", nested)
    replies = ['{"a": 1}', "letter: (B)", "a"]
    write(
        tmp_path / "mixed.jsonl", [{"task_id": i, "final_text": text, "target": "B"} for i, text in enumerate(replies)]
    )
    programs = ["def f():\n    return 1", "def f():\n    return 2"]
    gold = "assert f() == 1"
    write(tmp_path / "code.jsonl", [{"task_id": 1, "final_text": text, "answer": gold} for text in programs])
    (tmp_path / "tests.py").write_text("def test_f():\n    assert f() == 2\n")
    (tmp_path / "empty.jsonl").write_text("")
    return tmp_path


def graded(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


CASES = {
    "exact": ("a.jsonl --verifier exact", VERIFY.ExactMatch),
    "includes": ("a.jsonl --verifier includes", VERIFY.Includes),
    "numeric": ("a.jsonl --verifier numeric", VERIFY.Numeric),
    "math-equal": ("a.jsonl --verifier math-equal", VERIFY.MathEqual),
    "choice": ("mixed.jsonl --verifier choice", VERIFY.MultipleChoice),
    "json": ("mixed.jsonl --verifier json", VERIFY.JSONValid),
    "regex": ("mixed.jsonl --verifier regex --pattern ^.$", lambda: VERIFY.Regex("^.$")),
    "packed": ("b.jsonl.gz --verifier numeric", VERIFY.Numeric),
    "nested": ("nested.jsonl --verifier numeric --reference info.key", lambda: VERIFY.Numeric(field="info.key")),
    "several": ("a.jsonl b.jsonl.gz --verifier numeric --workers 1 --timeout 5", VERIFY.Numeric),
}


@pytest.mark.parametrize("name", CASES)
def test_the_rows_are_those_of_the_call(name, home):
    line, judge = CASES[name]
    done = run("grade", *line.split(), "-o", "out.jsonl", cwd=home)
    assert (done.returncode, done.stderr) == (0, "")
    files = re.findall(r"\S+\.jsonl(?:\.gz)?", line)
    rows = [row for file in files for row in wai.read(home / file)]
    expected = wai.grade(rows, judge())
    assert graded(home / "out.jsonl") == expected
    assert done.stdout.startswith(f"graded {len(rows)} rows with {judge().name}: ")
    assert done.stdout.endswith("\nwai pass-at out.jsonl\n")


@pytest.mark.parametrize(("more", "rewards"), [([], [1, 0]), (["--tests", "tests.py", "--timeout", "20"], [0, 1])])
def test_code_by_the_gold_or_by_a_file_of_tests(home, more, rewards):
    done = run("grade", "code.jsonl", "--verifier", "code", *more, "-o", "out.jsonl", cwd=home)
    assert (done.returncode, done.stderr) == (0, "")
    assert [row["reward"] for row in graded(home / "out.jsonl")] == rewards


def test_the_print(home):
    write(home / "some.jsonl", [*samples(), {"task_id": "x", "final_text": "7"}, {"task_id": "y", "answer": "1"}])
    done = run("grade", "some.jsonl", "--verifier", "numeric", "-o", "out put.jsonl", cwd=home)
    assert done.stdout.splitlines() == [
        "graded 12 rows with Numeric: mean reward 0.700 over 10 of them",
        "  ok 10 | missing_reward 1 | invalid_result 0 | error 1 | timeout 0",
        "note missing_reward: 1 row, the first is row 10: the row has no gold to check against.",
        "note error: 1 row, the first is row 11: the row has no completion: neither final_text nor an",
        "  assistant message.",
        "wai pass-at 'out put.jsonl'",
    ]


def test_the_next_step_runs(home):
    done = run("grade", "a.jsonl", "--verifier", "numeric", "-o", "out.jsonl", cwd=home)
    assert run(*done.stdout.splitlines()[-1].split()[1:], cwd=home).returncode == 0


def test_the_envelope(home):
    done = run("grade", "a.jsonl", "--verifier", "numeric", "-o", "out.json", "--json", cwd=home)
    assert (done.returncode, done.stderr, done.stdout.count("\n")) == (0, "", 1)
    found = json.loads(done.stdout)
    assert list(found) == [
        *["schema_version", "call", "version", "ok", "verdict"],
        *["summary", "result", "notes", "inputs"],
    ]
    assert [found[key] for key in ("call", "ok", "verdict")] == ["grade", None, None]
    assert found["result"] == {
        "verifier": "Numeric",
        "output": "out.json",
        "n_rows": 10,
        "n_scored": 10,
        "statuses": {"ok": 10, "missing_reward": 0, "invalid_result": 0, "error": 0, "timeout": 0},
        "mean_reward": 0.7,
        "notes": [],
    }
    digest = hashlib.sha256((home / "a.jsonl").read_bytes()).hexdigest()
    assert found["inputs"] == [{"name": "data", "path": "a.jsonl", "rows": 10, "tasks": 5, "sha256": digest}]
    assert len(json.loads((home / "out.json").read_text())) == 10


def test_resume_pays_for_the_rest_alone(home):
    first = run("grade", "a.jsonl", "--verifier", "numeric", "--resume", "v.jsonl", "-o", "one.jsonl", cwd=home)
    kept = (home / "v.jsonl").read_text()
    again = run("grade", "a.jsonl", "--verifier", "numeric", "--resume", "v.jsonl", "-o", "two.jsonl", cwd=home)
    assert (first.returncode, again.returncode, kept.count("\n")) == (0, 0, 10)
    assert (home / "v.jsonl").read_text() == kept
    assert (home / "one.jsonl").read_bytes() == (home / "two.jsonl").read_bytes()


def test_the_file_may_be_graded_in_place(home):
    assert run("grade", "a.jsonl", "--verifier", "numeric", "-o", "a.jsonl", cwd=home).returncode == 0
    assert [row["judge_name"] for row in graded(home / "a.jsonl")] == ["Numeric"] * 10


def test_no_rows_are_said(home):
    done = run("grade", "empty.jsonl", "--verifier", "exact", "-o", "out.jsonl", cwd=home)
    assert done.returncode == 0
    assert done.stdout.splitlines()[0] == "graded 0 rows with ExactMatch: no reward"
    assert "note no_rows: there are no rows." in done.stdout
    assert (home / "out.jsonl").read_text() == ""


ERRORS = """
a.jsonl --verifier numerc -o o.jsonl
    --verifier must be one of 'exact', 'includes', 'numeric', 'math-equal', 'choice', 'json', 'code', 'regex'; got 'numerc'. Did you mean numeric?
a.jsonl --verifier MathEqual -o o.jsonl
    --verifier must be one of 'exact', 'includes', 'numeric', 'math-equal', 'choice', 'json', 'code', 'regex'; got 'MathEqual'. Did you mean math-equal?
a.jsonl -o o.jsonl
    --verifier must be given.
a.jsonl --verifier exact
    -o/--output must be given.
a.jsonl --verifier exact --referense x -o o.jsonl
    there is no option --referense here. Did you mean --reference?
nested.jsonl --verifier exact --reference info.kee -o o.jsonl
    --reference must be a field of the rows that has a value; got 'info.kee'. Did you mean info.key?
a.jsonl --verifier exact --reference anser -o o.jsonl
    --reference must be a field of the rows that has a value; got 'anser'. Did you mean answer?
a.jsonl --verifier json --reference answer -o o.jsonl
    --reference is not read with --verifier json; got 'answer'.
code.jsonl --verifier code --tests tests.py --reference answer -o o.jsonl
    --reference is not read with --verifier code and --tests; got 'answer'.
a.jsonl --verifier regex -o o.jsonl
    --pattern must be given with --verifier regex.
a.jsonl --verifier exact --pattern x -o o.jsonl
    --pattern is for --verifier regex alone; got it with --verifier exact.
a.jsonl --verifier exact --tests tests.py -o o.jsonl
    --tests is for --verifier code alone; got it with --verifier exact.
a.jsonl --verifier regex --pattern ( -o o.jsonl
    --pattern must be a regular expression; got '('. Missing ), unterminated subpattern at position 0.
code.jsonl --verifier code --tests none.py -o o.jsonl
    --tests must be a file that can be read; got 'none.py': No such file or directory.
code.jsonl --verifier code --tests empty.jsonl -o o.jsonl
    --tests must be a file of tests; got 'empty.jsonl', which is empty.
none.jsonl --verifier exact --timeout 0 -o o.jsonl
    --timeout must be a number of seconds above 0; got 0.0.
none.jsonl --verifier code --timeout -1 -o o.jsonl
    --timeout must be seconds above 0; got -1.0.
none.jsonl --verifier exact --workers 0 -o o.jsonl
    --workers must be a whole number of at least 1; got 0.
none.jsonl --verifier exact --resume no/v.jsonl -o o.jsonl
    --resume must be a file in a folder that exists; got 'no/v.jsonl'. Make the folder first.
none.jsonl --verifier exact --resume . -o o.jsonl
    --resume must be a file of verdicts, or a new one; got '.'.
a.jsonl --verifier exact --resume b.jsonl.gz -o o.jsonl
    --resume must be a file of verdicts, or a new one; got 'b.jsonl.gz'. It holds something else, and is left as it is.
a.jsonl --verifier exact --resume o.jsonl -o o.jsonl
    --resume must be a file of its own, for verdicts; got 'o.jsonl'.
a.jsonl --verifier exact --resume a.jsonl -o o.jsonl
    --resume must be a file of its own, for verdicts; got 'a.jsonl'.
none.jsonl --verifier exact -o o.jsonl
    no file is named 'none.jsonl' in the current folder.
none.jsonl --verifier exact -o no/o.jsonl
    --output must be a file in a folder that exists; got 'no/o.jsonl'.
none.jsonl --verifier exact -o o.parquet
    --output must be a file ending in .jsonl or .json; got 'o.parquet'. Parquet is not written yet.
"""  # noqa: E501 - what is printed is one line


@pytest.mark.parametrize(("line", "said"), re.findall(r"^(\S.*)\n    (.*)$", ERRORS, re.MULTILINE))
def test_an_error_is_one_sentence_and_writes_nothing(line, said, home):
    done = run("grade", *line.split(), cwd=home)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"wai grade: error: {said}\n")
    assert not (home / "o.jsonl").exists()
