"""Which part of a reply is the solution. Imports nothing of the library: it also runs inside the sandbox.

A reply without a fence, or one that is Python as it stands, is the solution as a whole. Else the solution is made of
fenced blocks:

1. Blocks named as Python (``python``, ``py``, ``python3``, any case) count first; blocks without a name where those
   do not do. Blocks named as anything else (``bash``, ``text``, ``output``) never count.
2. From the last block to the first, a block is taken if it defines a name that is still wanted: those the tests use,
   then the names that the taken blocks use and do not define. So a corrected version wins over a draft, a usage example
   at the end is left out, and a solution spread over several blocks is put together.
3. Where no name is wanted (a program with standard input), the last block that is Python counts, one that reads its
   input before one that does not.

Fences are of backticks or tildes, indented or not; a fence that is never closed goes to the end. A closing fence inside
a docstring does not end its block: the first closing fence that leaves valid Python does. What a reasoning model thinks
before ``</think>`` is left out.
"""

from __future__ import annotations

import ast
import builtins
import re
import textwrap
import warnings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

NAMES = frozenset({"python", "py", "python3", "python2", "py3", "python3.11", "ipython", "sage", "tool_code"})
_FENCE = re.compile(r"^([ \t]*)(`{3,}|~{3,})([^\n]*)$")
_MOST_CLOSINGS = 20


class Block:
    """One fenced block: its language in lower case, its text, and its tree where it is Python."""

    def __init__(self, language: str, text: str, tree: ast.Module | None) -> None:
        self.language, self.text, self.tree = language, text, tree
        self.defines: set[str] = set()
        self.uses: set[str] = set()
        if tree is not None:
            self.defines, self.uses = names_of(tree)


def solution_of(
    reply: str, wanted: Iterable[str] = (), entry_point: str | None = None, prompt: str | None = None
) -> str:
    """The solution in a reply.

    Parameters
    ----------
    reply : str
        The whole reply of a model.
    wanted : iterable of str
        Names the solution should define, such as those that its tests use.
    entry_point, prompt : str, optional
        Where the reply defines no `entry_point` and completes the code of `prompt` (as HumanEval asks), prompt and
        reply together are the solution.
    """
    text = reply.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    names = list(wanted)
    _, mark, rest = text.rpartition("</think>")
    if mark and rest.strip():
        text = rest
    whole = text
    if not any(map(_FENCE.match, text.split("\n"))) or _tree(text) is not None:
        chosen = whole
    else:
        chosen = _chosen(blocks_of(text), names) or whole
    if entry_point and prompt:
        tree = _tree(chosen)
        if tree is None or entry_point not in names_of(tree)[0]:
            return _completed(prompt, chosen, entry_point) or chosen
    return chosen


def blocks_of(text: str) -> list[Block]:
    """The fenced blocks of a text, in order."""
    lines = text.split("\n")
    blocks, place = [], 0
    while place < len(lines):
        opening = _FENCE.match(lines[place])
        if opening is None or (opening[2][0] == "`" and "`" in opening[3]):
            place += 1
            continue
        language = (opening[3].strip().strip("{}.").split() or [""])[0].strip("{}.,:").lower()
        end, content, tree = _block(lines, place, opening, is_python=language in NAMES or not language)
        blocks.append(Block(language, content, tree))
        place = end + 1
    return blocks


def _block(
    lines: list[str], start: int, opening: re.Match[str], *, is_python: bool
) -> tuple[int, str, ast.Module | None]:
    """Last line, text and tree of the block opened on line `start`."""
    indent, mark = opening[1], opening[2]
    endings = []
    for place in range(start + 1, len(lines)):
        closing = _FENCE.match(lines[place])
        if closing and closing[2][0] == mark[0] and len(closing[2]) >= len(mark) and not closing[3].strip():
            endings.append(place)
            if not is_python or len(endings) >= _MOST_CLOSINGS:
                break
    endings = endings or [len(lines)]
    for end in endings:
        text = _cut(lines[start + 1 : end], indent)
        tree = _tree(text) if is_python else None
        if tree is not None:
            return end, text, tree
    # no ending leaves Python: the first that CommonMark would take, one indented no deeper than the opening
    usual = [end for end in endings if end < len(lines) and len(_indent(lines[end])) <= len(indent) + 3]
    end = (usual or endings)[0]
    return end, _cut(lines[start + 1 : end], indent), None


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _cut(lines: list[str], indent: str) -> str:
    """The lines without the indentation of their fence."""
    text = "\n".join(line.removeprefix(indent) for line in lines) + "\n"
    return text if _tree(text) is not None else textwrap.dedent(text)


def _tree(text: str) -> ast.Module | None:
    """The tree of a text, ``None`` where it is no Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def names_of(tree: ast.Module) -> tuple[set[str], set[str]]:
    """The names a block defines at its top level, and those it uses that nothing in it binds."""
    defined: set[str] = set()
    bound: set[str] = set(dir(builtins))
    used: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.alias):
            bound.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.ExceptHandler) and node.name:
            bound.add(node.name)
    for statement in tree.body:
        defined |= _bound_by(statement)
    return defined, used - bound


def _bound_by(statement: ast.stmt) -> set[str]:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {(alias.asname or alias.name).split(".")[0] for alias in statement.names}
    if isinstance(statement, (ast.If, ast.Try, ast.With)):
        inner = [item for part in ("body", "orelse", "finalbody") for item in getattr(statement, part, [])]
        return set().union(*map(_bound_by, inner)) if inner else set()
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _chosen(blocks: list[Block], wanted: list[str]) -> str:
    """The blocks that make the solution, joined; empty where no block can."""
    named = [block for block in blocks if block.language in NAMES]
    unnamed = [block for block in blocks if not block.language]
    for group in (named, named + unnamed if not named else [], unnamed, blocks):
        taken = _defining([block for block in blocks if block in group], wanted)
        if taken:
            return "\n".join(block.text for block in taken)
    for group in (named, unnamed):
        python = [block for block in group if block.tree is not None]
        functions = [block for block in python if _has_definition(block)]
        reading = [block for block in python if re.search(r"\binput\b|\bstdin\b|open\(0\)", block.text)]
        best = (reading if not wanted else functions) or functions or python
        if wanted and best and functions:
            return best[-1].text
        if not wanted and best:
            return (reading or python)[-1].text
        if group:
            return group[-1].text
    return ""


def _has_definition(block: Block) -> bool:
    return block.tree is not None and any(
        isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) for node in block.tree.body
    )


def _defining(blocks: list[Block], wanted: list[str]) -> list[Block]:
    missing, taken = set(wanted), []
    for block in reversed(blocks):
        if block.defines & missing:
            taken.append(block)
            missing -= block.defines
            missing |= block.uses - set().union(*(other.defines for other in taken))
    return taken[::-1]


def _completed(prompt: str, body: str, entry_point: str) -> str | None:
    """Prompt and body together, if the prompt opens the entry point and the body goes on in it."""
    for text in (prompt, *(block.text for block in blocks_of(prompt))):
        for rest in (body, textwrap.indent(textwrap.dedent(body), "    ")):
            whole = text.rstrip() + "\n" + rest
            if _compiles(whole) and entry_point in names_of(ast.parse(whole))[0]:
                return whole
    return None


def _compiles(text: str) -> bool:
    """Whether a text is a program, which one with a ``return`` outside of a function is not."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<solution>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return True


def only_function(scope: Mapping[str, Any], file: str) -> str | None:
    """The one function that the code of `file` defines, or the one that no other of its functions calls."""
    functions = {
        name: value.__code__
        for name, value in scope.items()
        if getattr(getattr(value, "__code__", None), "co_filename", None) == file
    }
    if len(functions) > 1:
        called = {name for own, code in functions.items() for name in _all_names(code) if name != own}
        functions = {name: code for name, code in functions.items() if name not in called}
    return next(iter(functions)) if len(functions) == 1 else None


def _all_names(code: Any) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if hasattr(constant, "co_names"):
            names |= _all_names(constant)
    return names
