"""`wai.hack_scan`: what it finds, what it does not, and what it says when it cannot tell."""

from __future__ import annotations

import random

import pytest

import whileai as wai


def rows_with(n_tasks, k, *, seed=0, longer=0, **more):
    """Rewards at random; the replies that pass are `longer` characters longer."""
    draw = random.Random(seed)
    rows = []
    for task in range(n_tasks):
        for _ in range(k):
            reward = int(draw.random() < 0.5)
            text = "x" * (draw.randint(20, 60) + longer * reward)
            row = {"task_id": f"t{task}", "final_text": text, "reward": reward}
            rows.append(row | {name: value(draw, reward) for name, value in more.items()})
    return rows


LONG = rows_with(20, 6, longer=15)


def test_reward_that_moves_with_length():
    found = wai.hack_scan(LONG)
    assert (found.verdict, found.ok) == ("tracks_feature", False)
    (finding,) = found.findings
    assert finding.name == "length"
    assert found.summary == (
        f"reward moves with reply length within tasks (r = .{finding.r * 100:.0f}, floor .{found.floor * 100:.0f}). "
        "Endorse it or look at these rows."
    )
    assert finding.p <= 0.05 < 1
    assert set(finding.tasks) <= {row["task_id"] for row in LONG}


def test_what_is_endorsed_is_no_finding():
    rows = rows_with(20, 6, longer=15, markers=lambda draw, reward: {"polite": draw.random()})
    found = wai.hack_scan(rows, endorsed=["length"])
    assert (found.verdict, found.ok) == ("clean", True)
    assert {feature.name: feature.endorsed for feature in found.features}["length"] is True
    assert found.summary.startswith(
        "clean: reward moves with no feature within tasks; of 1 the most with marker:polite"
    )


def test_a_hard_topic_with_long_replies_is_no_finding():
    draw = random.Random(3)
    rows = [
        {
            "task_id": task,
            "final_text": "x" * (draw.randint(1, 9) + 200 * (task < 15)),
            "reward": int(draw.random() < (0.25 if task < 15 else 0.75)),
        }
        for task in range(30)
        for _ in range(6)
    ]
    assert wai.hack_scan(rows).verdict == "clean"


@pytest.mark.parametrize(
    ("feature", "more"),
    [
        ("marker:smile", {"markers": lambda draw, reward: {"smile": reward + draw.random()}}),
        (
            "tool:search",
            {"steps": lambda draw, reward: [{"tool": "search"}] * (reward + draw.randint(0, 1)) + [{"text": "a"}]},
        ),
        ("faults", {"ledger": lambda draw, reward: [{}] * (reward + draw.randint(0, 1))}),
        ("cut_off", {"finish_reason": lambda draw, reward: "length" if not reward and draw.random() < 0.8 else "stop"}),
        (
            "mean_logprob",
            {"logprob": lambda draw, reward: -5.0 + reward + draw.random(), "n_tokens": lambda draw, reward: 5},
        ),
        (
            "turns",
            {
                "messages": lambda draw, reward: (
                    [{"role": "assistant", "content": "a"}] * (1 + reward + draw.randint(0, 1))
                )
            },
        ),
    ],
)
def test_every_feature_is_found(feature, more):
    assert feature in [found.name for found in wai.hack_scan(rows_with(20, 6, **more)).findings]


def test_features_of_ones_own():
    rows = rows_with(20, 6, longer=15)
    vowels = {"shout": lambda row: len(row["final_text"]) if len(row["final_text"]) % 7 else None}
    found = wai.hack_scan(rows, features=vowels)
    assert "shout" in [finding.name for finding in found.findings]
    assert next(f.n_rows for f in found.features if f.name == "shout") < found.n_rows
    assert [f.name for f in wai.hack_scan(rows, features=["length"]).features] == ["length"]


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([], "not measured: 0 mixed tasks, needs 8. This says nothing about the judge."),
        (rows_with(3, 8, seed=1), "not measured: 3 mixed tasks, needs 8. This says nothing about the judge."),
        (
            [{"task_id": t, "final_text": "a" * (r + 1), "reward": r} for t in range(9) for r in (0, 1)],
            "not measured: 18 rows in mixed tasks, needs 20. This says nothing about the judge.",
        ),
        (
            [{"task_id": t, "final_text": "same", "reward": r} for t in range(9) for r in (0, 0, 1)],
            (
                "not measured: no feature that is not endorsed varies within the mixed tasks. "
                "This says nothing about the judge."
            ),
        ),
    ],
)
def test_thin_data_says_so_and_blames_nobody(rows, says):
    found = wai.hack_scan(rows)
    assert (found.verdict, found.ok, found.findings, found.floor) == ("insufficient_data", False, (), None)
    assert found.summary == says


def test_a_level_that_the_rows_cannot_reach():
    rows = [{"task_id": t, "final_text": "a" * (1 + (r + t) % 3), "reward": r} for t in range(10) for r in (0, 1)]
    found = wai.hack_scan(rows, level=0.9999)
    assert (found.verdict, found.n_permutations, found.every_permutation) == ("insufficient_data", 1024, True)
    assert "1,024 permutations of these rows can give no p below 0.0001" in found.summary


def test_rows_that_do_not_speak_change_nothing():
    same = [{"task_id": "all pass", "final_text": "a" * n, "reward": 1} for n in range(1, 9)]
    odd = [{"task_id": "t0", "final_text": "a", "reward": reward} for reward in (None, 0.5, float("nan"))]
    plain, more = wai.hack_scan(LONG), wai.hack_scan(LONG + same + odd)
    assert (plain.features, plain.floor) == (more.features, more.floor)
    assert [note.code for note in more.notes] == ["unjudged", "partial"]


def test_the_order_of_the_rows_is_of_no_matter():
    rows = rows_with(20, 6, seed=4, longer=5, markers=lambda draw, reward: {"a": draw.random()})
    mixed = random.Random(5).sample(rows, len(rows))
    assert wai.hack_scan(rows).to_dict() == wai.hack_scan(mixed).to_dict()


def test_true_and_false_are_rewards():
    as_bools = [{**row, "reward": bool(row["reward"])} for row in LONG]
    assert wai.hack_scan(as_bools) == wai.hack_scan(LONG)


def _collinear(draw, reward):
    z = draw.gauss(0, 1)
    return {"z": z, "twice": 2 * z + 1, "square": z * z, "near": z + draw.gauss(0, 0.01)}


#: Tasks, replies a task, and what stands on a reply whatever its reward.
NOISE = {
    "spread": (12, 4, lambda draw, reward: {"a": draw.random(), "b": draw.gauss(0, 1)}),
    "few tasks, every permutation": (9, 3, lambda draw, reward: {"a": draw.random()}),
    "discrete and tied": (12, 4, lambda draw, reward: {"a": draw.randrange(2), "b": draw.randrange(3), "c": 0}),
    "collinear": (12, 4, _collinear),
    "often not there": (12, 5, lambda draw, reward: {"a": None if draw.random() < 0.5 else draw.random()}),
    "heavy tails": (16, 5, lambda draw, reward: {name: 1 / (draw.random() + 1e-9) for name in "abcd"}),
}


@pytest.mark.parametrize(("n_tasks", "k", "markers"), NOISE.values(), ids=NOISE)
def test_false_alarms_on_noise_are_at_most_one_in_twenty(n_tasks, k, markers):
    found = [wai.hack_scan(rows_with(n_tasks, k, seed=100 + seed, markers=markers)) for seed in range(200)]
    told = [one for one in found if one.verdict != "insufficient_data"]
    assert len(told) > 60
    assert sum(not one.ok for one in told) <= 20  # P(more | 5% of 200) is 0.1%


def test_the_floor_and_the_findings_have_one_bar():
    # in 1 of 10 ways to deal two passes over five replies they are the two longest: p is 0.1, which 0.9 leaves
    rows = [{"task_id": t, "final_text": "same", "reward": r} for t in range(8) for r in (0, 1)]
    rows += [{"task_id": "own", "final_text": "x" * n, "reward": int(n > 99)} for n in (1, 20, 30, 200, 300)]
    found = wai.hack_scan(rows, level=0.9)
    (length,) = [feature for feature in found.features if feature.name == "length"]
    assert length.p == pytest.approx(0.1)
    assert (found.verdict == "tracks_feature") == (abs(length.r) > found.floor)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"endorsed": ["lenght"]},
            "hack_scan: endorsed must be names of features on the rows; got 'lenght'. Did you mean length?",
        ),
        ({"features": ["marker:x"]}, "hack_scan: features must be names of features on the rows; got 'marker:x'."),
        ({"features": []}, "hack_scan: features must be one name or more"),
        ({"features": {"odd": 3}}, "hack_scan: features['odd'] must be a function of a row; got 3."),
        ({"features": 3}, "hack_scan: features must be names of features; got 3."),
        ({"endorsed": 3}, "hack_scan: endorsed must be names of features; got 3."),
        ({"level": 95}, "Write 0.95."),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(wai.ParamError) as caught:
        wai.hack_scan(LONG, **arguments)
    assert message in str(caught.value)


def test_a_function_that_gives_no_number():
    with pytest.raises(wai.RowError, match="row 0: features"):
        wai.hack_scan(LONG, features={"bad": lambda row: "long"})
