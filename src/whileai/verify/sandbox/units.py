"""The tests of a plan, one after another, against a loaded candidate. Runs inside the sandbox."""

from __future__ import annotations

import builtins
import itertools
import marshal
import types

from whileai.verify.sandbox import doubles, fixtures
from whileai.verify.sandbox.rewrite import FILE, GUARD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from whileai.verify.sandbox.channel import Channel
    from whileai.verify.sandbox.guard import Guard

TELLING = (NameError, AttributeError, ImportError, TypeError, SyntaxError, RecursionError, MemoryError)


class Stop(BaseException):
    """No test after this one can be run."""


def described(error: BaseException) -> str:
    """The type of an exception, with the message where that cannot hold an expected value."""
    kind = type(error)
    name = kind.__name__
    if kind is MemoryError:
        return "MemoryError: out of memory"
    if kind in TELLING and type(error.args) is tuple and error.args and type(error.args[0]) is str:
        return f"{name}: {error.args[0][:200]}"
    return str(name)[:100]


def test_line(error: BaseException) -> str:
    """Where in the tests an exception passed through, in words."""
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILE:
            line = trace.tb_lineno
        trace = trace.tb_next
    return f" on line {line} of the tests" if line else ""


def why(error: BaseException) -> str:
    """What went wrong in a test, in words that quote nothing of it."""
    if isinstance(error, AssertionError):
        return f"failed{test_line(error)}"
    return f"raised {described(error)}{test_line(error)}"


def bound(code: types.CodeType, guard: Guard) -> types.CodeType:
    """The code with the guard itself where its placeholder stands, under no name that the candidate could take."""
    constants = tuple(
        guard if type(one) is str and one == GUARD else bound(one, guard) if type(one) is types.CodeType else one
        for one in code.co_consts
    )
    return code.replace(co_consts=constants)


class Run:
    """One run of a plan against a loaded candidate."""

    def __init__(
        self, channel: Channel, guard: Guard, own_builtins: dict[str, Any], unit: Any, plan: dict[str, Any]
    ) -> None:
        self.channel, self.guard, self.builtins, self.unit, self.plan = channel, guard, own_builtins, unit, plan
        self.functions: dict[str, Any] = {}
        self.classes: dict[str, tuple[Any, dict[str, Any]]] = {}
        self.fixtures: dict[str, Any] = {}
        self.hooks: dict[str, Any] = {}

    def all(self, scope: dict[str, Any], entry_point: str | None) -> None:
        """Run the script, then the test functions, then the classes, then HumanEval's check."""
        for kind, code, line, tests in self.plan["steps"]:
            function = types.FunctionType(bound(marshal.loads(code), self.guard), scope)  # noqa: S302 - our own bytes
            if kind != "do":
                self._define(function, scope, own=kind == "def")
            else:
                self._do(function, scope, line, tests)
        for name in self.plan["functions"]:
            self._function(name)
        for name in self.plan["classes"]:
            self._class(name)
        if self.plan["check"] == "call":
            self._check(scope, entry_point)

    def _define(self, function: types.FunctionType, scope: dict[str, Any], *, own: bool) -> None:
        before = dict(scope)
        scope["__builtins__"] = self.builtins
        try:
            types.FunctionType(function.__code__, scope)()
        except BaseException as error:  # noqa: BLE001 - a class body or a decorator may call the candidate
            self.channel.say(["test", "the tests", "failed", f"could not be set up: {why(error)}"])
            raise Stop from None
        finally:
            scope["__builtins__"] = builtins
        for name, value in scope.items():
            if own and before.get(name) is not value:
                self._note(name, value)

    def _note(self, name: str, value: Any) -> None:
        """Keep what the tests define, before the candidate is called for the first time."""
        if isinstance(value, type):
            above = [kind for kind in value.__mro__[1:] if getattr(kind, "__module__", "") == "solution"]
            if self.guard.trusted.issuperset(above):
                self.guard.trusted.add(value)
            if name in self.plan["classes"]:
                self.classes[name] = (value, dict(vars(value)))
        elif isinstance(value, types.FunctionType):
            if hasattr(value, "fixture_"):
                self.fixtures[value.fixture_.get("name") or name] = value
            if name in self.plan["functions"] or name == "check":
                self.functions[name] = (value, value.__code__)
            if name in ("setup_function", "teardown_function", "setup_module", "teardown_module"):
                self.hooks[name] = value

    def _do(self, function: types.FunctionType, scope: dict[str, Any], line: int, tests: bool) -> None:
        scope["__builtins__"] = self.builtins
        ready = types.FunctionType(function.__code__, scope)  # takes the tests' builtins along
        scope["__builtins__"] = builtins
        count = self.guard.count
        self._told(f"line {line}", ready, lambda: tests and self.guard.count > count, required=tests)

    def _told(
        self, name: str, action: Callable[[], Any], ran: Callable[[], bool] = lambda: True, *, required: bool = True
    ) -> bool:
        """Run one test and say how it went; a statement that tests nothing is only heard of when it fails."""
        try:
            action()
        except doubles.Skipped:
            self.channel.say(["test", name, "skipped", ""])
        except fixtures.NoFixture as missing:
            self.channel.say(["broken", f"the tests need the fixture {missing.args[0]!r}, which is not known here"])
            raise Stop from None
        except BaseException as error:  # noqa: BLE001 - SystemExit and the like are no pass either
            words = why(error)
            self.channel.say(["test", name, "failed", words])
            if not required or name.startswith("line"):
                raise Stop from None
            return False
        else:
            if ran():
                self.channel.say(["test", name, "passed", ""])
        return True

    # --- functions --------------------------------------------------------------------------------------------------

    def _function(self, name: str) -> None:
        function, code = self.functions[name]
        if function.__code__ is not code:
            function.__code__ = code
        if "setup_module" in self.hooks:
            self.hooks.pop("setup_module")()
        if getattr(function, "skipped_", False):
            self.channel.say(["test", name, "skipped", ""])
            return
        for values in self._cases(function):
            self._told(name, lambda values=values: self._call(function, None, values))  # type: ignore[misc]  # bound now

    def _cases(self, *marked: Any) -> list[dict[str, Any]]:
        """The sets of arguments a test is run with: one empty set where it has no parameters."""
        lists = []
        for names, values in itertools.chain(*(getattr(one, "parameters_", []) for one in marked)):
            sets = []
            for value in values:
                if isinstance(value, doubles.Param):
                    if any(isinstance(mark, doubles.Skip) and mark.on for mark in value.marks):
                        continue
                    parts = value.values
                else:
                    parts = (value,) if len(names) == 1 else tuple(value)
                sets.append(dict(zip(names, parts, strict=True)))
            lists.append(sets)
        return [{key: item for part in chosen for key, item in part.items()} for chosen in itertools.product(*lists)]

    def _call(self, function: Any, owner: Any, values: dict[str, Any]) -> None:
        made = fixtures.Fixtures(self.fixtures)
        try:
            for name, fixture in self.fixtures.items():
                if fixture.fixture_.get("autouse"):
                    made.get(name, owner)
            for name in dir(owner) if owner is not None else ():
                if getattr(getattr(type(owner), name, None), "fixture_", {}).get("autouse"):
                    made.get(name, owner)
            if owner is None and "setup_function" in self.hooks:
                self._hook(self.hooks["setup_function"], function)
            result = function(**made.arguments(function, owner, values))
            if type(result) is types.CoroutineType:
                import asyncio

                asyncio.run(result)
            if owner is None and "teardown_function" in self.hooks:
                self._hook(self.hooks["teardown_function"], function)
        finally:
            made.close()

    @staticmethod
    def _hook(hook: Any, function: Any) -> None:
        code = getattr(hook, "__func__", hook).__code__
        takes = code.co_argcount - (hook is not code and hasattr(hook, "__func__"))
        hook(*[function][:takes])

    # --- classes ----------------------------------------------------------------------------------------------------

    def _class(self, name: str) -> None:
        if name not in self.classes:
            return
        kind, body = self.classes[name]
        unit = self.unit
        if unit is not None and issubclass(kind, unit.TestCase):
            self._cases_of_unittest(name, kind, body, unit)
        elif "__init__" not in body:
            self._pytest_class(name, kind, body)

    @staticmethod
    def _as_written(kind: Any, body: dict[str, Any]) -> None:
        now = vars(kind)
        for key, value in body.items():
            if now.get(key) is not value and not key.startswith("__"):
                setattr(kind, key, value)

    def _cases_of_unittest(self, name: str, kind: Any, body: dict[str, Any], unit: Any) -> None:
        names = unit.TestLoader().getTestCaseNames(kind)
        outcome: dict[str, tuple[str, str]] = {}
        try:
            unit.TestSuite([kind(test) for test in names]).run(
                _result_class(unit)(outcome, name, lambda: self._as_written(kind, body))
            )
        except BaseException as error:  # noqa: BLE001 - KeyboardInterrupt raised by the candidate
            outcome[name] = ("failed", why(error))
        for test, (how, words) in outcome.items():
            self.channel.say(["test", test if test == name else f"{name}.{test}", how, words])
        for test in names:
            if test not in outcome and name not in outcome:
                self.channel.say(["test", f"{name}.{test}", "failed", "did not end"])

    def _pytest_class(self, name: str, kind: Any, body: dict[str, Any]) -> None:
        methods = [key for key in dir(kind) if key.startswith("test") and callable(getattr(kind, key))]
        methods.sort(key=lambda key: list(body).index(key) if key in body else -1)
        if getattr(kind, "skipped_", False):
            for key in methods:
                self.channel.say(["test", f"{name}.{key}", "skipped", ""])
            return
        if methods and hasattr(kind, "setup_class"):
            self._told(f"{name}.setup_class", kind.setup_class, lambda: False)
        for key in methods:
            self._as_written(kind, body)
            function = getattr(kind, key)
            if getattr(function, "skipped_", False):
                self.channel.say(["test", f"{name}.{key}", "skipped", ""])
                continue
            for values in self._cases(kind, function):
                self._told(f"{name}.{key}", lambda v=values, k=key: self._method(kind, k, v))  # type: ignore[misc]
        if methods and hasattr(kind, "teardown_class"):
            self._told(f"{name}.teardown_class", kind.teardown_class, lambda: False)

    def _method(self, kind: Any, name: str, values: dict[str, Any]) -> None:
        owner = kind()
        method = getattr(owner, name)
        for hook in ("setup_method", "setup"):
            if hasattr(owner, hook) and not hasattr(getattr(owner, hook), "fixture_"):
                self._hook(getattr(owner, hook), method)
        self._call(method, owner, values)
        for hook in ("teardown_method", "teardown"):
            if hasattr(owner, hook):
                self._hook(getattr(owner, hook), method)

    # --- HumanEval --------------------------------------------------------------------------------------------------

    def _check(self, scope: dict[str, Any], entry_point: str | None) -> None:
        check, code = self.functions["check"]
        if check.__code__ is not code:
            check.__code__ = code
        target = scope.get(entry_point or "")
        if target is None:
            self.channel.say(
                ["test", "check", "failed", f"needs a function {entry_point!r}, which the code does not define"]
            )
            return
        self._told("check", lambda: check(target))


def _result_class(unit: Any) -> Any:  # noqa: C901 - a class of one-line methods
    """A unittest result that keeps the outcome of each test by name; a later good one never covers a bad one."""

    class Result(unit.TestResult):  # type: ignore[misc]  # the copy's class is only known when it runs
        def __init__(self, outcome: dict[str, tuple[str, str]], name: str, before: Callable[[], None]) -> None:
            super().__init__()
            self.outcome, self.name, self.before = outcome, name, before

        def _bad(self, test: Any, error: Any) -> None:
            self.outcome[getattr(test, "_testMethodName", self.name)] = ("failed", why(error[1]))

        def _good(self, test: Any, how: str) -> None:
            self.outcome.setdefault(getattr(test, "_testMethodName", self.name), (how, ""))

        def startTest(self, test: Any) -> None:  # noqa: N802 - unittest's names, here and below
            self.before()
            super().startTest(test)

        def addSuccess(self, test: Any) -> None:  # noqa: N802
            self._good(test, "passed")

        def addSubTest(self, test: Any, _subtest: Any, error: Any) -> None:  # noqa: N802
            if error is not None:
                self._bad(test, error)

        def addFailure(self, test: Any, error: Any) -> None:  # noqa: N802
            self._bad(test, error)

        def addError(self, test: Any, error: Any) -> None:  # noqa: N802
            self._bad(test, error)

        def addSkip(self, test: Any, _reason: str) -> None:  # noqa: N802
            self._good(test, "skipped")

        def addExpectedFailure(self, test: Any, _error: Any) -> None:  # noqa: N802
            self._good(test, "passed")

        def addUnexpectedSuccess(self, test: Any) -> None:  # noqa: N802
            self.outcome[test._testMethodName] = ("failed", "passed where it should fail")

    return Result
