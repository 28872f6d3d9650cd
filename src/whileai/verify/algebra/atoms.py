"""The smallest values of an answer: numbers, letters, brackets, functions with their arguments."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction

from whileai.verify.algebra.prose import FUNCTIONS, GREEK, words
from whileai.verify.algebra.tokens import Node, Token, Unreadable, number, repeating

TRIG = words("sin cos tan cot sec csc sinh cosh tanh coth sech csch")
_INVERSE = {name: "a" + name for name in TRIG}
_RENAMED = {
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arccot": "acot",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
    "sgn": "sign",
}
_CONSTANTS = {"pi": "pi", "infty": "inf", "infinity": "inf", "inf": "inf", "oo": "inf", "imath": "i", "Pi": "pi"}
_DECORATIONS = words("vec overline bar hat widehat tilde overrightarrow mathcal mathscr mathfrak angle triangle")
_BRACKETS = {"(": ")", "[": ")]"}
_OPAQUE = frozenset("fghFGHP")
_MATRICES = words("matrix pmatrix bmatrix Bmatrix smallmatrix array vmatrix")


_D = Node("sym", text="d")


class Atoms(ABC):
    """The part of the reader that takes tokens and the smallest values."""

    def __init__(self, found: list[Token]) -> None:
        self.found = found
        self.at = 0
        self.depth = 0
        self.bars = 0
        self.in_set = 0

    # -- tokens

    @property
    def token(self) -> Token:
        """The next token."""
        return self.found[self.at]

    def next(self) -> Token:
        """The next token, taken."""
        token = self.found[self.at]
        self.at += 1
        return token

    def sees(self, *texts: str) -> bool:
        """Whether the next token is one of these operators or commands (without backslash)."""
        token = self.token
        return (token.kind == "op" and token.text in texts) or (token.kind == "cmd" and token.text[1:] in texts)

    def takes(self, *texts: str) -> bool:
        """Take the next token if it is one of these."""
        if self.sees(*texts):
            self.at += 1
            return True
        return False

    def needs(self, *texts: str) -> None:
        """Take one of these or give up."""
        if not self.takes(*texts):
            raise Unreadable(self.token.text)

    # -- what larger readers know

    @abstractmethod
    def items(self, stops: tuple[str, ...]) -> Node:
        """Items with separators between them."""

    @abstractmethod
    def sum(self) -> Node:
        """Terms with signs between them."""

    @abstractmethod
    def combined(self) -> Node:
        """A value or a combination of sets."""

    @abstractmethod
    def factor(self) -> Node:
        """A value with its powers."""

    @abstractmethod
    def exponent(self) -> Node:
        """What stands after a power sign."""

    @abstractmethod
    def beside(self, left: Node) -> Node:
        """`left` with the factor written beside it."""

    @abstractmethod
    def operand(self) -> bool:
        """Whether the next token can begin a factor."""

    # -- atoms

    def atom(self) -> Node:
        """The smallest value: a number, a letter, a bracket, a function with its arguments."""
        token = self.next()
        if token.kind == "num":
            return self.numeral(token)
        if token.kind == "rep":
            return repeating(token.text)
        if token.kind == "let":
            return self.letters(token)
        if token.kind == "cmd":
            return self.command(token.text[1:])
        if token.text in _BRACKETS:
            return self.bracket(token.text, _BRACKETS[token.text])
        if token.text == "{":
            return self.braces("}")
        if token.text == "|" and not self.in_set:
            return self.absolute()
        raise Unreadable(token.text)

    def numeral(self, token: Token) -> Node:
        """A number, in another base where a subscript says so."""
        if self.sees("_"):
            self.at += 1
            base = self.group()
            if base.kind != "num" or base.value is None or not 2 <= base.value <= 36:
                raise Unreadable("no base")
            return Node("num", value=Fraction(int(token.text, int(base.value))))
        return number(token.text)

    def letters(self, token: Token) -> Node:
        """A run of letters: a name this reader knows, one letter, or letters multiplied."""
        run = token.text
        if run in FUNCTIONS or (run.lower() in FUNCTIONS and self.sees("(")):
            return self.function(run.lower())
        if run in _CONSTANTS:
            return Node("const", text=_CONSTANTS[run])
        if run in GREEK:
            return self.symbol(run)
        if len(run) == 1:
            return self.symbol(run)
        if run.isupper():
            return self.symbol(run)
        cut = _cut(run)
        if cut is None:
            raise Unreadable(run)
        self.at -= 1
        self.found[self.at : self.at + 1] = [Token("let", part, token.spaced and not i) for i, part in enumerate(cut)]
        return self.atom()

    def symbol(self, name: str) -> Node:
        """A letter with its subscript and primes, or a function of unknown rule with its arguments."""
        if self.sees("_"):
            self.at += 1
            name += "_" + self.flat()
        while self.takes("'"):
            name += "'"
        if name[:1] in _OPAQUE and self.inverse():
            name += "^-1"
        if name[:1] in _OPAQUE and self.sees("(") and not self.token.spaced:
            self.at += 1
            inside = self.bracket("(", ")", call=True)
            return Node("call", inside.args if inside.kind == "args" else (inside,), name)
        if name == "e":
            return Node("const", text="e")
        if name == "i":
            return Node("const", text="i")
        return Node("sym", text=name)

    def inverse(self) -> bool:
        """Take an exponent of minus one that marks an inverse function."""
        part = [token.text for token in self.found[self.at : self.at + 6]]
        if part[:5] == ["^", "{", "-", "1", "}"] and part[5:] == ["("]:
            self.at += 5
            return True
        return False

    def flat(self) -> str:
        """The text of a subscript."""
        if not self.takes("{"):
            token = self.next()
            if token.kind not in ("num", "let", "cmd"):
                raise Unreadable(token.text)
            return token.text
        parts = []
        while not self.takes("}"):
            token = self.next()
            if token.kind == "end":
                raise Unreadable("no closing brace")
            parts.append(token.text)
        return "".join(parts)

    def command(self, name: str) -> Node:
        """What a LaTeX command begins."""
        if name in ("frac", "binom"):
            top, bottom = self.group(), self.group()
            if top == _D and bottom.kind == "mul" and bottom.args[0] == _D:
                raise Unreadable("a derivative")
            return Node("div", (top, bottom)) if name == "frac" else Node("call", (top, bottom), "binom")
        if name in FUNCTIONS:
            return self.function(name, latex=True)
        if name in _CONSTANTS:
            return Node("const", text=_CONSTANTS[name])
        if name in GREEK or (name[:1].isupper() and name.lower() in GREEK):
            return self.symbol(name)
        if name == "{":
            return self.braces("}", set_braces=True)
        if name in ("langle", "lfloor", "lceil"):
            return self.fenced(name)
        if name in ("emptyset", "mathbb"):
            return self.named_set(name)
        if name == "begin":
            return self.matrix()
        if name in _DECORATIONS:
            return self.symbol(f"{name} {self.flat() if self.sees('{') else self.next().text}")
        if name == "|":
            inside = self.sum()
            self.needs("|")
            return Node("call", (inside,), "norm")
        raise Unreadable(name)

    def fenced(self, name: str) -> Node:
        """A vector in angle brackets, or a value rounded down or up."""
        if name == "langle":
            inside = self.items(("rangle",))
            self.needs("rangle")
            return Node("bracket", inside.args, "()") if inside.kind == "list" else inside
        inside = self.sum()
        self.needs("rfloor" if name == "lfloor" else "rceil")
        return Node("call", (inside,), "floor" if name == "lfloor" else "ceil")

    def named_set(self, name: str) -> Node:
        """The empty set, or the real numbers and their kin."""
        return Node("empty") if name == "emptyset" else Node("universe", text=self.flat())

    def bracket(self, opening: str, closings: str, *, call: bool = False) -> Node:
        """What round or square brackets hold: one value, or several in their order."""
        bars, self.bars, in_set, self.in_set = self.bars, 0, self.in_set, 0
        inside = self.items((")", "]"))
        closing = self.next().text
        self.bars, self.in_set = bars, in_set
        if closing not in closings + "]" or (call and closing != ")"):
            raise Unreadable(closing)
        if inside.kind != "list" or inside.text != ",":
            if inside.kind == "list" or opening + closing not in ("()", "[]"):
                raise Unreadable("brackets")
            return inside
        if call:
            return Node("args", inside.args)
        if all(part.kind == "bracket" and part.text == "[]" for part in inside.args) and opening + closing == "[]":
            return Node("matrix", tuple(Node("row", part.args) for part in inside.args))
        return Node("bracket", inside.args, opening + closing)

    def braces(self, closing: str, *, set_braces: bool = False) -> Node:
        """A group, or a set: in LaTeX's escaped braces, and in plain ones around several values."""
        bars, self.bars, in_set, self.in_set = self.bars, 0, self.in_set, int(set_braces)
        if self.takes(closing):
            self.bars, self.in_set = bars, in_set
            if set_braces:
                return Node("empty")
            raise Unreadable("empty group")
        inside = self.items((closing,))
        if set_braces and self.takes("|", ":"):
            inside = Node("builder", (inside, self.items((closing,))))
        self.needs(closing)
        self.bars, self.in_set = bars, in_set
        if inside.kind == "builder" or not (set_braces or inside.kind == "list"):
            return inside
        return Node("set", inside.args if inside.kind == "list" else (inside,))

    def absolute(self) -> Node:
        """A value between bars."""
        self.bars += 1
        inside = self.sum()
        self.needs("|")
        self.bars -= 1
        return Node("call", (inside,), "abs")

    def group(self) -> Node:
        """The argument of a LaTeX command: a group in braces, or the one digit, letter or command that follows."""
        token = self.token
        if token.kind == "op" and token.text == "{":
            self.at += 1
            return self.braces("}")
        if token.kind in ("num", "let") and len(token.text) > 1 and token.text not in _CONSTANTS:
            rest = Token(token.kind, token.text[1:], spaced=False)
            self.found[self.at : self.at + 1] = [Token(token.kind, token.text[0], token.spaced), rest]
        if self.operand():
            return self.atom()
        raise Unreadable(token.text)

    # -- functions

    def function(self, name: str, *, latex: bool = False) -> Node:
        """A function with its base, its power and its arguments."""
        if name in ("sqrt", "cbrt"):
            return self.root(name, latex=latex)
        base: Node | None = None
        power: Node | None = None
        for _ in range(2):
            if self.takes("_"):
                base = self.group()
            elif self.takes("^", "**"):
                power = self.group() if self.sees("{") else self.exponent()
        inverse = name in TRIG and power is not None and _is_minus_one(power)
        name = _RENAMED.get(name, name)
        args = self.arguments()
        tree = Node("call", args, _INVERSE[name] if inverse else name)
        if base is not None:
            if name not in ("log", "lg"):
                raise Unreadable("a base")
            tree = Node("call", (*args, base), "log")
        return tree if power is None or inverse else Node("pow", (tree, power))

    def arguments(self) -> tuple[Node, ...]:
        """The arguments of a function, in brackets or beside it."""
        if self.sees("("):
            self.at += 1
            inside = self.bracket("(", ")", call=True)
            return inside.args if inside.kind == "args" else (inside,)
        if self.sees("{"):
            self.at += 1
            return (self.braces("}"),)
        negative = self.takes("-")
        tree = self.factor()
        while self.operand() and not self.sees("(", "[") and not self._is_function():
            tree = self.beside(tree)
        return (Node("neg", (tree,)) if negative else tree,)

    def _is_function(self) -> bool:
        token = self.token
        return token.text.lstrip("\\") in FUNCTIONS - {"sqrt"}

    def root(self, name: str, *, latex: bool) -> Node:
        """A square root, or a root of the order in square brackets."""
        order = Node("num", value=Fraction(3 if name == "cbrt" else 2))
        if latex and self.takes("["):
            order = self.sum()
            self.needs("]")
        if self.sees("("):
            self.at += 1
            inside = self.bracket("(", ")", call=True)
        else:
            inside = self.group() if latex or self.sees("{") else self.atom()
        if inside.kind in ("list", "args", "bracket", "set"):
            raise Unreadable("a root of several values")
        return Node("call", (inside, order), "root")

    def matrix(self) -> Node:
        """A matrix environment."""
        name = self.flat()
        if name not in _MATRICES:
            raise Unreadable(name)
        if name == "array" and self.sees("{"):
            self.flat()
        rows: list[Node] = []
        cells: list[Node] = []
        while True:
            cells.append(self.combined())
            if self.takes("&"):
                continue
            rows.append(Node("row", tuple(cells)))
            cells = []
            if self.takes("\\") and not self.sees("end"):
                continue
            self.needs("end")
            break
        if self.flat() != name or len({len(row.args) for row in rows}) != 1:
            raise Unreadable("rows of different length")
        tree = Node("matrix", tuple(rows))
        return Node("call", (tree,), "det") if name == "vmatrix" else tree


def _cut(run: str) -> list[str] | None:
    """A run of letters as names and single letters, ``None`` where it looks like a word."""
    if len(run) <= 3 and not any(name in run for name in ("ln", "pi", "log", "exp", "sin", "cos", "tan")):
        return list(run)
    for name in sorted(FUNCTIONS, key=len, reverse=True):
        place = run.find(name)
        if place >= 0 and len(run) - len(name) <= 2:
            return [*run[:place], name, *run[place + len(name) :]]
    if "pi" in run and len(run) == 3:
        place = run.find("pi")
        return [*run[:place], "pi", *run[place + 2 :]]
    return list(run) if len(run) <= 3 else None


def _is_minus_one(power: Node) -> bool:
    return power.kind == "neg" and power.args[0].kind == "num" and power.args[0].value == 1
