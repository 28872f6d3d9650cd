"""What every Result can do: both readings, frozen, plain data, text and HTML with the same digits."""

from __future__ import annotations

import copy
import dataclasses
import html
import json
import pickle
import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import whileai as wai
from whileai.result import Headline, Line, Note, Result, Table, base, text
from whileai.result import html as page

ODD = "длина_ответа\n<script>alert('x')</script>\x1b[31m\ud800 & 'q'"


@pytest.fixture
def results(before, after):
    odd = [
        [{**row, "markers": {ODD: i * (s + 1) % 7}, "lang": ODD} for i, row in enumerate(rows)]
        for s, rows in enumerate((before, after))
    ]
    return {
        "pass_at": wai.pass_at(before),
        "nothing": wai.pass_at([]),
        "compare": wai.compare(before, after, run_std=0.02, run_std_runs=3),
        "odd names": wai.compare(*odd, by="lang", must_not_regress=[f"marker:{ODD}"]),
        "odd target": wai.compare(*odd, target=f"marker:{ODD}"),
        "odd ids": wai.compare([{"task_id": ODD, "reward": 1}], [{"task_id": ODD * 2, "reward": 1}]),
        "not comparable": wai.compare(before, []),
        "delta": wai.compare(before, after).metrics["pass_at_1"],
        "eval_variance": wai.eval_variance(before, after, before),
        "many runs": wai.eval_variance(*[before, after] * 20),
        "holdout_size": wai.holdout_size(0.1, before=before, after=after),
        "rl": wai.select(before, mode="rl").report,
        "sft": wai.select(before, mode="sft").report,
    }


NAMES = [
    "pass_at",
    "nothing",
    "compare",
    "odd names",
    "odd target",
    "odd ids",
    "not comparable",
    "delta",
    "eval_variance",
    "many runs",
    "holdout_size",
    "rl",
    "sft",
]
#: Where nothing was measured, there is nothing to draw.
NOT_DRAWN = {"nothing", "odd ids", "not comparable"}
every = pytest.mark.parametrize("name", NAMES)


@every
def test_read_by_name_and_by_key(results, name):
    result = results[name]
    assert list(result) == result.keys()
    for key in result.keys():  # noqa: SIM118 - a Result is no dict
        assert result[key] is getattr(result, key) or result[key] == getattr(result, key)
        assert not key.startswith("_")


@every
@pytest.mark.parametrize("key", ["pass_at1", "nonsense", "_blocks", 5, None])
def test_a_field_that_is_not_there(results, name, key):
    result = results[name]
    with pytest.raises(KeyError, match=type(result).__name__):
        result[key]
    with pytest.raises(AttributeError):
        getattr(result, f"no_{key}")


def test_near_miss_of_a_field(results):
    with pytest.raises(KeyError, match=r"PassAt has no field 'pass_at1'\. Did you mean pass_at_1\?"):
        results["pass_at"]["pass_at1"]


@every
def test_frozen(results, name):
    result = results[name]
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.notes = ()
    with pytest.raises(TypeError):
        result["notes"] = ()


@every
def test_plain_data(results, name):
    result = results[name]
    data = result.to_dict()
    assert list(data) == result.keys()
    assert json.loads(result.to_json()) == data
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert "NaN" not in result.to_json()


@every
def test_copies(results, name):
    result = results[name]
    for again in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
        assert str(again) == str(result)
        assert again.to_json() == result.to_json()


@every
def test_printed_form(results, name):
    result = results[name]
    lines = str(result).split("\n")
    for place, line in enumerate(lines):
        assert re.fullmatch(r"[ -~]+", line), line
        assert line == line.rstrip()
        assert len(line) <= (120 if place == 0 and type(result).__name__ == "PassAt" else 100), line
    assert repr(result) == f"<{type(result).__name__} {text.ascii_of(result.summary)}>"
    assert "\n" not in repr(result)
    assert "%" not in lines[0]
    notes = [line for line in lines if line.startswith("note ")]
    assert notes == lines[len(lines) - len(notes) :] or all(
        line.startswith(("note ", "  ", "and ")) for line in lines[lines.index(notes[0]) :]
    )


def digits(shown):
    return re.findall(r"[-+]?\d[\d,]*\.?\d*(?:e-?\d+)?", shown)


@every
def test_html_has_the_same_digits_and_is_escaped(results, name):
    result = results[name]
    shown = result._repr_html_()
    assert "<script" not in shown
    assert "<style" not in shown
    assert " id=" not in shown
    assert len(shown.encode()) < 12_000
    figures = re.findall(r"<svg.*?</svg>", shown)
    inside = html.unescape(re.sub(r"<[^>]*>", " ", re.sub(r"<svg.*?</svg>", "", shown)))
    if not name.startswith("odd"):
        assert digits(inside) == digits(" ".join(str(result).split()))
        drawn = html.unescape(" ".join(re.sub(r"<[^>]*>", " ", figure) for figure in figures))
        assert set(digits(drawn)) <= set(digits(str(result)))
    assert len(figures) == int(name not in NOT_DRAWN)
    for figure in figures:
        assert ET.fromstring(figure).get("aria-label")


def test_widths():
    class Wide(Result):
        def _blocks(self):
            return [
                Headline("word " * 60),
                Line("x" * 250),
                Table(
                    ("name", "n", "verdict"), (("a" * 200, "1", "improved"), ("é" * 30, "2", "regressed")), "lrl", (1,)
                ),
                Table((), (("label", "long " * 50), ("l2", "short")), "ll"),
                *(Note(f"n{i}", "text " * 30, "fix") for i in range(9)),
            ]

    lines = str(Wide()).split("\n")
    assert max(map(len, lines)) <= 100
    assert lines[-1] == "and 3 more in .notes"
    assert sum(line.startswith("note ") for line in lines) == 6
    assert any(line.startswith(f"  {'a' * 30}") and "..." in line and line.endswith("improved") for line in lines)
    assert max(len(line) for line in Wide().to_text(width=60).split("\n")) <= 60
    assert "and 3 more in .notes" in Wide()._repr_html_()


@pytest.mark.parametrize("width", [30, 47, 100])
@pytest.mark.parametrize("kind", [Headline, Line])
def test_items_stay_whole_and_no_line_begins_with_a_bar(kind, width):
    items = [f"item {'of many words ' * (i % 2)}{i}" for i in range(40)]
    lines = text.render([kind(" | ".join(items))], width).splitlines()
    assert [part for line in lines for part in line.strip().removesuffix(" |").split(" | ")] == items
    assert len(lines) > 1
    assert max(map(len, lines)) <= width


def test_a_table_drops_columns_before_it_shortens_names():
    table = Table(("name", "n", "verdict"), (("marker:" + "x" * 20, "1,000", "improved"),), "lrl", (1,))
    assert text.table_lines(table, 100)[1] == "  marker:xxxxxxxxxxxxxxxxxxxx  1,000  improved"
    assert text.table_lines(table, 40)[1] == "  marker:xxxxxxxxxxxxxxxxxxxx  improved"
    assert text.table_lines(table, 30)[1] == "  marker:x...xxxxxxx  improved"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({1: float("nan"), "b": (1, 2)}, {"1": None, "b": [1, 2]}),
        (np.float32(0.5), 0.5),
        (np.array([[1, 2]]), [[1, 2]]),
        (np.int64(3), 3),
        (Note("c", "t"), {"code": "c", "text": "t", "fix": ""}),
        (float("-inf"), None),
        (frozenset([2]), [2]),
    ],
    ids=str,
)
def test_plain(value, expected):
    assert base.plain(value) == expected


def test_no_markup_in_a_cell():
    shown = page.render([Headline("<b>&"), Table(("<i>",), (("a<td>",),), "l"), Note("n", "'\"<x>")])
    assert "<b>" not in shown
    assert "&lt;b&gt;&amp;" in shown
    assert "a&lt;td&gt;" in shown
    assert "<x>" not in shown
