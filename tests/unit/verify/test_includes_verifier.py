"""Includes: whole tokens in any script."""

import pytest

from whileai.errors import ParamError
from whileai.verify import Includes


def reward(candidate, gold, mode="any"):
    return Includes(mode=mode).score({"final_text": candidate, "reference": gold}).reward


@pytest.mark.parametrize(
    ("candidate", "gold", "expected"),
    [
        ("8, 3", "3", 1),
        ("83", "3", 0),
        ("the result:3", "3", 1),
        ("8.3", "3", 0),
        ("8.3", "8", 0),
        (".3", "3", 0),
        ("8.35", "8.3", 0),
        ("3,000", "3", 0),
        ("12:30", "30", 0),
        ("3/4", "4", 0),
        ("10^6", "10", 0),
        ("-3", "3", 0),
        ("it is -3.", "-3", 1),
        ("8-3", "-3", 0),
        ("30%", "30", 0),
        ("30% of it", "30%", 1),
        ("$30", "30", 1),
        ("３", "3", 1),
        ("1914–1918", "1918", 1),
        ("I like F#.", "F#", 1),
        ("F# and D", "F", 0),
        ("A+", "A", 0),
        ("AT&T", "T", 0),
        ("x_1", "1", 0),
        ("_Rome_", "Rome", 1),
        ("**Rome**", "Rome", 1),
        ("Rome's hills", "Rome", 1),
        ("don't", "don", 0),
        ("l'eau", "eau", 1),
        ("Rome-based", "Rome", 1),
        ("Romeo", "Rome", 0),
        ("in new\nyork now", "New York", 1),
        ("the STRASSE", "straße", 1),
        ("naïve", "nai", 0),
        ("हिन्दी", "हिन्द", 0),
        ("हिन्दी है", "हिन्दी", 1),
        ("首都は東京です", "東京", 1),
        ("答案是5个", "5", 1),
        ("答案是15个", "5", 0),
        ("パリです", "パリ", 1),
        ("パリジャン", "パリ", 0),
        ("서울입니다", "서울", 1),
        ("เมืองหลวงคือกรุงเทพ", "กรุงเทพ", 1),
        ("it has 7", 7, 1),
        ("seven sides", ["7", "seven"], 1),
        ("six sides", ["7", "seven"], 0),
        ("fork, then for", "for", 1),
    ],
)
def test_answers(candidate, gold, expected):
    assert reward(candidate, gold) == expected


@pytest.mark.parametrize(("candidate", "expected"), [("5 and 7", 1), ("7", 0), ("57", 0)])
def test_all(candidate, expected):
    assert reward(candidate, ["5", "7"], mode="all") == expected


def test_a_misspelt_mode_is_named():
    with pytest.raises(ParamError, match=r"Includes: mode .* got 'al'"):
        Includes(mode="al")
