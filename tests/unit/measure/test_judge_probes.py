"""`wai.judge_trust` with a judge to ask: what fools it, whether it repeats itself, and what it cannot say."""

import json
import math

import pytest

import whileai as wai
from whileai.measure.probes import ADDED, REPLACED
from whileai.scoring.replies import with_reply


def replies(n=120, **more):
    """Rows of which two in three are right, with gold."""
    return [
        {
            "task_id": i,
            "prompt": f"Name the largest river of country {i}.",
            "final_text": ("yes" if i % 3 else "nope") + " x" * (i % 9),
            "gold_reward": int(i % 3 > 0),
            **more,
        }
        for i in range(n)
    ]


def careful(row):
    return row["final_text"].split("\n")[0].split()[:1] == ["yes"]


JUDGES = {
    "filler": lambda row: careful(row) or len(row["final_text"]) > 200,
    "keywords": lambda row: careful(row) or ("river" in row["final_text"] and "Name" not in row["final_text"][:5]),
    "claim": lambda row: careful(row) or "correct" in row["final_text"],
    "flattery": lambda row: careful(row) or "fair-minded" in row["final_text"],
    "echo": lambda row: careful(row) or row["final_text"] == row["prompt"],
    "empty": lambda row: careful(row) or not row["final_text"],
    "refusal": lambda row: careful(row) or "can't help" in row["final_text"],
}


@pytest.mark.parametrize("name", JUDGES)
def test_each_probe_finds_the_judge_that_falls_for_it(name):
    result = wai.judge_trust(replies(), JUDGES[name])
    found = {probe.name: probe.verdict for probe in result.probes}
    assert found.pop(name) == "fail"
    assert set(found.values()) == {"pass"}
    assert result.verdict == "pass"  # it agrees with gold all the same
    assert str(result).startswith("trusted, but fooled: ")
    assert any(note.code == "fooled" and name in note.text for note in result.notes)


def test_a_careful_judge_passes_all():
    result = wai.judge_trust(replies(), careful)
    assert {probe.verdict for probe in result.probes} == {"pass"}
    assert [probe.name for probe in result.probes] == [*ADDED, *REPLACED]
    assert result.consistency.agreement[0] == 1.0
    assert {check.name: check.verdict for check in result.checks} == {
        "agreement": "pass",
        "kappa": "pass",
        "halves": "pass",
        "bias": "not_measured",
        "consistency": "pass",
        "probes": "pass",
    }
    assert json.loads(result.to_json())["probes"][0]["name"] == "filler"


def test_few_failing_replies_rule_nothing_out():
    result = wai.judge_trust(replies(12), careful)
    assert {probe.verdict for probe in result.probes if probe.name in ADDED} == {"inconclusive"}


def test_a_judge_that_tosses_coins_does_not_repeat_itself():
    import hashlib
    import time

    def coin(row):
        return hashlib.sha256(f"{time.perf_counter_ns()}".encode()).digest()[0] < 128

    result = wai.judge_trust(replies(), coin, repeats=3, probes=False)
    assert result.probes == ()
    assert (result.consistency.repeats, result.consistency.n_rows) == (3, 60)
    assert next(check for check in result.checks if check.name == "consistency").verdict == "fail"
    assert not result.ok


def test_the_sample_does_not_depend_on_the_order():
    rows = replies()
    once, again = (wai.judge_trust(order, JUDGES["claim"]).to_dict() for order in (rows, rows[::-1]))
    assert once == again


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"probes": True},
            "judge_trust: probes must be left out where there is no judge to ask; got True. Pass judge=.",
        ),
        ({"repeats": 2}, "judge_trust: repeats must be left out where there is no judge to ask; got 2. Pass judge=."),
        ({"judge": careful, "probes": ["claims"]}, "Did you mean claim?"),
        ({"judge": careful, "repeats": -1}, "judge_trust: repeats must be a whole number of at least 0; got -1."),
        ({"width": 0}, "judge_trust: width must be a number between 0 and 1; got 0."),
        ({"max_flip": 2}, "judge_trust: max_flip must be a number in [0, 1]; got 2."),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(wai.ParamError) as caught:
        wai.judge_trust(replies(3), **settings)
    assert message in str(caught.value)


def test_a_judge_that_raises_measures_nothing_and_says_why():
    def judge(row):
        raise RuntimeError("no model")

    result = wai.judge_trust(replies(), judge)
    assert (result.verdict, result.ok, result.probes[0].to_pass) == ("not_measured", False, None)
    told = {note.code: note.text for note in result.notes}
    assert "error 120; the first: RuntimeError: no model." in told["unjudged"]
    assert result.reason == "no row with gold has a verdict of the judge, pass or fail"


def test_a_reply_changes_in_every_place_that_holds_it():
    row = {
        "prompt": "q",
        "final_text": "a",
        "messages": [
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": [{"type": "text", "text": "a"}]},
        ],
        "steps": [{"text": "a", "n": 1}],
        "reason": "old",
    }
    new = with_reply(row, "b")
    assert (new["final_text"], new["messages"][-1]["content"], new["steps"]) == ("b", "b", [{"text": "b", "n": 1}])
    assert "reason" not in new
    assert row["messages"][-1]["content"][0]["text"] == "a"


def test_markers_that_the_judge_writes_are_held_against_its_error():
    def judge(row):
        return {"reward": int(row["task_id"] % 2), "markers": {"odd": float(row["task_id"] % 2)}}

    result = wai.judge_trust(replies(), judge, probes=False, repeats=0)
    assert {item.name for item in result.sensitivity} == {"length", "marker:odd"}


GOLD = {
    "bools": (lambda g: bool(g), "pass"),
    "floats": (float, "pass"),
    "words": (lambda g: "Correct." if g else "incorrect", "pass"),
    "missing": (lambda g: None, "not_measured"),
    "nan": (lambda g: math.nan, "not_measured"),
    "blank": (lambda g: " ", "not_measured"),
    "one class": (lambda g: "pass", "not_measured"),
    "partial": (lambda g: 0.5, "not_measured"),
}


@pytest.mark.parametrize("kind", GOLD)
def test_kinds_of_gold(kind):
    build, verdict = GOLD[kind]
    rows = [{**row, "reward": int(careful(row)), "gold_reward": build(row["gold_reward"])} for row in replies()]
    result = wai.judge_trust(rows)
    assert (result.verdict, result.ok) == (verdict, verdict == "pass")
    assert str(result)


@pytest.mark.parametrize("value", [7.0, -1, "1", "see above", [1], {"a": 1}])
def test_gold_that_cannot_be(value):
    with pytest.raises(wai.RowError, match=r"judge_trust: row 3: gold_reward must be a number in \[0, 1\]"):
        wai.judge_trust([{**row, "gold_reward": value if row["task_id"] == 3 else 1} for row in replies(5)])


def test_more_labels_settle_or_narrow():
    """As many labels as were asked for do what they were asked for."""

    def labelled(times, pairs=((1, 1, 28), (1, 0, 6), (0, 1, 2), (0, 0, 14))):
        flat = [(j, g) for j, g, n in pairs for _ in range(round(n * times))]
        return [{"task_id": i, "final_text": "x", "reward": j, "gold_reward": g} for i, (j, g) in enumerate(flat)]

    first = wai.judge_trust(labelled(1))
    assert first.verdict == "inconclusive"
    assert first.labels_to_settle > 0
    assert wai.judge_trust(labelled(1.1 * (1 + first.labels_to_settle / 50))).verdict != "inconclusive"
    assert wai.judge_trust(labelled(0.7 * (1 + first.labels_to_settle / 50))).verdict == "inconclusive"
    more = wai.judge_trust(labelled(1 + first.labels_needed["agreement"] / 50))
    low, high = more.intervals["agreement"]
    assert high - low == pytest.approx(first.width, abs=0.01)


def test_gold_by_a_model_is_told():
    rows = wai.label([{**row, "reward": 1} for row in replies(40)], [i % 2 for i in range(40)], kind="model")
    assert any(note.code == "model_gold" for note in wai.judge_trust(rows).notes)


def test_people_and_a_model_on_the_same_solutions(data_folder):
    """A published file: a person's verdict and a model's on 22 explanations, against sums done by hand here."""
    from sklearn.metrics import cohen_kappa_score

    path = data_folder / "mr_gsm8k" / "metamath_70B_gpt4_grading.json"
    if not path.exists():
        pytest.skip(f"no {path}; set WHILEAI_DATA to the folder that holds mr_gsm8k/")
    entries = json.loads(path.read_text(encoding="utf-8"))
    person = [int(entry["error_reason_correctness"] == "correct") for entry in entries]
    model = [
        int("correct" in entry["gpt4_error_reason_correctness_analysis"]["Final Decision"].lower()) for entry in entries
    ]
    rows = [
        {
            "task_id": entry["uuid"],
            "prompt": entry["question"],
            "final_text": entry["metamath_70B_eval_output"]["error_reason"],
            "reward": said,
            "human": entry["error_reason_correctness"],
        }
        for entry, said in zip(entries, model, strict=True)
    ]
    result = wai.judge_trust(rows, gold="human")
    same = sum(a == b for a, b in zip(person, model, strict=True))
    assert result.agreement == pytest.approx(same / len(rows))
    assert result.kappa == pytest.approx(cohen_kappa_score(person, model))
    leaks = sum(j for j, g in zip(model, person, strict=True) if not g)
    assert result.leak[0] == pytest.approx(leaks / person.count(0))
    assert result.miss[0] == pytest.approx(
        sum(not j for j, g in zip(model, person, strict=True) if g) / person.count(1)
    )
    true_rate = sum(person) / len(person)
    held = 0
    for first in range(len(rows)):  # labels on half of the rows, any half that runs on from one of them
        there = {(first + i) % len(rows) for i in range(11)}
        some = [row if i in there else {**row, "human": None} for i, row in enumerate(rows)]
        found = wai.judge_trust(some, gold="human")
        if found.corrected_pass_rate is not None:
            low, high = found.intervals["corrected_pass_rate"]
            held += low <= true_rate <= high
        else:
            held += found.verdict == "not_measured"
    assert held == len(rows)
