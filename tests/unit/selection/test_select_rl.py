"""`wai.select(mode="rl")`: every gate and its count, whole groups, the band's ends, calibration, refusals."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest

import whileai as wai

GATES = ("unjudged", "partial", "empty_reply", "cut_off", "single", "unanimous", "too_easy", "too_hard")


def taken(report):
    return {gate: report[gate] for gate in GATES if report[gate]}


@pytest.mark.parametrize(
    ("rewards", "gates", "kept"),
    [
        ([[1, 0]], {}, 2),
        ([[1, 1, 0, 0], [1]], {"single": 1}, 4),
        ([[1, 1], [0, 0, 0]], {"unanimous": 5}, 0),
        ([[1, 1, 1, 1, 1, 1, 0]], {"too_easy": 7}, 0),
        ([[0, 0, 0, 0, 0, 0, 1]], {"too_hard": 7}, 0),
        ([[1, 1, 1, 1, 0]], {}, 5),
        ([[0, 0, 0, 0, 1]], {}, 5),
        ([[1, 0, None, math.nan]], {"unjudged": 2}, 2),
        ([[1, 0, 0.5]], {"partial": 1}, 2),
        ([[1, None], [0.5, 0]], {"unjudged": 1, "partial": 1, "single": 2}, 0),
        ([[None], [0.5]], {"unjudged": 1, "partial": 1}, 0),
        ([[True, False, np.float32(1)]], {}, 3),
    ],
)
def test_gates(scored, rewards, gates, kept):
    selection = wai.select(scored(rewards), mode="rl")
    assert taken(selection.report) == gates
    assert len(selection) == selection.report.n_kept == kept
    assert len(selection.dropped) == selection.report.n_rows - kept
    assert sum(gates.values()) == selection.report.n_rows - kept


@pytest.mark.parametrize(
    ("change", "gate"),
    [
        ({"final_text": ""}, "empty_reply"),
        ({"final_text": " \n\t"}, "empty_reply"),
        ({"final_text": None}, "empty_reply"),
        ({"final_text": "", "finish_reason": "length"}, "empty_reply"),
        ({"finish_reason": "length"}, "cut_off"),
        ({"stop_reason": "max_tokens"}, "cut_off"),
        ({"truncated": True}, "cut_off"),
        ({"is_truncated": np.True_}, "cut_off"),
        ({"steps": [{"finish_reason": "length"}]}, "cut_off"),
        ({"reward": None, "final_text": ""}, "unjudged"),
        ({"reward": 0.5, "finish_reason": "length"}, "partial"),
        ({"final_text": "and then,"}, None),
        ({"finish_reason": "stop", "truncated": False}, None),
        ({"final_text": "the gold", "privileged": {"reference": "the gold"}}, None),
        ({"final_text": None, "messages": [{"role": "assistant", "content": "x"}]}, None),
    ],
    ids=str,
)
def test_row_gates(scored, change, gate):
    rows = scored([[1, 1, 1, 0, 0]])
    rows[0].update(change)
    assert taken(wai.select(rows, mode="rl").report) == ({gate: 1} if gate else {})


def test_equal_replies_are_all_kept(scored):
    rows = [{**row, "final_text": "the same"} for row in scored([[1, 0] * 8])]
    assert len(wai.select(rows, mode="rl")) == 16


@pytest.mark.parametrize("n", [5, 10, 15, 20, 25, 35, 40, 45, 1000])
def test_both_ends_of_the_band_belong_to_it(scored, n):
    for passes in (n // 5, 4 * n // 5):
        assert len(wai.select(scored([[1] * passes + [0] * (n - passes)]), mode="rl")) == n
    for passes in (n // 5 - 1, 4 * n // 5 + 1):
        assert wai.select(scored([[1] * passes + [0] * (n - passes)]), mode="rl") == []


def test_a_third_is_a_third(scored):
    assert len(wai.select(scored([[1, 0, 0]]), mode="rl", band=(1 / 3, 1 / 3))) == 3


def test_the_rate_is_read_on_the_rows_that_are_left(scored):
    rows = scored([[1, 0, 0, 0, 0, 0, 0]])
    for row in rows[4:]:
        row["finish_reason"] = "length"
    selection = wai.select(rows, mode="rl")
    assert [row["calibration"]["pass_rate"] for row in selection] == [0.25] * 4
    assert selection[0]["calibration"]["n"] == 4


def test_kept_rows_are_copies_in_their_order(scored):
    rows = scored([[1, 0], [1, 1], [0, 1]])[::-1]
    rows[0]["policy_version"] = "m-1"
    keep = copy.deepcopy(rows)
    selection = wai.select(rows, mode="rl")
    assert rows == keep
    assert [(row["task_id"], row["final_text"]) for row in selection] == [
        (row["task_id"], row["final_text"]) for row in rows if row["task_id"] != "t1"
    ]
    assert [row["task_id"] for row in selection.dropped] == ["t1", "t1"]
    calibration = selection[0]["calibration"]
    assert {name: calibration[name] for name in ("task_id", "n", "pass_rate")} == {
        "task_id": "t2",
        "n": 2,
        "pass_rate": 0.5,
    }
    # Wilson 1927: 1 of 2
    assert calibration["pass_rate_ci95"] == [pytest.approx(0.0945312), pytest.approx(0.9054688)]


def test_target_takes_whole_groups_in_the_order_they_come(scored):
    rows = scored([[1, 0, 1], [1, 0], [0, 1, 1, 0]])
    for target, kept in ((1, 3), (3, 3), (4, 5), (6, 9), (99, 9)):
        selection = wai.select(rows, mode="rl", target=target)
        assert (len(selection), selection.report.beyond_target, selection.report.n_tasks_in_band) == (kept, 9 - kept, 3)


def test_ids_of_any_kind(scored):
    rows = [{"task_id": id_, "final_text": "x", "reward": i % 2} for i, id_ in enumerate([0, "0", 0.0, np.int64(0)])]
    assert len(wai.select(rows, mode="rl")) == 4


def test_a_selection_is_rows_for_every_other_call(scored):
    selection = wai.select(scored([[1, 0, 1], [1, 1]]), mode="rl")
    assert wai.pass_at(selection).n_rows == 3
    assert wai.select(selection, mode="sft")[0]["reward"] == 1
    again = pickle.loads(pickle.dumps(selection))
    assert (list(again), again.report) == (list(selection), selection.report)
    assert isinstance(copy.deepcopy(selection), type(selection))
    assert str(selection) == str(selection.report)


def test_the_report_says_why_nothing_is_left(scored):
    report = wai.select(scored([[None, None, 1]]), mode="rl").report
    assert [note.code for note in report.notes] == ["nothing_kept"]
    assert "unjudged" in report.notes[0].text
    assert report.to_dict()["notes"][0]["code"] == "nothing_kept"
    assert [note.code for note in wai.select([], mode="rl").report.notes] == ["no_rows"]
    assert wai.select(scored([[1, 0]]), mode="rl").report.notes == ()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "rll"}, "select: mode must be one of 'rl', 'sft'; got 'rll'. Did you mean rl?"),
        ({"mode": None}, "select: mode must be one of 'rl', 'sft'; got None. Known here: rl, sft."),
        (
            {"band": (0.8, 0.2)},
            "select: band must be a pair (low, high) with low first; got (0.8, 0.2). Write (0.2, 0.8).",
        ),
        ({"band": 0.5}, "select: band must be a pair (low, high); got 0.5. (0.2, 0.8) is usual."),
        (
            {"band": (0.2, 0.5, 0.8)},
            "select: band must be a pair (low, high); got (0.2, 0.5, 0.8). (0.2, 0.8) is usual.",
        ),
        ({"band": (20, 80)}, "select: band must be two rates in [0, 1]; got 20. (0.2, 0.8) is usual."),
        ({"band": (0.2, math.nan)}, "select: band must be two rates in [0, 1]; got nan. (0.2, 0.8) is usual."),
        ({"target": 0}, "select: target must be a whole number of at least 1; got 0."),
        ({"per_task": 1.5}, "select: per_task must be a whole number of at least 1; got 1.5."),
    ],
)
def test_refusals(scored, options, message):
    with pytest.raises(wai.ParamError) as error:
        wai.select(scored([[1, 0]]), **{"mode": "rl", **options})
    assert str(error.value) == message


def test_a_bad_reward_names_its_row(scored):
    with pytest.raises(wai.RowError, match=r"^select: row 1: reward must be a number in \[0, 1\]; got 2\."):
        wai.select(scored([[1, 2]]), mode="rl")
