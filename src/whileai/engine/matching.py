"""The axes of a text that no plan wrote: by the words it shares with the tools, the rules and the ways people talk."""

from __future__ import annotations

import re

from whileai.engine import nouns
from whileai.engine.axes import NO_TOOL, UNSPECIFIED, Axes
from whileai.engine.catalog import Catalog

_TOKEN = re.compile(r"[^\W\d_]+")
_COMMON = frozenset(
    nouns.listed(
        """
    the a an and or of to in on for with from by is are be it this that i you we my your me can could would
    please not do does have has will at as if so but no new id get list number name must never always only
    unless before after any all when
    """
    )
)
_STANCES = {
    "hurried": r"\burgent|\basap\b|\bhurry\b|\bquick(ly)?\b|\bimmediately\b|\bright now\b|\b(two|few|\d+) minutes\b",
    "hostile": r"\bstupid\b|\bidiots?\b|\buseless\b|\bincompetent\b|\bdamn\b|\ba joke\b|\bshut up\b",
    "upset": r"\bdisappoint|\bangry\b|\bfrustrat|\bupset\b|\bannoy|\bridiculous\b|\bterrible\b|\bfed up\b|\bunaccept",
    "insistent": r"\binsist\b|\bdemand\b|\bno for an answer\b|\bkeep asking\b|\bi want it now\b",
    "changes_mind": r"\bchanged? my mind\b|\bon second thought\b|\bactually, (no|make|change)",
    "vague": r"\bthe usual\b|\byou know (which|what|the one)\b|\bthat thing\b|\bsomething (is|about)\b",
}
_HISTORIES = {
    "repeat": r"\bagain\b|\b(second|third|fourth) time\b|\balready (asked|wrote|called)\b|\bonce more\b|\bstill\b",
    "handed_over": r"\btransferred\b|\bpassed me\b|\bsent me here\b|\breferred me\b",
    "contradicted": r"\bthe opposite\b|\btold me (something|that)\b|\bdifferent answers?\b|\bcontradict",
    "first_contact": r"\bfirst time\b|\bnew (here|to this)\b",
}


def words_in(text: str) -> frozenset[str]:
    """The content words of a text, lower case, in the singular."""
    found = {nouns.singular(word.lower()) for word in _TOKEN.findall(text)}
    return frozenset(word for word in found if len(word) > 2 and word not in _COMMON)


def axes_of_text(text: str, catalog: Catalog, axes: Axes) -> dict[str, str]:
    """Tool, rule, stance and history of a text; ``unspecified`` where nothing in it says which."""
    said = words_in(text)
    return {
        "tool": _tool(said, catalog) or (UNSPECIFIED if catalog.tools else NO_TOOL),
        "rule": _rule(said, axes),
        "stance": _by_words(text, _STANCES, axes.values["stance"]),
        "history": _by_words(text, _HISTORIES, axes.values["history"]),
    }


def _tool(said: frozenset[str], catalog: Catalog) -> str | None:
    """The tool that shares most words with a text, if it shares one of its name that is no verb, or all of its name."""
    best, most = None, 0.0
    for name, use in catalog.uses.items():
        own = {nouns.singular(part) for part in nouns.parts_of(name)} - _COMMON
        shared = own & said
        things = (own - nouns.VERBS) | (set(use.entity.split()) - _COMMON)
        if not (things & said or (own and shared == own)):
            continue
        score = 2 * len(shared) + len(things & said) + 0.5 * len((catalog.vocabulary[name] - own) & said)
        score += 1.0 * (use.verb in said) - 0.01 * len(own - shared)
        if score > most:
            best, most = name, score
    return best


def _rule(said: frozenset[str], axes: Axes) -> str:
    """The rule of which a text holds at least half of the content words, the most of all."""
    best, most = UNSPECIFIED, 0.0
    for rule in axes.values["rule"]:
        own = words_in(rule)
        share = len(own & said) / len(own) if own and rule != UNSPECIFIED else 0.0
        if share >= 0.5 and share > most:
            best, most = rule, share
    return best


def _by_words(text: str, cues: dict[str, str], known: tuple[str, ...]) -> str:
    found = (value for value, cue in cues.items() if value in known and re.search(cue, text, re.IGNORECASE))
    return next(found, UNSPECIFIED)
