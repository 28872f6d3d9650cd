"""`wai.tool`, `run_tools` and the tool schemas of others."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime as dt
import enum
import functools
import inspect
import sys
import typing
import uuid
from decimal import Decimal
from typing import Annotated, Any, Literal, Optional, Union

import pytest
import typing_extensions
from pydantic import BaseModel, Field

import whileai as wai
from whileai.engine.tools import Tool, as_tools
from whileai.errors import ParamError


class Size(enum.Enum):
    SMALL = "s"
    LARGE = "l"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


@dataclasses.dataclass
class Line:
    item: str
    count: int = 1


class Address(BaseModel):
    street: str
    size: Size = Size.SMALL


class Row(typing_extensions.TypedDict, total=False):
    a: typing_extensions.Required[int]
    b: str


class Plain:
    pass


def schema_of(hint: Any, default: Any = ...) -> dict[str, Any]:
    """The schema of one parameter of a type."""

    def take(x):
        return x

    take.__annotations__["x"] = hint
    if default is not ...:
        take.__defaults__ = (default,)
    return wai.tool(take).parameters


@pytest.mark.parametrize(
    ("hint", "expected"),
    [
        (str, {"type": "string"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (list[str], {"type": "array", "items": {"type": "string"}}),
        (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (Optional[int], {"anyOf": [{"type": "integer"}, {"type": "null"}]}),  # noqa: UP045 - as people write it
        (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        (Union[int, str], {"anyOf": [{"type": "integer"}, {"type": "string"}]}),  # noqa: UP007 - as people write it
        (Literal["a", "b"], {"enum": ["a", "b"], "type": "string"}),
        (dt.datetime, {"type": "string", "format": "date-time"}),
        (uuid.UUID, {"type": "string", "format": "uuid"}),
        (Annotated[int, Field(ge=1, description="How")], {"type": "integer", "minimum": 1, "description": "How"}),
        (Any, {}),
    ],
)  # fmt: skip
def test_a_hint_becomes_its_json_schema_without_the_titles_pydantic_adds(hint, expected):
    schema = schema_of(hint)
    assert schema == {
        "type": "object", "properties": {"x": expected}, "required": ["x"], "additionalProperties": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("hint", "name", "part"),
    [
        (Size, "Size", {"enum": ["s", "l"], "type": "string"}),
        (Level, "Level", {"enum": [1, 2], "type": "integer"}),
        (Line, "Line", {"required": ["item"]}),
        (Address, "Address", {"required": ["street"]}),
        (Row, "Row", {"required": ["a"]}),
    ],
)
def test_enums_models_dataclasses_and_typed_dicts_are_definitions(hint, name, part):
    schema = schema_of(list[hint])
    assert schema["properties"]["x"]["items"] == {"$ref": f"#/$defs/{name}"}
    assert part.items() <= schema["$defs"][name].items()


@pytest.mark.parametrize(
    ("hint", "default", "written"),
    [
        (int, 3, 3),
        (Size, Size.LARGE, "l"),
        (dt.date, dt.date(2024, 5, 1), "2024-05-01"),
        (Line, Line("a"), {"item": "a", "count": 1}),
        (str | None, None, None),
        (int, None, None),  # an implicit optional
        (Decimal, Decimal("1.50"), "1.50"),
    ],
)
def test_a_default_stands_in_the_schema_in_its_json_form(hint, default, written):
    schema = schema_of(hint, default)
    assert schema["properties"]["x"]["default"] == written
    assert "required" not in schema


@pytest.mark.parametrize(
    ("hint", "default"), [(bytes, b"\xff"), (Any, object()), (float, float("nan")), (float, float("inf"))]
)
def test_a_default_without_a_json_form_leaves_the_parameter_optional(hint, default):
    schema = schema_of(hint, default)
    assert "default" not in schema["properties"]["x"]
    assert "required" not in schema


def test_a_parameter_may_bear_any_name_a_model_could_not_have():
    @wai.tool
    def odd(
        schema: str, copy: int, json: str = "j", model_config: str = "m", _x: int = 0, self_: int = 1, cls: int = 2
    ):
        return [schema, copy, json, model_config, _x, self_, cls]

    names = ["schema", "copy", "json", "model_config", "_x", "self_", "cls"]
    assert list(odd.parameters["properties"]) == names
    arguments = {"schema": "s", "copy": 1, "model_config": "c", "_x": 5}
    assert asyncio.run(wai.run_tools(odd, arguments)) == ["s", 1, "j", "c", 5, 1, 2]


def test_hints_may_name_what_is_defined_beside_the_function():
    class Colour(enum.Enum):
        RED = "red"

    @wai.tool
    def paint(colour: Colour) -> str:
        return type(colour).__name__

    assert paint.parameters["$defs"]["Colour"]["enum"] == ["red"]
    assert asyncio.run(wai.run_tools(paint, {"colour": "red"})) == "Colour"


GOOGLE = """Find it.
Really.

Args:
    a (int): the a
        at length
    b: the b

Returns:
    x: no parameter
"""
NUMPYDOC = """Find it.
Really.

Parameters
----------
a : int
    the a
    at length
b : str, optional
    the b

Returns
-------
x : int
    no parameter
"""
SPHINX = """Find it.
Really.

:param a: the a
    at length
:param str b: the b
:returns: nothing
"""


@pytest.mark.parametrize("text", [GOOGLE, NUMPYDOC, SPHINX])
def test_a_docstring_in_any_style_describes_tool_and_parameters(text):
    def find(a: int, b: str = ""):
        pass

    find.__doc__ = text
    made = wai.tool(find)
    assert made.description == "Find it. Really."
    described = {name: part.get("description") for name, part in made.parameters["properties"].items()}
    assert described == {"a": "the a at length", "b": "the b"}


def test_a_description_in_the_hint_wins_over_the_docstring():
    @wai.tool
    def find(a: Annotated[int, Field(description="hint")], b: int = Field(4, ge=1, description="field")):
        """Find.

        Args:
            a: doc
            b: doc
        """
        return [a, b]

    assert find.parameters["properties"] == {
        "a": {"type": "integer", "description": "hint"},
        "b": {"type": "integer", "minimum": 1, "description": "field", "default": 4},
    }
    assert asyncio.run(wai.run_tools(find, {"a": 1})) == [1, 4]
    assert asyncio.run(wai.run_tools(find, {"a": 1, "b": 0}))["status"] == "invalid_arguments"


def test_it_is_called_as_the_function_was_and_takes_other_words():
    @wai.tool(name="look", description="Say.", effect="write")
    def find(a, b=2):
        """Doc."""
        return a + b

    assert (find(1), find(1, b=5)) == (3, 6)
    assert (find.name, find.description, find.effect, find.guessed) == ("look", "Say.", "write", False)
    assert find.openai() == {
        "type": "function",
        "function": {"name": "look", "description": "Say.", "parameters": find.parameters},
    }


@pytest.mark.parametrize(
    ("name", "effect"),
    [
        ("get_order", "read"), ("search_flights", "read"), ("order_status", "read"), ("weather", "read"),
        ("list_open_orders", "read"), ("update_status", "write"), ("sendEmail", "write"), ("book_flight", "write"),
        ("issue_refund", "write"), ("cancel_order", "delete"), ("orders.delete", "delete"), ("order_cancel", "delete"),
    ],
)  # fmt: skip
def test_the_effect_is_guessed_from_the_verb(name, effect):
    made = wai.tool(lambda: None, name=name)
    assert (made.effect, made.guessed) == (effect, True)


def test_a_tool_and_its_class_can_be_looked_into():
    @wai.tool
    def find(a: int, b: str = "x"):
        """Find."""

    assert str(inspect.signature(find)) == "(a: 'int', b: 'str' = 'x')"
    assert find.__name__ == "find"
    assert "name" in inspect.signature(Tool).parameters
    assert "A tool" in inspect.getdoc(Tool)


def test_a_class_is_a_tool_of_its_arguments():
    made = wai.tool(Line, name="make_line")
    assert made.parameters["properties"]["count"] == {"type": "integer", "default": 1}
    assert asyncio.run(wai.run_tools(made, {"item": "a"})) == {"item": "a", "count": 1}


def test_kwargs_let_other_arguments_in():
    @wai.tool
    def free(a: int, **rest):
        return rest

    assert free.parameters["additionalProperties"] is True
    assert asyncio.run(wai.run_tools(free, {"a": 1, "z": [1]})) == {"z": [1]}


def test_parameters_by_place_are_passed_by_place():
    @wai.tool
    def place(a: int, b: int = 2, /, *, c: int = 3):
        return [a, b, c]

    assert asyncio.run(wai.run_tools(place, {"a": 1, "c": 9})) == [1, 2, 9]
    assert asyncio.run(wai.run_tools(place, {"a": 1, "b": 5})) == [1, 5, 3]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: wai.tool(lambda *args: 1, name="f"), "*args"),
        (lambda: wai.tool(lambda x: x), "name"),
        (lambda: wai.tool(3), "a function"),
        (lambda: wai.tool({"name": "f"}), "a function"),
        (lambda: wai.tool(lambda self, x: x, name="f"), "bound method"),
        (lambda: wai.tool(lambda: 1, name="f", effect="reed"), "read"),
        (lambda: schema_of(Plain), "parameter x"),
        (lambda: schema_of("Nowhere"), "type hints"),
    ],
)
def test_what_is_no_tool_is_refused_where_it_is_made(make, words):
    with pytest.raises(ParamError, match=r"tool: ") as caught:
        make()
    assert words in str(caught.value)


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="pydantic takes typing.TypedDict from 3.12 on")
def test_a_typed_dict_of_typing_says_where_to_import_it_from():
    class Old(typing.TypedDict):
        a: int

    with pytest.raises(ParamError, match="typing_extensions"):
        schema_of(Old)


def test_a_bound_method_and_a_partial_are_tools():
    class Shop:
        def get(self, key: str) -> str:
            return key.upper()

    def both(a: str, b: str) -> str:
        return a + b

    assert asyncio.run(wai.run_tools(wai.tool(Shop().get), {"key": "k"})) == "K"
    made = wai.tool(functools.partial(both, b="!"), name="both")
    assert asyncio.run(wai.run_tools(made, {"a": "k"})) == "k!"


class Found(BaseModel):
    when: dt.date
    size: Size


async def later(n: int) -> int:
    await asyncio.sleep(0)
    return n + 1


def broken(n: int) -> int:
    raise ValueError("no " + str(n))


async def leaves(n: int) -> int:
    raise SystemExit(3)


def made_of_models(n: int) -> list[Found]:
    return [Found(when=dt.date(2024, 1, n), size=Size.LARGE)]


@pytest.mark.parametrize(
    ("fn", "expected"),
    [
        (later, 2),
        (made_of_models, [{"when": "2024-01-01", "size": "l"}]),
        (broken, {"status": "error", "error": "ValueError: no 1"}),
        (leaves, {"status": "error", "error": "SystemExit: 3"}),
        (lambda n: later(n), 2),
    ],
)
def test_a_body_answers_in_json_whatever_it_does(fn, expected):
    assert asyncio.run(wai.run_tools(wai.tool(fn, name="f"), {"n": 1})) == expected


def test_a_body_gets_values_of_its_own_types():
    seen = {}

    @wai.tool
    def take(size: Size, line: Line, address: Address, when: dt.datetime, level: Level = Level.LOW):
        seen.update(locals())

    arguments = {
        "size": "l",
        "line": {"item": "a"},
        "address": {"street": "b"},
        "when": "2024-01-02T03:04:05",
        "level": 2,
    }
    assert asyncio.run(wai.run_tools(take, arguments)) is None
    assert (seen["size"], seen["line"], seen["level"]) == (Size.LARGE, Line("a"), Level.HIGH)
    assert isinstance(seen["address"], Address)
    assert seen["when"] == dt.datetime(2024, 1, 2, 3, 4, 5)  # noqa: DTZ001


def test_a_result_without_a_json_form_is_an_error_that_names_its_type():
    made = wai.tool(lambda: object(), name="f")
    assert "object" in asyncio.run(wai.run_tools(made, {}))["error"]


@pytest.mark.parametrize("arguments", [{}, {"n": "x"}, {"n": 1, "m": 2}, None, [1], "text"])
def test_wrong_arguments_never_reach_the_body(arguments):
    made = wai.tool(broken)
    assert asyncio.run(wai.run_tools(made, arguments))["status"] == "invalid_arguments"


SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}


@pytest.mark.parametrize(
    "given",
    [
        {"type": "function", "function": {"name": "find", "description": "Find.", "parameters": SCHEMA}},
        {"name": "find", "description": "Find.", "parameters": SCHEMA},
        {"type": "function", "name": "find", "description": "Find.", "parameters": SCHEMA, "strict": True},
        {"name": "find", "description": "Find.", "input_schema": SCHEMA},
        {"name": "find", "description": "Find.", "inputSchema": SCHEMA, "title": "Find"},
    ],
)
def test_the_schemas_of_others_are_tools(given):
    (made,) = as_tools([given], "simulate")
    assert (made.name, made.description, dict(made.parameters), made.fn) == ("find", "Find.", SCHEMA, None)
    assert made.check({"q": "a"})[1] == ""
    assert made.check({})[1] == "q: is required"


@pytest.mark.parametrize(
    ("hints", "effect"),
    [({"readOnlyHint": True}, "read"), ({"readOnlyHint": False}, "write"),
     ({"readOnlyHint": False, "destructiveHint": True}, "delete"), (None, "read")],
)  # fmt: skip
def test_the_hints_of_an_mcp_schema_say_the_effect(hints, effect):
    (made,) = as_tools([{"name": "find", "inputSchema": SCHEMA, "annotations": hints}], "simulate")
    assert made.effect == effect


def test_a_tool_without_parameters_and_a_function_are_taken_too():
    def find(q: str) -> str:
        return q

    bare, own = as_tools([{"name": "ping"}, find], "simulate")
    assert bare.parameters == {"type": "object", "properties": {}}
    assert isinstance(own, Tool)


@pytest.mark.parametrize(
    ("tools", "words"),
    [
        ([{"name": "a"}, {"name": "a"}], "Two tools"),
        ([{"description": "no name"}], r"tools\[0\]"),
        ([{"name": "a", "parameters": {"type": "string"}}], "object"),
        ([3], r"tools\[0\]"),
        ({"name": "a"}, "brackets"),
        ("get_order", "a list of tools"),
        (None, "a list of tools"),
        (wai.tool(lambda: 1, name="f"), "brackets"),
    ],
)
def test_what_is_no_list_of_tools_is_refused(tools, words):
    with pytest.raises(ParamError, match=words):
        as_tools(tools, "simulate")
