"""The progress line: only for a person who waits at a terminal."""

from __future__ import annotations

import io
import sys

import pytest

from whileai import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


class NoStream:
    def write(self, text):
        pass


def sit_at_a_terminal(monkeypatch):
    monkeypatch.delenv("WHILEAI_QUIET", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())


def test_wanted_at_a_terminal(monkeypatch):
    sit_at_a_terminal(monkeypatch)
    assert progress.wanted()


@pytest.mark.parametrize(("name", "value"), [("WHILEAI_QUIET", "1"), ("TERM", "dumb")])
def test_not_wanted_when_told(monkeypatch, name, value):
    sit_at_a_terminal(monkeypatch)
    monkeypatch.setenv(name, value)
    assert not progress.wanted()


def closed():
    stream = io.StringIO()
    stream.close()
    return stream


@pytest.mark.parametrize(
    "stream", [None, io.StringIO(), closed(), NoStream()], ids=["none", "file", "closed", "stand-in"]
)
def test_not_wanted_without_a_terminal(monkeypatch, stream):
    monkeypatch.setattr(sys, "stderr", stream)
    assert not progress.wanted()


def test_items_pass_in_order_either_way(monkeypatch):
    sit_at_a_terminal(monkeypatch)
    monkeypatch.setattr(progress, "DELAY", 0.0)
    assert list(progress.progress(iter(range(50)), total=50, what="grade")) == list(range(50))
    assert "grade" in sys.stderr.getvalue()
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert list(progress.progress("abc", total=None, what="grade")) == ["a", "b", "c"]
    assert sys.stderr.getvalue() == ""
