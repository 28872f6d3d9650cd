"""Every example in README, docs and docstrings runs: one namespace a page, printed text compared where it is shown."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

from sybil import Document, Example, Region, Sybil
from sybil.document import PythonDocStringDocument
from sybil.parsers.markdown import CodeBlockParser
from sybil.parsers.rest import DocTestParser

if TYPE_CHECKING:
    from collections.abc import Iterable


def run_python(example: Example) -> None:
    """Run a block and keep what it prints."""
    printed = io.StringIO()
    code = compile("\n" * (example.line + example.parsed.line_offset) + example.parsed, example.path, "exec")
    with contextlib.redirect_stdout(printed):
        exec(code, example.namespace)  # noqa: S102 - the page's own code
    example.namespace["__printed__"] = printed.getvalue()


def run_console(example: Example) -> None:
    """The commands of a console block in the page's own `folder`, each with what it prints.

    ``# exit 1`` says that a command must end so, and no other may. Pages without a folder show commands that run
    elsewhere; the pages of the command line have a test of their own, which also fills them in.
    """
    folder = example.namespace.get("folder")
    if folder is None or example.path.endswith(("docs/cli.md", "docs/ci.md")):
        return
    unset = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TERM", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY")
    env = {name: value for name, value in os.environ.items() if name not in unset}
    for line, shown in re.findall(r"^\$ (wai .*)\n?((?:(?!\$ ).*\n?)*)", example.parsed, re.MULTILINE):
        command = [sys.executable, "-m", "whileai", *shlex.split(line, comments=True)[1:]]
        done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == int("# exit 1" in line), done.stderr
        assert (done.stdout + done.stderr).rstrip() == shown.rstrip(), f"{line}\n{done.stdout}{done.stderr}"


class Blocks:
    """Python blocks, the text blocks that show what the one before printed, and console blocks."""

    def __init__(self) -> None:
        self.python = CodeBlockParser("python", run_python)
        self.text = CodeBlockParser("text", compare_text)
        self.console = CodeBlockParser("console", run_console)

    def __call__(self, document: Document) -> Iterable[Region]:
        """All blocks of a page in order."""
        yield from self.python(document)
        yield from self.text(document)
        yield from self.console(document)


def compare_text(example: Example) -> None:
    """A text block right after a Python block must equal what that block printed."""
    printed = example.namespace.pop("__printed__", None)
    if printed is not None:
        assert printed.rstrip() == example.parsed.rstrip(), f"printed:\n{printed}"


pages = Sybil(parsers=[Blocks()], patterns=["*.md"], excludes=["CHANGELOG.md", "CONTRIBUTING.md"])
docstrings = Sybil(parsers=[DocTestParser()], patterns=["*.py"], document_types={".py": PythonDocStringDocument})
pytest_collect_file = (pages + docstrings).pytest()
