"""The one form of texts that are the same answer."""

import pytest

from whileai.verify.reading.text import folded, gold_texts, normal


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Straße", "STRASSE"),
        ("ΟΔΟΣ", "οδος"),
        ("caf\u00e9", "cafe\u0301"),
        ("ﬁne", "FINE"),
        ("ｶﾞ", "ガ"),
        ("４２", "42"),
        ("Ｐａｒｉｓ", "paris"),
        ("new\u00a0\n york", "New York"),
        ("\u22125", "-5"),
        ("1914\u20131918", "1914-1918"),
        ("it\u2019s", "it's"),
        ("Paris\u200b", "paris"),
    ],
)
def test_same_folded(one, other):
    assert folded(one) == folded(other)


@pytest.mark.parametrize(("one", "other"), [("x²", "x2"), ("½", "1/2"), ("٣", "3"), ("a b", "ab"), ("a-b", "ab")])
def test_not_the_same(one, other):
    assert normal(one) != normal(other)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("**Paris**.", "paris"),
        ("`x`", "x"),
        ('"Paris."', "paris"),
        ("«Paris»", "paris"),
        ("Paris...", "paris"),
        ("東京。", "東京"),
        ("Yes!", "yes"),
        ("5!", "5!"),
        ("**a** and **b**", "**a** and **b**"),
        ("...", "..."),
        ("****", "****"),
        ("''", "''"),
        ("'Tis", "'tis"),
        ("(c)", "(c)"),
        ("__init__", "__init__"),
    ],
)
def test_edges(text, form):
    assert normal(text) == form


@pytest.mark.parametrize(
    ("gold", "texts"),
    [
        ("Paris.", ["paris"]),
        (["A", None, " ", "b"], ["a", "b"]),
        (42, ["42"]),
        (42.0, ["42.0", "42"]),
        (0.5, ["0.5"]),
        (True, ["true"]),
        ("\u200b", []),
    ],
)
def test_gold_texts(gold, texts):
    assert gold_texts(gold) == texts
