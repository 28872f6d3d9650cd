"""`wai.eval_variance`: the spread over runs, what is common to them, notes, refusals."""

from __future__ import annotations

import statistics

import pytest

import whileai as wai

RATES = [[5, 9], [6, 9], [7, 9], [6, 9]]


@pytest.fixture
def runs(scored):
    return [scored([[1] * passes + [0] * (10 - passes) for passes in rates]) for rates in RATES]


def test_numbers(runs):
    result = wai.eval_variance(*runs)
    means = [sum(rates) / 20 for rates in RATES]
    assert result.means == pytest.approx(means)
    assert result.run_std == pytest.approx(statistics.stdev(means))
    assert result.mean == pytest.approx(statistics.fmean(means))
    assert (result.df, result.n_runs, result.n_tasks) == (3, 4, 2)
    assert result.noise_band == wai.noise_band(result.run_std, df=3)
    low, high = result.run_std_interval
    assert low < result.run_std < high
    assert result.run_std_by_metric == {"pass_at_1": result.run_std}


def test_one_list_is_the_same_as_arguments(runs):
    assert wai.eval_variance(runs).to_dict() == wai.eval_variance(*runs).to_dict()
    assert wai.eval_variance(tuple(map(iter, runs))).to_dict() == wai.eval_variance(*runs).to_dict()
    assert wai.eval_variance([wai.task_table(run) for run in runs]).to_dict() == wai.eval_variance(*runs).to_dict()


def test_means_follow_the_order_of_the_runs_and_the_spread_does_not(runs):
    there, back = wai.eval_variance(*runs), wai.eval_variance(*runs[::-1])
    assert there.means == back.means[::-1]
    assert (there.run_std, there.sampling_std, there.noise_band) == (back.run_std, back.sampling_std, back.noise_band)


def test_the_residual_of_the_table_of_tasks_and_runs(runs):
    table = [[rates[i] / 10 for rates in RATES] for i in range(2)]
    grand = statistics.fmean(value for line in table for value in line)
    run_means = [statistics.fmean(column) for column in zip(*table, strict=True)]
    residual = [value - statistics.fmean(line) - run_means[j] + grand for line in table for j, value in enumerate(line)]
    expected = (sum(r * r for r in residual) / 3 / 2) ** 0.5
    assert wai.eval_variance(*runs).sampling_std == pytest.approx(expected)


def test_only_tasks_of_every_run_count(scored):
    runs = [scored([[1], [0], [1]]), scored([[1], [1], [1], [0]]), scored([[1], [0], [None], [1]])]
    result = wai.eval_variance(*runs)
    assert (result.n_tasks, result.means) == (2, (0.5, 1.0, 0.5))
    assert [note.code for note in result.notes] == ["few_runs", "tasks_left_out", "unjudged"]


def test_markers(scored):
    runs = [
        scored([[1]] * 3, [[{"n": i * s, "only": 1} if s < 3 else {"n": i * s}] for i in range(3)]) for s in (1, 2, 3)
    ]
    result = wai.eval_variance(*runs, metric="marker:n")
    assert (result.means, result.run_std) == ((1.0, 2.0, 3.0), 1.0)
    assert result.run_std_by_metric == {"pass_at_1": 0.0, "marker:n": 1.0}
    with pytest.raises(wai.ParamError, match="marker:only"):
        wai.eval_variance(*runs, metric="marker:only")


@pytest.mark.parametrize("n", [1, 2])
def test_fewer_than_three_runs(runs, n):
    result = wai.eval_variance(*runs[:n])
    assert (result.run_std, result.noise_band, result.run_std_interval) == (None, None, None)
    assert result.run_std_by_metric == {"pass_at_1": None}
    assert len(result.means) == n
    assert result.notes[0].code == "too_few_runs"
    assert "three are the fewest" in result.notes[0].text


@pytest.mark.parametrize(
    ("build", "codes"),
    [
        (lambda scored: [[], [], []], ["nothing_in_common"]),
        (lambda scored: [scored([[1], [0]])] * 3, ["no_spread"]),
        (lambda scored: [scored([[None]])] * 3, ["nothing_in_common", "unjudged", "unjudged", "unjudged"]),
        (lambda scored: [[{"task_id": i, "reward": 1}] for i in range(3)], ["nothing_in_common"]),
        (lambda scored: [scored([[p] * 1] * 40) for p in (0, 1, 1)], ["few_runs"]),
        (
            lambda scored: [scored([[int(i + p > 25)] for i in range(40)]) for p in (0, 9, 18, 9, 0, 18)],
            ["beyond_sampling"],
        ),
    ],
)
def test_notes(scored, build, codes):
    result = wai.eval_variance(*build(scored))
    assert [note.code for note in result.notes] == codes


@pytest.mark.parametrize(
    ("runs", "options", "message"),
    [
        ((), {}, "eval_variance: runs must be at least one run; got none. Three are the fewest worth reading."),
        (
            ([], []),
            {"metric": "pass@1"},
            "eval_variance: metric must be a metric here; got 'pass@1'. Did you mean pass_at_1?",
        ),
        (
            ([], []),
            {"metric": "marker:n"},
            "eval_variance: metric must be a metric here; got 'marker:n'. Known here: pass_at_1, reward.",
        ),
        (([], []), {"level": 0}, "eval_variance: level must be a number between 0 and 1; got 0. 0.95 is usual."),
        (
            ([], [{"task_id": 1, "reward": "1"}]),
            {},
            "eval_variance: runs[1] row 0: reward must be a number in [0, 1]; got '1'. Use float().",
        ),
    ],
)
def test_refusals(runs, options, message):
    with pytest.raises(wai.WaiError) as error:
        wai.eval_variance(*runs, **options)
    assert str(error.value) == message


def test_what_is_beyond_sampling(scored):
    """The F test of the runs in the two-way table, against scipy's distribution, and the variance left over."""
    from scipy.stats import f

    still = [scored([[int((i * 7 + r * 3) % 10 < 5)] for i in range(40)]) for r in range(4)]
    moved = [scored([[int((i * 7 + r * 3) % 10 < 3 + 2 * r)] for i in range(40)]) for r in range(4)]
    for runs, beyond in ((still, False), (moved, True)):
        result = wai.eval_variance(*runs)
        ratio = (result.run_std / result.sampling_std) ** 2
        assert result.beyond_p_value == pytest.approx(f.sf(ratio, 3, 3 * 39), rel=1e-9)
        assert (result.beyond_p_value < 0.05) is beyond
        left = max(result.run_std**2 - result.sampling_std**2, 0)
        assert result.beyond_std == pytest.approx(left**0.5)
        assert ("beyond_sampling" in [note.code for note in result.notes]) is beyond
        assert ("beyond it       none shown (F test, p=" in str(result)) is not beyond
        assert result.noise_band == wai.noise_band(result.run_std, df=3)


def test_what_is_beyond_sampling_of_too_few_runs_or_one_task(scored):
    two = wai.eval_variance(scored([[1], [0]]), scored([[1], [1]]))
    one = wai.eval_variance(*[scored([[passed]]) for passed in (0, 1, 1)])
    for result in (two, one):
        assert (result.beyond_std, result.beyond_p_value) == (None, None)
        assert "beyond it" not in str(result)
