"""The process between the caller and the candidate: it judges, with the tests and expected values that it alone holds.

It forks the candidate's process before it has read a word of the tests, so that no expected value is ever in the
memory the candidate can reach, and it alone decides the comparisons with literals. A pass needs all of: sealed messages
only, at least one test that ran, no test that failed, every sure comparison found right, and the word that the
last test ended.
"""

from __future__ import annotations

import json
import marshal
import math
import os
import sys
import time

from whileai.verify.sandbox import cage, decoys, program, rewrite
from whileai.verify.sandbox.channel import Tampered, framed, pack, unpack
from whileai.verify.sandbox.child import Child, Program, Watch, died, end_all, is_spent, write
from whileai.verify.sandbox.guard import nearly

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Program", "main"]
OPEN_AFTER = 200


class Judge:
    """What the candidate's process reports, put together to a verdict."""

    def __init__(self, plan: rewrite.Plan) -> None:
        self.plan = plan
        self.asked = [0] * len(plan.secrets)
        self.right: set[int] = set()
        self.wrong: set[int] = set()
        self.offered: dict[int, tuple[int, int]] = {}
        self.tests: list[tuple[str, str, str]] = []
        self.loaded = False
        self.over = False
        self.failed = ""
        self.broken = ""

    def hear(self, message: Any) -> Any:
        """Take a message in; the answer, if it asks for one. What no honest run says may raise anything."""
        word = message[0]
        if word == "held":
            return self._held(*message[1:])
        if word == "own":
            return self._own(*message[1:])
        if word == "test":
            self.tests.append((str(message[1])[:200], message[2], str(message[3])[:500]))
        elif word == "loaded":
            self.loaded = True
        elif word == "done":
            self.over = True
        elif word == "failed":
            self.failed, self.over = message[1], True
        elif word == "broken":
            self.broken, self.over = message[1], True
        return None

    def _held(self, key: int, packed: Any, opaque: bool, options: dict[str, Any]) -> list[Any]:
        sign, literal = self.plan.secrets[key]
        self.asked[key] += 1
        if opaque:
            several, place = decoys.among(literal, _step(sign, options))
            self.offered[key] = place, len(several)
            return [None, sign, pack(several)]
        try:
            value = unpack(packed)
        except (ValueError, TypeError, KeyError, IndexError, RecursionError):
            raise Tampered from None
        right = _holds(sign, value, literal, options)
        return self._answer(key, right)

    def _own(self, key: int, found: list[bool]) -> list[Any]:
        """The answer where an object of the candidate's own type says which of several values it equals."""
        place, count = self.offered.pop(key)
        if len(found) != count:
            raise Tampered
        hits = sum(map(bool, found)) - bool(found[place])
        negated = self.plan.secrets[key][0] == "!="
        return self._answer(key, bool(found[place]) and (negated or not decoys.too_many(hits, count - 1)))

    def _answer(self, key: int, right: bool) -> list[Any]:
        (self.right if right else self.wrong).add(key)
        if self.asked[key] < OPEN_AFTER:
            return [right]
        # a literal in a long loop is told once it has been met often enough, to save the way here
        sign, literal = self.plan.secrets[key]
        return [right, sign, pack(literal)]

    def missing(self) -> bool:
        """Whether a comparison that a full run reaches was not found right, or once found wrong: who guesses errs."""
        skipped = {name for name, how, _ in self.tests if how == "skipped"} if self.plan.may_skip else set()
        return any(
            (key not in self.right or key in self.wrong)
            and test not in skipped
            and test.partition(".")[0] not in skipped
            for key, test in self.plan.must.items()
        )


_KINDS = {"assertListEqual": list, "assertTupleEqual": tuple, "assertDictEqual": dict, "assertMultiLineEqual": str}


def _step(sign: str, options: dict[str, Any]) -> float:
    """How far apart decoys must lie, so that none is almost equal to the literal."""
    if sign != "~":
        return 1
    delta, places = float(options.get("delta") or 0), options.get("places")
    least = math.pow(10.0, 1 - min(0, 7 if places is None else int(places)))
    return max(1.0, 10.0 * abs(delta), least)


def _holds(sign: str, value: Any, literal: Any, options: dict[str, Any]) -> bool:
    if sign == "!=":
        return bool(value != literal)
    if sign == "~":
        return bool(value == literal) or nearly(value, literal, options)
    return bool(value == literal) and isinstance(value, _KINDS.get(options.get("method", ""), object))


def judge_tests(job: dict[str, Any], child: Child, source: str) -> dict[str, Any]:
    """The verdict of one candidate on one set of tests."""
    try:
        plan = _planned(source)
    except rewrite.BrokenTests as error:
        end_all(child)
        return program.verdict("error", None, str(error))
    sent = {name: getattr(plan, name) for name in ("steps", "functions", "classes", "check", "imports", "wanted")}
    write(child.answer, framed(marshal.dumps(sent).hex()))
    judge = Judge(plan)
    watch = Watch(child, time.monotonic() + job["wall"], judge)
    try:
        watch.run()
    finally:
        end_all(child)
    counts = {
        "n_tests": sum(how != "skipped" for _, how, _ in judge.tests),
        "n_passed": sum(how == "passed" for _, how, _ in judge.tests),
    }
    meta: dict[str, Any] = {**counts, "cpu": child.usage, "on": watch.caged, "spent": is_spent(child, watch.stopped)}
    meta |= {"tail": bytes(child.tail).decode("utf-8", "replace")}
    if "print" in source or "stdout" in source:
        meta["tail"] = ""  # the tests themselves may have printed what they expect
    return program.verdict(*_decided(child, watch, judge), **meta)


def _planned(source: str) -> rewrite.Plan:
    """The plan of the tests. Raises `BrokenTests` where no candidate could pass them."""
    plan = rewrite.plan_of(source)
    if not plan.has_tests:
        raise rewrite.BrokenTests("the tests hold no test: no assertion, test function or test class")
    absent = _absent(plan.imports)
    if absent:
        raise rewrite.BrokenTests(f"the tests import {absent}, which is not installed")
    return plan


def _decided(child: Child, watch: Watch, judge: Judge) -> tuple[str, int | None, str | None]:
    if watch.stopped == "uncaged" or watch.caged is None:
        return "error", None, f"the sandbox could not be set up: {watch.fault or 'its process ended'}"
    first = next((test for test in judge.tests if test[1] == "failed"), None)
    if watch.stopped != "done":
        status, reward, reason = died(child, child.job["cage"], watch.stopped)
        if status == "ok" and not judge.loaded:
            reason = reason.replace("before the tests were done", "while the code was loaded")
        return status, reward, reason
    if judge.broken:
        return "error", None, judge.broken
    if judge.failed:
        return "ok", 0, judge.failed
    if first is not None:
        return "ok", 0, first[2] if first[0].startswith("line ") else f"{first[0]} {first[2]}"
    if not any(how == "passed" for _, how, _ in judge.tests):
        if judge.tests:
            return "error", None, "no test ran: all of them were skipped"
        return "ok", 0, "no test was reached"
    if any(how == "skipped" for _, how, _ in judge.tests) and not judge.plan.may_skip:
        return "ok", 0, "a test was skipped that does not skip itself"
    if judge.missing():
        return "ok", 0, "the tests did not run as they are written"
    return "ok", 1, None


def _absent(imports: list[str]) -> str:
    """The first module the tests import that is not there, empty where all are."""
    import importlib.util

    for name in imports:
        root = name.split(".")[0]
        if root in sys.stdlib_module_names or root in ("pytest", "solution", "__main__"):
            continue
        if importlib.util.find_spec(root) is None:
            return root
    return ""


def main(first: bytes) -> None:
    """Read the open part of the job, fork, read the rest, judge, report on standard output."""
    job = json.loads(first)
    if sys.platform == "linux":
        from whileai.verify.sandbox import kernel

        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    _ready(job["cage"])

    def read_secret() -> Any:
        parts = []
        while part := os.read(0, 2**20):
            parts.append(part)
        return json.loads(b"".join(parts))

    began = time.monotonic()
    if job["inputs"] is not None:
        report = program.judge_program(job, read_secret)
    else:
        child = Child(job)
        report = judge_tests(job, child, read_secret())
    report["seconds"] = time.monotonic() - began
    write(1, json.dumps(report).encode())
    os._exit(0)  # without the interpreter's own end, which takes as long as its start


def _ready(spec: dict[str, Any]) -> None:
    """Make the folder ready for the user the candidate will be."""
    work = spec["work"]
    if spec["bubblewrap"]:
        os.makedirs(work, exist_ok=True)  # noqa: PTH103
        os.chmod(work, 0o777)  # noqa: PTH101, S103 - a file system of its own
    elif os.geteuid() == 0:
        try:
            os.chown(work, spec["user"], spec["user"])
        except OSError:
            os.chown(work, cage.NOBODY, cage.NOBODY)
