"""unittest and pytest as the tests see them: copies that the candidate's own imports do not lead to.

The candidate may patch the unittest it imports as it likes; the tests run on another copy. Of pytest there is a small
stand-in, whether pytest is installed or not: raises, approx, mark, param, fixture, skip, fail, warns. Runs inside the
sandbox.
"""

from __future__ import annotations

import math
import re
import sys
import types

from whileai.verify.sandbox.fixtures import MonkeyPatch
from whileai.verify.sandbox.guard import base_number, nearly

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from whileai.verify.sandbox.guard import Guard


class Skipped(Exception):
    """The tests themselves skip a test."""


# --- unittest -------------------------------------------------------------------------------------------------------


def private_unittest(guard: Guard, *, mock: bool) -> dict[str, Any]:
    """Unittest's modules by name, taken out of `sys.modules`, with assertions that go through `guard`."""
    import unittest

    if mock:
        import unittest.mock

        guard.wildcards.append(unittest.mock.ANY)
    unittest.IsolatedAsyncioTestCase  # noqa: B018 - made on first use, out of modules that are gone by then
    modules = {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == "unittest"}
    case: Any = unittest.TestCase
    for name in ("Equal", "Equals", "ListEqual", "TupleEqual", "SetEqual", "DictEqual", "SequenceEqual",
                 "MultiLineEqual", "CountEqual"):  # fmt: skip
        _wrap(case, f"assert{name}", _believable(guard, counted=name == "CountEqual"))
    for name, sign in (("Less", "<"), ("LessEqual", "<="), ("Greater", ">"), ("GreaterEqual", ">="), ("In", "in")):
        _wrap(case, f"assert{name}", _in_order(guard, sign))
    _wrap(case, "assertAlmostEqual", _near(guard))
    unittest.main = lambda *_a, **_k: None  # type: ignore[assignment]  # the harness runs the classes itself
    return modules


def _wrap(case: Any, name: str, before: Callable[..., bool]) -> None:
    """Let `before` say whether an assertion that holds can be believed."""
    original = case.__dict__.get(name)
    if original is None:
        return

    def asserted(self: Any, first: Any, second: Any, *rest: Any, **options: Any) -> None:
        original(self, first, second, *rest, **options)
        if not before(first, second, *rest, **options):
            raise self.failureException("not as expected")

    setattr(case, name, asserted)


def _believable(guard: Guard, *, counted: bool) -> Callable[..., bool]:
    def before(first: Any, second: Any, *_rest: Any, **_options: Any) -> bool:
        if counted:
            first, second = list(first), list(second)
            return all(any(guard.equal(item, other) for other in second) for item in first)
        return guard.equal(first, second)

    return before


def _in_order(guard: Guard, sign: str) -> Callable[..., bool]:
    return lambda first, second, *_rest, **_options: bool(guard.compare(sign, first, second))


def _near(guard: Guard) -> Callable[..., bool]:
    def before(first: Any, second: Any, places: Any = None, msg: Any = None, delta: Any = None) -> bool:  # noqa: ARG001
        numbers = [base_number(value) for value in (first, second)]
        if None in numbers:
            return guard.equal(first, second) or not guard.equal(first, object())
        return guard.equal(first, second) or nearly(numbers[0], numbers[1], {"places": places, "delta": delta})

    return before


# --- pytest ---------------------------------------------------------------------------------------------------------


def stand_in_pytest(guard: Guard) -> types.ModuleType:
    """A module that does for these tests what pytest does."""
    module = types.ModuleType("pytest")
    guard.trusted.add(Approx)

    def raises(expected: Any, *arguments: Any, match: str | None = None) -> Any:
        block = Raises(expected, match, guard)
        if not arguments:
            return block
        with block:
            arguments[0](*arguments[1:])
        return block

    def fixture(function: Any = None, **options: Any) -> Any:
        def mark(target: Any) -> Any:
            target.fixture_ = options
            return target

        return mark(function) if callable(function) else mark

    def skip(reason: str = "", **_options: Any) -> None:
        raise Skipped(reason)

    def fail(reason: str = "", **_options: Any) -> None:
        raise AssertionError(reason)

    def importorskip(name: str, **_options: Any) -> Any:
        try:
            __import__(name)
        except ImportError:
            raise Skipped(name) from None
        return sys.modules[name]

    vars(module).update(
        raises=raises, approx=Approx, mark=Mark(), param=Param, fixture=fixture, skip=skip, fail=fail,
        importorskip=importorskip, warns=Warns, main=lambda *_a, **_k: 0, MonkeyPatch=MonkeyPatch,
        skip_exception=Skipped,
    )  # fmt: skip
    return module


class Raises:
    """``pytest.raises``: the block must raise; `value`, `type` and `match` say what it raised."""

    def __init__(self, expected: Any, match: Any, guard: Guard) -> None:
        self.expected, self.pattern, self.guard = expected, match, guard
        self.value: Any = None
        self.type: Any = None

    def __enter__(self) -> Raises:  # noqa: PYI034 - typing would have to be loaded
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> bool:  # noqa: PYI036 - as it comes
        self.guard.seen(None)
        if kind is None:
            raise AssertionError("nothing was raised")
        if not issubclass(kind, self.expected):
            return False
        self.value, self.type = value, kind
        return self.pattern is None or self.match(self.pattern)

    @property
    def typename(self) -> str:
        """The name of what was raised."""
        return str(self.type.__name__)

    def match(self, pattern: Any) -> bool:
        """Whether the message matches, else an `AssertionError`."""
        if not re.search(pattern, str(self.value)):
            raise AssertionError("the message does not match")
        return True

    def errisinstance(self, kind: Any) -> bool:
        """Whether what was raised is of a kind."""
        return isinstance(self.value, kind)


class Warns:
    """``pytest.warns``: the block must warn."""

    def __init__(self, expected: Any = Warning, *, match: str | None = None) -> None:
        import warnings

        self.expected, self.pattern = expected, match
        self.catcher: Any = warnings.catch_warnings(record=True)
        self.always: Any = lambda: warnings.simplefilter("always")

    def __enter__(self) -> Any:
        self.list = self.catcher.__enter__()
        self.always()
        return self.list

    def __exit__(self, kind: Any, *rest: object) -> None:  # noqa: PYI036 - as it comes
        self.catcher.__exit__(kind, *rest)
        fitting = [w for w in self.list or () if issubclass(w.category, self.expected)]
        if kind is None and not any(self.pattern is None or re.search(self.pattern, str(w.message)) for w in fitting):
            raise AssertionError("no such warning")


class Approx:
    """``pytest.approx``: equal within a relative 1e-6 or an absolute 1e-12, item by item."""

    __hash__ = None  # type: ignore[assignment]  # not to be looked up

    def __init__(self, expected: Any, rel: Any = None, abs: Any = None, nan_ok: bool = False) -> None:
        self.expected, self.rel, self.abs, self.nan_ok = expected, rel, abs, nan_ok

    def __eq__(self, other: object) -> bool:
        return self._near(self.expected, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def _near(self, expected: Any, value: Any) -> bool:
        if isinstance(expected, dict):
            return (
                isinstance(value, dict)
                and set(value) == set(expected)
                and all(self._near(item, value[key]) for key, item in expected.items())
            )
        if hasattr(expected, "tolist"):
            expected = expected.tolist()
        if hasattr(value, "tolist"):
            value = value.tolist()
        if isinstance(expected, (list, tuple)):
            same = isinstance(value, (list, tuple)) and len(value) == len(expected)
            return same and all(map(self._near, expected, value))
        number, wanted = base_number(value), base_number(expected)
        if wanted is None:
            return type(value) is type(expected) and bool(value == expected)
        if number is None or (isinstance(number, bool) is not isinstance(wanted, bool)):
            return False
        return self._close(wanted, number)

    def _close(self, wanted: Any, number: Any) -> bool:
        if wanted != wanted:  # noqa: PLR0124 - not a number
            return bool(self.nan_ok and number != number)  # noqa: PLR0124
        if wanted == number:
            return True
        if math.isinf(abs(wanted)) or math.isinf(abs(number)):
            return False
        absolute = 1e-12 if self.abs is None else self.abs
        relative = (0.0 if self.abs is not None else 1e-6) if self.rel is None else self.rel
        return bool(abs(wanted - number) <= max(relative * abs(wanted), absolute))


class Param:
    """``pytest.param``: one set of arguments with its marks."""

    def __init__(self, *values: Any, marks: Any = (), id: Any = None) -> None:
        self.values = values
        self.marks = marks if isinstance(marks, (list, tuple)) else [marks]


class Mark:
    """``pytest.mark``: parametrize, skip and skipif do what they say; any other mark does nothing."""

    def __getattr__(self, name: str) -> Any:
        if name == "parametrize":
            return self._parametrize
        if name in ("skip", "skipif", "xfail"):
            return Skip(name)
        return Nothing()

    @staticmethod
    def _parametrize(names: Any, values: Any, **_options: Any) -> Any:
        listed = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)

        def mark(target: Any) -> Any:
            target.parameters_ = [(listed, list(values)), *getattr(target, "parameters_", [])]
            return target

        return mark


class Nothing:
    """A mark that changes nothing, with and without arguments."""

    def __call__(self, *arguments: Any, **_options: Any) -> Any:
        """The marked function, or the mark with its arguments."""
        return arguments[0] if len(arguments) == 1 and callable(arguments[0]) else self


class Skip:
    """``skip``, ``skipif`` and ``xfail``: the test does not run."""

    def __init__(self, name: str, on: bool = True) -> None:
        self.name, self.on = name, on

    def __call__(self, *arguments: Any, **_options: Any) -> Any:
        """The marked function, or the mark with its condition."""
        if len(arguments) == 1 and callable(arguments[0]):
            if self.on:
                arguments[0].skipped_ = True
            return arguments[0]
        return Skip(self.name, bool(arguments[0]) if arguments and self.name != "skip" else True)
