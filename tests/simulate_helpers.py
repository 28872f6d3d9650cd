"""Agents, tools and judges of one shop, for the tests of whole simulations; and a script of them to be killed."""

from __future__ import annotations

import random
import threading
import time

import whileai as wai
from whileai import keys


@wai.tool
def get_order(order_id: str) -> dict:
    """Look an order up."""


@wai.tool
def cancel_order(order_id: str, reason: str = "") -> dict:
    """Cancel an order."""


TOOLS = [get_order, cancel_order]
SYSTEM_PROMPT = "You are the agent of a shop. Always confirm before you cancel. Never promise a refund."


def agent(message, ctx):
    """Looks the order up, and says a thing that depends on its draws alone."""
    answer = ctx.call("get_order", order_id="ORD-1000")
    status = answer.get("status") if isinstance(answer, dict) else "broken"
    draws = random.Random(ctx.seed)
    if draws.random() < 0.3 and len(ctx.messages) < 4:
        return "What is the order number?"
    return f"It is {status}, number {draws.randrange(1000)}."


class Sleeper:
    """The same at a pace of its own, so that rollouts end in any order."""

    __name__ = "agent"

    def __init__(self, most=0.01):
        self.most = most
        self.draws = random.Random(1)
        self.lock = threading.Lock()

    def __call__(self, message, ctx):
        with self.lock:
            pause = self.draws.random() * self.most
        time.sleep(pause)
        return agent(message, ctx)


def even(row):
    """Passes a reply that ends in an even number; of a constant share, the same of equal rows."""
    text = row["final_text"].rstrip(".")
    return text[-1:].isdigit() and int(text[-1]) % 2 == 0


def simulated(agent=agent, **options):
    """A small run."""
    options = {"tools": TOOLS, "system_prompt": SYSTEM_PROMPT, "situations": 8, "repeats": 2, **options}
    return wai.simulate(agent, **options)


def bare(rows):
    """Rows without what may differ from run to run."""
    return [{name: value for name, value in row.items() if name != "timing"} for row in rows]


def turns_of(row):
    """The texts of a row's messages."""
    return [keys.text_of(turn.get("content")) for turn in row["messages"]]


#: Runs one simulation: its output, the policy, and the seconds an agent takes at most.
SCRIPT = """
import sys
sys.path.insert(0, {tests!r})
import whileai as wai
from simulate_helpers import *
output, policy, pause = sys.argv[1], sys.argv[2], float(sys.argv[3])
adaptive = {{"mode": "rl", "judge": even, "budget": 90, "situations": 16, "repeats": 8}}
options = adaptive if policy == "adaptive" else {{"situations": 40}}
data = simulated(Sleeper(pause), output=output, repeat_policy=policy, **options)
print(data.stopped_because, len(data), flush=True)
"""
