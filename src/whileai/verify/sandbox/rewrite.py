"""Tests, read and rewritten by the supervisor before the candidate's process gets them. Runs inside the sandbox.

Two things change. Every comparison goes through a `Guard`, so that an object that equals everything fails. And where an
assertion compares with a literal, the literal stays here: the candidate's process sends what it computed, and is told
whether it was right.
"""

from __future__ import annotations

import ast
import marshal
import warnings

from whileai.verify.sandbox.syntax import (
    ASSERT_CALLS,
    DEFINES,
    as_equality,
    called,
    checking_functions,
    imports,
    is_assert_call,
    is_check,
    is_direct_check,
    is_test_class,
    literal,
    name_of,
    own_nodes,
    takes_candidate,
    unguarded,
    wanted,
    without_futures,
    yes_or_no,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FILE = "<tests>"
GUARD = "\x00guard\x00"
OPERATORS = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.In: "in",
    ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not",
}  # fmt: skip


class BrokenTests(Exception):
    """Tests that no candidate can pass; the message says why."""


class Plan:
    """Rewritten tests.

    Attributes
    ----------
    steps : list of (str, bytes, int, bool)
        Top-level statements: ``def``, ``import`` or ``do``, marshalled code, line, and whether the statement itself
        tests something.
    secrets : list of (str, object)
        Operator and literal of each comparison that is decided here.
    must : dict of int to str
        Places in `secrets` that a full run of the tests cannot but reach, each of which must hold, and the test they
        stand in; ``""`` for the script itself.
    functions, classes : list of str
        Test functions and classes with tests, at the top level.
    check : str
        ``""``, or how HumanEval's ``check`` is met: ``"call"`` where it is defined and nothing calls it, else
        ``"called"``.
    imports : list of str
        Modules the tests import.
    wanted : list of str
        Names the tests use and do not define.
    may_skip : bool
        Whether the tests speak of skipping at all.
    """

    def __init__(self) -> None:
        self.steps: list[tuple[str, bytes, int, bool]] = []
        self.secrets: list[tuple[str, Any]] = []
        self.must: dict[int, str] = {}
        self.functions: list[str] = []
        self.classes: list[str] = []
        self.check = ""
        self.imports: list[str] = []
        self.wanted: list[str] = []
        self.may_skip = False

    @property
    def has_tests(self) -> bool:
        """Whether anything here can test."""
        return bool(self.functions or self.classes or self.check) or any(step[3] for step in self.steps)


def plan_of(source: str) -> Plan:
    """The plan of a test script. Raises `BrokenTests` where it is no Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
            plan = _Planner(tree).plan
            plan.may_skip = any(word in source for word in ("skip", "Skip", "xfail"))
    except SyntaxError as error:
        raise BrokenTests(f"the tests are no valid Python (line {error.lineno}: {error.msg})") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise BrokenTests(f"the tests cannot be compiled ({type(error).__name__})") from error
    return plan


class _Planner:
    def __init__(self, tree: ast.Module) -> None:
        self.plan = plan = Plan()
        body, flags = without_futures(unguarded(tree.body))
        tree.body = body
        plan.imports = sorted(imports(tree))
        plan.wanted = sorted(wanted(tree))
        checking = checking_functions(tree)
        self._units(tree, checking)
        _mark(tree, plan)
        _hold_expected(tree)
        _hide_imports(tree)
        own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)} & set(ASSERT_CALLS)
        rewriter = _Rewriter(plan, own)
        for node in tree.body:
            tests = is_check(node, checking)
            kind = "def" if isinstance(node, DEFINES) else "do"
            kind = "import" if isinstance(node, (ast.Import, ast.ImportFrom)) else kind
            line = node.lineno
            changed = rewriter.visit(node)
            module = ast.Module(changed if isinstance(changed, list) else [changed], [])
            code = compile(ast.fix_missing_locations(module), FILE, "exec", flags, dont_inherit=True)
            plan.steps.append((kind, marshal.dumps(code), line, tests))

    def _units(self, tree: ast.Module, checking: set[str]) -> None:
        plan = self.plan
        for node in tree.body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                if node.name.startswith("test"):
                    plan.functions.append(node.name)
                if node.name == "check" and "check" in checking and (node.args.args or node.args.posonlyargs):
                    plan.check = "call"
            elif isinstance(node, ast.ClassDef) and is_test_class(node):
                plan.classes.append(node.name)
        gone = {
            n.id for node in tree.body if isinstance(node, ast.Delete) for n in node.targets if isinstance(n, ast.Name)
        }
        plan.functions = [name for name in dict.fromkeys(plan.functions) if name not in gone]
        plan.classes = [name for name in dict.fromkeys(plan.classes) if name not in gone]
        if plan.check:
            loose = [node for node in tree.body if not isinstance(node, DEFINES)]
            if any(called(node) & {"check"} for node in loose) or any(
                called(node) & {"check"}
                for node in ast.walk(tree)
                if isinstance(node, ast.FunctionDef) and node.name in plan.functions
            ):
                plan.check = "called"
        plan.functions = [name for name in plan.functions if not takes_candidate(tree, name)]


def _hide_imports(tree: ast.Module) -> None:
    """Bind unittest and pytest to names that no source can spell: candidate and tests share their globals."""
    taken = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    taken |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    taken |= {n.name for n in ast.walk(tree) if isinstance(n, DEFINES)}
    hidden = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                module = alias.name if isinstance(node, ast.Import) else node.module or ""
                name = alias.asname or alias.name
                if module.split(".")[0] in ("unittest", "pytest") and name not in taken and alias.name != "*":
                    if isinstance(node, ast.Import) and "." in name:
                        name = alias.name.split(".")[0]
                        hidden.add(name)
                        alias.name, alias.asname = name, f"\x00{name}"  # the copy has its submodules
                    else:
                        hidden.add(name)
                        alias.asname = f"\x00{name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in hidden:
            node.id = f"\x00{node.id}"


# --- which comparisons a full run cannot but reach --------------------------------------------------------------------


def _mark(tree: ast.Module, plan: Plan) -> None:
    """Mark the statements that every full run reaches, in the module's own line and in each test."""
    last: dict[str, list[ast.stmt]] = {}
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            sure = not node.decorator_list and (node.name in plan.functions or (node.name == "check" and plan.check))
            last[node.name] = node.body if sure else []
        elif isinstance(node, ast.ClassDef):
            last[node.name] = []
            known = node.name in plan.classes and not node.decorator_list
            for item in node.body if known else []:
                if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)) and item.name.startswith("test"):
                    last[f"{node.name}.{item.name}"] = [] if item.decorator_list else item.body
    _mark_line(tree.body, "")
    for name, body in last.items():
        _mark_line(body, name)


_LEAVES = {"skipTest", "skip", "exit", "fail", "xfail", "importorskip"}


def _mark_line(body: list[ast.stmt], test: str) -> None:
    for node in body:
        if isinstance(node, DEFINES):
            continue
        if isinstance(node, (ast.Assert, ast.Expr)):
            node.sure_in = test  # type: ignore[union-attr]  # a mark of ours on the node
        if isinstance(node, ast.With) and all(
            isinstance(item.context_expr, ast.Call) and name_of(item.context_expr.func) == "subTest"
            for item in node.items
        ):
            _mark_line(node.body, test)
        if any(isinstance(part, (ast.Return, ast.Raise)) for part in own_nodes(node)) or called(node) & _LEAVES:
            return


def _hold_expected(tree: ast.Module) -> None:
    """Put literals in the place of names that are bound to one once and only ever compared with."""
    for scope in [tree, *(n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)))]:
        times = _times_bound(scope)
        for place, node in enumerate(list(scope.body)):
            if not (isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)):
                continue
            name = node.targets[0].id
            if times.get(name) != 1 or not literal(node.value)[0]:
                continue
            slots = [slot for slot in _slots(scope) if isinstance(slot[0], ast.Name) and slot[0].id == name]
            loads = [
                n for n in ast.walk(scope) if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)
            ]
            if loads and len(loads) == len(slots):
                for slot in slots:
                    _put(slot, node.value)
                scope.body[place] = ast.copy_location(ast.Pass(), node)


def _times_bound(scope: ast.AST) -> dict[str, int]:
    """How often each name is bound within a scope; more than once where that cannot be told."""
    times: dict[str, int] = {}
    for node in ast.walk(scope):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            times[node.id] = times.get(node.id, 0) + 1
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            times |= dict.fromkeys(node.names, 2)
        elif isinstance(node, ast.arg):
            times[node.arg] = 2
    return times


def _put(slot: tuple[ast.expr, ast.AST, str, int | None], value: ast.expr) -> None:
    _, parent, field, index = slot
    if index is None:
        setattr(parent, field, value)
    else:
        getattr(parent, field)[index] = value


def _slots(scope: ast.AST) -> list[tuple[ast.expr, ast.AST, str, int | None]]:
    """The sides of single ``==`` in assertions, and of unittest's equality calls, with where they hang."""
    found: list[tuple[ast.expr, ast.AST, str, int | None]] = []
    for node in ast.walk(scope):
        if isinstance(node, ast.Assert):
            for part in ast.walk(node.test):
                if (
                    isinstance(part, ast.Compare)
                    and len(part.ops) == 1
                    and isinstance(part.ops[0], (ast.Eq, ast.NotEq))
                ):
                    found += [(part.left, part, "left", None), (part.comparators[0], part, "comparators", 0)]
        elif isinstance(node, ast.Call) and is_assert_call(node):
            found += [(node.args[place], node, "args", place) for place in (0, 1)]
    return found


class _Rewriter(ast.NodeTransformer):
    def __init__(self, plan: Plan, own: set[str]) -> None:
        self.plan, self.own = plan, own
        self.yes_or_no: set[int] = set()

    def _ask(self, method: str, *arguments: ast.expr, keywords: list[ast.keyword] | None = None) -> ast.Call:
        function = ast.Attribute(ast.Constant(GUARD), method, ast.Load())
        return ast.Call(function, list(arguments), keywords or [])

    def _keep(self, operator: str, value: Any) -> ast.Constant:
        self.plan.secrets.append((operator, value))
        return ast.Constant(len(self.plan.secrets) - 1)

    def _body(self, node: Any) -> Any:
        """Leave out what the tests say about themselves, where an expected value may stand."""
        if ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        return self.generic_visit(node)

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = _body  # noqa: N815 - names of the base class

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        sure = getattr(node, "sure_in", None)
        whole = node.test
        self.yes_or_no |= set(map(id, yes_or_no(whole)))
        test = self.visit(node.test)
        if sure is not None and isinstance(whole, ast.Compare) and self._is_kept(test):
            self.plan.must[test.args[0].value] = sure
        elif sure is not None and isinstance(whole, ast.BoolOp) and isinstance(whole.op, ast.And):
            kept = [part for part in test.values if self._is_kept(part)]
            self.plan.must |= {part.args[0].value: sure for part in kept}
        return ast.copy_location(ast.Assert(self._ask("seen", test), None), node)

    @staticmethod
    def _is_kept(node: ast.AST) -> bool:
        return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "held"

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        sides = [node.left, *node.comparators]
        names = [OPERATORS[type(operator)] for operator in node.ops]
        if all(name in ("is", "is not") for name in names):
            return self.generic_visit(node)
        if len(names) == 1:
            known = [literal(side) for side in sides]
            if id(node) in self.yes_or_no and names[0] in ("==", "!=") and known[0][0] != known[1][0]:
                other, value = (sides[1], known[0][1]) if known[0][0] else (sides[0], known[1][1])
                changed = self.visit(other)
                return ast.copy_location(self._ask("held", self._keep(names[0], value), changed), node)
            if all(is_literal for is_literal, _ in known):
                return node
            method, arguments = "compare", [ast.Constant(names[0]), *map(self.visit, sides)]
        else:
            signs: Any = tuple(names)  # a constant that the compiler takes, if not the stubs
            method, arguments = "chain", [ast.Constant(signs), *map(self.visit, sides)]
        return ast.copy_location(self._ask(method, *arguments), node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        node = as_equality(node)
        if is_assert_call(node) and isinstance(node.func, ast.Attribute) and node.func.attr not in self.own:
            known = [literal(side) for side in node.args[:2]]
            plain = all(word.arg in ("msg", "places", "delta") for word in node.keywords)
            if known[0][0] != known[1][0] and plain and len(node.args) <= (2 if "Almost" in node.func.attr else 3):
                other, value = (node.args[1], known[0][1]) if known[0][0] else (node.args[0], known[1][1])
                words = [word for word in node.keywords if word.arg != "msg"]
                changed = self.visit(other)
                key = self._keep(ASSERT_CALLS[node.func.attr], value)
                call = self._ask("told", node.func.value, ast.Constant(node.func.attr), key, changed, keywords=words)
                return ast.copy_location(call, node)
        changed = self.generic_visit(node)
        if name_of(node.func).startswith("assert"):
            return ast.copy_location(self._ask("seen", changed), node)  # type: ignore[arg-type]  # a call stays one
        return changed

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        sure = getattr(node, "sure_in", None)
        self.generic_visit(node)
        call = node.value
        if (
            sure is not None
            and isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and call.func.attr == "told"
        ):
            key = call.args[2]
            if isinstance(call.func.value, ast.Constant) and isinstance(key, ast.Constant):
                self.plan.must[key.value] = sure  # type: ignore[index]  # a place in the list of secrets
        return node

    def visit_Try(self, node: ast.Try) -> ast.AST:
        """Trying counts as testing where the statement can fail: its assertion may stand for what must not happen."""
        checks = is_direct_check(node)
        self.generic_visit(node)
        if checks:
            node.body.insert(0, ast.copy_location(ast.Expr(self._ask("seen", ast.Constant(None))), node))
        return node

    def visit_If(self, node: ast.If) -> Any:
        raises = any(isinstance(item, ast.Raise) for item in [*node.body, *node.orelse])
        self.generic_visit(node)
        if not raises:
            return node
        return [ast.copy_location(ast.Expr(self._ask("seen", ast.Constant(None))), node), node]
