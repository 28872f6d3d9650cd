"""`wai.compare`: the verdict and its logic, guards, proxy, slices, notes, refusals."""

from __future__ import annotations

import math

import pytest

import whileai as wai

WIN = ([[0]] * 30, [[1]] * 20 + [[0]] * 10)
SMALL = ([[0]] * 30, [[1]] * 3 + [[0]] * 27)


def arms(scored, pair, before=None, after=None, **more):
    """Two arms, each row with the same markers throughout its arm unless a function of the task gives them."""
    return [
        scored(rewards, None if marks is None else [[marks(i)] * len(group) for i, group in enumerate(rewards)], **more)
        for rewards, marks in zip(pair, (before, after), strict=True)
    ]


def chars(base, step=1):
    return lambda i: {"chars": base + step * (i % 5)}


@pytest.mark.parametrize(
    ("pair", "options", "verdict", "ok"),
    [
        (WIN, {}, "improved", True),
        (WIN[::-1], {}, "regressed", False),
        (SMALL, {}, "no_difference", True),
        ((WIN[0], WIN[0]), {}, "no_difference", True),
        (WIN, {"lower_is_better": ["pass_at_1"]}, "regressed", False),
        (WIN[::-1], {"lower_is_better": "pass_at_1"}, "improved", True),
        (WIN, {"run_std": 0.1}, "improved", True),
        (WIN, {"run_std": 0.5}, "within_noise", True),
        (WIN[::-1], {"run_std": 0.5}, "within_noise", True),
        (WIN, {"run_std": 0.15, "run_std_runs": 30}, "improved", True),
        (WIN, {"run_std": 0.15, "run_std_runs": 2}, "within_noise", True),
        (SMALL, {"run_std": 0.5}, "no_difference", True),
        (WIN, {"run_std": 0}, "improved", True),
        (WIN, {"target": "reward"}, "improved", True),
        (([[None]] * 9, [[1]] * 9), {}, "insufficient_data", False),
        (([[0.5]] * 9, [[0.7]] * 9), {}, "insufficient_data", False),
        (([[0.1]] * 40, [[0.7]] * 40), {"target": "reward"}, "improved", True),
        (([], []), {}, "insufficient_data", False),
        ((WIN[0], []), {}, "not_comparable", False),
    ],
)
def test_verdicts(scored, pair, options, verdict, ok):
    result = wai.compare(*arms(scored, pair), **options)
    assert (result.verdict, result.ok) == (verdict, ok)


def test_the_band_is_student_where_the_runs_are_known(scored):
    before, after = arms(scored, WIN)
    assert wai.compare(before, after, run_std=0.1, run_std_runs=3).noise_band == wai.noise_band(0.1, df=2)
    assert wai.compare(before, after, run_std=0.1).noise_band == wai.noise_band(0.1)
    assert wai.compare(before, after, run_std=0).noise_band is None
    assert wai.compare(before, after).noise_band is None


def test_no_verdict_without_both_interval_and_test(scored):
    """Eight tasks that all gain a little: the test is sure, eight tasks do not speak for others."""
    result = wai.compare(*arms(scored, ([[0.5]] * 8, [[0.6]] * 8)), target="reward")
    assert result.p_value == pytest.approx(2 / 2**8)
    assert result.interval[0] < 0 < result.interval[1]
    assert result.verdict == "no_difference"
    assert result.notes[0].code == "test_only"


def test_numbers_are_over_paired_tasks(scored):
    before = scored([[1, 0], [0, 0], [1, 1], [1, 1]])
    after = [row for row in scored([[1, 1], [0, 1], [1], [1]]) if row["task_id"] != "t3"]
    after.append({"task_id": "new", "reward": 0})
    result = wai.compare(before, after)
    assert (result.n_paired, result.n_only_before, result.n_only_after) == (3, 1, 1)
    assert result.before == pytest.approx(0.5)
    assert result.after == pytest.approx(2.5 / 3)
    assert result.delta == pytest.approx(1 / 3)
    assert "2 better, 0 worse, 1 the same" in str(result)


def test_a_task_unjudged_in_one_arm_is_no_pair(scored):
    result = wai.compare(scored([[1], [None], [0]]), scored([[1], [1], [None]]))
    assert result.n_paired == 1


@pytest.mark.parametrize(
    ("before", "after", "options", "regressions", "ok"),
    [
        (chars(10), chars(10), {}, (), True),
        (chars(10), chars(20), {}, (), True),
        (chars(20), chars(10), {}, ("marker:chars",), False),
        (chars(10), chars(20), {"lower_is_better": ["marker:chars"]}, ("marker:chars",), False),
        (chars(10), None, {}, (), False),
        (None, chars(10), {}, (), False),
    ],
)
def test_guards(scored, before, after, options, regressions, ok):
    result = wai.compare(*arms(scored, WIN, before, after), must_not_regress=["marker:chars"], **options)
    assert (result.verdict, result.regressions, result.ok) == ("improved", regressions, ok)
    text = str(result)
    if regressions:
        assert "not ok: the guard marker:chars got worse" in text
    elif not ok:
        assert "not ok: the guard marker:chars was not measured on both arms" in text
    else:
        assert "guard marker:chars held" in text


def test_a_guard_measured_on_no_common_task_is_not_ok(scored):
    before, after = arms(scored, WIN)
    before[0]["markers"], after[1]["markers"] = {"n": 1}, {"n": 1}
    result = wai.compare(before, after, must_not_regress="marker:n")
    assert (result.ok, result.metrics["marker:n"].verdict) == (False, "insufficient_data")
    assert "the guard marker:n was not measured" in str(result)


@pytest.mark.parametrize(
    ("pair", "after", "options", "over"),
    [
        (SMALL, chars(30), {}, True),
        (WIN, chars(30), {}, False),
        (SMALL, chars(10), {}, False),
        (SMALL, chars(5), {}, False),
        (SMALL, chars(5), {"lower_is_better": ["marker:chars"]}, True),
        (WIN[::-1], chars(30), {}, True),
        (WIN, chars(30), {"run_std": 0.5}, True),
    ],
)
def test_over_optimised_when_the_proxy_improved_and_the_target_did_not(scored, pair, after, options, over):
    result = wai.compare(*arms(scored, pair, chars(10), after), proxy="marker:chars", **options)
    assert result.over_optimized is over
    assert result.ok is (not over and result.verdict != "regressed")
    assert ("over-optimised" in str(result)) is over


def test_holm_over_the_metrics(scored):
    before, after = (
        scored([[1]] * 20, [[{"a": i + s, "b": i % 3 + s * (i % 2), "c": i % 4}] for i in range(20)]) for s in (0, 1)
    )
    metrics = wai.compare(before, after).metrics
    raw = sorted((delta.p_value, name) for name, delta in metrics.items())
    high = 0.0
    for place, (p, name) in enumerate(raw):
        high = max(high, min(1.0, p * (len(raw) - place)))
        assert metrics[name].p_adjusted == pytest.approx(high)


def test_other_metrics_are_judged_at_the_adjusted_p(scored):
    """Six tasks that all move give p = 0.031 alone and 0.062 beside one more metric."""
    one = [[{"a": i}] for i in range(6)]
    two = [[{"a": i + 1 + i / 10}] for i in range(6)]
    result = wai.compare(scored([[1]] * 6, one), scored([[1]] * 6, two))
    assert result.metrics["marker:a"].p_value == pytest.approx(2 / 2**6)
    assert result.metrics["marker:a"].verdict == "no_difference"
    alone = wai.compare(scored([[None]] * 6, one), scored([[None]] * 6, two), target="marker:a")
    assert alone.verdict == alone.metrics["marker:a"].verdict == "improved"


def test_reward_is_a_metric_of_its_own_only_where_it_differs(scored):
    assert "reward" not in wai.compare(*arms(scored, WIN)).metrics
    assert "reward" in wai.compare(*arms(scored, ([[0, 0.5]] * 9, [[1, 0.5]] * 9))).metrics


def test_slices(scored):
    before, after = arms(scored, ([[0]] * 40, [[1]] * 20 + [[0]] * 20))
    for rows in (before, after):
        for i, row in enumerate(rows):
            row["info"] = {"lang": None if i == 39 else ["de", "en"][i // 20]}
    result = wai.compare(before, iter(after), by="info.lang")
    assert {name: (delta.verdict, delta.n_paired) for name, delta in result.slices.items()} == {
        "de": ("improved", 20),
        "en": ("no_difference", 19),
    }
    assert result.slices["de"].p_adjusted == pytest.approx(2 * result.slices["de"].p_value)
    assert wai.compare(before, after).slices == {}


def test_a_slice_of_one_arm_has_no_numbers(scored):
    before, after = arms(scored, SMALL)
    before[0]["lang"] = "x"
    result = wai.compare(before, after, by="lang")
    assert (result.slices["x"].verdict, result.slices["x"].delta) == ("insufficient_data", None)
    assert "not measured" in str(result)


def test_swapped_arms_mirror(scored):
    before, after = arms(
        scored, ([[1, 0, 0], [0, 0], [1, 1, 0.5], [1]], [[1, 1], [0, 1], [1, 0, 1], [0]]), chars(3), chars(5, 2)
    )
    there, back = wai.compare(before, after), wai.compare(after, before)
    assert there.delta == -back.delta
    assert there.interval == (-back.interval[1], -back.interval[0])
    assert there.p_value == back.p_value
    for name, delta in there.metrics.items():
        assert delta.delta == -back.metrics[name].delta


def codes(result):
    return [note.code for note in result.notes]


def test_notes(scored):
    before, after = arms(scored, WIN, chars(1), chars(2))
    assert codes(wai.compare(before, after, run_std=0.01, run_std_runs=5)) == ["no_spread"]
    assert codes(wai.compare(before, after)) == ["no_noise_floor", "no_spread"]
    assert codes(wai.compare(before, after, run_std=0)) == ["zero_noise_floor", "no_spread"]
    assert codes(wai.compare(before, after, run_std=0.01)) == ["band_of_known_std", "no_spread"]
    assert codes(wai.compare(before, after, run_std=0.01, run_std_runs=3)) == ["wide_band", "no_spread"]
    del before[0]["markers"], after[1]["markers"]["chars"]
    after[2]["prompt"] = "another"
    after[3]["reward"] = None
    after[4]["scenario_id"] = "x"
    after.append({"task_id": "new", "reward": 1, "markers": {"chars": 1, "own": 1}})
    assert codes(wai.compare(before, after, run_std=0.01, run_std_runs=5)) == [
        "unpaired_tasks", "prompts_differ", "unjudged", "id_conflict", "marker_gaps", "marker_one_arm", "no_spread",
    ]  # fmt: skip


def test_arms_without_a_common_task_and_arms_without_rows(scored):
    before, after = arms(scored, WIN)
    other = [{**row, "task_id": f"z{row['task_id']}"} for row in after]
    assert codes(wai.compare(before, other)) == ["no_shared_tasks"]
    assert codes(wai.compare(before, [])) == codes(wai.compare([], [])) == ["no_rows"]
    for result in (wai.compare(before, other), wai.compare(before, []), wai.compare([], [])):
        assert (result.delta, result.interval, result.p_value, result.before, result.n_paired) == (None,) * 4 + (0,)
        assert "nothing was computed" in result.summary


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "pass@1"}, "compare: target must be a metric here; got 'pass@1'. Did you mean pass_at_1?"),
        (
            {"target": "marker:char"},
            "compare: target must be a metric here; got 'marker:char'. Did you mean marker:chars?",
        ),
        ({"target": "chars"}, "compare: target must be a metric here; got 'chars'. Did you mean marker:chars?"),
        (
            {"target": None},
            "compare: target must be a metric here; got None. Known here: pass_at_1, reward, marker:chars.",
        ),
        (
            {"must_not_regress": ["marker:x"]},
            "compare: must_not_regress must be a metric here; got 'marker:x'. Did you mean marker:chars?",
        ),
        ({"must_not_regress": 5}, "compare: must_not_regress must be a list of metric names; got 5."),
        (
            {"lower_is_better": "rewards"},
            "compare: lower_is_better must be a metric here; got 'rewards'. Did you mean reward?",
        ),
        (
            {"proxy": "marker:charz"},
            "compare: proxy must be a metric here; got 'marker:charz'. Did you mean marker:chars?",
        ),
        ({"run_std": -0.1}, "compare: run_std must be a number in [0, 1], as the target is a rate; got -0.1."),
        ({"run_std": math.nan}, "compare: run_std must be a number in [0, 1], as the target is a rate; got nan."),
        ({"run_std": "0.1"}, "compare: run_std must be a number in [0, 1], as the target is a rate; got '0.1'."),
        ({"run_std": 0.1, "run_std_runs": 1}, "compare: run_std_runs must be a whole number of at least 2; got 1."),
        ({"level": 95}, "compare: level must be a number between 0 and 1; got 95. Write 0.95."),
        ({"by": "promt"}, "compare: by must be a key of the rows; got 'promt'. Did you mean prompt?"),
        ({"by": 5}, "compare: by must be a key of the rows; got 5."),
    ],
)
def test_refusals(scored, options, message):
    before, after = arms(scored, SMALL, chars(1), chars(2))
    with pytest.raises(wai.ParamError) as error:
        wai.compare(before, after, **options)
    assert str(error.value) == message


def test_slices_need_rows(scored):
    before, after = arms(scored, SMALL)
    with pytest.raises(TypeError, match=r"^compare: after must be rows where by= is given; got a TaskTable"):
        wai.compare(before, wai.task_table(after), by="lang")


@pytest.mark.parametrize("arm", ["before", "after"])
def test_a_bad_row_names_its_arm(scored, arm):
    good, bad = arms(scored, SMALL)
    bad[2]["reward"] = 7
    with pytest.raises(wai.RowError, match=rf"^compare: {arm} row 2: reward must be"):
        wai.compare(**{arm: bad, ({"before", "after"} - {arm}).pop(): good})


def test_more_tasks_are_asked_for_only_while_nothing_is_proven(scored):
    assert wai.compare(*arms(scored, SMALL)).tasks_needed > 30
    assert wai.compare(*arms(scored, WIN)).tasks_needed is None
    assert wai.compare(*arms(scored, (WIN[0], WIN[0]))).tasks_needed is None
