"""What tells one judge or one row from another in every process: code, settings, content, never an address."""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from types import CodeType, FunctionType
from typing import Any

from whileai import keys
from whileai.verify.adapt import FunctionJudge, Judge
from whileai.verify.base import FunctionVerifier, Verifier

#: The functions that were described once and are only named from then on.
Seen = set[int]
PLAIN = (bool, int, float, str, bytes, type(None))
#: What is counted or measured on a row beside its content; a change of it makes no other row.
BESIDE = frozenset({*keys.VERDICT_KEYS, "markers", "rollout_index", "schema_version"})
#: Verifiers of ours that read more of a row than its completion and its gold.
READ_MORE = ("CodeExec",)


def keys_of(rows: Sequence[Mapping[str, Any]], judge: Judge) -> list[str]:
    """The key of every row's verdict: a hash of the judge and of what it reads of the row, and a count of equal ones.

    Of a row it is task, prompt, completion and the gold of every part of the judge; where a judge is given the row
    itself, all of it but earlier verdicts and markers.
    """
    who = json.dumps([judge.name, judge_version(judge)], sort_keys=True, default=repr)
    fields, whole = _read_by(judge)
    seen: defaultdict[str, int] = defaultdict(int)
    found = []
    for row in rows:
        what = [keys.task_of(row), row.get("prompt"), keys.candidate_of(row)]
        what += [keys.reference_of(row, field) for field in fields]
        if whole:
            what.append({str(key): value for key, value in row.items() if key not in BESIDE})
        text = who + json.dumps(what, sort_keys=True, default=repr)
        key = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        seen[key] += 1
        found.append(f"{key}.{seen[key]}")
    return found


def _read_by(judge: Judge) -> tuple[list[str | None], bool]:
    """Where a judge and its parts look for the gold, each place once, and whether any is given the row itself."""
    if isinstance(judge, FunctionJudge):
        return [None], judge.arity == 1
    fields: dict[str | None, None] = {judge.field if isinstance(judge, Verifier) else None: None}
    whole = not _ours(type(judge)) or isinstance(judge, FunctionVerifier) or type(judge).__qualname__ in READ_MORE
    for part in getattr(judge, "parts", ()):
        places, more = _read_by(part)
        fields |= dict.fromkeys(places)
        whole = whole or more
    return list(fields), whole


def judge_version(judge: Judge) -> Any:
    """What makes a judge another judge: its class, version and settings, or the code of its function."""
    if isinstance(judge, Verifier):
        return verifier_version(judge, set())
    return fingerprint(judge.function) if isinstance(judge, FunctionJudge) else repr(type(judge))


def verifier_version(judge: Verifier, seen: Seen) -> Any:
    """A verifier's class, version and settings; of a class that is not ours also its code."""
    settings = {name: fingerprint(value, seen) for name, value in judge.config().items()}
    return [type(judge).__qualname__, judge.version, settings, _class(type(judge), seen)]


def _ours(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == __name__.partition(".")[0]


def _class(kind: type, seen: Seen) -> list[Any]:
    """The methods and plain constants of a class that is not ours, and of its bases in the same module."""
    found: list[Any] = []
    for base in kind.__mro__:
        if _ours(base) or base.__module__ != kind.__module__:
            continue
        for name, item in sorted(vars(base).items()):
            inner = getattr(item, "fget", None) or getattr(item, "__func__", item)  # properties, static methods
            if isinstance(inner, FunctionType) or (not name.startswith("__") and _is_setting(inner)):
                found.append([name, fingerprint(inner, seen)])
    return found


def _is_setting(item: Any, depth: int = 8) -> bool:
    """Whether a value is plain data through and through; what holds anything else may hold an address."""
    if isinstance(item, (*PLAIN, re.Pattern)):
        return True
    if not isinstance(item, (list, tuple, set, frozenset, dict)) or not depth:
        return False
    inside = item.values() if isinstance(item, dict) else item
    return all(_is_setting(part, depth - 1) for part in inside)


def fingerprint(value: Any, seen: Seen | None = None) -> Any:
    """A judge or a setting of it as plain data, the same in every process and another once its code changes.

    Of a function: its code, its defaults, and what it reads from its closure and its module as far as that is plain
    data or a function of the same module. Of a bound method or a callable object also the object's attributes that are
    plain data, and the methods and constants of its class.
    """
    seen = set() if seen is None else seen
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
    if id(function) in seen:
        return function.__qualname__
    seen.add(id(function))
    state = {} if owner is None else {key: item for key, item in _attributes(owner) if _is_setting(item)}
    return [
        _code(function.__code__),
        fingerprint(function.__defaults__, seen),
        fingerprint(function.__kwdefaults__, seen),
        [fingerprint(item, seen) for item in _cells(function) if _tells(item, function)],
        {key: fingerprint(item, seen) for key, item in _globals(function) if _tells(item, function)},
        fingerprint(state, seen),
        [] if owner is None else _class(owner if isinstance(owner, type) else type(owner), seen),
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
