"""`wai.sample_for_labels`: drawn with known chances, the same rows in any order, and accounted for downstream."""

import random

import pytest

import whileai as wai
from whileai.stats import intervals


def judged(n=200, passes=0.8, k=1, seed=0, rate=0.7, leak=0.3, miss=0.05):
    """Rows of a lenient judge with the truth under ``true``."""
    rng = random.Random(seed)
    rows = []
    for i in range(n):
        for j in range(k):
            true = rng.random() < rate
            said = rng.random() < (1 - miss if true else leak)
            rows.append(
                {
                    "task_id": f"t{i}",
                    "final_text": f"a{i} {j}",
                    "rollout_index": j,
                    "reward": int(said),
                    "true": int(true),
                }
            )
    del passes
    return rows


def labelled(rows, n, seed=0):
    picked = wai.sample_for_labels(rows, n, seed)
    return wai.label(rows, [{**row, "label": row["true"]} for row in picked])


def test_what_is_recorded():
    rows = judged()
    picked = wai.sample_for_labels(rows, 40)
    n_pass = sum(row["reward"] for row in rows)
    for row in picked:
        record = row["label_sampling"]
        size = n_pass if row["reward"] else 200 - n_pass
        assert record["stratum"] == ("pass" if row["reward"] else "fail")
        assert record["population"] == size
        assert record["probability"] == pytest.approx(record["sampled"] / size)
    shares = [sum(row["reward"] == verdict for row in picked) for verdict in (1, 0)]
    assert sum(shares) == 40
    assert shares[0] / shares[1] == pytest.approx((n_pass / (200 - n_pass)) ** 0.5, rel=0.1)
    assert "label_sampling" not in rows[0]


def test_same_seed_same_rows_in_any_order_and_more_with_more():
    rows = judged()

    def names(rows, n, seed=0):
        return {row["task_id"] for row in wai.sample_for_labels(rows, n, seed)}

    assert names(rows, 30) == names(rows[::-1], 30)
    assert names(rows, 30) < names(rows, 60)
    assert names(rows, 30) != names(rows, 30, seed=1)


def test_every_row_of_a_verdict_has_the_same_chance():
    rows = judged(60)
    times = dict.fromkeys((row["task_id"] for row in rows), 0)
    for seed in range(600):
        for row in wai.sample_for_labels(rows, 12, seed):
            times[row["task_id"]] += 1
    for verdict in (1, 0):
        of = [times[row["task_id"]] for row in rows if row["reward"] == verdict]
        mean = sum(of) / len(of)
        assert max(abs(count - mean) for count in of) < 4.5 * (mean * (1 - mean / 600)) ** 0.5


def test_two_arms_are_labelled_on_the_same_tasks():
    before = judged(seed=1)
    after = [{**row, "final_text": f"other {row['task_id']}"} for row in before]
    first, second = ({row["task_id"] for row in wai.sample_for_labels(rows, 30)} for rows in (before, after))
    assert first == second


def test_the_rare_verdict_is_always_there():
    rows = [{"task_id": i, "final_text": str(i), "reward": int(i > 2)} for i in range(500)]
    assert sum(row["reward"] == 0 for row in wai.sample_for_labels(rows, 10)) == 2
    assert len(wai.sample_for_labels(rows, 1)) == 1
    assert len(wai.sample_for_labels(rows, 1000)) == 500


def test_labels_that_are_there_are_kept_and_count():
    rows = labelled(judged(), 60)
    more = wai.sample_for_labels(rows, 40)
    assert not any("gold_reward" in row for row in more)
    assert more.report.strata[0].n_labeled == sum(row.get("gold_reward") is not None for row in rows if row["reward"])
    again = wai.label(rows, [{**row, "label": row["true"]} for row in more])
    result = wai.judge_trust(again)
    assert result.n_labeled == 100
    assert not any(note.code in ("rest_missing", "unrecorded_labels") for note in result.notes)


def test_rows_without_a_verdict():
    rows = [{"task_id": i, "final_text": str(i)} for i in range(20)]
    picked = wai.sample_for_labels(rows, 5)
    assert {row["label_sampling"]["stratum"] for row in picked} == {"all"}
    assert [note.code for note in picked.report.notes] == ["no_verdicts"]
    assert wai.sample_for_labels([], 5) == []


@pytest.mark.parametrize("settings", [{"n": 0}, {"n": 2.5}, {"n": 5, "seed": -1}, {"n": 5, "gold": "god"}])
def test_bad_settings(settings):
    with pytest.raises(wai.ParamError, match="sample_for_labels: "):
        wai.sample_for_labels(judged(20), **settings)


@pytest.mark.parametrize("k", [1, 3])
def test_measurements_hold_the_truth_although_one_verdict_was_drawn_more_often(k):
    """Agreement, leak and the corrected rate of 80 data sets, against what they are on the rows labelled in full."""
    held = {"agreement": 0, "leak": 0, "rate": 0, "raw": 0}
    for seed in range(80):
        rows = judged(240 // k, k=k, seed=seed, rate=0.8)
        result = wai.judge_trust(labelled(rows, 60, seed))
        same = sum(row["reward"] == row["true"] for row in rows) / len(rows)
        low, high = result.intervals["agreement"]
        held["agreement"] += low <= same <= high
        low, high = result.leak[1]
        held["leak"] += low <= 0.3 <= high
        low, high = result.intervals["corrected_pass_rate"]
        held["rate"] += low <= 0.8 <= high
        low, high = intervals.mean_interval([row["reward"] for row in rows])
        held["raw"] += low <= 0.8 <= high
    assert min(held["agreement"], held["leak"], held["rate"]) >= 72
    result = wai.judge_trust(labelled(rows, 60))
    assert any(note.code == "weighted" for note in result.notes)


def test_picked_rows_alone_stand_for_all():
    rows = labelled(judged(400, rate=0.9), 80)
    whole, alone = wai.judge_trust(rows), wai.judge_trust([row for row in rows if "gold_reward" in row])
    assert alone.agreement == pytest.approx(whole.agreement)
    assert alone.corrected_pass_rate == pytest.approx(whole.corrected_pass_rate)
    assert any(note.code == "rest_missing" for note in alone.notes)


def test_labels_from_elsewhere_count_as_drawn_within_their_verdict():
    rows = labelled(judged(), 40)
    rows = [
        {**row, "gold_reward": row["true"]} if i in (0, 1, 2) and "gold_reward" not in row else row
        for i, row in enumerate(rows)
    ]
    assert any(note.code == "unrecorded_labels" for note in wai.judge_trust(rows).notes)


def test_labels_of_what_the_judge_passed_are_no_sample():
    rows = judged()
    passed = [{**row, "gold_reward": row["true"]} if row["reward"] or i % 5 == 0 else row for i, row in enumerate(rows)]
    assert any(note.code == "not_random" for note in wai.judge_trust(passed).notes)
    for seed in range(20):
        notes = wai.judge_trust(labelled(judged(seed=seed), 60, seed)).notes
        assert not any(note.code == "not_random" for note in notes)
        fair = [{**row, "gold_reward": row["true"]} if i < 60 else row for i, row in enumerate(judged(seed=seed))]
        assert not any(note.code == "not_random" for note in wai.judge_trust(fair).notes)


def test_rows_added_because_of_outcomes_are_not_drawn():
    rows = judged(40)
    added = [{**row, "final_text": f"more {i}", "allocation": {"phase": "fill"}} for i, row in enumerate(rows[:10])]
    picked = wai.sample_for_labels([*added, *rows], 50)
    assert len(picked) == 40
    assert not [row for row in picked if "allocation" in row]
    assert "10 rows that were added because of earlier outcomes could not be drawn." in str(picked.report).replace(
        "\n  ", " "
    )
    labelled = wai.label([*added, *rows], [{**row, "label": row["true"]} for row in picked])
    assert "rest_missing" not in [note.code for note in wai.judge_trust(labelled).notes]
