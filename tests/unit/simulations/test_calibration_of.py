"""The calibration that a row carries."""

import json

import pytest

from whileai import keys
from whileai.simulations import schema

BLOCK = {"task_id": "t", "student": {"name": "m"}, "n": 8, "pass_rate": 0.5, "pass_rate_ci95": [0.2152, 0.7848]}


def test_it_is_typed():
    row = json.loads(json.dumps({"task_id": "t", "calibration": {**BLOCK, "mean_kl": -0.01, "n_tokens": 30}}))
    expected = schema.Calibration("t", schema.PolicyRef("m"), 8, 0.5, -0.01, (0.2152, 0.7848))
    assert schema.calibration_of(row) == expected
    assert schema.to_row(*schema.from_row(row))["calibration"] == row["calibration"]


@pytest.mark.parametrize(
    ("part", "field", "value"),
    [
        ({"task_id": None}, "task_id", "of the row"),
        ({"student": None}, "student", schema.PolicyRef()),
        ({"student": "m-2"}, "student", schema.PolicyRef("m-2")),
        ({"student": {"model": "m", "version": "v", "note": 1}}, "student", schema.PolicyRef(model="m", version="v")),
        ({"n": 8.0}, "n", 8),
        ({"pass_rate": 1}, "pass_rate", 1),
        ({"pass_rate_ci95": None}, "pass_rate_ci95", None),
        ({"pass_rate_ci95": (0.1, 0.9)}, "pass_rate_ci95", (0.1, 0.9)),
    ],
)
def test_what_may_be_left_out(part, field, value):
    calibration = schema.calibration_of({"task_id": "of the row", "calibration": {**BLOCK, **part}})
    assert getattr(calibration, field) == value


def test_a_row_without_ids_lends_the_id_of_its_prompt():
    row = {"prompt": "q", "calibration": {"n": 2, "pass_rate": 0.5}}
    assert schema.calibration_of(row).task_id == keys.default_task_id("q")


@pytest.mark.parametrize(
    "calibration",
    [
        *(None, "easy", [], {}, 5),
        *({**BLOCK, "n": n} for n in ("many", 0, -1, 2.5, None, True)),
        *({**BLOCK, "pass_rate": rate} for rate in (2, -0.1, None, float("nan"), "0.5", True)),
        *({**BLOCK, "pass_rate_ci95": ends} for ends in ([0.1], [0.9, 0.1], [0, 2], "ab", {}, [None, 1])),
        *({**BLOCK, "mean_kl": kl} for kl in ("small", float("inf"), float("nan"))),
        *({**BLOCK, "student": student} for student in (5, ["m"], {"name": 5}, {"sampling": "hot"})),
        {**BLOCK, "task_id": 5},
    ],
    ids=repr,
)
def test_what_is_malformed_is_none(calibration):
    assert schema.calibration_of({"calibration": calibration}) is None


@pytest.mark.parametrize("value", [None, [], "row"])
def test_what_is_no_row_is_an_error(value):
    with pytest.raises(TypeError, match="calibration_of: row must be a dict"):
        schema.calibration_of(value)
