"""argparse in this library's words: one-sentence errors, and near misses for misspelt options."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from whileai.params import near_miss


class UsageError(Exception):
    """A command line that cannot be read; the message is the whole line to print."""


class Parser(argparse.ArgumentParser):
    """argparse with one-sentence errors, and near misses for misspelt options."""

    def __init__(self, **settings: Any) -> None:
        self.flags: list[str] = []
        super().__init__(allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, **settings)

    def add_argument(self, *names: Any, **settings: Any) -> argparse.Action:
        """As argparse's, keeping the names of the flags."""
        self.flags += [name for name in names if name.startswith("--")]
        return super().add_argument(*names, **settings)

    def error(self, message: str) -> NoReturn:
        """Raise the one sentence about what is wrong with the command line."""
        raise UsageError(f"{self.prog}: error: {_reworded(message)}")

    def check_flags(self, argv: Sequence[str]) -> None:
        """Raise on a flag that is not there, before argparse takes its value for something else."""
        for item in argv:
            if item == "--":
                return
            name = item.partition("=")[0]
            if name.startswith("--") and name not in self.flags:
                self.error(f"there is no option {name} here. {near_miss(name, self.flags)}".rstrip())


def _reworded(message: str) -> str:
    """What argparse says, in this library's words."""
    missing = re.match(r"the following arguments are required: (.*)", message)
    if missing:
        return f"{missing[1]} must be given."
    extra = re.match(r"unrecognized arguments: (.*)", message)
    if extra:
        return f"nothing here takes {extra[1]}. A pattern in quotes is one argument."
    about = re.match(r"argument ([^:]+): (.*)", message, re.DOTALL)
    if not about:
        return message
    name = about[1].split("/")[-1].split(" ")[0]
    needs = re.match(r"expected (one|\d+|at least one) arguments?$", about[2])
    if needs:
        return f"{name} needs {'a value' if needs[1] != '2' else 'two values'}."
    return f"{name} {about[2]}"


def one_of(*names: str) -> Callable[[str], str]:
    """One of a few names of the command line, the near miss named."""

    def read(text: str) -> str:
        if text not in names:
            bound = ", ".join(map(repr, names))
            raise argparse.ArgumentTypeError(f"must be one of {bound}; got {text!r}. {near_miss(text, names)}")
        return text

    return read


def number(text: str) -> float:
    """A number of the command line."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number; got {text!r}.") from None


def whole(text: str) -> int:
    """A whole number of the command line."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a whole number; got {text!r}.") from None
