"""`MultipleChoice`: the letter a completion chooses against the gold letter."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from whileai.verify.base import Verifier, golds
from whileai.verify.reading.letters import chosen_letter, gold_letter
from whileai.verify.verdict import Verdict, not_scored


class MultipleChoice(Verifier):
    r"""Whether the letter a completion chooses is the gold letter.

    Parameters
    ----------
    field, name : str, optional
        As in `Verifier`.

    Notes
    -----
    Read are, of any letter from A to Z: an announced choice (``The answer is B``, ``Answer: (b)``, ``\boxed{B}``, ``so
    B``, ``it is B``, ``B is correct``), of which the last counts and wins over everything else; a line of one letter;
    an option written out (``B. Paris``); and a lone mention (``Probably B``). A small letter counts only where a choice
    is announced or in brackets. No choices are the article and the pronoun (``A dog``, ``I would say``), a letter that
    is denied (``not B``, ``B is wrong``), and several letters offered at once (``B or C``). The last 20,000 characters
    are read.

    The gold is a letter (``B``, ``b``, ``(B)``, ``B. Paris``) or a list of them. Any other gold, an index too, since it
    may count from 0 or 1, is a mistake in the data: its rows get the status ``error``.

    Examples
    --------
    >>> import whileai as wai
    >>> judge = wai.verify.MultipleChoice()
    >>> judge.score({"final_text": "Not B, it is (C).", "answer": "C"}).reward
    1
    """

    bounded = True

    def check(self, candidate: str, reference: Any, row: Mapping[str, Any]) -> Verdict:
        """The verdict on the chosen letter."""
        accepted = {letter for gold in golds(reference) if isinstance(gold, str) and (letter := _gold_letter(gold))}
        if not accepted:
            kind = type(reference).__name__
            return not_scored("error", f"the gold of the row, a {kind}, names no letter; give the option's letter")
        letter = chosen_letter(candidate)
        if letter is None:
            return Verdict(0, reason="the completion chooses no one letter")
        if letter in accepted:
            return Verdict(1)
        return Verdict(0, reason=f"the completion chooses {letter}, not the gold letter")


@functools.lru_cache(maxsize=4_096)
def _gold_letter(gold: str) -> str | None:
    return gold_letter(gold)
