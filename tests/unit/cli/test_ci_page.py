"""The page on continuous integration: its workflow can be read, its commands are there, its failure is the plugin's."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from cli_helpers import clean_env, run
from whileai.cli import options

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "ci.md").read_text("utf-8")
PYTEST = (DOCS / "pytest.md").read_text("utf-8")


@pytest.fixture(scope="module")
def space():
    """The names of the page's first block: a folder with two evals."""
    namespace = {}
    exec(re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)[1], namespace)
    return namespace


@pytest.fixture(scope="module")
def steps():
    yaml = pytest.importorskip("yaml", reason="yaml reads the workflow")
    workflow = yaml.safe_load(re.search(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[1])
    assert workflow[True] == "pull_request"  # YAML 1.1 reads the key `on` as a truth
    (job,) = workflow["jobs"].values()
    return {step.get("name", step.get("uses", step.get("run"))): step for step in job["steps"]}


def test_the_workflow_s_gate_runs(steps, space, tmp_path):
    words = shlex.split(steps["compare"]["run"])
    assert words[0] == "wai"
    for name in ("main.jsonl", "pr.jsonl"):
        (tmp_path / name).write_bytes((space["folder"] / name).read_bytes())
    done = run(*words[1:], cwd=tmp_path, env={"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": "summary.md"})
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("::error title=wai compare::regressed: ")
    kept = steps["keep the page"]["with"]["path"].split()
    assert {path.name for path in tmp_path.iterdir()} == {"main.jsonl", "pr.jsonl", "comment.md", "summary.md", *kept}
    marker = re.search(r'startswith\("(.*?)"\)', steps["comment"]["run"])[1]
    assert (tmp_path / "comment.md").read_text("utf-8").startswith(f"{marker}\n")


def test_the_workflow_s_shell_can_be_read(steps):
    for step in steps.values():
        script = step.get("run", "")
        subprocess.run(["bash", "-n"], input=script, text=True, check=True)


def test_every_step_that_must_run_after_a_failed_gate_does(steps):
    names = list(steps)
    for name in names[names.index("compare") + 1 :]:
        assert steps[name]["if"].startswith("always()")


def test_the_page_names_every_flag_of_the_gate():
    flags = set(re.findall(r"`(--[a-z-]+)", PAGE))
    parser = options.parser_of("compare")
    assert flags <= set(parser.flags)
    assert {"--gate", "--max-loss", "--markdown", "--junit", "--report", "--name"} <= flags


def test_the_plugin_s_page_names_its_options_and_no_other():
    flags = set(re.findall(r"(?<!\[)`(?:wai compare )?(--wai-[a-z-]+)", PYTEST))
    assert flags == {"--wai-update-baseline", "--wai-baseline", "--wai-report"}


def test_the_failure_on_the_page_is_the_plugin_s(tmp_path):
    code = "\n\n".join(re.findall(r"```python\n(.*?)```", PYTEST, re.DOTALL))
    assert "evaluate(0.45)" in code
    (tmp_path / "test_agent.py").write_text(code.replace("evaluate(0.45)", "evaluate(0.65)"))
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:whileai",
        "-p",
        "whileai.pytest_plugin",
    ]
    settings = {"cwd": tmp_path, "env": clean_env(), "capture_output": True, "text": True, "check": False}
    subprocess.run([*command, "--wai-update-baseline"], **settings)
    (tmp_path / "test_agent.py").write_text(code)
    done = subprocess.run(command, **settings)
    assert done.returncode == 1, done.stdout
    shown = re.search(r"```\n(E .*?)\n```", PYTEST, re.DOTALL)[1]
    assert shown in done.stdout, done.stdout
