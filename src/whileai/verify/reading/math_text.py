"""Where a completion states its final answer, and that answer as text the reader of mathematics can take.

Nothing here computes: every pattern is linear in the length of the text, and no text is ever evaluated.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from whileai.verify.algebra.prose import JOINERS, UNIT_WORDS, is_prose
from whileai.verify.algebra.spelling import prepare

#: Only so much of a long completion is searched for phrases and formulas, from its end.
TAIL = 20_000
SHORT = 120


class Found(NamedTuple):
    """A final answer.

    Attributes
    ----------
    text : str
        The answer as written, without its box, tag or dollar signs.
    run : str or None
        Where `text` is a sentence, the stretch of mathematics in it.
    """

    text: str
    run: str | None = None


_DISPLAYED = re.compile(
    r"\$\$(?P<d>[^$]{1,2000})\$\$|\\\[(?P<b>(?:[^\\]|\\\\|\\(?![\[\]\\])){1,2000})\\\]"
    r"|\\\((?P<p>(?:[^\\]|\\\\|\\(?![()\\])){1,2000})\\\)"
    r"|(?<![\\$])\$(?P<i>[^$\n]{1,1000})(?<!\\)\$(?![\d$])"
)
_OPEN_END = re.compile(r"(?:[-+*/=,;(<>]|\b(?:and|or|to))\s*$")
_CUE = re.compile(
    r"(?:\bfinal\s+(?:result|value)|\banswers?)\b[^.\n:=$\\]{0,40}?(?:\b(?:is|are|equals|be|was)\b|[:=：])(?:[\s*_`]*[:：])?"
    r"|^[\s*_`>#]*A(?:ns)?[*_`]*[.:：](?=\D)|答案[是为：:]*",
    re.IGNORECASE | re.MULTILINE,
)
_THINK_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_TAG = re.compile(r"<answer>(.*?)(?:</answer>|<answer>|\Z)", re.IGNORECASE | re.DOTALL)
_BETWEEN_BOXES = re.compile(
    r"(?=.*(?:[,;]|\band\b|\bor\b))(?:[\s${}.,;]|\\q?quad\b|\\(?:text|mbox)\b|\\[,;!]|\b(?:and|or)\b)*"
    r"(?:[A-Za-z](?:_\{?\w\}?)?\s*=[\s$]*)?",
    re.DOTALL,
)
_AFTER_BOX = re.compile(r"[\s$]*(\\?%|\^\\circ|\^\{\\circ\}|°|percent(?:age)?\b|pct\b)")
_SENTENCE_END = re.compile(r"(?<=[\w)}\]$%!'*`])[.?;](?=\s|$)|(?<=\s)[.?](?=\s|$)")


def final_answer(text: str) -> Found:
    r"""Where a completion says its final answer.

    The first of these that is there: the last ``\boxed{}`` (boxes joined by a comma, "and" or "or" are one answer);
    the last ``<answer>``; what follows the last ``####``; what follows the last "The answer is", "Answer:" or "A:"; the
    whole text where it is one short line of mathematics; the last formula between dollar signs or LaTeX brackets; the
    whole text where it is one short line; the last number or expression.
    """
    thoughts = [match.end() for match in _THINK_END.finditer(text)] if "</" in text else []
    if thoughts and text[thoughts[-1] :].strip():
        text = text[thoughts[-1] :]
    boxed = _boxed(text) if "\\boxed" in text or "\\fbox" in text else None
    if boxed is not None:
        return _found(boxed, first=False)
    text = text[-TAIL:]
    if "<answer>" in text or "<ANSWER>" in text or "<Answer>" in text:
        inside = [match for match in _TAG.findall(text) if match.strip()]
        if inside:
            return _stated(inside[-1].strip())
    place = text.rfind("####")
    if place >= 0 and text[place + 4 :].strip():
        return _found(_line(text[place + 4 :].lstrip("# ")), first=True)
    return _stated(text.strip())


_MARKED = re.compile(r"[\n$\\*`]")


def _stated(text: str) -> Found:
    """The answer in a text without boxes and tags."""
    if len(text) < 40 and text.isascii() and not any(map(str.isalpha, text)) and not _MARKED.search(text):
        return Found(text)
    told = _after_cue(text)
    if told is not None:
        return told
    short = "\n" not in text and len(text) <= SHORT
    whole = _found(text, first=False) if short else None
    if whole is not None and whole.run is None:
        return whole
    spans = formulas(text)
    if spans:
        return _found(_joined_spans(text, spans), first=False)
    return whole or Found("", last_run(text))


def gold_answer(text: str) -> str:
    """The answer a gold holds: its last box, what follows ``####`` or a last line "A: ...", else the whole text."""
    boxed = _boxed(text) if "\\boxed" in text or "\\fbox" in text else None
    if boxed is not None:
        return undelimited(boxed)
    place = text.rfind("####")
    if place >= 0 and text[place + 4 :].strip():
        return undelimited(_line(text[place + 4 :].lstrip("# ")))
    tags = [match for match in _TAG.findall(text) if match.strip()]
    if tags:
        return undelimited(tags[-1])
    if len(text) > SHORT or "\n" in text.strip() or _CUE.match(text.strip()):
        told = _after_cue(text.strip())
        if told is not None:
            return told.text
    return undelimited(text)


class Span(NamedTuple):
    """A formula between delimiters: where it stands with them, and what it says."""

    start: int
    end: int
    inside: str


def formulas(text: str) -> list[Span]:
    """The formulas between dollar signs or LaTeX brackets; a dollar sign before a price opens none."""
    found: list[Span] = []
    place = 0
    while (match := _DISPLAYED.search(text, place)) is not None:
        inline = match.group("i")
        inside = inline or match.group("d") or match.group("b") or match.group("p")
        priced = (
            inline is not None and "\\" not in inline and (is_prose(inline) or _OPEN_END.search(inline) is not None)
        )
        if priced or not inside.strip():
            place = match.start() + 1
            continue
        found.append(Span(match.start(), match.end(), inside))
        place = match.end()
    return found


def _boxed(text: str) -> str | None:
    """The content of the last box that holds anything, with the boxes joined to it; ``None`` where there is none."""
    found: list[str] = []
    right = len(text)
    for _ in range(12):
        start = max(text.rfind("\\boxed", 0, right), text.rfind("\\fbox", 0, right))
        if start < 0:
            break
        opened = start + (6 if text.startswith("\\boxed", start) else 5)
        content, end = _braced(text, opened)
        if content.strip():
            if found and end != right and (right - end > 80 or not _BETWEEN_BOXES.fullmatch(text[end:right])):
                break
            mark = None if found else _AFTER_BOX.match(text, end)
            if not found or content.strip() != found[-1]:
                found.append(content.strip() + (mark.group(1) if mark else ""))
            right = start
        elif found:
            break
        else:
            right = start
    return ", ".join(reversed(found)) if found else None


def _braced(text: str, place: int) -> tuple[str, int]:
    """The balanced group after `place` and where it ends; without a closing brace, the rest of its line."""
    while place < len(text) and text[place] == " ":
        place += 1
    if not text.startswith("{", place):
        word = re.compile(r"[^\s$]{1,40}").match(text, place)
        return (word.group(), word.end()) if word else ("", place)
    depth = 0
    limit = min(len(text), place + 10_000)
    for at in range(place, limit):
        char = text[at]
        if char == "{" and text[at - 1] != "\\":
            depth += 1
        elif char == "}" and text[at - 1] != "\\":
            depth -= 1
            if not depth:
                return text[place + 1 : at], at + 1
    line = re.compile(r"[^\n$]*").match(text, place + 1)
    assert line is not None
    return line.group(), line.end()


def _line(text: str) -> str:
    """The first line that holds anything; of a formula set on lines of its own, the formula."""
    text = text.strip(" \t\r\n*_`")
    for opening, closing in (("$$", "$$"), ("\\[", "\\]")):
        if text.startswith(opening):
            end = text.find(closing, 2)
            if end > 0:
                return text[: end + 2]
    return text.split("\n", 1)[0]


def _after_cue(text: str) -> Found | None:
    """What follows the last phrase that announces an answer, if anything does."""
    spare: Found | None = None
    cues = list(_CUE.finditer(text))
    for cue in reversed(cues[-12:]):
        line = _line(text[cue.end() :])
        denied = re.match(r"(?i)not\b.*?\b(?:it is|it's|but)\b", line)
        if denied:
            line = line[denied.end() :]
        line = _SENTENCE_END.split(line, maxsplit=1)[0].strip()
        if not line:
            continue
        found = _found(line, first=True)
        if found.run is not None or not is_prose(found.text):
            return found
        spare = spare or found
    return spare


def _joined_spans(text: str, spans: list[Span]) -> str:
    """The last formula with those it is joined to by "and", "or" or a comma, and the unit or percent sign after it."""
    start, end = spans[-1].start, spans[-1].end
    for span in reversed(spans[:-1]):
        if not re.fullmatch(r"\s*(?:,\s*(?:and|or)?|and|or)\s*", text[span.end : start]):
            break
        start = span.start
    tail = re.compile(r"\s*(?:\\?%|[A-Za-z]{1,12}\b)").match(text, end)
    if tail and (tail.group().strip().strip("\\") == "%" or tail.group().strip() in UNIT_WORDS | {"m", "g", "s", "L"}):
        end = tail.end()
    return text[start:end]


def _without_delimiters(text: str) -> str:
    """`text` with every formula bare."""
    parts: list[str] = []
    place = 0
    for span in formulas(text):
        parts += [text[place : span.start], f" {span.inside} "]
        place = span.end
    return "".join(parts) + text[place:]


def _found(text: str, *, first: bool) -> Found:
    plain = undelimited(text)
    if not is_prose(plain) and not ("{" in plain and is_prose(prepare(plain))):
        return Found(plain)
    said = prepare(plain)
    return Found(plain, first_run(said) if first else last_run(said))


_EMPHASIS = re.compile(r"(?<![\w)\]}*])\*\*(?=[^\s*])([^*]*)\*\*(?![\w(\[{*])|(?<![\w_])__([^_]+)__(?!\w)")


def undelimited(text: str) -> str:
    """`text` without dollar signs, LaTeX brackets, emphasis and trailing stop; a price keeps its dollar sign."""
    text = text.strip().strip("`").strip()
    text = _EMPHASIS.sub(lambda m: m.group(1) or m.group(2), text)
    if "$" in text or "\\[" in text or "\\(" in text:
        text = _without_delimiters(text)
    if text.count("$") == 1 and "\\" in text and not re.search(r"\$\s?[\d.]", text):
        text = text.replace("$", " ")
    text = text.strip(' \t\r\n:*`_"')
    while text and text[-1] in ".,;:?" and not text.endswith("..."):
        text = text[:-1].rstrip()
    return text


_BOUNDS = frozenset(("more", "less", "fewer", "greater", "higher", "lower", "above", "below", "up", "over", "under"))
_STRONG = re.compile(r"[0-9\\√π∞]|\b(?:pi|sqrt|infinity)\b")
_OPERATORS = frozenset("+-*/^=<>()[]{}|,.:%×÷·±≤≥≠≈∈∪∩−–")


def _pieces(text: str) -> list[str]:
    """The text cut at white space outside brackets."""
    pieces: list[str] = []
    depth = 0
    start = 0
    for place, char in enumerate(text):
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth = max(0, depth - 1)
        elif char.isspace() and not depth:
            if place > start:
                pieces.append(text[start:place])
            start = place + 1
    if start < len(text):
        pieces.append(text[start:])
    return pieces


def _runs(text: str) -> list[str]:
    """The stretches of mathematics in a sentence, in order."""
    runs: list[str] = []
    run: list[str] = []
    for piece in _pieces(text):
        bare = piece.strip("*`\"“”'").rstrip(".,;:!?")
        ends = piece.rstrip("*`\"”'")[-1:] in {".", ";", ":", "?", "!"} and not bare.endswith("\\")
        if _is_mathematics(bare, run, ends=ends):
            run.append(bare + ("," if piece.rstrip("*`").endswith(",") else ""))
            if not ends:
                continue
        elif bare.lower() in _BOUNDS and run and run[-1] in JOINERS:
            run = []  # "3 or more" is not 3
        _close(run, runs)
        run = []
    _close(run, runs)
    return runs


def _is_mathematics(bare: str, run: list[str], *, ends: bool) -> bool:
    """Whether a piece of a sentence goes on with a stretch of mathematics, or begins one."""
    if not bare:
        return bool(run) and not ends
    if bare in UNIT_WORDS or bare in {"m", "g", "s"}:
        return bool(run) and run[-1][-1:].isdigit()
    if bare in JOINERS:
        return bool(run)
    if len(bare) == 1 and bare.isalpha():
        return bare not in {"a", "I"} or bool(run and run[-1] in _OPERATORS)
    return (bool(_STRONG.search(bare)) or set(bare) <= _OPERATORS or len(bare) <= 3) and not is_prose(bare)


def _close(run: list[str], runs: list[str]) -> None:
    """Keep a stretch without the joiners and signs it hangs on, where it says anything."""
    start, end = 0, len(run)
    while end and (run[end - 1] in JOINERS or run[end - 1] in {",", "-", "="}):
        end -= 1
    while start < end and (run[start] in JOINERS or run[start] in {",", "=", ":", "-"}):
        start += 1
    whole = undelimited(" ".join(run[start:end]))
    if _STRONG.search(whole):
        runs.append(whole)


def first_run(text: str) -> str | None:
    """The first stretch of mathematics in a sentence."""
    runs = _runs(text[:2000])
    return runs[0] if runs else None


def last_run(text: str) -> str | None:
    """The last stretch of mathematics in a text."""
    runs = _runs(text[-2000:])
    return runs[-1] if runs else None
