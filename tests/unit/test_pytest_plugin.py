"""The pytest plugin through pytest itself."""

from __future__ import annotations

import gc
import json
import re
import subprocess
import sys
from xml.etree import ElementTree as ET

import pytest

import whileai as wai
from cli_helpers import arm
from whileai import pytest_plugin
from whileai.pytest_plugin import assert_not_worse

pytest_plugins = ["pytester"]

#: The plugin by its module, whether or not this installation announces it.
PLUGIN = ("-p", "no:cacheprovider", "-p", "no:whileai", "-p", "whileai.pytest_plugin")

SUITE = """
import json, pathlib
import pytest
from whileai.pytest_plugin import assert_not_worse

GUARD = {"must_not_regress": ["marker:chars"], "lower_is_better": ["marker:chars"]}

def rows():
    return [json.loads(line) for line in pathlib.Path("rows.jsonl").read_text().splitlines()]

def test_agent(wai_compare):
    assert_not_worse(wai_compare(rows(), name="agent", **GUARD))

@pytest.mark.parametrize("margin", [0.2])
def test_margin(wai_compare, margin):
    assert_not_worse(wai_compare(iter(rows())), margin=margin)
"""


def keep(pytester, rows):
    """The rows that the suite compares."""
    (pytester.path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def suite(pytester):
    pytester.makepyfile(test_agent=SUITE)
    keep(pytester, arm(30))
    return pytester


@pytest.fixture(scope="module")
def loss():
    """A comparison, made before `pytester` notes which modules are loaded: it forgets later ones, and numpy minds."""
    return wai.compare(arm(30), arm(10))


def files(pytester):
    return sorted(path.name for path in (pytester.path / "tests" / "wai_baseline").glob("*"))


def test_a_missing_baseline_skips_with_the_command_that_writes_it(suite):
    done = suite.runpytest_subprocess(*PLUGIN, "-rs")
    done.assert_outcomes(skipped=2)
    text = " ".join(done.stdout.str().split())
    how = "write it with: pytest test_agent.py::test_agent --wai-update-baseline"
    assert f"no baseline tests/wai_baseline/agent.jsonl; {how}" in text
    assert "pytest 'test_agent.py::test_margin[0.2]' --wai-update-baseline" in text
    plain = " ".join(suite.runpytest_subprocess(*PLUGIN, "-q").stdout.str().split())
    assert f"agent: no baseline tests/wai_baseline/agent.jsonl; {how}" in plain
    assert not (suite.path / "tests").exists()


def test_written_then_passed_then_failed_then_updated(loss, suite):
    done = suite.runpytest_subprocess(*PLUGIN, "-rs", "--wai-update-baseline")
    done.assert_outcomes(skipped=2)
    assert "wrote the baseline tests/wai_baseline/agent.jsonl (40 tasks); nothing was compared" in done.stdout.str()
    names = files(suite)
    assert names[0] == "agent.jsonl"
    assert re.fullmatch(r"test_agent\.test_margin-0\.2-[0-9a-f]{8}\.jsonl", names[1])
    assert len(names) == 2

    done = suite.runpytest_subprocess(*PLUGIN)
    done.assert_outcomes(passed=2)
    done.stdout.fnmatch_lines(["*= whileai =*", "agent: no difference proven: pass@1 0.75 -> 0.75*"])

    keep(suite, arm(10))
    done = suite.runpytest_subprocess(*PLUGIN, "--junitxml=j.xml", "--wai-report=page.html")
    done.assert_outcomes(failed=2)
    text = done.stdout.str()
    at = text.index("E       AssertionError: regressed: ")
    shown = text[at : text.index("\n\n", at)].splitlines()
    assert [line.removeprefix("E       ") for line in shown][:6] == [
        "AssertionError: regressed: pass@1 0.75 -> 0.25, change -0.50 [-0.65..-0.30], p<0.0001",
        "  guard marker:chars held, 52.00 -> 52.00, change +0.00 [not measured] (lower is better)",
        "  40 tasks in both arms: 0 better, 20 worse, 20 the same",
        "  not ruled out: a loss of up to 0.65",
        "  gate failed: the result is not ok (regressed)",
        shown[5].removeprefix("E       "),
    ]
    assert re.fullmatch(r"E +lost most: (q\d+ 2/2 -> 0/2, ){3}and 17 more", shown[5])
    assert shown[6] == "E         baseline tests/wai_baseline/agent.jsonl (40 tasks); see page.agent.html"
    assert len(shown) == 7
    assert "pytest_plugin.py" not in text  # the failure is shown where the test asserts
    assert "change -0.50 [-0.65..-0.30]" in (suite.path / "page.agent.html").read_text("utf-8")

    found = {}
    for case in ET.parse(suite.path / "j.xml").getroot().iter("testcase"):
        found |= {item.get("name"): item.get("value") for item in case.iter("property")}
    assert (found["wai.agent.verdict"], found["wai.agent.ok"]) == ("regressed", "false")
    assert found["wai.agent.summary"] == loss.summary
    assert (float(found["wai.agent.interval.low"]), float(found["wai.agent.interval.high"])) == loss.interval

    suite.runpytest_subprocess(*PLUGIN, "--wai-update-baseline").assert_outcomes(skipped=2)
    suite.runpytest_subprocess(*PLUGIN).assert_outcomes(passed=2)


def test_several_processes_and_another_folder(suite):
    pytest.importorskip("xdist")
    more = ("--wai-baseline", "kept", "-n", "2", "-p", "xdist")
    suite.runpytest_subprocess(*PLUGIN, *more, "--wai-update-baseline").assert_outcomes(skipped=2)
    assert len(list((suite.path / "kept").iterdir())) == 2
    keep(suite, arm(10))
    done = suite.runpytest_subprocess(*PLUGIN, *more)
    done.assert_outcomes(failed=2)
    shown = done.stdout.str().rpartition("= whileai =")[2].splitlines()
    assert [line.split(": ")[:2] for line in shown[1:3]] == [
        ["agent", "regressed"],
        [shown[2].split(": ")[0], "regressed"],
    ]
    assert shown[2].startswith("test_agent.test_margin-0.2-")


OTHER = """
import pytest
from whileai.pytest_plugin import assert_not_worse

def rows(n, **more):
    return [{"task_id": i, "reward": int(i < n), **more} for i in range(40)]

def test_two_arms(wai_compare):
    assert wai_compare(rows(30), rows(10), target="reward").verdict == "improved"

def test_named_twice(wai_compare):
    assert_not_worse(wai_compare(rows(30), rows(10), name="one"))
    assert_not_worse(wai_compare(rows(30), rows(10), name="two"))

def test_nameless_twice(wai_compare):
    wai_compare(rows(30), rows(10))
    with pytest.raises(ValueError, match="name must be given where a test compares more than once"):
        wai_compare(rows(30), rows(10))

@pytest.mark.parametrize("name", ["../up", "", "a b", 3, "a" * 101])
def test_bad_name(wai_compare, name):
    with pytest.raises(ValueError, match="wai_compare: name must be 1 to 100 letters"):
        wai_compare(rows(30), rows(10), name=name)

def test_misspelt_option(wai_compare):
    with pytest.raises(TypeError, match="must_not_regres"):
        wai_compare(rows(30), rows(10), must_not_regres=["reward"])

def test_misspelt_metric(wai_compare):
    with pytest.raises(ValueError, match="Did you mean reward"):
        wai_compare(rows(30), rows(10), target="rewards")

def test_damaged(wai_compare, pytestconfig):
    folder = pytestconfig.rootpath / "tests" / "wai_baseline"
    folder.mkdir(parents=True)
    (folder / "bad.jsonl").write_text("{}")
    with pytest.raises(ValueError, match="bad.jsonl line 1 must be a baseline"):
        wai_compare(rows(30), name="bad")
"""


def test_two_arms_and_what_is_said_of_mistakes(pytester):
    pytester.makepyfile(test_other=OTHER)
    pytester.runpytest_subprocess(*PLUGIN).assert_outcomes(passed=11)


def test_a_session_without_comparisons_says_nothing(pytester):
    pytester.makepyfile("def test_x(): pass")
    done = pytester.runpytest_subprocess(*PLUGIN)
    done.assert_outcomes(passed=1)
    assert "whileai" not in re.sub(r"plugins: .*", "", done.stdout.str())


def test_the_plugin_loads_nothing_until_it_is_used():
    code = "import sys; before = set(sys.modules); import pytest; import whileai.pytest_plugin; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert [name for name in loaded if name.startswith("whileai")] == ["whileai", "whileai.pytest_plugin"]
    assert not {"numpy", "scipy", "duckdb", "msgspec"} & set(loaded)


MARGINS = [
    # arms, options, margin, what the failure says
    (arm(30), arm(30), {}, None, None),
    (arm(30), arm(10), {}, None, "gate failed: the result is not ok (regressed)"),
    (arm(30), arm(30), {}, 0.2, None),
    (arm(30), arm(30), {}, 0.02, "a loss of 0.02 is the most allowed; about "),
    (arm(30), arm(28), {}, 0.3, None),
    (arm(30), arm(10), {}, 0.9, None),
    (arm(10), arm(30), {}, 0, None),
    (arm(30), [{"task_id": "z", "reward": 1}], {}, None, "not comparable: the arms share no task"),
    (arm(30), [{"task_id": "z", "reward": 1}], {}, 0.5, "the change has no interval, so no loss is ruled out"),
    (
        arm(10),
        arm(30, chars=90),
        {"must_not_regress": ["marker:chars"], "lower_is_better": ["marker:chars"]},
        0.5,
        "gate failed: a guard or the proxy is not ok",
    ),
]


@pytest.mark.parametrize(("before", "after", "options", "margin", "said"), MARGINS)
def test_what_is_not_worse(before, after, options, margin, said):
    result = wai.compare(before, after, **options)
    if said is None:
        assert_not_worse(result, margin=margin)
        return
    with pytest.raises(AssertionError) as error:
        assert_not_worse(result, margin=margin)
    assert said in str(error.value)
    assert str(error.value).startswith(result.summary)
    assert "\nnote " not in str(error.value)


@pytest.mark.parametrize("margin", [-0.1, float("nan"), "0.1", True])
def test_a_margin_is_a_number(margin):
    with pytest.raises((ValueError, TypeError), match="assert_not_worse: margin must be a number of at least 0"):
        assert_not_worse(wai.compare(arm(10), arm(10)), margin=margin)


def test_a_margin_of_a_rate_is_no_more_than_it_can_lose():
    with pytest.raises(ValueError, match=r"margin must be at most 1, the most that pass_at_1 can lose; got 5. 0.05 is"):
        assert_not_worse(wai.compare(arm(10), arm(10)), margin=5)
    longer = [{**row, "markers": {"chars": 50 + place % 3}} for place, row in enumerate(arm(10))]
    assert_not_worse(wai.compare(arm(10), longer, target="marker:chars"), margin=5)


def test_only_a_comparison_is_not_worse():
    with pytest.raises(TypeError, match="result must be a Comparison; got PassAt"):
        assert_not_worse(wai.pass_at(arm(10)))


def test_what_was_told_of_a_comparison_goes_with_it():
    class Node:
        user_properties: list = []  # noqa: RUF012 - one test, one list

    result = wai.compare(arm(10), arm(10))
    keeper = pytest_plugin._Comparing.__new__(pytest_plugin._Comparing)
    keeper.node = Node()
    keeper._keep(result, "x", ("told",))
    assert pytest_plugin._told[id(result)] == ("told",)
    place = id(result)
    del result
    gc.collect()
    assert place not in pytest_plugin._told
