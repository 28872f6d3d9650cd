"""A model asked for JSON of a given form, by whatever way its server takes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from whileai.engine.endpoint_error import EndpointError
from whileai.engine.reply import Reply, Usage, strict_json

_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)


class Model(Protocol):
    """What is needed of an endpoint."""

    async def chat(
        self, messages: Sequence[Mapping[str, Any]], *, response_format: Mapping[str, Any] | None = None
    ) -> Reply:
        """One completion."""


class Asker:
    """Asks one model for JSON, and remembers which form of asking its server takes.

    Parameters
    ----------
    model : Endpoint
    name : str
        Name of the form, for servers that want one.
    schema : dict
        JSON Schema of the answer, an object.
    retries : int, optional
        Requests sent again at the most; by default as the model does.

    Attributes
    ----------
    usage : Usage
        What all of it cost so far.
    """

    def __init__(self, model: Model, name: str, schema: Mapping[str, Any], retries: int | None = None) -> None:
        self._model = model
        self._how: dict[str, Any] = {} if retries is None else {"retries": retries}
        self._forms: list[dict[str, Any] | None] = [
            {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": dict(schema)}},
            {"type": "json_object"},
            None,
        ]
        self.usage = Usage()

    async def ask(self, messages: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
        """The object a model answers with, ``None`` where it answers with none.

        Raises
        ------
        EndpointError, TimeoutError
            As the endpoint does, but for a refusal of the form where another form is left.
        """
        while True:
            try:
                reply = await self._model.chat(messages, response_format=self._forms[0], **self._how)
            except EndpointError as error:
                self.usage += error.usage
                if not error.rejected or len(self._forms) == 1:
                    raise
                del self._forms[0]
                continue
            self.usage += reply.usage
            return read_object(reply.text) if reply.refusal is None and reply.finish_reason == "stop" else None


def read_object(text: str) -> dict[str, Any] | None:
    """The JSON object that is the whole of a text, or all that stands in its one fenced block; no search in prose."""
    fenced = _FENCE.match(text)
    found = strict_json(fenced[1] if fenced else text)
    return found if isinstance(found, dict) else None
