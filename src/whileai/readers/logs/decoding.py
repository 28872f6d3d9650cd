"""Bytes of JSON -> values, also where strict JSON refuses."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, TypedDict

#: A key, or the way to one inside the value of a key: of an object, or of every object in a list.
Wanted = str | tuple[str, ...]


def decoder(names: Sequence[Wanted] = ()) -> Callable[[bytes], Any]:
    """A function from bytes of JSON to a value; of objects only the keys `names`, where any are given.

    A name may be a way: of ``("reward_info", "reward")`` only the reward is decoded. What strict JSON refuses (NaN, a
    lone surrogate, a byte order mark) is read as Python reads it; anything else that is no JSON raises `ValueError`.
    """
    import msgspec

    strict = msgspec.json.Decoder(_kind([(name,) if isinstance(name, str) else name for name in names])).decode

    def decode(data: bytes) -> Any:
        try:
            return strict(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return decode_json(data)

    return decode


def _kind(ways: Sequence[tuple[str, ...]]) -> Any:
    """The type of an object of which only what lies on the ways is decoded; any type where there is none."""
    inside: dict[str, list[tuple[str, ...]]] = {}
    for head, *rest in ways:
        inside.setdefault(head, []).append(tuple(rest))
    if not inside:
        return Any
    make: Any = TypedDict  # made at run time, which a type checker does not follow
    kinds = {head: Any if () in rests else _either(_kind(rests)) for head, rests in inside.items()}
    return make("Wanted", kinds, total=False)


def _either(kind: Any) -> Any:
    """The type of a value that is such an object, a list of them, or anything plain."""
    return kind | list[kind] | str | int | float | bool | None


def decode_json(data: bytes) -> Any:
    """A JSON value as Python reads it; bytes that are no UTF-8 are replaced. `ValueError` where it is no JSON."""
    try:
        return json.loads(data.decode("utf-8-sig", "replace"))
    except RecursionError as error:
        raise ValueError("nested too deep to read") from error
