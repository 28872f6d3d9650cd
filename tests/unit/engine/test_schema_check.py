"""Our small check of a JSON Schema against the full validator."""

from __future__ import annotations

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai.engine.schema_check import first_problem

SCHEMAS = [
    True, False, {}, {"type": "string"}, {"type": "integer"}, {"type": "number"}, {"type": "boolean"}, {"type": "null"},
    {"type": ["string", "null"]}, {"type": "array"}, {"enum": ["a", 1, True, None]}, {"const": 1}, {"const": False},
    {"type": "integer", "minimum": 1, "maximum": 3}, {"exclusiveMinimum": 0, "exclusiveMaximum": 2}, {"multipleOf": 2},
    {"type": "string", "minLength": 2, "maxLength": 3}, {"type": "string", "pattern": "^a"},
    {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 2, "uniqueItems": True},
    {"prefixItems": [{"type": "string"}], "items": {"type": "integer"}},
    {"prefixItems": [{"type": "string"}], "items": False},
    {"type": "object", "properties": {"a": {"type": "integer"}, "b": {}}, "required": ["a"],
     "additionalProperties": False},
    {"properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "integer"}},
    {"minProperties": 1, "maxProperties": 1},
    {"anyOf": [{"type": "integer"}, {"type": "null"}]}, {"oneOf": [{"type": "number"}, {"minimum": 2}]},
    {"allOf": [{"type": "integer"}, {"minimum": 1}]}, {"not": {"type": "string"}},
    {"$ref": "#/$defs/x", "$defs": {"x": {"type": "integer"}}},
    {"properties": {"a": {"$ref": "#/$defs/a~1b"}}, "$defs": {"a/b": {"enum": [1]}}},
    {"$defs": {"n": {"properties": {"a": {"$ref": "#/$defs/n"}, "b": {"type": "integer"}}}}, "$ref": "#/$defs/n"},
]  # fmt: skip
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 4), st.sampled_from([0.5, 1.0, 2.0, "", "a", "ab", "bcde"])
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
    max_leaves=5,
)


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
@settings(max_examples=40)
@given(value=VALUES)
def test_it_agrees_with_the_full_validator(schema, value):
    valid = jsonschema.Draft202012Validator(schema).is_valid(value)
    assert (first_problem(value, schema) == "") == valid


@pytest.mark.parametrize(
    ("value", "schema", "told"),
    [
        ({}, {"required": ["q"]}, "q: is required"),
        ({"a": {"b": [1, "x"]}}, {"properties": {"a": {"properties": {"b": {"items": {"type": "integer"}}}}}},
         "a.b[1]: must be of type integer"),
        ({"z": 1}, {"properties": {"q": {}}, "additionalProperties": False}, "z: is not known; known are q"),
        ("c", {"enum": ["a", "b"]}, "arguments: must be one of 'a', 'b'"),
    ],
)  # fmt: skip
def test_it_says_where_and_what(value, schema, told):
    assert first_problem(value, schema) == told


def test_what_no_validator_could_read_is_let_through():
    deep = schema = {}
    for _ in range(60):
        deep["properties"] = {"a": {}}
        deep = deep["properties"]["a"]
    value: dict = {}
    for _ in range(60):
        value = {"a": value}
    assert first_problem(value, schema) == ""
    assert first_problem("x", {"type": "string", "pattern": "(?<bad"}) == ""
    assert first_problem(1, {"$ref": "#"}) == ""
    assert first_problem(None, {"type": "string", "nullable": True}) == ""
