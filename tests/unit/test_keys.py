"""Where a row keeps what."""

from __future__ import annotations

import hashlib
from decimal import Decimal
from uuid import UUID

import numpy as np
import pandas as pd
import pytest

from whileai import keys


def digest(text):
    return "task_" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


USER = {"role": "user", "content": "hi"}
REPLY = {"role": "assistant", "content": "yo"}


@pytest.mark.parametrize(
    "value",
    [None, float("nan"), np.float32("nan"), np.float64("nan"), np.float16("nan"), pd.NA, pd.NaT, Decimal("nan")],
)
def test_missing(value):
    assert keys.is_missing(value)


@pytest.mark.parametrize(
    "value", [0, 0.0, "", "nan", False, [], {}, (), np.array([np.nan]), np.int64(0), Decimal(0), np.str_("")], ids=repr
)
def test_not_missing(value):
    assert not keys.is_missing(value)


@pytest.mark.parametrize(
    ("row", "task"),
    [
        ({"task_id": 0, "prompt": "p"}, "0"),
        ({"task_id": "", "prompt": "p"}, ""),
        ({"task_id": "a", "scenario_id": "b"}, "a"),
        ({"task_id": None, "scenario_id": 7}, "7"),
        ({"task_id": float("nan"), "scenario_id": None, "prompt": "What is 2 + 3?"}, "task_1ea26256ebae"),
        ({"task_id": pd.NA, "prompt": "p"}, digest("p")),
        ({"prompt": ""}, digest("")),
        ({"prompt": "\ud800"}, digest("\ud800")),
        ({"prompt": [USER]}, digest('[{"content":"hi","role":"user"}]')),
        ({"messages": [USER, REPLY]}, digest("hi")),
        ({"messages": [USER, REPLY, USER, REPLY]}, keys.default_task_id([USER, REPLY, USER])),
        ({"messages": []}, None),
        ({"prompt": 5}, None),
        ({}, None),
    ],
)
def test_task(row, task):
    assert keys.task_of(row) == task


def test_replies_do_not_change_the_task_of_a_conversation():
    rows = [{"messages": [USER, {"role": "assistant", "content": text}]} for text in ("a", "b")]
    assert len({keys.task_of(row) for row in rows}) == 1


@pytest.mark.parametrize("value", [1, 1.0, np.int64(1), np.float64(1), np.float32(1), np.uint8(1), "1"], ids=repr)
def test_one_name_for_one_id(value):
    assert keys.task_name(value) == "1"


@pytest.mark.parametrize(
    ("value", "name"), [(1.5, "1.5"), (-0.0, "0"), (10**30, str(10**30)), (UUID(int=5), str(UUID(int=5)))]
)
def test_task_name(value, name):
    assert keys.task_name(value) == name


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ({"final_text": "", "messages": [USER, REPLY]}, ""),
        ({"final_text": None, "messages": [USER, REPLY]}, "yo"),
        ({"messages": [USER]}, None),
        ({"messages": [REPLY, {"role": "assistant", "content": None}]}, "yo"),
        (
            {"messages": [{"role": "assistant", "content": [{"type": "image"}, {"type": "text", "text": "a"}, "b"]}]},
            "ab",
        ),
        ({"messages": "yo"}, None),
        ({"final_text": 5}, None),
    ],
)
def test_candidate(row, text):
    assert keys.candidate_of(row) == text


@pytest.mark.parametrize(
    ("row", "field", "gold"),
    [
        ({"privileged": {"reference": 0}, "answer": "x"}, None, 0),
        ({"privileged": {"reference": None}, "answer": "x"}, None, "x"),
        ({"privileged": "odd", "target": "t"}, None, "t"),
        ({"expected": "e", "label": "l"}, None, "l"),
        ({"info": {"answer": "i"}, "metadata": {"reference": "m"}}, None, "i"),
        ({"info": {"answer": float("nan")}, "metadata": {"reference": "m"}}, None, "m"),
        ({"info": {"keys": ["a", "b"]}}, "info.keys.1", "b"),
        ({"info.key": "literal", "info": {"key": "nested"}}, "info.key", "literal"),
        ({"answer": "x"}, "gold", None),
        ({"info": {"keys": ["a"]}}, "info.keys.4", None),
        ({"info": "text"}, "info.keys", None),
    ],
)
def test_reference(row, field, gold):
    assert keys.reference_of(row, field) == gold


@pytest.mark.parametrize(
    ("row", "cut"),
    [
        ({"finish_reason": "length"}, True),
        ({"stop_reason": "MAX_TOKENS"}, True),
        ({"truncated": True}, True),
        ({"truncated": np.True_}, True),
        ({"is_truncated": 1}, True),
        ({"steps": [{"finish_reason": "stop"}, {"finish_reason": "length"}]}, True),
        ({"steps": [{"finish_reason": "length"}, {"finish_reason": "stop"}]}, False),
        ({"finish_reason": "stop", "final_text": "and then"}, False),
        ({"truncated": False}, False),
        ({"truncated": "no"}, False),
        ({"finish_reason": None, "steps": []}, False),
    ],
)
def test_cut_off(row, cut):
    assert keys.is_cut_off(row) is cut


@pytest.mark.parametrize(
    ("gold", "blank"), [(" ", True), ([], True), ([None, ""], True), (0, False), (["", "x"], False)]
)
def test_blank(gold, blank):
    assert keys.is_blank(gold) is blank
