"""`wai.decontaminate` on rewordings: found in any language, other questions stay, the score is what it says."""

import json
import math
import os
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import whileai as wai
from cli_helpers import printed, run
from whileai.selection import rewording, shingles
from whileai.selection.overlap import Finder
from whileai.selection.rewording import other_marks
from whileai.selection.words import key_of, stem

DATA = Path(os.environ.get("WHILEAI_DATA", Path(__file__).resolve().parents[4] / "shared" / "data"))

#: Questions of one kind in each language, each followed by itself in other words; a blank line between texts.
QUESTIONS = {
    "English": """
A lighthouse keeper burns 14 litres of oil each night and orders new barrels of 60 litres every month. How many barrels
does the keeper order in June?

Every month barrels holding 60 litres are ordered by the keeper of a lighthouse, who uses up 14 litres of oil nightly.
What number of barrels is ordered for June?

Ottilie knits 9 scarves in a week and sells each scarf at the harbour fair for 22 crowns. How much does Ottilie earn in
5 weeks?

At the fair by the harbour a scarf knitted by Ottilie brings 22 crowns. What are the earnings after 5 weeks if she knits
9 scarves weekly?

A baker fills 35 trays with 12 rolls each, and a third of the rolls burn because the oven is too hot. How many rolls can
the baker sell?

Because of an oven that ran too hot one third of all the rolls burnt. The baker had 35 trays, 12 rolls on each. What
number of rolls is left for selling?

Two glaciers retreat 18 metres a year, and a survey post stands 450 metres below the ice. After how many years is the
post 900 metres away?

A post for surveying is 450 metres below the ice of two glaciers that each retreat by 18 metres yearly. When will it be
at a distance of 900 metres?
""",
    "German": """
Ein Imker hat 24 Bienenstöcke und erntet aus jedem im Sommer 15 Kilo Honig. Wie viele Gläser zu 500 Gramm kann der Imker
füllen?

Aus 24 Bienenstöcken holt ein Imker im Sommer je 15 Kilo Honig. Welche Zahl an Gläsern mit 500 Gramm wird damit gefüllt?

Die Försterin pflanzt jeden Tag 40 Fichten und 25 Buchen, aber Rehe fressen jede fünfte Pflanze. Wie viele Bäume stehen
nach 6 Tagen im Wald?

Jede fünfte Pflanze wird von Rehen gefressen, während eine Försterin am Tag 25 Buchen sowie 40 Fichten pflanzt. Was ist
nach 6 Tagen an Bäumen im Wald übrig?

Eine Orgel hat 3 Manuale mit je 56 Tasten und ein Pedal mit 30 Tasten. Wie viele Tasten muss der Stimmer prüfen, wenn er
die Hälfte schafft?

Der Stimmer prüft nur die Hälfte der Tasten einer Orgel, deren Pedal 30 Tasten und deren 3 Manuale jeweils 56 Tasten
zählen. Wie viele sind das?

Im Hafen liegen 7 Kutter, und jeder bringt am Morgen 120 Kisten Heringe. Wie viele Kisten bleiben, wenn der Händler 500
davon kauft?

Ein Händler kauft 500 Kisten Heringe. Am Morgen brachten 7 Kutter im Hafen je 120 Kisten. Was ist noch da?
""",
    "Russian": """
Пасечник собрал 90 килограммов мёда и разлил весь мёд по стеклянным банкам, по 3 килограмма в каждую. Сколько стеклянных
банок нужно пасечнику?

Весь собранный мёд, а это 90 килограммов, разлит пасечником в стеклянные банки, в каждой 3 килограмма. Каково число
банок?

Паровоз тянет 16 вагонов с углём через горы, и в каждом вагоне лежит 40 тонн угля. Сколько тонн угля везёт паровоз?

В вагоне лежит 40 тонн угля, а вагонов у паровоза, который идёт через горы, всего 16. Каков общий груз угля?

Библиотекарь расставил 720 книг на 12 полках и на каждую полку положил каталог. Сколько книг стоит на одной полке?

На 12 полках, где лежит и каталог, библиотекарем расставлено 720 книг. Какое число книг приходится на полку?
""",
    "Chinese": """
养蜂人有二十四个蜂箱，夏天每个蜂箱收十五公斤蜂蜜，他一共能装满多少个玻璃瓶？

夏天二十四个蜂箱各收蜂蜜十五公斤，请问养蜂人总共装满几个玻璃瓶？

港口停着七艘渔船，每天早晨各运来一百二十箱鲱鱼，商人买走五百箱后还剩多少箱？

商人买走五百箱鲱鱼，而早晨港口的七艘渔船各运来一百二十箱，剩下几箱？
""",
    "Korean": """
농부는 사과나무 열여덟 그루를 심었고 나무마다 사과가 예순 개씩 열렸다. 농부가 시장에서 판 사과는 모두 몇 개인가?

나무마다 예순 개씩 사과가 열린 사과나무 열여덟 그루를 농부가 심었다. 시장에서 팔린 사과의 수를 구하여라.

도서관 사서는 월요일에 그림책 서른 권을 빌려주고 수요일에 돌려받았다. 아직 돌아오지 않은 그림책은 몇 권인가?

월요일 도서관에서 사서가 빌려준 그림책은 서른 권이고 수요일에 일부를 돌려받았다. 돌아오지 않은 그림책의 수는?
""",
}


def pairs_of(language):
    """Question and rewording, in turn."""
    texts = [" ".join(text.split()) for text in QUESTIONS[language].strip().split("\n\n")]
    return list(zip(texts[::2], texts[1::2], strict=True))


PAIRS = {language: pairs_of(language) for language in QUESTIONS}


def rows_of(*prompts):
    return [{"prompt": prompt} for prompt in prompts]


@pytest.mark.parametrize("language", PAIRS)
def test_rewordings_in_any_language(language):
    """Each is found as its own question, whether the eval is in one language or in all."""
    questions = [question for question, _ in PAIRS[language]]
    rewordings = [other for _, other in PAIRS[language]]
    everything = [question for pairs in PAIRS.values() for question, _ in pairs]
    for against in (questions, everything):
        hits = wai.decontaminate(rows_of(*rewordings), against).hits
        assert [(hit.row, hit.rule, against[hit.against]) for hit in hits] == [
            (place, "reworded", question) for place, question in enumerate(questions)
        ]
    for place, question in enumerate(questions):
        others = [other for i, other in enumerate(rewordings) if i != place]
        assert wai.decontaminate(rows_of(*others), [question]).dropped == []


def test_a_hit_shows_the_text_it_matches():
    (question, other), *_ = PAIRS["English"]
    kept = wai.decontaminate(rows_of(other), [{"task_id": "oil", "prompt": question}])
    (hit,) = kept.hits
    assert (hit.task, hit.rule, kept.report.reworded, kept.report.reworded_threshold) == ("oil", "reworded", 1, 0.3)
    assert hit.span == "A lighthouse keeper burns 14 litres of oil each night and orders new barrels..."
    assert "reworded 1 row | embedding not run" in str(kept)


@pytest.mark.parametrize(
    ("old", "new"), [("14 litres", "15 litres"), ("60 litres", "70 litres"), ("14 litres of oil", "60 litres of oil")]
)
def test_a_rewording_with_another_number_is_another_question(old, new):
    (question, other), *_ = PAIRS["English"]
    assert old in other
    assert wai.decontaminate(rows_of(other.replace(old, new)), [question]).dropped == []


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("3 of 4 pay 50", "50 is paid by three of 4", False),
        ("3 of 4 pay 50", "50 is paid by 3 of 5", False),
        ("3 of 4 pay 50", "50 is paid by 2 of 5", True),
        ("3 of 4 pay", "paid by 3 of 5", True),
        ("3 of 4 pay", "paid by some", False),
        ("vitamin c in fruit", "vitamin d in fruit", True),
        ("vitamin c in fruit", "in a fruit some vitamin c", False),
        ("if x + y is even", "an even x - y", True),
        ("if x + y is even", "an even x + y", False),
        ("3 of 4 pay 50 for 7 or 8", "3 of 4 pay 50 for 7 or 9", True),
        ("", "7", False),
    ],
)
def test_other_marks(first, second, expected):
    first, second = key_of(first).split(), key_of(second).split()
    assert other_marks(first, second) == other_marks(second, first) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("knitted", "knit"),
        ("fair", "fair"),
        ("at", "at"),
        ("12345", "12345"),
        ("b2b42", "b2b42"),
        ("\u043f\u0430\u0440\u043e\u0432\u043e\u0437", "\u043f\u0430\u0440\u043e"),
        ("\ub18d\ubd80\ub294", "\ub18d\ubd80"),
        ("\u8702", "\u8702"),
    ],
)
def test_stem(word, expected):
    assert stem(word) == expected


def zipf(draw, words):
    """A text of words that differ in their first four letters, a few of them very common."""
    numbers = (int(900 ** draw.random()) for _ in range(words))
    return " ".join("".join("bcdfghjklm"[int(digit)] for digit in f"{number:04d}") for number in numbers)


def naive_scores(texts, against):
    """Per text the nearest of the eval's and the score, by the definition, with sets; 0 where little is shared."""
    sets = [{stem(word) for word in key_of(text).split()} for text in (*texts, *against)]
    times = Counter(one for some in sets for one in some)
    weight = {one: math.log((len(sets) + 1) / n) for one, n in times.items()}

    def total(some):
        return sum(weight[one] for one in some)

    result = []
    for mine in sets[: len(texts)]:
        near = [total(mine & other) / math.sqrt(total(mine) * total(other)) for other in sets[len(texts) :]]
        best, second = sorted(near)[::-1][:2]
        nearest = near.index(best)
        enough = total(mine & sets[len(texts) + nearest]) >= 2 * math.log(len(sets) + 1)
        result.append((nearest, best - second / 2 if enough else 0))
    return result


def test_score_is_what_it_says():
    draw = random.Random(5)
    against = [zipf(draw, 20) for _ in range(16)]
    texts = [zipf(draw, 12) + " " + " ".join(draw.sample(against[i % 16].split(), 8)) for i in range(60)]
    expected = naive_scores(texts, against)
    kept = wai.decontaminate(rows_of(*texts), against, reworded=1e-9)
    assert len(kept.hits) == sum(score > 0 for _, score in expected) > 50
    for hit in kept.hits:
        assert hit.rule == "reworded"
        assert (hit.against, hit.score) == (expected[hit.row][0], pytest.approx(expected[hit.row][1], abs=1e-5))


def test_of_many_eval_texts_the_nearest_is_compared_in_full():
    """Stems on too many eval texts propose none and are counted all the same; only the next may be missed."""
    draw = random.Random(6)
    against = [zipf(draw, 30) for _ in range(700)]
    texts = [" ".join(draw.sample(text.split(), 20)) + " " + zipf(draw, 8) for text in against[:200]]
    expected = naive_scores(texts, against)
    found = {hit.row: hit for hit in wai.decontaminate(rows_of(*texts), against, reworded=0.4).hits}
    assert {row for row, (_, score) in enumerate(expected) if score >= 0.4} <= set(found)
    assert len(found) > 100
    for row, hit in found.items():
        nearest, score = expected[row]
        assert hit.against == nearest
        assert score - 1e-5 <= hit.score <= score + 0.02


def test_items_of_a_template_stay_where_most_of_few_words_agree():
    draw = random.Random(9)
    text = "You are a careful writer, so keep to simple words: one paragraph about {} and {} at the {} of {} people."

    def item():
        return text.format(
            *(draw.choice("bdfgk") + draw.choice("aeiou") + draw.choice("lmnr") + "ato" for _ in range(4))
        )

    against = [item() for _ in range(1500)]
    rows = [item() for _ in range(3000)]
    assert sum(len(set(one.split()) ^ set(other.split())) == 2 for one in rows[:50] for other in against) > 3
    assert wai.decontaminate(rows_of(*rows), against).report.reworded == 0


def test_two_eval_texts_of_one_question_share_the_score():
    (question, other), *rest = PAIRS["English"]
    one = wai.decontaminate(rows_of(other), [question, *(q for q, _ in rest)]).hits[0].score
    again = question.replace("orders new barrels", "buys fresh barrels")
    two = wai.decontaminate(rows_of(other), [question, again, *(q for q, _ in rest)], reworded=0.1).hits[0].score
    assert two < one


def test_short_texts_are_not_reworded_into_each_other():
    rows = rows_of("The capital of Norway is which city?")
    kept = wai.decontaminate(rows, ["Which city is the capital of Norway?"])
    assert kept == rows
    assert kept.report.reworded is None
    assert "reworded" not in str(kept)


@pytest.mark.parametrize(
    ("options", "run"),
    [
        ({}, True),
        ({"reworded": 0.3}, True),
        ({"reworded": False}, False),
        ({"threshold": 1}, False),
        ({"threshold": 1, "reworded": 0.3}, True),
        ({"reworded": 0.9}, None),
    ],
    ids=str,
)
def test_how_it_is_switched(options, run):
    (question, other), *_ = PAIRS["English"]
    kept = wai.decontaminate(rows_of(other), [question], **options)
    assert (len(kept.dropped), kept.report.reworded) == ((1, 1) if run else (0, 0 if run is None else None))
    assert ("reworded not run" in str(kept)) == (run is False)


@pytest.mark.parametrize("reworded", [0, 1.5, -0.1, float("nan"), "yes", None], ids=repr)
def test_bad_score(reworded):
    with pytest.raises(wai.ParamError, match=r"^decontaminate: reworded must be True, False or a number above 0"):
        wai.decontaminate(rows_of("one"), ["two"], reworded=reworded)


@pytest.mark.parametrize(
    ("flags", "options"),
    [
        ([], {}),
        (["--no-reworded"], {"reworded": False}),
        (["--reworded", "0.9"], {"reworded": 0.9}),
        (
            ["--reworded", "2"],
            "wai decontaminate: error: --reworded must be True, False or a number above 0 and at most 1",
        ),
        (["--reworded", "0.3", "--no-reworded"], "wai decontaminate: error: --reworded must be left out beside"),
        (["--engine", "spark"], "wai decontaminate: error: --engine must be None or 'ray'; got 'spark'."),
    ],
    ids=str,
)
def test_command_line(tmp_path, flags, options):
    for name, side in (("train.jsonl", 1), ("eval.jsonl", 0)):
        lines = [json.dumps({"prompt": pair[side]}) for pair in PAIRS["English"]]
        (tmp_path / name).write_text("\n".join(lines), encoding="utf-8")
    done = run("decontaminate", "train.jsonl", "--against", "eval.jsonl", *flags, cwd=tmp_path)
    if isinstance(options, str):
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(options)
    else:
        pairs = zip(*PAIRS["English"], strict=True)
        against, rows = (rows_of(*texts) for texts in pairs)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == printed(wai.decontaminate(rows, against, **options).report)


def test_order_and_batches_change_nothing(monkeypatch):
    pairs = [pair for pairs in PAIRS.values() for pair in pairs]
    rows, against = [other for _, other in pairs], [question for question, _ in pairs]
    expected = {
        rows[hit.row]: (against[hit.against], hit.score) for hit in wai.decontaminate(rows_of(*rows), against).hits
    }
    assert len(expected) == len(pairs)
    whole = shingles.batches
    monkeypatch.setattr(shingles, "batches", lambda keys, vocabulary: whole(keys, vocabulary, size=1))
    monkeypatch.setattr(rewording, "_AT_ONCE", 1)
    monkeypatch.setattr("whileai.selection.overlap._MOST_WORDS", 0)
    draw = random.Random(1)
    for _ in range(3):
        draw.shuffle(rows)
        draw.shuffle(against)
        hits = wai.decontaminate(rows_of(*rows), against).hits
        assert {rows[hit.row]: (against[hit.against], hit.score) for hit in hits} == expected


def test_weights_from_a_sample_of_many_rows(monkeypatch):
    """Of many rows some are enough to learn what is common, and which ones does not depend on the order."""
    monkeypatch.setattr("whileai.selection.texts.SAMPLE", 100)
    draw = random.Random(2)
    texts = [zipf(draw, 15) for _ in range(1000)] + [other for _, other in PAIRS["English"]]
    against = [question for question, _ in PAIRS["English"]]
    first = {texts[hit.row]: hit.score for hit in wai.decontaminate(rows_of(*texts), against).hits}
    draw.shuffle(texts)
    assert {texts[hit.row]: hit.score for hit in wai.decontaminate(rows_of(*texts), against).hits} == first
    assert len(first) == len(against)


def test_work_for_a_text_is_bounded_on_a_template():
    """A stem on many eval texts proposes none of them."""
    texts = [
        key_of(f"please think hard and then tell us in a line or two about w{i:04d} and x{i:04d}") for i in range(900)
    ]
    finder = Finder(texts, 8, 0.8, 0.3)
    index = finder.rewordings
    assert np.diff(index.postings.indptr).max() <= rewording.PROPOSING
    assert index.postings.nnz <= 3 * len(texts)


@pytest.fixture(scope="module")
def gsm8k():
    files = [DATA / "gsm8k" / "test.jsonl", DATA / "gsm8k" / "train.jsonl", DATA / "rephrased" / "rephrase_gsm8k.jsonl"]
    for path in files:
        if not path.exists():
            pytest.skip(f"{path} is missing; set WHILEAI_DATA to the folder that holds gsm8k/ and rephrased/")
    test, train, other = ([json.loads(line) for line in path.read_text("utf-8").splitlines()] for path in files)
    other = [row["text"].removeprefix("Question: ").rpartition("\nAnswer:")[0] for row in other]
    return [row["question"] for row in test], [row["question"] for row in train], other


@pytest.mark.data
@pytest.mark.parametrize("half", [slice(0, 660), slice(660, None), slice(None)], ids=["first", "second", "all"])
def test_reworded_questions_of_gsm8k(gsm8k, half):
    """At least 85% of the questions reworded by a model are found, 98% of them as what they are; of the questions that
    the same authors wrote for training at most 3% are flagged. On each half of the eval alone as well."""
    test, train, other = (
        texts[half] for texts in (gsm8k[0], gsm8k[1] if half.stop is None else gsm8k[1][:3700], gsm8k[2])
    )
    hits = wai.decontaminate(rows_of(*other, *train), test).hits
    found = [hit for hit in hits if hit.row < len(other)]
    assert len(found) >= 0.85 * len(other)
    assert sum(hit.row == hit.against for hit in found) >= 0.98 * len(found)
    assert len(hits) - len(found) <= 0.03 * len(train)
