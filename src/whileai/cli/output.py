"""The result: text or the JSON envelope, on stdout or in a file."""

from __future__ import annotations

import json
import os
import stat
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whileai import __version__
from whileai.cli import terminal
from whileai.cli.failures import InputError

if TYPE_CHECKING:
    import argparse

    from whileai.cli.inputs import Reading
    from whileai.result import Result

SCHEMA_VERSION = "1"


@dataclass(frozen=True)
class Answer:
    """What a command found.

    Attributes
    ----------
    call : str
        The Python call behind the command.
    result : Result
    inputs : sequence of Reading
    ok : bool or None
    verdict : str or None
        ``None`` where the call gives none.
    remarks : tuple of str
        What a gate says beside the result: under the text, or on stderr beside JSON.
    """

    call: str
    result: Result
    inputs: tuple[Reading, ...] = ()
    ok: bool | None = None
    verdict: str | None = None
    remarks: tuple[str, ...] = ()

    def envelope(self) -> dict[str, Any]:
        """The object that ``--json`` writes; its keys keep their order, and within a version are only added to."""
        return {
            "schema_version": SCHEMA_VERSION,
            "call": self.call,
            "version": __version__,
            "ok": self.ok,
            "verdict": self.verdict,
            "summary": self.result.summary,
            "result": self.result.to_dict(),
            "notes": [
                {"code": note.code, "text": note.text, "fix": note.fix} for note in getattr(self.result, "notes", ())
            ],
            "inputs": [entry for reading in self.inputs for entry in reading.described()],
        }


def deliver(args: argparse.Namespace, answer: Answer, *, to_file: bool = True) -> None:
    """Write the answer where it was asked for; ``-o`` holds something else where `to_file` is false."""
    file = args.output if to_file else None
    if args.json:
        text = json.dumps(answer.envelope(), allow_nan=False, ensure_ascii=False)
    elif file is not None:
        text = "\n".join([answer.result.to_text(terminal.WIDE), *answer.remarks])
    else:
        text = answer.result.to_text(terminal.width())
        if terminal.in_colour():
            text = terminal.coloured(text, answer.ok, answer.verdict)
        text = "\n".join([text, *answer.remarks])
    data = encoded(f"{text}\n")
    if file is not None:
        write_file(file, [data])
    else:
        _to_stdout(data)
    if args.json and answer.remarks:
        print(*answer.remarks, sep="\n", file=sys.stderr)


def encoded(text: str) -> bytes:
    """UTF-8; half a surrogate pair, which UTF-8 has no place for, as its escape, which JSON reads again."""
    return text.encode("utf-8", "backslashreplace")


def _to_stdout(data: bytes) -> None:
    """Bytes on stdout, whatever the locale; a reader that went away is no error."""
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        terminal.drop_stdout()
    except OSError:
        terminal.drop_stdout()
        raise


def check_file(file: str | None) -> None:
    """Raise where nothing can be written under this name, before any work is done."""
    if file is None:
        return
    path = Path(file)
    if file in ("", "-") or path.is_dir() or not path.resolve().parent.is_dir():
        raise InputError(f"--output must be a file in a folder that exists; got {file!r}.")


def write_file(file: str, chunks: Iterable[bytes]) -> None:
    """Write a file whole or not at all: under another name first, then renamed.

    A device or a pipe is written to as it is; a symbolic link keeps pointing where it points.
    """
    if Path(file).exists() and not Path(file).is_file():
        with Path(file).open("wb") as device:
            device.writelines(chunks)
        return
    path = Path(file).resolve()
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as temporary:
            temporary.writelines(chunks)
        Path(name).chmod(_mode(path))
        Path(name).replace(path)
    except BaseException:
        with suppress(FileNotFoundError):
            Path(name).unlink()
        raise


def _mode(path: Path) -> int:
    """The permissions of the file that stands there, else those a new file gets."""
    if path.exists():
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
