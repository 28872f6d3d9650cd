"""Every example in README, docs and docstrings runs: one namespace a page, printed text compared where it is shown."""

from __future__ import annotations

import contextlib
import io
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


class Blocks:
    """Python blocks, and the text blocks that show what the one before printed."""

    def __init__(self) -> None:
        self.python = CodeBlockParser("python", run_python)
        self.text = CodeBlockParser("text", compare_text)

    def __call__(self, document: Document) -> Iterable[Region]:
        """All blocks of a page in order."""
        yield from self.python(document)
        yield from self.text(document)


def compare_text(example: Example) -> None:
    """A text block right after a Python block must equal what that block printed."""
    printed = example.namespace.pop("__printed__", None)
    if printed is not None:
        assert printed.rstrip() == example.parsed.rstrip(), f"printed:\n{printed}"


pages = Sybil(parsers=[Blocks()], patterns=["*.md"], excludes=["CHANGELOG.md", "CONTRIBUTING.md"])
docstrings = Sybil(parsers=[DocTestParser()], patterns=["*.py"], document_types={".py": PythonDocStringDocument})
pytest_collect_file = (pages + docstrings).pytest()
