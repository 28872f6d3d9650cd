"""Words and mathematics told apart."""

from __future__ import annotations

import re


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


FUNCTIONS = words(
    "sin cos tan cot sec csc arcsin arccos arctan arccot asin acos atan sinh cosh tanh coth sech csch arcsinh "
    "arccosh arctanh asinh acosh atanh ln log lg exp sqrt cbrt abs floor ceil gcd lcm min max binom factorial sgn "
    "sign det "
)
GREEK = words(
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi "
    "psi omega "
)
JOINERS = frozenset({"and", "or"})
UNIT_WORDS = words(
    "mm cm dm km ft yd mi mph kph kmh mg kg lb lbs oz ml cl dl min mins sec secs hr hrs cc sq Hz kHz MHz GHz kW "
    "MW Pa kPa atm eV mol ms ns rad deg degrees degree inch inches foot feet yard yards mile miles meter meters "
    "metre metres centimetre centimetres millimeter millimeters kilometre kilometres milligram milligrams "
    "milliliter milliliters centimeter centimeters kilometer kilometers gram grams kilogram kilograms second "
    "seconds minute minutes hour hours day days week weeks month months year years liter liters litre litres "
    "dollar dollars cent cents euro euros pound pounds unit units percent percentage pct square cubic squared "
    "cubed per USD EUR "
)
_SHORT_WORDS = words(
    "a about add age ago all also am an any are area as at be been big both box but by can did do does done due "
    "each eq even ever few find for four from gave get gets give goes got had half has have he her here him his "
    "how if in into is it its know left less let long made make man many me men more most much must my need new "
    "no none not now of off on once one only our out over own pay put rate read real root run same say see set "
    "she side six so some such sum take ten than that the their them then there they this thus time to too top "
    "total two up us use used via was way we well went were what when who why will with yes yet you "
)
_KNOWN = FUNCTIONS | GREEK | JOINERS | UNIT_WORDS | {"inf", "infinity", "oo", "mod"}


_WORD = re.compile(r"(?<![A-Za-z\\])[A-Za-z]{2,}(?![A-Za-z])")
_TEXT_COMMAND = re.compile(r"\\(?:text|mbox|textbf|textit|mathrm|operatorname|begin|end|mathbb|mathbf)\s*\{[^{}]*\}")


def is_prose(text: str) -> bool:
    """Whether a text holds words of a sentence, not only names of functions, letters and units."""
    if text.isascii() and not any(map(str.isalpha, text)):
        return False
    bare = _TEXT_COMMAND.sub(" ", text)
    return any(_is_word(word) for word in _WORD.findall(bare)) or any(_is_script(char) for char in bare)


def _is_word(word: str) -> bool:
    if word in _KNOWN or word.isupper():
        return word.lower() in _SHORT_WORDS and word not in {"A", "I"} and len(word) < 4 and not word.isupper()
    if len(word) <= 3:
        return word.lower() in _SHORT_WORDS
    return not any(name in word and len(word) <= len(name) + 2 for name in FUNCTIONS)


def _is_script(char: str) -> bool:
    return char > "\u024f" and char.isalpha() and not "\u0370" <= char <= "\u03ff" and char not in "ℝℤℕℚℂ"
