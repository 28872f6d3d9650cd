"""Files of rows: every format, plain and packed, and what each says about a damaged one."""

from __future__ import annotations

import csv
import gzip
import json
import math
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whileai as wai

ROWS = [
    {"task_id": "a", "prompt": 'p, "q"\nr', "final_text": "é 🙂", "reward": 1, "markers": {"chars": 3.5}},
    {"task_id": "0", "prompt": "q", "final_text": "", "reward": None, "markers": None},
    {"task_id": "b", "prompt": "p", "final_text": "x", "reward": 0.25, "markers": {"chars": 4.0}},
]


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def as_csv(rows, delimiter=","):
    import io

    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    for row in rows:
        writer.writerow({**row, "markers": row["markers"] and json.dumps(row["markers"])})
    return text.getvalue().encode()


def zstd(data):
    import zstandard

    return zstandard.compress(data)


FILES = {
    "rows.jsonl": lines(ROWS),
    "rows.ndjson": lines(ROWS),
    "ROWS.JSONL": lines(ROWS),
    "rows.log": lines(ROWS),
    "rows.json": json.dumps(ROWS).encode(),
    "pretty.json": json.dumps(ROWS, indent=2).encode(),
    "kept.json": json.dumps({"rows": ROWS, "model": "m"}).encode(),
    "lines.json": lines(ROWS),
    "rows.csv": as_csv(ROWS),
    "rows.tsv": as_csv(ROWS, "\t"),
    "rows.jsonl.gz": gzip.compress(lines(ROWS), mtime=0),
    "rows.csv.gz": gzip.compress(as_csv(ROWS), mtime=0),
    "rows.json.gz": gzip.compress(json.dumps(ROWS).encode()),
    "rows.jsonl.zst": zstd(lines(ROWS)),
    "bom.jsonl": b"\xef\xbb\xbf" + lines(ROWS),
    "bom.csv": b"\xef\xbb\xbf" + as_csv(ROWS),
    "bom.json": b"\xef\xbb\xbf" + json.dumps(ROWS).encode(),
    "blank.jsonl": b"\n\n" + lines(ROWS).replace(b"\n", b"\r\n  \r\n"),
    "no end.jsonl": lines(ROWS).rstrip(),
    "[odd] name*.jsonl": lines(ROWS),
}


@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_same_rows(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(FILES[name])
    assert wai.read(path) == ROWS
    assert wai.read(str(path)) == ROWS


@pytest.mark.parametrize("name", ["rows.parquet", "run [1].parquet", "model=m/task_id=z/rows.parquet"])
def test_parquet_whatever_its_path(tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(ROWS), path)
    assert wai.read(path) == ROWS


def test_what_strict_json_refuses(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"reward": NaN}\n{"t": "\\ud800", "n": 123456789012345678901234567890}\n', encoding="utf-8")
    first, second = wai.read(path)
    assert math.isnan(first["reward"])
    assert second == {"t": "\ud800", "n": 123456789012345678901234567890}


def test_cells_of_a_csv(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(
        "task_id,final_text,reward,truncated,info,markers,steps\n"
        "01,,True,False,,,[]\n"
        "1e3,007,0.5,true,x,not json,\n"
        "nan,x,,,5,{},\n",
        encoding="utf-8",
    )
    assert wai.read(path) == [
        {
            "task_id": "01",
            "final_text": "",
            "reward": True,
            "truncated": False,
            "info": None,
            "markers": None,
            "steps": [],
        },
        {
            "task_id": "1e3",
            "final_text": "007",
            "reward": 0.5,
            "truncated": True,
            "info": "x",
            "markers": "not json",
            "steps": None,
        },
        {
            "task_id": "nan",
            "final_text": "x",
            "reward": None,
            "truncated": None,
            "info": "5",
            "markers": {},
            "steps": None,
        },
    ]


def test_a_long_csv_cell(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(f"task_id,final_text\na,{'x' * 300_000}\n", encoding="utf-8")
    limit = csv.field_size_limit()
    assert len(wai.read(path)[0]["final_text"]) == 300_000
    assert csv.field_size_limit() == limit


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "r.jsonl",
            b'{"a": 1}\n\n{"a": \n',
            "read: {path} line 3 must be a JSON object; got '{{\"a\":'. Mend or remove the line.",
        ),
        ("r.json", b"[1]", "read: {path} row 0: the row must be a JSON object; got 1."),
        ("r.json", b"5", "read: {path} row 0: the row must be a JSON object; got 5."),
        ("r.json", b"", "read: {path} must be valid JSON; got ''. Expecting value: line 1 column 1 (char 0)."),
        (
            "r.json",
            b'["\xff"]',
            (
                "read: {path} must be valid JSON; got '[\"\ufffd\"]'. "
                "'utf-8' codec can't decode byte 0xff in position 2: invalid start byte."
            ),
        ),
        (
            "r.csv",
            b"task_id,final_text\na,no, really\n",
            (
                "read: {path} row 0: the row must be as many cells as the header has; "
                "got ['a', 'no', [' really']]. Quote cells that hold a comma."
            ),
        ),
        (
            "r.jsonl.gz",
            gzip.compress(b'{"a": 1}\n' * 999, mtime=0)[:50],
            (
                "read: {path} must be a whole compressed file; "
                "got Compressed file ended before the end-of-stream marker was reached."
            ),
        ),
    ],
)
def test_damaged_files(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(wai.RowError) as error:
        wai.read(path)
    assert str(error.value) == message.format(path=path)


def test_a_bad_reward_in_a_file_names_the_file(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(lines([{"task_id": 1, "reward": 1}, {"task_id": 1, "reward": "1"}]))
    with pytest.raises(wai.RowError) as error:
        wai.pass_at(path)
    assert str(error.value) == f"pass_at: {path} row 1: reward must be a number in [0, 1]; got '1'. Use float()."
    assert (error.value.index, error.value.key, error.value.value) == (1, "reward", "1")


@pytest.mark.parametrize(
    "path", ["", "none.jsonl", "none-*.jsonl", "{'a': 1}" * 100, "a\0b", "\ud800.jsonl", "~/none.jsonl"], ids=ascii
)
def test_a_path_that_names_no_file(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    for call in (wai.read, wai.pass_at, lambda data: wai.compare([], data)):
        with pytest.raises(FileNotFoundError) as error:
            call(path)
        assert len(str(error.value)) < 400


def test_files_by_glob_and_by_folder(tmp_path):
    for i, name in enumerate(["b.jsonl", "a.jsonl.gz", "c.csv", "notes.txt", "sub/d.jsonl"]):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        content = f"task_id\n{i}\n".encode() if "csv" in name else lines([{"task_id": str(i)}])
        path.write_bytes(gzip.compress(content, mtime=0) if name.endswith("gz") else content)
    ids = lambda path: [row["task_id"] for row in wai.read(path)]  # noqa: E731
    assert ids(tmp_path) == ["1", "0", "2"]
    assert ids(tmp_path / "*.jsonl*") == ["1", "0"]
    assert ids(str(tmp_path / "**" / "*.jsonl")) == ["0", "4"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match=r"^read: no file of rows lies in the folder .*\.$"):
        wai.read(tmp_path / "empty")


def test_an_empty_file_has_no_rows(tmp_path):
    for name in ("rows.jsonl", "rows.csv", "rows"):
        (tmp_path / name).write_bytes(b"")
        assert wai.read(tmp_path / name) == []
    assert wai.pass_at(tmp_path / "rows.jsonl").n_rows == 0


def test_path_like(tmp_path):
    class Where(os.PathLike):
        def __fspath__(self):
            return str(tmp_path / "rows.jsonl")

    (tmp_path / "rows.jsonl").write_bytes(lines(ROWS))
    assert wai.read(Where()) == ROWS


def test_a_folder_of_rows_beside_other_files(tmp_path):
    (tmp_path / "rows.jsonl").write_bytes(lines(ROWS))
    (tmp_path / "settings.json").write_text('{"temperature": 1}')
    rows = wai.read(tmp_path)
    assert rows == ROWS
    assert rows.report.skipped == {"file that is neither rows nor a log": 1}
    with pytest.raises(wai.ParamError, match=r"settings\.json must be a file of rows or a log"):
        wai.read(tmp_path / "*.json")


def test_a_folder_of_folders(tmp_path):
    for i in range(3):
        path = tmp_path / f"run-{i}" / "rows.jsonl"
        path.parent.mkdir()
        path.write_bytes(lines(ROWS[i : i + 1]))
    assert wai.read(tmp_path) == ROWS


def test_a_folder_whose_own_files_hold_no_rows_is_looked_through_below(tmp_path):
    (tmp_path / "settings.json").write_text('{"temperature": 1}')
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "rows.jsonl").write_bytes(lines(ROWS))
    rows = wai.read(tmp_path)
    assert rows == ROWS
    assert rows.report.skipped == {"file that is neither rows nor a log": 1}
