"""`wai.compare_judges`: ranked on the same rows, held against the first, with what they take."""

import json

import pytest

import whileai as wai
from whileai.result import Table

ROWS = [{"task_id": i, "prompt": f"q{i}", "final_text": f"a{i}", "gold_reward": i % 2} for i in range(80)]


def with_verdicts(wrong, meta=None):
    """Rows of a judge that errs on the first `wrong` tasks."""
    return [
        {key: value for key, value in row.items() if key != "gold_reward"}
        | {"reward": row["gold_reward"] ^ int(i < wrong)}
        | ({} if meta is None else {"judge_meta": meta})
        for i, row in enumerate(ROWS)
    ]


def test_ranked_with_tests_of_their_own():
    meta = {"usage": {"input_tokens": 90, "output_tokens": 10, "cost": 0.002}, "seconds": 1.5}
    tables = {"bad": with_verdicts(30), "good": with_verdicts(4, meta), "close": with_verdicts(6)}
    result = wai.compare_judges(tables, ROWS)
    assert [judge.name for judge in result.judges] == ["good", "close", "bad"]
    assert (result.verdict, result.ok, result.best) == ("tied", False, "good")
    good, close, bad = result.judges
    assert good.agreement == pytest.approx(76 / 80)
    assert (good.behind, good.p_value) == (None, None)
    assert close.behind == pytest.approx(2 / 80)
    assert close.p_value == 0.5  # two tasks, both for the first
    assert bad.p_value == pytest.approx(2.0**-25)
    assert (close.p_adjusted, bad.p_adjusted) == (0.5, pytest.approx(2.0**-24))
    assert (good.cost, good.tokens, good.seconds) == (0.002, 100, 1.5)
    assert (bad.cost, bad.seconds) == (None, None)
    assert result["good"] is good
    assert result["best"] == "good"
    assert str(result).startswith(
        "no judge proven best: good agrees with gold on 0.95 [0.88..0.99] of 80 labelled tasks"
    )
    assert json.loads(result.to_json())["judges"][0]["name"] == "good"
    assert wai.compare_judges({"bad": tables["bad"], "good": tables["good"]}, ROWS).verdict == "best"


def test_judges_are_asked_about_labelled_rows_only():
    def judge(row):
        assert "gold_reward" in row
        return {"reward": row["task_id"] % 2, "cost": 0.5}

    rows = [*ROWS, {"task_id": "more", "final_text": "x"}]
    result = wai.compare_judges({"asked": judge, "rows": with_verdicts(10)}, gold=rows)
    assert (result.best, result.n_rows) == ("asked", 80)
    assert result["asked"].cost == 0.5
    assert 0 < result["asked"].seconds < 30


def test_the_same_rows_for_all():
    some = with_verdicts(0)[:50]
    result = wai.compare_judges(
        {"half": some, "all": with_verdicts(20), "fails": lambda row: 1 / (row["task_id"] - 3)}, ROWS
    )
    assert result.n_rows < 50
    assert result["half"].n_unusable == 30
    assert any(note.code == "not_judged_by_all" for note in result.notes)


def test_gold_on_the_rows_of_a_judge():
    rows = [{**row, "human": "pass" if i % 2 else "fail"} for i, row in enumerate(with_verdicts(3))]
    assert wai.compare_judges({"only": rows}, gold="human").judges[0].agreement == pytest.approx(77 / 80)
    assert str(wai.compare_judges({"only": rows}, gold="human")).startswith("only one judge: ")
    with pytest.raises(wai.ParamError, match="Did you mean human"):
        wai.compare_judges({"only": rows}, gold="humn")


def test_of_one_judge_the_last_columns_go_first_where_there_is_no_room():
    (table,) = [
        block
        for block in wai.compare_judges({"only": with_verdicts(4, {"seconds": 1.5, "cost": 0.1})}, ROWS)._blocks()
        if isinstance(block, Table)
    ]
    assert [table.header[place] for place in table.droppable] == ["unusable", "cost", "s"]


def test_copies_pair_in_their_order():
    rows = [{"task_id": "t", "final_text": "same", "gold_reward": g} for g in (1, 0, 1, 0)]
    said = [{"task_id": "t", "final_text": "same", "reward": r} for r in (1, 0, 0, 0)]
    assert wai.compare_judges({"a": said}, rows).judges[0].confusion == {"tp": 1, "fp": 0, "fn": 1, "tn": 2}


@pytest.mark.parametrize("gold", [[1] * 80, [None] * 80])
def test_one_class_or_no_gold_is_not_measured(gold):
    rows = [{**row, "gold_reward": value} for row, value in zip(ROWS, gold, strict=True)]
    result = wai.compare_judges({"a": with_verdicts(0), "b": with_verdicts(5)}, rows)
    assert (result.verdict, result.ok, result.best) == ("not_measured", False, None)
    assert result.notes
    assert "not measured" in str(result)


@pytest.mark.parametrize(
    ("judges", "settings", "kind"),
    [
        ({}, {}, wai.ParamError),
        ([1], {}, wai.ParamError),
        ({"a": lambda row: 1}, {}, wai.ParamError),
        ({"a": 3}, {"rows": ROWS}, TypeError),
        ({"a": lambda row: 1}, {"rows": ROWS, "gold": ROWS}, wai.ParamError),
        ({"a": lambda row: 1}, {"rows": ROWS, "level": 95}, wai.ParamError),
    ],
)
def test_bad_arguments(judges, settings, kind):
    with pytest.raises(kind, match="compare_judges: "):
        wai.compare_judges(judges, **settings)


def test_a_judge_without_a_verdict_holds_no_other_back():
    def broken(row):
        raise ValueError("no\x1b[2J key")

    judges = {"broken": broken, "good": with_verdicts(4), "bad": with_verdicts(30)}
    result = wai.compare_judges(judges, ROWS)
    assert [judge.name for judge in result.judges] == ["good", "bad", "broken"]
    assert (result.verdict, result.n_rows) == ("best", 80)
    assert (result["broken"].agreement, result["broken"].n_unusable) == (None, 80)
    assert "broken  not measured" in str(result)
    assert "the first, error: ValueError: no\\x1b[2J key." in " ".join(str(result).split())
    alone = wai.compare_judges({"broken": broken}, ROWS)
    assert (alone.verdict, alone.best, alone.notes[0].code) == ("not_measured", None, "no_verdicts")


def test_a_tie_goes_to_the_larger_kappa_though_it_is_0():
    """One fails everything, kappa 0; the other agrees as often and worse than by chance."""
    rows = [{"task_id": i, "final_text": f"a{i}", "gold_reward": int(i < 12)} for i in range(16)]
    passed = {"a worse": (0, 1, 12, 13), "b constant": ()}
    result = wai.compare_judges(
        {n: [{**row, "reward": int(row["task_id"] in of)} for row in rows] for n, of in passed.items()}
    )
    assert [(judge.name, judge.agreement) for judge in result.judges] == [("b constant", 0.25), ("a worse", 0.25)]
    assert [judge.kappa for judge in result.judges] == [0, pytest.approx(-0.2)]
