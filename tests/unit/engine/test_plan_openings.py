"""What the caller opens with: seeds word for word, an earlier run replayed, traces that aim."""

from __future__ import annotations

import json

import pytest

import whileai as wai
from engine_tools import ALL, GET_ORDER, PROMPT, SHOP, schema_tool
from whileai.engine.closeness import Known
from whileai.engine.plan import Plan
from whileai.engine.records import Records

SEEDS = [
    "Where is order ORD-4550? I have two minutes!",
    "  cancel   my order, this is ridiculous\n",
    "Tell me something nice.",
    [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello, what can I do?"},
        {"role": "user", "content": [{"type": "text", "text": "Cancel order 88120 please."}]},
    ],
]


def row_of(situation, **more):
    """A row as a run writes it."""
    return {
        "task_id": situation.task_id,
        "prompt": situation.public.prompt,
        "messages": [*situation.public.conversation(), {"role": "assistant", "content": "Done."}],
        "axes": dict(situation.axes),
        "world_state": situation.state,
        "faults": situation.faults,
        "seed": situation.world_seed,
        "lineage": dict(situation.lineage),
        "writer_model": situation.writer,
        "privileged": {"reference": situation.reference},
        **more,
    }


def test_seeds_come_first_and_word_for_word():
    plan = Plan(SHOP, PROMPT, seeds=SEEDS)
    made = plan.take(12)
    assert [s.public.prompt for s in made[:3]] == SEEDS[:3]
    assert made[3].public.prompt == "Cancel order 88120 please."
    assert made[3].public.conversation() == SEEDS[3]
    assert made[3].lineage["opening"] == 3
    assert [s.writer for s in made] == ["seed"] * 4 + ["template"] * 8
    assert Plan(SHOP, PROMPT, seeds=tuple(SEEDS)).take(12) == made
    assert len({s.task_id for s in made}) == 12


def test_the_axes_of_a_seed_are_read_off_its_words():
    made = Plan(SHOP, PROMPT, seeds=SEEDS).take(4)
    told = [(s.axes["tool"], s.axes["stance"], s.axes["state"]) for s in made]
    assert told[0] == ("get_order", "hurried", "present")
    assert told[1] == ("cancel_order", "upset", "present")
    assert told[2] == ("unspecified", "unspecified", "present")
    assert told[3][0] == "cancel_order"
    assert [s.axes["condition"] for s in made] == ["ok", "timeout", "ok", "malformed"]
    assert made[1].faults == {"cancel_order": {"mode": "timeout", "rate": 1.0}}
    rule = "Never refund more than 100 dollars."
    assert Plan(SHOP, PROMPT, seeds=["Can you refund 150 dollars to me?"]).situation(0).axes["rule"] == rule


def test_a_fault_strikes_any_tool_where_a_seed_says_nothing_of_one():
    made = Plan(SHOP, PROMPT, seeds=["Hello?"], fault_rate=1).situation(0)
    assert made.faults == {"*": {"mode": "timeout", "rate": 1.0}}
    assert Plan([], PROMPT, seeds=["Hello?"], fault_rate=1).situation(0).faults == {}


def test_the_world_holds_what_a_seed_names():
    plan = Plan(SHOP, PROMPT, seeds=SEEDS)
    first, last = plan.situation(0), plan.situation(3)
    assert "ORD-4550" in first.records(plan.catalog).tables["order"]
    assert first.brief.facts["order_id"] == "ORD-4550"
    assert first.brief.told == ("order_id",)
    assert last.brief.facts["order_id"] == "88120"
    whole = schema_tool("get_order", ("order_id",), order_id={"type": "integer"})
    assert Records(1, [whole], focus=("get_order",), named=("#88120",)).facts == {"order_id": 88120}


def test_pairs_that_seeds_hold_count_as_planned():
    seeds = [s.public.prompt for s in Plan((GET_ORDER,), PROMPT).take(3)]
    plan = Plan((GET_ORDER,), PROMPT, seeds=seeds)
    n = plan.n_to_cover()
    met = {(a, x, b, y) for i in range(n) for a, x in plan.axes_at(i).items() for b, y in plan.axes_at(i).items()}
    assert all(tuple(pair) in met for pair in plan.axes.feasible)


@pytest.mark.parametrize(
    ("seeds", "words"),
    [
        ("Where is it?", "seeds=[...]"),
        ([], "with at least one"),
        ([""], "a prompt with text"),
        (["a question", 3], r"seeds\[1\] must be a prompt"),
        ([{"role": "user", "content": "x"}], r"seeds=\[\[...\]\]"),
        ([[{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]], "ends with what the user says"),
        ([[{"role": "system", "content": "x"}, {"role": "user", "content": "y"}]], "system_prompt="),
        ({"prompt": "x"}, "seeds=[...]"),
        (7, "a list of prompts"),
    ],
)
def test_what_is_no_seed_is_refused(seeds, words):
    with pytest.raises(wai.ParamError, match=words.replace("seeds=[...]", r"seeds=\[\.\.\.\]")):
        Plan(SHOP, seeds=seeds)


def test_a_path_that_is_not_there_is_no_empty_list(tmp_path):
    with pytest.raises(FileNotFoundError):
        Plan(SHOP, seeds=str(tmp_path / "rows.jsonl"))


@pytest.mark.parametrize("n_rows", [1, 3])
def test_an_earlier_run_is_replayed_unchanged(n_rows, tmp_path):
    plan = Plan(ALL, PROMPT, seeds=SEEDS)
    old = plan.take(40)
    rows = [row_of(s, rollout_index=k) for k in range(n_rows) for s in reversed(old)]
    path = tmp_path / "run.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    for seeds in (rows, str(path), path, iter(rows)):
        again = Plan(ALL, "You are somebody else. Never joke.", seed=5, seeds=seeds)
        new = again.take(44)
        assert again.n_replayed == 40
        for before, after in zip(old, new, strict=False):
            assert after.task_id == before.task_id
            assert after.public == before.public
            assert (after.axes, after.faults) == (before.axes, before.faults)
            assert (after.state, after.world_seed, after.reference) == (
                before.state,
                before.world_seed,
                before.reference,
            )
            assert after.lineage == before.lineage
            assert after.writer == before.writer
        assert {s.writer for s in new[40:]} == {"template"}


def test_a_replayed_world_person_and_reference_are_the_same_though_nothing_privileged_was_saved():
    plan = Plan(ALL, PROMPT, seeds=SEEDS)
    old = plan.take(160)
    new = Plan(ALL, "", seed=3, seeds=[row_of(s, privileged=None) for s in old])
    for before, after in zip(old, new.take(160), strict=True):
        assert after.records(new.catalog).tables == before.records(plan.catalog).tables
        assert after.brief == before.brief
        assert after.reference == before.reference


def test_a_run_is_replayed_with_other_tools():
    old = Plan(SHOP, PROMPT).take(30)
    rows = [row_of(s) for s in old]
    new = Plan([*ALL[1:], schema_tool("get_order", ("order_id", "language"))], PROMPT, seeds=rows)
    for before, after in zip(old, new.take(30), strict=True):
        tables = after.records(new.catalog).tables
        named = {before.brief.facts[name] for name in before.brief.told if name in before.brief.kinds}
        if before.state != "missing" and not before.brief.wrong:
            assert named <= tables["order"].keys()


def test_rows_that_know_no_world_give_their_prompts_and_a_note():
    rows = [{"prompt": "Where is it?", "completion": "There."}, {"prompt": "Where is it?"}, {"prompt": "And this?"}]
    plan = Plan(SHOP, seeds=rows)
    assert [s.public.prompt for s in plan.take(2)] == ["Where is it?", "And this?"]
    assert [note.code for note in plan.notes] == ["seeds_without_world"]


def failing(n=6):
    """Rows in which an insistent person, a refund and a contradiction go badly, and others well."""
    axes = {"tool": "create_refund", "rule": "unspecified", "stance": "insistent", "state": "partial"}
    bad = {**axes, "condition": "ok", "history": "contradicted"}
    good = {**axes, "tool": "get_order", "stance": "plain", "state": "present", "condition": "ok", "history": "repeat"}
    return [{"prompt": f"p{i}", "axes": bad, "reward": 0} for i in range(n)] + [
        {"prompt": f"q{i}", "axes": good, "reward": 1} for i in range(n)
    ]


def share(plan, n, **axes):
    hits = sum(all(plan.axes_at(i)[name] == value for name, value in axes.items()) for i in range(n))
    return hits / n


def test_traces_aim_the_grid_early_and_later():
    calm, aimed = Plan(ALL, PROMPT), Plan(ALL, PROMPT, traces=failing())
    for n in (16, 400):
        assert share(aimed, n, tool="create_refund") > 1.5 * share(calm, n, tool="create_refund")
        assert share(aimed, n, stance="insistent") > 1.3 * share(calm, n, stance="insistent")
    assert aimed.n_to_cover() <= 1.5 * calm.n_to_cover()


def test_traces_that_went_well_aim_at_nothing():
    good = [row for row in failing() if row["reward"]]
    assert [Plan(ALL, traces=good).axes_at(i) for i in range(40)] == [Plan(ALL).axes_at(i) for i in range(40)]


def test_traces_of_other_makes_are_read_by_their_tools_faults_and_words():
    trace = {
        "messages": [{"role": "user", "content": "Cancel my order. This is ridiculous!"}],
        "steps": [{"tool": "cancel_order", "arguments": {}, "result": {"status": "timeout"}}],
    }
    plan = Plan(SHOP, PROMPT, traces=[trace])
    marks = plan._traces.marks
    held = {(pair.value, pair.other_value) for pair in marks}
    assert {("cancel_order", "upset"), ("cancel_order", "timeout"), ("upset", "timeout")} <= held
    assert set(marks.values()) == {1.0}


def test_a_trace_is_never_written_again():
    plain = Plan(SHOP, PROMPT).take(20)
    traces = [{"prompt": s.public.prompt.upper(), "reward": 1} for s in plain]
    plan = Plan(SHOP, PROMPT, traces=traces)
    made = plan.take(20)
    assert [s.axes for s in made] == [s.axes for s in plain]
    known = Known()
    for trace in traces:
        known.add(trace["prompt"])
    assert not any(known.is_close(s.public.prompt) for s in made)
    assert plan.n_rewritten == 20
    assert [note.code for note in plan.notes] == ["close_to_traces"]


def test_a_seed_is_kept_though_it_is_a_trace():
    assert (
        Plan(SHOP, seeds=["Where is it?"], traces=[{"prompt": "Where is it?"}]).situation(0).public.prompt
        == "Where is it?"
    )


def test_traces_that_are_no_rows_are_refused():
    with pytest.raises(wai.ParamError, match=r"traces\[1\] must be a row"):
        Plan(SHOP, traces=[{}, "x"])
