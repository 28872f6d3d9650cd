"""Regex."""

import re

import pytest

from whileai.errors import ParamError
from whileai.verify import Regex


@pytest.mark.parametrize(
    ("judge", "candidate", "gold", "outcome"),
    [
        (Regex(r"\d{2}"), "room 12", None, 1),
        (Regex(r"\d{2}"), "room 1", None, 0),
        (Regex(r"\d{2}"), "room 12", "whatever", 1),
        (Regex(re.compile("YES", re.IGNORECASE)), "yes", None, 1),
        (Regex(r"is (\w+)", group=1), "It is ROME", "Rome", 1),
        (Regex(r"is (\w+)", group=1), "It is Lima", "Rome", 0),
        (Regex(r"is (\w+)", group=1), "It is Lima", ["Rome", "Lima"], 1),
        (Regex(r"is (\w+)", group=1), "It is Lima", None, 1),
        (Regex(r"is (\w+)", group=1), "nothing", None, 0),
        (Regex(r"(?P<n>\d+)", group="n"), "no. 7", 7, 1),
        (Regex(r"\d+", group=0), "no. 7", "7", 1),
        (Regex(r"(a)|(b)", group=2), "a", "b", 0),
        (Regex(r"(a)", group=1), "a", "  ", "missing_reward"),
    ],
)
def test_answers(judge, candidate, gold, outcome):
    row = {"final_text": candidate} if gold is None else {"final_text": candidate, "reference": gold}
    verdict = judge.score(row)
    assert (verdict.reward if verdict.status == "ok" else verdict.status) == outcome


def test_a_pattern_may_run_long():
    assert not Regex("x").bounded


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("(",), ["pattern", "'('"]),
        ((5,), ["pattern", "5"]),
        ((b"x",), ["pattern", "b'x'"]),
        (("(x)", 2), ["group", "2"]),
        (("(x)", "y"), ["group", "'y'"]),
        (("(x)", True), ["group", "True"]),
        (("(x)", [1]), ["group", "[1]"]),
    ],
)
def test_arguments_outside_their_bound(arguments, parts):
    with pytest.raises(ParamError) as error:
        Regex(*arguments)
    for part in ("Regex", *parts):
        assert part in str(error.value)
