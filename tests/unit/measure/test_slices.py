"""`by=`: each slice has its paired change, Holm-adjusted, and slices too small to say are named."""

from __future__ import annotations

import pytest

import whileai as wai
from whileai.stats import multiple


def pair(sizes, wins, k=1):
    """Arms whose slice `name` has `sizes[name]` tasks, of which so many in ten are won and none lost."""
    before, after = [], []
    for name, n in sizes.items():
        for i in range(n):
            for _ in range(k):
                row = {"task_id": f"{name}-{i}", "reward": 0, "kind": name, "doc": f"{name}-{i // 3}"}
                before.append(row)
                after.append({**row, "reward": int(i % 10 < wins[name])})
    return before, after


SIZES = {"wide": 40, "flat": 30, "six": 6, "five": 5, "one": 1}
WINS = {"wide": 8, "flat": 0, "six": 10, "five": 10, "one": 10}


def codes(result):
    return [note.code for note in result.notes]


def without_slices(result):
    return {name: value for name, value in result.to_dict().items() if name not in ("slices", "notes")}


def test_slices_are_the_comparisons_of_their_rows():
    before, after = pair(SIZES, WINS)
    result = wai.compare(before, after, by="kind")
    assert list(result.slices) == sorted(SIZES)
    raw = []
    for name, n in SIZES.items():
        alone = wai.compare(*([row for row in arm if row["kind"] == name] for arm in (before, after)))
        delta = result.slices[name]
        for field in ("before", "after", "delta", "interval", "p_value", "n_paired"):
            assert delta[field] == alone[field], (name, field)
        assert delta.n_paired == n
        raw.append(delta.p_value)
    said = sorted(set(SIZES) - {"five", "one"})
    adjusted = multiple.holm([result.slices[name].p_value for name in said]).tolist()
    assert [result.slices[name].p_adjusted for name in said] == adjusted
    assert without_slices(result) == without_slices(wai.compare(before, after))


def test_slices_too_small_to_say_are_named_and_cost_the_others_nothing():
    before, after = pair(SIZES, WINS)
    result = wai.compare(before, after, by="kind")
    verdicts = {name: delta.verdict for name, delta in result.slices.items()}
    assert verdicts == {
        "wide": "improved", "flat": "no_difference", "six": "no_difference",
        "five": "insufficient_data", "one": "insufficient_data",
    }  # fmt: skip
    assert result.slices["five"].p_adjusted is None
    note = next(note for note in result.notes if note.code == "small_slices")
    assert note.text == "'five' and 'one' have fewer than 6 paired tasks, too few for any result to prove a change."
    assert "too little data" in str(result)
    kept = [[row for row in arm if row["kind"] not in ("five", "one")] for arm in (before, after)]
    fewer = wai.compare(*kept, by="kind").slices
    assert {name: delta for name, delta in result.slices.items() if name in fewer} == fewer


def test_what_is_too_few_depends_on_the_level():
    before, after = pair({"x": 7, "y": 8, "z": 30}, {"x": 10, "y": 10, "z": 5})
    result = wai.compare(before, after, by="kind", level=0.99)
    assert result.slices["x"].verdict == "insufficient_data"
    assert result.slices["y"].verdict != "insufficient_data"
    note = next(note for note in result.notes if note.code == "small_slices")
    assert note.text.startswith("'x' has fewer than 8 paired tasks")


def test_slices_over_clusters():
    before, after = pair({"wide": 60, "few": 15}, {"wide": 8, "few": 10})
    result = wai.compare(before, after, by="kind", cluster="doc")
    assert {name: (delta.n_paired, delta.n_clusters) for name, delta in result.slices.items()} == {
        "few": (15, 5),
        "wide": (60, 20),
    }
    assert (result.slices["few"].verdict, result.slices["wide"].verdict) == ("insufficient_data", "improved")
    note = next(note for note in result.notes if note.code == "small_slices")
    assert note.text.startswith("'few' has fewer than 6 paired clusters,")
    alone = wai.compare(*([row for row in arm if row["kind"] == "wide"] for arm in (before, after)), cluster="doc")
    assert result.slices["wide"].interval == alone.interval
    assert result.slices["wide"].p_value == alone.p_value


def test_rows_of_one_task_in_several_slices():
    """A key that differs within tasks, as the temperature of the try: the slices pair those rows alone."""
    before, after = pair({"a": 20}, {"a": 6}, k=2)
    for arm in (before, after):
        for i, row in enumerate(arm):
            row["try"] = i % 2
    before[0] = {**before[0], "reward": 1}
    for cluster in (None, "doc"):
        result = wai.compare(before, after, by="try", cluster=cluster)
        for place in (0, 1):
            alone = wai.compare(before[place::2], after[place::2], cluster=cluster)
            assert result.slices[str(place)].interval == alone.interval
            assert result.slices[str(place)].p_value == alone.p_value
            assert result.slices[str(place)].n_paired == 20


def test_what_is_in_no_slice_is_counted():
    before, after = pair({"a": 20, "b": 20}, {"a": 5, "b": 5})
    for row in (before[0], before[1], after[5]):
        row["kind"] = None
    after[30]["kind"] = "a"
    result = wai.compare(before, after, by="kind")
    assert {name: delta.n_paired for name, delta in result.slices.items()} == {"a": 17, "b": 19}
    text = [str(note) for note in result.notes]
    assert "note no_slice: 2 rows of before and 1 row of after have no 'kind' and are in no slice." in text
    assert "note slices_differ: 'kind' differs between the arms in 1 task, which is in no slice." in text


@pytest.mark.parametrize("n", [20, 21, 300])
def test_many_slices_print_those_least_likely_to_be_chance(n):
    names = [f"s{i:03}" for i in range(n)]
    sizes = dict.fromkeys(names, 8)
    result = wai.compare(*pair(sizes, {name: i % 9 for i, name in enumerate(names)}), by="kind")
    assert list(result.slices) == names
    lines = [line.split()[0] for line in str(result).splitlines() if line.startswith("  s") and "slice" not in line]
    assert len(lines) == 20
    if n == 20:
        assert lines == names
    else:
        order = sorted(result.slices, key=lambda name: (result.slices[name].p_value, -result.slices[name].delta, name))
        assert lines == order[:20]
        assert f"  and {n - 20} more in .slices: {n - 20} no difference" in str(result)


def test_the_smallest_are_named_up_to_five():
    names = [f"s{i}" for i in range(9)]
    result = wai.compare(*pair(dict.fromkeys(names, 2), dict.fromkeys(names, 5)), by="kind")
    note = next(note for note in result.notes if note.code == "small_slices")
    assert note.text.startswith("'s0', 's1', 's2', 's3', 's4' and 4 more have fewer than 6 paired tasks,")


def test_the_order_of_rows_changes_nothing():
    before, after = pair(SIZES, WINS)
    one = wai.compare(before, after, by="kind")
    assert wai.compare(before[::-1], iter(after[::-1]), by="kind").to_dict() == one.to_dict()
