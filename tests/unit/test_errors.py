"""The exception tree and its one sentence."""

from __future__ import annotations

import copy
import pickle

import pytest

import whileai as wai
from whileai.errors import sentence, shown


@pytest.mark.parametrize(
    ("error", "base"),
    [
        (wai.ParamError, ValueError),
        (wai.RowError, ValueError),
        (wai.ScorerError, RuntimeError),
        (wai.MissingExtra, ImportError),
    ],
)
def test_tree(error, base):
    assert issubclass(error, wai.WaiError)
    assert issubclass(error, base)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("pass_at", "k", "a whole number", 0), "pass_at: k must be a whole number; got 0."),
        (("c", "x", "text", "a'b", "Do so."), 'c: x must be text; got "a\'b". Do so.'),
        (("c", "x", "small", "y" * 300), f"c: x must be small; got '{'y' * 159}... (302 characters)."),
        (("c", "x", "small", 10**5000), "c: x must be small; got <int without a repr>."),
    ],
)
def test_sentence(arguments, text):
    assert sentence(*arguments) == text


def test_value_whose_repr_fails():
    class Odd:
        def __repr__(self):
            raise RuntimeError

    assert shown(Odd()) == "<Odd without a repr>"


@pytest.mark.parametrize("trip", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy], ids=["pickle", "copy"])
def test_row_error_keeps_its_fields(trip):
    error = trip(wai.RowError.of("pass_at", "rows.jsonl", 17, "reward", "a number in [0, 1]", "7", "Use float()."))
    assert str(error) == "pass_at: rows.jsonl row 17: reward must be a number in [0, 1]; got '7'. Use float()."
    assert (error.index, error.key, error.value) == (17, "reward", "7")


def test_row_error_without_a_source():
    assert str(wai.RowError.of("c", "", 0, "k", "text", 5)) == "c: row 0: k must be text; got 5."
