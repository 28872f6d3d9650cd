"""Bytes of JSON -> values, also where strict JSON refuses."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, TypedDict


def decoder(names: Sequence[str] = ()) -> Callable[[bytes], Any]:
    """A function from bytes of JSON to a value; of objects only the keys `names`, where any are given.

    What strict JSON refuses (NaN, a lone surrogate, a byte order mark) is read as Python reads it; anything else that
    is no JSON raises `ValueError`.
    """
    import msgspec

    make: Any = TypedDict  # made at run time, which a type checker does not follow
    kind = make("Wanted", dict.fromkeys(names, Any), total=False) if names else Any
    strict = msgspec.json.Decoder(kind).decode

    def decode(data: bytes) -> Any:
        try:
            return strict(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return decode_json(data)

    return decode


def decode_json(data: bytes) -> Any:
    """A JSON value as Python reads it; bytes that are no UTF-8 are replaced. `ValueError` where it is no JSON."""
    try:
        return json.loads(data.decode("utf-8-sig", "replace"))
    except RecursionError as error:
        raise ValueError("nested too deep to read") from error
