"""The JSON Schema and the validator of a function's parameters, by pydantic on a TypedDict of them.

A TypedDict and not the function itself, because validating a function's arguments calls it; not a model either, because
a model has names of its own (``schema``, ``copy``, ``json``, ``model_config``) that a parameter may bear.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NotRequired, get_type_hints

from whileai.engine.docstrings import read_docstring
from whileai.errors import ParamError

if TYPE_CHECKING:
    from pydantic import TypeAdapter

CALL = "tool"
_NONE = inspect.Parameter.empty
_BY_PLACE = inspect.Parameter.POSITIONAL_ONLY


@dataclass(frozen=True)
class Signature:
    """What a function takes.

    Attributes
    ----------
    description : str
        The first paragraph of its docstring.
    parameters : dict
        JSON Schema of its arguments.
    returns : dict or None
        JSON Schema of what it returns, where it says so and that has one.
    adapter : pydantic.TypeAdapter
        Validates the arguments.
    by_place : tuple of str
        The parameters that take no keyword, in order.
    filled : dict
        Parameter -> maker of its default, where the function's own default is a pydantic ``Field``.
    """

    description: str
    parameters: dict[str, Any]
    returns: dict[str, Any] | None
    adapter: TypeAdapter[Any]
    by_place: tuple[str, ...]
    filled: dict[str, Callable[[], Any]]

    def bound(self, values: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Validated values as what the function is called with; ends the places at the first that is not given."""
        named = {**{name: make() for name, make in self.filled.items()}, **values}
        placed = []
        for name in self.by_place:
            if name not in named:
                break
            placed.append(named.pop(name))
        return placed, named


def read_signature(fn: Callable[..., Any], name: str, local: Mapping[str, Any] | None = None) -> Signature:
    """The signature of a function as schema and validator.

    Parameters
    ----------
    name : str
        The tool's name, for messages.
    local : mapping, optional
        Names the hints may use beside the function's module.

    Raises
    ------
    ParamError
        If it takes ``*args`` or ``self``, or a hint has no JSON form.
    """
    parameters = _parameters(fn, name)
    hints = _hints(fn, name, local)
    description, texts = read_docstring(inspect.getdoc(fn))
    adapter, filled = _adapter(name, parameters, hints, texts)
    schema = _schema_of(adapter, name)
    _add_defaults(schema, parameters, hints, filled)
    return Signature(
        description=description,
        parameters=schema,
        returns=_returns(hints.get("return")),
        adapter=adapter,
        by_place=tuple(one.name for one in parameters if one.kind is _BY_PLACE),
        filled=filled,
    )


def _parameters(fn: Callable[..., Any], name: str) -> list[inspect.Parameter]:
    try:
        found = list(inspect.signature(fn).parameters.values())
    except (TypeError, ValueError):
        raise ParamError.of(CALL, name, "a function whose parameters can be read", fn, "Wrap it in one.") from None
    for place, one in enumerate(found):
        if one.kind is one.VAR_POSITIONAL:
            fix = "A tool's arguments have names: write them out, or take **kwargs."
            raise ParamError.of(CALL, f"{name} parameters", "named", f"*{one.name}", fix)
        if place == 0 and one.name == "self" and one.annotation is _NONE:
            fix = "Make the tool of the bound method: tool(thing.method)."
            raise ParamError.of(CALL, f"{name} parameters", "those a model fills in", "self", fix)
    return found


def _hints(fn: Callable[..., Any], name: str, local: Mapping[str, Any] | None) -> dict[str, Any]:
    inner = inspect.unwrap(fn)
    target: Any = inner
    if inspect.isclass(inner):
        target = inner.__init__
    elif not inspect.isroutine(inner):
        target = getattr(inner, "func", None) or type(inner).__call__
    try:
        return get_type_hints(target, localns=dict(local or {}), include_extras=True)
    except (NameError, AttributeError, SyntaxError, TypeError) as error:
        fix = "Define it at the top of the module."
        raise ParamError(f"{CALL}: the type hints of {name} must be resolvable; got {error}. {fix}") from None


def _adapter(
    name: str, parameters: list[inspect.Parameter], hints: Mapping[str, Any], texts: Mapping[str, str]
) -> tuple[TypeAdapter[Any], dict[str, Callable[[], Any]]]:
    """The validator of all arguments, and the defaults that stand in a ``Field``."""
    import typing_extensions
    from pydantic import ConfigDict, TypeAdapter

    fields: dict[str, Any] = {}
    filled: dict[str, Callable[[], Any]] = {}
    extra = False
    for one in parameters:
        if one.kind is one.VAR_KEYWORD:
            extra = True
            continue
        hint = _hint_of(one, hints.get(one.name, Any), texts.get(one.name))
        _check_hint(name, one.name, hint)
        default = one.default
        if _is_field(default):
            if default.is_required():
                default = _NONE
            else:
                filled[one.name] = _maker(default)
        fields[one.name] = hint if default is _NONE else NotRequired[hint]
    typed_dict: Any = typing_extensions.TypedDict  # called with fields that are known at run time only
    arguments = typed_dict("Arguments", fields)
    arguments.__pydantic_config__ = ConfigDict(extra="allow" if extra else "forbid")
    return TypeAdapter(arguments), filled


def _hint_of(parameter: inspect.Parameter, hint: Any, text: str | None) -> Any:
    """The hint with what a ``Field`` default and the docstring add; ``x: int = None`` takes ``None`` too."""
    from pydantic import Field

    if parameter.default is None and not _takes_none(hint):
        hint = hint | None if not isinstance(hint, str) else hint
    if _is_field(parameter.default):
        field = parameter.default
        described = field.description is not None
        hint = Annotated[(hint, *field.metadata)] if field.metadata else hint
        told = {"description": field.description, "examples": field.examples, "title": field.title}
        hint = Annotated[hint, Field(**{key: value for key, value in told.items() if value is not None})]
    else:
        described = any(getattr(part, "description", None) for part in getattr(hint, "__metadata__", ()))
    return Annotated[hint, Field(description=text)] if text and not described else hint


def _takes_none(hint: Any) -> bool:
    from pydantic import TypeAdapter, ValidationError
    from pydantic.errors import PydanticUserError

    try:
        TypeAdapter(hint).validate_python(None)
    except ValidationError:
        return False
    except PydanticUserError:
        return True  # said so, with the parameter's name, by `_check_hint`
    return True


def _check_hint(name: str, parameter: str, hint: Any) -> None:
    """Raise for a hint pydantic cannot validate, naming the parameter."""
    from pydantic import TypeAdapter
    from pydantic.errors import PydanticUserError

    try:
        TypeAdapter(hint)
    except PydanticUserError as error:
        told = "a type with a JSON form"
        fix = str(error).splitlines()[0]
        if error.code == "typed-dict-version":
            told, fix = "a TypedDict of typing_extensions", "Write `from typing_extensions import TypedDict`."
        raise ParamError.of(CALL, f"{name} parameter {parameter}", told, hint, fix) from None


def _is_field(default: Any) -> bool:
    from pydantic.fields import FieldInfo

    return isinstance(default, FieldInfo)


def _maker(field: Any) -> Callable[[], Any]:
    return lambda: field.get_default(call_default_factory=True)


def _schema_of(adapter: TypeAdapter[Any], name: str) -> dict[str, Any]:
    from pydantic.errors import PydanticInvalidForJsonSchema

    try:
        schema = adapter.json_schema(schema_generator=_generator())
    except PydanticInvalidForJsonSchema as error:
        told = str(error).splitlines()[0]
        raise ParamError(f"{CALL}: every parameter of {name} must have a JSON form; got {told}.") from None
    schema.pop("title", None)
    properties = schema.setdefault("properties", {})
    return {"type": "object", "properties": properties, **{key: schema[key] for key in schema if key != "type"}}


def _generator() -> Any:
    """A schema generator that does not repeat every field's name as its title."""
    from pydantic.json_schema import GenerateJsonSchema

    class Plain(GenerateJsonSchema):
        def field_title_should_be_set(self, schema: Any) -> bool:
            return False

    return Plain


def _add_defaults(
    schema: dict[str, Any],
    parameters: list[inspect.Parameter],
    hints: Mapping[str, Any],
    filled: Mapping[str, Callable[[], Any]],
) -> None:
    """Write each default in its JSON form; one that has none is left out, and its parameter stays optional."""
    for one in parameters:
        if one.name in filled:
            default = filled[one.name]()
        elif one.default is _NONE or _is_field(one.default):
            continue
        else:
            default = one.default
        found, value = json_form(hints.get(one.name, Any), default)
        if found:
            schema["properties"][one.name]["default"] = value


def json_form(hint: Any, value: Any) -> tuple[bool, Any]:
    """Whether `value` has a JSON form, and that form."""
    from pydantic import TypeAdapter

    try:
        form = TypeAdapter(hint).dump_python(value, mode="json", warnings=False)
    except (ValueError, TypeError, RecursionError):  # a PydanticSerializationError is a ValueError
        return False, None
    return _finite(form), form


def _finite(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, Mapping):
        return all(map(_finite, value.values()))
    return all(map(_finite, value)) if isinstance(value, list) else True


def _returns(hint: Any) -> dict[str, Any] | None:
    """The schema of a return hint that says something; ``None`` for one that does not, or has no JSON form."""
    from pydantic import TypeAdapter
    from pydantic.errors import PydanticUserError

    if hint is None or hint is type(None) or hint is Any:
        return None
    try:
        schema = TypeAdapter(hint).json_schema(mode="serialization", schema_generator=_generator())
    except PydanticUserError:
        return None
    schema.pop("title", None)
    return schema or None
