"""`wai label` on a terminal and off it, and the commands around it."""

import contextlib
import json
import os
import pty
import select
import subprocess
import sys
import time

import pytest

import whileai as wai
from cli_helpers import clean_env, run, write

#: `wai` in a terminal of its own, which sends it a signal for Ctrl-C.
OWN_TERMINAL = """
import fcntl, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from whileai.cli.main import run
run()
"""

#: What a session may take; one that hangs is an error then.
MOST_SECONDS = 30


@pytest.fixture
def home(tmp_path):
    rows = [
        {
            "task_id": f"t{i}",
            "prompt": f"What is {i} plus 1?",
            "final_text": f"It is {i + 1 + (i % 4 == 0)}.\x1b[2J",
            "reward": int(i % 3 > 0),
            "reason": "SECRET REASON",
            "info": {"answer": str(i + 1)},
        }
        for i in range(40)
    ]
    write(tmp_path / "rows.jsonl", rows)
    return tmp_path


def press(keys, *args, cwd):
    """(exit code, what the terminal showed, stdout) of `wai label` with keys pressed one by one on a terminal."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", OWN_TERMINAL, "label", *args]
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env=clean_env({"TERM": "xterm"}),
        stdin=theirs,
        stderr=theirs,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    os.close(theirs)
    shown = b""
    waiting = list(keys)
    end = time.monotonic() + MOST_SECONDS
    try:
        with contextlib.suppress(OSError):  # the terminal ends with an error where its last process ends
            while (left := end - time.monotonic()) > 0 and select.select([ours], [], [], left)[0]:
                piece = os.read(ours, 65536)
                if not piece:
                    break
                shown += piece
                if waiting and shown.endswith((b"q quit\r\n", b"session.\r\n")):
                    os.write(ours, waiting.pop(0).encode())
        out = process.communicate(timeout=max(1, end - time.monotonic()))[0].decode()
    finally:
        process.kill()  # nothing of it outlives the test, whatever it waits for
        process.communicate()
        os.close(ours)
    return process.returncode, shown.decode().replace("\r\n", "\n"), out


def labels_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_session_on_a_terminal(home):
    code, shown, out = press("pufsxq", "rows.jsonl", "--annotator", "ann", cwd=home)
    assert code == 0
    assert out.splitlines() == [
        "labelled 1 of 40 replies, 1 of them now",
        "  skipped 1 | left 38 | annotator ann | rows.jsonl.labels.jsonl",
    ]
    assert "What is 0 plus 1?" in shown
    for hidden in ("SECRET", "reward", "\x1b[2J"):  # neither the verdict nor what a reply would do to the terminal
        assert hidden not in shown
    told = [
        (record["task_id"], record["label"], record.get("undone"))
        for record in labels_of(home / "rows.jsonl.labels.jsonl")
    ]
    assert told == [("t0", 1, None), ("t0", None, True), ("t0", 0, None), ("t1", None, None)]


def test_a_session_goes_on_where_it_was_left_even_by_kill(home):
    file = home / "labels.jsonl"
    press("pppq", "rows.jsonl", "-o", "labels.jsonl", "--annotator", "ann", cwd=home)
    with file.open("ab") as torn:
        torn.write(b'{"key": "half a li')
    code, shown, _ = press("\x04", "rows.jsonl", "-o", "labels.jsonl", "--annotator", "ann", cwd=home)
    assert code == 0
    assert "--- 4 of 40, 37 left ---" in shown
    _, other, _ = press("q", "rows.jsonl", "-o", "labels.jsonl", "--annotator", "bob", cwd=home)
    assert "--- 1 of 40, 40 left ---" in other
    assert len(labels_of(file)) == 3


def test_an_interrupt_keeps_the_labels(home):
    code, _, _ = press("pp\x03", "rows.jsonl", "--annotator", "ann", cwd=home)
    assert code in (130, -2)
    assert len(labels_of(home / "rows.jsonl.labels.jsonl")) == 2


def test_keys_that_only_end_in_a_letter_are_no_labels(home):
    code, shown, _ = press(["\x1bOF", "\x1b[F", "\x1bOP", "p", "q"], "rows.jsonl", "--annotator", "ann", cwd=home)
    assert (code, shown.count("keys: p pass")) == (0, 3)
    assert [(record["task_id"], record["label"]) for record in labels_of(home / "rows.jsonl.labels.jsonl")] == [
        ("t0", 1)
    ]


def test_two_sessions_write_into_one_file_at_once(home):
    start = [sys.executable, "-m", "whileai", "label", "rows.jsonl", "-o", "labels.jsonl", "--annotator"]
    piped = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    both = [subprocess.Popen([*start, name], cwd=home, env=clean_env(), **piped) for name in ("ann", "bob")]
    try:
        for session in both:  # both have opened the file once they show a reply
            while session.stderr.readline().strip() != b"p pass   f fail   s skip   u undo   q quit":
                assert session.poll() is None
        for session in both * 3:
            session.stdin.write(b"p")
            session.stdin.flush()
        for session in both:
            session.communicate(timeout=MOST_SECONDS)
    finally:
        for session in both:
            session.kill()
            session.communicate()
    told = [(record["annotator"], record["label"]) for record in labels_of(home / "labels.jsonl")]
    assert sorted(told) == [("ann", 1)] * 3 + [("bob", 1)] * 3


def test_no_rows_to_label(tmp_path):
    write(tmp_path / "rows.jsonl", [])
    _, out, _ = keys_to("label", "p", "rows.jsonl", cwd=tmp_path)
    assert out.splitlines()[-1] == "note no_rows: there are no replies to label."


def keys_to(command, keys, *args, cwd):
    done = subprocess.run(
        [sys.executable, "-m", "whileai", command, *args],
        cwd=cwd,
        env=clean_env(),
        input=keys,
        capture_output=True,
        text=True,
        check=False,
        timeout=MOST_SECONDS,
    )
    return done.returncode, done.stdout, done.stderr


def test_from_picked_rows_to_trust(home):
    done = run("sample-for-labels", "rows.jsonl", "-n", "12", "-o", "picked.jsonl", cwd=home)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "wai label picked.jsonl")
    picked = labels_of(home / "picked.jsonl")
    assert len(picked) == 12
    keys = "".join("f" if int(row["task_id"][1:]) % 4 == 0 else "p" for row in picked)
    code, out, shown = keys_to("label", keys, "picked.jsonl", "--show", "info.answer", cwd=home)
    assert (code, out.splitlines()[0]) == (0, "labelled 12 of 12 replies, 12 of them now")
    assert "info.answer:\n  1\n" in shown or "info.answer:" in shown
    assert "stratum" not in shown
    done = run("judge-trust", "rows.jsonl", "--labels", "picked.jsonl.labels.jsonl", "--json", cwd=home)
    envelope = json.loads(done.stdout)
    rows = wai.label(home / "rows.jsonl", home / "picked.jsonl.labels.jsonl")
    assert envelope["result"] == json.loads(wai.judge_trust(rows).to_json())
    assert (envelope["call"], envelope["result"]["n_labeled"]) == ("judge_trust", 12)
    assert run("judge-trust", "rows.jsonl", "--labels", "picked.jsonl.labels.jsonl", "--gate", cwd=home).returncode == 1


def test_compare_with_gold_and_judges_beside_each_other(home):
    rows = labels_of(home / "rows.jsonl")
    for name, flip in (("a", 0), ("b", 5)):
        write(
            home / f"{name}.jsonl",
            [{**row, "reward": row["reward"] ^ int(i < flip), "human": row["reward"]} for i, row in enumerate(rows)],
        )
    done = run("compare-judges", "first=a.jsonl", "second=b.jsonl", "--gold", "human", cwd=home)
    assert done.stdout.startswith("no judge proven best: first agrees with gold on 1.00")
    done = run("compare", "a.jsonl", "b.jsonl", "--gold", "human", cwd=home)
    assert "with the judge's errors counted: change " in done.stdout


def test_a_gate_with_gold_rests_on_the_corrected_change(home):
    rows = [{"task_id": f"t{i}", "reward": int(i % 2), "human": int(i % 2)} for i in range(100)]
    write(home / "old.jsonl", rows)
    write(home / "new.jsonl", [{**row, "human": int(row["human"] and i % 8 == 1)} for i, row in enumerate(rows)])
    write(home / "blind.jsonl", [{**row, "human": None} for row in rows])
    done = run("compare", "old.jsonl", "new.jsonl", "--max-loss", "0.1", cwd=home)
    assert done.returncode == 0  # by the judge alone nothing changed
    for gate in (["--gate"], ["--max-loss", "0.1"]):
        for arm, said in (("new", "got worse"), ("blind", "was not measured")):
            done = run("compare", "old.jsonl", f"{arm}.jsonl", "--gold", "human", *gate, cwd=home)
            assert (done.returncode, said in done.stdout) == (1, True)
    done = run(
        "compare", "old.jsonl", "new.jsonl", "--gold", "human", "--gate", "--markdown", "--junit", "j.xml", cwd=home
    )
    assert "with the judge's errors counted: change -0.37" in done.stdout
    assert '<failure type="by_gold" message="pass_at_1: with the judge&apos;s errors counted: change' in (
        home / "j.xml"
    ).read_text().replace("judge's", "judge&apos;s")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("label rows.jsonl -o rows.jsonl", "--output must be a file of its own, for labels; got 'rows.jsonl'."),
        (
            "label rows.jsonl -o notes.txt",
            "--output must be a new file, or the labels of an earlier session; 'notes.txt' line 1 is none.",
        ),
        ("label rows.jsonl --show reason", "--show must be a key that does not tell the verdict; got 'reason'."),
        ("label rows.jsonl --show inf.answer", "--show must be a key of the rows; got 'inf.answer'."),
        ("sample-for-labels rows.jsonl -n 0 -o x.jsonl", "--n must be a whole number of at least 1; got 0."),
        ("judge-trust rows.jsonl --gold gold", "--gold must be a key of the rows; got 'gold'."),
        ("judge-trust rows.jsonl --min-kappa 3", "--min-kappa must be a number in [-1, 1]; got 3.0."),
        ("compare-judges a.jsonl", "JUDGE must be NAME=FILE, rows with that judge's verdicts; got 'a.jsonl'."),
        ("compare rows.jsonl rows2.jsonl --gold gld", "--gold must be a key of the rows; got 'gld'."),
    ],
)
def test_bad_command_lines(args, message, home):
    (home / "notes.txt").write_text("my notes\n")
    write(home / "rows2.jsonl", labels_of(home / "rows.jsonl"))
    done = run(*args.split(), cwd=home)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
