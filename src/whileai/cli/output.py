"""The result: text or the JSON envelope, on stdout or in a file."""

from __future__ import annotations

import json
import os
import stat
import sys
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whileai import __version__
from whileai.cli import github, terminal
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
    annotations : tuple of str
        Lines for GitHub Actions, on stderr.
    markdown : str or None
        The result as Markdown where that is more than the result's own.
    gated : bool
        Whether a gate was asked for: the Markdown then goes to the summary of the step, asked for or not.
    """

    call: str
    result: Result
    inputs: tuple[Reading, ...] = ()
    ok: bool | None = None
    verdict: str | None = None
    remarks: tuple[str, ...] = ()
    annotations: tuple[str, ...] = ()
    markdown: str | None = None
    gated: bool = False

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
    data = encoded(f"{_text(args, answer, printed=file is None)}\n")
    if file is not None:
        write_file(file, [data])
    else:
        _to_stdout(data)
    said = [github.harmless(remark) for remark in answer.remarks] if args.json else []
    for line in (*said, *answer.annotations):
        print(line, file=sys.stderr)
    if github.summary_file() and (args.markdown or answer.gated):
        from whileai.cli.markdown import fitted

        part = fitted(_markdown(answer), github.summary_room())
        if part:
            github.append_summary(part)


def _text(args: argparse.Namespace, answer: Answer, *, printed: bool) -> str:
    """The answer in the form asked for, without the last line break; `printed` where it goes to stdout."""
    if args.json:
        text = json.dumps(answer.envelope(), allow_nan=False, ensure_ascii=False)
        return github.harmless_json(text) if printed else text
    if args.markdown:
        from whileai.cli.markdown import COMMENT_BYTES, fitted

        text = fitted(_markdown(answer), COMMENT_BYTES).rstrip("\n")
        return github.harmless(text) if printed else text
    if not printed:
        return "\n".join([answer.result.to_text(terminal.WIDE), *answer.remarks])
    text = answer.result.to_text(terminal.width())
    if terminal.in_colour():
        text = terminal.coloured(text, answer.ok, answer.verdict)
    return github.harmless("\n".join([text, *answer.remarks]))


def _markdown(answer: Answer) -> str:
    """The answer as Markdown."""
    if answer.markdown is not None:
        return answer.markdown
    from whileai.cli.markdown import other

    return other(answer.result, answer.remarks)


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


def check_file(file: str | None, flag: str = "--output") -> None:
    """Raise where nothing can be written under this name, before any work is done."""
    if file is None:
        return
    path = Path(file)
    if file in ("", "-") or path.is_dir() or not path.resolve().parent.is_dir():
        raise InputError(f"{flag} must be a file in a folder that exists; got {file!r}.")


def check_files(files: Mapping[str, str | None]) -> None:
    """The same for several, which must differ: the later would take the place of the earlier."""
    seen: set[Path] = set()
    for flag, file in files.items():
        check_file(file, flag)
        if file is None:
            continue
        if Path(file).resolve() in seen:
            raise InputError(f"{flag} must be a file of its own; got {file!r} twice.")
        seen.add(Path(file).resolve())


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
