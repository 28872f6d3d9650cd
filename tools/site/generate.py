"""Writes the pages and figures of the docs that are made from the code; `--check` says which of them are stale.

Run by `make docs` before the site is built. What it writes is committed, so that the docs read the same in the
repository, and a test fails where a file is not what it would be now.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import api
import architecture
import figures
import notebook
import options as commands

ROOT = Path(__file__).resolve().parents[2]
RECIPE = """--8<-- "{folder}/README.md"

## The script

```py title="{folder}/run.py"
--8<-- "{folder}/run.py"
```
"""


def recipes(root: Path) -> dict[str, str]:
    """A page for every recipe, put together from its README and its script when the site is built."""
    found = {}
    for script in sorted(root.glob("recipes/*/*/run.py")):
        folder = script.parent.relative_to(root).as_posix()
        found[f"recipes/{script.parent.name}.md"] = RECIPE.format(folder=folder)
    return found


def schemas(root: Path) -> dict[str, str]:
    """The JSON Schemas that the package ships, so that the docs can link to them."""
    return {
        f"schemas/{file.name}": file.read_text("utf-8") for file in sorted(root.glob("src/whileai/*/*.schema.json"))
    }


def main(argv: list[str] | None = None) -> int:
    """Write what changed, or with `--check` list it and return 1."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; 1 where a file is stale")
    parser.add_argument("--root", type=Path, default=ROOT, help="folder that holds docs/ and recipes/")
    options = parser.parse_args(argv)
    docs = options.root / "docs"
    made = {"options.md": commands.page(), **api.pages(), **recipes(options.root), **schemas(options.root)}
    made |= {**figures.drawn(docs), **architecture.drawn(options.root), **notebook.pages(docs)}
    stale = [
        path for path, text in made.items() if not (docs / path).is_file() or (docs / path).read_text("utf-8") != text
    ]
    for folder in ("api", "figures", "schemas"):  # nothing there is written by hand
        old = (file.relative_to(docs).as_posix() for file in docs.glob(f"{folder}/*"))
        stale += [path for path in old if path not in made]
    for path in stale:
        print(f"{'stale' if options.check else 'written' if path in made else 'removed'}: docs/{path}")
        if options.check:
            continue
        if path in made:
            (docs / path).parent.mkdir(parents=True, exist_ok=True)
            (docs / path).write_text(made[path], "utf-8", newline="\n")
        else:
            (docs / path).unlink()
    return 1 if stale and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
