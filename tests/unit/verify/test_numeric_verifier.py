"""Numeric: the final number of a completion, exactly."""

import json
import os
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whileai.errors import ParamError
from whileai.verify import Numeric
from whileai.verify.reading.numbers import read_number, split_percent
from whileai.verify.reading.stated import final_number

JUDGE = Numeric()


def score(candidate, gold, judge=JUDGE):
    return judge.score({"final_text": candidate, "reference": gold})


FORMS = [
    ("6.25", "6.25"), (".75", "0.75"), ("8.", "8"), ("+9", "9"), ("008", "8"), ("2,345,678", "2345678"),
    ("2 345 678", "2345678"), ("2\u202f345", "2345"), ("2'345", "2345"), ("2_345", "2345"), ("1,23,456", "123456"),
    ("2{,}345", "2345"), (r"2\,345", "2345"), ("2.345,5", "2345.5"), ("2.345.678", "2345678"), ("6,25", "6.25"),
    ("0,500", "0.5"),
    ("\u22127", "-7"), ("–7", "-7"), ("- 7", "-7"), ("-$7", "-7"), ("$-7$", "-7"), ("US$7", "7"), ("7€", "7"),
    (r"\$29.00", "29"), ("Rs. 500", "500"), ("7 3/4", "7.75"), ("-7 3/4", "-7.75"), ("7¾", "7.75"), ("3/4 cup", "0.75"),
    (r"\frac{3}{4}", "0.75"), (r"\frac34", "0.75"), (r"\tfrac{-3}{4}", "-0.75"), (r"7\frac{3}{4}", "7.75"),
    ("10^5", "100000"), ("10^{5}", "100000"), ("10**5", "100000"), ("10⁵", "100000"), ("2^-2", "0.25"), ("-3^2", "-9"),
    ("4e2", "400"), ("4.5E-2", "0.045"), (r"4.5 \times 10^{2}", "450"), ("4.5 × 10^2", "450"), ("4 x 10^2", "400"),
    ("３.５", "3.5"), ("٤٢", "42"), ("2.5 million", "2500000"), ("5!", "120"), ("42km", "42"), ("12 cm²", "12"),
    (r"90^\circ", "90"), ("`42`", "42"), ("**42**", "42"), (r"\(42\)", "42"), ("答案是42个", "42"), ("-0", "0"),
    ("6.25e400", "6.25e400"),
]  # fmt: skip


@pytest.mark.parametrize(("candidate", "gold"), FORMS)
def test_forms(candidate, gold):
    assert score(candidate, gold).reward == 1
    assert score(f"The answer is {candidate}.", gold).reward == (candidate != "5!")  # in a sentence, an exclamation
    assert score(candidate, f"{gold}1").reward == 0


STATED = [
    ("It is 41. The answer is 42.", 1), ("The answer is 42 (as 6*7=42, not 41)", 1), ("The answer is 6*7 = 42.", 1),
    ("Answer: 40 + 2 = 42", 1), ("Answer:\n\n42", 1), ("**Final answer: 42**", 1), ("### Answer\n42", 1),
    ("Answer (in dollars): 42", 1), ("The answer to the question is 42.", 1), ("<answer>42</answer>", 1),
    ("A: 42\nThat took 3 steps.", 1), ("#### 42", 1), ("#### $42", 1), (r"\boxed{41} then \boxed{42}", 1),
    (r"\boxed{x = 42}", 1), (r"\boxed{42 \text{ cm}^2}", 1), ("The answer is x = 42.", 1), ('{"answer": 42}', 1),
    ("The answer is 41. Wait, no, it's 42.", 1), (r"\boxed{41}. Wait, I made an error. It should be 42.", 1),
    ("It's 42, not 41", 1), ("The answer is not 41 but 42", 1), ("The total is 42. The answer is", 1),
    ("The answer is 42.\n\nI hope that helps with your 3 questions!", 1), ("She has 42 on the 4th day.", 1),
    ("1. First 5\n2. Then 42", 1), ("Total: 42.\n\nStep 3: done", 1), ("40 + 2 = 42", 1),
    ("It fell from $50 to $42 today", 1),
    ("$40 + $2 = $42", 1), ("$40 + $42", 0), ("It lost -$42 today", 0), ("La respuesta es 42.", 1),
    ("The answer is 42 or 43", 0), ("42 or 43", 0), (r"\boxed{42, 43}", 0), ("41 + 42", 0), ("6*42", 0), ("42-43", 0),
    ("x < 42", 0), (r"\sqrt{42}", 0), (r"\boxed{2\sqrt{42}}", 0), (r"\frac{x}{42}", 0), ("42x", 0), ("x^42", 0),
    (r"42\pi", 0), ("x42", 0), ("GPT-42", 0), ("10:42", 0), ("2024-05-42", 0), ("v1.42", 0), ("1.2.42", 0), ("42%", 0),
    ("0x42", 0), ("The answer is not 42", 0), ("Answer: unknown", 0), ("9**9**9**42", 0), ("$10^{10^{42}}$", 0),
    ("1e999999999", 0), ("99999999!", 0), ("NaN", 0), ("inf", 0), ("", 0),
]  # fmt: skip


@pytest.mark.parametrize(("candidate", "reward"), STATED)
def test_stated(candidate, reward):
    assert score(candidate, "42").reward == reward


@pytest.mark.parametrize(
    ("candidate", "gold", "reward"),
    [
        ("42", 42, 1),
        ("42", 42.0, 1),
        ("0.3", 0.1 + 0.2, 1),
        ("1/3", Fraction(1, 3), 1),
        ("0.333", Fraction(1, 3), 0),
        ("2.50", Decimal("2.5"), 1),
        ("3", np.int64(3), 1),
        ("3.5", np.float32(3.5), 1),
        ("18", "9 * 2 = 18\n#### 18", 1),
        ("18", "$18", 1),
        ("4", ["3", 4], 1),
        ("4", ["three", 4], 1),
        ("5", ["3", 4], 0),
    ],
)
def test_golds(candidate, gold, reward):
    assert score(candidate, gold).reward == reward


@pytest.mark.parametrize("gold", ["Paris", "5 or 6", True, float("inf"), "nan", {"a": 5}, ["x", "y"]])
def test_a_gold_without_a_number_is_an_error(gold):
    verdict = score("5", gold)
    assert (verdict.reward, verdict.status) == (None, "error")
    assert "no number" in verdict.reason


@pytest.mark.parametrize(
    ("options", "candidate", "gold", "reward"),
    [
        ({}, "3.0000001", "3", 1),
        ({}, "3.00001", "3", 0),
        ({}, "1e-7", "2e-7", 0),
        ({}, "1e-9", "0", 1),
        ({}, "0", "1e-9", 0),
        ({}, "1000000000000001", "1000000000000000", 0),
        ({"tol": 0.05}, "0.54", "0.5", 1),
        ({"tol": 1}, "6", "5", 1),
        ({"tol": 0}, "0.30000000000000004", "0.3", 0),
        ({"rel": 0.01}, "101", "100", 1),
        ({"rel": 0.01}, "102", "100", 0),
        ({}, "50%", "50%", 1),
        ({}, "50%", "0.5", 0),
        ({}, "50", "50%", 0),
        ({"percent": "either"}, "50%", "50", 1),
        ({"percent": "either"}, "50%", "0.5", 1),
        ({"percent": "either"}, "0.5", "50 percent", 1),
        ({"percent": "either"}, "5", "50%", 0),
    ],
)
def test_options(options, candidate, gold, reward):
    assert score(candidate, gold, Numeric(**options)).reward == reward


@pytest.mark.parametrize(
    "options", [{"tol": -1}, {"tol": float("nan")}, {"tol": "x"}, {"rel": -0.1}, {"percent": "eithr"}]
)
def test_options_outside_their_bound(options):
    with pytest.raises(ParamError, match=rf"Numeric: {next(iter(options))} must be"):
        Numeric(**options)


@given(st.integers())
def test_every_integer_in_every_dress(number):
    for dress in ("{}", "{:,}", "The answer is {}.", r"\boxed{{{}}}", "#### {}", "${}$", "So we get 1 + 1 = {}"):
        assert score(dress.format(number), number).reward == 1


@given(st.fractions(max_denominator=10**6))
def test_every_fraction(number):
    text = f"{number.numerator}/{number.denominator}"
    assert read_number(text) == number
    assert final_number(f"Hence {text}.").value == number


@given(st.text())
def test_any_text_ends_in_a_verdict(text):
    assert score(text, "5").status == "ok"


def test_numbers_of_any_length():
    long = "7" * 6000
    assert score(long, long).reward == 1
    assert score(long, "8" + long[1:]).reward == 0
    assert "7" * 100 not in score(long, "5").reason


@pytest.mark.parametrize(
    "part", ["1 ", "1,", "1/", "(", "\\frac", "\\boxed{", "answer is ", "1 or ", "wait it is ", "9"]
)
def test_long_texts_end(part):
    assert score(part * 20_000, "5").reward == 0


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (r"$\boxed{1{,}234}$.", 1234),
        ("1 000", 1000),
        ("-1/2", Fraction(-1, 2)),
        ("2e3", 2000),
        ("1,2", None),
        ("42 apples", None),
        ("3 + 4", None),
        ("5%", None),
        ("1/0", None),
        ("--5", None),
        ("", None),
    ],
)
def test_whole_text_as_a_number(text, number):
    assert read_number(text) == number


@pytest.mark.parametrize(
    ("text", "parts"),
    [("50%", ("50", True)), (r"$50\%$", ("$50$", True)), ("5 percent.", ("5.", True)), ("a%b", ("a%b", False))],
)
def test_split_percent(text, parts):
    assert split_percent(text) == parts


DATA = Path(os.environ.get("WHILEAI_DATA", Path(__file__).resolve().parents[4] / "shared" / "data"))


@pytest.fixture
def published():
    """A function that reads a file of third-party data, or skips."""

    def read(name):
        path = DATA / name
        if not path.exists():
            pytest.skip(f"third-party data is not at {path}; set WHILEAI_DATA to its folder")
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    return read


@pytest.mark.data
def test_published_verdicts_on_gsm8k(published):
    """Four models' solutions to 1,319 questions, with OpenAI's verdicts."""
    differing, asked = [], 0
    for entry in published("gsm8k/model_solutions.jsonl"):
        gold = entry["ground_truth"].splitlines()[-1].removeprefix("A: ")
        for arm in ("6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification"):
            asked += 1
            if score(entry[arm]["solution"], gold).reward != int(entry[arm]["is_correct"]):
                differing.append(entry[arm]["solution"][-60:])
    assert (asked, differing) == (5276, [])


@pytest.mark.data
def test_published_verdicts_on_math(published):
    """Where the gold is a number, only the one response differs that its publishers marked wrong for ``10{,}000``."""
    differing, asked = [], 0
    for entry in published("qwen_math/math_cot_100.jsonl"):
        for response, passed in zip(entry["code"], entry["score"], strict=True):
            verdict = score(response, entry["gt"])
            asked += verdict.status == "ok"
            if verdict.status == "ok" and verdict.reward != int(passed):
                differing.append(entry["gt"])
    assert asked == 776
    assert differing == ["10{,}000"]


@pytest.mark.parametrize(
    ("candidate", "gold", "reward"),
    [
        ("1/3", "0.333333", 1),
        ("0.666667", "2/3", 1),
        ("0.33333", "1/3", 0),
        ("2e-7", "1e-7", 0),
        ("1.0005e-7", "1e-7", 1),
        ("0.0000001", "0", 1),
        ("100.0000005", "100", 1),
        ("100.00001", "100", 0),
    ],
)
def test_default_tolerance(candidate, gold, reward):
    assert Numeric().score({"final_text": candidate, "answer": gold}).reward == reward
