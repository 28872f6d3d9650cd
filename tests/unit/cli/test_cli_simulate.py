"""`wai simulate`: a run from a TOML file, resumed on its output, with errors that name the file's keys."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import textwrap
import time

import pytest

import whileai as wai

MODULE = """
import time
import whileai as wai

@wai.tool
def get_order(order_id: str) -> dict:
    "Look an order up."

TOOLS = [get_order]

def agent(message, ctx):
    ctx.call("get_order", order_id="ORD-1000")
    return f"It is number {ctx.seed % 10}."

def slow(message, ctx):
    time.sleep(0.3)
    return agent(message, ctx)

class Box:
    @staticmethod
    def raises(message):
        raise ValueError("no")

def even(row):
    return int(row["final_text"][-2]) % 2 == 0

def bent(payload, draws):
    return {"odd": True}
"""
SPEC = """
agent = "SHOP:agent"
tools = "SHOP:TOOLS"
system_prompt = "Be kind."
situations = 8
judge = "SHOP:even"
"""


@pytest.fixture
def shop(tmp_path, request):
    """A folder with a module of the test's own, as modules are imported once."""
    name = f"shop_{abs(hash(request.node.nodeid)) % 10**9}"
    (tmp_path / f"{name}.py").write_text(textwrap.dedent(MODULE))

    def spec(text=SPEC, **more):
        lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in more.items())
        path = tmp_path / "spec.toml"
        path.write_text(lines + text.replace("SHOP", name))
        return path

    return spec


def wai_(*arguments, cwd):
    return subprocess.run(
        [sys.executable, "-m", "whileai", "simulate", *map(str, arguments)],
        capture_output=True, text=True, cwd=cwd, timeout=60,
    )  # fmt: skip


def test_rows_go_to_the_file_and_the_report_to_stdout(shop, tmp_path):
    done = wai_(shop(), "-o", "rows.jsonl", "--repeats", "2", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("16 rows in 8 situations (explore, agent agent): done\n")
    rows = list(wai.read(tmp_path / "rows.jsonl"))
    assert (len(rows), {row["judge_name"] for row in rows}) == (16, {"even"})
    again = wai_(shop(), "-o", "rows.jsonl", "--repeats", "3", cwd=tmp_path)
    assert "note resumed: 16 rollouts of 24 were there before." in again.stdout


def test_json_is_one_envelope(shop, tmp_path):
    done = wai_(shop(output="rows.jsonl"), "--json", "--budget", "5", cwd=tmp_path.parent)
    told = json.loads(done.stdout)
    assert (told["call"], told["ok"], told["result"]["n_rows"], told["result"]["stopped_because"]) == (
        "simulate",
        True,
        5,
        "budget",
    )
    assert len(list(wai.read(tmp_path / "rows.jsonl"))) == 5  # beside the file that names it


TABLES = """
[world]
fault_rate = 1.0
fault_kinds = {odd = "SHOP:bent", stale = false}
[run]
concurrency = 2
[users]
patience = 1
[axes]
stance = ["plain"]
"""


def test_tables_are_the_objects_of_the_call(shop, tmp_path):
    wai_(shop(SPEC + TABLES), "-o", "rows.jsonl", "--mode", "sft", cwd=tmp_path)
    rows = list(wai.read(tmp_path / "rows.jsonl"))
    assert {row["axes"]["condition"] for row in rows} == {"odd", "stale"}
    assert {row["axes"]["stance"] for row in rows} == {"plain"}
    assert {row["allocation"]["k"] for row in rows} == {4}


def test_endpoints_and_rubrics_are_tables(shop, tmp_path):
    from chat_server import ChatServer

    with ChatServer() as server:
        text = f"""
        situations = 3
        judge = {{rubric = "It answers.", model = {{model = "pass", base_url = "{server.url}"}}}}
        [agent]
        model = "ok"
        base_url = "{server.url}"
        price = [1.0, 2.0]
        """
        done = wai_(shop(textwrap.dedent(text)), "-o", "rows.jsonl", "--json", cwd=tmp_path)
    told = json.loads(done.stdout)["result"]
    assert (told["n_judged"], told["n_passed"], told["usage"]["agent"]["requests"]) == (3, 3, 3)
    assert told["usage"]["agent"]["cost"] > 0


@pytest.mark.parametrize(
    ("spec", "arguments", "message"),
    [
        ({"situation": 4}, (), "a key of the file must be a known one; got 'situation'. Did you mean situations?"),
        ({"fault_rat": 0.5}, (), "got 'fault_rat'. Did you mean fault_rate?"),
        ({"budget": 0}, (), "error: spec.toml: budget must be a whole number of at least 1; got 0."),
        ({"budget": 0}, ("--seed", "1"), "error: spec.toml: budget must be"),
        ({"fault_rate": 7}, (), "error: spec.toml: fault_rate must be a number in [0, 1]; got 7"),
        ({"timeout": -1}, (), "timeout must be a number of seconds above 0; got -1"),
        ({}, ("--situations", "0"), "--situations must be a whole number of at least 1; got 0"),
        ({}, ("--mode", "explor"), "--mode must be one of 'explore', 'sft', 'rl'; got 'explor'. Did you mean explore?"),
        ({"execute": "SHOP:nobody"}, (), "execute must be a name in"),
        ({"execute": "no_such_module:f"}, (), "execute must be in a module that is there; got 'no_such_module:f'"),
        ({"execute": "f"}, (), "execute must be \"module:name\"; got 'f'"),
        ({"simulator": "m"}, (), "simulator must be a table with model=, and base_url= for a server"),
        ({"seeds": "nothing.jsonl"}, (), "error: spec.toml: no file is named 'nothing.jsonl'"),
        ({"traces": 3}, (), "error: spec.toml: traces must be rows"),
    ],
)
def test_an_error_is_one_sentence_and_exit_2(spec, arguments, message, shop, tmp_path):
    path = shop(**spec)
    path.write_text(path.read_text().replace("SHOP", next(tmp_path.glob("shop_*.py")).stem))
    done = wai_(path.name, "-o", "rows.jsonl", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert message in done.stderr
    assert not (tmp_path / "rows.jsonl").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('judge = "SHOP:even"', "[world]\nfault_rat = 1"), "a key of [world] must be a known one; got 'fault_rat'."),
        (
            ('judge = "SHOP:even"', "[world]\nfault_rate = 7"),
            "spec.toml: world.fault_rate must be a number in [0, 1]; got 7",
        ),
        (('judge = "SHOP:even"', "[run]\nconcurrency = 0"), "spec.toml: run.concurrency must be a whole number"),
        (('"SHOP:agent"', '{model = "m", base_url = "m"}'), "spec.toml: agent.base_url must be an http://"),
        (('"SHOP:even"', '{rubric = "r", model = "m", votes = 2}'), "spec.toml: judge.votes must be an odd number"),
        (('agent = "SHOP:agent"', ""), 'spec.toml: agent must be "module:name" or a table with model='),
        (("SHOP:even", "math-equa"), "Did you mean math-equal?"),
        (("SHOP:even", "regex"), "judge must be a verifier"),
        (("situations = 8", "situations = "), "SPEC must be a TOML file"),
    ],
)
def test_what_cannot_be_read_is_told(change, message, shop, tmp_path):
    done = wai_(shop(SPEC.replace(*change)), "-o", "rows.jsonl", cwd=tmp_path)
    assert (done.returncode, message in done.stderr) == (2, True), done.stderr


def test_a_module_that_cannot_be_imported_is_told(shop, tmp_path):
    (tmp_path / "broken.py").write_text("import nowhere_at_all\n")
    (tmp_path / "odd.py").write_text("1 / 0\n")
    for module, message in (("broken", "broken needs nowhere_at_all"), ("odd", "odd raised ZeroDivisionError")):
        done = wai_(shop(SPEC.replace("SHOP:agent", f"{module}:agent")), "-o", "rows.jsonl", cwd=tmp_path)
        assert (done.returncode, message in done.stderr) == (2, True), done.stderr


def test_no_output_and_no_file_are_errors(shop, tmp_path):
    assert "--output must be given" in wai_(shop(), cwd=tmp_path).stderr
    assert "SPEC must be a file that can be read" in wai_("nothing.toml", "-o", "r.jsonl", cwd=tmp_path).stderr


def test_an_agent_that_cannot_be_run_is_exit_2(shop, tmp_path):
    text = SPEC.replace("SHOP:agent", "SHOP:Box.raises").replace('judge = "SHOP:even"', "").replace("8", "40")
    done = wai_(shop(text), "-o", "rows.jsonl", cwd=tmp_path)
    assert done.returncode == 2
    assert "note agent_failed: " in done.stdout


def test_an_interrupt_keeps_the_rows_and_is_exit_130(shop, tmp_path):
    path = shop(SPEC.replace("SHOP:agent", "SHOP:slow").replace("8", "200"))
    process = subprocess.Popen(
        [sys.executable, "-m", "whileai", "simulate", str(path), "-o", "rows.jsonl"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    output = tmp_path / "rows.jsonl"
    end = time.monotonic() + 30
    while (not output.exists() or output.read_bytes().count(b"\n") < 3) and time.monotonic() < end:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    told, errors = process.communicate(timeout=20)
    assert process.returncode == 130, errors
    assert "interrupted" in told
    assert output.read_bytes().count(b"\n") >= 3
