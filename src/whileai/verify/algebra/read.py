"""Answers in LaTeX or in plain ASCII mathematics, read into trees; nothing is computed here.

A text that is not mathematics, or mathematics this grammar does not know, gives no tree; it is never read in part.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

from whileai.verify.algebra.atoms import Atoms
from whileai.verify.algebra.prose import JOINERS, words
from whileai.verify.algebra.tokens import MAX_CHARACTERS, MAX_DEPTH, Node, Unreadable, number, tokens

#: Commands this grammar leaves to math-verify: integrals, sums, products, limits, derivatives, named operators.
BEYOND = ("\\int", "\\sum", "\\prod", "\\lim", "\\partial", "\\begin{cases}", "\\operatorname", "\\frac{d", "\\nabla")
_RELATIONS = {
    "=": "=", "==": "=", "<": "<", ">": ">", "<=": "<=", "le": "<=", ">=": ">=", "ge": ">=", "!=": "!=", "<>": "!=",
    "ne": "!=", "in": "in", "approx": "~",
}  # fmt: skip
_STOPS = words(
    "le ge ne in approx equiv pmod bmod mod cup cap setminus notin rangle rfloor rceil cdot times div pm mp end right"
)


@lru_cache(maxsize=4096)
def readings(text: str) -> tuple[Node, ...]:
    """The ways to read a prepared answer, the likeliest first, none where it is not readable.

    There is a second way only where a comma may group digits or separate numbers, and where a letter e may be a power
    of ten or Euler's number.
    """
    if not text or len(text) > MAX_CHARACTERS:
        return ()
    ways = [(True, True)]
    if re.search(r"\d,\d{3}(?!\d)", text):
        ways.append((False, True))
    if re.search(r"\de[+-]?\d", text):
        ways.append((True, False))
    trees: list[Node] = []
    for thousands, scientific in ways:
        try:
            tree = Reader(tokens(text, thousands=thousands, scientific=scientific)).answer()
        except (Unreadable, ValueError, ZeroDivisionError):
            continue
        if tree not in trees:
            trees.append(tree)
    return tuple(trees)


class Reader(Atoms):
    """A recursive descent over the tokens of one answer."""

    # -- what is built of values

    def answer(self) -> Node:
        """The whole answer."""
        while self.takes("=", "approx"):
            pass
        tree = self.items(("end",))
        if self.token.kind != "end":
            raise Unreadable(self.token.text)
        return tree

    def items(self, stops: tuple[str, ...]) -> Node:
        """Items separated by commas, semicolons, "and" and "or": one item alone, or a list."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unreadable("too deep")
        parts = [self.item()]
        joiner = ""
        while True:
            comma = self.takes(",", ";")
            word = self.token.kind == "let" and self.token.text in JOINERS
            if word:
                joiner = self.next().text
            if not comma and not word:
                break
            if self.token.kind == "end" or self.sees(*stops):
                raise Unreadable("nothing after a separator")
            joiner = joiner or ","
            parts.append(self.item())
        self.depth -= 1
        return parts[0] if len(parts) == 1 else Node("list", tuple(parts), joiner)

    def item(self) -> Node:
        """One item: a value, a set, or a chain of relations between them."""
        parts, signs = [self.combined()], []
        while (sign := self.relation()) is not None:
            signs.append(sign)
            parts.append(self.combined())
        if not signs and self.takes("equiv"):
            return self.congruence(parts[0])
        if not signs:
            if self.sees(":") and not self.in_set:
                return self.ratio(parts[0])
            return parts[0]
        return Node("rel", tuple(parts), " ".join(signs))

    def relation(self) -> str | None:
        """The relation sign that is next, if one is."""
        token = self.token
        name = token.text[1:] if token.kind == "cmd" else token.text if token.kind == "op" else ""
        sign = _RELATIONS.get(name)
        if sign is not None:
            self.at += 1
        return sign

    def congruence(self, left: Node) -> Node:
        """Two values equal but for multiples of a third."""
        right = self.combined()
        if self.takes("pmod", "bmod", "mod"):
            return Node("mod", (left, right, self.group() if self.sees("{") else self.factor()))
        raise Unreadable("no modulus")

    def ratio(self, first: Node) -> Node:
        """Terms of a ratio or a time of day."""
        parts = [first]
        while self.takes(":"):
            parts.append(self.sum())
        return Node("ratio", tuple(parts))

    def combined(self) -> Node:
        """Unions, intersections and differences of sets, from the left."""
        tree = self.sum()
        while True:
            if self.takes("cup"):
                tree = Node("union", (tree, self.sum()))
            elif self.takes("cap"):
                tree = Node("inter", (tree, self.sum()))
            elif self.takes("setminus") or (tree.kind == "universe" and self.takes("\\")):
                tree = Node("minus", (tree, self.sum()))
            else:
                return tree

    # -- values

    def sum(self) -> Node:
        """Terms with signs between them."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unreadable("too deep")
        tree = self.signed()
        while True:
            if self.takes("+"):
                tree = _joined("add", tree, self.signed())
            elif self.takes("-"):
                tree = _joined("add", tree, Node("neg", (self.signed(),)))
            elif self.sees("pm", "mp"):
                kind = self.next().text[1:]
                tree = Node(kind, (tree, self.signed()))
            else:
                self.depth -= 1
                return tree

    def signed(self) -> Node:
        """A term with signs before it."""
        negative, sign = False, ""
        while self.sees("+", "-", "pm", "mp"):
            text = self.next().text
            if text == "-":
                negative = not negative
            elif text != "+":
                sign = text[1:]
        tree = self.term()
        if negative:
            tree = Node("neg", (tree,))
        return Node(sign, (Node("num", value=Fraction(0)), tree)) if sign else tree

    def term(self) -> Node:
        """Factors multiplied and divided, from the left; side by side means multiplied."""
        tree = self.factor()
        divided = 0
        while True:
            if self.takes("*", "cdot", "times"):
                tree = _joined("mul", tree, self.signed_factor())
            elif self.takes("/", "div"):
                tree = Node("div", (tree, self.signed_factor()))
                divided += 1
                if divided > MAX_DEPTH:
                    raise Unreadable("too deep")
            elif self.operand():
                tree = self.beside(tree)
            else:
                return tree

    def signed_factor(self) -> Node:
        """A factor after an explicit sign, which may have a minus of its own."""
        if self.takes("-"):
            return Node("neg", (self.signed_factor(),))
        self.takes("+")
        return self.factor()

    def beside(self, left: Node) -> Node:
        """`left` with the factor written beside it: a product, or the fraction of a mixed number."""
        token, before = self.token, self.found[self.at - 1]
        literal = left.kind == "num" and before.kind == "num"
        if token.kind == "num" and (before.kind in ("num", "let") or not (token.spaced or before.text in ("}", ")"))):
            if literal and token.spaced and self.found[self.at + 1].text == "/":
                return self.mixed(left)
            raise Unreadable("numbers side by side")
        right = self.factor()
        if literal and right.kind == "div" and token.text == "\\frac" and _proper(left, right):
            return Node("add", (left, right))
        return _joined("mul", left, right)

    def mixed(self, whole: Node) -> Node:
        """A whole number with a fraction after a space, as in ``3 1/2``."""
        top = number(self.next().text)
        self.needs("/")
        if self.token.kind != "num":
            raise Unreadable("no denominator")
        part = Node("div", (top, number(self.next().text)))
        if not _proper(whole, part):
            raise Unreadable("no mixed number")
        return Node("add", (whole, part))

    def operand(self) -> bool:
        """Whether the next token can begin a factor."""
        token = self.token
        if token.kind in ("num", "rep"):
            return True
        if token.kind == "let":
            return token.text not in JOINERS
        if token.kind == "op":
            if token.text == "|":
                return not self.bars and not self.in_set
            return token.text in ("(", "[", "{")
        name = token.text[1:]
        return token.kind == "cmd" and name not in _STOPS and name not in ("\\", "}", "|")

    def factor(self) -> Node:
        """A value with its powers, factorials and percent signs."""
        base = self.postfixed(self.atom())
        if self.takes("^", "**"):
            if self.takes("circ"):
                return self.postfixed(_degrees(base))
            if self.sees("{") and self.found[self.at + 1].text == "\\circ":
                self.at += 2
                self.needs("}")
                return self.postfixed(_degrees(base))
            return self.postfixed(Node("pow", (base, self.exponent())))
        return base

    def exponent(self) -> Node:
        """What stands after a power sign: a group, a signed value, or in LaTeX one digit."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unreadable("too deep")
        tree = Node("neg", (self.exponent(),)) if self.takes("-") else self.factor()
        self.depth -= 1
        return tree

    def postfixed(self, tree: Node) -> Node:
        """A value with the signs written after it."""
        while True:
            if self.sees("!"):
                self.at += 1
                tree = Node("call", (tree,), "factorial")
            elif self.takes("%"):
                tree = Node("div", (tree, Node("num", value=Fraction(100))), "%")
            elif self.takes("circ"):
                tree = _degrees(tree)
            else:
                return tree


def _joined(kind: str, left: Node, right: Node) -> Node:
    """A sum or product with one more part; flat, so that a long one is not a deep tree."""
    return Node(kind, (*left.args, right) if left.kind == kind else (left, right))


def _proper(whole: Node, part: Node) -> bool:
    """Whether a number and a fraction are those of a mixed number."""
    top, bottom = part.args
    if part.text or whole.value is None or top.value is None or bottom.value is None:
        return False
    return all(v.denominator == 1 for v in (whole.value, top.value, bottom.value)) and 0 < top.value < bottom.value


def _degrees(tree: Node) -> Node:
    half_turn = Node("num", value=Fraction(180))
    return Node("div", (Node("mul", (tree, Node("const", text="pi"))), half_turn), "deg")
