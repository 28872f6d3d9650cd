"""An OpenAI-compatible chat server for tests; the name of the model asked says how it behaves.

::

    with ChatServer() as server:
        endpoint = wai.Endpoint("ok", base_url=server.url)

``server.says("name", function)`` adds a behaviour: ``function(request, n)`` gets the parsed body and how many requests
of that model came before, and returns text, a completion (`completion`, `tool_call`, `structured`) or an `Answer`.
``server.requests`` keeps every body, ``server.headers`` every request's headers, ``server.times`` when it came, and
``server.most_at_once`` how many were open together.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LOGPROBS = [-0.5, -1.25, -0.25]
USAGE = {"prompt_tokens": 12, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 4}}


@dataclass
class Answer:
    """What goes out as it stands."""

    status: int = 200
    body: object = None
    headers: dict = field(default_factory=dict)
    kind: str = "application/json"


def completion(text="ok", finish="stop", logprobs=None, usage=USAGE, **message):
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text, **message}}
    if logprobs is not None:
        choice["logprobs"] = {"content": [{"token": "t", "logprob": value} for value in logprobs]}
    body = {"id": "c", "object": "chat.completion", "created": 0, "model": "served", "choices": [choice]}
    return body if usage is None else {**body, "usage": usage}


def tool_call(name, arguments, call_id="c1", text=None):
    raw = arguments if isinstance(arguments, str) else json.dumps(arguments)
    call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": raw}}
    return completion(text, "tool_calls", tool_calls=[call])


def structured(request, values):
    """A structured answer in the form the request asks for."""
    if "tool_choice" in request:
        return tool_call(request["tool_choice"]["function"]["name"], values)
    return completion(json.dumps(values))


def error(status, message, code=None, **headers):
    return Answer(status, {"error": {"message": message, "type": "error", "code": code}}, headers)


def last_user(request):
    return next(turn["content"] for turn in reversed(request["messages"]) if turn["role"] == "user")


def _first_tool(request):
    return request["tools"][0]["function"]["name"] if request.get("tools") else "nothing"


def _refuses(name, status):
    """Refuses one kind of response format, in words that name it; answers the others with a pass."""

    def answer(request, n):
        kind = request.get("response_format", {}).get("type")
        if kind in name:
            return error(status, f"response_format {kind} is not supported")
        return structured(request, {"evidence": "", "reason": "fine", "verdict": "pass"})

    return answer


BEHAVIOURS = {
    "ok": lambda request, n: "ok",
    "echo": lambda request, n: last_user(request),
    "tool": lambda request, n: (
        tool_call(_first_tool(request), {}) if request["messages"][-1]["role"] != "tool" else "done"
    ),
    "bad-arguments": lambda request, n: tool_call(_first_tool(request), '{"order_id": '),
    "429-once": lambda request, n: error(429, "slow down", **{"Retry-After": "0.2"}) if n == 0 else "ok",
    "429-always": lambda request, n: error(429, "slow down", **{"Retry-After": "0.01"}),
    "quota": lambda request, n: error(429, "You exceeded your current quota", "insufficient_quota"),
    "500-once": lambda request, n: error(500, "oops") if n == 0 else "ok",
    "500-always": lambda request, n: error(500, "oops", **{"retry-after-ms": "10"}),
    "400": lambda request, n: error(400, "temperature must be 1"),
    "auth": lambda request, n: error(401, "Incorrect API key provided", "invalid_api_key"),
    "unknown-model": lambda request, n: error(404, "The model does not exist", "model_not_found"),
    "context": lambda request, n: error(400, "maximum context length is 8 tokens", "context_length_exceeded"),
    "html": lambda request, n: Answer(200, "<html>Bad gateway</html>", kind="text/html"),
    "html-as-json": lambda request, n: Answer(200, "<html>Bad gateway</html>"),
    "half-json": lambda request, n: Answer(200, '{"choices": [{"mess'),
    "sse": lambda request, n: Answer(200, 'data: {"choices": []}\n\ndata: [DONE]\n\n', kind="text/event-stream"),
    "empty": lambda request, n: {**completion(), "choices": []},
    "no-choices": lambda request, n: {"id": "c", "object": "chat.completion", "choices": None},
    "error-in-200": lambda request, n: Answer(200, {"error": {"message": "upstream is busy", "code": 502}}),
    "silent": lambda request, n: completion(None),
    "logprobs": lambda request, n: completion(
        "a b c", logprobs=LOGPROBS if request.get("logprobs") and request.get("top_logprobs") else None  # as llama.cpp
    ),
    "infinite-logprobs": lambda request, n: completion("a b", logprobs=[-0.5, float("-inf")]),
    "refusal": lambda request, n: completion(None, refusal="I cannot help with that."),
    "cut": lambda request, n: completion('{"evidence": "', "length"),
    "no-usage": lambda request, n: completion(usage=None),
    "new-names": lambda request, n: (
        error(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "unsupported_parameter")
        if "max_tokens" in request
        else "ok"
    ),
    "no-json-schema": _refuses(("json_schema",), 400),
    "no-json-schema-422": _refuses(("json_schema",), 422),
    "no-json-schema-500": _refuses(("json_schema",), 500),
    "pass": lambda request, n: structured(request, {"evidence": "", "reason": "good", "verdict": "pass"}),
    "fail": lambda request, n: structured(request, {"evidence": "", "reason": "bad", "verdict": "fail"}),
}  # fmt: skip
#: These need the socket: connections cut before or within the body, silence, and a byte now and then without end.
SOCKET = ("drop", "drop-once", "drop-within", "slow", "trickle", "stream")


class ChatServer:
    """The server on a free port, with ``url`` as an endpoint's base address."""

    def __init__(self):
        self.requests, self.headers, self.times = [], [], []
        self.most_at_once = 0
        self.ending = threading.Event()
        self._behaviours = dict(BEHAVIOURS)
        self._seen = Counter()
        self._open = 0
        self._lock = threading.Lock()
        outer = self

        class Handler(_Handler):
            server_of = outer

        self._http = _Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/v1"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    def says(self, model, behaviour):
        """Add a behaviour: a function of the request and its number, or what it always answers."""
        self._behaviours[model] = behaviour if callable(behaviour) else lambda request, n: behaviour
        return self

    def of(self, model):
        """The bodies of the requests for one model."""
        return [request for request in self.requests if request["model"] == model]

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *exc):
        self.ending.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def came(self, request, headers):
        with self._lock:
            self.requests.append(request)
            self.headers.append(headers)
            self.times.append(time.monotonic())
            self._open += 1
            self.most_at_once = max(self.most_at_once, self._open)
            n = self._seen[request["model"]]
            self._seen[request["model"]] += 1
            return n

    def went(self):
        with self._lock:
            self._open -= 1

    def answer(self, request, n):
        behaviour = self._behaviours.get(request["model"])
        if behaviour is None:
            return error(404, f"The model {request['model']} does not exist", "model_not_found")
        made = behaviour(request, n)
        if isinstance(made, str):
            made = completion(made)
        return made if isinstance(made, Answer) else Answer(200, made)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def handle_error(self, request, client_address):
        """A client that leaves early is what some tests want."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server_of: ChatServer

    def log_message(self, *args):
        """Keep quiet."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        request = json.loads(body)
        n = self.server_of.came(request, dict(self.headers))
        try:
            if request["model"] in SOCKET:
                self._at_the_socket(request["model"], n)
            else:
                self._send(self.server_of.answer(request, n))
        finally:
            self.server_of.went()

    def _send(self, answer):
        data = answer.body if isinstance(answer.body, str) else json.dumps(answer.body)
        data = data.encode("utf-8", "surrogatepass")
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _at_the_socket(self, model, n):
        if model == "drop-once" and n > 0:
            self._send(Answer(200, completion()))
        elif model.startswith("drop"):
            if model == "drop-within":
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", "1000")
                self.end_headers()
                self.wfile.write(b'{"choices"')
                self.wfile.flush()
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)  # a bare close leaves the client waiting
        elif model == "slow":
            self.server_of.ending.wait(20)
            self._send(Answer(200, completion()))
        elif model == "trickle":
            self._begin_chunks("application/json")
            while not self.server_of.ending.wait(0.05):
                self._chunk(b" ")
        else:
            self._begin_chunks("text/event-stream")
            for text in ("o", "k"):
                delta = {"choices": [{"index": 0, "delta": {"content": text}}]}
                self._chunk(f"data: {json.dumps(delta)}\n\n".encode())
            self._chunk(b"data: [DONE]\n\n")
            self._chunk(b"")

    def _begin_chunks(self, kind):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def _chunk(self, data):
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()
