"""``wai convert`` (also ``wai export``): rows into a file of another format, the report to stdout."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whileai.cli.failures import InputError
from whileai.cli.inputs import reading, told
from whileai.cli.output import Answer, deliver
from whileai.cli.terminal import busy
from whileai.errors import RowError

if TYPE_CHECKING:
    import argparse

BAD = 2


def convert(args: argparse.Namespace) -> int:
    """Write rows for a trainer or a registry; 2 where no row could become a line."""
    from whileai.export.writing import checked, write_rows

    _, made = checked(args.output, args.format)
    settings = {
        "format": args.format,
        "include_reference": args.include_reference,
        "system_prompt": args.system_prompt,
        "tools": _tools(args.tools),
        **_of_pairs(args, made.unit),
    }
    data = reading(args, "write", "rows", args.data)
    rows = data.rows()
    try:
        with busy(f"write {len(rows):,} rows"):
            result = told(write_rows(rows, args.output, **settings), data)
    except RowError as error:
        raise data.blame(error) from error
    deliver(args, Answer("write", result, (data,), result.n_lines > 0), to_file=False)
    return 0 if result.n_lines else BAD


def _of_pairs(args: argparse.Namespace, unit: str) -> dict[str, Any]:
    """The settings of preference pairs, which no other format takes."""
    from whileai import params

    given = {name: getattr(args, name) for name in ("per_task", "min_margin") if getattr(args, name) is not None}
    if given and unit != "pair":
        name = "--" + next(iter(given)).replace("_", "-")
        raise InputError(f"{name} must be left out; got it for {args.format}, which has no pairs.")
    if "per_task" in given:
        params.whole("write", "per_task", given["per_task"])
    if "min_margin" in given:
        params.real("write", "min_margin", given["min_margin"], "a number in (0, 1]", 0, 1, ends="(]")
    return given


def _tools(file: str | None) -> Any:
    """The schemas in a JSON file."""
    if file is None:
        return None
    try:
        return json.loads(Path(file).read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(
            f"--tools must be a file of JSON, a list of tool schemas; {file!r} is none: {error}."
        ) from error
