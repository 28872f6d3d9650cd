"""What `wai.report` takes, refuses, counts, and keeps off the page."""

from __future__ import annotations

import base64
import html
import itertools
import json
import re
import zlib
from pathlib import Path

import pytest

import whileai as wai
from whileai.pages.flips import Arm, tasks_of
from whileai.pages.rows import MOST_STEPS, cut, is_uncertain, prompt_text, steps_of


def block(path, name):
    """One of the inert blocks of a page."""
    text = Path(path).read_text(encoding="utf-8")
    packed = re.search(rf'id="{name}">([^<]*)<', text)[1]
    return zlib.decompress(base64.b64decode(packed)).decode() if name != "wai-settings" else packed


def texts(path):
    return [json.loads(line) for line in block(path, "wai-texts").splitlines()]


def everything(path):
    """All that a page holds, packed or not."""
    return Path(path).read_text(encoding="utf-8") + block(path, "wai-columns") + json.dumps(texts(path))


GIVEN = {
    "a comparison and its rows": lambda a, b: ((wai.compare(a, b),), {"before": a, "after": b}),
    "results and rows": lambda a, b: (([wai.compare(a, b), wai.pass_at(b)],), {"before": a, "after": b}),
    "two arms": lambda a, b: (([a, b],), {}),
    "two tables": lambda a, b: (([wai.task_table(a), wai.task_table(b)],), {}),
    "rows and after": lambda a, b: ((a,), {"after": b}),
    "rows and before": lambda a, b: ((b,), {"before": a}),
    "nothing but arms": lambda a, b: ((None,), {"before": iter(a), "after": tuple(b)}),
}


@pytest.mark.parametrize("name", GIVEN)
def test_two_arms_in_whatever_way(name, before, after, tmp_path):
    args, options = GIVEN[name](before, after)
    page = wai.report(*args, tmp_path / "r.html", **options)
    result = wai.compare(before, after)
    assert (page.title, page.verdict, page.ok, page.n_tasks) == (result.summary, result.verdict, result.ok, 4)
    assert page.n_with_texts == (0 if name == "two tables" else 4)
    shown = html.unescape((tmp_path / "r.html").read_text(encoding="utf-8"))
    assert str(result) in shown
    columns = json.loads(block(page.path, "wai-columns"))
    assert columns["ids"] == ["q0", "q1", "q2", "q3"]
    assert columns["before"] == {"n": [4] * 4, "c": [3, 1, 4, 3]}
    assert columns["after"] == {"n": [4] * 4, "c": [4, 3, 4, 4]}


ALONE = {
    "rows": lambda a: (a, 4),
    "a frame": lambda a: (pytest.importorskip("pandas").DataFrame(a), 4),
    "rates": lambda a: (wai.pass_at(a), 0),
    "a table": lambda a: (wai.task_table(a), 0),
    "kept rows": lambda a: (wai.select(a, mode="rl", band=(0, 1)), 3),
}


@pytest.mark.parametrize("name", ALONE)
def test_one_arm_in_whatever_way(name, before, tmp_path):
    data, n_texts = ALONE[name](before)
    page = wai.report(data, tmp_path / "r.html")
    assert (page.verdict, page.ok, page.n_with_texts) == (None, None, n_texts)
    assert page.title.startswith("pass@1 0.")
    shown = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "How often does it pass?" in shown
    assert "Which tasks fail?" in shown
    assert "What changed?" not in shown


def test_results_alone_say_that_there_are_no_tasks(before, after, tmp_path):
    page = wai.report(wai.compare(before, after), tmp_path / "r.html")
    assert (page.n_tasks, page.n_with_texts) == (0, 0)
    shown = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "the tasks: only results were given" in shown
    noise = wai.eval_variance(before, after, before)
    assert wai.report(noise, tmp_path / "r.html").title == noise.summary


@pytest.mark.parametrize(
    "make",
    [
        lambda a, b: wai.compare(a, [{**row, "task_id": f"x{row['task_id']}"} for row in b]),
        lambda a, b: wai.compare(a, []),
        lambda a, b: wai.pass_at([]),
        lambda a, b: wai.pass_at([{**row, "reward": None} for row in a]),
        lambda a, b: wai.pass_at([{**row, "reward": 0.5} for row in a]),
        lambda a, b: wai.judge_trust([{**row, "gold_reward": row["reward"]} for row in a]),
        lambda a, b: wai.hack_scan(a),
        lambda a, b: wai.holdout_size(0.1),
        lambda a, b: wai.select(a, mode="sft").report,
        lambda a, b: wai.decontaminate(a, ["Name the capital of Peru."]).report,
    ],
)
def test_every_result_makes_a_page(make, before, after, tmp_path):
    result = make(before, after)
    assert wai.report(result, tmp_path / "r.html").title == result.summary
    shown = html.unescape((tmp_path / "r.html").read_text(encoding="utf-8"))
    assert str(result) in shown


def test_no_rows_at_all(tmp_path):
    assert wai.report([], tmp_path / "r.html").n_tasks == 0
    assert wai.report([[], []], tmp_path / "r.html").verdict == "insufficient_data"


WRONG = {
    "no data": (lambda a, b: ((5, "r.html"), {}), TypeError, "must be a result, a list of results, or rows; got 5"),
    "both in a list": (lambda a, b: (([wai.pass_at(a), a], "r.html"), {}), TypeError, "not both in one list"),
    "no path": (lambda a, b: ((a, None), {}), TypeError, "path must be a path to write to; got None"),
    "the path first": (lambda a, b: (("r.html", a), {}), TypeError, "path must be a path to write to"),
    "no folder": (lambda a, b: ((a, "no/r.html"), {}), wai.ParamError, "path must be a file in a folder that exists"),
    "a folder": (lambda a, b: ((a, "."), {}), wai.ParamError, "path must be a file in a folder that exists"),
    "no file": (lambda a, b: (("none.jsonl", "r.html"), {}), FileNotFoundError, "none.jsonl"),
    "three arms": (lambda a, b: ((a, "r.html"), {"before": a, "after": b}), wai.ParamError, "before must be left out"),
    "nothing": (lambda a, b: ((None, "r.html"), {}), wai.ParamError, "results_or_rows must be"),
    "other rows": (
        lambda a, b: ((wai.compare(a, b), "r.html"), {"before": a, "after": a}),
        wai.ParamError,
        "before and after must be the rows behind the comparison, with 4 paired tasks; got 'other rates'",
    ),
    "arms turned": (
        lambda a, b: ((wai.compare(a, b), "r.html"), {"before": b, "after": a}),
        wai.ParamError,
        "Are the arms in the order that compare had",
    ),
    "one arm of two": (
        lambda a, b: ((wai.compare(a, b), "r.html"), {"after": b}),
        wai.ParamError,
        "before must be given where the other arm of a comparison is",
    ),
    "two comparisons": (
        lambda a, b: (([wai.compare(a, b), wai.compare(b, a)], "r.html"), {}),
        wai.ParamError,
        "one comparison at most; got 2",
    ),
    "no size": (lambda a, b: ((a, "r.html"), {"max_mb": 0}), wai.ParamError, "max_mb must be a number above 0; got 0"),
    "too small": (lambda a, b: ((a, "r.html"), {"max_mb": 0.001}), wai.ParamError, "max_mb must be at least 0.0"),
    "no flag": (lambda a, b: ((a, "r.html"), {"texts": "no"}), wai.ParamError, "texts must be True or False; got 'no'"),
    "no task": (lambda a, b: ((a, "r.html"), {"tasks": ["q00"]}), wai.ParamError, "got 'q00'. Did you mean q0?"),
    "one id": (lambda a, b: ((a, "r.html"), {"tasks": "q0"}), wai.ParamError, "tasks must be a list of ids; got 'q0'"),
    "tasks of results": (
        lambda a, b: ((wai.compare(a, b), "r.html"), {"tasks": ["q0"]}),
        wai.ParamError,
        "tasks must be left out where no rows are given",
    ),
    "a bad row": (
        lambda a, b: (([*a, {"task_id": 1, "reward": 7}], "r.html"), {}),
        wai.RowError,
        "report: rows row 16: reward must be a number in [0, 1]; got 7",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_refused(name, before, after, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make, kind, message = WRONG[name]
    args, options = make(before, after)
    with pytest.raises(kind, match=re.escape(message)):
        wai.report(*args, **options)
    assert list(tmp_path.iterdir()) == []


# counts --------------------------------------------------------------------------------------------------------------


def by_dealing(na, ca, nb, cb):
    """Lost and won of one task over every way to deal its rows to the arms."""
    rows = [1] * (ca + cb) + [0] * (na + nb - ca - cb)
    lost = won = total = 0
    for old in itertools.combinations(range(na + nb), na):
        before = sum(rows[i] for i in old) / na
        after = (sum(rows) - sum(rows[i] for i in old)) / nb
        total += 1
        lost += after < before - 1e-12
        won += after > before + 1e-12
    return lost / total, won / total


def test_expected_flips_are_those_of_dealing_the_rows_anew(scored):
    groups = [([1, 0, 1], [1, 1]), ([0, 0], [0, 1, 0, 1]), ([1], [0]), ([1, 1, 1, 0], [0, 0, 1, 1]), ([0], [0, 0])]
    arms = [Arm(name, wai.task_table(scored([pair[side] for pair in groups]))) for side, name in enumerate("ab")]
    expected = [by_dealing(len(a), sum(a), len(b), sum(b)) for a, b in groups]
    found = tasks_of(arms, "pass_at_1", lower=False).expected_flips()
    assert found == pytest.approx([sum(column) for column in zip(*expected, strict=True)], abs=1e-12)


@pytest.mark.parametrize("target", ["pass_at_1", "reward", "marker:chars"])
@pytest.mark.parametrize("lower", [False, True])
def test_flips_are_counted_as_compare_counts_them(target, lower, scored):
    import random

    draw = random.Random(3)

    def arm():
        rewards = [[draw.choice([0, 0.1, 0.3, 1]) for _ in range(3)] for _ in range(80)]
        return scored(rewards, [[{"chars": draw.randrange(4) / 10} for _ in group] for group in rewards])

    one, two = arm(), arm()
    result = wai.compare(one, two, target=target, lower_is_better=[target] if lower else [])
    tasks = tasks_of([Arm("before", wai.task_table(one)), Arm("after", wai.task_table(two))], target, lower=lower)
    flags = {name: int(mask.sum()) for name, mask in tasks.flags().items()}
    assert (flags["won"], flags["lost"], flags["same"]) == result._moved
    assert flags["all"] == result.n_paired
    assert sorted(tasks.order()) == list(range(len(tasks)))


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"reward": 1}, False),
        ({"reward": None}, False),
        ({"reward": 0.5}, True),
        ({"reward": 0.25}, True),
        ({"reward": 0.76}, False),
        ({"reward": None, "judge_status": "timeout"}, True),
        ({"reward": 1, "judge_status": "ok"}, False),
        ({"reward": 1, "gold_reward": 0}, True),
        ({"reward": 1, "gold_reward": 1.0}, False),
        ({"reward": 1, "gold_reward": float("nan")}, False),
        ({"reward": 1, "judgments": [{"reward": 0}]}, True),
        ({"reward": 1, "judgments": [{"reward": 1}, "x"]}, False),
    ],
)
def test_verdicts_in_doubt(row, expected):
    assert is_uncertain(row) is expected


# what is on it -------------------------------------------------------------------------------------------------------


def secret(rows):
    return [
        {
            **row,
            "privileged": {"reference": "SECRETGOLD7"},
            "reason": f"not SECRETGOLD7: {row['final_text']}",
            "note": "x",
        }
        for row in rows
    ]


def test_the_gold_is_on_the_page_only_where_it_was_asked_for(before, after, tmp_path):
    path = tmp_path / "r.html"
    wai.report([secret(before), secret(after)], path)
    assert "SECRETGOLD7" not in everything(path)
    assert "[withheld]" in everything(path)
    assert "reasons withheld, for quoting the gold" in path.read_text(encoding="utf-8")
    wai.report([secret(before), secret(after)], path, include_reference=True)
    assert "not SECRETGOLD7" in everything(path)
    assert texts(path)[0][-1] == "SECRETGOLD7"


def test_a_gold_under_any_of_its_names_stays_off(before, tmp_path):
    rows = [{**row, "answer": "HIDDEN99", "reason": "the gold is HIDDEN99"} for row in before]
    wai.report(rows, tmp_path / "r.html")
    assert "HIDDEN99" not in everything(tmp_path / "r.html")


def test_a_page_without_texts(before, after, tmp_path):
    page = wai.report([before, after], tmp_path / "r.html", texts=False)
    assert page.n_with_texts == 0
    shown = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert not any(row["prompt"] in shown for row in before)
    assert "This file holds no prompt and no completion" in shown
    assert 'id="wai-texts"></script>' in shown


def test_tasks_that_were_asked_for(before, after, tmp_path):
    page = wai.report([before, after], tmp_path / "r.html", tasks=["q1", "q3"])
    assert (page.n_tasks, page.n_listed, page.n_with_texts) == (4, 2, 2)
    assert json.loads(block(page.path, "wai-columns"))["ids"] == ["q1", "q3"]
    assert sorted(json.loads(block(page.path, "wai-places"))) == [1, 3]
    assert page.title == wai.compare(before, after).summary


def test_the_largest_losses_have_room_first(scored, tmp_path):
    n = 400
    noise = [zlib.crc32(f"{i}".encode()) for i in range(n)]
    before = scored([[1, 1]] * n)
    after = scored([[int(i % 3 > 0), int(i % 4 > 0)] for i in range(n)])
    for rows in (before, after):
        for place, row in enumerate(rows):
            row["final_text"] = " ".join(str(noise[place % n] * k % 99_991) for k in range(1, 300))
    page = wai.report([before, after], tmp_path / "r.html", max_mb=0.6)
    assert page.n_bytes <= 600_000
    assert 0 < page.n_with_texts < n
    assert [note.code for note in page.notes] == ["texts_sampled"]
    shown = {line[0] for line in texts(page.path)}
    columns = json.loads(block(page.path, "wai-columns"))
    loss = [2 - c for c in columns["after"]["c"]]
    least = min(loss[place] for place in shown)
    assert all(place in shown for place in range(n) if loss[place] > least)
    assert f"texts of {len(shown):,} of {n:,} tasks fit" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_the_same_rows_give_the_same_bytes(before, after, tmp_path):
    path = tmp_path / "r.html"
    wai.report([before, after], path)
    first = path.read_bytes()
    path.chmod(0o640)
    wai.report([before, after], path)
    assert path.read_bytes() == first
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_files_are_named_with_their_digest(before, tmp_path):
    import hashlib

    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in before))
    wai.report(file, tmp_path / "r.html")
    shown = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert hashlib.sha256(file.read_bytes()).hexdigest() in shown
    assert f"wai report {file} -o {tmp_path / 'r.html'}" in shown
    wai.task_table(before).save(tmp_path / "table.parquet")
    assert wai.report(tmp_path / "table.parquet", tmp_path / "r.html").n_tasks == 4


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x" * 5000, "x" * 5000),
        ("a" * 4000 + "b" * 100 + "c" * 1000, "a" * 4000 + "\n[100 characters cut]\n" + "c" * 1000),
    ],
)
def test_long_texts_lose_their_middle(text, expected):
    assert cut(text) == expected


def test_conversations_show_the_turns_that_led_to_the_reply(tmp_path):
    turns = [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": [{"type": "text", "text": "Hello?"}]},
        {"role": "assistant", "content": "Yes."},
    ]
    wai.report([{"task_id": "a", "messages": turns, "reward": 1}], tmp_path / "r.html")
    ((_, prompt, rows),) = texts(tmp_path / "r.html")
    assert prompt == "system: Be short.\n\nuser: Hello?"
    assert rows[0][:2] == ["Yes.", 1.0]


CALL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
STEPS = {
    "messages": (
        {
            "messages": [
                {"role": "user", "content": "q"},
                {"role": "assistant", "content": None, "tool_calls": [CALL]},
                {"role": "tool", "tool_call_id": "1", "content": "42"},
                {"role": "assistant", "content": "It is 42."},
            ]
        },
        "q",
        [["call", 'f {"a": 1}'], ["result", "42"]],
    ),
    "steps, the person speaks twice": (
        {
            "prompt": "q",
            "steps": [
                {"user": "q", "turn": 0},
                {"text": "Which?", "turn": 0},
                {"user": "this", "turn": 1},
                {"tool": "f", "arguments": {"a": 1}, "result": {"b": [2]}, "turn": 1},
                {"text": "Done.", "turn": 1},
            ],
            "final_text": "Done.",
        },
        "q",
        [["assistant", "Which?"], ["user", "this"], ["call", 'f {"a": 1}'], ["result", '{"b": [2]}']],
    ),
    "content blocks": (
        {
            "messages": [
                {"role": "user", "content": "q"},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "42"}]},
                {"role": "assistant", "content": "It is 42."},
            ]
        },
        "q",
        [["call", 'f {"a": 1}'], ["result", "42"]],
    ),
    "no step": ({"prompt": "q", "messages": [{"role": "user", "content": "q"}], "final_text": "x"}, "q", []),
    "odd ones": ({"prompt": "q", "messages": "oops", "steps": [1, None], "final_text": "x"}, "q", []),
}


@pytest.mark.parametrize("name", STEPS)
def test_steps_between_prompt_and_reply(name):
    row, prompt, steps = STEPS[name]
    assert prompt_text(row) == prompt
    assert steps_of(row) == steps


def test_many_steps_lose_their_middle():
    row = {"prompt": "q", "steps": [{"tool": "f", "arguments": {}, "result": i} for i in range(90)], "final_text": "x"}
    found = steps_of(row)
    assert len(found) == MOST_STEPS + 1
    assert found[MOST_STEPS - 10] == ["cut", "120 steps cut"]
    assert found[-1] == ["result", "89"]


def test_scored_rows_are_all_listed(tmp_path):
    rows = [{"task_id": i, "prompt": "q", "final_text": "x", "reward": i / 40} for i in range(41)]
    page = wai.report(rows, tmp_path / "r.html")
    assert page.n_listed == 41
    shown = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "1 task of 2 fails every row, 0 pass some. 39 tasks have no reward of 0 or 1." in shown


def test_what_it_returns_prints_itself(before, after, tmp_path):
    page = wai.report([before, after], tmp_path / "r.html")
    assert str(page).splitlines()[0].startswith(f"wrote {tmp_path / 'r.html'}: ")
    assert page.to_dict()["verdict"] == page["verdict"] == "no_difference"
