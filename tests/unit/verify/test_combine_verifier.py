"""All, Any and Weighted."""

import math

import pytest

from whileai.errors import ParamError
from whileai.verify import All, Any, ExactMatch, Numeric, Regex, Weighted


def one(row):
    return 1


def zero(row):
    return 0


def half(row):
    return 0.5


def boom(row):
    raise LookupError("no rule")


def nothing(row):
    return None


def clears(row):
    row["reference"] = "spoilt"
    row.clear()
    return 1


async def later(row):
    return row["final_text"] == "5"


ROW = {"prompt": "2 + 3?", "final_text": "5", "reference": "5"}

OUTCOMES = [
    (All([one, half]), 0.5),
    (All([half, zero]), 0),
    (All([later, one]), 1),
    (All([lambda prompt, text: text == "5", lambda prompt, text, gold: gold == "5"]), 1),
    (All([clears, ExactMatch()]), 1),
    (All([one, boom]), "error"),
    (All([zero, boom]), "error"),
    (All([boom, zero]), "error"),
    (All([nothing, boom]), "missing_reward"),
    (Any([zero, half]), 0.5),
    (Any([zero, one]), 1),
    (Any([boom, one]), 1),
    (Any([one, boom]), 1),
    (Any([half, boom]), "error"),
    (Any([All([one, zero]), Any([zero, one])]), 1),
    (Weighted([(one, 1), (zero, 2)]), 1 / 3),
    (Weighted([(one, 1), (zero, 1), (half, 4)]), 0.5),
    (Weighted([(one, 0.1), (one, 0.2)]), 1),
    (Weighted([(zero, 0.1), (one, 0)]), 0),
    (Weighted([(one, 1e308), (zero, 1e308)]), 0.5),
    (Weighted([(one, 1), (boom, 0)]), "error"),
    (Weighted([(Regex("5"), 1), (Regex("x"), 3)]), 0.25),
]


@pytest.mark.parametrize(("judge", "expected"), OUTCOMES)
def test_outcomes(judge, expected):
    verdict = judge.score(ROW)
    assert (verdict.reward if verdict.status == "ok" else verdict.status) == expected
    assert verdict.reason or verdict.reward == 1


def test_whole_rewards_are_whole_numbers():
    assert type(Weighted([(one, 0.3), (one, 0.7)]).score(ROW).reward) is int


def test_any_stops_at_the_first_pass():
    called = []

    def counts(row):
        called.append(1)
        return 1

    assert Any([one, counts]).score(ROW).reward == 1
    assert called == []


def test_what_is_kept_of_the_parts():
    def marked(row):
        return {"reward": 0, "reason": "too long", "markers": {"chars": 3}, "failure_class": "length", "seen": 7}

    verdict = All([lambda row: {"reward": 1, "markers": {"chars": 1, "words": 2}}, marked]).score(ROW)
    assert verdict.markers == {"chars": 3.0, "words": 2.0}
    assert verdict.failure_class == "length"
    assert verdict.reason.endswith("marked: too long")
    assert [(part["reward"], part["status"]) for part in verdict.meta["parts"]] == [(1, "ok"), (0, "ok")]
    assert verdict.meta["parts"][1]["meta"] == {"seen": 7}


def test_an_error_keeps_its_type_and_message():
    verdict = All([one, boom]).score(ROW)
    assert "LookupError: no rule" in verdict.reason


def test_bounded_where_every_part_is():
    assert All([ExactMatch(), Numeric()]).bounded
    assert not All([ExactMatch(), Regex("x")]).bounded
    assert not All([ExactMatch(), one]).bounded


def test_names():
    assert All([ExactMatch(), Numeric(name="number")]).name == "All(ExactMatch, number)"
    assert Any([one], name="mine").name == "mine"


def test_parts_may_be_any_iterable():
    assert All(part for part in (one, half)).score(ROW).reward == 0.5


@pytest.mark.parametrize("combine", [All, Any, Weighted])
@pytest.mark.parametrize("parts", [[], (), "ab", {"a": 1}, 5, None, ExactMatch(), ExactMatch], ids=str)
def test_no_parts(combine, parts):
    with pytest.raises(ParamError, match=rf"{combine.__name__}: parts must be"):
        combine(parts)


@pytest.mark.parametrize("part", [ExactMatch, 5, "Numeric", lambda: 1, lambda a, b, c, d: 1])
@pytest.mark.parametrize("combine", [All, Any, lambda parts: Weighted([(part, 1) for part in parts])])
def test_a_part_that_is_no_judge(combine, part):
    with pytest.raises(TypeError, match=r"parts\[1\]"):
        combine([one, part])


@pytest.mark.parametrize(
    ("parts", "shown"),
    [
        ([(one, -1)], "-1"),
        ([(one, math.nan)], "nan"),
        ([(one, math.inf)], "inf"),
        ([(one, "1")], "'1'"),
        ([(one, True)], "True"),
        ([(one, 0), (zero, 0)], "[0, 0]"),
        ([one], "one"),
        ([(one, 1, 2)], "1, 2"),
    ],
)
def test_bad_weights(parts, shown):
    with pytest.raises(ParamError, match="Weighted") as error:
        Weighted(parts)
    assert shown in str(error.value)
