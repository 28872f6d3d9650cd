"""`MathEqual` says which of different, unparsed answer and unparsed gold it was."""

import pytest

import whileai as wai


@pytest.mark.parametrize(
    ("candidate", "gold", "reward", "status", "failure_class"),
    [
        ("42", "42", 1, "ok", None),
        ("41", "42", 0, "ok", "different"),
        (r"\frac{1}{3}", r"\frac{1}{2}", 0, "ok", "different"),
        ("x + 1", "x - 1", 0, "ok", "different"),
        (r"\int_0^1 x dx", "1/3", 0, "ok", "different"),
        ("London", "Paris", 0, "ok", "different"),
        ("I do not know", "42", 0, "ok", "unparsed_answer"),
        ("", "42", 0, "ok", "unparsed_answer"),
        (r"\frac{1}{", "42", 0, "ok", "unparsed_answer"),
        ("42", r"\frac{1}{", None, "error", "unparsed_gold"),
        ("42", "$$", None, "error", "unparsed_gold"),
        (r"\frac{1}{", r"\frac{1}{", 1, "ok", None),
    ],
)
def test_failure_class(candidate, gold, reward, status, failure_class):
    row = wai.rows(["q"], [candidate], wai.verify.MathEqual(), references=[gold])[0]
    assert (row["reward"], row["judge_status"], row.get("failure_class")) == (reward, status, failure_class)
