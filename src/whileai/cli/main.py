"""`wai`: parse, call, print; every way out has its exit code."""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import sys
from collections.abc import Iterator, Sequence

from whileai.cli import github, options
from whileai.cli.failures import explain, one_line
from whileai.cli.parser import UsageError
from whileai.cli.terminal import drop_stdout

DONE, BAD, INTERRUPTED = 0, 2, 130


def run() -> None:
    """The console entry point: run `main` and end the process with its code."""
    name, code = "wai", INTERRUPTED
    gc.set_threshold(50_000, 20, 100)  # rows hold no cycles, and walking all of them again and again takes a third
    try:
        argv = sys.argv[1:]
        name = options.program(argv)
        code = main(argv)
    except KeyboardInterrupt:
        _say(f"{name}: interrupted")
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        drop_stdout()
    except OSError as error:
        _say(f"{name}: error: stdout: {error.strerror}.")
        drop_stdout()
        code = BAD
    sys.exit(code)


def main(argv: Sequence[str]) -> int:
    """Run one command.

    Parameters
    ----------
    argv : sequence of str
        What stands behind ``wai``.

    Returns
    -------
    int
        0 done, 1 a gate said no, 2 bad usage or input. An interrupt is left to the caller.
    """
    try:
        args = options.parse(argv)
    except UsageError as error:
        _say(str(error))
        return BAD
    except SystemExit:  # --help and --version have printed
        return DONE
    module, _, function = args.run.partition(":")
    with _quiet(args.quiet or args.json):
        try:
            code: int = getattr(importlib.import_module(module), function)(args)
        except Exception as error:  # noqa: BLE001 - a failure must not end in 1, which is a gate's no
            if args.debug:
                import traceback

                traceback.print_exc()
            _say(f"wai {args.command}: error: {explain(error, args.command)}")
            return BAD
    return code


@contextlib.contextmanager
def _quiet(wanted: bool) -> Iterator[None]:
    """No progress lines while this holds; `whileai.progress` reads the environment."""
    before = os.environ.get("WHILEAI_QUIET")
    if wanted:
        os.environ["WHILEAI_QUIET"] = "1"
    try:
        yield
    finally:
        if wanted and before is None:
            os.environ.pop("WHILEAI_QUIET", None)
        elif wanted and before is not None:
            os.environ["WHILEAI_QUIET"] = before


def _say(line: str) -> None:
    """One line on stderr."""
    with contextlib.suppress(BrokenPipeError):
        print(github.harmless(one_line(line)), file=sys.stderr, flush=True)
