"""The notebook as a page: its cells are run here, and what each shows stands under it, as a notebook would show it."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import tempfile
from pathlib import Path
from typing import Any

HEAD = """<!-- Made from {name} by make docs. -->

"""
TAIL = """
[The notebook itself]({name}), to run it.
"""


def shown(code: str, names: dict[str, Any]) -> str:
    """Run a cell and return, as Markdown, what it prints and what its last line shows."""
    tree = ast.parse(code)
    end = tree.body[-1]
    last = end.value if isinstance(end, ast.Expr) else None
    del tree.body[len(tree.body) - (last is not None) :]
    printed = io.StringIO()
    value = None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)  # the notebook's own code
        if last is not None:
            value = eval(compile(ast.Expression(last), "cell", "eval"), names)
    text = printed.getvalue().rstrip("\n")
    parts = [f"```text\n{text}\n```\n"] if text else []
    if value is not None:
        html = value._repr_html_()
        lines = "\n".join(line for line in html.splitlines() if line.strip())  # an empty line would end the block
        parts.append(f'<div class="wai-output">\n{lines}\n</div>\n')
    return "\n".join(parts)


def page(file: Path) -> str:
    """A notebook as Markdown, run in a folder of its own."""
    cells = json.loads(file.read_text("utf-8"))["cells"]
    names: dict[str, Any] = {"__name__": "notebook"}
    parts = []
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for cell in cells:
            text = "".join(cell["source"])
            if cell["cell_type"] == "markdown":
                parts.append(f"{text}\n")
                continue
            parts.append(f"```python\n{text}\n```\n")
            parts.append(shown(text, names))
    return HEAD.format(name=file.name) + "\n".join(part for part in parts if part) + TAIL.format(name=file.name)


def pages(docs: Path) -> dict[str, str]:
    """A page for every notebook, by its path under `docs`."""
    return {f"notebook/{file.stem}.md": page(file) for file in sorted(docs.glob("notebook/*.ipynb"))}
