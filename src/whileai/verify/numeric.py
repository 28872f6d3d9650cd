"""`Numeric`: the final number of a completion against the gold number."""

from __future__ import annotations

import functools
import math
import numbers
import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

from whileai import params
from whileai.verify.base import Verifier, golds
from whileai.verify.reading.numbers import Reading
from whileai.verify.reading.stated import final_number
from whileai.verify.verdict import Verdict, not_scored

_DEFAULT_TOL = 1e-6
# The two plainest completions, a lone number or one announced on the last line, need no further reading.
_PLAIN = re.compile(r"\s*([-+]?\d{1,15})(\.\d{1,15})?\.?\s*")
_ANNOUNCED = re.compile(
    r"(?:(?:A:|####|(?:[Tt]he )?(?:[Ff]inal )?[Aa]nswer(?::| is:?)) ?)"
    r"\$?([-+]?\d{1,15}|[1-9]\d{0,2}(?:,\d{3})+)(\.\d{1,15})?\.?"
)


class Numeric(Verifier):
    r"""Whether the final number of a completion is the gold number.

    Parameters
    ----------
    tol : float
        The greatest absolute difference that passes, at least 0. A `tol` of 1e-6 or less is there for rounding noise,
        so of a tiny gold it is a thousandth of the gold at the most: 2e-7 is no 1e-7.
    rel : float, optional
        The greatest difference as a share of the gold's size; a number within `tol` or within `rel` passes. ``None``
        (the default) means `tol` alone, for golds of any size.
    percent : {"strict", "either"}
        ``"strict"``: ``50%`` equals ``50%`` alone. ``"either"``: ``50%`` equals ``50%``, ``50`` and ``0.5``.
    field, name : str, optional
        As in `Verifier`.

    Notes
    -----
    The candidate may be a whole solution; `verify.reading.stated.final_number` says which number counts. Numbers
    are compared exactly, as fractions. Read are ``3.14``, ``.5``, ``1,234``, ``1 000``, ``1.234,5``, ``3 1/2``,
    ``10^6``, ``2e3``, ``1.2 \times 10^3``, ``\frac12``, money and units, any script's digits, ``2.5 million``. A comma
    that groups no three digits is a decimal mark: ``3,5`` is 3.5. Powers past 100,000 bits are not computed and
    pass against nothing. Arithmetic is not done: ``3 + 4`` states no number.

    The gold may be a number or a text with one, or a list of them, any of which passes. A gold without a number is a
    mistake in the data: its rows get the status ``error``, never 0.

    Examples
    --------
    >>> import whileai as wai
    >>> judge = wai.verify.Numeric()
    >>> [judge.score({"final_text": text, "answer": "1000"}).reward for text in ("So it is 1,000 m.", "1 km")]
    [1, 0]
    """

    bounded = True

    def __init__(
        self,
        tol: float = _DEFAULT_TOL,
        rel: float | None = None,
        percent: Literal["strict", "either"] = "strict",
        field: str | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(field, name)
        self.tol = params.real("Numeric", "tol", tol, "a number of at least 0", 0, math.inf)
        if rel is not None:
            rel = params.real("Numeric", "rel", rel, "a number of at least 0, or None", 0, math.inf)
        self.rel = rel
        self.percent = params.one_of("Numeric", "percent", percent, ("strict", "either"))

    def check(self, candidate: str, reference: Any, row: Mapping[str, Any]) -> Verdict:
        """The verdict on the candidate's final number."""
        accepted = [gold for item in golds(reference) if (gold := _gold(item)) is not None]
        if not accepted:
            return not_scored("error", f"the gold of the row, a {type(reference).__name__}, holds no number to check")
        found = read_candidate(candidate)
        if found is None:
            return Verdict(0, reason="the completion states no final number")
        for gold in accepted:
            if self._equal(found, gold):
                return Verdict(1)
        return Verdict(0, reason=f"the completion's final number {found.text} is not the gold number")

    def _equal(self, found: Reading, gold: Reading) -> bool:
        value = found.value
        if found.percent == gold.percent:
            return self._close(value, gold.value)
        if self.percent == "strict":
            return False
        hundredth = Fraction(1, 100)
        if found.percent:
            return self._close(value, gold.value) or self._close(value * hundredth, gold.value)
        return self._close(value, gold.value) or self._close(value, gold.value * hundredth)

    def _close(self, value: int | Fraction, gold: int | Fraction) -> bool:
        if value == gold:
            return True
        tol, rel = self.tol, self.rel
        if rel is None and tol < 1 and type(value) is int and type(gold) is int:
            return False
        gap, size = abs(Fraction(value) - gold), abs(Fraction(gold))
        allowed = Fraction(tol)
        if tol <= _DEFAULT_TOL and 0 < size < 1:  # of a tiny gold a millionth may be many times its size
            allowed = min(allowed, size / 1000)
        return gap <= allowed or (rel is not None and gap <= Fraction(rel) * size)


def read_candidate(text: str) -> Reading | None:
    """The final number of a completion; as `final_number`, with a short way for the plainest texts."""
    match = _PLAIN.fullmatch(text)
    if match is None:
        text = text.rstrip()
        match = _ANNOUNCED.fullmatch(text, text.rfind("\n") + 1)
    if match is not None and match[0].isascii():
        whole, part = match[1].replace(",", ""), match[2]
        written = match[0].strip() if part is None else match[1] + part
        value = int(whole) if part is None else Fraction(int(whole + part[1:]), 10 ** (len(part) - 1))
        return Reading(value, percent=False, text=written)
    return final_number(text)


def _gold(value: Any) -> Reading | None:
    """The number of a gold, ``None`` where it has none."""
    if isinstance(value, str):
        return _gold_text(value)
    if type(value) is int:
        return Reading(value, percent=False, text="")
    return _gold_number(value)


@functools.lru_cache(maxsize=65_536)
def _gold_text(text: str) -> Reading | None:
    return read_candidate(text)


def _gold_number(value: Any) -> Reading | None:
    """The number of a gold that is no text; a float counts as the shortest decimal that names it."""
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        value = value.item()
    if isinstance(value, bool):
        return None
    if isinstance(value, numbers.Rational):
        return Reading(Fraction(value), percent=False, text="")
    if isinstance(value, (float, Decimal)) and math.isfinite(value):
        return Reading(Fraction(str(value)), percent=False, text="")
    return None
