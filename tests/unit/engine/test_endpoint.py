"""The endpoint against a real server: every way to fail ends in its reason, and the requests are counted."""

from __future__ import annotations

import asyncio
import fcntl
import gc
import itertools
import os
import pickle
import random
import signal
import sys
import time
import warnings

import pytest

import whileai as wai
from chat_server import Answer, ChatServer, completion, error, tool_call
from whileai.engine import statuses
from whileai.engine.endpoint import EndpointError, Usage
from whileai.engine.endpoint_error import Refusal

ASK = [{"role": "user", "content": "hi"}]
TOOLS = [{"type": "function", "function": {"name": "get_order", "parameters": {"type": "object"}}}]


@pytest.fixture(scope="module")
def server():
    with ChatServer() as running:
        yield running


def asked(server, model, *, endpoint=None, **options):
    made = endpoint or wai.Endpoint(model, base_url=server.url)
    return asyncio.run(made.chat(options.pop("messages", ASK), **options))


def failed(server, model, **options):
    with pytest.raises(EndpointError) as caught:
        asked(server, model, **{"timeout": 20, **options})
    return caught.value


@pytest.mark.parametrize(
    ("model", "reason", "requests", "fatal"),
    [
        ("429-always", "rate_limited", 3, False),
        ("500-always", "server_error", 3, False),
        ("error-in-200", "server_error", 3, False),
        ("drop", "connection", 3, False),
        ("drop-within", "connection", 3, False),
        ("quota", "quota", 1, True),
        ("auth", "auth", 1, True),
        ("unknown-model", "bad_response", 1, True),
        ("never-heard-of", "bad_response", 1, True),
        ("400", "bad_response", 1, False),
        ("context", "context_length", 1, False),
        ("html", "bad_response", 1, False),
        ("html-as-json", "bad_response", 1, False),
        ("half-json", "bad_response", 1, False),
        ("sse", "bad_response", 1, False),
        ("stream", "bad_response", 1, False),
        ("empty", "bad_response", 1, False),
        ("no-choices", "bad_response", 1, False),
    ],
)
def test_every_failure_has_its_reason_and_its_requests(server, model, reason, requests, fatal):
    before = len(server.of(model))
    error = failed(server, model, retries=2)
    assert (error.reason, error.fatal) == (reason, fatal)
    assert reason in statuses.INFRASTRUCTURE
    assert error.usage.requests == len(server.of(model)) - before == requests
    assert error.usage.retries == requests - 1


@pytest.mark.parametrize("model", ["429-once", "500-once", "drop-once"])
def test_what_may_work_later_is_tried_again(server, model):
    reply = asked(server, model)
    assert reply.text == "ok"
    assert (reply.usage.requests, reply.usage.retries) == (2, 1)


def test_the_server_says_how_long_to_wait(server):
    server.says("wait", lambda request, n: error(429, "slow", **{"Retry-After": "0.7"}) if n == 0 else "ok")
    asked(server, "wait")
    first, second = server.times[-2:]
    assert 0.7 <= second - first < 3


def test_no_wait_goes_past_the_clock(server):
    server.says("tomorrow", error(429, "slow", **{"Retry-After": "3600"}))
    began = time.monotonic()
    assert failed(server, "tomorrow", timeout=5).reason == "rate_limited"
    assert time.monotonic() - began < 3


@pytest.mark.parametrize("model", ["slow", "trickle"])
def test_the_clock_holds_against_silence_and_against_a_trickle(server, model):
    began = time.monotonic()
    with pytest.raises(TimeoutError, match=r"no answer within 0\.5 s"):
        asked(server, model, timeout=0.5)
    assert time.monotonic() - began < 1.5


def test_a_clock_that_ends_a_series_of_failures_says_which(server):
    server.says("then-slow", lambda request, n: error(503, "busy", **{"retry-after-ms": "1"}) if n == 0 else slow())

    def slow():
        server.ending.wait(3)
        return "late"

    error_ = failed(server, "then-slow", timeout=0.6)
    assert (error_.reason, error_.status, error_.usage.requests) == ("server_error", 503, 2)


def test_what_a_reply_holds(server):
    reply = asked(server, "ok", endpoint=wai.Endpoint("ok", base_url=server.url, price=(1.0, 10.0)))
    assert (reply.text, reply.tool_calls, reply.finish_reason, reply.logprobs) == ("ok", (), "stop", None)
    assert reply.usage == Usage(12, 3, 4, 1, 0, (12 * 1.0 + 3 * 10.0) / 1e6)
    assert reply.model == "served"
    assert reply.message() == {"role": "assistant", "content": "ok"}


def test_usage_that_a_server_does_not_give_is_unknown(server):
    usage = asked(server, "no-usage").usage
    assert usage.to_dict() == {
        "input_tokens": None, "output_tokens": None, "cached_tokens": None, "requests": 1, "retries": 0, "cost": None,
    }  # fmt: skip
    assert (Usage(1, 2, 0, 1) + usage).input_tokens is None


@pytest.mark.parametrize(
    ("parts", "cost"),
    [
        ([Usage(), Usage(1, 1, 0, 1, 0, 0.5)], 0.5),
        ([Usage(1, 1, 0, 1, 0, 0.5), Usage(requests=0)], 0.5),
        ([Usage(1, 1, 0, 1, 0, 0.5), Usage(2, 2, 0, 1, 0, 0.25)], 0.75),
        ([Usage(1, 1, 0, 1, 0, 0.5), Usage(2, 2, 0, 1, 0, None)], None),
    ],
)
def test_usage_adds_up(parts, cost):
    total = sum(parts, Usage())
    assert total.cost == cost
    assert total.requests == sum(part.requests for part in parts)


def test_tool_calls(server):
    reply = asked(server, "tool", tools=TOOLS)
    assert [(call.id, call.name, call.arguments, call.arguments_raw) for call in reply.tool_calls] == [
        ("c1", "get_order", {}, None)
    ]
    assert reply.finish_reason == "tool"
    turn = reply.message()
    assert turn["tool_calls"][0]["function"] == {"name": "get_order", "arguments": "{}"}
    result = {"role": "tool", "tool_call_id": "c1", "content": "{}"}
    assert asked(server, "tool", tools=TOOLS, messages=[*ASK, turn, result]).text == "done"


@pytest.mark.parametrize(
    ("sent", "arguments", "raw"),
    [
        ('{"a": 1}', {"a": 1}, None),
        ("", {}, None),
        ('{"a": ', {}, '{"a": '),
        ("[1]", {}, "[1]"),
        ('"text"', {}, '"text"'),
        ('{"a": NaN}', {}, '{"a": NaN}'),
        ("[" * 5000, {}, "[" * 5000),
    ],
)
def test_arguments_that_are_no_object_are_kept_as_text(server, sent, arguments, raw):
    server.says("arguments", tool_call("get_order", sent))
    call = asked(server, "arguments", tools=TOOLS).tool_calls[0]
    assert (call.arguments, call.arguments_raw) == (arguments, raw)


def test_ids_of_calls_are_unique(server):
    call = {"id": "0", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    server.says("same-ids", completion(None, "tool_calls", tool_calls=[call, call, {**call, "id": None}]))
    ids = [call.id for call in asked(server, "same-ids").tool_calls]
    assert len(set(ids)) == 3
    assert ids[0] == "0"


def test_log_probabilities_come_when_asked_for(server):
    assert asked(server, "logprobs", logprobs="tokens").logprobs == (-0.5, -1.25, -0.25)
    assert asked(server, "logprobs").logprobs is None
    assert asked(server, "ok", logprobs=True).logprobs is None
    assert asked(server, "infinite-logprobs", logprobs=True).logprobs is None
    old = completion("a")
    old["choices"][0]["logprobs"] = {"tokens": ["a"], "token_logprobs": [-0.5]}
    assert asked(server.says("old-logprobs", old), "old-logprobs", logprobs=True).logprobs == (-0.5,)


@pytest.mark.parametrize(
    ("model", "text", "refusal", "finish"),
    [
        ("refusal", "I cannot help with that.", "I cannot help with that.", "stop"),
        ("silent", "", None, "stop"),
        ("cut", '{"evidence": "', None, "length"),
    ],
)
def test_refusals_silence_and_cut_off_replies(server, model, text, refusal, finish):
    reply = asked(server, model)
    assert (reply.text, reply.refusal, reply.finish_reason) == (text, refusal, finish)


def test_content_in_blocks_is_read_as_its_text(server):
    server.says("blocks", completion([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]))
    assert asked(server, "blocks").text == "ab"


def test_what_is_sent(server):
    endpoint = wai.Endpoint(
        "ok", base_url=server.url + "/", extra={"reasoning_effort": "low", "top_k": 5}, api_key="k-1"
    )
    sampling = {"temperature": 0.5, "top_p": None, "max_tokens": 7, "seed": 3, "extra": {"top_k": 9}}
    asked(server, "ok", endpoint=endpoint, sampling=sampling, tools=TOOLS, response_format={"type": "json_object"})
    assert server.requests[-1] == {
        "model": "ok", "messages": ASK, "tools": TOOLS, "temperature": 0.5, "max_tokens": 7, "seed": 3,
        "response_format": {"type": "json_object"}, "reasoning_effort": "low", "top_k": 9,
    }  # fmt: skip
    assert {name.lower(): value for name, value in server.headers[-1].items()}["authorization"] == "Bearer k-1"
    assert "k-1" not in repr(endpoint)


def test_a_newer_name_of_a_field_is_learnt(server):
    endpoint = wai.Endpoint("new-names", base_url=server.url)
    for _ in range(2):
        assert asked(server, "", endpoint=endpoint, sampling={"max_tokens": 7}).text == "ok"
    assert [sorted(set(request) - {"model", "messages"}) for request in server.of("new-names")] == [
        ["max_tokens"], ["max_completion_tokens"], ["max_completion_tokens"],
    ]  # fmt: skip


def test_half_a_character_is_sent_as_a_question_mark(server):
    assert asked(server, "echo", messages=[{"role": "user", "content": "a\ud800b"}]).text == "a?b"


def test_one_endpoint_on_many_loops_and_many_at_once(server):
    endpoint = wai.Endpoint("ok", base_url=server.url)

    async def several():
        return await asyncio.gather(*[endpoint.chat(ASK) for _ in range(20)])

    for _ in range(3):
        assert [reply.text for reply in asyncio.run(several())] == ["ok"] * 20


def test_to_cancel_the_wait_cancels_the_request(server):
    endpoint = wai.Endpoint("slow", base_url=server.url)

    async def leave():
        task = asyncio.ensure_future(endpoint.chat(ASK))
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(leave())
    assert asked(server, "", endpoint=wai.Endpoint("ok", base_url=server.url)).text == "ok"


def test_the_rate_is_kept(server):
    endpoint = wai.Endpoint("ok", base_url=server.url, rpm=600)

    async def several():
        await asyncio.gather(*[endpoint.chat(ASK) for _ in range(5)])

    began = time.monotonic()
    asyncio.run(several())
    assert time.monotonic() - began >= 4 * 0.1


def test_forked_processes_share_one_rate(server):
    endpoint = wai.Endpoint("ok", base_url=server.url, rpm=600)
    read, write = os.pipe()
    children = []
    for _ in range(3):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            for _ in range(20):
                slot = time.monotonic() + endpoint.shared.reserve()
                os.write(write, f"{slot!r}\n".encode())
            os._exit(0)
        children.append(child)
    os.close(write)
    for child in children:
        assert os.waitpid(child, 0)[1] == 0
    with os.fdopen(read) as lines:
        slots = sorted(map(float, lines))
    assert len(slots) == 60
    # a slot is read off just before the clock it is counted from, so it may come out a little early
    assert all(later - earlier > 0.1 - 0.05 for earlier, later in itertools.pairwise(slots))
    assert slots[-1] - slots[0] > 59 * 0.1 - 0.05


def test_a_killed_process_does_not_hold_the_rate(server):
    endpoint = wai.Endpoint("ok", base_url=server.url, rpm=60_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        fcntl.lockf(endpoint.shared._lock, fcntl.LOCK_EX)
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    assert asked(server, "", endpoint=endpoint).text == "ok"


def test_retries_leave_the_callers_random_numbers_alone(server):
    random.seed(7)
    expected = random.Random(7).random()
    failed(server, "drop", retries=1)
    assert random.random() == expected


def test_an_endpoint_that_is_gone_leaves_nothing_open(server):
    asked(server, "ok", endpoint=wai.Endpoint("ok", base_url=server.url, rpm=60_000))
    gc.collect()  # an unclosed file or transport would be an error here


def test_an_endpoint_can_be_sent_elsewhere(server):
    endpoint = wai.Endpoint("ok", base_url=server.url, price=(1, 2), rpm=600, api_key="k")
    copy = pickle.loads(pickle.dumps(endpoint))
    assert (copy.model, copy.price, copy.rpm, copy.base_url) == ("ok", (1.0, 2.0), 600.0, server.url)
    assert asked(server, "", endpoint=copy).text == "ok"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"model": ""}, "Endpoint: model must be the name of a model; got ''."),
        ({"model": None}, "Endpoint: model must be the name of a model"),
        ({"base_url": "localhost:8000"}, "base_url must be an http:// or https:// address"),
        ({"price": 3}, "price must be a pair"),
        ({"price": (1, -1)}, "price must be a pair"),
        ({"rpm": 0}, "rpm must be above 0"),
        ({"extra": {"stream": True}}, "extra must be without stream, which the endpoint sets"),
        ({"extra": [1]}, "extra must be a dict of request fields"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(wai.ParamError) as caught:
        wai.Endpoint(**{"model": "m", **arguments})
    assert message in str(caught.value)


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(wai.MissingExtra, match=r"needs the package openai.*whileai\[openai\]"):
        wai.Endpoint("m")


def test_a_misspelt_sampling_field_names_the_near_miss(server):
    with pytest.raises(wai.ParamError, match="Did you mean temperature"):
        asked(server, "ok", sampling={"temprature": 1})


def test_the_environment(server, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("WHILEAI_MODEL", "ok")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert asked(server, "", endpoint=wai.OpenAI()).text == "ok"
    monkeypatch.delenv("WHILEAI_MODEL")
    with pytest.raises(wai.ParamError, match="WHILEAI_MODEL"):
        wai.OpenAI()
    monkeypatch.delenv("OPENAI_BASE_URL")
    error_ = failed(server, "", endpoint=wai.OpenAI("m"))  # no key for the default server: nothing is sent
    assert (error_.reason, error_.fatal, error_.usage.requests) == ("auth", True, 0)


@pytest.mark.parametrize(
    ("status", "message", "reason"),
    [
        (400, "This model's maximum context length is 8192 tokens. However, you requested 9000", "context_length"),
        (400, "the request exceeds the available context size, try increasing it", "context_length"),
        (422, "`inputs` tokens + `max_new_tokens` must be <= 4096", "context_length"),
        (400, "The prompt is too long: 210000 tokens > 200000 maximum", "context_length"),
        (400, "Input length 5000 exceeds maximum allowed 4096 tokens", "context_length"),
        (429, "Rate limit reached for gpt in organization on tokens per min", "rate_limited"),
        (429, "You exceeded your current quota, please check your plan and billing details.", "quota"),
        (402, "Payment required", "quota"),
        (403, "Country not supported", "auth"),
        (529, "Overloaded", "server_error"),
        (409, "conflict", "server_error"),
        (400, "Invalid value for temperature", "bad_response"),
    ],
)
def test_reasons_are_read_off_what_servers_say(status, message, reason):
    assert Refusal(status, {"error": {"message": message}}).error().reason == reason
    assert Refusal(status, {"message": message}).error().reason == reason


def test_a_quota_that_says_when_it_is_back_is_a_rate_limit():
    body = {"error": {"message": "You exceeded your current quota"}}
    assert Refusal(429, body, {"retry-after": "9"}).error().reason == "rate_limited"


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after": "9999"}, 60.0),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "Fri, 01 Jan 2100 00:00:00 GMT"}, 60.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({}, None),
    ],
)
def test_what_a_server_asks_to_wait(headers, wait):
    assert Refusal(429, "busy", headers).error().wait == wait


@pytest.mark.parametrize("status", [400, 422, 500])
def test_a_form_that_is_refused_is_not_tried_again(server, status):
    server.says(f"form-{status}", error(status, "response_format json_schema is not supported"))
    error_ = failed(server, f"form-{status}", response_format={"type": "json_schema"})
    assert (error_.rejected, error_.usage.requests) == (True, 1)


def test_an_answer_with_odd_parts_is_still_read(server):
    body = completion("ok", finish=None)
    body["usage"] = {"prompt_tokens": "many"}
    body["choices"][0]["message"] |= {"tool_calls": [None, {"function": None}, {"function": {"name": 3}}]}
    server.says("odd", Answer(200, body))
    reply = asked(server, "odd")
    assert (reply.text, reply.usage.input_tokens, reply.finish_reason) == ("ok", None, "tool")
