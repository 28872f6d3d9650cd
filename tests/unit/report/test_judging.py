"""Scores of a judge in bins, against gold."""

from __future__ import annotations

import pytest

from whileai.measure.judged import read_judged
from whileai.pages.judging import bins_of


def read(scores, golds, tasks=None):
    rows = [
        {"task_id": str(place if tasks is None else tasks[place]), "reward": score, "gold_reward": gold}
        for place, (score, gold) in enumerate(zip(scores, golds, strict=True))
    ]
    return read_judged(rows, "judge_trust", "gold_reward")


def test_up_to_ten_bins_of_as_many_rows():
    from scipy.stats import binomtest

    scores = [(place * 37 % 200) / 200 for place in range(200)]
    golds = [int(place % 3 > 0) if place % 2 else None for place in range(200)]
    found = bins_of(read(scores, golds), 0.9)
    assert [item.n for item in found] == [10] * 10
    labelled = sorted((score, gold) for score, gold in zip(scores, golds, strict=True) if gold is not None)
    for place, item in enumerate(found):
        own = labelled[place * 10 : place * 10 + 10]
        assert (item.low, item.high) == (own[0][0], own[-1][0])
        assert item.score == pytest.approx(sum(score for score, _ in own) / 10)
        passes = sum(gold for _, gold in own)
        exact = binomtest(passes, 10).proportion_ci(0.9, method="exact")
        assert item.rate == passes / 10
        assert item.ends == pytest.approx((exact.low, exact.high), abs=1e-9)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([0.5] * 60, [(0.5, 0.5, 60)]),
        ([0, 0.25, 0.5, 0.75, 1] * 20, [(level / 4, level / 4, 20) for level in range(5)]),
        ([0.1] * 55 + [0.9] * 5, [(0.1, 0.1, 55), (0.9, 0.9, 5)]),
        (
            [i / 100 for i in range(5)] + [0.5] * 10 + [0.6 + i / 100 for i in range(5)],
            [(0, 0.04, 5), (0.5, 0.5, 10), (0.6, 0.64, 5)],
        ),
        ([0.3], [(0.3, 0.3, 1)]),
        ([0.1, 0.2, 0.3, 0.4], [(0.1, 0.4, 4)]),
        ([0, 1] * 9, []),
        ([], []),
    ],
)
def test_equal_scores_stay_together_and_few_rows_make_few_bins(scores, expected):
    found = bins_of(read(scores, [place % 2 for place in range(len(scores))]), 0.95)
    assert [(item.low, item.high, item.n) for item in found] == expected


def test_intervals_are_over_tasks():
    scores, golds = [0.4] * 40, [1] * 20 + [0] * 20
    alone = bins_of(read(scores, golds), 0.95)[0]
    together = bins_of(read(scores, golds, [place // 10 for place in range(40)]), 0.95)[0]
    assert alone.rate == together.rate == 0.5
    assert together.ends[1] - together.ends[0] > 1.5 * (alone.ends[1] - alone.ends[0])
