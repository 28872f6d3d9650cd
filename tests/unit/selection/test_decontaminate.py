"""`wai.decontaminate`: copies of eval texts are found however they are written, and other questions stay."""

import itertools
import json
import os
import pickle
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import whileai as wai
from whileai.selection.words import key_of, words

FERRY = (
    "A ferry leaves the harbour with ninety passengers on board, lets off a third of them at the first island, takes "
    "on a dozen more at the second and returns before dark; how many people step ashore at the end of the trip?"
)
HERONS = "Near the old mill two herons wait for fish while the miller's daughter counts the boats that pass downstream."
DATA = Path(os.environ.get("WHILEAI_DATA", Path(__file__).resolve().parents[4] / "shared" / "data"))


def rows_of(*prompts):
    return [{"prompt": prompt} for prompt in prompts]


def rule(text, against, **options):
    """The rule by which one text is dropped against others, ``None`` where it stays."""
    kept = wai.decontaminate(rows_of(text), [against] if isinstance(against, str) else against, **options)
    return kept.hits[0].rule if kept.hits else None


def replaced(text, changes):
    """A text with some of its words replaced, by place."""
    parts = text.split()
    for place, word in changes.items():
        parts[place] = word
    return " ".join(parts)


SAME = [
    ("What is 2 + 3?", "what  is 2+3"),
    ("isn't it", "ISN\u2019T IT"),
    ("twenty-one sheep", "Twenty one sheep!"),
    ("a well\u2014known fact", "a well, known fact"),
    ("1,234,567 grains", "1234567 grains"),
    ("7 \u00d7 6", "7*6"),
    ("8 \u00f7 2", "8 / 2"),
    ("10 \u2212 4", "10-4"),
    ("\u00bd of it", "1/2 of it"),
    ("Stra\u00dfe", "STRASSE"),
    ("zero\u200bwidth co\u00adop", "zerowidth coop"),
    ("**Bold** *words*", "bold words"),
    ("$x$ + 1", "x + 1"),
    ("\u4f60\u597d \u4e16\u754c\u3002", "\u4f60\u597d\u4e16\u754c"),
    ("\u2665\ufe0f \u2605", "\u2665 \u2605"),
    ("?!", " ?! "),
]
DIFFERENT = [
    ("x + 1", "x - 1"),
    ("10 - 4", "10 4"),
    ("-5", "5"),
    ("7 * 6", "7 6"),
    ("(a + b) * c", "a + b * c"),
    ("2 * (3 + 4)", "2 * 3 + 4"),
    ("3.5", "35"),
    (".5", "5"),
    ("3:4", "3 4"),
    ("12", "1 2"),
    ("1/2", "12"),
    ("3\u00b2", "32"),
    ("5!", "5"),
    ("50%", "50"),
    ("f'(x)", "f(x)"),
    ("x < y", "x > y"),
    ("C# or C", "C or C"),
    ("a \u2192 b", "a \u2190 b"),
    ("now here", "nowhere"),
    ("?!", "!?"),
    ("\u2665", "\u2605"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_two_ways_of_writing_one_text(one, other):
    assert rule(one, other) == rule(other, one) == "exact"


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_digits_and_operators_are_content(one, other):
    assert rule(one, other) is None
    assert rule(other, one) is None


@given(st.text(max_size=60))
@settings(max_examples=300, deadline=None)
def test_any_text_equals_itself(text):
    """A text is found in itself, however odd, and its key does not depend on spaces around it; a blank one has none."""
    key = key_of(text)
    assert key == key_of(f"  {text}\n")
    assert bool(key) == bool(text.strip()) or not key.strip()
    if key:
        assert rule(text, text) == "exact"


def test_words_of_mixed_scripts():
    assert words("GPT-4\u306f\u4f55\u3067\u3059\u304b? It's 3.5%") == [
        "gpt",
        "4",
        *"\u306f\u4f55\u3067\u3059\u304b",
        "its",
        "3\ua78f5",
        "%",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (FERRY, "exact"),
        (f"{HERONS} {FERRY} {HERONS}", "ngram"),
        (" ".join(FERRY.split()[:20]), "ngram"),
        ("\n".join(FERRY.upper().split()), "exact"),
        (replaced(FERRY, {20: "isle"}), "near_duplicate"),
        (replaced(FERRY, {12: "half", 30: "sails"}), "near_duplicate"),
        (f"{HERONS} {replaced(FERRY, {20: 'isle'})} {HERONS}", "near_duplicate"),
        (replaced(FERRY, dict.fromkeys(range(2, 36, 4), "other")), "reworded"),
        (HERONS, None),
        (" ".join(sorted(FERRY.split())), "reworded"),
    ],
    ids=["copy", "inside", "piece", "lines", "a word", "two words", "a word inside", "many words", "other", "shuffled"],
)
def test_first_rule_that_hits(text, expected):
    assert rule(text, [HERONS[:20], FERRY]) == expected
    assert rule(text, [HERONS[:20], FERRY], reworded=False) == (None if expected == "reworded" else expected)


def test_share_is_the_share_of_n_grams():
    """27 words have 20 8-grams; a change of the fourth word from the end leaves 16, which is 0.8 and a hit."""
    text = " ".join(f"w{'abcdefghijklmnopqrstuvwxyz'[i % 26]}{'xy'[i // 26]}" for i in range(27))
    kept = wai.decontaminate(rows_of(replaced(text, {23: "changed"})), [text])
    assert [(hit.rule, hit.score) for hit in kept.hits] == [("ngram", 0.8)]
    assert rule(replaced(text, {22: "changed"}), text) == "near_duplicate"
    assert rule(replaced(text, {23: "changed"}), text, threshold=1) is None
    assert rule(text, text, threshold=1) == "exact"


@pytest.mark.parametrize(
    ("one", "other"),
    [("ninety {}", "7 8"), ("{} passengers", "12 13"), ("x {} y", "+ -"), ("{} of", "p q")],
    ids=["number", "two digits", "operator", "letter"],
)
def test_a_swapped_number_or_symbol_is_another_question(one, other):
    first, second = other.split()
    text = FERRY.replace("ninety", one)
    assert rule(text.format(first), text.format(second)) is None
    assert rule(text.format("sixty"), text.format("some")) in ("ngram", "near_duplicate")


def test_number_written_in_words_is_found():
    assert rule(FERRY.replace("ninety", "90"), FERRY) == "ngram"
    assert rule(FERRY.replace("third", "3rd"), FERRY) == "near_duplicate"


UNSPACED = {
    "Chinese": "\u6e21\u8239\u8f7d\u7740\u4e58\u5ba2\u79bb\u5f00\u6e2f\u53e3\u5728\u7b2c\u4e00\u4e2a\u5c9b\u653e\u4e0b"
    "\u4e09\u5206\u4e4b\u4e00\u7684\u4eba\u7136\u540e\u5728\u5929\u9ed1\u4e4b\u524d\u56de\u5230\u539f\u6765\u7684"
    "\u5730\u65b9",
    "Khmer": "\u1791\u17bc\u1780\u178a\u1780\u17a2\u17d2\u1793\u1780\u178a\u17c6\u178e\u17be\u179a\u1785\u17b6\u1780"
    "\u1785\u17c1\u1789\u1796\u17b8\u1780\u17c6\u1796\u1784\u17cb\u1795\u17c2\u1793\u17b8\u1796\u17c1\u179b\u1796"
    "\u17d2\u179a\u17b9\u1780\u17a0\u17be\u1799\u178f\u17d2\u179a\u17a1\u1794\u17cb\u1798\u1780\u179c\u17b7\u1789",
}


@pytest.mark.parametrize("text", UNSPACED.values(), ids=UNSPACED)
def test_scripts_without_spaces(text):
    """An n-gram is of characters there, and the same one whatever script stands around it."""
    assert rule(f"{HERONS} {text} {HERONS}", text) == "ngram"
    assert rule(text, f"{HERONS} {text} {HERONS}") == "ngram"
    assert rule(text[: len(text) // 2], text[len(text) // 2 :]) is None
    kept = wai.decontaminate(rows_of(text[::-1]), [text])
    assert kept.report.n_too_short == 0


FORMULAS = [
    pattern.format(a, b, c)
    for pattern in ("({} \u2192 {}) \u2227 \u00ac{}", "({} \u2228 {}) \u2194 {}")
    for a, b, c in itertools.permutations("PQRS", 3)
]
TABLE = (
    "Construct a complete truth table for the following formula of propositional logic and say whether it is a "
    "tautology, a contradiction or neither of them: {}"
)
STORY = "You are a careful writer. Think first, keep to simple words and give one paragraph, no list, about {}."
SUBJECTS = ["the long winter", "harbour cats", "an honest thief", "bread", "two moons", "my aunt's violin"]


@pytest.mark.parametrize("n_against", [1, 3, 24])
def test_items_of_one_template_stay(n_against):
    texts = [TABLE.format(formula) for formula in FORMULAS]
    kept = wai.decontaminate(rows_of(*texts[n_against:]), texts[:n_against])
    assert kept.dropped == []
    assert wai.decontaminate(rows_of(*texts), texts) == []


def test_boilerplate_alone_is_no_hit():
    texts = [TABLE.format(formula) for formula in FORMULAS]
    assert rule(TABLE.format(""), texts) is None
    assert rule(STORY.format("tall ships"), [STORY.format(subject) for subject in SUBJECTS]) is None


def test_copy_of_one_item_of_a_template_is_found_by_its_item():
    texts = [STORY.format(subject) for subject in SUBJECTS]
    kept = wai.decontaminate(rows_of(f"{HERONS} {texts[2]} {HERONS}"), texts)
    assert [(hit.rule, hit.against) for hit in kept.hits] == [("ngram", 2)]


def test_list_dropped_and_hits():
    rows = [{"prompt": prompt, "final_text": str(i)} for i, prompt in enumerate([HERONS, FERRY, HERONS, FERRY])]
    before = json.dumps(rows)
    kept = wai.decontaminate(rows, [{"task_id": 7, "prompt": "Unrelated?"}, {"task_id": 9, "prompt": FERRY}])
    assert isinstance(kept, list)
    assert all(mine is theirs for mine, theirs in zip(kept, [rows[0], rows[2]], strict=True))
    assert all(mine is theirs for mine, theirs in zip(kept.dropped, [rows[1], rows[3]], strict=True))
    assert [(hit.row, hit.against, hit.task, hit.rule, hit.score) for hit in kept.hits] == [
        (1, 1, "9", "exact", 1.0),
        (3, 1, "9", "exact", 1.0),
    ]
    assert kept.hits[0].span.startswith("a ferry leaves the harbour")
    assert max(len(hit.span) for hit in kept.hits) <= 80
    assert json.dumps(rows) == before
    again = pickle.loads(pickle.dumps(kept))
    assert (again, again.dropped, again.report.to_dict()) == (kept, kept.dropped, kept.report.to_dict())


def test_counts_do_not_depend_on_the_order():
    draw = random.Random(3)
    texts = [FERRY, HERONS, replaced(FERRY, {20: "isle"}), f"{HERONS} {FERRY}", "Short?", "Other words are here."] * 3
    expected = wai.decontaminate(rows_of(*texts), [FERRY, "short"]).report.to_dict()
    for _ in range(5):
        draw.shuffle(texts)
        report = wai.decontaminate(rows_of(*texts), ["short", FERRY]).report.to_dict()
        assert {**report, "hits": None} == {**expected, "hits": None}


def test_printed_form():
    questions = ["What is 2 + 3?", "What is 7 * 6?", "What is 10 - 4?", "What is 9 / 3?"]
    report = wai.decontaminate(rows_of(*[q for q in questions for _ in range(4)]), ["What is 2 + 3?"]).report
    assert str(report) == (
        "dropped 4 of 16 rows: 1 of 4 prompts is in the set checked against (1 text)\n"
        "  exact 4 rows | n-gram containment 0 rows | near-duplicate 0 rows | embedding not run\n"
        "note too_short: 3 prompts under 8 words, no n-gram checked on 12 rows. Lower n= or pass embed=."
    )
    assert (report.exact, report.ngram, report.near_duplicate, report.embedding) == (4, 0, 0, None)
    assert (report.n_prompts, report.n_prompts_hit, report.n_against, report.n_too_short) == (4, 1, 1, 12)
    json.dumps(report.to_dict(), allow_nan=False)


def test_partial_hits_print_what_they_go_by():
    printed = str(wai.decontaminate(rows_of(f"{HERONS} {FERRY}"), [FERRY]))
    assert "a ferry leaves the harbour" in printed
    assert printed.isascii()
    assert max(map(len, printed.splitlines())) <= 100


def codes(rows, against, **options):
    return [note.code for note in wai.decontaminate(rows, against, **options).report.notes]


@pytest.mark.parametrize(
    ("rows", "against", "expected"),
    [
        (rows_of(FERRY), [HERONS], []),
        (rows_of(FERRY), [], ["empty_against"]),
        (rows_of(FERRY), [" "], ["empty_against"]),
        ([], [FERRY], ["no_rows"]),
        ([*rows_of(HERONS), {"final_text": "x"}], [FERRY], ["missing_field"]),
        ([*rows_of(HERONS), {"prompt": None}, {"prompt": 5}], [FERRY], ["missing_field"]),
        (rows_of(HERONS, "Two words"), [FERRY], ["too_short"]),
        (rows_of(HERONS), [FERRY, "Two words"], ["short_against"]),
        (rows_of(HERONS), [FERRY, {"final_text": "x"}], ["missing_against"]),
    ],
    ids=str,
)
def test_what_was_not_checked_is_noted(rows, against, expected):
    assert codes(rows, against) == expected


def test_short_texts_are_checked_with_a_lower_n():
    assert rule("Say it: what is two plus three?", "What is two plus three?") is None
    assert rule("Say it: what is two plus three?", "What is two plus three?", n=3) == "ngram"


def test_fields():
    rows = [{"prompt": HERONS, "info": {"source": FERRY}}]
    assert wai.decontaminate(rows, [FERRY]) == rows
    assert wai.decontaminate(rows, [FERRY], fields="info.source") == []
    assert wai.decontaminate(rows, [{"prompt": FERRY}], fields=["prompt", "info.source"]) == []


def chat(*turns):
    return [{"role": role, "content": content} for role, content in turns]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"prompt": chat(("system", "Be brief."), ("user", FERRY))}, "exact"),
        ({"messages": chat(("user", FERRY), ("assistant", "Ninety."))}, "exact"),
        ({"messages": chat(("user", [{"type": "text", "text": FERRY}]))}, "exact"),
        ({"messages": chat(("user", FERRY), ("assistant", "Ninety."), ("user", HERONS))}, "ngram"),
        ({"messages": chat(("system", FERRY), ("user", HERONS))}, None),
    ],
    ids=["prompt", "messages", "blocks", "two turns", "system"],
)
def test_of_messages_what_the_user_says(row, expected):
    kept = wai.decontaminate([row], [{"messages": chat(("system", "Be brief."), ("user", FERRY))}])
    assert [hit.rule for hit in kept.hits] == ([expected] if expected else [])


def test_embedding_sees_each_text_once():
    seen = []

    def embed(texts):
        seen.extend(texts)
        return [
            [1.0, 0, 0] if "boat" in text.lower() else [0, 1, 0] if text == FERRY else [0, 0, 1e-200] for text in texts
        ]

    rows = rows_of("Which boat is fastest?", FERRY, "What is fog?", "What is fog?", HERONS, "which boat is fastest")
    kept = wai.decontaminate(rows, ["Name the quickest boat.", FERRY], embed=embed)
    assert sorted(seen) == sorted(["Name the quickest boat.", FERRY, "Which boat is fastest?", "What is fog?", HERONS])
    assert kept.report.embedding == 3
    assert kept.report.exact == 1
    assert [hit.row for hit in kept.hits] == [0, 1, 4, 5]
    assert "embedding 3 rows" in str(kept)


BAD_VECTORS = {
    "one": lambda texts: [[1.0, 0.0]],
    "none": lambda texts: None,
    "flat": lambda texts: [1.0] * len(texts),
    "ragged": lambda texts: [[1.0] * (i + 1) for i in range(len(texts))],
    "text": lambda texts: [["a", "b"]] * len(texts),
    "empty": lambda texts: [[]] * len(texts),
    "nan": lambda texts: [[1.0, float("nan")]] * len(texts),
    "infinite": lambda texts: [[1.0, float("inf")]] * len(texts),
    "zero": lambda texts: [[0.0, 0.0]] * len(texts),
}


@pytest.mark.parametrize("embed", [*BAD_VECTORS.values(), 5], ids=[*BAD_VECTORS, "no function"])
def test_bad_embedding(embed):
    with pytest.raises(wai.ParamError, match=r"^decontaminate: embed must be "):
        wai.decontaminate(rows_of("one", "two"), ["three"], embed=embed)


def test_error_of_the_embedding_is_not_swallowed():
    def embed(texts):
        raise ConnectionError("no answer")

    with pytest.raises(ConnectionError, match="no answer"):
        wai.decontaminate(rows_of("one"), ["two"], embed=embed)


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"fields": "promt"}, ["fields", "'promt'", "prompt"]),
        ({"fields": ("prompt", "anwser")}, ["fields", "'anwser'"]),
        ({"fields": ()}, ["fields", "()"]),
        ({"fields": 5}, ["fields", "5"]),
        ({"n": 0}, ["n must be", "0"]),
        ({"n": 2.5}, ["n must be", "2.5"]),
        ({"n": True}, ["n must be", "True"]),
        ({"threshold": 0}, ["threshold", "0"]),
        ({"threshold": 1.5}, ["threshold", "1.5"]),
        ({"threshold": float("nan")}, ["threshold", "nan"]),
    ],
    ids=str,
)
def test_argument_outside_its_bound(options, parts):
    with pytest.raises(wai.ParamError, match=r"^decontaminate: ") as error:
        wai.decontaminate(rows_of(FERRY), [FERRY], **options)
    assert all(part in str(error.value) for part in parts)


def test_eval_without_the_field_is_an_error():
    with pytest.raises(wai.ParamError, match=r"fields must be .*'prompt'.*question"):
        wai.decontaminate(rows_of(FERRY), [{"question": FERRY}])


@pytest.mark.parametrize("against", [[5], [None], [["a"]], [HERONS, b"x"], 5, {"prompt": "x"}], ids=repr)
def test_no_data_to_check_against(against):
    with pytest.raises(TypeError, match=r"decontaminate: against .*list"):
        wai.decontaminate(rows_of(FERRY), against)


def test_path_of_the_eval(tmp_path):
    path = tmp_path / "eval.jsonl"
    path.write_text(json.dumps({"prompt": FERRY}) + "\n", encoding="utf-8")
    assert wai.decontaminate(rows_of(FERRY, HERONS), str(path)) == rows_of(HERONS)
    with pytest.raises(FileNotFoundError):
        wai.decontaminate(rows_of(FERRY), "no such file")


def test_same_rows_in_many_batches(monkeypatch):
    """How the texts are cut into batches changes nothing."""
    from whileai.selection import shingles

    texts = [f"{HERONS} {word} {FERRY}" for word in ("so", "then", "but")] + [replaced(FERRY, {20: "isle"}), HERONS]
    expected = wai.decontaminate(rows_of(*texts), [FERRY]).report
    whole = shingles.batches
    monkeypatch.setattr(shingles, "batches", lambda keys, vocabulary: whole(keys, vocabulary, size=1))
    report = wai.decontaminate(rows_of(*texts), [FERRY]).report
    assert report.to_dict() == expected.to_dict()
    assert (report.ngram, report.near_duplicate) == (3, 1)


@pytest.fixture(scope="module")
def questions():
    path = DATA / "gsm8k" / "test.jsonl"
    if not path.exists():
        pytest.skip(f"the GSM8K test questions are not at {path}; set WHILEAI_DATA to the folder that holds gsm8k/")
    return [json.loads(line)["question"] for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.data
def test_real_questions(questions):
    """Real questions are found in themselves and in other wrapping, and one half holds none of the other."""
    assert wai.decontaminate(rows_of(*questions), questions) == []
    wrapped = [f"{one} {other}" for one, other in zip(questions, reversed(questions), strict=True)]
    assert wai.decontaminate(rows_of(*wrapped), questions) == []
    assert wai.decontaminate(rows_of(*questions[:600]), questions[600:], reworded=False).dropped == []
    assert len(wai.decontaminate(rows_of(*questions[:600]), questions[600:]).dropped) <= 6
