"""`wai.Endpoint`: a model behind an OpenAI-compatible server, asked with retries whose number is known."""

from __future__ import annotations

import math
import os
import random
import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from whileai import params
from whileai.engine.attempts import Attempts
from whileai.engine.endpoint_error import EndpointError, EndpointTimeout
from whileai.engine.home_loop import at_home
from whileai.engine.reply import Reply, ToolCall, Usage
from whileai.engine.shared_state import SharedState
from whileai.errors import MissingExtra, ParamError

if TYPE_CHECKING:
    import openai

__all__ = ["Endpoint", "EndpointError", "EndpointTimeout", "OpenAI", "Reply", "ToolCall", "Usage"]

CALL = "Endpoint"
DEFAULT_BASE_URL = "https://api.openai.com/v1"
#: Seconds a whole call may take where the caller keeps no clock of its own.
DEFAULT_TIMEOUT = 600.0
DEFAULT_RETRIES = 4
_CONNECT_SECONDS = 15.0
_SAMPLING = ("temperature", "top_p", "max_tokens", "seed")
_OURS = ("model", "messages", "stream")


class Endpoint:
    """A model behind an OpenAI-compatible server.

    Parameters
    ----------
    model : str
        The model's name at the server.
    base_url : str, optional
        The server, such as ``"http://localhost:8000/v1"``; by default ``OPENAI_BASE_URL``, else OpenAI.
    api_key : str, optional
        By default ``OPENAI_API_KEY``. A server of your own needs none.
    price : (float, float), optional
        Price of a million input and of a million output tokens. Without it cost reads ``None``: not measured.
    rpm : float, optional
        Requests a minute, evenly spaced: over all that share this object, forked judges included.
    extra : dict, optional
        Further fields of every request, such as ``{"reasoning_effort": "low"}``.

    Raises
    ------
    ParamError
        An argument outside its bound.
    MissingExtra
        The extra ``openai`` is not installed.

    Notes
    -----
    An endpoint goes wherever an agent, a writer, a person or a judge is asked for. Connection errors and the statuses
    408, 409, 429 and 5xx are tried again, after the time the server asks for (60 s at most), else after a doubling time
    with jitter. Money that has run out, a context that is too long and an answer that is no completion are not.

    Examples
    --------
    >>> import whileai as wai
    >>> wai.Endpoint("my-model", base_url="http://localhost:8000/v1")
    Endpoint('my-model', base_url='http://localhost:8000/v1')
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        price: tuple[float, float] | None = None,
        rpm: float | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        need_openai()
        self.model = _text("model", model, "the name of a model")
        given = base_url if base_url is not None else os.environ.get("OPENAI_BASE_URL") or DEFAULT_BASE_URL
        self.base_url = _url(given)
        self._api_key = None if api_key is None else _text("api_key", api_key, "a key as text")
        self.price = None if price is None else _price(price)
        self.rpm = None if rpm is None else params.real(CALL, "rpm", rpm, "above 0", 0, math.inf, ends="()")
        self.extra = _extra(extra, "extra", {})
        self._start()

    def _start(self) -> None:
        """What belongs to this process."""
        self._clients: dict[int, openai.AsyncOpenAI] = {}
        self.renamed: dict[str, str] = {}
        self.jitter = random.Random()  # noqa: S311 - spreads waits, guards nothing
        self.shared = SharedState(self.rpm)
        weakref.finalize(self, _let_go, self._clients, self.shared)

    def __getstate__(self) -> dict[str, Any]:
        """An endpoint that is sent elsewhere opens its own connections there, and keeps its own rate."""
        kept = ("model", "base_url", "_api_key", "price", "rpm", "extra")
        return {name: getattr(self, name) for name in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._start()

    def __repr__(self) -> str:
        where = "" if self.base_url == DEFAULT_BASE_URL else f", base_url={self.base_url!r}"
        return f"Endpoint({self.model!r}{where})"

    async def chat(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Any] | None = None,
        sampling: Any = None,
        response_format: Mapping[str, Any] | None = None,
        logprobs: bool | str = False,
        *,
        tool_choice: Any = None,
        timeout: float | None = DEFAULT_TIMEOUT,
        retries: int = DEFAULT_RETRIES,
    ) -> Reply:
        """One completion.

        Parameters
        ----------
        messages : sequence of dict
            The conversation, system turn included.
        tools : sequence, optional
            OpenAI tool schemas, or objects whose ``openai()`` gives one.
        sampling : Sampling or dict, optional
            ``temperature``, ``top_p``, ``max_tokens``, ``seed`` and ``extra``; what is ``None`` is not sent.
        response_format, tool_choice : optional
            As the server takes them.
        logprobs : bool or "tokens"
            Whether to ask for the log-probability of every generated token.
        timeout : float, optional
            Seconds for the whole call, retries and waits included; it ends a server that trickles as well as one that
            is silent.
        retries : int
            Requests sent again at the most.

        Returns
        -------
        Reply

        Raises
        ------
        EndpointError
            No usable answer, with the reason. Where the clock ends a series of failures, the last failure.
        EndpointTimeout
            A `TimeoutError`: the clock ran out while the server had not failed; it is slow.
        """
        body = self._body(messages, tools, sampling, response_format, logprobs)
        if tool_choice is not None:
            body["tool_choice"] = tool_choice
        return await at_home(Attempts(self, body, timeout, retries).reply())

    def _body(
        self, messages: Sequence[Mapping[str, Any]], tools: Any, sampling: Any, response_format: Any, logprobs: Any
    ) -> dict[str, Any]:
        """The request without the model's name, which no field can change."""
        body: dict[str, Any] = {**self.extra, "messages": [dict(turn) for turn in messages]}
        if tools:
            body["tools"] = [tool.openai() if hasattr(tool, "openai") else tool for tool in tools]
        body |= _sampling_fields(sampling)
        if response_format is not None:
            body["response_format"] = response_format
        if logprobs:
            body |= {"logprobs": True, "top_logprobs": body.get("top_logprobs", 1)}  # some servers give none without
        for old, new in self.renamed.items():
            if old in body:
                body[new] = body.pop(old)
        return body

    def client(self) -> openai.AsyncOpenAI:
        """The client of this process; what a parent opened before a fork is left alone."""
        client = self._clients.get(os.getpid())
        if client is None:
            import openai

            own = self.base_url != DEFAULT_BASE_URL
            key = self._api_key or os.environ.get("OPENAI_API_KEY") or ("none" if own else "")
            if not key:
                message = "no API key: set OPENAI_API_KEY, or give api_key=, or the base_url= of a server of your own"
                raise EndpointError("auth", message, fatal=True)
            clock = openai.Timeout(DEFAULT_TIMEOUT, connect=_CONNECT_SECONDS)
            client = openai.AsyncOpenAI(api_key=key, base_url=self.base_url, max_retries=0, timeout=clock)
            self._clients[os.getpid()] = client
        return client


class OpenAI(Endpoint):
    """An `Endpoint` read from the environment: ``OPENAI_BASE_URL``, ``OPENAI_API_KEY`` and ``WHILEAI_MODEL``.

    Parameters
    ----------
    model : str, optional
        By default ``WHILEAI_MODEL``. No model is used unless one is named.
    **options
        As of `Endpoint`.

    Raises
    ------
    ParamError
        No model is named.

    Examples
    --------
    >>> import whileai as wai
    >>> wai.OpenAI("my-model", base_url="http://localhost:8000/v1").model
    'my-model'
    """

    def __init__(self, model: str | None = None, **options: Any) -> None:
        named = model if model is not None else os.environ.get("WHILEAI_MODEL")
        if not named:
            fix = 'Write wai.OpenAI("name"), set WHILEAI_MODEL, or pass a callable or wai.Endpoint(...) as the agent.'
            raise ParamError.of("OpenAI", "model", "the name of a model", model, fix)
        super().__init__(named, **options)


def _let_go(clients: dict[int, openai.AsyncOpenAI], shared: SharedState) -> None:
    """Close what an endpoint that is gone had open in this process."""
    shared.close()
    client = clients.pop(os.getpid(), None)
    if client is not None:
        from whileai.engine.home_loop import close_soon

        close_soon(client.close())


def need_openai() -> None:
    """Raise unless what the extra ``openai`` brings is there."""
    try:
        import openai  # noqa: F401 - here, so that forked judges find it loaded
        import tenacity  # noqa: F401 - the same
    except ImportError as error:
        message = f"{CALL}: needs the package {error.name}. Install it with: pip install 'whileai[openai]'"
        raise MissingExtra(message, name=error.name) from None


def _text(where: str, value: Any, bound: str) -> str:
    if isinstance(value, str) and value.strip():
        return value
    raise ParamError.of(CALL, where, bound, value)


def _url(value: Any) -> str:
    if isinstance(value, str) and value.startswith(("http://", "https://")):
        return value.rstrip("/")
    raise ParamError.of(
        CALL, "base_url", "an http:// or https:// address", value, 'Such as "http://localhost:8000/v1".'
    )


def _price(value: Any) -> tuple[float, float]:
    bound = "a pair (input, output) of prices per million tokens"
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise ParamError.of(CALL, "price", bound, value)
    spent, made = (params.real(CALL, "price", part, bound, 0, math.inf, ends="[)") for part in value)
    return spent, made


def _extra(value: Any, where: str, default: dict[str, Any]) -> dict[str, Any]:
    """Further fields of a request; those that are ours are refused."""
    if value is None:
        return default
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise ParamError.of(CALL, where, "a dict of request fields", value)
    taken = [name for name in _OURS if name in value]
    if taken:
        raise ParamError.of(CALL, where, f"without {taken[0]}, which the endpoint sets", dict(value))
    return dict(value)


def _sampling_fields(sampling: Any) -> dict[str, Any]:
    """The request fields of a `Sampling` or a mapping of its names."""
    if sampling is None:
        return {}
    if isinstance(sampling, Mapping):
        known = (*_SAMPLING, "extra")
        for name in sampling:
            params.one_of(CALL, "sampling", name, known)
        values = {name: sampling.get(name) for name in known}
    else:
        values = {name: getattr(sampling, name, None) for name in (*_SAMPLING, "extra")}
    extra = _extra(values.pop("extra"), "sampling.extra", {})
    return {name: value for name, value in values.items() if value is not None} | extra
