"""Scores as tools write them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from whileai.readers.logs.scores import Survey, flat_scores, verdict_of

CASES = [
    (True, 1, "ok", 1.0), (False, 0, "ok", 0.0), (1, 1, "ok", 1.0), (0.0, 0, "ok", 0.0), (0.5, 0.5, "ok", 0.5),
    (1.0000001, None, "invalid_result", 1.0000001), (-0.1, None, "invalid_result", -0.1),
    (10**400, None, "invalid_result", None),
    (float("nan"), None, "missing_reward", None), (float("-inf"), None, "invalid_result", None),
    (None, None, "missing_reward", None), ("", None, "missing_reward", None), (" N/A ", None, "missing_reward", None),
    ("NaN", None, "missing_reward", None), ("Passed", 1, "ok", 1.0), (" TRUE ", 1, "ok", 1.0), ("fail", 0, "ok", 0.0),
    ("Timed out", None, "timeout", None), ("0.5", 0.5, "ok", 0.5),
    ("1", 1, "ok", 1.0), ("7", None, "invalid_result", 7.0),
    ("C", None, "invalid_result", None), ("maybe", None, "invalid_result", None), ([0.5], 0.5, "ok", 0.5),
    ([], None, "invalid_result", None), ([1, 0], None, "invalid_result", None),
    ({"a": 1}, None, "invalid_result", None),
    (np.float32(0.5), 0.5, "ok", 0.5), (np.bool_(True), 1, "ok", 1.0), (np.array(1), 1, "ok", 1.0),
    (Fraction(1, 4), 0.25, "ok", 0.25),
]  # fmt: skip


@pytest.mark.parametrize(("value", "reward", "status", "marker"), CASES, ids=[repr(case[0])[:20] for case in CASES])
def test_verdicts(value, reward, status, marker):
    verdict = verdict_of(value)
    assert (verdict.reward, verdict.status, verdict.marker) == (reward, status, marker)
    assert type(verdict.reward) is type(reward)


def test_letters_are_spelled_as_the_tool_spells_them():
    letters = {"C": 1, "P": 0.5}
    assert [verdict_of(text, letters).reward for text in ("C", " P ", "c", "N")] == [1, 0.5, None, None]


@pytest.mark.parametrize(
    ("value", "flat"),
    [
        (1, {"s": 1}), ("C", {"s": "C"}), ([3], {"s": [3]}), ({"a": 1, "b": None}, {"s.a": 1, "s.b": None}),
        ([1, 2], {"s.0": 1, "s.1": 2}), ([], {}), ({}, {}), (None, {"s": None}),
    ],
)  # fmt: skip
def test_one_score_as_single_ones(value, flat):
    assert flat_scores("s", value) == flat


def survey_of(columns):
    survey = Survey()
    for name, values in columns.items():
        for value in values:
            survey.add(name, value)
    return survey


@pytest.mark.parametrize(
    ("columns", "first"),
    [
        ({"a": [1, 0], "b": [1]}, "a"),
        ({"a": [1, 9], "b": [1]}, "b"),
        ({"a": [None], "b": [0.5]}, "b"),
        ({"a": ["odd"], "b": [7]}, "a"),
        ({"a": [None, 0], "b": [1]}, "a"),
        ({}, None),
    ],
)
def test_the_first_score_that_is_a_reward(columns, first):
    assert survey_of(columns).first() == first


def test_parts_of_a_score_are_not_taken_unasked():
    survey = Survey()
    survey.add("rubric.a", 1, whole=False)
    assert survey.first() is None


def test_one_number_outside_takes_all_rewards_of_its_score():
    survey = survey_of({"steps": [0, 1, 12], "right": [0, 1]})
    assert [survey.verdict("steps", value).reward for value in (0, 1, 12)] == [None, None, None]
    assert [survey.verdict("steps", value).marker for value in (0, 1, 12)] == [0.0, 1.0, 12.0]
    assert [survey.verdict("right", value).reward for value in (0, 1)] == [0, 1]
    assert survey.verdict("steps", None).status == "missing_reward"
