"""Hostile programs under `CodeExec`: none passes, none gets out, none leaves anything behind; their honest twins pass.

All of a level's programs are judged in one process of their own, so that what they cost the caller can be measured.
"""

# ruff: noqa: E501 - small programs as text

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
import time
from pathlib import Path

import pytest

import whileai as wai
from whileai.verify.sandbox import decoys, kernel, levels

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads the process table")

ASSERTS = "assert add(2, 3) == 5\nassert add(-1, 1) == 0\n"
FUNCTIONS = "def test_small():\n    assert add(2, 3) == 5\n\ndef test_negative():\n    assert add(-1, 1) == 0\n"
PYTEST = "import pytest\n\nclass TestAdd:\n    def test_small(self):\n        assert add(2, 3) == 5\n\n    def test_near(self):\n        assert add(0, 1) == pytest.approx(1)\n"
UNITTEST = """
import unittest

class TestAdd(unittest.TestCase):
    def test_small(self):
        self.assertEqual(add(2, 3), 5)

    def test_sign(self):
        self.assertTrue(add(-1, 1) == 0)
"""
CHECK = "def check(candidate):\n    assert candidate(2, 3) == 5\n    assert candidate(-1, 1) == 0\n"
CASES = {"inputs": ["2 3\n", "-1 1\n"], "outputs": ["5\n", "0\n"]}
FORMS = {
    "asserts": ASSERTS,
    "functions": FUNCTIONS,
    "unittest": UNITTEST,
    "pytest": PYTEST,
    "check": CHECK,
    "cases": CASES,
}

MARK = f"attack-{os.getpid()}"

# Each defines attack(); what it returns, if anything, is what the wrong answer is made of.
QUICK = {
    # --- ends ---
    "sys.exit": "def attack():\n    sys.exit(0)",
    "os._exit": "def attack():\n    os._exit(0)",
    "raise SystemExit": "def attack():\n    raise SystemExit(0)",
    "KeyboardInterrupt": "def attack():\n    raise KeyboardInterrupt",
    "GeneratorExit": "def attack():\n    raise GeneratorExit",
    "StopIteration": "def attack():\n    raise StopIteration",
    "BaseException of its own": "class Mine(BaseException):\n    pass\ndef attack():\n    raise Mine",
    "abort": "def attack():\n    os.abort()",
    "exit in a thread": "import threading\ndef attack():\n    threading.Thread(target=os._exit, args=(0,)).start()\n    threading.Event().wait(1)",
    "exit in a destructor": "class Bye:\n    def __del__(self):\n        os._exit(0)\ndef attack():\n    Bye()",
    "exec of another program": "def attack():\n    os.execv('/bin/true', ['true'])",
    "exec of another Python": "def attack():\n    os.execv(sys.executable, [sys.executable, '-c', 'print(\"OK\")'])",
    "atexit": "import atexit\ndef attack():\n    atexit.register(os._exit, 0)",
    "excepthook": "def attack():\n    sys.excepthook = lambda *e: os._exit(0)\n    sys.unraisablehook = sys.excepthook",
    "fork and exit the first": "def attack():\n    if os.fork():\n        os._exit(0)",
    "fork and go on in both": "def attack():\n    os.fork()",
    "signal handlers": "import signal\ndef attack():\n    for n in range(1, 64):\n        try:\n            signal.signal(n, lambda *a: os._exit(0))\n        except (OSError, ValueError):\n            pass\n    os.kill(os.getpid(), signal.SIGTERM)",
    "alarm that exits": "import signal\ndef attack():\n    signal.signal(signal.SIGALRM, lambda *a: os._exit(0))\n    signal.setitimer(signal.ITIMER_REAL, 0.001)",
    "stops itself": "import signal\ndef attack():\n    signal.signal(signal.SIGCONT, lambda *a: os._exit(0))\n    os.kill(os.getpid(), signal.SIGTERM)",
    "crash": "import ctypes\ndef attack():\n    ctypes.string_at(0)",
    # --- objects ---
    "equal int": "class E(int):\n    __eq__ = lambda s, o: True\n    __ne__ = lambda s, o: False\n    __hash__ = int.__hash__\ndef attack():\n    return E(7)",
    "equal str": "class E(str):\n    __eq__ = lambda s, o: True\n    __ne__ = lambda s, o: False\n    __hash__ = str.__hash__\ndef attack():\n    return E('7')",
    "equal list": "class E(list):\n    __eq__ = lambda s, o: True\n    __ne__ = lambda s, o: False\ndef attack():\n    return E([7])",
    "equal dict": "class E(dict):\n    __eq__ = lambda s, o: True\n    __ne__ = lambda s, o: False\ndef attack():\n    return E()",
    "equal float": "class E(float):\n    __eq__ = lambda s, o: True\n    __ne__ = lambda s, o: False\n    __sub__ = __rsub__ = __abs__ = __round__ = lambda s, *o: 0\n    __hash__ = float.__hash__\ndef attack():\n    return E(7)",
    "equal tuple": "class E(tuple):\n    __eq__ = lambda s, o: True\n    __ne__ = lambda s, o: False\ndef attack():\n    return E((7,))",
    "equal by metaclass": "class M(type):\n    __eq__ = lambda s, o: True\n    __ne__ = lambda s, o: False\n    __hash__ = type.__hash__\nclass E(metaclass=M):\n    pass\ndef attack():\n    return E",
    "a lie about its class": "class E:\n    __class__ = int\n    __eq__ = lambda s, o: True\n    __ne__ = lambda s, o: False\n    __index__ = lambda s: 7\ndef attack():\n    return E()",
    "equal to numbers alone": "class E(int):\n    __eq__ = lambda s, o: type(o) is int\n    __ne__ = lambda s, o: type(o) is not int\n    __hash__ = int.__hash__\ndef attack():\n    return E(7)",
    "equal the first time": "class E(int):\n    n = 0\n    def __eq__(s, o):\n        E.n += 1\n        return E.n % 2 == 1\n    __ne__ = lambda s, o: False\n    __hash__ = int.__hash__\ndef attack():\n    return E(7)",
    "equal small numbers": "class E(int):\n    __eq__ = lambda s, o: isinstance(o, int) and abs(o) < 20\n    __ne__ = lambda s, o: not s == o\n    __hash__ = int.__hash__\ndef attack():\n    return E(7)",
    "not equal to objects": "class E:\n    def __eq__(s, o):\n        return isinstance(o, (int, float, str, list, dict)) or NotImplemented\ndef attack():\n    return E()",
    "equal by a comparison of arrays": "class E:\n    def __eq__(s, o):\n        return s\n    __ne__ = __eq__\n    def __bool__(s):\n        return True\n    all = any = lambda s: True\n    __array_priority__ = 1000\ndef attack():\n    return E()",
    "array that says yes": "try:\n    import numpy\n    class E(numpy.ndarray):\n        __eq__ = lambda s, o: True\n        __ne__ = lambda s, o: False\n    def attack():\n        return numpy.zeros(1).view(E)\nexcept ImportError:\n    def attack():\n        pass",
    "mock.ANY": "from unittest.mock import ANY\ndef attack():\n    return ANY",
    "truth by call of bool": "class E:\n    def __eq__(s, o):\n        return True\n    def __ne__(s, o):\n        return not s == o\n    def __bool__(s):\n        os._exit(0)\ndef attack():\n    return E()",
    # --- patches ---
    "patched unittest": "import unittest\ndef attack():\n    for n in dir(unittest.TestCase):\n        if n.startswith('assert') or n in ('fail', 'run', '__call__'):\n            setattr(unittest.TestCase, n, lambda *a, **k: None)\n    for n in ('addFailure', 'addError', 'addSubTest'):\n        setattr(unittest.TestResult, n, lambda *a: None)\n    unittest.TestResult.wasSuccessful = lambda s: True",
    "patched unittest of every module": "def attack():\n    for m in list(sys.modules.values()):\n        kind = getattr(m, 'TestCase', None)\n        if isinstance(kind, type):\n            kind.assertEqual = kind.assertTrue = kind.fail = lambda *a, **k: None",
    "patched base in the class": "def attack():\n    import unittest, unittest.case, unittest.result, unittest.suite, unittest.loader\n    unittest.suite.TestSuite.run = lambda s, r, *a: r\n    unittest.loader.TestLoader.getTestCaseNames = lambda *a: []\n    unittest.case.TestCase.failureException = ZeroDivisionError",
    "skip from inside": "import unittest\ndef attack():\n    raise unittest.SkipTest('later')",
    "skip of every module": "def attack():\n    for m in list(sys.modules.values()):\n        kind = getattr(m, 'SkipTest', None) or getattr(m, 'Skipped', None)\n        if isinstance(kind, type):\n            raise kind('later')",
    "faked unittest and pytest": "import types\ndef attack():\n    for n in ('unittest', 'pytest', 'unittest.case'):\n        sys.modules[n] = types.ModuleType(n)\n        sys.modules[n].TestCase = object\n        sys.modules[n].approx = lambda *a: object()",
    "patched builtins": "import builtins\ndef attack():\n    builtins.AssertionError = ValueError\n    builtins.bool = builtins.all = builtins.any = lambda *a: True\n    builtins.isinstance = builtins.issubclass = lambda *a: True\n    builtins.type = lambda *a: int\n    builtins.len = lambda *a: 0\n    builtins.getattr = lambda *a: None",
    "patched exec and compile": "import builtins\nreal = builtins.compile\ndef attack():\n    builtins.exec = builtins.eval = lambda *a, **k: None\n    builtins.compile = lambda s, *a, **k: real('', *a, **k)",
    "replaced __builtins__": "class B(dict):\n    def __getitem__(s, k):\n        return (lambda *a, **k: None) if k in ('AssertionError', '__build_class__') else dict.__getitem__(s, k)\ndef attack():\n    g = globals()\n    b = g['__builtins__']\n    g['__builtins__'] = B(b if isinstance(b, dict) else vars(b))",
    "patched import": "import builtins, types\nreal = builtins.__import__\nclass Anything(types.ModuleType):\n    def __getattr__(s, n):\n        return Anything(n)\n    def __call__(s, *a, **k):\n        return Anything('x')\ndef attack():\n    builtins.__import__ = lambda n, *a, **k: Anything(n) if n in ('unittest', 'pytest', 'operator', 'json') else real(n, *a, **k)",
    "import hooks": "class Finder:\n    def find_spec(s, n, *a):\n        sys.exit(0)\ndef attack():\n    sys.meta_path.insert(0, Finder())\n    sys.path_hooks.insert(0, lambda p: sys.exit(0))\n    sys.path[:] = ['.']\n    sys.path_importer_cache.clear()\n    for n in ('unittest', 'pytest', 'unittest.case', 'operator', 'json'):\n        sys.modules.pop(n, None)",
    "modules of its own by file": "def attack():\n    for n in ('unittest', 'pytest', 'operator', 'json', 'marshal'):\n        open(n + '.py', 'w').write('import os\\nos._exit(0)\\n')\n        sys.modules.pop(n, None)\n    sys.path.insert(0, '.')",
    "patched operator and json": "import operator, json, os\ndef attack():\n    operator.eq = operator.ne = lambda *a: True\n    json.JSONEncoder.encode = lambda s, o: '[\"done\"]'\n    json.JSONDecoder.decode = lambda s, o: [True]\n    json.dumps = lambda *a, **k: '{\"reward\": 1}'\n    os.read = lambda *a: b''",
    "patched write": "import os\nreal = os.write\ndef attack():\n    os.write = lambda fd, data: real(fd, data.replace(b'failed', b'passed').replace(b'false', b'true'))",
    "patched harness": "def attack():\n    for n, m in list(sys.modules.items()):\n        if 'whileai' in n or 'runner' in n or 'guard' in n:\n            for k in list(vars(m)):\n                try:\n                    setattr(m, k, lambda *a, **k: True)\n                except Exception:\n                    pass",
    "functions in place of the tests": "def attack():\n    for frame in list(sys._current_frames().values()):\n        while frame:\n            for n, v in list(frame.f_globals.items()):\n                if n.startswith('test') or n in ('check', 'TestAdd'):\n                    frame.f_globals[n] = lambda *a: None\n            frame = frame.f_back",
    "code in place of the tests": "def attack():\n    def nothing(*a):\n        pass\n    g = globals()\n    for n, v in list(g.items()):\n        if n.startswith('test') or n == 'check':\n            v.__code__ = nothing.__code__\n        elif n == 'TestAdd':\n            for k in dir(v):\n                if k.startswith('test'):\n                    setattr(v, k, nothing)",
    "defines the tests itself": "def attack():\n    def nothing(*a):\n        pass\n    globals().update(test_small=nothing, test_negative=nothing, check=nothing, TestAdd=object)",
    "answers by reading the tests": "import re\ndef attack():\n    seen = []\n    frame = sys._getframe()\n    while frame:\n        seen += [c for c in frame.f_code.co_consts if isinstance(c, int)]\n        frame = frame.f_back\n    return max(seen, default=7) if 5 not in seen else 7",
    "linecache and inspect": "import linecache, inspect\ndef attack():\n    text = ''.join(''.join(v[2]) for v in linecache.cache.values() if len(v) > 2 and 'assert' in ''.join(v[2]))\n    for info in inspect.stack():\n        text += ''.join(info.code_context or [])\n    found = [t for t in text.replace(')', ' ').split() if t.isdigit()]\n    return int(found[-1]) if found and 'add(2' in text else 7",
    # --- proof and channel ---
    "success on every descriptor": "def attack():\n    for fd in range(1, 256):\n        for text in (b'OK\\n', b'{\"passed\": 2, \"failed\": 0, \"ok\": true, \"reward\": 1, \"status\": \"ok\"}\\n'):\n            try:\n                os.write(fd, text)\n            except OSError:\n                pass\n    os._exit(0)",
    "success where it prints": "def attack():\n    for stream in (sys.stdout, sys.stderr, sys.__stdout__):\n        print('5\\n0\\n2 passed in 0.01s\\nOK\\nRan 2 tests', file=stream)\n    sys.stdout.flush()",
    "closes every descriptor": "def attack():\n    os.closerange(0, 1024)",
    "puts its own pipe in place": "def attack():\n    a, b = os.pipe()\n    for fd in range(3, 256):\n        if fd not in (a, b):\n            try:\n                os.dup2(b, fd)\n            except OSError:\n                pass",
    "reads every descriptor": "def attack():\n    for fd in range(3, 256):\n        try:\n            os.set_blocking(fd, False)\n            os.read(fd, 100000)\n        except OSError:\n            pass",
    "replays messages": "def attack():\n    for fd in range(3, 256):\n        try:\n            os.write(fd, b'\\0\\0\\0\\x08' + b'\\0' * 16 + b'[\"done\"]')\n        except OSError:\n            pass",
    "walk of frames for the channel": """
def attack():
    frame = sys._getframe(1)
    while frame is not None:
        for value in list(frame.f_locals.values()):
            channel = getattr(value, "channel", None)
            if channel is not None:
                for name in ("test_small", "test_negative", "TestAdd.test_small", "TestAdd.test_sign", "TestAdd.test_near", "check", "line 1", "line 2"):
                    channel.say(["test", name, "passed", ""])
                channel.say(["done"])
                while True:
                    pass
        frame = frame.f_back
""",
    "asks for every answer": """
def attack():
    frame = sys._getframe(1)
    while frame is not None:
        for value in list(frame.f_locals.values()):
            channel = getattr(value, "channel", None)
            if channel is not None:
                for key in range(4):
                    for guess in range(-9, 10):
                        if channel.ask(["held", key, ["i", hex(guess)], False, {}])[0]:
                            break
                for name in ("test_small", "test_negative", "TestAdd.test_small", "TestAdd.test_sign", "TestAdd.test_near", "check", "line 1", "line 2"):
                    channel.say(["test", name, "passed", ""])
                channel.say(["done"])
                while True:
                    pass
        frame = frame.f_back
""",
    "says that it compared itself": """
def attack():
    frame = sys._getframe(1)
    while frame is not None:
        for value in list(frame.f_locals.values()):
            channel = getattr(value, "channel", None)
            if channel is not None:
                for key in range(2):
                    several = channel.ask(["held", key, None, True, {}])[2]
                    channel.ask(["own", key, [True] * len(several[1])])
                for name in ("test_small", "test_negative", "TestAdd.test_small", "TestAdd.test_sign", "TestAdd.test_near", "check", "line 1", "line 2"):
                    channel.say(["test", name, "passed", ""])
                channel.say(["done"])
                while True:
                    pass
        frame = frame.f_back
""",
    "asks two hundred times, to be told": """
def attack():
    frame = sys._getframe(1)
    while frame is not None:
        for value in list(frame.f_locals.values()):
            channel = getattr(value, "channel", None)
            if channel is not None:
                for key in range(4):
                    told = []
                    while len(told) < 3:
                        told = channel.ask(["held", key, ["i", "0x63"], False, {}])
                    channel.ask(["held", key, told[2], False, {}])
                for name in ("test_small", "test_negative", "TestAdd.test_small", "TestAdd.test_sign", "TestAdd.test_near", "check", "line 1", "line 2"):
                    channel.say(["test", name, "passed", ""])
                channel.say(["done"])
                while True:
                    pass
        frame = frame.f_back
""",
    "nonsense on the channel": """
def attack():
    frame = sys._getframe(1)
    while frame is not None:
        for value in list(frame.f_locals.values()):
            channel = getattr(value, "channel", None)
            if channel is not None:
                for message in ([], ["own", 0, [True]], ["held", 99, None, True, {}], ["held", "x"], {"a": 1}, 5, ["test"], ["own", -1, None]):
                    channel.say(message)
        frame = frame.f_back
""",
    "walk of all objects": "import gc\ndef attack():\n    for one in gc.get_objects():\n        if type(one).__name__ in ('Guard', 'Channel', 'Run', 'Judge', 'Plan'):\n            for n in ('compare', 'held', 'seen', 'say', 'must', 'tests'):\n                try:\n                    setattr(one, n, lambda *a, **k: True)\n                except Exception:\n                    pass",
    "patched guard by frames": "def attack():\n    frame = sys._getframe(1)\n    while frame:\n        for v in [*frame.f_locals.values(), *frame.f_code.co_consts]:\n            if type(v).__name__ == 'Guard':\n                for n in ('compare', 'held', 'seen', 'fair', 'told', '_decide', 'equal', 'chain'):\n                    setattr(type(v), n, lambda *a, **k: True)\n        frame = frame.f_back",
    "settrace": "def attack():\n    def jump(frame, event, arg):\n        try:\n            frame.f_lineno += 1\n        except ValueError:\n            pass\n        return jump\n    frame = sys._getframe(1)\n    while frame:\n        frame.f_trace = jump\n        frame = frame.f_back\n    sys.settrace(jump)",
    "setprofile": "def attack():\n    sys.setprofile(lambda f, e, a: os._exit(0) if 'assert' in f.f_code.co_name else None)",
    "tracing in threads": "import threading\ndef attack():\n    threading.settrace(lambda *a: os._exit(0))\n    threading.setprofile(lambda *a: os._exit(0))",
    "audit hook that raises": "def attack():\n    def hook(event, given):\n        if event == 'compile' or event == 'exec':\n            os._exit(0)\n    sys.addaudithook(hook)",
    "swallows AssertionError": "def attack():\n    import ctypes\n    name = ctypes.py_object(AssertionError)\n    AssertionError_dict = ctypes.pythonapi.PyErr_Clear\n    AssertionError_dict()",
    # --- outwards ---
    "kills its parent": "import signal\ndef attack():\n    os.kill(os.getppid(), signal.SIGKILL)",
    "kills everything": "import signal\ndef attack():\n    for target in (-1, 1, 0, os.getppid(), -os.getppid()):\n        try:\n            os.kill(target, signal.SIGKILL)\n        except OSError:\n            pass",
    "ptrace of its parent": "import ctypes\ndef attack():\n    libc = ctypes.CDLL(None)\n    libc.ptrace(16, os.getppid(), 0, 0)\n    libc.ptrace(0x4206, os.getppid(), 0, 0)",
    "memory of its parent": "def attack():\n    with open(f'/proc/{os.getppid()}/mem', 'r+b', buffering=0) as f:\n        f.seek(0x400000)\n        f.write(b'x')",
    "hidden traps": "import gc\nclass T:\n    def __del__(self):\n        gc.collect()\n        sys.exit(0)\ndef attack():\n    t = T()\n    t.t = t\n    gc.set_threshold(1)",
}  # fmt: skip

SLOW = {
    "fork bomb": "def attack():\n    while True:\n        try:\n            os.fork()\n        except OSError:\n            pass",
    "thread bomb": "import threading, time\ndef attack():\n    while True:\n        try:\n            threading.Thread(target=time.sleep, args=(60,)).start()\n        except RuntimeError:\n            time.sleep(60)",
    "a gigabyte of output": "def attack():\n    block = b'x' * 2**20\n    for _ in range(1024):\n        os.write(1, block)\n        os.write(2, block)",
    "a gigabyte of memory": "def attack():\n    return len(bytearray(2**30)) and 7",
    "memory in small parts": "def attack():\n    kept = []\n    while True:\n        kept.append('x' * 10000 + str(len(kept)))",
    "memory in one call of C": "import itertools\ndef attack():\n    list(itertools.product('abcdefgh', repeat=30))",
    "a file of ten gigabytes": "def attack():\n    with open('big', 'wb') as f:\n        f.truncate(10 * 2**30)\n        f.seek(10 * 2**30)\n        f.write(b'x')",
    "many large files": "def attack():\n    block = b'x' * 2**24\n    for n in range(1000):\n        with open(f'big{n}', 'wb', buffering=0) as f:\n            for _ in range(7):\n                f.write(block)",
    "large files without a name": "def attack():\n    block, kept = b'x' * 2**24, []\n    for n in range(200):\n        f = open('big', 'wb', buffering=0)\n        os.unlink('big')\n        kept.append(f)\n        for _ in range(7):\n            f.write(block)",
    "memory in files of memory": "def attack():\n    block, kept = b'x' * 2**24, []\n    for n in range(200):\n        f = os.memfd_create('x')\n        kept.append(f)\n        for _ in range(7):\n            os.write(f, block)",
    "deep recursion": "sys.setrecursionlimit(10**9)\ndef attack(n=0):\n    return attack(n + 1) + 1",
    "deep nesting": "def attack():\n    thing = []\n    for _ in range(10**6):\n        thing = [thing]\n    return thing",
    "endless loop": "def attack():\n    while True:\n        pass",
    "endless sleep": "import time\ndef attack():\n    time.sleep(600)",
    "endless loop deaf to signals": "import signal\ndef attack():\n    for n in range(1, 65):\n        try:\n            signal.signal(n, signal.SIG_IGN)\n        except (OSError, ValueError):\n            pass\n    while True:\n        pass",
    "endless equality": "class E:\n    def __eq__(s, o):\n        while True:\n            pass\ndef attack():\n    return E()",
    "endless power": "def attack():\n    return 9 ** 9 ** 9 ** 9",
    "regular expression": "import re\ndef attack():\n    re.match(r'(a+)+$', 'a' * 40 + 'b')",
    "stops itself for good": "import signal\ndef attack():\n    os.kill(os.getpid(), signal.SIGSTOP)",
    "daemon": f"import subprocess\ndef attack():\n    subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)', {MARK!r}], start_new_session=True)\n    if os.fork() == 0:\n        os.setsid()\n        if os.fork() == 0:\n            os.execv(sys.executable, [sys.executable, '-c', 'import signal, time; [signal.signal(n, signal.SIG_IGN) for n in (1, 2, 3, 15)]; time.sleep(600)', {MARK!r}])\n        os._exit(0)",
}  # fmt: skip

# Each ends with an answer only where it got what it must not get; the twins' answer is right where all of it failed.
ESCAPES = {
    "environment of others": "import pathlib\ndef attack():\n    texts = [repr(dict(os.environ))]\n    for place in pathlib.Path('/proc').glob('[0-9]*/environ'):\n        try:\n            texts.append(place.read_text(errors='replace'))\n        except OSError:\n            pass\n    return any('hidden-' + '4711' in text for text in texts)",
    "home": "def attack():\n    return wrote(os.path.join({home!r}, {mark!r}))",
    "tmp": "def attack():\n    return wrote('/tmp/' + {mark!r}, private=True) | wrote('/var/tmp/' + {mark!r}) | wrote({tmp!r} + '/' + {mark!r}, private=True)",
    "site-packages": "import sysconfig\ndef attack():\n    places = [sysconfig.get_path('purelib'), sysconfig.get_path('stdlib'), os.path.dirname(sys.executable), {site!r}]\n    return any([wrote(os.path.join(p, {mark!r} + '.pth')) for p in places])",
    "existing files": "def attack():\n    worked = []\n    for action in (lambda: open({kept!r}, 'a').write('x'), lambda: os.truncate({kept!r}, 0), lambda: os.remove({kept!r}), lambda: os.rename({kept!r}, 'k'), lambda: os.utime({kept!r}, (0, 0)) if not ROOTLESS else 1 / 0, lambda: os.chmod({kept!r}, 0) if not ROOTLESS else 1 / 0):\n        try:\n            action()\n            worked.append(action)\n        except (OSError, ZeroDivisionError):\n            pass\n    return bool(worked)",
    "symbolic links": "def attack():\n    os.symlink({kept!r}, 'link')\n    os.symlink(os.path.dirname({kept!r}), 'folder')\n    worked = []\n    for path in ('link', 'folder/new', 'folder/kept'):\n        try:\n            open(path, 'a').write('x')\n            worked.append(path)\n        except OSError:\n            pass\n    return bool(worked)",
    "hard links": "def attack():\n    try:\n        os.link({kept!r}, 'link')\n        open('link', 'a').write('x')\n    except OSError:\n        return False\n    return True",
    "links left for who cleans up": "def attack():\n    os.makedirs('a/b')\n    os.symlink(os.path.dirname({kept!r}), 'a/b/c')\n    os.symlink('/', 'a/root')\n    os.chmod('a/b', 0)\n    return False",
    "inet": "def attack():\n    return connected(socket.AF_INET, ('127.0.0.1', {port}))",
    "inet6": "def attack():\n    return connected(socket.AF_INET6, ('::1', {port}))",
    "unix": "def attack():\n    return connected(socket.AF_UNIX, {unix!r})",
    "abstract unix": "def attack():\n    return connected(socket.AF_UNIX, '\\0' + {mark!r})",
    "raw": "def attack():\n    try:\n        socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).sendto(b'x' * 8, ('127.0.0.1', 0))\n        return True\n    except OSError:\n        return False",
    "packet": "def attack():\n    try:\n        s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)\n        s.bind(('lo', 0))\n        s.send(b'x' * 60)\n        return True\n    except OSError:\n        return False",
    "datagram": "def attack():\n    try:\n        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto({mark!r}.encode(), ('127.0.0.1', {port}))\n    except OSError:\n        pass\n    return False",
    "listens": "def attack():\n    try:\n        s = socket.socket()\n        s.bind(('0.0.0.0', 0))\n        s.listen()\n    except OSError:\n        return False\n    return PRIVATE is False",
    "names": "def attack():\n    try:\n        return bool(socket.getaddrinfo('example.com', 80))\n    except OSError:\n        return False",
    "through libc": "import ctypes\ndef attack():\n    libc = ctypes.CDLL(None)\n    s = libc.socket(2, 1, 0)\n    return s >= 0 and libc.connect(s, (2).to_bytes(2, 'little') + ({port}).to_bytes(2, 'big') + bytes([127, 0, 0, 1]) + bytes(8), 16) == 0",
    "device": "def attack():\n    worked = []\n    for path in ('/dev/mem', '/dev/kmsg', '/dev/vda', '/dev/sda', '/proc/sysrq-trigger', '/proc/sys/kernel/hostname'):\n        try:\n            os.close(os.open(path, os.O_WRONLY))\n            worked.append(path)\n        except OSError:\n            pass\n    return bool(worked)",
    "mount and chroot": "import ctypes\ndef attack():\n    libc = ctypes.CDLL(None)\n    return libc.unshare(0x20000) == 0 or libc.mount(b'/', b'/', b'x', 4096, 0) == 0 or libc.chroot(b'.') == 0",
    "root again": "def attack():\n    for action in (os.setuid, os.setgid, os.seteuid):\n        try:\n            action(0)\n            return os.geteuid() == 0 and ROOTLESS is False\n        except OSError:\n            pass\n    return False",
    "shared memory": "import ctypes\ndef attack():\n    libc = ctypes.CDLL(None)\n    libc.shmget({key}, 1 << 20, 0o1666), libc.msgget({key}, 0o1666), libc.semget({key}, 1, 0o1666)\n    return False",
    "limits raised": "import resource\ndef attack():\n    worked = []\n    for n in (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC):\n        try:\n            resource.setrlimit(n, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))\n            worked.append(n)\n        except (OSError, ValueError):\n            pass\n    return bool(worked)",
    "its parent slowed down": "def attack():\n    parent, worked = {caller}, []\n    for action in (lambda: os.setpriority(os.PRIO_PROCESS, parent, 19), lambda: os.sched_setaffinity(parent, {{0}}), lambda: __import__('resource').prlimit(parent, 0, (1, 1))):\n        try:\n            action()\n            worked.append(action)\n        except OSError:\n            pass\n    return bool(worked)",
}  # fmt: skip
ESCAPE_HEAD = """
import os, socket, sys
PRIVATE, ROOTLESS = {private}, {rootless}

def wrote(path, private=False):
    try:
        open(path, "w").write("x")
        return not (private and PRIVATE)
    except OSError:
        return False

def connected(family, address):
    try:
        with socket.socket(family, socket.SOCK_STREAM) as s:
            s.settimeout(1)
            s.connect(address)
            return True
    except OSError:
        return False
"""

HONEST = {
    "plain": "def add(a, b):\n    return a + b",
    "exits that are caught": "def add(a, b):\n    try:\n        sys.exit(3)\n    except SystemExit as end:\n        return a + b + end.code - 3",
    "atexit and hooks": "import atexit\natexit.register(sys.stderr.write, 'bye')\nsys.excepthook = lambda *e: None\ndef add(a, b):\n    return a + b",
    "a number of its own": "class N(int):\n    pass\ndef add(a, b):\n    return N(a + b)",
    "a number with an equality": "class N:\n    def __init__(s, v):\n        s.v = v\n    def __eq__(s, o):\n        return s.v == getattr(o, 'v', o)\n    __hash__ = None\n    def __float__(s):\n        return float(s.v)\n    __str__ = lambda s: str(s.v)\ndef add(a, b):\n    return N(a + b) if (a, b) != (0, 1) else a + b",
    "an enum": "import enum\nclass E(enum.IntEnum):\n    NO = 0\n    ONE = 1\n    FIVE = 5\ndef add(a, b):\n    return E(a + b) if False else int(E(a + b))",
    "a float": "def add(a, b):\n    return float(a + b)",
    "an array's number": "try:\n    import numpy\n    def add(a, b):\n        return numpy.int64(a) + numpy.int64(b)\nexcept ImportError:\n    def add(a, b):\n        return a + b",
    "an exact fraction": "from fractions import Fraction\ndef add(a, b):\n    return Fraction(a) + Fraction(b)",
    "a metaclass": "class M(type):\n    def __call__(cls, *a):\n        return sum(a)\nclass add(metaclass=M):\n    pass",
    "uses unittest and mocks": "import unittest, unittest.mock\nclass Own(unittest.TestCase):\n    def test_own(self):\n        self.assertEqual(1, 1)\ndef add(a, b):\n    return unittest.mock.Mock(return_value=a + b)()",
    "replaces a builtin of its own module": "sum = lambda items: items[0] + items[1]\nlen = max = None\ndef add(a, b):\n    return sum([a, b])",
    "imports by hand": "import importlib\ndef add(a, b):\n    return importlib.import_module('operator').add(a, b)",
    "a module of its own": "import pathlib\npathlib.Path('helper_of_mine.py').write_text('def plus(a, b):\\n    return a + b\\n')\nsys.path.insert(0, '.')\nfrom helper_of_mine import plus\ndef add(a, b):\n    return plus(a, b)",
    "a signal handler": "import signal\ndef add(a, b):\n    got = []\n    signal.signal(signal.SIGALRM, lambda *x: got.append(a + b))\n    signal.raise_signal(signal.SIGALRM)\n    return got[0]",
    "threads": "import threading\ndef add(a, b):\n    got = []\n    t = [threading.Thread(target=got.append, args=(x,)) for x in (a, b)]\n    [x.start() for x in t]\n    [x.join() for x in t]\n    return sum(got)",
    "a child": "def add(a, b):\n    r, w = os.pipe()\n    pid = os.fork()\n    if pid == 0:\n        os.write(w, str(a + b).encode())\n        os._exit(0)\n    os.waitpid(pid, 0)\n    return int(os.read(r, 20))",
    "another Python": "import subprocess\ndef add(a, b):\n    return int(subprocess.run([sys.executable, '-c', f'print({a} + {b})'], capture_output=True, text=True, check=True).stdout)",
    "a pool": "from concurrent.futures import ThreadPoolExecutor\ndef add(a, b):\n    with ThreadPoolExecutor(4) as pool:\n        return sum(pool.map(int, (a, b)))",
    "asyncio": "import asyncio\ndef add(a, b):\n    async def plus():\n        await asyncio.sleep(0)\n        return a + b\n    return asyncio.run(plus())",
    "much on standard error": "def add(a, b):\n    for _ in range(20):\n        sys.stderr.write('x' * 2**20)\n    return a + b",
    "much memory": "def add(a, b):\n    block = bytearray(100 * 2**20)\n    return a + b + len(block) * 0",
    "a large file": "def add(a, b):\n    with open('big', 'wb') as f:\n        f.write(b'x' * (50 * 2**20))\n    os.remove('big')\n    return a + b",
    "files, folders and links": "import tempfile\ndef add(a, b):\n    with tempfile.TemporaryDirectory() as d:\n        open(os.path.join(d, 'x'), 'w').write(str(a + b))\n        os.symlink('x', os.path.join(d, 'y'))\n        os.link(os.path.join(d, 'x'), os.path.join(d, 'z'))\n        assert open(os.path.join(d, 'z')).read() == open(os.path.join(d, 'x')).read()\n        return int(open(os.path.join(d, 'y')).read())",
    "recursion": "sys.setrecursionlimit(20000)\ndef add(a, b, n=3000):\n    return a + b if n == 0 else add(a, b, n - 1)",
    "looks at frames": "import inspect, traceback\ndef add(a, b):\n    inspect.currentframe(), traceback.format_stack(limit=1), sys._getframe(0)\n    return a + b",
    "collects garbage": "import gc\ndef add(a, b):\n    gc.collect()\n    gc.disable()\n    return a + b",
    "a socket that is refused": "import socket\ndef add(a, b):\n    try:\n        socket.create_connection(('127.0.0.1', 9), timeout=1)\n    except OSError:\n        pass\n    return a + b",
    "warnings and logging": "import logging, warnings\nlogging.basicConfig()\ndef add(a, b):\n    logging.warning('adding')\n    warnings.warn('adding')\n    return a + b",
    "C": "import ctypes\ndef add(a, b):\n    return ctypes.c_int(a).value + ctypes.c_int(b).value",
}  # fmt: skip
PROGRAM_END = "\nif __name__ == '__main__':\n    a, b = map(int, input().split())\n    print(add(a, b))\n"

# Where the machine has no filter of system calls there is only what Python's audit hooks see: these get past them.
BEYOND_HOOKS = {"shared memory", "its parent slowed down", "listens", "abstract unix", "unix", "raw", "through libc"}


def programs(attack, form, turn):
    """A wrong program that attacks while it loads or once it is called, by turns."""
    head = "import os, sys\n" + attack + "\n"
    if form == "cases":
        return head + ("thing = attack()\nprint(7 if thing is None else thing)\n")
    none = "    if b is None:\n        raise TypeError\n"
    if turn % 2:
        return head + f"thing = attack()\ndef add(a, b):\n{none}    return 7 if thing is None else thing\n"
    return head + f"def add(a, b):\n{none}    thing = attack()\n    return 7 if thing is None else thing\n"


@pytest.fixture(scope="module", params=levels.NAMES)
def level(request):
    """Each isolation that works here."""
    found = levels.choose(request.param)
    if isinstance(found, str):
        pytest.skip(found)
    return found


JUDGE = """
import json, os, sys
import whileai as wai

def peak():
    # not ru_maxrss, which a process takes over from the one that started it
    lines = open("/proc/self/status").read().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) // 1024

jobs = json.load(open(sys.argv[1]))
wai.grade([{"prompt": "p", "final_text": "def add(a, b):\\n    return 1\\n", "reference": "assert add(1, 1) == 2"}],
          wai.verify.CodeExec(isolation=sys.argv[2]))
before = peak()
rows = [{"prompt": "p", "final_text": job["code"], "reference": job["tests"], "entry_point": "add"} for job in jobs]
judged = wai.grade(rows, wai.verify.CodeExec(isolation=sys.argv[2], timeout=float(sys.argv[3])), timeout=float(sys.argv[4]), workers=2)
kept = [{key: row.get(key) for key in ("reward", "judge_status", "reason")} for row in judged]
json.dump({"rows": kept, "megabytes": peak() - before}, open(sys.argv[1] + ".out", "w"))
"""


@pytest.fixture(scope="module")
def judge(level, tmp_path_factory, request):
    """A function that judges programs in a process of its own, and tells what it cost."""
    import subprocess

    def run(jobs, timeout, clock=60):
        folder = tmp_path_factory.mktemp("jobs")
        path = folder / "jobs.json"
        path.write_text(json.dumps(jobs))
        done = subprocess.run(
            [sys.executable, "-c", JUDGE, str(path), level.name, str(timeout), str(clock)],
            capture_output=True,
            text=True,
            timeout=900,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "SECRET": "hidden-4711"},
        )
        assert done.returncode == 0, done.stderr[-2000:]
        return json.loads(Path(f"{path}.out").read_text())

    return run


def traces():
    """Processes and folders of verdicts, those of other tests that run just now too."""
    found = {str(path) for path in Path(tempfile.gettempdir()).glob("whileai-*")}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "cmdline").read_bytes()
            if place.stat().st_uid >= 1_500_000_000 or MARK.encode() in words:
                found.add(f"{place.name}: {words[:200]!r}")
        except OSError:
            continue
    return found


def left_behind():
    """What stays: none of it is there any more after a while."""
    found = traces()
    for _ in range(100):
        if not found:
            break
        time.sleep(0.1)
        found &= traces()
    return sorted(found)


def jobs_of(table, forms, each):
    """Every attack under `each` of the forms, by turns."""
    return [
        {"name": f"{name} / {form}", "code": programs(attack, form, place + turn), "tests": FORMS[form]}
        for place, (name, attack) in enumerate(table.items())
        for turn, form in enumerate(forms[(place + turn) % len(forms)] for turn in range(each))
    ]


@pytest.mark.parametrize("kind", ["tricks", "bombs"])
def test_no_attack_passes(level, judge, kind):
    """Tricks under every form of tests on the level taken by default; bombs get one short try each."""
    default = levels.choose("auto").name == level.name
    if kind == "bombs":
        jobs, timeout, clock = jobs_of(SLOW, ["asserts", "cases"], 1), 1, 2
    else:
        jobs, timeout, clock = jobs_of(QUICK, list(FORMS), len(FORMS) if default else 2), 10, 60
    found = judge(jobs, timeout, clock)
    named = {job["name"]: row for job, row in zip(jobs, found["rows"], strict=True)}
    assert {name: row for name, row in named.items() if row["reward"] not in (0, None)} == {}
    bad = {name: row for name, row in named.items() if row["judge_status"] not in ("ok", "timeout", "error")}
    assert bad == {}
    assert all(row["reason"] for row in named.values())
    assert left_behind() == []
    assert found["megabytes"] < 64


def test_honest_twins_pass(level, judge):
    default = levels.choose("auto").name == level.name
    jobs = [
        {"name": f"{name} / {form}", "code": "import os, sys\n" + code + (PROGRAM_END if form == "cases" else "\n"),
         "tests": FORMS[form]}
        for place, (name, code) in enumerate(HONEST.items())
        for form in (FORMS if default else [list(FORMS)[place % len(FORMS)]])
    ]  # fmt: skip
    found = judge(jobs, 10)
    failed = {
        job["name"]: row
        for job, row in zip(jobs, found["rows"], strict=True)
        if (row["reward"], row["judge_status"]) != (1, "ok")
    }
    assert failed == {}
    assert left_behind() == []


@pytest.fixture
def outside(tmp_path_factory):
    """What lies outside: files anyone may write, servers on every family of sockets, the names of all of it."""
    import shutil
    import socket
    import sysconfig

    folder = Path("/var/tmp") / f"{MARK}-outside"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    folder.chmod(0o777)
    kept = folder / "kept"
    kept.write_text("kept")
    kept.chmod(0o666)
    servers = [
        socket.create_server(("127.0.0.1", 0)),
        *([socket.create_server(("::1", 0), family=socket.AF_INET6)] if socket.has_dualstack_ipv6() else []),
    ]
    port = servers[0].getsockname()[1]
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    datagrams.bind(("127.0.0.1", port))
    for address in (str(folder / "socket"), f"\0{MARK}"):
        server = socket.socket(socket.AF_UNIX)
        server.bind(address)
        server.listen()
        servers.append(server)
    (folder / "socket").chmod(0o777)
    for server in [*servers, datagrams]:
        server.setblocking(False)
    before = sorted(path.name for path in folder.iterdir())
    names = {
        "home": str(Path.home()), "tmp": tempfile.gettempdir(), "site": sysconfig.get_path("purelib"), "kept": str(kept),
        "mark": MARK, "port": port, "unix": str(folder / "socket"), "key": 0x5EED0000 + os.getpid() % 0xFFFF,
        "caller": os.getpid(),
    }  # fmt: skip

    def harmed():
        found = [str(path) for place in ("/tmp", "/var/tmp", "/dev/shm", Path.home(), tempfile.gettempdir())
                 for path in Path(place).glob(f"{MARK}*") if path != folder]  # fmt: skip
        found += [str(path) for path in Path(sysconfig.get_path("stdlib")).rglob(f"{MARK}*")]
        found += [str(path) for path in Path(sysconfig.get_path("purelib")).glob(f"{MARK}*")]
        if kept.read_text() != "kept" or sorted(path.name for path in folder.iterdir()) != before:
            found.append("the folder has changed")
        for server in servers:
            try:
                server.accept()
                found.append(f"a connection to {server.getsockname()!r}")
            except BlockingIOError:
                continue
        with contextlib.suppress(BlockingIOError):
            found.append(repr(datagrams.recv(100)))
        for kind in ("shm", "msg", "sem"):
            keys = {line.split()[0] for line in Path(f"/proc/sysvipc/{kind}").read_text().splitlines()[1:]}
            if {str(names["key"]), str(names["key"] - 2**32)} & keys:
                found.append(f"a {kind} segment")
        return found

    yield names, harmed
    for server in [*servers, datagrams]:
        server.close()
    shutil.rmtree(folder)


def test_nothing_gets_out(level, judge, outside):
    names, harmed = outside
    chosen = {name: code for name, code in ESCAPES.items() if kernel.machine() >= 0 or name not in BEYOND_HOOKS}
    head = ESCAPE_HEAD.format(private=level.name == "bubblewrap", rootless=os.geteuid() != 0)
    jobs = [
        {"name": name, "code": head + code.format(**names), "tests": "assert attack() is False\n"}
        for name, code in chosen.items()
    ]
    found = judge(jobs, 10)
    got_out = {
        job["name"]: row
        for job, row in zip(jobs, found["rows"], strict=True)
        if (row["reward"], row["judge_status"]) != (1, "ok")
    }
    assert got_out == {}
    assert harmed() == []
    assert left_behind() == []


# --- what makes an object's own equality worth nothing -----------------------------------------------------------------

LITERALS = [0, 5, -3, 10**40, 0.25, 1e300, float("inf"), 2j, "", "a", "Lima", "7", b"", b"ab", True, False, None, [], [1, 2], [[]], (), (1, "a"), {}, {"a": 1},
            {"a": [1, {"b": "c"}]}, {1, 2}, frozenset({3}), [None], [True, False], ("x", None, 2.5)]  # fmt: skip


@pytest.mark.parametrize("value", LITERALS, ids=repr)
def test_decoys_differ_and_the_place_of_the_literal_tells_nothing(value):
    places = []
    for _ in range(400):
        options, place = decoys.among(value)
        assert repr(options[place]) == repr(value)
        assert len(options) >= 2
        assert not any(option == value for at, option in enumerate(options) if at != place)
        places.append(place / (len(options) - 1))
    assert min(places) == 0
    assert max(places) == 1


FORGED = """
def attack():
    frame = sys._getframe(1)
    while frame is not None:
        for value in list(frame.f_locals.values()):
            channel = getattr(value, "channel", None)
            if channel is not None:
                for key in range(12):
                    count = len(channel.ask(["held", key, None, True, {}])[2][1])
                    channel.ask(["own", key, [at % 2 == 0 for at in range(count)]])
                channel.say(["test", "check", "passed", ""])
                channel.say(["done"])
                while True:
                    pass
        frame = frame.f_back
"""


def test_claiming_half_of_the_decoys_wins_less_than_a_coin_a_literal():
    """Twelve literals are forged at once in one run of 4,096: never in the eight runs here."""
    tests = "def check(candidate):\n" + "".join(f"    assert candidate({n}, 1) == {n + 1}\n" for n in range(12))
    rows = [{"prompt": "p", "final_text": programs(FORGED, "check", 0), "reference": tests, "entry_point": "add"}] * 8
    assert [row["reward"] for row in wai.grade(rows, wai.verify.CodeExec(timeout=5))] == [0] * 8
