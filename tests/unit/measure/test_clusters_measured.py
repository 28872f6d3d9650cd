"""`cluster=` in `pass_at` and `compare`: tasks that resemble one another widen the interval and turn together."""

from __future__ import annotations

import random

import numpy as np
import pytest

import whileai as wai
from whileai.stats import clustered, passk, signflip


def eval_rows(n_clusters, per=5, k=2, base=0.4, lift=0.0, seed=0):
    """Tasks whose pass rate is that of their passage."""
    draw = random.Random(seed)
    rates = [min(1.0, max(0.0, draw.betavariate(0.4, 0.6) * base / 0.4)) for _ in range(n_clusters)]
    draw = random.Random(seed + 1000 + int(100 * lift))
    return [
        {
            "task_id": f"t{c}-{i}",
            "reward": int(draw.random() < rates[c] + lift),
            "info": {"passage": f"p{c}"},
            "markers": {"chars": 100 * rates[c] + draw.random() + 50 * lift},
        }
        for c in range(n_clusters)
        for i in range(per + c % 3)
        for _ in range(k)
    ]


ROWS, AFTER = eval_rows(20), eval_rows(20, lift=0.25)


def codes(result):
    return [note.code for note in result.notes]


def test_the_rates_stay_and_the_intervals_widen():
    plain, wide = wai.pass_at(ROWS), wai.pass_at(ROWS, cluster="info.passage")
    for name in ("pass_at_1", "pass_pow_k", "pass_at_k", "reward", "headroom", "k", "n_tasks", "n_rows", "per_task"):
        assert wide[name] == plain[name]
    for name, (low, high) in plain.intervals.items():
        assert wide.intervals[name][0] < low < high < wide.intervals[name][1], name
    assert (plain.n_clusters, wide.n_clusters) == (None, 20)
    assert "(119 tasks in 20 clusters, k=2)" in str(wide)


def test_intervals_are_those_of_the_tasks_numbers():
    table = wai.task_table(ROWS)
    names = [task.split("-")[0] for task in table.task]
    groups = np.unique(names, return_inverse=True)[1]
    found = wai.pass_at(ROWS, cluster="info.passage", level=0.9).intervals
    assert found["pass_at_1"] == clustered.mean_interval(table.passes / table.n, groups, 0.9)
    assert found["pass_pow_k"] == clustered.mean_interval(passk.pass_hat_k(table.n, table.passes, 2), groups, 0.9)
    assert found["pass_at_k"] == clustered.mean_interval(passk.pass_at_k(table.n, table.passes, 2), groups, 0.9)


def test_partial_rewards_have_clusters_too():
    rows = [{"task_id": i, "reward": 0.25 * (i // 6 % 3) + 0.25, "doc": i // 6} for i in range(60)]
    result = wai.pass_at(rows, cluster="doc")
    assert result.pass_at_1 is None
    assert result.n_clusters == 10
    assert result.intervals["reward"] == clustered.mean_interval(
        [row["reward"] for row in rows], [i // 6 for i in range(60)]
    )


@pytest.mark.parametrize("cluster", ["task_id", "own"])
def test_every_task_its_own_cluster_changes_no_bit(cluster):
    before = [{**row, "own": f"x{row['task_id']}"} for row in ROWS]
    after = [{**row, "own": f"x{row['task_id']}"} for row in AFTER]
    plain, same = wai.pass_at(before), wai.pass_at(before, cluster=cluster)
    assert (same.intervals, same.notes) == (plain.intervals, plain.notes)
    assert same.n_clusters == same.n_tasks
    for target in ("pass_at_1", "reward", "marker:chars"):
        plain, same = (
            wai.compare(before, after, target=target),
            wai.compare(before, after, target=target, cluster=cluster),
        )
        for name in set(plain.keys()) - {"metrics", "n_clusters"}:
            assert same[name] == plain[name], name
        for name, delta in plain.metrics.items():
            assert same.metrics[name].to_dict() | {"n_clusters": None} == delta.to_dict()


def test_compare_over_clusters():
    plain, wide = wai.compare(ROWS, AFTER), wai.compare(ROWS, AFTER, cluster="info.passage")
    for name in ("before", "after", "delta", "n_paired"):
        assert wide[name] == plain[name]
    assert wide.interval[0] < plain.interval[0]
    assert wide.interval[1] > plain.interval[1]
    assert (plain.n_clusters, wide.n_clusters, wide.metrics["marker:chars"].n_clusters) == (None, 20, 20)
    assert "  119 tasks in 20 clusters, in both arms: " in str(wide)
    a, b = wai.task_table(ROWS), wai.task_table(AFTER)
    changes = dict(zip(b.task, b.rates, strict=True))
    changes = np.array([changes[task] for task in a.task]) - a.rates
    groups = np.unique([task.split("-")[0] for task in a.task], return_inverse=True)[1]
    assert wide.interval == clustered.paired_interval(changes, groups)
    sums = np.bincount(groups, weights=changes)
    assert wide.p_value == pytest.approx(signflip.signflip_p(sums, 2), rel=1e-12)


def test_any_order_and_swapped_arms():
    def moved(rows, seed):
        return random.Random(seed).sample(rows, len(rows))

    one = wai.compare(ROWS, AFTER, cluster="info.passage")
    assert wai.compare(moved(ROWS, 1), moved(AFTER, 2), cluster="info.passage").to_dict() == one.to_dict()
    assert wai.pass_at(moved(ROWS, 3), cluster="info.passage").to_dict() == (
        wai.pass_at(ROWS, cluster="info.passage").to_dict()
    )
    back = wai.compare(AFTER, ROWS, cluster="info.passage")
    assert (back.delta, back.interval) == (-one.delta, (-one.interval[1], -one.interval[0]))
    assert back.p_value == one.p_value


def test_few_clusters_prove_nothing_however_many_tasks_they_hold():
    before = [{"task_id": i, "reward": 0, "doc": i // 40} for i in range(200)]
    after = [{**row, "reward": 1} for row in before]
    assert wai.compare(before, after).verdict == "improved"
    result = wai.compare(before, after, cluster="doc")
    assert (result.verdict, result.p_value) == ("no_difference", 2 / 2**5)
    result = wai.compare(before, [{**row, "reward": int(row["task_id"] % 40 < 20)} for row in before], cluster="doc")
    assert codes(result)[0] == "too_few_clusters"
    assert "5 clusters changed; the exact test needs 6." in str(result)
    assert result.tasks_needed % 40 == 0


def test_one_cluster_has_no_spread():
    one = [{**row, "doc": "all"} for row in ROWS]
    result = wai.compare(one, AFTER, cluster="doc", target="marker:chars")
    assert (result.interval, result.p_value, result.verdict) == (None, 1.0, "no_difference")
    assert codes(result)[0] == "one_cluster"
    assert "no_spread" not in codes(result)
    low, high = wai.pass_at(one, cluster="doc").ci95
    assert high - low > 0.9


def test_tasks_without_the_key_and_tasks_with_two():
    rows = [{**row, "doc": row["info"]["passage"]} for row in ROWS]
    for row in rows[:4]:
        del row["doc"]
    rows[4]["doc"] = "p7"
    result = wai.pass_at(rows, cluster="doc")
    assert codes(result) == ["several_clusters", "no_cluster"]
    text = [str(note) for note in result.notes]
    assert text[0].startswith(
        "note several_clusters: 1 task stands in more than one 'doc'; the first in order was taken"
    )
    assert text[1] == "note no_cluster: 2 tasks without 'doc' are clusters of their own."
    assert result.n_clusters == 22
    rows[5]["doc"] = "p7"
    rows[4]["doc"] = "p0"  # the other way around: still p0
    assert wai.pass_at(rows, cluster="doc").intervals == result.intervals


def test_one_arm_with_the_key_is_enough():
    both = wai.compare(ROWS, AFTER, cluster="info.passage")
    bare = [{name: value for name, value in row.items() if name != "info"} for row in AFTER]
    assert wai.compare(ROWS, bare, cluster="info.passage").to_dict() == both.to_dict()
    other = [{**row, "info": {"passage": "p0"}} if row["task_id"] == "t3-0" else row for row in AFTER]
    result = wai.compare(ROWS, other, cluster="info.passage")
    assert "several_clusters" in codes(result)
    assert result.n_clusters == 20


def test_all_tasks_pass():
    rows = [{"task_id": i, "reward": 1, "doc": i // 4} for i in range(40)]
    result = wai.pass_at(rows, cluster="doc")
    assert result.ci95 == pytest.approx((0.69150289, 1.0))  # Clopper and Pearson, 10 of 10
    assert str(result.notes[0]) == (
        "note all_pass: every one of 40 tasks in 10 clusters passed; that leaves the rate anywhere above 0.69."
    )


@pytest.mark.parametrize(
    "call", [lambda **more: wai.pass_at(ROWS, **more), lambda **more: wai.compare(ROWS, AFTER, **more)]
)
@pytest.mark.parametrize(
    ("cluster", "end"),
    [("info.pasage", "got 'info.pasage'. Did you mean info.passage?"), (3, "got 3."), (["info"], "got ['info'].")],
)
def test_refusals(call, cluster, end):
    with pytest.raises(wai.ParamError) as error:
        call(cluster=cluster)
    assert str(error.value).endswith(f": cluster must be a key of the rows; {end}")


def test_a_table_has_no_keys():
    table = wai.task_table(ROWS)
    with pytest.raises(TypeError, match=r"^pass_at: data must be rows where cluster= is given; got a TaskTable\."):
        wai.pass_at(table, cluster="info.passage")
    with pytest.raises(TypeError, match=r"^compare: before must be rows where cluster= is given; got a TaskTable\."):
        wai.compare(table, AFTER, cluster="info.passage")


def test_no_rows():
    assert wai.pass_at([], cluster="doc").n_clusters == 0
    assert wai.compare([], [], cluster="doc", by="doc").verdict == "insufficient_data"
