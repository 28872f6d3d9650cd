"""Simulation: rows a second of scripted agents, with and without tools, judge and output; and how long a plan takes."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import whileai as wai
from timing import best, save
from whileai.engine.plan import Plan

ROWS = 5_000
PLANNED = 10_000


@wai.tool
def get_order(order_id: str) -> dict[str, Any]:  # noqa: ARG001 - the world answers in place of the body
    """Look an order up."""
    return {}


@wai.tool
def cancel_order(order_id: str, reason: str = "") -> dict[str, Any]:  # noqa: ARG001 - the same
    """Cancel an order."""
    return {}


TOOLS = [get_order, cancel_order]
PROMPT = "You are the agent of a shop. Always confirm before you cancel. Never promise a refund."


def silent(_: str) -> str:
    return "It is on its way."


def calling(_: str, ctx: Any) -> str:
    return f"It is {ctx.call('get_order', order_id='ORD-1000')}."


async def awaiting(_: str, ctx: Any) -> str:
    return f"It is {await ctx.call('get_order', order_id='ORD-1000')}."


def judge(row: dict[str, Any]) -> bool:
    return "ok" in row["final_text"]


def simulated(agent: Any, **options: Any) -> None:
    data = wai.simulate(agent, tools=TOOLS, system_prompt=PROMPT, situations=ROWS // 4, repeats=4, **options)
    assert len(data) == ROWS, len(data)


def main() -> None:
    """Each kind of run at 5,000 rows."""
    with tempfile.TemporaryDirectory() as folder:
        fresh = (Path(folder) / f"rows{n}.jsonl" for n in range(100))
        loads = [
            ("a function of the message", lambda: simulated(silent)),
            ("one tool call", lambda: simulated(calling)),
            ("one tool call, async", lambda: simulated(awaiting)),
            ("seeded_agent", lambda: simulated(wai.seeded_agent(TOOLS))),
            ("one tool call, written to a file", lambda: simulated(calling, output=next(fresh))),
            ("one tool call, judged as it lands", lambda: simulated(calling, judge=judge)),
            ("one tool call, one at a time", lambda: simulated(calling, concurrency=1)),
        ]
        entries: list[dict[str, Any]] = []
        for name, work in loads:
            seconds = best(work, 2)
            entries.append(
                {"agent": name, "rows": ROWS, "seconds": round(seconds, 2), "rows a second": round(ROWS / seconds)}
            )
    start = time.perf_counter()
    Plan(TOOLS, PROMPT).take(PLANNED)
    planned = time.perf_counter() - start
    entries.append({"agent": f"a plan of {PLANNED:,} situations alone", "rows": PLANNED, "seconds": round(planned, 2)})
    save("simulate", entries)


if __name__ == "__main__":
    main()
