"""Frames of cluster engines, each on a local engine; skipped where the engine is not installed."""

import shutil
import warnings

import pytest

import whileai as wai
from whileai.table.flat import to_flat

REWARDS = (0, 1, 1, 0.1, 0.3, None)
ROWS = [
    {
        "task_id": f"t{i * 7 % 11}",
        "scenario_id": f"t{i * 7 % 11}" if i % 5 else "another",
        "prompt": f"Question {i * 7 % 11}?" if i % 13 else None,
        "final_text": "x",
        "reward": REWARDS[i % 6],
        "markers": {"chars": i / 7, "it's `odd`": -1e-20 * i if i % 3 else None},
    }
    for i in range(240)
]
BAD = [*ROWS[:150], {**ROWS[150], "reward": 7.0}, *ROWS[151:]]


def bits(table):
    return {name: (str(values.dtype), values.tolist()) for name, values in to_flat(table).items()}


@pytest.fixture(scope="module")
def ray():
    module = pytest.importorskip("ray", reason="ray is not installed")
    pytest.importorskip("ray.data", reason="ray[data] is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Ray's own
        module.init(num_cpus=2, include_dashboard=False, log_to_driver=False, ignore_reinit_error=True)
        yield module
        module.shutdown()


@pytest.fixture(scope="module")
def spark():
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    if shutil.which("java") is None:
        pytest.skip("Java is not installed")
    session = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    yield session
    session.stop()


def grouped(data, monkeypatch):
    """The table of data that must be grouped by its own engine: rows are not to be had."""
    with monkeypatch.context() as patch:
        patch.setattr("whileai.table.intake._Intake.from_rows", None)
        return wai.task_table(data)


@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_ray_dataset(ray, monkeypatch):
    data = ray.data.from_items(ROWS, override_num_blocks=5)
    assert bits(grouped(data, monkeypatch)) == bits(wai.task_table(ROWS))
    assert wai.pass_at(data).to_dict() == wai.pass_at(ROWS).to_dict()
    assert len(wai.select(data, mode="rl")) == len(wai.select(ROWS, mode="rl"))


@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_ray_dataset_with_a_bad_row(ray):
    with pytest.raises(wai.RowError, match=r"row 150: reward must be a number in \[0, 1\]; got 7.0"):
        wai.pass_at(ray.data.from_items(BAD, override_num_blocks=5))


SPARK_MARKERS = ["map<string,double>", "struct<chars: double, `it's ``odd```: double>"]


@pytest.mark.parametrize("markers", SPARK_MARKERS, ids=["map", "struct"])
def test_spark_frame(spark, monkeypatch, markers):
    frame = spark.createDataFrame([_floats(row) for row in ROWS], _spark_schema(markers))
    assert bits(grouped(frame, monkeypatch)) == bits(wai.task_table(ROWS))
    assert wai.pass_at(frame).to_dict() == wai.pass_at(ROWS).to_dict()


def test_spark_frame_with_what_only_a_careful_reading_can_judge(spark):
    frame = spark.createDataFrame([_floats(row) for row in BAD], _spark_schema(SPARK_MARKERS[0]))
    with pytest.raises(wai.RowError, match=r"row 150: reward must be a number in \[0, 1\]; got 7.0"):
        wai.pass_at(frame)
    huge = [{**_floats(ROWS[1]), "markers": {"chars": 1e300}}]
    table = wai.task_table(spark.createDataFrame(huge, _spark_schema(SPARK_MARKERS[0])))
    assert table.markers["chars"].mean.tolist() == [1e300]


def _floats(row):
    return {**row, "reward": None if row["reward"] is None else float(row["reward"])}


def _spark_schema(markers):
    return f"task_id string, scenario_id string, prompt string, final_text string, reward double, markers {markers}"


def test_dask_frame():
    frames = pytest.importorskip("dask.dataframe", reason="dask is not installed")
    import pandas as pd

    assert wai.pass_at(frames.from_pandas(pd.DataFrame(ROWS), npartitions=3)).to_dict() == wai.pass_at(ROWS).to_dict()
