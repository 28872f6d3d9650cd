"""Which isolation this machine offers: tried once per process with a good and a bad program, strongest first."""

from __future__ import annotations

import functools
import os
import shutil
import sys
import threading
from dataclasses import dataclass
from typing import Any

from whileai.verify.sandbox import cell

NAMES = ("bubblewrap", "landlock", "rlimits")
CHOICES = ("auto", "strict", *NAMES)
WEAKEST = "rlimits"

_lock = threading.Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: globals().__setitem__("_lock", threading.Lock()))


@dataclass(frozen=True, slots=True)
class Level:
    """An isolation that works here.

    Attributes
    ----------
    name : str
        ``bubblewrap``, ``landlock`` or ``rlimits``.
    prefix : tuple of str
        Words before the interpreter.
    need : tuple of str
        Parts that must work inside.
    drop : bool
        Whether the whole of it runs as a private user, which only root can arrange.
    """

    name: str
    prefix: tuple[str, ...] = ()
    need: tuple[str, ...] = ()
    drop: bool = False

    def run(self, job: cell.Job, started: Any = None) -> Any:
        """The supervisor's report on a job."""
        return cell.run(job, self.name, list(self.prefix), list(self.need), started, drop=self.drop)


def choose(isolation: str) -> Level | str:
    """The level for what the caller asked, or in words why there is none."""
    tried = []
    for name in NAMES if isolation in ("auto", "strict") else (isolation,):
        if isolation == "strict" and name == WEAKEST:
            break
        with _lock:
            level = _working(name, shutil.which("bwrap") or "")
        if isinstance(level, Level):
            return level
        tried.append(f"{name}: {level}")
    return "no isolation of the kind asked for works on this machine (" + "; ".join(tried) + ")"


@functools.cache
def _working(name: str, bubblewrap: str) -> Level | str:
    """The level if a known good program passes under it and a known bad one fails, else what went wrong."""
    words = "not tried"
    for level in _variants(name, bubblewrap):
        words = self_test(level)
        if not words:
            return level
    return words if words != "not tried" else "not installed" if name == "bubblewrap" else "not on this system"


def _variants(name: str, bubblewrap: str) -> list[Level]:
    if name == "bubblewrap":
        if not bubblewrap:
            return []
        folders = cell.interpreter_folders()
        root = os.geteuid() == 0
        as_root = cell.bubblewrap_command(bubblewrap, folders, as_root=True)
        as_user = cell.bubblewrap_command(bubblewrap, folders, as_root=False)
        older = [word for word in as_user if word != "--disable-userns"]
        made = [Level(name, tuple(as_root))] if root else []
        if root and cell.reachable(folders):
            made += [Level(name, tuple(words), drop=True) for words in (as_user, older)]
        return [*made, *(Level(name, tuple(words)) for words in (as_user, older))]
    if name == "landlock":
        return [Level(name, (), ("landlock", "seccomp"))] if sys.platform == "linux" else []
    return [Level(name, (), ("network",))]


GOOD = "def double(n):\n    return 2 * n\n"
BAD = "def double(n):\n    raise SystemExit(0)\n"
TESTS = "def test_double():\n    assert double(4) == 8\n"


def self_test(level: Level) -> str:
    """What is wrong with a level, empty where it tells good from bad."""
    for reply, reward in ((GOOD, 1), (BAD, 0)):
        job = cell.Job(reply, TESTS, cpu=20, wall=30, memory_mb=512)
        try:
            report = level.run(job)
        except cell.SandboxError as error:
            return str(error)
        if report["reward"] != reward:
            return f"a known {'good' if reward else 'bad'} program got {report['reward']} ({report['reason']})"
    return ""
