"""`MathEqual`: whether a completion's final answer is the gold as a matter of mathematics."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

from whileai import keys, params
from whileai.errors import ScorerError
from whileai.verify.algebra.compare import equal_answers, readable
from whileai.verify.algebra.prose import is_prose
from whileai.verify.algebra.read import BEYOND, readings
from whileai.verify.algebra.spelling import formula_key, prepare, words_key
from whileai.verify.algebra.tokens import MAX_CHARACTERS
from whileai.verify.algebra.units import quantity
from whileai.verify.algebra.value import NeedsDigits
from whileai.verify.base import Verifier, golds, time_left
from whileai.verify.reading.math_text import Found, final_answer, gold_answer
from whileai.verify.reading.numbers import read_number
from whileai.verify.verdict import Verdict, not_scored, passed, raised
from whileai.verify.workers.pool import Outcome, Session

_WORKER = "whileai.verify.workers.math_worker"
#: Longer answers are compared in a worker, or as text alone.
_HERE = 400
#: Pieces of work on their way while rows are still being read.
_WAITING = 512
_UNREADABLE = "the gold cannot be read as math or text to compare with"


class _Gold(NamedTuple):
    """One gold, prepared once."""

    text: str
    number: Any
    formula: str
    words: str
    prose: bool
    sound: bool


class _Question(NamedTuple):
    """What a worker must settle."""

    golds: tuple[_Gold, ...]
    answer: str
    run: str | None


class MathEqual(Verifier):
    r"""1 where the completion's final answer equals the gold as mathematics, else 0.

    Parameters
    ----------
    percent : {"strict", "either"}
        ``strict``: ``50%`` is one half and not 50. ``either``: ``50%`` also equals ``50``.
    field : str, optional
        Dotted path of the gold on the row; see `Verifier`.
    name : str, optional
        The judge name its verdicts carry.

    Notes
    -----
    **The final answer** of the completion is its last ``\boxed{}``; else its ``<answer>``; else what follows ``####``,
    "Answer:", "A:" or "The answer is"; else its last formula in ``$ $``, ``\( \)`` or ``\[ \]``; else the whole text
    where it is short; else its last number or expression. The gold is mathematics as it stands, in LaTeX or ASCII, with
    or without delimiters; of a worked solution, its box or what follows ``####`` or a last line "A: ".

    **Equal** are: the same text, whatever it says; numbers, exactly; a decimal of six or more significant digits and
    the exact value it rounds to within a millionth (``0.333333`` and ``1/3``, but not ``3.14`` and pi); expressions
    that agree at fixed points; equations that differ by a constant factor or hold at the same points; inequalities of
    one direction and strictness; intervals and the inequalities they solve; sets and bare lists in any order ("5 or
    6"); tuples and matrices entry by entry; ``x = 5`` and ``5``. A tuple, an interval with other ends and a set are
    three things. Words are equal as words, in either case.

    **Units** named on both sides must agree (``10 m`` is 1000 cm and not 10 cm); named on one side only they contradict
    nothing. Currency and degree signs are units. A letter right behind a number (``4t``) is a variable.

    Texts, numbers and whatever fractions of bounded size settle get their verdict in the calling process; the rest goes
    to worker processes that a clock stops from outside, with the status ``timeout``. The workers compare to fifty
    digits, and ask math-verify about integrals, sums, limits and other forms only it reads; its yes is checked
    numerically. No text is ever evaluated as code.

    A gold that is neither readable mathematics nor words gets the status ``error``, unless the answer is the same text.
    The row's ``failure_class`` tells ``different`` from ``unparsed_answer`` (nothing in it can be compared) and
    ``unparsed_gold``.

    Examples
    --------
    >>> import whileai as wai
    >>> rows = wai.rows(["Half of 1?"], [[r"It is \boxed{\frac12}", "0.6"]], wai.verify.MathEqual(), references=["0.5"])
    >>> [row["reward"] for row in rows]
    [1, 0]
    """

    bounded: ClassVar[bool] = True

    def __init__(self, percent: str = "strict", field: str | None = None, name: str | None = None) -> None:
        super().__init__(field=field, name=name)
        self.percent = params.one_of("MathEqual", "percent", percent, ("strict", "either"))

    def check(self, candidate: str, reference: Any, row: Mapping[str, Any]) -> Verdict:
        """The verdict on one completion, within the time its caller has left for it."""
        del row
        settled = self._settle(candidate, reference)
        if isinstance(settled, Verdict):
            return settled
        with Session(_WORKER, timeout=max(time_left(), 0.001), workers=1) as session:
            session.submit(0, self._message(settled))
            for _, outcome in session.drain():
                return _verdict(settled, outcome)
        raise ScorerError("MathEqual: its worker gave no verdict")

    def score_all(
        self, rows: Sequence[Mapping[str, Any]], *, timeout: float, workers: int | None
    ) -> Iterator[tuple[int, Verdict]]:
        """The verdicts on many rows with their places: those settled here at once, the others as workers send them."""
        with Session(_WORKER, timeout=timeout, workers=workers) as session:
            for place, row in enumerate(rows):
                settled = self._glance(row)
                if isinstance(settled, Verdict):
                    yield place, settled
                    continue
                session.submit((place, settled), self._message(settled))
                landed = session.drain(_WAITING) if session.waiting > _WAITING else session.ready()
                for (there, question), outcome in landed:
                    yield there, _verdict(question, outcome)
            for (there, question), outcome in session.drain():
                yield there, _verdict(question, outcome)

    def _glance(self, row: Mapping[str, Any]) -> Verdict | _Question:
        """The verdict on a row where it needs no worker; as `score`, never an exception."""
        candidate = keys.candidate_of(row)
        reference = keys.reference_of(row, self.field)
        if candidate is None or reference is None or keys.is_blank(reference):
            return self.score(row)
        try:
            return self._settle(candidate, reference)
        except Exception as error:  # noqa: BLE001 - as in `score`: whatever is raised is the verdict on this row alone
            return raised(error)

    def _message(self, question: _Question) -> dict[str, Any]:
        return {
            "golds": [gold.text for gold in question.golds],
            "answer": question.answer[: MAX_CHARACTERS + 1],
            "run": question.run,
            "percent": self.percent,
        }

    def _settle(self, candidate: str, reference: Any) -> Verdict | _Question:
        """The verdict where plain arithmetic and text give it, else what is left for a worker."""
        said = candidate.strip()
        accepted: list[_Gold] = []
        for item in golds(reference):
            if isinstance(item, str) and item.strip() == said:
                return passed(True, path="text")
            gold = _gold(item) if isinstance(item, str) else _gold_of(item)
            if gold is not None:
                accepted.append(gold)
        if not accepted:
            return _unread_gold()
        whole = _whole_number(said)
        if whole is not None:
            if any(gold.number == whole for gold in accepted):
                return passed(True, path="number")
            accepted = [gold for gold in accepted if gold.number is None or not _far(whole, gold.number)]
            if not accepted:
                return _failed(said, "", "number")
        return self._against(accepted, final_answer(candidate))

    def _against(self, accepted: list[_Gold], found: Found) -> Verdict | _Question:
        """The verdict on the answer that was found."""
        answer = prepare(found.text)
        run = prepare(found.run) if found.run else ""
        number = _number(answer)
        left: list[_Gold] = []
        for gold in accepted:
            if number is not None and gold.number is not None:
                if number == gold.number:
                    return passed(True, path="number")
                if _far(number, gold.number):
                    continue
            if _same_text(gold, answer):
                return passed(True, path="text")
            if _DENIED.fullmatch(answer):
                continue
            verdict = self._compare(gold, answer, run)
            if verdict:
                return passed(True, path="number" if gold.number is not None else "math")
            if verdict is None:
                left.append(gold)
        if left:
            return _Question(tuple(left), answer, run or None)
        if number is not None:
            return _failed(answer, run, "number")
        broken = not answer or ("\\" in answer and not _balanced(answer))
        unread = broken or (_says_no_value(answer, run) and not any(gold.prose for gold in accepted))
        return _failed(answer, run, "text", "unparsed_answer" if unread else "different")

    def _compare(self, gold: _Gold, answer: str, run: str) -> bool | None:
        """Whether an answer equals a gold, ``None`` where only a worker can say."""
        if not answer and not run:
            return False
        if gold.prose or _says_no_value(answer, run):
            return False
        for text in dict.fromkeys((answer, run)):
            if not text:
                continue
            if len(text) > _HERE or len(gold.text) > _HERE:
                if len(text) > MAX_CHARACTERS or len(gold.text) > MAX_CHARACTERS:
                    continue
                return None
            try:
                equal = equal_answers(gold.text, text, percent=self.percent, exact=True)
            except NeedsDigits:
                return None
            if equal is not None:
                return equal
        beyond = any(word in text for word in BEYOND for text in (gold.text, answer, run))
        return None if beyond or not gold.sound else False


def _whole_number(candidate: str) -> int | None:
    """The integer that the whole candidate is, as most answers are."""
    text = candidate.strip()
    digits = text[1:] if text[:1] == "-" else text
    return int(text) if digits.isascii() and digits.isdecimal() and len(text) <= 300 else None


def _number(text: str) -> Fraction | None:
    """The number that a prepared text is; of LaTeX the reader of trees says it."""
    return None if "\\" in text else read_number(text)


@lru_cache(maxsize=8192)
def _gold(reference: str) -> _Gold | None:
    """A gold text prepared, ``None`` where nothing of it is left."""
    text = prepare(gold_answer(reference))
    if not any(map(str.isalnum, text)) and not readable(text):
        return None
    number = _whole_number(text)
    prose = is_prose(text) and not readings(text) and quantity(text)[1] is None
    sound = prose or "\\" not in text or readable(text) or _balanced(text)
    return _Gold(text, _number(text) if number is None else number, formula_key(text), words_key(text), prose, sound)


def _gold_of(item: Any) -> _Gold | None:
    """A gold that is no text: a number as it is written, anything else is none."""
    if isinstance(item, bool):
        return _gold(str(item))
    if hasattr(item, "item") and getattr(item, "shape", None) == ():
        item = item.item()
    if isinstance(item, float) and not math.isfinite(item):
        return None if math.isnan(item) else _gold("\\infty" if item > 0 else "-\\infty")
    if isinstance(item, (str, numbers.Rational, float, Decimal)):
        return _gold(str(item))
    return None


def _far(one: Any, other: Any) -> bool:
    """Whether two numbers differ by more than any rounding: two integers at all, others by a hundred-thousandth."""
    if isinstance(one, int) and isinstance(other, int):
        return one != other
    return bool(abs(one - other) * 100_000 > abs(other))


_DENIED = re.compile(r"(?:not|never|neither)[\s{}]+[-+]?[\d.,/]+[\s}]*", re.IGNORECASE)  # "not 5" is no 5
_LETTER = re.compile(r"\(?([A-Z])(?:\)|[.:](?=\s))")  # the choice of "(B) 12" and "B. 12"


def _same_text(gold: _Gold, answer: str) -> bool:
    """Whether an answer is the gold's own text: in one spelling, as words, or as a formula."""
    if not answer:
        return False
    if answer == gold.text or words_key(answer) == gold.words != "" or formula_key(answer) == gold.formula != "":
        return True
    letter = _LETTER.match(answer) if len(gold.text) == 1 else None
    return letter is not None and letter.group(1) == gold.text


def _balanced(text: str) -> bool:
    """Whether every brace of a LaTeX text is closed, and no command lacks its argument at the end."""
    depth = 0
    for brace in re.findall(r"(?<!\\)[{}]", text):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0 and not re.search(
        r"\\(?:[dt]?frac(?:\{[^{}]*\})?|sqrt|[a-z]*|)\s*$", text.replace("\\infty", "").replace("\\pi", "")
    )


def _different(answer: str, run: str) -> str:
    shown = run if run and len(answer) > 60 else answer
    if not shown:
        return "no final answer was found in the completion"
    return f"the answer {shown if len(shown) <= 80 else shown[:60] + '...'!r} does not equal the gold"


def _verdict(question: _Question, outcome: Outcome) -> Verdict:
    """The verdict in what a worker made of a question."""
    if outcome.status == "timeout":
        return not_scored("timeout", "comparing the answer with the gold took too long", path="math")
    if outcome.status == "died":
        return not_scored("error", "comparing the answer with the gold brought down the worker process", path="math")
    body = outcome.body or {}
    if "error" in body:
        return not_scored(
            "error", f"comparing the answer with the gold raised {body['error']}", error_type=body["error"]
        )
    if body.get("equal") is None:
        return _unread_gold()
    return passed(True, path="math") if body["equal"] else _failed(question.answer, question.run or "", "math")


def _failed(answer: str, run: str, path: str, failure_class: str = "different") -> Verdict:
    """A 0: the answer differs from the gold, or says nothing that can be compared (``unparsed_answer``)."""
    return Verdict(0, reason=_different(answer, run), failure_class=failure_class, meta={"path": path})


def _unread_gold() -> Verdict:
    """No verdict, for the gold is at fault."""
    return Verdict(None, "error", _UNREADABLE, failure_class="unparsed_gold", meta={"path": "math"})


def _says_no_value(answer: str, run: str) -> bool:
    """Whether an answer is prose without a quantity in it."""
    return is_prose(answer) and not run and quantity(answer)[1] is None
