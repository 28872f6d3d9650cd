"""What tells one judge from another in every process: code, settings and constants, never an address."""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

from whileai.verify.adapt import FunctionJudge
from whileai.verify.base import Verifier

Seen = frozenset[CodeType]
PLAIN = (bool, int, float, str, bytes, type(None))


def verifier_version(judge: Verifier, seen: Seen = frozenset()) -> Any:
    """A verifier's class, version and settings; of a class that is not ours also the code of its check."""
    settings = {name: fingerprint(value, seen) for name, value in judge.config().items()}
    ours = type(judge).__module__.partition(".")[0] == __name__.partition(".")[0]
    return [type(judge).__qualname__, judge.version, settings, None if ours else fingerprint(type(judge).check, seen)]


def fingerprint(value: Any, seen: Seen = frozenset()) -> Any:
    """A judge or a setting of it as plain data, the same in every process and another once its code changes.

    Of a function: its code, its defaults, and what it reads from its closure and its module as far as that is plain
    data or a function of the same module. Of a bound method or a callable object also the plain attributes of the
    object.
    """
    if isinstance(value, PLAIN):
        return value if not isinstance(value, bytes) else repr(value)
    if isinstance(value, Verifier):
        return verifier_version(value, seen)
    if isinstance(value, FunctionJudge):
        return fingerprint(value.function, seen)
    if isinstance(value, (list, tuple)):
        return [fingerprint(item, seen) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(map(repr, value))  # the order of a set differs from process to process
    if isinstance(value, dict):
        return {str(key): fingerprint(item, seen) for key, item in value.items()}
    if isinstance(value, functools.partial):
        return [fingerprint(part, seen) for part in (value.func, value.args, value.keywords)]
    if isinstance(value, re.Pattern):
        return [value.pattern, value.flags]
    return _callable(value, seen)


def _callable(value: Any, seen: Seen) -> Any:
    """A function, a bound method, a wrapped function or a callable object; of anything else the name of its type."""
    function = getattr(value, "__func__", value)
    owner = getattr(value, "__self__", None)
    if not isinstance(function, FunctionType):
        if hasattr(value, "__wrapped__"):
            return fingerprint(value.__wrapped__, seen)
        calls = (vars(kind)["__call__"] for kind in type(value).__mro__ if "__call__" in vars(kind))
        owner, function = value, next(calls, None)
    name = type(value).__qualname__
    if not isinstance(function, FunctionType):
        return name
    if function.__code__ in seen:
        return function.__qualname__
    inside = seen | {function.__code__}
    state = {} if owner is None else {key: item for key, item in _attributes(owner) if isinstance(item, PLAIN)}
    return [
        _code(function.__code__),
        fingerprint(function.__defaults__, inside),
        fingerprint(function.__kwdefaults__, inside),
        [fingerprint(item, inside) for item in _cells(function) if _tells(item, function)],
        {key: fingerprint(item, inside) for key, item in _globals(function) if _tells(item, function)},
        fingerprint(state, inside),
    ]


def _attributes(owner: Any) -> list[tuple[str, Any]]:
    return sorted(getattr(owner, "__dict__", {}).items())


def _cells(function: FunctionType) -> Iterator[Any]:
    """What a function has closed over."""
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # a name that is not bound yet
            continue


def _globals(function: FunctionType) -> list[tuple[str, Any]]:
    """What a function, or one nested in it, may read from its module."""
    names = sorted(set(_names(function.__code__)))
    return [(name, function.__globals__[name]) for name in names if name in function.__globals__]


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for item in code.co_consts:
        if isinstance(item, CodeType):
            yield from _names(item)


def _tells(item: Any, function: FunctionType) -> bool:
    """Whether something a function reads belongs to what it is: plain data, or a function from the same module."""
    if isinstance(item, FunctionType):
        return item.__module__ == function.__module__
    return isinstance(item, (*PLAIN, list, tuple, set, frozenset, dict, re.Pattern, functools.partial, Verifier))


def _code(code: CodeType) -> list[Any]:
    """The instructions of a function with its constants, nested functions included."""
    return [hashlib.sha256(code.co_code).hexdigest(), [_constant(item) for item in code.co_consts], list(code.co_names)]


def _constant(item: Any) -> Any:
    if isinstance(item, CodeType):
        return _code(item)
    if isinstance(item, frozenset):
        return sorted(map(repr, item))
    return [_constant(part) for part in item] if isinstance(item, tuple) else repr(item)
