"""JSON in parts: the same values as reading it whole, whatever the cut of the chunks."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from whileai.readers.logs import json_stream
from whileai.readers.logs.json_stream import TornJson, partial, split

TEXT = st.text(alphabet=st.sampled_from('ab"\\{}[],:\n\t é😀')) | st.text(max_size=8)
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
ITEM = st.dictionaries(TEXT, VALUE, max_size=4) | st.lists(VALUE, max_size=3)


@pytest.fixture(params=[1, 2, 3, 7, 64, 1 << 20])
def chunk(request, monkeypatch):
    monkeypatch.setattr(json_stream, "CHUNK", request.param)


def dumped(value, indent, ascii_only=True):
    return json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")


def parts(data, lists, keep=()):
    return [(place, json.loads(part)) for place, part in split(io.BytesIO(data), lists, keep)]


DOCUMENT = {"head": {"a": "}]"}, "items": [{"x": "\\"}, ["y"], {"z": {"w": []}}], "tail": 'q\\"', "n": 1.5, "e": None}


def test_lists_members_and_the_rest(chunk):
    found = parts(dumped(DOCUMENT, 2), {("items",)}, {"head", "tail", "n", "e"})
    assert found == [
        (("head",), {"a": "}]"}), (("items",), {"x": "\\"}), (("items",), ["y"]), (("items",), {"z": {"w": []}}),
        (("tail",), 'q\\"'), (("n",), 1.5), (("e",), None),
    ]  # fmt: skip


def test_a_list_deep_inside(chunk):
    data = dumped({"skip": [{"list": [{"no": 1}]}], "a": {"x": {"list": 3}, "b": {"list": [{"i": 1}, {"i": 2}]}}}, None)
    assert parts(data, {("a", "b", "list")}) == [(("a", "b", "list"), {"i": i}) for i in (1, 2)]


def test_two_lists_of_one_document(chunk):
    data = dumped({"a": [{"i": 1}], "b": {"c": [{"i": 2}]}}, 1)
    assert parts(data, {("a",), ("b", "c")}) == [(("a",), {"i": 1}), (("b", "c"), {"i": 2})]


@pytest.mark.parametrize(
    "nothing", [b"{}", b"[]", b"3", b'"text"', b'{"items": 3}', b'{"items": null, "b": [{}]}', b'{"items": []}']
)
def test_what_holds_no_items(nothing, chunk):
    assert parts(nothing, {("items",)}) == []


@settings(max_examples=60, deadline=None)
@given(
    items=st.lists(ITEM, max_size=5),
    size=st.sampled_from([5, 64]),
    indent=st.sampled_from([None, 0, 2]),
    plain=st.booleans(),
)
@example(items=[{"\\": '\\"'}, {'"': "\\\\"}], size=1, indent=None, plain=True)
def test_items_are_those_of_reading_it_whole(items, size, indent, plain):
    before, json_stream.CHUNK = json_stream.CHUNK, size
    try:
        data = dumped({"before": items, "at": {"list": items}, "after": 1}, indent, plain)
        assert [value for _, value in parts(data, {("at", "list")})] == items
        assert [value for _, value in parts(dumped(items, indent, plain), {()})] == items
        assert parts(data, (), {"before", "after"}) == [(("before",), items), (("after",), 1)]
    finally:
        json_stream.CHUNK = before


def test_a_torn_document_gives_its_whole_items_first(chunk):
    data = dumped({"head": 1, "items": [{"i": i} for i in range(3)]}, 1)
    for size in range(1, len(data) - 1):
        found = []
        with pytest.raises(TornJson):
            found.extend(json.loads(part) for _, part in split(io.BytesIO(data[:size]), {("items",)}))
        assert found == [{"i": i} for i in range(data[:size].count(b"}"))]


@pytest.mark.parametrize("broken", [b'{"a" 1}', b"{a: 1}", b'{"a": [1}', b'{"items": [{"a": 1}'])
def test_what_is_no_json_is_an_error(broken, chunk):
    with pytest.raises(ValueError):
        parts(broken, {("items",)}, {"a"})


def test_a_byte_order_mark_is_no_content(chunk):
    assert parts(b'\xef\xbb\xbf {"items": [{"i": 1}]}', {("items",)}) == [(("items",), {"i": 1})]


def is_beginning(part, whole):
    """Whether a value holds nothing but what stands in another, in its order."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(key in whole and is_beginning(value, whole[key]) for key, value in part.items())
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) <= len(whole) and all(map(is_beginning, part, whole))
    return part == whole


@settings(max_examples=60, deadline=None)
@given(
    value=st.dictionaries(TEXT, VALUE, max_size=4) | st.lists(VALUE, min_size=1, max_size=4),
    indent=st.sampled_from([None, 2]),
)
def test_every_beginning_says_what_is_whole_in_it(value, indent):
    text = json.dumps(value, indent=indent)
    assert partial(text) == value
    for size in range(1, len(text)):
        assert is_beginning(partial(text[:size]), value)


def test_a_value_that_is_no_json_ends_what_is_said():
    assert partial('{"a": 1, "b": [{"c": tru, "d": 2}], "e": 3}') == {"a": 1, "b": [{}]}
    with pytest.raises(ValueError):
        partial('{"a": 1, "b": tru}', strict=True)


@pytest.mark.parametrize("text", ["", "word", "3", "}", "[}", '{"a": 1]'])
def test_what_begins_like_no_json(text):
    with pytest.raises(ValueError):
        partial(text)
