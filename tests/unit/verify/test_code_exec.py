"""`CodeExec`: what passes, what fails, what is neither, and that tricks do not pass."""

# ruff: noqa: E501, ISC004 - small programs as text, one a line

from __future__ import annotations

import json
import threading

import pytest

from whileai.errors import ParamError
from whileai.verify.base import time_limit
from whileai.verify.code_exec import CodeExec, read_tests
from whileai.verify.sandbox import levels

RIGHT = "def add(a, b):\n    return a + b\n"
WRONG = "def add(a, b):\n    return 7\n"
FORMS = {
    "asserts": "assert add(2, 3) == 5\nassert 0 == add(-1, 1)\n",
    "table": "for a, b, c in [(2, 3, 5), (-1, 1, 0)]:\n    assert add(a, b) == c\n",
    "functions": "def test_one():\n    expected = 5\n    assert add(2, 3) == expected\n",
    "unittest": "import unittest\n\nclass Adds(unittest.TestCase):\n    def test_one(self):\n"
    "        self.assertEqual(add(2, 3), 5)\n",
    "pytest": "import pytest\n\n@pytest.mark.parametrize('a, b, c', [(2, 3, 5), (-1, 1, 0)])\ndef test_one(a, b, c):\n"
    "    assert add(a, b) == pytest.approx(c)\n",
    "check": "def check(candidate):\n    assert candidate(2, 3) == 5\n",
}


def verdict(code, tests, **options):
    return CodeExec(tests, **{"timeout": 5, **options}).score({"final_text": code, "entry_point": "add"})


HONEST = {
    "plain": RIGHT,
    "prints": "print('5 passed')\n" + RIGHT,
    "guarded main": RIGHT + "if __name__ == '__main__':\n    raise SystemExit(1)\n",
    "own int": "class Own(int):\n    pass\n\ndef add(a, b):\n    return Own(a + b)\n",
    "fraction": "from fractions import Fraction\n\ndef add(a, b):\n    return Fraction(a) + b\n",
    "callable object": "class Adder:\n    def __call__(self, a, b):\n        return a + b\n\nadd = Adder()\n",
    "other process": "import subprocess, sys\n\ndef add(a, b):\n    code = f'print({a} + ({b}))'\n"
    "    return int(subprocess.run([sys.executable, '-c', code], capture_output=True, check=True).stdout)\n",
    "files": "import tempfile\n\ndef add(a, b):\n    with tempfile.TemporaryFile('w+') as file:\n"
    "        file.write(str(a + b))\n        file.seek(0)\n        return int(file.read())\n",
}


@pytest.mark.parametrize("tests", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("code", HONEST.values(), ids=HONEST)
def test_honest_code_passes(code, tests):
    found = verdict(code, tests)
    assert (found.reward, found.status, found.reason) == (1, "ok", None)
    assert found.meta["n_passed"] == found.meta["n_tests"] >= 1


# each reaches for another part: the answer in the caller's code, the harness, the tests, the processes, the comparison
TRICKS = {
    "wrong": WRONG,
    "expected value out of the calling code": "import sys\n\ndef add(a, b):\n    constants = sys._getframe(1).f_code.co_consts\n"
    "    for one in constants:\n        if type(one) is int and one == 5:\n            return one\n    return 7\n",
    "every function of the globals replaced": "def add(a, b):\n    for name, value in list(globals().items()):\n"
    "        if name != 'add' and callable(value):\n            globals()[name] = lambda *a, **k: None\n    return 7\n",
    "code of the tests replaced": "def nothing(*a, **k):\n    pass\n\ndef add(a, b):\n"
    "    for value in list(globals().values()):\n        if hasattr(value, '__code__') and value is not add:\n"
    "            value.__code__ = nothing.__code__\n        if isinstance(value, type):\n"
    "            for name in [n for n in vars(value) if n.startswith('test')]:\n                setattr(value, name, nothing)\n"
    "    return 7\n",
    "unittest patched when called": "def add(a, b):\n    import unittest\n"
    "    unittest.TestCase.assertEqual = lambda *a, **k: None\n    return 7\n",
    "equal to all numbers": "class Equal:\n    __hash__ = None\n    def __eq__(self, other):\n"
    "        return isinstance(other, (int, float))\n    def __ne__(self, other):\n        return not self == other\n\n"
    "def add(a, b):\n    return Equal()\n",
    "a float that is all numbers": "class Equal(float):\n    __hash__ = None\n    def __eq__(self, other):\n        return True\n"
    "    def __ne__(self, other):\n        return False\n    def __sub__(self, other):\n        return 0.0\n"
    "    __rsub__ = __sub__\n\ndef add(a, b):\n    return Equal(9)\n",
    "a class equal to all": "class Kind(type):\n    __hash__ = None\n    def __eq__(cls, other):\n        return True\n\n"
    "class Equal(metaclass=Kind):\n    pass\n\ndef add(a, b):\n    return Equal\n",
    "another number in its place": "class Equal:\n    __class__ = int\n    __hash__ = None\n    def __eq__(self, other):\n"
    "        return True\n    def __ne__(self, other):\n        return False\n\ndef add(a, b):\n    return Equal()\n",
    "builtins patched": "import builtins\nbuiltins.AssertionError = type('Other', (Exception,), {})\n"
    "builtins.__build_class__ = lambda f, n, *b, **k: type(n, (), {})\nbuiltins.isinstance = lambda *a: True\n" + WRONG,
    "writing patched": "import json, marshal, os\nos.write = lambda fd, data: len(data)\nos.read = lambda fd, size: b''\n"
    "json.JSONEncoder.encode = lambda *a: '[\"done\"]'\nmarshal.loads = lambda data: (lambda: 0).__code__\n" + WRONG,
    "modules wiped": "import sys\nfor name in list(sys.modules):\n    if name not in ('sys', 'builtins'):\n"
    "        del sys.modules[name]\nsys.path[:] = []\nsys.meta_path[:] = []\n" + WRONG,
    "a forged message on every descriptor": "import os\n\ndef add(a, b):\n    for fd in range(3, 400):\n        try:\n"
    "            os.write(fd, (8).to_bytes(4, 'big') + b'0' * 16 + b'[\"done\"]')\n        except OSError:\n            pass\n"
    "    return 7\n",
    "descriptors closed": "import os\n\ndef add(a, b):\n    os.closerange(0, 1024)\n    return 7\n",
    "the parent stays, the child exits": "import os\n\ndef add(a, b):\n    if os.fork():\n        os._exit(0)\n    return 7\n",
    "another program": "import os\n\ndef add(a, b):\n    os.execv('/bin/true', ['true'])\n",
    "killed": "import os\n\ndef add(a, b):\n    os.killpg(0, 9)\n",
    "crash": "import ctypes\n\ndef add(a, b):\n    ctypes.string_at(0)\n",
    "exit from a thread": "import os, threading\n\ndef add(a, b):\n    threading.Thread(target=os._exit, args=(0,)).start()\n"
    "    threading.Event().wait(1)\n    return 7\n",
    "interrupt": "def add(a, b):\n    raise KeyboardInterrupt\n",
    "tracing": "import sys\n\ndef add(a, b):\n    def jump(frame, event, value):\n        frame.f_lineno += 1\n        return jump\n"
    "    sys._getframe(1).f_trace = jump\n    sys.settrace(jump)\n    return 7\n",
    "all objects": "import gc\n\ndef add(a, b):\n    for one in gc.get_objects():\n        if hasattr(one, 'must'):\n"
    "            one.must.clear()\n    return 7\n",
}  # fmt: skip


@pytest.mark.parametrize("tests", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("code", TRICKS.values(), ids=TRICKS)
def test_tricks_fail(code, tests):
    found = verdict(code, tests)
    assert (found.reward, found.status) == (0, "ok"), found.reason
    assert found.reason


FORGER = """
import sys

def add(a, b):
    frame = sys._getframe(1)
    while frame is not None:
        for value in list(frame.f_locals.values()):
            channel = getattr(value, "channel", None)
            if channel is not None:
                channel.say(["test", "test_one", "passed", ""])
                channel.say(["test", "Adds.test_one", "passed", ""])
                channel.say(["done"])
                while True:
                    pass
        frame = frame.f_back
    return 7
"""


@pytest.mark.parametrize("form", ["asserts", "functions", "unittest", "check"])
def test_a_forger_who_knows_the_harness_still_lacks_the_values(form):
    found = verdict(FORGER, FORMS[form])
    assert (found.reward, found.status) == (0, "ok"), found.reason
    assert "as they are written" in found.reason


PAIRS = {
    "in place": ("x = [3, 1]\nsort(x)\nassert x == [1, 3]\n", "def sort(x):\n    x.sort()\n", "def sort(x):\n    pass\n"),
    "own type": (
        "assert shift(P(1), 2) == P(3)\nassert shift(P(1), 2) != P(1)\n",
        "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\ndef shift(p, d):\n    return P(p.x + d)\n",
        "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\ndef shift(p, d):\n    return p\n",
    ),
    "equal modulo two": (
        "assert Mod(1) == 3 and Mod(1) == 5 and Mod(0) != 3\n",
        "class Mod:\n    def __init__(self, v):\n        self.v = v % 2\n    def __eq__(self, o):\n        return self.v == o % 2\n",
        "class Mod:\n    def __init__(self, v):\n        pass\n    def __eq__(self, o):\n        return True\n",
    ),
    "expected exception": (
        "import pytest\ndef test_one():\n    with pytest.raises(ValueError, match='neg') as caught:\n        root(-1)\n"
        "    assert 'neg' in str(caught.value)\n",
        "def root(x):\n    raise ValueError('negative')\n",
        "def root(x):\n    return 0\n",
    ),
    "try and except": (
        "try:\n    root(-1)\n    assert False\nexcept ValueError:\n    pass\n",
        "def root(x):\n    raise ValueError\n",
        "def root(x):\n    return 0\n",
    ),
    "raise": ("if add(1, 2) != 3:\n    raise ValueError('wrong')\n", RIGHT, WRONG),
    "fixtures": (
        "import pytest\n@pytest.fixture\ndef two():\n    yield 2\ndef test_one(two, tmp_path, monkeypatch, capsys):\n"
        "    monkeypatch.setenv('A', '1')\n    (tmp_path / 'a').write_text('x')\n    print('hi')\n"
        "    assert capsys.readouterr().out == 'hi\\n'\n    assert add(two, two) == 4\n",
        RIGHT,
        WRONG,
    ),
    "mock": (
        "import unittest\nfrom unittest.mock import ANY, patch\nclass T(unittest.TestCase):\n"
        "    @patch('builtins.input', return_value='4')\n    def test_one(self, asked):\n"
        "        self.assertEqual(ask(), {'n': 4, 'id': 1})\n        self.assertEqual(ask(), {'n': 4, 'id': ANY})\n"
        "        self.assertEqual(asked.call_count, 2)\n",
        "def ask():\n    return {'n': int(input()), 'id': 1}\n",
        "def ask():\n    return {'n': 5, 'id': 1}\n",
    ),
    "subtests": (
        "import unittest\nclass T(unittest.TestCase):\n    def test_one(self):\n        for a in range(3):\n"
        "            with self.subTest(a=a):\n                self.assertEqual(add(a, 1), a + 1)\n",
        RIGHT,
        "def add(a, b):\n    return 1\n",
    ),
    "some skipped": (
        "import unittest\nclass T(unittest.TestCase):\n    @unittest.skip('later')\n    def test_no(self):\n"
        "        self.assertEqual(1, 2)\n    def test_one(self):\n        self.assertEqual(add(1, 2), 3)\n",
        RIGHT,
        WRONG,
    ),
    "wildcard of the tests": (
        "class AnyInt:\n    def __eq__(self, other):\n        return isinstance(other, int)\nassert [add(1, 2), 4] == [AnyInt(), 4]\n",
        RIGHT,
        "def add(a, b):\n    return 'x'\n",
    ),
    "type from the tests": (
        "class Node:\n    def __init__(self, v, n=None):\n        self.v, self.n = v, n\nassert total(Node(1, Node(2))) == 3\n",
        "def total(node):\n    return node.v + total(node.n) if node else 0\n",
        "def total(node):\n    return node.v\n",
    ),
    "globals": ("inc()\ninc()\nassert count == 2\n", "count = 0\ndef inc():\n    global count\n    count += 1\n",
                "count = 0\ndef inc():\n    pass\n"),
    "main guard": ("if __name__ == '__main__':\n    assert add(1, 2) == 3\n", RIGHT, WRONG),
    "test called by the script": ("def test(f):\n    assert f(1, 2) == 3\ntest(add)\n", RIGHT, WRONG),
    "asynchronous": ("async def test_one():\n    assert await one() == 1\n", "async def one():\n    return 1\n",
                     "async def one():\n    return 2\n"),
    "long loop": ("for i in range(3000):\n    assert add(1, 1) == 2\n", RIGHT, WRONG),
    "array": ("import numpy as np\nnp.testing.assert_allclose(f(), [1, 2])\nassert (f() == np.array([1, 2])).all()\n",
              "import numpy as np\ndef f():\n    return np.array([1, 2])\n",
              "import numpy as np\ndef f():\n    return np.array([1, 3])\n"),
    "imported solution": ("from solution import add\nassert add(1, 2) == 3\n", RIGHT, WRONG),
    "list of tests": (["assert add(1, 2) == 3", "assert add(1, 1) == 2"], RIGHT, "def add(a, b):\n    return 3\n"),
}  # fmt: skip


@pytest.mark.parametrize(("tests", "right", "wrong"), PAIRS.values(), ids=PAIRS)
def test_kinds_of_tests(tests, right, wrong):
    assert [verdict(code, tests).reward for code in (right, wrong)] == [1, 0]


NEITHER = {
    "no Python": ("assert add(2, 3 == 5\n", "error"),
    "no test": ("x = 1\n", "error"),
    "a function nobody calls": ("def unused():\n    assert add(2, 3) == 5\n", "error"),
    "a check that checks nothing": ("def check(candidate):\n    pass\n", "error"),
    "all skipped": ("import unittest\n@unittest.skip('x')\nclass T(unittest.TestCase):\n    def test_one(self):\n        pass\n",
                    "error"),
    "a module that is not there": ("import no_such_module\nassert add(2, 3) == 5\n", "error"),
    "an unknown fixture": ("def test_one(nothing):\n    assert add(2, 3) == 5\n", "error"),
}  # fmt: skip


@pytest.mark.parametrize(("tests", "status"), NEITHER.values(), ids=NEITHER)
def test_tests_that_cannot_test_are_an_error(tests, status):
    found = verdict(RIGHT, tests)
    assert (found.reward, found.status) == (None, status)
    assert found.reason


def test_an_assertion_never_reached_is_no_pass():
    assert verdict(RIGHT, "for a in []:\n    assert add(a, 1) == 1\n").reward == 0


def test_a_broken_setup_is_an_error_and_a_good_one_runs_first():
    uses = "def add(a, b):\n    return a + b + BASE\n"
    assert verdict(uses, FORMS["asserts"], setup="BASE = 0").reward == 1
    found = verdict(uses, FORMS["asserts"], setup="BASE = 1 / 0")
    assert (found.reward, found.status) == (None, "error")
    assert "setup" in found.reason


def test_reasons_say_where_and_never_what():
    secret = "assert add(2, 3) == 5, 'wanted 4711'\n" + "assert add(4000, 711) == 4711\n"
    found = verdict("def add(a, b):\n    return 5\n", secret)
    assert "line 2" in found.reason
    assert "4711" not in f"{found}"
    assert "ModuleNotFoundError" in verdict("import no_such_module\n", secret).reason
    assert "SystemExit" in verdict("raise SystemExit(0)", secret).reason


@pytest.mark.parametrize(
    ("code", "words"),
    [("def add(a, b):\n    while True:\n        pass\n", "processor"), ("import time\ntime.sleep(60)\n", "not done")],
)
def test_running_out_of_time_is_a_timeout(code, words):
    found = verdict(code, FORMS["asserts"], timeout=1)
    assert (found.reward, found.status) == (None, "timeout")
    assert words in found.reason


@pytest.mark.parametrize(
    ("entry", "code", "expected"),
    [
        ("add", RIGHT + "def other():\n    pass\n", (1, "ok")),
        ("add", "def other():\n    pass\n", (0, "ok")),
        (None, RIGHT, (1, "ok")),
        (None, "def helper(a, b):\n    return a + b\ndef add(a, b):\n    return helper(a, b)\n", (1, "ok")),
        (None, RIGHT + "def other():\n    pass\n", (None, "error")),
    ],
)
def test_which_function_a_check_is_for(entry, code, expected):
    row = {"final_text": code, "entry_point": entry, "reference": FORMS["check"]}
    found = CodeExec(timeout=5).score(row)
    assert (found.reward, found.status) == expected


CASES = {"inputs": ["1 2\n", "3 4\n"], "outputs": ["3\n", "7"]}
PROGRAM = "a, b = map(int, input().split())\nprint(a + b)\n"
PROGRAMS = {
    "lines": (CASES, PROGRAM, 1),
    "wrong": (CASES, "print(3)\n", 0),
    "list of cases": ([{"input": "1 2", "output": "3"}], "import sys\nprint(sum(map(int, sys.stdin.buffer.read().split())))\n", 1),
    "as JSON": (json.dumps(CASES), PROGRAM, 1),
    "main": (CASES, f"def main():\n    {PROGRAM.replace(chr(10), chr(10) + '    ')}\nif __name__ == '__main__':\n    main()\n", 1),
    "numbers within 1e-6": ({"inputs": ["3"], "outputs": ["0.33333333"]}, "print(1 / int(input()))\n", 1),
    "numbers that are text": ({"inputs": ["x"], "outputs": ["007"]}, "print(7)\n", 0),
    "a long number": ({"inputs": ["5000"], "outputs": ["1" + "0" * 5000]}, "print(10 ** int(input()))\n", 1),
    "exits well": (CASES, PROGRAM + "raise SystemExit(0)\n", 1),
    "exits badly": (CASES, PROGRAM + "raise SystemExit(2)\n", 0),
    "a fence": (CASES, f"So:\n```python\n{PROGRAM}```\nOutput:\n```\n3\n```\n", 1),
    "calls": ({"fn_name": "add", "inputs": [[1, 2]], "outputs": [3]}, RIGHT, 1),
    "wrong calls": ({"fn_name": "add", "inputs": [[1, 2]], "outputs": [3]}, WRONG, 0),
}  # fmt: skip


@pytest.mark.parametrize(("gold", "code", "reward"), PROGRAMS.values(), ids=PROGRAMS)
def test_programs_with_cases(gold, code, reward):
    found = CodeExec(timeout=5).score({"final_text": code, "privileged": {"reference": gold}})
    assert (found.reward, found.status) == (reward, "ok"), found.reason


def test_expected_outputs_are_not_in_the_program():
    """The program is forked before the outputs are read, and its input ends where its case ends."""
    code = "import gc, sys\ntext = sys.stdin.read()\nprint('4711' if any(type(o) is str and 'zebra' in o and o is not text "
    code += "for f in sys._current_frames().values() for o in f.f_globals.values()) or 'zebra' in text else text)\n"
    found = CodeExec({"inputs": ["x"], "outputs": ["zebra"]}, timeout=5).score({"final_text": code})
    assert found.reward == 0
    assert found.meta["n_passed"] == 0


@pytest.mark.parametrize(
    "gold", [5, {"a": 1}, [], [1], {"inputs": [], "outputs": []}, {"inputs": ["1"], "outputs": []}]
)
def test_what_is_no_tests(gold):
    assert read_tests(gold) is None


def test_a_gold_that_is_no_tests_is_an_error_and_none_is_missing():
    judge = CodeExec()
    assert judge.score({"final_text": RIGHT, "privileged": {"reference": {"a": 1}}}).status == "error"
    assert judge.score({"final_text": RIGHT}).status == "missing_reward"


def test_many_rows_land_with_their_places():
    rows = [{"final_text": code} for code in (RIGHT, WRONG, RIGHT, "import os\nos._exit(0)\n")] * 2
    landed = dict(CodeExec(FORMS["asserts"], timeout=5).score_all(rows, timeout=30, workers=3))
    assert [landed[place].reward for place in range(8)] == [1, 0, 1, 0] * 2


def test_leaving_many_rows_early_ends_them():
    rows = [{"final_text": RIGHT}, *[{"final_text": "import time\ntime.sleep(600)\n"}] * 3]
    running = CodeExec(FORMS["asserts"], timeout=300).score_all(rows, timeout=600, workers=4)
    assert next(running)[0] == 0
    running.close()
    threads = [thread for thread in threading.enumerate() if thread.name == "CodeExec"]
    for thread in threads:
        thread.join(20)
    assert not any(thread.is_alive() for thread in threads)


class Reports(levels.Level):
    """A level that gives one report after the other, and keeps the clocks it was given."""

    def run(self, job, started=None):
        CLOCKS.append(job.wall)
        return {"reason": None, **REPORTS[len(CLOCKS) - 1]}


CLOCKS, REPORTS = [], []
SLOW = {"status": "timeout", "reward": None}


@pytest.mark.parametrize(
    ("reports", "clock", "expected", "runs"),
    [
        ([SLOW, {"status": "ok", "reward": 1}], 100, (1, "ok"), 2),
        ([SLOW, SLOW], 100, (None, "timeout"), 2),
        ([{**SLOW, "spent": True}], 100, (None, "timeout"), 1),
        ([SLOW], 6, (None, "timeout"), 1),
        ([{"status": "ok", "reward": 0}], 100, (0, "ok"), 1),
    ],
)
def test_only_a_lack_of_clock_gets_a_second_try(monkeypatch, reports, clock, expected, runs):
    CLOCKS.clear()
    REPORTS[:] = reports
    monkeypatch.setattr(levels, "choose", lambda isolation: Reports("rlimits"))
    with time_limit(clock):
        found = CodeExec("assert True", timeout=5).score({"final_text": ""})
    assert (found.reward, found.status) == expected
    assert len(CLOCKS) == runs
    assert sum(CLOCKS) <= clock


def test_the_outer_clock_counts_too():
    rows = [{"final_text": "import time\ntime.sleep(600)\n"}, {"final_text": RIGHT}]
    landed = dict(CodeExec(FORMS["asserts"], timeout=300).score_all(rows, timeout=1, workers=2))
    assert [landed[0].status, landed[1].status] == ["timeout", "ok"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"isolation": "strct"}, "Did you mean strict"),
        ({"isolation": "bubblewarp"}, "Did you mean bubblewrap"),
        ({"timeout": 0}, "timeout must be"),
        ({"timeout": float("nan")}, "timeout must be"),
        ({"memory_mb": -1}, "memory_mb must be"),
        ({"memory_mb": 1.5}, "memory_mb must be"),
        ({"setup": None}, "setup must be"),
        ({"tests": 5}, "tests must be"),
    ],
)
def test_arguments_outside_their_bounds(options, words):
    with pytest.raises(ParamError, match=words):
        CodeExec(**options)


def test_tests_of_its_own_need_no_gold():
    judge = CodeExec("assert True")
    assert (judge.needs_reference, CodeExec.needs_reference, judge.bounded) == (False, True, True)
    assert judge.config() == {
        "field": None, "name": "CodeExec", "tests": "assert True", "timeout": 10.0, "memory_mb": 512, "setup": "",
        "isolation": "auto",
    }  # fmt: skip
