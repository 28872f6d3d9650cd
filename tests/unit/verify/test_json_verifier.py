"""JSONValid, JSONSchema and JSONField."""

import builtins
import socket

import numpy as np
import pytest

from whileai.errors import MissingExtra, ParamError
from whileai.verify import JSONField, JSONSchema, JSONValid


def outcome(judge, candidate, gold=None):
    verdict = judge.score({"final_text": candidate} if gold is None else {"final_text": candidate, "reference": gold})
    return verdict.reward if verdict.status == "ok" else verdict.status


@pytest.mark.parametrize(
    ("candidate", "reward"),
    [
        ("\ufeff{}", 1),
        ("1", 1),
        ("null", 1),
        ('"a"', 1),
        ("1e999", 1),
        ("9" * 6000, 1),
        ('{"a": "```"}', 1),
        ("Here it is:\n```json\n{}\n```\nDone.", 1),
        ("```\n[1]\n```", 1),
        ("```{}```", 1),
        ("[" * 400 + "]" * 400, 1),
        ("[" * 100_000 + "]" * 100_000, 0),
        ("[" * 100_000, 0),
        ("[1,]", 0),
        ("{} {}", 0),
        ("01", 0),
        ("True", 0),
        ("-Infinity", 0),
        ("// c\n{}", 0),
        ("```json\n{}\n```\n```json\n{}\n```", 0),
        ("\x00", 0),
        ("", 0),
    ],
)
def test_valid(candidate, reward):
    verdict = JSONValid().score({"final_text": candidate})
    assert verdict.reward == reward
    assert verdict.reason or reward == 1


NESTED = {"$defs": {"t": {"type": "array", "items": {"$ref": "#/$defs/t"}}}, "$ref": "#/$defs/t"}


@pytest.mark.parametrize(
    ("schema", "candidate", "expected"),
    [
        ({"type": "integer"}, "36.0", 1),
        ({"type": "number"}, "true", 0),
        ({"type": "integer"}, "9" * 6000, 1),
        ({"const": 1}, "1.0", 1),
        ({"enum": ["a"]}, '"b"', 0),
        ({"pattern": "^x"}, '"y"', 0),
        ({"type": "string"}, "words", 0),
        (True, "1", 1),
        (False, "1", 0),
        (NESTED, "[[[]]]", 1),
        (NESTED, "[[[1]]]", 0),
        ({"$ref": "https://json-schema.org/draft/2020-12/schema"}, '{"type": "strng"}', 0),
        ({"$schema": "http://json-schema.org/draft-04/schema#", "maximum": 5, "exclusiveMaximum": True}, "5", 0),
        ({"$ref": "#/definitions/none"}, "1", "error"),
    ],
)
def test_schema(schema, candidate, expected):
    assert outcome(JSONSchema(schema), candidate) == expected


def test_a_schema_elsewhere_is_never_fetched(monkeypatch):
    """No socket is opened, and there is no verdict."""

    def refused(*_, **__):
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refused)
    monkeypatch.setattr(socket, "create_connection", refused)
    assert outcome(JSONSchema({"$ref": "https://example.com/schema.json"}), "1") == "error"


def test_a_reason_quotes_no_accepted_value():
    verdict = JSONSchema({"properties": {"a": {"enum": ["Ouagadougou"]}}}).score({"final_text": '{"a": "Lima"}'})
    assert "'enum' at 'a'" in verdict.reason
    assert "Ouagadougou" not in verdict.reason


@pytest.mark.parametrize("schema", [{"type": "strng"}, {"required": "a"}, "x", None, 5])
def test_a_bad_schema_is_refused(schema):
    with pytest.raises(ParamError, match=r"JSONSchema: schema must be") as error:
        JSONSchema(schema)
    assert repr(schema) in str(error.value)


def test_a_changed_schema_changes_no_judge():
    schema = {"type": "string"}
    judge = JSONSchema(schema)
    schema["type"] = "number"
    assert outcome(judge, '"a"') == 1


def test_the_missing_library_is_named(monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name.startswith("jsonschema"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=r"pip install 'whileai\[schema\]'"):
        JSONSchema({})


@pytest.mark.parametrize(
    ("path", "candidate", "gold", "expected"),
    [
        ("a", '{"a": 7.0}', 7, 1),
        ("a", '{"a": true}', 1, 0),
        ("a", '{"a": 1}', True, 0),
        ("a", '{"a": true}', True, 1),
        ("a", '{"a": 0.30000000000000004}', 0.3, 1),
        ("a", '{"a": 9007199254740993}', 9007199254740992, 0),
        ("a", '{"a": 7}', "7", 1),
        ("a", '{"a": "7"}', 7, 0),
        ("a", '{"a": {"x": 1}}', '{"x": 1.0}', 1),
        ("a", '{"a": {"x": 1, "y": 2}}', {"y": 2, "x": 1}, 1),
        ("a", '{"a": {"x": 1}}', {"x": 1, "y": 2}, 0),
        ("a", '{"a": [1, 2]}', [1, 2], 1),
        ("a", '{"a": [2, 1]}', [1, 2], 0),
        ("a", '{"a": 2}', [1, 2], 1),
        ("a", '{"a": [1, 2]}', np.array([1, 2]), 1),
        ("a", '{"a": "caf\u00e9"}', "cafe\u0301", 1),
        ("a", '{"a": "rome"}', "Rome", 0),
        ("a", '{"a": null}', 7, 0),
        ("a", f'{{"a": {"9" * 6000}}}', 1e300, 0),
        ("a.0.b", '{"a": [{"b": 1}]}', 1, 1),
        ("a[0].b", '{"a": [{"b": 1}]}', 1, 1),
        ("a.b", '{"a.b": 1}', 1, 1),
        ("a.1", '{"a": [5]}', 5, 0),
        ("a", "no JSON", 5, 0),
        ("a", '{"a": 7}', "  ", "missing_reward"),
        ("a", '{"a": 7}', None, "missing_reward"),
    ],
)
def test_field(path, candidate, gold, expected):
    assert outcome(JSONField(path), candidate, gold) == expected


def test_equals_wins_over_the_gold():
    assert outcome(JSONField("a", equals=5), '{"a": 5}', 6) == 1
    assert outcome(JSONField("a", equals=5), '{"a": 6}', 6) == 0
    assert outcome(JSONField("a", equals=0), '{"a": 0}') == 1


@pytest.mark.parametrize("path", ["", " ", 5, None])
def test_no_path(path):
    with pytest.raises(ParamError, match=r"JSONField: path must be"):
        JSONField(path)
