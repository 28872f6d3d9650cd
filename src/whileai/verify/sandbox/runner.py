"""The candidate's process: confine it, load the candidate, run the tests, tell the supervisor. Runs inside the sandbox.

Everything here uses builtins of its own, so that patching the builtins changes nothing here; see `boot`.
"""

from __future__ import annotations

import builtins
import contextlib
import marshal
import os
import sys
import types

from whileai.verify.reading import code_text
from whileai.verify.sandbox import doubles
from whileai.verify.sandbox.guard import Guard
from whileai.verify.sandbox.units import Run, Stop, described

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from whileai.verify.sandbox.channel import Channel

SOLUTION = "<solution>"


class Failed(BaseException):
    """The candidate has failed, for the reason given."""


class Broken(BaseException):
    """The setup or the tests are at fault, for the reason given."""


def prepared(job: dict[str, Any], wanted: list[str], name: str) -> tuple[types.ModuleType, types.CodeType]:
    """The candidate compiled, and the module it is to run in, where the setup has run. Raises `Failed` or `Broken`."""
    module = types.ModuleType(name)
    module.__dict__["__builtins__"] = builtins
    module.__file__ = SOLUTION
    sys.modules[name] = sys.modules["__main__"] = module
    try:
        exec(compile(job["setup"], "<setup>", "exec", dont_inherit=True), module.__dict__)  # noqa: S102
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is not the candidate's fault
        raise Broken(f"the setup raised {described(error)}") from None
    code = code_text.solution_of(job["reply"], wanted, job["entry_point"], job["prompt"])
    if "inspect" in job["uses"]:
        import linecache

        linecache.cache[SOLUTION] = (len(code), None, code.splitlines(keepends=True), SOLUTION)
    try:
        return module, compile(code, SOLUTION, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f" on line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        raise Failed(f"the code is no valid Python: {type(error).__name__}{line}") from None


def load(job: dict[str, Any], wanted: list[str]) -> types.ModuleType:
    """The candidate as a module that has run. Raises `Failed` or `Broken`."""
    module, code = prepared(job, wanted, "solution")
    try:
        exec(code, module.__dict__)  # noqa: S102 - what this process is for
    except BaseException as error:  # noqa: BLE001 - SystemExit too is no way to pass
        raise Failed(f"the code raised {described(error)} when loaded") from None
    return module


def refuse_spying() -> None:
    """Refuse tracing of the tests and the lists of all objects: of no use to a solution, of much to a forger."""
    refused = frozenset({"sys.settrace", "sys.setprofile", "gc.get_objects", "gc.get_referrers", "gc.get_referents"})
    error = PermissionError

    def hook(event: str, _given: Any) -> None:
        if event in refused:
            raise error(1, "not allowed here", event)

    sys.addaudithook(hook)


class Pristine:
    """Modules the tests import, as they were before the candidate ran, and builtins of the tests' own."""

    def __init__(self, guard: Guard, imports: list[str]) -> None:
        names = {name.split(".")[0] for name in imports}
        self.own: dict[str, Any] = {}
        if "unittest" in names:
            self.own = doubles.private_unittest(guard, mock=any("mock" in name for name in imports))
        if "pytest" in names:
            self.own["pytest"] = doubles.stand_in_pytest(guard)
        self.seen: dict[str, tuple[Any, dict[str, Any]]] = {}
        for name in imports:
            if name.split(".")[0] not in (*self.own, "solution", "sys", "builtins"):
                try:
                    __import__(name)
                except Exception:  # noqa: BLE001, S112 - the tests meet it again where they import it
                    continue
                self.seen[name] = (sys.modules[name], dict(vars(sys.modules[name])))
        self.builtins = dict(vars(builtins))
        self.builtins["__import__"] = self._import
        self._real = builtins.__import__

    def restore(self) -> None:
        """Undo what the candidate did to modules that the tests import."""
        for name, (module, before) in self.seen.items():
            sys.modules[name] = module
            now = vars(module)
            for key, value in before.items():
                if now.get(key) is not value:
                    now[key] = value

    def _import(self, name: str, scope: Any = None, local: Any = None, wanted: Any = (), level: int = 0) -> Any:
        if level == 0 and name in self.own:
            return self.own[name] if wanted else self.own[name.split(".", maxsplit=1)[0]]
        return self._real(name, scope, local, wanted, level)


def run_tests(channel: Channel, job: dict[str, Any]) -> None:
    """Take the plan from the supervisor, run it, report. Ends without a return only with the process."""
    plan = marshal.loads(bytes.fromhex(channel.ask()))  # noqa: S302 - the supervisor's own bytes
    guard = Guard(channel)
    refuse_spying()
    pristine = Pristine(guard, plan["imports"])
    wanted = [*plan["wanted"], *([job["entry_point"]] if job["entry_point"] else [])]
    try:
        module = load({**job, "uses": plan["imports"]}, wanted)
    except Failed as failed:
        channel.say(["failed", str(failed)])
        return
    except Broken as broken:
        channel.say(["broken", str(broken)])
        return
    channel.say(["loaded"])
    pristine.restore()
    entry_point = job["entry_point"]
    if plan["check"] == "call" and not entry_point:
        entry_point = code_text.only_function(module.__dict__, SOLUTION)
        if entry_point is None:
            channel.say(["broken", "which function check(candidate) is for is not known: the row needs an entry_point"])
            return
    with contextlib.suppress(Stop):
        Run(channel, guard, pristine.builtins, pristine.own.get("unittest"), plan).all(module.__dict__, entry_point)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # noqa: BLE001, S112 - the candidate may have put anything there
            continue
    channel.say(["done"])


def run_program(job: dict[str, Any]) -> None:
    """The candidate as a program with real standard streams; it ends as Python ends it."""
    try:
        module, code = prepared({**job, "uses": []}, [], "__main__")
    except (Failed, Broken) as error:
        os.write(2, f"{error}\n".encode())
        raise SystemExit(1) from None
    exec(code, module.__dict__)  # noqa: S102 - what this process is for
