"""The rules of the house that a tool does not hold: who spells row keys, sizes, docstrings, what an import costs."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import whileai as wai

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "whileai"
MODULES = {path.relative_to(SOURCE).as_posix(): path for path in sorted(SOURCE.rglob("*.py"))}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}

#: The keys of a row, and the rooms that may spell them.
ROW_KEYS = {
    "task_id", "scenario_id", "final_text", "messages", "steps", "privileged", "judge_name", "judge_status",
    "judge_meta", "label_source", "rollout_index", "finish_reason", "stop_reason", "is_truncated", "schema_version",
}  # fmt: skip
MAY_SPELL_KEYS = re.compile(
    r"keys\.py|(simulations|scoring|verify|selection|engine|export|cli|readers)/.*|pages/rows\.py|"
    r"table/(from_rows|from_columns|row_tasks|engines)\.py|measure/(label_sources|sample_for_labels|compare_judges|probes)\.py"
)
NEVER_SPELL_KEYS = re.compile(
    r"(stats|result)/.*|measure/(?!label_sources|sample_for_labels|compare_judges|probes).*|pages/(?!rows\.py).*|"
    r"table/(task_table|features|prompts|merge|flat|saved|clusters|baseline)\.py|"
    r"errors\.py|params\.py|progress\.py|pytest_plugin\.py"
)
LIGHT = (
    "numpy",
    "scipy",
    "duckdb",
    "math_verify",
    "jsonschema",
    "pandas",
    "pyarrow",
    "polars",
    "tqdm",
    "msgspec",
    "sympy",
)
MODULE_LINES, FUNCTION_LINES = 450, 70


def strings(tree):
    """Every string in a tree that is no docstring."""
    texts = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in texts
    ]


def functions(tree):
    """Every function, with its lines less those of its docstring."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0]
            doc = first.end_lineno - first.lineno + 1 if ast.get_docstring(node) is not None else 0
            yield node, node.end_lineno - node.lineno + 1 - doc


@pytest.mark.parametrize("name", [name for name in MODULES if not MAY_SPELL_KEYS.fullmatch(name)])
def test_row_keys_are_spelled_where_rows_are_read(name):
    assert ROW_KEYS.isdisjoint(strings(TREES[name]))


def test_every_room_is_on_one_side_of_the_keys():
    sides = {name: bool(MAY_SPELL_KEYS.fullmatch(name)) + bool(NEVER_SPELL_KEYS.fullmatch(name)) for name in MODULES}
    rest = {name for name, side in sides.items() if side == 0 and Path(name).name not in ("__init__.py", "__main__.py")}
    assert rest == {"table/intake.py"}
    assert 2 not in sides.values()


def test_the_check_of_row_keys_can_fail():
    assert strings(ast.parse('"""task_id"""\ndef f(row):\n    "final_text"\n    return row["steps"]')) == ["steps"]


@pytest.mark.parametrize("name", MODULES)
def test_sizes(name):
    lines = len(MODULES[name].read_text(encoding="utf-8").splitlines())
    assert lines <= MODULE_LINES, f"{name} has {lines} lines: it is two modules"
    long = {node.name: size for node, size in functions(TREES[name]) if size > FUNCTION_LINES}
    assert not long, f"functions that are two: {long}"


MARKS = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
MACHINE = re.compile(r"(?<![\w.])/(home|work|Users|root|mnt|opt)/|[A-Z]:\\\\|site-packages/")


@pytest.mark.parametrize("name", MODULES)
def test_nothing_is_left_to_do_and_no_machine_is_named(name):
    text = MODULES[name].read_text(encoding="utf-8")
    assert not MARKS.search(text)
    assert not MACHINE.search(text)


def sections(doc):
    """The numpydoc sections of a docstring."""
    return set(re.findall(r"^(\w[\w ]*)\n-{3,}$", doc, re.MULTILINE))


PUBLIC = [name for name in wai.__all__ if name != "__version__"]


@pytest.mark.parametrize("name", PUBLIC)
def test_public_docstrings(name):
    thing = getattr(wai, name)
    doc = inspect.getdoc(thing) or ""
    first = doc.partition("\n")[0]
    assert first.endswith((".", ":")) or inspect.ismodule(thing), f"line one of {name} is no sentence: {first!r}"
    if inspect.isfunction(thing):
        parameters = [name for name in inspect.signature(thing).parameters if not name.startswith("_")]
        if len(parameters) > 1:
            assert {"Parameters", "Returns"} <= sections(doc)
            for parameter in parameters:
                assert re.search(rf"^[\w*, ]*\b{parameter}\b[\w*, ]* : ", doc, re.MULTILINE), f"{name}({parameter})"
        assert "Examples" in sections(doc), f"{name} shows no example"


@pytest.mark.parametrize("call", ["pass_at", "compare", "eval_variance", "holdout_size"])
def test_result_fields_are_documented(call):
    module = importlib.import_module(wai._HOMES[call])
    result = {
        "pass_at": "PassAt",
        "compare": "Comparison",
        "eval_variance": "EvalVariance",
        "holdout_size": "HoldoutSize",
    }
    kind = getattr(module, result[call])
    doc = inspect.getdoc(kind)
    listed = doc[doc.index("Attributes\n") :]
    for field in kind.__dataclass_fields__:
        assert field.startswith("_") or re.search(rf"^[\w, ]*\b{field}\b", listed, re.MULTILINE), field


def fresh(code):
    """What a fresh interpreter prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    "code",
    [
        "import whileai",
        "import whileai as wai; wai.rows(['p'], ['x'], [1])",
        "import whileai as wai; wai.verify",
        "import whileai as wai; wai.Verifier, wai.verifier, wai.ParamError, wai.rows, wai.grade, wai.read, dir(wai)",
        "import whileai as wai; wai.grade(wai.rows(['p'], ['x']), lambda row: 1)",
    ],
)
def test_what_an_import_costs(code):
    loaded = set(fresh(f"{code}; import sys; print(*sys.modules)"))
    assert loaded.isdisjoint(LIGHT)


def test_the_front_door():
    assert set(wai.__all__) <= set(dir(wai))
    with pytest.raises(AttributeError, match="module 'whileai' has no attribute 'pass_at_k'"):
        _ = wai.pass_at_k
    assert re.fullmatch(r"\d+\.\d+\.\d+", wai.__version__)
