"""The typed objects: defaults, what they refuse, what may be changed."""

import copy
import dataclasses
import pickle
import subprocess
import sys
import typing

import pytest

import whileai.simulations as wai
from whileai.errors import ParamError
from whileai.simulations import schema

SCORER = schema.ScorerRef("rule", kind="rule")
STUDENT = schema.PolicyRef("m")


@pytest.mark.parametrize("name", schema.__all__)
def test_both_imports_give_the_same_object(name):
    assert getattr(wai, name) is getattr(schema, name)
    assert name in dir(wai)


def test_the_module_itself_is_found_by_name():
    code = "import whileai; print(whileai.simulations.schema.Task is whileai.simulations.Task)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def test_a_misspelt_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="Tsak"):
        _ = wai.Tsak


def test_the_schema_needs_no_heavy_import():
    heavy = "numpy", "scipy", "duckdb", "jsonschema", "msgspec"
    code = f"import sys, whileai.simulations.schema; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", [name for name in schema.__all__ if name != "SCHEMA_VERSION"])
def test_annotations_resolve(name):
    """The annotations are text; each names something that exists where it is written."""
    item = getattr(schema, name)
    assert typing.get_type_hints(item)


@pytest.mark.parametrize(
    "item",
    [
        schema.Task("t"),
        schema.Judgment("r", SCORER, 1.0),
        schema.Marker("r", "chars", 1.0),
        schema.Calibration("t", STUDENT, 8, 0.5),
        schema.Dataset("d"),
        schema.Message("user", "q"),
        schema.FaultEvent("refund", "timeout"),
        SCORER,
        STUDENT,
    ],
    ids=lambda item: type(item).__name__,
)
def test_what_bears_identity_is_frozen(item):
    field = dataclasses.fields(item)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(item, field, "other")


def test_a_rollout_may_be_written_to():
    rollout = schema.Rollout("r", "t")
    rollout.steps.append(schema.Step(text="5"))
    rollout.steps[0].logprob = -1.5
    rollout.graded_by = "rule"  # grading may hang its own things on it
    assert rollout == schema.Rollout("r", "t", steps=[schema.Step(text="5", logprob=-1.5)])


@pytest.mark.parametrize("make", [lambda: schema.Task("t"), lambda: schema.Rollout("r", "t")])
def test_no_default_is_shared(make):
    first, second = make(), make()
    for field in dataclasses.fields(first):
        value = getattr(first, field.name)
        if isinstance(value, (dict, list)):
            assert value is not getattr(second, field.name)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: schema.Judgment("r", SCORER, 7), ["Judgment", "reward", "[0, 1]", "7"]),
        (lambda: schema.Judgment("r", SCORER, float("nan")), ["Judgment", "reward", "nan"]),
        (lambda: schema.Judgment("r", SCORER, "good"), ["Judgment", "reward", "'good'"]),
        (lambda: schema.Judgment("r", SCORER, 0, status="error"), ["Judgment", "reward", "None", "'error'"]),
        (
            lambda: schema.Judgment("r", SCORER, None, status="eror"),
            ["Judgment", "status", "eror", "Did you mean error?"],
        ),
        (lambda: schema.Marker("r", "chars", float("inf")), ["Marker", "'chars'", "finite"]),
        (lambda: schema.Marker("r", "chars", "5"), ["Marker", "'chars'", "'5'"]),
        (lambda: schema.Marker("r", "chars", 10**400), ["Marker", "'chars'", "finite"]),
        (lambda: schema.Calibration("t", STUDENT, 0, 0.5), ["Calibration", "n", "at least 1"]),
        (lambda: schema.Calibration("t", STUDENT, 8, 1.5), ["Calibration", "pass_rate", "1.5"]),
        (lambda: schema.Calibration("t", STUDENT, 8, 0.5, mean_kl=float("nan")), ["Calibration", "mean_kl"]),
        (lambda: schema.Calibration("t", STUDENT, 8, 0.5, pass_rate_ci95=(0.6, 0.4)), ["pass_rate_ci95[1]", "0.4"]),
        (lambda: schema.Calibration("t", STUDENT, 8, 0.5, pass_rate_ci95=(0.6,)), ["pass_rate_ci95", "two numbers"]),
    ],
)
def test_bad_values_are_refused_where_they_come_in(make, words):
    with pytest.raises(ParamError) as caught:
        make()
    assert all(word in str(caught.value) for word in words)


@pytest.mark.parametrize("reward", [0, 1, True, 0.25, None])
def test_a_judgment_keeps_its_reward_as_it_is(reward):
    assert schema.Judgment("r", SCORER, reward).reward is reward


def test_a_printed_task_does_not_show_the_gold():
    assert "SECRET" not in repr(schema.Task("t", privileged=schema.Privileged(reference="SECRET")))


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda parts: pickle.loads(pickle.dumps(parts))])
def test_copies_and_pickles_write_the_same_row(again):
    row = {"schema_version": "1", "usable": True, "final_text": "5", "steps": [], "prompt": "q", "axes": {}}
    assert schema.to_row(*(again(part) for part in schema.from_row(row))) == row
