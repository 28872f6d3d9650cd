"""A worker that compares answers, run as ``python -m whileai.verify.workers.math_worker``.

math-verify and SymPy are loaded here and nowhere else.
"""

from __future__ import annotations

import logging
from functools import lru_cache
from typing import Any

from whileai.verify.algebra.compare import equal_answers, readable
from whileai.verify.algebra.read import BEYOND
from whileai.verify.algebra.shapes import points
from whileai.verify.workers.serve import Handler, serve

#: Words of logic, which math-verify drops; such statements are equal as text or not at all.
_LOGIC = ("\\forall", "\\exists", "\\neg", "\\Leftrightarrow", "\\iff", "\\text", "\\equiv", "\\pmod", "\\ldots")
_CLOSE = 1e-15


def load() -> Handler:
    """Import what is slow, and give the handler."""
    import math_verify

    logging.disable(logging.CRITICAL)
    math_verify.parse("$1$", parsing_timeout=None)
    equal_answers("\\sqrt{2}", "\\pi", percent="strict", exact=False)
    return handle


def handle(message: dict[str, Any]) -> dict[str, Any]:
    """Whether an answer equals one of the golds.

    The message has ``golds``, ``answer``, ``run`` (the mathematics in an answer that is a sentence, or ``None``) and
    ``percent``; the answer has ``equal``, true or false, or ``None`` where no gold is readable.
    """
    answer, run = message["answer"], message["run"]
    verdicts: list[bool | None] = []
    for gold in message["golds"]:
        verdict = equal_answers(gold, answer, percent=message["percent"], exact=False)
        if not verdict and run is not None and run != answer:
            other = equal_answers(gold, run, percent=message["percent"], exact=False)
            verdict = other if verdict is None or other else verdict
        if verdict is None and any(word in gold or word in answer for word in BEYOND):
            verdict = beyond(gold, run or answer)
        elif verdict is None and readable(gold):
            verdict = False
        if verdict:
            return {"equal": True}
        verdicts.append(verdict)
    return {"equal": False if False in verdicts else None}


def beyond(gold: str, answer: str) -> bool | None:
    """Two answers compared by math-verify, with its word checked; ``None`` where it reads one of them not at all."""
    if any(word in gold or word in answer for word in _LOGIC):
        return False
    import math_verify

    left, right = parsed(gold), parsed(answer)
    if left is None:
        return None
    if right is None:
        return False
    said = math_verify.verify(gold=left, target=right, timeout_seconds=None, raise_on_error=False)
    measured = numerically(left, right)
    return bool(said) if measured is None else measured


@lru_cache(maxsize=1024)
def parsed(text: str) -> Any:
    """An answer as SymPy's tree, ``None`` where math-verify does not read it whole."""
    import math_verify

    config = math_verify.LatexExtractionConfig()
    found = math_verify.parse(f"${text}$", extraction_config=[config], parsing_timeout=None, raise_on_error=False)
    return next((tree for tree in found if not isinstance(tree, str)), None)


def numerically(left: Any, right: Any) -> bool | None:
    """Whether two expressions agree at fixed points, relative to their size; ``None`` where they have no numbers."""
    import sympy

    if not isinstance(left, sympy.Expr) or not isinstance(right, sympy.Expr):
        return None
    free = sorted(left.free_symbols | right.free_symbols, key=str)
    stepwise = left.has(sympy.Sum, sympy.Product) or right.has(sympy.Sum, sympy.Product)
    compared = 0
    for point in points(tuple(map(str, free)), whole=stepwise)[: 4 if free else 1]:
        try:
            values = [
                tree.subs({s: sympy.Rational(point[str(s)]) for s in free}).doit().evalf(30) for tree in (left, right)
            ]
        except Exception:  # noqa: BLE001, S112 - SymPy raises all kinds where it cannot: then there is no number here
            continue
        if all(value.is_number and value.is_finite for value in values):
            if not abs(values[0] - values[1]) <= _CLOSE * max(map(abs, values)):
                return False
            compared += 1
    return True if compared else None


if __name__ == "__main__":
    serve(load)
