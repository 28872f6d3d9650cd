"""`MathEqual`: the answers that must be right, where an answer is found, and what a verdict says of itself."""

import asyncio
import json
import os
import threading
from pathlib import Path

import pytest

from whileai.errors import ParamError
from whileai.verify.base import time_limit
from whileai.verify.math_equal import MathEqual

EQUAL = [
    # numbers in many spellings
    ("42", "42"),
    ("42.0", "42"),
    ("42.", "42"),
    ("+7", "7"),
    ("007", "7"),
    ("\u22125", "-5"),
    ("\u20135", "-5"),
    ("\uff14\uff12", "42"),
    ("1,234,567", "1234567"),
    ("1 234 567", "1234567"),
    ("1\u202f000", "1000"),
    ("10{,}000", "10000"),
    ("10,\\!000", "10000"),
    ("10\\,000", "10000"),
    ("1e3", "1000"),
    ("2.5E-3", "0.0025"),
    ("3 \\times 10^{4}", "30000"),
    ("3 × 10⁴", "30000"),
    ("1.5\\cdot 10^{-3}", "0.0015"),
    ("10^6", "1,000,000"),
    ("2**10", "1024"),
    ("2^{10}", "1024"),
    ("3 1/2", "3.5"),
    ("3\\frac{1}{2}", "7/2"),
    ("3½", "3.5"),
    ("1/2", "0.5"),
    ("-\\dfrac{1}{2}", "-0.5"),
    ("\\frac{-1}{2}", "-\\frac12"),
    ("\\frac1{3}", "\\tfrac{1}{3}"),
    ("0.\\overline{3}", "\\frac13"),
    ("5!", "120"),
    ("\\binom{5}{2}", "10"),
    ("2\\det(A)", "\\det(A)\\cdot 2"),
    ("\\begin{vmatrix} 1 & 2 \\\\ 3 & 4 \\end{vmatrix}", "-2"),
    ("{10 \\choose 3}", "120"),
    ("1010_2", "10"),
    ("0.30000000000000004", "0.3"),
    ("4.123105625617661", "\\sqrt{17}"),
    ("0.333333", "\\frac{1}{3}"),
    ("3.141592653589793", "\\pi"),
    ("1.8 billion", "1800000000"),
    ("5th", "5"),
    # roots, powers, constants, functions
    ("\\sqrt{4}", "2"),
    ("\\sqrt{12}", "2\\sqrt{3}"),
    ("√12", "2√3"),
    ("\\sqrt[3]{8}", "2"),
    ("\\frac{\\sqrt{2}}{2}", "\\frac{1}{\\sqrt{2}}"),
    ("\\sqrt{3+2\\sqrt{2}}", "1+\\sqrt{2}"),
    ("8^{1/3}", "2"),
    ("4\\sqrt(2)", "4\\sqrt{2}"),
    ("pi/2", "\\boxed{\\dfrac{\\pi}{2}}"),
    ("2π", "2\\pi"),
    ("-1 + exp(16)", "\\boxed{e^{16}-1}"),
    ("e^{i\\pi}", "-1"),
    ("\\sin(\\pi/6)", "0.5"),
    ("\\cos 60^\\circ", "\\frac12"),
    ("\\arctan(1)", "\\frac{\\pi}{4}"),
    ("\\sin^{-1}(1)", "\\frac{\\pi}{2}"),
    ("\\log_2 8", "3"),
    ("\\log 100", "2"),
    ("\\ln e^2", "2"),
    ("\\lfloor 3.7 \\rfloor", "3"),
    ("|-3|", "3"),
    ("\\infty", "+\\infty"),
    ("∞", "\\infty"),
    ("3+4i", "4i+3"),
    ("\\frac{1}{1+i}", "\\frac{1-i}{2}"),
    ("1-\\frac{1}{\\mathrm{e}}", "1-e^{-1}"),
    ("\\gcd(12,18)", "6"),
    # expressions with letters
    ("x^2+2x+1", "(x+1)^2"),
    ("2*x**2 + 3*x", "2x^2+3x"),
    ("(x-1)(x+1)", "x^2-1"),
    ("a+b", "b+a"),
    ("\\frac{1}{x}+\\frac{1}{y}", "\\frac{x+y}{xy}"),
    ("\\sqrt{1/n}", "\\frac{1}{\\sqrt{n}}"),
    ("\\sin^2 x", "1-\\cos^2 x"),
    ("\\sin 2x", "2\\sin x\\cos x"),
    ("\\tan x", "\\frac{\\sin x}{\\cos x}"),
    ("\\ln(ab)", "\\ln a+\\ln b"),
    ("e^{x+y}", "e^x e^y"),
    ("\\frac{n(n+1)}{2}", "0.5n^2+0.5n"),
    ("(n+1)!/n!", "n+1"),
    ("\\frac{x^2-1}{x-1}", "x+1"),
    ("|x|", "\\sqrt{x^2}"),
    ("(-1)^{n+1}", "-(-1)^n"),
    ("x_1+x_2", "x_{2}+x_{1}"),
    ("\\alpha+\\beta", "β+α"),
    ("X^2", "x^2"),
    ("f(x+1)", "f(1+x)"),
    ("\\frac{x^3}{3}+C", "C + x**3/3"),
    ("4a-2", "2(2a-1)"),
    # equations and inequalities
    ("x=5", "5"),
    ("5", "x=5"),
    ("x = 5", "x=5"),
    ("5 = x", "x = 5"),
    ("f(x)=2x+1", "2x+1"),
    ("y=2x+1", "y = 1 + 2x"),
    ("y=2x+1", "2x-y+1=0"),
    ("y = 2x+1", "f(x) = 2x + 1"),
    ("6x - 2y + 26 = 0", "3x-y+13=0"),
    ("xy=3", "y=\\frac{3}{x}"),
    ("9(x-1)^2+4y^2=36", "\\frac{(x-1)^2}{4}+\\frac{y^2}{9}=1"),
    ("A = \\pi r^2 = 25\\pi", "25\\pi"),
    ("2 + 3 = 5", "5"),
    ("a+b=7", "7"),
    ("\\sqrt{2} \\approx 1.414", "\\sqrt{2}"),
    ("x<5", "5>x"),
    ("x < 5", "2x<10"),
    ("-x > -5", "x < 5"),
    ("x \\geq 2", "2 \\le x"),
    ("1<x<2", "2>x>1"),
    ("y \\ge 2x+1", "2x-y+1 \\leq 0"),
    ("x \\ne 0", "x != 0"),
    # lists, tuples, sets, intervals
    ("(1, 2)", "(1,2)"),
    ("(0.5, 2)", "\\left(\\frac12, 2\\right)"),
    ("(3, pi/2)", "\\left( 3, \\frac{\\pi}{2} \\right)"),
    ("\\langle 1, 2, 3\\rangle", "(1,2,3)"),
    ("1, 2", "2, 1"),
    ("1 and 2", "2 or 1"),
    ("5 or 6", "6 or 5"),
    ("x=1 or x=2", "1, 2"),
    ("x = \\pm 2", "-2, 2"),
    ("2 \\pm \\sqrt{3}", "2+\\sqrt3, 2-\\sqrt3"),
    ("x=1, y=2", "y=2, x=1"),
    ("\\{1,2,3\\}", "{3, 2, 1}"),
    ("\\{1, 2, 2\\}", "\\{1,2\\}"),
    ("\\{\\frac12\\}", "\\{0.5\\}"),
    ("x \\in \\{1, 2\\}", "\\{2, 1\\}"),
    ("\\emptyset", "\\{\\}"),
    ("[1,2)", "[1, 2)"),
    ("\\left[1, 2\\right)", "[1,2)"),
    ("[1,2[", "[1,2)"),
    ("1 \\le x < 2", "[1,2)"),
    ("(1,2)", "1<x<2"),
    ("x>5", "(5,\\infty)"),
    ("x \\in (5, \\infty)", "(5,\\infty)"),
    ("(3,4) \\cup (1,2)", "(1,2)\\cup(3,4)"),
    ("(1,2]∪[2,3)", "(1,3)"),
    ("x<1 or x>3", "(-\\infty,1)\\cup(3,\\infty)"),
    ("x \\neq 2", "\\mathbb{R}\\setminus\\{2\\}"),
    ("\\{x | x > 2\\}", "(2, \\infty)"),
    ("(-\\infty, \\infty)", "\\mathbb{R}"),
    ("\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}", "\\begin{bmatrix}1&2\\\\3&4\\end{bmatrix}"),
    ("\\begin{pmatrix}0.5\\\\\\sqrt4\\end{pmatrix}", "\\begin{pmatrix}\\frac12\\\\2\\end{pmatrix}"),
    ("[[1,2],[3,4]]", "\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}"),
    ("3:4", "3 : 4"),
    # units, percent, currency
    ("10 m", "10 m"),
    ("10 meters", "10 m"),
    ("10m", "10 m"),
    ("10 m", "10"),
    ("10", "10 \\text{ cm}"),
    ("1000 cm", "10 m"),
    ("10\\text{ cm}^2", "10 square centimeters"),
    ("9.8 m/s^2", "9.8 \\mathrm{m/s}^2"),
    ("42 apples", "42"),
    ("$29.00", "29"),
    ("\\$1,234.50", "1234.5"),
    ("50 cents", "$0.50"),
    ("18 dollars", "$18"),
    ("50%", "50\\%"),
    ("50%", "\\frac12"),
    ("90^\\circ", "90°"),
    ("90 degrees", "90^{\\circ}"),
    ("90", "90^\\circ"),
    # words and letters
    ("A", "A"),
    ("(A)", "A"),
    ("\\text{A}", "A"),
    ("Paris", "paris"),
    ("\\text{no solution}", "No solution"),
    ("a b", "a b"),
    ("4:30", "4:30"),
    # beyond the reader, by math-verify
    ("\\int_0^1 x\\,dx", "\\frac12"),
    ("\\sum_{n=1}^{10} n", "55"),
    ("4 4/9", "40/9"),
    ("-4 4/9", "-40/9"),
    ("-3\\frac12", "-3.5"),
    ("28 pct", "28%"),
    ("x \\equiv 8 \\pmod{5}", "x \\equiv 3 \\pmod 5"),
    ("x ≡ 3 (mod 5)", "x \\equiv 3 \\pmod{5}"),
    ("\\begin{pmatrix}1&2\\end{pmatrix} + \\begin{pmatrix}3&4\\end{pmatrix}", "\\begin{pmatrix}4&6\\end{pmatrix}"),
    ("2\\begin{pmatrix}1\\\\2\\end{pmatrix}", "\\begin{pmatrix}2\\\\4\\end{pmatrix}"),
    ("(x,y)=(1,2)", "(1,2)"),
    ("D = [0, 1)", "[0,1)"),
    ("x=1,y=2", "(1,2)"),
    ("36 km/h", "10 m/s"),
    ("2 hours", "120 min"),
    ("1 kg", "1000 grams"),
    ("12 square units", "12"),
    ("20°C", "20 °C"),
    ("$18 per day", "18 dollars"),
    ("2^{100000}", "4^{50000}"),
    ("10^{10^{10}}", "10^{10^{10}}"),
    ("1-\\frac{1}{\\mathrm{e}}", "1 - 1/E"),
    ("\\sqrt{x}\\sqrt{x+1}", "\\sqrt{x^2+x}"),
    ("\\cos(2x)", "2\\cos^2 x-1"),
    ("n!", "n(n-1)!"),
    ("y' = 2x", "2x"),
    ("\\Delta = 5", "5"),
    ("\\angle ABC = 60^\\circ", "60"),
    ("45^\\circ", "\\frac{\\pi}{4}"),
    ("\\frac{d}{dx} x^2", "2x"),
    ("\\sum_{k=1}^n k", "\\frac{n(n+1)}{2}"),
    ("(B) 12", "B"),
    ("_5C_2", "_5C_2"),
]

DIFFERENT = [
    ("41", "42"),
    ("-5", "5"),
    ("1e3", "100"),
    ("0.33", "\\frac{1}{3}"),
    ("3.14", "\\pi"),
    ("3.1416", "\\pi"),
    ("1.41", "\\sqrt{2}"),
    ("123456.7", "123456.8"),
    ("1234567.5", "1234567"),
    ("1000001", "1000000"),
    ("0.1250001", "\\frac18"),
    ("3 1/2", "3/2"),
    ("3\\frac{1}{2}", "\\frac{3}{2}"),
    ("1010_2", "1010"),
    ("\\sqrt{4}", "4"),
    ("4", "4\\sqrt{2}"),
    ("4", "4\\sqrt(2)"),
    ("4\\sqrt{2}", "4"),
    ("1-\\frac{1}{\\mathrm{e}}", "1+\\frac{1}{\\mathrm{e}}"),
    ("1/2004!", "1/2006!"),
    ("1/2^{99}", "1/2^{98}"),
    ("2^{200}", "2^{200}+1"),
    ("\\infty", "-\\infty"),
    ("\\infty", "10^{300}"),
    ("3+4i", "3-4i"),
    ("\\log_2 8", "8"),
    ("x^2", "x^3"),
    ("x+1", "x-1"),
    ("x", "|x|"),
    ("\\sqrt{x^2}", "x"),
    ("4t", "4"),
    ("4t", "4a"),
    ("x_1", "x_2"),
    ("a+b", "a+A"),
    ("f(x)", "g(x)"),
    ("x=5", "x=6"),
    ("x=5", "y=5"),
    ("2x=10", "10"),
    ("x^2=4", "4"),
    ("x=2", "x^2=4"),
    ("3x+4y+14=0", "3x-y+13=0"),
    ("3x + 4y + 14=0", "3*x-1*y+13=0"),
    ("y=2x+1", "y=2x-1"),
    ("x^2+y^2=1", "x^2+y^2=2"),
    ("\\forall x>0, f(x)=0", "f(x)=0"),
    ("f(x)=0", "\\forall x>0, f(x)=0"),
    ("x<5", "x>5"),
    ("x \\le 5", "x<5"),
    ("x < 5", "y < 5"),
    ("x<5", "-x<-5"),
    ("1<x<2", "1<x\\le 2"),
    ("1<x<2", "1<y<2"),
    ("x < 5", "5"),
    ("(1,2)", "(2,1)"),
    ("(1,2)", "[1,2)"),
    ("(1,2)", "[1,2]"),
    ("[1,2)", "(1,2]"),
    ("\\{1,2\\}", "(1,2)"),
    ("[1,2]", "\\{1,2\\}"),
    ("(1,2)", "(1,2,3)"),
    ("\\{1,2\\}", "\\{1,2,3\\}"),
    ("1, 1", "1"),
    ("1, 2", "1, 2, 3"),
    ("6 or 5", "5"),
    ("5", "5 or 6"),
    ("5 and 6", "6"),
    ("x = \\pm 2", "2"),
    ("x>5", "[5,\\infty)"),
    ("(1,2)\\cup(3,4)", "(1,4)"),
    ("\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}", "\\begin{pmatrix}1&3\\\\2&4\\end{pmatrix}"),
    ("\\begin{pmatrix}1&2\\end{pmatrix}", "\\begin{pmatrix}1\\\\2\\end{pmatrix}"),
    ("4:30", "2:15"),
    ("10 m", "10 cm"),
    ("10 kg", "10 g"),
    ("10 m", "10 s"),
    ("10 m", "11"),
    ("10 m^2", "10 m"),
    ("5 apples", "5 pears"),
    ("$5", "€5"),
    ("50%", "50"),
    ("50", "50\\%"),
    ("60%", "50%"),
    ("A", "B"),
    ("ABC", "ACB"),
    ("Paris", "London"),
    ("I do not know", "42"),
    ("I do not know", "x"),
    ("", "42"),
    ("\\boxed{}", "42"),
    ("42 and a half", "42 or 43"),
    ("\\int_0^1 x\\,dx", "\\frac13"),
    ("3 or more", "3"),
    ("1, 2, 3, ...", "1, 2, 3"),
    ("11 7/6", "73/6"),
    ("4 4/9%", "40/9"),
    ("x \\equiv 2 \\pmod{5}", "x \\equiv 3 \\pmod 5"),
    ("x \\equiv 3 \\pmod{6}", "x \\equiv 3 \\pmod 5"),
    ("n!", "n"),
    ("f'", "f"),
    ("a+A", "a+a"),
    ("2^{100000}", "4^{50001}"),
    ("10^{10^{10}}", "10^{10^{11}}"),
    ("e^{-200}", "0"),
    ("1e-400", "0"),
    ("10^{100}+1", "10^{100}"),
    ("10 m/s", "10 m"),
    ("3 km", "3 miles"),
    ("20°C", "20°F"),
    ("100 cm^2", "100 cm^3"),
    ("y=x^2", "x=y^2"),
    ("0", "a+3z=0"),
    ("(1,234)", "(1,2,34)"),
    ("\\sqrt{-4}", "2"),
    ("-x^2", "(-x)^2"),
    ("(B) 12", "12"),
    ("2\\pi r", "\\pi r^2"),
    ("0/0", "0"),
    ("\\frac{1}{2", "0.5"),
    ("1 2", "12"),
    ("x 1 2", "x 12"),
    ("3 1/2", "31/2"),
    ("a b", "ab/2"),
]

FOUND = [
    ("\\boxed{41} no wait \\boxed{42}", "42", 1),
    ("\\boxed{41} no wait \\boxed{42}", "41", 0),
    ("\\boxed{5} or \\boxed{6}", "5, 6", 1),
    ("x=\\boxed{5} and x = \\boxed{6}", "6 or 5", 1),
    ("I put it in \\boxed{}: \\boxed{7}", "7", 1),
    ("\\boxed{\\frac{1}{2}}", "0.5", 1),
    ("\\boxed{\\{1,2\\}}", "{1,2}", 1),
    ("\\fbox{3}", "3", 1),
    ("\\boxed 7", "7", 1),
    ("$\\boxed{50}\\%$", "50%", 1),
    ("so \\boxed{\\boxed{9}}", "9", 1),
    ("\\boxed{42", "42", 1),
    ("\\boxed{x = 5}", "5", 1),
    ("The answer is 3 but \\boxed{4}", "4", 1),
    ("<answer>42</answer>", "42", 1),
    ("<answer>41</answer> hm <answer>$42$</answer>", "42", 1),
    ("<think>The answer is 3.</think> The answer is 4.", "4", 1),
    ("<answer>The answer is 42.</answer>", "42", 1),
    ("3 + 4 = 7\n#### 7", "7", 1),
    ("#### 1,234", "1234", 1),
    ("so 2 + 2\nA: 18", "18", 1),
    ("Answer: 18", "18", 1),
    ("**Answer:** $\\frac{1}{2}$", "0.5", 1),
    ("**Final Answer**: 18 dollars", "18", 1),
    ("Answer:\n\\[\n\\frac{1}{2}\n\\]", "1/2", 1),
    ("The answer is 42 (since 6*7=42, not 41)", "42", 1),
    ("The answer is 42 because 6 * 7 = 42.", "42", 1),
    ("The answer is $x = 5$ or $x=6$.", "5, 6", 1),
    ("The answer is 5 or 6.", "5", 0),
    ("The answer is 5 or 6.", "6 or 5", 1),
    ("The answer is not 5, it is 6.", "6", 1),
    ("The answer is not 5, it is 6.", "5", 0),
    ("The answer to the question is 12.", "12", 1),
    ("The answer is approximately 3.14.", "3.14", 1),
    ("The final answer is $42$. I hope the answer is correct.", "42", 1),
    ("First I thought the answer is 3. The answer is 4.", "4", 1),
    ("The answer is $18.", "18", 1),
    ("The answer is \\$18.50 per day.", "18.5", 1),
    ("The answer is (1, 2).", "(1,2)", 1),
    ("The answer is \\(\\sqrt{2}\\)", "\\sqrt2", 1),
    ("The answer is B", "B", 1),
    ("The answer is **Paris**.", "Paris", 1),
    ("We get $x=3$, hence $y = 4$", "4", 1),
    ("So the area is \\(10\\) cm in all", "10 m", 0),
    ("It costs $5 and then $6", "6", 1),
    ("$$\\frac{3}{4}$$", "0.75", 1),
    ("\\[42\\]", "42", 1),
    ("\\(42\\)", "42", 1),
    ("**42**", "42", 1),
    ("`42`", "42", 1),
    ("2**3**2", "512", 1),
    ("I think it's 42", "42", 1),
    ("So 3 + 4 = 7", "7", 1),
    ("So 3 + 4 = 7", "4", 0),
    ("There are 12 ways to do it", "12", 1),
    ("She needs 5 boxes.\nThat is 10 apples,\nso 50 in all.", "50", 1),
    ("It is 10 m long", "10 cm", 0),
    ("It is either 5 or 6", "6", 0),
    ("x^2 = 4 \\implies x = 2", "2", 1),
    ("答案是42", "42", 1),
]

GOLDS = [
    ("1/2", 0.5, 1),
    ("42", 42, 1),
    ("5", ["4", "5"], 1),
    ("6", ["4", "5"], 0),
    ("\\sqrt{2}", ["1.41", "2^{1/2}"], 1),
    ("18", "She has 9 + 9 = 18\n#### 18", 1),
    ("18", "A long text\nover lines\nA: 18", 1),
    ("7", "We see that $x=3$, so the answer is $\\boxed{7}$.", 1),
    ("0.5", "$\\frac{1}{2}$", 1),
    ("True", True, 1),
]


def verdicts(cases, **options):
    """The verdicts on candidates and golds, graded in one run."""
    rows = [{"final_text": candidate, "reference": gold} for candidate, gold, *_ in cases]
    return dict(MathEqual(**options).score_all(rows, timeout=30, workers=2))


@pytest.fixture(scope="module")
def graded():
    """All tables graded once, each in one run."""
    return {
        "equal": verdicts(EQUAL),
        "different": verdicts(DIFFERENT),
        "found": verdicts(FOUND),
        "golds": verdicts(GOLDS),
    }


@pytest.mark.parametrize(("place", "candidate", "gold"), [(i, *case) for i, case in enumerate(EQUAL)])
def test_equal(graded, place, candidate, gold):
    assert (graded["equal"][place].reward, graded["equal"][place].status) == (1, "ok")


@pytest.mark.parametrize(("place", "candidate", "gold"), [(i, *case) for i, case in enumerate(DIFFERENT)])
def test_different(graded, place, candidate, gold):
    verdict = graded["different"][place]
    assert (verdict.reward, verdict.status) == (0, "ok")
    assert verdict.reason


@pytest.mark.parametrize(("place", "candidate", "gold", "expected"), [(i, *case) for i, case in enumerate(FOUND)])
def test_where_the_answer_is_found(graded, place, candidate, gold, expected):
    assert (graded["found"][place].reward, graded["found"][place].status) == (expected, "ok")


@pytest.mark.parametrize(("place", "candidate", "gold", "expected"), [(i, *case) for i, case in enumerate(GOLDS)])
def test_kinds_of_gold(graded, place, candidate, gold, expected):
    assert (graded["golds"][place].reward, graded["golds"][place].status) == (expected, "ok")


@pytest.mark.parametrize(
    "gold", ["42", "\\frac{1}{2}", "[1,2)", "x^2+1", "π", "Paris", "10 m", "50%", "a b", "!!!", "\\frac{1"]
)
def test_any_text_equals_itself(gold):
    assert MathEqual().score({"final_text": gold, "reference": gold}).reward == 1


PERCENT = [("50%", "50", 1), ("50", "50\\%", 1), ("50%", "0.5", 1), ("50%", "5", 0), ("50%", "60", 0), ("5%", "5 m", 0)]


def test_percent_either():
    found = verdicts(PERCENT, percent="either")
    assert [found[place].reward for place in range(len(PERCENT))] == [expected for *_, expected in PERCENT]


def test_percent_must_be_known():
    with pytest.raises(ParamError, match="percent must be one of 'strict', 'either'"):
        MathEqual(percent="eihter")


def test_what_tells_two_verifiers_apart():
    assert MathEqual(percent="either", field="info.key", name="math").config() == {
        "percent": "either",
        "field": "info.key",
        "name": "math",
    }


@pytest.mark.parametrize("candidate", ["43", "The answer is Lima", "\\boxed{\\sqrt{2}}", "\\sqrt{5}", "10 cm"])
@pytest.mark.parametrize("gold", ["Ouagadougou", "987654321", "\\sqrt{987654321}"])
def test_a_reason_never_quotes_the_gold(candidate, gold):
    verdict = MathEqual().score({"final_text": candidate, "reference": gold})
    assert verdict.reward == 0
    assert gold not in (verdict.reason or "")
    assert "987654321" not in (verdict.reason or "")


@pytest.mark.parametrize("gold", [{"a": 1}, b"42", "$$", "\\frac{1}{", "\\sqrt{2", [None, {"a": 1}]])
def test_a_gold_that_cannot_be_compared_is_an_error(gold):
    verdict = MathEqual().score({"final_text": "42", "reference": gold})
    assert (verdict.reward, verdict.status) == (None, "error")
    assert "gold cannot be read" in verdict.reason


@pytest.mark.parametrize(("row", "status"), [({"final_text": "5"}, "missing_reward"), ({"reference": "5"}, "error")])
def test_a_row_without_gold_or_completion(row, status):
    (verdict,) = [verdict for _, verdict in MathEqual().score_all([row], timeout=5, workers=1)]
    assert (verdict.reward, verdict.status) == (None, status)
    assert MathEqual().score(row) == verdict


BOMBS = [
    "9**9**9**9",
    "$10^{10^{10}}$",
    "99999999!",
    "(((9!)!)!)!",
    "$9^{9^{9^{9}}}$",
    "0.5^{9^{9^9}}",
    "e^{e^{e^{e^e}}}",
    "\\binom{10^{30}}{10^{29}}",
    "\\sin(9^{9^9})",
    "\\boxed{\\dfrac{5^{\\left(5^{\\left(5^{\\left(5^5\\right)}\\right)} - 4\\right)} - 5}{16}}",
    "x^{1999}x^{1998}x^{1997}" * 10,
    "+".join(f"\\frac{{1}}{{x+{n}}}" for n in range(40)),
    "1" * 100_000,
    "(" * 20_000,
    "\\sqrt{" * 2_000,
    "2^" * 1_000 + "2",
    "\\boxed{" * 20_000,
    "answer is " * 5_000,
    "$a " * 8_000,
    "\\(" * 8_000,
    "__import__('os').system('touch bomb')",
    "\\prod_{n=1}^{99999999} n",
]


def test_bombs_end_in_time():
    rows = [{"final_text": bomb, "reference": gold} for bomb in BOMBS for gold in ("42", "\\sqrt{2}", "x+1")]
    for _, verdict in MathEqual().score_all(rows, timeout=1.0, workers=2):
        assert (verdict.reward, verdict.status) in {(0, "ok"), (None, "timeout")}
    assert not Path("bomb").exists()


def test_golds_that_are_bombs_end_in_time():
    rows = [{"final_text": "\\sqrt{2}", "reference": bomb} for bomb in BOMBS]
    for _, verdict in MathEqual().score_all(rows, timeout=1.0, workers=2):
        assert (verdict.reward, verdict.status) in {(0, "ok"), (None, "timeout"), (None, "error")}


STUCK = "\\prod_{n=1}^{99999999} n"


def test_two_stuck_of_fifty():
    rows = [{"final_text": f"\\sqrt{{{n}}}", "reference": f"{n}^{{1/2}}"} for n in range(50)]
    rows[11]["final_text"] = rows[29]["final_text"] = STUCK
    found = dict(MathEqual().score_all(rows, timeout=2.0, workers=2))
    assert {place for place, verdict in found.items() if verdict.status == "timeout"} == {11, 29}
    assert all(found[place].reward == 1 for place in range(50) if place not in (11, 29))


def test_a_single_verdict_keeps_the_time_it_has_left():
    with time_limit(1.0):
        verdict = MathEqual().score({"final_text": STUCK, "reference": "42"})
    assert (verdict.reward, verdict.status) == (None, "timeout")


def test_threads_and_a_running_loop_give_the_same_verdicts():
    cases = [("\\sqrt{8}", "2\\sqrt{2}", 1), ("\\sqrt{8}", "3\\sqrt{2}", 0), ("\\pi", "3.14", 0)]
    found = []

    def work():
        found.append([MathEqual().score({"final_text": c, "reference": g}).reward for c, g, _ in cases])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    async def main():
        work()

    asyncio.run(main())
    assert found == [[expected for *_, expected in cases]] * 5


def data(name):
    """The lines of a file of third-party data, which may be absent."""
    folder = Path(os.environ.get("WHILEAI_DATA", Path(__file__).resolve().parents[4] / "shared" / "data"))
    if not (folder / name).exists():
        pytest.skip(f"no {name} in {folder}: set WHILEAI_DATA to the folder of third-party data")
    return [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]


@pytest.mark.data
@pytest.mark.parametrize("model", ["6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification"])
def test_published_verdicts_on_whole_gsm8k_solutions(model):
    entries = data("gsm8k/model_solutions.jsonl")
    rows = [{"final_text": entry[model]["solution"], "reference": entry["ground_truth"]} for entry in entries]
    found = dict(MathEqual().score_all(rows, timeout=30, workers=1))
    assert [found[i].reward for i in range(1319)] == [int(entry[model]["is_correct"]) for entry in entries]


@pytest.mark.data
def test_published_verdicts_on_math_responses():
    """All but one of 800; there the gold ``10{,}000`` and the answer 10000 were published as different."""
    entries = data("qwen_math/math_cot_100.jsonl")
    rows = [{"final_text": text, "reference": entry["gt"]} for entry in entries for text in entry["code"]]
    published = [int(score) for entry in entries for score in entry["score"]]
    found = dict(MathEqual().score_all(rows, timeout=30, workers=2))
    differing = [place for place in range(len(rows)) if found[place].reward != published[place]]
    assert [(rows[place]["reference"], found[place].reward) for place in differing] == [("10{,}000", 1)]
