"""``wai report`` as its users meet it."""

from __future__ import annotations

import json

import pytest

import whileai as wai
from cli_helpers import arm, run, write

BAD_ROW = "bad.jsonl row 17: reward must be a number in [0, 1]; got '1.0'. Use float()."


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    write(folder / "low.jsonl", arm(10))
    write(folder / "high.jsonl.gz", arm(30))
    bad = arm(30)
    bad[17]["reward"] = "1.0"
    write(folder / "bad.jsonl", bad)
    return folder


def test_two_arms(home):
    done = run("report", "low.jsonl", "high.jsonl.gz", "--by", "topic", "-o", "r.html", cwd=home)
    assert (done.returncode, done.stderr) == (0, "")
    first, second, *_ = done.stdout.splitlines()
    assert first.startswith("wrote r.html: ")
    assert second.strip() == wai.compare(arm(10), arm(30)).summary
    shown = (home / "r.html").read_text(encoding="utf-8")
    assert "Where?" in shown
    assert "wai report low.jsonl high.jsonl.gz --by topic -o r.html" in shown


def test_what_the_files_call_our_keys_holds_for_texts_too(home):
    rows = [
        {"idx": row["task_id"], "q": row["prompt"], "out": row["final_text"], "ok": row["reward"]} for row in arm(10)
    ]
    write(home / "theirs.jsonl", rows)
    maps = [part for pair in ("task_id=idx", "prompt=q", "final_text=out", "reward=ok") for part in ("--map", pair)]
    done = run("report", "theirs.jsonl", "low.jsonl", "-o", "m.html", cwd=home)
    assert done.returncode == 2
    done = run("report", "theirs.jsonl", *maps, "-o", "m.html", cwd=home)
    assert (done.returncode, done.stderr) == (0, "")
    assert "40 tasks, texts of 40" in done.stdout
    assert f"wai report theirs.jsonl {' '.join(maps)} -o m.html" in (home / "m.html").read_text(encoding="utf-8")


def test_gold_corrects_the_change_and_measures_the_judge(home):
    for name, passing in (("low", 10), ("high", 30)):
        rows = arm(passing)
        write(
            home / f"{name}-gold.jsonl",
            [{**row, "human": int(i % 9 > 0) ^ row["reward"] ^ 1} for i, row in enumerate(rows)],
        )
    done = run("report", "low-gold.jsonl", "high-gold.jsonl", "--gold", "human", "-o", "g.html", cwd=home)
    assert (done.returncode, done.stderr) == (0, "")
    shown = (home / "g.html").read_text(encoding="utf-8")
    assert "with the judge&#x27;s errors counted" in shown
    assert "Can the judge be trusted?" in shown
    assert "wai report low-gold.jsonl high-gold.jsonl --gold human -o g.html" in shown
    done = run("report", "low-gold.jsonl", "--gold", "human", "-o", "g1.html", cwd=home)
    assert "Can the judge be trusted?" in (home / "g1.html").read_text(encoding="utf-8")


def test_compare_writes_the_same_page(home):
    flags = ["--must-not-regress", "marker:chars", "--by", "topic"]
    run("report", "low.jsonl", "high.jsonl.gz", *flags, "-o", "one.html", cwd=home)
    page = (home / "one.html").read_bytes()
    done = run("compare", "low.jsonl", "high.jsonl.gz", *flags, "--report", "one.html", cwd=home)
    assert done.returncode == 0
    assert (home / "one.html").read_bytes() == page


def test_one_arm_as_json(home):
    done = run("report", "low.jsonl", "-o", "one.html", "--json", "--tasks", "q3, q4", cwd=home)
    found = json.loads(done.stdout)
    assert (found["call"], found["ok"], found["verdict"]) == ("report", None, None)
    assert (found["result"]["n_listed"], found["result"]["n_tasks"]) == (2, 40)
    assert [(entry["path"], entry["rows"]) for entry in found["inputs"]] == [("low.jsonl", 80)]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("low.jsonl", "-o/--output must be given."),
        ("none.jsonl -o r2.html", "no file is named 'none.jsonl' in the current folder."),
        ("low.jsonl -o no/r2.html", "--output must be a file in a folder that exists; got 'no/r2.html'."),
        ("low.jsonl bad.jsonl -o r2.html", BAD_ROW),
        ("bad.jsonl -o r2.html", BAD_ROW),
        (
            "low.jsonl low.jsonl --target marker:char -o r2.html",
            "--target must be a metric here; got 'marker:char'. Did you mean marker:chars?",
        ),
        ("low.jsonl --by topic -o r2.html", "--by must be left out where there is no B. It is for two arms."),
        ("low.jsonl --gold humna -o r2.html", "--gold must be a key of the rows; got 'humna'."),
        ("low.jsonl high.jsonl.gz --gold humna -o r2.html", "--gold must be a key of the rows; got 'humna'."),
        ("low.jsonl --tasks q99 -o r2.html", "--tasks must be ids of measured tasks; got 'q99'. Did you mean q9?"),
        ("low.jsonl --max-mb 0 -o r2.html", "--max-mb must be a number above 0; got 0.0."),
        ("low.jsonl --level 95 -o r2.html", "--level must be a number between 0 and 1; got 95.0. Write 0.95."),
        ("low.jsonl --text -o r2.html", "there is no option --text here."),
    ],
)  # fmt: skip
def test_errors(args, message, home):
    done = run("report", *args.split(), cwd=home)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"wai report: error: {message}"), done.stderr
    assert not (home / "r2.html").exists()
