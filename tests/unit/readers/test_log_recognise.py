"""What a file is, by its content: the kinds, the plain rows that pass, the words for what no reader takes."""

from __future__ import annotations

import gzip
import io
import json
import sqlite3
import sys
import tarfile
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whileai as wai
from whileai.readers.logs.head import SIZE, head_of
from whileai.readers.logs.registry import FORMATS, names, recognise, recognise_all

ROW = {"task_id": "a", "prompt": "p", "final_text": "x", "reward": 1}
LOG = {"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}, "samples": []}
LM_EVAL = {
    "doc_id": 0,
    "doc": {},
    "resps": [["x"]],
    "filtered_resps": ["x"],
    "metrics": ["em"],
    "em": 1.0,
    "filter": "none",
}


def parquet_bytes():
    buffer = io.BytesIO()
    pq.write_table(pa.table({"task_id": ["a"], "reward": [1]}), buffer)
    return buffer.getvalue()


def zip_bytes(**members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def zstd_bytes(data):
    zstd = (
        pytest.importorskip("backports.zstd") if sys.version_info < (3, 14) else pytest.importorskip("compression.zstd")
    )
    return zstd.compress(data)


KINDS = [
    ("lines", lines(ROW, ROW)), ("json", json.dumps(ROW).encode()), ("json", json.dumps([ROW], indent=2).encode()),
    ("json", json.dumps(LOG, indent=2).encode()), ("csv", b"task_id,reward\na,1\n"), ("csv", b"a\tb\nc\td\n"),
    ("parquet", parquet_bytes()), ("zip", zip_bytes(a="b")), ("empty", b""), ("empty", b" \n\xef\xbb\xbf"),
    ("text", b"Dear all,\nplease find attached\n"), ("text", b"{oops"),
    ("text", b"[INFO] began\n[INFO] ended\n"), ("text", b"[2026-01-01] began\n"), ("json", b"[3, 4]"),
    ("binary", b"\x89PNG\r\n\x1a\n\x00\x00"),
    ("binary", "{}".encode("utf-16")),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "data"), KINDS)
def test_kinds_by_content_through_packing_and_under_any_name(tmp_path, kind, data):
    for name in ("file", "file.jsonl", "file.parquet", "file.eval"):
        for packed in (data, gzip.compress(data), zstd_bytes(data)):
            if packed is not data and kind in ("zip", "parquet"):
                continue
            path = tmp_path / name
            path.write_bytes(packed)
            found = head_of(path).kind
            one_line = kind == "json" and data.startswith(b"{") and b"\n" not in data
            assert found == ("lines" if one_line and name.endswith(".jsonl") else kind)


@pytest.mark.parametrize("extra", [0, 1, SIZE, 3 * SIZE])
def test_the_beginning_of_a_large_file_is_enough(tmp_path, extra):
    path = tmp_path / "log.json"
    path.write_text(json.dumps(LOG | {"samples": [{"id": i, "input": "x" * 50} for i in range(extra // 60)]}))
    head = head_of(path)
    assert (head.kind, head.keys[:3], head.whole) == ("json", ("version", "status", "eval"), extra < SIZE)
    assert recognise(path).format.name == "inspect"


PLAIN = [
    lines(ROW), lines({"question": "q", "score": 1}, {"question": "r"}), json.dumps([{"a": 1}]).encode(), b"a,b\n1,2\n",
    json.dumps(ROW, indent=1).encode(), json.dumps({"rows": [ROW]}).encode(), parquet_bytes(), b"",
    lines(ROW | LM_EVAL),
]  # fmt: skip


@pytest.mark.parametrize("data", PLAIN)
def test_plain_rows_need_no_reader(tmp_path, data):
    (tmp_path / "file").write_bytes(data)
    assert recognise(tmp_path / "file") is None


def test_a_row_of_ours_asks_no_format(tmp_path, monkeypatch):
    monkeypatch.setattr("whileai.readers.logs.registry._first_that_fits", lambda _: pytest.fail("a format was asked"))
    (tmp_path / "rows.jsonl").write_bytes(lines(ROW))
    assert recognise(tmp_path / "rows.jsonl") is None


def database(tmp_path):
    with sqlite3.connect(tmp_path / "base") as base:
        base.execute("create table t (a)")
    base.close()
    return (tmp_path / "base").read_bytes()


def tar(tmp_path):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        info = tarfile.TarInfo("rows.jsonl")
        info.size = 3
        archive.addfile(info, io.BytesIO(b"abc"))
    return buffer.getvalue()


STRANGERS = [
    (b"%PDF-1.7\n\x00", "a PDF document"), (b"\x89PNG\r\n\x1a\n\x00", "a PNG image"), (database, "an SQLite database"),
    (tar, "a tar archive, which is not read here; unpack it"), (b"\x80\x04\x95\x00", "a Python pickle"),
    (zip_bytes(notes="x", pages="y"), "a zip archive with notes, pages"), (b"\x7fELF\x00\x01", "a program"),
    (zip_bytes(a="b")[:-25], "a zip archive that is cut short or damaged"), ("{}".encode("utf-16"), "UTF-16 text"),
    (b"\x00\x01\x02", "a binary file of a kind that is not known here"), (b"Dear all,\nhello\n", "text: 'Dear all,'"),
    (b"<!doctype html>\n<html></html>", "an HTML page"),
    (json.dumps({"a": 1, "b": [2], "c": None}).encode(), "a JSON object with the keys a, b, c"),
    (json.dumps({"loss": [1]}, indent=2).encode(), "a JSON object with the keys loss"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "looks"), STRANGERS, ids=[looks for _, looks in STRANGERS])
def test_what_no_reader_takes_is_named_with_the_formats_tried(tmp_path, data, looks):
    path = tmp_path / "thing"
    path.write_bytes(data(tmp_path) if callable(data) else data)
    for packed in (False, True):
        if packed:
            path.write_bytes(gzip.compress(path.read_bytes()))
            looks = "a zip archive inside another packing" if "zip" in looks else looks
        with pytest.raises(wai.ParamError) as caught:
            wai.read(path)
        assert f"It looks like {looks}" in str(caught.value)
        assert "formats tried: inspect, lm-eval" in str(caught.value)
        assert str(caught.value).startswith(f"read: {path} must be a file of rows or a log that is known here.")


def test_a_field_map_makes_an_object_a_row(tmp_path):
    path = tmp_path / "one.json"
    path.write_text(json.dumps({"question": "q", "score": 1}, indent=1))
    with pytest.raises(wai.ParamError, match="with the keys question, score"):
        recognise(path)
    assert recognise(path, fields=("question",)) is None


def test_a_format_that_does_not_exist_and_one_that_does_not_fit(tmp_path):
    (tmp_path / "rows.jsonl").write_bytes(lines({"doc_id": 0}))
    with pytest.raises(wai.ParamError, match=r"format must be one of .*; got 'lm_eval'. Did you mean lm-eval\?"):
        recognise(tmp_path / "rows.jsonl", "lm_eval")
    with pytest.raises(wai.ParamError, match="must be a file of lm-eval samples where format='lm-eval'"):
        recognise(tmp_path / "rows.jsonl", "lm-eval")
    assert recognise(tmp_path / "rows.jsonl", "rows") is None


def test_a_file_that_is_not_there():
    with pytest.raises(FileNotFoundError):
        recognise("nowhere.eval")


def test_every_format_has_a_name_a_description_and_answers_for_any_head(tmp_path):
    assert len(set(names())) == len(names())
    for entry in FORMATS:
        format = entry.format()
        assert format.name == entry.name
        assert format.what[0].islower()
        for place, (_, data) in enumerate(KINDS):
            (tmp_path / str(place)).write_bytes(data)
            assert format.sniff(head_of(tmp_path / str(place))) in (True, False)


def test_files_of_one_eval_keep_their_ids_and_of_several_get_a_prefix(tmp_path):
    for name in ("samples_one_2026-01-01T10-00-00.000000.jsonl", "samples_one_2026-01-02T10-00-00.000000.jsonl"):
        (tmp_path / name).write_bytes(lines(LM_EVAL))
    files = sorted(tmp_path.iterdir())
    assert [next(reader.rows("read"))["task_id"] for reader in recognise_all(files)] == ["0", "0"]
    (tmp_path / "more.jsonl").write_bytes(lines(LM_EVAL))
    files = sorted(tmp_path.iterdir())
    ids = [next(reader.rows("read"))["task_id"] for reader in recognise_all(files)]
    assert ids == ["more/0", "one/0", "one/0"]


def test_importing_the_registry_is_light(run_script):
    code = """
    import sys
    import whileai.readers.logs.registry
    heavy = {"numpy", "scipy", "duckdb", "msgspec", "pydantic", "tqdm", "backports"}
    print(sorted(heavy & {name.partition(".")[0] for name in sys.modules}))
    """
    assert run_script(code).stdout == "[]\n"


@pytest.mark.parametrize("kind", ["lines", "json"])
def test_a_read_can_be_repeated_and_is_counted_anew(tmp_path, kind):
    path = tmp_path / "log"
    path.write_bytes(lines(LM_EVAL, LM_EVAL | {"doc_id": 1}) if kind == "lines" else json.dumps([LM_EVAL]).encode())
    reader = recognise(path)
    first = list(reader.rows("read")), reader.tally
    assert (list(reader.rows("read")), reader.tally) == first
