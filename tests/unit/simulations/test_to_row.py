"""What is written: edits show, nothing else changes, and what cannot be written raises."""

import dataclasses

import pytest

from whileai.errors import ParamError
from whileai.simulations import schema

ROW = {
    "schema_version": "1",
    "task_id": "t",
    "scenario_id": "t",
    "prompt": "q",
    "messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "5"}],
    "steps": [],
    "final_text": "5",
    "rollout_index": 0,
    "reward": 1,
    "judge_name": "rule",
    "judge_status": "ok",
    "reason": None,
    "judge_meta": {},
    "markers": {},
    "privileged": {"reference": "5"},
    "mine": [1, {"x": None}],
}
JUDGMENTS = [
    ("rule", "rule", "", 1, "ok", "", None, {}),
    ("ann", "human", "", 0.5, "ok", "half", None, {"votes": [1, 0]}),
    ("llm", "judge", "2", None, "error", "timed out", "infra", {}),
    ("rm", "reward_model", "", 0.25, "ok", "", None, {}),
    ("tests", "program", "1.0", 0, "ok", "", "wrong", {"passed": 3}),
    ("", "", "", None, "ok", "", None, {}),
]


def judgment(name, kind, version, reward, status, reason, failure, evidence):
    scorer = schema.ScorerRef(name, kind, version)
    return schema.Judgment("r", scorer, reward, status, reason, failure, dict(evidence))


def parts(judgments=(), markers=()):
    task = schema.Task("t", prompt="q")
    return task, schema.Rollout("r", "t", final_text="5"), list(judgments), list(markers)


def test_objects_made_by_hand_write_a_whole_row():
    assert schema.to_row(*parts()) == {
        "schema_version": "1",
        "task_id": "t",
        "scenario_id": "t",
        "prompt": "q",
        "messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "5"}],
        "steps": [],
        "final_text": "5",
        "rollout_index": 0,
        "rollout_id": "r",
    }


def test_every_field_is_written_and_read():
    task = schema.Task(
        "t",
        "spec",
        "q",
        (schema.Message("system", "s", extra={"weight": 0}),),
        schema.World(3, {"a": 1}, {"get": {"mode": "timeout"}}),
        schema.Privileged("gold", "be kind", {"vip": True}, ["a"], extra={"x": 1}),
        {"tone": "calm"},
        ("honest",),
        schema.Lineage("parent", "rewrite", 5, {"y": 1}),
    )
    rollout = schema.Rollout(
        "r",
        "t",
        schema.PolicyRef("p", "m", "hash", "v", {"temperature": 1}),
        2,
        [
            schema.Step(
                tool="get", arguments={"a": 1}, result=5, id="c", turn=0, ts=1, latency_ms=2.0, logprob=-1, n_tokens=2
            )
        ],
        "5",
        [schema.FaultEvent("get", "timeout", 0.5, injected=False, call=0, extra={"z": 1})],
        usable=False,
        unusable_reason="stuck",
        extra={"mine": {"deep": []}},
    )
    marker = schema.Marker("r", "chars", 1.5, {"of": "final_text"})
    row = schema.to_row(task, rollout, [judgment(*each) for each in JUDGMENTS], [marker])
    back = schema.from_row(row)
    assert back == (task, rollout, [judgment(*each) for each in JUDGMENTS], [marker])
    assert schema.validate(row) == []


@pytest.mark.parametrize("first", range(len(JUDGMENTS)))
@pytest.mark.parametrize("count", range(1, 4))
def test_several_judgments_come_back_in_order(first, count):
    """Any of them may be the first, which stands in the row's own keys."""
    given = [judgment(*JUDGMENTS[(first + place) % len(JUDGMENTS)]) for place in range(count)]
    row = schema.to_row(*parts(given))
    assert row["reward"] == given[0].reward
    assert len(row.get("judgments", [])) == count - 1
    assert schema.from_row(row)[2] == given


def test_a_foreign_entry_keeps_its_unknown_keys_while_it_stays():
    entries = [{"judge_name": "a", "reward": 1, "mine": 1}, 5, {"judge_name": "b", "reward": 0, "note": None}]
    row = {**ROW, "judgments": entries}
    task, rollout, judgments, markers = schema.from_row(row)
    assert [each.scorer.name for each in judgments] == ["rule", "a", "b"]
    assert schema.to_row(task, rollout, judgments, markers) == row
    fewer = schema.to_row(task, rollout, [judgments[0], judgments[2]], markers)
    assert fewer["judgments"] == entries[2:]
    changed = dataclasses.replace(judgments[1], reward=0)
    assert schema.from_row(schema.to_row(task, rollout, [judgments[0], changed]))[2][1:] == [changed]


def turns(prompt, reply):
    return [{"role": "user", "content": prompt}, {"role": "assistant", "content": reply}]


STEP, EVENT = {"text": "5", "by": "hand"}, {"tool": "get", "mode": "timeout"}
EDITS = [
    (lambda t, r: (t, setattr(r, "final_text", "6")), {"final_text": "6", "messages": turns("q", "6")}),
    (lambda t, r: (dataclasses.replace(t, prompt="p"), None), {"prompt": "p", "messages": turns("p", "5")}),
    (lambda t, r: (t, setattr(r, "index", 4)), {"rollout_index": 4, "rollout_id": ...}),
    (lambda t, r: (t, setattr(r, "usable", False)), {"usable": False}),
    (lambda t, r: (dataclasses.replace(t, axes={"a": 1}), None), {"axes": {"a": 1}}),
    (lambda t, r: (dataclasses.replace(t, privileged=schema.Privileged()), None), {"privileged": {}}),
    (lambda t, r: (t, r.extra.update(mine=2, new=None)), {"mine": 2, "new": None}),
    (lambda t, r: (t, r.steps.append(schema.Step(text="5"))), {"steps": [{"text": "5"}]}),
    (lambda t, r: (t, r.steps.append(STEP)), {"steps": [STEP]}),
    (lambda t, r: (t, r.ledger.append(schema.FaultEvent(**EVENT))), {"ledger": [EVENT]}),
]


@pytest.mark.parametrize(("edit", "expected"), EDITS)
def test_an_edit_changes_its_own_keys(edit, expected):
    task, rollout, judgments, markers = schema.from_row(ROW)
    task, _ = edit(task, rollout)
    row = schema.to_row(task, rollout, judgments, markers)
    expected = {key: row[key] if value is ... else value for key, value in expected.items()}
    assert row == {**ROW, **expected}
    assert list(row)[: len(ROW)] == list(ROW)


def test_a_key_taken_out_of_extra_is_gone():
    task, rollout, judgments, markers = schema.from_row(ROW)
    del rollout.extra["mine"]
    assert schema.to_row(task, rollout, judgments, markers) == {key: ROW[key] for key in ROW if key != "mine"}


@pytest.mark.parametrize(
    "new", [[], [JUDGMENTS[1]], [JUDGMENTS[2]], [JUDGMENTS[5]]], ids=["none", "ann", "llm", "bare"]
)
@pytest.mark.parametrize("part", [{}, {"label_source": "given"}, {"judge_status": 5}, {"judge_meta": {"version": "9"}}])
@pytest.mark.parametrize("stamp", ["1", None])
def test_a_new_verdict_replaces_the_old_one(part, new, stamp):
    """What is read from the row is the new verdict, and nothing of the old one stands beside it."""
    task, rollout, _, _ = schema.from_row({**ROW, **part, "schema_version": stamp})
    given = [dataclasses.replace(judgment(*each), rollout_id=rollout.rollout_id) for each in new]
    written = schema.to_row(task, rollout, given)
    assert schema.from_row(written)[2] == given
    verdict = [written.get(key) for key in ("reward", "judge_name", "label_source", "judge_meta")]
    assert not {"rule", "given", "9"} & {str(value) for value in verdict}
    assert given or verdict[0] is None


def test_grading_an_ungraded_row_adds_its_keys():
    row = {
        key: value
        for key, value in ROW.items()
        if key not in ("reward", "judge_name", "judge_status", "reason", "judge_meta")
    }
    task, rollout, _, _ = schema.from_row(row)
    given = dataclasses.replace(judgment(*JUDGMENTS[0]), rollout_id=rollout.rollout_id)
    assert schema.to_row(task, rollout, [given]) == {
        **row,
        "reward": 1,
        "judge_name": "rule",
        "judge_status": "ok",
        "judge_meta": {"scorer_kind": "rule"},
    }


@pytest.mark.parametrize(
    ("made", "words"),
    [
        ((schema.Task("t"), schema.Rollout("r", "u")), ["rollout.task_id", "'t'", "'u'"]),
        (parts([schema.Judgment("x", schema.ScorerRef(), 1)]), ["rollout_id", "Judgment", "'r'", "'x'"]),
        (parts((), [schema.Marker("x", "chars", 1)]), ["rollout_id", "Marker", "'r'", "'x'"]),
        (parts((), [schema.Marker("r", "chars", 1), schema.Marker("r", "chars", 2)]), ["markers", "'chars'"]),
    ],
)
def test_parts_of_two_episodes_make_no_row(made, words):
    with pytest.raises(ParamError) as caught:
        schema.to_row(*made)
    assert all(word in str(caught.value) for word in ["to_row", *words])


def test_row_schema_is_a_fresh_dict():
    schema.row_schema().clear()
    assert schema.row_schema()["properties"]["schema_version"] == {
        "const": schema.SCHEMA_VERSION,
        "description": "The version of this form.",
    }
