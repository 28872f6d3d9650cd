"""The pool of worker processes: its clock, its order, and that no piece is lost whatever becomes of a worker."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from whileai.errors import ScorerError
from whileai.verify.workers.pool import Session

WORKER = """
import colorsys
import os
import sys
import time
from whileai.verify.workers.serve import serve


def handle(message):
    what, value = message["do"], message.get("value")
    if what == "echo":
        print("noise on standard output")
        print("noise on standard error", file=sys.stderr)
        return {"value": value}
    if what == "sleep":
        time.sleep(value)
        return {"slept": value}
    if what == "spin":
        return {"value": 3 ** (3 ** 18)}
    if what == "die":
        os._exit(3)
    if what == "die once":
        try:
            os.mkdir(value)
        except FileExistsError:
            return {"value": "second try"}
        os.kill(os.getpid(), 9)
    if what == "fill":
        return {"value": len(bytearray(value))}
    if what == "pid":
        return {"value": os.getpid()}
    raise LookupError(what)


if __name__ == "__main__":
    serve(lambda: handle)
"""


@pytest.fixture
def worker(tmp_path, monkeypatch):
    """The name of a worker module that echoes, sleeps, spins, dies or fills its memory when told."""
    name = f"pool_worker_{os.getpid()}_{tmp_path.name}".replace("-", "_")
    (tmp_path / f"{name}.py").write_text(WORKER, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


def outcomes(worker, pieces, **options):
    """What becomes of pieces of work, by their place."""
    with Session(worker, **{"timeout": 30.0, "workers": 2, **options}) as session:
        for place, piece in enumerate(pieces):
            session.submit(place, piece)
        return dict(session.drain())


def echoes(count):
    return [{"do": "echo", "value": place} for place in range(count)]


def test_every_piece_has_its_own_answer(worker):
    found = outcomes(worker, echoes(300))
    assert {key: outcome.body for key, outcome in found.items()} == {key: {"value": key} for key in range(300)}
    assert {outcome.status for outcome in found.values()} == {"done"}


def test_large_messages_both_ways(worker):
    text = "x" * 500_000
    found = outcomes(worker, [{"do": "echo", "value": text}] * 6)
    assert all(outcome.body == {"value": text} for outcome in found.values())


def test_what_a_handler_raises_is_its_answer(worker):
    found = outcomes(worker, [{"do": "nonsense"}, {"do": "echo", "value": 1}])
    assert [found[0].body, found[1].body] == [{"error": "LookupError"}, {"value": 1}]


def test_the_clock_stops_the_stuck_and_nothing_else(worker):
    pieces = echoes(50)
    pieces[7] = {"do": "sleep", "value": 600}
    pieces[31] = {"do": "spin"}
    found = outcomes(worker, pieces, timeout=1.0)
    assert {key for key, outcome in found.items() if outcome.status == "timeout"} == {7, 31}
    assert all(found[key].body == {"value": key} for key in range(50) if key not in (7, 31))


@pytest.mark.parametrize("workers", [1, 2])
def test_waiting_is_not_charged(worker, workers):
    found = outcomes(worker, [{"do": "sleep", "value": 0.3}] * 6, timeout=1.0, workers=workers)
    assert {outcome.status for outcome in found.values()} == {"done"}


def test_a_slow_reader_stops_nobody(worker):
    with Session(worker, timeout=1.0, workers=1) as session:
        for place in range(20):
            session.submit(place, {"do": "echo", "value": place})
        landed = []
        for key, outcome in session.drain():
            if key == 0:
                time.sleep(1.5)
            landed.append(outcome.status)
    assert landed == ["done"] * 20


def test_a_piece_that_kills_its_worker_twice_is_at_fault(worker):
    pieces = echoes(20)
    pieces[5] = {"do": "die"}
    found = outcomes(worker, pieces)
    assert found[5].status == "died"
    assert all(found[key].body == {"value": key} for key in range(20) if key != 5)


def test_a_piece_whose_worker_is_killed_gets_another(worker, tmp_path):
    pieces = echoes(20)
    pieces[5] = {"do": "die once", "value": str(tmp_path / "mark")}
    found = outcomes(worker, pieces)
    assert found[5].body == {"value": "second try"}
    assert all(found[key].body == {"value": key} for key in range(20) if key != 5)


def test_workers_killed_in_mid_run_lose_no_piece(worker):
    with Session(worker, timeout=30.0, workers=2) as session:
        session.submit("pid", {"do": "pid"})
        ((_, first),) = session.drain()
        for place in range(40):
            session.submit(place, {"do": "sleep", "value": 0.02})
        landed = {}
        for key, outcome in session.drain():
            landed[key] = outcome.status
            if len(landed) == 5:
                os.kill(first.body["value"], signal.SIGKILL)
    assert landed == dict.fromkeys(range(40), "done")


def test_memory_is_bounded(worker):
    found = outcomes(worker, [{"do": "fill", "value": 10**10}, {"do": "fill", "value": 1000}], memory_mb=1024)
    assert [found[0].body, found[1].body] == [{"error": "MemoryError"}, {"value": 1000}]


def test_workers_are_kept_for_the_next_session(worker):
    pids = [outcomes(worker, [{"do": "pid"}])[0].body["value"] for _ in range(3)]
    assert len(set(pids)) == 1


def test_a_session_left_early_leaves_no_one_at_work(worker):
    with Session(worker, timeout=30.0, workers=1) as session:
        session.submit("pid", {"do": "pid"})
        ((_, outcome),) = session.drain()
        session.submit("long", {"do": "sleep", "value": 600})
        list(session.ready())
    with pytest.raises(ProcessLookupError):
        os.kill(outcome.body["value"], 0)


def test_a_module_that_does_not_start_is_a_scorer_error():
    with pytest.raises(ScorerError, match=r"did not start.*no_such_module"):
        outcomes("no_such_module", echoes(1))


def test_threads_and_a_running_loop(worker):
    found = {}

    def work(name):
        found[name] = outcomes(worker, echoes(30))

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    async def main():
        work("loop")

    asyncio.run(main())
    assert set(found) == {0, 1, 2, 3, "loop"}
    assert all(
        [part[key].body for key in range(30)] == [{"value": key} for key in range(30)] for part in found.values()
    )


SCRIPT = """
import os
import sys
import time
sys.path.append({folder!r})
from whileai.verify.workers.pool import Session

def ask(do, **more):
    with Session({worker!r}, timeout=20.0, workers=1) as session:
        session.submit(0, {{"do": do, **more}})
        return dict(session.drain())[0].body["value"]

"""


def start(worker, body, tmp_path):
    """A script that has `ask`, in a fresh interpreter with every warning an error."""
    script = tmp_path / "scripts" / "script.py"
    script.parent.mkdir(exist_ok=True)
    script.write_text(SCRIPT.format(folder=str(tmp_path), worker=worker) + textwrap.dedent(body), encoding="utf-8")
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-X", "dev", str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(worker, body, tmp_path):
    """What such a script prints; it must end well and say nothing on standard error."""
    process = start(worker, body, tmp_path)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    return out.split()


def alive(pid):
    """Whether a process runs: there, and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def gone(pid, seconds=10):
    """Whether a process ends within some seconds."""
    end = time.monotonic() + seconds
    while alive(pid) and time.monotonic() < end:
        time.sleep(0.05)
    return not alive(pid)


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc here")


@needs_proc
def test_nothing_is_left_after_exit(worker, tmp_path):
    (pid,) = run(worker, "print(ask('pid'))", tmp_path)
    assert not alive(int(pid))


@needs_proc
def test_workers_end_when_their_parent_is_killed(worker, tmp_path):
    process = start(worker, "print(ask('pid'), flush=True); time.sleep(600)", tmp_path)
    with process:
        pid = int(process.stdout.readline())
        assert alive(pid)
        process.kill()
    assert gone(pid)


def test_a_forked_child_has_workers_of_its_own(worker, tmp_path):
    body = """
    mine = ask("pid")
    child = os.fork()
    if not child:
        own = ask("pid")
        print("child", own != mine, flush=True)
        sys.exit(0)
    os.waitpid(child, 0)
    print("parent", ask("pid") == mine)
    """
    assert run(worker, body, tmp_path) == ["child", "True", "parent", "True"]


def test_a_script_folder_with_names_of_the_standard_library(worker, tmp_path):
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "colorsys.py").write_text("raise RuntimeError('the wrong module')")
    assert run(worker, "print(ask('echo', value=7))", tmp_path) == ["7"]
