"""A model asked for JSON by whatever form its server takes, which is found out once."""

from __future__ import annotations

import asyncio
import json

import pytest

import whileai as wai
from chat_server import ChatServer, completion, error, structured
from whileai.engine.endpoint_error import EndpointError
from whileai.engine.structured import Asker

SCHEMA = {"type": "object", "properties": {"message": {"type": "string"}}, "required": ["message"]}
VALUE = {"message": "hello"}
HI = [{"role": "user", "content": "Hi"}]


def form_of(request):
    return request.get("response_format", {}).get("type") or ("tool_call" if "tool_choice" in request else "text")


def server_of(takes, refuses=()):
    """Answers in one form; refuses some others, and speaks prose in the rest."""

    def answer(request, n):
        form = form_of(request)
        if form in refuses:
            return error(400, f"{form} is not supported")
        return structured(request, VALUE) if form == takes else completion("Hello there!")

    return answer


@pytest.mark.parametrize(
    ("takes", "refuses", "asked"),
    [
        ("json_schema", (), ["json_schema"]),
        ("tool_call", ("json_schema",), ["json_schema", "tool_call"]),
        ("tool_call", (), ["json_schema", "tool_call"]),
        ("json_object", ("json_schema", "tool_call"), ["json_schema", "tool_call", "json_object"]),
        ("json_object", (), ["json_schema", "tool_call", "json_object"]),
        (
            "text",
            ("json_schema", "tool_call", "json_object"),
            ["json_schema", "tool_call", "json_object", "text"],
        ),
    ],
)
def test_the_form_that_works_is_found_once_for_all_that_ask_an_endpoint(takes, refuses, asked):
    with ChatServer() as server:
        model = wai.Endpoint("m", base_url=server.says("m", server_of(takes, refuses)).url)
        first = Asker(model, "person", SCHEMA)
        for asker in (first, Asker(model, "another", SCHEMA)):
            answer = asyncio.run(asker.ask(HI))
            assert (answer.value, answer.form) == (VALUE, takes)
        assert [form_of(request) for request in server.requests] == [*asked, takes]
        assert (first.usage.requests, first.usage.retries) == (len(asked), 0)


def test_prose_in_every_form_is_no_value_and_costs_three_requests():
    with ChatServer() as server:
        model = wai.Endpoint("m", base_url=server.says("m", server_of("none of them")).url)
        assert asyncio.run(Asker(model, "person", SCHEMA).ask(HI)).value is None
        assert len(server.requests) == 3


@pytest.mark.parametrize(
    "said",
    [
        completion(None, refusal="No."),
        completion('{"message": "hel', "length"),
        completion(json.dumps(VALUE), "length"),
    ],
)
def test_a_refusal_or_a_cut_off_answer_is_no_value_and_no_other_form_is_asked_for(said):
    with ChatServer() as server:
        model = wai.Endpoint("m", base_url=server.says("m", said).url)
        assert asyncio.run(Asker(model, "person", SCHEMA).ask(HI)).value is None
        assert len(server.requests) == 1


def test_a_server_that_fails_is_told_as_it_is():
    with ChatServer() as server:
        asker = Asker(wai.Endpoint("auth", base_url=server.url), "person", SCHEMA)
        with pytest.raises(EndpointError, match="API key"):
            asyncio.run(asker.ask(HI))
        assert asker.usage.requests == 1
