"""Which completions make a pair."""

from __future__ import annotations

import itertools
import random

import pytest
from scipy.stats import binomtest

import whileai as wai
from whileai.errors import ParamError, RowError
from whileai.export.pairs import sign_p


def group(task, *replies, **more):
    """Rows of one task from (text, reward)."""
    return [
        {"task_id": task, "prompt": f"q {task}", "final_text": text, "reward": reward, "rollout_index": place, **more}
        for place, (text, reward) in enumerate(replies)
    ]


def texts(pair):
    return pair["chosen"][-1]["content"], pair["rejected"][-1]["content"]


def test_the_pair_nearest_in_length_is_taken():
    rows = group("a", ("x" * 10, 1), ("x" * 50, 1), ("y" * 48, 0), ("y" * 90, 0))
    (pair,) = wai.preference_pairs(rows)
    assert texts(pair) == ("x" * 50, "y" * 48)
    assert {key: pair[key] for key in pair if key.endswith(("reward", "index", "margin"))} == {
        "chosen_reward": 1.0,
        "rejected_reward": 0.0,
        "margin": 1.0,
        "chosen_index": 1,
        "rejected_index": 2,
    }


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("min_margin", [1.0, 0.5, 0.25])
def test_it_is_the_nearest_of_all(seed, min_margin):
    draw = random.Random(seed)
    levels = [0, 1] if seed % 2 else [0, 0.25, 0.5, 0.75, 1]
    rows = group("t", *[("ab"[draw.random() < 0.5] * draw.randint(1, 30), draw.choice(levels)) for _ in range(12)])
    gaps = [
        abs(len(one["final_text"]) - len(other["final_text"]))
        for one, other in itertools.permutations(rows, 2)
        if one["reward"] - other["reward"] >= min_margin and one["final_text"] != other["final_text"]
    ]
    pairs = wai.preference_pairs(rows, min_margin=min_margin)
    assert [abs(len(texts(pair)[0]) - len(texts(pair)[1])) for pair in pairs] == ([min(gaps)] if gaps else [])
    draw.shuffle(rows)
    assert wai.preference_pairs(rows, min_margin=min_margin) == pairs


def test_no_row_is_in_two_pairs_and_there_are_as_many_as_asked():
    rows = group("a", *[(f"right {i}", 1) for i in range(4)], *[(f"wrong {i}", 0) for i in range(3)])
    for per_task, n in ((1, 1), (2, 2), (3, 3), (9, 3)):
        pairs = wai.preference_pairs(rows, per_task=per_task)
        assert len(pairs) == n
        assert len({side for pair in pairs for side in texts(pair)}) == 2 * n


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (group("a", ("x", 1)), "unjudged"),
        (group("a", ("x", 1), ("y", None)), "unjudged"),
        (group("a", ("x", 1), ("y", 0), usable=False), "unjudged"),
        (group("a", ("x", 1), ("y", 0), finish_reason="length"), "unjudged"),
        (group("a", ("x", 1), ("y", 1)), "same_reward"),
        (group("a", ("x", 1), ("y", 0.5)), "within_margin"),
        (group("a", ("x", 1), ("x", 0)), "same_text"),
        ([*group("a", ("x", 1)), {**group("a", ("y", 0))[0], "prompt": "another"}], "prompts_differ"),
    ],
)
def test_a_task_without_a_pair_says_why(rows, reason):
    pairs = wai.preference_pairs(rows)
    assert pairs == []
    assert pairs.report.tasks_without == {reason: 1}
    assert [note.code for note in pairs.report.notes] == ["no_pairs"]
    assert reason in str(pairs)


def test_pairs_stay_within_a_task():
    rows = [*group("a", ("x", 1), ("y", 1)), *group("b", ("x", 0), ("y", 0))]
    assert wai.preference_pairs(rows) == []
    same_prompt = [{**row, "prompt": "one prompt"} for row in rows]
    assert wai.preference_pairs(same_prompt) == []


@pytest.mark.parametrize(("more", "fewer"), [(0, 1), (5, 5), (7, 2), (1, 12), (300, 240), (2000, 100)])
def test_the_sign_test_is_the_binomial_one(more, fewer):
    assert sign_p(more, fewer) == pytest.approx(binomtest(more, more + fewer).pvalue, rel=1e-9)
    assert sign_p(0, 0) is None


def test_lengths_that_give_the_choice_away_are_noted():
    rows = [row for task in range(8) for row in group(str(task), ("a longer reply", 1), ("short", 0))]
    report = wai.preference_pairs(rows).report
    assert (report.longer_chosen, report.longer_p) == (1.0, 2 / 2**8)
    assert [note.code for note in report.notes] == ["length_tracks_choice"]


def test_the_report_in_words():
    rows = [*group("a", ("x", 1), ("yy", 0)), *group("b", ("x", 1), ("y", 1)), *group("c", ("x", 1), ("y", None))]
    assert str(wai.preference_pairs(rows)) == (
        "1 pair from 1 of 3 tasks, rewards at least 1 apart\n"
        "  no pair: unjudged 1 task | same_reward 1 task\n"
        "  skipped: unjudged 1 row\n"
        "  the chosen one is the longer in 0.00 of the pairs of two lengths (sign test p=1.00)"
    )
    assert wai.preference_pairs([]).report.notes[0].code == "no_rows"


@pytest.mark.parametrize(
    "settings", [{"per_task": 0}, {"per_task": 1.5}, {"min_margin": 0}, {"min_margin": 1.1}, {"min_margin": "1"}]
)
def test_settings_outside_their_bounds(settings):
    with pytest.raises(ParamError, match=f"preference_pairs: {next(iter(settings))} must be"):
        wai.preference_pairs([], **settings)


def test_a_reward_that_is_none():
    with pytest.raises(RowError, match=r"preference_pairs: rows row 1: reward must be a number in \[0, 1\]; got '1'"):
        wai.preference_pairs(group("a", ("x", 1), ("y", "1")))


@pytest.mark.parametrize(
    "pair",
    [
        {"prompt": "q", "chosen": "a", "rejected": "b"},
        {
            "prompt": [{"role": "user", "content": "q"}],
            "chosen": [{"role": "assistant", "content": "a"}],
            "rejected": [{"role": "assistant", "content": "b"}],
        },
        {
            "chosen": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}],
            "rejected": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "b"}],
        },
        {
            "prompt": "q",
            "chosen": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}],
            "rejected": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "b"}],
        },
    ],
)
def test_pairs_of_every_form_are_written(pair, tmp_path):
    wai.write([pair], tmp_path / "a.jsonl", format="trl-preference")
    (line,) = wai.read(tmp_path / "a.jsonl")
    assert [line[side] for side in ("prompt", "chosen", "rejected")] == [
        [{"role": "user", "content": "q"}],
        [{"role": "assistant", "content": "a"}],
        [{"role": "assistant", "content": "b"}],
    ]
    wai.write([pair], tmp_path / "a.jsonl", format="openai-dpo")
    assert wai.read(tmp_path / "a.jsonl")[0]["preferred_output"] == [{"role": "assistant", "content": "a"}]


def test_pairs_written_from_rows_are_the_pairs(tmp_path):
    rows = [*group("a", ("x", 1), ("yy", 0)), *group("b", ("x", 1), ("y", 0))]
    for source in (rows, wai.preference_pairs(rows)):
        wai.write(source, tmp_path / "a.jsonl", format="trl-preference")
        lines = wai.read(tmp_path / "a.jsonl")
        assert [texts(line) for line in lines] == [("x", "yy"), ("x", "y")]
        assert [line["chosen_reward"] for line in lines] == [1.0, 1.0]
