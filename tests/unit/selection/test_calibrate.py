"""`wai.calibrate`: pass rates and divergences by hand, per student, and what is left out."""

from __future__ import annotations

import json
import math
import random

import pytest

import whileai as wai
from whileai.simulations import schema

PAIR = [(-10.0, -12.0, 20), (-8.0, -9.0, 10)]


def sided(pairs=PAIR, task="t", rewards=None, **more):
    """One row per (student, reference, tokens)."""
    return [
        {
            "task_id": task,
            "rollout_index": i,
            "final_text": f"reply {i}",
            "reward": (rewards or [1, 0] * len(pairs))[i],
            "logprob": own,
            "n_tokens": n,
            "base": base,
            **more,
        }
        for i, (own, base, n) in enumerate(pairs)
    ]


def block(rows, **options):
    return wai.calibrate(rows, **options)[0]["calibration"]


@pytest.mark.parametrize(
    ("passed", "n", "low", "high"),
    [
        # Wilson 1927 by the formula of Newcombe 1998, method 3 (z = 1.959964): 81/263 is his own example
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (8, 8, 0.6756, 1.0),
    ],
)
def test_the_pass_rate_has_wilsons_interval(passed, n, low, high):
    found = block([{"task_id": "t", "reward": int(i < passed)} for i in range(n)])
    assert (found["task_id"], found["n"], found["pass_rate"]) == ("t", n, passed / n)
    assert found["pass_rate_ci95"] == pytest.approx([low, high], abs=5e-5)


def test_the_divergence_by_hand():
    found = block(sided(), ref="base")
    assert found["mean_kl"] == pytest.approx(3 / 30, abs=1e-15)
    assert found["n_tokens"] == 30
    assert found["mean_kl_ci95"] is None  # both rollouts say 0.1 a token: no spread to go by
    # ratios 2, 1, 3 on 20, 10, 10 tokens (see the test of the numbers)
    three = block(sided([*PAIR, (-5.0, -8.0, 10)]), ref="base")
    half = 4.3026527297 * math.sqrt(1.5 * 3.5) / 40
    assert three["mean_kl"] == pytest.approx(0.15)
    assert three["mean_kl_ci95"] == pytest.approx([0.15 - half, 0.15 + half], abs=1e-9)
    assert "mean_kl_k3" not in three


def test_over_the_set_tasks_are_the_units():
    rows = sided(task="a") + sided([(-5.0, -8.0, 10)], task="b")
    student = wai.calibrate(rows, ref="base").report.students[0]
    # a: 3 on 30 tokens, b: 3 on 10: mean 6/40; e = 3 - 4.5, 3 - 1.5; t at 1 degree
    half = 12.706204736 * math.sqrt(2 / 1 * (1.5**2 + 1.5**2)) / 40
    assert student.mean_kl == pytest.approx(0.15)
    assert student.mean_kl_interval == pytest.approx((0.15 - half, 0.15 + half), abs=1e-8)


def test_tokens_on_both_sides_give_k3():
    rows = [{"task_id": "t", "reward": 1, "token_logprobs": [-1.0, -2.0], "base": [-1.5, -1.5]}]
    found = block(rows, ref="base")
    terms = [math.exp(-0.5) - 1 + 0.5, math.exp(0.5) - 1 - 0.5]
    assert found["mean_kl"] == 0
    assert found["mean_kl_k3"] == pytest.approx(sum(terms) / 2)
    assert found["n_tokens"] == 2


@pytest.mark.parametrize("shape", ["key", "path", "block", "rows", "file"])
def test_a_reference_in_every_shape(shape, tmp_path):
    rows = sided([*PAIR, (-5.0, -8.0, 10)])
    expected = block(rows, ref="base")
    others = [
        {"task_id": "t", "rollout_index": row["rollout_index"], "logprob": row["base"], "n_tokens": row["n_tokens"]}
        for row in rows
    ]
    ref = "base"
    if shape == "path":
        rows, ref = [{**row, "scores": {"base": row["base"]}} for row in rows], "scores.base"
    elif shape == "block":
        rows = [{**row, "base": {"logprob": row["base"], "n_tokens": row["n_tokens"]}} for row in rows]
    elif shape == "rows":
        ref = random.Random(0).sample(others, len(others))
    elif shape == "file":
        ref = tmp_path / "reference.jsonl"
        ref.write_text("".join(json.dumps(other) + "\n" for other in others))
        assert block(rows, ref=str(ref)) == expected
    assert block(rows, ref=ref) == expected


def test_steps_tell_the_students_side_where_the_row_does_not():
    steps = [
        {"user": "q"},
        {"tool": "get", "logprob": -3.0, "n_tokens": 8},
        {"text": "a", "logprob": -7.0, "n_tokens": 12},
    ]
    rows = [{"task_id": "t", "reward": 1, "steps": steps, "base": -12.0}]
    assert block(rows, ref="base")["mean_kl"] == pytest.approx(0.1)


def test_of_no_rows_nothing_is_measured_whatever_the_reference():
    for ref in (None, "base", sided()):
        assert [note.code for note in wai.calibrate([], ref=ref).report.notes] == ["no_rows"]


def test_what_cannot_be_compared_is_left_out_and_counted():
    rows = sided()
    rows.append({"task_id": "t", "rollout_index": 2, "final_text": "x", "reward": 1, "base": -3.0})
    rows.append({"task_id": "t", "rollout_index": 3, "final_text": "x", "reward": 1, "logprob": -3.0, "n_tokens": 4})
    rows.append({"task_id": "t", "rollout_index": 4, "final_text": "x", "reward": 1, "logprob": -3.0, "n_tokens": 4})
    rows.append({"task_id": "t", "rollout_index": 5, "final_text": "x", "reward": 1, "logprob": -3.0, "n_tokens": 4})
    ref = [
        {
            "task_id": "t",
            "rollout_index": row["rollout_index"],
            "logprob": row.get("base", -9.0),
            "n_tokens": row.get("n_tokens", 1),
        }
        for row in rows[:3]
    ]
    ref.append({"task_id": "t", "rollout_index": 4, "final_text": "x", "logprob": -9.0, "n_tokens": 5})
    ref.append({"task_id": "t", "rollout_index": 5, "final_text": "another", "logprob": -9.0, "n_tokens": 4})
    found = wai.calibrate(rows, ref=ref)
    assert found.report.left_out == {"no_student": 1, "no_reference": 1, "other_tokens": 1, "other_text": 1}
    assert found[0]["calibration"]["mean_kl"] == pytest.approx(0.1)
    assert found[0]["calibration"]["n"] == 6


def test_a_divergence_below_zero_is_kept_and_noted():
    found = wai.calibrate(sided([(-12.0, -10.0, 20), (-9.0, -8.5, 10)]), ref="base")
    assert found[0]["calibration"]["mean_kl"] == pytest.approx(-2.5 / 30)
    assert "negative_kl" in [note.code for note in found.report.notes]
    assert schema.calibration_of(found[0]).mean_kl < 0


def test_without_a_reference_there_is_no_word_of_it():
    assert set(block(sided())) == {"task_id", "student", "n", "pass_rate", "pass_rate_ci95"}
    assert block([{"task_id": "t", "reward": 1}], ref=[])["mean_kl"] is None


def test_students_are_never_pooled():
    rows = sided(rewards=[1, 1], policy_version="m@1", model_version="m")
    rows += sided(rewards=[0, 1], policy_version="m@2", model_version="m")
    own = wai.calibrate(rows)
    assert [row["calibration"]["pass_rate"] for row in own] == [1.0, 1.0, 0.5, 0.5]
    assert [row["calibration"]["student"]["version"] for row in own] == ["m@1", "m@1", "m@2", "m@2"]
    assert [student.student for student in own.report.students] == ["m@1", "m@2"]
    picked = wai.calibrate(rows, policy="m@2")
    assert [row["calibration"]["pass_rate"] for row in picked] == [0.5] * 4
    assert [student.student for student in picked.report.students] == ["m@2"]
    with pytest.raises(wai.ParamError, match=r"got 'm@3'. Did you mean m@"):
        wai.calibrate(rows, policy="m@3")
    with pytest.raises(wai.ParamError, match="2 policies have this model"):
        wai.calibrate(rows, policy="m")


def test_fill_rows_partial_and_unjudged_rows_tell_no_rate():
    rows = [
        {"task_id": "t", "reward": 1, "allocation": {"phase": "probe"}},
        {"task_id": "t", "reward": False, "allocation": {"phase": "probe"}},
        *[{"task_id": "t", "reward": 1, "allocation": {"phase": "fill"}}] * 6,
        {"task_id": "t", "reward": 0.5},
        {"task_id": "t", "reward": None},
        {"task_id": "unjudged", "reward": None},
    ]
    found = wai.calibrate(rows)
    assert [row.get("calibration", {}).get("n") for row in found] == [2] * 10 + [None]
    assert (found.report.n_fill, found.report.n_partial, found.report.n_unjudged) == (6, 1, 2)
    assert found.report.n_calibrated == 10


def test_rows_are_copied_and_an_old_calibration_goes():
    rows = [{"task_id": "t", "reward": None, "calibration": {"n": 3}}, {"task_id": "u", "reward": 1}]
    before = json.dumps(rows)
    found = wai.calibrate(rows)
    assert "calibration" not in found[0]
    found[1]["calibration"]["student"]["name"] = "changed"
    assert json.dumps(rows) == before


def test_rows_share_no_calibration():
    first, second = wai.calibrate(sided())
    first["calibration"]["pass_rate_ci95"].append(9)
    first["calibration"]["student"]["name"] = "x"
    assert len(second["calibration"]["pass_rate_ci95"]) == 2
    assert second["calibration"]["student"]["name"] == ""


def test_it_survives_json_and_the_typed_reading():
    rows = wai.calibrate(sided([*PAIR, (-5.0, -8.0, 10)], policy_version="m@1", model_version="m"), ref="base")
    assert json.loads(json.dumps(list(rows))) == list(rows)
    typed = schema.calibration_of(rows[0])
    assert (typed.student.version, typed.student.model, typed.n) == ("m@1", "m", 3)
    assert typed.mean_kl == rows[0]["calibration"]["mean_kl"]


def test_the_order_of_the_rows_is_of_no_matter():
    draw = random.Random(1)
    rows = [
        {
            "task_id": f"t{t}",
            "rollout_index": r,
            "reward": draw.randint(0, 1),
            "logprob": -draw.random() * 50,
            "n_tokens": draw.randint(1, 40),
            "base": -draw.random() * 50,
        }
        for t in range(20)
        for r in range(5)
    ]
    mixed = draw.sample(rows, len(rows))
    assert wai.calibrate(rows, ref="base").report == wai.calibrate(mixed, ref="base").report


def test_printed():
    rows = [
        row
        for t in range(5)
        for row in sided([*PAIR, (-5.0, -8.0 - t, 10)], task=f"t{t}", rewards=[1, int(t > 1), t // 4])
    ]
    assert str(wai.calibrate([{**row, "policy_version": "m@1"} for row in rows], ref="base")) == (
        "calibrated 15 of 15 rows on 5 tasks for 1 student\n"
        "  m@1: pass rate 0.60 [0.27..0.85] over 5 tasks | KL 0.200 [0.151..0.249] nats a token (200 tokens)\n"
        "  tasks with pass rate  0  below .2  .2 to .8  above .8  1\n"
        "  m@1                   0         0         4         0  1"
    )


@pytest.mark.parametrize(("rows", "code"), [([], "no_rows"), ([{"task_id": "t", "reward": None}], "nothing_judged")])
def test_nothing_to_go_by(rows, code):
    assert wai.calibrate(rows).report.notes[0].code == code


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ref": "bsae"}, "calibrate: ref must be a key of the rows, or rows; got 'bsae'. Did you mean base?"),
        ({"policy": 3}, "calibrate: policy must be the name of a policy, or None; got 3."),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(wai.ParamError) as caught:
        wai.calibrate(sided(), **options)
    assert str(caught.value) == message


def test_a_reference_that_is_no_data():
    with pytest.raises(TypeError, match="calibrate: ref must be"):
        wai.calibrate(sided(), ref=3)
    with pytest.raises(FileNotFoundError):
        wai.calibrate(sided(), ref="no/such/file.jsonl")
