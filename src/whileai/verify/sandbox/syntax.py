"""Questions about the syntax of tests: what is a test, what it calls, what it imports. Runs inside the sandbox."""

from __future__ import annotations

import ast

from whileai.verify.reading.code_text import names_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

ASSERT_CALLS = {
    "assertEqual": "==", "assertEquals": "==", "assertListEqual": "==", "assertTupleEqual": "==",
    "assertDictEqual": "==", "assertSetEqual": "==", "assertSequenceEqual": "==", "assertMultiLineEqual": "==",
    "assertNotEqual": "!=", "assertAlmostEqual": "~",
}  # fmt: skip
RUNNERS = {"main", "exit", "quit", "_exit"}
PLAIN = (type(None), bool, int, float, complex, str, bytes, list, tuple, dict, set)
DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
SCOPES = (*DEFINES, ast.Lambda)


def takes_candidate(tree: ast.Module, name: str) -> bool:
    """Whether a ``test...`` function is a helper that the script itself calls with arguments."""
    node = next(n for n in tree.body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)) and n.name == name)
    given = node.args.posonlyargs + node.args.args
    needed = given[: len(given) - len(node.args.defaults)]
    return (
        bool(needed)
        and not node.decorator_list
        and any(name in called(other) for other in ast.walk(tree) if isinstance(other, ast.stmt) and other is not node)
    )


def is_test_class(node: ast.ClassDef) -> bool:
    """Whether a class holds tests, unittest's or pytest's; inherited ones are taken on trust."""
    methods = [item.name for item in node.body if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef))]
    has_tests = any(name.startswith("test") for name in methods)
    bases = [ast.unparse(base) for base in node.bases if ast.unparse(base) != "object"]
    if not bases:
        return has_tests and node.name.startswith("Test") and "__init__" not in methods
    inherits = any(name_of(base) not in ("TestCase", "IsolatedAsyncioTestCase") for base in node.bases)
    is_case = node.name.startswith("Test") or any("Test" in base for base in bases)
    return is_case and (has_tests or inherits)


def unguarded(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements with those under ``if __name__ == "__main__"`` laid open, but for calls that start a runner."""
    laid: list[ast.stmt] = []
    for node in body:
        if isinstance(node, ast.If) and "__name__" in {n.id for n in ast.walk(node.test) if isinstance(n, ast.Name)}:
            laid += [item for item in node.body if not starts_runner(item)]
        elif not (isinstance(node, ast.Expr) and starts_runner(node)):
            laid.append(node)
    return laid


def starts_runner(node: ast.stmt) -> bool:
    """Whether a statement only starts a test runner or ends the process."""
    return any(
        isinstance(part, ast.Call)
        and name_of(part.func) in RUNNERS
        and root_of(part.func) in {"unittest", "pytest", "sys", "os", "exit", "quit", "absltest"}
        for part in ast.walk(node)
    )


def without_futures(body: list[ast.stmt]) -> tuple[list[ast.stmt], int]:
    """The statements without ``from __future__``, and the compiler's flags for those."""
    import __future__

    kept, flags = [], 0
    for node in body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            for alias in node.names:
                flags |= getattr(__future__, alias.name).compiler_flag if hasattr(__future__, alias.name) else 0
        else:
            kept.append(node)
    return kept, flags


def name_of(node: ast.expr) -> str:
    """The last name of a called expression."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def root_of(node: ast.expr) -> str:
    """The first name of a dotted expression."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def own_nodes(node: ast.AST) -> Iterable[ast.AST]:
    """The nodes under `node` that run with it: not the bodies of functions and classes defined there."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, SCOPES):
            yield from own_nodes(child)


def called(node: ast.AST) -> set[str]:
    """The last names of all that is called when a node runs."""
    return {name_of(part.func) for part in own_nodes(node) if isinstance(part, ast.Call)}


def is_direct_check(node: ast.AST) -> bool:
    """Whether a node itself asserts or raises when it runs."""
    for part in own_nodes(node):
        if isinstance(part, (ast.Assert, ast.Raise)):
            return True
        if isinstance(part, ast.Call) and name_of(part.func).startswith("assert"):
            return True
        if isinstance(part, ast.Call) and name_of(part.func) in {"raises", "warns"}:
            return True
    return False


def is_check(node: ast.stmt, checking: set[str]) -> bool:
    """Whether a top-level statement tests something, itself or through a function of the tests."""
    if isinstance(node, (*DEFINES, ast.Import, ast.ImportFrom)):
        return False
    return is_direct_check(node) or bool(called(node) & checking)


def checking_functions(tree: ast.Module) -> set[str]:
    """Functions and methods of the tests that check something, themselves or through one another."""
    defined = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    bodies = [(node.name, [item for item in node.body if not isinstance(item, DEFINES)]) for node in defined]
    found = {name for name, body in bodies if any(map(is_direct_check, body))}
    calls = [(name, set().union(*map(called, body)) if body else set()) for name, body in bodies]
    while True:
        more = {name for name, called in calls if called & found} - found
        if not more:
            return found
        found |= more


def imports(tree: ast.Module) -> set[str]:
    """The modules that are imported anywhere."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
    return found


def wanted(tree: ast.Module) -> set[str]:
    """The names that are used and bound nowhere: the candidate's."""
    from_candidate = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "solution"
        for alias in node.names
        if alias.name != "*"
    }
    return (names_of(tree)[1] - {"__file__"}) | from_candidate


def is_assert_call(node: ast.Call) -> bool:
    """Whether a call is one of unittest's equality assertions with both sides given."""
    return (
        isinstance(node.func, ast.Attribute)
        and node.func.attr in ASSERT_CALLS
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "self"
        and len(node.args) >= 2
        and not any(isinstance(item, ast.Starred) for item in node.args)
    )


def literal(node: ast.expr) -> tuple[bool, Any]:
    """Whether an expression is a literal of plain data, and its value."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False, None
    return isinstance(value, PLAIN), value


def yes_or_no(node: ast.AST) -> Iterator[ast.AST]:
    """The comparisons in an assertion of which only the truth is used; an array's goes on to be summed or to select."""
    if isinstance(node, ast.Compare):
        yield node
    elif isinstance(node, ast.BoolOp):
        for part in node.values:
            yield from yes_or_no(part)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield from yes_or_no(node.operand)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("all", "any", "bool"):
        for part in node.args:
            yield from yes_or_no(part)
    elif isinstance(node, (ast.GeneratorExp, ast.ListComp)):
        yield from yes_or_no(node.elt)
    elif isinstance(node, (ast.List, ast.Tuple)):
        for part in node.elts:
            yield from yes_or_no(part)


def as_equality(node: ast.Call) -> ast.Call:
    """``self.assertTrue(a == b)`` as ``self.assertEqual(a, b)``, where one side is a literal."""
    test = node.args[0] if node.args else None
    if (
        isinstance(node.func, ast.Attribute)
        and node.func.attr in ("assertTrue", "assert_")
        and isinstance(test, ast.Compare)
        and len(test.ops) == 1
        and isinstance(test.ops[0], ast.Eq)
        and literal(test.left)[0] != literal(test.comparators[0])[0]
    ):
        function = ast.copy_location(ast.Attribute(node.func.value, "assertEqual", ast.Load()), node.func)
        return ast.copy_location(ast.Call(function, [test.left, test.comparators[0]], []), node)
    return node
