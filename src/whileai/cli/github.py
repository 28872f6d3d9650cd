"""What GitHub Actions takes: annotations of a step, its summary, and output that no text can turn into a command."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from whileai.measure.gating import Failure

#: GitHub shows so many annotations of a kind in a step.
MOST_ANNOTATIONS = 10
#: Over 1 MiB the upload of a step's summary fails, and just under it content was lost (actions/runner#4337).
SUMMARY_BYTES = 900 * 1024
#: Where the runner would read a command: `::` at the start of a line, after white space too, and `##[` anywhere in it.
_modern = re.compile(r"^(\s*)::", re.MULTILINE)
_LEGACY = "##["


def is_here() -> bool:
    """Whether a runner of GitHub Actions reads what is printed."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def harmless(text: str) -> str:
    """Lines of text as they are, but for a space where the runner would read a command in them."""
    return _modern.sub(r"\1: :", text).replace(_LEGACY, "# #[") if is_here() else text


def harmless_json(text: str) -> str:
    """One line of JSON that reads the same, without what the runner would take for a command inside a string."""
    return text.replace(_LEGACY, "\\u0023#[") if is_here() else text


def annotated(title: str, failures: Iterable[Failure]) -> list[str]:
    """One annotation for each thing a gate objects to, at most ten of a kind; none outside of GitHub Actions."""
    if not is_here():
        return []
    lines: dict[str, list[str]] = {"error": [], "warning": []}
    for failure in failures:
        kind = "warning" if failure.kind == "not_measured" else "error"
        lines[kind].append(f"::{kind} title={_property(title)}::{_data(failure.text)}")
    found = []
    for kind, said in lines.items():
        found += said[:MOST_ANNOTATIONS]
        if len(said) > MOST_ANNOTATIONS:
            more = f"and {len(said) - MOST_ANNOTATIONS + 1:,} more; the output has all of them"
            found[-1] = f"::{kind} title={_property(title)}::{more}"
    return found


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def summary_file() -> str:
    """The file of the step's summary, empty where there is none."""
    return os.environ.get("GITHUB_STEP_SUMMARY", "")


def summary_room() -> int:
    """Bytes that may still be added to the step's summary."""
    path = Path(summary_file())
    return SUMMARY_BYTES - (path.stat().st_size if path.is_file() else 0)


def append_summary(text: str) -> None:
    """Add a part to the step's summary, in one write, so that two steps at once do not mix.

    An empty line parts it from what stands there.
    """
    path = Path(summary_file())
    start = "\n" if path.is_file() and path.stat().st_size else ""
    data = f"{start}{text}".encode("utf-8", "backslashreplace")
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    try:
        os.write(handle, data)
    finally:
        os.close(handle)
