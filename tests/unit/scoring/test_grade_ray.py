"""`grade(engine="ray")`: verdict by verdict what the local call gives, on a Ray of two workers on this machine."""

from __future__ import annotations

import importlib.util
import sys
import threading
import time

import pytest

import whileai as wai

RAY = importlib.util.find_spec("ray") is not None
needs_ray = pytest.mark.skipif(not RAY, reason="Ray is not installed: pip install 'whileai[ray]'")
#: Ray's own settings object warns of its own defaults.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:ray.data.context")

ROWS = [
    {"task_id": i // 2, "prompt": "p", "final_text": f"The answer is {i % 7}.", "answer": str(i % 5), "n": i}
    | ({"extra": {"a": [1, None]}} if i % 3 else {"extra": "text"})
    for i in range(150)
] + [{"task_id": "none", "prompt": "p", "final_text": "x"}]


@pytest.fixture(scope="module")
def cluster():
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield ray
    ray.shutdown()


def function():
    """A judge with every kind of verdict, defined here so that it travels by value."""

    def judge(row):
        if row["task_id"] == 3:
            raise ValueError("no three")
        if row["task_id"] == 4:
            return None
        return {"reward": row["final_text"].count("1") / 2, "reason": "é", "markers": {"n": 3}, "seen": row["extra"]}

    return judge


JUDGES = {
    "Numeric": wai.verify.Numeric,
    "MathEqual": wai.verify.MathEqual,
    "ExactMatch": wai.verify.ExactMatch,
    "a function": function,
    "All": lambda: wai.verify.All([wai.verify.Numeric(), wai.verify.Regex(r"(\d)", group=1)]),
}


@needs_ray
@pytest.mark.parametrize("name", JUDGES)
def test_verdict_by_verdict_as_the_local_call(cluster, name):
    judge = JUDGES[name]()
    rows = ROWS[:-1] if name == "a function" else ROWS
    assert wai.grade(rows, judge, engine="ray") == wai.grade(rows, judge)


@needs_ray
def test_a_ray_dataset_gives_plain_rows_in_its_order(cluster):
    rows = [{key: row[key] for key in ("task_id", "final_text", "answer", "n")} for row in ROWS[:60]]
    dataset = cluster.data.from_items(rows, override_num_blocks=5)
    graded = wai.grade(dataset, wai.verify.Numeric(), engine="ray")
    assert graded == wai.grade(rows, wai.verify.Numeric())
    assert {type(value) for row in graded for value in row.values()} == {int, str}


@needs_ray
def test_a_stuck_verdict_is_stopped_beside_its_judge(cluster):
    def judge(row):
        while row["n"] == 7:
            pass
        return 1

    start = time.monotonic()
    graded = wai.grade(ROWS[:12], judge, engine="ray", timeout=1)
    assert time.monotonic() - start < 60
    assert [row["judge_status"] for row in graded] == ["timeout" if n == 7 else "ok" for n in range(12)]


@needs_ray
def test_it_resumes_and_shares_its_file_with_local_runs(cluster, tmp_path):
    file = tmp_path / "verdicts.jsonl"
    judge = wai.verify.Numeric()
    wai.grade(ROWS[:40], judge, engine="ray", resume=file)
    assert file.read_bytes().count(b"\n") == 40
    assert wai.grade(ROWS, judge, resume=file) == wai.grade(ROWS, judge)
    assert wai.grade(ROWS, judge, engine="ray", resume=file) == wai.grade(ROWS, judge)
    assert file.read_bytes().count(b"\n") == len(ROWS)


@needs_ray
def test_a_judge_that_cannot_travel_is_named(cluster):
    lock = threading.Lock()

    def judge(row):
        with lock:
            return 1

    with pytest.raises(wai.ScorerError, match=r"grade: the judge .*judge cannot be sent to Ray's workers \(TypeError"):
        wai.grade(ROWS, judge, engine="ray")


@needs_ray
def test_no_rows(cluster):
    assert wai.grade([], wai.verify.Numeric(), engine="ray") == []


def test_without_ray_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(wai.MissingExtra, match=r"grade: engine='ray' needs Ray: pip install 'whileai\[ray\]'"):
        wai.grade(ROWS, wai.verify.Numeric(), engine="ray")


@pytest.mark.parametrize(
    ("engine", "said"),
    [
        ("rey", "grade: engine must be None or 'ray'; got 'rey'. Did you mean ray?"),
        ("spark", "grade: engine must be None or 'ray'; got 'spark'. Known here: ray."),
        (1, "grade: engine must be None or 'ray'; got 1. Known here: ray."),
    ],
)
def test_an_engine_that_is_not_there(engine, said):
    with pytest.raises(wai.ParamError) as error:
        wai.grade(ROWS, wai.verify.Numeric(), engine=engine)
    assert str(error.value) == said
