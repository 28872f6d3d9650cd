"""What `wai` says where it cannot do what was asked."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cli_helpers import run, write

ERRORS = """
compare low.jsonl bad.jsonl
    bad.jsonl row 17: reward must be a number in [0, 1]; got '1.0'. Use float().
compare bad.jsonl low.jsonl --by topic
    bad.jsonl row 17: reward must be a number in [0, 1]; got '1.0'. Use float().
select low.jsonl bad.jsonl --mode rl
    bad.jsonl row 17: reward must be a number in [0, 1]; got '1.0'. Use float().
pass-at low.jsonl bad.jsonl
    bad.jsonl row 17: reward must be a number in [0, 1]; got '1.0'. Use float().
variance low.jsonl bad.jsonl
    bad.jsonl row 17: reward must be a number in [0, 1]; got '1.0'. Use float().
compare low.jsonl high.jsonl --target marker:char
    --target must be a metric here; got 'marker:char'. Did you mean marker:chars?
compare low.jsonl high.jsonl --must-not-regress pass_at1
    --must-not-regress must be a metric here; got 'pass_at1'. Did you mean pass_at_1?
compare low.jsonl high.jsonl --by topik
    --by must be a key of the rows; got 'topik'. Did you mean topic?
compare none.jsonl gone.jsonl --level 95
    --level must be a number between 0 and 1; got 95.0. Write 0.95.
compare none.jsonl gone.jsonl --run-std -1
    --run-std must be a number in [0, 1], as the target is a rate; got -1.0.
compare none.jsonl gone.jsonl --max-loss 5
    --max-loss must be at most 1, the most that pass_at_1 can lose; got 5.0. 0.05 is five points.
compare low.jsonl high.jsonl --map rewrd=score
    --map must be a map of our names to the data's; got 'rewrd'. Did you mean reward?
judge-trust none.jsonl --kind humn
    --kind must be one of 'human', 'program', 'model'; got 'humn'. Did you mean human?
compare none.jsonl gone.jsonl --max-loss nan
    --max-loss must be a number of at least 0; got nan.
variance runs/a.jsonl --metric pas_at_1
    --metric must be a metric here; got 'pas_at_1'. Did you mean pass_at_1?
pass-at runs/*.json
    no file matches 'runs/*.json' in the current folder.
pass-at none.jsonl
    no file is named 'none.jsonl' in the current folder.
pass-at low.jsonl ./low.jsonl
    DATA must be different files; got 'low.jsonl' twice. Its rows would count twice.
pass-at none.jsonl --k 0
    --k must be a whole number of at least 1; got 0.
pass-at low.jsonl --k 2.5
    --k must be a whole number; got '2.5'.
pass-at low.jsonl --level
    --level needs a value.
pass-at
    DATA must be given.
compare low.jsonl
    AFTER must be given.
compare low.jsonl high.jsonl long.jsonl
    nothing here takes long.jsonl. A pattern in quotes is one argument.
compare low.jsonl high.jsonl --targt reward
    there is no option --targt here. Did you mean --target?
compare low.jsonl high.jsonl --run_std 0.1
    there is no option --run_std here. Did you mean --run-std?
compare low.jsonl high.jsonl --targ reward
    there is no option --targ here. Did you mean --target?
holdout-size much
    EFFECT must be a number; got 'much'.
holdout-size 0.9 --base 0.45
    EFFECT must be at most 1 - base, 0.55 for base=0.45; got 0.9. No model passes more than all of its tries.
holdout-size 0.1 --after low.jsonl
    --before must be given where --after is. A paired pilot has both arms.
select none.jsonl --mode rll
    --mode must be one of 'rl', 'sft'; got 'rll'. Did you mean rl?
select none.jsonl
    --mode must be given.
select none.jsonl --mode rl --band 0.2
    --band needs two values.
select none.jsonl --mode rl -o k.parquet
    --output must be a file ending in .jsonl or .json; got 'k.parquet'. Parquet is not written yet.
pass-at none.jsonl -o -
    --output must be a file in a folder that exists; got '-'.
select none.jsonl --mode rl -o no/k.jsonl
    --output must be a file in a folder that exists; got 'no/k.jsonl'.
decontaminate low.jsonl
    --against must be given.
validate low.jsonl --kind rows
    --kind must be one of 'row', 'training', 'preference'; got 'rows'. Did you mean row?
demo --n 3
    --questions must be at least 20 of them; got 3. Fewer show nothing of an eval.
demo --questions low.jsonl
    low.jsonl row 0: question must be text; got None.
"""


@pytest.mark.parametrize(("line", "said"), re.findall(r"^(\S.*)\n    (.*)$", ERRORS, re.MULTILINE))
def test_an_error_is_one_sentence_in_the_names_of_the_command_line(line, said, folder):
    done = run(*line.split(), cwd=folder)
    command = line.split()[0]
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"wai {command}: error: {said}\n"


STARTS = [
    ("pass-at broken.jsonl", "wai pass-at: error: broken.jsonl line 2 must be a JSON object"),
    ("pass-at cut.jsonl.gz", "wai pass-at: error: cut.jsonl.gz "),
    ("pass-at not.parquet", "wai pass-at: error: not.parquet must be a file of rows"),
    ("decontaminate low.jsonl --against high.jsonl --fields prmpt", "wai decontaminate: error: --fields "),
    ("", "wai: error: COMMAND must be given. wai --help lists them.\n"),
    ("comapre low.jsonl high.jsonl", "wai: error: there is no command 'comapre'. Did you mean compare?\n"),
    ("frobnicate low.jsonl", "wai: error: there is no command 'frobnicate'. wai --help lists them.\n"),
    ("--verson", "wai: error: there is no option --verson here. Did you mean --version?"),
]


@pytest.mark.parametrize(("line", "start"), STARTS)
def test_what_cannot_be_read_is_said_in_one_line(line, start, folder):
    done = run(*line.split(), cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(start)
    assert done.stderr.count("\n") == 1


def test_debug_shows_where_and_keeps_the_sentence(folder):
    done = run("pass-at", "bad.jsonl", "--debug", cwd=folder)
    assert done.returncode == 2
    assert "Traceback" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("wai pass-at: error: bad.jsonl row 17: reward")


def test_an_unreadable_file_is_named(folder):
    locked = folder / "locked.jsonl"
    locked.write_text("{}\n")
    locked.chmod(0)
    if os.access(locked, os.R_OK):
        pytest.skip("this user may read every file")
    done = run("pass-at", "locked.jsonl", cwd=folder)
    assert done.returncode == 2
    assert done.stderr == "wai pass-at: error: locked.jsonl cannot be read: Permission denied.\n"


def test_a_file_name_cannot_forge_a_line(folder):
    write(folder / "x\n::error::y.jsonl", [{"task_id": 1, "reward": 2}])
    done = run("pass-at", "x\n::error::y.jsonl", cwd=folder)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("args", [["pass-at", "low.jsonl"], ["pass-at", "low.jsonl", "--json"]])
def test_a_full_disk_under_stdout_is_an_error(args, folder):
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "whileai", *args]
        done = subprocess.run(command, cwd=folder, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert re.fullmatch(r"wai pass-at: error: .*No space left on device\.\n", done.stderr)
