"""Text -> words that do not depend on case, spacing, punctuation or Unicode form, in any script."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

#: What a word weighs. A character of a script without spaces is a part of a word, and weighs as much less.
WORD = 5
_HAN, _KANA, _SOUTH_EAST = 3, 2, 1
_UNSPACED = (
    (0x3040, 0x30FF, _KANA),
    (0x31F0, 0x31FF, _KANA),
    (0x3005, 0x3007, _HAN),
    (0x3400, 0x4DBF, _HAN),
    (0x4E00, 0x9FFF, _HAN),
    (0xF900, 0xFAFF, _HAN),
    (0x20000, 0x3FFFF, _HAN),
    (0x0E00, 0x0EFF, _SOUTH_EAST),  # Thai, Lao
    (0x1000, 0x109F, _SOUTH_EAST),  # Myanmar
    (0x1780, 0x17FF, _SOUTH_EAST),  # Khmer
    (0x1950, 0x19DF, _SOUTH_EAST),  # Tai Le, New Tai Lue
    (0x1A20, 0x1AAF, _SOUTH_EAST),  # Tai Tham
)

#: Letters of a stem, and syllables of Hangul, which hold two or three letters each.
_STEM, _HANGUL_STEM = 4, 2

_TO_ASCII = str.maketrans(
    dict.fromkeys("\u2019\u2018\u201b\u02bc\u00b4\u0060\u2032\uff07", "'")
    | dict.fromkeys("\u2010\u2011\u2012\u2013\ufe63\uff0d", "-")
    | {"\u2044": "/", "\u00f7": " / ", "\u2217": "\u00d7", "\u22c5": "\u00d7"}
)
_RAISED = re.compile("([\u2070\u00b9\u00b2\u00b3\u2074-\u207b]+)")
_FRACTION = re.compile("(?<=\\d)([\u00bc-\u00be\u2150-\u215e])")

# Punctuation that changes what is asked takes the shape of a symbol, which stays; all other punctuation goes.
_LETTER = r"[^\W\d_]"
_AS_SYMBOL = (
    (",", re.compile(r"(?<=\d),(?=\d{3}(?!\d))"), ""),  # 1,000
    (".", re.compile(r"(?<=\d)\.(?=\d)|(?<![\w.])\.(?=\d)"), "\ua78f"),  # 3.5
    ("'", re.compile(r"(?<=\b\w)'+(?=\()"), "\u2381"),  # f'(x)
    ("'", re.compile(r"(?<=\w)'(?=\w)"), ""),  # isn't
    ("_", re.compile(r"(?<=\w)_(?=\w)"), "\u02cd"),  # x_1
    (":", re.compile(r"(?<=\d):(?=\d)"), "\u2236"),  # 3:4
    ("!", re.compile(rf"(?<=\d)!|(?<=\b{_LETTER})!|!(?==)"), "\u2757"),  # 5!
    ("#", re.compile(rf"#(?=\d)|(?<=\b{_LETTER})#"), "\u266f"),  # C#
    ("(", re.compile(r"(?:(?<=[-+*/^])|(?<=[-+*/^] ))\("), "\u239b"),  # 2 * (3 + 4)
    (")", re.compile(r"\)(?= ?[-+*/^\u2757])"), "\u239e"),
    (
        "*",  # 7 * 6, 7*6, never the stars of *emphasis*
        re.compile(
            rf"(?<=[\w)\u239e])\*\*?(?=[\w(\u239b])|(?:(?<=[\d)\u239e] )|(?<=\b{_LETTER} ))\*\*?(?= [\w(\u239b])"
        ),
        "\u00d7",
    ),
    (
        "-",  # 10 - 4, -5, x-1, never the hyphen of well-known or covid-19
        re.compile(
            rf"(?<!-)(?<!{_LETTER}{_LETTER})(?<!{_LETTER}{_LETTER} )-(?= ?(?:\d|\ua78f|\(|\u239b|{_LETTER}(?!\w)))"
            r"|(?<=[\d)\u239e] )-(?= \w)"
        ),
        "\u2212",
    ),
)
_SHOWN = str.maketrans(
    {
        "\ua78f": ".",
        "\u2381": "'",
        "\u02cd": "_",
        "\u2236": ":",
        "\u2757": "!",
        "\u266f": "#",
        "\u239b": "(",
        "\u239e": ")",
        "\u00d7": "*",
        "\u2212": "-",
    }
)


def unspaced(character: str) -> int:
    """The weight of a character of a script written without spaces, 0 of any other."""
    point = ord(character)
    if point < 0x0E00:
        return 0
    return next((weight for low, high, weight in _UNSPACED if low <= point <= high), 0)


def weight(word: str) -> int:
    """What a word of `words` weighs: `WORD`, or less for a character of a script without spaces."""
    return unspaced(word[0]) or WORD


class _Characters(dict[int, str]):
    """What becomes of a character: itself, itself between spaces, a space, or nothing. Filled as characters are met."""

    def __missing__(self, point: int) -> str:
        character = chr(point)
        kind = unicodedata.category(character)
        if kind == "Cf" or 0xFE00 <= point <= 0xFE0F or point == 0x0640:
            kept = ""  # joiners, soft hyphens, variation selectors, the Arabic stretch
        elif unspaced(character) and kind[0] != "P":
            kept = f" {character} "
        elif kind[0] in "LMN":
            kept = character
        elif character in "%/&@" or (kind[0] == "S" and character not in "$`") or kind == "Co":
            kept = f" {character} "  # a dollar sign is as often LaTeX as money
        else:
            kept = " "
        self[point] = kept
        return kept


_CHARACTERS = _Characters()


def words(text: str) -> list[str]:
    """The words of a text, the same for every way of writing it down.

    NFKC and case folding; apostrophes and dashes of one kind; punctuation, white space and invisible characters gone.
    Digits, operators and other symbols stay, each symbol a word of its own, and so does punctuation that works as one
    (``10 - 4``, ``3.5``, ``3:4``, ``5!``). In scripts written without spaces every character is a word.
    """
    if text.isascii():
        text = text.lower().translate(_TO_ASCII)
    else:
        text = _FRACTION.sub(r" \1", _RAISED.sub(r"^\1", text)).translate(_TO_ASCII)
        text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).translate(_TO_ASCII)
    text = " ".join(text.split())
    for mark, pattern, symbol in _AS_SYMBOL:
        if mark in text:
            text = pattern.sub(symbol, text)
    return text.translate(_CHARACTERS).split()


def key_of(text: str) -> str:
    """The words of a text with single spaces between, equal for two ways of writing one text down.

    Where no word is left (``?!``), the NFKC text between two null characters; empty only for a blank text.
    """
    key = " ".join(words(text))
    if key:
        return key
    rest = " ".join(unicodedata.normalize("NFKC", text).split())
    return f"\0{rest}\0" if rest else ""


def stem(word: str) -> str:
    """What a word keeps when it is bent: its first four letters, or two syllables of Hangul; a mark is kept whole.

    Words cut at a fixed length serve retrieval about as well as a stemmer of the language does (Can et al. 2008, JASIST
    59(3), for Turkish, at five letters).
    """
    if len(word) <= _HANGUL_STEM or is_mark(word):
        return word
    return word[:_HANGUL_STEM] if "\uac00" <= word[0] <= "\ud7a3" else word[:_STEM]


def is_mark(word: str) -> bool:
    """Whether a word is a number, a symbol or a single letter: swapped for another, it makes another question."""
    if not any(character.isalpha() for character in word) or any(character.isnumeric() for character in word):
        return True
    return len(word) == 1 and not unspaced(word)


def shown(sequence: Sequence[str], most: int = 80) -> str:
    """Words as text for a reader, without spaces between the characters of an unspaced script, cut at `most`."""
    parts: list[str] = []
    size = 0
    for place, word in enumerate(sequence):
        glued = place > 0 and unspaced(word[0]) and unspaced(sequence[place - 1][0])
        parts.append(word if glued or not place else f" {word}")
        size += len(parts[-1])
        if size > most:
            break
    return shortened("".join(parts).translate(_SHOWN).strip("\0"), most)


def shortened(text: str, most: int) -> str:
    """A text of at most `most` characters, with three dots where it was cut."""
    return text if len(text) <= most else f"{text[: most - 3].rstrip()}..."
