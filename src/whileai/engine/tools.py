"""`wai.tool`, which makes a tool of a function, and the tool schemas of everyone else, read as the same `Tool`."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, overload

from whileai import params
from whileai.engine import statuses
from whileai.engine.background import run_apart
from whileai.engine.nouns import EFFECTS, guessed_effect
from whileai.engine.schema_check import first_problem
from whileai.engine.signatures import Signature, read_signature
from whileai.errors import ParamError

CALL = "tool"
_EMPTY: dict[str, Any] = {"type": "object", "properties": {}}
#: Where the schemas of different houses keep a tool's parameters.
_PARAMETER_KEYS = ("parameters", "input_schema", "inputSchema")


@dataclass(frozen=True, eq=False)
class Tool:
    """A tool an agent may call.

    Attributes
    ----------
    name, description : str
    parameters : dict
        JSON Schema of its arguments, an object.
    fn : callable or None
        Its body. Calling the tool calls it.
    effect : {"read", "write", "delete"}
        What a call does to the world.
    returns : dict or None
        JSON Schema of what it returns, where that is known.
    guessed : bool
        Whether `effect` was guessed from the verb in the name.
    """

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=lambda: dict(_EMPTY))
    fn: Callable[..., Any] | None = None
    effect: str = ""
    returns: Mapping[str, Any] | None = None
    guessed: bool = False
    _signature: Signature | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ParamError.of(CALL, "name", "a name", self.name, "A lambda needs name=.")
        if not self.effect:
            object.__setattr__(self, "effect", guessed_effect(self.name))
            object.__setattr__(self, "guessed", True)
        params.one_of(CALL, f"effect of {self.name}", self.effect, EFFECTS)
        if self.fn is not None:
            with suppress(TypeError, ValueError):  # what says nothing of its arguments stays as it is
                object.__setattr__(self, "__signature__", inspect.signature(self.fn))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the body as it stands, with nothing validated."""
        if self.fn is None:
            raise TypeError(f"the tool {self.name} has a schema and no body")
        return self.fn(*args, **kwargs)

    @property
    def __name__(self) -> str:
        return self.name

    def openai(self) -> dict[str, Any]:
        """The schema in the form chat completions take."""
        function = {"name": self.name, "description": self.description, "parameters": dict(self.parameters)}
        return {"type": "function", "function": function}

    def check(self, arguments: Any) -> tuple[dict[str, Any], str]:
        """The arguments in their JSON form, and what is wrong with them, empty where nothing is."""
        if isinstance(arguments, str):  # as a model wrote them, where they could not be read
            return {}, f"arguments must be a JSON object; got {textwrap.shorten(arguments, 80, placeholder='...')}"
        if not isinstance(arguments, Mapping):
            return {}, f"arguments must be a JSON object; got {_kind(arguments)}"
        try:
            given: dict[str, Any] = as_json(dict(arguments))
        except TypeError as error:
            return {}, f"arguments must be JSON; {error}"
        if self._signature is None:
            return given, first_problem(given, self.parameters)
        values, problem = self._validated(given)
        if problem:
            return given, problem
        return self._signature.adapter.dump_python(values, mode="json", warnings=False), ""

    def _validated(self, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
        from pydantic import ValidationError

        assert self._signature is not None
        try:
            return self._signature.adapter.validate_python(dict(arguments)), ""
        except ValidationError as error:
            wrong = error.errors(include_url=False, include_context=False, include_input=False)
            return {}, "; ".join(f"{_path(one['loc'])}: {one['msg']}" for one in wrong[:3])

    async def run(self, arguments: Any) -> Any:
        """The answer of the body to JSON arguments, as JSON.

        Arguments are validated as the body's own types, a coroutine is awaited, a plain body runs on a thread of its
        own. What goes wrong is an answer too: ``{"status": "error", "error": "Type: message"}``.
        """
        if self.fn is None:
            told = f"{self.name} has a schema and no body"
            return statuses.refusal(statuses.ERROR, told, "Give execute= a function that answers it.")
        values, problem = self.check(arguments)
        if problem:
            return statuses.refusal(statuses.INVALID_ARGUMENTS, problem)
        placed: list[Any] = []
        if self._signature is not None:
            placed, values = self._signature.bound(self._validated(values)[0])
        try:
            if is_async(self.fn):
                answer = await self.fn(*placed, **values)
            else:
                answer = await run_apart(functools.partial(self.fn, *placed, **values))
                if inspect.isawaitable(answer):
                    answer = await answer
            return as_json(answer)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a body raises is what the agent is told
            return statuses.Failure(statuses.ERROR, f"{type(error).__name__}: {error}")


@overload
def tool(
    fn: Callable[..., Any], *, name: str | None = None, description: str | None = None, effect: str | None = None
) -> Tool: ...


@overload
def tool(
    fn: None = None, *, name: str | None = None, description: str | None = None, effect: str | None = None
) -> Callable[[Callable[..., Any]], Tool]: ...


def tool(
    fn: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    description: str | None = None,
    effect: str | None = None,
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """A function as a tool: its schema from its signature, its texts from its docstring.

    Parameters
    ----------
    fn : callable, optional
        The body, plain or async. Left out, the result is a decorator.
    name : str, optional
        By default the function's.
    description : str, optional
        By default the first paragraph of its docstring. The descriptions of its parameters are read there too, in
        Google's, numpydoc's or Sphinx's form, or from ``Annotated[..., Field(description=...)]``.
    effect : {"read", "write", "delete"}, optional
        What a call does to the world; by default guessed from the verb in the name.

    Returns
    -------
    Tool
        Callable as the function was.

    Raises
    ------
    ParamError
        If it takes ``*args``, has no name, or a hint has no JSON form.

    Examples
    --------
    >>> import whileai as wai
    >>> @wai.tool
    ... def get_order(order_id: str, full: bool = False) -> dict:
    ...     "Look an order up."
    ...     return {"order_id": order_id}
    >>> get_order.effect, get_order.parameters["required"]
    ('read', ['order_id'])
    >>> get_order.parameters["properties"]["full"]
    {'type': 'boolean', 'default': False}
    >>> get_order("A-1")
    {'order_id': 'A-1'}
    """
    local = sys._getframe(1).f_locals  # hints may name what is defined beside the function
    if fn is None:
        return lambda inner: _made(inner, name, description, effect, local)
    return _made(fn, name, description, effect, local)


def _made(
    fn: Any, name: str | None, description: str | None, effect: str | None, local: Mapping[str, Any] | None
) -> Tool:
    if isinstance(fn, Tool):
        return dataclasses.replace(
            fn,
            name=fn.name if name is None else name,
            description=fn.description if description is None else description,
            effect=effect or ("" if fn.guessed else fn.effect),
            guessed=False,
        )
    if not callable(fn):
        raise ParamError.of(CALL, "fn", "a function", fn, "A schema goes into tools= as it is.")
    own = name if name is not None else getattr(fn, "__name__", None) or getattr(type(fn), "__name__", "")
    if own == "<lambda>" or not isinstance(own, str) or not own:
        raise ParamError.of(CALL, "name", "given for a function without one", name, "Write tool(fn, name=...).")
    signature = read_signature(fn, own, local)
    return Tool(
        name=own,
        description=signature.description if description is None else description,
        parameters=signature.parameters,
        fn=fn,
        effect=effect or "",
        returns=signature.returns,
        _signature=signature,
    )


def as_tools(tools: Any, call: str) -> tuple[Tool, ...]:
    """Tools of any kind as `Tool`: ours, functions, and the schemas of OpenAI, Anthropic and MCP.

    Raises
    ------
    ParamError
        If one is none of these, or two have one name.
    """
    if isinstance(tools, (Tool, Mapping, str)) or callable(tools) or not isinstance(tools, Iterable):
        raise ParamError.of(call, "tools", "a list of tools", tools, "Put a single one in brackets.")
    made = tuple(_as_tool(one, place, call) for place, one in enumerate(tools))
    seen: set[str] = set()
    for one in made:
        if one.name in seen:
            raise ParamError.of(call, "tools", "named differently", one.name, "Two tools bear this name.")
        seen.add(one.name)
    return made


def _as_tool(one: Any, place: int, call: str) -> Tool:
    if isinstance(one, Tool):
        return one
    if isinstance(one, Mapping):
        return _of_schema(one, place, call)
    if hasattr(one, "model_dump") and hasattr(one, "name") and not isinstance(one, type):  # an MCP client's object
        return _of_schema(one.model_dump(by_alias=True, exclude_none=True), place, call)
    if callable(one):
        return _made(one, None, None, None, None)
    bound = "made by wai.tool, a function, or a schema of OpenAI, Anthropic or MCP"
    raise ParamError.of(call, f"tools[{place}]", bound, one)


def _of_schema(schema: Mapping[str, Any], place: int, call: str) -> Tool:
    inner = schema.get("function")
    found: Mapping[str, Any] = inner if isinstance(inner, Mapping) else schema
    name = found.get("name")
    if not isinstance(name, str) or not name:
        fix = "OpenAI's, Anthropic's and MCP's tool schemas all have one."
        raise ParamError.of(call, f"tools[{place}]", "a schema with a name", schema, fix)
    key = next((key for key in _PARAMETER_KEYS if key in found), None)
    parameters = found[key] if key is not None else None
    if parameters is None:
        parameters = _EMPTY
    if not isinstance(parameters, Mapping) or parameters.get("type", "object") != "object":
        bound = 'a JSON Schema of {"type": "object"}'
        raise ParamError.of(call, f"tools[{place}] ({name}): {key}", bound, parameters)
    returns = found.get("outputSchema")
    return Tool(
        name=name,
        description=str(found.get("description") or ""),
        parameters={"properties": {}, **parameters, "type": "object"},
        effect=_declared_effect(found.get("annotations")),
        returns=returns if isinstance(returns, Mapping) else None,
    )


def _declared_effect(hints: Any) -> str:
    """What MCP's annotations say of the effect, empty where they say nothing."""
    if isinstance(hints, Mapping):
        if hints.get("readOnlyHint") is True:
            return "read"
        if hints.get("destructiveHint") is True:
            return "delete"
        if hints.get("readOnlyHint") is False:
            return "write"
    return ""


async def run_tools(tool: Any, arguments: Any, ctx: Any = None) -> Any:
    """The answer of a tool's own body: ``execute=wai.run_tools`` puts real tools in place of the world's records.

    Parameters
    ----------
    tool : str or Tool
        A tool, or its name among ``ctx.tools``.
    arguments : dict
        As the agent gave them; validated as the body's own types.
    ctx : object, optional
        What the engine passes along; it knows the tools.

    Returns
    -------
    object
        The answer as JSON. An exception of the body, or arguments it does not take, are answers too: a dict whose
        ``status`` says so.

    Examples
    --------
    >>> import asyncio
    >>> import whileai as wai
    >>> @wai.tool
    ... async def add(a: int, b: int = 1) -> int:
    ...     return a + b
    >>> asyncio.run(wai.run_tools(add, {"a": 2}))
    3
    >>> asyncio.run(wai.run_tools(add, {"a": "two"}))["status"]
    'invalid_arguments'
    """
    if isinstance(tool, Tool):
        return await tool.run(arguments)
    known: Mapping[str, Tool] = getattr(ctx, "tools", {})
    if tool not in known:
        return statuses.refusal(statuses.UNKNOWN_TOOL, f"there is no tool {tool}", params.near_miss(tool, known))
    return await known[tool].run(arguments)


def as_json(value: Any) -> Any:
    """A value as JSON: models, dataclasses, enums and dates in their JSON form.

    Raises
    ------
    TypeError
        If it has none.
    """
    if value is None or type(value) in (str, int, bool):
        return value
    from pydantic_core import PydanticSerializationError, to_jsonable_python

    try:
        return to_jsonable_python(value, inf_nan_mode="null")
    except (PydanticSerializationError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise TypeError(f"a value of type {type(value).__name__} has no JSON form ({error})") from None


def is_async(fn: Any) -> bool:
    """Whether calling `fn` makes a coroutine."""
    while isinstance(fn, functools.partial):
        fn = fn.func
    return inspect.iscoroutinefunction(fn) or inspect.iscoroutinefunction(getattr(fn, "__call__", None))  # noqa: B004


def _path(parts: Iterable[Any]) -> str:
    return ".".join(map(str, parts)) or "arguments"


def _kind(value: Any) -> str:
    return "null" if value is None else "a " + {"str": "string", "list": "list"}.get(type(value).__name__, "value")
