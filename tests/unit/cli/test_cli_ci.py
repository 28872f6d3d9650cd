"""What continuous integration gets of `wai compare`: exit codes, annotations, JUnit, the summary of a step."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from xml.etree import ElementTree as ET

import pytest

import whileai as wai
from cli_helpers import arm, clean_env, write
from whileai.cli import github, junit
from whileai.cli.main import main
from whileai.measure.gating import judged

ACTIONS = {"GITHUB_ACTIONS": "true"}
CHARS = "--must-not-regress marker:chars --lower-is-better marker:chars"
WORSE, BETTER = "high.jsonl low.jsonl", "low.jsonl high.jsonl"

#: What JUnit's consumers agree on, as an XML Schema: the suite, its properties, its cases, one outcome a case.
XSD = """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" elementFormDefault="qualified">
  <xs:complexType name="outcome"><xs:simpleContent><xs:extension base="xs:string">
    <xs:attribute name="type" type="xs:string" use="required"/><xs:attribute name="message" type="xs:string"/>
  </xs:extension></xs:simpleContent></xs:complexType>
  <xs:element name="testsuite"><xs:complexType><xs:sequence>
    <xs:element name="properties"><xs:complexType><xs:sequence>
      <xs:element name="property" minOccurs="0" maxOccurs="unbounded"><xs:complexType>
        <xs:attribute name="name" type="xs:string" use="required"/>
        <xs:attribute name="value" type="xs:string" use="required"/>
      </xs:complexType></xs:element>
    </xs:sequence></xs:complexType></xs:element>
    <xs:element name="testcase" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:choice minOccurs="0">
      <xs:element name="failure" type="outcome"/><xs:element name="error" type="outcome"/>
      <xs:element name="skipped"><xs:complexType><xs:attribute name="message" type="xs:string"/></xs:complexType>
      </xs:element></xs:choice>
      <xs:attribute name="name" type="xs:string" use="required"/>
      <xs:attribute name="classname" type="xs:string" use="required"/>
    </xs:complexType></xs:element>
    <xs:element name="system-out" type="xs:string" minOccurs="0"/>
  </xs:sequence>
    <xs:attribute name="name" type="xs:string" use="required"/>
    <xs:attribute name="tests" type="xs:nonNegativeInteger" use="required"/>
    <xs:attribute name="failures" type="xs:nonNegativeInteger" use="required"/>
    <xs:attribute name="errors" type="xs:nonNegativeInteger" use="required"/>
    <xs:attribute name="skipped" type="xs:nonNegativeInteger" use="required"/>
  </xs:complexType></xs:element>
</xs:schema>"""

ERROR = "::error title=wai compare::"
REGRESSED = f"{ERROR}regressed: pass@1 0.75 -> 0.25, change -0.50 [-0.65..-0.30], p<0.0001"
GATES = [
    # arms and flags, exit code, annotations, (case, outcome) of JUnit
    (WORSE, 0, [], [("pass_at_1 is not worse", "failure regressed")]),
    (f"{WORSE} --gate", 1, [REGRESSED], [("pass_at_1 is not worse", "failure regressed")]),
    (f"{BETTER} --gate", 0, [], [("pass_at_1 is not worse", "")]),
    (f"{WORSE} --max-loss 0.9", 0, [], [("pass_at_1 loses less than 0.9", "")]),
    (
        f"{WORSE} --max-loss 0.1",
        1,
        [f"{ERROR}pass_at_1: a loss of 0.1 is the most allowed, and the change seen is no smaller"],
        [("pass_at_1 loses less than 0.1", "failure max_loss")],
    ),
    (
        f"low.jsonl long.jsonl --gate {CHARS}",
        1,
        [f"{ERROR}the guard marker:chars got worse, 52.00 -> 92.00, change +40.00 [not measured] (lower is better)"],
        [("pass_at_1 is not worse", ""), ("marker:chars is not worse", "failure regressed")],
    ),
    (
        "low.jsonl bare.jsonl --gate --must-not-regress marker:chars --name a.b",
        1,
        ["::warning title=wai compare a.b::the guard marker:chars was not measured on both arms"],
        [("pass_at_1 is not worse", ""), ("marker:chars is not worse", "skipped")],
    ),
    (
        "low.jsonl other.jsonl --gate",
        1,
        [f"{ERROR}not comparable: the arms share no task (40 before, 1 after); nothing was computed"],
        [("pass_at_1 is not worse", "error not_comparable")],
    ),
    (
        "low.jsonl unjudged.jsonl --gate",
        1,
        ["::error title=wai compare::too little data: no task has pass@1 in both arms; nothing was computed"],
        [("pass_at_1 is not worse", "error insufficient_data")],
    ),
    (
        "high.jsonl long.jsonl --gate --proxy marker:chars",
        1,
        ["::error title=wai compare::over-optimised, the proxy marker:chars improved and pass_at_1 did not"],
        [
            ("pass_at_1 is not worse", ""),
            ("marker:chars does not improve without pass_at_1", "failure over_optimised"),
        ],
    ),
]


@pytest.fixture(scope="module")
def home(folder, tmp_path_factory):
    """The folder of the commands, with arms that lack something."""
    without = [{key: value for key, value in row.items() if key != "markers"} for row in arm(10)]
    write(folder / "bare.jsonl", without)
    write(folder / "unjudged.jsonl", [{**row, "reward": None} for row in arm(10)])
    return folder


@pytest.fixture
def here(monkeypatch, capsys):
    """`run` without a process: what `main` returns and prints in a folder and an environment."""

    def here(*args, cwd, env=None):
        monkeypatch.chdir(cwd)
        for name in ("NO_COLOR", "FORCE_COLOR", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
            monkeypatch.delenv(name, raising=False)
        for name, value in (env or {}).items():
            monkeypatch.setenv(name, value)
        code = main(list(map(str, args)))
        return subprocess.CompletedProcess(args, code, *capsys.readouterr())

    return here


@pytest.mark.parametrize(("line", "code", "said", "cases"), GATES)
def test_a_gate_is_an_exit_code_annotations_junit_and_a_summary(line, code, said, cases, home, tmp_path, here):
    env = {**ACTIONS, "GITHUB_STEP_SUMMARY": str(tmp_path / "s.md")}
    done = here("compare", *line.split(), "--junit", tmp_path / "j.xml", cwd=home, env=env)
    assert (done.returncode, done.stderr.splitlines()) == (code, said)
    told = (tmp_path / "s.md").read_bytes() if (tmp_path / "s.md").exists() else b""
    assert bool(told) == ("--gate" in line or "--max-loss" in line)
    assert not told or (told.startswith(b"<!-- wai:compare:") and 200 < len(told) < 4_000)
    text = (tmp_path / "j.xml").read_text("utf-8")
    found = ET.fromstring(text)
    outcomes = [
        (case.get("name"), " ".join([case[0].tag, *([case[0].get("type")] if case[0].get("type") else [])]))
        if len(case)
        else (case.get("name"), "")
        for case in found.iter("testcase")
    ]
    assert outcomes == cases
    counts = [int(found.get(name)) for name in ("tests", "failures", "errors", "skipped")]
    kinds = [outcome.split(" ")[0] for _, outcome in cases]
    assert counts == [len(cases), *(kinds.count(kind) for kind in ("failure", "error", "skipped"))]
    assert f"{found.findtext('system-out')}\n" == done.stdout
    etree = pytest.importorskip("lxml.etree", reason="lxml checks the XML against a schema")
    etree.XMLSchema(etree.fromstring(XSD.encode())).assertValid(etree.fromstring(text.encode()))


def test_the_messages_of_junit_are_line_one_and_the_numbers_are_full(home, tmp_path, here):
    here("compare", *WORSE.split(), "--junit", tmp_path / "j.xml", cwd=home)
    found = ET.parse(tmp_path / "j.xml").getroot()
    result = wai.compare(arm(30), arm(10))
    assert found.find("testcase/failure").get("message") == result.summary
    numbers = {item.get("name"): item.get("value") for item in found.iter("property")}
    assert (float(numbers["pass_at_1.interval.low"]), float(numbers["pass_at_1.interval.high"])) == result.interval
    assert float(numbers["marker:chars.before"]) == result.metrics["marker:chars"].before
    assert numbers["ok"] == "false"


def test_no_name_breaks_the_xml():
    name = 'a<b>&"\x00\x1b\x85\ud800\uffff\n]]>\t\U0001f600'
    rows = [[{**row, "markers": {name: value + i % 3}} for i, row in enumerate(arm(20))] for value in (1, 2)]
    result = wai.compare(*rows, must_not_regress=[f"marker:{name}"], lower_is_better=[f"marker:{name}"])
    gate = judged(result, gate=True)
    text = junit.document(result, gate, gate, None, "wai compare")
    found = ET.fromstring(text.encode("utf-8"))
    kept = 'marker:a<b>&"\x85\n]]>\t\U0001f600'
    assert [case.get("name") for case in found.iter("testcase")][1] == f"{kept} is not worse"
    assert found.find("testcase/failure") is not None


def test_outside_of_actions_there_are_no_annotations(home, here):
    for env in ({}, {"GITHUB_ACTIONS": "false"}, {"CI": "true"}):
        assert here("compare", *WORSE.split(), "--gate", cwd=home, env=env).stderr == ""


def test_annotations_are_ten_of_a_kind_and_escaped(monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    names = [f"m,{i}:%\r\n::error::x" for i in range(12)]
    before = [{**row, "markers": dict.fromkeys(names, 1 + i % 4)} for i, row in enumerate(arm(20))]
    after = [{**row, "markers": dict.fromkeys(names, 3 + i % 4)} for i, row in enumerate(arm(20))]
    metrics = [f"marker:{name}" for name in names]
    result = wai.compare(before, after, must_not_regress=metrics, lower_is_better=metrics)
    lines = github.annotated("a:b,c%d\ne", judged(result, gate=True).failures)
    assert len(lines) == 10
    for line in lines:
        assert line.startswith("::error title=a%3Ab%2Cc%25d%0Ae::")
        assert "\n" not in line
        assert "\r" not in line
    assert "marker:m,0:%25%0D%0A::error::x got worse" in lines[0]
    assert lines[-1].endswith("::and 3 more; the output has all of them")


#: What the runner of GitHub takes for a command in one line of output.
COMMAND = re.compile(r"^\s*::|##\[")


@pytest.mark.parametrize("flags", ["", "--json", "--markdown"])
def test_no_text_of_the_rows_becomes_a_command(flags, tmp_path, here):
    evil = ["::error::pwned", "##[error]pwned", "  ::add-mask::x", "x ##[set-output name=y]z"]
    rows = [
        {**row, "topic": evil[i % 4], "task_id": f"::error::{row['task_id']}", "markers": {evil[i % 4]: i}}
        for i, row in enumerate(arm(12))
    ]
    write(tmp_path / "a.jsonl", rows)
    write(tmp_path / "b.jsonl", [{**row, "reward": 0} for row in rows])
    args = ["compare", "a.jsonl", "b.jsonl", "--by", "topic", "--gate", *flags.split()]
    done = here(*args, cwd=tmp_path, env={**ACTIONS, "GITHUB_STEP_SUMMARY": str(tmp_path / "s.md")})
    assert done.returncode == 1
    assert not [line for line in done.stdout.splitlines() if COMMAND.search(line)]
    said = [line for line in done.stderr.splitlines() if COMMAND.search(line)]
    assert [line[: line.index("regressed")] for line in said] == ["::error title=wai compare::"]
    elsewhere = here(*args, cwd=tmp_path)
    assert [line for line in elsewhere.stdout.splitlines() if COMMAND.search(line)]
    if flags == "--json":
        assert json.loads(done.stdout) == json.loads(elsewhere.stdout)
    wrong = here("pass-at", "##[error]x.jsonl", cwd=tmp_path, env=ACTIONS)
    assert wrong.stderr == "wai pass-at: error: no file matches '# #[error]x.jsonl' in the current folder.\n"


SUMMARIES = [
    # flags, whether the summary gets a part
    (["compare", *WORSE.split()], False),
    (["compare", *WORSE.split(), "--gate"], True),
    (["compare", *WORSE.split(), "--max-loss", "0.9"], True),
    (["compare", *WORSE.split(), "--gate", "--json"], True),
    (["compare", *WORSE.split(), "--markdown"], True),
    (["pass-at", "low.jsonl"], False),
    (["pass-at", "low.jsonl", "--markdown"], True),
]


@pytest.mark.parametrize(("args", "is_told"), SUMMARIES)
def test_the_summary_of_a_step_grows_where_it_was_asked_for(args, is_told, home, tmp_path, here):
    file = tmp_path / "summary.md"
    file.write_bytes(b"# before\n")
    done = here(*args, cwd=home, env={"GITHUB_STEP_SUMMARY": str(file)})
    data = file.read_bytes()
    assert data.startswith(b"# before\n")
    assert (len(data) > 20) == is_told
    assert b"\r" not in data
    if is_told and "--markdown" in args:
        assert data.decode("utf-8") == f"# before\n\n{done.stdout}"
    assert ("\x1b" in data.decode("utf-8")) is False


@pytest.mark.parametrize(("there", "added"), [(0, "whole"), (900 * 1024 - 500, "cut"), (900 * 1024, "none")])
def test_the_summary_stays_under_the_size_at_which_it_is_lost(there, added, home, tmp_path, here):
    file = tmp_path / "summary.md"
    file.write_text("x" * max(there - 1, 0) + "\n" * bool(there))
    done = here(
        "compare",
        *WORSE.split(),
        "--gate",
        "--must-not-regress",
        "marker:chars",
        cwd=home,
        env={"GITHUB_STEP_SUMMARY": str(file)},
    )
    part = file.read_text("utf-8")[there:]
    assert done.returncode == 1
    assert len(file.read_bytes()) <= max(900 * 1024, there)
    if added == "none":
        assert part == ""
    else:
        assert "**wai: regressed**" in part
        assert ("cut for want of room" in part) == (added == "cut")
        assert part.count("<details>") == part.count("</details>")


def test_two_steps_at_once_append_one_after_the_other(home, tmp_path):
    file = tmp_path / "summary.md"
    env = clean_env({"GITHUB_STEP_SUMMARY": str(file)})
    commands = [
        [sys.executable, "-m", "whileai", "compare", *WORSE.split(), "--gate", "--name", name]
        for name in ("one", "two")
    ]
    started = [subprocess.Popen(command, cwd=home, env=env, stdout=subprocess.DEVNULL) for command in commands]
    assert [process.wait(timeout=60) for process in started] == [1, 1]
    text = file.read_text("utf-8")
    parts = re.split(r"(?m)^(?=<!-- wai:compare:)", text)[1:]
    assert sorted(part.split("\n")[0] for part in parts) == ["<!-- wai:compare:one -->", "<!-- wai:compare:two -->"]
    assert len({part.split("\n", 1)[1].strip() for part in parts}) == 1


def test_a_summary_that_cannot_be_written_is_said(home, tmp_path, here):
    env = {"GITHUB_STEP_SUMMARY": str(tmp_path / "no" / "s.md")}
    done = here("compare", *BETTER.split(), "--gate", cwd=home, env=env)
    assert done.returncode == 2
    assert done.stderr.endswith("s.md': No such file or directory.\n")
    assert done.stdout.endswith("gate passed\n")


def test_the_report_is_written_beside_the_result(home, tmp_path, here):
    plain = here("compare", *WORSE.split(), "--gate", cwd=home)
    done = here("compare", *WORSE.split(), "--gate", "--report", tmp_path / "r.html", cwd=home)
    assert (done.returncode, done.stdout) == (1, plain.stdout)
    page = (tmp_path / "r.html").read_text("utf-8")
    assert "change -0.50 [-0.65..-0.30]" in page
    assert "q17" in page


NAME = "1 to 64 letters, digits, dots, dashes and underscores, a letter or digit first"
WRONG = [
    ("--junit no/j.xml", "--junit must be a file in a folder that exists; got 'no/j.xml'."),
    ("--report .", "--report must be a file in a folder that exists; got '.'."),
    ("--junit out.x --report out.x", "--report must be a file of its own; got 'out.x' twice."),
    ("-o out.x --junit ./out.x", "--junit must be a file of its own; got './out.x' twice."),
    ("--json --markdown", "--markdown must be left out beside --json."),
    ("--name a-->b", f"--name must be {NAME}; got 'a-->b'."),
    ("--junits j.xml", "there is no option --junits here. Did you mean --junit?"),
]


@pytest.mark.parametrize(("flags", "said"), WRONG)
def test_what_cannot_be_done_is_said_before_files_are_read(flags, said, tmp_path, here):
    done = here("compare", "none.jsonl", "gone.jsonl", *flags.split(), cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"wai compare: error: {said}\n")
    assert not list(tmp_path.iterdir())


def test_the_gate_fails_no_more_than_one_in_twenty_where_nothing_changed():
    draw = random.Random(7)
    failed = 0
    trials = 200
    for _ in range(trials):
        rates = [draw.betavariate(1.5, 1.5) for _ in range(60)]
        arms = [
            [{"task_id": i, "reward": int(draw.random() < rate)} for i, rate in enumerate(rates) for _ in range(3)]
            for _ in range(2)
        ]
        failed += not judged(wai.compare(*arms), gate=True).passes
    # only the losing half of the two-sided 5% fails a gate; three deviations of a count at 5% on top
    assert failed <= trials * 0.05 + 3 * (trials * 0.05 * 0.95) ** 0.5


def test_the_gate_can_fail_where_something_did():
    result = wai.compare(arm(30), arm(20))
    assert not judged(result, gate=True).passes
