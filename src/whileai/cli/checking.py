"""``wai self-check``: the statistics on agents whose truth is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whileai.cli.output import Answer, check_file, deliver

if TYPE_CHECKING:
    import argparse


def self_check(args: argparse.Namespace) -> int:
    """Whether the statistics keep what they promise; 1 where one does not."""
    from whileai.measure.self_check import self_check as call

    check_file(args.output)
    result = call(full=args.full, seed=args.seed, level=args.level)
    deliver(args, Answer("self_check", result, (), result.ok, result.verdict))
    return 0 if result.ok else 1
