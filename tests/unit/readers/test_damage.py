"""Damaged and misnamed files: each ends in one sentence, in a counted skip, or is read by its content."""

from __future__ import annotations

import gzip
import io
import json
import re
import zipfile

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
import zstandard

import whileai as wai

ROWS = [
    {"task_id": "a", "prompt": "p", "final_text": "x", "reward": 1},
    {"task_id": "a", "prompt": "p", "final_text": "y", "reward": 0},
    {"task_id": "b", "prompt": "q", "final_text": "z", "reward": 0},
]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
CSV = b"task_id,prompt,final_text,reward\na,p,x,1\na,p,y,0\nb,q,z,0\n"


def written(write):
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


def zipped(buffer):
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.txt", "hi")


TABLE = pa.Table.from_pylist(ROWS)
PARQUET = written(lambda buffer: pq.write_table(TABLE, buffer))
FEATHER = written(lambda buffer: pa.feather.write_feather(TABLE, buffer))
ZIP = written(zipped)

#: Read as the same rows, by content.
READABLE = {
    "parquet.jsonl": PARQUET,
    "lines.parquet": LINES,
    "list.jsonl": json.dumps(ROWS).encode(),
    "pretty.jsonl": json.dumps({"rows": ROWS}, indent=1).encode(),
    "lines.csv": LINES,
    "csv.jsonl": CSV,
    "csv.txt": CSV,
    "semicolons.csv": CSV.replace(b",", b";"),
    "tabs.csv": CSV.replace(b",", b"\t"),
    "packed.jsonl": gzip.compress(LINES),
    "packed.json": zstandard.compress(LINES),
    "plain.jsonl.gz": LINES,
    "zstd.csv.gz": zstandard.compress(CSV),
    "no name": LINES,
    "mark.jsonl": b"\xef\xbb\xbf" + LINES,
}


@pytest.mark.parametrize("name", READABLE)
def test_content_decides(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(READABLE[name])
    assert wai.read(path) == ROWS
    assert wai.pass_at(path).to_dict() == wai.pass_at(ROWS).to_dict()


BROKEN = {
    "middle.jsonl": (LINES.replace(b', "final_text": "y"', b', "fin'), r"line 2 must be a JSON object; got '"),
    "ended.jsonl": (LINES[:-20] + b"\n", r"line 3 must be a JSON object; got '"),
    "only.jsonl": (LINES[:20], r"line 1 must be a JSON object; got '"),
    "tail.jsonl": (LINES + b"done", r"line 4 must be a JSON object; got 'done'"),
    "two.jsonl": (LINES.replace(b"}\n{", b"} {", 1), r"line 1 must be a JSON object; got '"),
    "lists.jsonl": (b'["a", 1]\n["b", 0]\n', r"line 1 must be a JSON object; got '\[\"a\", 1\]'"),
    "deep.jsonl": (b'{"x":' + b"[" * 90_000 + b"]" * 90_000 + b"}\n", r"line 1 must be a JSON object; got '"),
    "page.jsonl": (b"<html>\n404\n</html>\n", r"line 1 must be a JSON object; got '<html>'"),
    "empty.json": (b"", r"must be valid JSON; got ''"),
    "comma.json": (json.dumps(ROWS).encode()[:-1] + b",]", r"must be valid JSON; got '"),
    "torn.json": (json.dumps(ROWS).encode()[:-30], r"must be valid JSON; got '"),
    "number.json": (b"5", r"row 0: the row must be a JSON object; got 5"),
    "object.json": (b'{"a": 1, "b": 2}', r"looks like a JSON object with the keys a, b; formats tried: .*lm-eval"),
    "quote.csv": (CSV.replace(b"y", b'"y'), r"line 4 must be valid CSV; got unexpected end of data"),
    "quotes.csv": (CSV.replace(b"y", b'"y" z'), r"line 3 must be valid CSV; got '"),
    "twice.csv": (b"task_id,reward,reward\na,1,0\n", r"must name each column once; 'reward' stands twice"),
    "comma.csv": (CSV.replace(b"y", b"y, z"), r"row 1: the row must be as many cells as the header has; got"),
    "latin.csv": (CSV.replace(b"y", b"\xe9"), r"must be UTF-8 text"),
    "sixteen.csv": (CSV.decode().encode("utf-16"), r"looks like UTF-16 text; save it as UTF-8"),
    "empty.parquet": (b"", r"looks like an empty file"),
    "short.parquet": (PARQUET[:-50], r"must be a whole Parquet file; got No magic bytes found"),
    "worn.parquet": (PARQUET[:60] + b"\xff" * 60 + PARQUET[120:], r"must be a whole Parquet file; got "),
    "packed.parquet": (gzip.compress(PARQUET), r"looks like Parquet inside another packing; unpack it"),
    "feather.parquet": (FEATHER, r"looks like an Arrow IPC file"),
    "archive.jsonl": (ZIP, r"looks like a zip archive with a\.txt"),
    "short.jsonl.gz": (gzip.compress(LINES * 999, mtime=0)[:-30], r"must be a whole compressed file; got "),
    "worn.jsonl.gz": (gzip.compress(LINES, mtime=0)[:-8] + b"\0" * 8, r"must be a whole compressed file; got CRC"),
    "short.jsonl.zst": (zstandard.compress(LINES)[:-9], r"must be a whole compressed file; got "),
    "text.log": (b"hello world\nno data\n", r"looks like text: 'hello world'"),
    "pickle.pkl": (b"\x80\x04\x95\0\0", r"looks like a Python pickle"),
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize(
    "call", [wai.read, wai.pass_at, lambda path: wai.select(path, mode="rl")], ids=["read", "table", "list"]
)
def test_one_sentence(tmp_path, name, call):
    content, message = BROKEN[name]
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(wai.WaiError) as error:
        call(path)
    assert re.match(rf"\w+: {re.escape(str(path))} .*{message}", str(error.value), re.DOTALL), str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 500


@pytest.mark.parametrize("name", ["torn.jsonl", "torn.jsonl.gz", "torn.csv", "torn.json"])
@pytest.mark.parametrize("cut", [2, 5, 20])
def test_a_torn_last_line_is_counted(tmp_path, name, cut):
    content = CSV[:-5] if "csv" in name else LINES[:-cut]
    path = tmp_path / name
    path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    rows = wai.read(path)
    assert rows == ROWS[:2]
    assert rows.report.skipped == {"torn last line": 1}
    said = "the reader skipped 1 torn last line."
    for result, text in (
        (wai.pass_at(path), said), (wai.compare(path, path), said), (wai.eval_variance(path, path), said),
        (wai.compare(path, ROWS), f"before: {said}"), (wai.eval_variance(ROWS, path), f"run 2: {said}"),
    ):  # fmt: skip
        assert [note.text for note in result.notes if note.code == "log_skipped"] == [text]


def test_a_torn_line_may_be_long(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(LINES + json.dumps({"task_id": "c", "final_text": "x" * 700_000}).encode()[:-1])
    assert wai.read(path) == ROWS


def test_a_whole_last_line_needs_no_end(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(LINES[:-1])
    assert wai.read(path) == ROWS
    assert wai.read(path).report.n_skipped == 0


def test_line_numbers_count_every_line(tmp_path):
    path = tmp_path / "rows.jsonl"
    row = json.dumps({"task_id": "a", "final_text": "x" * 1000, "reward": 1}) + "\n"
    path.write_text("\n" + row * 700 + "\n \n" + row * 90 + "{]\n" + row)
    for call in (wai.read, wai.pass_at):
        with pytest.raises(wai.RowError) as error:
            call(path)
        assert f"{path} line 794 must be a JSON object; got '{{]'." in str(error.value)
        assert error.value.index == 793


def test_text_of_one_type_in_one_row_and_another_in_the_next(tmp_path):
    rows = [{"task_id": 1, "reward": True}, {"task_id": "1", "reward": 0.0}, {"task_id": 1.0, "reward": None}]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) + '{"task_id": "1", "reward": NaN}\n')
    table = wai.task_table(path)
    assert (table.task, table.n.tolist(), table.n_unjudged.tolist()) == (["1"], [2], [2])


@pytest.mark.parametrize("format", ["jsonl", "json", "csv", "parquet"])
def test_a_named_format_is_not_guessed(tmp_path, format):
    path = tmp_path / "rows"
    path.write_bytes({"csv": CSV, "parquet": PARQUET, "json": json.dumps(ROWS).encode()}.get(format, LINES))
    assert wai.read(path, format=format) == ROWS
    with pytest.raises(wai.WaiError):
        wai.read(path, format="parquet" if format != "parquet" else "json")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "jsnl"}, "format must be one of 'jsonl', .*; got 'jsnl'. Did you mean jsonl?"),
        ({"format": 5}, "format must be one of 'jsonl', .*; got 5."),
        ({"filter": "strict"}, "filter must be left out where .* is a file of plain rows; got 'strict'."),
    ],
)
def test_options_that_do_not_fit(tmp_path, options, message):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(LINES)
    with pytest.raises(wai.ParamError, match="read: " + message.replace("?", r"\?")):
        wai.read(path, **options)
    for name in options:
        with pytest.raises(wai.ParamError, match=f"read: {name} must be"):
            wai.read(ROWS, **options)
