"""Markdown of results: verdict in bold, the digits of the print, and nothing that a name could smuggle in."""

from __future__ import annotations

import re

import pytest

import whileai as wai
from whileai.result import Headline, Interval, Line, Note, Plot, Table, markdown, svg

NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")


def test_a_comparison(before, after):
    result = wai.compare(before * 3, after * 3, must_not_regress=["pass_at_1"])
    shown = result._repr_markdown_()
    words, _, rest = result.summary.partition(": ")
    assert shown.startswith(f"**{words}** - {rest}\n\n")
    assert set(NUMBER.findall(shown.replace(f"{len(result.notes)} note", ""))) <= set(NUMBER.findall(str(result)))
    assert "<details><summary>" in shown


def test_a_table():
    block = Table(("metric", "better", "change"), (("marker:a|b`c", "up", "+0.1"), ("", "down", "")), "lcr")
    assert markdown.table(block).splitlines() == [
        "| metric | better | change |",
        "| :-- | :-: | --: |",
        "| `marker:a\N{BROKEN BAR}b'c` | up | +0.1 |",
        "|  | down |  |",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pass@1 0.35 -> 0.39, change +0.04 [+0.01..+0.07], p<0.0001", None),
        ("run_std= and wai.holdout_size(effect): 2 * 3 of #x", r"run_std= and wai.holdout_size(effect): 2 \* 3 of #x"),
        ("<script>x</script>", r"\<script>x\</script>"),
        ("hi @team and #12", r"hi \@team and \#12"),
        ("[a](http://b.c) ![d](e)", r"[a\](http\://b.c) \![d\](e)"),
        ("see https://a.b or www.a.b", r"see https\://a.b or www\.a.b"),
        ("a\n\n# b", "a # b"),
        ("- item", r"\- item"),
        ("1. item", r"1\. item"),
        ("> quoted", r"\> quoted"),
        ("`code` $x$ a|b", r"\`code\` \$x\$ a\|b"),
        ("&lt;", r"\&lt;"),
        ("a\u202eb", "a[U+202E]b"),
    ],
)  # fmt: skip
def test_text_stays_text(text, expected):
    assert markdown.escaped(text) == (text if expected is None else expected)


def test_lines_and_notes():
    blocks = [Headline("104 paired tasks"), Line("*x*"), Note("n", "t", "f"), Note("m", "u")]
    assert markdown.render(blocks).split("\n\n") == [
        "**104 paired tasks**",
        "\\*x\\*",
        "<details><summary>2 notes</summary>",
        "- note n: t f\n- note m: u",
        "</details>\n",
    ]
    assert markdown.headline("pass@1 0.5", "wai") == "**wai:** pass@1 0.5"
    assert markdown.headline("too little data, not ok: x", "wai") == "**wai: too little data, not ok** - x"


# figures -------------------------------------------------------------------------------------------------------------


def drawn(*rows, **options):
    return svg.interval_plot(Plot("title", rows), **options)


def test_a_mark_stands_where_its_number_is():
    found = drawn(Interval("a", "0.50 [0.25..1.00]", 0.5, 0.25, 1.0), width=640)
    line = re.search(r'd="M([\d.]+) ([\d.]+)L([\d.]+) \2" fill="none" stroke="currentColor" stroke-width="2.5"', found)
    low, high = float(line[1]), float(line[3])
    start = high - (high - low) / 0.75
    mark = [float(x) for x in re.findall(r"[ML]([\d.]+) ", re.search(r'<path d="(M[^"]*Z)"', found)[1])]
    assert sum(mark) / len(mark) == pytest.approx(start + 0.5 * (high - start), abs=0.3)


def test_verdicts_differ_in_shape_and_not_in_colour_alone():
    kinds = [
        re.sub(r'(fill|stroke)="[^"]*"', "", drawn(Interval("a", "", 0.5, shape=shape)))
        for shape in ("diamond", "triangle", "square")
    ]
    assert len(set(kinds)) == 3


@pytest.mark.parametrize("width", [340, 640])
def test_a_figure_keeps_its_texts_inside(width):
    rows = [Interval("name " * 30, "+0.043 [+0.015..+0.071]", 0.1, -0.2, 0.3, axis="x", reference=0, band=(-1, 1))] * 3
    for x in re.findall(r'<(?:text|rect) x="([-\d.]+)"', drawn(*rows, width=width, axis="change")):
        assert 0 <= float(x) <= width


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-0.02, 0.09), (0, 0), (3, 3), (-1e9, 1e9), (0, 1e-9), (120, 400)])
def test_ticks_are_few_round_and_inside(low, high):
    scale = svg.Scale(low, high, 0, 100)
    ticks = scale.ticks(5)
    assert 1 <= len(ticks) <= 6
    assert all(scale.low - 1e-9 * abs(scale.low) <= tick <= scale.high * (1 + 1e-9) for tick in ticks)
