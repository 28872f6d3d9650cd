"""The published JSON Schema of what ``--json`` writes."""

from __future__ import annotations

import copy
import dataclasses
import json
from importlib import resources

import pytest

from cli_helpers import run
from whileai.measure.comparison import Comparison, Delta

jsonschema = pytest.importorskip("jsonschema", reason="jsonschema checks the envelope")
SCHEMA = json.loads((resources.files("whileai.cli") / "envelope-v1.schema.json").read_text("utf-8"))

COMMANDS = [
    "pass-at high.jsonl",
    "pass-at other.jsonl",
    "compare low.jsonl high.jsonl",
    "compare high.jsonl low.jsonl --gate --by topic --cluster topic --run-std 0.02 --run-std-runs 3",
    "compare low.jsonl other.jsonl",
    "compare low.jsonl low.jsonl --proxy marker:chars --must-not-regress marker:chars",
    "variance runs/a.jsonl runs/b.jsonl runs/c.jsonl",
    "holdout-size 0.1 --base 0.45",
    "select mixed.jsonl --mode rl",
    "decontaminate low.jsonl --against runs/a.jsonl",
    "validate low.jsonl",
    "self-check",
    "demo --n 60",
]


@pytest.fixture(scope="module")
def validator():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    return jsonschema.Draft202012Validator(SCHEMA)


@pytest.mark.parametrize("line", COMMANDS)
def test_what_commands_write_is_valid(line, validator, folder):
    done = run(*line.split(), "--json", cwd=folder)
    assert done.stdout.count("\n") == 1
    found = json.loads(done.stdout)
    validator.validate(found)
    assert list(found) == list(SCHEMA["properties"]) == SCHEMA["required"]


@pytest.fixture(scope="module")
def envelope(folder):
    return json.loads(run("compare", "low.jsonl", "high.jsonl", "--by", "topic", "--json", cwd=folder).stdout)


WRONG = [
    (("schema_version",), "2"),
    (("ok",), "yes"),
    (("ok",), None),
    (("verdict",), "better"),
    (("summary",), "two\nlines"),
    (("result", "interval"), [0.1]),
    (("result", "interval"), [0.1, None]),
    (("result", "p_value"), 1.5),
    (("result", "n_paired"), -1),
    (("result", "metrics", "pass_at_1", "verdict"), "within_noise"),
    (("result", "slices", "a", "delta"), "0.1"),
    (("notes", 0, "code"), "No Noise"),
    (("inputs", 0, "sha256"), "abc"),
    (("inputs", 0, "rows"), 1.5),
]


@pytest.mark.parametrize(("place", "value"), WRONG)
def test_what_is_wrong_is_not_valid(place, value, validator, envelope):
    assert validator.is_valid(envelope)
    broken = copy.deepcopy(envelope)
    part = broken
    for key in place[:-1]:
        part = part[key]
    assert part[place[-1]] != value
    part[place[-1]] = value
    assert not validator.is_valid(broken)


@pytest.mark.parametrize("key", SCHEMA["required"])
def test_no_key_may_be_missing_and_others_may_be_added(key, validator, envelope):
    assert validator.is_valid({**envelope, "later": 1})
    assert not validator.is_valid({name: value for name, value in envelope.items() if name != key})


@pytest.mark.parametrize(("name", "kind"), [("comparison", Comparison), ("delta", Delta)])
def test_the_schema_names_every_field(name, kind):
    fields = [field.name for field in dataclasses.fields(kind) if not field.name.startswith("_")]
    assert sorted(SCHEMA["$defs"][name]["properties"]) == sorted(fields)
