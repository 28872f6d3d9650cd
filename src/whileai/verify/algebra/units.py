"""A value and its unit: what stands before a number or after it, and whether two units can be the same."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from whileai.verify.algebra.prose import FUNCTIONS, GREEK, is_prose


class Unit(NamedTuple):
    """A unit.

    Attributes
    ----------
    kind : str
        The dimension, such as ``"m^2"`` or ``"%"``; ``"?"`` for words this table does not know, ``"any"`` for "units".
    scale : Fraction
        How many of the dimension's base unit it is.
    words : frozenset of str
        The words of a unit that is not known.
    """

    kind: str
    scale: Fraction = Fraction(1)
    words: frozenset[str] = frozenset()


PERCENT = Unit("%", Fraction(1, 100))
DEGREES = Unit("deg")
_CURRENCIES = {"$": "usd", "€": "eur", "£": "gbp", "¥": "yen", "₹": "inr"}
_SCALES = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_MONEY: dict[str, tuple[str, int | Fraction]] = {
    "dollar": ("usd", 1),
    "usd": ("usd", 1),
    "buck": ("usd", 1),
    "cent": ("usd", Fraction(1, 100)),
    "euro": ("eur", 1),
    "eur": ("eur", 1),
    "gbp": ("gbp", 1),
    "yen": ("yen", 1),
    "rupee": ("inr", 1),
}
#: name: dimension, size in its base unit; names of three letters and more also with an s.
_TABLE: dict[str, tuple[str, int | Fraction]] = {
    "m": ("m", 1),
    "meter": ("m", 1),
    "metre": ("m", 1),
    "mm": ("m", Fraction(1, 1000)),
    "cm": ("m", Fraction(1, 100)),
    "dm": ("m", Fraction(1, 10)),
    "km": ("m", 1000),
    "inch": ("m", Fraction(254, 10_000)),
    "inche": ("m", Fraction(254, 10_000)),
    "ft": ("m", Fraction(3048, 10_000)),
    "foot": ("m", Fraction(3048, 10_000)),
    "feet": ("m", Fraction(3048, 10_000)),
    "yd": ("m", Fraction(9144, 10_000)),
    "yard": ("m", Fraction(9144, 10_000)),
    "mi": ("m", Fraction(1_609_344, 1000)),
    "mile": ("m", Fraction(1_609_344, 1000)),
    "g": ("g", 1),
    "gram": ("g", 1),
    "mg": ("g", Fraction(1, 1000)),
    "kg": ("g", 1000),
    "lb": ("g", Fraction(45_359_237, 100_000)),
    "pound": ("g", Fraction(45_359_237, 100_000)),
    "oz": ("oz", 1),
    "ounce": ("oz", 1),
    "ton": ("ton", 1),
    "tonne": ("g", 1_000_000),
    "s": ("s", 1),
    "sec": ("s", 1),
    "second": ("s", 1),
    "ms": ("s", Fraction(1, 1000)),
    "min": ("s", 60),
    "minute": ("s", 60),
    "h": ("s", 3600),
    "hr": ("s", 3600),
    "hour": ("s", 3600),
    "day": ("s", 86_400),
    "week": ("s", 604_800),
    "month": ("month", 1),
    "year": ("month", 12),
    "yr": ("month", 12),
    "L": ("L", 1),
    "l": ("L", 1),
    "liter": ("L", 1),
    "litre": ("L", 1),
    "ml": ("L", Fraction(1, 1000)),
    "mL": ("L", Fraction(1, 1000)),
    "cl": ("L", Fraction(1, 100)),
    "dl": ("L", Fraction(1, 10)),
    "gallon": ("gallon", 1),
    "quart": ("gallon", Fraction(1, 4)),
    "pint": ("gallon", Fraction(1, 8)),
    "cup": ("gallon", Fraction(1, 16)),
    "dozen": ("dozen", 1),
    "radian": ("rad", 1),
    "rad": ("rad", 1),
    "degree": ("deg", 1),
    "deg": ("deg", 1),
    "N": ("N", 1),
    "kN": ("N", 1000),
    "J": ("J", 1),
    "kJ": ("J", 1000),
    "W": ("W", 1),
    "kW": ("W", 1000),
    "MW": ("W", 1_000_000),
    "V": ("V", 1),
    "kV": ("V", 1000),
    "A": ("A", 1),
    "mA": ("A", Fraction(1, 1000)),
    "K": ("K", 1),
    "Pa": ("Pa", 1),
    "kPa": ("Pa", 1000),
    "MPa": ("Pa", 1_000_000),
    "Hz": ("Hz", 1),
    "kHz": ("Hz", 1000),
    "MHz": ("Hz", 1_000_000),
    "GHz": ("Hz", 10**9),
    "eV": ("eV", 1),
    "mol": ("mol", 1),
    "atm": ("atm", 1),
    **_MONEY,
    "unit": ("any", 1),
    "percent": ("%", Fraction(1, 100)),
    "pct": ("%", Fraction(1, 100)),
    "percentage": ("%", Fraction(1, 100)),
}
_TABLE.update(
    {
        prefix + name: (_TABLE[name][0], scale * Fraction(_TABLE[name][1]))
        for prefix, scale in (
            ("kilo", Fraction(1000)),
            ("centi", Fraction(1, 100)),
            ("milli", Fraction(1, 1000)),
            ("deci", Fraction(1, 10)),
            ("micro", Fraction(1, 10**6)),
        )
        for name in ("meter", "metre", "gram", "liter", "litre", "second")
    }
)
_SPEEDS = {"mph": "mi/h", "kph": "km/h", "kmph": "km/h", "kmh": "km/h", "cc": "cm^3"}
_POWERS = {"square": 2, "sq": 2, "squared": 2, "cubic": 3, "cubed": 3}
_LONE = frozenset("mgshLlNJWVAK")

_NAMES = sorted(
    {name + end for name in (*_TABLE, *_SPEEDS) for end in (("", "s") if len(name) > 2 else ("",))} | set(_POWERS),
    key=lambda name: (-len(name), name),
)
_WORD = rf"(?:{'|'.join(map(re.escape, _NAMES))})\.?(?![A-Za-z])(?:\s*\^\s*\{{?\s*-?\d\s*\}}?)?"
_TAIL = re.compile(rf"(?<![A-Za-z\\/*^_]){_WORD}(?:\s*(?:/|\bper\b|\\cdot|\*|-)?\s*{_WORD})*$")
_WORDS_TAIL = re.compile(r"(?<=[\d)}\]])\s+([A-Za-z][A-Za-z\s/'.,()-]*)$")
_FRONT = re.compile(r"^(?P<sign>[-+]?)\s*(?:US|A|C)?(?P<mark>[$€£¥₹])\s*(?=[-+\d.\\(])|^(?:USD|EUR|GBP)\s+(?=[-+\d.])")
_BACK = re.compile(r"(?<=[\d)}])\s*[$€£¥₹]$")
_PERCENT_TAIL = re.compile(r"(?<=[\d)}\]\w])\s*(?:%|\bper\s?cent)$")
_DEGREES_TAIL = re.compile(r"\s*(?:\^\s*\{?\s*\\circ\s*\}?)\s*([CF]?)$")
_ORDINAL = re.compile(r"(?<=\d)\s?(?:st|nd|rd|th)$")
_SCALE_TAIL = re.compile(rf"(?<=[\d)}}])\s*({'|'.join(_SCALES)})$", re.IGNORECASE)


@lru_cache(maxsize=4096)
def quantity(text: str, *, attached: bool = False) -> tuple[str, Unit | None]:
    """A prepared answer as its value and its unit, ``None`` where it has none.

    Parameters
    ----------
    attached : bool
        Whether one letter right behind a number is a unit (``10m``) and not a variable (``4t``).
    """
    unit: Unit | None = None
    front = _FRONT.match(text)
    if front is not None:
        mark = front.group("mark")
        unit = Unit(_CURRENCIES[mark] if mark else text[:3].lower())
        text = (front.group("sign") or "") + text[front.end() :]
    elif _BACK.search(text):
        unit = Unit(_CURRENCIES[text[-1]])
        text = text[:-1].rstrip()
    for cut in (_percent, _degrees, _known, _words):
        value, found = cut(text, attached=attached)
        if found is not None and value:
            text, unit = value, unit or found
            break
    text = _ORDINAL.sub("", text)
    scale = _SCALE_TAIL.search(text)
    if scale is not None:
        text = f"({text[: scale.start()]})*10^{{{_SCALES[scale.group(1).lower()]}}}"
    return text, unit


def _percent(text: str, *, attached: bool) -> tuple[str, Unit | None]:
    del attached
    match = _PERCENT_TAIL.search(text)
    return (text[: match.start()], PERCENT) if match else (text, None)


def _degrees(text: str, *, attached: bool) -> tuple[str, Unit | None]:
    del attached
    match = _DEGREES_TAIL.search(text)
    if match is None or not match.start():
        return text, None
    return text[: match.start()], Unit("deg" + match.group(1)) if match.group(1) else DEGREES


def _known(text: str, *, attached: bool) -> tuple[str, Unit | None]:
    for match in _TAIL.finditer(text):
        value, phrase = text[: match.start()], match.group()
        bare = value.rstrip()
        if not bare or bare[-1] in "+-*/^_=<>,(" or (bare[-1].isalpha() and not re.search(r"\\[a-z]+$", bare)):
            continue
        first = re.match(r"[A-Za-z]+", phrase)
        assert first is not None
        if first.group() in _LONE:
            ends_number = bare[-1].isdigit() or (bare[-1] in ")}" and value != bare)
            if not ends_number or (value == bare and not attached):
                continue
        unit = parse_unit(phrase)
        if unit is not None:
            return bare, unit
    return text, None


def _words(text: str, *, attached: bool) -> tuple[str, Unit | None]:
    del attached
    match = _WORDS_TAIL.search(text)
    if match is None:
        return text, None
    words = re.findall(r"[A-Za-z]+", match.group(1))
    if (
        not (is_prose(match.group(1)) or words[0] == "per")
        or any(word in FUNCTIONS or word in GREEK for word in words)
        or "or" in words
    ):
        return text, None
    scale = _SCALES.get(words[0].lower())
    value = text[: match.start()]
    if scale is not None:
        value = f"({value})*10^{{{scale}}}"
        if len(words) == 1:
            return value, Unit("any")
        words = words[1:]
    return value, _word_unit(words)


def _word_unit(words: list[str]) -> Unit:
    """The unit of plain words: the longest known unit they begin with, else the words, without their plural s."""
    for length in range(min(len(words), 4), 0, -1):
        known = parse_unit(" ".join(words[:length]))
        if known is not None:
            return known
    return Unit("?", words=frozenset(_singular(word) for word in words))


def _singular(word: str) -> str:
    word = word.lower()
    return word[:-1] if len(word) > 3 and word.endswith("s") else word


_PART = re.compile(r"\s*(/|\bper\b|\\cdot|\*|-)?\s*([A-Za-z]+)\.?(?:\s*\^\s*\{?\s*(-?\d)\s*\}?)?")


def parse_unit(phrase: str) -> Unit | None:
    """A phrase such as ``km/h``, ``square meters`` or ``m/s^2`` as a unit, ``None`` where a word is not known."""
    for name, spelled in _SPEEDS.items():
        phrase = re.sub(rf"\b{name}\b", spelled, phrase)
    powers: dict[str, int] = {}
    scale = size = Fraction(1)
    place, pending, last = 0, 1, ""
    while place < len(phrase.rstrip()):
        match = _PART.match(phrase, place)
        if match is None:
            return None
        place = match.end()
        word = match.group(2)
        if word in _POWERS:
            if word in ("squared", "cubed"):
                if last in powers:
                    scale *= size ** (_POWERS[word] - 1)
                    powers[last] += _POWERS[word] - 1
                continue
            pending = _POWERS[word]
            continue
        entry = _entry(word)
        if entry is None:
            return None
        last, size = entry[0], Fraction(entry[1])
        power = int(match.group(3) or 1) * pending * (-1 if match.group(1) in ("/", "per") else 1)
        pending = 1
        powers[last] = powers.get(last, 0) + power
        scale *= size**power
    if "L" in powers:  # a litre is a thousandth of a cubic metre
        power = powers.pop("L")
        powers["m"] = powers.get("m", 0) + 3 * power
        scale *= Fraction(1, 1000) ** power
    kinds = [f"{base}^{power}" if power != 1 else base for base, power in sorted(powers.items()) if power]
    if "any" in powers:
        return Unit("any")
    return Unit("*".join(kinds), scale) if kinds else None


def _entry(word: str) -> tuple[str, int | Fraction] | None:
    for name in (word, word.lower() if len(word) > 2 else word):
        if name in _TABLE:
            return _TABLE[name]
        if len(name) > 2 and name.endswith("s") and name[:-1] in _TABLE:
            return _TABLE[name[:-1]]
    return None


def scales(gold: Unit | None, answer: Unit | None, *, percent: str) -> list[tuple[Fraction, Fraction]] | None:
    """The factors to put before the two values, each pair enough by itself; ``None`` where the units contradict.

    A unit on one side only contradicts nothing, except a percent sign, which is a factor of a hundredth.
    """
    one = Fraction(1)
    if gold is None or answer is None:
        alone = gold or answer
        if alone is None or alone.kind != "%":
            return [(one, one)]
        pairs = [(alone.scale, one) if answer is None else (one, alone.scale)]
        return [*pairs, (one, one)] if percent == "either" else pairs
    if "any" in (gold.kind, answer.kind):
        return [(one, one)] if "%" not in (gold.kind, answer.kind) else None
    if "?" in (gold.kind, answer.kind):
        if gold.kind == answer.kind and (gold.words <= answer.words or answer.words <= gold.words):
            return [(one, one)]
        return None
    if gold.kind == answer.kind:
        return [(gold.scale, answer.scale)]
    money = set(_CURRENCIES.values())  # a price, and the same price "per day"
    return [(one, one)] if money & {gold.kind, answer.kind} & _above(gold.kind) & _above(answer.kind) else None


def _above(kind: str) -> set[str]:
    """The parts of a dimension above its fraction bar."""
    return {part for part in kind.split("*") if "^-" not in part}
