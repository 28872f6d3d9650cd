"""`wai.select(mode="sft")`: the passing completions of each task."""

from __future__ import annotations

from itertools import permutations

import pytest

import whileai as wai

GATES = ("unjudged", "empty_reply", "cut_off", "not_pass", "not_best", "beyond_target")


@pytest.mark.parametrize(
    ("rewards", "options", "gates", "kept"),
    [
        ([[0, 1, 1], [1], [0, 0]], {}, {"not_pass": 3, "not_best": 1}, [("t0", "reply 1"), ("t1", "reply 0")]),
        ([[0, 1, 1], [1]], {"per_task": 2}, {"not_pass": 1}, [("t0", "reply 1"), ("t0", "reply 2"), ("t1", "reply 0")]),
        ([[0.9, None, 1]], {}, {"unjudged": 1, "not_pass": 1}, [("t0", "reply 2")]),
        (
            [[1, 1], [1], [1]],
            {"target": 2},
            {"not_best": 1, "beyond_target": 1},
            [("t0", "reply 0"), ("t1", "reply 0")],
        ),
        ([[0.9, 0.95]], {}, {"not_pass": 2}, []),
        ([], {}, {}, []),
    ],
)
def test_gates(scored, rewards, options, gates, kept):
    selection = wai.select(scored(rewards), mode="sft", **options)
    assert [(row["task_id"], row["final_text"]) for row in selection] == kept
    assert {gate: selection.report[gate] for gate in GATES if selection.report[gate]} == gates
    assert len(selection.dropped) == selection.report.n_rows - len(kept) == sum(gates.values())


def test_empty_and_cut_off_replies_do_not_pass_for_good_ones(scored):
    rows = scored([[1, 1, 1]])
    rows[0]["final_text"] = " "
    rows[1]["finish_reason"] = "length"
    selection = wai.select(rows, mode="sft")
    assert [row["final_text"] for row in selection] == ["reply 2"]
    assert (selection.report.empty_reply, selection.report.cut_off, selection.report.not_pass) == (1, 1, 0)


def test_an_answer_that_holds_the_gold_stays(scored):
    rows = [{**row, "final_text": "It is 42", "privileged": {"reference": "42"}} for row in scored([[1]])]
    assert wai.select(rows, mode="sft")[0]["final_text"] == "It is 42"


@pytest.mark.parametrize("index", [[None] * 4, [3, 2, 1, 0], [0.0, 5.0, float("nan"), 1.0], [1, None, "x", 0]], ids=str)
def test_which_of_equals_stays_does_not_depend_on_the_order(scored, index):
    rows = [{**row, "rollout_index": i} for row, i in zip(scored([[1, 1, 1, 0]]), index, strict=True)]
    found = {wai.select(order, mode="sft")[0]["final_text"] for order in permutations(rows)}
    passing = [
        (i if isinstance(i, (int, float)) and i == i else 9, row["final_text"])
        for i, row in zip(index[:3], rows, strict=False)
    ]
    assert found == {min(passing)[1]}


def test_calibration_counts_the_judged_binary_rows(scored):
    (row,) = wai.select(scored([[0, 1, 0.5, None]]), mode="sft")
    assert (row["calibration"]["n"], row["calibration"]["pass_rate"]) == (2, 0.5)


@pytest.mark.parametrize(("rewards", "code"), [([], "no_rows"), ([[0]], "nothing_kept")])
def test_notes(scored, rewards, code):
    report = wai.select(scored(rewards), mode="sft").report
    assert [note["code"] for note in report.to_dict()["notes"]] == [code]
