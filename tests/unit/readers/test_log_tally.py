"""What a reader says it read: exact counts and the exact words."""

from __future__ import annotations

import json

import pytest

import whileai as wai
from whileai.readers.logs.tally import Counts, Rows, Tally, reader_notes, skipped_text

ROWS = [
    {"task_id": "a", "reward": 0}, {"task_id": "a", "reward": 0.5}, {"task_id": "a", "reward": float("nan")},
    {"task_id": "b", "reward": None, "judge_status": "missing_reward"}, {"task_id": "b", "judge_status": "error"},
    {"task_id": 7, "judge_status": "timeout"}, {"task_id": "7", "reward": 1},
]  # fmt: skip


def counted(rows, skipped=(), notes=(), name="inspect"):
    counts = Counts()
    counts.formats[name] += 1
    for row in rows:
        counts.add(row)
    for reason, n in skipped:
        counts.skip(reason, n)
    for note in notes:
        counts.note(*note)
    return counts


def test_a_verdict_is_one_of_four_things():
    tally = counted(ROWS).tally()
    assert (tally.n_rows, tally.n_tasks, tally.repeats) == (7, 3, (2, 3))
    assert (tally.scored, tally.unscored, tally.errors, tally.timeouts) == (3, 2, 1, 1)
    assert tally.scored + tally.unscored + tally.errors + tally.timeouts == tally.n_rows


def test_tallies_add_up_in_any_order():
    parts = [counted([row], [("lines that are no JSON", 1)], [("code", "the same words")]) for row in ROWS]
    for order in (parts, parts[::-1]):
        whole = Counts()
        for part in order:
            whole.merge(part)
        tally = whole.tally()
        assert (tally.formats, tally.skipped) == ({"inspect": 7}, {"lines that are no JSON": 7})
        assert len(tally.notes) == 1
        alone = counted(ROWS).tally()
        assert (tally.n_rows, tally.n_tasks, tally.repeats, tally.scored) == (
            alone.n_rows, alone.n_tasks, alone.repeats, alone.scored,
        )  # fmt: skip


PRINTED = [
    (Counts().tally(), "0 rows (0 tasks) from no log | 0 scored | 0 unscored | 0 errors | 0 time-outs"),
    (
        counted(
            ROWS, [("torn last line", 1), ("lines that are no JSON", 1200)], [("odd", "it is odd.", "Look.")]
        ).tally(),
        """7 rows (3 tasks x 2 to 3) from 1 inspect log | 3 scored | 2 unscored | 1 error | 1 time-out
  skipped 1,201: 1 torn last line, 1,200 lines that are no JSON
note odd: it is odd. Look.""",
    ),
]


@pytest.mark.parametrize(("tally", "text"), PRINTED)
def test_printed(tally, text):
    assert str(tally) == text
    assert tally.summary == text.partition("\n")[0]
    json.loads(tally.to_json())
    assert all(part in tally._repr_html_() for part in ("scored", "error"))


def test_rows_are_a_list_with_a_report():
    tally = counted(ROWS).tally()
    rows = Rows(ROWS, tally)
    assert isinstance(rows, list)
    assert rows == ROWS
    assert rows.report is tally
    assert wai.pass_at(rows).n_rows == 7


def test_what_a_measurement_says_of_the_logs_it_read():
    assert reader_notes(Tally()) == []
    tally = counted(ROWS, [("torn last line", 1)], [("odd", "it is odd.")]).tally()
    failed = "1 run failed and 1 run ran out of time; that is no wrong answer, and no reward."
    assert [str(note) for note in reader_notes(tally)] == [
        "note log_skipped: the reader skipped 1 torn last line.",
        f"note log_errors: {failed} Run them again, or count them yourself.",
        "note odd: it is odd.",
    ]


@pytest.mark.parametrize(
    ("reason", "one", "two"),
    [
        ("lines that are no JSON object", "1 line that is no JSON object", "2 lines that are no JSON object"),
        ("entries that are no JSON", "1 entry that is no JSON", "2 entries that are no JSON"),
        ("lines that stand there twice", "1 line that stands there twice", "2 lines that stand there twice"),
        ("samples that were run again", "1 sample that was run again", "2 samples that were run again"),
        ("instances without a report", "1 instance without a report", "2 instances without a report"),
        ("torn last line", "1 torn last line", "2 torn last lines"),
        ("torn end of the file", "1 torn end of the file", "2 torn ends of files"),
        ("file that is a summary", "1 file that is a summary", "2 files that are each a summary"),
        (
            "file that is neither rows nor a log",
            "1 file that is neither rows nor a log",
            "2 files that are neither rows nor logs",
        ),
    ],
)
def test_what_was_skipped_is_said_in_words_that_fit_the_number(reason, one, two):
    assert (skipped_text({reason: 1}), skipped_text({reason: 2})) == (one, two)
