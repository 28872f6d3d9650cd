"""Each recipe runs as its README says, offline, and shows what it was made to show."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import types
from pathlib import Path

import pytest

import whileai as wai
from whileai.cli import demo

ROOT = Path(__file__).resolve().parents[2]
RECIPES = {script.parent.name: script for script in ROOT.glob("recipes/*/*/run.py")}


def run(name, *arguments, code=0):
    """What a recipe prints; a socket to anywhere but this machine would be an error."""
    guard = (
        "import runpy, socket, sys\n"
        "def refuse(*a, **k): raise AssertionError('a recipe asked the network')\n"
        "socket.getaddrinfo = socket.create_connection = refuse\n"
        "sys.argv = sys.argv[1:]\n"
        "runpy.run_path(sys.argv[0], run_name='__main__')\n"
    )
    command = [sys.executable, "-c", guard, str(RECIPES[name]), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == code, done.stdout + done.stderr
    assert code or done.stderr == ""
    return done.stdout if code == 0 else done.stderr


def lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def test_every_recipe_has_a_readme_that_runs_it_and_a_line_in_the_list():
    listed = (ROOT / "docs" / "recipes" / "index.md").read_text("utf-8")
    assert set(RECIPES) == set(re.findall(r"^\| \[([\w-]+)\]\(\1\.md\)", listed, re.MULTILINE))
    for name, script in RECIPES.items():
        readme = (script.parent / "README.md").read_text("utf-8")
        assert f"$ python {script.relative_to(ROOT).as_posix()}" in readme, name
        commands = " ".join(re.findall(r"^\$ python \S+(.*)$", readme, re.MULTILINE)) + " ".join(
            re.findall(r"`(-.*?)`", readme)
        )
        for option in re.findall(r"(?<!\S)--?[a-z][a-z-]*", commands):
            assert f'"{option}"' in script.read_text("utf-8"), f"{name}: {option}"


def test_public_benchmark(tmp_path):
    questions = lines(tmp_path / "test.jsonl", demo.questions(60))
    shown = run("public-benchmark", "--questions", questions, "--data", tmp_path)
    assert shown.startswith(f"questions: {questions}\n")
    assert "== Is the new model better?" in shown


def test_pass_at_k_counts_what_ran():
    shown = run("pass-at-k", "-n", 4)
    assert re.search(r"^6 problems, 4 candidates each, run under \w+$", shown, re.MULTILINE)
    table = re.findall(r"^ +(\d+) +([\d.]+)  \[([\d.]+)\.\.([\d.]+)\] +([\d.]+)", shown, re.MULTILINE)
    assert [row[0] for row in table] == ["1", "2", "4"]
    values = [[float(cell) for cell in row] for row in table]
    assert all(low <= at <= high for _, at, low, high, _ in values)
    assert values[0][1] == values[0][4]
    assert [row[1] for row in values] == sorted(row[1] for row in values)
    assert [row[4] for row in values] == sorted((row[4] for row in values), reverse=True)
    subsets, power = re.search(r"tries is ([\d.]+)\. .* would give ([\d.]+):", shown).groups()
    assert float(power) < float(subsets)
    assert run("pass-at-k", "-n", 4) == shown


def test_pass_at_k_reads_rows(tmp_path):
    rows = lines(
        tmp_path / "rows.jsonl", [{"task_id": i, "reward": (i + j) % 3 > 0} for i in range(9) for j in range(3)]
    )
    shown = run("pass-at-k", rows)
    assert wai.pass_at(rows).summary in shown
    assert "problems," not in shown
    assert "no file" in run("pass-at-k", tmp_path / "none.jsonl", code=1)


def test_compare_two_lm_eval_runs_sees_what_the_scores_hide():
    shown = run("compare-two-lm-eval-runs")
    assert shown.count("400 rows (400 tasks x 1) from 1 lm-eval log | 400 scored") == 2
    assert float(re.search(r"([\d.]+) standard errors of a difference", shown)[1]) < 1.96
    assert re.search(r"^improved: pass@1 .* p=0\.00", shown, re.MULTILINE)
    assert re.search(r"^  time +99 .* regressed$", shown, re.MULTILINE)


def test_compare_two_lm_eval_runs_reads_logs_and_says_what_is_wrong(tmp_path):
    rows = [{"task_id": i, "prompt": f"q {i}", "final_text": "x", "reward": i % 2} for i in range(30)]
    before, after = lines(tmp_path / "a.jsonl", rows), lines(tmp_path / "b.jsonl", [{**r, "reward": 1} for r in rows])
    shown = run("compare-two-lm-eval-runs", before, after, "--run-std", "0.02", "--must-not-regress", "reward")
    assert wai.compare(before, after, run_std=0.02, must_not_regress=["reward"]).summary in shown
    assert "give two logs" in run("compare-two-lm-eval-runs", before, code=2)
    assert "Did you mean" in run("compare-two-lm-eval-runs", "--filter", "flexible-extrct", code=1)


def test_rl_selection_to_trl(tmp_path):
    shown = run("rl-selection-to-trl", "--output", tmp_path / "train")
    assert "dropped 24 of 960 rows: 3 of 120 prompts" in shown
    kept = int(re.search(r"^kept (\d+) of 936 rows", shown, re.MULTILINE)[1])
    files = {name: wai.read(tmp_path / "train" / f"{name}.jsonl") for name in ("grpo", "sft", "dpo")}
    assert len(files["grpo"]) * 8 == kept
    assert {"prompt", "reference", "task_id"} == set(files["grpo"][0])
    for name in ("sft", "dpo"):
        assert "reference" not in files[name][0]
        assert "privileged" not in json.dumps(files[name])
    assert f"{len(files['grpo'])} of {len(files['grpo'])} right replies earn 1, 0 of" in shown


def test_the_readmes_trainer_takes_the_files(tmp_path, monkeypatch):
    """TRL is not installed here: a stand-in checks what its trainer is given, as the trainer would use it."""
    run("rl-selection-to-trl", "--output", tmp_path / "train")
    seen = {}

    class Trainer:
        def __init__(self, *, model, reward_funcs, args, train_dataset):
            batch = train_dataset[:4]
            prompts, columns = batch.pop("prompt"), batch
            replies = [[{"role": "assistant", "content": f"The answer is {gold}."}] for gold in columns["reference"]]
            seen["rewards"] = reward_funcs(prompts=prompts, completions=replies, **columns)
            seen["args"] = args

    trl = types.ModuleType("trl")
    trl.GRPOConfig, trl.GRPOTrainer = lambda **options: options, Trainer
    monkeypatch.setitem(sys.modules, "trl", trl)
    pytest.importorskip("datasets", reason="the extra hub is not installed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    readme = (RECIPES["rl-selection-to-trl"].parent / "README.md").read_text("utf-8")
    source = compile(RECIPES["rl-selection-to-trl"].read_text("utf-8"), "run.py", "exec")
    names = {"__name__": "recipe"}
    exec(source, names)
    exec(re.search(r"```py\n(.*?)```", readme, re.DOTALL)[1], names)
    assert seen["rewards"] == [1, 1, 1, 1]
    assert seen["args"]["num_generations"] == 8


def test_judge_check_finds_the_bias_and_the_truth():
    shown = run("judge-check", "--labels", 200)
    biased, fair = shown.split("== Can a judge that does not be trusted?")
    assert re.search(r"^  length +\+0\.\d+ +<?0\.0", biased, re.MULTILINE)
    assert not re.search(r"^  length +\+0\.\d+ +<?0\.0", fair, re.MULTILINE)
    truth = float(re.search(r"the truth is ([\d.]+)", shown)[1])
    rates = re.findall(r"^  ([\d.]+) +([\d.]+) \[([\d.]+)\.\.([\d.]+)\] +a judge", shown, re.MULTILINE)
    assert len(rates) == 2
    said, corrected, low, high = map(float, rates[0])
    assert said > high  # what the lenient judge says is not even in the interval of the corrected rate
    assert low <= truth <= high
    assert abs(corrected - truth) < abs(said - truth)
    assert run("judge-check", "--labels", 0).count("not measured: ") == 2


def test_judge_check_reads_rows(tmp_path):
    rows = [{"task_id": i, "final_text": "x", "reward": i % 2, "human": (i + (i == 4)) % 2} for i in range(40)]
    data = lines(tmp_path / "rows.jsonl", rows)
    assert run("judge-check", data, "--gold", "human") == f"{wai.judge_trust(rows, gold='human')}\n"


def test_contamination_finds_all_that_was_planted():
    shown = run("contamination")
    found = dict(
        re.findall(
            r"^  (as it is|in capitals|in a longer text|in other words|not planted) +(\d+) of", shown, re.MULTILINE
        )
    )
    others = int(found.pop("not planted"))
    assert found == dict.fromkeys(found, "10")
    assert len(found) == 4
    assert others < 20
    rates = {name: float(rate) for name, rate in re.findall(r"^  (\w[\w ]+?) +pass@1 ([\d.]+)", shown, re.MULTILINE)}
    assert rates["found in training"] > rates["all questions"] > rates["not found"]
    assert abs(rates["not found"] - rates["without the leak"]) < 0.1


def test_contamination_reads_files(tmp_path):
    text = "A heron stands in the shallow water for three hours and eats eleven small fish before noon."
    train = lines(tmp_path / "train.jsonl", [{"prompt": text.upper()}, {"prompt": "Name a colour of the sky at dusk."}])
    against = lines(tmp_path / "eval.jsonl", [{"prompt": text}])
    assert run("contamination", train, against).startswith("dropped 1 of 2 rows")
    assert "give two files" in run("contamination", train, code=2)
