"""The worked example: its questions, its simulated answers, its report."""

from __future__ import annotations

import json
import re

import pytest

import whileai as wai
from cli_helpers import printed, run, write
from whileai.cli import demo


def test_generated_problems_are_right_different_and_the_same_again():
    made = demo.questions(300, seed=5)
    assert made == demo.questions(300, seed=5)
    assert made != demo.questions(300, seed=6)
    assert len({problem["question"] for problem in made}) == 300
    for problem in made:
        *steps, last = problem["answer"].splitlines()
        value = None
        for step in steps:
            for calculation, said in re.findall(r"<<(.*?)=(-?\d+)>>", step):
                value = int(said)
                assert re.fullmatch(r"\d+[-+*/]\d+", calculation)
                assert eval(calculation) == value
        assert last == f"#### {value}"
        assert value >= 0


def test_simulated_answers_differ_in_what_a_grader_sees():
    problems = demo.questions(60)
    golds = [demo.gold_of(problem) for problem in problems]
    rates = []
    for skill in (-30.0, demo.OLD, demo.NEW, 30.0):
        rows = wai.rows(
            [p["question"] for p in problems], demo.answers(problems, skill), wai.verify.MathEqual(), references=golds
        )
        assert {row["judge_status"] for row in rows} == {"ok"}
        rates.append(wai.pass_at(rows).pass_at_1)
    assert rates[0] == 0
    assert rates[-1] == 1
    assert 0.2 < rates[1] < rates[2] < 0.9
    assert demo.answers(problems, 0.0, seed=1) != demo.answers(problems, 0.0, seed=2)


def test_the_worked_example_runs_to_a_report(tmp_path):
    problems = demo.questions(40, seed=3)
    path = write(tmp_path / "questions.jsonl", problems)
    done = run("demo", "--n", "40", "--seed", "3")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n== ") == 5
    result = demo.report(problems, seed=3)
    assert done.stdout == printed(result)
    for part in (result.pass_at, result.eval_variance, result.holdout_size, result.compare, result.select):
        assert str(part) in done.stdout
    found = json.loads(run("demo", "--questions", path, "--seed", "3", "--json").stdout)
    assert found["result"] == result.to_dict()
    assert found["verdict"] == result.compare.verdict
    assert [entry["rows"] for entry in found["inputs"]] == [40]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"question": "q", "answer": "no mark"}, 'answer must be a worked answer that ends in "#### <number>"'),
        ({"question": "q", "answer": "#### x"}, 'answer must be a worked answer that ends in "#### <number>"'),
        ({"question": " ", "answer": "#### 1"}, "question must be text"),
    ],
)
def test_a_question_without_a_gold_is_named(row, said, tmp_path):
    path = write(tmp_path / "q.jsonl", [{"question": "q", "answer": "so\n#### 1,200"}, row])
    with pytest.raises(wai.RowError, match=re.escape(f"q.jsonl row 1: {said}")):
        demo.read_questions(path)


def test_the_better_model_is_found_better_on_as_many_questions_as_come_by_default():
    result = demo.report(demo.questions())
    assert (result.compare.verdict, result.compare.ok) == ("improved", True)
    assert result.select.n_kept > 0
