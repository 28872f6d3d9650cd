"""Results as Markdown for a comment: what stands in it, what cannot, and how large it gets."""

from __future__ import annotations

import re

import pytest

import whileai as wai
from cli_helpers import arm, run
from whileai.cli.markdown import COMMENT_BYTES, comparison, fitted, is_name
from whileai.measure.gating import Gate, judged, largest_losses

BARE = [{**row, "markers": {}} for row in arm(10)]
GUARDS = {"must_not_regress": ["marker:chars"], "lower_is_better": ["marker:chars"]}


def comment(before, after, *, gate=False, name="default", **options):
    """The comment on a comparison, and the comparison."""
    result = wai.compare(before, after, **options)
    losses = largest_losses(wai.task_table(before), wai.task_table(after), result)
    return comparison(result, judged(result, gate=gate), losses, name=name), result


def test_the_comment_on_a_loss_behind_a_gate():
    text, _ = comment(arm(30), arm(10), gate=True, name="agent", **GUARDS)
    start, end = text.index("| `q"), text.index("\n\n- note")
    assert text[:start] + text[end:] == (
        "<!-- wai:compare:agent -->\n"
        "**wai: regressed** - pass@1 0.75 -> 0.25, change -0.50 [-0.65..-0.30], p<0.0001 (40 tasks)\n"
        "\n"
        "not ruled out: a loss of up to 0.65\n"
        "\n"
        "**gate failed: the result is not ok (regressed)**\n"
        "\n"
        "| metric | better | before | after | change | 95% interval | p (Holm) | verdict |\n"
        "|:--|:--:|--:|--:|--:|:--|--:|:--|\n"
        "| **pass_at_1** target | up | 0.75 | 0.25 | -0.50 | [-0.65..-0.30] | <0.0001 | **regressed** |\n"
        "| `marker:chars` guard | down | 52.00 | 52.00 | +0.00 | [not measured] | 1.00 | no difference |\n"
        "\n"
        "<details><summary>20 tasks lost, 0 won: the 10 largest losses, 2 notes</summary>\n"
        "\n"
        "| task | before -> after |\n"
        "|:--|:--|\n"
        "\n\n"
        "- note no_noise_floor: re-run noise was not measured. Pass run_std= from wai.eval_variance(...).\n"
        "- note no_spread: 1 marker did not change on any task, so there is no spread to give the change an interval.\n"
        "\n"
        "</details>\n"
    )
    losses = re.findall(r"^\| `(q\d+)` \| 2/2 -> 0/2 \|$", text[start:end], re.MULTILINE)
    assert len(set(losses)) == 10
    assert set(losses) <= {f"q{task}" for task in range(10, 30)}


@pytest.mark.parametrize(
    ("before", "after", "options", "said"),
    [
        (arm(10), [{"task_id": "z", "reward": 1}], {}, "**wai: not comparable** - the arms share no task"),
        ([], [], {}, "**wai: too little data** - "),
        ([{**row, "reward": None} for row in arm(10)], arm(10), {}, "**wai: too little data** - no task has pass@1"),
        (arm(10), BARE, GUARDS, "| `marker:chars` guard |  |  |  |  |  |  | not measured |"),
        (arm(10), arm(30, chars=90), {"target": "marker:chars"}, "| **`marker:chars`** target | up |"),
        (arm(10), arm(30), {"by": "topic"}, "| `a` | 20 | 0.25 | 0.75 |"),
        (arm(10), arm(30), {"level": 0.9}, "| 90% interval |"),
        (arm(10), arm(11), {}, "**wai: no difference proven** - pass@1"),
    ],
)
def test_every_kind_of_verdict_has_its_comment(before, after, options, said):
    text, result = comment(before, after, **options)
    assert said in text
    assert text.startswith("<!-- wai:compare:default -->\n**wai: ")
    assert result.summary.split(": ")[0] in text.split("\n")[1]


def test_every_number_is_one_the_print_shows():
    rows = [{**row, "topic": f"t{i % 3}"} for i, row in enumerate(arm(12))]
    others = [{**row, "markers": {"chars": 40 + i % 7}} for i, row in enumerate(arm(25))]
    text, result = comment(rows, others, by="topic", lower_is_better=["marker:chars"])
    table = text[text.index("| metric") : text.index("<details>")]
    shown = set(re.findall(r"[-+]?[\d,]*\.\d+", table))
    assert len(shown) > 10
    assert shown <= set(re.findall(r"[-+]?[\d,]*\.\d+", str(result)))


EVIL = [
    "`x` | @someone **bold** <script>alert(1)</script>",
    "line\n| break | a\r\n<!-- wai:compare:default -->",
    "--> <img src=x onerror=alert(1)> ![a](http://b.c)",
    "\u202eevil\x00\ud800 $a$ #12 https://a.b",
    "a" * 100_000,
    "",
    " ",
]


@pytest.mark.parametrize("evil", EVIL)
def test_no_name_of_the_rows_is_markup(evil):
    names = {"markers": {evil: 1}, "topic": f"{evil}t"}
    before = [{**row, **names, "task_id": f"{evil}{row['task_id']}"} for row in arm(30)]
    after = [{**row, "reward": int(i % 3 == 0)} for i, row in enumerate(before)]
    text, _ = comment(before, after, by="topic", must_not_regress=[f"marker:{evil}"])
    assert len(text.encode("utf-8")) < 8_000
    outside = re.sub(r"`[^`\n]*`", "", re.sub(r"\\.", "", text))  # without code spans and what is escaped
    tags = {tag.split("<summary>")[0] for tag in re.findall(r"<[A-Za-z/!][^ ]*", outside)}
    assert tags <= {"<!--", "<details>", "</summary>\n\n|", "</details>\n"}
    assert outside.count("<!--") == 1
    assert not re.search(r"(?<!\w)@\w", outside)
    assert "](" not in outside
    assert "http" not in outside.replace("http\\", "")
    for table in re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE):
        assert len({line.count("|") for line in table.splitlines()}) == 1, table


def test_prompts_and_completions_stay_at_home():
    secret = [
        {**row, "prompt": f"PRIVATE {row['task_id']}", "final_text": "PRIVATE", "reason": "PRIVATE"} for row in arm(30)
    ]
    worse = [{**row, "reward": 0, "prompt": f"PRIVATE too {row['task_id']}"} for row in secret]
    text, _ = comment(secret, worse, gate=True, **GUARDS)
    assert "PRIVATE" not in text


def test_many_metrics_and_slices_are_counted():
    markers = [{f"m{m}": (m * i) % 7 for m in range(80)} for i in range(80)]
    before = [{**row, "topic": i % 30, "markers": markers[i]} for i, row in enumerate(arm(20))]
    after = [{**row, "topic": i % 30, "markers": {**markers[i], "m3": 50 + i % 3}} for i, row in enumerate(arm(25))]
    text, _ = comment(before, after, by="topic", must_not_regress=["marker:m79"])
    assert text.count("| `marker:m") == 51
    assert "| `marker:m79` guard |" in text
    assert "\n| `marker:m3` |" in text
    assert "\n\nand 29 more metrics, none with a smaller p\n" in text
    assert "\n\nand 10 more slices\n" in text


@pytest.mark.parametrize("room", [0, 50, 400, 1_000, 5_000, COMMENT_BYTES])
def test_what_is_too_long_is_cut_at_whole_lines_and_said(room):
    names = [f"marker:{'n' * 70}{i}" for i in range(900)]
    before = [
        {**row, "markers": {name.removeprefix("marker:"): i % 5 for name in names}} for i, row in enumerate(arm(20))
    ]
    text, _ = comment(before, arm(10), must_not_regress=names)
    assert len(text.encode("utf-8")) > COMMENT_BYTES
    short = fitted(text, room)
    assert len(short.encode("utf-8")) <= room
    if room < 200:
        assert short == ""
        return
    lines = text.rstrip("\n").split("\n")
    kept = short.rstrip("\n").split("\n\n")
    n = int(re.fullmatch(r"([\d,]+) more lines? cut for want of room", kept[-1])[1].replace(",", ""))
    assert short.startswith("\n".join(lines[: len(lines) - n - 1]))
    assert short.count("<details>") == short.count("</details>")


def test_a_cut_within_the_details_closes_them():
    text, _ = comment(arm(30), arm(10), **GUARDS)
    size = len(text.encode("utf-8"))
    for room in range(200, size + 20, 7):
        short = fitted(text, room)
        assert len(short.encode("utf-8")) <= room
        assert short.count("<details>") == short.count("</details>")
        assert (short == text) == (room >= size)


def test_any_result_can_be_markdown(folder):
    done = run("pass-at", "low.jsonl", "--markdown", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == wai.pass_at(arm(10))._repr_markdown_()


def test_markdown_goes_to_a_file(folder, tmp_path):
    flags = ["compare", "low.jsonl", "high.jsonl", "--markdown", "--max-loss", "0.1"]
    done = run(*flags, "-o", tmp_path / "c.md", cwd=folder)
    assert (done.returncode, done.stdout) == (0, "")
    text = (tmp_path / "c.md").read_text("utf-8")
    assert text == run(*flags, cwd=folder).stdout
    assert "\n\ngate passed\n\n" in text


@pytest.mark.parametrize(
    ("name", "fits"),
    [
        ("default", True),
        ("a.b-c_1", True),
        ("", False),
        ("a b", False),
        ("-->", False),
        ("a\n", False),
        ("a" * 65, False),
    ],
)
def test_names_of_comparisons(name, fits):
    assert is_name(name) == fits


def test_without_a_gate_nothing_is_said_of_one():
    text, result = comment(arm(30), arm(10))
    assert "gate" not in text
    assert judged(result, gate=False) == Gate()
