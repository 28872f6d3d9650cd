"""The model writer: every prompt is checked, asked for once more, else the template's stands."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace

import pytest

from engine_tools import ALL, PROMPT
from whileai.engine.endpoint_error import EndpointError
from whileai.engine.plan import Plan
from whileai.engine.reply import Reply, Usage
from whileai.engine.writer import Writer, required_ids

FILLER = [
    "north",
    "south",
    "east",
    "west",
    "spring",
    "summer",
    "autumn",
    "winter",
    "red",
    "green",
    "blue",
    "amber",
    "violet",
    "silver",
    "copper",
    "granite",
]


def plan(**options):
    return Plan(ALL, PROMPT, spoken=True, **options)


def good(point, salt=0):
    """A prompt that no check minds: its ids, what is wanted, and words that no other has in that order."""
    i = point["i"] + 1000 * salt
    words = [FILLER[(i * 7 + k * (i + 3)) % len(FILLER)] for k in range(12)]
    return f"{' '.join(words)}: {point['wants']} {' '.join(point['must_contain'])}"


class WriterModel:
    """Writes by a function from (the people asked for, how often it was asked) to items."""

    model = "pen-1"

    def __init__(self, write=lambda people, turn: [{"i": p["i"], "prompt": good(p)} for p in people]):
        self.write = write
        self.asked = []
        self.shared = SimpleNamespace(form=1)

    async def chat(self, messages, tools=None, *, response_format=None, tool_choice=None):
        people = json.loads(messages[1]["content"])["people"]
        self.asked.append(people)
        self.last = messages
        items = self.write(people, len(self.asked))
        if isinstance(items, Exception):
            raise items
        text = items if isinstance(items, str) else json.dumps({"prompts": items})
        return Reply(text, usage=Usage(100, 50, 0, 1))


def take(n, model, base=None, **options):
    writer = Writer(base or plan(), model, **options)
    return asyncio.run(writer.take(n)), writer


def test_prompts_of_the_model_take_the_place_of_the_templates():
    model = WriterModel()
    made, writer = take(16, model)
    planned = plan().take(16)
    assert [s.writer for s in made] == ["pen-1"] * 16
    assert [len(people) for people in model.asked] == [8, 8]
    assert (writer.n_fallen_back, writer.notes, writer.usage.requests) == (0, (), 2)
    for before, after in zip(planned, made, strict=True):
        assert after.public.prompt != before.public.prompt
        assert after.task_id != before.task_id
        assert (after.axes, after.faults, after.world_seed) == (before.axes, before.faults, before.world_seed)
        assert set(before.brief.told) & set(before.brief.kinds) <= set(after.brief.told)


def test_what_the_model_is_told_holds_nothing_hidden():
    model = WriterModel()
    base = plan()
    take(24, model, base)
    for people in model.asked:
        text = json.dumps(people)
        for point in people:
            situation = base.situation(point["i"])
            assert situation.reference not in text
            assert str(situation.world_seed) not in text
            assert situation.task_id not in text
            for name in ("stance", "state", "history"):
                assert "_" not in situation.axes[name] or situation.axes[name] not in text


def spoil(change):
    """A writer whose every second item is spoilt."""
    return lambda people, turn: [{"i": p["i"], "prompt": change(p) if k % 2 else good(p)} for k, p in enumerate(people)]


SPOILT = {
    "too short": lambda p: "Do it.",
    "too long": lambda p: good(p) + " x" * 700,
    "no text": lambda p: None,
    "an id of its own": lambda p: good(p) + " and order ORD-0000001",
    "a label": lambda p: good(p) + " as I am already_done with it",
    "its id missing": lambda p: " ".join(FILLER[::-1]) if p["must_contain"] else None,
}


@pytest.mark.parametrize("change", SPOILT.values(), ids=SPOILT)
def test_a_spoilt_prompt_is_asked_for_once_more_then_the_template_stands(change):
    model = WriterModel(spoil(change))
    made, writer = take(8, model)
    templates = plan().take(8)
    assert len(model.asked) == 2
    assert [p["i"] for p in model.asked[1]] == [1, 3, 5, 7]
    assert all("not usable" in p["last_time"] for p in model.asked[1])
    # asked again for four, every second of them is spoilt again
    assert [s.writer for s in made] == ["pen-1", "pen-1", "pen-1", "template", "pen-1", "pen-1", "pen-1", "template"]
    assert made[3] == templates[3]
    assert writer.n_fallen_back == 2
    assert [note.code for note in writer.notes] == ["template_prompts"]


def test_what_only_a_judge_may_know_is_not_taken():
    base = plan()
    writer = Writer(base, WriterModel())
    claimed = 0
    for situation in base.take(120):
        ids = " ".join(required_ids(situation))
        point = {"i": situation.index, "wants": situation.brief.goal, "must_contain": required_ids(situation)}
        assert writer.problem(situation, good(point)) == ""
        told = f"{ids} {situation.reference}"
        if len(situation.reference.split(";")[0].split()) > 8:
            assert writer.problem(situation, told) == "it says what only a judge may know"
        records = situation.records(base.catalog)
        if situation.state == "conflicting" and records.claim is not None:
            kind = records.claim_kind
            true = str(records.record(kind, records.target_place(kind))[records.claim[0]])
            if len(true) > 5 and true not in str(records.claim[1]):
                claimed += 1
                assert "only a judge" in writer.problem(situation, f"{good(point)}, I mean {true}")
    assert claimed


def test_a_near_copy_is_not_taken():
    copies = lambda people, turn: [{"i": p["i"], "prompt": f"{' '.join(FILLER)} {p['i']}!"} for p in people]  # noqa: E731
    beyond = {"tool": "none"}
    made, writer = take(8, WriterModel(copies), plan(axes=beyond))
    assert [s.writer for s in made] == ["pen-1"] + ["template"] * 7
    assert set(writer.problems) == {"it is a near copy of another one"}
    traces = [{"prompt": good({"i": 2, "wants": plan(axes=beyond).situation(2).brief.goal, "must_contain": []})}]
    wants = lambda p: {**p, "wants": p["wants"].removesuffix(" (which none of the tools does)")}  # noqa: E731
    model = WriterModel(lambda people, turn: [{"i": p["i"], "prompt": good(wants(p))} for p in people])
    made, _ = take(8, model, plan(axes=beyond, traces=traces))
    assert [s.index for s in made if s.writer == "template"] == [2]


def test_places_that_were_not_asked_for_are_passed_over():
    def write(people, turn):
        items = [{"i": p["i"], "prompt": good(p)} for p in people]
        return [
            {"i": 999, "prompt": "x" * 50},
            {"i": True, "prompt": "y" * 50},
            "z",
            *items,
            {**items[0], "prompt": "w" * 50},
        ]

    made, writer = take(8, WriterModel(write))
    assert [s.writer for s in made] == ["pen-1"] * 8
    assert not writer.problems


@pytest.mark.parametrize(
    "answer", ["no JSON", "{}", '{"prompts": 3}', EndpointError("server_error", "x"), TimeoutError()]
)
def test_an_answer_that_holds_no_prompts_leaves_the_templates(answer):
    made, writer = take(8, WriterModel(lambda people, turn: answer))
    assert made == plan().take(8)
    assert writer.n_fallen_back == 8
    assert sum(writer.problems.values()) == 16


def test_a_writer_that_can_never_answer_stops_the_run():
    with pytest.raises(EndpointError, match="no key"):
        take(8, WriterModel(lambda people, turn: EndpointError("auth", "no key", fatal=True)))


def test_seeds_are_never_rewritten():
    made, _ = take(8, WriterModel(), plan(seeds=["Where is order ORD-4550?"]))
    assert made[0].public.prompt == "Where is order ORD-4550?"
    assert [s.writer for s in made] == ["seed"] + ["pen-1"] * 7


def test_what_was_taken_is_told_before_use_and_read_back_without_asking():
    lines = []
    first, _ = take(16, WriterModel(spoil(lambda p: None)), on_accepted=lines.append)
    assert sorted(line["situation"] for line in lines) == list(range(16))
    assert {line["writer"] for line in lines} == {"pen-1", "template"}
    model = WriterModel(lambda people, turn: [{"i": p["i"], "prompt": good(p, salt=1)} for p in people])
    again, writer = take(24, model, accepted={line["situation"]: json.loads(json.dumps(line)) for line in lines})
    assert again[:16] == first
    assert [p["i"] for people in model.asked for p in people] == list(range(16, 24))
    assert writer.n_fallen_back == 0


def test_batches_are_written_once_and_in_order_whoever_asks():
    async def asked():
        writer = Writer(plan(), model)
        return await asyncio.gather(*(writer.situation(i) for i in (20, 3, 9, 20, 0)))

    model = WriterModel()
    made = asyncio.run(asked())
    assert [s.index for s in made] == [20, 3, 9, 20, 0]
    assert [people[0]["i"] for people in model.asked] == [0, 8, 16]
