"""Every example in README, docs and docstrings runs: one namespace a page, printed text compared where it is shown."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING
from unittest import mock

from sybil import Document, Example, Region, Sybil
from sybil.document import PythonDocStringDocument
from sybil.parsers.markdown import CodeBlockParser
from sybil.parsers.rest import DocTestParser

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


#: What a page may plot with without this project needing it: where it is missing, a stand-in takes every call, and
#: what the block reads of our results is still run.
PLOTTERS = ("altair", "matplotlib", "matplotlib.pyplot")


@contextlib.contextmanager
def plotters() -> Iterator[None]:
    """Stand-ins for the plotting libraries that are not installed."""
    missing = {name: mock.MagicMock() for name in PLOTTERS if importlib.util.find_spec(name.split(".")[0]) is None}
    sys.modules.update(missing)
    try:
        yield
    finally:
        for name in missing:
            del sys.modules[name]


def open_page(namespace: dict[str, object]) -> None:
    """A folder of its own for every page, in which its blocks run."""
    namespace["__folder__"] = tempfile.mkdtemp(prefix="page-")


def close_page(namespace: dict[str, object]) -> None:
    """Remove what the page has written."""
    shutil.rmtree(str(namespace["__folder__"]))


def run_python(example: Example) -> None:
    """Run a block and keep what it prints."""
    printed = io.StringIO()
    code = compile("\n" * (example.line + example.parsed.line_offset) + example.parsed, example.path, "exec")
    with contextlib.chdir(example.namespace["__folder__"]), contextlib.redirect_stdout(printed), plotters():
        exec(code, example.namespace)  # noqa: S102 - the page's own code
    example.namespace["__printed__"] = printed.getvalue()


def run_console(example: Example) -> None:
    """The `wai` commands of a console block in the page's folder, each with what it prints.

    ``# exit 1`` says that a command must end so, and no other may. How large a written file is may differ. The pages of
    the command line have a test of their own, which also fills them in.
    """
    if example.path.endswith(("docs/cli.md", "docs/ci.md")):
        return
    unset = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TERM", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY")
    env = {name: value for name, value in os.environ.items() if name not in unset}
    for line, shown in re.findall(r"^\$ (wai .*)\n?((?:(?!\$ ).*\n?)*)", example.parsed, re.MULTILINE):
        command = [sys.executable, "-m", "whileai", *shlex.split(line, comments=True)[1:]]
        folder = example.namespace["__folder__"]
        done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == int("# exit 1" in line), done.stderr
        printed, wanted = (re.sub(r"\b\d+ KB", "N KB", text).rstrip() for text in (done.stdout + done.stderr, shown))
        assert printed == wanted, f"{line}\n{done.stdout}{done.stderr}"


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


pages = Sybil(
    parsers=[Blocks()],
    patterns=["*.md"],
    excludes=["CHANGELOG.md", "CONTRIBUTING.md"],
    setup=open_page,
    teardown=close_page,
)
docstrings = Sybil(parsers=[DocTestParser()], patterns=["*.py"], document_types={".py": PythonDocStringDocument})
pytest_collect_file = (pages + docstrings).pytest()
