"""`wai` as its users meet it: what stands on stdout, in files, on this page of the docs."""

from __future__ import annotations

import datetime as dt
import decimal
import hashlib
import json
import os
import re
import shlex
import stat
from pathlib import Path

import pytest

import whileai as wai
from cli_helpers import arm, mixed, printed, run, write

ROOT = Path(__file__).parents[3]
COMMANDS = ["pass-at", "compare", "variance", "holdout-size", "select", "decontaminate", "validate", "demo"]

CASES = {
    "pass-at": (["pass-at", "high.jsonl", "--k", "2", "--level", "0.9"], lambda: wai.pass_at(arm(30), k=2, level=0.9)),
    "gz": (["pass-at", "high.jsonl.gz"], lambda: wai.pass_at(arm(30))),
    "json": (["pass-at", "rows.json"], lambda: wai.pass_at(arm(30))),
    "csv": (["pass-at", "rows.csv"], lambda: wai.pass_at(arm(30))),
    "glob": (["pass-at", "runs/*.jsonl"], lambda: wai.pass_at(arm(9) + arm(12) + arm(11))),
    "several files": (["pass-at", "runs/a.jsonl", "runs/b.jsonl"], lambda: wai.pass_at(arm(9) + arm(12))),
    "compare": (["compare", "low.jsonl", "high.jsonl.gz"], lambda: wai.compare(arm(10), arm(30))),
    "compare options": (
        [
            *["compare", "low.jsonl", "long.jsonl", "--target", "marker:chars", "--lower-is-better", "marker:chars"],
            *["--must-not-regress", "pass_at_1", "--must-not-regress", "marker:chars", "--proxy", "pass_at_1"],
            *["--run-std", "0.02", "--run-std-runs", "3", "--level", "0.9"],
        ],
        lambda: wai.compare(
            arm(10),
            arm(30, chars=90),
            target="marker:chars",
            lower_is_better=["marker:chars"],
            proxy="pass_at_1",
            must_not_regress=["pass_at_1", "marker:chars"],
            run_std=0.02,
            run_std_runs=3,
            level=0.9,
        ),
    ),
    "compare by": (
        ["compare", "low.jsonl", "high.jsonl", "--by", "topic"],
        lambda: wai.compare(arm(10), arm(30), by="topic"),
    ),
    "pass-at cluster": (
        ["pass-at", "low.jsonl", "--cluster", "topic"],
        lambda: wai.pass_at(arm(10), cluster="topic"),
    ),
    "compare cluster": (
        ["compare", "low.jsonl", "high.jsonl", "--by", "topic", "--cluster", "topic"],
        lambda: wai.compare(arm(10), arm(30), by="topic", cluster="topic"),
    ),
    "variance": (
        ["variance", "runs/a.jsonl", "runs/b.jsonl", "runs/c.jsonl", "--metric", "marker:chars"],
        lambda: wai.eval_variance(arm(9), arm(12), arm(11), metric="marker:chars"),
    ),
    "variance of a pattern": (["variance", "runs/*.jsonl"], lambda: wai.eval_variance(arm(9), arm(12), arm(11))),
    "holdout-size": (
        ["holdout-size", "0.1", "--base", "0.45", "--k", "4", "--power", "0.9"],
        lambda: wai.holdout_size(0.1, base=0.45, k=4, power=0.9),
    ),
    "holdout-size given": (
        ["holdout-size", "0.1", "--task-std", "0.4"],
        lambda: wai.holdout_size(0.1, task_std=0.4),
    ),
    "holdout-size pilot": (
        ["holdout-size", "0.1", "--before", "low.jsonl", "--after", "high.jsonl"],
        lambda: wai.holdout_size(0.1, before=arm(10), after=arm(30)),
    ),
    "select": (
        ["select", "mixed.jsonl", "--mode", "rl", "--band", "0.4", "0.6", "--target", "7"],
        lambda: wai.select(mixed(), mode="rl", band=(0.4, 0.6), target=7).report,
    ),
    "select sft": (
        ["select", "mixed.jsonl", "--mode", "sft", "--per-task", "2"],
        lambda: wai.select(mixed(), mode="sft", per_task=2).report,
    ),
    "decontaminate": (
        [
            *["decontaminate", "low.jsonl", "--against", "runs/a.jsonl"],
            *["--fields", "prompt", "--n", "4", "--threshold", "0.7"],
        ],
        lambda: wai.decontaminate(arm(10), arm(9), fields=["prompt"], n=4, threshold=0.7).report,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_text_is_what_the_call_prints(name, folder):
    args, expected = CASES[name]
    done = run(*args, cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == printed(expected())


@pytest.mark.parametrize("name", CASES)
def test_json_is_one_object_with_the_calls_digits(name, folder):
    args, expected = CASES[name]
    done = run(*args, "--json", cwd=folder)
    assert (done.returncode, done.stderr, done.stdout.count("\n")) == (0, "", 1)
    found = json.loads(done.stdout, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    keys = ["schema_version", "call", "version", "ok", "verdict", "summary", "result", "notes", "inputs"]
    assert list(found) == keys
    result = expected()
    assert found["result"] == result.to_dict()
    assert found["summary"] == result.summary
    assert (found["schema_version"], found["version"]) == ("1", wai.__version__)
    assert found["ok"] == getattr(result, "ok", None)
    assert found["verdict"] == getattr(result, "verdict", None)
    assert [note["code"] for note in found["notes"]] == [note.code for note in result.notes]
    for entry in found["inputs"]:
        data = (folder / entry["path"]).read_bytes()
        assert entry["sha256"] == hashlib.sha256(data).hexdigest()
        assert (entry["rows"], entry["tasks"]) == (80, 40)


def test_inputs_list_every_file_of_a_pattern_under_its_argument(folder):
    found = json.loads(run("compare", "runs/*.jsonl", "low.jsonl", "--json", cwd=folder).stdout)
    places = [(entry["name"], entry["path"]) for entry in found["inputs"]]
    assert places == [*(("before", f"runs/{name}.jsonl") for name in "abc"), ("after", "low.jsonl")]
    assert found["call"] == "compare"


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_output_goes_to_a_file_whole_and_keeps_its_permissions(flags, folder, tmp_path):
    out = tmp_path / "result.txt"
    out.write_text("before")
    out.chmod(0o600)
    done = run("pass-at", "high.jsonl", *flags, "-o", out, cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert out.read_text() == run("pass-at", "high.jsonl", *flags, cwd=folder).stdout
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [out]


def test_a_failure_leaves_the_output_file_as_it_was(folder, tmp_path):
    out = tmp_path / "kept.jsonl"
    out.write_text("before")
    assert run("select", "bad.jsonl", "--mode", "rl", "-o", out, cwd=folder).returncode == 2
    assert out.read_text() == "before"
    assert list(tmp_path.iterdir()) == [out]


def test_a_link_is_followed_and_a_device_is_not_replaced(folder, tmp_path):
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "target.json")
    assert run("pass-at", "high.jsonl", "--json", "-o", link, cwd=folder).returncode == 0
    assert link.is_symlink()
    assert json.loads((tmp_path / "target.json").read_text())["call"] == "pass_at"
    assert run("pass-at", "high.jsonl", "-o", "/dev/null", cwd=folder).returncode == 0
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize("name", ["kept.jsonl", "kept.json"])
def test_kept_rows_go_to_the_output_and_the_report_to_stdout(name, folder, tmp_path):
    out = tmp_path / name
    done = run("select", "mixed.jsonl", "--mode", "rl", "-o", out, cwd=folder)
    kept = wai.select(mixed(), mode="rl")
    assert (done.returncode, done.stdout) == (0, printed(kept.report))
    assert len(kept) == 80
    assert wai.read(out) == list(kept)


def test_clean_rows_are_written_as_they_came(folder, tmp_path):
    rows = [
        {"prompt": "What is 3 plus 4?", "task_id": 1},
        {"prompt": "How far is the moon, é\ud800?", "n": float("nan")},
    ]
    write(tmp_path / "train.jsonl", rows)
    done = run(
        "decontaminate", tmp_path / "train.jsonl", "--against", "low.jsonl", "-o", tmp_path / "c.jsonl", cwd=folder
    )
    assert done.returncode == 0
    (line,) = (tmp_path / "c.jsonl").read_text("utf-8").splitlines()
    found = json.loads(line, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    assert found == {"prompt": rows[1]["prompt"], "n": None}


def test_rows_of_a_table_with_dates_and_decimals_can_be_written(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    table = pa.table(
        {
            "task_id": ["a", "a"],
            "final_text": ["x", "y"],
            "reward": [1.0, 0.0],
            "when": [dt.datetime(2026, 1, 2, 3, 4, tzinfo=dt.UTC)] * 2,
            "cost": [decimal.Decimal("1.25")] * 2,
        }
    )
    pq.write_table(table, tmp_path / "rows.parquet")
    done = run("select", "rows.parquet", "--mode", "rl", "-o", "kept.jsonl", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    row = json.loads((tmp_path / "kept.jsonl").read_text().splitlines()[0])
    assert row["when"].startswith("2026-01-02")
    assert row["cost"] == 1.25


def test_validate_counts_every_problem_and_says_where(folder, tmp_path):
    rows = [
        {"schema_version": "1", "prompt": "q", "final_text": "a", "steps": []},
        {"schema_version": "1", "prompt": "q", "final_text": None, "steps": [], "reward": 7},
        {},
        *[{"schema_version": "1", "prompt": "q", "final_text": "a"}] * 6,
    ]
    write(tmp_path / "rows.jsonl", rows)
    done = run("validate", "rows.jsonl", cwd=tmp_path)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0] == "not valid: 8 of 9 rows have a problem"
    assert re.search(r"^  steps_missing +6  3, 4, 5, 6, 7, \.\.\.$", done.stdout, re.MULTILINE)
    assert re.search(r"^  empty_row +1  2$", done.stdout, re.MULTILINE)
    found = json.loads(run("validate", "rows.jsonl", "--json", cwd=tmp_path).stdout)
    assert (found["ok"], found["result"]["n_bad"], found["result"]["n_rows"]) == (False, 8, 9)
    assert found["result"]["codes"]["reward_out_of_range"] == {"rows": 1, "first": [["rows.jsonl", 1]]}


def test_validate_by_kind_and_over_files(folder):
    fine = run("validate", "low.jsonl", cwd=folder)
    assert (fine.returncode, fine.stdout) == (0, "valid: 80 rows, no problem\n")
    done = run("validate", "low.jsonl", "broken.jsonl", "--kind", "training", cwd=folder)
    assert done.returncode == 1
    assert done.stdout.startswith("not valid: 82 of 82 rows have a problem as training rows\n")
    assert re.search(r"unreadable_line +1  broken\.jsonl:1$", done.stdout, re.MULTILINE)
    assert "The rest of that file was not read." in " ".join(done.stdout.split())


def filled(page):
    """The page with what its commands print now; a command marked ``# exit 1`` must end so, and no other may."""
    namespace = {}
    exec(re.search(r"```python\n(.*?)```", page, re.DOTALL)[1], namespace)
    seen = set()

    def console(block):
        lines = []
        for line in re.findall(r"^\$ (?:[A-Z_]+=\S+ )*wai .*$", block[1], re.MULTILINE):
            words = shlex.split(line.removeprefix("$ "), comments=True)
            args = words[words.index("wai") + 1 :]
            done = run(*args, cwd=namespace["folder"], env=dict(word.split("=", 1) for word in words[: -len(args) - 1]))
            assert ("exit 1" in line) == (done.returncode == 1), line
            seen.add(args[0])
            lines += [line, (done.stdout + done.stderr).rstrip("\n")]
        return "\n".join(["```console", *lines, "```"])

    text = re.sub(r"```console\n(.*?)```", console, page, flags=re.DOTALL)
    assert seen
    return text, seen


@pytest.mark.parametrize(("name", "commands"), [("cli.md", COMMANDS), ("ci.md", ["compare"])])
def test_the_page_shows_what_the_commands_print(name, commands):
    file = ROOT / "docs" / name
    page = file.read_text("utf-8")
    text, seen = filled(page)
    assert seen >= set(commands)
    if os.environ.get("WHILEAI_WRITE_PRINTED"):
        file.write_text(text, "utf-8")
    else:
        assert page == text
