"""What a reader passes over is a note of whatever call read the data: once, from Python and on the command line."""

import json

import pytest

import whileai as wai
from cli_helpers import run
from whileai.verify import ExactMatch

ROWS = [
    {
        "task_id": f"q{task}",
        "prompt": f"What do you get when you add {task} to {task * 7 + 1}?",
        "final_text": f"{turn} and {'so on ' * (task % 3)}",
        "reward": int(turn > task % 3),
        "gold_reward": int(turn > 1),
        "rollout_index": turn,
        "answer": "3 and",
        "logprob": -4.0,
        "n_tokens": 4,
        "topic": "ab"[task % 2],
    }
    for task in range(12)
    for turn in range(4)
]
EMPTY = {"task_id": "q0", "prompt": "What?", "final_text": [], "reward": []}
EVAL = ["An entirely different question, with no number in it?"]
LABELS = [row["gold_reward"] for row in ROWS]


def torn(folder):
    """A file whose last line was cut off while it was written."""
    lines = "".join(json.dumps(row) + "\n" for row in ROWS)
    (folder / "rows.jsonl").write_text(lines + '{"task_id": "q1", "rew', encoding="utf-8")
    return folder / "rows.jsonl", "the reader skipped 1 torn last line."


def empty(folder):
    """Rows of which one has a list without any completion, in memory and in a file."""
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in [*ROWS, EMPTY]), encoding="utf-8")
    return [*ROWS, EMPTY], "the reader skipped 1 row with an empty list of completions."


def stray(folder):
    """A folder in which a file lies that is neither rows nor a log."""
    (folder / "run").mkdir()
    (folder / "run" / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    (folder / "run" / "settings.json").write_text('{"temperature": 1}', encoding="utf-8")
    return folder / "run", "the reader skipped 1 file that is neither rows nor a log."


DAMAGES = [torn, empty, stray]


@pytest.fixture(params=DAMAGES, ids=lambda damage: damage.__name__)
def damaged(request, tmp_path):
    return request.param(tmp_path)


#: What each call says of data that it reads, in the argument that is named first.
CALLS = {
    "pass_at": lambda data, _: wai.pass_at(data),
    "pass_at cluster": lambda data, _: wai.pass_at(data, cluster="topic"),
    "compare": lambda data, _: wai.compare(data, data),
    "compare by": lambda data, _: wai.compare(data, data, by="topic"),
    "compare cluster": lambda data, _: wai.compare(data, data, cluster="topic"),
    "compare gold": lambda data, _: wai.compare(data, data, gold="gold_reward"),
    "eval_variance": lambda data, _: wai.eval_variance(data, data, data),
    "holdout_size": lambda data, _: wai.holdout_size(0.1, before=data),
    "holdout_size pair": lambda data, _: wai.holdout_size(0.1, before=data, after=data),
    "select rl": lambda data, _: wai.select(data, mode="rl").report,
    "select sft": lambda data, _: wai.select(data, mode="sft").report,
    "grade": lambda data, _: wai.grade(data, ExactMatch()),
    "decontaminate": lambda data, _: wai.decontaminate(data, data).report,
    "calibrate": lambda data, _: wai.calibrate(data).report,
    "calibrate ref": lambda data, _: wai.calibrate(data, ref=data).report,
    "publish_gate": lambda data, _: wai.publish_gate(data, mode="rl"),
    "preference_pairs": lambda data, _: wai.preference_pairs(data).report,
    "write": lambda data, folder: wai.write(data, folder / "out.jsonl"),
    "hack_scan": lambda data, _: wai.hack_scan(data),
    "judge_trust": lambda data, _: wai.judge_trust(data),
    "label": lambda data, _: wai.label(data, LABELS).report,
    "sample_for_labels": lambda data, _: wai.sample_for_labels(data, 4).report,
    "compare_judges": lambda data, _: wai.compare_judges({"a": data, "b": data}),
    "report": lambda data, folder: wai.report(data, folder / "page.html"),
    "report of two": lambda data, folder: wai.report(None, folder / "page.html", before=data, after=data),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_call_says_what_was_passed_over(call, damaged, tmp_path):
    data, said = damaged
    result = CALLS[call](data, tmp_path)
    found = [note.text.removeprefix("rows: ") for note in result.notes if note.code == "log_skipped"]
    assert found == [said]
    if call != "grade":  # the rows, and no report
        assert str(result).count("log_skipped") == 1


@pytest.mark.parametrize("call", CALLS)
def test_rows_with_nothing_odd_say_nothing(call, tmp_path):
    assert not [note for note in CALLS[call](ROWS, tmp_path).notes if note.code == "log_skipped"]


@pytest.mark.parametrize("damage", [torn, stray], ids=lambda damage: damage.__name__)
def test_traces_of_files(damage, tmp_path):
    data, said = damage(tmp_path)
    assert [note.text for note in wai.load_traces(data).report.notes] == [said]


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda data: wai.decontaminate(ROWS, data).report, "against"),
        (lambda data: wai.decontaminate(data, EVAL).report, "rows"),
        (lambda data: wai.calibrate(ROWS, ref=data).report, "ref"),
        (lambda data: wai.publish_gate(ROWS, holdout=data), "holdout"),
        (lambda data: wai.label(ROWS, _labels(data)).report, "labels"),
        (lambda data: wai.compare_judges({"a": ROWS, "b": data}, ROWS), "judges['b']"),
        (lambda data: wai.compare_judges({"a": ROWS}, data), "rows"),
        (lambda data: wai.compare(ROWS, data, by="topic"), "after"),
        (lambda data: wai.holdout_size(0.1, before=ROWS, after=data), "after"),
    ],
)
def test_of_several_data_the_one_is_named(call, name, tmp_path):
    data, said = torn(tmp_path)
    found = [note.text for note in call(data).notes if note.code == "log_skipped"]
    assert found == [f"{name}: {said}"]


def _labels(file):
    """A file of labels in the place of the rows, torn as that is."""
    lines = [json.dumps({"index": place, "label": value}) + "\n" for place, value in enumerate(LABELS)]
    file.write_text("".join(lines) + '{"index": 1, "la', encoding="utf-8")
    return file


#: The commands that read rows, with the rows in place of ``{}``.
COMMANDS = (
    "pass-at {}", "pass-at {} --cluster topic", "compare {} {copy}", "compare {} {copy} --by topic",
    "compare {} {copy} --report page.html --gold gold_reward", "variance {} {copy} {third}",
    "holdout-size 0.1 --before {}", "select {} --mode rl", "decontaminate {} --against {copy}",
    "grade {} --verifier exact --reference answer -o out.jsonl", "convert {} -o out.jsonl --format rows",
    "validate {}", "judge-trust {}", "sample-for-labels {} -n 4 -o out.jsonl", "label {}",
    "compare-judges a={} b={copy}", "report {} -o page.html", "report {} {copy} -o page.html --by topic",
)  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_command_says_it_too(damage, tmp_path, capsys, monkeypatch):
    """Once in all that is printed, and once among the notes of the envelope."""
    from whileai.cli.main import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("whileai.cli.label_screen.run", lambda store, show: 0)  # asks nobody
    data, said = damage(tmp_path)
    names = {"": data if damage is stray else tmp_path / "rows.jsonl"}
    for name in ("copy", "third"):
        (tmp_path / name).mkdir()
        source = damage(tmp_path / name)[0]
        names[name] = source if damage is stray else tmp_path / name / "rows.jsonl"
    told = {}
    for command in COMMANDS:
        words = [word.format(names[""], **names) for word in command.split()]
        main(words)
        plain = " ".join("".join(capsys.readouterr()).split())
        main([*words, "--json"])
        found = capsys.readouterr()
        assert found.out, f"{command}: {found.err}"
        notes = [note["text"] for note in json.loads(found.out)["notes"]]
        told[command] = plain.count(said), notes.count(said)
    assert told == dict.fromkeys(COMMANDS, (1, 1))


def test_a_process_says_it_on_stdout(tmp_path):
    _, said = torn(tmp_path)
    done = run("select", "rows.jsonl", "--mode", "rl", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith(f"  note log_skipped: {said}\n") or done.stdout.count(said) == 1
