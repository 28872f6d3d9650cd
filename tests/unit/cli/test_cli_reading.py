"""``--map``, ``--from`` and ``--filter``: files of other shapes, on any command."""

import json

import pytest

import whileai as wai
from cli_helpers import run

LINES = [{"idx": i, "question": f"q{i}?", "response": ["a", "b"], "score": [True, i > 1]} for i in range(4)]
MAP = ["--map", "task_id=idx", "--map", "prompt=question", "--map", "final_text=response", "--map", "reward=score"]
FIELDS = {"task_id": "idx", "prompt": "question", "final_text": "response", "reward": "score"}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in LINES), encoding="utf-8")
    return tmp_path


def test_a_map_of_columns(folder):
    expected = wai.pass_at(wai.read(folder / "a.jsonl", fields=FIELDS))
    done = run("pass-at", "a.jsonl", *MAP, cwd=folder)
    assert (done.returncode, done.stdout) == (0, f"{expected}\n")
    done = run("pass-at", "a.jsonl", *MAP, "--json", cwd=folder)
    assert [entry["rows"] for entry in json.loads(done.stdout)["inputs"]] == [8]


def test_a_map_of_columns_on_commands_that_write_rows(folder):
    done = run("select", "a.jsonl", "--mode", "rl", *MAP, "-o", "kept.jsonl", cwd=folder)
    assert done.returncode == 0
    assert len(wai.read(folder / "kept.jsonl")) == 4


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--map", "reward"], "--map must be OURS=THEIRS, as reward=score; got 'reward'."),
        (["--map", "reward=scor"], "got 'scor'. Did you mean score?"),
        (["--map", "rewrd=score"], "got 'rewrd'. Did you mean reward?"),
        (["--from", "inspct"], "got 'inspct'. Did you mean inspect?"),
        (["--filter", "strict-match"], "filter"),
    ],
)
def test_what_is_misspelt(folder, args, said):
    done = run("pass-at", "a.jsonl", *args, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_the_files_of_a_folder_are_those_that_hold_something(folder):
    (folder / "deep").mkdir()
    (folder / "deep" / "settings.json").write_text('{"temperature": 1}')
    (folder / "deep" / "run").mkdir()
    for name in ("a.jsonl", "b.jsonl"):
        (folder / "deep" / "run" / name).write_text('{"task_id": 1, "reward": 1}\n')
    done = run("pass-at", "deep", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    inputs = json.loads(done.stdout)["inputs"]
    assert [(entry["path"], entry["rows"]) for entry in inputs] == [("deep/run/a.jsonl", 1), ("deep/run/b.jsonl", 1)]
