"""`CodeExec`: whether the code of a reply passes its tests."""

from __future__ import annotations

import json
import math
import os
import queue
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, ClassVar

from whileai import keys, params
from whileai.errors import ParamError
from whileai.verify.base import Verifier, needs_fork, time_left, time_limit
from whileai.verify.sandbox import cell, levels
from whileai.verify.verdict import Verdict, not_scored, raised

_lane = cell.Lane()


def _fresh_lane() -> None:
    globals()["_lane"] = cell.Lane()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_fresh_lane)


class CodeExec(Verifier):
    r"""Whether the code of a reply passes tests, run in a sandbox.

    Parameters
    ----------
    tests : str or list of str, optional
        Tests for every row. By default they are the row's gold: an assert script, ``test_*`` functions, unittest or
        pytest classes, HumanEval's ``check(candidate)``, a list of such texts that all must pass, or the cases of a
        program: ``{"inputs": [...], "outputs": [...]}`` or a list of ``{"input": ..., "output": ...}``.
    timeout : float
        Seconds of processor time one candidate may use. On the clock it gets half as much again, and at least a second.
    memory_mb : int
        Megabytes of memory one candidate may have.
    setup : str
        Code that runs before the candidate.
    isolation : str
        ``auto`` takes the strongest that works on this machine, ``strict`` the same but never ``rlimits``; or one by
        name: ``bubblewrap``, ``landlock``, ``rlimits``.
    field, name : str, optional
        As for every `Verifier`.

    Raises
    ------
    ParamError
        For an argument outside its bound.
    ScorerError
        On a system that cannot fork processes, such as Windows.

    Notes
    -----
    The reward is 1 if at least one test ran and all that ran passed, else 0 with a reason. Out of time is status
    ``timeout``. Tests that cannot test (no Python, no test in them, a module they import that is not there), a setup
    that raises and a sandbox that does not work are status ``error``, never 0. ``judge_meta`` holds ``isolation``,
    ``parts`` (what of it is on), ``n_tests``, ``n_passed``, ``seconds`` (on the clock), ``cpu_seconds`` and
    ``output`` (the last 1,000 characters printed).

    Examples
    --------
    >>> import whileai as wai
    >>> verifier = wai.verify.CodeExec(tests="assert add(2, 3) == 5")
    >>> verifier.score({"final_text": "def add(a, b):\n    return a + b"}).reward
    1
    """

    bounded: ClassVar[bool] = True

    def __init__(
        self,
        tests: str | Sequence[str] | None = None,
        *,
        timeout: float = 10,
        memory_mb: int = 512,
        setup: str = "",
        isolation: str = "auto",
        field: str | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(field=field, name=name)
        needs_fork("CodeExec")
        if tests is not None:
            if read_tests(tests) is None:
                raise ParamError.of("CodeExec", "tests", "test code, or the cases of a program", tests)
            self.needs_reference = False  # type: ignore[misc]  # the class needs a gold, this one brings it
        if not isinstance(setup, str):
            raise ParamError.of("CodeExec", "setup", "text", setup)
        self.tests = tests
        self.timeout = params.real("CodeExec", "timeout", timeout, "seconds above 0", 0, math.inf, ends="()")
        self.memory_mb = params.whole("CodeExec", "memory_mb", memory_mb, 64)
        self.setup = setup
        self.isolation = params.one_of("CodeExec", "isolation", isolation, levels.CHOICES)

    def config(self) -> dict[str, Any]:
        """What distinguishes this verifier from another of its class."""
        return {name: value for name, value in super().config().items() if name != "needs_reference"}

    def check(self, candidate: str, reference: Any, row: Mapping[str, Any]) -> Verdict:
        """The verdict on a reply."""
        tests = read_tests(reference if self.tests is None else self.tests)
        if tests is None:
            return not_scored("error", f"the gold is no tests: it is of type {type(reference).__name__}")
        level = levels.choose(self.isolation)
        if isinstance(level, str):
            return not_scored("error", level)
        clock = time_left(math.inf)
        wall = min(self.timeout + max(1.0, self.timeout / 2), clock)
        if wall <= 0:
            return not_scored("timeout", "no time was left")
        prompt = row.get("prompt")
        job = cell.Job(
            candidate,
            **tests,
            setup=self.setup,
            entry_point=entry_point_of(row),
            prompt=prompt if isinstance(prompt, str) else None,
            cpu=self.timeout,
            wall=wall,
            memory_mb=self.memory_mb,
        )
        return _verdict(_run(job, level, clock), level)

    def score_all(
        self, rows: Sequence[Mapping[str, Any]], *, timeout: float, workers: int | None
    ) -> Iterator[tuple[int, Verdict]]:
        """The verdicts on many rows with their places, several at once, as they land."""
        running = _Running()
        places: queue.SimpleQueue[int] = queue.SimpleQueue()
        landed: queue.SimpleQueue[tuple[int, Verdict]] = queue.SimpleQueue()
        for place in range(len(rows)):
            places.put(place)

        def work() -> None:
            _running.set(running)  # in the thread's own context
            while not running.over:
                try:
                    place = places.get_nowait()
                except queue.Empty:
                    return
                try:
                    with time_limit(timeout):
                        verdict = self.score(rows[place])
                except BaseException as error:  # noqa: BLE001 - every place gets a verdict, or the caller waits for ever
                    verdict = raised(error)
                landed.put((place, verdict))

        count = min(len(rows), workers or os.cpu_count() or 1)
        for _ in range(count):
            threading.Thread(target=work, name="CodeExec", daemon=True).start()
        try:
            for _ in range(len(rows)):
                yield landed.get()
        finally:
            running.stop()


class _Running:
    """The sandboxes of one `score_all`, so that leaving it early ends them."""

    def __init__(self) -> None:
        self.over = False
        self._processes: set[int] = set()
        self._lock = threading.Lock()

    def started(self, process: int) -> None:
        with self._lock:
            self._processes.add(process)
        if self.over:
            self.stop()

    def ended(self, process: int) -> None:
        with self._lock:
            self._processes.discard(process)

    def stop(self) -> None:
        with self._lock:
            self.over = True
            for process in self._processes:
                try:
                    os.kill(process, signal.SIGKILL)
                except OSError:
                    continue


_running: ContextVar[_Running | None] = ContextVar("running", default=None)


def _run(job: cell.Job, level: levels.Level, clock: float) -> Any:
    """The report on a job; a candidate that ran out of clock, not of processor time, gets a second try alone."""
    with _lane.shared():
        report = _once(job, level)
    left = clock - job.wall
    if report["status"] == "timeout" and not report.get("spent") and left > min(1.0, job.wall):
        again = {name: getattr(job, name) for name in job.__slots__} | {"wall": min(job.wall, left)}
        with _lane.alone():
            return _once(cell.Job(**again), level)
    return report


def _once(job: cell.Job, level: levels.Level) -> Any:
    running = _running.get() or _Running()
    process: list[int] = []

    def started(number: int) -> None:
        process.append(number)
        running.started(number)

    try:
        return level.run(job, started)
    except cell.SandboxError as error:
        return {"status": "error", "reward": None, "reason": str(error)}
    finally:
        for number in process:
            running.ended(number)


def _verdict(report: Mapping[str, Any], level: levels.Level) -> Verdict:
    meta: dict[str, Any] = {"isolation": level.name}
    for key, name in (("on", "parts"), ("n_tests", "n_tests"), ("n_passed", "n_passed")):
        if report.get(key) is not None:
            meta[name] = report[key]
    for key, name in (("seconds", "seconds"), ("cpu", "cpu_seconds")):
        if report.get(key) is not None:
            meta[name] = round(report[key], 3)
    if report.get("tail"):
        meta["output"] = report["tail"]
    return Verdict(report["reward"], report["status"], report["reason"], meta=meta)


def entry_point_of(row: Mapping[str, Any]) -> str | None:
    """The function HumanEval's check is for: ``entry_point`` on the row or in one of its blocks."""
    for place in (row, row.get("privileged"), *(row.get(block) for block in keys.SIDE_BLOCKS)):
        if isinstance(place, Mapping) and isinstance(place.get("entry_point"), str) and place["entry_point"]:
            return str(place["entry_point"])
    return None


def read_tests(gold: Any) -> dict[str, Any] | None:
    """Tests or cases as a job holds them, ``None`` for what is neither."""
    if isinstance(gold, str):
        stripped = gold.strip()
        if stripped[:1] in ("{", "["):
            try:
                found = read_tests(json.loads(stripped))
            except (ValueError, RecursionError):
                found = None
            if found is not None and found["tests"] is None:
                return found
        return {"tests": gold}
    if isinstance(gold, Mapping):
        return _cases(gold)
    if isinstance(gold, (list, tuple)) and gold:
        if all(isinstance(item, str) for item in gold):
            return {"tests": "\n".join(gold)}
        if all(isinstance(item, Mapping) and {"input", "output"} <= set(item) for item in gold):
            return _cases({"inputs": [item["input"] for item in gold], "outputs": [item["output"] for item in gold]})
    return None


def _cases(gold: Mapping[str, Any]) -> dict[str, Any] | None:
    inputs, outputs = gold.get("inputs"), gold.get("outputs")
    if not isinstance(inputs, (list, tuple)) or not isinstance(outputs, (list, tuple)):
        return None
    if not inputs or len(inputs) != len(outputs):
        return None
    function = gold.get("fn_name")
    if isinstance(function, str) and function.isidentifier():
        calls = zip(inputs, outputs, strict=True)
        return {"tests": "\n".join(f"assert {function}(*{list(given)!r}) == {wanted!r}" for given, wanted in calls)}
    return {"tests": None, "inputs": tuple(map(_as_text, inputs)), "outputs": tuple(map(_as_text, outputs))}


def _as_text(value: Any) -> str:
    """A case's text; a list is its lines, as some collections write it."""
    if isinstance(value, (list, tuple)):
        return "\n".join(map(str, value))
    return value if isinstance(value, str) else str(value)
