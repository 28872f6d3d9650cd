"""What candidate's process and supervisor say to each other: framed, numbered, sealed messages, and plain values.

A frame that does not bear its seal means that something else wrote into the pipe. Runs inside the sandbox.
"""

from __future__ import annotations

import json
import os

try:
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

MOST_BYTES = 4 * 2**20
MOST_DEPTH = 60


class Tampered(Exception):
    """Bytes on the channel that its owner did not write."""


class Opaque(Exception):
    """A value that is not plain data."""


def seal(key: bytes, number: int, body: bytes) -> bytes:
    """The seal of the message with this number."""
    return blake2b(number.to_bytes(8, "big") + body, key=key, digest_size=16).digest()


class Channel:
    """The candidate's end. It says nothing from any other process than the one it was made in."""

    __slots__ = ("ask", "say")

    def __init__(self, into: int, out: int, key: bytes) -> None:
        # functions taken now, so that what the candidate puts in their place later is never called
        write, read, own, process, leave = os.write, os.read, os.getpid, os.getpid(), os._exit
        encode, decode = json.JSONEncoder(separators=(",", ":")).encode, json.JSONDecoder().decode
        count = 0

        def say(message: Any) -> None:
            nonlocal count
            if own() != process:
                leave(1)
            body = encode(message).encode("ascii")
            if len(body) > MOST_BYTES:
                raise Opaque
            frame = len(body).to_bytes(4, "big") + seal(key, count, body) + body
            count += 1
            while frame:
                frame = frame[write(out, frame) :]

        def exactly(size: int) -> bytes:
            parts = b""
            while len(parts) < size:
                part = read(into, min(size - len(parts), 2**20))
                if not part:
                    leave(1)
                parts += part
            return parts

        def ask(message: Any = None) -> Any:
            if message is not None:
                say(message)
            return decode(exactly(int.from_bytes(exactly(4), "big")).decode("ascii"))

        self.say: Callable[[Any], None] = say
        self.ask: Callable[..., Any] = ask


class Messages:
    """The supervisor's end: the sealed messages in a stream of bytes."""

    def __init__(self, key: bytes) -> None:
        self.key, self.count, self.bytes = key, 0, bytearray()

    def feed(self, part: bytes) -> Iterator[Any]:
        """The messages now whole, in order; raises `Tampered` at bytes that are none."""
        self.bytes += part
        while len(self.bytes) >= 20:
            size = int.from_bytes(self.bytes[:4], "big")
            if size > 2 * MOST_BYTES:
                raise Tampered
            if len(self.bytes) < 20 + size:
                break
            body = bytes(self.bytes[20 : 20 + size])
            if bytes(self.bytes[4:20]) != seal(self.key, self.count, body):
                raise Tampered
            self.count += 1
            del self.bytes[: 20 + size]
            try:
                message = json.loads(body)
            except (ValueError, RecursionError):
                raise Tampered from None
            yield message


def framed(message: Any) -> bytes:
    """An answer of the supervisor, as the candidate's end reads it."""
    body = json.dumps(message).encode("ascii")
    return len(body).to_bytes(4, "big") + body


def pack(value: Any, depth: int = 0) -> Any:
    """`value` in JSON's terms if it is plain data of exactly Python's own types; raises `Opaque` for any other."""
    kind = type(value)
    if value is None or kind is bool or kind is str:
        return value
    if kind is int:
        return ["i", hex(value)]
    if kind is float:
        return ["n", value.hex()]
    if kind is complex:
        return ["c", value.real.hex(), value.imag.hex()]
    if kind is bytes:
        return ["b", value.hex()]
    if depth > MOST_DEPTH:
        raise Opaque
    if kind is dict:
        return ["d", [[pack(key, depth + 1), pack(item, depth + 1)] for key, item in value.items()]]
    tags: dict[Any, str] = {list: "l", tuple: "t", set: "s", frozenset: "f"}
    if kind in tags:
        return [tags[kind], [pack(item, depth + 1) for item in value]]
    raise Opaque


def unpack(packed: Any) -> Any:
    """The value of `pack`."""
    if not isinstance(packed, list):
        return packed
    tag, body = packed[0], packed[1]
    if tag == "i":
        return int(body, 16)
    if tag == "n":
        return float.fromhex(body)
    if tag == "c":
        return complex(float.fromhex(body), float.fromhex(packed[2]))
    if tag == "b":
        return bytes.fromhex(body)
    if tag == "d":
        return {unpack(key): unpack(item) for key, item in body}
    return {"l": list, "t": tuple, "s": set, "f": frozenset}[tag](unpack(item) for item in body)
