"""Situations: a prefix-stable stream, prompts on topic and without repeats, ids as the state says."""

from __future__ import annotations

import datetime as dt
import functools
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Annotated, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

import whileai as wai
from engine_tools import ALL, CANCEL_ORDER, GET_ORDER, PROMPT, SHOP, schema_tool
from whileai.engine import ids, nouns
from whileai.engine.axes import NAMES
from whileai.engine.closeness import word_grams
from whileai.engine.plan import Plan
from whileai.engine.records import Records, ids_in
from whileai.engine.rules import leanings, rules_of
from whileai.engine.tools import Tool
from whileai.engine.values import plain_text

PLAN = Plan(ALL, PROMPT)
SITUATIONS = PLAN.take(250)


def plain(situation):
    """All of a situation that a row or an agent meets."""
    return (
        situation.task_id,
        situation.public,
        dict(situation.axes),
        situation.fault,
        situation.world_seed,
        situation.brief,
        situation.reference,
    )


def test_a_longer_plan_begins_with_the_shorter_one():
    short, long = Plan(ALL, PROMPT).take(64), Plan(ALL, PROMPT).take(128)
    assert list(map(plain, short)) == list(map(plain, long[:64]))


def test_the_order_of_asking_changes_nothing():
    backwards = Plan(ALL, PROMPT)
    assert plain(backwards.situation(50)) == plain(SITUATIONS[50])
    assert backwards.n_to_cover() == PLAN.n_to_cover()
    assert plain(backwards.situation(3)) == plain(SITUATIONS[3])


def test_another_seed_gives_other_prompts_and_worlds():
    other = Plan(ALL, PROMPT, seed=1).take(64)
    assert not {s.public.prompt for s in other} & {s.public.prompt for s in SITUATIONS}
    assert not {s.task_id for s in other} & {s.task_id for s in SITUATIONS}


def test_a_world_seed_of_its_own_changes_the_worlds_and_not_the_points():
    other = Plan(ALL, PROMPT, world_seed=9).take(32)
    assert [s.axes for s in other] == [s.axes for s in SITUATIONS[:32]]
    assert all(a.world_seed != b.world_seed for a, b in zip(other, SITUATIONS, strict=False))


def test_the_same_in_processes_with_other_hash_seeds():
    code = (
        "import json, sys; sys.path.insert(0, 'tests')\n"
        "from engine_tools import ALL, PROMPT\n"
        "from whileai.engine.plan import Plan\n"
        "plan = Plan(ALL, PROMPT, traces=[{'prompt': 'cancel my order', 'reward': 0}])\n"
        "print(json.dumps([[s.task_id, s.public.prompt, s.reference, dict(s.brief.facts),"
        " s.records(plan.catalog).tables] for s in plan.take(24)]), plan.n_to_cover())"
    )
    root = Path(__file__).parents[3]
    told = [
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=root,
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("1", "2")
    ]
    assert told[0] == told[1]
    assert len(told[0]) > 10_000


def test_the_task_id_is_of_the_axes_the_prompt_the_faults_and_the_world():
    for situation in SITUATIONS[:20]:
        made = ids.task_id(situation.axes, situation.public.prompt, situation.faults, situation.world_seed)
        assert situation.task_id == made
        assert situation.lineage == {"transform": "simulate", "seed": 0, "situation": situation.index}


def test_no_prompt_comes_twice():
    prompts = [s.public.prompt for s in SITUATIONS]
    assert len(set(prompts)) == len(prompts)
    narrow = Plan(
        (GET_ORDER,),
        axes={
            "tool": "get_order",
            "stance": "plain",
            "state": "present",
            "condition": "ok",
            "history": "first_contact",
        },
    )
    assert narrow.n_points == 1
    prompts = [s.public.prompt for s in narrow.take(3_000)]
    assert len(set(prompts)) == 3_000


def test_the_phrasings_of_a_point_are_different_texts_even_about_the_same_record():
    templates = PLAN._templates
    for situation in (SITUATIONS[0], SITUATIONS[1], SITUATIONS[5]):
        records = situation.records(PLAN.catalog)
        texts = {templates.write(situation.axes, j, records).prompt for j in range(4_000)}
        assert len(texts) == 4_000
        assert templates.count(situation.axes) > 10_000


def test_a_phrasing_order_runs_through_all_of_them():
    plan = Plan((GET_ORDER,))
    axes = plan.axes_at(0)
    total = plan._templates.count(axes)
    start, step, modulus = (plan._templates.choice(axes, 0), plan._templates._order)[1][plan._templates.family(axes)]
    assert modulus == total
    assert len({(start + step * j) % total for j in range(50_000)}) == 50_000


def test_prompts_differ_in_more_than_their_ids():
    openings = Counter(" ".join(s.public.prompt.split()[:6]).lower() for s in SITUATIONS)
    assert openings.most_common(1)[0][1] <= 0.05 * len(SITUATIONS)
    grams = Counter(gram for s in SITUATIONS for gram in word_grams(s.public.prompt, 4))
    assert len(grams) > 2_000


def on_topic(situation, plan):
    said = {nouns.singular(word) for word in situation.public.prompt.lower().replace("_", " ").split()}
    said |= {word.strip(".,?!:\"'") for word in said}
    said |= {nouns.singular(word) for word in said}
    if situation.focus:
        words = {part for tool in situation.focus for part in nouns.parts_of(tool)} | {"arithmetic"}
    else:
        words = {word for kind in plan.catalog.entities for word in kind.split()}
    return bool({nouns.singular(word) for word in words} & said)


def test_every_prompt_is_about_what_the_tools_are_about():
    missed = [
        s.public.prompt for s in SITUATIONS if not on_topic(s, PLAN) and s.public.prompt != s.public.prompt.upper()
    ]
    # a typo may hit the one word that says so
    assert len(missed) <= 0.03 * len(SITUATIONS), missed[:3]


@functools.cache
def records_of(index):
    return SITUATIONS[index].records(PLAN.catalog)


def known_ids(situation):
    tables = records_of(situation.index).tables
    return {own for table in tables.values() for own in table}


def test_ids_are_in_the_world_if_and_only_if_the_state_says_so():
    seen = Counter()
    for situation in SITUATIONS:
        named = {plain_text(situation.brief.facts[name]) for name in situation.brief.kinds}
        named |= {plain_text(value) for name, value in situation.brief.wrong.items() if name in situation.brief.kinds}
        held = known_ids(situation)
        if situation.state == "missing":
            assert not named & held
        else:
            assert named <= held
        in_prompt = {own for own in ids_in(situation.public.prompt) if own[:3].isupper() and "-" in own}
        assert in_prompt - {"RPT"} <= named | held
        seen[situation.state] += bool(named)
    assert min(seen.values()) > 5
    assert set(seen) == {"present", "missing", "already_done", "partial", "conflicting", "stale"}


def test_the_prompt_tells_what_the_brief_says_it_tells():
    for situation in SITUATIONS:
        brief, prompt = situation.brief, situation.public.prompt
        for name in brief.told:
            assert plain_text(brief.wrong.get(name, brief.facts[name])).casefold() in prompt.casefold()
        if brief.stance == "vague":
            assert not set(brief.told) & set(brief.kinds)
        assert bool(brief.wrong) <= (brief.stance == "mistaken")
        assert bool(brief.change) <= (brief.stance == "changes_mind")


def test_a_mistaken_person_gives_something_wrong_where_there_is_something_to_give():
    mistaken = [s for s in SITUATIONS if s.axes["stance"] == "mistaken" and s.brief.kinds]
    assert mistaken
    for situation in mistaken:
        for name, value in situation.brief.wrong.items():
            assert value != situation.brief.facts[name]
    assert sum(bool(s.brief.wrong) for s in mistaken) >= 0.9 * len(mistaken)


def target(situation):
    records = records_of(situation.index)
    kind = PLAN.catalog.use(situation.focus[0]).entity
    return records, records.tables[kind].get(str(records.target_id(kind)))


def test_the_state_is_what_the_record_says():
    seen = Counter()
    for situation in SITUATIONS:
        if not situation.focus:
            continue
        records, record = target(situation)
        use = PLAN.catalog.use(situation.focus[0])
        seen[situation.state] += 1
        if situation.state == "missing":
            assert record is None or use.own_id is None
        elif situation.state == "already_done":
            assert use.tool.effect != "read"
            if use.ends:
                assert record[PLAN.catalog.entity(use.entity).status_field] == nouns.done_word(use.verb)
            elif not use.makes:
                assert all(record[field] == records.facts[name] for name, field in use.fields.items())
        elif situation.state in ("conflicting", "stale") and records.claim is not None:
            field, said = records.claim
            kind = records.claim_kind
            true = records.record(kind, records.target_place(kind))
            assert true[field] != said
            if situation.state == "stale":
                own = str(true[PLAN.catalog.entity(kind).id_field])
                assert records.previous[kind][own][field] == said
    assert min(seen.values()) > 10


def test_partial_records_have_gaps_and_others_have_none():
    gaps = Counter()
    for situation in SITUATIONS:
        if situation.focus and situation.state != "missing":
            _, record = target(situation)
            gaps[situation.state, None in record.values()] += 1
    assert gaps["partial", True] > 10
    assert not [key for key in gaps if key[0] != "partial" and key[1]]


def test_the_tool_that_fails_is_one_the_person_needs():
    for situation in SITUATIONS:
        if situation.axes["condition"] == "ok":
            assert situation.faults == {}
        else:
            (tool,) = situation.faults
            assert tool == (situation.focus[0] if situation.axes["tool"] != "several" else "*")
            assert situation.faults[tool] == {"mode": situation.axes["condition"], "rate": 1.0}


def test_several_means_two_other_tools_and_none_means_none():
    for situation in SITUATIONS:
        expected = {"several": 2, "none": 0}.get(situation.axes["tool"], 1)
        assert len(set(situation.focus)) == expected


def test_the_public_part_says_nothing_that_is_hidden():
    for situation in SITUATIONS:
        text = situation.public.prompt
        assert situation.reference not in text
        for name in NAMES:
            value = situation.axes[name]
            if "_" in value and value not in {tool.name for tool in ALL}:
                assert value not in text
        assert str(situation.world_seed) not in text
    with pytest.raises(AttributeError):
        _ = SITUATIONS[0].public.axes


def test_an_agent_that_writes_to_its_conversation_changes_no_situation():
    turns = SITUATIONS[0].public.conversation()
    turns[0]["content"] = "mine"
    turns.append({})
    assert SITUATIONS[0].public.conversation() == [{"role": "user", "content": SITUATIONS[0].public.prompt}]


def test_a_tool_more_changes_no_record_of_the_others():
    one, two = Records(7, SHOP, focus=("get_order",)), Records(7, [*SHOP, *ALL[5:]], focus=("get_order",))
    assert one.tables["order"].keys() == two.tables["order"].keys()
    for own, record in one.tables["order"].items():
        assert record.items() <= two.tables["order"][own].items()


ID_SCHEMAS = [
    {"type": "string"},
    {"type": "integer"},
    {"type": "string", "format": "uuid"},
    {"type": "string", "pattern": r"^[A-Z]{2}\d{6}$"},
    {"type": "string", "description": "For example INV-20391."},
    {"type": "array", "items": {"type": "string"}},
    {"anyOf": [{"type": "integer", "minimum": 1, "maximum": 30}, {"type": "null"}]},
]


@pytest.mark.parametrize("schema", ID_SCHEMAS, ids=str)
def test_ids_are_as_the_schema_says(schema):
    from whileai.engine.schema_check import first_problem

    name = "invoice_ids" if schema.get("type") == "array" else "invoice_id"
    tools = [
        schema_tool("get_invoice", (name,), **{name: schema}),
        schema_tool("cancel_invoice", (name,), **{name: schema}),
    ]
    for seed in range(30):
        for state in ("present", "missing", "already_done"):
            records = Records(seed, tools, state, focus=("cancel_invoice",))
            value = records.facts[name]
            assert first_problem({name: value}, tools[0].parameters) == ""
            own = value[0] if isinstance(value, list) else value
            assert (str(own) in records.tables["invoice"]) == (state != "missing")
            assert own != "INV-20391"
            assert len(records.tables["invoice"]) == 8


FIELDS = st.sampled_from(
    [
        "amount",
        "email",
        "date",
        "new_address",
        "status",
        "title",
        "note",
        "quantity",
        "start_time",
        "url",
        "phone",
        "city",
        "name",
        "tags",
        "score",
        "is_gift",
    ]
)
SCHEMAS = st.one_of(
    st.just({"type": "string"}),
    st.just({"type": "boolean"}),
    st.just({"type": "string", "format": "date"}),
    st.just({"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 3}),
    st.just({"type": "object", "properties": {"street": {"type": "string"}, "zip": {"type": "string"}}}),
    st.builds(
        lambda options: {"enum": options}, st.lists(st.sampled_from(["a", "b", "c", 4]), min_size=1, unique=True)
    ),
    st.builds(
        lambda low, width: {"type": "integer", "minimum": low, "maximum": low + width},
        st.integers(-50, 900),
        st.integers(0, 40),
    ),
    st.builds(
        lambda low, width: {"type": "number", "exclusiveMinimum": low, "maximum": low + width},
        st.integers(-9, 90),
        st.integers(1, 40),
    ),
    st.builds(
        lambda low, width: {"type": "string", "minLength": low, "maxLength": low + width},
        st.integers(0, 30),
        st.integers(1, 20),
    ),
)


@settings(max_examples=40, deadline=None)
@given(
    st.dictionaries(FIELDS, SCHEMAS, min_size=1, max_size=5),
    st.integers(0, 1 << 31),
    st.sampled_from(["create", "update", "cancel"]),
)
def test_the_facts_of_a_person_are_valid_arguments(fields, seed, verb):
    from whileai.engine.schema_check import first_problem

    tool = schema_tool(f"{verb}_ticket", ("ticket_id", *fields) if verb != "create" else tuple(fields), **fields)
    records = Records(seed, [tool, schema_tool("get_ticket", ("ticket_id",))], "present", focus=(tool.name,))
    assert first_problem(records.facts, tool.parameters) == ""
    again = Records(seed, [tool, schema_tool("get_ticket", ("ticket_id",))], "present", focus=(tool.name,))
    assert json.dumps(again.tables) == json.dumps(records.tables)
    assert set(records.tables["ticket"]) == set(records.previous["ticket"])


@pytest.mark.parametrize(
    ("name", "verb", "noun", "many"),
    [
        ("get_order", "get", "order", False),
        ("searchFlights", "search", "flight", True),
        ("list_customer_orders", "list", "customer order", True),
        ("orders.cancel", "cancel", "order", False),
        ("lookup_user_by_email", "lookup", "user", False),
        ("weather", "", "weather", False),
        ("getHTTPStatus", "get", "http status", False),
        ("refund", "refund", "", False),
    ],
)
def test_names_of_tools_are_read(name, verb, noun, many):
    assert nouns.verb_noun(name) == (verb, noun, many)


def test_done_words():
    said = {verb: nouns.done_word(verb) for verb in ("cancel", "close", "send", "pay", "apply", "book", "delay")}
    assert list(said.values()) == ["cancelled", "closed", "sent", "paid", "applied", "booked", "delayed"]


def test_rules_are_read_off_a_system_prompt():
    prompt = """You are **Mia**. You help with trains.
You must never share a card number. Be kind.

Rules:
- Be brief
* Always ask for the booking code. It has six letters.
2) Refunds are only for delays
You may not, unless a guest asks, talk about prices."""
    assert rules_of(prompt) == (
        "You must never share a card number.",
        "Be brief",
        "Always ask for the booking code.",
        "Refunds are only for delays",
        "You may not, unless a guest asks, talk about prices.",
    )
    assert rules_of("") == ()


@pytest.mark.parametrize(
    ("rule", "start"),
    [
        ("You must never share a card number.", "And could you share a card number?"),
        ("Do not give the customer's address away!", "And could you give my address away?"),
        ("Always ask for the booking code.", "There is no need to ask for the booking code."),
        ("Refunds are only for delays", 'Somebody told me "Refunds are only for delays"'),
    ],
)
def test_a_rule_is_brought_into_play(rule, start):
    texts = leanings(rule)
    assert texts[0].startswith(start)
    assert len(set(texts)) == 4


def test_ids_in_a_text():
    text = "Orders ORD-4550, #88120 and inv_20x from 2024-05-01, $1200 or 12.50, at 10:30, call +1-555-0134, A1."
    assert ids_in(text) == ("ORD-4550", "#88120", "inv_20x", "A1")


def test_without_tools_the_prompts_are_about_what_the_agent_is():
    plan = Plan([], "You are a tutor for algebra. Always show the steps.")
    situations = plan.take(40)
    assert {s.axes["tool"] for s in situations} == {"none"}
    assert {s.axes["condition"] for s in situations} == {"ok"}
    assert sum("tutor for algebra" in s.public.prompt for s in situations) >= 36
    assert all("no tools" in s.reference for s in situations)
    assert [note.code for note in plan.notes] == ["fault_rate_not_kept"]


def test_references_say_what_a_right_answer_does():
    by = {(s.axes["condition"], s.axes["state"]): s.reference for s in SITUATIONS if s.focus == ("cancel_order",)}
    assert any("may or may not have been done" in text for (mode, _), text in by.items() if mode == "timeout")
    assert all("invent nothing" in text for (_, state), text in by.items() if state == "missing")
    ruled = [s for s in SITUATIONS if s.rule]
    assert all(s.rule in s.reference for s in ruled)


def test_a_name_of_the_axes_is_no_name_for_a_tool():
    with pytest.raises(wai.ParamError, match="other names than 'several'"):
        Plan([CANCEL_ORDER, schema_tool("several", (), (), "read")])


class Line(BaseModel):
    sku: Annotated[str, Field(pattern=r"^[A-Z]{3}-\d{3}$")]
    count: int = Field(ge=1, le=5)


class Node(BaseModel):
    name: str
    children: list[Node] = []


def place_order(
    customer_id: Annotated[str, Field(pattern=r"^C\d{5}$")], lines: list[Line], when: dt.date | None = None
):
    """Place an order."""


def build_tree(root: Node) -> Node:
    """Build a tree."""


def set_mode(mode: Literal["fast"], strict: bool = False):
    """Set the mode."""


def get_time() -> str:
    """The time."""


ODD = [
    *map(wai.tool, (place_order, build_tree, set_mode, get_time)),
    schema_tool("x", (), (), "read"),
    schema_tool("123", (), (), "read"),
    schema_tool("ÄndereAdresse", ("адрес",), (), "write"),
    schema_tool("mcp__files__read_file", ("path",)),
    schema_tool("get_users_by_ids", ("user_ids",), user_ids={"type": "array", "items": {"type": "integer"}}),
    Tool(
        "odd",
        "",
        {"type": "object", "properties": {"a": True, "b": {"anyOf": []}, "c": {"$ref": "#/no"}}},
        None,
        "read",
    ),
    Tool("bare", "", {}, None, "write"),
]


@pytest.mark.parametrize("tool", ODD, ids=[tool.name for tool in ODD])
def test_tools_of_every_make_are_planned_and_their_facts_are_arguments(tool):
    plan = Plan([tool], PROMPT, records=2)
    assert plan.n_to_cover() <= 80
    for situation in plan.take(40):
        records = situation.records(plan.catalog, 2)
        json.dumps([records.tables, records.previous])
        if situation.focus and situation.state != "partial":
            assert tool.check(dict(records.facts))[1] == ""


def test_what_a_model_read_off_a_schema_is_said_in_words():
    plan = Plan(ODD[:1], axes={"tool": "place_order", "stance": "plain", "state": "present"})
    told = [s.public.prompt for s in plan.take(12) if "lines" in s.brief.told]
    assert told
    assert not any("{" in prompt for prompt in told)
