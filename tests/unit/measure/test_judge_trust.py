"""`wai.judge_trust`: verdicts against their bars, gold from any key, and a print with every number."""

import json
import random

import pytest

import whileai as wai


def labelled(*groups, **keys):
    """Rows from (judge, gold, how many), one task each."""
    pairs = [(judge, gold) for judge, gold, n in groups for _ in range(n)]
    return [
        {"task_id": i, "prompt": f"q{i}", "final_text": "x" * (1 + i % 5), "reward": judge, "gold_reward": gold}
        | {name: value(i) for name, value in keys.items()}
        for i, (judge, gold) in enumerate(pairs)
    ]


GOOD = labelled((1, 1, 60), (0, 0, 60), (1, 0, 2), (0, 1, 2))


@pytest.mark.parametrize(
    ("rows", "verdict"),
    [
        (GOOD, "pass"),
        (labelled((1, 1, 28), (1, 0, 8), (0, 1, 2), (0, 0, 12)), "inconclusive"),
        (labelled((1, 1, 25), (1, 0, 25), (0, 1, 25), (0, 0, 25)), "fail"),
        (labelled((1, 1, 95), (1, 0, 5)), "fail"),
        (labelled((1, 1, 50)), "not_measured"),
        (labelled((1, None, 50)), "not_measured"),
        ([], "not_measured"),
    ],
    ids=["good", "few labels", "coin", "always passes", "one class", "no gold", "no rows"],
)
def test_verdict(rows, verdict):
    result = wai.judge_trust(rows)
    assert (result.verdict, result.ok) == (verdict, verdict == "pass")
    assert json.loads(result.to_json())["verdict"] == verdict


def test_printed():
    rows = labelled((1, 1, 28), (1, 0, 8), (0, 1, 2), (0, 0, 12)) + [
        {"task_id": f"u{i}", "final_text": "x", "reward": int(i % 4 < 3)} for i in range(450)
    ]
    assert str(wai.judge_trust(rows)).splitlines()[:6] == [
        "inconclusive: the judge agrees with gold on 0.80 [0.66..0.90] of 50 labelled tasks; the bar is 0.80",
        "  kappa 0.56 [0.32..0.80], bar 0.60 | AC1 0.64 | always saying pass would agree on 0.60",
        "              gold pass  gold fail",
        "  judge pass         28          8  passes 0.40 [0.19..0.64] of the failures",
        "  judge fail          2         12  fails 0.07 [0.01..0.22] of the passes",
        "  pass rate: 0.75 by the judge, 0.62 [0.49..0.74] corrected",
    ]


def test_gold_at_a_path():
    rows = [{**row, "info": {"human": row["gold_reward"]}} for row in GOOD]
    expected = wai.judge_trust(GOOD).to_dict()
    assert wai.judge_trust(rows, gold="info.human").to_dict() == expected
    with pytest.raises(wai.ParamError, match=r"judge_trust: gold must be a key of the rows; got 'info\.humn'"):
        wai.judge_trust(rows, gold="info.humn")


def test_partial_and_missing_are_counted_and_left_out():
    rows = [*GOOD, *labelled((0.5, 1, 3), (1, 0.5, 2), (None, 1, 4))]
    rows = [{**row, "task_id": i} for i, row in enumerate(rows)]
    result = wai.judge_trust(rows)
    assert result.confusion == wai.judge_trust(GOOD).confusion
    told = {note.code: note.text.split()[0] for note in result.notes}
    assert (told["partial"], told["unjudged"]) == ("5", "4")


def test_what_the_error_moves_with():
    rows = labelled((1, 1, 40), (0, 0, 40), (1, 0, 20), markers=lambda i: {"long": float(i >= 80), "even": i % 2})
    found = {item.name: item for item in wai.judge_trust(rows).sensitivity}
    assert set(found) == {"length", "marker:long", "marker:even"}
    assert found["marker:long"].correlation == pytest.approx(1.0)
    assert found["marker:even"].p_adjusted > 0.05
    assert any(note.code == "biased" and "marker:long" in note.text for note in wai.judge_trust(rows).notes)


def test_right_replies_that_are_longer_are_no_bias():
    """A judge that errs alike on all replies is not moved by length, though gold is; one that longer ones fool is."""
    rng = random.Random(5)
    alike, fooled = [], []
    for i in range(400):
        gold = int(rng.random() < 0.6)
        length = int(rng.lognormvariate(4 + gold, 0.5))
        row = {"task_id": i, "final_text": "x" * length, "gold_reward": gold}
        alike.append({**row, "reward": gold ^ int(rng.random() < 0.2)})
        fooled.append({**row, "reward": max(gold, int(rng.random() < length / 200))})
    checks = [{check.name: check.verdict for check in wai.judge_trust(rows).checks}["bias"] for rows in (alike, fooled)]
    assert checks == ["pass", "fail"]


def test_rows_added_because_of_outcomes_tell_no_rate():
    added = [{**row, "allocation": {"phase": "fill"}} for row in labelled((1, 0, 30))]
    result = wai.judge_trust([*added, *GOOD])
    plain = wai.judge_trust(GOOD)
    assert (result.n_rows, result.corrected_pass_rate) == (len(GOOD), plain.corrected_pass_rate)
    note = "30 rows were left out: added because of earlier outcomes, they tell no rate."
    assert [note.text for note in result.notes] == [note]
    with pytest.raises(wai.RowError, match="judge_trust: row 31: gold_reward must be"):
        wai.judge_trust([*added, GOOD[0], {**GOOD[1], "gold_reward": "maybe"}])


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        (labelled((1, 0.4, 5), (0, 0.6, 5)), "all gold is partial, and agreement is of pass and fail."),
        (labelled((0.4, 1, 5), (0.6, 0, 5)), "no row with gold has a verdict of the judge, pass or fail."),
    ],
)
def test_partial_numbers_alone_are_told_as_such(rows, text):
    result = wai.judge_trust(rows)
    assert (result.verdict, result.notes[0].text) == ("not_measured", text)


def test_one_row_is_told_in_the_singular():
    rows = [*GOOD, {"task_id": "odd", "reward": None}, {"task_id": "half", "reward": 0.5}]
    told = {note.code: note.text for note in wai.judge_trust(rows).notes}
    assert told["unjudged"] == "1 row without a verdict of the judge was left out."
    assert told["partial"] == "1 row with a partial verdict or gold was left out."
