"""What an agent's message asks of the person it talks to: which facts, for a yes, for more, or for nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from whileai.engine import nouns

_SENTENCE = re.compile(r"[^.!?\n]+(?:\.(?=\w)[^.!?\n]*)*[.!?]*")
_URL = re.compile(r"https?://\S+")
_ASKS = re.compile(
    r"\b(please|kindly) (also )?(provide|share|tell|send|give|specify|enter|supply|state|clarify|confirm|reply|choose)"
    r"|\b(could|can|would|will) you (please )?(also )?(provide|share|tell|send|give|specify|confirm|clarify|let)"
    r"|\b(i|we)('ll| will| would| do)?( just| still| also| only)* need (to know|you to|your|the|an?|some|more|both)\b"
    r"|\b(tell|give|send) me\b|\bwhat('s| is| are)\b.*\?|\bmay i (have|ask)\b",
    re.IGNORECASE,
)
_LET_ME_KNOW = re.compile(r"\blet (me|us) know\b", re.IGNORECASE)
_CONFIRMS = re.compile(
    r"\b(shall|should|may|can|could) (i|we) (?!have\b|ask\b|get\b|know\b|see\b)(now |then |just )?(go|proceed|do|"
    r"cancel|continue|make|send|submit|place|book|update|change|delete|create|process|"
    r"[a-z]+ (it|this|that|the|your|order|for))"
    r"|\b(do|would) you (want|like) (me|us) to\b|\bwant me to\b|\b(is|are) (that|this|these|it|those|everything) "
    r"(correct|right|ok|okay|fine|all right|accurate)\b|\b(please )?confirm\b|\bgo ahead\b|\bproceed\b|\bare you sure\b"
    r"|\bok(ay)? (to|with you|if)\b|\bdoes (that|this) (work|sound|look)\b|\bsound(s)? good\b|\bis it (ok|okay|fine)\b",
    re.IGNORECASE,
)
_SHALL = re.compile(r"\b(shall|should) (i|we)\b", re.IGNORECASE)
_WHICH = re.compile(r"\b(what|which|where|when|who|whom|how|why)\b", re.IGNORECASE)
_CLOSES = re.compile(
    r"\b(any|some)thing (else|more|further)\b|\bany (other|more|further) (question|request|concern|issue|help)"
    r"|\bfurther (help|assistance|questions)\b|\belse (i|we) can\b|\bdid (that|this) (help|answer)\b",
    re.IGNORECASE,
)
_MORE = re.compile(
    r"\bmore (detail|information|info|about|specific)|\bclarif|\bwhat (exactly )?(do|would|can|are|is it) (you|i|we)\b"
    r"|\bhow (can|may) (i|we) (help|assist)|\bwhat you('d| would)? (need|want|like)|\belaborate\b|\bwhat do you mean\b",
    re.IGNORECASE,
)
_MAIL_ADDRESS = re.compile(r"\be-?mail address(es)?")
_IDS = re.compile(r"\b(ids?|number|no\.|reference|ref|code|identifier|#)(?=\W|$)", re.IGNORECASE)
#: How people ask for a field without its own word.
_ALSO: dict[str, str] = {
    "email": r"e-?mail|mail address",
    "date": r"\bdate\b|\bwhen\b|\b(which|what) day\b",
    "day": r"\bday\b|\bwhen\b",
    "time": r"\btime\b|\bwhen\b|\bwhat time\b",
    "amount": r"\bamount\b|\bhow much\b|\bsum\b",
    "price": r"\bprice\b|\bhow much\b|\bbudget\b",
    "reason": r"\breason\b|\bwhy\b",
    "quantity": r"\bquantity\b|\bhow many\b",
    "count": r"\bcount\b|\bhow many\b",
    "city": r"\bcity\b|\bwhere\b|\blocation\b|\bplace\b|\btown\b",
    "location": r"\blocation\b|\bwhere\b|\bcity\b|\bplace\b",
    "origin": r"\borigin\b|\bfrom where\b|\bwhere\b.*\bfrom\b|\bdepart",
    "destination": r"\bdestination\b|\bwhere to\b|\bwhere\b.*\b(to|go)\b",
    "phone": r"\bphone\b|\bnumber to (call|reach)\b",
    "to": r"\brecipient\b|\bto whom\b|\bwho\b|\be-?mail address\b",
    "recipient": r"\brecipient\b|\bto whom\b|\bwho\b",
    "query": r"\blook(ing)? for\b|\bsearch(ing)?( for)?\b|\bfind\b|\bkeywords?\b|\bquery\b",
    "body": r"\bbody\b|\bcontent\b|\bmessage\b|\btext\b|\bsay\b",
    "passenger": r"\bpassenger\b|\bwho\b|\bname\b",
    "name": r"\bname\b|\bwho\b",
}


_LABELS = {"to": "recipient", "q": "search text", "query": "search text", "sql": "SQL", "url": "URL"}


@dataclass(frozen=True, slots=True)
class Heard:
    """What a message asks for.

    Attributes
    ----------
    is_question : bool
        Whether it asks for anything at all.
    fields : tuple of str
        The facts it asks for.
    confirms : bool
        Whether it asks for a yes.
    closes : bool
        Whether it asks if there is anything else.
    wants_more : bool
        Whether it asks what the person wants, in general.
    """

    is_question: bool
    fields: tuple[str, ...] = ()
    confirms: bool = False
    closes: bool = False
    wants_more: bool = False


def hear(text: str, facts: Iterable[str], kinds: Mapping[str, str] | None = None) -> Heard:
    """What `text` asks of a person who knows `facts`; `kinds` names what the ids among them are the ids of.

    Examples
    --------
    >>> hear("Sorry to hear that. What is your order number?", ["order_id", "reason"], {"order_id": "order"}).fields
    ('order_id',)
    >>> hear("Shall I cancel order ORD-4550?", ["order_id"], {"order_id": "order"}).confirms
    True
    >>> hear("Your order is cancelled. Let me know if there is anything else.", []).is_question
    False
    """
    names = list(facts)
    asked: dict[str, None] = {}
    is_question = confirms = closes = wants_more = False
    for sentence in _SENTENCE.findall(_URL.sub("", text)):
        marked = "?" in sentence
        if _CLOSES.search(sentence):
            closes |= marked
            is_question |= marked
            continue
        asks = marked or bool(_ASKS.search(sentence))
        if not asks and _LET_ME_KNOW.search(sentence):
            asks = not re.search(r"\blet (me|us) know (if|when|once|whenever|should)\b", sentence, re.IGNORECASE)
        if not asks:
            continue
        is_question = True
        yes = bool(_CONFIRMS.search(sentence)) or bool(_SHALL.search(sentence) and not _WHICH.search(sentence))
        found = [name for name in names if asks_for(sentence, name, (kinds or {}).get(name))]
        # "shall I cancel order 12?" names the order and asks for a yes; "please confirm your order number" for a fact
        if yes and not (found and re.search(r"\bconfirm (your|the|which|what)\b", sentence, re.IGNORECASE)):
            confirms = True
            continue
        asked.update(dict.fromkeys(found))
        wants_more |= not found and bool(_MORE.search(sentence))
    return Heard(is_question, tuple(asked), confirms, closes, wants_more)


def asks_for(sentence: str, field: str, kind: str | None) -> bool:
    """Whether a sentence that asks for something asks for this field."""
    said = sentence.lower()
    if kind is not None:
        return _asks_for_id(said, kind, field)
    parts = [part for part in nouns.parts_of(field) if part not in ("new", "the", "of", "updated")]
    if not parts:
        return False
    head = parts[-1]
    if head == "address":
        said = _MAIL_ADDRESS.sub("", said)
    also = _ALSO.get(head)
    if also is not None and re.search(also, said):
        others = [part for part in parts[:-1] if part not in nouns.VERBS]
        return not others or any(_has(said, part) for part in others) or _has(said, head)
    return _has(said, head) or (len(parts) > 1 and all(_has(said, part) for part in parts[:-1]))


def _asks_for_id(said: str, kind: str, field: str) -> bool:
    """Whether an id is asked for: by its name, or as the number of the thing, or as which one it is."""
    if label(field).lower() in said or field.lower() in said:
        return True
    head = kind.rsplit(maxsplit=1)[-1]
    if not (_has(said, head) or _has(said, nouns.plural(head))):
        # "can I have the reference number?", when nothing else is numbered
        return bool(re.search(r"\b(your|the|an?) (id|reference|identifier|reference number)\b", said))
    which = rf"\bwhich (of )?(your |the |an? )?([a-z]+ )?{re.escape(head)}"
    return bool(_IDS.search(said)) or bool(re.search(which, said))


def _has(said: str, word: str) -> bool:
    return re.search(rf"\b{re.escape(word)}s?\b", said) is not None


def label(field: str) -> str:
    """How a field is said: ``order_id`` -> ``order ID``, ``new_address`` -> ``new address``."""
    return _LABELS.get(field.lower()) or nouns.words(field)
