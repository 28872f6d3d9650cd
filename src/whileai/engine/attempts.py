"""The attempts of one call: requests, waits between them, and what the server answered in the end."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from whileai.engine.endpoint_error import EndpointError, EndpointTimeout, Refusal, shortened
from whileai.engine.reply import Reply, Usage, read_reply, strict_json

if TYPE_CHECKING:
    import openai

    from whileai.engine.endpoint import Endpoint

#: Waits where the server asks for none: doubled from the first, up to the most, each cut by a random part of a half.
FIRST_WAIT, MOST_WAIT = 0.5, 30.0


class Attempts:
    """One call and its attempts, on the process's own loop."""

    def __init__(self, endpoint: Endpoint, body: dict[str, Any], timeout: float | None, retries: int) -> None:
        self.endpoint = endpoint
        self.body = body
        self.timeout = timeout
        self.retries = retries
        self.requests = 0
        self.failed: EndpointError | None = None

    async def reply(self) -> Reply:
        """The reply, or the error with the requests it took."""
        from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, stop_before_delay

        stop: Any = stop_after_attempt(self.retries + 1)
        if self.timeout is not None:
            stop = stop | stop_before_delay(self.timeout)  # a wait past the clock would only end in it
        retrying = AsyncRetrying(
            stop=stop, wait=self._wait, retry=retry_if_exception(_may_work_later), sleep=asyncio.sleep, reraise=True
        )
        try:
            async with asyncio.timeout(self.timeout):
                reply: Reply = await retrying(self._attempt)
        except TimeoutError:
            if self.failed is None:
                raise EndpointTimeout(f"no answer within {self.timeout:g} s", self._spent()) from None
            raise self._counted(self.failed) from None
        except EndpointError as error:
            raise self._counted(error) from None
        return self._with_requests(reply)

    def _counted(self, error: EndpointError) -> EndpointError:
        error.usage = self._spent()
        return error

    def _spent(self) -> Usage:
        return Usage(requests=self.requests, retries=max(0, self.requests - 1))

    def _with_requests(self, reply: Reply) -> Reply:
        usage = dataclasses.replace(reply.usage, requests=self.requests, retries=self.requests - 1)
        return dataclasses.replace(reply, usage=usage)

    def _wait(self, state: Any) -> float:
        """Seconds before the next attempt: what the server asked for, else doubling with jitter."""
        asked = self.failed.wait if self.failed is not None else None
        if asked is not None:
            return asked
        longest = min(FIRST_WAIT * 2 ** (state.attempt_number - 1), MOST_WAIT)
        return float(longest * (1 - self.endpoint.jitter.random() / 2))

    async def _attempt(self) -> Reply:
        """One request; where only the name of a field is refused, a second with the name the server wants."""
        try:
            return await self._request()
        except EndpointError as error:
            if self._rename(error):
                return await self._request()
            raise

    def _rename(self, error: EndpointError) -> bool:
        """Whether the server wants ``max_tokens`` under its newer name; remembered for the endpoint."""
        old, new = "max_tokens", "max_completion_tokens"
        if error.status != 400 or old not in self.body or new not in str(error):
            return False
        self.endpoint.renamed[old] = new
        self.body[new] = self.body.pop(old)
        return True

    async def _request(self) -> Reply:
        try:
            return await self._sent()
        except EndpointError as error:
            self.failed = error
            raise

    async def _sent(self) -> Reply:
        import openai

        endpoint = self.endpoint
        client = endpoint.client()
        pause = endpoint.shared.reserve()
        if pause:
            await asyncio.sleep(pause)
        with_form = "response_format" in self.body or "tool_choice" in self.body
        self.requests += 1
        try:
            response = await self._asked(client)
        except UnicodeEncodeError:  # half of a character, which no request can carry
            self.body = encodable(self.body)
            return await self._sent()
        except openai.APIStatusError as error:
            text = _text_of(error.response)
            answer = strict_json(text)
            refused = Refusal(error.status_code, text if answer is None else answer, error.response.headers, with_form)
            raise refused.error() from None
        except openai.APIConnectionError as error:
            reason = shortened(error.__cause__ or error) or type(error.__cause__).__name__
            raise EndpointError("connection", f"no answer from {endpoint.base_url}: {reason}", retryable=True) from None
        return self._read(response, with_form)

    async def _asked(self, client: openai.AsyncOpenAI) -> Any:
        """The raw response: the client would make an object of any body, and a text of HTML, without a word."""
        ask = client.chat.completions.with_raw_response.create
        fields = {name: value for name, value in self.body.items() if name != "messages"}
        return await ask(model=self.endpoint.model, messages=self.body["messages"], extra_body=fields)

    def _read(self, response: Any, with_form: bool) -> Reply:
        """The reply in a response of status 200, which may still hold none."""
        text = _text_of(response)
        body = loose_json(text)
        reply = read_reply(body, self.endpoint.price)
        if reply is not None:
            return reply
        block = body.get("error") if isinstance(body, Mapping) else None
        if block:  # some gateways report a failure in the body of a 200
            code = block.get("code") if isinstance(block, Mapping) else None
            status = code if isinstance(code, int) and 400 <= code < 600 else response.status_code
            raise Refusal(status, body, response.headers, with_form).error()
        if isinstance(body, Mapping):
            what = "an empty list of choices" if body.get("choices") == [] else "no message in its choices"
        else:
            what = f"no JSON object ({response.headers.get('content-type', 'no content type')})"
        raise EndpointError("bad_response", f"the answer has {what}: {shortened(text)}", status=200)


def encodable(value: Any) -> Any:
    """`value` with every lone surrogate in its texts replaced by a question mark."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, Mapping):
        return {encodable(key): encodable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [encodable(item) for item in value]
    return value


def _text_of(response: Any) -> str:
    """The body of a response as text, whatever it says of its encoding."""
    content: bytes = response.content
    return content.decode("utf-8", "replace")


def loose_json(text: str) -> Any:
    """The value of a body, in which servers write ``NaN`` and ``-Infinity``; ``None`` where it is no JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _may_work_later(error: BaseException) -> bool:
    return isinstance(error, EndpointError) and error.retryable
