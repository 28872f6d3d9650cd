"""Which letter of a multiple choice a text chooses."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from whileai.verify.reading.plain import boxes

READ_CHARACTERS = 20_000

_OPEN, _CLOSE = "\ue000", "\ue001"  # stand for the braces of a box
_WORDS = re.compile(r"\\(?:text|mathrm|textbf|mathbf|textit|mathit|operatorname|mbox|rm)\s*\{([^{}]*)\}")
_MARKUP = re.compile(r"\\[()\[\]]|\\(?:left|right)\b|[*`$]|(?<!\w)_+|_+(?!\w)")

_BLANKS = re.compile(r"[^\S\n]+")
_LINES = re.compile(r"\s*\n\s*")  # one newline a break, so that no pattern below meets long white space

_QUOTES = r"""[\s"'(\[{:<]{0,8}"""
_SURE = (
    r"(?:(?:definitely|probably|most|likely|clearly|therefore|thus|indeed|simply|just|actually|only|really|surely"
    r"|option|choice|letter|answer|the|number|still|now)[\s\"'(\[{:]{1,4}){0,5}"
)
# One letter of its own: not a word's, nor C++, B-tree, U.S. or E = mc^2.
_LETTER = (
    r"(?<![A-Za-z0-9_])(?<![A-Za-z]\.)(?P<letter>[A-Za-z])"
    r"(?![A-Za-z0-9_+#&^]|['-][A-Za-z0-9]|\.[A-Za-z](?![A-Za-z])|[ ]*[=</*+]|[ ]+>)"
)
_IS = (
    r"(?:\s*[:=]|\s[-–—](?=\s)|'s\b"
    r"|\s+(?:is|was|are|(?:would|should|must|will|can[ ]only|has[ ]to|seems[ ]to|appears[ ]to)[ ]be)\b(?!'))"
)
_NOUN = r"\b(?:answer|choice|option|selection|pick|solution|response|guess|conclusion|verdict)"
_OF = r"(?:[ ]?\([^()\n]{0,40}\))?(?:[ ](?:to|for|of|among|from|in|here|that|I)\b[^.:\n]{0,60}?)?"
_FOREIGN = (
    r"(?:respuesta|r[ée]ponse|antwort|risposta|resposta|ответ|答案|答え|正解|정답|选|選)(?:[ ]\w{1,12})?"
    r"\s*(?::|=|(?:es|est|ist|è|é)\b|是|为|為|は|은|는)?"
)
_STOP = r"""(?=["')\]}>]{0,4}\s*(?:\Z|[.,;:!\n)\]}]))"""

_ANNOUNCED = re.compile(rf"(?:{_NOUN}s?[\"']?{_OF}[\"']?{_IS}|{_FOREIGN}){_QUOTES}{_SURE}{_LETTER}", re.IGNORECASE)
_CHOSEN = re.compile(
    r"\b(?:choose|chose|choosing|chosen|pick|picked|picking|select|selected|selecting|(?:go|going|went|goes)[ ]with"
    rf"|settle[ ]on|opt[ ]for|opted[ ]for|vote[ ]for|say|guess|believe|answer)\s+{_QUOTES}{_SURE}{_LETTER}",
    re.IGNORECASE,
)
_FOUND = re.compile(
    r"\b(?:it|this|that)(?:'s|\s+(?:is|must\s+be|should\s+be|has\s+to\s+be|would\s+be))\s+"
    rf"{_QUOTES}{_SURE}{_LETTER}",
    re.IGNORECASE,
)
_CONCLUDED = re.compile(
    r"\b(?:so|thus|hence|therefore|but|rather|instead|finally|leaving|leaves)\b[\s,:]{0,4}"
    rf"{_QUOTES}{_SURE}{_LETTER}{_STOP}",
    re.IGNORECASE,
)
_RIGHT = re.compile(
    rf"{_LETTER}[\"')\]}}]{{0,4}}\s+(?:is|must\s+be|should\s+be|looks|seems|would\s+be|fits)\s+"
    r"(?:(?:definitely|clearly|probably|indeed|the|most|likely|my|our)\s+){0,4}"
    r"(?:final\s+|only\s+|correct\s+)?(?:correct|right|true|best|answer|choice|option|accurate|appropriate)\b"
)

_EARLIER_DENIAL = re.compile(
    r"(?:\b(?:if|whether|unless|statement|assume|suppose|supposing|not|never)|n't)"
    r"(?:\s+(?:think|believe|say|mean|that|because|the|my|option|choice|final|correct|right|best|I|we|would)){0,8}"
    r"[\s(\"']{0,4}\Z",
    re.IGNORECASE,
)
_LATER_DENIAL = re.compile(
    r"""["')\]}]{0,4}(?:\s*\?
    | (?:\s+(?:is|was|seems|looks|would\s+be|can)
      | (?:,?\s+(?:and\s+|or\s+|nor\s+)?\(?[A-Z]\)?){1,6}\s+(?:are|were|seem|look|can))
      (?:n't|\s+not)?\s*(?:not\b|wrong|incorrect|false|ruled|eliminated|out\b|invalid|implausible|unlikely|impossible
      |be\b)
    | \s+(?:isn't|aren't|can't|cannot|wasn't|does\s+not|doesn't))""",
    re.VERBOSE,
)
_ANOTHER = re.compile(
    r"""["')\]}]{0,4}\s*(?:,\s*(?:and|or)?|/|&|\(?\bor\b|\band\b)\s*(?:also\s+|maybe\s+|possibly\s+)?(?:option\s+|choice\s+)?
    ["'(\[]{0,4}[A-Za-z](?![\w'+#-])["')\]}]{0,4}\s*(?=\Z|[.,;:!?\n/&]|\b(?:and|or)\b)""",
    re.VERBOSE,
)
_AFTER_A = re.compile(
    r"\s+(?:because|since|as|and|or|which|for|due|with|based|is|are|but|not|from|rather|instead|given|so|by|while|where"
    r"|when|if|that|over|in)\b"
)
_WORD_NEXT = re.compile(r"[ \t]+[A-Za-z]")

_BARE = re.compile(
    r"""[\s()\[\]{}"'.:,;!>-]*(?:(?i:option|choice|letter)\s+)?[("'\[{]*([A-Za-z])[\s()\[\]{}"'.:,;!]*"""
)
_LABEL = re.compile(
    r"[\s>•-]*(?:\((?P<around>[A-Za-z])\)\s*|\[(?P<square>[A-Z])\]\s*|(?P<upper>[A-Z])(?:[.):](?![A-Za-z]\.)\s*|\s+[-–—]\s+)"
    r"|(?P<lower>[a-z])\)\s*)(?=\S)"
)
_MENTION = re.compile(
    r"(?P<lead>\A|[.,;:!?\n(\"'\[–—]|\b(?i:option|choice|answer|letter|is|be|with|say|think|guess|probably|maybe|likely"
    rf"|definitely|only|believe|perhaps|possibly|certainly|and|or)\b){_QUOTES}{_LETTER}"
)
_CLAUSE = re.compile(r"[.,;:!?\n](?=[^.,;:!?\n]*\Z)")
_DENIED = re.compile(
    r"\b(?:not|never|neither|nor|cannot|out|eliminate[sd]?|excluded?s?|reject(?:ed|s)?|than|instead of|except|unlike|vs"
    r"|versus|if|(?:could|might|may) be|whether)\b|n't\b",
    re.IGNORECASE,
)


def chosen_letter(text: str) -> str | None:
    """The letter a text chooses, in upper case; ``None`` where it chooses none, or more than one at once."""
    text = _clean(text[-READ_CHARACTERS:])
    found, letter = _announced(text)
    if found:
        return letter
    lines = [line for line in text.split("\n") if line.strip()]
    bare = [letter for line in lines if (letter := _bare(line))]
    if bare:
        return bare[-1]
    labels = [_label(line) for line in lines]
    named = {label for label in labels if label}
    if len(named) == 1:
        return named.pop()
    if labels and labels[0] and labels[0] != "A":  # a list of the options begins with A
        return labels[0]
    return None if named else _mentioned(text)


def gold_letter(text: str) -> str | None:
    """The letter a gold names, in upper case; ``None`` where it names none."""
    text = _clean(text)
    found, letter = _announced(text)
    if found:
        return letter
    return _bare(text) or _label(text)


def _clean(text: str) -> str:
    """`text` without markup, full-width letters as ASCII, its boxes between marks of their own."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.replace("\u2019", "'")).replace(_OPEN, " ").replace(_CLOSE, " ")
    if "\\" in text:
        pieces, place = [], 0
        for start, end, content in boxes(text):
            pieces += [text[place:start], _OPEN, content, _CLOSE]
            place = end
        text = _WORDS.sub(r"\1", "".join([*pieces, text[place:]]))
    return _LINES.sub("\n", _BLANKS.sub(" ", _MARKUP.sub("", text))).strip()


def _bare(line: str) -> str | None:
    """The letter that a line is but for punctuation."""
    match = _BARE.fullmatch(line) if len(line) <= 40 else None
    return None if match is None else match[1].upper()


def _label(line: str) -> str | None:
    """The letter of an option written out, such as ``B. Paris``."""
    match = _LABEL.match(line)
    return None if match is None else next(group for group in match.groups() if group).upper()


_TAG = re.compile(rf"{_OPEN}([^{_CLOSE}]*){_CLOSE}|<(?:final_?)?answer>([^<]*)<", re.IGNORECASE)


def _announced(text: str) -> tuple[bool, str | None]:
    """Whether a choice is announced, and the letter of the last one."""
    last = max(_announcements(text), default=None, key=lambda choice: choice[0])
    return (False, None) if last is None else (True, last[1])


def _announcements(text: str) -> Iterator[tuple[int, str | None]]:
    """Every announced choice with its place; its letter is ``None`` where it offers several."""
    for match in _TAG.finditer(text):
        content = match[1] if match[1] is not None else match[2]
        yield match.end(), _bare(content) or _label(content)
    for pattern, small, plain_a in _PATTERNS:
        for match in pattern.finditer(text):
            end = match.end("letter")
            if _EARLIER_DENIAL.search(text[max(0, match.start() - 60) : match.start()]) or _LATER_DENIAL.match(
                text, end
            ):
                continue
            if _is_choice(text, end, match["letter"], small=small, plain_a=plain_a):
                yield end, (None if _ANOTHER.match(text, end) else match["letter"].upper())


#: The announcements, whether each takes a small letter, and whether an A before a word is no article in it.
_PATTERNS = (
    (_ANNOUNCED, True, False),
    (_CHOSEN, True, False),
    (_FOUND, False, False),
    (_CONCLUDED, False, False),
    (_RIGHT, False, True),
)
_SMALL_STOP = re.compile(_STOP)


def _is_choice(text: str, end: int, letter: str, *, small: bool, plain_a: bool) -> bool:
    """Whether the letter that ends at `end` is an option's, not an article, a pronoun or a variable."""
    if letter.islower():
        return small and _SMALL_STOP.match(text, end) is not None
    if letter in "AI" and not plain_a and _WORD_NEXT.match(text, end):
        return _AFTER_A.match(text, end) is not None
    return True


def _mentioned(text: str) -> str | None:
    """The one letter a text mentions without denying it."""
    letters: set[str] = set()
    joined: set[str] = set()
    for match in _MENTION.finditer(text):
        letter, end = match["letter"], match.end("letter")
        bracketed = text[end - 2 : end - 1] == "(" and text[end : end + 1] == ")"
        if not bracketed:
            small = match["lead"].lower() in ("option", "choice", "letter")
            if letter == "I" or not _is_choice(text, end, letter, small=small, plain_a=False):
                continue
        before = text[max(0, end - 61) : end - 1]
        clause = _CLAUSE.search(before)
        if _DENIED.search(before, 0 if clause is None else clause.start()) or _LATER_DENIAL.match(text, end):
            continue
        (joined if match["lead"].lower() in ("and", "or") else letters).add(letter.upper())
    return letters.pop() if len(letters) == 1 and not joined - letters else None
