"""`wai.label`: gold by majority, from labels in every shape in which people keep them."""

import json

import pytest

import whileai as wai

ROWS = [
    {"task_id": f"t{i // 2}", "prompt": "q", "final_text": f"a{i}", "rollout_index": i % 2, "reward": 1}
    for i in range(6)
]
WANTED = [1, 0, 1, 0, None, 1]


def gold(rows):
    return [row.get("gold_reward") for row in rows]


def records(**more):
    return [
        {"task_id": row["task_id"], "rollout_index": row["rollout_index"], "label": label, **more}
        for row, label in zip(ROWS, WANTED, strict=True)
        if label is not None
    ]


SHAPES = {
    "numbers": WANTED,
    "bools": [None if label is None else bool(label) for label in WANTED],
    "words": [{1: "pass", 0: "Wrong", None: ""}[label] for label in WANTED],
    "one annotator": {"ann": WANTED},
    "entries by annotator": [{} if label is None else {"ann": label} for label in WANTED],
    "records": records(),
    "records by index": [{"index": i, "label": label} for i, label in enumerate(WANTED)],
    "labelled copies": [{**row, "gold_reward": label} for row, label in zip(ROWS, WANTED, strict=True)],
    "three, two to one": [[label, label, 0] if label is not None else [] for label in WANTED],
    "the last counts": [{"index": 0, "label": 0}, *records()],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(shape):
    before = json.dumps(ROWS)
    labelled = wai.label(ROWS, SHAPES[shape])
    assert gold(labelled) == WANTED
    assert json.dumps(ROWS) == before
    assert labelled.report.n_labeled == 5
    assert labelled[0]["gold_kind"] == "human"


def test_a_file(tmp_path):
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records()), encoding="utf-8")
    assert gold(wai.label(ROWS, path)) == gold(wai.label(ROWS, str(path))) == WANTED


def test_tasks_of_one_row_are_named_by_their_id():
    rows = ROWS[::2]
    assert gold(wai.label(rows, {"t0": "pass", "t2": False})) == [1, None, 0]
    with pytest.raises(
        wai.ParamError, match=r"must be about one row; got 'task t0 has 2'\. Give the labels a rollout_index"
    ):
        wai.label(ROWS, {"t0": 1})


def test_ties_have_no_gold_and_are_told():
    rows = wai.label(ROWS, {"ann": [1, 1, 0, 0, 1, 1], "bob": [1, 0, 0, 1, 1, 1]})
    assert gold(rows) == [1, None, 0, None, 1, 1]
    report = rows.report
    assert (report.ties, report.n_pass) == ((1, 3), 3)
    pair = report.pairs[0]
    assert (pair.names, pair.n, pair.agreement) == (("ann", "bob"), 6, pytest.approx(4 / 6))
    assert pair.kappa == pytest.approx((4 / 6 - 20 / 36) / (16 / 36))
    assert report.alpha == pytest.approx(1 - 11 * (2 * 2) / (2 * 8 * 4))
    assert str(report).splitlines() == [
        "labelled 4 of 6 rows: 3 pass, 1 fail, 2 ties without gold",
        "  human: ann 6, bob 6",
        "  Krippendorff's alpha 0.312",
        "  annotators   rows  agreement  kappa",
        "  ann and bob     6       0.67  0.250",
        "note ties: 2 rows tied and got no gold. Ask one more annotator about them: .report.ties has their",
        "  places.",
    ]
    assert json.loads(report.to_json())["alpha"] == report.alpha


def test_a_third_annotator_breaks_ties_and_one_may_change_their_mind():
    rows = wai.label(ROWS, {"ann": [1, 1, 0, 0, 1, 1], "bob": [1, 0, 0, 1, 1, 1]})
    again = wai.label(
        rows, [{"index": 1, "label": 0, "annotator": "cid"}, {"index": 3, "label": 0, "annotator": "bob"}]
    )
    assert gold(again) == [1, 0, 0, 0, 1, 1]
    assert again[1]["gold_labels"] == {"ann": 1, "bob": 0, "cid": 0}


def test_gold_that_was_there_stays_where_nothing_is_said():
    rows = [{**row, "gold_reward": 0.5} for row in ROWS]
    assert gold(wai.label(rows, [1, *[None] * 5])) == [1, *[0.5] * 5]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([1, 0], "label: labels must be one entry for each of the 6 rows; got '2 entries'."),
        ([1, 0, 1, 0, 1, "maybe"], "label: labels[5] must be a verdict: 1 or 0, true or false"),
        ([1, 0, 1, 0, 1, 0.5], "label: labels[5] must be a verdict"),
        ({"ann": [1, 0, 1, 0, 1, 7]}, "label: labels['ann'][5] must be a verdict"),
        ([{"key": "nobody", "label": 1}], "None of them belongs to a row here."),
        ([{"label": 1}], "label: labels[0] must be a record that names its row by key, task_id or index"),
    ],
)
def test_bad_labels(labels, message):
    with pytest.raises(wai.ParamError) as caught:
        wai.label(ROWS, labels)
    assert message in str(caught.value)


def test_bad_kind_and_no_labels_at_all():
    with pytest.raises(wai.ParamError, match="label: kind must be one of 'human', 'program', 'model'; got 'humans'"):
        wai.label(ROWS, WANTED, kind="humans")
    with pytest.raises(TypeError, match="label: labels must be a verdict for each row"):
        wai.label(ROWS, 3)
    assert wai.label([], []) == []


def test_some_labels_of_other_rows_are_counted():
    report = wai.label(ROWS, [*records(), {"key": "gone", "label": 1}]).report
    assert report.n_unmatched == 1
    assert "note unmatched: 1 label belongs to no row here." in str(report)


def test_labels_in_a_frame():
    import pandas as pd

    rows = [{"task_id": i, "final_text": str(i)} for i in range(4)]
    wide = pd.DataFrame({"ann": [1, 0, None, 1], "bob": [1, 0, 1, 0]})
    found = wai.label(rows, wide)
    assert [row.get("gold_reward") for row in found] == [1, 0, 1, None]
    assert found.report.annotators == {"ann": 3, "bob": 4}
    records = pd.DataFrame({"task_id": [3, 1], "label": ["pass", "fail"]})
    assert [row.get("gold_reward") for row in wai.label(rows, records)] == [None, 0, None, 1]
