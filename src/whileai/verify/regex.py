"""`Regex`: a pattern found in the completion."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from whileai import keys
from whileai.errors import ParamError
from whileai.verify.base import Verifier
from whileai.verify.reading.text import gold_texts, normal
from whileai.verify.verdict import Verdict, not_scored


class Regex(Verifier):
    r"""Whether a regular expression is found in a completion, and if asked, captures the gold.

    Parameters
    ----------
    pattern : str or re.Pattern
        Searched for anywhere in the completion, with `re.search`; the first place counts.
    group : int or str, optional
        The group whose text must equal the gold, as `ExactMatch` compares. Without it, or on a row without gold, the
        match decides alone. A group that took no part in the match captures nothing, and fails.
    field, name : str, optional
        As in `Verifier`.

    Raises
    ------
    ParamError
        If `pattern` is no regular expression of text, or has no such group.

    Notes
    -----
    A pattern can backtrack without end, so each verdict is made in a process that the time limit kills.

    Examples
    --------
    >>> import whileai as wai
    >>> judge = wai.verify.Regex(r"answer (\d+)", group=1)
    >>> judge.score({"final_text": "the answer 7", "answer": "8"}).reward
    0
    """

    needs_reference = False

    def __init__(
        self,
        pattern: str | re.Pattern[str],
        group: int | str | None = None,
        field: str | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(field, name)
        self._compiled = _compiled(pattern)
        self.pattern = self._compiled.pattern
        self.flags = self._compiled.flags
        self.group = group
        known = [*range(self._compiled.groups + 1), *self._compiled.groupindex]
        if group is not None and (isinstance(group, bool) or group not in known):
            shown = ", ".join(map(repr, known))
            raise ParamError.of("Regex", "group", f"a group of the pattern {self.pattern!r} ({shown})", group)

    def check(self, candidate: str, reference: Any, row: Mapping[str, Any]) -> Verdict:
        """The verdict on the first match."""
        match = self._compiled.search(candidate)
        if match is None:
            return Verdict(0, reason="the completion does not match the pattern")
        if self.group is None or reference is None:
            return Verdict(1)
        accepted = [] if keys.is_blank(reference) else gold_texts(reference)
        if not accepted:
            return not_scored("missing_reward", "the gold of the row is blank")
        captured = match[self.group]
        if captured is None or normal(captured) not in accepted:
            return Verdict(0, reason=f"group {self.group!r} of the pattern captured another text than the gold")
        return Verdict(1)


def _compiled(pattern: Any) -> re.Pattern[str]:
    if not isinstance(pattern, (str, re.Pattern)) or isinstance(getattr(pattern, "pattern", ""), bytes):
        raise ParamError.of("Regex", "pattern", "a regular expression as text or as a compiled pattern", pattern)
    try:
        return re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        told = str(error)
        fix = f"{told[:1].upper()}{told[1:]}."
        raise ParamError.of("Regex", "pattern", "a regular expression", pattern, fix) from error
