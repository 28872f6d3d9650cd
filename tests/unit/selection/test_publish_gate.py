"""`wai.publish_gate`: each thing that speaks against rows is named, and nothing else is."""

from __future__ import annotations

import json
import random

import pytest

import whileai as wai
from whileai.selection.near_copies import near_copies

WORDS = [
    "river",
    "stone",
    "lamp",
    "winter",
    "garden",
    "market",
    "silver",
    "window",
    "bottle",
    "engine",
    "forest",
    "candle",
]


def task_prompt(i):
    draw = random.Random(i)
    first, second = draw.choice(WORDS), draw.choice(WORDS)
    return f"Explain how a {first} differs from a {second}, in {i} words, for reader {draw.random()}"


def good(n_tasks=10, k=4, **more):
    """Rows that nothing speaks against: mixed groups, a rule as the judge, one policy."""
    return [
        {
            "task_id": f"t{i}",
            "prompt": task_prompt(i),
            "final_text": f"reply {i:05d} {j}",
            "messages": [{"role": "user", "content": task_prompt(i)}, {"role": "assistant", "content": "x"}],
            "reward": (j + i) % 2,
            "judge_name": "ExactMatch",
            "rollout_index": j,
            **more,
        }
        for i in range(n_tasks)
        for j in range(k)
    ]


def codes(gate):
    return [note.code for note in gate.refusals], [note.code for note in gate.warnings]


@pytest.mark.parametrize("mode", [None, "rl", "sft"])
def test_good_rows_pass(mode):
    gate = wai.publish_gate(good(), mode=mode, holdout=["An entirely different question about the sea."])
    assert codes(gate) == ([], [])
    assert gate.ok
    assert (gate.n_rows, gate.n_tasks, len(gate.rows)) == (40, 10, 40)
    assert gate.rows[0]["calibration"]["pass_rate"] == 0.5


def changed(**more):
    return lambda row, i: {**row, **more}


@pytest.mark.parametrize("mode", [None, "rl", "sft"])
def test_no_rows_are_never_fine(mode):
    gate = wai.publish_gate([], mode=mode)
    assert (gate.ok, codes(gate)) == (False, (["empty"], []))


@pytest.mark.parametrize(
    ("mode", "change", "refusals", "warnings"),
    [
        ("rl", lambda row, i: {**row, "reward": None if i % 10 == 0 else row["reward"]}, ["ungraded"], []),
        ("sft", lambda row, i: {**row, "reward": None if i % 10 == 0 else row["reward"]}, [], []),
        ("rl", lambda row, i: {**row, "reward": None if i == 0 else row["reward"]}, [], []),
        ("rl", lambda row, i: {**row, "reward": bool(row["reward"])}, [], []),
        ("rl", lambda row, i: {**row, "reward": (0.25, 0.5)[row["reward"]]}, [], []),
        ("rl", changed(reward=0.5), ["no_mixed_groups"], []),
        ("rl", changed(reward=1), ["no_mixed_groups"], []),
        ("sft", changed(reward=1), [], []),
        ("sft", changed(reward=0), ["no_passing_rows"], []),
        ("sft", changed(reward=None), ["no_passing_rows"], []),
        (None, changed(reward=None), [], []),
        (None, lambda row, i: {**row, "schema_version": "1"}, ["invalid_rows"], []),
        (None, changed(judge_name="my_judge"), [], ["judge_not_measured"]),
        (None, changed(judge_name=None, label_source="given"), [], ["judge_not_measured"]),
        (None, changed(judge_name=None, label_source="engine"), [], []),
        (None, lambda row, i: {**row, "usable": i % 8 != 0}, [], ["unusable_share"]),
        (None, lambda row, i: {**row, "usable": i != 0}, [], []),
        (None, lambda row, i: {**row, "finish_reason": "length" if i % 8 == 0 else "stop"}, [], ["truncated_share"]),
        (None, lambda row, i: {**row, "allocation": {"phase": "fill" if i % 4 == 3 else "probe"}}, [], ["fill_rows"]),
        (None, lambda row, i: {**row, "policy_version": f"m@{i % 2}"}, [], ["mixed_students"]),
        (None, changed(task_id="only"), [], ["one_task"]),
        ("rl", lambda row, i: None if i == 3 else row, [], ["cut_groups"]),
        ("rl", changed(allocation={"k": 8, "phase": "probe"}), [], ["cut_groups"]),
        ("sft", lambda row, i: None if i == 3 else row, [], []),
        ("sft", changed(final_text="the same"), [], ["duplicates"]),
        ("rl", changed(final_text="the same"), [], []),
        (
            None,
            lambda row, i: {**row, "final_text": row["final_text"] + "y" * 50 * row["reward"]},
            [],
            ["tracks_feature"],
        ),
    ],
)
def test_each_thing_is_named_and_nothing_else(mode, change, refusals, warnings):
    rows = [new for i, row in enumerate(good()) if (new := change(row, i)) is not None]
    before = json.dumps(rows)
    gate = wai.publish_gate(rows, mode=mode)
    assert codes(gate) == (refusals, warnings)
    assert gate.ok is not bool(refusals)
    strict = wai.publish_gate(rows, mode=mode, strict=True)
    assert codes(strict) == (refusals + warnings, [])
    assert json.dumps(rows) == before


SECRET = "the refund was never sent, say so"


@pytest.mark.parametrize(
    ("turn", "privileged", "leaks"),
    [
        ({"role": "system", "content": f"Note: {SECRET}."}, {"reference": SECRET}, True),
        ({"role": "tool", "content": json.dumps({"hint": SECRET})}, {"reference": SECRET}, True),
        ({"role": "user", "content": f"Psst: {SECRET.upper()}"}, {"reference": [SECRET, "other"]}, True),
        ({"role": "assistant", "content": SECRET}, {"reference": SECRET}, False),
        ({"role": "assistant", "content": SECRET}, {"rubric": {"must": SECRET}}, True),
        ({"role": "user", "content": f"A) {SECRET} B) it was sent"}, {"reference": SECRET}, False),
        ({"role": "user", "content": f"{'A passage. ' * 40}{SECRET}. What happened?"}, {"reference": SECRET}, False),
        ({"role": "user", "content": "What is 4 + 4? Not 8?"}, {"reference": "8"}, False),
        ({"role": "tool", "content": SECRET}, {"hidden_state": {"note": SECRET}}, False),
        ({"role": "user", "content": "hi", "privileged": {}}, {}, True),
        ({"role": "user", "content": [{"type": "text", "text": SECRET}]}, {"note": SECRET}, True),
        ({"role": "user", "content": "hi"}, {"reference": SECRET}, False),
    ],
)
def test_what_leaked_into_messages(turn, privileged, leaks):
    rows = good()
    rows[5] = {**rows[5], "messages": [turn], "privileged": privileged}
    assert codes(wai.publish_gate(rows)) == (["privileged_in_messages"] if leaks else [], [])


def test_a_holdout_that_is_among_the_rows():
    rows = good()
    gate = wai.publish_gate(rows, holdout=[{"prompt": rows[0]["prompt"]}, {"prompt": "Something else altogether."}])
    assert codes(gate)[0] == ["contaminated"]
    assert "4 rows hold a question of the holdout" in gate.refusals[0].text


def labelled(agree):
    rows = good(60, 2)
    return [
        {**row, "gold_reward": row["reward"] if i % 100 < agree else 1 - row["reward"]} for i, row in enumerate(rows)
    ]


@pytest.mark.parametrize(
    ("agree", "refusals", "warnings"),
    [(100, [], []), (50, ["judge_failed"], []), (85, [], ["judge_not_measured"])],
)
def test_gold_measures_the_judge_as_judge_trust_does(agree, refusals, warnings):
    rows = labelled(agree)
    assert codes(wai.publish_gate(rows, gold="gold_reward")) == (refusals, warnings)
    trust = wai.judge_trust(rows)
    assert codes(wai.publish_gate(rows, trust=trust)) == (refusals, warnings)
    assert trust.verdict == {(): "pass", ("judge_failed",): "fail"}.get(tuple(refusals + warnings), "inconclusive")


def test_a_scan_with_what_is_endorsed():
    rows = [{**row, "final_text": row["final_text"] + "y" * 50 * row["reward"]} for row in good()]
    assert codes(wai.publish_gate(rows, scan=wai.hack_scan(rows)))[1] == ["tracks_feature"]
    assert codes(wai.publish_gate(rows, scan=wai.hack_scan(rows, endorsed=["length"])))[1] == []


def test_asked_twice_in_other_words():
    rows = good()
    twin = rows[0]["prompt"].replace("Explain", "Describe")
    rows += [{**row, "task_id": "twin", "prompt": twin} for row in rows[:4]]
    assert codes(wai.publish_gate(rows, mode="rl")) == ([], ["duplicates"])


def test_rows_that_cannot_be_read_are_refused_and_the_rest_is_looked_at():
    rows = [*good(), {}, {"schema_version": "1", "task_id": "t", "prompt": 3, "final_text": "a", "steps": []}]
    gate = wai.publish_gate(rows, mode="rl")
    assert codes(gate) == (["invalid_rows"], [])
    assert "2 rows cannot be read: " in gate.refusals[0].text
    assert "prompt_not_str (1)" in gate.refusals[0].text
    assert (gate.n_rows, len(gate.rows)) == (42, 40)


def test_printed():
    rows = [{**row, "judge_name": "tone"} for row in good()]
    assert str(wai.publish_gate(rows, mode="rl", holdout=[rows[0]["prompt"]])) == (
        "refused for rl: contaminated (40 rows on 10 tasks)\n"
        "  refuses contaminated: 4 rows hold a question of the holdout. Train on wai.decontaminate(rows,\n"
        "    holdout).\n"
        "  warns judge_not_measured: nothing says how far to believe tone. Label some rows, picked at random,\n"
        "    and pass gold= or trust=wai.judge_trust(rows)."
    )
    assert wai.publish_gate(good(), mode="sft").summary == "may be published for sft: 40 rows on 10 tasks, 0 warnings"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "ppo"}, "publish_gate: mode must be None, 'rl' or 'sft'; got 'ppo'."),
        ({"mode": "RL"}, "Did you mean rl?"),
        ({"gold": "gold_rewrd"}, "publish_gate: gold must be a key of the rows; got 'gold_rewrd'."),
        ({"trust": True}, "publish_gate: trust must be the result of wai.judge_trust; got True."),
        ({"scan": "clean"}, "publish_gate: scan must be the result of wai.hack_scan"),
        ({"strict": "yes"}, "publish_gate: strict must be True or False"),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(wai.ParamError) as caught:
        wai.publish_gate(good(), **options)
    assert message in str(caught.value)


# near copies

LONG = "please write a short note to the whole team about the new plan for the coming winter season and thank them all"


@pytest.mark.parametrize(
    ("texts", "copies"),
    [
        ([], []),
        ([""], []),
        (["", ""], []),
        (["a b", "a b", "A  b."], [1, 2]),
        ([LONG, LONG.replace("short", "brief")], [1]),
        ([f"{LONG} in 12 words", f"{LONG} in 13 words"], []),
        ([LONG, "another thing entirely that shares nothing with it at all, of about the same length as it"], []),
        ([f"what is 12 plus {n} when you take all of the time you need" for n in (7, 8)], []),
    ],
)
def test_near_copies(texts, copies):
    assert near_copies(texts) == copies


def test_a_crowd_of_copies_is_one():
    words = LONG.split()
    crowd = [" ".join([*words[:i], "kindly", *words[i:]]) for i in range(1, len(words))]
    assert len(near_copies([LONG, *crowd])) >= len(crowd) - 2
    assert len(near_copies([*crowd, LONG])) == len(near_copies([LONG, *crowd]))
