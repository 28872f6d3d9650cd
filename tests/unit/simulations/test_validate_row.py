"""The codes of `validate`, and the JSON Schema that says the same."""

import jsonschema
import numpy as np
import pytest

from whileai.simulations import schema

ROW = {"schema_version": "1", "prompt": "q", "steps": [], "final_text": "5"}
CHECKER = jsonschema.Draft202012Validator(schema.row_schema())

#: Part of a stamped row -> its codes. Each of these rows is JSON, so that the JSON Schema has to agree.
STAMPED = [
    ({}, []),
    ({"mine": {"any": ["thing", None]}}, []),
    ({"reward": 0}, []),
    ({"reward": 0.5, "judge_name": "j", "judge_status": "ok"}, []),
    ({"reward": True}, []),
    ({"reward": None}, []),
    ({"reward": None, "judge_status": "error", "judge_meta": {"error_type": "X"}}, []),
    ({"judge_status": None}, []),
    ({"task_id": "t", "scenario_id": "t", "rollout_index": 0}, []),
    ({"task_id": 0, "scenario_id": None}, []),
    ({"rollout_index": 2.0}, []),
    ({"markers": {"chars": 5.0, "seen": True, "gone": None}}, []),
    ({"markers": None, "messages": None}, []),
    ({"messages": [{"role": "user", "content": "q"}], "steps": [{"text": "5"}, {}]}, []),
    ({"privileged": "a secret"}, []),
    ({"calibration": "easy"}, []),
    ({"prompt": None}, ["prompt_not_str"]),
    ({"prompt": 5}, ["prompt_not_str"]),
    ({"final_text": None}, ["final_text_not_str"]),
    ({"final_text": True}, ["final_text_not_str"]),
    ({"steps": None}, ["steps_not_list"]),
    ({"steps": {}}, ["steps_not_list"]),
    ({"steps": [{}, 1]}, ["steps_item_not_dict"]),
    ({"messages": "hello"}, ["messages_not_list"]),
    ({"messages": [None]}, ["messages_item_not_dict"]),
    ({"task_id": []}, ["task_id_not_str"]),
    ({"task_id": False}, ["task_id_not_str"]),
    ({"scenario_id": {}}, ["scenario_id_not_str"]),
    ({"rollout_index": "2"}, ["rollout_index_not_int"]),
    ({"rollout_index": 2.5}, ["rollout_index_not_int"]),
    ({"rollout_index": True}, ["rollout_index_not_int"]),
    ({"reward": "1"}, ["reward_not_number"]),
    ({"reward": [1]}, ["reward_not_number"]),
    ({"reward": 7}, ["reward_out_of_range"]),
    ({"reward": -0.5}, ["reward_out_of_range"]),
    ({"reward": 10**400}, ["reward_out_of_range"]),
    ({"reward": 1, "judge_status": "timeout"}, ["reward_without_ok"]),
    ({"judge_status": "weird"}, ["judge_status_unknown"]),
    ({"judge_status": 5}, ["judge_status_unknown"]),
    ({"markers": []}, ["markers_not_dict"]),
    ({"markers": {"chars": "5"}}, ["markers_item_not_number"]),
    ({"schema_version": "2"}, ["unknown_schema_version:2"]),
    ({"schema_version": 1}, ["unknown_schema_version:1"]),
    ({"schema_version": ["1"]}, ["unknown_schema_version:list"]),
    ({"schema_version": "a\nb é"}, ["unknown_schema_version:a?b??"]),
    ({"prompt": 5, "reward": 7}, ["prompt_not_str", "reward_out_of_range"]),
]


@pytest.mark.parametrize(("part", "codes"), STAMPED)
def test_codes_of_a_stamped_row(part, codes):
    assert schema.validate({**ROW, **part}) == codes


@pytest.mark.parametrize(("part", "codes"), STAMPED)
def test_the_json_schema_agrees(part, codes):
    assert CHECKER.is_valid({**ROW, **part}) == (codes == [])


@pytest.mark.parametrize("key", ["prompt", "steps", "final_text"])
def test_required_keys(key):
    row = {name: value for name, value in ROW.items() if name != key}
    assert schema.validate(row) == [f"{key}_missing"]
    assert not CHECKER.is_valid(row)
    assert schema.validate(row | {"schema_version": None}) == []


def test_the_json_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(schema.row_schema())
    assert schema.row_schema()["$schema"] == "https://json-schema.org/draft/2020-12/schema"


@pytest.mark.parametrize(
    ("row", "kind", "codes"),
    [
        (None, "row", ["not_a_dict"]),
        ([{}], "training", ["not_a_dict"]),
        ({}, "row", ["empty_row"]),
        ({}, "preference", ["empty_row"]),
        ({"anything": 1}, "row", []),
        ({1: 2}, "row", []),
        ({"prompt": 5, "reward": "x"}, "row", []),
        ({"prompt": "q"}, "training", ["messages_missing"]),
        ({"messages": []}, "training", ["messages_missing"]),
        ({"messages": float("nan")}, "training", ["messages_missing"]),
        ({"messages": "hello"}, "training", ["messages_not_list"]),
        ({"messages": ["hello"]}, "training", ["messages_item_not_dict"]),
        ({"messages": [{"content": "x"}]}, "training", ["messages_role_missing"]),
        ({"messages": [{"role": "user", "content": "x"}]}, "training", []),
        (ROW, "training", ["messages_missing"]),
        ({**ROW, "messages": [1]}, "training", ["messages_item_not_dict"]),
        ({"prompt": "q"}, "preference", ["chosen_missing", "rejected_missing"]),
        ({"chosen": "", "rejected": []}, "preference", ["chosen_missing", "rejected_missing"]),
        ({"chosen": 1, "rejected": [1]}, "preference", ["chosen_not_text", "rejected_not_text"]),
        ({"chosen": "a", "rejected": [{"role": "assistant", "content": "b"}]}, "preference", []),
        (ROW, "rows", ["unknown_kind:rows"]),
        (ROW, None, ["unknown_kind:NoneType"]),
        (None, [], ["unknown_kind:list", "not_a_dict"]),
        ({**ROW, "reward": float("nan"), "markers": {"a": float("nan")}}, "row", []),
        ({**ROW, "reward": float("inf")}, "row", ["reward_out_of_range"]),
        ({**ROW, "reward": np.float32(0.5), "markers": {"a": np.int64(3)}}, "row", []),
        ({**ROW, "reward": np.array([1])}, "row", ["reward_not_number"]),
        ({**ROW, "reward": 1j}, "row", ["reward_not_number"]),
        ({**ROW, "steps": ({},)}, "row", []),
        ({"schema_version": 10**5000}, "row", ["unknown_schema_version:int"]),
    ],
)
def test_codes_of_anything(row, kind, codes):
    assert schema.validate(row, kind=kind) == codes


class Hostile(dict):
    """A dict whose every reading raises."""

    def _raise(self, *args):
        raise RuntimeError("no")

    get = __getitem__ = __contains__ = __iter__ = __len__ = keys = values = items = __eq__ = __repr__ = __bool__ = (
        _raise
    )


class Shy:
    """A value that may not be looked at."""

    @property
    def __class__(self):
        raise RuntimeError("no")


@pytest.mark.parametrize(
    ("row", "codes"),
    [
        (Hostile(), ["empty_row"]),
        (Hostile(a=1), []),
        (Hostile(schema_version="1"), ["prompt_missing", "final_text_missing", "steps_missing"]),
        ({**ROW, "steps": [Hostile()], "markers": Hostile(a="x")}, ["markers_item_not_number"]),
        ({**ROW, "prompt": Shy()}, ["unreadable"]),
        (Shy(), ["unreadable"]),
    ],
    ids=["empty", "unstamped", "stamped", "inside", "shy", "all shy"],
)
def test_what_raises_when_it_is_read(row, codes):
    """Overridden methods are read past; a value that raises all the same is a problem of its own."""
    assert schema.validate(row) == codes
