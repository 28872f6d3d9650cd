"""A model asked for JSON of a given form, by whatever way its server takes."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from whileai.engine.endpoint_error import EndpointError, EndpointTimeout
from whileai.engine.reply import Reply, Usage, strict_json

#: The forms of a structured answer, tried in this order; which one a server takes is remembered on its endpoint.
FORMS = ("json_schema", "tool_call", "json_object", "text")
_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)


class Model(Protocol):
    """What is needed of an endpoint; where it has ``shared``, what is learnt of its server is kept there."""

    async def chat(self, *args: Any, **kwargs: Any) -> Reply:
        """One completion."""


class Answer(NamedTuple):
    """What a model answered: the text that must be the JSON, the form it was asked for in, the whole reply."""

    text: str
    form: str
    reply: Reply

    @property
    def value(self) -> dict[str, Any] | None:
        """The object it is, ``None`` where it is none: a refusal, cut off, or anything else."""
        whole = self.reply.refusal is None and self.reply.finish_reason in ("stop", "tool")
        return read_object(self.text) if whole else None


@dataclass
class _Memory:
    """What is known of a server where the model keeps nothing itself: the place of the form it takes, from 1."""

    form: int = 0


class Asker:
    """Asks one model for JSON.

    Parameters
    ----------
    model : Endpoint
    name : str
        Name of the form, for servers that want one.
    schema : dict
        JSON Schema of the answer, an object.
    retries : int, optional
        Requests sent again at the most; by default as the model does.
    read : callable, optional
        Text -> object; whatever else it gives says that the server ignores the form.

    Attributes
    ----------
    usage : Usage
        What all of it cost so far.
    """

    def __init__(
        self,
        model: Model,
        name: str,
        schema: Mapping[str, Any],
        retries: int | None = None,
        read: Callable[[str], Any] | None = None,
    ) -> None:
        self._model, self._name, self._schema = model, name, dict(schema)
        self._how: dict[str, Any] = {} if retries is None else {"retries": retries}
        self._read = read or read_object
        self._shared: Any = getattr(model, "shared", None) or _Memory()
        self.usage = Usage()

    async def ask(self, messages: Sequence[Mapping[str, Any]], timeout: float | None = None) -> Answer:
        """What a model answers, within `timeout` seconds for all forms together.

        Raises
        ------
        EndpointError, TimeoutError
            As the endpoint does, but for a refusal of the form where another form is left.
        """
        ends = None if timeout is None else time.monotonic() + timeout
        for place in range(max(0, self._shared.form - 1), len(FORMS)):
            form, last = FORMS[place], place + 1 == len(FORMS)
            how = self._how if ends is None else {**self._how, "timeout": max(0.01, ends - time.monotonic())}
            try:
                reply = await self._model.chat(messages, **self._asked(form), **how)
            except (EndpointError, EndpointTimeout) as error:
                self.usage += error.usage
                if last or not (isinstance(error, EndpointError) and error.rejected):
                    raise
                continue
            self.usage += reply.usage
            answer = Answer(self._text(reply, form), form, reply)
            if isinstance(self._read(answer.text), dict):
                self._shared.form = place + 1
                return answer
            # while no form is known to work, a server that ignores one is asked by the next
            known = self._shared.form or reply.refusal is not None or reply.finish_reason == "length"
            if known or form in ("json_object", "text"):
                return answer
        raise AssertionError("the last form returns or raises")

    def _asked(self, form: str) -> dict[str, Any]:
        """The fields of a request that ask for a form."""
        if form == "json_schema":
            wanted = {"name": self._name, "strict": True, "schema": self._schema}
            return {"response_format": {"type": form, form: wanted}}
        if form == "tool_call":
            tool = {"name": self._name, "description": f"Give the {self._name}.", "parameters": self._schema}
            choice = {"type": "function", "function": {"name": self._name}}
            return {"tools": [{"type": "function", "function": tool}], "tool_choice": choice}
        return {"response_format": {"type": form}} if form == "json_object" else {}

    def _text(self, reply: Reply, form: str) -> str:
        """The text that must be the JSON: the reply's, or the arguments of the one tool call."""
        if form != "tool_call":
            return reply.text
        if len(reply.tool_calls) != 1 or reply.tool_calls[0].name != self._name:
            return ""
        call = reply.tool_calls[0]
        return json.dumps(call.arguments) if call.arguments_raw is None else call.arguments_raw


def read_object(text: str) -> dict[str, Any] | None:
    """The JSON object that is the whole of a text, or all that stands in its one fenced block; no search in prose."""
    fenced = _FENCE.match(text)
    found = strict_json(fenced[1] if fenced else text)
    return found if isinstance(found, dict) else None
