"""What a simulation is told: flat names and objects, checked before anything runs."""

from __future__ import annotations

import dataclasses

import pytest

from whileai.engine.options import (
    MODES,
    OBJECTS,
    EngineOptions,
    RunOptions,
    Sampling,
    UserOptions,
    WorldOptions,
    resolve,
)
from whileai.errors import ParamError


def test_the_modes_fill_in_repeats_and_policy():
    told = {mode: (resolve(mode, judge=len).repeats, resolve(mode, judge=len).run.repeat_policy) for mode in MODES}
    assert told == {"explore": (1, "fixed"), "sft": (4, "fixed"), "rl": (8, "adaptive")}
    assert resolve("rl", repeats=3).repeats == 3


def test_without_a_judge_rl_is_fixed_and_says_so():
    told = resolve("rl")
    assert told.run.repeat_policy == "fixed"
    assert [note.code for note in told.notes] == ["fixed_without_judge"]
    assert resolve("rl", repeat_policy="fixed").notes == ()
    assert resolve("explore").notes == ()


def test_a_flat_name_is_the_field_of_its_object():
    told = resolve(fault_rate=0.25, temperature=0.5, patience=1, concurrency=2)
    assert (told.world.fault_rate, told.sampling.temperature) == (0.25, 0.5)
    assert (told.users.patience, told.run.concurrency) == (1, 2)
    both = resolve(world=WorldOptions(records=3), fault_rate=1)
    assert (both.world.records, both.world.fault_rate) == (3, 1)


def test_every_field_but_the_ambiguous_ones_is_a_flat_name_of_the_typed_dict():
    fields = {part.name for kind in OBJECTS.values() for part in dataclasses.fields(kind)}
    assert set(EngineOptions.__annotations__) == (fields - {"seed", "model", "extra"}) | {
        *OBJECTS, "judge", "traces", "axes",
    }  # fmt: skip


def test_sampling_sends_what_is_set_and_moves_the_seed_on():
    sampling = Sampling(temperature=0, max_tokens=9, seed=5, extra={"top_k": 3})
    assert sampling.sent(2) == {"temperature": 0, "max_tokens": 9, "seed": 7, "top_k": 3}
    assert (sampling.of_rollout(2).seed, Sampling().of_rollout(2).sent()) == (7, {})


def test_fault_kinds_of_ones_own_stand_beside_built_in_ones():
    own = resolve(fault_kinds={"timeout": None, "odd": lambda payload, rng: payload}).world
    assert (own.kinds, list(own.bends)) == (("timeout", "odd"), ["odd"])
    assert resolve(fault_kinds=["stale"]).world.kinds == ("stale",)
    assert resolve(fault_rate=0, fault_kinds=()).world.kinds == ()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"falt_rate": 0.5}, "Did you mean fault_rate?"),
        ({"temprature": 1}, "Did you mean temperature?"),
        ({"seeed": 1}, "a known name"),
        ({"model": "x"}, "goes in its object"),
        ({"extra": {}}, "goes in its object"),
        ({"world": WorldOptions(fault_rate=0.1), "fault_rate": 0.2}, "given once"),
        ({"world": {"fault_rate": 1}}, "a WorldOptions"),
        ({"mode": "sfr"}, "sft"),
        ({"situations": 0}, "at least 1"),
        ({"repeats": 0}, "at least 1"),
        ({"budget": -1}, "at least 1"),
        ({"budget": 2.5}, "a whole number"),
        ({"situations": True}, "a whole number"),
        ({"seed": None}, "a whole number"),
        ({"seed": "1"}, "a whole number"),
        ({"fault_rate": 1.5}, "[0, 1]"),
        ({"fault_rate": "high"}, "[0, 1]"),
        ({"fault_kinds": ("timeot",)}, "Did you mean timeout?"),
        ({"fault_kinds": "timeout"}, "a list of kinds"),
        ({"fault_kinds": ()}, "at least one kind"),
        ({"fault_kinds": {"odd": 3}}, "a function"),
        ({"fault_kinds": {"timeout": len}}, "a new name"),
        ({"fault_kinds": ("stale", "stale")}, "once"),
        ({"fault_span": 0}, "None strikes every call"),
        ({"fault_kinds": {"odd": lambda payload: payload}}, "It takes (payload)"),
        ({"execute": 3}, "a function"),
        ({"execute": lambda tool: tool}, "It takes (tool)"),
        ({"execute": lambda: 1}, "(tool, arguments)"),
        ({"records": 0}, "at least 1"),
        ({"temperature": -1}, "at least 0"),
        ({"top_p": 0}, "(0, 1]"),
        ({"max_tokens": 0}, "at least 1"),
        ({"max_turns": 0}, "at least 1"),
        ({"patience": 0}, "at least 1"),
        ({"concurrency": 0}, "at least 1"),
        ({"timeout": 0}, "above 0"),
        ({"timeout": float("inf")}, "above 0"),
        ({"max_tool_calls": 0}, "at least 1"),
        ({"repeat_policy": "adaptiv"}, "adaptive"),
        ({"repeat_policy": "adaptive", "judge": len, "probe": 1}, "at least 2"),
        ({"retries": -1}, "at least 0"),
        ({"rpm": 0}, "above 0"),
        ({"progress": "yes"}, "True, False or None"),
        ({"on_progress": 1}, "a function"),
        ({"on_progress": lambda: None}, "It takes ()"),
        ({"retry_unusable": "all"}, "infra"),
        ({"logprobs": "token"}, "tokens"),
        ({"logprobs": 1}, "tokens"),
    ],
)
def test_a_wrong_value_is_one_clear_sentence(given, words):
    with pytest.raises(ParamError) as caught:
        resolve(given.pop("mode", "explore"), **given)
    told = str(caught.value)
    assert told.startswith("simulate: ")
    assert words in told


def test_the_objects_are_frozen_and_check_themselves():
    for kind in (WorldOptions, Sampling, UserOptions, RunOptions):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(kind(), dataclasses.fields(kind)[0].name, 1)
    with pytest.raises(ParamError):
        UserOptions(patience=-1)
