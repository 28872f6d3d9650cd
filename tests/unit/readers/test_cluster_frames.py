"""Frames of cluster engines, each on a local engine; skipped where the engine is not installed."""

import warnings

import pytest

import whileai as wai

ROWS = [
    {"task_id": f"t{i // 4}", "prompt": f"Question {i // 4}?", "final_text": "x", "reward": i % 3 % 2}
    for i in range(40)
]


def test_ray_dataset():
    ray = pytest.importorskip("ray", reason="ray is not installed")
    pytest.importorskip("ray.data", reason="ray[data] is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Ray's own
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, ignore_reinit_error=True)
        try:
            data = ray.data.from_items(ROWS)
            assert wai.pass_at(data).to_dict() == wai.pass_at(ROWS).to_dict()
            assert len(wai.select(data, mode="rl")) == len(wai.select(ROWS, mode="rl"))
        finally:
            ray.shutdown()


def test_spark_frame():
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    session = sql.SparkSession.builder.master("local[2]").getOrCreate()
    try:
        assert wai.pass_at(session.createDataFrame(ROWS)).to_dict() == wai.pass_at(ROWS).to_dict()
    finally:
        session.stop()


def test_dask_frame():
    frames = pytest.importorskip("dask.dataframe", reason="dask is not installed")
    import pandas as pd

    assert wai.pass_at(frames.from_pandas(pd.DataFrame(ROWS), npartitions=3)).to_dict() == wai.pass_at(ROWS).to_dict()
