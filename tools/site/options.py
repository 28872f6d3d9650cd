"""The options of every command, from the parsers themselves."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from whileai.cli import options
from whileai.cli.parser import Parser

HEAD = """# Options of every command

Made from the parsers by `make docs`; `wai COMMAND --help` shows the same. What a command prints is on
[the page of the command line](cli.md).
"""
#: At the end of nearly every command.
COMMON = ("--map", "--from", "--filter", "--json", "--markdown", "--quiet", "--debug", "--help")


def called(action: argparse.Action) -> str:
    """An argument as it is written, with what it takes."""
    if not action.option_strings:
        return str(action.metavar or action.dest)
    metavar = action.metavar or action.dest.upper()
    takes = "" if action.nargs == 0 else f" {metavar if isinstance(metavar, str) else ' '.join(metavar)}"
    return f"{', '.join(action.option_strings)}{takes}"


def table(actions: Sequence[argparse.Action]) -> str:
    """Arguments and what they say, a line each."""
    lines = [f"| `{called(one)}` | {(one.help or '').replace('%%', '%').replace('|', '&#124;')} |" for one in actions]
    return "\n".join(["| option | |", "|---|---|", *lines])


def is_common(action: argparse.Action) -> bool:
    """Whether an option is told once, for all commands."""
    return any(name in COMMON for name in action.option_strings)


def arguments_of(parser: Parser) -> list[argparse.Action]:
    """The arguments of a parser, in their order."""
    return list(parser._actions)


def page() -> str:
    """The page: what all commands take, then what each does."""
    parsers = {name: options.parser_of(name) for name in options.COMMANDS}
    shared = [one for one in arguments_of(parsers["pass-at"]) if is_common(one) and "--help" not in one.option_strings]
    parts = [HEAD]
    for name, command in options.COMMANDS.items():
        own = [one for one in arguments_of(parsers[name]) if not is_common(one)]
        parts.append(f"## {name}\n\n{command.question}\n\n`wai {name} {command.usage}`\n\n{table(own)}\n")
    without = ", ".join(f"`{name}`" for name in options.WITHOUT_FILES)
    told = f"Of every command; {without} read no files of rows and lack the first three."
    parts.append(f"## All of them\n\n{told}\n\n{table(shared)}\n")
    return "\n".join(parts)
