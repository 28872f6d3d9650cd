"""`decontaminate(engine="ray")`: the local answer, on a Ray of two workers on this machine."""

from __future__ import annotations

import importlib.util
import random
import sys
import threading

import pytest

import whileai as wai
from whileai.selection.checker import Checker, Options, joined
from whileai.selection.texts import Texts

RAY = importlib.util.find_spec("ray") is not None
needs_ray = pytest.mark.skipif(not RAY, reason="Ray is not installed: pip install 'whileai[ray]'")
#: Ray's own settings object warns of its own defaults.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:ray.data.context")

EVAL = [
    {
        "task_id": "oil",
        "prompt": "A lighthouse keeper burns 14 litres of oil each night. How much oil is it in June?",
    },
    {
        "task_id": "rolls",
        "prompt": "A baker fills 35 trays with 12 rolls each, a third of the rolls burn as the oven is too hot, and "
        "the dog of the house eats two more. How many rolls can the baker sell in the morning?",
    },
    {"task_id": "short", "prompt": "Why?"},
]


def rows():
    """Every rule's hits between other texts, some of them on several rows, so that batches share them."""
    draw = random.Random(4)
    oil, rolls = EVAL[0]["prompt"], EVAL[1]["prompt"]
    hits = [
        oil.upper(),
        f"Think about the question below before you reply to it. {oil} Then say it.",
        rolls.replace("oven", "stove"),
        "In June oil is burnt by the keeper of a lighthouse, 14 litres nightly. What amount of oil in all?",
        "why",
        "How come?",
    ]
    others = [" ".join(f"{draw.choice('bcdfg')}{draw.choice('aeiou')}{i % 60}x" for i in range(14)) for _ in range(60)]
    prompts = [*others, *hits * 3, "short one", "short one", ""]
    draw.shuffle(prompts)
    return [{"prompt": prompt, "n": n} for n, prompt in enumerate(prompts)] + [{"n": -1}]


def meaning(texts):
    return [[1.0, 0.0] if text.lower().startswith(("why", "how come")) else [0.0, 1.0 + len(text)] for text in texts]


OPTIONS = {"rules": {}, "embed": {"embed": meaning}, "fields": {"fields": ("prompt", "n")}}


@pytest.fixture(scope="module")
def cluster():
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield ray
    ray.shutdown()


def same(one, other):
    return (one, one.dropped, one.hits, one.report.to_dict()) == (
        other,
        other.dropped,
        other.hits,
        other.report.to_dict(),
    )


@needs_ray
@pytest.mark.parametrize("name", OPTIONS)
def test_the_local_answer(cluster, name):
    options = OPTIONS[name]
    local = wai.decontaminate(rows(), EVAL, **options)
    rules = {hit.rule for hit in local.hits}
    assert rules >= {"exact", "ngram", "near_duplicate", "reworded"} | ({"embedding"} if name == "embed" else set())
    assert same(wai.decontaminate(rows(), EVAL, engine="ray", **options), local)


@needs_ray
def test_a_ray_dataset(cluster):
    data = [row for row in rows() if "prompt" in row]
    dataset = cluster.data.from_items(data, override_num_blocks=5)
    assert same(wai.decontaminate(dataset, EVAL, engine="ray"), wai.decontaminate(data, EVAL))


@needs_ray
@pytest.mark.parametrize(("data", "against"), [([], EVAL), (rows(), [])], ids=["no rows", "no eval"])
def test_nothing_to_check(cluster, data, against):
    kept = wai.decontaminate(data, against, engine="ray")
    assert same(kept, wai.decontaminate(data, against))


@needs_ray
def test_an_error_of_the_embedding_comes_home(cluster):
    def offline(texts):
        if "Why?" in texts:
            return [[1.0, 0.0]] * len(texts)
        raise ConnectionError("no answer")

    with pytest.raises(ConnectionError, match="no answer"):
        wai.decontaminate(rows(), EVAL, embed=offline, engine="ray")
    with pytest.raises(wai.ParamError, match=r"^decontaminate: embed must be a function that returns"):
        wai.decontaminate(
            rows(), EVAL, embed=lambda texts: [[1.0, 0.0]] * (len(texts) if "Why?" in texts else 1), engine="ray"
        )


@needs_ray
def test_an_embedding_that_cannot_travel_is_named(cluster):
    lock = threading.Lock()

    def embed(texts):
        with lock:
            return meaning(texts)

    with pytest.raises(wai.ParamError, match=r"^decontaminate: embed must be a function that can be sent"):
        wai.decontaminate(rows(), EVAL, embed=embed, engine="ray")


@pytest.mark.parametrize("engine", ["Ray", "spark", 5], ids=repr)
def test_another_engine(engine):
    with pytest.raises(wai.ParamError, match=r"^decontaminate: engine must be None or 'ray'"):
        wai.decontaminate([], [], engine=engine)


def test_without_ray(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray.data", None)
    with pytest.raises(wai.MissingExtra, match=r"whileai\[ray\]"):
        wai.decontaminate(rows(), EVAL, engine="ray")


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_parts_join_to_the_whole(size):
    """What workers find on parts of the rows is what is found on all of them at once."""
    other = Texts()
    for row in EVAL:
        other.add([row["prompt"]])
    texts = [[row["prompt"]] if row.get("prompt") else [] for row in rows()]
    checker = Checker(other, Options(8, 0.8, 0.3, meaning), [])
    whole = checker.check(texts).for_the_road()
    parts = [checker.check(texts[start : start + size]).for_the_road() for start in range(0, len(texts), size)]
    assert joined(parts) == whole
    assert whole.matches
