"""What a completion did, read off rows of every shape."""

from __future__ import annotations

import pytest

from whileai.simulations.behaviour import behaviour_of

CALL = {"id": "c", "type": "function", "function": {"name": "get", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("row", "measures"),
    [
        ({}, {"cut_off": 0}),
        ({"final_text": "four"}, {"cut_off": 0, "length": 4}),
        ({"final_text": "", "finish_reason": "length"}, {"cut_off": 1, "length": 0}),
        ({"final_text": "a", "steps": []}, {"cut_off": 0, "length": 1}),
        (
            {
                "messages": [
                    {"role": "user", "content": "q"},
                    {"role": "assistant", "content": "", "tool_calls": [CALL, CALL]},
                    {"role": "tool", "content": "r"},
                    {"role": "assistant", "content": "done"},
                ]
            },
            {"cut_off": 0, "length": 4, "turns": 2, "tool_calls": 2, "tool:get": 2},
        ),
        (
            {
                "final_text": "x",
                "steps": [
                    {"user": "q", "turn": 0},
                    {"tool": "get", "turn": 0},
                    {"tool": "put", "turn": 0},
                    {"text": "x", "turn": 1},
                ],
            },
            {"cut_off": 0, "length": 1, "turns": 2, "tool_calls": 2, "tool:get": 1, "tool:put": 1},
        ),
        (
            {"final_text": "x", "steps": [{"tool": "get"}, {"text": "x"}]},
            {"cut_off": 0, "length": 1, "turns": 2, "tool_calls": 1, "tool:get": 1},
        ),
        (
            {"ledger": [{"tool": "get"}], "logprob": -6, "n_tokens": 4},
            {"cut_off": 0, "faults": 1, "mean_logprob": -1.5},
        ),
        ({"logprob": -6, "n_tokens": 0}, {"cut_off": 0}),
        ({"logprob": float("nan"), "n_tokens": 3, "ledger": None}, {"cut_off": 0}),
    ],
)
def test_measures(row, measures):
    assert behaviour_of(row) == measures
