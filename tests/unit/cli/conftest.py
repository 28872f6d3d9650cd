"""A folder of files for `wai` to read."""

from __future__ import annotations

import gzip
import json

import pytest

from cli_helpers import arm, mixed, write


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("cli")
    (home / "runs").mkdir()
    write(home / "low.jsonl", arm(10))
    write(home / "high.jsonl", arm(30))
    write(home / "high.jsonl.gz", arm(30))
    write(home / "long.jsonl", arm(30, chars=90))
    for name, passes in (("a", 9), ("b", 12), ("c", 11)):
        write(home / "runs" / f"{name}.jsonl", arm(passes))
    (home / "rows.json").write_text(json.dumps({"rows": arm(30)}))
    (home / "rows.csv").write_text(
        "task_id,reward\n" + "".join(f"{row['task_id']},{row['reward']}\n" for row in arm(30))
    )
    bad = arm(30)
    bad[17]["reward"] = "1.0"
    write(home / "bad.jsonl", bad)
    (home / "broken.jsonl").write_text('{"task_id": 1, "reward": 1}\n{"task_id": 2\n')
    (home / "cut.jsonl.gz").write_bytes(gzip.compress(b'{"task_id": 1, "reward": 1}\n' * 5000)[:60])
    (home / "not.parquet").write_text("text")
    write(home / "other.jsonl", [{"task_id": "z", "reward": 1}])
    write(home / "mixed.jsonl", mixed())
    return home
