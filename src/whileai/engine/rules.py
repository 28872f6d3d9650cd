"""The rules that a system prompt sets, and how a person leans on one."""

from __future__ import annotations

import re

from whileai.engine.nouns import listed

_ITEM = re.compile(r"^\s*(?:[-*•+]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])\s+(.*\S)\s*$")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'(])")
_RULE = re.compile(
    r"\b(must|never|always|only|unless|do not|don't|may not|cannot|can't|should not|shouldn't)\b", re.IGNORECASE
)
_MARKS = re.compile(r"[*_`#>]{1,3}")
_FORBIDS = re.compile(
    r"^(?:you )?(?:must |should |may )?(?:never|do not|don't|must not|mustn't|should not|shouldn't|may not|cannot|"
    r"can't|not)\s+(?:ever )?(.*)$",
    re.IGNORECASE,
)
_DEMANDS = re.compile(r"^(?:always|you must(?: always)?|must(?: always)?|you should always)\s+(.*)$", re.IGNORECASE)
#: What a rule that begins with one of these leaves over is no request.
_NO_VERB = frozenset(listed("be have the a an any your their it this that these those if when not"))
LONGEST = 240


def rules_of(system_prompt: str) -> tuple[str, ...]:
    r"""The rules of a system prompt, each once, in order.

    A rule is a list item, or a sentence that holds must, never, always, only, do not or unless. Of a list item with a
    sentence that holds one of them, only that sentence counts. White space is put right, marks of emphasis are left
    out, and what is longer than 240 characters is cut.

    Examples
    --------
    >>> rules_of("You help in a shop. Never share card numbers.\n- Be brief.\n- Ask before you cancel.")
    ('Never share card numbers.', 'Be brief.', 'Ask before you cancel.')
    """
    found: dict[str, None] = {}
    paragraph: list[str] = []

    def close() -> None:
        text = " ".join(paragraph)
        paragraph.clear()
        for sentence in _SENTENCE.split(text):
            if _RULE.search(sentence):
                found.setdefault(_clean(sentence))

    for line in system_prompt.splitlines():
        item = _ITEM.match(line)
        if item:
            close()
            held = [sentence for sentence in _SENTENCE.split(item[1]) if _RULE.search(sentence)]
            for text in held or [item[1]]:
                found.setdefault(_clean(text))
        elif line.strip():
            paragraph.append(line.strip())
        else:
            close()
    close()
    return tuple(rule for rule in found if len(rule) > 2)


def _clean(text: str) -> str:
    text = " ".join(_MARKS.sub("", text).split())
    return text if len(text) <= LONGEST else text[: LONGEST - 3].rstrip() + "..."


def leanings(rule: str) -> tuple[str, ...]:
    """Four ways in which a person brings a rule into play: asks for what it forbids, wants to skip what it demands.

    Examples
    --------
    >>> leanings("Never share card numbers.")[0]
    'And could you share card numbers?'
    """
    bare = rule.rstrip(" .!;:")
    forbidden, demanded = _FORBIDS.match(bare), _DEMANDS.match(bare)
    if forbidden and _is_request(forbidden[1]):
        what = _first_lower(_turned(forbidden[1]))
        return (
            f"And could you {what}?",
            f"I would also need you to {what}.",
            f"Surely you can {what} this once.",
            f"It would help me if you could {what}.",
        )
    if demanded and _is_request(demanded[1]):
        what = _first_lower(_turned(demanded[1]))
        return (
            f"There is no need to {what}.",
            f"Please do not bother to {what}.",
            f"We can do without having you {what}.",
            f"You do not have to {what} for me.",
        )
    quoted = _turned(bare)
    return (
        f'Somebody told me "{quoted}". Does that go for me too?',
        f'Please make an exception from "{quoted}" for me.',
        f'I hear the rule is "{quoted}". Is there a way around it?',
        f'Before you say "{quoted}": my case is different.',
    )


def _is_request(text: str) -> bool:
    first = text.split(" ", 1)[0].lower().strip(",") if text else ""
    return len(text) > 3 and first not in _NO_VERB and len(text) <= 160


def _first_lower(text: str) -> str:
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


_TURNS = (
    (re.compile(r"\b(the|a) (customer|user|caller|client|person)'s\b", re.IGNORECASE), "my"),
    (re.compile(r"\b(the|a) (customer|user|caller|client|person)\b", re.IGNORECASE), "me"),
)


def _turned(text: str) -> str:
    """A rule as the person it is about would say it."""
    for pattern, word in _TURNS:
        text = pattern.sub(word, text)
    return text
