"""`wai.compare(gold=)`: the change with the judge's errors counted, beside the judge's own."""

import random

import pytest

import whileai as wai
from whileai.measure.gating import judged, largest_loss


def arms(rates=(0.5, 0.5), leaks=(0.05, 0.35), n=400, k=1, labels=100, seed=0):
    """Two arms whose judge passes failures at another rate in each, gold on the first tasks' first rows."""
    out = []
    for arm, (rate, leak) in enumerate(zip(rates, leaks, strict=True)):
        rng = random.Random(f"{seed} {arm}")
        rows = []
        for i in range(n):
            for j in range(k):
                true = rng.random() < rate
                said = rng.random() < (0.97 if true else leak)
                row = {"task_id": f"t{i:03}", "final_text": f"{arm} {i} {j}", "reward": int(said), "passage": i // 4}
                rows.append(row | ({"human": int(true)} if i < labels and j == 0 else {}))
        out.append(rows)
    return out


def test_a_change_that_the_judge_made_up():
    before, after = arms()
    assert wai.compare(before, after).verdict == "improved"
    result = wai.compare(before, after, gold="human")
    assert (result.verdict, result.ok) == ("no_difference", True)
    assert result.delta == wai.compare(before, after).delta  # the judge's own stays beside it
    low, high = result.corrected.interval
    assert low < 0 < high
    assert low <= result.corrected.delta <= high
    assert (result.corrected.n_labeled_before, result.corrected.n_labeled_after) == (100, 100)
    assert result.notes[0].code == "judge_errors"
    text = str(result)
    assert f"with the judge's errors counted: change {'-' if result.corrected.delta < 0 else '+'}" in text
    assert "(100 and 100 labels; " in text


def test_a_change_that_is_real():
    before, after = arms(rates=(0.4, 0.7), leaks=(0.1, 0.1))
    result = wai.compare(before, after, gold="human")
    assert result.verdict == "improved"
    assert result.corrected.interval[0] > 0
    assert result.corrected.interval[1] - result.corrected.interval[0] < 0.3
    assert abs(result.corrected.delta - 0.3) < 0.15


def test_a_loss_that_the_judge_hides_is_not_ok():
    before, after = arms(rates=(0.8, 0.4), leaks=(0.05, 0.8), labels=200)
    result = wai.compare(before, after, gold="human")
    assert (result.verdict, result.ok) == ("no_difference", False)
    assert "\n  not ok: with the judge's errors counted pass@1 got worse\n" in str(result)
    lower = wai.compare(before, after, gold="human", lower_is_better=["pass_at_1"])
    assert lower.ok


@pytest.mark.parametrize("k", [1, 3])
def test_the_truth_is_held(k):
    held = 0
    for seed in range(60):
        before, after = arms(rates=(0.6, 0.5), n=120, k=k, labels=40, seed=seed)
        low, high = wai.compare(before, after, gold="human").corrected.interval
        held += low <= -0.1 <= high
    assert held >= 54


def test_swapped_arms_mirror_and_no_order_matters():
    before, after = arms()
    one = wai.compare(before, after, gold="human").corrected
    other = wai.compare(after[::-1], before[::-1], gold="human").corrected
    assert other.delta == pytest.approx(-one.delta)
    assert other.interval == pytest.approx((-one.interval[1], -one.interval[0]))
    again = wai.compare(before[::-1], iter(after), gold="human").corrected
    assert again == one


def test_clusters_and_slices_beside_it():
    before, after = arms()
    plain = wai.compare(before, after, gold="human").corrected
    grouped = wai.compare(before, after, gold="human", cluster="passage", by="passage")
    assert grouped.corrected.n_labeled_before == 100
    assert grouped.corrected.interval != plain.interval
    assert len(grouped.slices) == 100


def test_partial_rewards():
    before, after = arms()
    for rows in (before, after):
        for row in rows:
            row["reward"] = 0.25 + row["reward"] / 2
    result = wai.compare(before, after, target="reward", gold="human")
    assert result.corrected.interval[0] < 0 < result.corrected.interval[1]


def test_too_few_labels_are_told():
    before, after = arms()
    for row in after:
        row.pop("human", None)
    result = wai.compare(before, after, gold="human")
    assert (result.verdict, result.corrected.delta, result.corrected.interval) == ("improved", None, None)
    assert "with the judge's errors counted: not measured (100 and 0 labels)" in str(result)
    assert any(note.code == "no_gold" and note.text.startswith("after has") for note in result.notes)


@pytest.mark.parametrize(
    ("settings", "kind", "message"),
    [
        ({"gold": "humn"}, wai.ParamError, "compare: gold must be a key of the rows; got 'humn'. Did you mean human?"),
        ({"gold": 3}, wai.ParamError, "compare: gold must be a key of the rows; got 3."),
        (
            {"gold": "human", "target": "marker:x"},
            wai.ParamError,
            "compare: gold must be left out where the target is marker:x; got 'human'.",
        ),
    ],
)
def test_bad_gold(settings, kind, message):
    before, after = ([{**row, "markers": {"x": 1.0}} for row in arm] for arm in arms(n=20))
    with pytest.raises(kind) as caught:
        wai.compare(before, after, **settings)
    assert message in str(caught.value)


def test_a_table_has_no_gold():
    before, after = arms(n=20)
    with pytest.raises(TypeError, match="compare: before must be rows where gold= is given; got a TaskTable"):
        wai.compare(wai.task_table(before), after, gold="human")


def test_no_rows():
    assert wai.compare([], [], gold="human").verdict == "insufficient_data"


def test_a_loss_is_ruled_out_by_gold_or_not_at_all():
    """A gate rests on the corrected interval: the judge's own would let a loss pass that gold shows."""
    before, after = arms(rates=(0.8, 0.4), leaks=(0.05, 0.8), labels=200)
    hidden = wai.compare(before, after, gold="human")
    assert largest_loss(hidden) == -hidden.corrected.interval[0] > 0.3
    gate = judged(hidden, gate=True, max_loss=0.2)
    assert not gate.passes
    assert {failure.kind for failure in gate.failures} == {"by_gold", "max_loss"}
    assert "gate failed: the result is not ok (with the judge's errors counted pass@1 got worse)" in gate.remarks[-1]
    assert gate.remarks[-1].endswith("a loss of 0.2 is the most allowed, and the change seen is no smaller")
    assert judged(hidden, gate=False, max_loss=0.6).passes

    real = wai.compare(*arms(rates=(0.4, 0.7), leaks=(0.1, 0.1)), gold="human")
    assert judged(real, gate=True, max_loss=0.01).passes
    lower = wai.compare(*arms(rates=(0.4, 0.7), leaks=(0.1, 0.1)), gold="human", lower_is_better=["pass_at_1"])
    assert largest_loss(lower) == lower.corrected.interval[1]

    few = wai.compare(before, [{k: v for k, v in row.items() if k != "human"} for row in after], gold="human")
    assert not few.ok
    assert "\n  not ok: with the judge's errors counted pass@1 was not measured\n" in str(few)
    for asked in ({"gate": True}, {"gate": False, "max_loss": 0.9}):
        gate = judged(few, **asked)
        assert (gate.passes, bool(gate.failures)) == (False, True)


def test_what_stays_the_judge_s_own_is_told():
    before, after = arms()
    settings = {"gold": "human", "by": "passage", "must_not_regress": ["reward"]}
    told = [note.text for note in wai.compare(before, after, **settings).notes if note.code == "judge_alone"]
    assert told == ["slices and reward are by the judge alone: gold corrects pass_at_1 over all tasks."]
    assert not [note for note in wai.compare(before, after, gold="human").notes if note.code == "judge_alone"]


def test_reward_is_a_guard_of_binary_rewards_too():
    before, after = arms()
    result = wai.compare(before, after, must_not_regress=["reward"])
    assert result.ok
    assert result.metrics["reward"].delta == result.metrics["pass_at_1"].delta
    assert wai.compare(after, before, must_not_regress=["reward"]).regressions == ("reward",)
