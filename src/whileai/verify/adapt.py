"""Any judge as one object: a verifier, or a function of a row, of prompt and completion, or of those and the gold."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from whileai import keys
from whileai.errors import sentence
from whileai.verify.base import Verifier
from whileai.verify.verdict import Verdict, raised, read_verdict

ACCEPTED = "a verifier, or a function of (row), (prompt, completion) or (prompt, completion, reference)"


class Judge(Protocol):
    """What grading asks of a judge."""

    name: str

    @property
    def bounded(self) -> bool:
        """Whether a verdict is known to end soon on any input."""

    def score(self, row: Mapping[str, Any]) -> Verdict:
        """The verdict on a row, never an exception."""


class FunctionJudge:
    """A plain function as a judge.

    Parameters
    ----------
    function : callable
        Takes 1 (row), 2 (prompt, completion) or 3 (prompt, completion, reference) required positional parameters;
        sync or async.
    arity : int
        How many of them.
    """

    bounded = False

    def __init__(self, function: Callable[..., Any], arity: int) -> None:
        self.function = function
        self.arity = arity
        self.name = _name_of(function)

    def score(self, row: Mapping[str, Any]) -> Verdict:
        """The verdict on a row, never an exception."""
        arguments = (row,) if self.arity == 1 else (row.get("prompt"), keys.candidate_of(row), keys.reference_of(row))
        try:
            returned = self.function(*arguments[: self.arity])
            if inspect.isawaitable(returned):
                returned = _awaited(returned)
            return read_verdict(returned)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a judge raises is its verdict
            return raised(error)


def as_judge(judge: Any, call: str, where: str) -> Judge:
    """`judge` as a `Judge`.

    Raises
    ------
    TypeError
        If it is neither a verifier nor a callable of one to three required positional parameters.
    """
    if isinstance(judge, Verifier):
        return judge
    if isinstance(judge, type):
        raise TypeError(sentence(call, where, ACCEPTED, judge, f"Make an instance: {judge.__name__}(...)."))
    if not callable(judge):
        raise TypeError(sentence(call, where, ACCEPTED, judge))
    try:
        signature = inspect.signature(judge)
    except (TypeError, ValueError):  # some builtins have none; a judge of one row is the plainest reading
        return FunctionJudge(judge, 1)
    arity = _required(signature)
    if arity is None:
        raise TypeError(sentence(call, where, ACCEPTED, judge, f"Its parameters are {signature}."))
    return FunctionJudge(judge, arity)


def _required(signature: inspect.Signature) -> int | None:
    """How many positional parameters to pass, ``None`` where no number from 1 to 3 fits."""
    parameters = list(signature.parameters.values())
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if any(p.kind is p.KEYWORD_ONLY and p.default is p.empty for p in parameters):
        return None
    required = sum(p.default is p.empty for p in positional)
    if required == 0 and (positional or any(p.kind is p.VAR_POSITIONAL for p in parameters)):
        return 1
    return required if 1 <= required <= 3 else None


def _name_of(function: Any) -> str:
    """The name a row carries as its judge."""
    while hasattr(function, "func"):  # functools.partial
        function = function.func
    return getattr(function, "__qualname__", type(function).__qualname__).replace("<locals>.", "")


def _awaited(awaitable: Awaitable[Any]) -> Any:
    """The result of an awaitable, also where this thread already runs a loop."""

    async def wait() -> Any:
        return await awaitable

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(wait())
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.append(asyncio.run(wait()))
        except BaseException as error:  # noqa: BLE001 - carried over to the calling thread and raised there
            outcome.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join()
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]
