"""The sandbox at every level that works here: what gets out, what is limited, what is left behind."""

# ruff: noqa: E501 - small programs as text, one a line

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from whileai.verify.sandbox import cell, levels
from whileai.verify.sandbox.channel import Channel, Messages, Opaque, Tampered, pack, unpack
from whileai.verify.sandbox.guard import Guard, is_plain, strangers_like
from whileai.verify.sandbox.program import same_output
from whileai.verify.sandbox.rewrite import BrokenTests, plan_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the levels below rlimits are Linux's")


@pytest.fixture(params=levels.NAMES)
def level(request):
    """Each level, as long as it works on this machine."""
    found = levels.choose(request.param)
    if isinstance(found, str):
        pytest.skip(found)
    return found


def report(level, code, tests="assert add(2, 3) == 5\n", **limits):
    return level.run(cell.Job(code, tests, **{"cpu": 5, "wall": 10, "memory_mb": 256, **limits}))


def passes(level, code, tests, **limits):
    found = report(level, code, tests, **limits)
    assert (found["status"], found["reward"]) == ("ok", 1), found["reason"]


def test_some_level_works():
    assert not isinstance(levels.choose("auto"), str)


def test_an_interpreter_called_by_a_winding_path_gets_the_same_level(tmp_path):
    winding = os.path.relpath(sys.executable, tmp_path)
    code = "from whileai.verify.sandbox.levels import choose; print(choose('auto').name)"
    found = subprocess.run([winding, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert found.stdout.strip() == levels.choose("auto").name


def test_strict_never_takes_the_weakest():
    found = levels.choose("strict")
    assert isinstance(found, str) or found.name != levels.WEAKEST


def test_no_level_is_words(monkeypatch):
    monkeypatch.setattr(sys, "executable", "")
    levels._working.cache_clear()
    try:
        assert "interpreter" in levels.choose("rlimits")
    finally:
        levels._working.cache_clear()


def test_a_level_that_lets_bad_code_pass_is_not_used(monkeypatch):
    broken = levels.Level("rlimits")
    monkeypatch.setattr(levels.Level, "run", lambda self, job, started=None: {"reward": 1, "reason": None})
    assert "known bad" in levels.self_test(broken)
    monkeypatch.setattr(levels.Level, "run", lambda self, job, started=None: {"reward": 0, "reason": "x"})
    assert "known good" in levels.self_test(broken)


def test_no_network(level):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        code = f"""
import socket
import subprocess

def reached():
    try:
        socket.create_connection(("127.0.0.1", {server.getsockname()[1]}), timeout=1).close()
    except OSError:
        return False
    return True
"""
        passes(level, code, "assert reached() is False\n")
        with pytest.raises(TimeoutError):
            server.accept()


FINDS = """
import os, pathlib

def found(word):
    texts = [repr(dict(os.environ))]
    for place in pathlib.Path("/proc").glob("[0-9]*/environ"):
        try:
            texts.append(place.read_text(errors="replace"))
        except OSError:
            pass
    return any(word in text for text in texts)
"""


def test_no_environment_of_anyone(level, run_script):
    """The caller is a fresh process, as the variables of this one may have been set after its start."""
    out = run_script(
        f"""
        from whileai.verify.code_exec import CodeExec

        judge = CodeExec("assert found('hidden-' + '4711') is False", isolation={level.name!r})
        print(judge.score({{"final_text": {FINDS!r}}}))
        """,
        env={"SECRET": "hidden-4711"},
    ).stdout
    assert "reward=1" in out


def test_standard_input_is_empty(level):
    passes(level, "import sys\ndef read():\n    return sys.stdin.read()\n", "assert read() == ''\n")


@pytest.fixture
def open_folder(tmp_path_factory):
    """A folder that any user may write to, so that only the sandbox keeps the candidate out."""
    folder = Path("/var/tmp") / f"whileai-test-{os.getpid()}"
    folder.mkdir(exist_ok=True)
    folder.chmod(0o777)
    (folder / "kept").write_text("kept")
    (folder / "kept").chmod(0o666)
    yield folder
    shutil.rmtree(folder)


def test_files_outside_stay_as_they_are(level, open_folder):
    code = f"""
import os

def tried():
    worked = []
    for action in (
        lambda: open({str(open_folder / "new")!r}, "w").write("x"),
        lambda: open({str(open_folder / "kept")!r}, "a").write("x"),
        lambda: os.remove({str(open_folder / "kept")!r}),
        lambda: os.truncate({str(open_folder / "kept")!r}, 0),
        lambda: os.rename({str(open_folder / "kept")!r}, "mine"),
        lambda: os.link({str(open_folder / "kept")!r}, "mine"),
        lambda: os.mkdir({str(open_folder / "folder")!r}),
        lambda: os.symlink("/", {str(open_folder / "link")!r}),
    ):
        try:
            action()
            worked.append(action)
        except OSError:
            pass
    return len(worked)
"""
    passes(level, code, "assert tried() == 0\n")
    assert [path.name for path in open_folder.iterdir()] == ["kept"]
    assert (open_folder / "kept").read_text() == "kept"


def test_the_working_folder_is_private_and_goes(level, tmp_path, monkeypatch):
    tmp_path.chmod(0o777)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    code = """
import os

def add(a, b):
    os.makedirs("deep/er")
    open("deep/er/file", "w").write("x")
    os.symlink("/etc", "link")
    os.chmod("deep/er", 0)
    os.chmod("deep", 0)
    return a + b
"""
    found = report(level, code)
    assert found["reward"] == 1, found["reason"]
    assert list(tmp_path.iterdir()) == []
    assert Path("/etc").is_dir()


@pytest.mark.parametrize("way", ["", ", start_new_session=True"])
def test_nothing_survives(level, way):
    word = f"survivor-{os.getpid()}-{level.name}"
    code = f"""
import subprocess, sys
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", {word!r}]{way})

def add(a, b):
    return a + b
"""
    assert report(level, code)["reward"] == 1
    left = [path for path in Path("/proc").glob("[0-9]*/cmdline") if word in _text(path)]
    assert left == []


def test_a_double_fork_does_not_survive_a_timeout(level):
    word = f"daemon-{os.getpid()}-{level.name}"
    code = f"""
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(60)", {word!r}])
    os._exit(0)
time.sleep(60)
"""
    assert report(level, code, wall=1)["status"] == "timeout"
    assert [path for path in Path("/proc").glob("[0-9]*/cmdline") if word in _text(path)] == []


def _text(path):
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


@pytest.mark.parametrize(("megabytes", "reward"), [(400, 0), (40, 1)])
def test_memory_is_bounded(level, megabytes, reward):
    code = f"def add(a, b):\n    block = bytearray({megabytes} * 2**20)\n    return a + b\n"
    found = report(level, code)
    assert (found["reward"], found["status"]) == (reward, "ok"), found["reason"]


def test_memory_of_all_processes_is_bounded(level):
    code = """
import os, time

def add(a, b):
    for _ in range(6):
        if os.fork() == 0:
            block = bytearray(120 * 2**20)
            time.sleep(30)
    time.sleep(30)
"""
    found = report(level, code, wall=20, cpu=20)
    assert (found["reward"], found["status"]) == (0, "ok"), found["reason"]
    assert "memory" in found["reason"]


def test_a_file_is_bounded(level):
    code = "def big():\n    try:\n        open('big', 'wb').truncate(10 * 2**30)\n    except OSError:\n        return False\n"
    passes(level, code, "assert big() is False\n")


def test_processes_are_bounded(level):
    code = """
import os, signal, time

def started():
    children = []
    try:
        for _ in range(600):
            child = os.fork()
            if child == 0:
                time.sleep(20)
                os._exit(0)
            children.append(child)
    except OSError:
        pass
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return len(children)
"""
    passes(level, code, "assert 10 < started() < 600\n")


def test_output_is_kept_short(level):
    code = "import sys\nfor _ in range(50):\n    print('x' * 1_000_000)\nsys.stdout.buffer.write(b'\\xff\\x00')\n"
    found = report(level, code + "def add(a, b):\n    print('end')\n    return 5\n")
    assert found["reward"] == 1, found["reason"]
    assert found["tail"].endswith("end\n")
    assert len(found["tail"]) <= 1000


@pytest.mark.parametrize("target", ["os.getppid()", "1", "-1"])
def test_signals_to_those_above_do_no_harm(level, target):
    if level.name == "rlimits" and os.geteuid() != 0:
        pytest.skip("without another user and without seccomp nothing holds a signal back")
    code = f"import os\ndef add(a, b):\n    try:\n        os.kill({target}, 9)\n    except OSError:\n        pass\n    return 5\n"
    found = report(level, code)
    assert found["status"] == "ok", found["reason"]


def test_a_report_that_never_comes_is_an_error():
    with pytest.raises(cell.SandboxError, match="cannot start"):
        cell.run(cell.Job("", ""), "rlimits", ["/no/such/program"], [])
    with pytest.raises(cell.SandboxError, match="without a verdict"):
        cell.run(cell.Job("", ""), "rlimits", ["/bin/false"], [])


def test_alone_means_alone():
    lane, seen, inside = cell.Lane(), [], threading.Event()

    def shared():
        with lane.shared():
            inside.set()
            seen.append("shared")

    with lane.alone():
        other = threading.Thread(target=shared)
        other.start()
        assert not inside.wait(0.05)
        seen.append("alone")
    other.join()
    assert seen == ["alone", "shared"]


# --- parts that run inside, here on their own -------------------------------------------------------------------------

VALUES = [None, True, 0, -(10**50), 1.5, float("inf"), -0.0, 2j, "é\ud800", b"\x00\xff", [1, [2]], (1,), {1: "a", None: ()}, {1, 2},
          frozenset({"a"})]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_plain_values_survive_the_way(value):
    back = unpack(pack(value))
    assert (back, type(back), repr(back)) == (value, type(value), repr(value))


@pytest.mark.parametrize("value", [object(), type("Own", (int,), {})(1), [object()], range(3), print])
def test_other_values_do_not(value):
    with pytest.raises(Opaque):
        pack(value)


def test_endless_values_do_not():
    value = []
    value.append(value)
    with pytest.raises(Opaque):
        pack(value)


def sealed(messages, key):
    into, out = os.pipe()
    channel = Channel(into, out, key)
    for message in messages:
        channel.say(message)
    data = os.read(into, 2**16)
    os.close(into)
    os.close(out)
    return data


def test_sealed_messages_are_heard_in_parts_and_others_are_not():
    key = b"k" * 32
    data = sealed([["loaded"], ["done"]], key)
    listener = Messages(key)
    assert [m for part in (data[:7], data[7:30], data[30:]) for m in listener.feed(part)] == [["loaded"], ["done"]]
    for forged in (data[:-1] + b"x", sealed([["done"]], b"other" * 6), b"\xff" * 40, data + data):
        with pytest.raises(Tampered):
            list(Messages(key).feed(forged))


class Always:
    __hash__ = None

    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    __lt__ = __le__ = __gt__ = __ge__ = __eq__

    def __contains__(self, item):
        return True


class Honest:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return self.value == (other.value if isinstance(other, Honest) else other)

    __hash__ = None


BELIEVED = [
    ("==", 1, 1.0, True), ("==", [1, (2,)], [1, (2,)], True), ("==", Honest(3), 3, True), ("==", 3, Honest(3), True),
    ("==", Honest(3), Honest(3), True), ("==", [Honest(3)], [3], True), ("==", {"a": Honest(3)}, {"a": 3}, True),
    ("==", Always(), 3, False), ("==", 3, Always(), False), ("==", [Always()], [3], False), ("==", (1, [Always()]), (1, [2]), False),
    ("==", {"a": Always()}, {"a": 1}, False), ("==", Always(), Always(), False), ("==", Always(), "x", False),
    ("!=", Honest(3), 4, True), ("<", Always(), 3, False), (">=", 3, Always(), False), ("<", 2, 3, True),
    ("in", 1, [1, 2], True), ("in", Always(), [1, 2], False), ("in", 1, Always(), False), ("in", Honest(1), [1], True),
    ("not in", 3, [1], True), ("in", "a", "abc", True), ("is", None, None, True),
]  # fmt: skip


@pytest.mark.parametrize(("sign", "left", "right", "holds"), BELIEVED)
def test_what_a_comparison_is_believed(sign, left, right, holds):
    assert bool(Guard(None).compare(sign, left, right)) is holds


@pytest.mark.parametrize("value", [v for v in VALUES if v is not None], ids=repr)
def test_strangers_differ(value):
    strangers = strangers_like(value)
    assert strangers
    assert all(stranger != value and is_plain(stranger) for stranger in strangers)


def test_a_plan_keeps_literals_back():
    plan = plan_of("assert f(1) == 4711\ndef test_a():\n    want = [4712]\n    assert f(2) == want, 'not 4712'\n")
    assert plan.secrets == [("==", 4711), ("==", [4712])]
    assert plan.must == {0: "", 1: "test_a"}
    sent = b"".join(code for _, code, _, _ in plan.steps)
    assert not any(value.to_bytes(4, "little") in sent for value in (4711, 4712))
    assert b"4712" not in sent
    assert (plan.wanted, plan.functions) == (["f"], ["test_a"])


@pytest.mark.parametrize(
    "body",
    [
        "if f(0):\n        assert f(1) == 1",
        "for x in f(0):\n        assert f(x) == 1",
        "if f(0):\n        return\n    assert f(1) == 1",
        "with g():\n        assert f(1) == 1",
        "self.skipTest('x')\n    assert f(1) == 1",
        "assert f(1) == 1 or f(2) == 2",
    ],
)
def test_only_what_every_run_reaches_is_a_must(body):
    assert plan_of(f"def test_a(self=None):\n    {body}\n").must == {}


@pytest.mark.parametrize("source", ["assert (", "\x00", "(" * 5000])
def test_tests_that_are_no_python(source):
    with pytest.raises(BrokenTests):
        plan_of(source)


@pytest.mark.parametrize(
    ("found", "wanted", "same"),
    [
        ("1 2\n3\n", "1  2 3", True), ("0.1000000001", "0.1", True), ("1e6", "1000000", True), ("0.1", "0.2", False),
        ("7", "007", False), ("1", "1 1", False), ("nan", "nan", True), ("YES", "yes", False), ("100000000", "100000001", False),
        ("", "", True),
    ],
)  # fmt: skip
def test_outputs_that_are_the_same(found, wanted, same):
    assert same_output(found, wanted) is same
