"""What was asked and answered, in the inputs and outputs that platforms keep as whatever a program passed on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whileai.keys import is_messages
from whileai.readers.logs.chat import unpacked

#: Names that inputs and outputs go by inside a mapping, the likeliest first.
INPUTS = ("messages", "input", "question", "prompt", "query", "text")
OUTPUTS = ("messages", "output", "answer", "completion", "response", "content", "text", "result")


def given_of(value: Any) -> Any:
    """What was asked: a text or messages, whatever mapping they stand in; else the value itself."""
    return _inside(value, INPUTS)


def reply_of(value: Any) -> Any:
    """What was answered."""
    if isinstance(value, Mapping) and "role" in value and "content" in value:
        return [value]
    return _inside(value, OUTPUTS)


def _inside(value: Any, names: tuple[str, ...]) -> Any:
    value = unpacked(value)
    if not isinstance(value, Mapping):
        return value
    for name in names:
        inner = unpacked(value.get(name))
        if isinstance(inner, str) or is_messages(inner):
            return inner
    texts = [inner for inner in value.values() if isinstance(inner, str)]
    return texts[0] if len(value) == len(texts) == 1 else value
