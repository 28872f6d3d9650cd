"""MultipleChoice: the letter a reader would say was chosen."""

import pytest

from whileai.verify import MultipleChoice

JUDGE = MultipleChoice()


def score(candidate, gold):
    return JUDGE.score({"final_text": candidate, "reference": gold})


CHOSEN = {
    "D": [
        "D", "d", "D.", "D)", "(D)", "(d)", "[D]", "**D**", "> D", "D: Rome", "D - Rome", "d) Rome", "**D. Rome**",
        "Ｄ",
        r"\boxed{D}", r"\boxed{d}", r"$\boxed{\textbf{(D)}}$", r"\boxed{D. \text{Rome}}", r"\boxed{B} no, \boxed{D}",
        "<answer>D</answer>", "<answer>D. Rome</answer>", '{"answer": "D"}', "answer: d", "Answer:\nD",
        "## Answer\n\nD",
        "Answer - D", "Answer: <D>", "ANSWER: D", "Final answer: **D**", "The answer is\n\n(D)", "The letter is D",
        "The correct option among these is D", "The best choice would be D", "The answer to the question is D",
        "Answer: D Rome", "Answer: D (Rome)", "The answer is D, I think", "The answer is D, B is wrong",
        "The answer is D instead of B", "The answer is B.\nThe answer is D.", "The answer is B. Wait, no, it is D.",
        "I'd go with (D)", "I pick option D.", "We select D", "I choose d", "Choose D", "It's D", "It must be D.",
        "So, D.", "Therefore D", "D is the right answer.", "D is correct because A is wrong", "Option D is correct",
        "A is incorrect. B is incorrect. D is correct.", "(A) is wrong, (B) is wrong, (D) is right",
        "not A but D", "Not B, it is D.", "D, not B", "D rather than B", "I eliminated A and B, leaving D",
        "If the answer is B, then 2=3, so it cannot be B. The answer is D.", "Is the answer B? No. It is D.",
        "Probably D", "Definitely (D)", "My guess: D", "D because a dog", "Let A be a set. The answer is D.",
        "A. London\nB. Paris\nD. Rome\n\nThe answer is D", "D. Rome\n\nA. London is in England\nB. Paris is in France",
        "D\n\nBecause Rome is the capital.", "Answer: I think it's D", "答案是D", "答案：D", "选D", "正解はDです",
        "정답은 D입니다", "La respuesta correcta es D", "Die Antwort ist D", "Ответ: D",
    ],
    "A": ["The answer is A because it is", "the answer is a.", "A seems right", "A. dog", "Answer: A"],
    "I": ["I", "I.", "(I)", "The answer is I", r"\boxed{I}"],
    "Z": ["The answer is (Z)."],
}  # fmt: skip


@pytest.mark.parametrize(("letter", "text"), [(letter, text) for letter, texts in CHOSEN.items() for text in texts])
def test_chosen(letter, text):
    assert score(text, letter).reward == 1
    assert score(text, "Q").reward == 0


NOT_CHOSEN = [
    ("a dog", "A"), ("A dog", "A"), ("Answer: A dog", "A"), ("The answer is a dog", "A"), ("I would say so", "I"),
    ("Answer: I would say so", "I"), ("I do not know", "I"), ("The answer is not B", "B"), ("The answer isn't B", "B"),
    ("I don't think the answer is B", "B"), ("The answer cannot be B", "B"), ("It is not B", "B"), ("B?", "B"),
    ("neither B nor C", "C"), ("It could be B", "B"), ("The answer is B or C", "B"), ("The answer is B or C", "C"),
    ("The answer is (A) and (C)", "A"), ("The answer is A, B and C", "A"), ("Both A and C", "C"), ("B/C", "B"),
    ("Vitamin C helps", "C"), ("plan B", "B"), ("The answer is C++", "C"), ("The answer is B-trees", "B"),
    ("The U.S. is big", "S"), ("The answer is D.C.", "D"), ("E = mc^2", "E"), ("X-ray", "X"), (r"\boxed{42}", "A"),
    ("A. London\nB. Paris\nC. Rome", "C"), ("It depends on the data", "D"), ("", "A"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "gold"), NOT_CHOSEN)
def test_not_chosen(text, gold):
    assert score(text, gold).reward == 0


@pytest.mark.parametrize(
    "gold", ["B", "b", "(B)", "B.", "B. Paris", "B) Paris", r"\boxed{B}", "Answer: B", "Ｂ", ["C", "B"]]
)
def test_golds(gold):
    assert score("The answer is B", gold).reward == 1
    assert score("The answer is A", gold).reward == 0


@pytest.mark.parametrize("gold", ["Paris", "a dog", 1, "1", True, ["Paris", 2]])
def test_a_gold_without_a_letter_is_an_error(gold):
    verdict = score("B", gold)
    assert (verdict.reward, verdict.status) == (None, "error")
    assert "letter" in verdict.reason


@pytest.mark.parametrize("part", ["(", "B or ", "answer to ", "the most likely ", "\\boxed{", "B\n", "_", "so ", " "])
def test_long_texts_end(part):
    assert score(part * 20_000, "Q").reward == 0
