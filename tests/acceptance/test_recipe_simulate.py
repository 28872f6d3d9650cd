"""The recipe that brings its own agent finds the two faults that are in it, offline."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

RECIPE = Path(__file__).resolve().parents[2] / "recipes" / "01-simulate" / "bring-your-own-agent" / "run.py"


def run(*arguments):
    done = subprocess.run(
        [sys.executable, str(RECIPE), *map(str, arguments)], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_both_faults_are_found_and_lie_where_they_were_put():
    report = run()
    assert report.startswith("== What it met\n120 rows in 120 situations")
    for failure in ("claimed_success", "unconfirmed"):
        found = re.search(rf"{failure}: (\d+) of 120 rows", report)
        assert int(found[1]) >= 5
    assert "\nimproved: pass@1 0." in report
    rates = dict(re.findall(r"^  (timeout|ok|malformed)\s+\d+\s+([\d.]+)\s", report, re.MULTILINE))
    assert float(rates["timeout"]) < 0.3 < float(rates["ok"])
    assert "== What to train on\nkept " in report


def test_it_is_the_same_every_time_and_goes_on_from_its_output(tmp_path):
    output = tmp_path / "rows.jsonl"
    first = run("--situations", 30, "--output", output)
    assert len(output.read_bytes().splitlines()) == 30
    again = run("--situations", 30, "--output", output)
    assert again.replace("note resumed: 30 rollouts of 30 were there before.\n", "") == first
