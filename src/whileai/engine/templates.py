"""The template writer: a prompt as a choice of texts, slot by slot, and the count of all there are."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from whileai.engine import hearing, nouns, phrases
from whileai.engine.axes import NO_TOOL, UNSPECIFIED, Axes
from whileai.engine.catalog import Catalog, Use
from whileai.engine.ids import rng
from whileai.engine.records import Records
from whileai.engine.rules import leanings
from whileai.engine.values import Draw, plain_text, quoted

SLOTS = ("opener", "request", "details", "rule", "state", "stance", "history", "closing", "surface")
_MARK = re.compile("\ue000(\\d+)\ue001")
_WORD = re.compile("[a-z]{5,}")
_CHAT = (("please", "pls"), ("thank you", "thx"), ("thanks", "thx"), ("you", "u"), ("are", "r"), ("because", "bc"))
_ROLE = re.compile(r"\byou(?: are|'re)\s+((?:an?|the)\s+[^.;\n]{3,90}|[^.;\n]{3,90})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Draft:
    """A prompt, and what it gives away.

    Attributes
    ----------
    prompt : str
    goal : str
        What is asked for, in words without a fact.
    wrong : dict of str to object
        Those it gives wrongly, with the wrong value.
    """

    prompt: str
    goal: str
    wrong: Mapping[str, Any] = field(default_factory=dict)


class Templates:
    """Writes prompts for the points of some axes.

    Parameters
    ----------
    catalog : Catalog
    axes : Axes
    system_prompt : str
        Says what the agent is, where it has no tools to speak of.
    seed : int
        What the order of the phrasings is drawn from.
    """

    def __init__(self, catalog: Catalog, axes: Axes, system_prompt: str = "", seed: int = 0) -> None:
        self.catalog = catalog
        self.axes = axes
        self.seed = seed
        role = _ROLE.search(system_prompt)
        self._role = " ".join(role[1].split()) if role else ""
        self._slots: dict[tuple[str, ...], tuple[Sequence[str], ...]] = {}
        self._order: dict[tuple[str, ...], tuple[int, int, int]] = {}

    def family(self, axes: Mapping[str, str]) -> tuple[str, ...]:
        """What a prompt depends on: the values of all axes but the condition, which nobody can see beforehand."""
        return tuple(value for name, value in axes.items() if name != "condition")

    def count(self, axes: Mapping[str, str]) -> int:
        """How many phrasings there are; each makes another prompt."""
        return math.prod(map(len, self._choices(axes)))

    def _choices(self, axes: Mapping[str, str]) -> tuple[Sequence[str], ...]:
        key = self.family(axes)
        if key not in self._slots:
            own = self.axes.texts
            rule = axes["rule"]
            self._slots[key] = (
                phrases.OPENERS,
                phrases.TWO_REQUESTS if axes["tool"] == "several" else phrases.REQUESTS,
                tuple(map(str, range(len(phrases.NO_DETAILS)))),
                phrases.NO_RULE if rule == UNSPECIFIED else leanings(rule),
                phrases.NO_THING if axes["tool"] == NO_TOOL else phrases.STATES[axes["state"]],
                own.get(("stance", axes["stance"])) or phrases.STANCES.get(axes["stance"], ("",)),
                own.get(("history", axes["history"])) or phrases.HISTORIES.get(axes["history"], ("",)),
                phrases.CLOSINGS,
                phrases.SURFACES,
            )
        return self._slots[key]

    def choice(self, axes: Mapping[str, str], phrasing: int) -> tuple[int, ...]:
        """The place in every slot for a phrasing: the digits of ``(a + b * phrasing) mod M``, b coprime to M."""
        key = self.family(axes)
        if key not in self._order:
            total = self.count(axes)
            draws = rng("phrasing", self.seed, *key)
            step = draws.randrange(total)
            while math.gcd(step, total) != 1:
                step = draws.randrange(total)
            self._order[key] = (draws.randrange(total), step, total)
        start, step, total = self._order[key]
        number = (start + step * phrasing) % total
        places = []
        for texts in self._choices(axes):
            number, place = divmod(number, len(texts))
            places.append(place)
        return tuple(places)

    def write(self, axes: Mapping[str, str], phrasing: int, records: Records) -> Draft:
        """The prompt of a phrasing of a point, about the world of `records`."""
        places = self.choice(axes, phrasing)
        texts = dict(
            zip(SLOTS, (options[i] for options, i in zip(self._choices(axes), places, strict=True)), strict=True)
        )
        writing = _Writing(axes, records, int(texts["details"]))
        if axes["tool"] == NO_TOOL:
            request = texts["request"].replace("{do}", self._beyond(records))
        else:
            request = writing.request(texts["request"])
        details = writing.details()
        state = writing.state(texts["state"], places[SLOTS.index("state")])
        body = [request, details, texts["rule"], state, texts["stance"], texts["history"], texts["closing"]]
        text = _joined(texts["opener"], [part for part in body if part])
        prompt = writing.filled(_surfaced(text, texts["surface"]))
        return Draft(prompt, self.goal(axes, records), writing.wrong)

    def goal(self, axes: Mapping[str, str], records: Records) -> str:
        """What is asked for at a point in the world of `records`, in words without any fact."""
        return self._beyond(records) if axes["tool"] == NO_TOOL else _Writing(axes, records).goal()

    def _beyond(self, records: Records) -> str:
        """A request that no tool serves, about what the tools are about."""
        draw = Draw(records.world_seed, "beyond")
        known = frozenset().union(*self.catalog.vocabulary.values()) if self.catalog.tools else frozenset()
        if not self.catalog.tools:
            what = draw.pick(phrases.TALK)
            return f"{what}, given that you are {self._role}" if self._role else what
        asks = [text for text, words in phrases.OUT_OF_REACH if not known.intersection(words)]
        noun = draw.pick(list(self.catalog.entities))
        return draw.pick(asks or [phrases.OUT_OF_REACH[-1][0]]).format(noun=noun, nouns=nouns.plural(noun))


class _Writing:
    """One prompt in the making: what it gives away, and the values that no change of case may touch."""

    def __init__(self, axes: Mapping[str, str], records: Records, detail: int = 0) -> None:
        self.records = records
        self.facts = records.facts
        self.uses = [records.catalog.use(tool) for tool in records.focus]
        self.vague = axes["stance"] == "vague"
        self.detail = detail
        self.told: dict[str, None] = {}
        self.wrong: Mapping[str, Any] = records.mistake if axes["stance"] == "mistaken" else {}
        self._values: list[str] = []

    def say(self, name: str) -> str:
        """A mark for the value of a fact, which from then on is told."""
        self.told[name] = None
        return self.keep(self.wrong.get(name, self.facts[name]))

    def keep(self, value: Any) -> str:
        """A mark for a value."""
        self._values.append(plain_text(value))
        return f"\ue000{len(self._values) - 1}\ue001"

    def filled(self, text: str) -> str:
        """The text with the values in place of the marks."""
        return _MARK.sub(lambda mark: self._values[int(mark[1])], text)

    def request(self, form: str) -> str:
        """The request."""
        does = [self._do(use, with_id=not self.vague) for use in self.uses]
        return form.replace("{do}", does[0]).replace("{then}", does[1] if len(does) > 1 else "")

    def goal(self) -> str:
        """What the tools do, without any fact."""
        return " and ".join(dict.fromkeys(self._do(use, with_id=False) for use in self.uses))

    def _do(self, use: Use, *, with_id: bool) -> str:
        """What a tool does, as a request: ``cancel order ORD-4550``."""
        verb, noun, _ = nouns.verb_noun(use.tool.name)
        named = next((name for name in use.ids if use.ids[name] == use.entity), None)
        named = named or next(iter(use.ids), None)
        kind = use.ids.get(named, "") if named else ""
        own = self.say(named) if with_id and named and named in self.facts else ""
        thing = f"{kind} {own}" if own else f"{nouns.article(kind)} {kind}" if kind else ""
        verb = _SAID_VERBS.get(verb, verb)
        if not verb or not noun:
            return self._described(use, verb, noun, thing)
        if kind == use.entity:
            rest = " ".join(word for word in noun.split() if word not in kind.split())
            return f"{verb} the {rest} of {thing}" if rest else f"{verb} {thing}"
        what = nouns.plural(noun) if use.many else f"{nouns.article(noun)} {noun}" if use.makes else f"the {noun}"
        if kind and set(kind.split()) < set(noun.split()):
            rest = " ".join(word for word in noun.split() if word not in kind.split())
            what = f"the {nouns.plural(rest)}" if use.many else f"the {rest}"
        link = "of" if use.many else "for"
        return f"{verb} {what} {link} {thing}" if thing else f"{verb} {what}"

    def _described(self, use: Use, verb: str, noun: str, thing: str) -> str:
        """What a tool does whose name is no verb and noun: as its description says, else by its name."""
        about = f" for {thing}" if thing else ""
        if verb:
            return f"{verb} {thing}" if thing else f"{verb} something"
        first = re.split(r"[.;\n]", use.tool.description.strip(), maxsplit=1)[0]
        said = first.split()
        lead = said[0].lower().strip(",:") if said else ""
        bare = next((word for word in (lead, lead.removesuffix("s"), lead.removesuffix("es")) if word in _LEADS), None)
        if bare and 2 <= len(said) <= 14:
            return " ".join([bare, *said[1:]]) + about
        return f"get me the {noun or ' '.join(nouns.parts_of(use.tool.name))}{about}"

    def details(self) -> str:
        """The facts that the request does not hold, in words."""
        left = [name for name in self.facts if name not in self.told]
        if self.vague or not left:
            return phrases.NO_DETAILS[self.detail]
        if self.detail >= len(phrases.DETAILS):
            return phrases.DETAILS_LEFT_OUT[self.detail - len(phrases.DETAILS)]
        said = [(hearing.label(name), self._said(name)) for name in left]
        is_are = {hearing.label(name): "are" if isinstance(self.facts[name], list) else "is" for name in left}
        sentences = " ".join(
            f"The {label} {is_are[label]} {value}{'' if self._ends(value) else '.'}" for label, value in said
        )
        listed = ", ".join(f"{label} {value}" for label, value in said)
        text = phrases.DETAILS[self.detail].replace("{sentences}", sentences).replace("{list}", listed)
        return text[:-1] if text.endswith(".") and self._ends(text[:-1]) else text

    def _said(self, name: str) -> str:
        """A fact in a sentence of the person's."""
        value = self.say(name)
        text = self.filled(value)
        return value if quoted(text) == text else f'"{value}"'

    def _ends(self, text: str) -> bool:
        """Whether a text ends with a value that ends a sentence itself."""
        return self.filled(text).endswith(('."', '!"', '?"'))

    def state(self, form: str, place: int) -> str:
        """What the person says of the thing."""
        if "{field}" not in form:
            return form
        claim = self.records.claim
        if claim is None:
            return phrases.BARE_STATES[self.records.state][place]
        return form.replace("{field}", hearing.label(claim[0])).replace("{value}", self.keep(claim[1]))


_SAID_VERBS = {
    "get": "look up", "fetch": "look up", "read": "look up", "retrieve": "look up", "lookup": "look up",
    "view": "show me", "show": "show me", "query": "look up", "load": "look up", "look": "look up", "search": "find",
    "browse": "find", "log": "write down", "do": "do",
}  # fmt: skip
#: What the first word of a description may be for it to be read as a request.
_LEADS = nouns.VERBS | frozenset(
    nouns.listed(
        """
    evaluate give run execute tell return print solve answer ask analyze analyse call perform transform parse
    extract provide format measure sort sum roll play test
    """
    )
)


def _joined(opener: str, parts: Sequence[str]) -> str:
    """Opener and sentences as one text; after a comma the first word is small, unless it is a name or I."""
    first = parts[0] if parts else ""
    if opener and first and first[1:2].islower():
        first = first[0].lower() + first[1:]
    return " ".join([*([opener] if opener else []), first, *parts[1:]]).strip()


def _surfaced(text: str, surface: str) -> str:
    """The text as some people would type it."""
    if surface == "lower":
        return text.lower()
    if surface == "chat":
        text = text.lower()
        for word, short in _CHAT:
            text = re.sub(rf"\b{word}\b", short, text)
        return text.rstrip(".") + " :)" if text.endswith("?") else text.rstrip(".,!") + " .."
    if surface == "formal":
        return f"{text[0].upper()}{text[1:]}\n\nYours sincerely"
    if surface == "typo":
        return _mistyped(text)
    if surface == "lines":
        return re.sub(r"(?<=[.?!]) ", "\n", text) if re.search(r"[.?!] ", text) else f"{text}\n"
    return text


def _mistyped(text: str) -> str:
    """The text with two letters swapped in its longest lower-case word; the first of the longest."""
    found = sorted(_WORD.finditer(text), key=lambda word: (-len(word[0]), word.start()))
    for word in found:
        for place in range(word.start() + 1, word.end() - 2):
            if text[place] != text[place + 1]:
                return f"{text[:place]}{text[place + 1]}{text[place]}{text[place + 2 :]}"
    return f"{text} ,"
