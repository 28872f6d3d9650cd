"""Where a completion states its final number."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from whileai.verify.reading.numbers import READ_CHARACTERS, Reading, split_percent, whole_number
from whileai.verify.reading.plain import boxes, plain_math
from whileai.verify.reading.tokens import Token, last_reading, tokens

_OPEN, _CLOSE = "\ue000", "\ue001"  # stand for the braces of a box while the LaTeX around it is read
_VERBS = r"(?::|=|\b(?:is|are|was|(?:will|would|should|must)[ ]be|comes[ ]to|equals)\b)"
_MARK = re.compile(
    rf"""
    (?P<box>{_OPEN})
    | (?P<tag><(?:final_?)?answer>)
    | ^[ \t]*\#{{4}}[ \t]*(?=[-+$€£(]*[ ]?\.?\d)
    | ^[ \t>*_]*(?-i:A)[*_]*[ ]?:
    | \banswers?\b["'*_)\]]*(?:[ ]?\([^()\n]{{0,40}}\))?(?:[ ](?:to|for|of|in)[ ][^.:\n=]{{1,60}}?)?["'*_]*[ ]?{_VERBS}
    | (?:respuesta|r[ée]ponse|antwort|risposta|resposta|ответ|答案|答え|正解|정답)(?:[ ]\w{{1,10}})?
      [ ]?(?::|=|(?:es|est|ist|è|é)\b|是|为|為|は|은|는)
    """,
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
_LEAD = re.compile(r"[\s*_>:#]*")
_CLAUSE_END = re.compile(r"\n|(?<!approx)(?<!\bca)(?<!\bRs)[.;!?](?=\s|$)")
_ASIDE = re.compile(r"[ ]\(")
_FILLER = re.compile(
    r"""[\s:=*_$(\["'`~]*(?:(?:approximately|approx\.?|about|around|roughly|exactly|just|simply|only|therefore|thus|
    indeed|clearly|still|now|then|that|the|a|total|of|number|equal|to|is|be|it|equals|value|sum|US|[a-zA-Z](?=[ ]*=))
    \b[\s:=*_$(\["'`~]*)*""",
    re.VERBOSE | re.IGNORECASE,
)
_ALSO = re.compile(r"[ ]*(?:,[ ]*(?:(?:and|or)\b)?|;|\band\b|\bor\b|&)[ ]*[$(]*")
_ENDS = re.compile(r"[\s$)\]*]*(?:[A-Za-z]{1,14})?[\s$)\]*.]*$|[ ]*(?:,|\band\b|\bor\b)")
_LISTED = re.compile(r"[\s$)\]*.]*$|[ ]*(?:,|\band\b|\bor\b)")
_OR_ELSE = re.compile(
    r"[\s$)\]*]{0,4}(?:[;|][ ]*|[(\[,]?[ ]*(?:and[ ])?(?:or|maybe|possibly|perhaps)[ ]+"
    r"(?:(?:maybe|possibly|perhaps|even)[ ])?)[$(]*"
)
_OR_BEFORE = re.compile(r"(?P<other>[-+]?[\d.,]+%?)[ ]+or[ ]+\Z")
_REVISED = re.compile(
    r"\b(?:wait|actually|correction|scratch that|oops|on reflection|on second thoughts?|my mistake"
    r"|i made an? (?:mistake|error))\b|\b(?:no|sorry),",
    re.IGNORECASE,
)
_ASSERTED = re.compile(
    r"(?:\bit(?:'s| is| equals)|\b(?:should|must) be|\bactually|\bwait,?|\bno,|\bcorrection:|\bi meant?)[\s:$*(]*",
    re.IGNORECASE,
)


def final_number(text: str) -> Reading | None:
    r"""The number a text states as its final answer, ``None`` where it states none.

    Notes
    -----
    The last of these counts: a box, ``#### 18``, ``A: 18``, ``Answer: 18``, ``the answer is 18``, an answer tag.
    A later correction (``Wait, it is 19``) wins over it. Without any of them, the last number of the text counts.
    Digits in a formula, a name, a date, a list's numbering or after ``not`` are no number, and two different numbers
    offered as one answer (``5 or 6``) are none either. The last 20,000 characters are read.
    """
    text = _capped(text.strip())
    if len(text) < 200:
        bare, percent = split_percent(text)
        value = whole_number(bare, european=True)
        if value is not None:
            return Reading(value, percent, text)
    text = _plain(text)
    last = None
    for mark in _MARK.finditer(text):
        last = mark
    if last is None:
        return _unstated(text)
    if last["box"] or last["tag"]:
        end = text.find(_CLOSE if last["box"] else "<", last.end())
        end = len(text) if end < 0 else end
        return _revised(text, end) or _in_span(text, last.end(), end)
    return _in_clause(text, last.end())


def _capped(text: str) -> str:
    """The end of a text that is too long to read, without the number the cut may have gone through."""
    if len(text) <= READ_CHARACTERS:
        return text
    return re.sub(r"^[\w.,'+-]+", "", text[-READ_CHARACTERS:])


def _plain(text: str) -> str:
    """The text in plain mathematics, its boxes between marks of their own."""
    if "box" not in text:
        return plain_math(text)
    text = text.replace(_OPEN, " ").replace(_CLOSE, " ")
    pieces, place = [], 0
    for start, end, content in boxes(text):
        pieces += [text[place:start], _OPEN, content, _CLOSE]
        place = end
    return plain_math("".join([*pieces, text[place:]]))


def _in_span(text: str, start: int, end: int) -> Reading | None:
    """The one number of a box or a tag: after its last equals sign, or all it holds."""
    equals = text.rfind("=", start, end)
    if equals >= 0 and not re.search(r"=[^=]*(?:,|\bor\b|\band\b)[^=]*=", text[start : equals + 1]):
        start = equals + 1
    readings = [reading for token in tokens(text, start, end) if (reading := token.read()) is not None]
    return readings[0] if len({reading[:2] for reading in readings}) == 1 else None


def _in_clause(text: str, place: int) -> Reading | None:
    """The number stated after the words that announce it."""
    lead = _LEAD.match(text, place)
    start = place if lead is None else lead.end()
    if start == len(text):  # cut off before the answer
        return _unstated(text[:place])
    ending = _CLAUSE_END.search(text, start)
    end = len(text) if ending is None else ending.start() + 1
    aside = _ASIDE.search(text, start + 1, end)
    found = _stated(text, start, aside.start()) if aside is not None else None
    found = found or _stated(text, start, end)
    if found is None:
        return _revised(text, end) or _unstated(text[end:])
    stop, reading = found
    revised = _revised(text, max(stop, start))
    return revised or (None if reading is None or _or_else(text, stop, reading) else reading)


def _stated(text: str, start: int, end: int) -> tuple[int, Reading | None] | None:
    """Where the statement between two places ends and its number; ``None`` where there is no number at all."""
    found = tokens(text, start, end)
    read = [(token, reading) for token in found if (reading := token.read()) is not None]
    if not read:
        return None
    token, reading = read[0]
    equals = text.rfind("=", start, end)
    near = token.start - start <= 60 and _FILLER.fullmatch(text, start, max(start, token.start)) is not None
    if near and not re.match(r"[^\n=(]{0,40}=", text[token.end : end]):
        several = _several(text, token.end, end, read)
        return (token.end, None) if several else (token.end, reading)
    after = [pair for pair in read if pair[0].start > equals] if equals >= 0 else []
    if after:
        return after[0][0].end, after[0][1]
    last = last_reading(found)
    return None if last is None else (last[0].end, last[1])


def _several(text: str, place: int, end: int, read: Sequence[tuple[Token, Reading]]) -> bool:
    """Whether the number that ends at `place` is one of a list of different numbers, as in ``5 or 6``."""
    comma = text[place - 1 : place] == ","  # a token takes a comma at its end along
    also = _ALSO.match(text, place - comma, end)
    if also is None:
        return False
    for token, reading in read[1:]:
        if place <= token.start <= also.end() <= token.end:
            rest = (_LISTED if comma else _ENDS).match(text[token.end : end])
            return _differ(reading, read[0][1]) and rest is not None
    return False


def _differ(one: Reading, other: Reading) -> bool:
    """Whether two readings are different amounts; 50% is 0.5 said again."""
    first, second = (Fraction(reading.value, 100 if reading.percent else 1) for reading in (one, other))
    return first != second


def _or_else(text: str, place: int, reading: Reading) -> bool:
    """Whether another number is offered beside the one that ends at `place`, as in ``5 (or 6)`` and ``5; 6``."""
    match = _OR_ELSE.match(text, place)
    if match is None:
        return False
    for token in tokens(text, match.end(), match.end() + 40)[:1]:
        other = token.read()
        if other is None or token.start - match.end() > 1:
            return False
        return _differ(other, reading) and _ENDS.match(text[token.end : token.end + 40]) is not None
    return False


def _revised(text: str, place: int) -> Reading | None:
    """The number of a correction after a statement, ``None`` where nothing is corrected."""
    revised = _REVISED.search(text, place)
    if revised is None:
        return None
    found = {token.start: token for token in tokens(text, revised.start())}
    numbers = None
    for asserted in _ASSERTED.finditer(text, revised.start()):
        token = found.get(asserted.end()) or found.get(asserted.end() + 1)
        reading = None if token is None else token.read()
        numbers = reading or numbers
    return numbers


def _unstated(text: str) -> Reading | None:
    """The last number of a text that announces none."""
    last = last_reading(tokens(text))
    if last is None:
        return None
    token, reading = last
    other = _OR_BEFORE.search(text, max(0, token.start - 40), max(0, token.start))
    if other is not None:
        bare, percent = split_percent(other["other"])
        if (whole_number(bare, european=True), percent) != reading[:2]:
            return None
    return reading
