"""What users of other tools have reported about verifying, each kind with inputs of our own, and our answer to it."""

# ruff: noqa: E501 - small programs as text

from __future__ import annotations

import asyncio
import json
import threading
import time

import pytest

import whileai as wai
from whileai.errors import ParamError
from whileai.verify.sandbox import levels

SCORED = ("ok",)


def rewards(verifier, pairs, **options):
    """Reward and status of (candidate, gold) pairs."""
    rows = [{"prompt": "p", "final_text": candidate, "reference": gold} for candidate, gold in pairs]
    return [(row["reward"], row["judge_status"]) for row in wai.grade(rows, verifier, **options)]


# --- mathematics ------------------------------------------------------------------------------------------------------

HANGS = [
    (r"\boxed{\dfrac{7^{\left(7^{\left(7^{\left(7^7\right)}\right)} - 2\right)} - 7}{12}}", r"\frac{1}{3}"),
    ("9**9**9**9", "9"),
    ("$3^{3^{3^{3^{3}}}}$", "27"),
    ("88888888!", "1"),
    (r"$\log(\log(\log(\log(\log(\log(10^{10^{10^{10}}}))))))$", "1"),
    (r"$\log_{\log_{\log_{3}(9)}(8)}(\log_{2}(\log_{3}(3^{2^{512}})))$", "4"),
    (r"$\prod_{k=1}^{10^{9}} (1+\frac{1}{k!})$", "2"),
    (r"$\left(x+y+z+w\right)^{5000}$", "x"),
    ("\\frac{" * 2000 + "1" + "}{2}" * 2000, "1"),
    ("(" * 5000 + "1" + ")" * 5000, "1"),
    ("$" + "\\sqrt{" * 300 + "2" + "}" * 300 + "$", "1"),
]


@pytest.mark.parametrize("where", ["here", "in a thread", "in a running loop"])
def test_endless_mathematics_ends_and_the_next_row_is_graded(where):
    """An expression that no parser returns from is a timeout or a verdict, from any thread, never a pass."""
    pairs = [pair for hang in HANGS for pair in (hang, (r"\boxed{\frac{6}{4}}", "1.5"))]
    found = []

    def work():
        found.extend(rewards(wai.verify.MathEqual(), pairs, timeout=2))

    async def looped():
        work()

    if where == "in a thread":
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    elif where == "in a running loop":
        asyncio.run(looped())
    else:
        work()
    assert [verdict for verdict in found[1::2] if verdict != (1, "ok")] == []
    assert all(verdict in ((0, "ok"), (None, "timeout"), (None, "error")) for verdict in found[::2]), found[::2]


NOT_EQUAL = [
    # two equations that a parser could not read are not equal for it
    ("7x + 2y + 9 = 0", "7*x-2*y+8=0"), ("2a - 5b = 1", "2*a+5*b=1"), (r"\forall t<0, g(t)=0", "g(t)=0"),
    # differences that an absolute tolerance swallows
    (r"$2-\frac{1}{\pi}$", r"2+\frac{1}{\pi}"), ("$1/1500!$", "1/1502!"), ("$1/3^{80}$", "1/3^{79}"),
    (r"$10^{-12}$", r"10^{-13}"), (r"$\frac{1}{7^{50}}$", "0"),
    # a part is not the whole
    ("$9$", r"9\sqrt(3)"), (r"$7\sqrt{5}$", "7"), (r"$\left(4, \frac{\pi}{3}\right)$", "4"), ("4", r"\left(4, \frac{\pi}{3}\right)"),
    ("(1, 2)", "1 < x < 3"), ("$(1,4)$", "[1,4]"), ("(2, 1)", "(1, 2)"), ("10 m", "10 cm"), ("35%", "35"),
    # what is offered twice is not answered
    ("6 or 5", "5"), (r"\boxed{4, 5}", "5"), (r"$5 \approx 8$", "5"), (r"$5 \approx 8$", "8"), (r"\boxed{\text{not } 5}", "5"),
    (r"\boxed{4} or \boxed{5}", "4"), ("", "5"), ("5", "f(5)"), ("x", "5"), (r"\boxed{}", "5"), ("NaN", "5"), ("inf", "5"),
]  # fmt: skip
EQUAL = [
    (r"$\sqrt{1/m}$", r"\frac{1}{\sqrt{m}}"), ("2*pi/3", r"\boxed{\dfrac{2\pi}{3}}"), ("-4 + exp(9)", r"e^{9}-4"),
    ("sqrt(11)", r"\sqrt{11}"), (r"\left( 5, \frac{\pi}{4} \right)", r"\left( 5, \frac{\pi}{4} \right)"),
    (r"\sqrt{19}", r"\sqrt{19}"), ("$37.00", "37"), ("37.", "37"), ("4,321", "4321"), ("4321", "4,321"), (r"4{,}321", "4321"),
    ("€1,250.00", "1250"), ("First \\boxed{8}. Hmm, wait. So \\boxed{9}", "9"), ("**81**", "81"), (r"\text{27}", "27"),
    ("4.358898943540674", r"\sqrt{19}"), (r"\boxed{x=6}", "6"), (r"\dfrac{9}{12}", "0.75"), ("The answer is $\\frac{3}{4}$.", "0.75"),
    (r"\boxed{(x+3)^2}", "x^2+6x+9"), ("{3, 1, 2}", r"\{1,2,3\}"), ("1e4", "10000"), ("<answer>33</answer>", "33"),
]  # fmt: skip


def test_answers_that_differ_are_never_equal():
    assert {
        pair: v for pair, v in zip(NOT_EQUAL, rewards(wai.verify.MathEqual(), NOT_EQUAL), strict=True) if v != (0, "ok")
    } == {}


def test_answers_that_are_equal_however_they_are_written():
    assert {
        pair: v for pair, v in zip(EQUAL, rewards(wai.verify.MathEqual(), EQUAL), strict=True) if v != (1, "ok")
    } == {}


def test_an_infinite_regress_of_verdicts_is_the_same_everywhere():
    """Main thread, worker thread and event loop say the same, row by row."""
    pairs = [(r"$\sin^2 x$", r"1-\cos^2 x"), ("$e^{2x}$", "(e^x)^2"), ("$e^{2x}$", "e^x")]
    here = rewards(wai.verify.MathEqual(), pairs)
    there = []
    threads = [threading.Thread(target=lambda: there.append(rewards(wai.verify.MathEqual(), pairs))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    async def looped():
        return rewards(wai.verify.MathEqual(), pairs)

    assert here == [(1, "ok"), (1, "ok"), (0, "ok")]
    assert [*there, asyncio.run(looped())] == [here] * 4


def test_a_mismatch_is_not_a_failure_to_tell():
    """Wrong, no gold, an unreadable gold and out of time are four statuses."""
    found = rewards(
        wai.verify.MathEqual(), [("4", "5"), ("4", None), ("4", r"\frac{"), (HANGS[0][0], r"\frac13 + x")], timeout=2
    )
    assert found[:3] == [(0, "ok"), (None, "missing_reward"), (None, "error")]
    assert found[3] in ((None, "timeout"), (0, "ok"))


@pytest.mark.parametrize(("percent", "expected"), [("strict", [0, 0, 1]), ("either", [1, 1, 1])])
def test_percent_is_the_callers_choice(percent, expected):
    pairs = [(r"28\%", "28"), ("28", r"28\%"), ("28%", r"28\%")]
    assert [reward for reward, _ in rewards(wai.verify.MathEqual(percent=percent), pairs)] == expected
    with pytest.raises(ParamError):
        wai.verify.MathEqual(percent="maybe")


def test_gold_and_answer_cannot_be_swapped():
    """The gold comes by its key, and the settings by name."""
    with pytest.raises(TypeError):
        wai.rows(["q"], ["5"], wai.verify.MathEqual(), ["5"])
    one = wai.rows(["q"], ["1 < x < 2"], wai.verify.MathEqual(), references=["(1,2)"])
    assert one[0]["final_text"] == "1 < x < 2"
    assert one[0]["privileged"]["reference"] == "(1,2)"


def test_no_text_is_evaluated(tmp_path):
    target = tmp_path / "made"
    texts = [f"__import__('pathlib').Path({str(target)!r}).touch()", f"$({{}}.__class__, open({str(target)!r}, 'w'))$",
             f"\\boxed{{exec(\"open('{target}','w')\")}}"]  # fmt: skip
    for verifier in (wai.verify.MathEqual(), wai.verify.Numeric()):
        for text in texts:
            for pair in ((text, "5"), ("5", text)):
                assert rewards(verifier, [pair])[0][0] != 1
    assert not target.exists()


def test_memory_of_a_grading_worker_is_bounded():
    """Every worker sets itself a limit on its address space before it reads a word."""
    from whileai.verify.workers.pool import Session

    with Session("whileai.verify.workers.math_worker", timeout=20, workers=1) as session:
        session.submit(0, {"golds": ["x"], "answer": "y", "run": None, "percent": "strict"})
        list(session.drain())
        limits = [_address_space(pid) for pid in _children()]
    assert any(limit is not None and limit < 16 * 2**30 for limit in limits), limits


def _children():
    import os
    from pathlib import Path

    found = []
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            if place.read_text().rpartition(")")[2].split()[1] == str(os.getpid()):
                found.append(place.parent.name)
        except OSError:
            continue
    return found


def _address_space(pid):
    from pathlib import Path

    try:
        lines = Path(f"/proc/{pid}/limits").read_text().splitlines()
    except OSError:
        return None
    value = next(line for line in lines if line.startswith("Max address space")).split()[3]
    return None if value == "unlimited" else int(value)


LONG = {
    "one token again and again": "so 5 " * 30_000,
    "digits": "7" * 120_000,
    "digits with commas": "7," * 60_000,
    "spaces": "x" + " " * 120_000 + "y",
    "newlines": "\n" * 120_000 + "5",
    "open brackets": "(" * 120_000,
    "open boxes": r"\boxed{" * 17_000,
    "boxes in boxes": r"\boxed{" * 10_000 + "5" + "}" * 10_000,
    "fractions": r"\frac{1}{" * 12_000,
    "dollars": "$" * 120_000,
    "signs": "+-" * 60_000,
    "equals": "x=" * 60_000,
    "answers": "The answer is " * 8_600,
    "not": "not " * 30_000 + "B",
    "letters": "A " * 60_000,
    "letters with or": "A or " * 24_000,
    "stars": "*" * 120_000,
    "hashes": "#" * 120_000,
    "carets": "2^" * 60_000 + "2",
    "backslashes": "\\" * 120_000,
    "think": "<think>" * 15_000,
    "combining marks": "e" + "\u0301" * 120_000,
    "invisible": "\u200b" * 120_000 + "5",
    "minutes": "1:" * 60_000,
    "underscores": "_a" * 60_000,
}
FAST = [
    wai.verify.ExactMatch(),
    wai.verify.Includes(),
    wai.verify.Numeric(),
    wai.verify.MathEqual(),
    wai.verify.MultipleChoice(),
]


@pytest.mark.parametrize("verifier", FAST, ids=lambda verifier: type(verifier).__name__)
def test_degenerate_answers_do_not_block_grading(verifier):
    """Thirty thousand tokens of anything get a verdict; each within a time that a fast machine needs not a tenth of."""
    gold = "B" if isinstance(verifier, wai.verify.MultipleChoice) else "5"
    slow, odd = {}, {}
    for name, text in LONG.items():
        begun = time.perf_counter()
        verdict = rewards(verifier, [(text, gold)], timeout=20)[0]
        seconds = time.perf_counter() - begun
        if seconds > 10:
            slow[name] = seconds
        if verdict[1] not in ("ok", "timeout"):
            odd[name] = verdict
    assert (slow, odd) == ({}, {})


# --- hedges and lists: an answer is one answer ------------------------------------------------------------------------

LISTS = ["{0}, {1}, {2}", "{0} {1} {2}", "{0} or {1}", "either {0} or {1}", "{0}/{1}", "{0} | {1}", "{0}; {1}", "{0}\n{1}\n{2}",
         "The answer is {0}. The answer is {1}.", r"\boxed{{{0}}} \boxed{{{1}}}", r"\boxed{{{0}, {1}}}", r"\boxed{{{0} \text{{ or }} {1}}}",
         "<answer>{0}, {1}</answer>", "<answer>{0}</answer><answer>{1}</answer>", "The answer is {0} (or {1})", "Answer: {0}; {1}",
         "Answer: {0} | {1}", "It is {0}. Or {1}.", "The answer is {0}, {1}", "#### {0} #### {1}", "A: {0}\nA: {1}",
         "It could be {0}, or it could be {1}", "{0} and {1}", "Possible answers: {0}, {1}, {2}", "[{0}, {1}]", "{{{0}, {1}}}",
         r"${0}$ or ${1}$", r"${0} \approx {1}$", "{0} = {1}", "not {0}, {1} or {2}", "{0}? {1}?", "{0}\u200b{1}"]  # fmt: skip


@pytest.mark.parametrize(
    ("verifier", "names"),
    [
        (wai.verify.Numeric(), ["3", "8", "40"]),
        (wai.verify.MathEqual(), ["3", "8", "40"]),
        (wai.verify.MultipleChoice(), ["B", "D", "C"]),
        (wai.verify.ExactMatch(), ["Lima", "Cusco", "Quito"]),
    ],
    ids=["Numeric", "MathEqual", "MultipleChoice", "ExactMatch"],
)
def test_no_completion_is_right_for_two_golds(verifier, names):
    """Whatever is listed, at most one of the listed answers counts, so listing wins nothing over guessing."""
    texts = [shape.format(*order) for shape in LISTS for order in (names, names[::-1])]
    pairs = [(text, gold) for text in texts for gold in names]
    found = rewards(verifier, pairs)
    hits = {}
    for (text, gold), (reward, _) in zip(pairs, found, strict=True):
        if reward == 1:
            hits.setdefault(text, []).append(gold)
    assert {text: golds for text, golds in hits.items() if len(golds) > 1} == {}


HEDGES = [
    (wai.verify.Numeric(), "5", ["5 or 6", "6 or 5", "either 5 or 6", "The answer is 5 (or 6)", "Answer: 5; 6", "Answer: 5, 6", "not 5", "55", "5.5",
                                 r"\boxed{5, 6}", "5/6", "5 and 6", "5\u200b5", "x5", "5x", "5^2", "-5", "\u22125", "50%", "5%", "1 2 3 4 5 6 7", "ten", "5:30"]),
    (wai.verify.MultipleChoice(), "B", ["A or B", "B or C", "A/B", "A, B, C, D", "ABCD", "The answer is B (or C)", "not B", "B is wrong", r"\boxed{A, B}",
                                        "B? Or maybe C", "\u0412", "I cannot say", "Bob"]),
    (wai.verify.ExactMatch(), "Paris", ["Paris or London", "Not Paris", "P\u0430ris", "Paris Paris", "Question: capital? Paris"]),
    (wai.verify.Includes(), "Paris", ["Parisian", "P\u0430ris", "Comparison", "paris2024"]),
    (wai.verify.JSONField("answer"), 5, ['{"answer": 5, "answer": 6}', '{"answer": [5, 6]}', '{"answer": "5 or 6"}', '{"answer": true}', '{"other": 5}',
                                         '{"answer": null}', "5"]),
]  # fmt: skip


@pytest.mark.parametrize(("verifier", "gold", "texts"), HEDGES, ids=lambda v: type(v).__name__)
def test_hedges_and_look_alikes_are_wrong(verifier, gold, texts):
    rows = [{"prompt": "p", "final_text": text, "privileged": {"reference": gold}} for text in texts]
    assert [text for text, row in zip(texts, wai.grade(rows, verifier), strict=True) if row["reward"] == 1] == []


# --- code -------------------------------------------------------------------------------------------------------------

ADD = "def plus(a, b):\n    return a + b\n"


def judged(code, tests, **options):
    row = wai.grade(
        [{"prompt": "p", "final_text": code, "reference": tests}], wai.verify.CodeExec(**{"timeout": 5, **options})
    )[0]
    return row["reward"], row["judge_status"], row


def test_nothing_that_did_not_run_passes():
    """Tests that define and never call, that are commented out, or an empty file give no pass."""
    for tests in ("def check(candidate):\n    # assert candidate(1, 2) == 3\n    pass\n", "# assert plus(1, 2) == 3\n", "'''\nassert plus(1, 2) == 3\n'''\n",
                  "if False:\n    assert plus(1, 2) == 3\n", "def later():\n    assert plus(1, 2) == 3\n"):  # fmt: skip
        assert judged(ADD, tests)[0] != 1


def test_a_host_that_cannot_run_code_is_an_error(monkeypatch):
    """Where known good code does not pass, nothing is scored."""
    monkeypatch.setattr(
        levels.Level, "run", lambda self, job, started=None: {"status": "ok", "reward": 0, "reason": "x"}
    )
    levels._working.cache_clear()
    try:
        assert judged(ADD, "assert plus(1, 2) == 3")[:2] == (None, "error")
    finally:
        levels._working.cache_clear()


def test_a_busy_machine_costs_no_verdict():
    """Processor time is limited; the clock is generous, and eight at once on few cores all pass."""
    code = "def plus(a, b):\n    return sum(i * 0 for i in range(2_000_000)) + a + b\n"
    rows = [{"prompt": "p", "final_text": code, "reference": "assert plus(1, 2) == 3"} for _ in range(8)]
    found = wai.grade(rows, wai.verify.CodeExec(timeout=2), workers=8, timeout=60)
    assert [row["reward"] for row in found] == [1] * 8


def test_one_long_call_of_c_is_stopped():
    code = "import itertools\ndef plus(a, b):\n    return list(itertools.permutations(range(14)))\n"
    reward, status, row = judged(code, "assert plus(1, 2) == 3", timeout=2, memory_mb=256)
    assert (reward, status) in ((0, "ok"), (None, "timeout"))
    assert "memory" in row["reason"].lower() or status == "timeout"


def test_printed_results_and_early_exits_are_no_pass():
    for code in (
        "print('test_one PASSED\\n1 passed')\nimport sys\nsys.exit(0)\n",
        "import os\nprint('OK', flush=True)\nos._exit(0)\n",
    ):
        assert judged(code, "def test_one():\n    assert plus(1, 2) == 3\n")[:2] == (0, "ok")


PROGRAMS = [
    ("print(float(input()) / 3)", ["2"], ["0.66666666"], 1), ("print(float(input()) / 3)", ["2"], ["0.667"], 0),
    ("import sys\nsys.stdout.buffer.write(sys.stdin.buffer.read()[::-1])", ["ab"], ["ba"], 1),
    ("print(7 ** 6000)", [""], [str(pow(7, 10)) ], 0), ("print(len(str(7 ** 6000)))", [""], ["5071"], 1),
    ("import sys\nfor line in sys.stdin:\n    print(line.strip())", ["a\nb\n"], ["a\nb"], 1), ("print('1  2 ')\nprint()", [""], ["1 2"], 1),
    ("print(1)\nprint(2)", [""], ["1 2 3"], 0), ("n = int(input())\nprint(*range(n))", ["3", "1"], ["0 1 2", "0"], 1),
]  # fmt: skip


@pytest.mark.parametrize(("code", "inputs", "outputs", "reward"), PROGRAMS)
def test_programs_are_compared_word_by_word(code, inputs, outputs, reward):
    assert judged(code, {"inputs": inputs, "outputs": outputs})[:2] == (reward, "ok")


def test_large_whole_numbers_are_no_trouble():
    assert judged("def big():\n    return 7 ** 6000\n", "assert len(str(big())) == 5071\n")[0] == 1


def test_a_lower_limit_of_the_system_is_kept_and_no_failure(run_script):
    """Where the machine's own limits are lower than ours, ours bow to them."""
    out = run_script("""
        import resource
        import whileai as wai

        resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))
        resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, 2**20))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        row = wai.rows(["q"], ["def one():\\n    return 1"], wai.verify.CodeExec(), references=["assert one() == 1"])[0]
        print(row["reward"], row["judge_status"])
    """).stdout
    assert out.split() == ["1", "ok"]


def test_programs_do_not_share_memory():
    """One process per program: what one leaves in a module, the next does not find."""
    code = "import math\ndef plus(a, b):\n    if hasattr(math, 'mark'):\n        return 0\n    math.mark = bytearray(50 * 2**20)\n    return a + b\n"
    rows = [{"prompt": "p", "final_text": code, "reference": "assert plus(1, 2) == 3"} for _ in range(6)]
    assert [row["reward"] for row in wai.grade(rows, wai.verify.CodeExec(timeout=5, memory_mb=128))] == [1] * 6


def test_one_verdict_a_row():
    """Rows that time out, fail and pass all get exactly one verdict, in their order."""
    codes = [ADD, "while True:\n    pass\n", "def plus(a, b):\n    return 0\n"] * 2
    rows = [{"prompt": "p", "final_text": code, "reference": "assert plus(1, 2) == 3"} for code in codes]
    found = wai.grade(rows, wai.verify.CodeExec(timeout=1), timeout=3)
    assert [(row["reward"], row["judge_status"]) for row in found] == [(1, "ok"), (None, "timeout"), (0, "ok")] * 2


def test_the_environment_is_fixed():
    """Hash seed, time zone and language do not depend on the machine."""
    code = "import os, sys, time\ndef seen():\n    return hash('a'), os.environ.get('PYTHONHASHSEED'), os.environ.get('TZ'), sys.stdout.encoding, sorted(os.environ)\n"
    tests = "import os\nassert seen()[1] == '0' and seen()[3] == 'utf-8'\nassert 'HOME' in seen()[4] and len(seen()[4]) <= 12\n"
    assert judged(code, tests)[0] == 1


def test_results_of_each_test_are_kept_from_one_pass():
    tests = "def test_a():\n    assert plus(1, 2) == 3\ndef test_b():\n    assert plus(0, 0) == 1\ndef test_c():\n    assert plus(2, 2) == 4\n"
    reward, _, row = judged(ADD, tests)
    assert reward == 0
    assert (row["judge_meta"]["n_tests"], row["judge_meta"]["n_passed"]) == (3, 2)


@pytest.mark.parametrize("missing", ["bwrap is not installed", "bwrap cannot run here"])
def test_without_bubblewrap_the_next_level_is_taken_and_named(monkeypatch, tmp_path, missing):
    """A container that forbids namespaces falls back, and the verdict says to what."""
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    program.chmod(0o755)
    found = "" if "not installed" in missing else str(program)
    monkeypatch.setattr(levels.shutil, "which", lambda name: found)
    reward, status, row = judged(ADD, "assert plus(1, 2) == 3")
    assert (reward, status) == (1, "ok")
    assert row["judge_meta"]["isolation"] in ("landlock", "rlimits")
    assert judged(ADD, "assert plus(1, 2) == 3", isolation="bubblewrap")[:2] == (None, "error")


def test_arrays_may_be_compared_item_by_item():
    """A comparison whose result is summed, indexed with or asked for `all` stays an array."""
    code = "import numpy as np\ndef f():\n    return np.array([1, 2, 2])\n"
    wrong = code.replace("[1, 2, 2]", "[1, 2, 3]")
    for test in (
        "assert (f() == [1, 2, 2]).all()",
        "import numpy as np\nassert np.all(f() == [1, 2, 2])",
        "assert (f() == 2).sum() == 2",
        "assert len(f()[f() == 2]) == 2",
    ):
        assert [judged(one, test, memory_mb=1024)[0] for one in (code, wrong)] == [1, 0]


# --- judges and resuming ----------------------------------------------------------------------------------------------

UNREADABLE = ["GRADE: CI", "C", "i", "\u200b", "", "downgrade: i", "yes", "0.5/1", "{}", "1", [1], (1,), {"score": 1}, {"reward": "1"}, {"reward": True, "markers": 3},
              2, -0.1, float("nan"), float("inf"), 1 + 0j, b"1", object(), print]  # fmt: skip


@pytest.mark.parametrize("answer", UNREADABLE)
def test_a_verdict_that_cannot_be_read_is_not_the_lowest_grade(answer):
    row = wai.rows(["q"], ["a"], lambda prompt, completion: answer)[0]
    assert row["reward"] is None
    assert row["judge_status"] in ("invalid_result", "missing_reward")


@pytest.mark.parametrize(
    "error", [ValueError("x"), SystemExit(0), RecursionError(), MemoryError(), AssertionError()], ids=repr
)
def test_a_judge_that_raises_is_an_error_and_no_zero(error):
    def judge(prompt, completion):
        raise error

    row = wai.rows(["q"], ["a"], judge)[0]
    assert (row["reward"], row["judge_status"]) == (None, "error")
    assert type(error).__name__ in json.dumps(row)
