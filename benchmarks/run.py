"""Run every benchmark and write the table of README.md beside it from their results."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
HEAD = """# Benchmarks

Measured by `make bench`; every ratio is taken within one run on one machine. Absolute times move with the machine.
"""


def table(name: str, entries: list[dict[str, object]]) -> str:
    """The entries of one benchmark as a Markdown table."""
    columns = list(dict.fromkeys(column for entry in entries for column in entry))
    lines = [f"\n## {name}\n", "| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(str(entry.get(column, "")) for column in columns) + " |" for entry in entries]
    return "\n".join(lines) + "\n"


def main() -> None:
    """All of them, one process each, so that none warms another's caches."""
    for script in sorted(HERE.glob("bench_*.py")):
        subprocess.run([sys.executable, str(script)], check=True, cwd=HERE)
    write_page()


def write_page() -> None:
    """README.md from the results there are."""
    results = [json.loads(path.read_text()) | {"name": path.stem} for path in sorted((HERE / "results").glob("*.json"))]
    machine = results[0]["machine"]
    text = HEAD + f"\nPython {machine['python']}, {machine['machine']}, {machine['cores']} cores.\n"
    (HERE / "README.md").write_text(text + "".join(table(result["name"], result["entries"]) for result in results))


if __name__ == "__main__":
    main()
