"""What the page of the command line shows beside its commands: a file of `wai simulate` that can be run."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

PAGE = (Path(__file__).parents[3] / "docs" / "cli.md").read_text("utf-8")
SHOP = """
import whileai as wai

@wai.tool
def get_order(order_id: str) -> dict:
    "Look an order up."

@wai.tool
def cancel_order(order_id: str) -> dict:
    "Cancel an order."

TOOLS = [cancel_order]

def agent(message, ctx):
    return str(ctx.call("get_order", order_id="ORD-1000"))

def judge(row):
    return len(row["final_text"]) % 2 == 0
"""


def test_the_file_of_a_simulation_on_the_page_runs(tmp_path):
    (tmp_path / "shop.py").write_text(SHOP)
    (tmp_path / "shop.toml").write_text(re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL)[1])
    command = [sys.executable, "-m", "whileai", "simulate", "shop.toml", "-o", "rows.jsonl", "--budget", "32"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert len(rows) == 32
    assert all(row["reward"] in (0, 1) for row in rows)
