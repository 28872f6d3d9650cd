"""`EndpointError`: why a model's server gave no usable answer, read off its status, its codes and its words."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any

from whileai.engine.reply import Usage
from whileai.errors import WaiError

#: Statuses below 500 at which the same request may work a moment later.
TRIED_AGAIN = frozenset({408, 409, 429})

_QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
_QUOTA_WORDS = re.compile(
    r"insufficient[_ ](quota|balance|credits?|funds)|exceeded your current quota|credit balance is too low",
    re.IGNORECASE,
)
_TOO_LONG = re.compile(
    r"context[_ ](length|window|size)|maximum (context|model) length|max_model_len|prompt is too long"
    r"|input is too long|too many (input |prompt )?tokens|(input|prompt)[^.]{0,60} exceeds? [^.]{0,60}tokens"
    r"|inputs` tokens \+ `max_new_tokens`|reduce the length of (the|your) (messages|prompt|input)",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(r"model[^.]{0,80}(does not exist|not found|is not (available|supported))", re.IGNORECASE)
_FORM_WORDS = re.compile(r"response_format|json_schema|tool_choice|guided|grammar|structured output", re.IGNORECASE)
_MOST_SHOWN = 300
_LONGEST_WAIT = 60.0


class EndpointError(WaiError, RuntimeError):
    """A model's server gave no usable answer.

    Attributes
    ----------
    reason : str
        ``rate_limited``, ``server_error``, ``connection``, ``bad_response``, ``auth``, ``quota`` or
        ``context_length``.
    status : int or None
        The HTTP status, ``None`` where none arrived.
    fatal : bool
        Whether every other request would fail the same way: no access, no money, no such model.
    rejected : bool
        Whether the server refused the form of the request, such as a response format it does not know.
    retryable : bool
        Whether the same request may work a moment later.
    wait : float or None
        Seconds the server asked to wait, at most 60.
    usage : Usage
        The requests spent in vain.
    """

    def __init__(
        self,
        reason: str,
        message: str,
        *,
        status: int | None = None,
        fatal: bool = False,
        rejected: bool = False,
        retryable: bool = False,
        wait: float | None = None,
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.status = status
        self.fatal = fatal
        self.rejected = rejected
        self.retryable = retryable
        self.wait = wait
        self.usage = Usage()


class EndpointTimeout(TimeoutError):
    """The clock of a call ran out while the server had not failed: it is slow.

    Attributes
    ----------
    usage : Usage
        The requests spent in vain.
    """

    def __init__(self, message: str, usage: Usage) -> None:
        super().__init__(message)
        self.usage = usage


@dataclass(frozen=True)
class Refusal:
    """What a server answered in place of a completion.

    Attributes
    ----------
    status : int
        Its HTTP status, or the one named in the body of an answer that came as 200.
    body : object
        The body: parsed JSON, else text.
    headers : mapping
    with_form : bool
        Whether the request asked for a structured answer.
    """

    status: int
    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)
    with_form: bool = False

    def error(self) -> EndpointError:
        """The error, with its reason."""
        message, codes = _words(self.body)
        status, wait = self.status, _asked_wait(self.headers)
        text = f"HTTP {status}: {message}" if message else f"HTTP {status}"
        reason, fatal, rejected = "bad_response", False, False
        retryable = status in TRIED_AGAIN or status >= 500
        if status == 402 or codes & _QUOTA_CODES or (wait is None and status < 500 and _QUOTA_WORDS.search(message)):
            reason, fatal, retryable = "quota", True, False
        elif "context_length_exceeded" in codes or (status not in (401, 403, 404, 429) and _TOO_LONG.search(message)):
            reason, retryable = "context_length", False
        elif status in (401, 403):
            reason, fatal = "auth", True
        elif status == 404 or "model_not_found" in codes or (status == 400 and _NO_MODEL.search(message)):
            fatal = True
        elif status == 429:
            reason = "rate_limited"
        elif self.with_form and (status in (400, 422) or (status >= 500 and _FORM_WORDS.search(message))):
            rejected, retryable = True, False
        elif retryable:
            reason = "server_error"
        return EndpointError(
            reason, text, status=status, fatal=fatal, rejected=rejected, retryable=retryable, wait=wait
        )


def _words(body: Any) -> tuple[str, set[str]]:
    """The message of an error body in one line, and the codes it names."""
    block = body.get("error", body) if isinstance(body, Mapping) else body
    if not isinstance(block, Mapping):
        return shortened(block), set()
    codes = {str(block[name]) for name in ("code", "type") if block.get(name) is not None}
    told = next((block[name] for name in ("message", "detail", "msg") if block.get(name)), block)
    return shortened(told), codes


def shortened(text: Any) -> str:
    """Anything as one line of at most 300 characters."""
    line = " ".join(str(text).split())
    return line if len(line) <= _MOST_SHOWN else f"{line[:_MOST_SHOWN]}..."


def _asked_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds a server asks to wait: ``retry-after-ms``, or ``Retry-After`` as seconds or a date; at most 60."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name)
        if not value:
            continue
        try:
            seconds = float(value) / unit
        except ValueError:
            try:
                seconds = parsedate_to_datetime(value).timestamp() - time.time()
            except (TypeError, ValueError, OverflowError):
                continue
        if math.isfinite(seconds):
            return min(max(seconds, 0.0), _LONGEST_WAIT)
    return None
