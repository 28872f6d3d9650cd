"""Shards: merged, saved, loaded, grouped by another engine, always the bits of one pass over all rows."""

import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import whileai as wai
from whileai.table.flat import to_flat

REWARDS = (0, 1, 1, 0.1, 0.25, None)
SIZES = (1e300, 3.5, -2e18, 2.0**61, -1e-20)


def some_rows(seed, n=400):
    draw = random.Random(seed)
    rows = [
        {
            "task_id": f"t{draw.randrange(30)}",
            "prompt": f"p{draw.randrange(40)}",
            "reward": draw.choice(REWARDS),
            "markers": {"chars": draw.random() * 1e6, "size": draw.choice(SIZES)},
        }
        for _ in range(n)
    ]
    for row in rows[::7]:
        row["scenario_id"] = "another"
    for row in rows[::5]:
        del row["prompt"]
    for row in rows[::3]:
        row["markers"] = {"rare": 1}
    return rows


def bits(table):
    """All of a table, in a form that compares equal only where every bit does."""
    columns = {name: (str(values.dtype), values.tolist()) for name, values in to_flat(table).items()}
    return columns, table.n_rows, table.n_prompt_conflicts, table.n_id_conflicts


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), cuts=st.lists(st.integers(0, 400), max_size=6), turn=st.randoms())
def test_any_cut_and_order_of_shards_gives_the_bits_of_one_pass(seed, cuts, turn):
    rows = some_rows(seed)
    edges = [0, *sorted(cuts), len(rows)]
    shards = [wai.task_table(rows[a:b]) for a, b in pairwise(edges)]
    turn.shuffle(shards)
    assert bits(shards[0].merge(*shards[1:])) == bits(wai.task_table(rows))


def test_merging_is_associative():
    a, b, c = (wai.task_table(some_rows(seed, 50)) for seed in range(3))
    assert bits(a.merge(b).merge(c)) == bits(a.merge(b.merge(c))) == bits(wai.TaskTable.merge(c, a, b))


def test_merge_changes_no_shard():
    one, two = wai.task_table(some_rows(1)), wai.task_table(some_rows(2))
    before = bits(one), bits(two)
    one.merge(two)
    assert (bits(one), bits(two)) == before


def test_a_prompt_that_differs_between_shards_is_a_conflict():
    one, two = ([{"task_id": "t", "prompt": prompt, "reward": 1}] for prompt in ("p", "q"))
    merged = wai.task_table(one).merge(wai.task_table(two))
    assert merged.n_prompt_conflicts == wai.task_table(one + two).n_prompt_conflicts == 1
    assert wai.task_table(one).merge(wai.task_table(one)).n_prompt_conflicts == 0


def test_saved_and_loaded(tmp_path):
    table = wai.task_table(some_rows(3))
    table.save(tmp_path / "table.parquet")
    assert [file.name for file in tmp_path.iterdir()] == ["table.parquet"]
    assert bits(wai.TaskTable.load(tmp_path / "table.parquet")) == bits(table)


def test_an_empty_table_survives(tmp_path):
    wai.task_table([]).save(tmp_path / "table.parquet")
    assert len(wai.TaskTable.load(tmp_path / "table.parquet")) == 0


def test_a_quote_in_names_survives(tmp_path):
    rows = [{"task_id": 'it\'s "a"', "reward": 1, "markers": {"a'b\"c": 2.5, "n_p0": 1}}]
    path = tmp_path / "it's.parquet"
    wai.task_table(rows).save(path)
    assert bits(wai.TaskTable.load(path)) == bits(wai.task_table(rows))


def test_saved_shards_are_loaded_as_one(tmp_path):
    rows = some_rows(4)
    for place in range(5):
        wai.task_table(rows[place::5]).save(tmp_path / f"shard-{place}.parquet")
    whole = wai.task_table(rows)
    assert bits(wai.TaskTable.load(tmp_path / "shard-*.parquet")) == bits(whole)
    assert bits(wai.TaskTable.load(tmp_path)) == bits(whole)


def test_every_call_takes_a_saved_table_by_its_path(tmp_path):
    rows = some_rows(5)
    wai.task_table(rows).save(tmp_path / "a.parquet")
    assert wai.pass_at(tmp_path / "a.parquet").to_dict() == wai.pass_at(rows).to_dict()
    assert wai.compare(tmp_path / "a.parquet", rows).to_dict() == wai.compare(rows, rows).to_dict()


def test_a_file_of_rows_is_no_table(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "rows.parquet"
    duckdb.sql("select 'a' as task_id, 1 as reward").write_parquet(str(path))
    with pytest.raises(wai.RowError, match=r"must hold a table grouped by task; its columns lack task, n, passes"):
        wai.TaskTable.load(path)
    torn = tmp_path / "torn.parquet"
    torn.write_bytes(path.read_bytes()[:40])
    with pytest.raises(wai.RowError, match=r"torn\.parquet must be a Parquet file"):
        wai.TaskTable.load(torn)
    with pytest.raises(FileNotFoundError):
        wai.TaskTable.load(tmp_path / "none.parquet")


def test_only_tables_merge():
    with pytest.raises(TypeError, match=r"merge: others\[0\] must be a TaskTable; got \[\]"):
        wai.task_table([]).merge([])


@pytest.mark.parametrize(
    "line",
    [{"task": None}, {"passes": 3}, {"n_partial": -1}, {"reward_p0": 8}, {"reward_p1": 1 << 39}, {"n": 0, "passes": 0}],
    ids=["no name", "more passes than rows", "less than none", "a reward of 7", "half a reward", "no rows"],
)
def test_a_grouped_table_that_cannot_be_is_refused(line):
    pd = pytest.importorskip("pandas")
    flat = {
        "task": "b",
        "n": 2,
        "passes": 1,
        "n_partial": 0,
        "n_unjudged": 0,
        "reward_p0": 1,
        "reward_p1": 0,
        "reward_p2": 0,
    }
    good = {**flat, "task": "a"}
    assert wai.pass_at(pd.DataFrame([good, flat])).pass_at_1 == 0.5
    with pytest.raises(wai.RowError, match="data row 1: the line must be counts of one named task"):
        wai.pass_at(pd.DataFrame([good, {**flat, **line}]))


def test_lines_of_one_task_are_added_up(tmp_path):
    pd = pytest.importorskip("pandas")
    rows = some_rows(5)
    shards = [wai.task_table(rows[start::3]) for start in range(3)]
    frame = pd.concat([pd.DataFrame(to_flat(shard)) for shard in shards])
    assert wai.pass_at(frame).to_dict() == wai.pass_at(rows).to_dict()
    # sums beyond 64 bits stand there as text
    frame.astype({name: str for name in frame if frame[name].dtype == object}).to_parquet(tmp_path / "all.parquet")
    assert wai.compare(tmp_path / "all.parquet", rows).to_dict() == wai.compare(rows, rows).to_dict()
