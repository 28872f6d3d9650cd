"""The inside of a worker process: one JSON line in, one JSON line out, until its input ends or its parent is gone."""

from __future__ import annotations

import json
import os
import select
import signal
import sys
from collections.abc import Callable
from typing import Any

Handler = Callable[[dict[str, Any]], dict[str, Any]]

#: Seconds without work after which a worker goes by itself.
IDLE_SECONDS = 900.0


def serve(load: Callable[[], Handler]) -> None:
    """Answer the messages of a `whileai.verify.workers.pool` until its pipe closes.

    Parameters
    ----------
    load : callable
        Does the slow imports and returns the handler: a message to an answer. What the handler raises is answered as
        ``{"error": ...}``.

    Notes
    -----
    The first line in holds the limits: ``memory_mb``, ``parent``. Standard output belongs to the answers alone; what a
    library prints goes nowhere. While a message is at work an alarm of the kernel's stands behind it, so that a worker
    deep in one long C call ends even where nobody is left to kill it.
    """
    answers = os.dup(1)
    silence = os.open(os.devnull, os.O_RDWR)
    os.dup2(silence, 1)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    lines = _Lines(0)
    first = lines.next(os.getppid())
    if first is None:
        return
    limits = json.loads(first)
    handler = load()
    _limit_memory(limits.get("memory_mb"))
    os.dup2(silence, 2)
    sys.setrecursionlimit(3000)
    _send(answers, {"ready": os.getpid()})
    while (line := lines.next(limits["parent"])) is not None:
        message = json.loads(line)
        signal.alarm(int(message["limit"]) + 5)
        try:
            answer = handler(message["body"])
        except Exception as error:  # noqa: BLE001 - whatever a handler raises is an answer; the worker goes on
            answer = {"error": type(error).__name__}
        signal.alarm(0)
        if not _send(answers, {"id": message["id"], "body": answer}):
            return


class _Lines:
    """Lines read from a pipe, given up when the parent is another or nothing came for long."""

    def __init__(self, source: int) -> None:
        self.source = source
        self.rest = b""
        self.lines: list[bytes] = []

    def next(self, parent: int) -> bytes | None:
        """The next line, ``None`` where there will be none."""
        waited = 0.0
        while not self.lines:
            if not select.select([self.source], [], [], 2.0)[0]:
                waited += 2.0
                if os.getppid() != parent or waited > IDLE_SECONDS:
                    return None
                continue
            part = os.read(self.source, 1 << 16)
            if not part:
                return None
            *whole, self.rest = (self.rest + part).split(b"\n")
            self.lines = whole
        return self.lines.pop(0)


def _send(target: int, message: dict[str, Any]) -> bool:
    """Write a message, or say that nobody reads any more."""
    line = json.dumps(message).encode() + b"\n"
    try:
        while line:
            line = line[os.write(target, line) :]
    except OSError:
        return False
    return True


def _limit_memory(megabytes: int | None) -> None:
    """Bound the address space and leave no core files, as far as the hard limits allow."""
    import resource

    wanted = [(resource.RLIMIT_CORE, 0)]
    if megabytes is not None:
        wanted.append((resource.RLIMIT_AS, megabytes * 1024 * 1024))
    for what, most in wanted:
        hard = resource.getrlimit(what)[1]
        value = most if hard == resource.RLIM_INFINITY else min(most, hard)
        try:
            resource.setrlimit(what, (value, hard))
        except (ValueError, OSError):  # a host that knows no such limit still has the clock
            continue
