"""ExactMatch."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whileai.verify import ExactMatch

JUDGE = ExactMatch()


def score(candidate, gold):
    return JUDGE.score({"final_text": candidate, "reference": gold})


@pytest.mark.parametrize(
    ("candidate", "gold", "reward"),
    [
        ("Berlin.", "berlin", 1),
        ("**Berlin**", "Berlin", 1),
        ("GROSSE", "große", 1),
        ("7", 7, 1),
        ("7", 7.0, 1),
        ("7", np.int64(7), 1),
        ("true", True, 1),
        ("b", ["a", "b"], 1),
        ("c", ("a", "b"), 0),
        ("2.5", "25", 0),
        ("-2", "2", 0),
        ("F#", "F", 0),
        ("30%", "30", 0),
        ("9:15", "915", 0),
        ("3/4", "34", 0),
        ("1,5", "15", 0),
        (">2", "2", 0),
        ("$2", "2", 0),
        ("Berlin, Germany", "Berlin", 0),
        ("", "Berlin", 0),
    ],
)
def test_answers(candidate, gold, reward):
    assert score(candidate, gold).reward == reward


@given(st.text(min_size=1))
def test_whatever_the_text_it_equals_itself(text):
    verdict = score(text, text)
    assert verdict.reward == 1 or verdict.status == "missing_reward"


@pytest.mark.parametrize("gold", ["", "  ", "\u200b", [], [None, " "], None])
def test_blank_gold_never_passes(gold):
    for candidate in ("", " ", "x"):
        assert score(candidate, gold).status == "missing_reward"


def test_reason_does_not_quote_the_gold():
    reason = score("Lima", "Ouagadougou").reason
    assert reason
    assert "uagadougou" not in reason
