"""`ExactMatch`: the completion is the gold text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whileai.verify.base import Verifier
from whileai.verify.reading.text import gold_texts, normal
from whileai.verify.verdict import Verdict, not_scored


class ExactMatch(Verifier):
    """Whether the whole completion is the gold, apart from case, spacing and what stands around an answer.

    Parameters
    ----------
    field, name : str, optional
        As in `Verifier`.

    Notes
    -----
    Equal are texts that differ in case (``Straße`` and ``STRASSE``), Unicode composition or width, the kind of quote or
    dash, white space, a final period, and quotes or Markdown bold around the whole: ``**Paris**.`` is ``paris``. Every
    other sign counts: ``3.5`` is not ``35``, ``C++`` not ``C``, ``50%`` not ``50``. A gold that is no text counts by
    its text; of a list, any item passes.

    Examples
    --------
    >>> import whileai as wai
    >>> wai.verify.ExactMatch().score({"final_text": "Paris.", "answer": "paris"}).reward
    1
    """

    bounded = True

    def check(self, candidate: str, reference: Any, row: Mapping[str, Any]) -> Verdict:
        """The verdict on the whole completion."""
        accepted = gold_texts(reference)
        if not accepted:
            return not_scored("missing_reward", "the gold of the row is blank")
        if normal(candidate) in accepted:
            return Verdict(1)
        return Verdict(
            0, reason="the completion is another text than the gold" if candidate.strip() else "no completion"
        )
