"""`wai.holdout_size`: where the spread comes from, what it asks for, refusals."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import whileai as wai


@pytest.fixture
def pilot(scored):
    return [scored([[int((i * 7 + j * 3 + s) % 10 < 4 + i % 3) for j in range(4)] for i in range(30)]) for s in (0, 4)]


@pytest.mark.parametrize(
    ("arms", "options", "source", "codes"),
    [
        ((), {"base": 0.45}, "model", ["no_pilot"]),
        ((), {}, "model", ["base_assumed", "no_pilot"]),
        ((), {"task_std": 0.3}, "given", []),
        ((0,), {}, "before", []),
        ((0,), {"base": 0.2}, "before", []),
        ((0, 1), {}, "paired", []),
        ((0, 1), {"task_std": 0.3}, "given", []),
        ((0, 0), {}, "before", ["no_pairs"]),
    ],
)
def test_sources(pilot, arms, options, source, codes):
    named = dict(zip(("before", "after"), (pilot[i] for i in arms), strict=False))
    result = wai.holdout_size(0.1, **named, **options)
    assert (result.source, [note.code for note in result.notes]) == (source, codes)
    assert result.n_tasks_to_prove >= 6
    assert 0 < result.half_width < 1


def test_a_paired_pilot_gives_its_own_spread_rate_size_and_range(pilot):
    result = wai.holdout_size(0.1, before=pilot[0], after=pilot[1], k=99)
    changes = [wai.pass_at(pilot[1]).per_task[task] - rate for task, rate in wai.pass_at(pilot[0]).per_task.items()]
    assert result.task_std == pytest.approx(np.std(changes, ddof=1))
    assert result.base == pytest.approx(wai.pass_at(pilot[0]).pass_at_1)
    assert result.k == 4
    assert result.n_tasks_low < result.n_tasks < result.n_tasks_high


def test_the_usual_formula():
    # Miller 2024, equation 9: (1.959964 + 0.841621)^2 * (.45 * .55 + .55 * .45) / 4 / .1^2 = 97.13
    result = wai.holdout_size(0.1, base=0.45, k=4)
    assert (result.n_tasks, result.n_tasks_to_prove) == (98, 104)
    assert result.task_std == pytest.approx(math.sqrt((0.45 * 0.55 + 0.55 * 0.45) / 4))


def test_more_is_needed_for_less():
    sizes = [wai.holdout_size(effect, base=0.4).n_tasks_to_prove for effect in (0.02, 0.05, 0.1, 0.3)]
    assert sizes == sorted(sizes, reverse=True)
    assert wai.holdout_size(0.1, base=0.4, power=0.9).n_tasks > wai.holdout_size(0.1, base=0.4).n_tasks
    assert wai.holdout_size(0.1, base=0.4, level=0.99).n_tasks > wai.holdout_size(0.1, base=0.4).n_tasks
    assert wai.holdout_size(0.1, base=0.4, k=1).n_tasks > wai.holdout_size(0.1, base=0.4, k=8).n_tasks


@pytest.mark.parametrize("options", [{"effect": 1, "base": 0}, {"effect": 0.9, "task_std": 1e-9}], ids=str)
def test_never_fewer_than_the_exact_test_needs(options):
    assert wai.holdout_size(**options).n_tasks_to_prove == 6


@pytest.mark.parametrize("rewards", [[[None]] * 3, [[0.5]] * 3, []], ids=["unjudged", "partial", "empty"])
def test_a_pilot_without_binary_rewards(scored, rewards):
    result = wai.holdout_size(0.1, base=0.5, before=scored(rewards))
    assert (result.source, [note.code for note in result.notes]) == ("model", ["empty_pilot"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"effect": 0}, "effect must be a gain above 0 and at most 1; got 0. 0.05 is five points."),
        ({"effect": -0.1}, "effect must be a gain above 0 and at most 1; got -0.1. 0.05 is five points."),
        ({"effect": 5}, "effect must be a gain above 0 and at most 1; got 5. 0.05 is five points."),
        ({"effect": "0.1"}, "effect must be a gain above 0 and at most 1; got '0.1'. 0.05 is five points."),
        ({"effect": math.nan}, "effect must be a gain above 0 and at most 1; got nan. 0.05 is five points."),
        (
            {"effect": 0.6, "base": 0.5},
            "effect must be at most 1 - base, 0.5 for base=0.5; got 0.6. No model passes more than all of its tries.",
        ),
        ({"base": 1.2}, "base must be a rate in [0, 1]; got 1.2."),
        ({"k": 0}, "k must be a whole number of at least 1; got 0."),
        ({"power": 1}, "power must be a number between 0 and 1; got 1. 0.8 is usual."),
        ({"power": 80}, "power must be a number between 0 and 1; got 80. 0.8 is usual."),
        ({"level": 95}, "level must be a number between 0 and 1; got 95. Write 0.95."),
        ({"task_std": 0}, "task_std must be a number above 0; got 0."),
        ({"after": []}, "before must be given where after is; got None. A paired pilot has both arms."),
    ],
)
def test_refusals(options, message):
    with pytest.raises(wai.ParamError) as error:
        wai.holdout_size(**{"effect": 0.1, **options})
    assert str(error.value) == f"holdout_size: {message}"


def test_a_gain_that_the_measured_rate_leaves_no_room_for(scored):
    with pytest.raises(wai.ParamError, match=r"effect must be at most 1 - base, 0\.25"):
        wai.holdout_size(0.5, before=scored([[1, 1, 1, 0]] * 9))


def test_numbers_of_any_kind_and_shown_as_given():
    plain = wai.holdout_size(0.125, base=0.5, level=0.999)
    assert wai.holdout_size(Fraction(1, 8), base=np.float64(0.5), level=0.999).to_json() == plain.to_json()
    assert "a gain of 0.125 on 0.50 with k=4 (power 0.80, level 0.999)" in plain.summary
    assert "a gain of 0.004 on" in wai.holdout_size(0.004).summary
