"""The table of measured coverage in docs/statistics.md, from a full run of `self_check`.

``python tests/coverage/full_run.py`` runs it, for minutes on all cores, writes the page anew and exits with 1 if a
promise was missed; ``--from FILE`` takes what ``wai self-check --full --json -o FILE`` wrote.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path

import whileai as wai
from whileai.measure import self_check

PAGE = Path(__file__).parents[2] / "docs" / "statistics.md"
BLOCK = re.compile(r"(<!-- full run: .*? -->\n).*?(<!-- end of the full run -->)", re.DOTALL)
HEADER = ("promise", "tasks", "settings", "mean", "worst", "promised", "MC se", "where the worst is")


def read(path: Path) -> self_check.SelfCheck:
    """The result in the envelope that the command line wrote."""
    found = json.loads(path.read_text(encoding="utf-8"))["result"]
    checks = tuple(self_check.Check(**check) for check in found.pop("checks"))
    return self_check.SelfCheck(**{**found, "checks": checks, "notes": ()})


def page_table(result: self_check.SelfCheck) -> str:
    """The groups of checks as a Markdown table."""
    trials = max(check.trials for check in result.checks if not check.check.startswith(("noise", "verdict")))
    held = "all hold what is promised" if result.ok else f"{result.n_misses} fall short"
    lines = [
        f"{result.n_checks:,} checks of {trials:,} trials or more, seed {result.seed}: {held}.",
        "",
        "| " + " | ".join(HEADER) + " |",
        "|" + "---|" * len(HEADER),
    ]
    lines += ["| " + " | ".join(self_check._row(group)) + " |" for group in self_check._groups(result.checks)]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write the page, and say whether every promise held."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--from", dest="source", type=Path, metavar="FILE", help="a run that was made before")
    source = parser.parse_args().source
    result = wai.self_check(full=True) if source is None else read(source)
    text = PAGE.read_text(encoding="utf-8")
    block = page_table(result)
    PAGE.write_text(BLOCK.sub(lambda found: found[1] + block + found[2], text), encoding="utf-8")
    print(result.summary)
    for check in result.misses:
        print(f"missed: {check}")
    return 0 if result.ok else 1


if __name__ == "__main__":
    sys.exit(main())
