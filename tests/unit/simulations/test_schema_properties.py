"""Whatever stands in a row, the typed view loses none of it."""

import copy
import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from whileai.simulations import schema
from whileai.simulations._wire import fields_of

KNOWN = [
    *("task_id", "scenario_id", "prompt", "messages", "steps", "final_text", "rollout_index", "rollout_id"),
    *("reward", "label_source", "judge_name", "judge_status", "reason", "judge_meta", "failure_class", "judgments"),
    *("markers", "marker_evidence", "lineage", "privileged", "spec_id", "axes", "scenario_dimensions", "behaviors"),
    *("seed", "world_state", "faults", "ledger", "usable", "unusable_reason", "policy_name", "model_version"),
    *("policy_version", "prompt_hash", "sampling", "calibration", "conversation_id", "tool_trace", "messages_json"),
    *("mine", "usage", "steps_json", "schema"),
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
TEXT = st.sampled_from(["", "q", "5", "given", "m@1", "ok"])
REWARD = st.none() | st.booleans() | st.sampled_from([0, 1, 0.25, 0.0, 1.0]) | JSON
MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["system", "user", "assistant", "tool"]), "content": TEXT | JSON},
        optional={"name": JSON, "tool_calls": JSON, "weight": JSON},
    ),
    max_size=4,
)
STEPS = st.lists(
    st.dictionaries(
        st.sampled_from([*fields_of(schema.Step), "mine"]),
        TEXT | JSON,
        max_size=4,
    ),
    max_size=3,
)
VERDICT = {
    "reward": REWARD,
    "judge_name": TEXT | JSON,
    "judge_status": st.sampled_from(["ok", "error", "timeout", "missing_reward", "invalid_result", "weird"]) | JSON,
    "label_source": TEXT | JSON,
    "reason": TEXT | JSON,
    "failure_class": TEXT | JSON,
    "judge_meta": st.dictionaries(st.sampled_from(["scorer_kind", "version", "votes"]), TEXT | JSON, max_size=3) | JSON,
}
TYPED = {
    **VERDICT,
    "judgments": st.lists(st.fixed_dictionaries({}, optional=VERDICT) | JSON, max_size=3),
    "messages": MESSAGES,
    "steps": STEPS,
    "markers": st.dictionaries(st.sampled_from("ab"), st.floats() | st.integers() | JSON, max_size=2),
    "marker_evidence": st.dictionaries(st.sampled_from("ab"), JSON, max_size=2),
    "privileged": st.dictionaries(st.sampled_from(["reference", "principle", "rubric", "x"]), JSON, max_size=3),
    "lineage": st.dictionaries(st.sampled_from(["parent_task_id", "transform", "seed", "x"]), TEXT | JSON, max_size=3),
    "ledger": st.lists(
        st.dictionaries(st.sampled_from([*fields_of(schema.FaultEvent), "planned"]), TEXT | JSON), max_size=2
    ),
    "faults": st.dictionaries(TEXT, TEXT | st.fixed_dictionaries({"mode": TEXT}), max_size=2),
    "usable": st.booleans(),
    "rollout_index": st.integers(0, 3),
    "axes": st.dictionaries(TEXT, TEXT, max_size=2),
    "behaviors": st.lists(TEXT, max_size=2),
}
CELLS = {key: TYPED.get(key, TEXT) | TEXT | JSON for key in KNOWN}


@st.composite
def rows(draw, *, stamped):
    """Rows whose keys are drawn from those the schema knows and some it does not, in any order."""
    names = draw(st.lists(st.sampled_from(KNOWN), unique=True, max_size=12))
    row = {name: draw(CELLS[name]) for name in names}
    if stamped:
        row["schema_version"] = "1"
    return row


def same(left, right):
    """Equality that tells 1 from 1.0 and True, and takes NaN for itself."""
    return repr(left) == repr(right)


QUICK = settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@QUICK
@given(rows(stamped=True))
def test_any_stamped_row_comes_back(row):
    """A stamped row comes back with its keys, their order, its values and their types, whatever they are."""
    before = copy.deepcopy(row)
    back = schema.to_row(*schema.from_row(row))
    assert list(back) == list(row)
    assert {key: type(value) for key, value in back.items()} == {key: type(value) for key, value in row.items()}
    assert same(sorted_deep(back), sorted_deep(row))
    assert same(row, before)


def sorted_deep(value):
    """A value with the keys of its dicts in one order, for a comparison by text."""
    if isinstance(value, dict):
        return {key: sorted_deep(value[key]) for key in sorted(value)}
    return [sorted_deep(item) for item in value] if isinstance(value, list) else value


@QUICK
@given(rows(stamped=False))
def test_any_row_has_a_canonical_form(row):
    """Any row becomes a stamped one that going round again does not change, of the same task."""
    once = schema.to_row(*schema.from_row(row))
    assert once["schema_version"] == "1"
    assert same(sorted_deep(schema.to_row(*schema.from_row(once))), sorted_deep(once))
    assert schema.from_row(once)[0].task_id == schema.from_row(row)[0].task_id


@QUICK
@given(rows(stamped=False), st.dictionaries(st.text("xyz_", min_size=1, max_size=6), JSON, max_size=3))
def test_unknown_keys_survive_anywhere(row, unknown):
    """Keys the schema does not know come back from any row."""
    back = schema.to_row(*schema.from_row({**row, **unknown}))
    assert all(same(back[key], value) for key, value in unknown.items())


@QUICK
@given(rows(stamped=True))
def test_typed_objects_come_back(row):
    """What was read from a row is read from the row written of it."""
    first = schema.from_row(row)
    assert repr(schema.from_row(schema.to_row(*first))[1:]) == repr(first[1:])


@QUICK
@given(JSON | rows(stamped=True) | rows(stamped=False), JSON | st.sampled_from(["row", "training", "preference"]))
def test_validate_gives_codes_for_anything(value, kind):
    """Validation of any JSON value gives a list of codes, each once, which JSON can hold."""
    codes = schema.validate(value, kind=kind)
    assert json.loads(json.dumps(codes)) == codes
    assert len(set(codes)) == len(codes)
    assert "unreadable" not in codes
