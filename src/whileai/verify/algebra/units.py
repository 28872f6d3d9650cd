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
#: dimension: its units, each with its size in the base unit; names of three letters and more also with an s.
_DIMENSIONS = {
    "m": "m 1 meter 1 metre 1 mm .001 cm .01 dm .1 km 1000 inch .0254 inche .0254 ft .3048 foot .3048 feet .3048 "
    "yd .9144 yard .9144 mi 1609.344 mile 1609.344",
    "g": "g 1 gram 1 mg .001 kg 1000 lb 453.59237 pound 453.59237 tonne 1000000",
    "oz": "oz 1 ounce 1",
    "ton": "ton 1",
    "s": "s 1 sec 1 second 1 ms .001 min 60 minute 60 h 3600 hr 3600 hour 3600 day 86400 week 604800",
    "month": "month 1 year 12 yr 12",
    "L": "L 1 l 1 liter 1 litre 1 ml .001 mL .001 cl .01 dl .1",
    "gallon": "gallon 1 quart 1/4 pint 1/8 cup 1/16",
    "dozen": "dozen 1",
    "rad": "radian 1 rad 1",
    "deg": "degree 1 deg 1",
    "N": "N 1 kN 1000",
    "J": "J 1 kJ 1000",
    "W": "W 1 kW 1000 MW 1000000",
    "V": "V 1 kV 1000",
    "A": "A 1 mA .001",
    "K": "K 1",
    "Pa": "Pa 1 kPa 1000 MPa 1000000",
    "Hz": "Hz 1 kHz 1000 MHz 1000000 GHz 1000000000",
    "eV": "eV 1",
    "mol": "mol 1",
    "atm": "atm 1",
    "usd": "dollar 1 usd 1 buck 1 cent .01",
    "eur": "euro 1 eur 1",
    "gbp": "gbp 1",
    "yen": "yen 1",
    "inr": "rupee 1",
    "any": "unit 1",
    "%": "percent .01 pct .01 percentage .01",
}
_TABLE: dict[str, tuple[str, Fraction]] = {
    name: (kind, Fraction(size))
    for kind, listed in _DIMENSIONS.items()
    for name, size in zip(*[iter(listed.split())] * 2, strict=True)
}
for _prefix, _scale in {"kilo": "1000", "centi": ".01", "milli": ".001", "deci": ".1", "micro": ".000001"}.items():
    for _name in ("meter", "metre", "gram", "liter", "litre", "second"):
        _TABLE[_prefix + _name] = (_TABLE[_name][0], Fraction(_scale) * _TABLE[_name][1])
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
        last, size = entry
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


def _entry(word: str) -> tuple[str, Fraction] | None:
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
