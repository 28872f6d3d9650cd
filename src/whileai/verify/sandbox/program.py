"""A candidate that is a program: it reads an input, and what it prints is compared. Runs inside the sandbox."""

from __future__ import annotations

import os
import time

from whileai.verify.sandbox.child import Child, Watch, died, end_all, is_spent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def verdict(status: str, reward: int | None, reason: str | None, **meta: Any) -> dict[str, Any]:
    """The report to the caller."""
    return {"status": status, "reward": reward, "reason": reason, **meta}


def judge_program(job: dict[str, Any], read_secret: Any) -> dict[str, Any]:
    """The verdict of one program on its cases: the expected outputs are read after the last one has run."""
    ends = time.monotonic() + job["wall"]
    outputs: list[bytes] = []
    early: tuple[str, int | None, str] | None = None
    meta: dict[str, Any] = {"n_tests": len(job["inputs"]), "n_passed": 0, "cpu": 0.0, "on": None, "tail": ""}
    for place, text in enumerate(job["inputs"]):
        left = dict(job["cage"])
        left["cpu"] = max(0.1, left["cpu"] - meta["cpu"])
        child = Child({**job, "cage": left}, stdin=text.encode("utf-8", "surrogatepass"))
        watch = Watch(child, ends)
        try:
            watch.run()
        finally:
            end_all(child)
        meta["on"] = meta["on"] or watch.caged
        meta["cpu"] += child.usage
        meta["tail"] = bytes(child.tail).decode("utf-8", "replace")
        child.close()
        if watch.stopped == "uncaged" or watch.caged is None:
            return verdict(
                "error", None, f"the sandbox could not be set up: {watch.fault or 'its process ended'}", **meta
            )
        if watch.stopped != "ended" or child.status != 0:
            meta["spent"] = is_spent(child, watch.stopped)
            status, reward, reason = died(child, left, watch.stopped)
            if watch.stopped == "ended" and child.status is not None and os.WIFEXITED(child.status):
                reason = f"the program exited with code {os.WEXITSTATUS(child.status)}"
            early = (status, reward, f"case {place + 1}: {reason}")
            break
        outputs.append(bytes(child.output or b""))
    expected = read_secret()
    right = [
        same_output(found.decode("utf-8", "replace"), wanted) for found, wanted in zip(outputs, expected, strict=False)
    ]
    meta["n_passed"] = sum(right)
    if False in right:
        return verdict("ok", 0, f"case {right.index(False) + 1} gave another output", **meta)
    if early is not None:
        return verdict(*early, **meta)
    return verdict("ok", 1, None, **meta)


def same_output(found: str, wanted: str) -> bool:
    """Whether two outputs have the same words, numbers within an absolute or relative 1e-6."""
    one, two = found.split(), wanted.split()
    return len(one) == len(two) and all(a == b or _near(a, b) for a, b in zip(one, two, strict=True))


def _near(one: str, two: str) -> bool:
    if not {*one, *two} <= set("+-.0123456789eE") or ("." not in one + two and "e" not in (one + two).lower()):
        return False
    try:
        a, b = float(one), float(two)
    except ValueError:
        return False
    return abs(a - b) <= 1e-6 * max(1.0, abs(b))
