"""The exact text of each Result, kept as files.

``WHILEAI_WRITE_PRINTED=1`` writes them anew: read what changed before it is kept.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import whileai as wai

TEXTS = Path(__file__).parent
EXAMPLE = [[1, 0, 1, 1], [0, 0, 1, 0], [1] * 4, [1, 0, 1, 1]]
TUNED = [[1] * 4, [1, 1, 1, 0], [1] * 4, [1] * 4]


def rows(groups, markers=None, **more):
    """One row per reward; `markers` is a function of task and row."""
    return [
        {
            "task_id": f"t{i}",
            "prompt": f"Question {i}",
            "final_text": "reply",
            "reward": reward,
            **({} if markers is None else {"markers": markers(i, j)}),
            **{name: value(i) for name, value in more.items()},
        }
        for i, group in enumerate(groups)
        for j, reward in enumerate(group)
    ]


def passes(n, of, k=1, step=7):
    """`n` tasks of k rows whose passes are spread evenly: `of` in 100."""
    return [[int((i * step + j * 31) % 100 < of) for j in range(k)] for i in range(n)]


def lengths(base, spread):
    return lambda i, _: {"chars": base + spread * (i % 11), "tools": (i % 4) / 10}


BEFORE = rows(passes(300, 35), lengths(300, 3), lang=lambda i: ["de", "en", "fr"][i % 3])
AFTER = rows(passes(300, 60), lengths(310, 4), lang=lambda i: ["de", "en", "fr"][i % 3])
WORSE = rows(passes(300, 20), lengths(310, 4), lang=lambda i: ["de", "en", "fr"][i % 3])


def other_ids(found):
    return [{**row, "task_id": f"q-{row['task_id']}"} for row in found]


def without_markers(found):
    return [{key: value for key, value in row.items() if key != "markers"} for row in found]


def some_odd(found):
    """Rows with everything a note speaks of."""
    odd = [dict(row) for row in found[:-2]]
    odd[0]["reward"] = None
    odd[1]["scenario_id"] = "another"
    odd[2]["prompt"] = "another"
    odd[3]["markers"] = None
    odd[4]["markers"] = {**odd[4]["markers"], "own": 1}
    return odd


CASES = {
    "pass_at": lambda: wai.pass_at(rows(EXAMPLE)),
    "pass_at_one_try": lambda: wai.pass_at(rows(passes(500, 60))),
    "pass_at_many": lambda: wai.pass_at(rows(passes(2000, 60, 4, 3))),
    "pass_at_all_pass": lambda: wai.pass_at(rows([[1]] * 10)),
    "pass_at_all_fail": lambda: wai.pass_at(rows([[0]] * 10)),
    "pass_at_all_pass_several": lambda: wai.pass_at(rows([[1] * 4] * 10)),
    "pass_at_unjudged": lambda: wai.pass_at(rows([[1, None, 0, 1]] * 9 + [[0]])),
    "pass_at_partial": lambda: wai.pass_at(rows([[1, 0, 0.5]] * 12)),
    "pass_at_only_partial": lambda: wai.pass_at(rows([[0.5, 0.25, None]] * 12)),
    "pass_at_nothing_judged": lambda: wai.pass_at(rows([[None] * 2] * 3)),
    "pass_at_no_rows": lambda: wai.pass_at([]),
    "pass_at_k_too_large": lambda: wai.pass_at(rows(EXAMPLE), k=9),
    "pass_at_odd_ids": lambda: wai.pass_at(some_odd(BEFORE)),
    "pass_at_level": lambda: wai.pass_at(rows([[1]] * 10), level=0.999),
    "compare": lambda: wai.compare(rows(EXAMPLE), rows(TUNED)),
    "compare_itself": lambda: wai.compare(rows(EXAMPLE), rows(EXAMPLE)),
    "compare_improved": lambda: wai.compare(BEFORE, AFTER, lower_is_better=["marker:chars"]),
    "compare_regressed": lambda: wai.compare(BEFORE, WORSE),
    "compare_within_noise": lambda: wai.compare(
        without_markers(BEFORE), without_markers(AFTER), run_std=0.08, run_std_runs=3
    ),
    "compare_outside_noise": lambda: wai.compare(
        without_markers(BEFORE), without_markers(AFTER), run_std=0.02, run_std_runs=5
    ),
    "compare_known_noise": lambda: wai.compare(without_markers(BEFORE), without_markers(AFTER), run_std=0.02),
    "compare_zero_noise": lambda: wai.compare(without_markers(BEFORE), without_markers(AFTER), run_std=0),
    "compare_guard_worse": lambda: wai.compare(
        BEFORE, AFTER, must_not_regress=["marker:chars", "marker:tools"], lower_is_better=["marker:chars"]
    ),
    "compare_guard_not_measured": lambda: wai.compare(
        BEFORE, without_markers(AFTER), must_not_regress=["marker:chars"]
    ),
    "compare_over_optimised": lambda: wai.compare(
        rows(EXAMPLE * 5, lengths(10, 1)), rows(EXAMPLE * 5, lengths(20, 2)), proxy="marker:chars"
    ),
    "compare_slices": lambda: wai.compare(BEFORE, AFTER, by="lang", level=0.9),
    "compare_reward": lambda: wai.compare(rows([[0.5]] * 8), rows([[0.6]] * 8), target="reward"),
    "compare_marker": lambda: wai.compare(BEFORE, AFTER, target="marker:chars", run_std=50, run_std_runs=4),
    "compare_odd_rows": lambda: wai.compare(BEFORE, some_odd(AFTER), run_std=0.01, run_std_runs=5),
    "compare_no_shared_task": lambda: wai.compare(rows(EXAMPLE), other_ids(rows(EXAMPLE))),
    "compare_one_empty": lambda: wai.compare(rows(EXAMPLE), []),
    "compare_no_rows": lambda: wai.compare([], []),
    "compare_partial": lambda: wai.compare(rows([[0.5]] * 8), rows([[0.6]] * 8)),
    "compare_delta": lambda: wai.compare(BEFORE, AFTER).metrics["marker:chars"],
    "eval_variance": lambda: wai.eval_variance(*(rows([[1]] * n + [[0]] * (10 - n)) for n in (5, 6, 8))),
    "eval_variance_beyond_sampling": lambda: wai.eval_variance(*(rows(passes(200, p)) for p in (30, 40, 50, 60, 70))),
    "eval_variance_two_runs": lambda: wai.eval_variance(rows(EXAMPLE), rows(TUNED)),
    "eval_variance_equal_runs": lambda: wai.eval_variance(*[rows(EXAMPLE)] * 3),
    "eval_variance_no_rows": lambda: wai.eval_variance([], [], []),
    "eval_variance_marker": lambda: wai.eval_variance(BEFORE, AFTER, WORSE, metric="marker:chars"),
    "eval_variance_many_runs": lambda: wai.eval_variance(*(rows(passes(50, 50 + r, 1, 3 + 2 * r)) for r in range(24))),
    "holdout_size": lambda: wai.holdout_size(0.10, base=0.45, k=4),
    "holdout_size_no_base": lambda: wai.holdout_size(0.05),
    "holdout_size_one_arm": lambda: wai.holdout_size(0.05, before=rows(EXAMPLE)),
    "holdout_size_paired": lambda: wai.holdout_size(0.05, before=BEFORE, after=AFTER),
    "holdout_size_given": lambda: wai.holdout_size(0.004, task_std=0.3, power=0.9, level=0.999),
    "holdout_size_no_pairs": lambda: wai.holdout_size(0.05, before=rows(EXAMPLE), after=other_ids(rows(TUNED))),
    "holdout_size_single_rows": lambda: wai.holdout_size(0.05, before=BEFORE),
    "select_rl": lambda: wai.select(rows(EXAMPLE), mode="rl").report,
    "select_rl_target": lambda: wai.select(rows(EXAMPLE), mode="rl", target=5).report,
    "select_rl_nothing": lambda: wai.select(rows([[1]] * 5), mode="rl").report,
    "select_rl_no_rows": lambda: wai.select([], mode="rl").report,
    "select_sft": lambda: wai.select(rows(EXAMPLE), mode="sft", per_task=2, target=5).report,
    "select_sft_nothing": lambda: wai.select(rows([[0, 0]]), mode="sft").report,
}


@pytest.mark.parametrize("name", CASES)
def test_text(name):
    path = TEXTS / f"{name}.txt"
    text = f"{CASES[name]()}\n"
    if os.environ.get("WHILEAI_WRITE_PRINTED"):
        path.write_text(text, encoding="ascii")
    assert text == path.read_text(encoding="ascii")


def test_no_text_without_its_case():
    assert {path.stem for path in TEXTS.glob("*.txt")} == set(CASES)
